"""What the engine does not do yet: how it refuses it, and by which code.

The list may only get shorter. A refusal that no entry describes fails the campaign; with
REALM_QUERY_FUZZ_STRICT=1 so does every entry that a refusal still matches.
"""

from __future__ import annotations

import re

NOT_SUPPORTED, INVALID_QUERY, SYNTAX_ERROR, SORT_ERROR = 2001, 1009, 3008, 3013

CONSTRUCTS: list[tuple[int, str]] = [
    (NOT_SUPPORTED, r"."),
    (INVALID_QUERY, r"has no property 'SELF'"),
    (SYNTAX_ERROR, r"expected a comparison operator"),
    (INVALID_QUERY, r"no property .* links to class"),
    (INVALID_QUERY, r"@size is not defined for property .* of type mixed"),
    (SORT_ERROR, r"the path leads through a collection"),
]

PATTERNS = [(code, re.compile(pattern)) for code, pattern in CONSTRUCTS]


def construct(code: int, message: str) -> str | None:
    """The entry that allows this refusal."""
    for allowed, pattern in PATTERNS:
        if code == allowed and pattern.search(message):
            return f"{code} {pattern.pattern}"
    return None
