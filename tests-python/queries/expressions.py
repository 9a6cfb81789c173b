"""Random expressions: arithmetic, choices, casts and functions, compared with constants.

`Generator` makes whole queries of them.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from .casts import cast
from .paths import Frame, PathMaker, Typed
from .schema import NUMERIC
from .syntax import Aggregate, Arith, Between, Call, Compare, ListLit, Lit, Negative, Node
from .values import Unspecified

ORDERED = ["<", "<=", ">", ">="]
TEXT_OPS = ["beginswith", "endswith", "contains", "like"]
QUANTS = ["ANY", "SOME", "ALL", "NONE"]
CASTS = {"string": ["Int", "Double", "Decimal", "Date", "UUID", "ObjectId"],
         "int": ["Double", "Decimal", "String", "Date"], "timestamp": ["String"],
         "uuid": ["String"], "objectId": ["String"]}


class ExpressionMaker(PathMaker):
    def pred(self, frame: Frame, depth: int) -> Node:
        """The conditions of choices: any predicate."""
        raise NotImplementedError

    def number_test(self, node: Node) -> Node:
        """A small integer compared with a node."""
        rng = self.rng
        if self.chance(0.1):
            low = rng.randint(0, 3)
            return Between(node, ListLit([Lit(low), Lit(low + rng.randint(0, 4))]))
        return Compare(rng.choice(["==", "==", "!=", *ORDERED]), node,
                       Lit(rng.choice([0, 0, 1, 1, 2, 3, 5]), arg=self.chance(0.2)))

    def numeric(self, frame: Frame, depth: int, *, many: bool = True) -> tuple[Node, bool]:
        rng = self.rng
        if depth == 0 or self.chance(0.2):
            if self.chance(0.4):
                value = rng.choice([0, 1, 2, 3, 5, -1, 0.5, 2.0, 1.5, 10])
                return Lit(value, arg=self.chance(0.2)), False
            for _ in range(20):
                found = self.typed_path(frame)
                if found.type in NUMERIC and (many or not found.many):
                    return found.node, found.many
            return Lit(rng.choice([1, 2, 0.5])), False
        if self.chance(0.08):
            inner, is_many = self.numeric(frame, depth - 1, many=many)
            return (inner if isinstance(inner, Lit) else Negative(inner)), is_many
        left, left_many = self.numeric(frame, depth - 1, many=many)
        right, right_many = self.numeric(frame, depth - 1, many=many and not left_many)
        return Arith(rng.choice("++--**/"), left, right), left_many or right_many

    def of_arithmetic(self, frame: Frame) -> Node:
        node, many = self.numeric(frame, self.rng.choice([1, 1, 2]))
        if self.chance(0.25):
            other, _ = self.numeric(frame, 1, many=not many)
        else:
            other = Lit(self.rng.choice([0, 1, 2, 3, 4, 5, 6, 1.5, 2.0, -1, None]))
        return Compare(self.rng.choice(["==", "!=", *ORDERED]), node, other)

    def of_bounds(self, frame: Frame) -> Node | None:
        """BETWEEN with expressions as bounds (B10)."""
        rng = self.rng
        for _ in range(12):
            found = self.typed_path(frame)
            if found.type in (*NUMERIC, "string", "timestamp", "mixed", "binary"):
                break
        else:
            return None
        left: Node = found.node
        if found.many and self.chance(0.6):
            found.node.quant = rng.choice(QUANTS)
        if found.type in NUMERIC and self.chance(0.2):
            left = Arith(rng.choice("+-*"), left, Lit(rng.choice([0, 1, 2, 0.5])))
        elif found.type in (*NUMERIC, "string") and not found.many and self.chance(0.1):
            left = Lit(self.plain(found), arg=self.chance(0.3))
        ends = [self.bound(frame, found) for _ in range(2)]
        if all(isinstance(end, Lit) for end in ends):
            ends[rng.randrange(2)] = found.node if found.type not in NUMERIC else \
                Arith(rng.choice("+-"), found.node, Lit(rng.choice([0, 1, 2])))
        return Between(left, ListLit(ends), self.chance(0.15))

    def bound(self, frame: Frame, found: Typed) -> Node:
        """A property, arithmetic, a size, an aggregate, a function or a constant."""
        rng, type = self.rng, found.type
        if self.chance(0.25):
            value = self.plain(found)
            return Lit(1 if value is None else value, arg=self.chance(0.3))
        if type in NUMERIC and self.chance(0.5):
            return self.numeric(frame, rng.choice([0, 1, 1, 2]), many=self.chance(0.04))[0]
        for _ in range(30):
            other = self.typed_path(frame)
            if other.type == "timestamp" != type or other.type == "link":
                continue
            if type in NUMERIC and other.many and other.type == "link" and other.node.steps:
                other.node.ending = "@count"
                return other.node
            if type in NUMERIC and other.many and other.type in NUMERIC and other.prop \
                    and other.prop.coll and len(other.node.steps) == 1:
                return Aggregate(other.node, rng.choice(["@min", "@max", "@sum", "@avg"]))
            if other.many and not self.chance(0.01):
                continue
            if other.type == type or type in NUMERIC and other.type in NUMERIC \
                    or "mixed" in (type, other.type) and self.chance(0.3):
                if type == "string" and self.chance(0.15):
                    return Call(rng.choice(["lowercase", "uppercase", "trim"]), [other.node])
                if type in NUMERIC and other.type in NUMERIC and self.chance(0.2):
                    return Call(rng.choice(["abs", "floor", "round"]), [other.node])
                return other.node
        return Lit(self.maker.scalar(type if type != "mixed" else "int"))

    def of_choice(self, frame: Frame) -> Node | None:
        """TERNARY, of two paths or constants of one type."""
        rng = self.rng
        for _ in range(12):
            found = self.typed_path(frame)
            if found.type in (*NUMERIC, "string", "timestamp", "bool") and not found.many:
                break
        else:
            return None
        second: Node = Lit(self.plain(found))
        for _ in range(6):
            other = self.typed_path(frame)
            if not other.many and (other.type == found.type
                                   or {other.type, found.type} <= set(NUMERIC)):
                second = other.node
                break
        parts = rng.sample([found.node, second], 2)
        call = Call(rng.choice(["TERNARY", "ternary", "Ternary"]),
                    [self.pred(frame, rng.choice([0, 0, 1])), *parts])
        op = rng.choice(["==", "!=", *(ORDERED if found.type != "bool" else ["=="])])
        constant = Lit(self.plain(found), arg=self.chance(0.3))
        if found.type == "string" and self.chance(0.3):
            return Compare(rng.choice(TEXT_OPS[:3]), call, constant)
        return Compare(op, call, constant)

    def of_cast(self, frame: Frame) -> Node | None:
        rng = self.rng
        for _ in range(12):
            found = self.typed_path(frame)
            if found.type in CASTS:
                break
        else:
            return None
        target = rng.choice(CASTS[found.type])
        call = Call(rng.choice(["CAST", "cast"]), [found.node, Lit(target)])
        if target in ("Int", "Double", "Decimal"):
            return self.number_test(call)
        word = {"String": "string", "Date": "timestamp", "UUID": "uuid",
                "ObjectId": "objectId"}[target]
        value = self.maker.scalar(word)
        if found.prop and self.chance(0.5):
            stored = [row.values[found.prop.name] for rows in self.universe.rows.values()
                      for row in rows if found.prop in row.cls.props]
            value = self.cast_of(stored, target, value)
        op = rng.choice(["==", "==", "!=", "<", ">="])
        return Compare(op, call, Lit(value, arg=self.chance(0.3)))

    def cast_of(self, stored: list[Any], target: str, otherwise: Any) -> Any:
        value = self.rng.choice(stored) if stored else None
        try:
            made = cast(target)(value)
        except Unspecified:
            return otherwise
        return otherwise if made is None else made

    def of_now(self, frame: Frame) -> Node | None:
        """No value lies near the present, so that the moment does not matter."""
        rng, now = self.rng, Call(self.rng.choice(["now", "NOW"]), [])
        for _ in range(12):
            found = self.typed_path(frame)
            if found.type == "timestamp":
                if found.many and self.chance(0.5):
                    found.node.quant = rng.choice(QUANTS)
                sides: list[Node] = [found.node, now]
                return Compare(rng.choice(["==", "!=", *ORDERED]), *rng.sample(sides, 2))
            if found.type == "int" and not found.many:
                return Compare(rng.choice(["!=", *ORDERED]), Call("year", [now]), found.node)
        return None

    def of_total(self, frame: Frame) -> Node | None:
        """The functions that are spelled as aggregates elsewhere."""
        for _ in range(20):
            found = self.typed_path(frame)
            if found.many and found.prop and found.prop.coll and len(found.node.steps) == 1 \
                    and found.type in (*NUMERIC, "string"):
                names = ["min", "max", "sum", "average"] if found.type in NUMERIC else []
                return self.number_test(Call(self.rng.choice([*names, "count"]), [found.node]))
        return None

    def of_function(self, frame: Frame) -> Node | None:
        rng = self.rng
        odd = [(0.15, self.of_choice), (0.2, self.of_cast), (0.12, self.of_now),
               (0.12, self.of_total)]
        for probability, make in odd:
            if self.chance(probability):
                return make(frame)
        found = self.typed_path(frame)
        for _ in range(12):
            if found.type in (*NUMERIC, "string", "binary", "timestamp"):
                break
            found = self.typed_path(frame)
        node, type = found.node, found.type
        if type in NUMERIC:
            if self.chance(0.3):
                call = Call(rng.choice(["modulus", "add", "subtract", "multiply", "divide",
                                        "power"]), [node, Lit(rng.choice([0, 1, 2, 3, 1.5]))])
            else:
                call = Call(rng.choice(["abs", "ceiling", "floor", "round", "trunc", "sqrt",
                                        "ABS", "exp", "ln", "log"]), [node])
            return self.number_test(call)
        if type == "string":
            if self.chance(0.2):
                return self.number_test(Call("length", [node]))
            value = self.plain(found)
            name = rng.choice(["uppercase", "lowercase", "trim"])
            value = value.upper() if name == "uppercase" and isinstance(value, str) else value
            return Compare(rng.choice(["==", "!=", "beginswith", "contains"]), Call(name, [node]),
                           Lit(value if value is not None else ""))
        if type == "binary":
            return self.number_test(Call("length", [node]))
        if type == "timestamp":
            name = rng.choice(["year", "month", "day", "hour", "minute", "second", "weekday"])
            zone = [Lit(rng.choice(["UTC", "UTC+05:30", "UTC-11:00", "UTC+00:00"]))] \
                if self.chance(0.4) else []
            return Compare(rng.choice(["==", "!=", *ORDERED]), Call(name, [node, *zone]),
                           Lit(rng.choice([0, 1, 5, 12, 23, 59, 1970, 1969, 2020])))
        return None
