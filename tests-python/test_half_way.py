"""Creating and adding objects that fail half-way: new objects are gone, others are what they were."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pytest

import realm


class Toy(realm.EmbeddedObject):
    price: int
    maker: Dog | None


class Dog(realm.Object):
    name: str = realm.PrimaryKey()
    age: int = 0
    toys: list[Toy]
    friend: Dog | None


class Note(realm.Object):
    text: str = ""


class Person(realm.Object):
    id: int = realm.PrimaryKey()
    name: str = ""
    weight: float = 0.0
    born: datetime | None
    money: Decimal = Decimal("0.10")
    data: bytes = b""
    anything: Any
    dog: Dog | None
    note: Note | None
    dogs: list[Dog]
    pack: set[Dog]
    named: dict[str, Dog | None]
    notes: list[Note]
    toy: Toy | None
    tags: list[str]


@pytest.fixture
def r(path):
    with realm.open(path, classes=[Person, Note]) as opened:
        yield opened


def everything(r):
    return [
        [realm.to_json(obj, extended=True) for obj in r.objects(cls)] for cls in (Person, Dog, Note)
    ]


@pytest.fixture
def before(r):
    with r.write():
        rex, bo = r.create(Dog, name="Rex", age=5), r.create(Dog, name="Bo", age=2)
        rex.friend = bo
        rex.toys.append(Toy(price=3, maker=bo))
        note = r.create(Note, text="plain")
        r.create(
            Person, id=1, name="Ada", weight=-0.0, born=datetime(2020, 1, 2, tzinfo=timezone.utc),
            money=Decimal("1.50"), data=b"\x00\xff", anything=[1, {"k": [b"x", 2.0, rex]}],
            dog=rex, note=note, dogs=[rex, bo, rex], pack=[rex], named={"a": bo, "b": None},
            notes=[note, note], toy={"price": 9, "maker": rex}, tags=["x", "\u00e9", "x"],
        )
    return everything(r)


CHANGES: dict[str, Any] = {
    "name": "new", "weight": 0.0, "born": None, "money": Decimal("1.5"), "data": b"", "tags": [],
    "anything": {"other": 1}, "note": None, "notes": [{"text": "another"}],
}

#: What can't be stored, once other values were.
BAD = [
    {"dog": {"name": "Rex", "age": "old"}},
    {"dog": {"name": "Rex", "age": 6, "friend": {"name": "Bo", "age": 2**70}}},
    {"dog": {"name": "New", "friend": {"age": 1, "toys": [{"price": None}]}}},
    {"dogs": [{"name": "Rex", "age": 77}, {"name": "Bo", "age": []}]},
    {"dogs": [{"name": "Rex", "toys": []}, {"name": "Other"}, {"name": None}]},
    {"named": {"b": {"name": "Bo", "age": 3}, "c": {"name": "Rex", "age": None}}},
    {"pack": [{"name": "Bo", "age": 8}], "toy": {"price": 1, "maker": {"name": "Bo", "age": "x"}}},
    {"toy": {"maker": None}},
    {"dog": Dog(name="Rex", age=99, toys=[Toy(price=1), Toy(price=2)], friend=Dog(name="Bo", age=7)),
     "toy": {"price": 1, "maker": {"name": "Bo", "age": "x"}}},
]


@pytest.mark.parametrize("update", ["all", "modified"])
@pytest.mark.parametrize("bad", BAD)
def test_create(r, before, bad, update):
    with r.write():
        with pytest.raises((realm.Error, TypeError)):
            r.create(Person, id=1, update=update, **{**CHANGES, **bad})
        assert everything(r) == before
    assert everything(r) == before and r.check() == []


@pytest.mark.parametrize("update", ["all", "modified"])
def test_add(r, before, update):
    person = Person(
        id=1, name="new", dog=Dog(name="Rex", age=50), dogs=[Dog(name="Bo", age=50), Dog(name="X")],
        toy=Toy(price=4), tags=["new"],
    )
    with r.write():
        taken = r.create(Person, id=2, toy={"price": 1})
    before = everything(r)
    person.toy = Toy(price=1, maker=Dog(name="Rex", age=1))
    person.dogs[1].toys.append(taken.toy)
    with r.write():
        with pytest.raises(realm.IllegalOperationError):
            r.add(person, update=update)
        assert everything(r) == before
        # Nothing of it became a stored object.
        assert not realm.is_managed(person) and not realm.is_managed(person.dog)
        person.dogs[1].toys.clear()
        r.add(person, update=update)
        assert r.find(Dog, "Bo").age == 50 and r.find(Person, 1).name == "new"
    assert r.check() == []


def test_one_object_mentioned_twice(r, before):
    with r.write():
        with pytest.raises((realm.Error, TypeError)):
            r.create(
                Person, id=1, update="all",
                dogs=[{"name": "Rex", "age": 1}, {"name": "Rex", "age": 2}, {"name": 3}],
            )
        assert everything(r) == before


def test_handles_stay(r, before):
    person, rex = r.find(Person, 1), r.find(Dog, "Rex")
    with r.write():
        with pytest.raises((realm.Error, TypeError)):
            r.create(Person, id=1, name="new", dog={"name": "Rex", "age": "x"}, update="modified")
        assert person.name == "Ada" and person.dog == rex and rex.age == 5
        r.create(Person, id=1, name="new", dog={"name": "Rex", "age": 6}, update="modified")
        assert person.name == "new" and rex.age == 6


def test_links_to_what_is_gone(r, before):
    with r.write():
        gone = r.create(Dog, name="Gone")
        r.delete(gone)
        with pytest.raises(realm.Error):
            r.create(Person, id=1, name="new", dog=gone, update="all")
        assert everything(r) == before


def test_embedded_objects_are_what_their_dicts_say(r, before):
    """Updated where they are, with the defaults for what a dict leaves out, as new ones would be."""
    toy = r.find(Person, 1).toy
    with r.write():
        r.create(Person, id=1, toy={"price": 4}, update="modified")
        assert toy.price == 4 and toy.maker is None
        r.create(Person, id=1, toy={"price": 5}, update="all")
        assert not realm.is_valid(toy) and r.find(Person, 1).toy.price == 5
    assert r.check() == []


def test_objects_that_refer_to_each_other(r):
    """Cycles, also through the object that is added, and one object in several places."""
    rex, bo = Dog(name="Rex"), Dog(name="Bo")
    rex.friend, bo.friend = bo, rex
    person = Person(id=1, dog=rex, dogs=[rex, bo, rex], pack=[bo], named={"x": rex})
    person.toy = Toy(price=1, maker=bo)
    rex.toys.append(Toy(price=2, maker=rex))
    with r.write():
        r.add(person)
        assert rex.friend == bo and bo.friend == rex and person.dog == rex
        assert person.dogs == [rex, bo, rex] and person.named == {"x": rex}
        assert person.toy.maker == bo and rex.toys[0].maker == rex
        assert realm.is_managed(bo) and len(r.objects(Dog)) == 2
    assert r.check() == []
