"""Programs: calls with their arguments, as a listing that people read and parse() reads back.

    o3 = realm_object_create(r1, Thing)
    realm_set_value(o3, Thing.i, 5, False)
    realm_list_find(l1, link(o3), out_index=NULL)

Names in lower case are handles, others classes; `Thing.i` is a property key, `99` one that nobody
has. Values are Python's, with Date, F32, Decimal, Oid and UUID; link(o3) is what
realm_object_as_link says, link(Thing, 99) any link, LIST and DICTIONARY those types. Outputs are
asked for unless they are NULL here; `thread=OTHER` makes the call on another thread.
"""

from __future__ import annotations

import ast
import math
import uuid
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from queries.values import Date, F32, Oid


class Handle(str):
    """A handle, by its name in the program."""

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Key:
    """The key of a class, or of one of its properties, or of the object of a handle."""

    cls: str
    prop: str = ""

    def __repr__(self) -> str:
        return f"{self.cls}.{self.prop}" if self.prop else self.cls


@dataclass(frozen=True)
class ObjectKey:
    """The key of the object that a handle stands for."""

    of: Handle

    def __repr__(self) -> str:
        return f"key({self.of})"


@dataclass(frozen=True)
class To:
    """A link: to the object of a handle, or to a class (Key or number) and a number."""

    of: Any
    key: int | None = None

    def __repr__(self) -> str:
        return f"link({self.of!r})" if self.key is None else f"link({self.of!r}, {self.key})"


@dataclass(frozen=True)
class Word:
    """A constant of the listing."""

    name: str

    def __repr__(self) -> str:
        return self.name


LIST, DICTIONARY, NO_TEXT, NO_DATA, NULL = map(
    Word, ["LIST", "DICTIONARY", "NO_TEXT", "NO_DATA", "NULL"])
WORDS = {word.name: word for word in (LIST, DICTIONARY, NO_TEXT, NO_DATA, NULL)}


@dataclass
class Call:
    function: str
    args: list[Any]
    result: Handle | None = None  # of what it returns, or gives as an output
    nulls: frozenset[str] = field(default_factory=frozenset)  # outputs not asked for
    elsewhere: bool = False  # on another thread

    def __str__(self) -> str:
        parts = [*map(show, self.args), *(f"{name}=NULL" for name in sorted(self.nulls)),
                 *["thread=OTHER"] * self.elsewhere]
        return f"{self.result + ' = ' if self.result else ''}{self.function}({', '.join(parts)})"

    def uses(self) -> set[str]:
        """The handles among the arguments."""
        return set(handles_in(self.args))


def handles_in(value: Any) -> list[str]:
    if isinstance(value, Handle):
        return [str(value)]
    if isinstance(value, (To, ObjectKey)):
        return handles_in(value.of)
    if isinstance(value, list):
        return [name for item in value for name in handles_in(item)]
    return []


def show(value: Any) -> str:
    """A value as the listing writes it."""
    if isinstance(value, Decimal):
        return f'Decimal("{value}")'
    if isinstance(value, uuid.UUID):
        return f'UUID("{value}")'
    if isinstance(value, Oid):
        return f'Oid("{value.hex()}")'
    if isinstance(value, Date):
        return f"Date({value.seconds}, {value.nanos})"
    if isinstance(value, F32):
        return f"F32({show(float(value))})"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, list):
        return f"[{', '.join(map(show, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {show(item)}" for key, item in value.items()) + "}"
    return repr(value)


def listing(program: list[Call]) -> str:
    return "".join(f"{call}\n" for call in program)


MAKERS = {"Decimal": Decimal, "UUID": uuid.UUID, "Oid": lambda text: Oid(bytes.fromhex(text)),
          "Date": Date, "F32": F32, "float": float, "link": To, "key": ObjectKey}


def value_of(node: ast.expr) -> Any:
    if isinstance(node, ast.Name):
        if node.id in WORDS:
            return WORDS[node.id]
        return Handle(node.id) if node.id[0].islower() else Key(node.id)
    if isinstance(node, ast.Attribute):
        assert isinstance(node.value, ast.Name)
        return Key(node.value.id, node.attr)
    if isinstance(node, ast.List):
        return [value_of(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        return {ast.literal_eval(key): value_of(item)  # type: ignore[arg-type]
                for key, item in zip(node.keys, node.values)}
    if isinstance(node, ast.Call):
        assert isinstance(node.func, ast.Name)
        return MAKERS[node.func.id](*map(value_of, node.args))  # type: ignore[operator]
    return ast.literal_eval(node)


def parse(text: str) -> list[Call]:
    """The program of a listing."""
    program = []
    for statement in ast.parse(text).body:
        result = None
        if isinstance(statement, ast.Assign):
            target = statement.targets[0]
            assert isinstance(target, ast.Name)
            result = Handle(target.id)
        assert isinstance(statement, (ast.Assign, ast.Expr))
        call = statement.value
        assert isinstance(call, ast.Call) and isinstance(call.func, ast.Name), statement.lineno
        words = frozenset(str(word.arg) for word in call.keywords)
        program.append(Call(call.func.id, [value_of(arg) for arg in call.args], result,
                            words - {"thread"}, "thread" in words))
    return program


def without_orphans(program: list[Call]) -> list[Call]:
    """What is left of a program when calls on handles that nobody makes go, too."""
    made: set[str] = set()
    kept = []
    for call in program:
        if call.uses() <= made:
            kept.append(call)
            if call.result:
                made.add(call.result)
    return kept
