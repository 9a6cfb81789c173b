"""Collections in embedded objects, replaced as a whole by JSON as the page sends it."""

from __future__ import annotations

from pathlib import Path

import realm
from studio.harness import Studio


class Wheel(realm.EmbeddedObject):
    codes: list[int]
    notes: dict[str, str]


class Cart(realm.Object):
    id: int = realm.PrimaryKey()
    wheels: list[Wheel]


def wheels(file: Path) -> list[tuple[list[int], dict[str, str]]]:
    with realm.open(file, [Cart, Wheel]) as r:
        return [(list(wheel.codes), dict(wheel.notes)) for wheel in r.find(Cart, 1).wheels]


def test_a_collection_of_an_embedded_object_is_replaced_and_comes_back(tmp_path: Path) -> None:
    file = tmp_path / "carts.realm"
    with realm.open(file, [Cart, Wheel]) as r, r.write():
        r.create(Cart, id=1, wheels=[{"codes": [1]}, {"codes": [2, 3], "notes": {"a": "x"}}])
    studio = Studio(file)
    for path, json, problem in (("codes", "[3, 1, 2]", ""), ("notes", '{"b": "y"}', ""), ("codes", '["x"]', "codes")):
        edit = {"class": "Wheel", "key": "1", "path": [path], "do": "json", "json": json}
        status, answer = studio.ask("edit", {"label": "a change", "edits": [edit]})
        assert (status == 200) == (problem == "") and problem in answer.get("error", ""), answer
    assert wheels(file) == [([1], {}), ([3, 1, 2], {"b": "y"})]
    studio.answer("undo")
    studio.answer("undo")
    assert wheels(file) == [([1], {}), ([2, 3], {"a": "x"})]
    assert studio.close() == 0
