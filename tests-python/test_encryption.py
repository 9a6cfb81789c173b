"""Encrypted realms: keys, copies with other keys, several processes, the tool."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from conftest import fill_airports
from test_command_line import run

import models
import realm
from models import Note

spawn = multiprocessing.get_context("spawn")
KEY = bytes(range(64))
OTHER = bytes(range(1, 65))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A closed, encrypted file with three countries and eight airports."""
    path = tmp_path / "airports.realm"
    with realm.open(path, classes=models.ALL, encryption_key=KEY) as r:
        fill_airports(r)
    return path


def airports(path: Path, key: bytes | None) -> list[str]:
    with realm.open(path, classes=models.ALL, encryption_key=key) as r:
        return sorted(airport.name for airport in r.objects(models.Airport))


def test_nothing_of_the_data_can_be_read_in_the_file(file: Path) -> None:
    names = airports(file, KEY)
    assert len(names) == 8
    stored = file.read_bytes() + Path(f"{file}.lock").read_bytes()
    for text in [*names, "Airport", "Country", "name"]:
        assert text.encode() not in stored


def test_keys_that_do_not_fit_are_refused(file: Path, tmp_path: Path) -> None:
    for key, error, reason in ((None, realm.MissingKeyError, "no key was given"),
                               (OTHER, realm.WrongKeyError, "another key")):
        with pytest.raises(error, match=reason) as caught:
            airports(file, key)
        assert isinstance(caught.value, realm.DecryptionError) and isinstance(caught.value, realm.InvalidDatabaseError)
        assert type(pickle.loads(pickle.dumps(caught.value))) is error
    with pytest.raises(ValueError, match="64 bytes, not 63"):
        airports(file, KEY[1:])
    with pytest.raises(ValueError, match="64 bytes, not 0"):
        airports(file, b"")
    plain = tmp_path / "plain.realm"
    realm.open(plain, classes=models.ALL).close()
    with pytest.raises(realm.NotEncryptedError, match="not encrypted"):
        airports(plain, KEY)
    assert len(airports(file, KEY)) == 8
    content = bytearray(file.read_bytes())
    content[4096:] = bytes(len(content) - 4096)
    file.write_bytes(content)
    with pytest.raises(realm.InvalidDatabaseError) as damaged:
        airports(file, KEY)
    assert not isinstance(damaged.value, realm.DecryptionError)


def test_copies_have_the_key_that_they_are_given(file: Path, tmp_path: Path) -> None:
    with realm.open(file, classes=models.ALL, encryption_key=KEY) as r:
        for name, key in (("a", None), ("b", OTHER), ("c", KEY)):
            r.write_copy(tmp_path / name, encryption_key=key)
            assert len(airports(tmp_path / name, key)) == 8
        with pytest.raises(ValueError, match="64 bytes"):
            r.write_copy(tmp_path / "d", encryption_key=b"")
        assert not (tmp_path / "d").exists()


def test_a_file_gets_another_key(file: Path) -> None:
    with (
        realm.open(file, classes=models.ALL, encryption_key=KEY),
        pytest.raises(realm.Error, match="open"),
    ):
        realm.change_encryption_key(file, old=KEY, new=OTHER)
    with pytest.raises(realm.WrongKeyError, match="another key"):
        realm.change_encryption_key(file, old=OTHER, new=KEY)
    with pytest.raises(ValueError, match="64 bytes"):
        realm.change_encryption_key(file, old=KEY, new=b"")
    keys = [KEY, OTHER, None, KEY]
    for old, new in zip(keys, keys[1:], strict=False):
        realm.change_encryption_key(file, old=old, new=new)
        assert len(airports(file, new)) == 8
        assert (b"Airport" in file.read_bytes()) == (new is None)


def test_a_file_of_several_names_keeps_its_key(file: Path, tmp_path: Path) -> None:
    """The others would go on holding what is to be encrypted."""
    other = tmp_path / "other.realm"
    os.link(file, other)
    with pytest.raises(realm.Error, match="has 2 names"):
        realm.change_encryption_key(file, old=KEY, new=OTHER)
    assert len(airports(file, KEY)) == 8
    other.unlink()
    realm.change_encryption_key(file, old=KEY, new=OTHER)
    assert len(airports(file, OTHER)) == 8 and sorted(os.listdir(tmp_path)) == ["airports.realm", "airports.realm.lock"]


def test_a_file_is_checked_with_its_key(file: Path) -> None:
    assert realm.check_file(file, encryption_key=KEY) == []
    assert "no key was given" in realm.check_file(file)[0]
    assert "another key" in realm.check_file(file, encryption_key=OTHER)[0]
    stored = bytearray(file.read_bytes())
    stored[-2000] ^= 1
    file.write_bytes(stored)
    problems = realm.check_file(file, encryption_key=KEY)
    assert problems and "page " in problems[0]


def note(path: str, times: int) -> None:
    with realm.open(path, classes=models.ALL, encryption_key=KEY) as r:
        for _ in range(times):
            with r.write():
                r.create(Note, text=f"of {os.getpid()}")


def test_several_processes_share_an_encrypted_file(file: Path) -> None:
    with realm.open(file, classes=models.ALL, encryption_key=KEY) as r:
        others = [spawn.Process(target=note, args=(str(file), 50)) for _ in range(3)]
        for other in others:
            other.start()
        for _ in range(50):
            with r.write():
                r.create(Note, text="mine")
        for other in others:
            other.join(60)
            assert other.exitcode == 0
        r.refresh()
        assert len(r.objects(Note)) == 200
        assert r.check() == []


def test_the_tool_takes_the_key_from_a_file(file: Path, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_bytes(KEY)
    done = run("check", "--json", file, "--key-file", key)
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["sound"], answer["objects"]) == (0, True, 11)
    assert answer["file_bytes"] == file.stat().st_size
    assert "Airport" in run("stats", file, "--key-file", key).stdout
    done = run("migrate", file, "--key-file", key, "--rename", "Country.name=title")
    assert done.returncode == 0, done.stderr
    assert "title" in run("migrate", file, "--key-file", key, "--rename", "Country.title=x",
                          "--dry-run").stdout
    assert "no key was given" in run("check", file).stdout
    for size in (0, 63, 65):
        key.write_bytes(bytes(size))
        done = run("stats", file, "--key-file", key)
        assert done.returncode == 2 and "64 bytes" in done.stderr
    assert "No such file" in run("stats", file, "--key-file", tmp_path / "none").stderr


def test_a_small_cache_changes_nothing_but_memory(tmp_path: Path) -> None:
    path = tmp_path / "notes.realm"
    with realm.open(path, classes=models.ALL, encryption_key=KEY, encryption_cache=1 << 20) as r:
        with r.write():
            for number in range(3000):
                r.add(Note(text=f"note {number} " + "of many words " * 100))
    for cache in (1 << 20, 0, None):
        with realm.open(path, classes=models.ALL, encryption_key=KEY, encryption_cache=cache) as r:
            texts = [note.text for note in r.objects(Note)]
            assert [int(text.split()[1]) for text in texts] == list(range(3000))
    wrong: Any
    for wrong in (-1, "much"):
        with pytest.raises((OverflowError, TypeError, ValueError)):
            realm.open(path, classes=models.ALL, encryption_key=KEY, encryption_cache=wrong)
