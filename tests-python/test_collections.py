"""Lists, sets and dictionaries of stored objects, compared with Python's own."""

from __future__ import annotations

import collections.abc
import math
import random
import threading
import uuid
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pytest

import realm

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

#: Values of every type, with their extremes.
VALUES: dict[str, list[Any]] = {
    "int": [0, 1, -1, 2**63 - 1, -(2**63)],
    "bool": [True, False],
    "float": [0.0, 1.5, -1e308, 5e-324, math.inf, -math.inf],
    "str": ["", "a", "ö\0b", "\U0001f600" * 40, "x" * 100_000],
    "bytes": [b"", b"\0\xff", b"y" * 100_000],
    "datetime": [EPOCH, datetime.min.replace(tzinfo=timezone.utc),
                 datetime.max.replace(tzinfo=timezone.utc)],
    "Decimal": [Decimal(0), Decimal("1.50"), Decimal("-9.999999999999999999999999999999999E6144"),
                Decimal("1E-6176"), Decimal("Infinity")],
    "UUID": [uuid.UUID(int=0), uuid.UUID(int=2**128 - 1)],
    "ObjectId": [realm.ObjectId("0" * 24), realm.ObjectId("f" * 24)],
    "Any": [1, "a", b"b", 2.5, EPOCH, Decimal("7"), uuid.UUID(int=3), realm.ObjectId("1" * 24)],
}
TYPES: dict[str, Any] = {
    "int": int, "bool": bool, "float": float, "str": str, "bytes": bytes, "datetime": datetime,
    "Decimal": Decimal, "UUID": uuid.UUID, "ObjectId": realm.ObjectId, "Any": Any,
}


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


# ---- every type ------------------------------------------------------------------------------


@pytest.mark.parametrize("nullable", [False, True])
@pytest.mark.parametrize("name", list(VALUES))
def test_every_type_goes_round_in_every_collection(path, name, nullable):
    element = TYPES[name] | None if nullable and name != "Any" else TYPES[name]
    values = VALUES[name] + ([None] if nullable or name == "Any" else [])
    holder = realm.Object.__class__(
        "Holder", (realm.Object,),
        {"__annotations__": {"id": int, "a": list[element], "b": set[element],
                             "c": dict[str, element]},
         "id": realm.PrimaryKey(), "__module__": __name__},
    )
    as_dict = {f"k{i}": value for i, value in enumerate(values)}
    with realm.open(path, classes=[holder]) as r:
        with r.write():
            one = r.create(holder, id=1, a=values, b=set(values), c=as_dict)
            two = r.add(holder(id=2, a=values * 2, b=set(values), c=as_dict))
            three = r.create(holder, id=3)
            three.a.extend(values)
            for value in values:
                three.b.add(value)
            three.c.update(as_dict)
            for obj in (one, two, three):
                assert list(obj.b) == list(one.b)
            if name != "Any" and not nullable:
                with pytest.raises(TypeError):
                    one.a.append(None)
                with pytest.raises(realm.NotNullableError):
                    one.b.add(None)
                with pytest.raises(realm.NotNullableError):
                    one.c["x"] = None
            if name != "Any":
                for attempt in (one.a.append, one.b.add, lambda v: one.c.__setitem__("x", v)):
                    with pytest.raises(realm.PropertyTypeError):
                        attempt(object())
        assert r.check() == []
    for classes in ([holder], None):
        with realm.open(path, classes=classes) as r:
            one, two, three = (r.find("Holder", key) for key in (1, 2, 3))
            assert one.a == values and two.a == values * 2 and three.a == values
            assert one.b == two.b == three.b == set(values)
            assert one.c == two.c == three.c == as_dict
            for value in values:
                assert value in one.a and value in one.b and value in one.c.values()
                assert one.a.index(value) == values.index(value)
            assert [type(v) for v in one.a] == [type(v) for v in values]


def test_single_precision_elements_are_rounded(path):
    class Holder(realm.Object):
        a: list[realm.Float32]

    with realm.open(path, classes=[Holder]) as r, r.write():
        holder = r.create(Holder, a=[0.5, 0.1])
        assert holder.a[0] == 0.5 and holder.a[1] != 0.1 and 0.1 not in holder.a


# ---- lists -----------------------------------------------------------------------------------


def same_outcome(ours, theirs, action):
    """Does the same to both; the results, or the kinds of the errors, must be equal."""
    outcomes = []
    for subject in (ours, theirs):
        try:
            outcomes.append(action(subject))
        except (IndexError, ValueError, KeyError, TypeError) as error:
            outcomes.append(next(k for k in (IndexError, KeyError, ValueError, TypeError)
                                 if isinstance(error, k)))
            if subject is ours:
                assert isinstance(error, realm.Error), error
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("seed", range(8))
def test_lists_do_what_python_lists_do(person, seed):
    rng = random.Random(seed)
    ours, theirs = person.numbers, []

    def number():
        return rng.randrange(-5, 6)

    def bounds():
        return slice(rng.choice([None, number()]), rng.choice([None, number()]),
                     rng.choice([None, 1, 1, 2, -1, -2, 3]))

    for _ in range(400):
        n, i, cut = number(), number(), bounds()
        some = [number() for _ in range(rng.randrange(4))]
        action = rng.choice([
            lambda s: s.append(n), lambda s: s.insert(i, n), lambda s: s.extend(some),
            lambda s: s.pop(), lambda s: s.pop(i), lambda s: s.remove(n), lambda s: s.reverse(),
            lambda s: s[i], lambda s: s[cut], lambda s: s.__setitem__(i, n),
            lambda s: s.__setitem__(cut, some), lambda s: s.__delitem__(i),
            lambda s: s.__delitem__(cut) if rng_small else None, lambda s: n in s,
            lambda s: s.index(n), lambda s: s.index(n, abs(i)), lambda s: s.count(n),
            lambda s: list(reversed(s)), lambda s: len(s), lambda s: s.copy(),
            lambda s: s + some, lambda s: some + s, lambda s: s == some, lambda s: s < some,
            lambda s: s.__iadd__(some) and None, lambda s: 2 * s, lambda s: bool(s),
        ])
        rng_small = rng.random() < 0.3
        same_outcome(ours, theirs, action)
        assert ours == theirs and theirs == ours and list(ours) == theirs
        if len(theirs) > 40:
            ours.clear()
            theirs.clear()


def test_a_list_is_a_mutable_sequence(person):
    person.tags = ["a", "b"]
    assert isinstance(person.tags, collections.abc.MutableSequence)
    assert isinstance(person.tags, realm.List)
    assert person.tags != ("a", "b") and person.tags != ["a"]
    assert not person.tags != ["a", "b"]
    with pytest.raises(TypeError):
        hash(person.tags)


def test_a_list_may_grow_while_it_is_walked_over(person):
    person.numbers = [1, 2, 3]
    seen = []
    for number in person.numbers:
        seen.append(number)
        if number < 3:
            person.numbers.append(number + 10)
    assert seen == [1, 2, 3, 11, 12]


def test_numbers_of_other_types_are_found_as_in_python(person):
    person.numbers = [1, 2]
    person.anything = [1, "1", 2.0]
    assert 1.0 in person.numbers and True in person.numbers and "1" not in person.numbers
    assert 1.5 not in person.numbers and 2**70 not in person.numbers and None not in person.numbers
    assert person.anything.index(2) == 2 and person.anything.index("1") == 1
    assert Decimal(1) in person.anything


def test_slices_of_the_wrong_size_change_nothing(person):
    person.numbers = [1, 2, 3]
    with pytest.raises(realm.ArgumentError, match="extended slice"):
        person.numbers[::2] = [1]
    with pytest.raises(realm.PropertyTypeError):
        person.numbers[1:] = [4, "x"]
    with pytest.raises(realm.PropertyTypeError):
        person.numbers.extend([4, None])
    with pytest.raises(realm.PropertyTypeError):
        person.numbers["0"]
    assert person.numbers == [1, 2, 3]


# ---- sets ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_sets_do_what_python_sets_do(person, seed):
    rng = random.Random(seed)
    ours, theirs = person.scores, set()
    for _ in range(400):
        n = rng.randrange(12)
        some = {rng.randrange(12) for _ in range(rng.randrange(5))}
        action = rng.choice([
            lambda s: s.add(n), lambda s: s.add(n), lambda s: s.discard(n), lambda s: s.remove(n),
            lambda s: s.update(some, [n]), lambda s: n in s, lambda s: len(s), lambda s: s | some,
            lambda s: s & some, lambda s: s - some, lambda s: s ^ some, lambda s: some - s,
            lambda s: some | s, lambda s: s <= some, lambda s: s < some, lambda s: s >= some,
            lambda s: s > some, lambda s: s.isdisjoint(some), lambda s: s.issubset(some),
            lambda s: s.issuperset(some), lambda s: s.union(some), lambda s: s.difference(some),
            lambda s: s.intersection(some), lambda s: s.symmetric_difference(some),
            lambda s: s.intersection_update(some | {1, 2, 3, 4, 5, 6, 7}),
            lambda s: s.difference_update(some), lambda s: s.symmetric_difference_update(some),
            lambda s: s.__ior__(some) and None, lambda s: s.__isub__(some) and None,
            lambda s: s.__ixor__(some) and None, lambda s: s == some, lambda s: float(n) in s,
        ])
        same_outcome(ours, theirs, action)
        assert ours == theirs and theirs == ours and set(ours) == theirs
    while theirs:
        theirs.remove(ours.pop())
    with pytest.raises(KeyError):
        ours.pop()
    assert isinstance(ours, collections.abc.MutableSet) and isinstance(ours, realm.Set)


def test_a_set_that_changes_its_size_ends_the_walk(person):
    person.scores = {1, 2}
    with pytest.raises(RuntimeError):
        for score in person.scores:
            person.scores.add(score + 10)


# ---- dictionaries ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_dictionaries_do_what_python_dicts_do(person, seed):
    rng = random.Random(seed)
    ours, theirs = person.weights, {}
    for _ in range(400):
        key = rng.choice(["", "a", "b", "ä", "key of length", 5, None])
        value = rng.choice([None, 0.0, 1.5, 2.5])
        some = {rng.choice("abcd"): 0.5 for _ in range(rng.randrange(3))}
        text = key if isinstance(key, str) else "z"
        action = rng.choice([
            lambda d: d.__setitem__(text, value), lambda d: d[key], lambda d: d.get(key),
            lambda d: d.get(key, 7), lambda d: d.__delitem__(key), lambda d: d.pop(key),
            lambda d: d.pop(key, 7), lambda d: d.setdefault(text, value),
            lambda d: d.update(some), lambda d: d.update(q=1.0), lambda d: key in d,
            lambda d: len(d), lambda d: set(d), lambda d: set(d.keys()), lambda d: dict(d.items()),
            lambda d: sorted(map(repr, d.values())), lambda d: d.keys() & {"a", "b"},
            lambda d: value in d.values(), lambda d: (text, value) in d.items(),
            lambda d: d | some, lambda d: some | d, lambda d: d == some, lambda d: d.copy(),
            lambda d: d.__ior__(some) and None, lambda d: bool(d),
        ])
        same_outcome(ours, theirs, action)
        assert ours == theirs and theirs == ours and dict(ours) == theirs
    while theirs:
        popped, value = ours.popitem()
        assert theirs.pop(popped) == value
    with pytest.raises(KeyError):
        ours.popitem()
    assert isinstance(ours, collections.abc.MutableMapping) and isinstance(ours, realm.Dictionary)


def test_keys_are_text(person):
    with pytest.raises(TypeError):
        person.weights[1] = 1.0
    with pytest.raises(realm.PropertyTypeError):
        person.weights = {1: 1.0}
    with pytest.raises(ValueError):
        person.weights["$a"] = 1.0
    with pytest.raises(ValueError):
        person.weights["a.b"] = 1.0
    with pytest.raises(OverflowError):
        person.weights["\ud800"] = 1.0
    assert "\ud800" not in person.weights and len(person.weights) == 0


# ---- properties ------------------------------------------------------------------------------


def test_assigning_replaces_the_content(person):
    tags = person.tags
    person.tags = ["a", "b"]
    person.tags = ("c",)
    assert tags == ["c"]
    person.tags = person.tags
    person.tags += ["d"]
    assert tags == ["c", "d"]
    person.tags = (t + "!" for t in person.tags)
    assert tags == ["c!", "d!"]
    person.scores = [3, 3]
    person.scores |= {4}
    assert person.scores == {3, 4}
    person.weights = {"a": 1.0}
    person.weights = person.weights
    person.weights |= {"b": None}
    assert person.weights == {"a": 1.0, "b": None}
    person.weights = {}
    assert person.weights == {}


@pytest.mark.parametrize("value", ["text", b"bytes", 5, None, {"a": 1}, ["a", 1], [None]])
def test_what_is_no_content_changes_nothing(person, value):
    person.tags = ["a"]
    with pytest.raises(realm.PropertyTypeError):
        person.tags = value
    assert person.tags == ["a"]
    with pytest.raises(realm.PropertyTypeError):
        Person(id=9, tags=value)
    assert len(person.tags) == 1


@pytest.mark.parametrize("value", ["text", 5, None, ["a"], {"a": "b"}])
def test_what_is_no_dictionary_changes_nothing(person, value):
    person.weights = {"a": 1.0}
    with pytest.raises(realm.PropertyTypeError):
        person.weights = value
    assert person.weights == {"a": 1.0}


def test_creating_with_a_wrong_element_leaves_nothing(w):
    for wrong in ({"tags": ["a", 1]}, {"kennel": {"a": 1}}, {"homes": [{"number": 1}]},
                  {"dogs": [Dog(name="a"), Person(id=5)]}, {"homes": [{"street": "s", "no": 1}]}):
        with pytest.raises((TypeError, AttributeError)):
            w.create(Person, id=2, **wrong)
    assert len(w.objects(Person)) == 0 and len(w.objects(Dog)) == 0


def test_unmanaged_objects_carry_plain_collections():
    given = ["a"]
    one = Person(id=1, tags=given)
    assert one.tags == ["a"] and type(one.tags) is list and one.tags is not given
    assert one.scores == set() and type(one.scores) is set
    assert one.weights == {} and one.numbers == []
    assert realm.to_dict(one)["tags"] == ["a"]


def test_updates_replace_given_collections_alone(w):
    person = w.create(Person, id=1, tags=["a"], scores={1})
    w.create(Person, id=1, tags=["b"], update="all")
    assert person.tags == ["b"] and person.scores == {1}
    w.create(Person, id=1, scores=[], update="modified")
    assert person.tags == ["b"] and person.scores == set()


def test_defaults_are_not_shared(path):
    class Holder(realm.Object):
        a: list[int] = [1]  # noqa: RUF012
        b: dict[str, int] = realm.Default(dict)

    one, two = Holder(), Holder()
    one.a.append(2)
    assert two.a == [1] and Holder().a == [1]
    with realm.open(path, classes=[Holder]) as r, r.write():
        assert r.create(Holder).a == [1] and r.add(one).a == [1, 2] and one.b == {}


# ---- links -----------------------------------------------------------------------------------


def test_objects_are_added_with_what_links_to_them(w, person):
    rex = Dog(name="Rex")
    person.dogs.append(rex)
    person.dogs.append(rex)
    person.dogs.append({"name": "Ada"})
    person.pack.add(rex)
    person.kennel["x"] = rex
    person.kennel["y"] = Dog(name="Bo")
    person.kennel["z"] = None
    assert realm.is_managed(rex) and [d.name for d in person.dogs] == ["Rex", "Rex", "Ada"]
    assert person.pack == {rex} and person.kennel["x"] == rex and rex in person.dogs
    assert len(w.objects(Dog)) == 3 and len(w.backlinks(rex, Person, "dogs")) > 0
    w.delete(rex)
    assert [d.name for d in person.dogs] == ["Ada"] and len(person.pack) == 0
    assert person.kennel["x"] is None and person.kennel["y"].name == "Bo"
    with pytest.raises(realm.InvalidObjectError):
        person.dogs.append(rex)
    with pytest.raises(realm.PropertyTypeError):
        person.dogs.append(None)
    with pytest.raises(realm.PropertyTypeError):
        person.dogs.append(person)


def test_graphs_with_cycles_go_in_at_once(w):
    people = [Person(id=i) for i in range(300)]
    for i, one in enumerate(people):
        one.friends = [people[(i + 1) % 300], people[i - 1]]
    assert len(repr(people[0])) < 500
    w.add(people[0])
    assert len(w.objects(Person)) == 300 and people[7].friends == [people[8], people[6]]


def test_a_graph_that_fails_leaves_nothing(w):
    w.create(Dog, name="Rex")
    one = Person(id=1, dogs=[Dog(name="Ada"), Dog(name="Rex")], homes=[Address(street="s")])
    with pytest.raises(realm.ObjectExistsError):
        w.add(one)
    assert not realm.is_managed(one) and not realm.is_managed(one.homes[0])
    assert [d.name for d in w.objects(Dog)] == ["Rex"] and len(w.objects(Address)) == 0
    assert one.dogs[0].name == "Ada"


def test_objects_of_another_realm_are_refused(w, person, tmp_path):
    with realm.open(tmp_path / "other.realm", classes=CLASSES) as other, other.write():
        dog = other.create(Dog, name="x")
        with pytest.raises(realm.ArgumentError):
            person.dogs.append(dog)
        with pytest.raises(realm.ArgumentError):
            person.dogs = [dog]
        assert dog not in person.dogs


# ---- embedded objects ------------------------------------------------------------------------


def test_embedded_objects_live_and_die_with_their_owner(w, person):
    first = Address(street="first", rooms=[Room(number=1, beds=["a", "b"])], guest=Dog(name="g"))
    person.address = first
    assert realm.is_managed(first) and person.address == first
    assert first.rooms[0].beds == ["a", "b"] and first.guest.name == "g"
    first.rooms.append({"number": 2})
    assert person.address.rooms[1].number == 2
    person.address = {"street": "second", "number": 5}
    assert not realm.is_valid(first) and person.address.number == 5
    assert len(w.objects(Room)) == 0 and len(w.objects(Address)) == 1
    person.homes = [Address(street="a"), {"street": "b"}]
    person.places = {"x": {"street": "c"}, "y": None}
    assert [h.street for h in person.homes] == ["a", "b"] and person.places["y"] is None
    assert len(w.objects(Address)) == 4
    del person.homes[0]
    person.homes[0] = {"street": "B"}
    person.places["x"] = Address(street="C")
    assert [a.street for a in w.objects(Address).sorted("street")] == ["B", "C", "second"]
    person.address = None
    w.delete(person)
    assert len(w.objects(Address)) == 0


def test_an_embedded_object_has_one_owner(w, person):
    home = Address(street="a")
    person.homes.append(home)
    other = w.create(Person, id=2)
    for attempt in (
        lambda: person.homes.append(home),
        lambda: setattr(other, "address", home),
        lambda: other.places.__setitem__("x", home),
        lambda: setattr(other, "homes", person.homes),
        lambda: w.create(Person, id=3, address=home),
    ):
        with pytest.raises(realm.IllegalOperationError):
            attempt()
    person.homes[0] = home
    person.homes = person.homes
    assert person.homes == [home] and w.find(Person, 3) is None
    with pytest.raises(realm.IllegalOperationError):
        w.add(Address(street="alone"))
    with pytest.raises(realm.PropertyTypeError):
        person.address = Dog(name="x")
    person.address = {"street": "own"}
    person.address = person.address
    assert person.address.street == "own"


def test_objects_are_created_from_nested_plain_values(w):
    person = w.create(Person, {
        "id": 1, "tags": ["x"], "address": {"street": "s", "rooms": [{"number": 3}]},
        "dogs": [{"name": "Ada"}, {"name": "Bo"}], "kennel": {"k": {"name": "Cy"}},
        "friends": [{"id": 2, "friends": [{"id": 3}]}],
    })
    assert person.address.rooms[0].number == 3 and person.kennel["k"].name == "Cy"
    assert person.friends[0].friends[0].id == 3 and len(w.objects(Dog)) == 3
    w.create(Person, {"id": 1, "friends": [{"id": 2, "tags": ["t"]}]}, update="all")
    assert w.find(Person, 2).tags == ["t"] and w.find(Person, 2).friends[0].id == 3
    unmanaged = Person(id=9, address={"street": "s"}, homes=[{"street": "t"}])
    assert isinstance(unmanaged.address, Address) and unmanaged.homes[0].street == "t"


# ---- life ------------------------------------------------------------------------------------


def test_nothing_changes_outside_of_a_transaction(w, person):
    person.tags, person.scores, person.weights = ["a"], {1}, {"a": 1.0}
    w.commit()
    for attempt in (
        lambda: person.tags.append("b"), lambda: person.tags.clear(), lambda: person.tags.pop(),
        lambda: person.tags.__setitem__(0, "b"), lambda: setattr(person, "tags", []),
        lambda: person.scores.add(2), lambda: person.scores.discard(5),
        lambda: person.scores.clear(), lambda: person.weights.__delitem__("a"),
        lambda: person.weights.__setitem__("b", 1.0), lambda: person.dogs.append(Dog(name="x")),
        lambda: person.homes.append({"street": "x"}),
    ):
        with pytest.raises(realm.TransactionError):
            attempt()
    assert person.tags == ["a"] and person.scores == {1} and person.weights == {"a": 1.0}


def test_collections_of_deleted_objects_and_closed_realms_say_so(w, person):
    views = person.tags, person.scores, person.weights
    other = w.create(Person, id=2, tags=["a"])
    kept = other.tags
    w.delete(person)
    for view in views:
        assert not view.is_valid and "deleted" in repr(view)
        for attempt in (lambda v: len(v), list, lambda v: v.clear(), lambda v: "a" in v):
            with pytest.raises(realm.InvalidObjectError):
                attempt(view)
    iterator = iter(kept)
    w.commit()
    w.close()
    assert not kept.is_valid and repr(kept) == "<list Person.tags, closed>"
    for attempt in (lambda: len(kept), lambda: kept[0], lambda: next(iterator),
                    lambda: kept.append("x")):
        with pytest.raises(realm.ClosedRealmError):
            attempt()


def test_collections_belong_to_the_thread_of_their_realm(w, person):
    caught = []

    def elsewhere(view=person.tags):
        try:
            len(view)
        except realm.WrongThreadError as error:
            caught.append(error)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert len(caught) == 1


def test_reprs_are_short_and_true(person):
    person.tags = [f"t{i}" for i in range(100)]
    person.kennel = {"a": Dog(name="Rex")}
    person.friends = [person]
    assert repr(person.tags) == "<list Person.tags: ['t0', 't1', 't2', 't3', 't4', 't5', ...]>"
    assert repr(person.kennel) == "<dict Person.kennel: {'a': Dog('Rex')}>"
    assert repr(person.friends) == "<list Person.friends: [Person(1)]>"
    assert repr(person.scores) == "<set Person.scores: {}>"


def test_collections_are_made_by_their_objects_alone():
    for kind in (realm.List, realm.Set, realm.Dictionary):
        with pytest.raises(TypeError, match="comes from a property"):
            kind()


# ---- declarations ----------------------------------------------------------------------------


@pytest.mark.parametrize(("annotation", "part"), [
    (list, "needs the type"),
    (list[list[int]], "collections in collections"),
    (list[int] | None, "never None"),
    (dict[int, int], "keys of a dict are str"),
    (list[Dog | None], "holds no None"),
    (set[Address], "can't hold embedded"),
    (tuple[int], "list, set and dict"),
    (list[complex], "can't be stored"),
])
def test_declarations_that_make_no_sense_say_why(annotation, part):
    with pytest.raises(realm.SchemaError, match=part.replace("[", r"\[")):
        type(realm.Object)("Bad", (realm.Object,),
                           {"__annotations__": {"a": annotation}, "__module__": __name__})


def test_embedded_classes_have_no_primary_key():
    with pytest.raises(realm.SchemaError, match="no primary key"):
        class Bad(realm.EmbeddedObject):
            id: int = realm.PrimaryKey()


def test_properties_describe_their_collections():
    its = realm.properties(Person)
    assert its["tags"].collection == "list" and its["tags"].type == "str"
    assert its["id"].collection is None
    assert repr(its["weights"]) == "<property Person.weights: dict[str, float | None]>"
    assert Address.__realm_model__.embedded and not Person.__realm_model__.embedded


# ---- the rest of the package -----------------------------------------------------------------


def test_collections_are_arguments_of_queries(w, person):
    for name in ("Ada", "Bo", "Cy"):
        w.create(Dog, name=name)
    person.tags = ["Ada", "Cy"]
    assert w.objects(Dog).filter("name IN $0", person.tags).values("name") == ["Ada", "Cy"]


def test_content_may_come_from_what_changes_the_collection(person):
    person.numbers = [1, 2, 3]

    def shrinking():
        person.numbers.clear()
        yield 7

    person.numbers[1:] = shrinking()
    assert person.numbers == [7]
    person.numbers.extend(shrinking())
    assert person.numbers == [7]
    person.numbers.extend(person.numbers)
    assert person.numbers == [7, 7]

    def failing():
        yield 1
        raise LookupError

    for attempt in (lambda: person.numbers.extend(failing()),
                    lambda: setattr(person, "numbers", failing())):
        with pytest.raises(LookupError):
            attempt()
    assert person.numbers == [7, 7]


def test_realms_without_classes_know_collections_and_embedded_objects(w, person, path):
    person.homes = [{"street": "s", "rooms": [{"number": 1, "beds": ["b"]}]}]
    person.weights = {"a": None}
    w.commit()
    w.close()
    with realm.open(path) as r, r.write():
        assert issubclass(r.classes["Address"], realm.EmbeddedObject)
        one = r.find("Person", 1)
        assert one.homes[0].rooms[0].beds == ["b"] and one.weights == {"a": None}
        one.homes.append({"street": "t"})
        one.kennel["x"] = {"name": "Rex"}
        assert one.homes[1].street == "t" and one.kennel["x"].name == "Rex"
        assert r.check() == []


def test_rolling_back_takes_the_content_back(w, person):
    person.tags = ["a"]
    w.commit()
    w.begin_write()
    person.tags.append("b")
    person.homes.append({"street": "s"})
    w.rollback()
    assert person.tags == ["a"] and person.homes == []
