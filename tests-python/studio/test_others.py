"""What other programs do to a file meanwhile: its schema changes, elements move, values that the studio set are set anew."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import realm
from studio.harness import Studio
from studio.samples import CLASSES, Person, people


@contextmanager
def elsewhere(file: Path) -> Iterator[realm.Realm]:
    """A write transaction of another program."""
    with realm.open(str(file), CLASSES, schema_version=1) as r, r.write():
        yield r


def person(file: Path, key: int = 1) -> dict[str, Any] | None:
    with realm.open(str(file), CLASSES, schema_version=1) as r:
        found = r.find(Person, key)
        return None if found is None else json.loads(found.to_json())


def edit(studio: Studio, *edits: dict[str, Any], status: int = 200) -> Any:
    given, answer = studio.ask("edit", {"label": "a change", "edits": list(edits)})
    assert given == status, answer
    return answer


def on(key: int, *path: object, **rest: Any) -> dict[str, Any]:
    return {"class": "Person", "key": str(key), "path": list(path), **rest}


def text(value: str) -> dict[str, str]:
    return {"type": "string", "text": value}


@pytest.fixture
def studio(run, tmp_path: Path) -> Studio:
    return run(people(tmp_path / "people.realm"))


@pytest.fixture
def file(studio, tmp_path: Path) -> Path:
    return tmp_path / "people.realm"


# -- The schema -----------------------------------------------------------------------------------------


def open_with(file: Path, version: int, **properties: Any) -> None:
    """Another program opens the file with a class of other properties."""
    class_ = type("Note", (realm.Object,), {"__annotations__": properties, "__module__": __name__})
    realm.open(str(file), [class_], schema_version=version).close()


def test_a_table_has_the_properties_that_another_program_gave_it(run, tmp_path) -> None:
    file = tmp_path / "notes.realm"

    class Note(realm.Object):
        text: str
        size: int = 0

    with realm.open(str(file), [Note], schema_version=1) as r, r.write():
        r.create(Note, text="first", size=7)
    studio = run(file)
    view = {"class": "Note", "from": 0, "count": 10}
    assert studio.answer("rows", **view)["rows"] == [["0", ["string", "first"], ["int", "7"]]]
    edit(studio, {"class": "Note", "key": "0", "path": ["size"], "do": "set", "value": {"type": "int", "text": "8"}})
    open_with(file, 2, text=str, size=int, more=str)
    studio.answer("wait", version=0)
    rows = studio.answer("rows", **view)["rows"]
    assert len(studio.answer("schema")["classes"][0]["properties"]) == 3
    assert rows == [["0", ["string", "first"], ["int", "8"], ["string", ""]]]
    # What was done to the schema before can't be undone any more, and is not offered.
    assert studio.answer("schema")["undo"] == []
    open_with(file, 3, size=int)
    studio.answer("wait", version=0)
    assert studio.answer("rows", **view)["rows"] == [["0", ["int", "8"]]]
    edit(studio, {"class": "Note", "key": "0", "path": ["size"], "do": "set", "value": {"type": "int", "text": "9"}})
    studio.answer("undo")
    assert studio.answer("rows", **view)["rows"] == [["0", ["int", "8"]]]


def test_the_page_goes_along_with_another_schema(run, page, tmp_path) -> None:
    file = tmp_path / "notes.realm"
    open_with(file, 1, text=str, size=int)
    studio = run(file)
    for number in range(3):
        studio.answer("edit", label="new", edits=[{"class": "Note", "do": "create", "json": f'{{"text": "x", "size": {number}}}'}])
    page.open(studio).has_total("3 objects")
    page.wait(lambda: page.column(1) == ["0", "1", "2"])
    page.click(".rows .row .cell")
    page.wait(lambda: page.all("#detail [data-name=size]"))
    page.click("#column-1")
    page.click("#column-1")
    page.wait(lambda: page.column(1) == ["2", "1", "0"])
    open_with(file, 2, text=str, size=int, more=str)
    page.wait(lambda: page.text("#column-2 .label") == "more" and page.all("#detail [data-name=more]"))
    page.wait(lambda: page.column(1) == ["2", "1", "0"])
    # The order was that of a property that is gone.
    open_with(file, 3, text=str, more=str)
    page.wait(lambda: page.text("#column-1 .label") == "more" and not page.all("#detail [data-name=size]"))
    page.wait(lambda: page.column(0) == ["x", "x", "x"])
    assert not page.all("#toasts .bad")


# -- Elements that moved --------------------------------------------------------------------------------


EDITS = {"set": {"do": "set", "value": text("z")}, "remove": {"do": "remove"}}


@pytest.mark.parametrize("verb", EDITS)
def test_an_element_that_moved_is_not_taken_for_the_one_that_was_shown(studio, file, verb: str) -> None:
    version = studio.answer("object", **{"class": "Person", "key": "1"})["version"]
    with elsewhere(file) as r:
        r.find(Person, 1).tags.insert(0, "new")
    shown = on(1, "tags", 0, version=version, was=["string", "a"], **EDITS[verb])
    answer = edit(studio, shown, status=409)
    assert answer["kind"] == "outdated" and "tags" in answer["error"]
    assert person(file)["tags"] == ["new", "a", "b"]
    # What did not move is the one that was shown.
    edit(studio, {**shown, "path": ["tags", 1]})
    assert person(file)["tags"] == (["new", "z", "b"] if verb == "set" else ["new", "b"])


@pytest.mark.parametrize("was, same", [
    (["string", "long " * 2, 5000], True), (["string", "long " * 2, 4999], False), (["string", "lang", 5000], False),
    (["string", "long " * 1000], True), (None, False), (["int", "1"], False)])
def test_a_long_element_is_known_by_its_beginning_and_length(studio, file, was: Any, same: bool) -> None:
    version = studio.answer("schema")["version"]
    with elsewhere(file) as r:
        r.find(Person, 1).tags[0] = "long " * 1000
    edit(studio, on(1, "tags", 0, do="remove", version=version, was=was), status=200 if same else 409)


def test_an_object_in_a_list_is_known_by_its_key(studio, file) -> None:
    edit(studio, on(1, "parts", do="embed"))
    answer = studio.answer("object", **{"class": "Person", "key": "1"})
    shown = answer["values"][11][2]
    assert [one[0] for one in shown] == ["link", "link"]
    with elsewhere(file) as r:
        del r.find(Person, 1).parts[0]
    for was, status in [(shown[0], 409), (shown[1], 200)]:
        edit(studio, on(1, "parts", 0, do="remove", version=answer["version"], was=was), status=status)
    assert person(file)["parts"] == []


def test_what_is_inside_of_a_list_is_found_in_the_version_that_was_shown(studio, file) -> None:
    version = studio.answer("schema")["version"]
    deep = on(1, "extra", "deep", 1, "deeper", do="set", value=text("other"), version=version, was=["string", "yes"])
    with elsewhere(file) as r:
        r.find(Person, 1).extra["deep"].insert(1, {"deeper": "yes"})
    edit(studio, deep, status=409)
    edit(studio, {**deep, "path": ["extra", "deep", 2], "do": "remove", "was": ["dictionary", 1, []]}, status=409)
    edit(studio, {**deep, "path": ["extra", "deep", 2, "deeper"], "version": studio.answer("schema")["version"]})
    assert person(file)["extra"]["deep"] == [1, {"deeper": "yes"}, {"deeper": "other"}]
