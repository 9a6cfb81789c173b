"""Random queries over a universe: mostly well typed, some on purpose not."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from .expressions import ExpressionMaker, ORDERED, QUANTS, TEXT_OPS
from .paths import Frame, Typed
from .schema import Cls, KEYS, NUMERIC, SCALARS, SCRIPTS, WORDS
from .syntax import (Aggregate, And, Between, Compare, Const, Flag, FullText, ListLit, Lit, Node,
                     Not, Or, Path, Query, Subquery, Suffix, Within)
from .values import kind
from .words import TYPE_WORDS

OPTIONS = ["", "", "", "c", "c", "d", "cd", "n"]


class Generator(ExpressionMaker):
    # ------------------------------------------------------------------------------ queries

    def query(self, root: Cls) -> Query:
        frame = Frame(root)
        pred = self.pred(frame, self.rng.choice([0, 0, 0, 1, 1, 2, 3]))
        suffixes = []
        if self.chance(0.35):
            suffixes = [self.suffix(root) for _ in range(self.rng.choice([1, 1, 2, 3, 4]))]
        return Query(pred, suffixes)

    def suffix(self, root: Cls) -> Suffix:
        op = self.rng.choice(["SORT", "SORT", "SORT", "DISTINCT", "LIMIT", "OFFSET"])
        if op in ("LIMIT", "OFFSET"):
            return Suffix(op, limit=self.rng.choice([0, 1, 1, 2, 3, 5, 10, 1000]))
        keys = []
        for _ in range(self.rng.choice([1, 1, 2, 3])):
            way = self.rng.choice(["ASC", "DESC", "ascending", "descending", ""])
            keys.append((self.sort_key(root), way if op == "SORT" else ""))
        return Suffix(op, keys)

    def sort_key(self, cls: Cls) -> Path:
        steps: list[tuple[Any, ...]] = []
        for _ in range(self.rng.choice([0, 0, 0, 1, 1, 2])):
            links = [prop for prop in cls.props if prop.type == "link" and not prop.coll]
            if links:
                prop = self.rng.choice(links)
                steps.append(("name", self.spelled(prop)))
                cls = self.universe.classes[prop.target]
        if self.chance(0.02):
            return Path([*steps, ("name", "nope")])
        if self.chance(0.03):
            many = [prop for prop in cls.props if prop.to_many and prop.coll != "dict"]
            if many:
                return Path([*steps, ("name", self.rng.choice(many).name)])
        if self.chance(0.05):
            entries = [prop for prop in cls.props if prop.coll == "dict" and not prop.objects]
            if entries:
                name = self.rng.choice(entries).name
                return Path([*steps, ("name", name), ("index", self.rng.choice(KEYS))])
        plain = [prop for prop in cls.props if not prop.to_many]
        prop = self.rng.choice(plain)
        if prop.type == "link" and self.universe.classes[prop.target].embedded:
            prop = plain[0]
        return Path([*steps, ("name", self.spelled(prop))])

    # --------------------------------------------------------------------------- predicates

    def pred(self, frame: Frame, depth: int) -> Node:
        roll = self.rng.random()
        if depth > 0:
            if roll < 0.4:
                parts = [self.pred(frame, depth - 1) for _ in range(self.rng.randint(2, 3))]
                few = self.of_few(frame) if self.chance(0.2) else None
                if few:
                    parts.insert(self.rng.randint(0, len(parts)), few)
                return And(parts)
            if roll < 0.8:
                return Or([self.pred(frame, depth - 1) for _ in range(self.rng.randint(2, 3))])
            return Not(self.pred(frame, depth - 1))
        if roll < 0.03:
            return Const(self.chance(0.5))
        if roll < 0.12:
            return Not(self.comparison(frame))
        return self.comparison(frame)

    def of_few(self, frame: Frame) -> Node | None:
        """A condition that leaves few candidates, which are tested one by one then."""
        pk = frame.cls.pk if frame.cls else None
        rows = self.universe.rows[frame.cls.name] if frame.cls else []
        if pk is None or not rows:
            return None
        keys = [Lit(row.values[pk.name], arg=self.chance(0.3))
                for row in self.rng.sample(rows, min(len(rows), self.rng.choice([1, 1, 2, 3])))]
        path = Path([("name", pk.name)], head=frame.var)
        return Compare("==", path, keys[0]) if len(keys) == 1 else \
            Compare("in", path, ListLit(keys, arg=self.chance(0.5)))

    def comparison(self, frame: Frame) -> Node:
        if self.chance(0.04):
            return self.mistaken(frame)
        if not self.simple:
            special = [(0.07, self.of_two_paths), (0.07, self.of_aggregate), (0.06, self.of_size),
                       (0.06, self.of_subquery), (0.07, self.of_arithmetic),
                       (0.05, self.of_function), (0.03, self.of_links), (0.03, self.of_words),
                       (0.03, self.of_type), (0.02, self.of_pattern),
                       (0.02, self.of_places), (0.05, self.of_bounds), (0.01, self.of_escapes)]
            for probability, make in special:
                if self.focus:
                    probability = 0.6 if make.__name__ == f"of_{self.focus}" else 0.01
                if self.chance(probability):
                    made = make(frame)
                    if made:
                        return made
        found = self.typed_path(frame)
        if found.type == "link":
            return self.of_objects(found)
        return self.of_path(found)

    def of_path(self, found: Typed) -> Node:
        rng, node = self.rng, found.node
        roll, text = rng.random(), found.type in ("string", "mixed", "binary")
        if found.many and self.chance(0.6):
            node.quant = rng.choice(QUANTS)
        if found.type == "bool" and not found.many and roll < 0.1:
            return Flag(node)
        if roll < 0.14:
            return self.membership(found)
        if roll < 0.22 and found.type not in ("bool", "link"):
            low, high = self.constant(found), self.constant(found)
            if low.value is None or high.value is None:
                low = high = Lit(self.plain(found))
            return Between(node, ListLit([low, high], arg=self.chance(0.15)), self.chance(0.2))
        if text and roll < 0.55:
            return self.text_comparison(found)
        op = rng.choice(["==", "==", "!=", *ORDERED])
        opts = rng.choice(OPTIONS) if text and self.chance(0.4) else ""
        if opts and "d" in opts and found.type != "string":
            opts = "c"
        constant = self.constant(found)
        if self.chance(0.08):
            return Compare(op, constant, node, opts)
        return Compare(op, node, constant, opts)

    def text_comparison(self, found: Typed) -> Node:
        op = self.rng.choice(TEXT_OPS)
        opts = self.rng.choice(OPTIONS)
        if found.type == "binary":
            opts = opts.replace("d", "") if op != "like" else ""
        if self.chance(0.04):
            return Compare(op, found.node, Lit(None, arg=self.chance(0.5)), opts)
        value = self.plain(found)
        if found.type == "mixed" and not isinstance(value, (str, bytes)):
            value = self.maker.scalar("string")
        if kind(value) not in ("string", "binary"):
            value = "a" if found.type != "binary" else b"a"
        value = self.piece(op, value)
        swapped = op != "like" and self.chance(0.05)
        left, right = (Lit(value, arg=self.chance(0.3)), found.node) if swapped else \
            (found.node, Lit(value, arg=self.chance(0.3)))
        return Compare(op, left, right, opts, self.chance(0.1))

    def of_escapes(self, frame: Frame) -> Node | None:
        """LIKE, whose patterns a format string reads otherwise."""
        for _ in range(12):
            found = self.typed_path(frame)
            if found.type in ("string", "mixed", "binary"):
                break
        else:
            return None
        value: Any = b"a\\*b" if found.type == "binary" else self.plain(found)
        if not isinstance(value, (str, bytes)) or isinstance(value, str) and self.chance(0.3):
            value = self.rng.choice(["a*", "\\", "*", "a?c", "50%", "\\*", "ab"])
        opts = self.rng.choice(OPTIONS) if isinstance(value, str) else ""
        return Compare("like", found.node, Lit(self.piece("like", value), self.chance(0.4)), opts)

    def piece(self, op: str, value: Any) -> Any:
        """A part of a value, in other letters perhaps, with wildcards for LIKE."""
        rng = self.rng
        if value and self.chance(0.6):
            start = 0 if op == "beginswith" else rng.randrange(len(value))
            stop = len(value) if op == "endswith" else rng.randint(start, len(value))
            value = value[start:stop]
        if isinstance(value, bytes):
            ends = [b"*", b"*", b"?", b"\\*", b"\\\\*"]
            return value + rng.choice(ends) if op == "like" else value
        if self.chance(0.3):
            value = rng.choice([str.upper, str.lower, str.swapcase])(value)
        if op == "like":
            letters = [rng.choice(["?", "*", char, char, char]) for char in value]
            if self.chance(0.35 if self.focus != "escapes" else 0.8):  # X7
                letters = [f"\\{char}" if char in "*?\\" else char for char in letters]
                letters.insert(rng.randint(0, len(letters)), rng.choice(["", "", "\\*", "\\?", "\\\\"]))
            value = rng.choice(["", "*", "?", "**"]) + "".join(letters) + rng.choice(["", "*", "?"])
        return value

    def membership(self, found: Typed) -> Node:
        rng = self.rng
        # Long lists are looked up otherwise than short ones.
        number = rng.choice([12, 30, 70]) if self.chance(0.08) else rng.choice([0, 1, 2, 3, 3, 5])
        items = [self.constant(found) for _ in range(number)]
        if found.type != "link" and self.chance(0.08):
            items.append(Lit(self.maker.scalar(rng.choice(SCALARS))))
        quant = rng.choice(QUANTS) if self.chance(0.15) else ""
        constants = ListLit(items, quant, arg=self.chance(0.35))
        op = "in" if self.chance(0.7) else rng.choice(["==", "!=", "==", *ORDERED])
        if found.type == "link" and op in ORDERED:
            op = "in"
        opts = ""
        if found.type in ("string", "mixed") and self.chance(0.3):
            opts = rng.choice(OPTIONS if found.type == "string" else ["c", "n"])
        return Compare(op, found.node, constants, opts, op == "in" and self.chance(0.15))

    def of_objects(self, found: Typed) -> Node:
        rng, node = self.rng, found.node
        targets: list[Any] = self.universe.rows[found.target]
        if found.many and self.chance(0.5):
            node.quant = rng.choice(QUANTS)
        roll = rng.random()
        if roll < 0.3 and targets and not self.universe.classes[found.target].embedded:
            items = [Lit(rng.choice(targets)) for _ in range(rng.randint(0, 3))]
            if not found.many and self.chance(0.2):
                items.append(Lit(None))
            return Compare(rng.choice(["in", "in", "==", "!="]), node,
                           ListLit(items, arg=self.chance(0.4)))
        value = None
        if (roll < 0.75 or found.many) and targets:
            value = rng.choice(targets)
        return Compare(rng.choice(["==", "!="]), node, Lit(value, arg=self.chance(0.4)))

    def of_two_paths(self, frame: Frame) -> Node | None:
        left = self.typed_path(frame)
        for _ in range(12):
            right = self.typed_path(frame)
            same = left.type == right.type and left.target == right.target
            if same or {left.type, right.type} <= set(NUMERIC) or (
                    "mixed" in (left.type, right.type) and self.chance(0.3)):
                break
        else:
            return None
        for side in (left, right):
            if side.many and self.chance(0.5):
                side.node.quant = self.rng.choice(QUANTS)
        op = self.rng.choice(["==", "!=", *ORDERED])
        if "link" in (left.type, right.type):
            op = self.rng.choice(["==", "!="])
        elif left.type == right.type == "string" and self.chance(0.4):
            op = self.rng.choice(TEXT_OPS)
        if right.many and self.chance(0.4):
            op = "in"
        opts = self.rng.choice(OPTIONS) if "string" in (left.type, right.type) else ""
        return Compare(op, left.node, right.node, opts)

    def of_size(self, frame: Frame) -> Node | None:
        for _ in range(12):
            found = self.typed_path(frame)
            if found.type == "link" or found.many or found.type in ("string", "binary", "mixed"):
                break
        else:
            return None
        node = found.node
        if not node.steps:
            return None
        node.ending = self.rng.choice(["@count", "@size", "[SIZE]"])
        if found.type in ("string", "binary") and found.prop \
                and found.prop.coll in ("list", "set") \
                and self.chance(0.4):
            node.ending = "length"
        if self.chance(0.4 if len(node.steps) > 1 and found.many else 0.03):
            node.quant = self.rng.choice(QUANTS)
        return self.number_test(node)

    def of_aggregate(self, frame: Frame) -> Node | None:
        op = self.rng.choice(["@min", "@max", "@sum", "@avg"])
        good = [*NUMERIC, "mixed"] + (["timestamp"] if op in ("@min", "@max") else [])
        for _ in range(20):
            found = self.typed_path(frame)
            if found.many and found.type == "link":
                of = self.numeric_property(self.universe.classes[found.target], good)
                if of:
                    return self.aggregate_test(Aggregate(found.node, op, of[0]), op, of[1])
            elif found.many and found.type in good and found.prop and found.prop.coll:
                return self.aggregate_test(Aggregate(found.node, op), op, found.type)
        return None

    def numeric_property(self, cls: Cls, good: list[str]) -> tuple[list[str], str] | None:
        names: list[str] = []
        if self.chance(0.15):
            links = [prop for prop in cls.props if prop.type == "link" and not prop.coll]
            if links:
                link = self.rng.choice(links)
                names, cls = [link.name], self.universe.classes[link.target]
        props = [prop for prop in cls.props if prop.type in good and not prop.coll]
        if not props:
            return None
        prop = self.rng.choice(props)
        return [*names, self.spelled(prop)], prop.type

    def aggregate_test(self, node: Node, op: str, type: str) -> Node:
        value: Any
        if self.chance(0.15):
            value = None
        elif op in ("@sum", "@avg") and type != "timestamp":
            value = self.rng.choice([0, 1, 2, 2.5, 3, 4.0, 10, 0.5])
        else:
            value = self.maker.scalar(type if type != "mixed" else "int", tame=True)
        return Compare(self.rng.choice(["==", "!=", *ORDERED]), node,
                       Lit(value, arg=self.chance(0.3) or isinstance(value, Decimal)))

    def of_subquery(self, frame: Frame) -> Node | None:
        if frame.parent and self.chance(0.7):
            return None
        for _ in range(12):
            found = self.typed_path(frame)
            if found.many and found.prop and found.prop.to_many and (
                    found.type == "link" or self.chance(0.2)):
                break
        else:
            return None
        var = self.rng.choice(["$v", "$x", "$member", "$s_1"])
        outer: Frame | None = frame
        while outer:
            if outer.var == var:
                return None
            outer = outer.parent
        cls = self.universe.classes[found.target] if found.type == "link" else None
        inner = Frame(cls, var, found.type, frame)
        pred = self.pred(inner, self.rng.choice([0, 0, 1]))
        if cls and self.chance(0.15):
            op = self.rng.choice(["@min", "@max", "@sum", "@avg"])
            of = self.numeric_property(cls, [*NUMERIC])
            if of:
                return self.aggregate_test(Subquery(found.node, var, pred, op, of[0]), op, of[1])
        return self.number_test(Subquery(found.node, var, pred, self.rng.choice(
            ["@count", "@size"])))

    def of_links(self, frame: Frame) -> Node | None:
        """Backlinks without a name, and the number of all references."""
        if frame.cls is None:
            return None
        head = frame.var
        if self.chance(0.3):
            return self.number_test(Path([("@links",)], ending="@count", head=head))
        origins = [(cls, prop) for cls in self.universe.classes.values() for prop in cls.props
                   if prop.type == "link" and prop.target == frame.cls.name]
        if not origins:
            return None
        cls, prop = self.rng.choice(origins)
        step = ("links", cls.name, self.spelled(prop))
        if self.chance(0.3):
            return self.number_test(Path([step], ending="@count", head=head))
        scalars = [prop for prop in cls.props if prop.type in SCALARS and not prop.coll]
        if not scalars:
            return None
        last = self.rng.choice(scalars)
        path = Path([step, ("name", self.spelled(last))], head=head)
        return self.of_path(Typed(path, last.type, True, last))

    def of_words(self, frame: Frame) -> Node | None:
        """TEXT, now and then on a property that has no words."""
        for _ in range(30):
            found = self.typed_path(frame)
            if found.prop and (found.prop.fulltext or (found.type == "string"
                                                       and self.chance(0.02))):
                break
        else:
            return None
        chosen = []
        for _ in range(self.rng.choice([0, 1, 1, 1, 2, 2, 3]) or self.rng.randint(0, 1)):
            word = self.rng.choice(SCRIPTS if found.prop and found.prop.unicode
                                   and self.chance(0.8) else WORDS)
            if self.chance(0.2):
                word = word[:self.rng.randint(1, len(word))] + "*"
            chosen.append(self.rng.choice(["", "", "", "-"]) + word)
        return FullText(found.node, " ".join(chosen), self.chance(0.3))

    def of_places(self, frame: Frame) -> Node | None:
        for _ in range(30):
            found = self.typed_path(frame)
            if found.target == "Spot" or self.chance(0.003):
                break
        else:
            return None
        rng = self.rng
        if found.many and self.chance(0.5):
            found.node.quant = rng.choice(QUANTS)
        x, y = rng.uniform(-30, 25), rng.uniform(-30, 25)
        roll = rng.randrange(3)
        if roll == 0:
            return Within(found.node, "geoCircle", [x, y, rng.choice([0.01, 0.1, 0.4, 1.0])])
        if roll == 1:
            return Within(found.node, "geoBox", [x, y, x + rng.uniform(1, 40),
                                                 y + rng.uniform(1, 40)])
        return Within(found.node, "geoPolygon", [
            x, y, x + rng.uniform(5, 40), y + rng.uniform(-3, 3), x + rng.uniform(-3, 3),
            y + rng.uniform(5, 40)])

    def of_type(self, frame: Frame) -> Node | None:
        for _ in range(20):
            found = self.typed_path(frame)
            if found.type == "mixed" and found.node.steps or self.chance(0.01):
                break
        else:
            return None
        if not found.node.steps:
            return None
        rng = self.rng
        if found.prop and not found.prop.coll and found.node.steps[-1][0] == "name" \
                and self.chance(0.4):
            found.node.steps += rng.choice([[("index", "*")], [("index", "*"), ("index", "*")],
                                            [("index", "*"), ("index", 0)], [("index", "k")],
                                            [("index", "*"), ("name", "kg")]])
            found.many = found.many or ("index", "*") in found.node.steps
        found.node.ending = "@type"
        if found.many and self.chance(0.5):
            found.node.quant = rng.choice(QUANTS)
        names = [*TYPE_WORDS] if self.chance(0.97) else ["nonsense"]
        if self.chance(0.3):
            items = [Lit(rng.choice(names)) for _ in range(rng.randint(0, 3))]
            return Compare("in", found.node, ListLit(items, arg=self.chance(0.3)))
        word = rng.choice([str.upper, str.lower, str.title])(rng.choice(names))
        return Compare(rng.choice(["==", "!="]), found.node, Lit(word, arg=self.chance(0.3)))

    def of_pattern(self, frame: Frame) -> Node | None:
        """MATCHES, with patterns that every dialect reads alike."""
        found = self.typed_path(frame)
        for _ in range(12):
            if found.type in ("string", "mixed"):
                break
            found = self.typed_path(frame)
        else:
            return None
        rng = self.rng
        pieces = [rng.choice(["a", "b", "A", "[ab]", "[^a]", ".", "\\w", "\\d", "(a|b)", "(?:ab|A)",
                              "é", "S"]) + rng.choice(["", "", "*", "+", "?", "{1,2}", "*?"])
                  for _ in range(rng.randint(1, 4))]
        pattern = "".join(pieces) + rng.choice(["", ".*"])
        return Compare("matches", found.node, Lit(pattern, arg=self.chance(0.3)),
                       rng.choice(["", "", "c"]), self.chance(0.1))

    # ---------------------------------------------------------------------------- mistakes

    def mistaken(self, frame: Frame) -> Node:
        """A predicate that breaks one rule."""
        rng = self.rng
        found = self.typed_path(frame)
        node, arg = found.node, self.chance(0.4)
        roll = rng.randrange(10)
        if roll == 0:
            node.steps[-1:] = [("name", "nope")]
            return Compare("==", node, Lit(1))
        if roll == 1:
            return Compare(rng.choice(["==", "<", "!="]), node,
                           Lit(self.maker.scalar(rng.choice(SCALARS)), arg))
        if roll == 2:
            node.quant = rng.choice(QUANTS)
            return Compare("==", node, Lit(None))
        if roll == 3:
            return Compare("in", node, Lit(self.maker.scalar("int"), arg))
        if roll == 4:
            items = [self.constant(found) for _ in range(rng.choice([0, 1, 3]))]
            return Between(node, ListLit(items))
        if roll == 5:
            return Compare("==", Lit(1, arg), Lit(self.maker.scalar("int")))
        if roll == 6:
            return Compare(rng.choice(TEXT_OPS), node, Lit(5, arg))
        if roll == 7:
            other = self.typed_path(frame)
            return Compare(rng.choice(["==", "<"]), node, other.node)
        if roll == 8:
            return Compare("==", node, Lit(None, text=rng.choice(["$77", "$99"])))
        node.steps.append(("name", "x"))
        return Compare("==", node, Lit(1))
