"""Results: lazy sequences of objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from . import _realm
from ._errors import QueryError

if TYPE_CHECKING:
    from ._model import Object

T = TypeVar("T", bound="Object")

_ANY: Any = object()


def _path(text: str) -> str:
    """The text, if it is a single path: the engine takes a list of them, and directions."""
    if not text or any(c in ",()" or c.isspace() for c in text.replace("\\ ", "")):
        raise QueryError(f"{text!r} is not the name of a property or a path over links")
    return text


class Results(_realm.Results, Sequence[T]):
    """A lazy, live sequence of objects of one class.

    Nothing is read before an element is asked for, and changes to the realm show at once. Results
    come from `Realm.objects` and `Realm.backlinks` and are refined by `filter`, `sorted`,
    `distinct` and `limit`, each of which gives new results.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[T]: ...
        def __contains__(self, value: object) -> bool: ...
        @overload
        def __getitem__(self, index: int) -> T: ...
        @overload
        def __getitem__(self, index: slice) -> list[T]: ...
        def __getitem__(self, index: int | slice) -> T | list[T]: ...
        def first(self) -> T | None: ...
        def last(self) -> T | None: ...

    def filter(self, query: str, /, *arguments: Any) -> Results[T]:
        """The objects for which `query` is true: `airports.filter("elevation > $0", 3000)`.

        `$0`, `$1` ... stand for the arguments; a list, tuple or set stands for a list. The query
        may end with SORT, DISTINCT and LIMIT clauses unless these results are ordered already.
        """
        return self._filter(query, arguments)

    def sorted(self, *keys: str, reverse: bool = False) -> Results[T]:
        """The objects in the order of `keys`, the first of them the most important.

        A key is the name of a property or a path over links (`"country.name"`); a leading minus
        sorts by it downwards. `reverse` turns all of them around. The order is stable.
        """
        if not keys:
            raise TypeError("sorted() needs at least one property")
        parts = []
        for key in keys:
            down = key.startswith("-")
            parts.append(f"{_path(key[down:])} {'DESC' if down != reverse else 'ASC'}")
        return self._sort(", ".join(parts))

    def distinct(self, *keys: str) -> Results[T]:
        """The first object of each combination of values of `keys`."""
        if not keys:
            raise TypeError("distinct() needs at least one property")
        return self._distinct(", ".join(map(_path, keys)))

    def limit(self, count: int, /) -> Results[T]:
        """At most the first `count` objects."""
        if count < 0:
            raise ValueError(f"a limit can't be negative: {count}")
        return self._limit(count)

    def count(self, value: Any = _ANY) -> int:
        """How many objects there are; with a value, how often it occurs: once or not at all."""
        if value is _ANY:
            return len(self)
        return int(value in self)

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """Position of an object; ValueError if it is not among the results."""
        position = self._position(value)
        if position is not None:
            first, last, _ = slice(start, stop).indices(len(self))
            if first <= position < last:
                return position
        raise ValueError(f"{value!r} is not in these results")

    def min(self, name: str, /) -> Any:
        """The least value of a property, None if there is none. Null does not count."""
        return self._aggregate("min", name)

    def max(self, name: str, /) -> Any:
        """The greatest value of a property, None if there is none. Null does not count."""
        return self._aggregate("max", name)

    def sum(self, name: str, /) -> Any:
        """The sum of a numeric property; zero over nothing."""
        return self._aggregate("sum", name)

    def average(self, name: str, /) -> Any:
        """The mean of a numeric property, None if there is no value. Null does not count."""
        return self._aggregate("average", name)

    def values(self, *names: str) -> list[Any]:
        """The values of one property as a list; of several, as a list of tuples."""
        return self._values(names)

    def __repr__(self) -> str:
        name = self.element_class.__name__
        if self.realm.is_closed:
            return f"<results of {name}, closed>"
        try:
            return f"<results of {name}, {len(self)} objects>"
        except Exception as error:
            return f"<results of {name}: {error}>"
