"""What was opened, observed or frozen, and then closed, leaves nothing behind.

How many cycles are done stands here; `life_cycles.py` does as many as one likes.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("life_cycles.py")

# A thread that is just ending is no leak: what leaks does so in every cycle.
FEW = 8
BYTES_PER_CYCLE = 24


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="the C library has no mallinfo2")
@pytest.mark.parametrize(("kind", "count"), [
    ("open", 1500), ("open wrongly", 2000), ("observe", 3000), ("freeze", 3000)])
def test_many_cycles_hold_no_more_than_few(kind, count):
    done = subprocess.run(
        [sys.executable, PROGRAM, kind, str(count)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    more = {name: found["after"][name] - found["before"][name] for name in found["before"]}
    cycles = count - count // 10
    assert more["descriptors"] <= FEW and more["threads"] <= FEW, found
    assert more["mappings"] <= FEW + cycles // 20, found
    assert more["objects"] <= FEW + cycles // 10, found
    assert more["bytes"] <= BYTES_PER_CYCLE * cycles, found
