"""realm.parent_of: from an embedded object to the object that it is part of."""

from __future__ import annotations

import pytest

import realm


class Lamp(realm.EmbeddedObject):
    watts: int = 0


class Room(realm.EmbeddedObject):
    number: int = 0
    lamps: list[Lamp]
    spare: Lamp | None


class House(realm.Object):
    name: str = realm.PrimaryKey()
    hall: Room | None
    rooms: list[Room]
    named: dict[str, Room | None]


@pytest.fixture
def house(tmp_path):
    with realm.open(tmp_path / "house.realm", classes=[House]) as r:
        with r.write():
            made = r.create(
                House, name="a", hall={"number": 1, "spare": {"watts": 5}},
                rooms=[{"number": 2, "lamps": [{"watts": 7}]}], named={"attic": {"number": 3}},
            )
        yield made


def test_the_owner_is_found_from_every_place(house):
    for room in house.hall, house.rooms[0], house.named["attic"]:
        assert realm.parent_of(room) == house
    assert realm.parent_of(house.hall.spare) == house.hall
    assert realm.parent_of(realm.parent_of(house.rooms[0].lamps[0])) == house


def test_who_has_no_owner(house):
    assert realm.parent_of(Lamp(watts=1)) is None
    with pytest.raises(TypeError, match="House is not embedded"):
        realm.parent_of(house)


def test_the_owner_of_one_that_is_gone(house):
    room = house.hall
    with realm.realm_of(house).write():
        house.hall = None
    with pytest.raises(realm.Error, match="'Room' was deleted"):
        realm.parent_of(room)
