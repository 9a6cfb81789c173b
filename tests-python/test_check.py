"""The integrity check and the sizes of a file."""

from __future__ import annotations

import os
import pathlib

import pytest

import models
import realm
from conftest import fill_airports
from models import Airport, Note


@pytest.fixture
def filled(path):
    with realm.open(path, classes=models.ALL) as r:
        fill_airports(r)
        with r.write():
            for i in range(3000):
                r.create(Note, text=f"note {i}" * 5, stars=i)
    return path


def test_a_sound_file_has_no_problems(filled):
    assert realm.check_file(filled) == []
    with realm.open(filled) as r:
        assert r.check() == []
        with r.write():
            r.objects("Note").filter("stars > 100").delete_all()
        assert r.check() == []
    assert realm.check_file(pathlib.Path(filled)) == []


def test_flipped_bits_are_found_and_never_served(filled):
    original = pathlib.Path(filled).read_bytes()
    with realm.open(filled, classes=models.ALL) as r:
        expected = r.objects(Note).values("text", "stars"), r.objects(Airport).values("icao")
    found = 0
    for place in range(8192, len(original), len(original) // 40):
        damaged = bytearray(original)
        damaged[place] ^= 0x10
        pathlib.Path(filled).write_bytes(damaged)
        problems = realm.check_file(filled)
        found += bool(problems)
        assert pathlib.Path(filled).read_bytes() == damaged
        try:
            with realm.open(filled, classes=models.ALL) as r:
                got = r.objects(Note).values("text", "stars"), r.objects(Airport).values("icao")
                assert got == expected or got == ([], []) or problems
        except realm.Error as error:
            assert isinstance(error, realm.InvalidDatabaseError), repr(error)
            assert problems
    assert found > 0


def test_what_can_not_be_opened_is_a_problem(tmp_path):
    text = tmp_path / "text"
    text.write_text("this is no realm " * 1000)
    assert realm.check_file(text)


def test_statistics(filled):
    with realm.open(filled) as r:
        sizes = r.statistics()
        assert sizes["file_bytes"] == os.path.getsize(filled)
        assert sizes["version"] == r.version
        assert sizes["classes"]["Note"]["objects"] == 3000
        assert sizes["classes"]["Note"]["row_bytes"] > 3000
        assert sizes["classes"]["Airport"]["index_bytes"] > 0
        assert sizes["classes"]["Person"]["objects"] == 0
        assert set(sizes["classes"]) == set(r.classes)
