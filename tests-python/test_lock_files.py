"""The file beside a realm that its processes share: openings that fail, whose it is, what else may be in its place."""

from __future__ import annotations

import multiprocessing
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from campaigns import Campaign

import models
import realm
from models import Note

spawn = multiprocessing.get_context("spawn")
KEY = bytes(range(64))
OTHER = bytes(range(1, 65))


def notes(path: Path, key: bytes) -> int:
    with realm.open(path, classes=models.ALL, encryption_key=key) as r:
        return len(r.objects(Note))


def fail_to_open(path: Path, key: bytes | None, ended: Any) -> None:
    while not ended.is_set():
        with pytest.raises(realm.DecryptionError):
            realm.open(path, classes=models.ALL, encryption_key=key)


def add_note(path: Path) -> None:
    with realm.open(path, classes=models.ALL, encryption_key=KEY) as r, r.write():
        r.create(Note, text="x")


def access(path: Path) -> tuple[int, int, int]:
    """Owner, group and mode."""
    status = path.stat()
    return status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)


@pytest.mark.parametrize("stale", [False, True])
def test_openings_that_fail_are_in_nobodys_way(tmp_path: Path, stale: bool) -> None:
    """Whoever opens the file rightly meanwhile sees all that was committed."""
    path = tmp_path / "test.realm"
    lock = tmp_path / "test.realm.lock"
    add_note(path)
    old = lock.read_bytes()
    add_note(path)
    ended = spawn.Event()
    failing = [spawn.Process(target=fail_to_open, args=(path, key, ended)) for key in (None, OTHER)]
    for process in failing:
        process.start()
    try:
        expected = 2
        for _ in Campaign(f"openings beside failing ones, stale: {stale}", seconds=2, at_least=100):
            if stale:
                # As a power failure leaves it: it tells of an older version, and nobody has it open who goes on.
                with open(lock, "r+b") as file:
                    file.write(old)
            assert notes(path, KEY) == expected
            add_note(path)
            expected += 1
    finally:
        ended.set()
        for process in failing:
            process.join()
    assert [process.exitcode for process in failing] == [0, 0]


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser gives files to others")
def test_the_superuser_locks_nobody_out(tmp_path: Path) -> None:
    """Lock files and files of another key are for those whose the realm is."""
    path = tmp_path / "test.realm"
    add_note(path)
    lock = tmp_path / "test.realm.lock"
    for mode in (0o600, 0o640, 0o664):
        os.chown(path, 1234, 2345)
        os.chmod(path, mode)
        lock.unlink()
        assert notes(path, KEY) == 1
        assert access(lock) == (1234, 2345, mode)
        realm.change_encryption_key(path, old=KEY, new=OTHER)
        assert access(path) == (1234, 2345, mode)
        assert access(lock) == (1234, 2345, mode)
        realm.change_encryption_key(path, old=OTHER, new=KEY)


def test_who_may_not_read_the_realm_may_not_read_its_lock_file(tmp_path: Path) -> None:
    path = tmp_path / "test.realm"
    add_note(path)
    lock = tmp_path / "test.realm.lock"
    lock.unlink()
    path.chmod(0o600)
    assert notes(path, KEY) == 1
    assert stat.S_IMODE(lock.stat().st_mode) == 0o600


@pytest.mark.parametrize("target", ["other", "missing"])
def test_a_lock_file_that_is_a_symbolic_link_is_refused(tmp_path: Path, target: str) -> None:
    path = tmp_path / "test.realm"
    add_note(path)
    (tmp_path / "other").write_bytes(b"precious" * 1000)
    lock = tmp_path / "test.realm.lock"
    lock.unlink()
    lock.symlink_to(tmp_path / target)
    with pytest.raises(realm.Error, match=r"test\.realm\.lock"):
        notes(path, KEY)
    assert (tmp_path / "other").read_bytes() == b"precious" * 1000
    assert not (tmp_path / "missing").exists()
    lock.unlink()
    assert notes(path, KEY) == 1


def test_a_lock_file_that_is_the_realm_itself_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "test.realm"
    add_note(path)
    lock = tmp_path / "test.realm.lock"
    lock.unlink()
    before = path.read_bytes()
    os.link(path, lock)
    with pytest.raises(realm.Error, match=r"is the realm file under another name"):
        notes(path, KEY)
    assert path.read_bytes() == before
    lock.unlink()
    assert notes(path, KEY) == 1


def test_a_copy_that_was_left_in_plain_text_goes(tmp_path: Path) -> None:
    """A process that is killed while it takes the key from a file may leave what it has written."""
    path = tmp_path / "test.realm"
    add_note(path)
    left = [tmp_path / f"test.realm.rekeying{suffix}" for suffix in ("", ".creating", ".lock")]
    with realm.open(path, classes=models.ALL, encryption_key=KEY):
        for file in left:
            file.write_bytes(b"plain")
        # Somebody might be doing it: it stays as long as the realm is open.
        assert notes(path, KEY) == 1
        assert all(file.exists() for file in left)
    assert notes(path, KEY) == 1
    assert not any(file.exists() for file in left)
    for file in left:
        file.write_bytes(b"plain")
    realm.delete_files(path)
    assert os.listdir(tmp_path) in ([], ["test.realm.lock"])
