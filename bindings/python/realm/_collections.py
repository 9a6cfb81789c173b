"""Lists, sets and dictionaries of stored objects: live views that behave as Python's own do.

The extension module gives each of them its elements; what follows from those is built here.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Set as AbstractSet
from collections.abc import (
    Callable,
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    MutableMapping,
    MutableSequence,
    MutableSet,
    ValuesView,
)
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    NoReturn,
    Self,
    SupportsIndex,
    TypeVar,
    overload,
)

from . import _realm
from ._dictionary_views import ItemsOf, KeysOf, ValuesOf
from ._errors import ArgumentError, NoSuchObjectError, OutOfBoundsError, UsageError, misuse
from ._model import _find_target
from ._observing import KeyPath, begin, freeze
from ._results import Results
from ._showing import html_of_collection, short
from ._streams import Changes

if TYPE_CHECKING:
    from ._expressions import Condition

T = TypeVar("T")
D = TypeVar("D")

_NOTHING: Any = object()

#: How many elements a repr shows.
_SHOWN = 6


def _state(collection: Any) -> str | None:
    """Why the collection can't be shown, None if it can."""
    if collection.realm.is_closed:
        return "closed"
    try:
        return None if collection.is_valid else "deleted"
    except Exception as error:
        return str(error)


def _repr(collection: Any, kind: str, brackets: str) -> str:
    state = _state(collection)
    if state is not None:
        return f"<{kind} {collection._path}, {state}>"
    shown: list[str] = []
    for element in collection.items() if kind == "dict" else collection:
        if len(shown) == _SHOWN:
            shown.append("...")
            break
        shown.append(": ".join(map(short, element)) if kind == "dict" else short(element))
    inner = f"{brackets[0]}{', '.join(shown)}{brackets[1]}"
    return f"<{kind} {collection._path}: {inner}>"


class _Queryable(Generic[T]):
    """What collections have from results: queries, orders and aggregates over their elements, live.
    Of a dictionary, over its values."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return html_of_collection(self, _state(self))

    def results(self) -> Results[T]:
        """The elements as results: live, lazy, to be refined."""
        return Results._of_collection(self)

    def filter(self, query: str, /, *arguments: Any) -> Results[T]:
        """The elements for which `query` is true; as `Results.filter`."""
        return self.results().filter(query, *arguments)

    def where(self, *conditions: Condition | bool | Callable[[Any], Any]) -> Results[T]:
        """The elements for which all conditions hold; as `Results.where`."""
        return self.results().where(*conditions)

    def sorted(self, *keys: Any, reverse: bool = False) -> Results[T]:
        """The elements in another order; as `Results.sorted`."""
        return self.results().sorted(*keys, reverse=reverse)

    def distinct(self, *keys: Any) -> Results[T]:
        """The first element of each value; as `Results.distinct`."""
        return self.results().distinct(*keys)

    def limit(self, count: int, /) -> Results[T]:
        """At most the first `count` elements."""
        return self.results().limit(count)

    def offset(self, count: int, /) -> Results[T]:
        """The elements behind the first `count`."""
        return self.results().offset(count)

    def snapshot(self) -> Results[T]:
        """The elements that are in it now, fixed; as `Results.snapshot`."""
        return self.results().snapshot()

    def first(self) -> T | None:
        """The first element, None if there is none."""
        return self.results().first()

    def last(self) -> T | None:
        """The last element, None if there is none."""
        return self.results().last()

    def min(self, name: Any = None, /) -> Any:
        """The least element; of objects, the least value of a property. None if there is none."""
        return self.results().min(name)

    def max(self, name: Any = None, /) -> Any:
        """The greatest element; of objects, the greatest value of a property. None if there is none."""
        return self.results().max(name)

    def sum(self, name: Any = None, /) -> Any:
        """The sum of the elements, or of a property of the objects; zero over nothing."""
        return self.results().sum(name)

    def average(self, name: Any = None, /) -> Any:
        """The mean of the elements, or of a property of the objects; None over nothing."""
        return self.results().average(name)

    avg = average

    def observe(
        self, function: Callable[[Any], object], /, *paths: KeyPath
    ) -> _realm.Token:
        """Has `function(change)` called soon, and then after each change; as `Results.observe`. A
        dictionary's changes are told by key. With key paths (`"name"`,
        `"dept.budget"`, `Person.name`) objects count as modified when something along these changed,
        with None never."""
        return begin(self, function, paths)

    def changes(self, *paths: KeyPath) -> Changes[Any]:
        """The same for `async for change in results.changes(): ...`"""
        return Changes(self, paths)

    def freeze(self) -> Self:
        """The same of a frozen realm: it never changes, and may be used on all threads."""
        return freeze(self)


@overload
def results(collection: list[T] | set[T], /) -> Results[T]: ...
@overload
def results(collection: dict[str, T], /) -> Results[T]: ...
def results(collection: Any, /) -> Results[Any]:
    """The elements of a collection as results: `collection.results()` for type checkers, which take
    the collections of stored objects for plain ones."""
    return Results._of_collection(collection)


def _refuse_pickling(collection: Any) -> NoReturn:
    """Views can't leave their realm; the plain copy can."""
    raise UsageError(
        f"cannot pickle {collection._path}, a live view of a stored object; pickle its copy()"
    )


def _deep(value: Any, memo: dict[int, Any]) -> Any:
    """A deep copy, in which objects stay who they are."""
    return value if isinstance(value, _realm.Object) else copy.deepcopy(value, memo)


def _taken(value: Any) -> Any:
    """What leaves a collection: a view of a nested list or dict would be one of nothing."""
    return copy.deepcopy(value) if isinstance(value, (List, Dictionary)) else value


class List(_realm.List, _Queryable[T], MutableSequence[T]):
    """The list of a stored object. Assigning to the property replaces its content."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    if TYPE_CHECKING:

        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[T]: ...
        @overload
        def __getitem__(self, index: int) -> T: ...
        @overload
        def __getitem__(self, index: slice) -> list[T]: ...
        def __getitem__(self, index: int | slice) -> T | list[T]: ...
        @overload
        def __setitem__(self, index: int, value: T) -> None: ...
        @overload
        def __setitem__(self, index: slice, value: Iterable[T]) -> None: ...
        def __setitem__(self, index: int | slice, value: T | Iterable[T]) -> None: ...
        def __delitem__(self, index: int | slice) -> None: ...
        def insert(self, index: int, value: T, /) -> None: ...
        def append(self, value: T, /) -> None: ...
        def extend(self, values: Iterable[T], /) -> None: ...
        def clear(self) -> None: ...

    def __reversed__(self) -> Iterator[T]:
        for index in range(len(self) - 1, -1, -1):
            if index < len(self):
                yield self[index]

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """Position of the first element that equals value; ValueError if there is none."""
        position = self._position(value)
        if position is not None:
            first, last, _ = slice(start, stop).indices(len(self))
            if first <= position < last:
                return position
            # It is before `start`: another one may follow.
            for place in range(first, last):
                if self[place] == value:
                    return place
        raise ArgumentError(f"{value!r} is not in {self._path}")

    def count(self, value: Any) -> int:
        """How many elements equal value."""
        return self[:].count(value)

    def pop(self, index: SupportsIndex = -1, /) -> T:
        """Removes an element and returns it: the last one, or that at an index. A nested list or dict as a plain copy."""
        place = operator.index(index)
        if not len(self):
            raise OutOfBoundsError(f"pop from {self._path}, which is empty")
        value: T = _taken(self[place])
        del self[place]
        return value

    def remove(self, value: Any) -> None:
        """Removes the first element that equals value; ValueError if there is none."""
        del self[self.index(value)]

    def reverse(self) -> None:
        """Turns the order of the elements around."""
        last = len(self) - 1
        for place in range(last):
            self._move(last, place)

    def sort(self, *, key: Callable[[T], Any] | None = None, reverse: bool = False) -> None:
        """Puts the elements in ascending order, or that of `key`; equal ones keep theirs."""
        values = self[:]
        keys: list[Any] = values if key is None else list(map(key, values))
        order = sorted(range(len(values)), key=keys.__getitem__, reverse=reverse)
        if self._property.type in ("link", "Any"):
            # Embedded objects and nested collections are where they are: they can only be moved.
            self._arrange(order)
            return
        for place, source in enumerate(order):
            if place != source:
                self[place] = values[source]

    def _arrange(self, order: list[int]) -> None:
        """Moves element order[i] to index i, for each i."""
        present = list(range(len(order)))
        for place, source in enumerate(order):
            found = place if present[place] == source else present.index(source, place)
            if found != place:
                self._move(found, place)
                present.insert(place, present.pop(found))

    def copy(self) -> list[T]:
        """The elements as a plain list. Lists and dicts among them stay views; `copy.deepcopy`
        makes plain ones of these, too."""
        return self[:]

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> list[T]:
        return [_deep(element, memo) for element in self[:]]

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        _refuse_pickling(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (list, List)):
            return NotImplemented
        return len(self) == len(other) and self[:] == other[:]

    def __lt__(self, other: list[T] | List[T]) -> bool:
        return self[:] < other[:] if isinstance(other, (list, List)) else NotImplemented

    def __le__(self, other: list[T] | List[T]) -> bool:
        return self[:] <= other[:] if isinstance(other, (list, List)) else NotImplemented

    def __gt__(self, other: list[T] | List[T]) -> bool:
        return self[:] > other[:] if isinstance(other, (list, List)) else NotImplemented

    def __ge__(self, other: list[T] | List[T]) -> bool:
        return self[:] >= other[:] if isinstance(other, (list, List)) else NotImplemented

    def __add__(self, other: list[T] | List[T]) -> list[T]:
        return self[:] + other[:] if isinstance(other, (list, List)) else NotImplemented

    def __radd__(self, other: list[T]) -> list[T]:
        return other[:] + self[:] if isinstance(other, (list, List)) else NotImplemented

    def __mul__(self, count: int) -> list[T]:
        return self[:] * count

    __rmul__ = __mul__

    def __imul__(self, count: int) -> List[T]:
        if count <= 0:
            self.clear()
        else:
            self.extend(self[:] * (count - 1))
        return self

    def __repr__(self) -> str:
        return _repr(self, "list", "[]")


class Set(_realm.Set, _Queryable[T], MutableSet[T]):
    """The set of a stored object, in the engine's order. Operators give plain sets."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    if TYPE_CHECKING:

        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[T]: ...
        def __contains__(self, value: object) -> bool: ...
        def add(self, value: T, /) -> None: ...
        def pop(self) -> T: ...
        def clear(self) -> None: ...

    @classmethod
    def _from_iterable(cls, values: Iterable[Any]) -> set[Any]:
        return set(values)

    def discard(self, value: Any) -> None:
        """Removes an element, if it is there."""
        self._erase(value)

    def remove(self, value: Any) -> None:
        """Removes an element; KeyError if it is not there."""
        if not self._erase(value):
            raise NoSuchObjectError(f"{value!r} is not in {self._path}")

    # Operators take sets, the methods of the same meaning any iterables: as Python's own.

    def __or__(self, other: AbstractSet[Any]) -> set[Any]:
        return set(self) | set(other) if isinstance(other, AbstractSet) else NotImplemented

    def __and__(self, other: AbstractSet[Any]) -> set[T]:
        return set(self) & set(other) if isinstance(other, AbstractSet) else NotImplemented

    def __sub__(self, other: AbstractSet[Any]) -> set[T]:
        return set(self) - set(other) if isinstance(other, AbstractSet) else NotImplemented

    def __xor__(self, other: AbstractSet[Any]) -> set[Any]:
        return set(self) ^ set(other) if isinstance(other, AbstractSet) else NotImplemented

    def __rsub__(self, other: AbstractSet[Any]) -> set[Any]:
        return set(other) - set(self) if isinstance(other, AbstractSet) else NotImplemented

    __ror__ = __or__
    __rand__ = __and__
    __rxor__ = __xor__

    def __ior__(self, other: AbstractSet[T]) -> Set[T]:  # type: ignore[override, misc]
        if not isinstance(other, AbstractSet):
            return NotImplemented
        self.update(other)
        return self

    def __iand__(self, other: AbstractSet[Any]) -> Set[T]:
        if not isinstance(other, AbstractSet):
            return NotImplemented
        self.intersection_update(other)
        return self

    def __isub__(self, other: AbstractSet[Any]) -> Set[T]:
        if not isinstance(other, AbstractSet):
            return NotImplemented
        self.difference_update(other)
        return self

    def __ixor__(self, other: AbstractSet[T]) -> Set[T]:  # type: ignore[override, misc]
        if not isinstance(other, AbstractSet):
            return NotImplemented
        self.symmetric_difference_update(other)
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AbstractSet):
            return NotImplemented
        return len(self) == len(other) and set(self) == set(other)

    def update(self, *others: Iterable[T]) -> None:
        """Adds the elements of others: all of them, or none when there is an error."""
        for other in others:
            if not isinstance(other, Iterable):
                raise UsageError(f"update() takes sets or other iterables, not {other!r}")
        self._add_all([value for other in others for value in other])

    def union(self, *others: Iterable[Any]) -> set[Any]:
        """The elements of this set and of all others."""
        return set(self).union(*others)

    def intersection(self, *others: Iterable[Any]) -> set[T]:
        """The elements that are in all others, too."""
        return set(self).intersection(*others)

    def difference(self, *others: Iterable[Any]) -> set[T]:
        """The elements that are in none of the others."""
        return set(self).difference(*others)

    def symmetric_difference(self, other: Iterable[Any]) -> set[Any]:
        """The elements that are in one of the two alone."""
        return set(self).symmetric_difference(other)

    def intersection_update(self, *others: Iterable[Any]) -> None:
        """Keeps the elements that are in all others, too."""
        self._keep(self.intersection(*others))

    def difference_update(self, *others: Iterable[Any]) -> None:
        """Removes the elements of others."""
        self._keep(self.difference(*others))

    def symmetric_difference_update(self, other: Iterable[Any]) -> None:
        """Keeps and adds the elements that are in one of the two alone."""
        wanted = self.symmetric_difference(other)

        def become() -> None:
            self._keep(wanted)
            self.update(wanted)

        self.realm._atomically(become)

    def _keep(self, wanted: set[Any]) -> None:
        for value in list(self):
            if value not in wanted:
                self._erase(value)

    def issubset(self, other: Iterable[Any]) -> bool:
        """Whether every element is in other."""
        return set(self).issubset(other)

    def issuperset(self, other: Iterable[Any]) -> bool:
        """Whether every element of other is in this set."""
        return set(self).issuperset(other)

    def copy(self) -> set[T]:
        """The elements as a plain set."""
        return set(self)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> set[T]:
        return {_deep(element, memo) for element in self}

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        _refuse_pickling(self)

    def __repr__(self) -> str:
        return _repr(self, "set", "{}")


class Dictionary(_realm.Dictionary, _Queryable[T], MutableMapping[str, T]):
    """The dictionary of a stored object. Keys are text, in the order of their UTF-8."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    if TYPE_CHECKING:

        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[str]: ...
        def __getitem__(self, key: str) -> T: ...
        def __setitem__(self, key: str, value: T) -> None: ...
        def __delitem__(self, key: str) -> None: ...
        def clear(self) -> None: ...

    def keys(self) -> KeysView[str]:
        """The keys, as a set."""
        return KeysOf(self)

    def values(self) -> ValuesView[T]:
        """The values, in the order of their keys."""
        return ValuesOf(self)

    def items(self) -> ItemsView[str, T]:
        """The pairs of key and value."""
        return ItemsOf(self)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self))

    @overload
    def pop(self, key: str, /) -> T: ...
    @overload
    def pop(self, key: str, /, default: T) -> T: ...
    @overload
    def pop(self, key: str, /, default: D) -> T | D: ...
    def pop(self, key: str, /, default: Any = _NOTHING) -> Any:
        """Removes a key and returns its value, a nested list or dict as a plain copy. Without such a key: the default,
        or KeyError."""
        if default is not _NOTHING and key not in self:
            return default
        value = _taken(self[key])
        del self[key]
        return value

    def popitem(self) -> tuple[str, T]:
        """Removes the last key and returns it with its value; KeyError if there is none."""
        key = self._last_key()
        if key is None:
            raise NoSuchObjectError(f"popitem from {self._path}, which is empty")
        return key, self.pop(key)

    @overload
    def get(self, key: str, /) -> T | None: ...
    @overload
    def get(self, key: str, default: T, /) -> T: ...
    @overload
    def get(self, key: str, default: Any, /) -> Any: ...
    def get(self, key: str, default: Any = None, /) -> Any:
        """The value of a key, the default if it is not there."""
        return self._get(key, default)

    def setdefault(self, key: str, default: Any = None, /) -> T:
        """The value of a key, which gets the default if it is not there."""
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, other: Any = (), /, **values: T) -> None:
        """Sets the values of the keys of a mapping, or of pairs, and of the names: all, or none
        when there is an error."""
        try:
            content = dict(other, **values)
        except (TypeError, ValueError) as error:
            raise misuse(error) from error
        self._put_all(content)

    def copy(self) -> dict[str, T]:
        """The content as a plain dict. Lists and dicts among the values stay views;
        `copy.deepcopy` makes plain ones of these, too."""
        return dict(self._walk_items())

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, T]:
        return {key: _deep(value, memo) for key, value in self.items()}

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        _refuse_pickling(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return len(self) == len(other) and self.copy() == dict(other)

    def __or__(self, other: Mapping[str, T]) -> dict[str, T]:
        return {**self.copy(), **other} if isinstance(other, Mapping) else NotImplemented

    def __ror__(self, other: Mapping[str, T]) -> dict[str, T]:
        return {**other, **self.copy()} if isinstance(other, Mapping) else NotImplemented

    def __ior__(self, other: Any) -> Dictionary[T]:  # type: ignore[misc]
        self.update(other)
        return self

    def __repr__(self) -> str:
        return _repr(self, "dict", "{}")


_realm._set_collection_classes(List, Set, Dictionary, _find_target)
