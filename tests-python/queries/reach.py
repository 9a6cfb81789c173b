"""What a row gives: candidates of scopes, groups of values, members of collections, sizes."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Callable

from .values import F32, Row, kind

Groups = list[list[Any]]


class Env:
    """The candidate of each scope while a row is tested."""

    __slots__ = ("row", "parent")

    def __init__(self, row: Any, parent: Env | None = None) -> None:
        self.row = row
        self.parent = parent

    def up(self, levels: int) -> Any:
        env: Any = self
        for _ in range(levels):
            env = env.parent
        return env.row


def value_type(value: Any) -> str:
    name = kind(value)
    if name != "number":
        return name
    if isinstance(value, Decimal):
        return "decimal128"
    if isinstance(value, F32):
        return "float"
    return "double" if isinstance(value, float) else "int"


def getter(hops: list[str], name: str) -> Callable[[Row], list[Any]]:
    def get(row: Row) -> list[Any]:
        for hop in hops:
            row = row.values[hop]
            if row is None:
                return []
        return [row.values[name]]
    return get


def mapped(read: Callable[[Env], Groups], change: Callable[[Any], list[Any]]
           ) -> Callable[[Env], Groups]:
    return lambda env: [[made for value in group for made in change(value)]
                        for group in read(env)]


def size_of(value: Any) -> list[Any]:
    """A5."""
    if isinstance(value, str):
        return [len(value.encode())]
    if kind(value) in ("binary", "list", "dictionary"):
        return [len(value)]
    return [None]


def kind_of(value: Any) -> list[Any]:
    """K9: the kind of a value as a set, for the overlap of kinds."""
    return [frozenset([value_type(value)])]


def length_of(value: Any) -> list[Any]:
    """S13."""
    if value is None:
        return [0]
    return size_of(value) if kind(value) in ("string", "binary") else []


def element(value: Any, index: Any, *, objects: bool) -> list[Any]:
    """One member of a list or dictionary as no value or one (I2, I6)."""
    if isinstance(value, dict):
        if index in value:
            return [value[index]]
        return [None] if value else []
    position = {"FIRST": 0, "LAST": -1}.get(index, index)
    if position < 0:
        position += len(value)
    if 0 <= position < len(value):
        return [value[position]]
    return [None] if value and not objects else []


def members(value: Any, keys: bool, index: Any) -> list[Any]:
    if index is not None:
        return element(value, index, objects=False)
    if isinstance(value, dict):
        return list(value) if keys else list(value.values())
    return list(value)
