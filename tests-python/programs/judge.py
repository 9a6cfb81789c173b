"""Makes the calls of a program one by one and compares each answer with the model's."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from queries.values import Date, F32, Row

from . import (rules_dictionaries, rules_extensions, rules_handles, rules_lists, rules_objects,
               rules_queries, rules_realms, rules_results)
from .abi import Function, functions
from .calls import Call, show
from .engine import ERRORS, Answer, Engine, Linked
from .known import KNOWN
from .model import ANYTHING, MUTATES, RULES, Model, Say, Stop
from .store import Object

# What enters its rules by being imported.
CHAPTERS = (rules_dictionaries, rules_extensions, rules_handles, rules_lists, rules_objects,
            rules_queries, rules_realms, rules_results)
CATEGORIES = {1002: 4, 1009: 10, 1013: 4, 1014: 4, 1019: 20, 1020: 20, 2005: 2, 2006: 2, 2007: 2,
              2009: 2, 2010: 2, 2012: 20, 2013: 2, 2014: 2, 2015: 2, 2016: 2, 2017: 2, 2018: 2,
              2019: 2, 2021: 10, 4201: 322}


@dataclass
class Difference:
    """What differs, and at which call."""

    at: int
    what: str  # which part: error, value, handle or the name of an output
    expected: str
    got: str
    function: str

    @property
    def kind(self) -> tuple[str, str, str]:
        """What stays the same while a program is made smaller."""
        got = self.got if self.what == "error" else ""
        return self.function, self.what, got

    def __str__(self) -> str:
        return f"{self.function}: {self.what} is {self.got}, the contract says {self.expected}"


@dataclass
class Tally:
    programs: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    open: Counter[str] = field(default_factory=Counter)
    not_made: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        self.programs += other.programs
        for name in ("calls", "failures", "open", "not_made", "known"):
            getattr(self, name).update(getattr(other, name))


class End(Stop):
    """The program cannot go on behind a known difference."""


class Session:
    """A program that runs, with its model."""

    def __init__(self, engine: Engine, directory: str, tally: Tally) -> None:
        self.engine, self.tally = engine, tally
        self.model = Model()
        self.model.open = tally.open
        self.made = 0
        self.said = Say()
        engine.start(directory)

    def step(self, call: Call) -> Difference | None:
        """Makes a call. Raises Stop, without making it, where nobody knows what follows."""
        try:
            say = self.said = self.model.predict(call)
        except Stop as reason:
            self.tally.not_made[str(reason)] += 1
            raise
        answer = self.engine.call(call)
        self.made += 1
        self.tally.calls[call.function] += 1
        if answer.error:
            self.tally.failures[call.function] += 1
        if call.elsewhere:
            pass  # its error is the other thread's
        elif call.function not in ERRORS:
            self.model.error = answer.error
        elif call.function == "realm_clear_last_error":
            self.model.error = 0
        if say.open:
            self.tally.open[say.open] += 1
            if answer.handle and call.result:
                self.engine.drop(call.result)
            return None
        function = functions()[call.function]
        found = compared(self.model, say, answer, call, function)
        if found is None:
            if call.result and answer.handle:
                self.model.bind(call, say)
            elif call.result:
                self.model.free(call.result)
            return None
        what, expected, got = found[0], shown(found[1]), shown(found[2])
        known = next((k for k in KNOWN if k.covers(call, what, expected, got)), None)
        if known is None:
            return Difference(self.made, what, expected, got, call.function)
        self.tally.known[known.why] += 1
        if call.result and answer.handle:
            self.engine.drop(call.result)
        if MUTATES.search(call.function):
            raise End(known.why)
        return None

    def end(self) -> None:
        self.engine.end()
        self.tally.programs += 1


def shown(value: Any) -> str:
    if isinstance(value, frozenset):
        return " or ".join(str(code) for code in sorted(value))
    return str(value) if isinstance(value, str) else show(value)


def compared(model: Model, say: Say, answer: Answer, call: Call, function: Function
             ) -> tuple[str, Any, Any] | None:
    """The first part of an answer that differs: its name, what is expected, what came."""
    if answer.error not in (say.errors or {0}):
        return "error", say.errors or "none", answer.error
    gives = function.type is not None and function.kind in GIVEN or any(
        out.kind in GIVEN for out in function.outs)
    if say.errors:
        wrong = CATEGORIES.get(answer.error, 10)
        if answer.categories != wrong:
            return "category", wrong, answer.categories
        if answer.handle is not None:
            return "handle", None, answer.handle
        if function.kind == "bool" and answer.value is not False:
            return "value", False, answer.value
        return None
    if gives:
        if (say.made is None) != (answer.handle is None):
            return "handle", say.made is not None, answer.handle
        if isinstance(say.made, Object) and isinstance(answer.handle, Linked):
            wrong_key = bound(model, say.made, answer.handle)
            if wrong_key:
                return "object", *wrong_key
    if function.kind not in GIVEN and function.kind != "none":
        if not same(say.value, answer.value, say.near):
            return "value", say.value, answer.value
    for name, expected in say.outs.items():
        if name in answer.outs and not same(expected, answer.outs[name], say.near):
            return name, expected, answer.outs[name]
    return None


GIVEN = {"realm", "schema", "scheduler", "object", "list", "set", "dict", "query", "results",
         "config", "failure", "reference", "any"}


def bound(model: Model, handle: Object, got: Linked) -> tuple[Any, Any] | None:
    """Objects have their class; the key of a new one becomes known, and is a new one (8.1)."""
    row = handle.row
    if row.key >= 0 or row.key < -1:
        return None if (row.cls.name, row.key) == (got.cls, got.key) else (row, got)
    if row.cls.name != got.cls:
        return row.cls.name, got
    if row.cls.pk is None and handle.inst.view is not None:
        others = [other.key for other in handle.inst.view.rows
                  if other.cls is row.cls and other is not row]
        least = max([*others, handle.inst.file.created.get(row.cls.name, -1)]) + 1
        if got.key < least:
            return f"a key from {least} on", got
    row.key = got.key
    return None


def same(expected: Any, got: Any, near: bool = False) -> bool:
    if expected is ANYTHING:
        return True
    if isinstance(expected, Row):
        return isinstance(got, Linked) and (got.cls, got.key) == (expected.cls.name, expected.key) \
            or got == expected.key
    if isinstance(expected, list) and isinstance(got, list):
        return len(expected) == len(got) and all(same(a, b, near) for a, b in zip(expected, got))
    if isinstance(expected, float) and isinstance(got, float):
        if type(expected) is not type(got):
            return False
        if math.isnan(expected) or math.isnan(got):
            return math.isnan(expected) and math.isnan(got)
        return expected == got or near and math.isclose(expected, got, rel_tol=1e-9,
                                                        abs_tol=1e-300)
    if isinstance(expected, Decimal) and isinstance(got, Decimal):
        if expected.is_nan() or got.is_nan():
            return expected.is_nan() and got.is_nan()
        return expected.as_tuple() == got.as_tuple() or near and (
            expected == got or abs(expected - got) <= abs(expected) * Decimal("1e-30"))
    if isinstance(expected, Date) or isinstance(got, Date):
        return type(expected) is type(got) and expected == got
    if isinstance(expected, bool) or isinstance(got, bool):
        return expected is got
    if isinstance(expected, F32) or isinstance(got, F32):
        return False
    return type(expected) is type(got) and bool(expected == got)


def rules() -> set[str]:
    """The functions that the model knows."""
    return set(RULES)


Told = list[tuple[str, list[int] | None]]


def run(engine: Engine, program: list[Call], directory: str, told: Told | None = None
        ) -> Difference | None:
    """Replays a program; calls that must not be made are left out. `told` gets those that were
    made, with the errors that the model allows them (none is success), or None where that is
    open."""
    session = Session(engine, directory, Tally())
    try:
        for call in program:
            if not call.uses() <= session.model.handles.keys():
                continue
            try:
                difference = session.step(call)
            except End:
                return None
            except Stop:
                continue
            if told is not None:
                say = session.said
                told.append((str(call), None if say.open else sorted(say.errors)))
            if difference:
                return difference
        return None
    finally:
        session.end()
