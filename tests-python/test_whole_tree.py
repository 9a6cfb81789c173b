"""The parts of the repository that a newcomer meets first: examples of the documents, the demo, the benchmarks.

Each test runs the script that a person would run and shows what it printed when it fails.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import REPOSITORY


def run(*command: str, timeout: int) -> str:
    done = subprocess.run(
        [str(REPOSITORY / command[0]), *command[1:]], capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.mark.slow
def test_examples_of_the_documents_print_what_is_written_below_them() -> None:
    run("Tests/docs/run", "--python", sys.executable, timeout=1800)


@pytest.mark.slow
def test_the_demo_gives_one_answer_in_python_c_and_swift() -> None:
    lines = run("Examples/airports/run-demo", "--check", timeout=1800).splitlines()
    assert lines[-1].startswith("airports: three programs, three files, one answer: ")


@pytest.mark.slow
def test_benchmark_programs_run_and_count_right() -> None:
    table = run("Benchmarks/run", "--smoke", "--no-build", timeout=600)
    assert "insert_bulk" in table
    assert "failed" not in table
