"""Lists, sets and dictionaries of stored objects do what Python's own do, with values of every type."""

from __future__ import annotations

import collections.abc
import math
import random
import uuid
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pytest
from collection_models import Dog, person, w  # noqa: F401

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
