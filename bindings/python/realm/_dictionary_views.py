"""What `keys()`, `values()` and `items()` of a stored dictionary give: live views, which read as they go."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from ._collections import Dictionary

T = TypeVar("T")


class KeysOf(KeysView[str]):
    _mapping: Dictionary[Any]

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self))

    def __repr__(self) -> str:
        return f"dict_keys({list(self)!r})"


class ValuesOf(ValuesView[T]):
    _mapping: Dictionary[T]

    def __iter__(self) -> Iterator[T]:
        return self._mapping._walk_values()

    def __reversed__(self) -> Iterator[T]:
        return reversed(list(self))

    def __contains__(self, value: object) -> bool:
        return self._mapping._has_value(value)

    def __repr__(self) -> str:
        return f"dict_values({list(self)!r})"


class ItemsOf(ItemsView[str, T]):
    _mapping: Dictionary[T]

    def __iter__(self) -> Iterator[tuple[str, T]]:
        return self._mapping._walk_items()

    def __reversed__(self) -> Iterator[tuple[str, T]]:
        return reversed(list(self))

    def __repr__(self) -> str:
        return f"dict_items({list(self)!r})"
