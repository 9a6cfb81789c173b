"""`realm migrate`: files put in order without a program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_command_line import run

import realm


class Person(realm.Object):
    name: str = realm.PrimaryKey()
    age: int
    nick: str | None
    friend: "Person | None"


class Dog(realm.Object):
    name: str
    owner: Person | None


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A closed file of schema version 3."""
    path = tmp_path / "people.realm"
    with realm.open(path, [Person, Dog], version=3) as r, r.write():
        ann = r.create(Person, name="Ann", age=30, nick="A")
        bob = r.create(Person, name="Bob", age=41, friend=ann)
        r.create(Dog, name="Rex", owner=bob)
    return path


def shape(file: Path) -> dict[str, list[str]]:
    with realm.open(file) as r:
        assert realm.check_file(file) == []
        return {name: list(realm.properties(cls)) for name, cls in r.classes.items()}


def test_it_renames_and_drops_in_one_transaction(file: Path) -> None:
    done = run("migrate", file, "--rename", "Person.name=full_name", "--rename", "Dog.name=call",
               "--drop", "Person.age", "--drop", "Person.nick")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"{file}: schema version 3 becomes 4",
        "- property 'Person.age' is dropped",
        "- property 'Person.nick' is dropped",
        "- property 'Person.name' is renamed to 'full_name'",
        "- property 'Dog.name' is renamed to 'call'",
    ]
    assert {n: sorted(p) for n, p in shape(file).items()} == {
        "Dog": ["call", "owner"], "Person": ["friend", "full_name"]}
    with realm.open(file) as r:
        assert r.schema_version == 4
        # The primary key is still one.
        assert r.find("Person", "Bob").friend.full_name == "Ann"
        assert r.objects("Dog")[0].owner.full_name == "Bob"


def test_a_class_is_renamed_with_its_links_and_properties(file: Path) -> None:
    done = run("migrate", file, "--rename-class", "Person=Human", "--rename", "Person.age=years")
    assert done.returncode == 0, done.stderr
    assert "- class 'Person' is renamed to 'Human'" in done.stdout
    with realm.open(file) as r:
        assert set(r.classes) == {"Dog", "Human"}
        assert r.find("Human", "Bob").years == 41
        assert r.find("Human", "Bob").friend.name == "Ann"
        assert r.objects("Dog")[0].owner.name == "Bob"
    assert realm.check_file(file) == []


def test_a_class_is_dropped(file: Path) -> None:
    done = run("migrate", file, "--drop", "Dog")
    assert done.returncode == 0, done.stderr
    assert "- class 'Dog' is dropped, with 1 object\n" in done.stdout
    assert set(shape(file)) == {"Person"}


def test_a_class_and_what_links_to_it_are_dropped(file: Path) -> None:
    refused = run("migrate", file, "--drop", "Person")
    assert refused.returncode == 2
    assert "'Dog.owner' links to it" in refused.stderr
    done = run("migrate", file, "--drop", "Person", "--drop", "Dog.owner")
    assert done.returncode == 0, done.stderr
    assert shape(file) == {"Dog": ["name"]}


def test_a_dropped_name_is_free_for_another(file: Path) -> None:
    done = run("migrate", file, "--drop", "Person.nick", "--rename", "Person.age=nick")
    assert done.returncode == 0, done.stderr
    with realm.open(file) as r:
        assert sorted(p.nick for p in r.objects("Person")) == [30, 41]


def test_a_class_may_lose_all_its_properties(file: Path) -> None:
    assert run("migrate", file, "--drop", "Dog.name", "--drop", "Dog.owner").returncode == 0
    assert shape(file)["Dog"] == []


def test_a_dropped_primary_key_leaves_objects_without(file: Path) -> None:
    done = run("migrate", file, "--drop", "Person.name")
    assert done.returncode == 0, done.stderr
    with realm.open(file) as r:
        assert [p.friend.age for p in r.objects("Person").filter("friend != nil")] == [30]
        assert not realm.properties(r.classes["Person"])["age"].primary_key


def test_the_version_is_the_next_or_the_given_one(file: Path) -> None:
    assert run("migrate", file, "--version", "10").returncode == 0
    with realm.open(file, [Person, Dog], version=10) as r:
        assert r.schema_version == 10
    for low in ("10", "0"):
        refused = run("migrate", file, "--version", low)
        assert refused.returncode == 2
        assert f"higher schema version than the file's, 10; it can't be {low}" in refused.stderr


def test_a_dry_run_says_the_same_and_changes_nothing(file: Path) -> None:
    before = file.read_bytes()
    steps = ["--rename", "Person.age=years", "--drop", "Dog"]
    dry = run("migrate", file, *steps, "--dry-run")
    assert dry.returncode == 0
    assert file.read_bytes() == before
    wet = run("migrate", file, *steps)
    assert dry.stdout == wet.stdout + "a dry run: the file stays as it is\n"
    assert file.read_bytes() != before


def test_as_json(file: Path) -> None:
    done = run("migrate", file, "--json", "--drop", "Dog", "--dry-run")
    assert json.loads(done.stdout) == {
        "file": str(file), "old_version": 3, "new_version": 4, "dry_run": True,
        "steps": ["class 'Dog' is dropped, with 1 object"]}
    refused = run("migrate", file, "--json", "--drop", "Cow")
    assert refused.returncode == 2
    assert json.loads(refused.stdout)["code"] == realm.ErrorCode.NO_SUCH_TABLE


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--drop", "Cow"], "no class 'Cow'; its classes are Dog, Person"),
        (["--drop", "Cow.name"], "no class 'Cow'"),
        (["--drop", "Person.nome"], "no property 'nome'; its properties are name, age"),
        (["--rename", "Person.nome=x"], "no property 'nome'"),
        (["--rename", "Person.age=name"], "'name': that property is there"),
        (["--rename", "Person.age=x", "--rename", "Person.age=y"], "renamed twice"),
        (["--rename", "Person.age=x", "--rename", "Person.name=x"], "that property is there"),
        (["--rename", "Person.age=x", "--drop", "Person.age"], "dropped, so it can't be renamed"),
        (["--rename", "Dog.name=x", "--drop", "Dog"], "dropped, so it can't be renamed"),
        (["--rename-class", "Cow=Ox"], "no class 'Cow'"),
        (["--rename-class", "Person=Dog"], "'Dog': that class is there"),
        (["--rename-class", "Dog=Pet", "--drop", "Dog"], "renamed, so it can't be dropped"),
        (["--rename", "Person.age=" + "x" * 300], "Person"),
    ],
)
def test_what_can_not_be_done_is_told(file: Path, arguments: list[str], words: str) -> None:
    before = file.read_bytes()
    for dry in ([], ["--dry-run"]):
        done = run("migrate", file, *arguments, *dry)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert done.stderr.startswith(f"realm: {file}: ") and words in done.stderr
        assert "CoreSwift" not in done.stderr
    assert file.read_bytes() == before


def test_a_file_that_is_open_elsewhere_is_refused(file: Path) -> None:
    before = shape(file)
    for options in ({"version": 3}, {"read_only": True}):
        with realm.open(file, [Person, Dog], **options) as r:
            assert len(r.objects(Dog)) == 1
            done = run("migrate", file, "--drop", "Dog")
            assert done.returncode == 2
            assert done.stderr == (f"realm: {file}: another program has the file open; close it "
                                   "there before its schema is changed\n")
            assert run("migrate", file, "--drop", "Dog", "--dry-run").returncode == 0
            if not options.get("read_only"):
                with r.write():
                    assert run("migrate", file, "--drop", "Dog").returncode == 2
    assert shape(file) == before


def test_files_that_are_none(tmp_path: Path) -> None:
    missing = tmp_path / "missing.realm"
    done = run("migrate", missing, "--version", "2")
    assert (done.returncode, done.stderr) == (
        2, f"realm: {missing}: No such file or directory\n")
    assert list(tmp_path.iterdir()) == []
    missing.write_text("something else\n" * 1000)
    done = run("migrate", missing, "--version", "2")
    assert done.returncode == 2 and "not a realm" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [[], ["--rename", "Person.age"], ["--rename", "age=years"], ["--rename-class", "Person"],
     ["--version", "x"], ["--version", "-1"], ["--version", str(2**64 - 1)], ["--drop"]],
)
def test_unusable_arguments_are_status_64(file: Path, arguments: list[str]) -> None:
    before = file.read_bytes()
    assert run("migrate", file, *arguments).returncode == 64
    assert file.read_bytes() == before


def test_help_has_an_example() -> None:
    done = run("migrate", "--help")
    assert done.returncode == 0
    assert "realm migrate people.realm --rename Person.name=full_name" in done.stdout
