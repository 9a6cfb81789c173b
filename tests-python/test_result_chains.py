"""Random chains of filters, orders and cuts against the same steps on plain lists: each step works on
what the one before it left, in results over classes, lists, backlinks, snapshots and values."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import pytest

import realm

SEED = int(os.environ.get("REALM_TEST_SEED", "0")) or random.randrange(1 << 32)


class Group(realm.Object):
    name: str = realm.PrimaryKey()
    rank: int = 0


class Item(realm.Object):
    id: int = realm.PrimaryKey()
    rank: int = realm.Indexed(default=0)
    colour: str = ""
    group: Group | None = None


class Box(realm.Object):
    id: int = realm.PrimaryKey()
    items: list[Item]
    numbers: list[int | None]


def unique(key: Callable[[Any], Any]) -> Callable[[list[Any]], list[Any]]:
    def first_ones(elements: list[Any]) -> list[Any]:
        seen: set[Any] = set()
        return [e for e in elements if not (key(e) in seen or seen.add(key(e)))]
    return first_ones


def cut(chain: random.Random) -> tuple[str, Callable[[Any], Any], Callable[[list[Any]], list[Any]]]:
    count = chain.choice([0, 1, 2, 5, 9, 1000])
    if chain.random() < 0.5:
        return f"limit({count})", lambda r: r.limit(count), lambda e: e[:count]
    return f"offset({count})", lambda r: r.offset(count), lambda e: e[count:]


Step = tuple[str, Callable[[Any], Any], Callable[[list[Any]], list[Any]]]


def step_of_items(chain: random.Random) -> Step:
    most = chain.choice([0, 2, 5, 8, 100])
    below = [("filter", lambda r: r.filter("rank < $0", most)),
             ("where", lambda r: r.where(Item.rank < most)),
             ("filter_format", lambda r: r.filter_format("rank < %d", most))]
    how, filtered = chain.choice(below)
    steps: list[Step] = [
        (f"{how} rank < {most}", filtered, lambda e: [i for i in e if i.rank < most]),
        ("filter red", lambda r: r.filter("colour == 'red'"),
         lambda e: [i for i in e if i.colour == "red"]),
        (f"filter of ranked groups SORT LIMIT({most})",
         lambda r: r.filter(f"group.rank > 2 SORT(id DESC) LIMIT({most})"),
         lambda e: sorted((i for i in e if i.group and i.group.rank > 2),
                          key=lambda i: -i.id)[:most]),
        ("sorted rank", lambda r: r.sorted("rank"), lambda e: sorted(e, key=lambda i: i.rank)),
        ("sorted -colour, id", lambda r: r.sorted("-colour", Item.id),
         lambda e: sorted(sorted(e, key=lambda i: i.id), key=lambda i: i.colour, reverse=True)),
        ("distinct rank", lambda r: r.distinct("rank"), unique(lambda i: i.rank)),
        ("distinct colour", lambda r: r.distinct(Item.colour), unique(lambda i: i.colour)),
        ("distinct group.rank", lambda r: r.distinct("group.rank"),
         lambda e: unique(lambda i: i.group.rank)([i for i in e if i.group])),
        ("snapshot", lambda r: r.snapshot(), lambda e: e),
        cut(chain), cut(chain)]
    return chain.choice(steps)


def step_of_numbers(chain: random.Random) -> Step:
    def order(n: int | None) -> tuple[bool, int]:
        return n is not None, n or 0

    most = chain.choice([0, 3, 6])
    steps: list[Step] = [
        (f"filter SELF < {most}", lambda r: r.filter("SELF < $0", most),
         lambda e: [n for n in e if n is not None and n < most]),
        ("where not null", lambda r: r.where(lambda n: ~n.is_null()),
         lambda e: [n for n in e if n is not None]),
        ("filter SORT OFFSET", lambda r: r.filter("SELF != 4 SORT(SELF DESC) OFFSET(1)"),
         lambda e: sorted((n for n in e if n != 4), key=order, reverse=True)[1:]),
        ("sorted", lambda r: r.sorted(), lambda e: sorted(e, key=order)),
        ("distinct", lambda r: r.distinct(), unique(lambda n: n)),
        ("snapshot", lambda r: r.snapshot(), lambda e: e),
        cut(chain), cut(chain)]
    return chain.choice(steps)


def check(results: Any, expected: list[Any], what: str, chain: random.Random) -> None:
    if expected and chain.random() < 0.4:
        # A part first, which must not pass for the whole.
        assert results[len(expected) // 2] == expected[len(expected) // 2], what
    assert list(results) == expected, what
    assert len(results) == len(expected), what
    assert results.first() == (expected[0] if expected else None), what
    if len(expected) > 1:
        assert results[-1] == expected[-1] and results[1:3] == expected[1:3], what


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Any:
    chain = random.Random(SEED)
    path = tmp_path_factory.mktemp("chains") / "chains.realm"
    with realm.open(path, classes=[Group, Item, Box]) as r:
        with r.write():
            groups = [r.create(Group, name=f"g{i}", rank=i) for i in range(6)]
            items = [r.create(Item, id=i, rank=chain.randrange(10),
                              colour=chain.choice(["red", "green", "blue"]),
                              group=chain.choice([*groups, None])) for i in range(60)]
            box = r.create(Box, id=1)
            box.items.extend(chain.choice(items) for _ in range(40))
            box.numbers.extend(chain.choice([None, *range(7)]) for _ in range(30))
        yield r


def test_chains_give_what_the_same_steps_on_lists_give(filled: Any) -> None:
    chain, r = random.Random(SEED), filled
    box, group = r.find(Box, 1), r.find(Group, "g3")
    for number in range(int(os.environ.get("REALM_CHAIN_ROUNDS", "250"))):
        source = number % 4
        results = [lambda: r.objects(Item), lambda: box.items.results(),
                   lambda: r.backlinks(group, Item, "group"),
                   lambda: box.numbers.results()][source]()
        expected, done = list(results), [f"REALM_TEST_SEED={SEED}, chain {number} of source {source}"]
        for _ in range(chain.randrange(1, 6)):
            text, step, plain = (step_of_numbers if source == 3 else step_of_items)(chain)
            done.append(text)
            results, expected = step(results), plain(expected)
            check(results, expected, "; ".join(done), chain)


def test_chains_stay_live(filled: Any) -> None:
    """Steps are applied anew when something changes; in the transaction and after it."""
    chain, r = random.Random(SEED + 1), filled
    box = r.find(Box, 1)
    sources: list[tuple[Callable[[], Any], Callable[[random.Random], Step]]] = [
        (lambda: r.objects(Item), step_of_items), (lambda: box.items.results(), step_of_items),
        (lambda: box.numbers.results(), step_of_numbers)]
    kept = []
    for number in range(24):
        source, kind = sources[number % 3]
        steps = [s for s in (kind(chain) for _ in range(4)) if s[0] != "snapshot"]
        results = source()
        for _, step, _ in steps:
            results = step(results)
        kept.append((source, steps, results))

    def compare(when: str) -> None:
        for source, steps, results in kept:
            expected = list(source())
            for _, _, plain in steps:
                expected = plain(expected)
            what = f"REALM_TEST_SEED={SEED}, {when}: " + "; ".join(text for text, _, _ in steps)
            check(results, expected, what, chain)

    compare("at first")
    for round in range(12):
        with r.write():
            for _ in range(3):
                chain.choice(list(r.objects(Item))).rank = chain.randrange(10)
                box.items[chain.randrange(len(box.items))] = chain.choice(list(r.objects(Item)))
                box.numbers.append(chain.randrange(7))
                compare(f"in transaction {round}")
        compare(f"after transaction {round}")
