"""What other programs do to a file meanwhile: its schema changes, elements move, values that the studio set are set anew."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import realm
from studio.harness import Studio, edit, on
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


# -- Undoing --------------------------------------------------------------------------------------------


def refused(studio: Studio, verb: str = "undo") -> None:
    status, answer = studio.ask(verb)
    assert (status, answer["kind"]) == (409, "outdated") and "a change" in answer["error"]


def test_a_value_that_another_program_set_since_stays(studio, file) -> None:
    edit(studio, on(1, "name", do="set", value=text("Grace")))
    with elsewhere(file) as r:
        r.find(Person, 1).name = "OTHER"
    refused(studio)
    assert person(file)["name"] == "OTHER"
    edit(studio, on(1, "name", do="set", value=text("Grace")))
    studio.answer("undo")
    with elsewhere(file) as r:
        r.find(Person, 1).name = "ANOTHER"
    refused(studio, "redo")
    assert person(file)["name"] == "ANOTHER"


def test_a_list_that_another_program_replaced_stays(studio, file) -> None:
    edit(studio, on(1, "tags", do="add", value=text("c")))
    with elsewhere(file) as r:
        r.find(Person, 1).tags = ["x", "y", "z"]
    refused(studio)
    assert person(file)["tags"] == ["x", "y", "z"]
    edit(studio, on(1, "tags", do="add", value=text("c")))
    with elsewhere(file) as r:
        r.find(Person, 1).tags.insert(0, "before")
    refused(studio)
    assert person(file)["tags"] == ["before", "x", "y", "z", "c"]


def test_a_dictionary_that_another_program_changed_stays_in_order(studio, file) -> None:
    edit(studio, on(1, "extra", "deep", do="remove"))
    with elsewhere(file) as r:
        r.find(Person, 1).extra["a"] = 1
    refused(studio)
    assert person(file)["extra"] == {"a": 1, "plain": 7} and realm.check_file(file) == []


def test_a_nested_value_that_another_program_changed_stays(studio, file) -> None:
    edit(studio, on(1, "body", do="json", json='{"a": [1, {"b": null}], "c": 1.5}'), on(1, "extra", "deep", do="remove"))
    with elsewhere(file) as r:
        r.find(Person, 1).body["a"][1]["b"] = 0
    refused(studio)
    assert person(file)["body"] == {"a": [1, {"b": 0}], "c": 1.5} and "deep" not in person(file)["extra"]
    edit(studio, on(1, "extra", "plain", do="remove"))
    studio.answer("undo")
    with elsewhere(file) as r:
        r.find(Person, 1).extra["plain"] = 7.0
    refused(studio, "redo")
    assert list(person(file)["extra"]) == ["plain"]


@pytest.mark.parametrize("change", ["value", "collection", "link"])
def test_a_new_object_that_another_program_changed_stays(studio, file, change: str) -> None:
    edit(studio, {"class": "Town", "do": "create", "json": '{"code": "LI", "name": "Lisbon"}'},
         {"class": "Person", "do": "create", "json": '{"id": 50, "name": "New", "big": 0, "score": 0, "member": true, '
          '"data": "", "worth": "0"}'})
    with elsewhere(file) as r:
        if change == "value":
            r.find(Person, 50).name = "Changed"
        elif change == "collection":
            r.find(Person, 50).extra["k"] = 1
        else:
            r.find(Person, 3).town = r.find(CLASSES[1], "LI")
    before = [person(file, key) for key in (50, 3)]
    refused(studio)
    assert [person(file, key) for key in (50, 3)] == before and before[0] is not None


@pytest.mark.parametrize("made", [
    on(1, "town", do="set", value=None), {"class": "Person", "key": "1", "do": "delete"},
    on(1, "friends", 0, do="remove"), on(1, "body", do="json", json="null"), on(1, "extra", "town", do="remove")])
def test_nothing_comes_back_with_a_link_to_an_object_that_is_gone(run, tmp_path, made: dict[str, Any]) -> None:
    file = people(tmp_path / "people.realm")
    studio = run(file)
    studio.answer("migrate", **{
        "class": "Person", "property": {"name": "friends", "type": "link", "target": "Town", "collection": "list"}})
    link = {"class": "Town", "key": "0"}
    edit(studio, on(1, "friends", do="add", value=link), on(1, "extra", do="add", at="town", value=link),
         on(1, "body", do="set", value=link))
    edit(studio, made)
    second = run(file)
    edit(second, {"class": "Town", "key": "0", "do": "delete"})
    refused(studio)
    assert studio.answer("object", **{"class": "Person", "key": "2"})
    second.answer("undo")
    assert realm.check_file(file) == []


def test_what_others_did_elsewhere_is_no_reason_against_undoing(studio, file) -> None:
    edit(studio, on(1, "name", do="set", value=text("Grace")), on(1, "tags", do="add", value=text("c")),
         {"class": "Person", "key": "3", "do": "delete"})
    with elsewhere(file) as r:
        one = r.find(Person, 1)
        one.age, one.extra = 99, {"k": 1}
        r.find(Person, 2).name = "OTHER"
        r.create(Person, id=60, name="Sixty")
        r.delete(r.find(CLASSES[1], "HT"))
    studio.answer("undo")
    stored = person(file)
    assert (stored["name"], stored["tags"], stored["age"], stored["extra"]) == ("Ada", ["a", "b"], 99, {"k": 1})
    assert person(file, 3)["name"] == "Person 3" and person(file, 2)["name"] == "OTHER"
    with elsewhere(file) as r:
        r.find(Person, 60).age = 61
    studio.answer("redo")
    assert (person(file)["name"], person(file, 3), person(file, 60)["age"]) == ("Grace", None, 61)
    studio.answer("undo")
    assert (person(file)["name"], person(file, 3)["name"]) == ("Ada", "Person 3")
