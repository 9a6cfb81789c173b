"""What was opened, observed or frozen, and then closed, leaves nothing behind.

How many cycles are done stands here; `life_cycles.py` does as many as one likes.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("life_cycles.py")

# A thread that is just ending is no leak: what leaks does so in every cycle.
FEW = 8
BYTES_PER_CYCLE = 24


def held_by(kind: str, count: int, allocator: str) -> tuple[dict[str, dict[str, int]], dict[str, int]]:
    """What the program found, and how much more it was at the end."""
    done = subprocess.run(
        [sys.executable, PROGRAM, kind, str(count)], capture_output=True, text=True,
        env={**os.environ, "PYTHONMALLOC": allocator})
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    return found, {name: found["after"][name] - found["before"][name] for name in found["before"]}


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="the C library has no mallinfo2")
@pytest.mark.parametrize(("kind", "count"), [
    ("open", 1500), ("open wrongly", 2000), ("observe", 3000), ("freeze", 3000)])
def test_many_cycles_hold_no_more_than_few(kind, count):
    found, more = held_by(kind, count, "default")
    cycles = count - count // 10
    assert more["descriptors"] <= FEW and more["threads"] <= FEW, found
    assert more["mappings"] <= FEW + cycles // 20, found
    assert more["objects"] <= FEW + cycles // 10, found
    # Python's own allocator counts no bytes here: once in a while it takes 128 kB to note where its memory lies.
    found, more = held_by(kind, count, "malloc")
    assert more["bytes"] <= BYTES_PER_CYCLE * cycles, found
