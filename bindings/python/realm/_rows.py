"""Results as rows of plain values, for consumers that know neither Arrow nor the objects of a realm:
arrays of NumPy, and with these the constructor of `pandas.DataFrame`.

A row is an instance of a frozen data class that is made for the properties asked for. It knows of no
realm. pandas makes columns of such rows by `dataclasses.asdict`, and orjson writes them as JSON.
"""

from __future__ import annotations

import functools
import gc
import itertools
from collections import deque
from collections.abc import Callable, Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any, cast

from . import _realm
from ._errors import ArgumentError, InvalidObjectError, NoSuchPropertyError, UsageError
from ._records import _eq, _hash, _init, _repr, _set, _values

if TYPE_CHECKING:
    from ._results import Results


# ---- their classes ---------------------------------------------------------------------------


@functools.lru_cache(maxsize=1024)
def _row_class(name: str, fields: tuple[str, ...]) -> type[Any]:
    """The frozen data class with these fields. `dataclasses` refuses names that Python's grammar has no
    place for, which properties may have ("first name", "class"): so it describes fields of neutral
    names, and these are renamed. No property has a name with two underscores on both sides."""
    # Takes a third of the time of `import realm`.
    import dataclasses

    slots = tuple(f"__{place}__" for place in range(len(fields)))
    template: Any = dataclasses.make_dataclass("Row", slots, frozen=True)
    described = {}
    for field, described_field in zip(fields, dataclasses.fields(template), strict=True):
        described_field.name = field
        described[field] = described_field
    namespace = {
        "__doc__": f"A row of {name}: plain values.", "__slots__": slots, "__match_args__": fields,
        "__dataclass_fields__": described, "__dataclass_params__": template.__dataclass_params__,
        "__realm_defaults__": {}, "__init__": _init, "__repr__": _repr, "__eq__": _eq,
        "__hash__": _hash, "__setattr__": _set, "__delattr__": _set, "__reduce__": _reduce,
    }
    made: Any = type(name, (), namespace)
    for field, slot in zip(fields, slots, strict=True):
        type.__setattr__(made, field, made.__dict__[slot])
    return cast("type[Any]", made)


def _reduce(self: Any) -> tuple[Any, ...]:
    return _row, (type(self).__name__, self.__match_args__, _values(self))


def _row(name: str, fields: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    """A row, from what was pickled."""
    return _row_class(name, fields)(*values)


# ---- values ----------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    """A value of a property of any type without its realm: views as lists and dicts, links as references."""
    if isinstance(value, _realm.Object):
        from ._model import reference

        return reference(cast("Any", value))
    if isinstance(value, _realm.Dictionary | dict):
        return {key: _plain(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, _realm.List | list):
        return [_plain(item) for item in value]
    return value


def _key(value: Any) -> int | None:
    return None if value is None else cast("int | None", value._realm_key)


def _each(convert: Callable[[Any], Any], values: Iterable[Any]) -> list[Any]:
    return [None if value is None else convert(value) for value in values]


def _within(convert: Callable[[Any], Any], collection: Any) -> Any:
    if isinstance(collection, dict):
        return {key: convert(item) for key, item in collection.items()}
    return [convert(item) for item in collection]


#: Bytes of the values that are read as they lie in memory, without an object of Python in between.
_WIDTHS = {"link": 8, "UUID": 16, "ObjectId": 12}


def _fixed(results: Results[Any], prop: _realm.Property) -> list[Any]:
    """A property with values of one size: the keys of linked objects, the bytes of ids."""
    data, _, valid, count = results._column(prop.name)
    values: list[Any] = []
    if prop.type == "link":
        values += memoryview(data).cast("q")
    else:
        raw, width = bytes(data), _WIDTHS[prop.type]
        values = [raw[start : start + width] for start in range(0, count * width, width)]
    if valid is not None:
        for place in range(count):
            if not valid[place >> 3] >> (place & 7) & 1:
                values[place] = None
    return values


def _column(results: Results[Any], prop: _realm.Property) -> list[Any]:
    """The values of a property: as the Arrow table of the results has them; of collections and of any
    type, which that leaves out, as `values()` has them, without objects and views."""
    # The type of a property of an Enum is called as that.
    kind = prop.type if prop._form is None else None
    if prop.collection is None and kind in _WIDTHS:
        return _fixed(results, prop)
    values = results._values((prop.name,))
    if kind == "Any":
        return _each(_plain, values)
    if prop.collection is not None:
        return _each(functools.partial(_within, _key), values) if kind == "link" else values
    if kind == "Decimal":
        return _each(str, values)
    if isinstance(prop._form, type) and issubclass(prop._form, Enum):
        return [None if value is None else value.value for value in values]
    return values


# ---- rows and arrays -------------------------------------------------------------------------


def _filled(cls: type[Any], count: int, columns: Iterable[tuple[str, list[Any]]]) -> list[Any]:
    # Only containers of plain values are made, which are no garbage; there may be millions.
    collecting = gc.isenabled()
    gc.disable()
    try:
        rows = list(map(object.__new__, itertools.repeat(cls, count)))
        for name, column in columns:
            if len(column) != count:
                raise InvalidObjectError(f"the results of {cls.__name__} changed while they were read")
            deque(map(cls.__dict__[name].__set__, rows, column), maxlen=0)
        return rows
    finally:
        if collecting:
            gc.enable()


def rows_of(results: Results[Any], names: tuple[str, ...] | None = None) -> list[Any]:
    """The objects as rows of these properties, of all if none are given. Read column by column."""
    assert results.element_class is not None
    model = results.element_class.__realm_model__
    properties = {prop.name: prop for prop in model.properties}
    # Columns that are asked for twice are one.
    chosen = tuple(properties) if names is None else tuple(dict.fromkeys(names))
    for name in chosen:
        if name not in properties:
            raise NoSuchPropertyError(
                f"{model.name} has no property {name!r}; it has {', '.join(sorted(properties))}"
            )
    columns = ((name, _column(results, properties[name])) for name in chosen)
    return _filled(_row_class(model.name, chosen), len(results), columns)


def _objects(values: list[Any]) -> Any:
    """An array of one dimension, whatever the values are."""
    import numpy

    return numpy.fromiter(values, dtype=object, count=len(values))


def _array_of_values(results: Results[Any]) -> Any:
    """The elements that are no objects: numbers and booleans as those of NumPy where none is null, null
    as NaN among floating point numbers; all others as Python has them. Texts, too: NumPy's own take
    the space of the longest each."""
    import numpy

    prop = results._property
    assert prop is not None
    values = list(results)
    kinds = {"int": "int64", "bool": "bool", "float": "float64", "Float32": "float32"}
    kind = None if prop._form is not None else kinds.get(prop.type)
    if kind is not None and (kind.startswith("float") or None not in values):
        return numpy.array(values, dtype=kind)
    return _objects(_each(_plain, values) if prop.type == "Any" else values)


def array_of(results: Results[Any], names: tuple[str, ...] | None, dtype: Any, copy: bool | None) -> Any:
    """What `__array__` gives: of objects their rows, of others the values."""
    import numpy

    if copy is False:
        raise ArgumentError(f"an array of {results!r} can't share its memory: it is always a copy")
    if results.element_class is None:
        made = _array_of_values(results)
        return made if dtype is None else made.astype(dtype, copy=False)
    if dtype is not None and numpy.dtype(dtype) != object:
        raise UsageError(
            f"objects of {results.element_class.__name__} are rows in an array, of the dtype object, not "
            f"{numpy.dtype(dtype)}; numpy(name) has the values of one property"
        )
    return _objects(rows_of(results, names))
