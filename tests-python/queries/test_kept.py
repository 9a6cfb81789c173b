"""Replays what the fuzzers found, made small: see kept.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from queries.capi import Database
from queries.native import EngineError
from queries.elements import Source, same
from queries.kept import KEPT, Ask, Kept, universe
from queries.values import Row


def numbers(rows: list[Row]) -> list[int]:
    return [row.number for row in rows]


def ask_values(database: Database, ask: Ask) -> list[Any]:
    owner = next(iter(database.universe.rows.values()))[0]
    prop = owner.cls.find(ask.of)
    assert prop is not None
    source = Source(owner, prop)
    base = database.values_of(source.owner, source.prop)
    query = database.parse_for_values(base, ask.text, ask.args)
    results = database.results(query)
    for op, what in ask.then:
        results = database.refined(results, op, what)
    return database.read_values(results)


def ask(database: Database, ask: Ask) -> Any:
    """The answer, asked in all ways that give one."""
    root = next(iter(database.universe.classes.values()))
    try:
        if ask.by == "values":
            return ask_values(database, ask)
        parse = database.parse_format if ask.by == "format" else database.parse
        query = parse(root, ask.text, ask.args)
        again = database.parse(root, database.description(query), [])
    except EngineError as error:
        return error.code
    results = database.results(query)
    for op, what in ask.then:
        results = database.refined(results, op, what)
    try:
        first = database.element(results, 0)  # a part of them first, then all
    except EngineError:
        first = None
    found = numbers(database.read(results, root))
    assert ([] if first is None else [first.number]) == found[:1]
    if not ask.then:
        assert database.count(query) == len(found)
        leading = database.first(query)
        assert ([] if leading is None else [leading.number]) == found[:1]
        assert numbers(database.rows(again, root)) == found, database.description(query)
    return found


@pytest.mark.parametrize("kept", KEPT, ids=[kept.name for kept in KEPT])
def test_what_was_answered_wrongly_is_right(kept: Kept, tmp_path: Path) -> None:
    for indexed, state in ((None, "committed"), (True, "open"), (False, "half")):
        database = Database(universe(kept), str(tmp_path), indexed=indexed, state=state)
        try:
            for question in kept.asks:
                answer = ask(database, question)
                right = same(answer, question.answer) \
                    if question.by == "values" and isinstance(answer, list) \
                    else answer == question.answer
                assert right, f"{question.text!r}: {question.answer!r}, not {answer!r}"
        finally:
            database.close()
