"""Checked by test_typing.py: mypy must object to every line marked so, and to no other."""

# pyright: standard

from __future__ import annotations

import enum

import realm


class Colour(enum.Enum):
    RED = "red"


@realm.typed
class Dog(realm.Object):
    name: str = realm.PrimaryKey()
    age: int = 0
    colour: Colour = Colour.RED


class Tagged(realm.Object):
    tags: list[str]
    dogs: realm.Backlinks[Dog, "kennel"]  # mistake


@realm.typed
class Part(realm.EmbeddedObject):
    name: str
    tags: list[str] = []


@realm.typed
class TypedTagged(Tagged):
    size: int
    part: Part | None = None


def use_constructors() -> None:
    Tagged("a")  # mistake
    Part()  # mistake
    Part(name="a", tags="b")  # mistake
    TypedTagged()  # mistake
    TypedTagged(size=1, part=Dog(name="Rex"))  # mistake


def use(r: realm.Realm) -> None:
    Dog(age=1)  # mistake
    Dog(name=1)  # mistake
    Dog("Rex")  # mistake
    Dog(name="Rex", legs=4)  # mistake
    Dog(name="Rex", colour="red")  # mistake
    dog = Dog(name="Rex")
    dog.colour = "red"  # mistake
    dog.age = "three"  # mistake
    dog.legs = 4  # mistake
    r.objects(Dog)[0].weight  # mistake
    r.objects(int)  # mistake
    realm.open("x", classes=[int])  # mistake
    r.add(dog, update="maybe")  # mistake


def use_expressions(r: realm.Realm) -> None:
    dogs = r.objects(Dog)
    dogs.where(Dog.age < "three")  # mistake
    dogs.where(Dog.legs == 4)  # mistake
    dogs.where("age < 3")  # mistake
    dogs.where(Dog.age)  # mistake
    dogs.where(realm.expr(Dog.age) < "three")  # mistake
    dogs.where(realm.expr(Dog.age))  # mistake
    dogs.where(realm.expr(Dog.age).between(1, "x"))  # mistake
    dogs.where(realm.expr(Dog.name).startswith(3))  # mistake
    dogs.where(realm.expr(Dog.name).startswith("x", cases=False))  # mistake
    dogs.where(realm.expr(Dog.name).in_(3))  # mistake


def use_migrations(m: realm.Migration) -> None:
    realm.open("x", [Dog], version=2, migrate=3)  # mistake
    realm.open("x", [Dog], version=2, migrate={"2": print})  # mistake
    realm.open("x", [Dog], schema_mode="additive")  # mistake
    realm.open_async("x", [Dog]).objects(Dog)  # mistake
    m.each(int)  # mistake
    for _before, after in m.each(Dog):
        after.legs = 4  # mistake
    m.rename(Dog, "legs")  # mistake
