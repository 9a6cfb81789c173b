"""The campaign: random programs until the time is over.

    python -m programs.campaign SEED SECONDS [--differences N] [--library FILE] [--focus WAY]
        [--length CALLS] [--first NUMBER] [--c FILE] [--replay FILE]

A program that differs, crashes or hangs is made smaller and printed with its seed, as a listing
and, with --c, as a C program. Ends with a report: programs, calls, calls per function and how many
of them failed, what the contract leaves open, what was not asked. The exit code is 1 where there
were differences. --replay runs a listing alone.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

from . import cwriter
from .abi import library_path
from .calls import Call, listing, parse
from .judge import Difference, Tally
from .shrink import shrink

PATIENCE = 30.0  # seconds of a program, after which it hangs
REPLAY = 10.0  # of one that is replayed
TESTS = Path(__file__).resolve().parents[1]


class Died(Exception):
    """The worker crashed or was stopped because it hung."""


class Worker:
    def __init__(self, library: str) -> None:
        self.library = library
        self.trace = tempfile.NamedTemporaryFile(prefix="programs-", suffix=".trace")
        self.log = tempfile.TemporaryFile()
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> subprocess.Popen[bytes]:
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "programs.worker", self.library, self.trace.name],
                cwd=TESTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log)
        return self.process

    def ask(self, task: dict[str, Any], patience: float = PATIENCE) -> dict[str, Any]:
        process = self.start()
        assert process.stdin and process.stdout
        try:
            process.stdin.write(json.dumps(task).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            pass  # it is gone; its output has ended, too
        ready = select.select([process.stdout], [], [], patience)[0]
        line = process.stdout.readline() if ready else b""
        if line:
            answer: dict[str, Any] = json.loads(line)
            return answer
        self.process = None
        if not ready:
            process.kill()
        code = process.wait()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        process.stdout.close()
        if ready:
            name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            raise Died(f"crash: {name}\n{self.last_words()}")
        raise Died("hang")

    def last_words(self) -> str:
        self.log.seek(0)
        text = self.log.read().decode(errors="replace")
        self.log.truncate(0)
        self.log.seek(0)
        return text[:1500]

    def program(self) -> tuple[int, list[Call]]:
        """The program that ended the process, and its number."""
        text = Path(self.trace.name).read_text()
        number = text.split("\n")[0].removeprefix("# ")
        return int(number) if number.isdigit() else -1, parse(text)

    def close(self) -> None:
        if self.process:
            assert self.process.stdin and self.process.stdout
            self.process.stdin.close()
            self.process.wait()
            self.process.stdout.close()
        self.trace.close()
        self.log.close()


def difference_of(worker: Worker, program: list[Call]) -> Difference | None:
    """What differs when a program runs alone."""
    try:
        found = worker.ask({"replay": listing(program)}, REPLAY)["difference"]
    except Died as death:
        return Difference(len(program), str(death).split("\n")[0], "an answer", str(death),
                          program[-1].function if program else "")
    return Difference(**found) if found else None


def as_c(worker: Worker, program: list[Call], why: str) -> str:
    """A program in C, with the errors that the model allows."""
    try:
        told = worker.ask({"replay": listing(program)})["told"]
    except Died:
        told = None
    return cwriter.program(program, why, told)


@dataclass
class Found:
    difference: Difference
    program: list[Call]
    seed: str

    def __str__(self) -> str:
        return f"{self.seed}: {self.difference}\n{listing(self.program)}"


@dataclass
class Report:
    seed: str
    tally: Tally = field(default_factory=Tally)
    found: list[Found] = field(default_factory=list)
    seconds: float = 0

    def __str__(self) -> str:
        tally = self.tally
        lines = [f"seed {self.seed}: {tally.programs} programs, {sum(tally.calls.values())} calls "
                 f"of {len(tally.calls)} functions, {sum(tally.failures.values())} of them failed; "
                 f"{len(self.found)} differences; {self.seconds:.0f} s"]
        for title, counts in (("open", tally.open), ("not made", tally.not_made),
                              ("known", tally.known)):
            lines += [f"  {title}: {reason}: {number}" for reason, number in most(counts)]
        lines += [f"  {name}: {number} calls, {tally.failures[name]} failed"
                  for name, number in most(tally.calls)]
        return "\n".join(lines)


def most(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def smaller(worker: Worker, found: Found) -> Found:
    """The smallest program with the same difference."""
    kind = found.difference.kind
    last = [found.difference]

    def holds(program: list[Call]) -> bool:
        difference = difference_of(worker, program)
        if difference is None or difference.kind != kind:
            return False
        last[0] = difference
        return True
    if not holds(found.program):
        return found  # only within its session; told as it is
    # What crashes costs a new process each time, what hangs as long as it may.
    budget = {"cras": 150, "hang": 20}.get(found.difference.what[:4], 600)
    program = shrink(found.program, holds, budget)
    return Found(last[0], program, found.seed)


def run(seed: str, seconds: float, *, differences: int = 5, library: str = "", focus: str = "",
        length: int = 200, first: int = 0, least: int = 0,
        say: Callable[[str], None] = lambda text: None) -> Report:
    """Runs until the time is over, and at least so many programs, or there are enough
    differences."""
    report, start = Report(seed), time.monotonic()
    worker = Worker(library or library_path())
    kinds = set()
    try:
        while len(report.found) < differences:
            left = seconds - (time.monotonic() - start)
            missing = max(least - report.tally.programs, 0)
            if left <= 0 and missing == 0:
                break
            task = {"generate": seed, "first": first, "seconds": max(min(left, 20.0), 0),
                    "least": missing, "length": length, "focus": focus}
            try:
                answer = worker.ask(task, PATIENCE + max(left, 0) + missing)
                tally = {name: Counter(value) if isinstance(value, dict) else value
                         for name, value in answer["tally"].items()}
                report.tally.add(Tally(**tally))
                first = answer["next"]
                if answer["difference"] is None:
                    continue
                difference = Difference(**answer["difference"])
                program = parse(answer["program"])
            except Died as death:
                number, program = worker.program()
                difference = Difference(len(program), str(death).split("\n")[0], "an answer",
                                        str(death), program[-1].function if program else "")
                if not program:
                    raise  # it did not even begin
                first = number + 1
            found = Found(difference, program, f"{seed}/{first - 1}")
            if difference.kind in kinds:
                continue
            kinds.add(difference.kind)
            say(f"difference: {difference}")
            report.found.append(smaller(worker, found))
            say(str(report.found[-1]))
    finally:
        worker.close()
        report.seconds = time.monotonic() - start
    return report


def main() -> int:
    parser = argparse.ArgumentParser(prog="programs.campaign", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed")
    parser.add_argument("seconds", type=float)
    parser.add_argument("--differences", type=int, default=5, help="the run ends with so many")
    parser.add_argument("--library", default=library_path())
    parser.add_argument("--focus", default="", help="more of one way of the generator")
    parser.add_argument("--length", type=int, default=200, help="calls of a program, about")
    parser.add_argument("--first", type=int, default=0, help="the number of the first program")
    parser.add_argument("--c", default="", help="writes the last program that differs as C")
    parser.add_argument("--replay", default="", help="runs the listing in a file")
    options = parser.parse_args()
    if options.replay:
        program = parse(Path(options.replay).read_text())
        worker = Worker(options.library)
        difference = difference_of(worker, program)
        print(difference or "as the contract says")
        if options.c:
            Path(options.c).write_text(as_c(worker, program, options.replay))
        worker.close()
        return int(difference is not None)
    report = run(options.seed, options.seconds, differences=options.differences,
                 library=options.library, focus=options.focus, length=options.length,
                 first=options.first, say=lambda text: print(text, flush=True))
    if options.c and report.found:
        found, worker = report.found[-1], Worker(options.library)
        Path(options.c).write_text(as_c(worker, found.program, str(found.difference)))
        worker.close()
    print(report)
    return int(bool(report.found))


if __name__ == "__main__":
    sys.exit(main())
