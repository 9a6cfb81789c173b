"""The campaign: random universes and queries, run and compared until the time is over.

    python -m queries.campaign SEED SECONDS DIFFERENCES [--log FILE] [--simple] [--large]

Prints each difference when it is found and again when it is made smaller, and a line each minute;
all of it goes to the log, too, so that a run that is killed has told what it saw. `LOG.last` holds
the query that runs. Ends with a report; the exit code is 1 where there were differences, 2 where
the run was stopped before its time.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import pathlib
import random
import signal
import sys
import tempfile
import time
import traceback
from typing import Callable

from .arena import Arena, Report, kinds
from .native import EngineError
from .elements import Values
from .generator import Generator
from .large import run_large
from .schema import Cls, Universe, make_universe
from .shrink import describe, shrink
from .syntax import Query, render
from .values import Unspecified
from .ways import Difference, Living, deleted

Say = Callable[[str], None]


def silent(_: str) -> None:
    pass


def told(difference: Difference, root: Cls, query: Query) -> str:
    text, args = render(query)
    return (f"{difference.what}\n  on {root.name}: {text}\n  arguments: {args!r}\n"
            f"  expected {difference.expected!r}\n  got      {difference.got!r}")


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
    return f"{told(difference, root, query)}\n{describe(universe)}"


class Search:
    """Queries of one universe, which changes now and then."""

    def __init__(self, arena: Arena, rng: random.Random, report: Report, say: Say) -> None:
        self.arena, self.rng, self.report, self.say = arena, rng, report, say
        self.universe = arena.universe
        self.generator = Generator(rng, self.universe, simple=arena.simple)
        self.living = Living(self.universe, arena.databases, rng)
        self.values = Values(self.universe, arena.databases, rng)

    def run(self, number: int, over: Callable[[], bool], directory: str) -> str:
        """Asks `number` queries, or until it is over; the difference as text."""
        try:
            for _ in range(number):
                text = self.ask(directory)
                if text:
                    return text
                if over():
                    break
            return self.delete()
        finally:
            self.living.close()
            self.values.close()

    def ask(self, directory: str) -> str:
        universe, rng, report = self.universe, self.rng, self.report
        root = universe.classes[rng.choice(["Ship", "Ship", "Crew", "Port"])]
        query = self.generator.query(root)
        report.queries += 1
        if not self.arena.simple and (rng.random() < 0.1 or self.generator.focus == "values"):
            return self.ask_values()
        before = report.compared
        difference = self.arena.compare(root, query, report)
        if difference:
            self.say(f"difference in {universe.seed}: {told(difference, root, query)}")
            return reproduce(universe, root, query, difference, directory, self.arena.simple)
        if report.compared > before:
            report.kinds.update(kinds(query))
        if report.compared > before and rng.random() < 0.06:
            difference = self.living.keep(root, query, self.generator)
            report.asked["kept over changes"] += 1
        if self.living.chains and rng.random() < 0.03:
            difference = difference or self.living.change() \
                or self.values.after("; ".join(self.living.done))
            self.arena.oracle = None
            report.asked["changes of data"] += 1
        if len(self.living.chains) > 5:
            self.living.close()
            self.values.close()
        if difference is None:
            return ""
        return (f"{difference.what}\n  expected {difference.expected!r}\n"
                f"  got      {difference.got!r}\n{describe(universe)}")

    def delete(self) -> str:
        """The last thing that is done with each database."""
        for database in self.arena.databases:
            root = self.universe.classes[self.rng.choice(["Ship", "Crew", "Port"])]
            try:
                difference = deleted(self.universe, database, root, self.generator.query(root),
                                     self.rng)
            except Unspecified:
                continue
            self.report.asked["deleted"] += 1
            if difference:
                return (f"{difference.what}\n  expected {difference.expected!r}\n"
                        f"  got      {difference.got!r}\n{describe(self.universe)}")
        return ""

    def ask_values(self) -> str:
        what, difference = self.values.ask(self.generator)
        if what.startswith("open: "):
            self.report.unspecified[what[6:]] += 1
        elif what:
            self.report.asked[what] += 1
        if difference is None:
            return ""
        return (f"{difference.what}\n  expected {difference.expected!r}\n"
                f"  got      {difference.got!r}")


def run(directory: str, *, seed: str, seconds: float, differences: int = 5,
        per_universe: int = 250, simple: bool = False, first: int = 0, say: Say = silent,
        report: Report | None = None, focus: str = "", at_least: int = 0) -> Report:
    """Runs until the time is over and `at_least` queries were compared, or there are enough differences."""
    report = report or Report()
    start, number, told_at = time.monotonic(), first, time.monotonic()

    def over() -> bool:
        return time.monotonic() - start >= seconds and report.compared >= at_least

    while not over() and len(report.differences) < differences:
        name = f"{seed}/{number}"
        # Large tables take seconds to fill: long runs only.
        tall = seconds >= 30 and number % (8 if simple else 16) == 7
        rows = (3000 if simple else 700) if tall else None
        universe = make_universe(name, rich=not simple, rows=rows)
        arena = Arena(universe, directory, simple=simple)
        try:
            search = Search(arena, random.Random(name), report, say)
            search.generator.focus = focus
            try:
                text = search.run(60 if tall else per_universe, over, directory)
            except Exception:
                text = f"the fuzzer failed\n{traceback.format_exc()}"
            report.universes += 1
            if text:
                report.differences.append(f"seed {seed}, universe {number}: {text}")
                say(f"difference {len(report.differences)}, made smaller: "
                    f"{report.differences[-1]}")
        finally:
            arena.close()
            report.seconds = time.monotonic() - start
        number += 1
        if time.monotonic() - told_at >= 60:
            told_at = time.monotonic()
            say(report.line())
    return report


class Stopped(BaseException):  # nothing on the way catches it
    """The run was told to end."""


def stop(signal_number: int, frame: object) -> None:
    raise Stopped


def main() -> int:
    parser = argparse.ArgumentParser(prog="queries.campaign", description="fuzzes queries")
    parser.add_argument("seed")
    parser.add_argument("seconds", type=float)
    parser.add_argument("differences", type=int, help="the run ends with so many")
    parser.add_argument("--log", default="", help="default: build/query-fuzz-SEED.log")
    parser.add_argument("--simple", action="store_true", help="scalar conditions, larger tables")
    parser.add_argument("--large", action="store_true",
                        help="classes of which two cores scan a half each")
    parser.add_argument("--focus", default="", help="more of one kind of condition: function ...")
    parser.add_argument("--first", type=int, default=0, help="the universe to begin with")
    parser.add_argument("--library", help="another librealm.so than the package's")
    options = parser.parse_args()
    build = pathlib.Path(__file__).parents[2] / "build"
    path = options.log or str(build / f"query-fuzz-{options.seed}.log")
    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    os.environ["REALM_QUERY_FUZZ_TRACE"] = f"{path}.last"
    if options.library:
        os.environ["REALM_QUERY_FUZZ_LIBRARY"] = options.library
    report = Report()
    with open(path, "a") as log, tempfile.TemporaryDirectory() as directory:
        faulthandler.enable(log)

        def say(text: str) -> None:
            line = f"{time.strftime('%H:%M:%S', time.gmtime())} {text}\n"
            for file in (sys.stdout, log):
                file.write(line)
                file.flush()

        say(f"seed {options.seed}, {options.seconds:.0f} s")
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stop)
        stopped = False
        try:
            if options.large:
                run_large(directory, seed=options.seed, seconds=options.seconds, say=say,
                          differences=options.differences, report=report, focus=options.focus)
            else:
                run(directory, seed=options.seed, seconds=options.seconds, report=report, say=say,
                    differences=options.differences, simple=options.simple, first=options.first,
                    focus=options.focus)
        except Stopped:
            stopped = True
        say(f"{'stopped: ' if stopped else ''}{report}")
    return 1 if report.differences else 2 if stopped else 0


if __name__ == "__main__":
    sys.exit(main())
