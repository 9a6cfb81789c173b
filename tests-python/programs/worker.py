"""The process that runs programs: the library may crash or hang in it.

    python -m programs.worker LIBRARY TRACE

Reads a task a line as JSON: {"generate": SEED, "first": N, "seconds": S, "least": M, "length": L,
"focus": F}, or {"replay": LISTING}. Answers with a line: what differs, for generated programs the
program, its number and what was counted, for others the calls that were made. TRACE has the number
and the calls of the program that runs, each written before it is made.
"""

from __future__ import annotations

import faulthandler
import json
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from dataclasses import asdict
from typing import Any, Iterator

from .calls import Call, listing, parse
from .engine import Engine
from .generator import Generator
from .schema_programs import SchemaGenerator
from .judge import Difference, End, Session, Stop, Tally, Told, run


class Trace:
    """The calls of the program that runs, for those that end the process."""

    def __init__(self, path: str) -> None:
        self.file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)

    def start(self, title: str) -> None:
        os.ftruncate(self.file, 0)
        os.lseek(self.file, 0, os.SEEK_SET)
        os.write(self.file, f"# {title}\n".encode())

    def note(self, call: Call) -> None:
        os.write(self.file, f"{call}\n".encode())


class Traced(Engine):
    """Notes each call before it is made."""

    def __init__(self, library: str, trace: Trace) -> None:
        super().__init__(library)
        self.trace = trace

    def start(self, directory: str) -> None:
        super().start(directory)
        self.trace.start(os.path.basename(directory))

    def call(self, call: Call) -> Any:
        self.trace.note(call)
        return super().call(call)


def calls_of(generator: Generator, length: int) -> Iterator[Call | None]:
    yield from generator.start()
    for _ in range(length):
        yield generator.next_of_two()
    yield from generator.finish()


def generated(engine: Engine, seed: str, number: int, length: int, focus: str, directory: str,
              tally: Tally) -> tuple[Difference | None, list[Call]]:
    """Writes and runs a program; the difference, and the calls that were made."""
    session, program = Session(engine, directory, tally), []
    rng = random.Random(f"{seed}/{number}")
    kind = SchemaGenerator if focus == "schemas" or not focus and number % 6 == 5 else Generator
    generator = kind(rng, session.model, focus=focus)
    try:
        for call in calls_of(generator, rng.randrange(length // 4, length * 2)):
            if call is None:
                continue
            try:
                program.append(call)
                difference = session.step(call)
            except End:
                return None, program
            except Stop:
                program.pop()
                continue
            if difference:
                return difference, program
        return None, program
    except Exception as error:
        text = "".join(traceback.format_exception(error))
        return Difference(len(program), "the test itself fails", "", text, program[-1].function), \
            program
    finally:
        session.end()


def generate(engine: Engine, task: dict[str, Any], folder: str) -> dict[str, Any]:
    tally, number = Tally(), task["first"]
    end = time.monotonic() + task["seconds"]
    difference, program = None, []
    while difference is None and (time.monotonic() < end or tally.programs < task["least"]):
        directory = f"{folder}/{number}"
        os.mkdir(directory)
        difference, program = generated(engine, task["generate"], number, task["length"],
                                        task["focus"], directory, tally)
        shutil.rmtree(directory)
        number += 1
    return {"difference": asdict(difference) if difference else None,
            "program": listing(program) if difference else "", "next": number,
            "tally": vars(tally)}


def replay(engine: Engine, text: str, folder: str) -> dict[str, Any]:
    directory = f"{folder}/replayed"
    os.mkdir(directory)
    told: Told = []
    try:
        difference = run(engine, parse(text), directory, told)
    except Exception as error:
        difference = Difference(0, "the test itself fails", "",
                                "".join(traceback.format_exception(error)), "")
    finally:
        shutil.rmtree(directory)
    return {"difference": asdict(difference) if difference else None, "told": told}


def main() -> None:
    library, trace = sys.argv[1:]
    faulthandler.enable()
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    engine = Traced(library, Trace(trace))
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        for line in sys.stdin:
            task = json.loads(line)
            answer = generate(engine, task, folder) if "generate" in task else \
                replay(engine, task["replay"], folder)
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
