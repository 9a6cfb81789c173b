"""The part of the generator that is about queries and results."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Callable

from queries.schema import Prop

from .calls import Call, Handle, Key
from .results import Query, Results
from .store import Collection, Object
from .world import SCALARS, TEXTS, scalar

if TYPE_CHECKING:
    from .generator import Generator

OPS = ["==", "==", "!=", "<", "<=", ">", ">="]
LITERAL = ("int", "string", "bool", "double")


class QueryWriter:
    def __init__(self, rng: random.Random, generator: Generator) -> None:
        self.rng, self.g = rng, generator

    # -------------------------------------------------------------------------------- texts

    def text(self, cls: str) -> tuple[str, list[Any]]:
        """A query of a class and its arguments; seldom one with a mistake."""
        rng = self.rng
        args: list[Any] = []
        if rng.random() < 0.04:
            return rng.choice(["", "i ==", "i == 1 LIMIT(-1)", "nope == 1", "i == $3", "i == )",
                               "link.nope == 2", "nope == $5"]), []
        if rng.random() < 0.2:
            text = rng.choice(["TRUEPREDICATE", "FALSEPREDICATE"])
        else:
            parts = [self.condition(cls, args) for _ in range(rng.choice([1, 1, 1, 2]))]
            text = rng.choice([" AND ", " OR "]).join(parts)
            if rng.random() < 0.1:
                text = f"NOT ({text})"
        return text + self.clauses(cls, args), args

    def clauses(self, cls: str, args: list[Any]) -> str:
        text = ""
        while self.rng.random() < 0.22:
            way = self.rng.random()
            if way < 0.4:
                text += f" SORT({self.order(cls)})"
            elif way < 0.65:
                text += f" DISTINCT({self.sortable(cls)})"
            else:
                text += f" LIMIT({self.rng.choice([0, 1, 2, 5])})"
        return text

    def order(self, cls: str) -> str:
        keys = [f"{self.sortable(cls)} {self.rng.choice(['ASC', 'DESC'])}"
                for _ in range(self.rng.choice([1, 1, 2]))]
        return ", ".join(keys)

    def sortable(self, cls: str) -> str:
        if self.rng.random() < 0.03:
            return "nope"
        names = {"Thing": ["i", "k", "b", "s", "sn", "t", "f", "x", "dec", "link", "link.i", "who",
                           "who.age", "m"],
                 "Person": ["name", "age", "boss", "boss.age"], "Number": ["id", "to.i", "m"],
                 "Part": ["n", "m", "to"], "Inner": ["s"]}
        return self.rng.choice(names[cls])

    def condition(self, cls: str, args: list[Any]) -> str:
        rng = self.rng
        classes = self.g.schema_classes()
        if cls not in classes:
            return "TRUEPREDICATE"
        prop = rng.choice([p for p in classes[cls].props])
        if prop.type == "backlinks":
            return f"{prop.name}.@count {rng.choice(OPS)} {rng.choice([0, 1, 2])}"
        if prop.coll:
            return self.of_collection(prop, args)
        if prop.type == "link":
            if rng.random() < 0.3:
                return f"{prop.name} {rng.choice(['==', '!='])} {self.operand(prop, args)}"
            inner = rng.choice([p for p in classes[prop.target].props
                                if not p.coll and p.type not in ("backlinks", "link")])
            return f"{prop.name}.{inner.name} {rng.choice(OPS)} {self.operand(inner, args)}"
        if rng.random() < 0.12:
            args.append([self.argument(prop) for _ in range(rng.randrange(4))])
            return f"{prop.name} IN ${len(args) - 1}"
        if prop.type == "string" and rng.random() < 0.4:
            op = rng.choice(["BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE"])
            return f"{prop.name} {op} {self.operand(prop, args)}"
        return f"{prop.name} {rng.choice(OPS)} {self.operand(prop, args)}"

    def of_collection(self, prop: Prop, args: list[Any]) -> str:
        rng = self.rng
        if rng.random() < 0.25:
            return f"{prop.name}.@count {rng.choice(OPS)} {rng.choice([0, 1, 2])}"
        quant = rng.choice(["", "ANY ", "ALL ", "NONE "])
        if prop.type == "link":
            if rng.random() < 0.4 and prop.target == "Thing":
                return f"{quant}{prop.name} {rng.choice(['==', '!='])} {self.operand(prop, args)}"
            inner = {"Thing": "i", "Person": "age", "Part": "n", "Inner": "s"}[prop.target]
            type = "string" if inner == "s" else "int"
            return f"{quant}{prop.name}.{inner} {rng.choice(OPS)} " \
                   f"{self.operand(Prop('', type), args)}"
        path = prop.name
        if prop.coll == "dict" and rng.random() < 0.5:
            path += rng.choice([".@values", "['a']", "['k']"])
            quant = quant if path.endswith("s") else ""
        return f"{quant}{path} {rng.choice(OPS)} {self.operand(prop, args)}"

    def operand(self, prop: Prop, args: list[Any]) -> str:
        """A constant of a property's type, in the text or as an argument."""
        rng = self.rng
        if prop.nullable and rng.random() < 0.15:
            return "NULL"
        type = prop.type
        if rng.random() < 0.04:
            type = rng.choice(["int", "string"])
        if type == "mixed":
            type = rng.choice(SCALARS)
        if type in LITERAL and rng.random() < 0.5:
            value = rng.choice([v for v in TEXTS]) if type == "string" else \
                rng.choice([-1, 0, 1, 2, 3, 5]) if type == "int" else \
                rng.choice([0.5, 1.0, 1.5]) if type == "double" else rng.choice([True, False])
            return f"'{value}'" if type == "string" else str(value).lower()
        args.append(self.argument(Prop("", type, target=prop.target)))
        return f"${len(args) - 1}"

    def argument(self, prop: Prop) -> Any:
        if prop.type == "link":
            return self.g.link(prop.target)
        if prop.type == "mixed":
            return scalar(self.rng, self.rng.choice(SCALARS))
        return scalar(self.rng, prop.type)

    # ------------------------------------------------------------------------------- results

    def cls_of(self, handle: Handle) -> str:
        thing = self.g.of(handle)
        base = thing.base if isinstance(thing, (Query, Results)) else None
        return base.cls.name if base is not None and base.cls else "Thing"

    def make_results(self) -> Call | None:
        g, rng = self.g, self.rng
        way = rng.random()
        if way < 0.3:
            realm = g.realm()
            return realm and g.made("realm_object_find_all", [realm, g.cls()], "results")
        if way < 0.55:
            realm = g.realm()
            cls = g.cls(bad=0.02)
            text, args = self.text(cls.cls if isinstance(cls, Key) else "Thing")
            return realm and g.made("realm_query_parse", [realm, cls, text, args], "query")
        if way < 0.72:
            kind = rng.choice(["list", "set"])
            some = g.one(Collection, lambda c: c.kind == kind and (
                c.prop.type == "link" or g.chance(0.1)))
            if some is None:
                return None
            prop = g.of(some).prop
            text, args = self.text(prop.target if prop.type == "link" else "Thing")
            return g.made(f"realm_query_parse_for_{kind}", [some, text, args], "query")
        if way < 0.86:
            some = g.object()
            cls, prop_name = rng.choice([("Thing", "link"), ("Thing", "ll"), ("Thing", "sl"),
                                         ("Thing", "dl"), ("Thing", "who"), ("Thing", "lw"),
                                         ("Person", "boss"), ("Number", "to"), ("Thing", "i"),
                                         ("Part", "to")])
            return some and g.made("realm_get_backlinks", [some, Key(cls), Key(cls, prop_name)],
                                   "results")
        some = g.one(Query)
        return some and g.made("realm_query_find_all", [some], "results")

    def results(self) -> Handle | None:
        g = self.g
        if g.chance(0.08):
            return g.one(Results)
        return g.one(Results, lambda v: v.inst.alive(v.epoch))

    def use_results(self) -> Call | None:
        g, rng = self.g, self.rng
        handle = self.results()
        if handle is None:
            return None
        results = g.of(handle)
        cls = self.cls_of(handle)
        small = rng.choice([0, 0, 1, 1, 2, 3, 9])
        if rng.random() < 0.8:
            small = min(small, max(g.found(handle) - 1, 0))
        refine = len(results.steps) < 5
        ways: list[tuple[float, Callable[[], Call | None]]] = [
            (3, lambda: Call("realm_results_count", [handle])),
            (4, lambda: Call("realm_results_get", [handle, small])),
            (1.5, lambda: g.made("realm_results_get_object", [handle, small], "object")),
            (1, lambda: Call("realm_results_is_valid", [handle])),
            (1.5, lambda: Call("realm_results_find", [handle, g.value(None)])),
            (1.5, lambda: self.find_object(handle)),
            (3, lambda: self.aggregate(handle, cls)),
            (.4, lambda: Call("realm_results_delete_all", [handle])),
            (.5, lambda: Call("realm_results_read_keys", [handle, small, rng.choice([0, 1, 5])])),
            (.8, lambda: self.in_results(handle, small))]
        if refine:
            ways += [
                (1.5, lambda: self.filtered(handle, cls)),
                (1.5, lambda: g.made("realm_results_sort", [handle, self.order(cls)], "results")),
                (1.2, lambda: g.made("realm_results_distinct", [handle, self.sortable(cls)],
                                     "results")),
                (1, lambda: g.made("realm_results_limit", [handle, rng.choice([0, 1, 2, 9])],
                                   "results")),
                (.5, lambda: g.made("realm_results_offset", [handle, rng.choice([0, 1, 9])],
                                    "results")),
                (1, lambda: g.made("realm_results_snapshot", [handle], "results")),
                (1, lambda: g.made("realm_results_get_query", [handle], "query")),
                (1, lambda: self.parsed(handle, cls))]
        return rng.choices([w for _, w in ways], [n for n, _ in ways])[0]()

    def find_object(self, handle: Handle) -> Call | None:
        some = self.g.one(Object)
        return some and Call("realm_results_find_object", [handle, some])

    def in_results(self, handle: Handle, index: int) -> Call:
        kind = self.rng.choice(["list", "dictionary"])
        return self.g.made(f"realm_results_get_{kind}", [handle, index],
                           "list" if kind == "list" else "dict")

    def aggregate(self, handle: Handle, cls: str) -> Call:
        function = f"realm_results_{self.rng.choice(['min', 'max', 'sum', 'average'])}"
        names = [prop.name for prop in self.g.schema_classes()[cls].props
                 if prop.type != "backlinks" and (not prop.coll or self.g.chance(0.1))]
        key: Any = Key(cls, self.rng.choice(names))
        return Call(function, [handle, key if self.g.chance(0.96) else 12345])

    def filtered(self, handle: Handle, cls: str) -> Call | None:
        query = self.g.one(Query, lambda q: q.base.cls is not None and (
            q.base.cls.name == cls or self.g.chance(0.1)))
        return query and self.g.made("realm_results_filter", [handle, query], "results")

    def parsed(self, handle: Handle, cls: str) -> Call:
        text, args = self.text(cls)
        return self.g.made("realm_query_parse_for_results", [handle, text, args], "query")

    # ------------------------------------------------------------------------------- queries

    def use_query(self) -> Call | None:
        g, rng = self.g, self.rng
        handle = g.one(Query)
        if handle is None:
            return None
        way = rng.random()
        if way < 0.3:
            return Call("realm_query_count", [handle])
        if way < 0.55:
            return Call("realm_query_find_first", [handle])
        if way < 0.8:
            return g.made("realm_query_find_all", [handle], "results")
        if way < 0.92:
            text, args = self.text(self.cls_of(handle))
            return g.made("realm_query_append_query", [handle, text, args], "query")
        if way < 0.95:
            return Call("realm_query_delete_all", [handle])
        return Call("realm_query_get_description", [handle])
