"""Files for the studio's tests."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import realm

HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


class Part(realm.EmbeddedObject):
    label: str
    size: int = 0


class Town(realm.Object):
    code: str = realm.PrimaryKey()
    name: str


class Person(realm.Object):
    id: int = realm.PrimaryKey()
    name: str = realm.Indexed()
    age: int | None = None
    big: int = 0
    score: float = 0.0
    member: bool = False
    data: bytes = b""
    since: datetime | None = None
    worth: Decimal = Decimal(0)
    town: Town | None = None
    tags: list[str] = []
    parts: list[Part] = []
    extra: dict[str, Any] = {}
    body: Any = None


class Reading(realm.Object):
    """For tables of many rows: with few columns they are made quickly."""

    id: int = realm.PrimaryKey()
    name: str


CLASSES = [Part, Town, Person]


def people(path: Path, count: int = 3, **options: Any) -> Path:
    """Persons 1 to `count`; the first has something in every property, the second texts that are HTML."""
    with realm.open(str(path), CLASSES, schema_version=1, **options) as r, r.write():
        porto = r.create(Town, code="PO", name="Porto")
        r.create(Town, code="HT", name=HOSTILE)
        r.create(Person, id=1, name="Ada", age=36, big=2**53 + 1, score=1.5, member=True, data=b"\x00\xff",
                 since=datetime(2024, 2, 29, 12, 30, 0, 250000, tzinfo=timezone.utc), worth=Decimal("1.50"), town=porto,
                 tags=["a", "b"], parts=[Part(label="wheel", size=3)],
                 extra={"deep": [1, {"deeper": "yes"}], "plain": 7}, body=[True, None])
        r.create(Person, id=2, name=HOSTILE, tags=[HOSTILE], extra={"k<b>": HOSTILE})
        for number in range(3, count + 1):
            r.create(Person, id=number, name=f"Person {number}", age=number % 80)
    return path
