"""Classes with collections of every shape, and a realm open for writing, for the tests of these."""

from __future__ import annotations

from typing import Any

import pytest

import realm


class Dog(realm.Object):
    name: str = realm.PrimaryKey()


class Room(realm.EmbeddedObject):
    number: int = 0
    beds: list[str]


class Address(realm.EmbeddedObject):
    street: str
    number: int | None = None
    rooms: list[Room]
    guest: Dog | None = None


class Person(realm.Object):
    id: int = realm.PrimaryKey()
    tags: list[str]
    numbers: list[int]
    scores: set[int]
    weights: dict[str, float | None]
    anything: list[Any]
    dogs: list[Dog]
    pack: set[Dog]
    kennel: dict[str, Dog | None]
    address: Address | None
    homes: list[Address]
    places: dict[str, Address]
    friends: list[Person]


CLASSES = [Person]


@pytest.fixture
def w(path):
    """A realm in a write transaction."""
    with realm.open(path, classes=CLASSES) as opened:
        opened.begin_write()
        yield opened
        if not opened.is_closed and opened.is_writing:
            opened.commit()
            assert opened.check() == []


@pytest.fixture
def person(w):
    return w.create(Person, id=1)
