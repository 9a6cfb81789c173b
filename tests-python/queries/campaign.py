"""The campaign: random universes and queries, run and compared until the time is over."""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

from . import functions, sql, unsupported, ways
from .capi import Database, EngineError
from .evaluator import evaluate
from .generator import Generator
from .schema import Cls, NUMERIC, Universe, make_universe
from .shrink import describe, shrink
from .syntax import And, Query, render
from .values import Row, Unspecified, is_nan, kind
from .ways import Difference, Living, unreadable


# Other ways to ask, and how often each is taken.
WAYS = {"": 30, "parts": 10, "list": 10, "aggregate": 8, "mutated": 7, "spelled": 25, "refined": 10}


@dataclass
class Report:
    queries: int = 0
    compared: int = 0
    errors: int = 0
    sql: int = 0
    living: int = 0
    changes: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    unspecified: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)
    seconds: float = 0

    def __str__(self) -> str:
        lines = [f"{self.queries} queries in {self.seconds:.0f} s: {self.compared} compared by "
                 f"rows, {self.errors} by error, {self.sql} with SQLite too, "
                 f"{sum(self.refused.values())} refused as not supported, "
                 f"{sum(self.unspecified.values())} left open by the rules, "
                 f"{len(self.differences)} differences"]
        lines += [f"  refused {number} x {name}" for name, number in self.refused.most_common()]
        lines += [f"  open {number} x {name}" for name, number in self.unspecified.most_common(40)]
        return "\n".join(lines)


class Arena:
    """A universe in the engine three times: with its own indexes, with none and with all."""

    def __init__(self, universe: Universe, directory: str, *, simple: bool = False) -> None:
        self.universe = universe
        self.simple = simple
        self.databases = []
        self.way = ""  # tried many times, while a difference is made smaller
        # The twins stand in other states of a transaction, too.
        states = random.Random(universe.seed).choice(
            [("committed", "committed"), ("open", "half"), ("half", "open"), ("committed", "open")])
        for indexed, state in zip((None, True, False), ("committed", *states)):
            self.databases.append(Database(universe, directory, indexed=indexed, state=state))
        self.oracle: sql.Oracle | None = None

    def close(self) -> None:
        for database in self.databases:
            database.close()

    def compare(self, root: Cls, query: Query, report: Report) -> Difference | None:
        """None where the engine agrees, or where the rules or the engine leave the query open."""
        text, args = render(query)
        ways.trace(self.universe, root, f"{text}\n{args!r}")
        try:
            expected = evaluate(self.universe, root, query)
        except Unspecified as reason:
            self.survive(root, text, args)
            report.unspecified[str(reason)] += 1
            return None
        first = self.databases[0]
        try:
            handle = first.parse(root, text, args)
        except EngineError as error:
            if error.code not in expected.errors:
                allowed = unsupported.construct(error.code, error.message)
                if allowed:
                    report.refused[allowed] += 1
                    return None
            if expected.rows is not None:
                return Difference("an error", expected.rows, error)
            report.errors += 1
            return None if error.code in expected.errors else \
                Difference("the error code", expected.errors, error)
        try:
            found = first.rows(handle, root)
            if expected.rows is None:
                return Difference("no error", expected.errors, found)
            if found != expected.rows:
                return Difference("rows", expected.rows, found)
            report.compared += 1
            return self.consistency(root, query, text, args, handle, found, report)
        except EngineError as error:
            return Difference("an error while it runs", expected.rows, error)
        finally:
            first.release(handle)

    def survive(self, root: Cls, text: str, args: list[object]) -> None:
        """E5: whatever the rules leave open must not crash."""
        ways.trace(self.universe, root, f"{text}\n{args!r}")
        try:
            handle = self.databases[0].parse(root, text, args)
            try:
                self.databases[0].rows(handle, root)
            finally:
                self.databases[0].release(handle)
        except EngineError:
            pass

    def consistency(self, root: Cls, query: Query, text: str, args: list[object], handle: int,
                    found: list[Row], report: Report) -> Difference | None:
        """The same rows by every other way to ask."""
        first = self.databases[0]
        if first.count(handle) != len(found):
            return Difference("count", len(found), first.count(handle))
        if not any(suffix.op == "LIMIT" and suffix.limit == 0 for suffix in query.suffixes):
            leading = found[0] if found else None
            if first.first(handle) != leading:
                return Difference("find_first", leading, first.first(handle))
        if any(unreadable(arg) for arg in args):
            return self.twins(root, query, text, args, handle, found, report)
        description = first.description(handle)
        try:
            again = first.parse(root, description, [])
        except EngineError as error:
            return Difference(f"V1: parsing of the description {description!r}", found, error)
        try:
            rows = first.rows(again, root)
            if rows != found:
                return Difference(f"V1: rows of the description {description!r}", found, rows)
        finally:
            first.release(again)
        return self.twins(root, query, text, args, handle, found, report)

    def twins(self, root: Cls, query: Query, text: str, args: list[object], handle: int,
              found: list[Row], report: Report) -> Difference | None:
        """The same rows whatever the indexes and the state of the transaction."""
        for database, name in zip(self.databases[1:], ("all", "no")):
            twin = database.parse(root, text, args)
            try:
                rows = database.rows(twin, root)
                if rows != found:
                    return Difference(f"rows with {name} properties indexed, {database.state}",
                                      found, rows)
                if database.count(twin) != len(found):
                    return Difference(f"count with {name} properties indexed", len(found),
                                      database.count(twin))
            finally:
                database.release(twin)
        return self.with_sql(root, query, found, report) or self.elsewhere(root, query, handle,
                                                                           found)

    def elsewhere(self, root: Cls, query: Query, handle: int, found: list[Row]
                  ) -> Difference | None:
        """The same query in parts, over a list, and aggregated; each now and then."""
        for attempt in range(25 if self.way else 1):
            rng = random.Random(f"{attempt}{len(found)}{query}")
            way = self.way or rng.choices([*WAYS], [*WAYS.values()])[0]
            try:
                difference = self.otherwise(way, root, query, handle, found, rng)
            except Unspecified:
                continue  # a list may repeat what the class holds once
            if difference:
                difference.way = way
                return difference
        return None

    def otherwise(self, way: str, root: Cls, query: Query, handle: int, found: list[Row],
                  rng: random.Random) -> Difference | None:
        first = self.databases[0]
        if way == "parts":
            return self.in_parts(root, query, query.pred, found) \
                if isinstance(query.pred, And) else None
        if way == "list":
            return self.over_list(root, query, rng)
        if way == "aggregate":
            return self.aggregated(root, handle, found, rng)
        if way == "mutated":
            self.mutated(root, query, rng)
        elif way == "spelled":
            return ways.spelled(self.universe, first, root, query, rng, found)
        elif way == "refined":
            generator = Generator(rng, self.universe, simple=self.simple)
            return ways.chained(self.universe, first, root, query, rng, generator)
        return None

    def in_parts(self, root: Cls, query: Query, pred: And, found: list[Row]) -> Difference | None:
        """D13: a query appended to another."""
        first = self.databases[0]
        start = first.parse(root, *render(Query(pred.parts[0])))
        rest = And(pred.parts[1:]) if len(pred.parts) > 2 else pred.parts[1]
        whole = first.append(start, *render(Query(rest, query.suffixes)))
        try:
            rows = first.rows(whole, root)
            return None if rows == found else Difference("rows of parts appended", found, rows)
        finally:
            first.release(start)
            first.release(whole)

    def over_list(self, root: Cls, query: Query, rng: random.Random) -> Difference | None:
        """D2: over the objects of a list, in its order, with repeats."""
        choices = [(row, prop) for cls in self.universe.classes.values()
                   for prop in cls.props if prop.coll == "list" and prop.target == root.name
                   and prop.type == "link"
                   for row in self.universe.rows[cls.name]]
        if not choices:
            return None
        owner, prop = rng.choice(choices)
        members = owner.values[prop.name]
        expected = evaluate(self.universe, root, query, members).rows
        first = self.databases[0]
        handle = first.parse_for_list(owner, prop, *render(query))
        try:
            rows = first.rows(handle, root)
            if rows != expected:
                return Difference(f"rows of the list {owner!r}.{prop.name} {members!r}", expected,
                                  rows)
            if first.count(handle) != len(rows):
                return Difference("count of a list's query", len(rows), first.count(handle))
            return None
        finally:
            first.release(handle)

    def aggregated(self, root: Cls, handle: int, found: list[Row], rng: random.Random
                   ) -> Difference | None:
        """CONTRACT 14.4."""
        op = rng.choice(["@min", "@max", "@sum", "@avg"])
        types = [*NUMERIC, *(["timestamp"] if op in ("@min", "@max") else [])]
        props = [prop for prop in root.props if prop.type in types and not prop.coll]
        if not props:
            return None
        prop = rng.choice(props)
        try:
            expected = functions.aggregate(op, prop.type, [row.values[prop.name] for row in found])
        except Unspecified:
            return None
        got = self.databases[0].aggregate(handle, op, root, prop)
        same = got == expected or (is_nan(got) and is_nan(expected))
        if same and kind(got) == "number":
            same = functions.numeric_type(got) == functions.numeric_type(expected)
        return None if same else Difference(f"{op} of {prop.name}", expected, got)

    def mutated(self, root: Cls, query: Query, rng: random.Random) -> None:
        """E5: no text makes it crash."""
        text, args = render(query)
        for _ in range(3):
            start = rng.randrange(len(text))
            stop = start + rng.randint(0, 4)
            middle = rng.choice(["", "(", ")", "{", "}", "[", ".", "$", "'", '"', "\\", "@", "not",
                                 "-", "99999999999999999999", "\U0001f600", "any ", text[:9]])
            self.survive(root, text[:start] + middle + text[stop:], args)

    def with_sql(self, root: Cls, query: Query, found: list[Row], report: Report
                 ) -> Difference | None:
        statement = sql.translate(root, self.universe.rows[root.name], query)
        if statement is None:
            return None
        if self.oracle is None:
            self.oracle = sql.Oracle(self.universe)
        rows = self.oracle.rows(root, statement)
        if rows is None:
            return None
        report.sql += 1
        return None if rows == found else Difference(f"rows of SQLite: {statement}", rows, found)


def reproduce(universe: Universe, root: Cls, query: Query, difference: Difference,
              directory: str, simple: bool) -> str:
    """The smallest case of a difference, as text."""
    what = difference.what.split(" {")[0].split(" '")[0].split(": SELECT")[0]
    last = [difference]

    def check(smaller: Universe, candidate: Query) -> bool:
        arena = Arena(smaller, directory, simple=simple)
        arena.way = difference.way
        try:
            again = arena.compare(smaller.classes[root.name], candidate, Report())
        finally:
            arena.close()
        if again is None or not again.what.startswith(what[:20]):
            return False
        old, new = difference.got, again.got
        if isinstance(old, EngineError) and isinstance(new, EngineError) and old.code != new.code:
            return False
        last[0] = again
        return True

    universe, query = shrink(universe, query, check)
    if check(universe, query):
        difference = last[0]
    text, args = render(query)
    return (f"{difference.what}\n  on {root.name}: {text}\n  arguments: {args!r}\n"
            f"  expected {difference.expected!r}\n  got      {difference.got!r}\n"
            f"{describe(universe)}")


def search(arena: Arena, rng: random.Random, report: Report, number: int, end: float,
           directory: str) -> str:
    """Asks `number` queries of a universe, which changes now and then; the difference as text."""
    universe = arena.universe
    generator = Generator(rng, universe, simple=arena.simple)
    living = Living(universe, arena.databases, rng)
    try:
        for _ in range(number):
            root = universe.classes[rng.choice(["Ship", "Ship", "Crew", "Port"])]
            query = generator.query(root)
            report.queries += 1
            before = report.compared
            difference = arena.compare(root, query, report)
            if difference:
                return reproduce(universe, root, query, difference, directory, arena.simple)
            if report.compared > before and rng.random() < 0.06:
                difference = living.keep(root, query, generator)
                report.living += 1
            if living.chains and rng.random() < 0.03:
                difference = difference or living.change()
                arena.oracle = None
                report.changes += 1
            if difference:
                return (f"{difference.what}\n  expected {difference.expected!r}\n"
                        f"  got      {difference.got!r}\n{describe(universe)}")
            if len(living.chains) > 5:
                living.close()
            if time.monotonic() >= end:
                break
        return ""
    finally:
        living.close()


def run(directory: str, *, seed: str, seconds: float, differences: int = 5,
        per_universe: int = 250, simple: bool = False, first: int = 0) -> Report:
    """Runs until the time is over or there are enough differences."""
    report, start, number = Report(), time.monotonic(), first
    while time.monotonic() - start < seconds and len(report.differences) < differences:
        name = f"{seed}/{number}"
        rng = random.Random(name)
        # Large tables take seconds to fill: long runs only.
        tall = simple and seconds >= 30 and number % 8 == 7
        universe = make_universe(name, rich=not simple, rows=3000 if tall else None)
        arena = Arena(universe, directory, simple=simple)
        try:
            text = search(arena, rng, report, 60 if tall else per_universe,
                          start + seconds, directory)
            if text:
                report.differences.append(f"seed {seed}, universe {number}: {text}")
        finally:
            arena.close()
        number += 1
    report.seconds = time.monotonic() - start
    return report


def main() -> None:
    import tempfile
    seed, seconds, differences = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    with tempfile.TemporaryDirectory() as directory:
        report = run(directory, seed=seed, seconds=seconds, differences=differences,
                     simple="simple" in sys.argv[4:])
    for text in report.differences:
        print(text, end="\n\n")
    print(report)


if __name__ == "__main__":
    main()
