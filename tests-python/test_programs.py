"""Random C programs against the model of the contract (programs/).

Short by default, and longer with the variables of campaigns.py (the campaign "programs"). A failure
prints the seed and the smallest program; `python -m programs.campaign` gives it as C.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from campaigns import Campaign
from programs import cwriter, judge
from programs.abi import ROOT, functions, library_path
from programs.calls import Call, listing, parse
from programs.campaign import Died, Worker, difference_of, run
from programs.engine import Engine
from programs.kept import KEPT, Kept, opening
from programs.known import KNOWN
from programs.model import RULES, Say
from programs.shrink import shrink

PROGRAMS = Campaign("programs", seconds=8, at_least=40, seed=2026)


@pytest.fixture(scope="module")
def worker() -> Any:
    made = Worker(library_path())
    yield made
    made.close()


def test_the_library_answers_as_the_contract_says(capsys: pytest.CaptureFixture[str]) -> None:
    long, least = PROGRAMS.seconds >= 60, PROGRAMS.at_least
    report = run(str(PROGRAMS.seed), PROGRAMS.seconds, differences=10 if long else 1, least=least)
    with capsys.disabled():
        print(f"\n{report}" if long else "", end="")
    assert not report.found, "\n\n".join(map(str, report.found))
    PROGRAMS.end(report.tally.programs)
    assert sum(report.tally.calls.values()) > 50 * least
    assert set(report.tally.calls) <= set(RULES)
    assert len(report.tally.calls) > len(RULES) * 0.8, set(RULES) - set(report.tally.calls)


def test_each_function_of_the_header_is_asked_or_listed_with_a_reason() -> None:
    text = (ROOT / "tests-python" / "programs" / "not-asked.txt").read_text()
    listed = {line.split("\t")[0] for line in text.splitlines() if not line.startswith("#")}
    assert set(functions()) - set(RULES) == listed
    assert not listed & set(RULES)


def test_no_difference_is_put_up_with() -> None:
    assert KNOWN == []


@pytest.mark.parametrize("kept", KEPT, ids=[kept.name for kept in KEPT])
def test_what_was_answered_wrongly_is_right(kept: Kept, worker: Worker) -> None:
    program = parse(kept.listing)
    assert difference_of(worker, program) is None
    made = worker.ask({"replay": kept.listing})["told"]
    assert len(made) == len(program), "calls that the model would not make"


def test_a_listing_is_read_back_as_it_was_written() -> None:
    for kept in KEPT:
        program = parse(kept.listing)
        assert listing(parse(listing(program))) == listing(program)


def test_programs_written_in_c_compile_and_agree_with_the_model(
        worker: Worker, tmp_path: Path) -> None:
    library = Path(library_path()).parent
    for number, kept in enumerate(KEPT):
        program = parse(kept.listing)
        told = worker.ask({"replay": kept.listing})["told"]
        source, binary, files = (tmp_path / f"{number}{end}" for end in (".c", "", ".files"))
        source.write_text(cwriter.program(program, kept.name, told))
        files.mkdir()
        subprocess.run(["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include",
                        str(source), "-o", str(binary), f"-L{library}", "-lrealm",
                        f"-Wl,-rpath,{library}"], check=True)
        ended = subprocess.run([str(binary), str(files)], capture_output=True, text=True)
        assert ended.returncode == 0, ended.stdout
        assert ended.stdout.count("\n") > len(program)


def test_a_wrong_answer_is_noticed_and_its_program_made_smaller(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(model: Any, realm: Any, key: Any) -> Say:
        return Say(outs={"out_count": 7})
    monkeypatch.setitem(RULES, "realm_get_num_objects", wrong)
    engine, numbers = Engine(library_path()), iter(range(10**6))

    def difference(program: list[Call]) -> judge.Difference | None:
        directory = tmp_path / str(next(numbers))
        directory.mkdir()
        return judge.run(engine, program, str(directory))
    program = parse(opening("""
        realm_set_value(o4, Thing.i, 5, False)
        realm_object_is_valid(o4)
        realm_get_num_objects(r3, Thing)
        """))
    found = difference(program)
    assert found is not None and (found.what, found.expected, found.got) == ("out_count", "7", "1")

    def alike(candidate: list[Call]) -> bool:
        other = difference(candidate)
        return other is not None and other.kind == found.kind and other.expected == "7"
    small = shrink(program, alike)
    assert [call.function for call in small] == [
        "realm_schema_new", "realm_config_new", "realm_config_set_path",
        "realm_config_set_schema", "realm_config_set_schema_version", "realm_open",
        "realm_get_num_objects"]
    assert small[0].args == [{"Thing": {}}]


def test_a_process_that_dies_is_reported_with_its_program() -> None:
    worker = Worker(library_path())
    try:
        worker.ask({"replay": KEPT[0].listing})
        assert worker.process is not None
        worker.process.kill()
        with pytest.raises(Died, match="SIGKILL"):
            worker.ask({"replay": KEPT[0].listing})
        assert worker.program()[1] == parse(KEPT[0].listing)
        assert difference_of(worker, parse(KEPT[0].listing)) is None, "a new process goes on"
    finally:
        worker.close()
