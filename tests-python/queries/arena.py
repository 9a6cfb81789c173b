"""A universe in the engine, and the comparison of one query with everything that can answer it."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

from . import elements, functions, sql, unsupported, ways
from .capi import Database
from .evaluator import evaluate
from .generator import Generator
from .native import EngineError
from .schema import Cls, NUMERIC, Universe
from .syntax import And, Call, Compare, ListLit, Lit, Not, Path, Query, render, walk
from .values import Row, Unspecified, is_nan, kind
from .ways import Difference


# Other ways to ask, and how often each is taken.
WAYS = {"": 30, "parts": 10, "collection": 14, "aggregate": 8, "mutated": 7, "spelled": 25, "refined": 10,
        "choice": 10, "complement": 5}


@dataclass
class Report:
    queries: int = 0
    compared: int = 0
    errors: int = 0
    universes: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    unspecified: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)  # comparisons by way
    kinds: Counter[str] = field(default_factory=Counter)  # compared queries by what is in them
    differences: list[str] = field(default_factory=list)
    seconds: float = 0

    def line(self) -> str:
        return (f"{self.queries} queries in {self.seconds:.0f} s, {self.universes} universes: "
                f"{self.compared} compared by rows, {self.errors} by error, "
                f"{sum(self.refused.values())} refused as not supported, "
                f"{sum(self.unspecified.values())} left open by the rules, "
                f"{len(self.differences)} differences")

    def __str__(self) -> str:
        lines = [self.line()]
        lines += [f"  asked {number} x {name}" for name, number in self.asked.most_common()]
        lines += ["  with " + ", ".join(f"{number} x {name}"
                                        for name, number in self.kinds.most_common())]
        lines += [f"  refused {number} x {name}" for name, number in self.refused.most_common()]
        lines += [f"  open {number} x {name}" for name, number in self.unspecified.most_common(40)]
        return "\n".join(lines)


def kinds(query: Query) -> set[str]:
    """What a query has in it, to tell how often that was compared."""
    made = {suffix.op for suffix in query.suffixes}
    for node in walk(query.pred):
        if isinstance(node, Call):
            made.add(f"{node.name.lower()}()")
        elif isinstance(node, Compare):
            made.add(f"{node.op.upper()}{'[...]' if node.opts else ''}")
        elif isinstance(node, Path):
            made.update(step[0] for step in node.steps if step[0] not in ("name", "index"))
            made.add(node.ending or node.quant or "path")
        elif not isinstance(node, (Lit, ListLit)):
            made.add(type(node).__name__)
    return made


class Arena:
    """A universe in the engine three times: with its own indexes, with none and with all."""

    def __init__(self, universe: Universe, directory: str, *, simple: bool = False) -> None:
        self.universe = universe
        self.simple = simple
        self.databases = []
        self.way = ""  # tried many times, while a difference is made smaller
        self.report = Report()
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
        self.report = report
        text, args = render(query)
        ways.trace(self.universe, root, f"{text}\n{args!r}")
        try:
            expected = evaluate(self.universe, root, query)
        except Unspecified as reason:
            report.unspecified[str(reason)] += 1
            return self.agree(root, query, text, args)
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

    def agree(self, root: Cls, query: Query, text: str, args: list[object]) -> Difference | None:
        """Whatever the rules leave open must not crash (E5), and has one answer all the same."""
        first = self.databases[0]
        try:
            handle = first.parse(root, text, args)
        except EngineError:
            return None
        found: list[Row] = []
        try:
            found = first.rows(handle, root)
            self.report.asked["open, with itself"] += 1
            return self.itself(root, query, text, args, handle, found) \
                or self.object_by_object(root, query, found) or self.complement(root, query, found)
        except EngineError as error:
            if error.code != 1000:
                return None  # a pattern with too many steps
            return Difference("an error of a query that is open", found, error)
        finally:
            first.release(handle)

    def object_by_object(self, root: Cls, query: Query, found: list[Row]) -> Difference | None:
        """The condition of a choice is not planned: it is evaluated for each object."""
        return self.same(root, Query(Compare("==", Call("TERNARY", [query.pred, Lit(1), Lit(0)]),
                                             Lit(1)), query.suffixes), found)

    def complement(self, root: Cls, query: Query, found: list[Row]) -> Difference | None:
        """U1: all other objects."""
        if query.suffixes:
            return None
        rows = sorted(self.universe.rows[root.name], key=lambda row: row.key)
        return self.same(root, Query(Not(query.pred)), [row for row in rows if row not in found])

    def same(self, root: Cls, query: Query, found: list[Row]) -> Difference | None:
        first, (text, args) = self.databases[0], render(query)
        ways.trace(self.universe, root, f"{text}\n{args!r}")
        try:
            handle = first.parse(root, text, args)
        except EngineError as error:
            return Difference(f"said otherwise: {text} {args!r}", found, error)
        try:
            rows = first.rows(handle, root)
            return None if rows == found else \
                Difference(f"said otherwise: {text} {args!r}", found, rows)
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
        return self.itself(root, query, text, args, handle, found) \
            or self.with_sql(root, query, found, report) \
            or self.elsewhere(root, query, handle, found)

    def itself(self, root: Cls, query: Query, text: str, args: list[object], handle: int,
               found: list[Row]) -> Difference | None:
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
        return self.twins(root, text, args, found)

    def twins(self, root: Cls, text: str, args: list[object], found: list[Row]
              ) -> Difference | None:
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
        return None

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
            if way:
                self.report.asked[way] += 1
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
        if way == "collection":
            return elements.objects(self.universe, self.databases[0], root, query, rng)
        if way == "aggregate":
            return self.aggregated(root, handle, found, rng)
        if way == "mutated":
            self.mutated(root, query, rng)
        elif way == "spelled":
            return ways.spelled(self.universe, first, root, query, rng, found, self.oracle)
        elif way == "choice":
            return self.object_by_object(root, query, found)
        elif way == "complement":
            return self.complement(root, query, found)
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

    def aggregated(self, root: Cls, handle: int, found: list[Row], rng: random.Random
                   ) -> Difference | None:
        """C_RULES, "Aggregates"."""
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
        if same and self.oracle:
            said, answer = self.oracle.aggregate(op, root, prop, found)
            if said:
                self.report.asked["aggregates by SQLite"] += 1
                if not (answer == got or answer is None and is_nan(got)):
                    return Difference(f"{op} of {prop.name} by SQLite", answer, got)
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
        if self.oracle is None:
            self.oracle = sql.Oracle(self.universe)
        statement = self.oracle.translate(root, query)
        if statement is None:
            return None
        rows = self.oracle.rows(root, statement)
        if rows is None:
            return None
        report.asked["SQLite with joins" if statement.joins else "SQLite"] += 1
        return None if rows == found else Difference(f"rows of SQLite: {statement}", rows, found)
