"""Queries of the values of one list, set or dictionary, where SELF is the value (B11), and of the
objects of one collection or of those that link to one object, in the order of that collection."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Any, Callable

from . import functions
from .capi import Database
from .evaluator import Binder, Expected, evaluate
from .generator import Generator
from .native import EngineError
from .operands import Scope
from .paths import Frame
from .reach import Env
from .schema import Cls, NUMERIC, Prop, Universe
from .syntax import Path, Query, Suffix, Writer, render
from .values import Row, Unspecified, distinct_key, is_nan, kind, order
from .ways import Difference, trace

SELF = Path([], head="SELF")


@dataclass
class Source:
    """A collection of an object; `prop` may be linking objects."""

    owner: Row
    prop: Prop

    def members(self, universe: Universe) -> list[Any]:
        if self.prop.type == "backlinks":
            return list(universe.backlinks(self.owner, self.prop.target, self.prop.origin))
        value = self.owner.values[self.prop.name]
        return list(value.values()) if isinstance(value, dict) else list(value)

    def __str__(self) -> str:
        return f"{self.prop.coll or self.prop.type} {self.owner!r}.{self.prop.name}"


def sources(universe: Universe, fits: Callable[[Prop], bool]) -> list[Source]:
    return [Source(row, prop) for cls in universe.classes.values() if not cls.embedded
            for prop in cls.props if prop.to_many and fits(prop)
            for row in universe.rows[cls.name]]


# ------------------------------------------------------------------------------------ objects

def objects(universe: Universe, database: Database, root: Cls, query: Query,
            rng: random.Random) -> Difference | None:
    """D2: over the objects of a collection, in its order, with repeats."""
    choices = sources(universe, lambda prop: prop.objects and prop.target == root.name)
    if not choices:
        return None
    source = rng.choice(choices)
    members = source.members(universe)
    if None in members:
        return None  # a dictionary whose entry has no object
    expected = evaluate(universe, root, query, members).rows
    trace(universe, root, f"{source}: {render(query)}")
    handle = database.parse_for(source.owner, source.prop, *render(query),
                                as_results=rng.random() < 0.5)
    try:
        rows = database.rows(handle, root)
        if rows != expected:
            return Difference(f"rows of the {source} {members!r}", expected, rows)
        if database.count(handle) != len(rows):
            return Difference(f"count of the {source}'s query", len(rows), database.count(handle))
        no_limit = not any(suffix.op == "LIMIT" and suffix.limit == 0
                           for suffix in query.suffixes)
        first = rows[0] if rows else None
        if no_limit and database.first(handle) is not first:
            return Difference(f"the first of the {source}", first, database.first(handle))
        return None
    finally:
        database.release(handle)


# ------------------------------------------------------------------------------------- values

def stage(suffix: Suffix) -> Callable[[list[Any]], list[Any]]:
    """A clause about SELF."""
    if suffix.op == "LIMIT":
        return lambda values: values[:suffix.limit]
    if suffix.op == "OFFSET":
        return lambda values: values[suffix.limit:]
    if suffix.op == "DISTINCT":
        def distinct(values: list[Any]) -> list[Any]:
            kept: dict[Any, Any] = {}
            for value in values:
                kept.setdefault(distinct_key(value), value)
            return list(kept.values())
        return distinct
    down = suffix.keys[0][1].upper().startswith("DESC")

    def compare(a: Any, b: Any) -> int:
        if kind(a) == kind(b) and kind(a) in ("list", "dictionary"):
            raise Unspecified("order of nested collections")
        return -order(a, b) if down else order(a, b)
    return lambda values: sorted(values, key=cmp_to_key(compare))


def evaluate_values(universe: Universe, prop: Prop, values: list[Any], query: Query) -> Expected:
    binder = Binder(universe, next(iter(universe.classes.values())))
    test = binder.part(query.pred, Scope(None, type=prop.type))
    if binder.errors:
        return Expected(None, binder.errors)
    found = [value for value in values if test(Env(value))]
    for suffix in query.suffixes:
        found = stage(suffix)(found)
    return Expected(found, [])


def suffixes(rng: random.Random) -> list[Suffix]:
    made = []
    for _ in range(rng.choice([0, 0, 0, 1, 1, 2, 3])):
        op = rng.choice(["SORT", "SORT", "DISTINCT", "LIMIT", "OFFSET"])
        way = rng.choice(["ASC", "DESC", "ascending", ""])
        made.append(Suffix(op, [(SELF, way if op == "SORT" else "")]) if op in ("SORT", "DISTINCT")
                    else Suffix(op, limit=rng.choice([0, 1, 1, 2, 3, 100])))
    return made


def comparable(value: Any) -> Any:
    """Values with their types: 1, 1.0 and true are three."""
    if kind(value) in ("list", "dictionary"):
        return kind(value)
    if kind(value) == "number":
        return (functions.numeric_type(value), distinct_key(value))
    return (kind(value), value)


def same(a: list[Any], b: list[Any]) -> bool:
    return [comparable(value) for value in a] == [comparable(value) for value in b]


class Values:
    """Queries of the values of one collection."""

    def __init__(self, universe: Universe, databases: list[Database], rng: random.Random) -> None:
        self.universe, self.databases, self.rng = universe, databases, rng
        self.kept: list[tuple[Source, Query, int]] = []

    def close(self) -> None:
        for _, _, results in self.kept:
            self.databases[0].release(results)
        self.kept = []

    def after(self, done: str) -> Difference | None:
        """The results that were kept, when the data has changed; those of deleted objects go."""
        database = self.databases[0]
        for item in list(self.kept):
            source, query, results = item
            try:
                if source.owner not in self.universe.rows[source.owner.cls.name]:
                    raise Unspecified("values of an object that is deleted")
                values = source.members(self.universe)
                expected = evaluate_values(self.universe, source.prop, values, query).rows
            except Unspecified:
                self.kept.remove(item)
                database.release(results)
                continue
            what = f"kept results of the {source}, {values!r}, {render(query)}, after {done}"
            try:
                found = database.read_values(results)
            except EngineError as error:
                return Difference(what, expected, error)
            if expected is not None and not same(found, expected):
                return Difference(what, expected, found)
        return None

    def query(self, generator: Generator, prop: Prop) -> Query:
        frame = Frame(None, type=prop.type, prop=prop)
        return Query(generator.pred(frame, self.rng.choice([0, 0, 1, 1, 2])), suffixes(self.rng))

    def ask(self, generator: Generator) -> tuple[str, Difference | None]:
        """One query; what was compared, and the difference."""
        choices = sources(self.universe, lambda prop: not prop.objects)
        if not choices:
            return "", None
        source = self.rng.choice(choices)
        query = self.query(generator, source.prop)
        try:
            return self.compare(source, query)
        except Unspecified as reason:
            return f"open: {reason}", None

    def compare(self, source: Source, query: Query) -> tuple[str, Difference | None]:
        values, (text, args) = source.members(self.universe), render(query)
        trace(self.universe, source.owner.cls, f"{source}: {text} {args!r}")
        expected = evaluate_values(self.universe, source.prop, values, query)
        database = self.databases[0]
        what = f"the {source} of type {source.prop.type}, {values!r}, asked {text!r} {args!r}"
        results = database.values_of(source.owner, source.prop)
        try:
            handle = database.parse_for_values(results, text, args)
        except EngineError as error:
            if error.code in expected.errors:
                return "values by error", None
            return "", Difference(what, expected.rows or expected.errors, error)
        finally:
            database.release(results)
        try:
            if expected.rows is None:
                return "", Difference(what, expected.errors, database.values(handle))
            if len(self.kept) < 5 and self.rng.random() < 0.1:
                self.kept.append((source, query, database.results(handle)))
            return "values", self.answers(source, query, handle, expected.rows, what)
        except EngineError as error:
            return "", Difference(what, expected.rows, error)
        finally:
            database.release(handle)

    def answers(self, source: Source, query: Query, handle: int, expected: list[Any], what: str
                ) -> Difference | None:
        database, (text, args) = self.databases[0], render(query)
        found = database.values(handle)
        if not same(found, expected):
            return Difference(what, expected, found)
        if database.count(handle) != len(expected):
            return Difference(f"the count: {what}", len(expected), database.count(handle))
        if not any(suffix.op == "LIMIT" and suffix.limit == 0 for suffix in query.suffixes):
            first = database.first_value(handle)
            if not same(first, expected[:1]):
                return Difference(f"the first: {what}", expected[:1], first)
        if "SELF" in text:
            again = database.parse_for(source.owner, source.prop, text, args)
            try:
                if not same(database.values(again), expected):
                    return Difference(f"by its collection: {what}", expected,
                                      database.values(again))
            finally:
                database.release(again)
        return (self.description(source, handle, expected, what)
                or self.aggregate(source, handle, expected, what)
                or self.refined(source, query, handle, expected, what))

    def description(self, source: Source, handle: int, expected: list[Any], what: str
                    ) -> Difference | None:
        database = self.databases[0]
        text = database.description(handle)
        results = database.values_of(source.owner, source.prop)
        try:
            again = database.parse_for_values(results, text, [])
        except EngineError as error:
            return Difference(f"V1 {text!r}: {what}", expected, error)
        finally:
            database.release(results)
        try:
            found = database.values(again)
            return None if same(found, expected) else Difference(f"V1 {text!r}: {what}", expected,
                                                                 found)
        finally:
            database.release(again)

    def aggregate(self, source: Source, handle: int, expected: list[Any], what: str
                  ) -> Difference | None:
        """C_RULES, "Aggregates"."""
        op, type = self.rng.choice(["@min", "@max", "@sum", "@avg"]), source.prop.type
        types = [*NUMERIC, *(["timestamp"] if op in ("@min", "@max") else [])]
        if type not in types or self.rng.random() < 0.6:
            return None
        try:
            wanted = functions.aggregate(op, type, expected)
        except Unspecified:
            return None
        got = self.databases[0].aggregate_of(handle, op)
        if (is_nan(got) and is_nan(wanted)) or same([got], [wanted]):
            return None
        return Difference(f"{op}: {what}", wanted, got)

    def refined(self, source: Source, query: Query, handle: int, expected: list[Any], what: str
                ) -> Difference | None:
        """Results sorted, made distinct, cut and filtered step by step."""
        rng, database = self.rng, self.databases[0]
        if rng.random() < 0.6:
            return None
        results, steps = database.results(handle), []
        limited = any(suffix.op in ("LIMIT", "OFFSET") for suffix in query.suffixes)
        distinct = any(suffix.op == "DISTINCT" for suffix in query.suffixes)
        try:
            for _ in range(rng.choice([1, 2, 3])):
                for suffix in suffixes(rng)[:1]:
                    if suffix.op == "SORT":
                        suffix.keys = [(SELF, suffix.keys[0][1] or "ASC")]
                    expected = stage(suffix)(expected)
                    given: Any = suffix.limit
                    if suffix.keys:
                        given = f"SELF {suffix.keys[0][1]}".strip()
                    steps.append(f"{suffix.op} {given}")
                    limited = limited or suffix.op in ("LIMIT", "OFFSET")
                    distinct = distinct or suffix.op == "DISTINCT"
                    made = database.refined(results, suffix.op.lower(), given)
                    database.release(results)
                    results = made
                    found = database.read_values(results)
                    if not same(found, expected):
                        return Difference(f"then {', '.join(steps)}: {what}", expected, found)
            return None if limited or distinct else self.filtered(source, results, expected, what,
                                                                  steps)
        finally:
            database.release(results)

    def filtered(self, source: Source, results: int, expected: list[Any], what: str,
                 steps: list[str]) -> Difference | None:
        database = self.databases[0]
        generator = Generator(self.rng, self.universe)
        query = Query(generator.pred(Frame(None, type=source.prop.type, prop=source.prop), 0))
        wanted = evaluate_values(self.universe, source.prop, expected, query).rows
        if wanted is None:
            return None
        base = database.values_of(source.owner, source.prop)
        more = database.parse_for_values(base, *render(query))
        database.release(base)
        made = database.refined(results, "filter", more)
        database.release(more)
        try:
            found = database.read_values(made)
            if same(found, wanted):
                return None
            return Difference(f"then {', '.join(steps)} and filter {render(query)}: {what}",
                              wanted, found)
        finally:
            database.release(made)
