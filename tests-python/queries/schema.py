"""Random schemas and random data for them: the universes that queries run against."""

from __future__ import annotations

import math
import random
import uuid
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cmp_to_key
from typing import Any

from .values import DECIMAL, Date, F32, Oid, Row, distinct_key, order

SCALARS = ["int", "bool", "string", "binary", "timestamp", "float", "double", "decimal128",
           "objectId", "uuid"]
NUMERIC = ("int", "float", "double", "decimal128")
INDEXABLE = ("int", "bool", "string", "timestamp", "objectId", "uuid", "mixed")


@dataclass(eq=False)
class Prop:
    name: str
    type: str  # a scalar type word, "mixed", "link" or "backlinks"
    coll: str = ""  # "", "list", "set", "dict"
    nullable: bool = False
    target: str = ""
    origin: str = ""
    alias: str = ""
    indexed: bool = False
    pk: bool = False
    fulltext: bool = False
    unicode: bool = False  # words of all scripts (B14)

    @property
    def to_many(self) -> bool:
        return bool(self.coll) or self.type == "backlinks"

    @property
    def objects(self) -> bool:
        return self.type in ("link", "backlinks")


@dataclass(eq=False)
class Cls:
    name: str
    position: int
    props: list[Prop] = field(default_factory=list)
    embedded: bool = False
    alias: str = ""  # the public name

    def find(self, name: str) -> Prop | None:
        for prop in self.props:
            if name in (prop.name, prop.alias):
                return prop
        return None

    @property
    def pk(self) -> Prop | None:
        return next((prop for prop in self.props if prop.pk), None)


@dataclass
class Universe:
    classes: dict[str, Cls]
    rows: dict[str, list[Row]]
    seed: str
    # Classes and primary keys of objects that were deleted.
    gone: set[Any] = field(default_factory=set)

    def backlinks(self, row: Row, origin: str, name: str) -> list[Row]:
        """N6: every object that refers to `row`, once per reference, in the order of keys."""
        prop = self.classes[origin].find(name)
        assert prop is not None
        found = []
        for source in sorted(self.rows[origin], key=lambda r: r.key):
            value = source.values[prop.name]
            members = [value] if not prop.coll else (
                list(value.values()) if prop.coll == "dict" else value)
            found += [source] * sum(member is row for member in members)
        return found

    def incoming(self, row: Row) -> int:
        """N7: references from everywhere, with multiplicity."""
        total = 0
        for cls in self.classes.values():
            for source in self.rows[cls.name]:
                for prop in cls.props:
                    if prop.type in ("link", "mixed"):
                        total += count_links(source.values[prop.name], row)
        return total


def count_links(value: Any, row: Row) -> int:
    if isinstance(value, list):
        return sum(count_links(item, row) for item in value)
    if isinstance(value, dict):
        return sum(count_links(item, row) for item in value.values())
    return int(value is row)


# ------------------------------------------------------------------------------------ schemas

# L3 and L7: names that are keywords elsewhere, hold blanks or other scripts.
AWKWARD = ["limit", "sort", "first", "last", "size", "contains", "between", "in", "text", "bin",
           "oid", "uuid", "length", "asc", "like", "dead weight", "gross-tons", "løa", "_x9",
           "Straße", "数", "distinct", "beginswith"]


class SchemaMaker:
    def __init__(self, rng: random.Random, *, rich: bool) -> None:
        self.rng = rng
        self.rich = rich
        self.awkward = rng.sample(AWKWARD, len(AWKWARD))

    def name(self, cls: Cls, base: str) -> str:
        taken = {prop.name for prop in cls.props} | {prop.alias for prop in cls.props}
        if self.awkward and self.rng.random() < 0.08:
            candidate = self.awkward.pop()
            if candidate not in taken:
                return candidate
        candidate, number = base, 2
        while candidate in taken:
            candidate, number = f"{base}{number}", number + 1
        return candidate

    def add(self, cls: Cls, base: str, type: str, **traits: Any) -> Prop:
        prop = Prop(self.name(cls, base), type, **traits)
        if self.rng.random() < 0.15 and not prop.pk:
            prop.alias = f"a_{len(cls.props)}"
        cls.props.append(prop)
        return prop

    def scalars(self, cls: Cls, share: float) -> None:
        short = {"binary": "data", "timestamp": "date", "decimal128": "dec", "objectId": "oid_"}
        for type in SCALARS:
            for nullable in (False, True):
                if self.rng.random() < share:
                    prop = self.add(cls, short.get(type, type[:3]) + ("N" if nullable else ""),
                                    type, nullable=nullable)
                    prop.indexed = type in INDEXABLE and self.rng.random() < 0.4
        # A second one of frequent types, for comparisons of properties with each other.
        for type in ("int", "string", self.rng.choice(SCALARS)):
            self.add(cls, short.get(type, type[:3]) + "Z", type,
                     nullable=self.rng.random() < 0.5)

    def make(self) -> dict[str, Cls]:
        rng = self.rng
        classes = [Cls("Ship", 0), Cls("Crew", 1), Cls("Port", 2)]
        pin, spot = Cls("Pin", 3, embedded=True), Cls("Spot", 4, embedded=True)
        for cls in classes:
            if rng.random() < 0.2:
                cls.alias = rng.choice(["Public", "der Öffentliche", "limit"]) + str(cls.position)
        spot.props = [Prop("type", "string", nullable=rng.random() < 0.5),
                      Prop("coordinates", "double", coll="list")]
        for cls in classes:
            pk = rng.choice(["int", "int", "int", "string", "objectId", "uuid", ""])
            if pk:
                self.add(cls, "id", pk, pk=True, nullable=rng.random() < 0.2)
            self.scalars(cls, 0.8 if cls.position == 0 else 0.45)
            if self.rich:
                self.add(cls, "mix", "mixed", nullable=True, indexed=rng.random() < 0.3)
        self.scalars(pin, 0.3)
        for cls in classes[:2]:
            self.add(cls, "log", "string", nullable=rng.random() < 0.6, fulltext=True,
                     unicode=rng.random() < 0.5)
        if self.rich:
            for cls in classes:
                self.links(cls, classes, pin)
                self.collections(cls, 4 if cls.position == 0 else 2)
            for cls in classes:
                self.linking_objects(cls, classes)
            self.add(classes[0], "spot", "link", target=spot.name, nullable=True)
            self.add(classes[0], "spots", "link", coll="list", target=spot.name)
        return {cls.name: cls for cls in [*classes, pin, spot]}

    def links(self, cls: Cls, classes: list[Cls], pin: Cls) -> None:
        rng = self.rng
        for target in classes:
            base = target.name.lower()
            self.add(cls, f"my{target.name}", "link", target=target.name, nullable=True)
            if rng.random() < 0.7:
                self.add(cls, f"{base}s", "link", coll="list", target=target.name)
            if rng.random() < 0.35:
                self.add(cls, f"{base}Set", "link", coll="set", target=target.name)
            if rng.random() < 0.35:
                self.add(cls, f"{base}By", "link", coll="dict", target=target.name, nullable=True)
        if cls.position == 0:
            self.add(cls, "pin", "link", target=pin.name, nullable=True)
            self.add(cls, "pins", "link", coll="list", target=pin.name)

    def collections(self, cls: Cls, number: int) -> None:
        rng = self.rng
        for coll in ("list", "set", "dict"):
            types = ["int", "string", *rng.sample([*SCALARS, "mixed"], number)]
            for type in types[:number]:
                self.add(cls, f"{type[:3]}{coll.capitalize()}", type, coll=coll,
                         nullable=type == "mixed" or rng.random() < 0.5)

    def linking_objects(self, cls: Cls, classes: list[Cls]) -> None:
        for origin in classes:
            sources = [prop for prop in origin.props
                       if prop.type == "link" and prop.target == cls.name]
            if sources and self.rng.random() < 0.6:
                source = self.rng.choice(sources)
                self.add(cls, f"of{origin.name}", "backlinks", coll="list", target=origin.name,
                         origin=source.name)


# --------------------------------------------------------------------------------------- data

LIMITS = [0, 1, -1, 2, 3, 5, 7, 2**31, 2**53, 2**53 + 1, 2**53 - 1, -(2**53) - 1, 2**63 - 1,
          -(2**63), 2**63 - 2, 10, 100, 255, 256]
DOUBLES = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.0, 2.5, 3.0, 0.1, 1.1, 5.0, -2.5, 1e300, -1e300,
           5e-324, 2.0**53, 2.0**53 + 2, 9.3e18, math.inf, -math.inf, math.nan, 123456.789]
DECIMALS = ["0", "1", "-1", "1.0", "1.1", "0.1", "1.10", "2.5", "5", "1E+3", "1E-6176",
            "9.999999999999999999999999999999999E+6144", "-0", "9007199254740993",
            "0.1000000000000000055511151231257827", "NaN", "Infinity", "-Infinity", "123456.789"]
STRINGS = ["", "a", "b", "A", "ab", "Ab", "AB", "abc", "b*", "a?c", "é", "É", "e\u0301", "étoile",
           "Étoile", "straße", "STRASSE", "Σ", "σς", "ı", "İ", "\u212a", "k", "日本", "𝒳", "😀b",
           "\u0301", "a\\b", "it's", '"q"', "50%", "a b", " a ", "line\nend", "5", "-3.5",
           "\uffff", "ø", "z" * 20, "*", "?", "\\", "a*", "\\*", "50?", "pilot", "Ångström", "ﬁ", "f",
           # NUL, the neighbours of the surrogates, the first and the last of four bytes.
           "\0", "a\0b", "ab\0", "\ud7ff", "\ue000", "\U00010000", "\U0010ffff",
           # Letters whose case is special, marks in several orders, Hangul and its parts.
           "ß", "ẞ", "ſ", "S", "ς", "Σς", "i\u0307", "i", "I", "ŉ", "ǰ", "ΐ", "և", "ﬃ", "Ⅷ", "Ⓐ",
           "ꭰ", "Å", "\u212b", "e\u0301\u0323", "e\u0323\u0301", "\u1e69", "\u0344", "가",
           "2024-05-01", "2024-02-29T10:00:00.25Z", "2023-02-29", "1969-12-31T23:59:59+05:30", "12",
           "1e3", "01010101-0101-0101-0101-010101010101", "ff" * 12, "true",
           "\u1100\u1161", "\U0001d7d8", "👩\u200d🚀", "\u00a0a\u2003", "a\u20dd", "\u0345", "ᾳ"]
BLOBS = [b"", b"a", b"ab", b"AB", b"\x00", b"\x00\x01", b"\xff", b"abc", b"\xff\x00", b"abc" * 9]
DATES = [Date(0, 0), Date(1, 0), Date(0, 1), Date(-1, 0), Date(0, -1), Date(-1, -999_999_999),
         Date(1_600_000_000, 500), Date(1_600_000_000, 501), Date(-2_000_000_000, 0),
         Date(253_402_300_799, 999_999_999), Date(1_582_934_400, 0), Date(951_782_400, 0),
         Date(2**63 - 1, 999_999_999), Date(-(2**63), -999_999_999), Date(2**63 - 1, 0),
         Date(-(2**63), 0), Date(2**31, 1), Date(-(2**31) - 1, -1)]
WORDS = ["storm", "Storm", "stormy", "reef", "RÉEF", "Dépôt", "depot", "o", "brien", "42", "4x4",
         "Ærø", "ångström", "straße", "日本", "a×b", "ÿ", "naïve", "Naive2"]
# Other scripts, for full-text indexes that know them: case, marks, digits, ideographs, and what parts
# words or does not.
SCRIPTS = ["Σοφός", "ΣΟΦΟΣ", "σοφοσ", "Ελλάδα", "Москва", "МОСКВА", "йод", "Йод", "и\u0306од", "ёлка",
           "елка", "海", "学海", "海a", "a海b", "\U00020000", "한국어", "\u1112\u1161\u11ab", "ひらがな", "が",
           "か\u3099", "שלום", "שָׁלוֹם", "مرحبا", "مَرحبا", "हिन्दी", "ไทย", "İstanbul", "istanbul", "ıstanbul", "STRASSE",
           "ﬁlm", "film", "Łódź", "Ŀodz", "²", "½", "Ⅷ", "ⅷ", "٣", "e\u0301tude", "étude", "Étude", "ÉTUDE",
           "e\u0301", "a\u20dd", "կարև", "կարեւ", "ŉ", "x_y", "don’t", "3.14", "a\u200db", "\u00b5", "μ",
           "\U0001d49c", "ᏣᎳᎩ", "ꮳꮃꭹ", "Ǆ", "ǆ", "ǅ", "ὈΔΥΣΣΕΎΣ", "ὀδυσσεύς", "ᾳ", "αι", "😀", "e😀f"]
KEYS = ["k", "a", "kg", "é", "x y", "Key", "name", ""]


class DataMaker:
    def __init__(self, rng: random.Random, classes: dict[str, Cls]) -> None:
        self.rng = rng
        self.classes = classes
        self.rows: dict[str, list[Row]] = {name: [] for name in classes}
        self.spread = 9

    def scalar(self, type: str, *, tame: bool = False) -> Any:
        rng = self.rng
        extreme = rng.random() < (0.1 if tame else 0.5)
        if type == "int":
            return rng.choice(LIMITS) if extreme else rng.randint(-3, self.spread)
        if type == "bool":
            return rng.random() < 0.5
        if type == "string":
            if extreme or rng.random() < 0.6:
                return rng.choice(STRINGS)
            return "".join(rng.choice("abAB") for _ in range(rng.randint(0, 4)))
        if type == "binary":
            return rng.choice(BLOBS)
        if type == "timestamp":
            return rng.choice(DATES) if extreme else Date(rng.randint(-3, self.spread), 0)
        if type == "float":
            return F32(rng.choice(DOUBLES) if extreme else rng.randint(-6, 12) / 2)
        if type == "double":
            return rng.choice(DOUBLES) if extreme else rng.randint(-6, 12) / 2
        if type == "decimal128":
            if extreme:
                return DECIMAL.create_decimal(rng.choice(DECIMALS))
            return Decimal(rng.randint(-30, 60)).scaleb(-1)
        if type == "objectId":
            return Oid(bytes([rng.choice([0, 1, 255])] * 11 + [rng.randint(0, 4)]))
        if type == "uuid":
            return uuid.UUID(bytes=bytes([rng.choice([0, 1, 255])] * 15 + [rng.randint(0, 4)]))
        raise AssertionError(type)

    def text(self, words: list[str]) -> str:
        """A text of a few words."""
        return "".join(self.rng.choice(words) + self.rng.choice([" ", " ", ", ", "-", "'", "\n"])
                       for _ in range(self.rng.randint(0, 5)))

    def any(self, depth: int = 2, *, nested: bool = True) -> Any:
        rng, roll = self.rng, self.rng.random()
        if roll < 0.1:
            return None
        if roll < 0.2:
            targets = [row for rows in self.rows.values() for row in rows
                       if not row.cls.embedded]
            return rng.choice(targets) if targets else None
        if nested and depth and roll < 0.4:
            if rng.random() < 0.5:
                return [self.any(depth - 1) for _ in range(rng.randint(0, 3))]
            return {key: self.any(depth - 1) for key in rng.sample(KEYS, rng.randint(0, 3))}
        return self.scalar(rng.choice(SCALARS if roll < 0.7 else ["int", "string", "double"]),
                           tame=True)

    def element(self, prop: Prop) -> Any:
        if prop.fulltext:
            if prop.nullable and self.rng.random() < 0.2:
                return None
            return self.text([*SCRIPTS, *WORDS] if prop.unicode else WORDS)
        if prop.type == "link":
            targets = self.rows[prop.target]
            if not targets or (prop.coll == "dict" and self.rng.random() < 0.2):
                return None
            return self.rng.choice(targets)
        if prop.type == "mixed":
            return self.any(nested=prop.coll != "set")
        if prop.nullable and self.rng.random() < 0.2:
            return None
        return self.scalar(prop.type, tame=bool(prop.coll))

    def value(self, prop: Prop) -> Any:
        rng = self.rng
        if not prop.coll:
            if prop.type == "link" and rng.random() < 0.25:
                return None
            return self.element(prop)
        elements = [self.element(prop) for _ in range(rng.choice([0, 0, 1, 1, 2, 2, 3, 4]))]
        if prop.coll == "dict":
            return dict(sorted(zip(rng.sample(KEYS, len(elements)), elements),
                               key=lambda item: item[0].encode()))
        if prop.type == "link":
            elements = [element for element in elements if element is not None]
        return as_set(elements) if prop.coll == "set" else elements

    def fill(self, counts: dict[str, int]) -> dict[str, list[Row]]:
        for cls in self.classes.values():
            if cls.embedded:
                continue
            keys = set()
            for number in range(counts[cls.name]):
                row = Row(cls, number)
                pk = cls.pk
                if pk:
                    for _ in range(50):
                        value = self.key(pk, number)
                        if distinct_key(value) not in keys:
                            break
                    else:
                        continue
                    keys.add(distinct_key(value))
                    row.values[pk.name] = value
                self.rows[cls.name].append(row)
        for cls in self.classes.values():
            for row in list(self.rows[cls.name]):
                self.fill_row(row)
        return self.rows

    def key(self, pk: Prop, number: int) -> Any:
        if pk.nullable and self.rng.random() < 0.1:
            return None
        if number < 30:
            return self.scalar(pk.type)
        made: dict[str, Any] = {"int": number * 3, "string": f"key {number}",
                                "objectId": Oid(number.to_bytes(12, "big")),
                                "uuid": uuid.UUID(int=number)}
        return made[pk.type]

    def fill_spot(self, row: Row) -> None:
        rng = self.rng
        row.values["type"] = rng.choice(["Point", "point", "POINT", "Point", "Polygon"])
        numbers = [rng.randint(-20, 20) * 1.37, rng.randint(-20, 20) * 1.31, 7.0]
        if rng.random() < 0.1:
            numbers[rng.randrange(2)] = rng.choice([180.0, -180.0, 90.5, 200.0, math.nan, 89.9])
        row.values["coordinates"] = numbers[:rng.choice([2, 2, 2, 3, 1, 0])]

    def fill_row(self, row: Row) -> None:
        if row.cls.name == "Spot":
            return self.fill_spot(row)
        for prop in row.cls.props:
            if prop.pk or prop.type == "backlinks":
                continue
            if prop.type == "link" and self.classes[prop.target].embedded:
                self.embed(row, prop)
            else:
                row.values[prop.name] = self.value(prop)

    def embed(self, row: Row, prop: Prop) -> None:
        number = self.rng.randint(0, 3) if prop.coll else self.rng.randint(0, 1)
        made = []
        for _ in range(number):
            child = Row(self.classes[prop.target], len(self.rows[prop.target]))
            child.owner = row
            self.rows[prop.target].append(child)
            self.fill_row(child)
            made.append(child)
        row.values[prop.name] = made if prop.coll else (made[0] if made else None)


def as_set(elements: list[Any]) -> list[Any]:
    """A set: no two of one value (A.1), in ascending order. Links are sorted once keys exist."""
    seen, unique = set(), []
    for element in elements:
        key = distinct_key(element) if not isinstance(element, Row) else id(element)
        if key not in seen:
            seen.add(key)
            unique.append(element)
    try:
        return sorted(unique, key=cmp_to_key(order))
    except Exception:
        return unique[:1]


def make_universe(seed: str, *, rich: bool = True, rows: int | None = None) -> Universe:
    """`rows` makes the first class so large that leaves, plans and indexes matter."""
    rng = random.Random(seed)
    classes = SchemaMaker(rng, rich=rich).make()
    biggest = rng.choice([0, 1, 4, 12, 25, 25]) if rows is None else rows
    counts = {"Ship": biggest, "Crew": rng.choice([0, 3, 7]), "Port": rng.choice([1, 4])}
    maker = DataMaker(rng, classes)
    if rows:
        maker.spread = rng.choice([9, 300, 10**6])
    return Universe(classes, maker.fill(counts), seed)
