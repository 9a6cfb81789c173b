"""The classes and values that programs are about."""

from __future__ import annotations

import random
import uuid
from decimal import Decimal
from typing import Any

from queries.values import Date, F32, Oid

WORLD = {
    "Thing": {
        "i": "int indexed", "k": "int?", "b": "bool", "s": "string indexed",
        "sn": "string? alias words", "bin": "binary?", "t": "timestamp", "f": "float?",
        "x": "double", "dec": "decimal128?", "oid": "objectId", "uid": "uuid?", "m": "mixed",
        "mi": "mixed indexed", "link": "Thing", "who": "Person", "part": "Part",
        "li": "list int", "ls": "list string?", "lx": "list double?", "lm": "list mixed",
        "ll": "list Thing", "lw": "list Person", "lp": "list Part", "si": "set int",
        "ss": "set string?", "sm": "set mixed", "sl": "set Thing", "di": "dict int",
        "ds": "dict string?", "dm": "dict mixed", "dl": "dict Thing", "dp": "dict Part",
        "linked": "from Thing.link", "listed": "from Thing.ll"},
    "Person": {"name": "string? pk", "age": "int?", "boss": "Person", "m": "mixed",
               "things": "from Thing.who"},
    "Number": {"id": "int pk", "m": "mixed", "to": "Thing"},
    "embedded Part": {"n": "int", "m": "mixed", "to": "Thing", "inner": "list Inner",
                      "one": "Inner"},
    "embedded Inner": {"s": "string?"},
}
# Another state of the schema, which a file of WORLD takes without a migration.
MORE = {**WORLD, "Extra": {"a": "int"}}
TEXTS = ["", "a", "b", "ab", "é", "Zz", "x\u00df"]
KEYS = ["", "a", "b", "ab", "é", "k"]
BAD_KEYS = ["$a", "a.b", "."]


def scalar(rng: random.Random, type: str) -> Any:
    """A value of a type of property; few different ones, so that they meet."""
    if type == "int":
        return rng.choice([0, 1, 2, 3, 5, -1, 7, 2**63 - 1, -2**63])
    if type == "bool":
        return rng.random() < 0.5
    if type == "string":
        return rng.choice(TEXTS)
    if type == "binary":
        return rng.choice([b"", b"a", b"\x00\xff", b"ab"])
    if type == "timestamp":
        return rng.choice([Date(0, 0), Date(1, 5), Date(-1, -5), Date(10**9, 0), Date(1, 0)])
    if type == "float":
        return F32(rng.choice([0.0, 1.0, 1.5, -2.25, 2.0, 3.0]))
    if type == "double":
        return rng.choice([0.0, 1.0, 1.5, -2.25, 2.0, 3.0, 0.1, 1e300])
    if type == "decimal128":
        return Decimal(rng.choice(["0", "1", "1.5", "-2.25", "2", "3", "0.1"]))
    if type == "objectId":
        return Oid(bytes(11) + bytes([rng.randrange(3)]))
    if type == "uuid":
        return uuid.UUID(int=rng.randrange(3))
    raise AssertionError(type)


SCALARS = ["int", "bool", "string", "binary", "timestamp", "float", "double", "decimal128",
           "objectId", "uuid"]
