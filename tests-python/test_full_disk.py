"""A disk that fills while objects are inserted: a small file system, and a limit of file sizes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# Fills the file until there is no more space, then goes on with what little there is, and is whole.
# The ballast makes room again.
PROGRAM = """
import os, resource, sys
import realm
from models import Note

path, ballast, limit, key = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "encrypted"
key = bytes(64) if key else None
if ballast:
    with open(ballast, "wb") as file:
        file.write(bytes(2 << 20))
else:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

def open_realm():
    return realm.open(path, classes=[Note], encryption_key=key)

def count(r):
    return len(r.objects(Note))

def insert(r, number, size=400):
    with r.write():
        for i in range(number):
            r.add(Note(text=f"{i} " + "x" * size))

failures = 0
done = 0
r = open_realm()
for attempt in range(400):
    try:
        insert(r, 500)
        done += 500
    except realm.OutOfSpaceError as error:
        failures += 1
        assert count(r) == done, (count(r), done)
        if failures == 3:
            break
    if attempt % 5 == 4:
        r.close()
        r = open_realm()
assert failures == 3, failures
# One transaction larger than the disk.
try:
    insert(r, 40_000)
    raise AssertionError("a full disk went unnoticed")
except realm.OutOfSpaceError:
    pass
assert count(r) == done
assert realm.check_file(path, encryption_key=key) == []
r.close()
r = open_realm()
assert count(r) == done
if ballast:
    os.remove(ballast)
else:
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 * limit, resource.RLIM_INFINITY))
insert(r, 500)
assert count(r) == done + 500
r.close()
assert realm.check_file(path, encryption_key=key) == []
print("whole", done)
"""


def run(*command: str) -> None:
    environment = dict(os.environ, PYTHONPATH=str(Path(__file__).parent))
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=200, env=environment, check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert ended.stdout.startswith("whole "), ended.stdout


def may_mount() -> bool:
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return False
    probe = subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", "/mnt"],
        capture_output=True, check=False)
    return probe.returncode == 0


@pytest.mark.parametrize("encryption", ["plain", "encrypted"])
def test_a_small_file_system_that_fills(tmp_path: Path, encryption: str) -> None:
    if not may_mount():
        pytest.skip("only root may mount a file system, in a mount namespace (unshare -m)")
    disk = tmp_path / "disk"
    disk.mkdir()
    script = f'mount -t tmpfs -o size=8m tmpfs "{disk}" && exec "$@"'
    run("unshare", "-m", "sh", "-c", script, "sh", sys.executable, "-c", PROGRAM,
        str(disk / "test.realm"), str(disk / "ballast"), "0", encryption)


@pytest.mark.parametrize("encryption", ["plain", "encrypted"])
def test_a_file_that_reaches_the_limit_of_its_size(path: str, encryption: str) -> None:
    # Python ignores SIGXFSZ, which the limit sends as well.
    run(sys.executable, "-c", PROGRAM, path, "", str(4 << 20), encryption)
