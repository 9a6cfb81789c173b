"""SORT, DISTINCT, LIMIT and OFFSET bound to a schema: what each makes of a sequence of objects."""

from __future__ import annotations

from functools import cmp_to_key
from typing import Any, Callable

from .operands import Failed, INVALID_QUERY, OperandBinder, SORT_ERROR
from .schema import Cls
from .syntax import Path, Suffix
from .values import Row, distinct_key, order

Key = Callable[[Row], tuple[bool, Any]]


def bind_suffix(binder: OperandBinder, suffix: Suffix, root: Cls
                ) -> Callable[[list[Row]], list[Row]]:
    if suffix.op == "LIMIT":
        return lambda rows: rows[:suffix.limit]  # D10
    if suffix.op == "OFFSET":
        return lambda rows: rows[suffix.limit:]
    keys = bind_keys(binder, suffix, root)
    if suffix.op == "SORT":
        compare = comparison(keys)
        return lambda rows: sorted(rows, key=cmp_to_key(compare))
    identity = identity_of(keys)

    def distinct(rows: list[Row]) -> list[Row]:
        seen, kept = set(), []
        for row in rows:
            made = identity(row)
            if made is not None and made not in seen:
                seen.add(made)
                kept.append(row)  # D7
        return kept
    return distinct


def bind_keys(binder: OperandBinder, suffix: Suffix, root: Cls) -> list[tuple[Key, str]]:
    keys = []
    for path, way in suffix.keys:
        try:
            keys.append((bind_key(binder, path, root), way))
        except Failed:
            pass
    return keys


def identity_of(keys: list[tuple[Key, str]]) -> Callable[[Row], Any]:
    """What makes two objects one for DISTINCT; None for those that it drops."""
    def identity(row: Row) -> Any:
        values = [key(row) for key, _ in keys]
        if any(missing for missing, _ in values):
            return None  # D8
        return tuple(distinct_key(value) for _, value in values)
    return identity


def comparison(keys: list[tuple[Key, str]]) -> Callable[[Row, Row], int]:
    def compare(a: Row, b: Row) -> int:
        for key, way in keys:
            (missing_a, value_a), (missing_b, value_b) = key(a), key(b)
            if missing_a or missing_b:
                result = missing_a - missing_b  # D4: last when ascending
            else:
                result = order(value_a, value_b)  # D3
            if result:
                return -result if way.upper().startswith("DESC") else result
        return 0
    return compare


def bind_key(binder: OperandBinder, path: Path, root: Cls) -> Key:
    """D4 to D6: whether a link on the way is null, and the value."""
    cls, names = root, []
    entry: str | None = None
    for position, step in enumerate(path.steps):
        name = step[1]
        prop = cls.find(name)
        if prop is None:
            raise binder.fail(INVALID_QUERY)
        rest = path.steps[position + 1:]
        if prop.coll == "dict" and not prop.objects and len(rest) == 1:
            entry = rest[0][1]  # D5
            names.append(prop.name)
            break
        if prop.to_many:
            raise binder.fail(SORT_ERROR)
        names.append(prop.name)
        if prop.type == "link":
            cls = binder.universe.classes[prop.target]
        elif rest:
            raise binder.fail(INVALID_QUERY)

    def read(row: Row) -> tuple[bool, Any]:
        value: Any = row
        for name in names:
            if value is None:
                return True, None
            value = value.values[name]
        return False, value.get(entry) if entry is not None else value
    return read
