"""The differential fuzz campaign of the query language.

Short by default. REALM_QUERY_FUZZ_SECONDS makes it longer, REALM_QUERY_FUZZ_SEED gives it another
start; a failure prints the seed, the universe's number and the smallest case found.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from queries import unsupported
from queries.arena import Report
from queries.campaign import run, silent
from queries.large import run_large

SECONDS = float(os.environ.get("REALM_QUERY_FUZZ_SECONDS", "14"))
SEED = os.environ.get("REALM_QUERY_FUZZ_SEED", "2026")
STRICT = os.environ.get("REALM_QUERY_FUZZ_STRICT") == "1"


@pytest.mark.parametrize("simple, share", [(True, 0.3), (False, 0.7)],
                         ids=["scalar conditions", "the whole language"])
def test_the_engine_answers_as_the_rules_say(
        tmp_path: Path, capsys: pytest.CaptureFixture[str], simple: bool, share: float) -> None:
    report = run(str(tmp_path), seed=SEED, seconds=SECONDS * share, simple=simple,
                 differences=1 if SECONDS < 60 else 10)
    with capsys.disabled():
        print(f"\nseed {SEED}: {report}" if SECONDS >= 60 else "", end="")
    assert not report.differences, "\n\n".join([*report.differences, str(report)])
    assert report.compared > 100, str(report)


def test_large_classes_answer_as_the_rules_say(tmp_path: Path) -> None:
    """Large enough for sorts on two cores; `campaign --large` has those for scans, too."""
    report = run_large(str(tmp_path), seed=SEED, seconds=3, differences=1, say=silent,
                       report=Report(), objects=55_000, per_universe=25, universes=1)
    assert not report.differences, "\n\n".join([*report.differences, str(report)])
    assert report.compared > 2, str(report)


def test_nothing_is_refused_any_more() -> None:
    """Fails in strict runs until the list of what is not supported is empty."""
    if STRICT:
        assert unsupported.CONSTRUCTS == []
