"""Results over values that are no objects: queries call them SELF; orders, live, over each type."""

from __future__ import annotations

import uuid
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pytest

import realm


class Dog(realm.Object):
    name: str = realm.PrimaryKey()


class Person(realm.Object):
    id: int = realm.PrimaryKey()
    tags: list[str]
    numbers: set[int]
    weights: dict[str, float | None]
    anything: list[Any]


class Everything(realm.Object):
    id: int = realm.PrimaryKey()
    ints: list[int | None]
    bools: list[bool | None]
    texts: list[str | None]
    binaries: list[bytes | None]
    doubles: list[float | None]
    moments: list[datetime | None]
    decimals: list[Decimal | None]
    ids: list[realm.ObjectId | None]
    uuids: list[uuid.UUID | None]


@pytest.fixture
def r(path):
    with realm.open(path, classes=[Person, Dog, Everything]) as opened:
        yield opened


@pytest.fixture
def person(r):
    with r.write():
        return r.create(
            Person, id=1, tags=["b", "abc", "b", "a", "é"], numbers={3, 1, 2},
            weights={"x": 1.5, "y": None, "z": 4.0},
            anything=[2, "x", [1], {"k": 2}, r.create(Dog, name="Rex"), 2.0, None],
        )


def test_queries(person):
    assert list(person.tags.filter("SELF BEGINSWITH 'a'")) == ["abc", "a"]
    assert list(person.tags.filter("SELF IN $0", ["b", "é"])) == ["b", "b", "é"]
    assert list(person.tags.filter("SELF != 'b' SORT(SELF DESC) LIMIT(2)")) == ["é", "abc"]
    assert list(person.tags.filter("TRUEPREDICATE LIMIT(2)")) == ["b", "abc"]
    assert list(person.tags.filter("FALSEPREDICATE")) == []
    assert list(person.tags.filter("SELF BEGINSWITH 'a'").filter("SELF != $0", "a")) == ["abc"]
    assert list(person.numbers.filter("SELF > $0", 1)) == [2, 3]
    assert list(person.weights.filter("SELF > 2")) == [4.0]
    assert list(person.weights.filter("SELF == NULL")) == [None]


def test_queries_written_in_python(person):
    assert list(person.numbers.where(lambda n: n > 1)) == [2, 3]
    assert list(person.numbers.where(lambda n: (n * 2 == 4) | (n == 1))) == [1, 2]
    assert list(person.tags.where(lambda t: t.startswith("A", case=False), lambda t: t != "a")) == [
        "abc"
    ]
    assert list(person.tags.where(lambda t: t.in_(["é", "a"]))) == ["a", "é"]
    assert list(person.weights.where(lambda w: w.is_null())) == [None]
    assert list(person.weights.where(lambda w: w.between(1, 2))) == [1.5]
    anything = person.anything
    assert [dict(e) for e in anything.where(lambda e: e["k"] == 2)] == [{"k": 2}]
    assert [dog.name for dog in anything.where(lambda e: e.name == "Rex")] == ["Rex"]


def test_orders(person):
    tags = person.tags
    assert list(tags.sorted()) == ["a", "abc", "b", "b", "é"]
    assert list(tags.sorted(reverse=True)) == ["é", "b", "b", "abc", "a"]
    assert list(tags.distinct()) == ["b", "abc", "a", "é"]
    assert list(tags.sorted().distinct().limit(2)) == ["a", "abc"]
    assert list(tags.limit(3).sorted()) == ["abc", "b", "b"]
    assert list(tags.filter("SELF != 'é'").sorted(reverse=True).limit(1)) == ["b"]
    assert list(tags.sorted().filter("SELF != 'abc'")) == ["a", "b", "b", "é"]
    assert list(tags.limit(3).filter("SELF != 'abc'").sorted().limit(1)) == ["b"]
    assert list(tags.sorted().filter("SELF != 'a' LIMIT(1)")) == ["abc"]
    assert list(tags.distinct().filter("SELF != 'b'").offset(1)) == ["a", "é"]
    assert tags.limit(3).filter("SELF != 'abc'").explain().endswith(
        "then: LIMIT(3)\nthen: test SELF != \"abc\"")
    assert list(person.weights.sorted()) == [None, 1.5, 4.0]
    assert list(person.weights.sorted(reverse=True)) == [4.0, 1.5, None]
    assert list(person.anything.filter("SELF.@type == 'numeric'").distinct()) == [2]
    assert repr(tags.sorted()) == "<results of Person.tags, 5 values>"


def test_aggregates_and_places(person):
    numbers = person.numbers.filter("SELF > 1")
    assert (numbers.min(), numbers.max(), numbers.sum(), numbers.avg()) == (2, 3, 5, 2.5)
    assert person.weights.sorted(reverse=True).limit(1).sum() == 4.0
    ordered = person.tags.sorted()
    assert (ordered[0], ordered[-1], ordered[1:3]) == ("a", "é", ["abc", "b"])
    assert (ordered.first(), ordered.last(), len(ordered)) == ("a", "é", 5)
    assert (ordered.index("b"), ordered.count("b"), "zz" in ordered) == (2, 2, False)
    assert list(reversed(ordered)) == ["é", "b", "b", "abc", "a"]


def test_they_are_live(r, person):
    found = person.tags.filter("SELF BEGINSWITH 'a'")
    down = found.sorted(reverse=True)
    with r.write():
        person.tags.append("az")
        assert list(found) == ["abc", "a", "az"] and list(down) == ["az", "abc", "a"]
        person.tags[1] = "c"
        assert list(found) == ["a", "az"]
    assert list(down) == ["az", "a"]
    with pytest.raises(realm.Error), r.write():
        person.tags.clear()
        assert list(found) == []
        raise realm.Error("undone")
    assert list(found) == ["a", "az"]
    with r.write():
        found.delete_all()
        assert list(person.tags) == ["b", "c", "b", "é"] and len(down) == 0
        r.delete(person)
    with pytest.raises(realm.InvalidObjectError):
        len(down)
    assert not found.is_valid


def test_walking_over_what_changes(r, person):
    with r.write():
        # Each step must find what was chosen before: choosing anew would take hours.
        person.numbers.update(range(20_000))
        seen = [n for n in person.numbers.filter("SELF >= 19990").sorted(reverse=True)]
        assert seen == list(range(19_999, 19_989, -1))
        many = person.numbers.filter("SELF >= 0")
        assert sum(n for n in many) == sum(range(20_000))


def test_snapshots(r, person):
    kept, some = person.tags.snapshot(), person.tags.filter("SELF != 'b'").snapshot()
    anything = person.anything.snapshot()
    with r.write():
        person.tags.clear()
        r.delete(person.anything[4])
    assert list(kept) == ["b", "abc", "b", "a", "é"] and list(some) == ["abc", "a", "é"]
    assert anything[:2] == [2, "x"] and anything[4] is None and len(anything) == 7
    assert anything[3] == {"k": 2}
    assert list(kept.sorted().distinct()) == ["a", "abc", "b", "é"]
    with r.write():
        with pytest.raises(realm.IllegalOperationError, match="cannot be removed"):
            kept.delete_all()
        r.delete(person)
    assert list(kept.filter("SELF BEGINSWITH $0", "a")) == ["abc", "a"] and kept.is_valid
    assert kept.index("a") == 3 and kept.snapshot()[:] == kept[:]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("ints", [5, None, -(2**63), 2**63 - 1, 5]),
        ("bools", [True, None, False, True]),
        ("texts", ["b", None, "", "B", "é", "b", "x" * 5000]),
        ("binaries", [b"b", None, b"", b"\x00\xff", b"b"]),
        ("doubles", [2.5, None, -1e300, 0.0, 2.5]),
        ("moments", [datetime(2020, 1, 1, tzinfo=timezone.utc), None,
                     datetime(1969, 1, 1, microsecond=5, tzinfo=timezone.utc)]),
        ("decimals", [Decimal("1.5"), None, Decimal("-3"), Decimal("1.50")]),
        ("ids", [realm.ObjectId("f" * 24), None, realm.ObjectId("0" * 24)]),
        ("uuids", [uuid.UUID(int=2**127), None, uuid.UUID(int=1)]),
    ],
)
def test_every_type(r, name, values):
    with r.write():
        thing = r.create(Everything, id=1, **{name: values})
        elements = getattr(thing, name)
        least_first = sorted((v for v in values if v is not None))
        assert list(elements.sorted()) == [None, *least_first]
    assert list(elements.sorted(reverse=True)) == [*least_first[::-1], None]
    unique = list(dict.fromkeys(values))
    assert list(elements.distinct()) == unique
    assert list(elements.filter("SELF != NULL")) == [v for v in values if v is not None]
    for value in unique:
        expected = [v for v in values if v == value]
        assert list(elements.filter("SELF == $0", value)) == expected
        assert list(elements.where(lambda e, v=value: e == v)) == expected
    middle = least_first[len(least_first) // 2]
    if name != "bools":
        expected = [v for v in values if v is not None and v < middle]
        assert list(elements.filter("SELF < $0 AND SELF != NULL", middle)) == expected
    snapshot = elements.snapshot()
    with r.write():
        elements.clear()
    assert list(snapshot) == values and list(elements.sorted()) == []


def test_nested_collections(r, person):
    with r.write():
        person.anything[2] = [3, 1, "z"]
    inner = person.anything[2]
    assert list(inner.sorted()) == [1, 3, "z"]
    assert list(inner.filter("SELF > 1")) == [3]
    with r.write():
        inner.append(9)
        assert list(inner.where(lambda n: n > 1)) == [3, 9]
        person.anything[2] = 0
    with pytest.raises(realm.InvalidObjectError):
        list(inner.sorted())


def test_what_is_refused(r, person):
    tags = person.tags
    for bad in ("name == 'a'", "SELF.name == 'a'", "SELF > 3"):
        with pytest.raises(realm.QueryError, match=r"Person\.tags"):
            tags.filter(bad)
    for bad in ("", "SELF =", "SELF == 'a"):
        with pytest.raises(realm.QueryError):
            tags.filter(bad)
    with pytest.raises(realm.QueryError):
        tags.filter("SELF == $1", "a")
    with pytest.raises(TypeError, match="reverse"):
        tags.sorted("name")
    with pytest.raises(TypeError, match="no properties"):
        tags.distinct("name")
    with pytest.raises(realm.IllegalOperationError, match="format strings"):
        tags.results().filter_format("SELF == %@", "a")
    assert tags.sorted().explain().endswith("then: SORT(SELF ASC)")
    with pytest.raises(TypeError):
        person.numbers.where()
