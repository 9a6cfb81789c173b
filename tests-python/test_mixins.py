"""Attributes that are no properties: spelling mistakes, and those that mixins have for themselves."""

from __future__ import annotations

import copy
import functools
import inspect
import pickle
from typing import Any, ClassVar

import pytest

import realm


class Plain(realm.Object):
    name: str = realm.PrimaryKey()
    age: int = 0


def decorated(function: Any) -> Any:
    @functools.wraps(function)
    def around(*arguments: Any) -> Any:
        return function(*arguments)

    return around


class Counted:
    """A mixin with attributes of all kinds."""

    kind: ClassVar[str] = "thing"
    seen = 0
    age: int = 0

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        self._started = True

    def touch(self) -> None:
        self.touched = True

        def later() -> None:
            self.touched_later = True

        later()

    @property
    def label(self) -> str:
        return getattr(self, "_label", "")

    @label.setter
    def label(self, text: str) -> None:
        self._label = text

    @functools.cached_property
    def loud(self) -> str:
        return self.name.upper()  # type: ignore[attr-defined]

    @decorated
    def wrapped(self) -> None:
        self.from_wrapped = 1

    @classmethod
    def made(cls, name: str) -> Any:
        found = cls(name=name)
        found.was_made = True
        return found


class Open:
    __slots__ = ("__dict__",)


class Thing(Counted, realm.Object):
    name: str = realm.PrimaryKey()


class Special(Thing):
    seen = 5
    tags: list[str] = []


class Closed(realm.Object):
    __slots__ = ("extra",)
    name: str = realm.PrimaryKey()


class Free(Open, realm.Object):
    name: str = realm.PrimaryKey()


class Chosen(realm.Object):
    __slots__ = ("__dict__",)
    name: str = realm.PrimaryKey()


@pytest.fixture(params=["unmanaged", "stored"])
def make(request, path):
    """Objects in no realm, and stored ones inside a write transaction."""
    with realm.open(path, [Plain, Thing, Special, Closed, Free, Chosen]) as r, r.write():
        yield (lambda cls, **values: cls(**values)) if request.param == "unmanaged" else r.create


@pytest.mark.parametrize("cls", [Plain, Thing, Special, Closed])
def test_a_misspelt_property_is_refused_and_the_right_one_named(make, cls):
    thing = make(cls, name="a")
    with pytest.raises(realm.NoSuchPropertyError, match=rf"{cls.__name__} has no property 'nmae'; did you mean 'name'"):
        thing.nmae = "b"
    with pytest.raises(realm.NoSuchPropertyError, match="it has .*name"):
        thing.xyzzy = 1
    with pytest.raises(AttributeError):
        thing.nmae
    with pytest.raises(AttributeError):
        del thing.nmae
    assert thing.name == "a"


@pytest.mark.parametrize("cls", [Thing, Special])
def test_a_mixin_keeps_what_its_methods_assign(make, cls):
    thing = make(cls, name="a", age=3)
    thing.touch()
    thing.wrapped()
    thing.label = "l"
    assert (thing.touched, thing.touched_later, thing.label, thing.from_wrapped) == (True, True, "l", 1)
    assert thing.loud == "A" and thing.loud is thing.loud
    assert cls.made("b").was_made
    thing.seen += 1
    thing.kind = "other"
    assert (thing.seen, type(thing).seen + 1, thing.kind, cls.kind) == (thing.seen, thing.seen, "other", "thing")
    del thing.touched
    assert not hasattr(thing, "touched") and thing.age == 3
    assert set(realm.properties(cls)) >= {"name", "age"} and "seen" not in realm.properties(cls)


def test_the_constructor_of_a_mixin_may_assign():
    assert Thing(name="a")._started and Special(name="b", tags=["x"])._started


def test_slots_and_all_attributes(make):
    closed = make(Closed, name="a")
    closed.extra = [1]
    assert closed.extra == [1]
    for cls in (Free, Chosen):
        thing = make(cls, name="a")
        thing.anything = 1
        assert thing.anything == 1


def test_copies_and_pickles_bring_them_along():
    thing = Special(name="a")
    thing.touch()
    thing.loud  # noqa: B018
    for other in (copy.copy(thing), copy.deepcopy(thing), pickle.loads(pickle.dumps(thing))):
        assert other.touched and other._started and other.name == "a"
        assert "loud" not in vars(other)
    free = Free(name="a")
    free.anything = [1]
    assert copy.deepcopy(free).anything == [1]


def test_a_mixin_of_a_class_that_is_made_later():
    class Base:
        def note(self) -> None:
            self._note = 1

    class Middle(Base):
        pass

    class Model(realm.Object):
        name: str = ""

    class Both(Middle, Model):
        pass

    both = Both()
    both.note()
    assert both._note == 1
    with pytest.raises(realm.NoSuchPropertyError):
        both._noet = 1
    with pytest.raises(realm.NoSuchPropertyError):
        Model()._note = 1


def test_checked_constructors_change_nothing_else(tmp_path):
    @realm.typed
    class Dated:
        year: int = 0

    @realm.typed
    class Model(Dated, realm.Object):
        name: str
        tags: list[str] = []

    assert sorted(inspect.signature(Model).parameters) == ["name", "tags", "year"]
    assert sorted(realm.properties(Model)) == ["name", "tags", "year"]
    model = Model(name="a")
    with pytest.raises(realm.NoSuchPropertyError):
        model.nmae = "b"
    assert copy.deepcopy(model).tags == []
    with realm.open(tmp_path / "a.realm", Model) as r, r.write():
        assert r.add(model).name == "a"
