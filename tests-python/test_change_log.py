"""The change log: consumers by name, and reading what commits did."""

from __future__ import annotations

import datetime
import random
import uuid
from typing import Any

import pytest

import models
import realm


class Target(realm.Object):
    name: str = realm.PrimaryKey()


class Thing(realm.Object):
    id: int = realm.PrimaryKey()
    name: str = ""
    when: datetime.datetime | None = None
    uid: uuid.UUID | None = None
    link: Target | None
    tags: list[str]
    scores: set[int]
    weights: dict[str, float]
    data: Any = None


CLASSES = [Thing, Target]
UTC = datetime.timezone.utc


@pytest.fixture
def audited(path):
    with realm.open(path, classes=CLASSES) as r:
        with r.write():
            r.add_consumer("audit")
        yield r


def read(r, start="audit"):
    """(kind, class, property, value) of each operation."""
    return [(op.kind, op.cls, op.property, op.value) for op in r.log(start)]


def test_values_of_every_kind(audited):
    r = audited
    moment = datetime.datetime(2024, 5, 6, tzinfo=UTC)
    number = uuid.uuid4()
    with r.write():
        thing = r.create(Thing, id=1, name="a", when=moment, uid=number,
                         link=Target(name="t"), tags=["x", "y"], scores={3}, weights={"k": 0.5},
                         data={"list": [1, {"deep": None}], "text": "z"})
    found = read(r)
    target = r.find(Target, "t")
    assert ("created", "Thing", None, None) in found and ("created", "Target", None, None) in found
    values = {name: value for kind, cls, name, value in found if kind == "set" and cls == "Thing"}
    assert values["name"] == "a" and values["when"] == moment and values["uid"] == number
    assert values["link"] == ("Target", target._realm_key)
    assert isinstance(values["link"], realm.LoggedLink)
    assert values["data"] == {"list": [1, {"deep": None}], "text": "z"}
    created = next(op for op in r.log("audit") if op.kind == "created" and op.cls == "Thing")
    assert [r.object_at("Thing", key) for key in created.objects] == [thing]
    assert r.object_at(Target, values["link"].key) == target


def test_what_happens_to_objects(audited):
    r = audited
    with r.write():
        thing = r.create(Thing, id=1, link=Target(name="t"))
    start = r.version
    with r.write():
        thing.name = "b"
        thing.data = [1, [2]]
    second = r.version
    with r.write():
        r.delete(thing.link)
        r.create(Thing, id=2)
    with r.write():
        r.delete(r.find(Thing, 2))
    assert read(r, start)[:2] == [("set", "Thing", "name", "b"), ("set", "Thing", "data", [1, [2]])]
    later = list(r.log(second))
    nulled = next(op for op in later if op.kind == "nulled")
    assert nulled.property == "link" and nulled.derived
    assert [op.cls for op in later if op.kind == "deleted"] == ["Target", "Thing"]
    assert [op.version for op in later] == sorted(op.version for op in later)
    gone = [op for op in later if op.kind == "deleted"][1]
    assert r.object_at(Thing, gone.objects[0]) is None
    assert read(r, r.version) == []


def test_what_happens_to_collections(audited):
    r = audited
    with r.write():
        thing = r.create(Thing, id=1, tags=["a", "b"], weights={"x": 1.0}, data={"n": [1]})
    start = r.version
    with r.write():
        thing.tags.append("c")
        thing.tags[0] = "A"
        del thing.tags[1]
        thing.scores.add(7)
        thing.weights["y"] = 2.0
        del thing.weights["x"]
        thing.data["n"].append({"m": [5]})
    found = [(op.kind, op.collection, op.property, op.index, op.key, op.value)
             for op in r.log(start)]
    assert ("inserted", "list", "tags", 2, None, "c") in found
    assert ("replaced", "list", "tags", 0, None, "A") in found
    assert ("removed", "list", "tags", 1, None, None) in found
    assert ("inserted", "set", "scores", 0, None, 7) in found
    assert any(op[:3] == ("inserted", "dict", "weights") and op[4:] == ("y", 2.0) for op in found)
    assert any(op[:3] == ("removed", "dict", "weights") and op[4] == "x" for op in found)
    # What goes into a nested collection follows it, under the number of that.
    nested = [op for op in r.log(start) if op.property == "data" and op.kind == "inserted"]
    assert [(op.collection, op.key, op.value) for op in nested] == [
        ("list", None, {}), ("dict", "m", []), ("list", None, 5)]
    assert nested[0].index == 1 and len({op.number for op in nested} - {0}) == 3
    after = r.version
    with r.write():
        thing.tags.clear()
    (cleared,) = r.log(after)
    assert cleared.kind == "cleared" and cleared.count == 2


def test_consumers(audited):
    r = audited
    assert dict(r.consumers) == {"audit": r.version}
    with r.write():
        r.create(Thing, id=1)
    kept = list(r.log("audit"))
    assert kept
    with r.write():
        r.acknowledge("audit", kept[-1].version)
        r.add_consumer("audit")
        r.add_consumer("sync")
    assert r.consumers["audit"] == kept[-1].version and "sync" in r.consumers
    assert list(r.log("audit")) == []
    with r.write():
        for bad in (kept[-1].version - 1, r.version + 5):
            with pytest.raises(realm.ArgumentError, match="cannot acknowledge"):
                r.acknowledge("audit", bad)
        with pytest.raises(realm.ArgumentError, match="no consumer 'other'"):
            r.acknowledge("other", 1)
        with pytest.raises(realm.ArgumentError):
            r.add_consumer("")
        r.remove_consumer("audit")
        r.remove_consumer("sync")
    assert dict(r.consumers) == {}
    with pytest.raises(realm.ArgumentError, match="no consumer 'audit'"):
        r.log("audit")
    for change in (lambda: r.add_consumer("x"), lambda: r.remove_consumer("x")):
        with pytest.raises(realm.TransactionError):
            change()


def test_it_is_kept_while_the_file_is_closed(path):
    with realm.open(path, classes=CLASSES) as r, r.write():
        r.add_consumer("audit")
    for number in range(3):
        with realm.open(path, classes=CLASSES) as r, r.write():
            r.create(Thing, id=number)
    with realm.open(path, classes=CLASSES) as r:
        assert [op.kind for op in r.log("audit")].count("created") == 3
        assert r.check() == []
        frozen = r.freeze()
        assert len(list(frozen.log("audit"))) == len(list(r.log("audit")))


def test_versions_that_nobody_kept(path):
    with realm.open(path, classes=CLASSES) as r:
        first = r.version
        with r.write():
            r.create(Thing, id=1)
        with pytest.raises(realm.VersionError, match="does not reach"):
            list(r.log(first))


def test_many_operations_come_in_parts(audited):
    r = audited
    for part in range(3):
        with r.write():
            for number in range(6000):
                r.create(Thing, id=part * 6000 + number, name="n")
    with r.write():
        for thing in r.objects(Thing):
            thing.name = "m"
    names = [op.value for op in r.log("audit") if op.kind == "set" and op.property == "name"]
    assert names == ["n"] * 18000 + ["m"] * 18000


def test_changed_classes(audited):
    path = audited.path
    audited.close()

    class More(realm.Object):
        id: int = realm.PrimaryKey()

    with realm.open(path, classes=[*CLASSES, More]) as r:
        with r.write():
            r.create(More, id=1)
        kinds = [(op.kind, op.cls) for op in r.log("audit")]
        assert kinds[0] == ("schema", None) and ("created", "More") in kinds


# ---- changes as bytes ---------------------------------------------------------------------------


@pytest.fixture
def pair(path, tmp_path):
    with realm.open(path, classes=CLASSES) as r:
        with realm.open(tmp_path / "other.realm", classes=CLASSES) as other:
            for each in (r, other):
                with each.write():
                    each.add_consumer("sync")
            yield r, other


def plain(r):
    """All things; links as names, as objects of two files are never equal."""
    things = sorted(r.objects(Thing), key=lambda t: t.id)
    return [{**t.to_dict(), "link": t.link and t.link.name} for t in things]


def test_the_log_of_one_file_is_applied_to_another(pair):
    r, other = pair
    with r.write():
        thing = r.create(Thing, id=1, name="a", link=Target(name="t"), tags=["x", "y"],
                         weights={"k": 0.5}, data=[1, {"deep": None}])
        r.create(Thing, id=2, name="b")
    with r.write():
        thing.tags.insert(1, "z")
        thing.name = "ä"
        r.delete(r.find(Thing, 2))
    changes = r.export_log("sync")
    told = list(r.read_changes(changes))
    assert told == list(r.log("sync")) and len(told) > 8
    assert {op.origin for op in told} == {None}
    with other.write():
        other.apply(changes, origin=2**63 + 5)
    assert plain(other) == plain(r) and other.find(Thing, 1).link.name == "t"
    assert {op.origin for op in other.log("sync")} == {2**63 + 5}
    # Both agree, in both directions.
    assert list(r.read_changes(r.changes_to(other))) == []
    assert list(other.read_changes(other.changes_to(r))) == []


def test_versions_of_a_file_are_compared(pair):
    r, other = pair
    before = r.freeze()
    with r.write():
        r.create(Thing, id=1, name="a", scores={3})
    forth, back = before.changes_to(r), r.changes_to(before)
    assert [op.kind for op in r.read_changes(back)] == ["deleted"]
    with other.write():
        other.apply(forth)
        assert list(other.read_changes(other.changes_to(r))) == []
        other.apply(back)
        assert other.objects(Thing).count() == 0
    with r.write():
        r.apply(back)
    assert list(r.read_changes(before.changes_to(r))) == []


class Part(realm.EmbeddedObject):
    text: str = ""


class Line(realm.EmbeddedObject):
    text: str = ""
    link: Target | None
    parts: list[Part]


class Page(realm.Object):
    id: int = realm.PrimaryKey()
    lines: list[Line]


@pytest.mark.parametrize("order", [[2, 1, 0], [1, 2, 0], [0, 2, 1]])
def test_embedded_objects_of_files_that_were_made_apart_are_known_by_place(tmp_path, order):
    """The keys of embedded objects depend on the order in which they were made, and say nothing here."""
    texts = ["a", "b", "c"]
    sides = []
    for name, turns in (("first", [0, 1, 2]), ("second", order)):
        side = realm.open(tmp_path / f"{name}.realm", [Page, Line, Part, Target])
        with side.write():
            targets = {text: side.create(Target, name=text) for text in sorted(texts, reverse=name == "first")}
            lines = side.create(Page, id=1).lines
            made = []
            for turn in turns:
                at = sum(other < turn for other in made)
                parts = [Part(text="x"), Part(text="y")]
                lines.insert(at, Line(text=texts[turn], link=targets[texts[turn]], parts=parts))
                made.append(turn)
        sides.append(side)
    first, second = sides
    assert list(first.read_changes(first.changes_to(second))) == []
    with second.write():
        second.find(Page, 1).lines[1].text = "changed"
    changes = first.changes_to(second)
    assert [(op.kind, op.property, op.value) for op in first.read_changes(changes)] == [("set", "text", "changed")]
    with first.write():
        first.apply(changes)
    assert [line.text for line in first.find(Page, 1).lines] == ["a", "changed", "c"]
    # In a copy of one file keys say who is who: that an object moved is told.
    second.copy_to(tmp_path / "copy.realm")
    copy = realm.open(tmp_path / "copy.realm", [Page, Line, Part, Target])
    with copy.write():
        copy.find(Page, 1).lines.reverse()
    assert {op.kind for op in second.read_changes(second.changes_to(copy))} == {"moved"}
    for side in (*sides, copy):
        side.close()


class Note(realm.Object):
    text: str = ""


def test_objects_of_two_clients_have_keys_of_their_own(tmp_path):
    paths = [tmp_path / "first.realm", tmp_path / "second.realm"]
    sides = [
        realm.open(paths[0], Note, client_number=1),
        realm.open_async(paths[1], Note, client_number=2**26 - 2).result(30),
    ]
    logs = []
    for number, side in enumerate(sides):
        with side.write():
            side.add_consumer("sync")
        with side.write():
            for _ in range(3):
                side.create(Note, text=f"of {number}")
        logs.append(side.export_log("sync"))
    keys = [{realm.reference(note).key for note in side.objects(Note)} for side in sides]
    assert len(keys[0] | keys[1]) == 6
    for side, log in zip(sides, reversed(logs), strict=True):
        with side.write():
            side.apply(log, origin=1)
        assert sorted(side.objects(Note).values("text")) == ["of 0"] * 3 + ["of 1"] * 3
    assert list(sides[0].read_changes(sides[0].changes_to(sides[1]))) == []
    # All who have the file open in a process give the same.
    for number in (0, 2):
        with pytest.raises(realm.ConfigurationError, match="client 1"):
            realm.open(paths[0], Note, client_number=number)
    realm.open(paths[0], Note, client_number=1).close()
    for side in sides:
        side.close()


def test_without_numbers_keys_of_two_files_are_the_same(tmp_path):
    keys = []
    for name in ("first", "second"):
        with realm.open(tmp_path / f"{name}.realm", Note) as r, r.write():
            keys.append(realm.reference(r.create(Note)).key)
    assert keys[0] == keys[1]


@pytest.mark.parametrize("wrong", [-1, 2**26 - 1, 2**32, 2**64, "1", 1.0, None, True])
def test_numbers_of_clients_that_make_no_sense_are_named(tmp_path, wrong):
    kind = realm.ArgumentError if type(wrong) is int else TypeError
    with pytest.raises(kind, match=f"client_number is .*{wrong}"):
        realm.open(tmp_path / "no.realm", Note, client_number=wrong)
    assert not (tmp_path / "no.realm").exists()


def test_changes_that_do_not_fit_are_refused(pair, tmp_path):
    r, other = pair
    with r.write():
        r.create(Thing, id=1, name="a")
    changes = r.export_log("sync")
    with pytest.raises(realm.ArgumentError, match="does not fit"):
        with r.write():
            r.apply(changes)
    assert len(r.objects(Thing)) == 1
    with pytest.raises(realm.TransactionError):
        other.apply(changes)
    with other.write():
        for bad in (b"", b"x" * 100, changes[:-1], changes + b"\0", changes[:50] + b"?" + changes[51:]):
            with pytest.raises(realm.ArgumentError):
                other.apply(bad)
        for bad in (-1, 2**64):
            with pytest.raises(OverflowError):
                other.apply(changes, origin=bad)
        for bad in ("text", None, 5):
            with pytest.raises(TypeError):
                other.apply(bad)
        assert other.objects(Thing).count() == 0
    with pytest.raises(TypeError):
        r.changes_to("other")
    with pytest.raises(realm.VersionError):
        r.export_log(r.version + 1)
    with realm.open(tmp_path / "third.realm", classes=[Target]) as third:
        with pytest.raises(realm.SchemaMismatchError):
            r.changes_to(third)
        with third.write():
            with pytest.raises(realm.SchemaMismatchError):
                third.apply(changes)
    other.close()
    with pytest.raises(realm.ClosedRealmError):
        r.changes_to(other)


def test_names_of_consumers_are_compared_by_their_bytes(path):
    with realm.open(path, classes=CLASSES) as r:
        for name in ("\u00e9", "e\u0301"):
            with r.write():
                r.add_consumer(name)
        with r.write():
            r.create(Target, name="x")
        with r.write():
            r.acknowledge("e\u0301", r.version)
        assert len(r.consumers) == 2 and list(r.log("\u00e9")) and not list(r.log("e\u0301"))


def test_consumers_have_a_limit(path):
    with realm.open(path, classes=models.ALL) as r:
        with pytest.raises(realm.Error, match="at most 1000 consumers"), r.write():
            for number in range(65_536):
                r.add_consumer(f"consumer {number}")
        with r.write():
            for number in range(1000):
                r.add_consumer(f"consumer {number}")
        with pytest.raises(realm.Error, match="at most 1000 consumers"), r.write():
            r.add_consumer("one more")
        with r.write():
            for number in range(1000):
                r.remove_consumer(f"consumer {number}")
                r.add_consumer(f"other {number}")
        assert len(r.consumers) == 1000 and "other 999" in r.consumers


class Row(realm.Object):
    key: int = realm.PrimaryKey()
    text: str = ""


@pytest.mark.parametrize("seed", range(40))
def test_created_are_those_that_are_there(path, seed):
    """Objects that go, come again, and go within one transaction, in savepoints that are kept or not."""
    numbers = random.Random(seed)

    def change(r, count):
        for _ in range(count):
            key = numbers.randrange(12)
            row = r.find(Row, key)
            what = numbers.randrange(6)
            if what < 2 and row is not None:
                r.delete(row)
            elif what == 2 and row is None:
                r.create(Row, key=key, text="made")
            elif what == 3:
                new = [k for k in range(key, key + 4) if r.find(Row, k) is None]
                r.insert_many(Row, [{"key": k, "text": "many"} for k in new])
            elif what == 4 and row is not None:
                row.text = "set"
            elif numbers.random() < 0.2:
                r.delete_all(Row)

    with realm.open(path, classes=[Row]) as r:
        with r.write():
            r.add_consumer("audit")
        for _ in range(30):
            before = set(r.objects(Row).values("key"))
            old = r.version
            with r.write():
                change(r, numbers.randrange(4))
                point = r.savepoint()
                change(r, numbers.randrange(6))
                if numbers.random() < 0.3:
                    point.rollback()
                else:
                    point.release()
                change(r, numbers.randrange(6))
            keys = set(before)
            for operation in r.log(old):
                if operation.kind == "deleted":
                    keys -= set(operation.objects)
                elif operation.kind == "created":
                    keys |= set(operation.objects)
            assert keys == set(r.objects(Row).values("key"))
            if numbers.random() < 0.3:
                with r.write():
                    r.acknowledge("audit", r.version)
        assert r.check() == []
