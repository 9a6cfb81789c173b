"""Changes by requests as the page makes them: each a transaction, each undone to the last byte that programs see."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import realm
from studio.harness import Studio, edit, on
from studio.samples import CLASSES, HOSTILE, Person, Town, people


def state(file: Path) -> str:
    """All objects as another program reads them."""
    with realm.open(str(file), CLASSES, schema_version=1) as r:
        return json.dumps([[o.to_json() for o in r.objects(class_)] for class_ in (Person, Town)])


def typed(type_: str, text: str) -> dict[str, str]:
    return {"type": type_, "text": text}


EDITS = {
    "int": on(1, "age", do="set", value=typed("int", "37")),
    "null": on(1, "age", do="set", value=None),
    "text": on(1, "name", do="set", value=typed("string", HOSTILE + "\n\u2028\U0001f600 ")),
    "double": on(1, "score", do="set", value=typed("double", "-2.5e300")),
    "bool": on(1, "member", do="set", value=typed("bool", "false")),
    "time": on(1, "since", do="set", value=typed("timestamp", "1969-12-31 23:59:59.5+02:00")),
    "decimal": on(1, "worth", do="set", value=typed("decimal", "12345678901234567890.123")),
    "binary": on(1, "data", do="set", value=typed("binary", "de ad BE EF")),
    "link": on(1, "town", do="set", value={"class": "Town", "key": "1"}),
    "no link": on(1, "town", do="set", value=None),
    "mixed": on(1, "body", do="set", value=typed("uuid", "12345678-1234-1234-1234-123456789abc")),
    "mixed JSON": on(1, "body", do="json", json='{"a": [1, {"b": null}], "c": 1.5}'),
    "list element": on(1, "tags", 1, do="set", value=typed("string", "z")),
    "list, one more": on(1, "tags", do="add", value=typed("string", "c")),
    "list, one less": on(1, "tags", 0, do="remove"),
    "key": on(1, "extra", "plain", do="set", value=typed("double", "1.25")),
    "new key": on(1, "extra", do="add", at="new", value=typed("string", "x")),
    "no key": on(1, "extra", "deep", do="remove"),
    "deep": on(1, "extra", "deep", 1, "deeper", do="set", value=typed("bool", "true")),
    "deep, any key": on(1, "extra", "deep", 1, do="add", at="$a.b", value=typed("int", "1")),
    "embedded": on(1, "parts", do="embed"),
    "part of embedded": {"class": "Part", "key": "0", "path": ["size"], "do": "set", "value": typed("int", "9")},
    "no embedded": on(1, "parts", 0, do="remove"),
    "delete": {"class": "Person", "key": "1", "do": "delete"},
    "delete what is linked": {"class": "Town", "key": "0", "do": "delete"},
    "create": {"class": "Person", "do": "create", "json": '{"id": 77, "name": "New", "big": 1, "score": 0.5, "member": true, '
               '"data": "", "worth": "0", "town": "PO", "parts": [{"label": "x", "size": 1}]}'},
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory):
    file = people(tmp_path_factory.mktemp("edits") / "people.realm")
    studio = Studio(file)
    yield studio, file
    assert studio.close() == 0


@pytest.mark.parametrize("name", EDITS)
def test_a_change_is_made_undone_and_done_again(shared, name) -> None:
    studio, file = shared
    before = state(file)
    answer = edit(studio, EDITS[name])
    assert answer["undo"][-1] == "a change" and answer["redo"] == []
    after = state(file)
    assert after != before
    answer = studio.answer("undo")
    assert answer["redo"] == ["a change"]
    assert state(file) == before
    studio.answer("redo")
    assert state(file) == after
    studio.answer("undo")
    assert state(file) == before


def test_values_arrive_as_they_were_typed(shared) -> None:
    studio, file = shared
    edit(studio, EDITS["time"], EDITS["binary"], EDITS["decimal"], EDITS["mixed JSON"], EDITS["text"])
    with realm.open(str(file), CLASSES, schema_version=1) as r:
        person = r.find(Person, 1)
        assert person.since.isoformat() == "1969-12-31T21:59:59.500000+00:00"
        assert (person.data, str(person.worth)) == (b"\xde\xad\xbe\xef", "12345678901234567890.123")
        assert person.body["a"][1]["b"] is None and person.body["c"] == 1.5
        assert person.name == HOSTILE + "\n\u2028\U0001f600 "
    studio.answer("undo")


@pytest.mark.parametrize("wrong, problem", [
    (on(1, "age", do="set", value=typed("int", "old")), "old"),
    (on(1, "age", do="set", value=typed("int", "9223372036854775808")), "integer"),
    (on(1, "name", do="set", value=None), "null"),
    (on(1, "since", do="set", value=typed("timestamp", "2023-02-29")), "point in time"),
    (on(1, "data", do="set", value=typed("binary", "abc")), "hexadecimal"),
    (on(1, "member", do="set", value=typed("bool", "maybe")), "bool"),
    (on(1, "id", do="set", value=typed("int", "5")), "primary key"),
    (on(1, "town", do="set", value={"class": "Person", "key": "1"}), ""),
    (on(1, "town", do="set", value={"class": "Town", "key": "99"}), ""),
    (on(1, "nothing", do="set", value=None), "nothing"),
    (on(1, "tags", 9, do="remove"), "9"),
    (on(1, "extra", do="add", at="plain", value=typed("int", "1")), "taken"),
    (on(1, "body", do="json", json="{"), "JSON"),
    (on(99, "age", do="set", value=None), "deleted"),
    ({"class": "Person", "do": "create", "json": '{"id": 1, "name": "again"}'}, "1"),
    ({"class": "Person", "do": "create", "json": '{"id": 5, "nme": "x"}'}, "nme"),
    ({"class": "Nobody", "do": "create", "json": "{}"}, "Nobody"),
    (on(1, "age", do="burn"), "burn"),
])
def test_a_mistake_changes_nothing(shared, wrong, problem) -> None:
    studio, file = shared
    before = state(file)
    history = studio.answer("schema")["undo"]
    status, answer = studio.ask("edit", {"label": "wrong", "edits": [on(1, "age", do="set", value=typed("int", "1")), wrong]})
    assert 400 <= status < 500 and problem in answer["error"], answer
    assert state(file) == before
    assert studio.answer("schema")["undo"] == history


def test_what_others_changed_is_not_undone(run, file) -> None:
    studio = run(file)
    edit(studio, on(1, "name", do="set", value=typed("string", "Grace")))
    with realm.open(str(file), CLASSES, schema_version=1) as r, r.write():
        r.find(Person, 2).age = 5
    studio.answer("undo")
    with realm.open(str(file), CLASSES, schema_version=1) as r:
        assert (r.find(Person, 1).name, r.find(Person, 2).age) == ("Ada", 5)
    edit(studio, on(2, "age", do="set", value=typed("int", "6")))
    with realm.open(str(file), CLASSES, schema_version=1) as r, r.write():
        r.delete(r.find(Person, 2))
    status, answer = studio.ask("undo")
    assert status == 409 and "a change" in answer["error"]
    assert studio.ask("schema")[0] == 200


def test_two_studios_write_to_one_file(run, file) -> None:
    studios = [run(file), run(file)]
    for number in range(20):
        edit(studios[number % 2], on(number + 3, "age", do="set", value=typed("int", "99")))
    assert studios[0].answer("view", **{"class": "Person", "query": "age == 99"})["total"] == 20
    for number in range(10):
        studios[number % 2].answer("undo")
    assert studios[1].answer("view", **{"class": "Person", "query": "age == 99"})["total"] == 10


def test_a_change_waits_for_another_writer(run, file) -> None:
    """Who writes has the file to itself; a second studio goes on reading meanwhile."""
    studio, reading = run(file), run(file)
    studio.answer("open")
    answers: list[tuple[int, object]] = []
    change = {"label": "a change", "edits": [on(1, "age", do="set", value=typed("int", "99"))]}
    asking = threading.Thread(target=lambda: answers.append(studio.ask("edit", change)))
    with realm.open(str(file), CLASSES, schema_version=1) as r:
        with r.write():
            r.find(Person, 2).age = 98
            asking.start()
            time.sleep(1)
            assert asking.is_alive() and answers == []
            assert reading.answer("view", **{"class": "Person", "query": "age >= 98"})["total"] == 0
        asking.join(30)
        assert [status for status, _ in answers] == [200]
    # It hears of commits soon, not at once, and maybe of the first before the second.
    end = time.monotonic() + 30
    while (total := reading.answer("view", **{"class": "Person", "query": "age >= 98"})["total"]) != 2:
        assert total < 2 and time.monotonic() < end
        time.sleep(0.05)


def test_read_only_changes_nothing(run, file) -> None:
    digest = hashlib.sha256(file.read_bytes()).digest()
    studio = run("--read-only", file)
    assert studio.answer("open")["readOnly"] is True
    for name in ["int", "create", "delete"]:
        assert "--read-only" in edit(studio, EDITS[name], status=400)["error"]
    status, answer = studio.ask("migrate", {"class": "Person", "property": {"name": "x", "type": "int"}})
    assert status == 400 and "--read-only" in answer["error"]
    assert studio.answer("rows", **{"class": "Person", "from": 0, "count": 1})["total"] == 200
    studio.answer("close")
    assert hashlib.sha256(file.read_bytes()).digest() == digest


def test_a_property_and_a_class_are_previewed_then_made(run, tmp_path) -> None:
    file = people(tmp_path / "people.realm")
    studio = run(file)
    wish = {"class": "Person", "property": {"name": "height", "type": "double", "nullable": True}}
    found = studio.answer("preview", **wish)
    assert (found["from"], found["to"], found["changes"]) == ("1", "2", ["property 'Person.height' has been added"])
    assert "height" not in json.dumps(studio.answer("schema"))
    assert "height" in json.dumps(studio.answer("migrate", **wish))
    made = studio.answer("migrate", **{
        "class": "Dog", "isNew": True, "property": {"name": "owner", "type": "link", "target": "Person", "collection": "none"}})
    assert "Dog" in [one["name"] for one in made["classes"]]
    edit(studio, on(1, "height", do="set", value=typed("double", "1.7")),
         {"class": "Dog", "do": "create", "json": '{"owner": 1}'})
    studio.answer("undo")
    with realm.open(str(file)) as r:
        assert r.schema_version == 3
    for wrong in [wish, {**wish, "class": "Nobody"}, {"class": "Person", "property": {"name": "", "type": "int"}},
                  {"class": "Person", "property": {"name": "x", "type": "cat"}}]:
        status, answer = studio.ask("preview", wrong)
        assert status >= 400 or answer["refusal"], answer


def test_exports_have_everything(run, file) -> None:
    studio = run(file)
    view = {"class": "Person", "query": "age > 77 OR id < 3", "sort": "id", "descending": True}
    answer = studio.answer("export", **view, **{"format": "json", "from": 0, "count": 1000})
    objects = json.loads(f"[{answer['text']}]")
    assert [one["id"] for one in objects] == [159, 158, 79, 78, 2, 1] and answer["total"] == 6
    assert objects[-1]["big"] == 2**53 + 1 and objects[-2]["name"] == HOSTILE
    pieces = [studio.answer("export", **view, **{"format": "csv", "from": start, "count": 4})["text"] for start in (0, 4)]
    rows = list(csv.DictReader(io.StringIO("".join(pieces), newline="")))
    assert [row["id"] for row in rows] == ["159", "158", "79", "78", "2", "1"]
    assert rows[-2]["name"] == HOSTILE and rows[-1]["big"] == str(2**53 + 1)
    assert json.loads(rows[-1]["extra"]) == {"deep": [1, {"deeper": "yes"}], "plain": 7}
    assert studio.ask("export", {**view, "format": "xml", "from": 0, "count": 1})[0] == 400
    beyond = studio.answer("export", **view, **{"format": "csv", "from": 2**63 - 1, "count": 1000})
    assert (beyond["count"], beyond["text"]) == (0, "")


def test_exported_lines_tell_nothing_from_null_and_quote_what_looks_like_no_quote(run, file) -> None:
    with realm.open(str(file), CLASSES, schema_version=1) as r, r.write():
        r.find(Person, 3).name = ""
        r.find(Person, 4).name = 'a"\u0301, b'
    text = run(file).answer("export", **{"class": "Person", "query": "id IN {3, 4}", "sort": "id", "descending": False,
                                         "format": "csv", "from": 0, "count": 9})["text"]
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["name"] for row in rows] == ["", 'a"\u0301, b']
    assert ',"",' in text and '"a""\u0301, b"' in text


def test_pictures_have_the_figures_of_the_file(run, file) -> None:
    studio = run(file)
    found = studio.answer("statistics")
    assert found["bytes"] == file.stat().st_size
    assert {one["name"]: one["objects"] for one in found["classes"]} == {"Part": 1, "Person": 200, "Town": 2}

    def spread(name: str, query: str = "") -> Any:
        return studio.answer("histogram", **{"class": "Person", "query": query, "property": name})

    ages = spread("age")
    assert (ages["low"], ages["high"], sum(ages["counts"]), ages["nulls"]) == (0, 79, 199, 1)
    assert spread("age", "age > 75")["counts"] == [2, 2, 2, 2]
    assert spread("member")["values"] == [[False, 199, "member == false"], [True, 1, "member == true"]]
    assert spread("town")["nulls"] == 199
    assert spread("name")["distinct"] == 200
    assert spread("score")["high"] == 1.5
    assert spread("age", "FALSEPREDICATE")["counts"] == []
    assert studio.ask("histogram", {"class": "Person", "property": "tags"})[0] == 400


@pytest.mark.parametrize("name", ["name", "member", "data", "town", "code", "body"])
def test_each_frequent_value_has_a_query_that_finds_it(run, file, name) -> None:
    """Also texts with quotes and markup, bytes, links, and mixed values."""
    class_name = "Town" if name == "code" else "Person"
    with realm.open(str(file), CLASSES, schema_version=1) as r, r.write():
        for number, value in enumerate(["it's", 'a "b" \\ c', "", "x" * 3000, 7, b"\x00\xff", True, "\u00e9", "e\u0301"], 10):
            person = r.find(Person, number)
            person.body = value
            if isinstance(value, str):
                person.name = value
            if isinstance(value, bytes):
                person.data = value
        r.find(Person, 20).name = "y" * 5000
    studio = run(file)
    among = "TRUEPREDICATE" if name == "code" else "id < 22"
    found = studio.answer("histogram", **{"class": class_name, "query": among, "property": name})["values"]
    assert len(found) >= 2 or name == "town"
    assert [condition for *_, condition in found].count(None) == (1 if name == "name" else 0)
    for value, count, condition in found:
        if condition is None:
            assert value[2] == 5000
            continue
        total = studio.answer("view", **{"class": class_name, "query": f"({condition}) AND {among}"})["total"]
        assert total == count, condition
