"""Savepoints: parts of a write transaction that can be taken back."""

from __future__ import annotations

from typing import Any

import pytest

import realm


class Toy(realm.EmbeddedObject):
    price: int = 0


class Dog(realm.Object):
    name: str = realm.PrimaryKey()
    age: int = 0
    friends: list[Dog]
    toys: list[Toy]
    notes: dict[str, str]
    anything: Any


@pytest.fixture
def r(path):
    with realm.open(path, classes=[Dog]) as opened:
        with opened.write():
            rex, bo = opened.create(Dog, name="Rex", age=5), opened.create(Dog, name="Bo")
            rex.friends = [bo, rex, bo]
            rex.toys = [{"price": 1}, {"price": 2}]
            rex.anything = [1, {"k": [2]}]
        yield opened
        assert opened.check() == []


def everything(r):
    return [dog.to_json(extended=True) for dog in r.objects(Dog).sorted("name")]


def test_an_exception_takes_back_the_block_and_goes_on(r):
    before = everything(r)
    with r.write():
        with pytest.raises(KeyError):
            with r.savepoint():
                r.find(Dog, "Rex").age = 6
                r.create(Dog, name="New", friends=[{"name": "Other"}])
                raise KeyError("stop")
        assert everything(r) == before
        with r.savepoint():
            r.find(Dog, "Rex").age = 7
    assert r.find(Dog, "Rex").age == 7 and len(r.objects(Dog)) == 2


def test_deleted_objects_come_back_as_the_same(r):
    rex, bo = r.find(Dog, "Rex"), r.find(Dog, "Bo")
    toy, inner, friends = rex.toys[1], rex.anything[1], rex.friends
    before = everything(r)
    with r.write(), r.savepoint() as savepoint:
        for _ in range(3):
            r.delete(bo)
            assert friends == [rex] and not realm.is_valid(bo)
            del rex.toys[1]
            rex.anything = None
            savepoint.rollback()
            assert friends == [bo, rex, bo] and bo.name == "Bo"
            assert toy.price == 2 and realm.parent_of(toy) == rex
            assert inner == {"k": [2]}
            assert everything(r) == before
        r.delete(rex)
        savepoint.rollback()
        assert rex.toys == [rex.toys[0], toy] and everything(r) == before


def test_savepoints_in_savepoints(r):
    with r.write():
        rex = r.find(Dog, "Rex")
        outer = r.savepoint()
        rex.age = 6
        inner = r.savepoint()
        rex.notes["a"] = "b"
        inner.rollback()
        assert rex.age == 6 and rex.notes == {}
        rex.notes["c"] = "d"
        inner.release()
        with pytest.raises(realm.IllegalOperationError):
            inner.rollback()
        outer.rollback()
        assert rex.age == 5 and rex.notes == {}
    with pytest.raises(realm.TransactionError):
        outer.rollback()
    with pytest.raises(realm.TransactionError):
        r.savepoint()


def test_a_block_may_end_its_transaction(r):
    r.begin_write()
    with r.savepoint():
        r.find(Dog, "Rex").age = 8
        r.commit()
    assert r.find(Dog, "Rex").age == 8
    r.begin_write()
    with pytest.raises(KeyError):
        with r.savepoint():
            r.rollback()
            raise KeyError


def test_what_was_added_is_in_no_realm_any_more(r):
    dog = Dog(name="Added")
    with r.write():
        with r.savepoint() as savepoint:
            r.add(dog)
            savepoint.rollback()
            assert not realm.is_valid(dog)
        assert r.find(Dog, "Added") is None
        r.create(Dog, name="Added", age=3)
