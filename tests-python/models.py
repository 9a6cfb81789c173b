"""Classes that the tests store. Kept in a module of its own so that spawned processes find them."""

from __future__ import annotations

from datetime import datetime, timezone

import realm

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Country(realm.Object):
    code: str = realm.PrimaryKey()
    name: str = ""


class Airport(realm.Object):
    icao: str = realm.PrimaryKey()
    name: str = realm.Indexed()
    city: str | None = None
    elevation: int | None = None
    latitude: float = 0.0
    country: Country | None = None


class Person(realm.Object):
    id: int = realm.PrimaryKey()
    name: str = ""
    age: int = 0
    boss: Person | None = None


class Note(realm.Object):
    """Without a primary key."""

    text: str
    stars: int = 0


class Everything(realm.Object):
    """Every type, required and nullable."""

    id: int = realm.PrimaryKey()
    integer: int = 0
    boolean: bool = False
    double: float = 0.0
    single: realm.Float32 = 0.0
    text: str = ""
    data: bytes = b""
    moment: datetime = EPOCH
    integer_or_none: int | None = None
    boolean_or_none: bool | None = None
    double_or_none: float | None = None
    single_or_none: realm.Float32 | None = None
    text_or_none: str | None = None
    data_or_none: bytes | None = None
    moment_or_none: datetime | None = None
    link: Person | None = None


class NullableKey(realm.Object):
    key: str | None = realm.PrimaryKey()
    value: int = 0


ALL = [Country, Airport, Person, Note, Everything, NullableKey]
