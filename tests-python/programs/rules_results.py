"""Chapter 14: results."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import cmp_to_key
from typing import Any

from queries.syntax import Const, Query as Tree, Suffix
from queries.values import DECIMAL, is_nan, is_infinite, kind, order, wrap64

from .language import SyntaxProblem, read_suffix
from .model import (ANYTHING, BOUNDS, ILLEGAL, NO_PROPERTY, NO_TABLE_REF, OTHER_CLASS, SIZE_MAX,
                    STALE, Model, Open, Say, Stop, Target, fail, is_null, rule, shown)
from .results import WRONG_SORT, Base, Query, Results, checked
from .rules_lists import clear, nested_handle, same
from .rules_queries import SYNTAX
from .rules_realms import object_say
from .store import Collection, Fail, Nested, NestedMap, Object, Realm


def results_say(inst: Any, base: Base) -> Say:
    return Say(made=Results(inst, base, [], inst.epoch))


@rule("realm_object_find_all")
def find_all(m: Model, realm: Realm, key: Any) -> Say:
    inst = m.realm(realm)
    cls = m.cls(inst, key)
    inst.reading()
    return results_say(inst, Base("class", cls))


@rule("realm_list_to_results", "realm_set_to_results", "realm_dictionary_to_results")
def to_results(m: Model, handle: Collection) -> Say:
    m.collection(handle)
    cls = handle.inst.file.classes[handle.prop.target] if handle.prop.type == "link" else None
    return results_say(handle.inst, Base("collection", cls, collection=handle))


@rule("realm_dictionary_get_keys")
def keys(m: Model, handle: Collection) -> Say:
    items = m.collection(handle)
    say = results_say(handle.inst, Base("keys", None, collection=handle))
    say.outs = {"out_size": len(items)}
    return say


@rule("realm_get_backlinks")
def backlinks(m: Model, handle: Object, key: Any, prop_key: Any) -> Say:
    m.object(handle)
    inst = handle.inst
    cls = m.cls(inst, key)
    prop = m.prop(cls, prop_key)
    if prop.type != "link" or prop.target != handle.row.cls.name:
        raise Fail(NO_PROPERTY)
    return results_say(inst, Base("backlinks", cls, handle.row, prop=prop, origin=cls.name))


# ------------------------------------------------------------------------------------- access

@rule("realm_results_is_valid")
def is_valid(m: Model, results: Results) -> Say:
    return Say(outs={"out_is_valid": results.valid()})


@rule("realm_results_count")
def count(m: Model, results: Results) -> Say:
    return Say(outs={"out_count": len(elements(m, results))})


def elements(m: Model, results: Results) -> list[Any]:
    results.check(m)
    if results.primitive and results.limited():
        raise Open("a limit on values")  # [Q]
    return results.rows(m)


def element(m: Model, results: Results, index: int) -> Any:
    rows = elements(m, results)
    if index >= len(rows):
        raise Fail(BOUNDS)
    return rows[index]


def unordered(results: Results) -> bool:
    return results.base.kind == "backlinks"


@rule("realm_results_get")
def get(m: Model, results: Results, index: int) -> Say:
    value = element(m, results, index)
    if unordered(results) and len(elements(m, results)) > 1:
        raise Open("the order of linking objects")
    return Say(outs={"out_value": shown(value)})


@rule("realm_results_get_object")
def get_object(m: Model, results: Results, index: int) -> Say:
    if results.primitive:
        results.check(m)
        raise Fail(BOUNDS)
    row = element(m, results, index)
    if unordered(results) and len(elements(m, results)) > 1:
        raise Open("the order of linking objects")
    if row is None:
        raise Open("which object the handle of none is")
    return object_say(results.inst, row)


@rule("realm_results_get_list", "realm_results_get_dictionary")
def get_nested(m: Model, results: Results, index: int) -> Say:
    collection = results.base.collection
    if not results.primitive:
        m.either(lambda: results.check(m), lambda: fail(ILLEGAL))
    results.check(m)
    if collection is None or collection.prop.type != "mixed" or results.base.kind == "keys":
        m.either(lambda: fail(ILLEGAL), lambda: element(m, results, index))
    value = element(m, results, index)
    wanted = "list" if m.call.function.endswith("list") else "dict"
    if not isinstance(value, Nested if wanted == "list" else NestedMap):
        return Say(made=None)
    if collection.kind == "set":
        raise Stop("a collection in a set")
    return nested_handle(collection, wanted, value, index)


@rule("realm_results_find")
def find(m: Model, results: Results, value: Any) -> Say:
    rows = elements(m, results)
    if isinstance(value, Target):
        row = m.here(results.inst, value)
        if row is None and any(op == "snapshot" for op, _ in results.steps):
            raise Open("an object that is gone looked for in a snapshot")
        at = next((i for i, item in enumerate(rows) if item is row and row is not None), None)
    elif is_null(value):
        if not results.primitive:
            raise Open("null looked for in results over objects")
        at = next((i for i, item in enumerate(rows) if item is None), None)
    elif results.primitive:
        at = same_kind(results, rows, m.stored(results.inst, value), value)
    else:
        at = None
    if at is not None and unordered(results) and len(rows) > 1:
        raise Open("the order of linking objects")
    return Say(outs={"out_index": SIZE_MAX if at is None else at, "out_found": at is not None})


def same_kind(results: Results, rows: list[Any], wanted: Any, value: Any) -> int | None:
    if getattr(value, "name", "") in ("LIST", "DICTIONARY"):
        raise Open("a collection looked for in results")
    collection = results.base.collection
    mixed = collection is not None and collection.mixed and results.base.kind != "keys"
    return next((i for i, item in enumerate(rows) if same(item, wanted)
                 and (mixed or type(item) is type(wanted))), None)


@rule("realm_results_find_object")
def find_object(m: Model, results: Results, handle: Object) -> Say:
    results.check(m)
    if results.primitive:
        raise Open("an object looked for among values")
    m.either(lambda: handle.valid or fail(STALE),
             lambda: results.cls is handle.row.cls or fail(OTHER_CLASS))
    rows = elements(m, results)
    at = next((i for i, item in enumerate(rows) if item is handle.row), None)
    if at is not None and unordered(results) and len(rows) > 1:
        raise Open("the order of linking objects")
    return Say(outs={"out_index": SIZE_MAX if at is None else at, "out_found": at is not None})


# --------------------------------------------------------------------------------- refinement

@rule("realm_results_filter")
def filter_results(m: Model, results: Results, query: Query) -> Say:
    results.check(m)
    if query.inst.state == "closed":
        raise Stop("a query of a closed realm")
    if results.primitive or query.base.primitive:
        raise Stop("a filter of values")
    codes = set()
    if results.limited():
        codes.add(ILLEGAL)
    if query.base.cls is not results.cls:
        codes.add(NO_PROPERTY)
    if query.inst.file is not results.inst.file:
        raise Stop("a query of another file")
    if query.base.kind != "class" and (
            results.base.kind != "class" or any(op == "snapshot" for op, _ in results.steps)):
        raise Stop("results of a collection filtered by a query of another")
    if codes:
        raise Fail(*codes)
    made = results
    for tree in query.conditions:
        made = made.then("filter", tree)
    if query.base.kind != "class":
        made = made.then("within", query)
    return Say(made=made.copy())


@rule("realm_results_sort")
def sort(m: Model, results: Results, text: str) -> Say:
    return refined(m, results, "SORT", text)


@rule("realm_results_distinct")
def distinct(m: Model, results: Results, text: str) -> Say:
    return refined(m, results, "DISTINCT", text)


def refined(m: Model, results: Results, op: str, text: str) -> Say:
    results.check(m)
    try:
        suffix = read_suffix(op, text)
    except SyntaxProblem:
        if results.primitive:
            raise Fail(SYNTAX, NO_TABLE_REF) from None
        raise Fail(SYNTAX) from None
    if results.primitive:
        if "SELF" in text:
            raise Open("an order of values")
        raise Fail(NO_TABLE_REF)
    assert results.cls
    try:
        checked(results.inst.reading(), results.cls, Tree(Const(True), [suffix]))
    except Fail as failure:
        if WRONG_SORT in failure.codes:
            # 14.3: accepted by the call, and unusable; the rules of the language refuse it here.
            raise Stop("an order by a collection") from None
        raise
    return Say(made=results.then(op, suffix))


@rule("realm_results_limit")
def limit(m: Model, results: Results, number: int) -> Say:
    results.check(m)
    return Say(made=results.then("LIMIT", Suffix("LIMIT", limit=number)))


@rule("realm_results_get_query")
def get_query(m: Model, results: Results) -> Say:
    results.check(m)
    if results.primitive or any(op == "snapshot" for op, _ in results.steps):
        raise Stop("the query of values or of a snapshot")
    if any(op == "within" or (op in ("LIMIT", "OFFSET") and what in results.texted)
           for op, what in results.steps):
        raise Stop("the query of results that a collection or the limit of a text restricts")
    conditions = [what for op, what in results.steps if op == "filter"]
    # 14.3 as corrected: a DISTINCT that the text of a query brought stays.
    kept = [what for op, what in results.steps if op == "DISTINCT" and what in results.texted]
    return Say(made=Query(results.inst, results.base, conditions, kept))


@rule("realm_results_snapshot")
def snapshot(m: Model, results: Results) -> Say:
    results.check(m)
    if results.primitive:
        return Say(made=results.copy())
    return Say(made=results.then("snapshot", elements(m, results)))


@rule("realm_results_delete_all")
def delete_all(m: Model, results: Results) -> Say:
    results.check(m)
    state = m.writing(results.inst)
    collection = results.base.collection
    if results.primitive or (collection is not None and collection.kind == "dict"):
        if results.steps or results.base.kind == "keys" or collection is None:
            raise Stop("some values of a collection deleted")
        return clear(m, collection)
    for row in elements(m, results):
        if row is not None:
            state.delete(row)
    return Say()


# --------------------------------------------------------------------------------- aggregates

NUMERIC = ("int", "float", "double", "decimal128")


def aggregated(m: Model, results: Results, key: Any) -> tuple[str, list[Any]]:
    """The type and the values that an aggregate is of."""
    results.check(m)
    collection = results.base.collection
    if results.primitive:
        if results.base.kind == "keys" or collection is None:
            return "string", elements(m, results)
        return collection.prop.type, elements(m, results)
    assert results.cls
    prop = m.prop(results.cls, key)
    rows = elements(m, results)
    if prop.coll:
        return "collection", []
    state = results.inst.reading()
    return prop.type, [None if row is None else state.rows[row][prop.name] for row in rows]


def extreme(m: Model, results: Results, key: Any, name: str, sign: int) -> Say:
    type, values = aggregated(m, results, key)
    if type not in (*NUMERIC, "timestamp", "mixed"):
        raise Fail(ILLEGAL)
    known = [v for v in values if v is not None and not is_nan(v)]
    if type == "mixed" and any(isinstance(v, (list, dict)) for v in known):
        raise Open("the extremes of collections in mixed values")
    if not known:
        return Say(outs={name: None, "out_found": False})
    best = sorted(known, key=cmp_to_key(order), reverse=sign < 0)[0]
    if sum(order(v, best) == 0 for v in known) > 1 and type == "mixed":
        return Say(outs={name: ANYTHING, "out_found": True})
    return Say(outs={name: best, "out_found": True}, near=True)


@rule("realm_results_min")
def minimum(m: Model, results: Results, key: Any) -> Say:
    return extreme(m, results, key, "out_min", 1)


@rule("realm_results_max")
def maximum(m: Model, results: Results, key: Any) -> Say:
    return extreme(m, results, key, "out_max", -1)


def numbers_of(type: str, values: list[Any]) -> list[Any]:
    known = [v for v in values if v is not None and not is_nan(v)]
    if type == "mixed":
        known = [v for v in known if kind(v) == "number"]
        if any(isinstance(v, float) for v in known):
            raise Open("the digits of floats as decimals")
    if any(is_infinite(v) for v in known):
        raise Open("a sum with infinities")
    return known


def total(type: str, known: list[Any]) -> Any:
    if type == "int":
        return wrap64(sum(known))
    if type in ("float", "double"):
        return float(sum(Fraction(float(v)) for v in known))
    result = Decimal(0)
    for value in known:
        result = DECIMAL.add(result, Decimal(value))
    return result


@rule("realm_results_sum")
def sum_of(m: Model, results: Results, key: Any) -> Say:
    type, values = aggregated(m, results, key)
    if type not in (*NUMERIC, "mixed"):
        raise Fail(ILLEGAL)
    collection = results.base.collection
    if type == "mixed" and not values and collection is not None and collection.kind == "dict":
        return Say(outs={"out_sum": ANYTHING, "out_found": False})
    made = total(type, numbers_of(type, values))
    return Say(outs={"out_sum": made, "out_found": bool(values)}, near=True)


@rule("realm_results_average")
def average(m: Model, results: Results, key: Any) -> Say:
    type, values = aggregated(m, results, key)
    if type not in (*NUMERIC, "mixed"):
        raise Fail(ILLEGAL)
    known = numbers_of(type, values)
    if not known:
        return Say(outs={"out_average": None, "out_found": False})
    if type in ("decimal128", "mixed"):
        made: Any = DECIMAL.divide(total(type, known), Decimal(len(known)))
    else:
        made = float(sum(Fraction(v) for v in known) / len(known))
    return Say(outs={"out_average": made, "out_found": True}, near=True)
