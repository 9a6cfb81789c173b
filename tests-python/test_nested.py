"""Lists and dicts inside values of any type: `Any`, `list[Any]`, `dict[str, Any]`."""

from __future__ import annotations

import copy
import pickle
from collections.abc import MutableMapping, MutableSequence
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

import realm


class Thing(realm.Object):
    id: int = realm.PrimaryKey()
    data: Any = None
    items: list[Any]
    more: dict[str, Any]
    mixture: set[Any]
    default: Any = [1, {"a": []}]


@pytest.fixture
def r(path):
    with realm.open(path, classes=[Thing]) as opened:
        yield opened


@pytest.fixture
def w(r):
    r.begin_write()
    yield r
    if not r.is_closed and r.is_writing:
        r.rollback()


@pytest.fixture
def thing(w):
    return w.create(Thing, id=1)


PLACES = {
    "property": (lambda t, v: setattr(t, "data", v), lambda t: t.data),
    "element": (lambda t, v: t.items.append(v), lambda t: t.items[-1]),
    "value": (lambda t, v: t.more.__setitem__("k", v), lambda t: t.more["k"]),
    "slice": (lambda t, v: t.items.__setitem__(slice(0, 1), [v, 0]), lambda t: t.items[0]),
    "inside a list": (
        lambda t, v: (setattr(t, "data", [0]), t.data.insert(0, v)), lambda t: t.data[0]
    ),
    "inside a dict": (
        lambda t, v: (setattr(t, "data", {}), t.data.update(k=v)), lambda t: t.data["k"]
    ),
    "content of a list": (lambda t, v: setattr(t, "items", [v]), lambda t: t.items[0]),
    "content of a dict": (lambda t, v: setattr(t, "more", {"a": v}), lambda t: t.more["a"]),
}

VALUES = [
    [],
    {},
    [1, "two", 3.0, None, True, b"four"],
    [datetime(2020, 1, 2, tzinfo=timezone.utc), Decimal("1.50"), UUID(int=5), realm.ObjectId()],
    {"": 1, "b": [], "c": {"d": {}}},
    [[[[["deep"]]]], {"a": [{"b": [1, 2]}]}],
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("place", PLACES)
def test_they_are_held_everywhere(w, thing, path, place, value):
    put, get = PLACES[place]
    put(thing, value)
    view = get(thing)
    assert view == value and value == view and not view != value
    assert isinstance(view, realm.List if isinstance(value, list) else realm.Dictionary)
    assert isinstance(view, MutableSequence if isinstance(value, list) else MutableMapping)
    assert copy.deepcopy(view) == value and type(copy.deepcopy(view)) is type(value)
    w.commit()
    w.close()
    with realm.open(path, classes=[Thing]) as again:
        assert get(again.find(Thing, 1)) == value
        assert again.check() == []


values = st.recursive(
    st.none() | st.integers(-5, 5) | st.text("ab", max_size=2) | st.booleans(),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.text("ab.$", max_size=2), inner, max_size=4),
    max_leaves=20,
)


@given(first=values, second=values)
def test_any_value_takes_the_place_of_any_other(tmp_path_factory, first, second):
    with realm.open(str(tmp_path_factory.mktemp("any") / "a.realm"), classes=[Thing]) as r:
        with r.write():
            t = r.create(Thing, id=1, data=first, items=[first], more={"k": first})
            assert (t.data, t.items, t.more) == (first, [first], {"k": first})
            t.data, t.items[0], t.more["k"] = second, second, second
            assert (t.data, t.items, t.more) == (second, [second], {"k": second})
        assert (t.data, t.items, t.more) == (second, [second], {"k": second})
        assert realm.to_dict(t)["data"] == second
        assert r.check() == []


def test_what_is_assigned_is_copied(thing):
    mine = [1, [2]]
    thing.data = mine
    mine[1].append(3)
    mine.append(4)
    assert thing.data == [1, [2]]
    thing.items = [thing.data, thing.data]
    thing.data[1].append(5)
    assert thing.items == [[1, [2]], [1, [2]]]


def test_tuples_become_lists(thing):
    thing.data = (1, (2,))
    assert thing.data == [1, [2]]


def test_views_are_live_and_follow_their_element(thing):
    thing.items = [[1], {"k": [2]}]
    first, second, inner = thing.items[0], thing.items[1], thing.items[1]["k"]
    thing.items.insert(0, "new")
    del thing.items[1]
    thing.items.insert(0, [0])
    inner.append(3)
    second["m"] = 4
    assert thing.items == [[0], "new", {"k": [2, 3], "m": 4}]
    with pytest.raises(realm.InvalidObjectError):
        first.append(1)
    assert not first.is_valid and second.is_valid
    assert repr(first) == "<list Thing.items[0], deleted>"


def test_stale_views_say_so(thing):
    thing.data = {"a": [1], "b": {"c": 1}}
    a, b, data = thing.data["a"], thing.data["b"], thing.data
    thing.data["a"] = 1
    del thing.data["b"]
    for use in (
        lambda: a[0], lambda: len(a), lambda: list(a), lambda: a.append(1), lambda: a == [1],
        lambda: a.index(1), lambda: 1 in a, lambda: a[:], lambda: a.clear(), lambda: b["c"],
        lambda: list(b.items()), lambda: b.get("c"), lambda: b.update(d=1), lambda: "c" in b,
    ):
        with pytest.raises(realm.InvalidObjectError, match=r"Thing\.data"):
            use()
    thing.data = None
    with pytest.raises(realm.InvalidObjectError, match=r"Thing\.data"):
        len(data)


def test_they_end_with_their_object_and_realm(w, thing):
    thing.data = [[1]]
    view = thing.data[0]
    w.delete(thing)
    with pytest.raises(realm.InvalidObjectError):
        view[0]
    other = w.create(Thing, id=2, data=[[1]]).data[0]
    w.commit()
    w.close()
    with pytest.raises(realm.ClosedRealmError):
        other[0]


def test_rolling_back_takes_them_back(w, thing):
    thing.data = {"a": [1]}
    w.commit()
    w.begin_write()
    thing.data["a"].append(2)
    thing.data["b"] = [3]
    w.rollback()
    assert thing.data == {"a": [1]}


def test_they_behave_as_lists(thing):
    plain = [3, [1], "x", None]
    thing.data = plain
    view = thing.data
    assert view[1:3] == plain[1:3] and view[::-2] == plain[::-2] and view[-1] is None
    assert [1] in view and view.index([1]) == 1 and view.count("x") == 1
    assert view + [1] == plain + [1] and view * 2 == plain * 2
    for values in (plain, view):
        values[0:2] = [[9], {"k": 0}, 8]
        values[::2] = ["a", "b", [7]]
        del values[1]
        values.reverse()
        values += [5]
        values[0].append(6)
    assert view == plain == [[7, 6], "x", "b", "a", 5]
    assert view.pop(0) == [7, 6] and view == plain[1:]
    thing.data = [[2, "b"], [1, "z"], [1, "a"]]
    thing.data.sort(key=lambda row: row[0])
    assert thing.data == [[1, "z"], [1, "a"], [2, "b"]]
    thing.data.sort(key=lambda row: row[1], reverse=True)
    assert thing.data == [[1, "z"], [2, "b"], [1, "a"]]


def test_they_behave_as_dicts(thing):
    thing.data = {"a": [1], "b": {"c": 2}}
    view = thing.data
    assert dict(view) == {"a": [1], "b": {"c": 2}} and list(view.values()) == [[1], {"c": 2}]
    assert view.get("zz", 7) == 7 and view.get("a") == [1] and "b" in view and 5 not in view
    view.setdefault("d", []).append(1)
    view |= {"e": {}}
    view["e"]["f"] = [1]
    assert view == {"a": [1], "b": {"c": 2}, "d": [1], "e": {"f": [1]}}
    assert view.pop("b") == {"c": 2} and "b" not in view and view.pop("b", 3) == 3
    assert view | {"a": 0} == {"a": 0, "d": [1], "e": {"f": [1]}}


def test_assigning_a_view_to_itself_changes_nothing(thing):
    thing.data = {"a": [1]}
    inner = thing.data["a"]
    thing.data["a"] += [2]
    thing.data["a"] = thing.data["a"]
    thing.data = thing.data
    assert inner == [1, 2] and thing.data == {"a": [1, 2]}
    thing.items = [[1], [2]]
    thing.items[0] += [3]
    thing.items[0] = thing.items[1]
    assert thing.items == [[2], [2]]


def test_an_ancestor_can_be_copied_into_its_descendant(thing):
    thing.data = {"a": [1]}
    thing.data["a"].append(thing.data)
    assert thing.data == {"a": [1, {"a": [1]}]}
    thing.data = thing.data["a"]
    assert thing.data == [1, {"a": [1]}]


def put(name, *path):
    """Puts the whole property at a place within it."""

    def change(thing):
        container = getattr(thing, name)
        for step in path[:-1]:
            container = container[step]
        container[path[-1]] = getattr(thing, name)

    return change


def take(name, place):
    """Gives the property the content of an element of its own."""
    return lambda thing: setattr(thing, name, getattr(thing, name)[place])


@pytest.mark.parametrize(
    ("name", "before", "change", "after"),
    [
        ("more", {"a": {"b": 1}}, take("more", "a"), {"b": 1}),
        ("items", [[[1], 7]], take("items", 0), [[1], 7]),
        ("data", {"a": 1}, put("data", "a"), {"a": {"a": 1}}),
        ("data", {"a": 1}, put("data", "c"), {"a": 1, "c": {"a": 1}}),
        ("data", {"a": [1]}, put("data", "a"), {"a": {"a": [1]}}),
        ("data", {"a": {"b": 1}}, put("data", "a", "b"), {"a": {"b": {"a": {"b": 1}}}}),
        ("data", [1], put("data", 0), [[1]]),
        ("data", [{"q": 1}], put("data", 0), [[{"q": 1}]]),
        ("items", [1], put("items", 0), [[1]]),
        ("more", {"a": 1}, put("more", "c"), {"a": 1, "c": {"a": 1}}),
        ("more", {"a": 1}, lambda t: t.more.update(c=t.more), {"a": 1, "c": {"a": 1}}),
        ("more", {"a": 1}, lambda t: t.more.setdefault("c", t.more), {"a": 1, "c": {"a": 1}}),
    ],
)
def test_wholes_and_parts_are_assigned_to_each_other(thing, name, before, change, after):
    setattr(thing, name, before)
    change(thing)
    assert getattr(thing, name) == after


@pytest.mark.parametrize("elements", [[[1], [2]], [{"n": 1}, {"n": 2}]])
def test_what_a_copy_replaces_ends_so_that_no_swap_loses_an_element(thing, elements):
    thing.items, thing.more = elements, dict(zip("ab", elements, strict=True))
    for container, a, b in ((thing.items, 0, 1), (thing.more, "a", "b")):
        replaced = container[a]
        with pytest.raises(realm.InvalidObjectError):
            container[a], container[b] = container[b], container[a]
        assert not replaced.is_valid and container[a] == container[b] == elements[1]
        container[a], container[b] = elements[1], container[b]
    copies = [item[:] if isinstance(item, realm.List) else dict(item) for item in thing.items]
    thing.items[0], thing.items[1] = copies[1], elements[0]
    assert thing.items == [elements[1], elements[0]]


def test_a_copy_that_can_not_be_made_leaves_what_was_there(thing):
    thing.data = deep(60)
    thing.items = [[1], deep(60)]
    kept = thing.items[0]
    inner = thing.items[1]
    while len(inner[0]):
        inner = inner[0]
    with pytest.raises(realm.Error):
        inner[0] = thing.items[1]
    assert kept == [1] and thing.items == [[1], deep(60)]


def cyclic():
    loop: list[Any] = [1]
    loop.append({"again": loop})
    return loop


def deep(levels):
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


def test_cycles_are_refused_with_their_path(w, thing):
    thing.data, thing.items = [5], [[6]]
    for store, place in [
        (lambda v: setattr(thing, "data", v), r"Thing\.data\[1\]\['again'\]"),
        (lambda v: thing.data.append(v), r"Thing\.data\[1\]\[1\]\['again'\]"),
        (lambda v: thing.items[0].append(v), r"Thing\.items\[0\]\[1\]\[1\]\['again'\]"),
        (lambda v: thing.items.extend([v]), r"Thing\.items\[0\]\[1\]\['again'\]"),
        (lambda v: setattr(thing, "more", {"k": v}), r"Thing\.more\['k'\]\[1\]\['again'\]"),
        (lambda v: w.create(Thing, id=7, data=v), r"Thing\.data\[1\]\['again'\]"),
        (lambda v: Thing(id=7, data=v), r"Thing\.data\[1\]\['again'\]"),
    ]:
        with pytest.raises(ValueError, match=place + " contains itself"):
            store(cyclic())
    assert (thing.data, thing.items, thing.more, w.find(Thing, 7)) == ([5], [[6]], {}, None)


def test_the_same_value_twice_is_no_cycle(thing):
    shared = [1]
    thing.data = [shared, {"k": shared}]
    assert thing.data == [[1], {"k": [1]}]


def test_the_greatest_depth(w, thing):
    thing.data = deep(100)
    thing.items = [deep(99)]
    with pytest.raises(ValueError, match=r"Thing\.data(\[0\])+ lies too deep"):
        thing.data = deep(101)
    with pytest.raises(ValueError, match="too deep"):
        thing.items.append(deep(100))
    inner = thing.data
    while len(inner):
        inner = inner[0]
    with pytest.raises(ValueError, match="too deep"):
        inner.append([])
    with pytest.raises(ValueError, match="too deep"):
        inner.extend([[]])
    inner.append(1)
    assert w.check() == []


@pytest.mark.parametrize("bad", [{1}, 1j, object(), [1, {2}], {"a": [object()]}, [datetime.now()]])
def test_what_can_not_be_stored_changes_nothing(thing, bad):
    thing.data, thing.items, thing.more = {"a": [1]}, [[1]], {"k": [1]}
    for store in (
        lambda: setattr(thing, "data", bad),
        lambda: thing.data.__setitem__("a", bad),
        lambda: thing.data["a"].append(bad),
        lambda: thing.data["a"].__setitem__(slice(None), [5, bad]),
        lambda: thing.items.extend([2, bad]),
        lambda: setattr(thing, "items", [2, bad]),
        lambda: setattr(thing, "more", {"a": 1, "b": bad}),
    ):
        with pytest.raises(TypeError):
            store()
    assert (thing.data, thing.items, thing.more) == ({"a": [1]}, [[1]], {"k": [1]})


@pytest.mark.parametrize("key", ["$a", "a.b", ".", "$", "$date", "a[0]", "", "\n"])
def test_every_text_is_a_key(w, thing, tmp_path, key):
    thing.data = {key: 1, "o": {key: [{key: 2}]}}
    thing.items = [{key: 1}]
    thing.more = {"k": {key: 1}}
    thing.data["o"][key][0][key] = 3
    thing.data["o"].update({key + "x": {"n": 1}})
    thing.more["k"][key] = [5, {key: 6}]
    thing.items[0].setdefault(key + "y", {})[key] = None
    wanted = {
        "data": {key: 1, "o": {key: [{key: 3}], key + "x": {"n": 1}}},
        "items": [{key: 1, key + "y": {key: None}}],
        "more": {"k": {key: [5, {key: 6}]}},
    }

    def content(of: Thing) -> dict[str, Any]:
        found = realm.to_dict(of)
        return {name: found[name] for name in wanted}

    assert content(thing) == wanted and key in thing.data and list(thing.items[0])[0] == key
    assert w.objects(Thing).filter("data[$0] == 1 AND items[0][$0] == 1", key).count() == 1
    w.commit()
    assert w.check() == []
    w.copy_to(tmp_path / "copy.realm")
    with realm.open(tmp_path / "copy.realm", classes=[Thing]) as copied:
        assert content(copied.find(Thing, 1)) == wanted
    with realm.open(tmp_path / "other.realm", classes=[Thing]) as other, other.write():
        assert content(other.copy(thing)) == wanted
        text = realm.to_json(thing)
        other.find(Thing, 1).data = None
        if key != "$date":
            # In JSON text {"$date": 1} is a moment.
            assert content(other.create_from_json(Thing, text, update="all")) == wanted
    with w.write():
        assert thing.data["o"].pop(key) == [{key: 3}]
        del thing.data[key], thing.more["k"][key]
        with pytest.raises(KeyError):
            del thing.data[key]
        thing.items[0].clear()
    assert content(thing) == {"data": {"o": {key + "x": {"n": 1}}}, "items": [{}], "more": {"k": {}}}


@pytest.mark.parametrize("key", ["$a", "a.b", ".", "$"])
def test_keys_that_dictionaries_of_properties_do_not_take(thing, key):
    thing.more = {"k": [1]}
    for store in (
        lambda: setattr(thing, "more", {"a": 1, key: 2}),
        lambda: thing.more.__setitem__(key, 1),
        lambda: thing.more.update({"b": 1, key: [1]}),
    ):
        with pytest.raises(ValueError, match="must not begin with"):
            store()
    for wrong in ({1: 2}, [{"a": {None: 1}}]):
        with pytest.raises(TypeError, match="keys of type str"):
            thing.data = wrong
    assert thing.data is None and thing.more == {"k": [1]}


def test_sets_hold_none(thing):
    for bad in ([1], {"a": 1}, (1,)):
        with pytest.raises(TypeError):
            thing.mixture.add(bad)


def test_links_in_them(w, thing):
    other = w.create(Thing, id=2)
    thing.data = [other, {"o": other}]
    assert thing.data == [other, {"o": other}] and thing.data[0].id == 2
    with pytest.raises(realm.ArgumentError, match="add it first"):
        thing.data = [Thing(id=9)]
    w.delete(other)
    assert thing.data == [{"o": None}]


def test_defaults_are_copied_for_each_object(w, thing):
    thing.default.append(2)
    assert Thing.__realm_model__ and w.create(Thing, id=2).default == [1, {"a": []}]
    assert thing.default == [1, {"a": []}, 2]
    fresh = Thing(id=3)
    fresh.default.append(9)
    assert Thing(id=4).default == [1, {"a": []}]


def test_updates(w, thing):
    thing.data = {"a": [1]}
    view = thing.data["a"]
    w.create(Thing, id=1, data={"a": [1]}, update="modified")
    assert view.is_valid
    w.create(Thing, id=1, data={"a": [2]}, update="modified")
    assert thing.data == {"a": [2]}
    w.create(Thing, id=1, data=5, update="all")
    assert thing.data == 5


def test_views_are_not_pickled_but_copied(thing):
    thing.data = {"a": [1]}
    for view in (thing.data, thing.data["a"]):
        with pytest.raises(TypeError, match="copy()"):
            pickle.dumps(view)
        with pytest.raises(TypeError, match="unhashable"):
            hash(view)
    assert type(copy.copy(thing.data)) is dict and type(copy.deepcopy(thing.data)["a"]) is list
    assert thing.data.copy()["a"] == [1]


def test_reprs(thing):
    thing.data = {"a": [1, {"b": [[[]]]}]}
    assert repr(thing.data) == "<dict Thing.data: {'a': [1, {'b': [[...]]}]}>"
    assert repr(thing.data["a"]) == "<list Thing.data['a']: [1, {'b': [[[]]]}]>"
    assert "data={'a': [1, {'b': [...]}]}" in repr(thing)


def test_reading_ahead_ends_when_the_realm_moves(r):
    with r.write():
        thing = r.create(Thing, id=1, items=[[0], 1, 2], more={"a": [1], "b": "x" * 100})
    items, more = iter(thing.items), iter(thing.more.items())
    assert next(items) == [0] and next(more) == ("a", [1])
    with r.write():
        thing.items[1:] = [[5], "y" * 100, 7]
        thing.more["b"] = {"z": 1}
    assert list(items) == [[5], "y" * 100, 7] and list(more) == [("b", {"z": 1})]


def test_columns_of_results_hold_views(r):
    with r.write():
        for key, data in enumerate([[1], {"a": 2}, 3, None]):
            r.create(Thing, id=key, data=data)
    assert r.objects(Thing).values("data") == [[1], {"a": 2}, 3, None]
    assert r.objects(Thing).values("id", "data")[1] == (1, {"a": 2})
