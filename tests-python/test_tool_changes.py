"""`realm watch`, `log` and `diff`: what changes, and what changed, with the tool."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_command_line import TOOL, run
from test_tool_queries import said

import realm
import tool_models
from tool_models import CLASSES, HOSTILE, Dog, Note, Person


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tool") / "all.realm"
    tool_models.fill(path)
    return path


@pytest.fixture
def file(full: Path, tmp_path: Path) -> Path:
    path = tmp_path / "some.realm"
    path.write_bytes(full.read_bytes())
    return path


class Watching:
    """The tool as it watches in a process of its own."""

    def __init__(self, *arguments: object) -> None:
        self.process = subprocess.Popen([TOOL, "watch", *map(str, arguments)], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.began = self.process.stderr.readline()

    def line(self) -> str:
        return self.process.stdout.readline()

    def json(self) -> dict[str, Any]:
        return json.loads(self.line())

    def end(self) -> int:
        assert self.process.stdout.read() == ""
        code = self.process.wait(60)
        self.process.stderr.close()
        self.process.stdout.close()
        return code


@pytest.fixture
def watch() -> Iterator[Any]:
    begun: list[Watching] = []

    def begin(*arguments: object) -> Watching:
        begun.append(Watching(*arguments))
        return begun[-1]

    yield begin
    for item in begun:
        item.process.kill()
        item.process.wait()
        item.process.stderr.close()
        item.process.stdout.close()


class TestWatch:
    def test_commits_of_other_processes_are_printed(self, file: Path, watch) -> None:
        seen = watch(file, "--commits", 2)
        assert seen.began.startswith(f"realm: {file}: watching from version ")
        said("edit", file, 'set Person 1 {"age": 40, "tags": ["z"]}', 'create Dog {"name": "\\u001b"}',
             "delete Person 2")
        lines = [seen.line().split(": ", 1)[1] for _ in range(3)]
        assert lines == [
            'created Dog \\u001b {"name":"\\u001b"}\n', "deleted Person 2\n",
            'modified Person 1: age 36 → 40, tags ["a",null,"","x\\"y"] → ["z"]\n']
        with realm.open(file, CLASSES) as r, r.write():
            r.find(Person, 1).room.beds.append("b")
            r.objects(Note)[0].text = "new"
        assert seen.line().endswith(': modified Note #0: text "hello" → "new"\n')
        assert seen.line().split(": ")[1:] == ["modified Room #0", 'beds ["a"] → ["a","b"]\n']
        assert seen.end() == 0

    def test_texts_that_only_unicode_finds_equal_differ(self, file: Path, watch) -> None:
        said("edit", file, 'set Person 1 {"tags": ["\\u00e9"]}')
        seen = watch(file, "--commits", 1)
        said("edit", file, 'set Person 1 {"tags": ["e\\u0301"]}')
        assert "modified Person 1: tags" in seen.line()

    def test_as_json_lines_of_one_class(self, file: Path, watch) -> None:
        seen = watch(file, "Dog", "--format", "jsonl", "--commits", 2)
        said("edit", file, "delete Person 3")
        said("edit", file, 'create Dog {"name": "A"}')
        new = seen.json()
        version = new.pop("version")
        key = new.pop("key")
        assert new == {"change": "created", "class": "Dog", "primary_key": "A", "new": {"name": "A"}}
        said("edit", file, "delete Dog A")
        assert seen.json() == {"version": version + 1, "change": "deleted", "class": "Dog", "key": key,
                               "primary_key": "A", "old": {"name": "A"}}
        assert seen.end() == 0

    def test_objects_enter_and_leave_a_query(self, file: Path, watch) -> None:
        seen = watch(file, "Person", "dog.name == 'Rex' OR age > 30", "--format", "jsonl")
        said("edit", file, 'set Person 2 {"age": 31}', 'set Person 3 {"age": 1}')
        change = seen.json()
        assert (change["change"], change["primary_key"], change["new"]["age"]) == ("entered", 2, 31)
        said("edit", file, 'set Person 2 {"age": 32}', 'set Person 1 {"age": null}')
        told = {c["primary_key"]: c for c in (seen.json(), seen.json())}
        assert told[2]["change"] == "modified" and told[2]["old"] == {"age": 31}
        assert told[1]["change"] == "left" and told[1]["old"]["age"] == 36
        said("edit", file, 'create Dog {"name": "Rex"}', 'set Person 3 {"dog": "Rex"}')
        assert seen.json()["change"] == "entered"
        # The link goes with its target.
        said("edit", file, "delete Dog Rex")
        assert seen.json()["change"] == "left"

    def test_objects_enter_and_leave_when_only_what_they_link_to_changes(self, tmp_path: Path, watch) -> None:
        class Town(realm.Object):
            name: str = realm.PrimaryKey()
            size: int = 0

        class Citizen(realm.Object):
            id: int = realm.PrimaryKey()
            town: Town | None

        file = tmp_path / "towns.realm"
        with realm.open(file, [Town, Citizen]) as r, r.write():
            r.create(Citizen, id=1, town=Town(name="a"))
        seen = watch(file, "Citizen", "town.size > 3", "--commits", 2)
        for size, change in ((9, "entered"), (1, "left")):
            said("edit", file, f'set Town a {{"size": {size}}}')
            assert f": {change} Citizen 1" in seen.line()
        assert seen.end() == 0

    def test_a_change_of_the_schema_is_told(self, file: Path, watch) -> None:
        class Cat(realm.Object):
            name: str

        seen = watch(file, "--format", "jsonl", "--commits", 1)
        realm.open(file, [*CLASSES, Cat], version=1).close()
        assert seen.json()["change"] == "schema" and seen.end() == 0

    def test_a_file_that_goes_ends_it(self, file: Path, tmp_path: Path, watch) -> None:
        seen = watch(file, "--format", "jsonl")
        file.rename(tmp_path / "moved.realm")
        assert "was deleted or moved" in seen.process.stderr.read() and seen.end() == 2

    def test_mistakes_end_it_at_once(self, file: Path, tmp_path: Path) -> None:
        for arguments, words in [
            ([file, "Cow"], "no class 'Cow'"), ([file, "Dog", "nme == 1"], "no property 'nme'"),
            ([tmp_path / "none"], "No such file"),
        ]:
            done = run("watch", *arguments)
            assert (done.returncode, done.stdout) == (2, "") and words in done.stderr
        assert run("watch", file, "--commits", 0).returncode == 64


class TestLog:
    def test_a_file_without_one_says_so(self, file: Path) -> None:
        done = run("log", file)
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr == f"realm: {file}: the file keeps no change log\n"

    def test_all_that_consumers_are_told(self, file: Path) -> None:
        with realm.open(file, CLASSES) as r:
            with r.write():
                r.add_consumer("audit")
            with r.write():
                ann = r.create(Person, id=50, name=HOSTILE, anything={"a": [1, {"x": None}], "b": []},
                               tags=["a", "b"], many=[1, [2, [3]], b"x"])
            with r.write():
                ann.tags.append("c")
                ann.weights["k"] = 1.5
                r.delete(r.find(Dog, '"quoted"'))
            version = r.version
        text = said("log", file)
        assert "\x1b" not in text and f"version {version}\n" in text
        for line in ["  Person #50 created\n", '  Person #50.tags = ["a","b"]\n',
                     '  Person #50.anything = {"a":[1,{"x":null}],"b":[]}\n',
                     '  Person #50.many = [1,[2,[3]],{"$binary":{"base64":"eA==","subType":"00"}}]\n',
                     '  Person #50.tags inserted at 2: "c"\n', '  Person #50.weights["k"] inserted: 1.5\n',
                     "  Person #2.dog = null, as its target was deleted\n"]:
            assert line in text
        operations = [json.loads(line) for line in said("log", file, "--format", "jsonl").splitlines()]
        assert {"version": version, "kind": "inserted", "class": "Person", "objects": [50, 50],
                "property": "weights", "collection": "dictionary", "key": "k", "index": 0, "value": 1.5
                } in operations
        assert [o for o in operations if o.get("property") == "name"][0]["value"] == HOSTILE
        some = said("log", file, "--from", version - 1, "--class", "Dog", "--format", "jsonl").splitlines()
        assert [json.loads(line)["kind"] for line in some] == ["version", "deleted"]

    def test_versions_that_are_not_there(self, file: Path) -> None:
        with realm.open(file, CLASSES) as r, r.write():
            r.add_consumer("audit")
        done = run("log", file, "--from", 1)
        assert done.returncode == 2 and "does not reach from version 1" in done.stderr

    def test_dates_are_told_as_elsewhere(self, file: Path) -> None:
        moments = ["1969-12-31T23:59:58.5Z", "0001-03-01T00:00:00Z", "2024-02-29T12:30:00.25Z",
                   "1900-02-28T23:59:59.999999Z", "9999-12-31T23:59:58Z", "2000-12-31T00:00:00.000001Z",
                   "1970-01-01T00:00:00Z", "T-99999999999:-5"]
        with realm.open(file, CLASSES) as r, r.write():
            r.add_consumer("audit")
        people = [f'create Person {{"id": {n + 100}, "real": 0, "single": 0, "member": false, "worth": 0, '
                  f'"since": "{moment}"}}' for n, moment in enumerate(moments)]
        said("edit", file, *people)
        told = [json.loads(line) for line in said("log", file, "--format", "jsonl").splitlines()]
        assert [o["value"] for o in told if o.get("property") == "since"] == moments
        shown = said("query", file, "Person", "id >= 100", "--columns", "since", "--format", "csv")
        assert shown.splitlines()[1:] == moments


class TestDiff:
    def test_files_that_are_the_same(self, file: Path, full: Path) -> None:
        assert said("diff", full, file) == ""

    def test_what_makes_one_of_the_other(self, file: Path, full: Path) -> None:
        said("edit", file, "delete Person 3", 'create Dog {"name": "New"}',
             'set Person 1 {"age": 40, "tags": ["z"], "room": {"number": 4}}')
        done = run("diff", full, file)
        assert (done.returncode, done.stderr) == (1, "")
        for line in ["  Person #3 deleted\n", "  Person #1.age = 40\n", '.name = "New"\n', "  Room #"]:
            assert line in done.stdout
        done = run("diff", full, file, "--class", "Dog", "--format", "jsonl")
        assert [json.loads(line)["kind"] for line in done.stdout.splitlines()] == ["created", "set"]
        done = run("diff", full, file, "--quiet")
        assert (done.returncode, done.stdout) == (1, "")

    def test_two_versions_of_a_file(self, file: Path) -> None:
        with realm.open(file, CLASSES) as r:
            with r.write():
                r.add_consumer("audit")
            version = r.version
        assert said("diff", file, "--since", version) == ""
        said("edit", file, 'create Dog {"name": "A"}')
        said("edit", file, "delete Person 2")
        done = run("diff", file, "--since", version)
        assert (done.returncode, done.stdout) == (1, "  Dog #3 created\n  Dog #3.name = \"A\"\n"
                                                    "  Person #2 deleted\n")
        done = run("diff", file, "--since", version - 1)
        assert done.returncode == 2 and "does not reach from version" in done.stderr
        assert run("diff", file, "--since", version + 99).returncode == 2
        assert run("diff", file).returncode == run("diff", file, file, "--since", 1).returncode == 64

    def test_encrypted_files(self, full: Path, tmp_path: Path) -> None:
        key, sealed = tmp_path / "key", tmp_path / "sealed"
        key.write_bytes(os.urandom(64))
        said("copy", full, sealed, "--new-key-file", key)
        assert said("diff", full, sealed, "--other-key-file", key) == ""
        assert said("diff", sealed, sealed, "--key-file", key) == ""
        assert said("diff", sealed, full, "--key-file", key, "--other-plain") == ""
        assert run("diff", full, sealed).returncode == 2

    def test_what_can_not_be_compared(self, full: Path, tmp_path: Path) -> None:
        other = tmp_path / "other.realm"
        realm.open(other, [Dog]).close()
        done = run("diff", full, other)
        assert (done.returncode, done.stdout) == (2, "") and done.stderr.startswith(f"realm: {full}: ")
        done = run("diff", full, tmp_path / "none")
        assert done.returncode == 2 and done.stderr.startswith(f"realm: {tmp_path / 'none'}: No such file")
        assert run("diff", full, full, "--class", "Cow").returncode == 2
