"""What the tests of migrations share: classes of several versions of a program, a file of the first."""

from __future__ import annotations

from typing import Any

import pytest

import realm


def class_(
    name: str, annotations: dict[str, Any], base=realm.Object, /, **values
) -> type[Any]:
    """A model class of one version of a program."""
    options = {k: values.pop(k) for k in ("stored_name",) if k in values}
    space = {"__annotations__": annotations, "__module__": __name__, **values}
    return type(realm.Object)(name, (base,), space, **options)


PERSON_1 = {"name": str, "age": int, "nick": str | None}


def person_1():
    return class_("Person", PERSON_1)


@pytest.fixture
def people(path: str) -> str:
    """A file of version 1 with three persons and two dogs of theirs."""
    person = person_1()
    dog = class_("Dog", {"name": str, "owner": person | None})
    with realm.open(path, [person, dog], version=1) as r, r.write():
        ann = r.create(person, name="Ann", age=30, nick=None)
        bob = r.create(person, name="Bob", age=41, nick="Bobby")
        r.create(person, name="Cid", age=52, nick="C")
        r.create(dog, name="Rex", owner=ann)
        r.create(dog, name="Fido", owner=bob)
    return path


def content(path: str) -> dict[str, Any]:
    """Everything in a file that is not open."""
    with realm.open(path) as r:
        return {
            "version": r.schema_version,
            **{name: [realm.to_dict(o, depth=1) for o in r.objects(name)] for name in r.classes},
        }


class Undone:
    """The file is afterwards what it was before, and sound."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        self.before = content(self.path)

    def __exit__(self, *_: object) -> None:
        assert content(self.path) == self.before
        assert realm.check_file(self.path) == []
