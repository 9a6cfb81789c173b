"""Extensions of the header that read much at once, and logging (1.6)."""

from __future__ import annotations

from typing import Any

from queries.syntax import Suffix

from .model import BOUNDS, Model, Open, Say, rule, shown
from .results import Results
from .rules_handles import CATEGORY_NAMES
from .rules_results import elements as elements_of, unordered
from .store import Collection, Fail, elements, entries

INFO = 4
LARGEST = 2**63


def part(items: list[Any], first: int, count: int) -> list[Any]:
    if first >= LARGEST or count >= LARGEST:
        raise Fail(BOUNDS)  # "positions that no array has"
    return items[first:first + count]


def filled(items: list[Any], count: int) -> list[Any]:
    return [shown(item) for item in items] + ["untouched"] * (max(count, 1) - len(items))


@rule("realm_list_get_values", "realm_set_get_values")
def get_values(m: Model, handle: Collection, first: int, count: int) -> Say:
    m.either(lambda: m.collection(handle), lambda: part([], first, count))
    found = part(elements(handle, m.collection(handle)), first, count)
    return Say(outs={"out_values": filled(found, count), "out_count": len(found)})


@rule("realm_dictionary_get_entries")
def get_entries(m: Model, handle: Collection, first: int, count: int) -> Say:
    m.either(lambda: m.collection(handle), lambda: part([], first, count))
    found = part(entries(m.collection(handle)), first, count)
    return Say(outs={"out_keys": filled([key for key, _ in found], count),
                     "out_values": filled([value for _, value in found], count),
                     "out_count": len(found)})


@rule("realm_results_read_keys")
def read_keys(m: Model, results: Results, first: int, count: int) -> Say:
    if results.primitive:
        raise Open("object keys of values")
    rows = elements_of(m, results)
    if unordered(results) or None in rows and results.base.kind == "collection":
        raise Open("the order of linking objects, or the key of no object")
    found = part(rows, first, count)
    return Say(outs={"out_keys": [-1 if row is None else row for row in found]
                     + ["untouched"] * (max(count, 1) - len(found)), "out_count": len(found)})


@rule("realm_results_offset")
def offset(m: Model, results: Results, count: int) -> Say:
    results.check(m)
    return Say(made=results.then("OFFSET", Suffix("OFFSET", limit=min(count, LARGEST - 1))))


# ----------------------------------------------------------------------------------- logging

@rule("realm_set_log_level")
def set_level(m: Model, level: int) -> Say:
    m.levels = {name: level for name in CATEGORY_NAMES}
    return Say(None)


@rule("realm_set_log_level_category")
def set_category(m: Model, name: str, level: int) -> Say:
    if name not in CATEGORY_NAMES:
        return Say(INFO)
    before = m.levels.get(name, INFO)
    for other in CATEGORY_NAMES:
        if other == name or other.startswith(f"{name}."):
            m.levels[other] = level
    return Say(before)


@rule("realm_get_log_level_category")
def get_category(m: Model, name: str) -> Say:
    return Say(m.levels.get(name, INFO) if name in CATEGORY_NAMES else INFO)
