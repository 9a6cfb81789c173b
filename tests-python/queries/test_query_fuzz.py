"""The differential fuzz campaign of the query language.

A failure prints the seed, the universe's number and the smallest case found.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from campaigns import Campaign
from queries import unsupported
from queries.arena import Report
from queries.campaign import run, silent
from queries.large import run_large

SCALARS = Campaign("query fuzz of scalars", seconds=4, at_least=150, seed=2026)
EVERYTHING = Campaign("query fuzz", seconds=7, at_least=150, seed=2026)
LARGE = Campaign("query fuzz of large classes", seconds=3, at_least=3, seed=2026)
STRICT = os.environ.get("REALM_QUERY_FUZZ_STRICT") == "1"


def judge(campaign: Campaign, report: Report) -> None:
    assert not report.differences, "\n\n".join([*report.differences, str(report)])
    campaign.end(report.compared)


@pytest.mark.parametrize("simple, campaign", [
    pytest.param(True, SCALARS, id="scalar conditions"),
    pytest.param(False, EVERYTHING, id="the whole language"),
])
def test_the_engine_answers_as_the_rules_say(
        tmp_path: Path, capsys: pytest.CaptureFixture[str], simple: bool, campaign: Campaign) -> None:
    report = run(str(tmp_path), seed=str(campaign.seed), seconds=campaign.seconds, simple=simple,
                 differences=1 if campaign.seconds < 60 else 10, at_least=campaign.at_least)
    with capsys.disabled():
        print(f"\nseed {campaign.seed}: {report}" if campaign.seconds >= 60 else "", end="")
    judge(campaign, report)


def test_large_classes_answer_as_the_rules_say(tmp_path: Path) -> None:
    """Large enough for sorts on two cores; `campaign --large` has those for scans, too."""
    judge(LARGE, run_large(str(tmp_path), seed=str(LARGE.seed), seconds=LARGE.seconds,
                           differences=1, say=silent, report=Report(), objects=55_000,
                           per_universe=25, at_least=LARGE.at_least))


def test_nothing_is_refused_any_more() -> None:
    """Fails in strict runs until the list of what is not supported is empty."""
    if STRICT:
        assert unsupported.CONSTRUCTS == []
