"""What the studio's page asks for: classes, rows, objects, the insides of collections."""

from __future__ import annotations

import contextlib
import http.client
import json
import signal
import threading
import time
from pathlib import Path

import pytest

import realm
from studio.harness import Studio
from studio.samples import CLASSES, HOSTILE, Person, people


def test_the_schema_has_every_property(run, file) -> None:
    schema = run(file).answer("open")
    assert [(c["name"], c["kind"], c["count"]) for c in schema["classes"]] == [
        ("Part", "embedded", 1), ("Person", "top-level", 200), ("Town", "top-level", 2)]
    person = {p["name"]: p for p in schema["classes"][1]["properties"]}
    assert person["id"]["primaryKey"] and person["name"]["indexed"] and person["age"]["nullable"]
    assert person["extra"]["description"] == "dictionary<mixed?>"
    assert person["town"]["target"] == "Town"


def test_values_lose_nothing(run, file) -> None:
    studio = run(file)
    names = [p["name"] for p in studio.answer("schema")["classes"][1]["properties"]]
    row = studio.answer("rows", **{"class": "Person", "from": 0, "count": 1})["rows"][0]
    values = dict(zip(names, row[1:], strict=True))
    assert values["big"] == ["int", str(2**53 + 1)]
    assert values["since"] == ["timestamp", "2024-02-29T12:30:00.25Z"]
    assert values["worth"] == ["decimal", "1.50"]
    assert values["data"] == ["binary", "00ff", 2]
    assert values["member"] is True and values["score"] == ["double", "1.5"]
    assert values["town"] == ["link", "Porto", "Town", "0", False]
    assert values["tags"] == ["list", 2, [["string", "a"], ["string", "b"]]]
    assert values["parts"][2][0][1:3] == ["wheel", "Part"]
    assert values["body"] == ["list", 2, [True, None]]


@pytest.mark.parametrize("mark", ["\u0301", "\u200d\U0001f469"])
def test_one_letter_of_many_scalars_is_cut_like_any_text(run, file, mark: str) -> None:
    name = "a" + mark * 400_000
    with realm.open(str(file), CLASSES, schema_version=1) as r, r.write():
        r.find(Person, 1).name = name
    studio = run(file)
    start = time.monotonic()
    answer = studio.answer("object", **{"class": "Person", "key": "1"})
    kind, beginning, count = next(value for value in answer["values"] if value and value[0] == "string")
    assert (kind, count) == ("string", len(name.encode())) and name.startswith(beginning)
    assert 60_000 < len(beginning.encode()) <= 65_536
    assert name.startswith(answer["label"]) and 400 < len(answer["label"].encode()) <= 480
    rows = studio.answer("rows", **{"class": "Person", "from": 0, "count": 1})["rows"]
    assert 250 < len(rows[0][2][1].encode()) <= 256
    # A search for where the letter begins took minutes.
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("name", ["a.b", "a.b.c", ".", 'a."b"\\', "in all", "@count", "$K0", "ä b.", "'", "tag.size"])
def test_a_property_of_any_name_orders_and_is_counted(run, tmp_path, name: str) -> None:
    studio = run(people(tmp_path / "people.realm"))
    for class_name, kind, values in [("Odd", "string", ["x", "z", "y", "z"]), ("Even", "int", [1, 3, 2, 3])]:
        studio.answer("migrate", **{"class": class_name, "isNew": True, "property": {"name": name, "type": kind}})
        studio.answer("edit", label="Odd", edits=[
            {"class": class_name, "do": "create", "json": json.dumps({name: value})} for value in values])
        rows = studio.answer("rows", **{"class": class_name, "sort": name, "descending": True, "from": 0, "count": 9})
        assert [row[1][1] for row in rows["rows"]] == [str(one) for one in sorted(values, reverse=True)]
        found = studio.answer("histogram", **{"class": class_name, "property": name})
        if kind == "int":
            assert found["counts"] == [1, 1, 2]
        else:
            assert sorted((count, value[1]) for value, count, _ in found["values"]) == [(1, "x"), (1, "y"), (2, "z")]
            for _, count, condition in found["values"]:
                assert studio.answer("view", **{"class": class_name, "query": condition})["total"] == count


def test_nested_values_unfold(run, file) -> None:
    studio = run(file)

    def inside(*path: object) -> dict:
        return studio.answer("elements", **{"class": "Person", "key": "1", "path": path, "from": 0, "count": 10})

    assert inside("extra")["elements"] == ["deep", ["list", 2, []], "plain", ["int", "7"]]
    assert inside("extra", "deep")["elements"] == [["int", "1"], ["dictionary", 1, []]]
    assert inside("extra", "deep", 1)["elements"] == ["deeper", ["string", "yes"]]
    for path in [["extra", "deep", 9], ["extra", "nothing"], ["extra", "plain"], ["name"]]:
        status, answer = studio.ask("elements", {"class": "Person", "key": "1", "path": path, "from": 0, "count": 1})
        assert status == 409, answer


def test_queries_and_orders(run, file) -> None:
    studio = run(file)
    view = {"class": "Person", "query": "age > 70", "sort": "age", "descending": True}
    found = studio.answer("view", **view)
    assert found["total"] == 18 and "age >= 71" in found["plan"] and found["milliseconds"] >= 0
    rows = studio.answer("rows", **view, **{"from": 0, "count": 500})["rows"]
    ages = [int(row[3][1]) for row in rows]
    assert len(ages) == 18 and ages == sorted(ages, reverse=True)


@pytest.mark.parametrize("query, word", [("age >> 3", ">"), ("years > 3", "years"), ("age == 3 AND nme == 'é'", "nme"), ("name == 'é' AND age > 1 AND age == 'x'", "age == 'x'"), ('name == "é" AND (', "")])
def test_a_mistake_in_a_query_has_a_place(run, file, query, word) -> None:
    status, answer = run(file).ask("view", {"class": "Person", "query": query})
    assert status == 422
    if word:
        assert query[answer["at"]:].startswith(word)
    else:
        assert answer["at"] == len(query)
    assert query not in answer["error"]


def test_a_long_query_holds_up_its_own_file_alone(run, file, tmp_path) -> None:
    slow = tmp_path / "slow.realm"
    with realm.open(str(slow), CLASSES, schema_version=1) as r, r.write():
        r.insert_many(Person, {"id": range(20_000), "name": [f"p{i}" * 4 for i in range(20_000)]})
    studio = run(slow, file)
    ended = threading.Event()

    def ask() -> None:
        # Each text with each other: some seconds.
        studio.ask("view", {"file": 0, "class": "Person", "query": " AND ".join(
            f'name LIKE "*{a}*{b}*{a}*{b}*{a}*{b}x*"' for a in "0123" for b in "4567")})
        ended.set()

    asking = threading.Thread(target=ask)
    asking.start()
    time.sleep(0.02)
    assert studio.answer("view", file=1, **{"class": "Person"})["total"] == 200
    asking.join()
    assert ended.is_set()


@pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGTERM])
def test_the_studio_ends_in_the_middle_of_a_long_query(file, tmp_path, signal_) -> None:
    slow = tmp_path / "slow.realm"
    with realm.open(str(slow), CLASSES, schema_version=1) as r, r.write():
        r.insert_many(Person, {"id": range(100_000), "name": [f"p{i}" * 40 for i in range(100_000)]})
    studio = Studio(file, slow)
    studio.answer("schema")

    def ask() -> None:
        # Minutes: it ends with the studio.
        with contextlib.suppress(OSError, http.client.HTTPException):
            studio.ask("view", {"file": 1, "class": "Person", "query": " AND ".join(
                f'name LIKE "*{a}*{b}*{a}*{b}*{a}*{b}x*"' for a in "0123" for b in "4567")
                + "".join(f' OR name LIKE "*1*2*3*4*5*6*7*8*9*{number}x*"' for number in range(200))})

    asking = threading.Thread(target=ask)
    asking.start()
    time.sleep(1)
    assert asking.is_alive()
    start = time.monotonic()
    studio.process.send_signal(signal_)
    try:
        assert studio.process.wait(timeout=30) == 0
        assert 1 < time.monotonic() - start < 10
    finally:
        studio.process.kill()
        asking.join()
        studio.process.communicate()


def test_a_commit_of_another_process_ends_the_wait(run, file) -> None:
    studio = run(file)
    version = studio.answer("schema")["version"]

    def change() -> None:
        time.sleep(0.2)
        with realm.open(str(file), CLASSES, schema_version=1) as r, r.write():
            r.find(Person, 1).name = "Grace"

    changing = threading.Thread(target=change)
    changing.start()
    start = time.monotonic()
    name = None
    while name != ["string", "Grace"] and time.monotonic() - start < 5:
        reached = studio.answer("wait", version=version)["version"]
        assert reached > version
        version = reached
        name = studio.answer("rows", **{"class": "Person", "from": 0, "count": 1})["rows"][0][2]
    changing.join()
    assert name == ["string", "Grace"]


def test_encrypted_files_open_with_their_key_alone(run, tmp_path) -> None:
    key = bytes(range(64))
    studio = run(people(tmp_path / "secret.realm", key=key))
    assert studio.ask("schema")[0] == 423
    for wrong in ["", "00", "zz", (bytes(64)).hex(), key.hex()[:-2]]:
        status, answer = studio.ask("open", {"key": wrong})
        assert status == 423 and answer["kind"] == "locked", answer
    assert studio.answer("open", key=key.hex())["classes"][1]["count"] == 3
    assert studio.ask("schema")[0] == 200
    studio.answer("close")
    assert studio.ask("schema")[0] == 423


@pytest.mark.parametrize("content", [b"", b"no realm at all" * 1000, b"\0" * 65536], ids=["empty", "text", "zeros"])
def test_what_is_no_realm_is_refused(run, tmp_path: Path, content) -> None:
    path = tmp_path / "foreign.realm"
    path.write_bytes(content)
    studio = run(path)
    status, answer = studio.ask("open")
    assert 400 <= status < 500 and answer["error"]
    assert path.read_bytes() == content


def test_of_a_damaged_file_the_page_is_told_where(run, file, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.realm"
    content = bytearray(file.read_bytes())
    # The headers stay whole, all that follows is not.
    for place in range(8192, len(content), 4096):
        content[place + 64:place + 128] = b"\xff" * 64
    damaged.write_bytes(content)
    studio = run(damaged, file)
    for name, body in (("open", {}), ("view", {"class": "Person"}),
                       ("rows", {"class": "Person", "from": 0, "count": 100}), ("object", {"class": "Person", "key": "1"})):
        status, answer = studio.ask(name, body)
        assert status == 422 and "damaged.realm': page " in answer["error"], (name, answer)
    assert studio.answer("open", file=1)["classes"][1]["count"] == 200
    assert damaged.read_bytes() == content


def test_hostile_names_and_texts_are_only_texts(run, file) -> None:
    studio = run(file)
    row = studio.answer("rows", **{"class": "Person", "from": 1, "count": 1})["rows"][0]
    assert row[2] == ["string", HOSTILE]
