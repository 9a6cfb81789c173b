"""The campaign: random universes and queries, run and compared until the time is over."""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

from . import sql, unsupported
from .capi import Database, EngineError
from .evaluator import evaluate
from .generator import Generator
from .schema import Cls, Universe, make_universe
from .shrink import describe, shrink
from .syntax import Query, render
from .values import Row, Unspecified


@dataclass
class Difference:
    what: str
    expected: object
    got: object


@dataclass
class Report:
    queries: int = 0
    compared: int = 0
    errors: int = 0
    sql: int = 0
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

    def __init__(self, universe: Universe, directory: str) -> None:
        self.universe = universe
        self.databases = []
        for indexed in (None, True, False):
            self.databases.append(Database(universe, directory, indexed=indexed))
        self.oracle: sql.Oracle | None = None

    def close(self) -> None:
        for database in self.databases:
            database.close()

    def compare(self, root: Cls, query: Query, report: Report) -> Difference | None:
        """None where the engine agrees, or where the rules or the engine leave the query open."""
        text, args = render(query)
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
        for database, name in zip(self.databases[1:], ("all", "no")):
            twin = database.parse(root, text, args)
            try:
                rows = database.rows(twin, root)
                if rows != found:
                    return Difference(f"rows with {name} properties indexed", found, rows)
                if database.count(twin) != len(found):
                    return Difference(f"count with {name} properties indexed", len(found),
                                      database.count(twin))
            finally:
                database.release(twin)
        return self.with_sql(root, query, found, report)

    def with_sql(self, root: Cls, query: Query, found: list[Row], report: Report
                 ) -> Difference | None:
        statement = sql.translate(root, query)
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
              directory: str) -> str:
    """The smallest case of a difference, as text."""
    what = difference.what.split(" {")[0].split(" '")[0].split(": SELECT")[0]
    last = [difference]

    def check(smaller: Universe, candidate: Query) -> bool:
        arena = Arena(smaller, directory)
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


def run(directory: str, *, seed: str, seconds: float, differences: int = 5,
        per_universe: int = 250, simple: bool = False, first: int = 0) -> Report:
    """Runs until the time is over or there are enough differences."""
    report, start, number = Report(), time.monotonic(), first
    while time.monotonic() - start < seconds and len(report.differences) < differences:
        name = f"{seed}/{number}"
        rng = random.Random(name)
        tall = simple and number % 12 == 11
        universe = make_universe(name, rich=not simple, rows=3000 if tall else None)
        arena = Arena(universe, directory)
        try:
            generator = Generator(rng, universe, simple=simple)
            for _ in range(60 if tall else per_universe):
                root = universe.classes[rng.choice(["Ship", "Ship", "Crew", "Port"])]
                query = generator.query(root)
                report.queries += 1
                difference = arena.compare(root, query, report)
                if difference:
                    report.differences.append(f"seed {seed}, universe {number}: " + reproduce(
                        universe, root, query, difference, directory))
                    break
                if time.monotonic() - start >= seconds:
                    break
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
