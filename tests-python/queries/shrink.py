"""Makes the query and the universe of a difference smaller, as long as it stays one."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any, Callable, Iterator

from .schema import Cls, Prop, Universe
from .syntax import (And, Arith, Between, Compare, Const, ListLit, Lit, Node, Not, Or, Path, Query,
                     Subquery, Suffix, render, rewrite, walk)
from .values import Row

Check = Callable[[Universe, Query], bool]


def smaller_nodes(node: Node) -> Iterator[Node]:
    """What a node may be replaced with."""
    if isinstance(node, (And, Or)):
        yield from node.parts
        if len(node.parts) > 2:
            for position in range(len(node.parts)):
                yield type(node)(node.parts[:position] + node.parts[position + 1:])
    elif isinstance(node, Not):
        yield node.inner
    elif isinstance(node, ListLit):
        for position in range(len(node.items)):
            yield dataclasses.replace(node, items=node.items[:position] + node.items[position + 1:])
        if node.arg:
            yield dataclasses.replace(node, arg=False)
    elif isinstance(node, Subquery):
        if not isinstance(node.pred, Const):
            yield dataclasses.replace(node, pred=Const(True))
    elif isinstance(node, Arith):
        yield node.left
        yield node.right
    elif isinstance(node, Lit):
        if node.arg:
            yield dataclasses.replace(node, arg=False)
        if isinstance(node.value, str) and len(node.value) > 1:
            yield dataclasses.replace(node, value=node.value[1:])
            yield dataclasses.replace(node, value=node.value[:-1])
    elif isinstance(node, Compare):
        if node.opts:
            yield dataclasses.replace(node, opts="")
        if node.negated:
            yield dataclasses.replace(node, negated=False)
    elif isinstance(node, Between):
        if node.negated:
            yield dataclasses.replace(node, negated=False)
    elif isinstance(node, Path):
        if node.quant:
            yield dataclasses.replace(node, quant="")


def smaller_queries(query: Query) -> Iterator[Query]:
    for position in range(len(query.suffixes)):
        yield Query(query.pred, query.suffixes[:position] + query.suffixes[position + 1:])
    for position, suffix in enumerate(query.suffixes):
        for number in range(len(suffix.keys) if len(suffix.keys) > 1 else 0):
            fewer = Suffix(suffix.op, suffix.keys[:number] + suffix.keys[number + 1:])
            yield Query(query.pred, [*query.suffixes[:position], fewer,
                                     *query.suffixes[position + 1:]])
    if not isinstance(query.pred, Const):
        yield Query(Const(True), query.suffixes)
    for target in list(walk(query.pred)):
        for smaller in smaller_nodes(target):
            yield rewrite(query, lambda node: smaller if node is target else None)


def clone(universe: Universe, query: Query, dropped: set[Row],
          lost: set[int] = frozenset(),  # type: ignore[assignment]
          ) -> tuple[Universe, Query]:
    """A copy without some rows and without some properties (given by id)."""
    classes = {}
    for cls in universe.classes.values():
        props = [copy.copy(prop) for prop in cls.props if id(prop) not in lost]
        classes[cls.name] = Cls(cls.name, cls.position, props, cls.embedded, cls.alias)
    made: dict[Row, Row] = {}
    rows: dict[str, list[Row]] = {}
    for name, old_rows in universe.rows.items():
        rows[name] = []
        for old in old_rows:
            if old not in dropped and old.owner not in dropped:
                row = Row(classes[name], old.number)
                row.key = old.key
                made[old] = row
                rows[name].append(row)
    for old, row in made.items():
        row.owner = made.get(old.owner) if old.owner else None
        for prop in old.cls.props:
            if id(prop) not in lost and prop.name in old.values:
                row.values[prop.name] = mapped(old.values[prop.name], made)

    def moved(node: Node) -> Node | None:
        if isinstance(node, Lit) and isinstance(node.value, Row):
            return dataclasses.replace(node, value=made[node.value])
        return None
    return Universe(classes, rows, universe.seed), rewrite(query, moved)


def mapped(value: Any, made: dict[Row, Row]) -> Any:
    if isinstance(value, Row):
        return made.get(value)
    if isinstance(value, list):
        return [mapped(item, made) for item in value if not isinstance(item, Row) or item in made]
    if isinstance(value, dict):
        return {key: mapped(item, made) for key, item in value.items()}
    return value


def shrink(universe: Universe, query: Query, check: Check, budget: int = 400
           ) -> tuple[Universe, Query]:
    """`check` says whether a smaller case still shows the difference."""
    def holds(candidate: tuple[Universe, Query]) -> bool:
        nonlocal budget
        budget -= 1
        try:
            return budget >= 0 and check(*candidate)
        except Exception:
            return False

    progress = True
    while progress and budget > 0:
        progress = False
        for smaller in smaller_queries(query):
            if holds((universe, smaller)):
                query, progress = smaller, True
                break
    universe, query = fewer_rows(universe, query, holds)
    return fewer_properties(universe, query, holds)


def fewer_rows(universe: Universe, query: Query, holds: Callable[[tuple[Universe, Query]], bool]
               ) -> tuple[Universe, Query]:
    def candidates() -> list[Row]:
        named = {node.value for node in walk(query)
                 if isinstance(node, Lit) and isinstance(node.value, Row)}
        named |= {row.owner for row in named if row.owner}
        return [row for rows in universe.rows.values() for row in rows
                if row not in named and row.owner is None]
    size = max(len(candidates()) // 2, 1)
    while True:
        position = 0
        while position < len(candidates()):
            chunk = set(candidates()[position:position + size])
            smaller = clone(universe, query, chunk)
            if holds(smaller):
                universe, query = smaller
            else:
                position += size
        if size == 1:
            return universe, query
        size //= 2


def fewer_properties(universe: Universe, query: Query,
                     holds: Callable[[tuple[Universe, Query]], bool]) -> tuple[Universe, Query]:
    text = render(query)[0]

    def unused() -> list[Prop]:
        origins = {prop.origin for cls in universe.classes.values() for prop in cls.props}
        return [prop for cls in universe.classes.values() for prop in cls.props
                if prop.name not in text and not (prop.alias and prop.alias in text)
                and not prop.pk and prop.name not in origins]
    # Computed ones first, so that the properties they reverse are free then.
    for _ in range(2):
        smaller = clone(universe, query, set(), {id(prop) for prop in unused()})
        if holds(smaller):
            universe, query = smaller
    for count in (8, 4, 2, 1):
        position = 0
        while position < len(unused()):
            chosen = {id(prop) for prop in unused()[position:position + count]}
            smaller = clone(universe, query, set(), chosen)
            if holds(smaller):
                universe, query = smaller
            else:
                position += count
    return universe, query


def describe(universe: Universe) -> str:
    """The universe as a reader can rebuild it."""
    lines = []
    for cls in universe.classes.values():
        if not universe.rows[cls.name] and not any(
                prop.target == cls.name for other in universe.classes.values()
                for prop in other.props):
            continue
        lines.append(f"  {'embedded ' if cls.embedded else ''}class {cls.name}:")
        for prop in cls.props:
            traits = [prop.coll, prop.type, prop.target and f"-> {prop.target}", prop.origin,
                      "nullable" if prop.nullable else "", "indexed" if prop.indexed else "",
                      "primary key" if prop.pk else "", prop.alias and f"alias {prop.alias}"]
            lines.append(f"    {prop.name}: {' '.join(filter(None, traits))}")
        for row in universe.rows[cls.name]:
            lines.append(f"    {row!r} key {row.key}: {row.values!r}")
    return "\n".join(lines)
