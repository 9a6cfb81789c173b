"""A file with every type, hostile texts among them, for the tests of the tool's commands."""

from __future__ import annotations

import uuid
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import realm


class Dog(realm.Object):
    name: str = realm.PrimaryKey()


class Room(realm.EmbeddedObject):
    number: int = 0
    beds: list[str]


class Note(realm.Object):
    """Without a primary key, and with links to its own class."""

    text: str = realm.FullText()
    me: Note | None
    dog: Dog | None
    notes: list[Note]


class Person(realm.Object):
    id: int = realm.PrimaryKey()
    name: str | None = realm.Indexed()
    age: int | None = None
    real: float = 0.0
    single: realm.Float32 = 0.0
    member: bool = False
    data: bytes | None = b""
    since: datetime | None = None
    worth: Decimal = Decimal(0)
    key: uuid.UUID | None = None
    oid: realm.ObjectId | None = None
    tags: list[str | None]
    scores: set[int]
    weights: dict[str, float | None]
    anything: Any
    many: list[Any]
    dog: Dog | None
    pack: set[Dog]
    kennel: dict[str, Dog | None]
    room: Room | None
    rooms: list[Room]
    by: dict[str, Room]


CLASSES = [Dog, Room, Note, Person]

#: Moves the cursor of a terminal, turns the direction of writing, ends lines and quotes.
HOSTILE = 'Rex,\r\n\x1b[31m\u202e"漢字\x07'


def fill(path: Path) -> None:
    day = datetime(2020, 1, 1, 1, 2, 3, 456000, tzinfo=timezone.utc)
    with realm.open(path, CLASSES) as r, r.write():
        brace = r.create(Dog, name='{"$link"')
        quoted = r.create(Dog, name='"quoted"')
        hostile = r.create(Dog, name=HOSTILE)
        r.create(
            Person, id=1, name='=1+2, "A"\n', age=36, real=float("inf"), single=1.1, member=True,
            data=b"\x00\xff", since=day, worth=Decimal("1.50"), key=uuid.UUID(int=7),
            oid=realm.ObjectId("6b044f08c56fe13612607407"), tags=["a", None, "", 'x"y'], scores={3, 1},
            weights={"k": 1.5, "ü": None}, anything={"a": [1, None, Decimal("1.5"), "x"]},
            many=[1, "1", b"x", day, brace, [1, [2]]], dog=brace, pack={brace, quoted},
            kennel={"x": hostile, "n": None}, room={"number": 3, "beds": ["a"]},
            rooms=[{"number": 1}, {"number": 2}], by={"k": {"number": 9}})
        r.create(Person, id=2, name="", data=None, dog=quoted)
        r.create(Person, id=3, name=None, dog=hostile, anything="null")
        r.create(Person, id=-4, name="Ann", age=7, anything=5)
        own = r.create(Note, text="hello")
        own.me = own
        own.notes.append(own)
        r.create(Note, text="x", dog=brace, me=own)


def dump(path: Path, cls: str, **options: Any) -> list[str]:
    """The objects of a class as JSON text, in the order of their primary keys or keys."""
    with realm.open(path, **options) as r:
        assert r.check() == []
        return [obj.to_json(extended=True) for obj in r.objects(cls)]
