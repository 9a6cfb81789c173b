"""Changes of several elements at once: all of them are made, or none, and the error says where."""

from __future__ import annotations

from typing import Any

import pytest

import realm


class Toy(realm.EmbeddedObject):
    price: int = 0


class Dog(realm.Object):
    name: str = realm.PrimaryKey()
    age: int = 0


class Leash(realm.Object):
    id: int = realm.PrimaryKey()
    length: int = 0
    dog: Dog | None
    weight: int = 0


class Person(realm.Object):
    id: int = realm.PrimaryKey()
    name: str = ""
    numbers: list[int]
    tags: set[str]
    weights: dict[str, float]
    anything: Any
    tree: list[Any]
    crown: dict[str, Any]
    mixed: set[Any]
    dog: Dog | None
    dogs: list[Dog]
    pack: set[Dog]
    named: dict[str, Dog | None]
    toys: list[Toy]
    chest: dict[str, Toy | None]
    chums: list[Person]


@pytest.fixture
def r(path):
    with realm.open(path, classes=[Person, Leash]) as opened:
        yield opened
        assert opened.check() == []


@pytest.fixture
def person(r):
    with r.write():
        rex = r.create(Dog, name="Rex", age=5)
        result = r.create(
            Person, id=1, numbers=[1, 2, 3], tags=["a"], weights={"k": 1.0}, anything=[1, {"k": [2]}],
            tree=[1, [2], {"k": 3}], crown={"k": [1]}, mixed=[1, "a"], dog=rex, dogs=[rex, rex],
            pack=[rex], named={"k": rex}, toys=[{"price": 1}, {"price": 2}], chest={"k": {"price": 3}},
        )
    r.begin_write()
    yield result
    r.commit()


def everything(r):
    return [[obj.to_json(extended=True) for obj in r.objects(cls)] for cls in (Person, Dog)]


class Failure(Exception):
    pass


def failing(*values):
    yield from values
    raise Failure("stop")


def assign(name, value):
    return lambda p: setattr(p, name, value)


#: What to do, the exception, and where it says that it is. The elements before and behind are good.
WRONG = [
    (lambda p: p.numbers.extend([7, 8, "x", 9]), TypeError, "[2]"),
    (lambda p: p.numbers.extend([7, 2**70]), OverflowError, "[1]"),
    (lambda p: p.numbers.extend([7, None]), TypeError, "[1]"),
    (lambda p: p.numbers.__iadd__([7, 1.5]), TypeError, "[1]"),
    (lambda p: p.numbers.__setitem__(slice(0, 2), [7, "x", 8]), TypeError, "[1]"),
    (lambda p: p.numbers.__setitem__(slice(None, None, 2), [7, "x"]), TypeError, "[1]"),
    (lambda p: p.numbers.__setitem__(slice(1, None), [7, 8, 9, "x"]), TypeError, "[3]"),
    (assign("numbers", [7, "x", 8]), TypeError, "[1]"),
    (assign("tags", ["b", 5]), TypeError, "[1]"),
    (assign("weights", {"a": 1.0, "b": "x"}), TypeError, "['b']"),
    (assign("tree", [1, [2, {"a": object()}], 3]), TypeError, "[1][1]['a']"),
    (assign("anything", [1, {"a": [2, object()]}]), TypeError, "[1]['a'][1]"),
    (lambda p: p.tags.update(["b", 5, "c"]), TypeError, "[1]"),
    (lambda p: p.tags.update(["b"], ["c", None]), TypeError, "[2]"),
    (lambda p: p.tags.__ior__({"b", 5}), TypeError, "["),
    (lambda p: p.tags.symmetric_difference_update(["a", "b", 5]), TypeError, "["),
    (lambda p: p.mixed.update([1, True, [2]]), TypeError, "[2]"),
    (lambda p: p.weights.update({"a": 1.0, "b": "x", "c": 2.0}), TypeError, "['b']"),
    (lambda p: p.weights.update([("a", 1.0), ("b", None)]), TypeError, "['b']"),
    (lambda p: p.weights.update({"k": 5.0}, b="x"), TypeError, "['b']"),
    (lambda p: p.weights.update({"a": 1.0, "$b": 2.0}), ValueError, "'$b'"),
    (lambda p: p.weights.update({"a": 1.0, 5: 2.0}), TypeError, "[5]"),
    (lambda p: p.weights.__ior__({"a": 1.0, "b": "x"}), TypeError, "['b']"),
    (lambda p: p.tree.extend([7, [8, {"a": [object()]}], 9]), TypeError, "[1][1]['a'][0]"),
    (lambda p: p.tree.extend([[7], {5: 8}]), TypeError, "keys of type str, got int: 5"),
    (lambda p: p.tree.__setitem__(slice(0, 3), [[7], [object()]]), TypeError, "[1][0]"),
    (lambda p: p.tree[1].extend([[7], object()]), TypeError, "[1]"),
    (lambda p: p.crown.update({"a": [7], "k": [8, object()]}), TypeError, "['k'][1]"),
    (lambda p: p.anything[1].update({"a": [7], "k": object()}), TypeError, "['k']"),
    # Objects are made of dicts one after another.
    (lambda p: p.dogs.extend([{"name": "A"}, {"name": "B", "age": "x"}]), TypeError, "[1]"),
    (lambda p: p.dogs.extend([{"name": "A"}, {"name": "Rex"}]), ValueError, "[1]"),
    (lambda p: p.dogs.extend([{"name": "A"}, {"age": 5}]), TypeError, "[1]"),
    (lambda p: p.dogs.extend([{"name": "A"}, 5]), TypeError, "[1]"),
    (lambda p: p.dogs.__setitem__(slice(0, 1), [{"name": "A"}, {"name": "A"}]), ValueError, "[1]"),
    (assign("dogs", [{"name": "A"}, {"name": "B", "age": "x"}]), TypeError, "(at dogs[1])"),
    (assign("named", {"a": {"name": "A"}, "b": {"name": "B", "age": "x"}}), TypeError,
     "(at named['b'])"),
    (lambda p: p.pack.update([{"name": "A"}, {"name": "B", "age": "x"}]), TypeError, "[1]"),
    (lambda p: p.named.update({"a": {"name": "A"}, "b": {"name": "A"}}), ValueError, "['b']"),
    (lambda p: p.named.update(a={"name": "A"}, k=None, b=5), TypeError, "['b']"),
    (lambda p: p.toys.extend([{"price": 5}, {"price": "x"}]), TypeError, "(at [1])"),
    (lambda p: p.chums.extend([{"id": 5}, {"id": 6, "numbers": [1, "x"]}]), TypeError,
     "(at [1].numbers[1])"),
    (lambda p: p.chums.extend([{"id": 5, "named": {"b": {"name": "B", "age": "x"}}}, {"id": 6}]),
     TypeError, "(at [0].named['b'])"),
    (lambda p: p.chums.extend([{"id": 5, "tree": [0, {"k": [object()]}]}, {"id": 6}]), TypeError,
     "(at [0].tree[1]['k'][0])"),
    (lambda p: p.toys.extend([Toy(price=5), p.toys[0]]), RuntimeError, "[1]"),
    (lambda p: p.toys.__setitem__(slice(0, 2), [{"price": 5}, {"prize": 6}]), AttributeError, "[1]"),
    (lambda p: p.chest.update({"k": {"price": 5}, "l": {"price": "x"}}), TypeError, "['l']"),
    (lambda p: p.chest.update({"j": {"price": 5}, "k": p.toys[0]}), RuntimeError, "['k']"),
]


@pytest.mark.parametrize("change, error, place", WRONG)
def test_a_wrong_element_changes_nothing(r, person, change, error, place):
    before = everything(r)
    toys, inner = list(person.toys), person.tree[1]
    with pytest.raises(error) as caught:
        change(person)
    assert place in str(caught.value)
    assert everything(r) == before
    assert list(person.toys) == toys and inner == [2]


ITERATING = [
    (lambda p: p.numbers.extend(failing(7, 8))),
    (lambda p: p.numbers.__iadd__(failing(7, 8))),
    (lambda p: p.numbers.__setitem__(slice(0, 2), failing(7))),
    (lambda p: setattr(p, "numbers", failing(7))),
    (lambda p: setattr(p, "tags", failing("b"))),
    (lambda p: p.tags.update(failing("b"))),
    (lambda p: p.tags.update(["b"], failing("c"))),
    (lambda p: p.tags.symmetric_difference_update(failing("a", "b"))),
    (lambda p: p.weights.update(failing(("a", 1.0)))),
    (lambda p: p.dogs.extend(failing({"name": "A"}))),
    (lambda p: p.toys.extend(failing({"price": 9}))),
    (lambda p: p.tree.extend(failing([1], {"k": 2}))),
]


@pytest.mark.parametrize("change", ITERATING)
def test_an_iterator_that_raises_changes_nothing(r, person, change):
    before = everything(r)
    with pytest.raises(Failure):
        change(person)
    assert everything(r) == before


def test_what_an_iterator_itself_does_stays(r, person):
    def clearing(values, error=None):
        person.numbers.clear()
        yield from values
        if error:
            raise error

    person.numbers.extend(clearing([7, 8]))
    assert person.numbers == [7, 8]
    with pytest.raises(TypeError):
        person.numbers.extend(clearing([9, "x"]))
    assert person.numbers == []
    person.numbers = [1, 2]
    with pytest.raises(Failure):
        person.numbers[0:1] = clearing([9], Failure())
    assert person.numbers == []


def test_objects_that_were_not_added_are_what_they_were(r, person):
    good, twice = Dog(name="A", age=7), Dog(name="Rex")
    for change in (
        lambda: person.dogs.extend([good, twice]),
        lambda: person.dogs.__setitem__(slice(0, 2), [good, twice]),
        lambda: person.pack.update([good, twice]),
        lambda: person.named.update(a=good, b=twice),
        lambda: r.add_all([good, twice]),
    ):
        before = everything(r)
        with pytest.raises(realm.ObjectExistsError):
            change()
        assert everything(r) == before
        assert not realm.is_managed(good) and (good.name, good.age) == ("A", 7)
        assert not realm.is_managed(twice)
    twice.name = "B"
    person.dogs.extend([good, twice, good])
    assert realm.is_managed(good) and person.dogs[2:] == [good, twice, good]
    assert r.find(Dog, "A") == good and good.age == 7


def test_add_all(r, person):
    before = everything(r)
    dogs = [Dog(name="A"), Dog(name="B")]
    for bad in (Dog(name="A"), Dog(name="Rex"), "no object"):
        with pytest.raises((realm.Error, TypeError)):
            r.add_all([*dogs, bad])
        assert everything(r) == before and not any(map(realm.is_managed, dogs))
    with pytest.raises(Failure):
        r.add_all(failing(*dogs))
    assert everything(r) == before and not any(map(realm.is_managed, dogs))
    assert r.add_all(dogs) == dogs and all(map(realm.is_managed, dogs))
    assert r.add_all([Dog(name="A", age=3), *dogs], update="all")[0] == dogs[0]
    assert dogs[0].age == 3


def test_one_within_another(r, person):
    """A default that is made while others are stored changes a collection in turn."""
    inner, outer = Dog(name="inner"), Dog(name="outer")

    def both():
        person.dogs.extend([outer, {"name": "made"}])
        with pytest.raises(realm.ObjectExistsError):
            person.dogs.extend([inner, Dog(name="Rex")])
        assert not realm.is_managed(inner) and realm.is_managed(outer)
        raise Failure

    before = everything(r)
    with pytest.raises(Failure):
        r._atomically(both)
    assert everything(r) == before
    assert not realm.is_managed(inner) and not realm.is_managed(outer) and outer.name == "outer"


def test_the_function_may_end_the_transaction(r, person):
    dog = Dog(name="A")

    def commits():
        r.add(dog)
        r.commit()
        raise Failure

    with pytest.raises(Failure):
        r._atomically(commits)
    assert realm.is_managed(dog) and r.find(Dog, "A") == dog
    r.begin_write()

    def begins_again():
        r.add(Dog(name="B"))
        r.commit()
        r.begin_write()
        raise Failure

    with pytest.raises(realm.IllegalOperationError) as caught:
        r._atomically(begins_again)
    assert isinstance(caught.value.__context__, Failure)
    assert r.find(Dog, "B") is not None


def test_updates_of_what_is_there(r, person):
    nested, toy = person.crown["k"], person.chest["k"]
    person.crown.update(person.crown)
    person.chest.update(person.chest)
    assert nested == [1] and toy.price == 3 and person.chest["k"] == toy
    person.crown.update(a=[1, 2], b=person.crown["k"])
    person.crown.update(a=person.crown["b"], b=person.crown["a"])
    assert person.crown == {"a": [1], "b": [1, 2], "k": [1]}
    person.weights.update()
    person.weights.update([("a", 1), ["b", 2.5]], k=3.0)
    assert person.weights == {"a": 1.0, "b": 2.5, "k": 3.0}
    person.tags.update()
    person.tags.update("xy", {"z": 1}, (t for t in ["a", "b"]))
    assert person.tags == {"a", "b", "x", "y", "z"}
    person.mixed.update([True, 1.5, b"x", True])
    assert len(person.mixed) == 5
    with pytest.raises(TypeError):
        person.tags.update(["c"], 5)
    with pytest.raises(TypeError):
        person.weights.update(5)
    assert person.weights == {"a": 1.0, "b": 2.5, "k": 3.0} and "c" not in person.tags


def test_outside_of_a_write_transaction(r, person):
    r.commit()
    for change in (
        lambda: person.numbers.extend([1, 2]), lambda: person.dogs.extend([{"name": "A"}, {"name": "B"}]),
        lambda: person.tags.update(["b", "c"]), lambda: person.weights.update(a=1.0, b=2.0),
        lambda: person.named.update(a={"name": "A"}, b={"name": "B"}),
        lambda: r.add_all([Dog(name="A"), Dog(name="B")]),
    ):
        with pytest.raises(realm.TransactionError, match="write transaction"):
            change()
    r.begin_write()


def test_a_plain_object_is_stored_whole_or_not_at_all(r, person):
    """The link leads to an object that goes while other values are converted."""
    r.create(Leash, id=1, length=5)
    before = everything(r), [leash.to_json() for leash in r.objects(Leash)]
    for values in ({"id": 2}, {"id": 1, "update": "all"}, {"id": 1, "update": "modified"}):
        gone = r.create(Dog, name="Gone")

        class Deleting:
            def __index__(self, gone=gone):
                r.delete(gone)
                return 7

        with pytest.raises(realm.Error, match="Leash.*no object"):
            r.create(Leash, length=2, dog=gone, weight=Deleting(), **values)
        assert (everything(r), [leash.to_json() for leash in r.objects(Leash)]) == before
    assert r.create(Leash, id=2, length=2, dog=r.find(Dog, "Rex")).dog.age == 5
