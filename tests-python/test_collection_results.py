"""Results over lists, sets and dictionaries: queries, orders and aggregates over their elements."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pytest

import realm


class Dog(realm.Object):
    name: str = realm.PrimaryKey()
    age: int = 0


class Toy(realm.EmbeddedObject):
    price: int = 0


class Person(realm.Object):
    id: int = realm.PrimaryKey()
    dogs: list[Dog]
    pack: set[Dog]
    named: dict[str, Dog | None]
    toys: list[Toy]
    tags: list[str]
    numbers: set[int]
    weights: dict[str, float | None]
    prices: list[Decimal]
    moments: list[datetime]
    anything: list[Any]


@pytest.fixture
def r(path):
    with realm.open(path, classes=[Person]) as opened:
        yield opened


@pytest.fixture
def person(r):
    with r.write():
        rex, bo, al = (r.create(Dog, name=n, age=a) for n, a in (("Rex", 5), ("Bo", 2), ("Al", 9)))
        return r.create(
            Person, id=1, dogs=[rex, bo, al, rex], pack=[rex, bo], tags=["b", "a", "b"],
            named={"a": rex, "b": None, "c": al}, numbers={3, 1, 2}, toys=[{"price": 3}, {}],
            weights={"x": 1.5, "y": None, "z": 4.0}, prices=[Decimal("1.5"), Decimal("2.25")],
            moments=[datetime(2020, 1, 1, tzinfo=timezone.utc)], anything=[2, "x", [1], {"k": [2]}],
        )


def names(results):
    return [dog.name for dog in results]


def test_queries_over_objects(person):
    assert names(person.dogs.filter("age > $0", 3)) == ["Rex", "Al", "Rex"]
    assert names(person.dogs.where(Dog.age > 3, Dog.name != "Al")) == ["Rex", "Rex"]
    assert names(person.dogs.sorted("-age")) == ["Al", "Rex", "Rex", "Bo"]
    assert names(person.dogs.sorted(Dog.name, reverse=True).limit(1)) == ["Rex"]
    assert names(person.dogs.distinct("name")) == ["Rex", "Bo", "Al"]
    assert names(person.dogs.limit(2)) == ["Rex", "Bo"]
    assert names(person.dogs.filter("age > 3 SORT(age ASC) LIMIT(2)")) == ["Rex", "Rex"]
    assert names(person.pack.filter("age < 3")) == ["Bo"]
    assert names(person.named.where(Dog.age > 5)) == ["Al"]
    assert person.toys.filter("price == 3")[0] == person.toys[0]


def test_drawing_from_objects(person):
    dogs = person.dogs
    assert (dogs.min("age"), dogs.max(Dog.age), dogs.sum("age")) == (2, 9, 21)
    assert dogs.average("age") == dogs.avg("age") == 5.25
    assert (dogs.first().name, dogs.last().name) == ("Rex", "Rex")
    assert dogs.results().values("name", "age")[1] == ("Bo", 2)
    assert dogs.results().index(dogs[2]) == 2 and dogs[1] in dogs.results()
    assert person.toys.sum("price") == 3 and person.pack.max("age") == 5
    assert person.named.max("age") == 9
    with pytest.raises(TypeError, match="needs the name of a property"):
        dogs.min()


def test_values_of_dictionaries_may_be_none(person):
    values = person.named.results()
    assert [dog and dog.name for dog in values] == ["Rex", None, "Al"]
    assert values[1] is None and values[::2] == [values[0], values[2]] and len(values) == 3
    assert values.index(None) == 1 and None in values and values.first().name == "Rex"


def test_results_over_values(person):
    tags = person.tags.results()
    assert (list(tags), tags[:], tags[-1], tags[::-2]) == (["b", "a", "b"],) * 2 + ("b", ["b", "b"])
    assert (len(tags), bool(tags), tags.first(), tags.last()) == (3, True, "b", "b")
    assert (tags.index("a"), tags.index("b", 1), tags.count("b"), "a" in tags) == (1, 2, 2, True)
    assert list(reversed(tags)) == ["b", "a", "b"] and list(person.tags.limit(2)) == ["b", "a"]
    assert list(person.tags.offset(1)) == ["a", "b"] and len(person.tags.offset(2).limit(5)) == 1
    assert list(person.weights.results()) == [1.5, None, 4.0]
    assert repr(tags) == "<results of Person.tags, 3 values>" and tags.element_class is None
    with pytest.raises(ValueError):
        tags.index("zz")
    with pytest.raises(IndexError):
        tags[3]
    with pytest.raises(IndexError):
        tags[-4]


def test_aggregates_of_values(person):
    numbers, weights = person.numbers, person.weights
    assert (numbers.min(), numbers.max(), numbers.sum(), numbers.avg()) == (1, 3, 6, 2.0)
    assert (weights.min(), weights.max(), weights.sum(), weights.average()) == (1.5, 4.0, 5.5, 2.75)
    assert person.prices.sum() == Decimal("3.75") and person.moments.max().year == 2020
    assert person.anything.limit(1).sum() == 2
    assert person.numbers.limit(0).max() is None and person.numbers.limit(0).sum() == 0
    with pytest.raises(realm.IllegalOperationError, match=r"Person\.tags"):
        person.tags.sum()
    with pytest.raises(realm.IllegalOperationError, match="no objects"):
        numbers.min("age")


def test_collections_among_values(person):
    results = person.anything.results()
    assert list(results) == [2, "x", [1], {"k": [2]}]
    assert results[2][0] == 1 and results[3]["k"] == [2] and results.index([1]) == 2
    with person.anything.realm.write():
        results[3]["k"].append(3)
    assert person.anything[3] == {"k": [2, 3]}


def test_they_are_live(r, person):
    tags, young = person.tags.results(), person.dogs.where(Dog.age < 3)
    with r.write():
        person.tags.append("z")
        person.dogs[0].age = 1
        assert len(tags) == 4 and names(young) == ["Rex", "Bo", "Rex"]
        kept = person.dogs.snapshot()
        person.dogs.clear()
        assert len(kept) == 4 and len(young) == 0
    with r.write():
        r.delete(person)
    with pytest.raises(realm.InvalidObjectError):
        len(tags)
    assert not tags.is_valid


def test_changing_what_is_walked_over(r, person):
    with r.write():
        for dog in person.dogs.where(Dog.age > 3):
            if dog in person.dogs:
                person.dogs.remove(dog)
    assert names(person.dogs) == ["Bo"]


def test_deleting(r, person):
    with r.write():
        person.numbers.results().delete_all()
        r.delete(person.pack.filter("age < 3"))
        assert len(person.numbers) == 0 and names(person.dogs) == ["Rex", "Al", "Rex"]


def test_objects_that_are_there_several_times(r, person):
    """In results of lists and of what links to an object."""
    with r.write():
        first, second, third = r.objects(Dog)[:3]
        person.dogs = [first, second, first, third, first]
    for results in (person.dogs.results(), person.dogs.filter("age >= 0"), person.dogs.results().sorted("name")):
        members = list(results)
        assert [results.count(dog) for dog in (first, second)] == [3, 1] and results.filter("age < 0").count(first) == 0
        for start in range(-6, 6):
            for stop in (None, 2, 4, -1):
                within = members[start:stop]
                if first in within:
                    assert results.index(first, start, stop) == members.index(first, start, len(members) if stop is None else stop)
                else:
                    with pytest.raises(ValueError, match="not in these results"):
                        results.index(first, start, stop)
    links = r.backlinks(first, Person, "dogs")
    assert len(links) == links.count(person) == 3 and links.index(person, 2) == 2
    assert r.objects(Dog).count(first) == 1
    with r.write():
        assert person.dogs.results().update(age=3) == 3
        assert person.dogs.filter("name == $0", first.name).delete() == 1 and len(person.dogs) == 2


def test_null_and_deleted_members_are_neither_changed_nor_counted(r, person):
    with r.write():
        first, second = r.objects(Dog)[:2]
        person.named = {"a": None, "b": first, "c": first, "d": second}
        kept = r.objects(Dog).snapshot()
        count = len(kept)
        assert person.named.results().update(age=9) == 2 and (first.age, second.age) == (9, 9)
        assert person.named.filter("age == 9").delete() == 2
        assert kept.update(age=1) == count - 2 and kept.delete() == count - 2 and len(r.objects(Dog)) == 0
        assert kept.delete() == 0 and len(kept) == count
        person.named = {"a": None, "b": r.create(Dog, name="new")}
        assert person.named.results().delete() == 2 and len(person.named) == 0 and len(r.objects(Dog)) == 1


def test_walking_backwards_over_what_changes(r, person):
    with r.write():
        dogs = r.objects(Dog).sorted("age", "name")
        expected = list(reversed(dogs[:]))
        seen = []
        for dog in reversed(dogs):
            seen.append(dog)
            dog.age = -dog.age - 100
        assert seen == expected
        person.named = {"a": None, "b": expected[0]}
        assert list(reversed(person.named.results())) == list(person.named.results())[::-1]
        gone = []
        for dog in reversed(r.objects(Dog)):
            gone.append(dog.name)
            r.objects(Dog).delete()
        assert len(gone) == 1


def test_the_greatest_of_any_may_be_a_list(r, person):
    with r.write():
        person.anything = [5, [1]]
    with pytest.raises(realm.Error, match="nor what an aggregate gives"):
        person.anything.results().max()


def test_results_are_arguments(r, person):
    assert names(r.objects(Dog).filter("name IN $0", person.tags.results())) == []
    assert names(r.objects(Dog).where(Dog.age.in_(person.numbers.results()))) == ["Bo"]


def test_they_say_what_they_are_of(r, person):
    results = realm.results(person.dogs)
    assert repr(results) == "<results of Person.dogs, 4 objects>"
    for bad in ([1], 5, None):
        with pytest.raises(TypeError, match="lists, sets and dictionaries"):
            realm.results(bad)
    r.close()
    assert repr(results) == "<results of Person.dogs, closed>"
    with pytest.raises(realm.ClosedRealmError):
        len(results)
