"""Collections of a stored object beside Python's own: the same operations, the same outcomes.

Each step runs one function on two holders, a stored object and a plain one with lists, sets and dicts. Results must be equal,
and where Python raises, the same builtin exception must come from both. Transactions, rollbacks and
reopening happen in between.
"""

from __future__ import annotations

import copy
import os
import shutil
import tempfile
from types import SimpleNamespace
from typing import Any

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (RuleBasedStateMachine, initialize, invariant, precondition, rule,
                                 run_state_machine_as_test)

import realm
from campaigns import Campaign


class Holder(realm.Object):
    key: int = realm.PrimaryKey()
    ints: list[int | None]
    texts: list[str]
    doubles: list[float]
    numbers: set[int]
    words: set[str]
    table: dict[str, int | None]
    tree: list[Any]


KINDS = {"ints": list, "texts": list, "doubles": list, "numbers": set, "words": set, "table": dict,
         "tree": list}

integers = st.integers(-3, 3)
values = {
    "ints": st.none() | integers | st.integers(-(2**63), 2**63 - 1),
    "texts": st.sampled_from(["", "a", "b", "ab", "é", "x" * 300]),
    "doubles": st.sampled_from([0.0, 1.5, -2.0, 1e300, float("inf")]),
    "numbers": integers,
    "words": st.sampled_from(["", "a", "b", "ab", "é"]),
    "table": st.none() | integers,
    "tree": st.recursive(
        st.none() | integers | st.sampled_from(["", "a"]),
        lambda inner: st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
        max_leaves=4,
    ),
}
keys = st.sampled_from(["", "a", "b", "c", "é"])
indexes = st.integers(-7, 7) | st.sampled_from([99, -99])
bounds = st.none() | indexes
slices = st.builds(slice, bounds, bounds, st.sampled_from([None, 1, 2, -1, -2, 0]))
lists = st.sampled_from(["ints", "texts", "doubles"])
sets = st.sampled_from(["numbers", "words"])


def plain(value: Any) -> Any:
    """A result as plain values; what is lazy is read."""
    if isinstance(value, (list, realm.List)):
        return [plain(item) for item in value]
    if isinstance(value, (dict, realm.Dictionary)):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, realm.Set):
        return set(value)
    return value


def elements(value: Any) -> list[Any]:
    """What iterating gives; the keys of dictionaries are in the engine's order, so in any."""
    if isinstance(value, (dict, realm.Dictionary)):
        return sorted(value)
    return list(value)


def outcome(function: Any, holder: Any) -> Any:
    try:
        return plain(function(holder))
    except (LookupError, ValueError, TypeError, RuntimeError, AttributeError) as error:
        return error


class Containers(RuleBasedStateMachine):
    @initialize()
    def open(self) -> None:
        self.directory = tempfile.mkdtemp(prefix="realm-containers-")
        self.path = os.path.join(self.directory, "a.realm")
        self.r = realm.open(self.path, classes=[Holder])
        with self.r.write():
            self.stored = self.r.create(Holder, key=1)
        self.plain = SimpleNamespace(**{name: kind() for name, kind in KINDS.items()})
        self.saved: Any = None
        self.begin()

    def teardown(self) -> None:
        if hasattr(self, "r"):
            self.r.close()
            shutil.rmtree(self.directory)

    def both(self, function: Any) -> None:
        wanted = outcome(function, self.plain)
        got = outcome(function, self.stored)
        if isinstance(wanted, Exception):
            assert isinstance(got, type(wanted)), (wanted, got)
        else:
            assert type(got) is type(wanted) and got == wanted, (wanted, got)

    def writing(self) -> bool:
        return self.saved is not None

    # ---- transactions ----------------------------------------------------------------------

    @precondition(lambda self: not self.writing())
    @rule()
    def begin(self) -> None:
        self.saved = copy.deepcopy(self.plain)
        self.r.begin_write()

    @precondition(writing)
    @rule()
    def commit(self) -> None:
        self.r.commit()
        self.saved = None

    @precondition(writing)
    @rule()
    def roll_back(self) -> None:
        self.r.rollback()
        self.plain, self.saved = self.saved, None

    @precondition(lambda self: not self.writing())
    @rule()
    def reopen(self) -> None:
        self.r.close()
        self.r = realm.open(self.path, classes=[Holder])
        self.stored = self.r.find(Holder, 1)

    # ---- lists -----------------------------------------------------------------------------

    @precondition(writing)
    @rule(name=lists, data=st.data(), index=indexes, part=slices, which=st.integers(0, 15))
    def change_a_list(self, name, data, index, part, which):
        value = data.draw(values[name])
        more = data.draw(st.lists(values[name], max_size=4))

        def add(h):
            setattr(h, name, getattr(h, name) + more)

        def multiply(h):
            items = getattr(h, name)
            items *= 2 if len(items) < 20 else 0

        def extend_in_place(h):
            items = getattr(h, name)
            items += more
            assert items is not None

        self.both([
            lambda h: getattr(h, name).append(value),
            lambda h: getattr(h, name).insert(index, value),
            lambda h: getattr(h, name).extend(more),
            lambda h: getattr(h, name).extend(iter(more)),
            lambda h: getattr(h, name).__setitem__(index, value),
            lambda h: getattr(h, name).__delitem__(index),
            lambda h: getattr(h, name).__setitem__(part, more),
            lambda h: getattr(h, name).__delitem__(part),
            lambda h: getattr(h, name).pop(),
            lambda h: getattr(h, name).pop(index),
            lambda h: getattr(h, name).remove(value),
            lambda h: getattr(h, name).reverse(),
            lambda h: getattr(h, name).sort(key=repr, reverse=index > 0),
            add, multiply, extend_in_place,
        ][which])

    @precondition(writing)
    @rule(name=lists)
    def sort_a_list(self, name):
        before = list(getattr(self.plain, name))
        self.both(lambda h: getattr(h, name).sort())
        try:
            sorted(before)
        except TypeError:
            # Python leaves its list sorted in part, the stored one is as it was.
            setattr(self.plain, name, before)

    @precondition(writing)
    @rule(name=lists | sets | st.just("table"))
    def clear(self, name):
        self.both(lambda h: getattr(h, name).clear())

    @precondition(writing)
    @rule(name=lists, data=st.data())
    def change_a_list_while_walking_over_it(self, name, data):
        value = data.draw(values[name])

        def walk(h):
            seen, items = [], getattr(h, name)
            for item in items:
                seen.append(item)
                if item == value:
                    items.remove(item)
                elif len(seen) == 2 and len(items) < 20:
                    items.append(value)
            return seen

        self.both(walk)

    @rule(name=lists, data=st.data(), index=indexes, part=slices, start=indexes, stop=indexes)
    def read_a_list(self, name, data, index, part, start, stop):
        value = data.draw(values[name])
        other = data.draw(st.lists(values[name], max_size=3))
        for function in (
            lambda items: items[index], lambda items: items[part], lambda items: value in items,
            lambda items: items.index(value), lambda items: items.index(value, start),
            lambda items: items.index(value, start, stop), lambda items: items.count(value),
            lambda items: items + other, lambda items: other + items, lambda items: items * 2,
            lambda items: 0 * items, lambda items: items == other, lambda items: items != other,
            lambda items: items < other, lambda items: items >= other, lambda items: other <= items,
            lambda items: list(reversed(items)), lambda items: len(items), lambda items: bool(items),
            lambda items: items.copy(), lambda items: copy.copy(items), lambda items: [*items],
            lambda items: copy.deepcopy(items), lambda items: items == tuple(items),
            lambda items: next(iter(items), None), lambda items: sorted(items, key=repr),
        ):
            self.both(lambda h: function(getattr(h, name)))

    @rule(name=lists)
    def misuse_a_list(self, name):
        for function in (
            lambda items: items["a"], lambda items: items[1.5], lambda items: items[None],
            lambda items: items[::0], lambda items: items + 5, lambda items: items + (1,),
            lambda items: items < 5, lambda items: items * "a", lambda items: hash(items),
            lambda items: items.index(), lambda items: items.pop("a"), lambda items: items.nothing,
            lambda items: items.insert("a", 1), lambda items: items.extend(5),
            lambda items: items.__delitem__("a"), lambda items: items.__setitem__("a", 1),
        ):
            self.both(lambda h: function(getattr(h, name)))

    # ---- sets ------------------------------------------------------------------------------

    @precondition(writing)
    @rule(name=sets, data=st.data(), which=st.integers(0, 11))
    def change_a_set(self, name, data, which):
        value = data.draw(values[name])
        other = data.draw(st.sets(values[name], max_size=4))

        def in_place(operator):
            def change(h):
                items = getattr(h, name)
                setattr(h, name, getattr(items, operator)(other))
            return change

        self.both([
            lambda h: getattr(h, name).add(value),
            lambda h: getattr(h, name).discard(value),
            lambda h: getattr(h, name).remove(value),
            lambda h: getattr(h, name).update(other, [value]),
            lambda h: getattr(h, name).intersection_update(other),
            lambda h: getattr(h, name).difference_update(other, [value]),
            lambda h: getattr(h, name).symmetric_difference_update(other),
            in_place("__ior__"), in_place("__iand__"), in_place("__isub__"), in_place("__ixor__"),
            lambda h: setattr(h, name, other | {value}),
        ][which])

    @precondition(writing)
    @rule(name=sets)
    def pop_from_a_set(self, name):
        if not getattr(self.plain, name):
            self.both(lambda h: getattr(h, name).pop())
            return
        value = getattr(self.stored, name).pop()
        getattr(self.plain, name).remove(value)

    @rule(name=sets, data=st.data())
    def read_a_set(self, name, data):
        value = data.draw(values[name])
        other = data.draw(st.sets(values[name], max_size=4))
        frozen = frozenset(other)
        for function in (
            lambda s: value in s, lambda s: s | other, lambda s: other | s, lambda s: s & other,
            lambda s: other & s, lambda s: s - other, lambda s: other - s, lambda s: s ^ other,
            lambda s: other ^ s, lambda s: s == other, lambda s: s != frozen, lambda s: s <= other,
            lambda s: s < other, lambda s: s >= frozen, lambda s: s > other, lambda s: other <= s,
            lambda s: s.union(other, [value]), lambda s: s.intersection(other, [value]),
            lambda s: s.difference([value]), lambda s: s.symmetric_difference([value]),
            lambda s: s.issubset([value]), lambda s: s.issuperset([value]), lambda s: len(s),
            lambda s: s.isdisjoint([value]), lambda s: s.copy(), lambda s: copy.deepcopy(s),
            lambda s: sorted(s), lambda s: set(s), lambda s: bool(s), lambda s: s == [value],
        ):
            self.both(lambda h: function(getattr(h, name)))

    @rule(name=sets)
    def misuse_a_set(self, name):
        for function in (
            lambda s: s | [1], lambda s: [1] & s, lambda s: s - 5, lambda s: s ^ None,
            lambda s: s <= [1], lambda s: [1] in s, lambda s: s.remove([1]), lambda s: s[0],
            lambda s: s.discard({}), lambda s: s.update(5), lambda s: hash(s), lambda s: s + {1},
            lambda s: s.__ior__([1]) is NotImplemented, lambda s: s.union(5),
        ):
            self.both(lambda h: function(getattr(h, name)))

    # ---- dictionaries ----------------------------------------------------------------------

    @precondition(writing)
    @rule(key=keys, value=values["table"], which=st.integers(0, 9),
          other=st.dictionaries(keys, values["table"], max_size=3))
    def change_the_dictionary(self, key, value, other, which):
        def in_place(h):
            h.table |= other

        def pairs_in_place(h):
            h.table |= [(key, value)]

        self.both([
            lambda h: h.table.__setitem__(key, value), lambda h: h.table.__delitem__(key),
            lambda h: h.table.pop(key), lambda h: h.table.pop(key, 9),
            lambda h: h.table.setdefault(key, value), lambda h: h.table.update(other, a=value),
            lambda h: h.table.update([(key, value)]), in_place, pairs_in_place,
            lambda h: setattr(h, "table", other),
        ][which])

    @precondition(writing)
    @rule()
    def pop_an_item(self):
        if not self.plain.table:
            self.both(lambda h: h.table.popitem())
            return
        key, value = self.stored.table.popitem()
        assert key == max(self.plain.table) and self.plain.table.pop(key) == value

    @rule(key=keys, value=values["table"],
          other=st.dictionaries(keys, values["table"], max_size=3))
    def read_the_dictionary(self, key, value, other):
        for function in (
            lambda d: d[key], lambda d: d.get(key), lambda d: d.get(key, 7), lambda d: key in d,
            lambda d: d | other, lambda d: other | d, lambda d: d == other, lambda d: d != other,
            lambda d: len(d), lambda d: bool(d), lambda d: sorted(d), lambda d: dict(d),
            lambda d: sorted(d.keys()), lambda d: sorted(d.items(), key=repr), lambda d: {**d},
            lambda d: sorted(d.values(), key=repr), lambda d: value in d.values(), lambda d: d.copy(),
            lambda d: (key, value) in d.items(), lambda d: d.keys() & other, lambda d: d.keys() | {1},
            lambda d: d.keys() - other.keys(), lambda d: d.keys() == other.keys(), lambda d: 5 in d,
            lambda d: d.items() == other.items(), lambda d: sorted(reversed(d)), lambda d: d.get(5),
            lambda d: copy.deepcopy(d), lambda d: len(d.values()), lambda d: d == [], lambda d: d[5],
            lambda d: d.keys().isdisjoint(other), lambda d: sorted(reversed(d.keys())),
        ):
            self.both(lambda h: function(h.table))

    @rule()
    def misuse_the_dictionary(self):
        for function in (
            lambda d: d[[1]], lambda d: [1] in d, lambda d: d.get([1]), lambda d: d | [1],
            lambda d: d.__delitem__(7), lambda d: d.pop(7), lambda d: hash(d), lambda d: d < {},
            lambda d: d.update(5), lambda d: d.nothing, lambda d: d.pop(),
        ):
            self.both(lambda h: function(h.table))

    @precondition(writing)
    @rule(name=st.sampled_from(["numbers", "table"]))
    def a_walk_ends_when_the_size_changes(self, name):
        def walk(h):
            for item in getattr(h, name):
                if name == "numbers":
                    h.numbers.add(99)
                else:
                    h.table["zz"] = 1

        def tidy(h):
            h.numbers.discard(99)
            h.table.pop("zz", None)

        self.both(tidy)
        self.both(walk)
        self.both(tidy)

    # ---- lists and dicts in values of any type ---------------------------------------------

    @precondition(writing)
    @rule(value=values["tree"], index=indexes, key=st.sampled_from(["a", "b"]), part=slices,
          which=st.integers(0, 11))
    def change_the_tree(self, value, index, key, part, which):
        def fresh():
            return copy.deepcopy(value)

        def set_first(h):
            inner = h.tree[index]
            inner[0 if isinstance(inner, (list, realm.List)) else "c"] = fresh()

        def extend_inner(h):
            h.tree[index] += [fresh()]

        def walk(h):
            for item in h.tree:
                if isinstance(item, (list, realm.List)) and len(item) < 9:
                    item.append(1)

        self.both([
            lambda h: h.tree.append(fresh()), lambda h: h.tree.insert(index, fresh()),
            lambda h: h.tree.__setitem__(index, fresh()), lambda h: h.tree.__delitem__(index),
            lambda h: h.tree[index].append(fresh()), lambda h: h.tree[index].__setitem__(key, fresh()),
            set_first, lambda h: h.tree[index][key].append(1),
            lambda h: h.tree.__setitem__(part, [fresh(), 1]), lambda h: h.tree.reverse(),
            extend_inner, walk,
        ][which])
        if len(self.plain.tree) > 12:
            self.both(lambda h: h.tree.clear())

    @rule(value=values["tree"], index=indexes, key=st.sampled_from(["a", "b"]), part=slices)
    def read_the_tree(self, value, index, key, part):
        for function in (
            lambda t: t[index], lambda t: t[part], lambda t: value in t, lambda t: t.index(value),
            lambda t: t.count(value), lambda t: t[index][key], lambda t: t[index][0],
            lambda t: len(t[index]), lambda t: elements(t[index]), lambda t: copy.deepcopy(t),
            lambda t: t == [value], lambda t: t[0] == value, lambda t: value in t[index],
        ):
            self.both(lambda h: function(h.tree))

    # ---- always ----------------------------------------------------------------------------

    @invariant()
    def the_same(self):
        if not hasattr(self, "r"):
            return
        for name in KINDS:
            stored, wanted = getattr(self.stored, name), getattr(self.plain, name)
            assert stored == wanted and wanted == stored, name
            assert plain(stored) == wanted and len(stored) == len(wanted), name


def test_random_programs_do_what_containers_of_python_do() -> None:
    # Shrinking runs long programs again and again; the seed that is printed replays them.
    wanted = settings(
        max_examples=5, stateful_step_count=50, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck))
    for number in Campaign("containers", seconds=8, at_least=3):
        run_state_machine_as_test(seed(number)(Containers), settings=wanted)
