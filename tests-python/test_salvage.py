"""`realm salvage`: what comes back of damaged files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from test_command_line import run

import realm


class Person(realm.Object):
    name: str = realm.PrimaryKey()
    age: int
    photo: bytes
    friend: "Person | None"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "people.realm"
    with realm.open(path, [Person], version=3) as r, r.write():
        for number in range(2000):
            r.create(Person, name=f"P{number:05}", age=number, photo=b"")
        r.find(Person, "P00007").photo = b"\x07" * 9000
        r.find(Person, "P00008").friend = r.find(Person, "P00007")
    return path


def damage(file: Path, place: int) -> None:
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)


def files(file: Path) -> set[str]:
    return {entry.name for entry in file.parent.iterdir()}


def test_a_sound_file_comes_back_whole(file: Path, tmp_path: Path) -> None:
    os.unlink(f"{file}.lock")
    out = tmp_path / "out.realm"
    done = run("salvage", file, out)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(f"{out}: everything of the newest version\n")
    assert files(file) == {"people.realm", "out.realm"}
    with realm.open(out, [Person], version=3) as r:
        assert len(r.objects(Person)) == 2000
        assert r.find(Person, "P00008").friend.photo == b"\x07" * 9000
    assert realm.check_file(out) == []


def test_a_damaged_value_costs_that_value(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.realm"
    damage(file, file.read_bytes().index(b"\x07" * 8000) + 100)
    done = run("salvage", file, out, "--json")
    answer = json.loads(done.stdout)
    assert (done.returncode, done.stderr, answer["whole"]) == (1, "", False)
    assert answer["classes"] == [{
        "name": "Person", "recovered": 2000, "lost": 0, "values_lost": 1, "links_lost": 0,
        "collections_cut": 0, "elements_lost": 0}]
    assert answer["loss_count"] == 1 and answer["losses"][0].startswith("Person.photo, object 7: ")
    with realm.open(out, [Person], version=3) as r:
        assert r.find(Person, "P00007").photo == b""
        assert r.find(Person, "P00008").friend.age == 7


def test_a_damaged_leaf_costs_its_rows(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.realm"
    damage(file, file.read_bytes().index(b"P01000"))
    assert run("check", file).returncode == 1
    done = run("salvage", file, out)
    assert done.returncode == 1
    assert "damage: " in done.stdout and "don't match their check value" in done.stdout
    with realm.open(out, [Person], version=3) as r:
        people = {p.name: p.age for p in r.objects(Person)}
    assert 0 < len(people) < 2000 and "P01000" not in people
    assert all(name == f"P{age:05}" for name, age in people.items())


def test_keys_are_taken_from_files(file: Path, tmp_path: Path) -> None:
    one, two = os.urandom(64), os.urandom(64)
    (tmp_path / "one").write_bytes(one)
    (tmp_path / "two").write_bytes(two)
    realm.change_encryption_key(file, old=None, new=one)
    done = run("salvage", file, tmp_path / "none.realm")
    assert done.returncode == 2 and "no key was given" in done.stderr
    done = run("salvage", file, tmp_path / "none.realm", "--key-file", tmp_path / "two")
    assert done.returncode == 2 and "another key" in done.stderr
    assert not (tmp_path / "none.realm").exists()
    for name, key, arguments in [
        ("same.realm", one, []),
        ("other.realm", two, ["--new-key-file", tmp_path / "two"]),
        ("plain.realm", None, ["--decrypt"]),
    ]:
        out = tmp_path / name
        assert run("salvage", file, out, "--key-file", tmp_path / "one", *arguments).returncode == 0
        with realm.open(out, [Person], version=3, encryption_key=key) as r:
            assert len(r.objects(Person)) == 2000


def test_what_exists_stays_and_what_is_no_realm_is_refused(file: Path, tmp_path: Path) -> None:
    done = run("salvage", file, file)
    assert done.returncode == 2 and "exists" in done.stderr
    other = tmp_path / "text.realm"
    other.write_bytes(b"no realm at all" * 1000)
    done = run("salvage", other, tmp_path / "out.realm")
    assert done.returncode == 2 and "not a realm file" in done.stderr
    done = run("salvage", tmp_path / "missing.realm", tmp_path / "out.realm")
    assert done.returncode == 2
    assert not (tmp_path / "out.realm").exists() and not (tmp_path / "missing.realm").exists()
