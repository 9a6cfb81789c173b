"""Classes so large that scans and sorts are cut in two (`campaign --large`).

No evaluator walks through half a million objects for each query. So a few hundred objects, the
patterns, are made at random and evaluated; the large class holds a copy of one of them under each
number, in an order that is random, in blocks or cyclic. No object links to the large class and no
property tells copies apart, so that a condition holds for a copy where it holds for its pattern.
Orders are those of the patterns, copies one after the other by their key (D1, D2).
"""

from __future__ import annotations

import ctypes as c
import random
import time
from collections import Counter
from functools import cmp_to_key
from itertools import compress
from typing import Any, Callable

from . import sql
from .arena import Report, kinds
from .capi import Database
from .clauses import bind_keys, comparison, identity_of
from .evaluator import Binder, evaluate
from .functions import aggregate
from .generator import Generator
from .native import EngineError, Value
from .operands import Failed
from .paths import Frame
from .schema import SCALARS, Cls, DataMaker, Prop, Universe
from .syntax import Node, Not, Query, render
from .values import Row, Unspecified
from .ways import Difference, trace

OBJECTS = 430_000
PATTERNS = 700
Sequence = list[int]  # numbers of large objects


class Patterns(Universe):
    """The universe whose first class is the patterns; `numbers` tells the pattern of each object."""

    numbers: list[int]


def make_patterns(seed: str, objects: int = OBJECTS) -> Patterns:
    rng = random.Random(seed)
    ship, port = Cls("Ship", 0), Cls("Port", 1)
    port.props = [Prop("name", "string", nullable=True), Prop("depth", "int", nullable=True),
                  Prop("size", "double")]
    chosen = [("n", "int", ""), ("str", "string", ""), ("mix", "mixed", ""),
              *rng.sample([("ints", "int", "list"), ("strs", "string", "list"),
                           ("anys", "mixed", "list"), ("tags", "string", "set"),
                           ("extras", "mixed", "dict")], 2),
              *[(f"{type[:4]}Of", type, "") for type in rng.sample(SCALARS, 3)]]
    for name, type, coll in chosen:
        ship.props.append(Prop(name, type, coll, type == "mixed" or rng.random() < 0.6,
                               indexed=type in ("int", "string") and not coll
                               and rng.random() < 0.25))
    ship.props.append(Prop("port", "link", nullable=True, target="Port"))
    if rng.random() < 0.5:
        ship.props.append(Prop("log", "string", nullable=True, fulltext=True,
                               unicode=rng.random() < 0.5))
    classes = {"Ship": ship, "Port": port}
    maker = DataMaker(rng, classes)
    maker.spread = rng.choice([9, 300, 10**6])
    maker.rows["Port"] = [Row(port, number) for number in range(9)]
    patterns = [Row(ship, number) for number in range(PATTERNS)]
    for row in [*maker.rows["Port"], *patterns]:
        maker.fill_row(row)
    universe = Patterns(classes, {"Ship": patterns, "Port": maker.rows["Port"]}, seed)
    universe.numbers = arranged(rng, objects)
    return universe


def arranged(rng: random.Random, objects: int) -> list[int]:
    way = rng.choice(["random", "random", "blocks", "cyclic"])
    if way == "random":
        return rng.choices(range(PATTERNS), k=objects)
    if way == "cyclic":
        return [number % PATTERNS for number in range(objects)]
    return [number * PATTERNS // objects for number in range(objects)]


class LargeGenerator(Generator):
    """No constant is an object of the large class, and no path goes back to it."""

    def __init__(self, rng: random.Random, universe: Universe) -> None:
        super().__init__(rng, universe)
        self.maker.rows = {**universe.rows, "Ship": []}

    def of_links(self, frame: Frame) -> Node | None:
        return None


class LargeDatabase(Database):
    def __init__(self, patterns: Patterns, directory: str, *, indexed: bool | None) -> None:
        few = Universe(patterns.classes, {**patterns.rows, "Ship": []}, patterns.seed)
        super().__init__(few, directory, indexed=indexed)
        self.patterns = patterns
        self.number_of: dict[int, int] = {}  # of objects by their key
        for row in patterns.rows["Ship"]:
            row.key = row.number  # orders of the patterns do not look at it
        self.create_all(patterns)

    def create_all(self, patterns: Patterns) -> None:
        lib, table = self.lib, self.table["Ship"]
        ship = patterns.classes["Ship"]
        plain, nested = [], []
        for row in patterns.rows["Ship"]:
            values, rest = [], []
            for prop in ship.props:
                value = row.values[prop.name]
                if isinstance(value, (list, dict)):
                    rest += [prop] if value or not prop.coll else []
                elif value is not None or not prop.nullable:
                    values.append((self.property["Ship", prop.name], self.value(value)))
            plain.append(values)
            nested.append(rest)
        create, set_value, release, key_of = (lib.object_create, lib.set_value, lib.release,
                                              lib.object_get_key)
        realm = self.realm
        self.begin()
        for number, pattern in enumerate(patterns.numbers):
            handle = lib.check(create(realm, table))
            self.number_of[key_of(handle)] = number
            for key, value in plain[pattern]:
                if not set_value(handle, key, value, False):
                    raise lib.last_error()
            for prop in nested[pattern]:
                self.fill_property(patterns.rows["Ship"][pattern], prop, handle)
            release(handle)
        self.commit()

    def found(self, query: int) -> Sequence:
        """The numbers of the objects that a query finds."""
        results = self.results(query)
        got, size = c.c_size_t(), self.size(results)
        keys = (c.c_int64 * max(size, 1))()
        try:
            self.lib.check(self.lib.results_read_keys(results, 0, size, keys, c.byref(got)))
        finally:
            self.release(results)
        assert got.value == size, (got.value, size)
        return list(map(self.number_of.__getitem__, keys[:size]))

    def leading(self, query: int) -> int | None:
        value, found = Value(), c.c_bool()
        self.lib.check(self.lib.query_find_first(query, c.byref(value), c.byref(found)))
        return self.number_of[value.link.key] if found.value else None


Stage = Callable[[Sequence], Sequence]


class Model:
    """What a query finds, by its patterns."""

    def __init__(self, universe: Patterns) -> None:
        self.universe = universe
        self.root = universe.classes["Ship"]
        self.rows = universe.rows["Ship"]
        self.oracle = sql.Oracle(universe)

    def patterns(self, query: Query, report: Report) -> tuple[list[bool], list[int]]:
        """For which patterns the condition holds, or error codes."""
        condition = Query(query.pred)
        expected = evaluate(self.universe, self.root, condition)
        if expected.rows is None:
            return [], expected.errors
        statement = self.oracle.translate(self.root, condition)
        said = self.oracle.rows(self.root, statement) if statement else None
        if said is not None:
            report.asked["SQLite"] += 1
            if said != expected.rows:
                raise AssertionError(f"SQLite finds {said}, the rules {expected.rows}: {statement}")
        truths = [False] * len(self.rows)
        for row in expected.rows:
            truths[row.number] = True
        return truths, []

    def stages(self, query: Query) -> tuple[list[Stage], list[int]]:
        binder = Binder(self.universe, self.root)
        stages = []
        for suffix in query.suffixes:
            try:
                stages.append(self.stage(binder, suffix))
            except Failed:
                pass
        return stages, binder.errors

    def stage(self, binder: Binder, suffix: Any) -> Stage:
        if suffix.op == "LIMIT":
            return lambda found: found[:suffix.limit]
        if suffix.op == "OFFSET":
            return lambda found: found[suffix.limit:]
        keys, numbers = bind_keys(binder, suffix, self.root), self.universe.numbers
        if binder.errors:
            return lambda found: found
        if suffix.op == "DISTINCT":
            kinds = list(map(identity_of(keys), self.rows))

            def distinct(found: Sequence) -> Sequence:
                firsts: dict[Any, int] = {}
                for number in found:
                    firsts.setdefault(kinds[numbers[number]], number)
                firsts.pop(None, None)
                return list(firsts.values())
            return distinct
        ranks = ranked(self.rows, comparison(keys))
        return lambda found: sorted(found, key=lambda number: ranks[numbers[number]])

    def expected(self, query: Query, report: Report) -> tuple[Sequence | None, list[int]]:
        truths, errors = self.patterns(query, report)
        stages, more = self.stages(query)
        if errors or more:
            return None, [*errors, *more]
        numbers = self.universe.numbers
        found = list(compress(range(len(numbers)), map(truths.__getitem__, numbers)))
        for stage in stages:
            found = stage(found)
        return found, []

    def total(self, op: str, prop: Prop, found: Sequence) -> Any:
        """@min, @max, and @sum of integers."""
        copies = Counter(map(self.universe.numbers.__getitem__, found))
        values = [self.rows[pattern].values[prop.name] for pattern in copies]
        if op != "@sum":
            return aggregate(op, prop.type, values)
        total = sum((value or 0) * number for value, number in zip(values, copies.values()))
        return (total + 2**63) % 2**64 - 2**63


def ranked(rows: list[Row], compare: Callable[[Row, Row], int]) -> list[int]:
    """The place of each row in an order; equal ones share it."""
    ranks, rank = [0] * len(rows), 0
    ordered = sorted(rows, key=cmp_to_key(compare))
    for before, row in zip([None, *ordered], ordered):
        if before is not None and compare(before, row):
            rank += 1
        ranks[row.number] = rank
    return ranks


def compare(model: Model, database: LargeDatabase, query: Query, rng: random.Random, report: Report
            ) -> Difference | None:
    text, args = render(query)
    trace(model.universe, model.root, f"{text}\n{args!r}")
    try:
        expected, errors = model.expected(query, report)
    except Unspecified as reason:
        report.unspecified[str(reason)] += 1
        return None
    try:
        handle = database.parse(model.root, text, args)
    except EngineError as error:
        if error.code not in errors:
            return Difference("an error", "rows" if expected is not None else errors, error)
        report.errors += 1
        return None
    try:
        if expected is None:
            return Difference("no error", errors, "none")
        count = database.count(handle)
        if count != len(expected):
            return Difference("count", len(expected), count)
        if expected and database.leading(handle) != expected[0]:
            return Difference("the first", expected[0], database.leading(handle))
        found = database.found(handle)
        if found != expected:
            return Difference("objects", *apart(expected, found))
        report.compared += 1
        report.kinds.update(kinds(query))
        return complement(model, database, query, expected) if rng.random() < 0.3 else \
            totals(model, database, handle, expected, rng, report)
    except EngineError as error:
        return Difference("an error while it runs", "objects", error)
    finally:
        database.release(handle)


def apart(expected: Sequence, found: Sequence) -> tuple[Any, Any]:
    """Where two sequences part, with what follows there."""
    at = next((position for position, (a, b) in enumerate(zip(expected, found)) if a != b),
              min(len(expected), len(found)))
    return (f"{len(expected)} objects, at {at} {expected[at:at + 5]}",
            f"{len(found)} objects, at {at} {found[at:at + 5]}")


def complement(model: Model, database: LargeDatabase, query: Query, expected: Sequence
               ) -> Difference | None:
    """U1: all the others."""
    if query.suffixes:
        return None
    handle = database.parse(model.root, *render(Query(Not(query.pred))))
    try:
        number, rest = database.count(handle), len(model.universe.numbers) - len(expected)
        return None if number == rest else Difference("count of NOT", rest, number)
    finally:
        database.release(handle)


def totals(model: Model, database: LargeDatabase, handle: int, expected: Sequence,
           rng: random.Random, report: Report) -> Difference | None:
    """C_RULES, "Aggregates"."""
    props = [prop for prop in model.root.props if not prop.coll and prop.type in
             ("int", "double", "timestamp")]
    prop = rng.choice(props)
    op = rng.choice(["@min", "@max", "@sum"] if prop.type == "int" else ["@min", "@max"])
    try:
        total = model.total(op, prop, expected)
    except Unspecified:
        return None
    got = database.aggregate(handle, op, model.root, prop)
    report.asked["aggregates"] += 1
    return None if got == total else Difference(f"{op} of {prop.name}", total, got)


def told(name: str, query: Query, difference: Difference, root: Cls) -> str:
    text, args = render(query)
    props = ", ".join(f"{prop.name}: {prop.coll} {prop.type}{'?' * prop.nullable}"
                      f"{' indexed' * prop.indexed}" for prop in root.props)
    return (f"large universe {name}: {difference.what}\n  {text}\n  arguments: {args!r}\n"
            f"  expected {difference.expected!r}\n  got      {difference.got!r}\n  {props}")


def run_large(directory: str, *, seed: str, seconds: float, differences: int,
              say: Callable[[str], None], report: Report, focus: str = "",
              objects: int = OBJECTS, per_universe: int = 150, at_least: int = 0) -> Report:
    """Asks queries of large classes until the time is over and `at_least` were compared; each class takes some ten seconds."""
    start, number = time.monotonic(), 0

    def over() -> bool:
        return time.monotonic() - start >= seconds and report.compared >= at_least

    while not over() and len(report.differences) < differences:
        name = f"{seed}/large/{number}"
        universe = make_patterns(name, objects)
        database = LargeDatabase(universe, directory, indexed=[None, False, None, True][number % 4])
        report.universes += 1
        say(f"{objects} objects made {time.monotonic() - start:.0f} s after the start")
        try:
            model, rng = Model(universe), random.Random(name)
            generator = LargeGenerator(rng, universe)
            generator.focus = focus
            for _ in range(per_universe):
                if over() or len(report.differences) >= differences:
                    break
                query = generator.query(model.root)
                report.queries += 1
                difference = compare(model, database, query, rng, report)
                if difference:
                    report.differences.append(told(name, query, difference, model.root))
                    say(f"difference {report.differences[-1]}")
        finally:
            database.close()
            report.seconds = time.monotonic() - start
        number += 1
    return report
