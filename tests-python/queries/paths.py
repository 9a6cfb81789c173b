"""Random typed paths over a universe, and constants that they may be compared with."""

from __future__ import annotations

import random
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from .schema import Cls, DataMaker, KEYS, NUMERIC, Prop, Universe
from .syntax import Lit, Path
from .values import F32, Row, is_infinite, is_nan


@dataclass
class Typed:
    """A path and what a generator must know of it."""

    node: Path
    type: str
    many: bool
    prop: Prop | None = None
    target: str = ""


@dataclass
class Frame:
    cls: Cls | None
    var: str = ""
    type: str = "link"
    parent: "Frame | None" = None
    prop: Prop | None = None  # of the values, where there is no class


class PathMaker:
    def __init__(self, rng: random.Random, universe: Universe, *, simple: bool = False) -> None:
        self.rng = rng
        self.universe = universe
        self.simple = simple
        self.focus = ""  # a kind of comparison that is asked more than the others
        self.maker = DataMaker(rng, universe.classes)
        self.maker.rows = universe.rows

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    # ------------------------------------------------------------------------------- paths

    def spelled(self, prop: Prop) -> str:
        return prop.alias if prop.alias and self.chance(0.5) else prop.name

    def typed_path(self, frame: Frame) -> Typed:
        rng = self.rng
        head, at = "", frame
        if frame.parent:
            head = frame.var if frame.cls is None or self.chance(0.7) else ""
            if self.chance(0.1):
                head, at = "SELF", frame
                while at.parent:
                    at = at.parent
        elif self.chance(0.01):
            head = "SELF"
        if at.cls is None:
            return Typed(Path([], head=head or "SELF"), at.type, False, at.prop)
        steps: list[tuple[Any, ...]] = []
        cls, many = at.cls, False
        for _ in range(rng.choice([0, 0, 0, 0, 1, 1, 2])):
            links = [prop for prop in cls.props if prop.objects
                     and (not prop.to_many or (not self.simple and self.chance(0.4)))]
            if not links:
                break
            prop = rng.choice(links)
            steps.append(("name", self.spelled(prop)))
            if prop.coll == "list" and prop.type == "link" and self.chance(0.1):
                steps.append(("index", rng.choice([0, 1, "FIRST", "LAST"])))
            elif prop.coll == "dict" and self.chance(0.3):
                steps.append(rng.choice([("index", rng.choice(KEYS)), ("index", "*"),
                                         ("@values",)]))
                many = many or not isinstance(steps[-1][-1], str) or steps[-1][-1] == "*" \
                    or steps[-1] == ("@values",)
            else:
                many = many or prop.to_many
            cls = self.universe.classes[prop.target]
        return self.last_step(cls, steps, many, head)

    def last_step(self, cls: Cls, steps: list[tuple[Any, ...]], many: bool, head: str) -> Typed:
        rng = self.rng
        # Plain properties are taken more often than the many kinds of collections.
        props = [prop for prop in cls.props if not prop.to_many] if self.simple or self.chance(
            0.6) else cls.props
        prop = rng.choice(props or cls.props)
        path = Path([*steps, ("name", self.spelled(prop))], head=head)
        if prop.objects:
            return Typed(path, "link", many or prop.to_many, prop, prop.target)
        type, to_many = prop.type, many or bool(prop.coll)
        if prop.coll == "list" and self.chance(0.2):
            path.steps.append(("index", rng.choice([0, 0, 1, 5, "FIRST", "LAST", "*"])))
            to_many = many or path.steps[-1][1] == "*"
        elif prop.coll == "dict" and self.chance(0.4):
            path.steps.append(rng.choice([("index", rng.choice(KEYS)), ("@keys",), ("@values",),
                                          ("index", "*"), ("name", "kg")]))
            if path.steps[-1][0] in ("index", "name") and path.steps[-1][1] != "*":
                to_many = many
            type = "string" if path.steps[-1] == ("@keys",) else type
        if type == "mixed" and not prop.coll and self.chance(0.25):
            for _ in range(rng.choice([1, 1, 2])):
                path.steps.append(rng.choice([("index", 0), ("index", "*"), ("index", "LAST"),
                                              ("index", "k"), ("name", "kg"), ("name", "a")]))
            to_many = many or any(step == ("index", "*") for step in path.steps)
        return Typed(path, type, to_many, prop)

    # --------------------------------------------------------------------------- constants

    def plain(self, found: Typed) -> Any:
        """A value of the type of a path, often one that is stored."""
        type, prop = found.type, found.prop
        if prop and self.chance(0.7):
            stored = [row.values[prop.name] for rows in self.universe.rows.values()
                      for row in rows if row.cls.props.count(prop)]
            if stored:
                value = self.rng.choice(stored)
                if found.node.steps and found.node.steps[-1] == ("@keys",):
                    value = self.rng.choice([*value, "k"]) if isinstance(value, dict) else "k"
                for _ in range(3):
                    if isinstance(value, dict):
                        value = list(value.values())
                    if isinstance(value, list):
                        value = self.rng.choice(value) if value else None
                if value is not None and not isinstance(value, (list, dict)):
                    return value
        if type == "mixed":
            return self.maker.any(nested=False)
        return self.maker.scalar(type)

    def constant(self, found: Typed) -> Lit:
        """A constant that the type of a path may be compared with."""
        rng, type = self.rng, found.type
        arg = self.chance(0.35)
        if self.chance(0.06):
            return Lit(None, arg)
        if type == "link":
            targets = self.universe.rows[found.target]
            return Lit(rng.choice(targets) if targets else None, arg)
        value = self.plain(found)
        if type in NUMERIC:
            if self.chance(0.2):
                other = rng.choice(NUMERIC)
                # No literal says a decimal beyond Double, so that the canonical text loses it.
                value = self.maker.scalar(other)
                if other == "decimal128" and type != other:
                    value = Decimal(rng.randint(-30, 60)).scaleb(-1)
            if self.chance(0.04) and not isinstance(value, F32):
                return Lit(str(value) if not self.chance(0.1) else "12x", arg)
            return self.spelled_number(value, type, arg)
        if isinstance(value, Row) and value.cls.embedded:
            return Lit(None)
        return Lit(value, arg)

    def spelled_number(self, value: Any, type: str, arg: bool) -> Lit:
        """Numbers have several spellings (L9, L12), and Decimal has no literal of its own."""
        rng = self.rng
        if isinstance(value, Decimal):
            if is_nan(value) or is_infinite(value) or type != "decimal128" or arg:
                return Lit(value, arg=True)
            text = str(value)
            if self.chance(0.5) and -300 < value.adjusted() < 300:
                if "." not in text and "E" not in text:
                    return Lit(int(text), False) if abs(int(text)) < 2**63 else Lit(value, True)
                return Lit(float(text), False, text)
            return Lit(value, True)
        if arg:
            return Lit(value, True)
        if isinstance(value, int) and self.chance(0.1):
            if 0 <= value < 2**63 and self.chance(0.3):
                return Lit(value, False, f"0x{value:X}")
            if abs(value) < 2**53:
                return Lit(float(value), False, f"{value}.0")
        if isinstance(value, F32):
            return Lit(value, arg=is_nan(value) or is_infinite(value))
        if isinstance(value, float) and value == int(value if abs(value) < 1e15 else 0) \
                and self.chance(0.2) and str(value) != "-0.0":
            return Lit(value, False, rng.choice([f"{int(value)}.", f"{int(value)}e0"]))
        return Lit(value, False)
