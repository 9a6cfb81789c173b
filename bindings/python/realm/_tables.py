"""Results as tables: Arrow, NumPy, groups with aggregates; and tables as new objects."""

from __future__ import annotations

import functools
from collections import namedtuple
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from . import _realm
from ._errors import NoSuchPropertyError, PropertyTypeError, QueryError, UsageError, names_near
from ._predicates import spelled_name
from ._progress import Count, count
from ._showing import short

if TYPE_CHECKING:
    from ._database import Realm
    from ._results import Results


# ---- out -------------------------------------------------------------------------------------


def column_names(results: Results[Any], names: tuple[str, ...]) -> tuple[str, ...]:
    """The names given, or all properties that are single values of one type."""
    if results.element_class is None:
        raise QueryError("columns are for results of objects; list(results) has the values")
    if names:
        known = {prop.name for prop in results.element_class.__realm_model__.properties}
        for name in names:
            if name not in known:
                raise NoSuchPropertyError(
                    f"{results.element_class.__name__} has no property {name!r}{names_near(name, known)}")
        return names
    return tuple(
        prop.name
        for prop in results.element_class.__realm_model__.properties
        if prop.collection is None and prop.type != "Any"
    )


def stream_of(results: Results[Any], names: tuple[str, ...] | None) -> Any:
    """A stream of Arrow with all rows, for any thread; of values that are no objects without names. Results that
    gave one on their own thread give others on all threads, until their realm goes on."""
    return results.realm._readable(results)._arrow_stream(names)


def schema_of(results: Results[Any], names: tuple[str, ...] | None) -> Any:
    """The types of such a stream. Whoever asks for them may ask for the stream on another thread."""
    return results.realm._readable(results)._arrow_schema(names)


class Columns:
    """Some properties of results as a table that pyarrow, polars, DuckDB and others read: what has an
    Arrow stream. For others, such as `pandas.DataFrame(...)`, it has rows of plain values. See
    `Results.columns`."""

    __slots__ = ("_names", "_results")

    def __init__(self, results: Results[Any], names: tuple[str, ...]) -> None:
        self._results = results
        self._names = column_names(results, names)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return stream_of(self._results, self._names)

    def __arrow_c_schema__(self) -> Any:
        """The columns alone: for `pyarrow.schema(...)`, and DuckDB, which asks before it reads."""
        return schema_of(self._results, self._names)

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self._results)

    def __iter__(self) -> Iterator[Any]:
        """The rows, frozen data classes: all are read at the beginning."""
        from ._rows import rows_of

        return iter(rows_of(self._results, self._names))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """The rows as an array of NumPy."""
        from ._rows import array_of

        return array_of(self._results, self._names, dtype, copy)

    def __repr__(self) -> str:
        return f"<columns {', '.join(self._names)} of {self._results!r}>"


def numpy_of(results: Results[Any], name: str) -> Any:
    """The array for `Results.numpy`."""
    import numpy

    column_names(results, (name,))
    assert results.element_class is not None
    found = [p for p in results.element_class.__realm_model__.properties if p.name == name]
    fixed = ("int", "bool", "float", "Float32", "datetime", "date", "timedelta")
    if not found or found[0].collection or found[0].type not in fixed:
        values = results.values(name)
        objects = numpy.empty(len(values), dtype=object)
        for place, value in enumerate(values):
            # Not all at once: lists of one length would become a second dimension.
            objects[place] = value
        return objects
    data, form, valid, count = results._column(name)
    types = {
        "l": "int64", "g": "float64", "f": "float32", "b": "uint8", "tdD": "int32",
        "tsu:UTC": "datetime64[us]", "tDu": "timedelta64[us]",
    }
    array = numpy.frombuffer(data, dtype=types[form])
    if form == "b":
        array = numpy.unpackbits(array, count=count, bitorder="little").astype(bool)
    if form == "tdD":
        array = array.astype("datetime64[D]")
    if valid is None:
        return array
    missing = ~numpy.unpackbits(
        numpy.frombuffer(valid, dtype="uint8"), count=count, bitorder="little"
    ).astype(bool)
    if form in ("l", "b"):
        return numpy.ma.MaskedArray(array, missing)
    array[missing] = numpy.nan if form in ("g", "f") else "NaT"
    return array


# ---- groups ----------------------------------------------------------------------------------


class Aggregate:
    """What `Results.group_by` computes of each group: made by `realm.agg.count()`, `realm.agg.sum("age")` and
    the like."""

    __slots__ = ("kind", "name")

    def __init__(self, kind: str, name: Any = None) -> None:
        self.kind, self.name = kind, name

    def __repr__(self) -> str:
        return f"<{self.kind} of {'each group' if self.name is None else self.name}>"


class agg:
    """Aggregates for `Results.group_by`. Null does not count."""

    @staticmethod
    def count() -> Aggregate:
        """How many objects the group has."""
        return Aggregate("count")

    @staticmethod
    def sum(name: Any, /) -> Aggregate:
        """The sum of a property; zero over nothing."""
        return Aggregate("sum", name)

    @staticmethod
    def avg(name: Any, /) -> Aggregate:
        """The mean of a property; None over nothing."""
        return Aggregate("avg", name)

    @staticmethod
    def min(name: Any, /) -> Aggregate:
        """The least value of a property; None over nothing."""
        return Aggregate("min", name)

    @staticmethod
    def max(name: Any, /) -> Aggregate:
        """The greatest value of a property; None over nothing."""
        return Aggregate("max", name)


@functools.lru_cache(maxsize=256)
def _row_type(fields: tuple[str, ...]) -> Any:
    return namedtuple("Group", fields)  # noqa: PYI024


#: Of what sums are defined, among the types of properties.
_NUMBERS = ("int", "float", "Float32", "Decimal", "timedelta", "Any")


def _column_of(
    aggregate: Aggregate, results: Results[Any]
) -> tuple[str, _realm.Property | None]:
    """The aggregate as the engine has it, and the property whose values it gives; None for plain numbers."""
    from ._results import _path

    if aggregate.kind == "count":
        return "@count", None
    path = _path(aggregate.name)
    prop = properties_along(results, path)[-1][1]
    text = f"@{aggregate.kind}.{_quoted(path)}"
    if aggregate.kind in ("sum", "avg"):
        if prop.type not in _NUMBERS or prop.collection is not None:
            raise QueryError(f"{aggregate!r}: sums are of numbers and timedeltas, not of {prop.type}")
        return text, prop if prop.type == "timedelta" else None
    return text, prop


def _quoted(path: str) -> str:
    """The path with a # before names that are words of the language."""
    return ".".join(map(spelled_name, path.split(".")))


def groups(
    results: Results[Any], keys: tuple[str, ...], aggregates: Mapping[str, Aggregate]
) -> list[Any]:
    """The rows of `Results.group_by`, in the order in which the groups come first."""
    if not keys:
        raise UsageError("group_by() needs at least one property")
    for name, aggregate in aggregates.items():
        if not isinstance(aggregate, Aggregate):
            raise UsageError(f"group_by(): {name} is no aggregate such as realm.agg.count(): {aggregate!r}")
    fields = tuple(key.replace(".", "_").lstrip("_") for key in keys) + tuple(aggregates)
    try:
        make = _row_type(fields)
    except ValueError as error:
        raise UsageError(f"group_by() makes named tuples of {', '.join(fields)}: {error}") from None
    if results.element_class is None:
        raise QueryError("groups are of objects; values that are none have no properties to group by")
    columns = [_column_of(aggregate, results) for aggregate in aggregates.values()]
    properties = [properties_along(results, key)[-1][1] for key in keys]
    rows = results._groups(
        ", ".join(map(_quoted, keys)),
        ", ".join(text for text, _ in columns),
        (*properties, *(prop for _, prop in columns)),
    )
    return list(map(make._make, rows))


# ---- in --------------------------------------------------------------------------------------


def _numbers(column: Any) -> Any:
    """A column as the extension takes it: NumPy's arrays of instants as integers with their unit, those
    of text, of objects, with a mask and of more dimensions as lists."""
    if getattr(column, "ndim", 1) != 1 and hasattr(column, "tolist"):
        return column.tolist()
    dtype = getattr(column, "dtype", None)
    if dtype is None:
        return column
    kind = getattr(dtype, "kind", "O")
    if hasattr(column, "mask") or kind not in "biufMm":
        return column.tolist() if hasattr(column, "tolist") else list(column)
    array = column.to_numpy() if hasattr(column, "to_numpy") else column
    if kind == "M":
        return array.astype("datetime64[us]").astype("int64"), "tsu:UTC"
    if kind == "m":
        return array.astype("timedelta64[us]").astype("int64"), "tDu"
    if not array.flags.c_contiguous:
        array = array.copy()
    return array


def _is_column(column: Any) -> bool:
    """Whether it has values one after the other."""
    is_one = isinstance(column, Iterable) or hasattr(column, "__getitem__")
    return is_one and getattr(column, "ndim", 1) != 0


def _refuse_column(realm: Realm, cls: Any, name: Any, column: Any) -> None:
    """Says of which property it can't be the column; a class or name that is none is left to the extension."""
    model = getattr(realm.classes.get(cls) if isinstance(cls, str) else cls, "__realm_model__", None)
    if model is None or all(prop.name != name for prop in model.properties):
        return
    kind = "None" if column is None else f"{type(column).__name__}: {short(column)}"
    raise PropertyTypeError(
        f"{model.name}.{name} can't be given {kind} for a column, which has a value for each object"
    )


def insert_many(
    realm: Realm, cls: Any, data: Any, update: str, progress: Count | bool | None
) -> int:
    """As `Realm.insert_many`."""
    if isinstance(data, (str, bytes)) or not (hasattr(data, "__arrow_c_stream__") or isinstance(data, Iterable)):
        kind = "text" if isinstance(data, (str, bytes)) else repr(data)
        raise PropertyTypeError(f"insert_many() takes rows, columns or an Arrow table, not {kind}")
    is_columns = isinstance(data, Mapping)
    if is_columns:
        for name, column in data.items():
            if not _is_column(column):
                _refuse_column(realm, cls, name, column)
    index_names = getattr(getattr(data, "index", None), "names", None)
    if index_names is not None and all(name is None for name in index_names):
        # pandas makes a column of labels without a name where they are no range, as of filtered frames.
        data = data.reset_index(drop=True)
    stream = getattr(data, "__arrow_c_stream__", None)
    with count(progress, " objects", _length(next(iter(data.values()), ()) if is_columns else data)) as tell:
        told = None if progress is None or progress is False else tell
        if stream is not None:
            return realm._insert_columns(cls, stream(), update, told)
        if is_columns:
            columns = {name: _numbers(column) for name, column in data.items()}
            return realm._insert_columns(cls, columns, update, told)
        return realm._atomically(lambda: _insert_rows(realm, cls, data, update, told))


def _length(data: Any) -> int | None:
    found = getattr(data, "num_rows", None)
    has_length = hasattr(data, "__len__") and getattr(data, "ndim", 1) != 0
    return len(data) if found is None and has_length else found


def _insert_rows(
    realm: Realm, cls: Any, rows: Iterable[Any], update: Any, tell: Count | None
) -> int:
    done = 0
    for row in rows:
        try:
            if isinstance(row, _realm.Object):
                realm.add(cast("Any", row), update=update)
            elif isinstance(row, Mapping):
                realm.create(cls, row, update=update)
            else:
                raise PropertyTypeError(f"insert_many() takes dicts or objects as rows, not {row!r}")
        except Exception as error:
            error.add_note(f"in row {done}")
            raise
        done += 1
        if tell is not None and done % 10_000 == 0:
            tell(done)
    if tell is not None:
        tell(done)
    return done


# ---- paths -----------------------------------------------------------------------------------


def properties_along(
    results: Results[Any], path: str, *, through_collections: bool = False
) -> list[tuple[Any, _realm.Property]]:
    """The properties of a path over links, and where it is allowed over collections of links, each with the
    class that has it."""
    from ._model import _find_target

    cls: Any = results.element_class
    steps: list[tuple[Any, _realm.Property]] = []
    for name in path.replace("\\ ", " ").split("."):
        if steps:
            owner, link = steps[-1]
            if link.type != "link" or (link.collection is not None and not through_collections):
                one = "" if through_collections else " to one object"
                raise NoSuchPropertyError(
                    f"{path!r}: {owner.__name__}.{link.name} is no link{one}, so it has no {name!r}"
                )
            cls = results.realm.classes.get(str(link.link_target)) or _find_target(owner, link.name)
        names = {} if cls is None else {p.name: p for p in cls.__realm_model__.properties}
        if name not in names:
            shown = steps[-1][1].link_target if cls is None else cls.__name__
            raise NoSuchPropertyError(
                f"{path!r}: {shown} has no property {name!r}; it has {', '.join(names)}"
            )
        steps.append((cls, names[name]))
    return steps


def values_along(results: Results[Any], path: str) -> list[Any]:
    """The values at the end of a path over links: None where there is no object, a list or dict of those of the
    objects in a collection."""
    first, *rest = (prop for _, prop in properties_along(results, path, through_collections=True))
    return [_value_along(value, first, rest) for value in results._values((first.name,))]


def _value_along(value: Any, prop: _realm.Property, rest: list[_realm.Property]) -> Any:
    """What a path leads to from the value of its first property."""
    if prop.collection == "dict":
        return {key: _behind(element, rest) for key, element in value.items()}
    if prop.collection is not None:
        return [_behind(element, rest) for element in value]
    return _behind(value, rest)


def _behind(value: Any, rest: list[_realm.Property]) -> Any:
    if not rest or value is None:
        return value
    return _value_along(getattr(value, rest[0].name), rest[0], rest[1:])
