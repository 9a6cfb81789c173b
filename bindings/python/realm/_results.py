"""Results: lazy sequences of objects, or of the values of a collection."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterator, Reversible
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from . import _realm
from ._errors import ArgumentError, NoSuchPropertyError, QueryError, TransactionError, UsageError
from ._observing import CollectionChange, KeyPath, begin, freeze
from ._paths import Path, SortKey, compiled
from ._showing import html_of_results
from ._streams import Changes
from ._tables import Aggregate, Columns, groups, numpy_of, schema_of, stream_of, values_along

if TYPE_CHECKING:
    from ._expressions import Condition

T = TypeVar("T")

_ANY: Any = object()

_ARGUMENT = re.compile(r"\$K?(\d+)")
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.S)


#: A property of a class: its name, or `Dog.age`, which type checkers take for what dogs have there.
_Key = Any


def _path(text: Any) -> str:
    """The text, if it is a single path: the engine takes a list of them, and directions."""
    if isinstance(text, Path):
        return text._plain_path("an order")
    if not isinstance(text, str):
        raise UsageError(f"properties are named by str or as in Dog.age, not {text!r}")
    if not text or any(c in ",()" or c.isspace() for c in text.replace("\\ ", "")):
        raise QueryError(f"{text!r} is not the name of a property or a path over links")
    return text


@functools.lru_cache(maxsize=512)
def _unused(query: str, count: int) -> tuple[int, ...]:
    """The arguments that a query does not mention."""
    used = {int(number) for number in _ARGUMENT.findall(_QUOTED.sub("", query)) if len(number) < 9}
    return tuple(set(range(count)) - used)


def _check_used(query: str, count: int) -> None:
    try:
        unused = _unused(query, count)
    except TypeError:
        # What is no text is refused where it is handed over.
        return
    if unused:
        names = ", ".join(f"${number}" for number in unused)
        raise QueryError(f"the query {query!r} does not use all of its {count} arguments: {names}")


def _alive(members: Results[T]) -> Iterator[T]:
    """Those of a snapshot from its end, but what was deleted since; links of dictionaries may be null."""
    for position in reversed(range(len(members))):
        obj: Any = members[position]
        if obj is None or obj._realm_valid:
            yield obj


class Results(_realm.Results, Collection[T], Reversible[T]):
    """The objects of one class, or the values of a collection, that a query finds: lazy, live, in an order.

    Nothing is read before an element is asked for, and changes to the realm show at once. Results
    come from `Realm.objects`, `Realm.backlinks` and the methods of collections, and are refined by
    `filter`, `where`, `sorted`, `distinct`, `limit` and `offset`, each of which gives new results and
    works on what the one before it left: `limit(5).filter(...)` are those of the five.
    Queries call values that are no objects SELF.

    They are used as a list is: with indexes, slices, `len`, `in`, `reversed`, and in `match`. They are no
    `collections.abc.Sequence`, which stays as it is; `results[:]` is a list.
    """

    __slots__ = ()
    # For `match` they are a sequence: ABCMeta takes this flag, as it does from `Sequence` itself. Where it
    # doesn't know it, sequence patterns match no results.
    __abc_tpflags__ = 1 << 5

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
        Values that are no objects are called SELF: `person.tags.filter("SELF BEGINSWITH 'a'")`.

        `$0`, `$1` ... stand for the arguments; a list, tuple or set stands for a list. The query
        may end with SORT, DISTINCT, LIMIT and OFFSET clauses, which work on what it found.
        """
        if arguments:
            _check_used(query, len(arguments))
        return self._filter(query, arguments)

    def filter_format(self, format: str, /, *arguments: Any) -> Results[T]:
        """The objects for which a format string in the way of NSPredicate is true:
        `airports.filter_format("%K > %d", "elevation", 3000)`.

        `%@`, `%d`, `%f` ... take the arguments from left to right, `%K` takes a key path.
        """
        return self._filter(format, arguments, True)

    def where(self, *conditions: Condition | bool | Callable[[Any], Any]) -> Results[T]:
        """The objects for which all conditions hold, written in Python:

        r.objects(Dog).where((Dog.age < 2) & Dog.name.startswith("B"))

        A function is called with an expression for the object, or the value:
        `where(lambda dog: dog.age < 2)`, `person.numbers.where(lambda n: n > 3)`.
        """
        return self._where(*compiled(conditions, self.element_class))

    def sorted(self, *keys: _Key | SortKey, reverse: bool = False) -> Results[T]:
        """The objects in the order of `keys`, the first of them the most important.

        A key is the name of a property or a path over links (`"country.name"`), where a leading
        minus sorts by it downwards, or an expression: `Airport.country.name`, `Airport.name.desc()`.
        `reverse` turns all of them around. The order is stable. Values that are no objects take no
        keys.
        """
        if self.element_class is None:
            if keys:
                raise UsageError("sorted() of values that are no objects takes `reverse` alone")
            return self._sort(f"SELF {'DESC' if reverse else 'ASC'}")
        if not keys:
            raise UsageError("sorted() needs at least one property")
        parts = []
        for key in keys:
            if isinstance(key, SortKey):
                down, path = key.descending, _path(key.path)
            elif isinstance(key, str):
                down = key.startswith("-")
                path = _path(key[down:])
            else:
                down, path = False, _path(key)
            parts.append(f"{path} {'DESC' if down != reverse else 'ASC'}")
        return self._sort(", ".join(parts))

    def distinct(self, *keys: _Key) -> Results[T]:
        """The first object of each combination of values of `keys`; of values, the first of each."""
        if self.element_class is None and not keys:
            return self._distinct("SELF")
        if self.element_class is None:
            raise UsageError("distinct() of values that are no objects takes no properties")
        if not keys:
            raise UsageError("distinct() needs at least one property")
        return self._distinct(", ".join(map(_path, keys)))

    def limit(self, count: int, /) -> Results[T]:
        """At most the first `count` objects."""
        return self._limit(count)

    def offset(self, count: int, /) -> Results[T]:
        """The objects behind the first `count`: `offset(20).limit(10)` is the third page of ten."""
        return self._offset(count)

    def count(self, value: Any = _ANY) -> int:
        """How many elements there are; with a value, how often it occurs."""
        if value is _ANY:
            return len(self)
        if self.element_class is None:
            return list(self).count(value)
        first = self._position(value)
        if first is None:
            return 0
        # Lists, dictionaries and backlinks may have an object several times.
        if self._each_once or self.offset(first + 1)._position(value) is None:
            return 1
        return sum(one == value for one in self)

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """Position of an element; ValueError if it is not among the results."""
        position = self._position(value)
        if position is not None:
            first, last, _ = slice(start, stop).indices(len(self))
            if position < first:
                # Values may occur several times, and so may objects of lists, dictionaries and backlinks.
                rest = self[first:last] if self.element_class is None else self.offset(first)
                position = rest.index(value) + first if value in rest else last
            if first <= position < last:
                return position
        raise ArgumentError(f"{value!r} is not in these results")

    def _draw(self, kind: str, name: Any) -> Any:
        return self._aggregate(kind, None if name is None else _path(name))

    def min(self, name: _Key | None = None, /) -> Any:
        """The least value of a property, None if there is none. Null does not count."""
        return self._draw("min", name)

    def max(self, name: _Key | None = None, /) -> Any:
        """The greatest value of a property, None if there is none. Null does not count."""
        return self._draw("max", name)

    def sum(self, name: _Key | None = None, /) -> Any:
        """The sum of a numeric property; zero over nothing."""
        return self._draw("sum", name)

    def average(self, name: _Key | None = None, /) -> Any:
        """The mean of a numeric property, None if there is no value. Null does not count."""
        return self._draw("average", name)

    avg = average

    def values(self, *names: _Key) -> list[Any]:
        """The values of one property as a list; of several, as a list of tuples. A path over links
        (`"book.title"`, `Loan.book.title`) gives those of the linked objects, None where there is none; over a
        collection of links (`"dogs.name"`) a list, or a dict, of those of its objects.

        Lists and sets are given as lists of their elements, dictionaries as dicts: copies, which do
        not follow later changes. Lists and dictionaries in properties of any type stay live views.
        """
        paths = tuple(map(_path, names))
        if not any("." in path for path in paths) or self.element_class is None:
            return self._values(paths)
        columns = [values_along(self, path) if "." in path else self._values((path,)) for path in paths]
        return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))

    def __reversed__(self) -> Iterator[T]:
        # As in a `for` loop, the members that there are now.
        return reversed(list(self)) if self.element_class is None else _alive(self.snapshot())

    # ---- tables ----------------------------------------------------------------------------

    def columns(self, *names: str) -> Columns:
        """Some properties as a table of Apache Arrow, for `pyarrow.table(...)`, `polars.DataFrame(...)`,
        DuckDB and others: all that are single values of one type, if none are named. Results are
        such a table themselves. Rows are read when the consumer asks. `pandas.DataFrame(...)` takes them,
        too, and then also collections and properties of any type."""
        return Columns(self, tuple(map(_path, names)))

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """The Arrow PyCapsule interface: `pyarrow.table(results)`, and of values that are no objects
        `pyarrow.chunked_array(results)`, `polars.Series(results)`."""
        if self.element_class is None:
            return stream_of(self, None)
        return self.columns().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        """The types of the columns: `pyarrow.schema(results)`; of values that are no objects `pyarrow.field(...)`."""
        return schema_of(self, None) if self.element_class is None else self.columns().__arrow_c_schema__()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """An array of NumPy, which `pandas.DataFrame(results)` asks for: of objects one row each, a frozen
        data class with the values of all properties. Links are keys, as in the Arrow table, and where it
        has no column, plain lists and dicts. Values that are no objects are themselves, numbers in an
        array of their type."""
        from ._rows import array_of

        return array_of(self, None, dtype, copy)

    def numpy(self, name: _Key, /) -> Any:
        """The values of one property as an array of NumPy. Integers and booleans with nulls are a masked
        array; null is NaN among floating point numbers, NaT among instants, None in arrays of objects."""
        return numpy_of(self, _path(name))

    def group_by(self, *keys: _Key, **aggregates: Aggregate) -> list[Any]:
        """The groups of objects with the same values, with what is computed of each, as named tuples:

        people.group_by("dept.name", n=realm.agg.count(), mean=realm.agg.avg("age"))

        The fields are the properties, with `_` for dots, and the names of the aggregates; groups come
        in the order of their first objects. None is a key like others, and what is behind a null link.
        The engine computes them: nulls and NaN don't count in aggregates.
        """
        return groups(self, tuple(map(_path, keys)), aggregates)

    # ---- changing all ----------------------------------------------------------------------

    def update(self, **values: Any) -> int:
        """Sets properties of all objects, of all or of none: `dogs.filter("age > 9").update(old=True)`. Returns
        how many objects there were."""
        if self.element_class is None:
            raise QueryError("update() is for results of objects")
        names = {prop.name for prop in self.element_class.__realm_model__.properties}
        for name in values:
            if name not in names:
                raise NoSuchPropertyError(
                    f"{self.element_class.__name__} has no property {name!r}; it has "
                    f"{', '.join(sorted(names))}"
                )
        if not values:
            raise UsageError("update() needs values by name of the property")
        pairs = tuple(values.items())
        # Links of dictionaries may be null.
        objects = {obj: None for obj in self if obj is not None}

        def change() -> int:
            for obj in objects:
                for name, value in pairs:
                    setattr(obj, name, value)
            return len(objects)

        if not objects and not self.realm.is_writing:
            raise TransactionError("update() is not in a write transaction: open a `with r.write():` block")
        return self.realm._atomically(change)

    def delete(self) -> int:
        """Deletes all objects, and returns how many there were. Other values leave their collection, and so does
        what a whole dictionary holds: its objects stay."""
        count = len(self)
        if self.element_class is None:
            self.delete_all()
            return count
        # Members may be there several times, null, or deleted already.
        everything = self.realm.objects(self.element_class)
        before = len(everything)
        self.delete_all()
        deleted = before - len(everything)
        # What is kept stays as long as it was, of deleted objects; only a dictionary is empty without any.
        return deleted if deleted or len(self) else count

    def observe(
        self, function: Callable[[CollectionChange[Self]], object], /, *paths: KeyPath
    ) -> _realm.Token:
        """Has `function(change)` called soon, and then after each change: of which elements there are,
        of their order, and of the objects themselves and what they link to. With key paths (`"name"`,
        `"dept.budget"`, `Person.name`) objects count as modified when something along these changed,
        with None never."""
        return begin(self, function, paths)

    def changes(self, *paths: KeyPath) -> Changes[CollectionChange[Self]]:
        """The same for `async for change in results.changes(): ...`"""
        return Changes(self, paths)

    def freeze(self) -> Self:
        """The same of a frozen realm: it never changes, and may be used on all threads."""
        return freeze(self)

    def _repr_html_(self) -> str:
        return html_of_results(self)

    def __repr__(self) -> str:
        if self.realm.is_closed:
            return f"<results of {self._name}, closed>"
        try:
            kind = "values" if self.element_class is None else "objects"
            return f"<results of {self._name}, {len(self)} {kind}>"
        except Exception as error:
            return f"<results of {self._name}: {error}>"
