"""Queries within a migration function, of classes whose primary key comes, goes or changes."""

from __future__ import annotations

import pathlib
import random
from typing import Any

import pytest

import realm
from migration_classes import class_

KEYS = ("", "number", "other", "text")
TYPES = {"number": int, "other": int, "text": str}
COUNT = 40


def classes(key: str) -> tuple[Any, Any]:
    """A class with this primary key, and one with links to it."""
    names = {name: realm.PrimaryKey() for name in [key] if name}
    item = class_("Item", dict(TYPES), **names)
    holder = class_("Holder", {"name": str, "one": item | None, "many": list[item]})
    return item, holder


def fill(path: pathlib.Path, key: str) -> None:
    item, holder = classes(key)
    numbers = random.Random(7).sample(range(-50, 50), COUNT)
    with realm.open(path, [item, holder], version=1) as r, r.write():
        made = [r.create(item, number=number, other=1000 - index, text=f"s{index}")
                for index, number in enumerate(numbers)]
        for index, object in enumerate(made):
            r.create(holder, name=f"h{index}", one=object, many=made[index:index + 3])


def expect_right(r: realm.Realm, item: Any, holder: Any) -> None:
    """Queries by each of the properties, direct and through links, against their values."""
    rows = [(o.number, o.other, o.text) for o in r.objects(item)]
    links = [(h.name, h.one.number, h.one.other, [m.number for m in h.many])
             for h in r.objects(holder)]

    def texts(query: str, *arguments: Any) -> set[str]:
        found = r.objects(item).filter(query, *arguments)
        assert len(found) == found.count() == len(list(found))
        return set(found.values("text"))

    def names(query: str, *arguments: Any) -> set[str]:
        return set(r.objects(holder).filter(query, *arguments).values("name"))

    for place, name in enumerate(("number", "other")):
        for value in (rows[3][place], 0, 977, -10**9, 2**62):
            for sign, test in (("==", int.__eq__), ("!=", int.__ne__), ("<", int.__lt__),
                               (">=", int.__ge__)):
                assert (texts(f"{name} {sign} $0", value)
                        == {row[2] for row in rows if test(row[place], value)})
            some = [rows[1][place], rows[5][place], value]
            assert (texts(f"{name} IN $0", some)
                    == {row[2] for row in rows if row[place] in some})
            assert (names(f"one.{name} == $0", value)
                    == {link[0] for link in links if link[1 + place] == value})
        ordered = [row[2] for row in sorted(rows, key=lambda row: row[place])]
        assert list(r.objects(item).sorted(name).values("text")) == ordered
        assert [o.text for o in r.objects(item).sorted(name)[:3]] == ordered[:3]
        assert r.objects(item).max(name) == max(row[place] for row in rows)
    for row in rows[:3]:
        assert texts("text == $0", row[2]) == {row[2]}
        holding = {link[0] for link in links if row[0] in link[3]}
        assert names("ANY many.number == $0", row[0]) == holding
        assert names("SUBQUERY(many, $m, $m.number == $0).@count > 0", row[0]) == holding
        assert {h.name for h in r.objects(holder) if len(h.many.filter("number == $0", row[0]))} \
            == holding


@pytest.mark.parametrize("before", KEYS)
@pytest.mark.parametrize("after", KEYS)
def test_by_any_property(tmp_path, before, after):
    path = tmp_path / "keys.realm"
    fill(path, before)
    item, holder = classes(after)
    seen = []

    def migrate(old, new):
        expect_right(new, item, holder)
        # Results that are there before objects change the key.
        held = new.objects(item).filter("number > $0", 0)
        count = len(held)
        first = held[0]
        if after != before and after:
            # Assigned keys are settled at once.
            for index, object in enumerate(list(new.objects(item))):
                setattr(object, after, f"new {index}" if after == "text" else 5000 + index)
            expect_right(new, item, holder)
            assert len(held) == (COUNT if after == "number" else count)
            assert set(held.values("number")) == {o.number for o in held}
        else:
            assert first.number > 0 and len(held) == count
        # None is found by a key that is not settled.
        if after:
            value = getattr(new.objects(item)[0], after)
            found = len(new.objects(holder).filter(f"one == obj('Item', {value!r})"))
            assert found == (1 if after == before else 0)
            found = len(new.objects(holder).filter(f"ANY many == obj('Item', {value!r})"))
            assert (found > 0) == (after == before)
        seen.append(True)

    with realm.open(path, [item, holder], version=2, migrate=migrate) as r:
        assert seen
        expect_right(r, item, holder)
        if after:
            object = r.objects(item)[7]
            key = getattr(object, after)
            assert r.find(item, key) == object
            assert len(r.objects(holder).filter(f"one == obj('Item', {key!r})")) == 1
        assert not r.check()


@pytest.mark.parametrize("before,after", [("number", ""), ("", "number"), ("number", "text"),
                                          ("text", "number")])
def test_deletes_what_a_query_finds(tmp_path, before, after):
    path = tmp_path / "deleting.realm"
    fill(path, before)
    item, holder = classes(after)

    def migrate(old, new):
        new.delete(new.objects(item).filter("number < 0 OR number == 3"))

    with realm.open(path, [item, holder], version=2, migrate=migrate) as r:
        numbers = random.Random(7).sample(range(-50, 50), COUNT)
        assert (sorted(r.objects(item).values("number"))
                == sorted(number for number in numbers if number >= 0 and number != 3))
        assert not r.check()
