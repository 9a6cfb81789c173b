"""Random typed expressions (`objects(Ship).where(Ship.tons < 5)`) find what the rules say of their
text. REALM_QUERY_FUZZ_SECONDS makes it longer, REALM_QUERY_FUZZ_SEED gives it another start."""

from __future__ import annotations

import os
from pathlib import Path

from queries.typed import run

SECONDS = float(os.environ.get("REALM_QUERY_FUZZ_SECONDS", "14"))
SEED = os.environ.get("REALM_QUERY_FUZZ_SEED", "2026")


def test_typed_expressions_find_what_the_rules_say(tmp_path: Path) -> None:
    # About a second for every two universes.
    compared, differences = run(str(tmp_path), SEED, max(int(SECONDS * 0.3), 2), 200)
    assert not differences, "\n\n".join(differences)
    assert compared > 50
