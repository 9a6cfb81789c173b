"""Random typed expressions (`objects(Ship).where(Ship.tons < 5)`) find what the rules say of their text."""

from __future__ import annotations

from pathlib import Path

from campaigns import Campaign
from queries.typed import run


def test_typed_expressions_find_what_the_rules_say(tmp_path: Path) -> None:
    compared = 0
    for seed in Campaign("typed queries", seconds=4, at_least=2, seed=2026):
        (folder := tmp_path / str(seed)).mkdir()
        count, differences = run(str(folder), str(seed), 200)
        assert not differences, "\n\n".join(differences)
        compared += count
    assert compared > 50
