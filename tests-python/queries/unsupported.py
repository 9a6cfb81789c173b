"""What the engine does not do yet: how it refuses it, and by which code.

The list may only get shorter. A refusal that no entry describes fails the campaign; with
REALM_QUERY_FUZZ_STRICT=1 the tests demand an empty list.
"""

from __future__ import annotations

import re

CONSTRUCTS: list[tuple[int, str]] = []

PATTERNS = [(code, re.compile(pattern)) for code, pattern in CONSTRUCTS]


def construct(code: int, message: str) -> str | None:
    """The entry that allows this refusal."""
    for allowed, pattern in PATTERNS:
        if code == allowed and pattern.search(message):
            return f"{code} {pattern.pattern}"
    return None
