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
