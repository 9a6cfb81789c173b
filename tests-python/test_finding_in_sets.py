"""`in`, `remove` and `discard` of sets: by Python's equality whatever the type, without going through all elements."""

from __future__ import annotations

import datetime
import decimal
import random
import time
from typing import Any

import pytest

import realm

UTC = datetime.timezone.utc
START = datetime.datetime(2020, 1, 1, tzinfo=UTC)
NAN = float("nan")


class Sets(realm.Object):
    ints: set[int | None]
    floats: set[float | None]
    exact: set[decimal.Decimal | None]
    dates: set[datetime.datetime | None]
    anything: set[Any]


def numbers(count):
    return [
        *(i - count // 2 for i in range(count)),
        *(i / 4 for i in range(count)),
        *(decimal.Decimal(i) / 8 for i in range(count)),
        1 << 62,
        1e300,
        -1e300,
        float("inf"),
        float("-inf"),
        decimal.Decimal("1e-30"),
        decimal.Decimal("Infinity"),
    ]


def dates(count):
    return [START + datetime.timedelta(microseconds=i * 7919) for i in range(-count, count)]


OTHERS = [None, True, False, NAN, decimal.Decimal("NaN"), "", "a", b"", b"x", START.date(), object(), (1,)]
NOT_STORED = [
    1 << 70,
    decimal.Decimal(1) + decimal.Decimal("1e-27"),
    0.1,
    START.replace(tzinfo=None),
    START.astimezone(datetime.timezone(datetime.timedelta(hours=5))),
]
VALUES = {
    "ints": [i * 3 for i in range(-20, 20)],
    "floats": [i / 2 for i in range(-20, 20)] + [NAN, -0.0, float("inf")],
    "exact": [decimal.Decimal(i) / 4 for i in range(-20, 20)] + [decimal.Decimal("NaN")],
    "dates": dates(20),
    "anything": [*numbers(20), *dates(10), *OTHERS[:9]],
}


@pytest.mark.parametrize("name", VALUES)
def test_what_is_in_a_set_is_what_compares_equal_to_an_element(path, name):
    choice = random.Random(name)
    asked = [*numbers(20), *dates(20), *OTHERS, *NOT_STORED]
    with realm.open(path, [Sets]) as r, r.write():
        held = getattr(r.create(Sets), name)
        for size in range(0, len(VALUES[name]), 3):
            held.clear()
            held.update(choice.sample(VALUES[name], size))
            if name != "anything" and choice.random() < 0.5:
                held.add(None)
            elements = list(held)
            for value in asked:
                assert (value in held) == any(element == value for element in elements), value
        # One after another, in the words of other types.
        for value in choice.sample(elements, len(elements)):
            if value == value:
                other = float(value) if type(value) is int and abs(value) < 1 << 53 else value
                held.remove(other)
                # True and 1 are two elements, of which either is found first.
                assert name == "anything" or value not in held
        assert all(element != element for element in held)


@pytest.mark.parametrize("name", ["floats", "exact", "dates", "anything"])
def test_finding_costs_the_same_in_large_sets(path, name):
    make = {
        "floats": float,
        "exact": decimal.Decimal,
        "dates": lambda i: START + datetime.timedelta(seconds=i),
        "anything": lambda i: i,
    }[name]
    with realm.open(path, [Sets]) as r, r.write():
        held = getattr(r.create(Sets), name)
        spent = []
        for count in (500, 50_000):
            held.update(make(i) for i in range(count))
            wanted = [make(i * 7 % count) for i in range(300)] + [make(-1 - i) for i in range(300)]
            start = time.perf_counter()
            found = sum(value in held for value in wanted)
            spent.append(time.perf_counter() - start)
            assert found == 300
        # Going through all would take a hundred times as long.
        assert spent[1] < spent[0] * 20 + 0.05
