"""Other ways to ask for the same: spellings, results refined step by step, results that live on."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from typing import Any, Callable

from .capi import Database
from .changes import Changer
from .clauses import bind_suffix
from .evaluator import Binder, evaluate
from .generator import Generator
from .native import EngineError
from .operands import Failed, Scope
from .reach import Env
from .schema import Cls, Universe
from .spelling import CannotSpell, as_format, as_key_paths
from .sql import Oracle
from .syntax import Query, Suffix, Writer, render
from .values import Row, Unspecified

ILLEGAL_OPERATION, INDEX_OUT_OF_BOUNDS = 2007, 3017


@dataclass
class Difference:
    what: str
    expected: object
    got: object
    way: str = ""


def trace(universe: Universe, root: Cls, what: str) -> None:
    """Notes what is about to run in a file, so that a crash can be told."""
    name = os.environ.get("REALM_QUERY_FUZZ_TRACE")
    if name:
        with open(name, "w") as file:
            file.write(f"universe {universe.seed}, on {root.name}: {what}\n")


def spelled(universe: Universe, database: Database, root: Cls, query: Query, rng: random.Random,
            found: list[Row], oracle: Oracle | None = None) -> Difference | None:
    """With key paths as arguments (N8), or as a format string (rules X)."""
    as_text = rng.random() < 0.4
    if as_text:
        try:
            text, args = as_key_paths(query, rng, universe)
        except CannotSpell:
            return None
        parse = database.parse
    else:
        try:
            text, args = as_format(query, rng, universe)
        except CannotSpell:
            return None
        parse = database.parse_format
        rows = evaluate(universe, root, query, dialect="format").rows
        if rows is None:
            return None
        found = rows
        said = oracle.answer(root, query, "format") if oracle else None
        if said is not None and said != found:
            return Difference("rows of SQLite for a format string", said, found)
    name = "with key paths" if as_text else "as a format string"
    trace(universe, root, f"{name}: {text}\n{args!r}")
    try:
        handle = parse(root, text, args)
    except EngineError as error:
        return Difference(f"{name}: {text!r} {args!r}", found, error)
    try:
        rows = database.rows(handle, root)
        if rows != found:
            return Difference(f"rows {name}: {text!r} {args!r}", found, rows)
        if as_text:
            return None
        description = database.description(handle)
        again = database.parse(root, description, [])
        try:
            rows = database.rows(again, root)
        finally:
            database.release(again)
        if rows != found:
            return Difference(f"V1 {name}: {text!r} {args!r} is {description!r}", found, rows)
        return None
    finally:
        database.release(handle)


# ---------------------------------------------------------------------------------- results

@dataclass
class Step:
    #: filter (before what orders and cuts), refine (behind it), sort, distinct, limit or offset
    op: str
    query: Query | None = None
    suffix: Suffix | None = None
    limit: int = 0

    def __str__(self) -> str:
        if self.query:
            return f"{self.op} {render(self.query)}"
        if self.suffix:
            return f"{self.op} {Chain.text(self.suffix)!r}"
        return f"{self.op} {self.limit}"


class Chain:
    """Results of a query, filtered, sorted and limited once more; the same in the model. Filters are
    those of the C interface, which come first, or those of Python, which work on what is there."""

    def __init__(self, universe: Universe, database: Database, root: Cls, query: Query,
                 rng: random.Random) -> None:
        self.universe, self.database, self.root = universe, database, root
        self.query, self.rng = query, rng
        self.steps: list[Step] = []
        handle = database.parse(root, *render(query))
        self.results = database.results(handle)
        database.release(handle)

    def close(self) -> None:
        self.database.release(self.results)

    @staticmethod
    def text(suffix: Suffix) -> str:
        writer = Writer()
        return ", ".join(f"{writer.path(path)} {way}".strip() for path, way in suffix.keys)

    def clauses(self) -> list[str]:
        """Of all steps: sort, distinct, limit and offset."""
        refined = [step.query for step in self.steps if step.op == "refine" and step.query]
        return [suffix.op.lower() for query in [self.query, *refined] for suffix in query.suffixes] + [
            step.op for step in self.steps]

    def limited(self) -> bool:
        return not {"limit", "offset"}.isdisjoint(self.clauses())

    def distinct(self) -> bool:
        return "distinct" in self.clauses()

    def extend(self, generator: Generator) -> Difference | None:
        """One step more; the difference where a step is refused or allowed by mistake."""
        rng = self.rng
        step = Step(rng.choice(["filter", "filter", "refine", "refine", "sort", "distinct", "limit",
                                "offset"]))
        if step.op in ("limit", "offset"):
            step.limit = rng.choice([0, 1, 2, 3, 7, 1000])
        elif step.op == "refine":
            step.query = generator.query(self.root)
            if evaluate(self.universe, self.root, step.query).rows is None:
                return None
        elif step.op == "filter":
            step.query = Query(generator.query(self.root).pred)
            if self.distinct():
                return None
            if not self.test(step.query):
                return None
        else:
            keys = [(generator.sort_key(self.root), "") for _ in range(rng.choice([1, 1, 2]))]
            if step.op == "sort":
                keys = [(key, rng.choice(["ASC", "DESC", "ascending", "Desc"])) for key, _ in keys]
            step.suffix = Suffix(step.op.upper(), keys)
            binder = Binder(self.universe, self.root)
            try:
                bind_suffix(binder, step.suffix, self.root)
            except Failed:
                return None
            if binder.errors:
                return None
        return self.take(step)

    def test(self, query: Query) -> Callable[[Env], bool] | None:
        binder = Binder(self.universe, self.root)
        test = binder.part(query.pred, Scope(self.root))
        return None if binder.errors else test

    def take(self, step: Step) -> Difference | None:
        database, query = self.database, 0
        refused = step.op == "filter" and self.limited()
        trace(self.universe, self.root, f"{render(self.query)}, then {step}")
        try:
            if step.op == "refine" and step.query:
                results = database.refine(self.results, *render(step.query))
            elif step.query:
                query = database.parse(self.root, *render(step.query))
                results = database.refined(self.results, "filter", query)
            elif step.suffix:
                results = database.refined(self.results, step.op, self.text(step.suffix))
            else:
                results = database.refined(self.results, step.op, step.limit)
        except EngineError as error:
            if refused and error.code == ILLEGAL_OPERATION:
                return None
            return Difference(f"results refined by {step}", "no error", error)
        finally:
            if query:
                database.release(query)
        if refused:
            database.release(results)
            return Difference(f"limited results refined by {step}", ILLEGAL_OPERATION, "no error")
        database.release(self.results)
        self.results = results
        self.steps.append(step)
        return None

    def expected(self) -> list[Row]:
        """What the results must hold now. `filter` comes before the order it was asked in."""
        rows = evaluate(self.universe, self.root, self.query).rows
        assert rows is not None
        for step in self.steps:
            if step.op == "refine" and step.query:
                left = evaluate(self.universe, self.root, step.query, rows).rows
                assert left is not None
                rows = left
            elif step.query:
                test = self.test(step.query)
                assert test is not None
                rows = [row for row in rows if test(Env(row))]
            elif step.suffix:
                binder = Binder(self.universe, self.root)
                rows = bind_suffix(binder, step.suffix, self.root)(rows)
            else:
                rows = rows[:step.limit] if step.op == "limit" else rows[step.limit:]
        return rows

    def compare(self, when: str) -> Difference | None:
        database, expected = self.database, self.expected()
        steps = ", ".join(map(str, self.steps))
        trace(self.universe, self.root, f"{render(self.query)}, then {steps} {when}")
        if expected and self.rng.random() < 0.5:
            # A part of them first: what is found for it must not count as the whole.
            index = self.rng.choice([0, 0, len(expected) // 2])
            if database.element(self.results, index) is not expected[index]:
                return Difference(f"element {index} of results ({steps}) {when}, read first",
                                  expected[index], database.element(self.results, index))
        rows = database.read(self.results, self.root)
        if rows != expected:
            return Difference(f"rows of results ({steps}) {when}", expected, rows)
        if database.size(self.results) != len(expected):
            return Difference(f"size of results ({steps}) {when}", len(expected),
                              database.size(self.results))
        return self.elements(expected, steps, when)

    def elements(self, expected: list[Row], steps: str, when: str) -> Difference | None:
        database, rng = self.database, self.rng
        for _ in range(2 if expected else 0):
            index = rng.randrange(len(expected))
            element = database.element(self.results, index)
            if element is not expected[index]:
                return Difference(f"element {index} of results ({steps}) {when}", expected[index],
                                  element)
        rows = self.universe.rows[self.root.name]
        if rows:
            row = rng.choice(rows)
            place = expected.index(row) if row in expected else None
            got = database.position(self.results, row)
            if got != place:
                return Difference(f"place of {row!r} in results ({steps}) {when}", place, got)
        for index in (len(expected), len(expected) + 7, 2**63, 2**64 - 1):
            try:
                element = database.element(self.results, index)
                return Difference(f"element {index} of results ({steps}) {when}", "an error",
                                  element)
            except EngineError as error:
                if error.code != INDEX_OUT_OF_BOUNDS:
                    return Difference(f"element {index} of results ({steps}) {when}",
                                      INDEX_OUT_OF_BOUNDS, error)
        return None


def chained(universe: Universe, database: Database, root: Cls, query: Query, rng: random.Random,
            generator: Generator) -> Difference | None:
    chain = Chain(universe, database, root, query, rng)
    try:
        for _ in range(rng.choice([1, 2, 3])):
            difference = chain.extend(generator) or chain.compare("")
            if difference:
                return difference
        return None
    finally:
        chain.close()


def deleted(universe: Universe, database: Database, root: Cls, query: Query, rng: random.Random
            ) -> Difference | None:
    """The others are left when what a query finds is deleted. The universe is of no use then."""
    found = evaluate(universe, root, query).rows
    if found is None:
        return None
    text, args = render(query)
    trace(universe, root, f"delete {text} {args!r}")
    rest = [row for row in sorted(universe.rows[root.name], key=lambda row: row.key)
            if row not in found]
    if database.state == "committed":
        database.begin()
    handle = database.parse(root, text, args)
    everything = database.parse(root, "TRUEPREDICATE", [])
    try:
        database.delete_all(handle, as_results=rng.random() < 0.5)
        left = database.rows(everything, root)
        if left != rest:
            return Difference(f"what is left when {text} {args!r} is deleted of {root.name}", rest,
                              left)
        return None
    except EngineError as error:
        return Difference(f"deleting {text} {args!r} of {root.name}", "no error", error)
    finally:
        database.release(handle)
        database.release(everything)


class Living:
    """Results of queries that stay open while the data changes."""

    def __init__(self, universe: Universe, databases: list[Database], rng: random.Random) -> None:
        self.universe, self.databases, self.rng = universe, databases, rng
        self.chains: list[Chain] = []
        self.done: list[str] = []

    def close(self) -> None:
        for chain in self.chains:
            chain.close()
        self.chains = []

    def keep(self, root: Cls, query: Query, generator: Generator) -> Difference | None:
        chain = Chain(self.universe, self.databases[0], root, query, self.rng)
        try:
            difference = None
            for _ in range(self.rng.choice([0, 0, 1, 2])):
                difference = difference or chain.extend(generator)
            difference = difference or chain.compare("")
        except Unspecified:
            chain.close()
            return None
        self.chains.append(chain)
        return difference

    def change(self) -> Difference | None:
        """Changes data in one transaction; the results follow within it and behind it."""
        first = self.databases[0]
        if first.state == "committed":
            first.begin()
        for database in self.databases[1:]:
            if database.state == "committed":
                database.begin()
        self.done = Changer(self.universe, self.databases, self.rng).change(
            self.rng.choice([1, 1, 2, 5, 20]))
        difference = self.compare("in the transaction") if self.rng.random() < 0.7 else None
        for database in self.databases:
            if database.state == "committed":
                database.commit()
        return difference or self.compare("after the commit")

    def compare(self, when: str) -> Difference | None:
        for chain in list(self.chains):
            try:
                difference = chain.compare(f"{when}, after {'; '.join(self.done)}")
            except Unspecified:
                chain.close()
                self.chains.remove(chain)
                continue
            except EngineError as error:
                difference = Difference(f"results {when}, after {'; '.join(self.done)}", "rows",
                                        error)
            if difference:
                difference.what += f"\n  query {render(chain.query)}, on {chain.root.name}"
                return difference
        return None
