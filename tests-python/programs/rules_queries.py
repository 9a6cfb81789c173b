"""Chapter 13: queries."""

from __future__ import annotations

from typing import Any

from queries.syntax import Const, Query as Tree

from .language import MissingArgument, SyntaxProblem, read
from .model import (CLOSED, ILLEGAL, NO_TABLE_REF, Model, Open, Say, Stop, Target, fail, is_null,
                    rule)
from .results import WRONG_ARGUMENT, Base, Query, Results, checked
from .store import Collection, Fail, Instance, Realm

SYNTAX = 3008


def tree_of(m: Model, inst: Instance, cls: Any, text: str, args: list[Any]) -> Tree:
    """A query bound to a class; its errors are told here."""
    state = inst.reading()
    values = []
    for arg in args:
        items = [plain(m, inst, item) for item in (arg if isinstance(arg, list) else [arg])]
        values.append(items if isinstance(arg, list) else items[0])
    try:
        tree = read(text, values)
    except SyntaxProblem:
        raise Fail(SYNTAX) from None
    except MissingArgument:
        # E2: names come first; but before an unknown name in a clause of order (the issue).
        filler: list[Any] = [None] * 10
        if cls is not None:
            missing_name(m, inst, cls, text, filler)
        raise Fail(WRONG_ARGUMENT) from None
    if cls is not None:
        checked(state, cls, tree)
    elif not isinstance(tree.pred, Const) or tree.suffixes:
        raise Open("a query over values")
    return tree


def missing_name(m: Model, inst: Instance, cls: Any, text: str, filler: list[Any]) -> None:
    tree = read(text, filler)
    try:
        checked(inst.reading(), cls, Tree(tree.pred, []))
    except Fail as failure:
        # What the filler itself gets wrong is not told.
        raise Fail(WRONG_ARGUMENT, *failure.codes) from None


def plain(m: Model, inst: Instance, value: Any) -> Any:
    if is_null(value):
        return None
    if isinstance(value, Target):
        row = m.here(inst, value)
        if row is None:
            raise Open("a link to nothing as an argument")
        return row
    if getattr(value, "name", "") in ("LIST", "DICTIONARY"):
        raise Open("a collection as an argument")
    return value


@rule("realm_query_parse")
def parse(m: Model, realm: Realm, key: Any, text: str, args: list[Any]) -> Say:
    inst = m.realm(realm)
    cls = m.cls(inst, key)
    tree = tree_of(m, inst, cls, text, args)
    return Say(made=Query(inst, Base("class", cls), [tree], tree.suffixes))


@rule("realm_query_append_query")
def append(m: Model, query: Query, text: str, args: list[Any]) -> Say:
    if query.inst.state == "closed":
        raise Open("a query of a closed realm")
    tree = tree_of(m, query.inst, query.base.cls, text, args)
    return Say(made=Query(query.inst, query.base, [*query.conditions, tree],
                          [*query.suffixes, *tree.suffixes]))


@rule("realm_query_parse_for_list", "realm_query_parse_for_set")
def parse_for(m: Model, handle: Collection, text: str, args: list[Any]) -> Say:
    if handle.prop.type != "link":
        m.either(lambda: m.collection(handle), lambda: fail(ILLEGAL))
    m.collection(handle)
    cls = handle.inst.file.classes[handle.prop.target]
    tree = tree_of(m, handle.inst, cls, text, args)
    return Say(made=Query(handle.inst, Base("collection", cls, collection=handle), [tree],
                          tree.suffixes))


@rule("realm_query_parse_for_results")
def parse_for_results(m: Model, results: Results, text: str, args: list[Any]) -> Say:
    results.check(m)
    if results.primitive:
        raise Fail(NO_TABLE_REF)
    if any(op == "snapshot" for op, _ in results.steps):
        raise Stop("a query over a snapshot")
    tree = tree_of(m, results.inst, results.cls, text, args)
    if any(op == "DISTINCT" for op, _ in results.steps):
        raise Open("a query over distinct results")
    conditions = [what for op, what in results.steps if op == "filter"]
    return Say(made=Query(results.inst, results.base, [*conditions, tree], tree.suffixes))


@rule("realm_query_get_description")
def description(m: Model, query: Query) -> Say:
    raise Open("the text of a description")


@rule("realm_query_count")
def count(m: Model, query: Query) -> Say:
    if query.inst.state == "closed":
        raise Open("a query of a closed realm")
    return Say(outs={"out_count": len(query.rows())})


@rule("realm_query_find_first")
def find_first(m: Model, query: Query) -> Say:
    if query.inst.state == "closed":
        raise Open("a query of a closed realm")
    rows = query.rows()
    if any(suffix.op == "LIMIT" and suffix.limit == 0 for suffix in query.suffixes):
        if all(suffix.op == "LIMIT" for suffix in query.suffixes):
            raise Open("LIMIT(0) and the first match")  # [Q]
    if rows and rows[0] is None:
        raise Open("a null link as the first match")
    if not rows:
        return Say(outs={"out_value": "untouched", "out_found": False})
    return Say(outs={"out_value": rows[0], "out_found": True})


@rule("realm_query_find_all")
def find_all(m: Model, query: Query) -> Say:
    inst = query.inst
    if inst.state == "closed":
        raise Fail(CLOSED)
    steps = [("filter", tree) for tree in query.conditions] + [
        (suffix.op, suffix) for suffix in query.suffixes]
    return Say(made=Results(inst, query.base, steps, inst.epoch, query.suffixes))


@rule("realm_query_delete_all")
def delete_all(m: Model, query: Query) -> Say:
    if query.inst.state == "closed":
        raise Fail(CLOSED)
    state = m.writing(query.inst)
    if query.base.primitive:
        raise Stop("values deleted by a query")
    for row in query.rows():
        if row is not None:
            state.delete(row)
    return Say()
