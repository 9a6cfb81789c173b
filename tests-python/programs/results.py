"""Chapters 13 and 14: what queries and results stand for, in the version that an instance reads.

Conditions are judged by the evaluator of the query fuzzer, which knows the language's rules and
nothing of the library.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from queries.clauses import bind_suffix
from queries.evaluator import Binder
from queries.operands import Failed, Scope
from queries.reach import Env
from queries.schema import Cls, Prop, Universe
from queries.syntax import Const, Query as Tree, Suffix
from queries.values import Row, Unspecified

from .model import CLOSED, STALE, Model, Open
from .store import Collection, Fail, Instance, State, elements, entries

WRONG_QUERY, WRONG_ARGUMENT, WRONG_SORT = 1009, 3015, 3013


def universe(state: State) -> Universe:
    """The objects of a version for the evaluator."""
    rows: dict[str, list[Row]] = {name: [] for name in state.classes}
    for row, values in state.rows.items():
        row.values = values
        rows[row.cls.name].append(row)
    return Universe(state.classes, rows, "")


@dataclass
class Base:
    """Where elements come from: all objects of a class, a collection, its keys, linking objects."""

    kind: str  # "class", "collection", "keys" or "backlinks"
    cls: Cls | None = None  # of the objects
    row: Row | None = None  # the owner of the collection, or what is linked to
    collection: Collection | None = None
    prop: Prop | None = None
    origin: str = ""

    def moved(self, inst: Instance) -> Base:
        if self.collection is None:
            return self
        return replace(self, collection=rebased(self.collection, inst))

    @property
    def primitive(self) -> bool:
        return self.kind == "keys" or (self.collection is not None
                                       and self.collection.prop.type != "link")


def rebased(c: Collection, inst: Instance) -> Collection:
    """The same collection as another instance sees it."""
    parent = rebased(c.parent, inst) if c.parent else None
    return Collection(inst, c.kind, c.row, c.prop, inst.epoch, parent, c.number, c.slot)


@dataclass(eq=False)
class Query:
    """Conditions over a base and ordering clauses."""

    inst: Instance
    base: Base
    conditions: list[Any]
    suffixes: list[Suffix]
    without_text: bool = False  # made by realm_results_get_query()

    def copy(self) -> Query:
        return replace(self)

    def rows(self) -> list[Any]:
        if self.inst.state == "closed":
            raise Fail(CLOSED)
        state = self.inst.reading()
        found = members(self.inst, state, self.base)
        for tree in self.conditions:
            found = filtered(state, self.base.cls, found, tree)
        for suffix in self.suffixes:
            found = arranged(state, self.base.cls, found, suffix)
        return found


def members(inst: Instance, state: State, base: Base) -> list[Any]:
    if base.kind == "class":
        assert base.cls
        return list(state.of(base.cls.name))
    if base.kind == "backlinks":
        assert base.row and base.prop
        if state.replaced(base.row):
            raise Open("linking objects of one whose key another one has")
        if base.row not in state.rows:
            return []
        return list(universe(state).backlinks(base.row, base.origin, base.prop.name))
    assert base.collection
    items = base.collection.items()
    if items is None:
        return []
    if base.kind == "keys":
        return [key for key, _ in entries(items)]
    return elements(base.collection, items)


def filtered(state: State, cls: Cls | None, rows: list[Any], tree: Tree) -> list[Any]:
    if isinstance(tree.pred, Const):
        return rows if tree.pred.truth else []
    if cls is None:
        raise Open("conditions on values")
    try:
        binder = Binder(universe(state), cls)
        test = binder.part(tree.pred, Scope(cls))
        if binder.errors:
            raise Fail(*binder.errors)
        return [row for row in rows if row is not None and test(Env(row))]
    except Unspecified as reason:
        raise Open(f"query: {reason}") from None


def checked(state: State, cls: Cls, tree: Tree) -> None:
    """What is wrong with a query shows when it is parsed (E1)."""
    try:
        binder = Binder(universe(state), cls)
        binder.part(tree.pred, Scope(cls))
        for suffix in tree.suffixes:
            try:
                bind_suffix(binder, suffix, cls)
            except Failed:
                pass
    except Unspecified as reason:
        raise Open(f"query: {reason}") from None
    if binder.errors:
        raise Fail(*binder.errors)


def arranged(state: State, cls: Cls | None, rows: list[Any], suffix: Suffix) -> list[Any]:
    if suffix.op == "LIMIT":
        return rows[:suffix.limit]
    if suffix.op == "OFFSET":
        return rows[suffix.limit:]
    if cls is None:
        raise Open("an order of values")
    if None in rows:
        return with_null(state, cls, rows, suffix)
    binder = Binder(universe(state), cls)
    try:
        return bind_suffix(binder, suffix, cls)(rows)
    except Failed:
        raise Fail(*binder.errors) from None
    except Unspecified as reason:
        raise Open(f"query: {reason}") from None


def with_null(state: State, cls: Cls, rows: list[Any], suffix: Suffix) -> list[Any]:
    """Null links among the values of a dictionary stand behind the objects, as the comparison with
    the old library had it; all are one distinct value."""
    objects = [row for row in rows if row is not None]
    if suffix.op == "DISTINCT" and len(rows) - len(objects) > 1:
        raise Open("whether several null links are one distinct value")
    nulls = 1 if suffix.op == "DISTINCT" else len(rows) - len(objects)
    return [*arranged(state, cls, objects, suffix), *[None] * nulls]


@dataclass(eq=False)
class Results:
    """A base and what was done to it, in order: conditions, clauses, snapshots."""

    inst: Instance
    base: Base
    steps: list[tuple[str, Any]] = field(default_factory=list)
    epoch: int = 0
    texted: list[Suffix] = field(default_factory=list)  # clauses that the text of a query brought

    def copy(self) -> Results:
        return replace(self, steps=list(self.steps))

    def moved(self, inst: Instance) -> Results:
        steps = [step for step in self.steps if step[0] != "snapshot"]
        return Results(inst, self.base.moved(inst), steps, inst.epoch, self.texted)

    def then(self, op: str, what: Any) -> Results:
        return Results(self.inst, self.base, [*self.steps, (op, what)], self.epoch, self.texted)

    @property
    def primitive(self) -> bool:
        return self.base.primitive

    @property
    def cls(self) -> Cls | None:
        return self.base.cls

    def valid(self) -> bool:
        if not self.inst.alive(self.epoch):
            return False
        collection = self.base.collection
        if collection is not None and collection.items() is None:
            if any(op == "snapshot" for op, _ in self.steps) and not self.primitive:
                return True
            if self.base.kind == "collection" and not self.primitive \
                    and collection.kind == "dict":
                raise Open("results over a dictionary of links that is gone")
            return not self.primitive
        return True

    def check(self, m: Model) -> None:
        if not self.valid():
            raise Fail(STALE)

    def rows(self, m: Model) -> list[Any]:
        """The elements now."""
        self.check(m)
        state = self.inst.reading()
        start = next((number for number in reversed(range(len(self.steps)))
                      if self.steps[number][0] == "snapshot"), None)
        if start is not None and not self.primitive:
            if any(row is not None and state.replaced(row) for row in self.steps[start][1]):
                raise Open("a snapshot of an object whose key another one has")
            found = [row if row in state.rows else None for row in self.steps[start][1]]
            steps = self.steps[start + 1:]
            if steps and None in found:
                raise Open("refining a snapshot with objects that are gone")
        else:
            found, steps = members(self.inst, state, self.base), self.steps
        for number, (op, what) in enumerate(steps):
            if op == "filter":
                before = [step for step in steps[:number] if step[0] == "DISTINCT"]
                if before and not isinstance(what.pred, Const):
                    raise Open("conditions behind a distinct")
                found = filtered(state, self.base.cls, found, what)
            elif op == "within":
                allowed = members(what.inst, what.inst.reading(), what.base)
                kept = set(found)
                found = [row for row in found if row in set(allowed)]
                if [row for row in allowed if row in kept] != found:
                    raise Open("whose order results filtered by a query of a collection have")
            elif op != "snapshot":
                found = arranged(state, self.base.cls, found, what)
        return found

    def limited(self) -> bool:
        """Whether a limit holds that no snapshot has made part of the elements."""
        for op, _ in reversed(self.steps):
            if op == "snapshot" and not self.primitive:
                return False
            if op in ("LIMIT", "OFFSET"):
                return True
        return False
