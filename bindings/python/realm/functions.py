"""Functions for conditions, computed by the engine: `realm.fn.lower(Dog.name) == "rex"`.

They take properties and what is computed of them, and are values for conditions in turn:

    r.objects(Dog).where(realm.fn.year(Dog.born) == 2019, realm.fn.length(Dog.name) > 3)
"""

from __future__ import annotations

from typing import Any

from ._errors import ArgumentError, UsageError
from ._expressions import Expression, _condition, _write_value
from ._predicates import Kind, Parts, part

__all__ = [
    "abs", "cast", "ceil", "day", "exp", "floor", "hour", "if_else", "length", "ln", "log10", "lower",
    "minute", "mod", "month", "now", "power", "round", "second", "sqrt", "trim", "trunc", "upper",
    "weekday", "year",
]


class _Call(Expression[Any]):
    __slots__ = ("arguments", "function")

    def __init__(self, function: str, *arguments: Any) -> None:
        self.function, self.arguments = function, arguments

    def _write(self, parts: Parts) -> None:
        for argument in self.arguments:
            _write_value(parts, argument)
        parts.append(part(Kind.CALL, count=len(self.arguments), name=self.function))


class _Choice(Expression[Any]):
    __slots__ = ("condition", "no", "yes")

    def __init__(self, condition: Any, yes: Any, no: Any) -> None:
        self.condition, self.yes, self.no = _condition(condition), yes, no

    def _write(self, parts: Parts) -> None:
        self.condition._write(parts)
        _write_value(parts, self.yes)
        _write_value(parts, self.no)
        parts.append(part(Kind.CHOOSE))


def _call(function: str, value: Any, *others: Any) -> Expression[Any]:
    if not isinstance(value, Expression) and not any(isinstance(o, Expression) for o in others):
        raise UsageError(
            f"{function}() takes a property of a class, such as Dog.name, or what is computed of one, "
            f"not {value!r}"
        )
    return _Call(function, value, *others)


def lower(value: Any, /) -> Expression[Any]:
    """Text in lower case."""
    return _call("lowercase", value)


def upper(value: Any, /) -> Expression[Any]:
    """Text in upper case."""
    return _call("uppercase", value)


def trim(value: Any, /) -> Expression[Any]:
    """Text without the white space at both ends."""
    return _call("trim", value)


def length(value: Any, /) -> Expression[Any]:
    """The number of characters of a text."""
    return _call("length", value)


def _part(name: str, value: Any, zone: str | None) -> Expression[Any]:
    return _call(name, value) if zone is None else _call(name, value, zone)


def year(value: Any, zone: str | None = None, /) -> Expression[Any]:
    """The year of an instant or a date, in UTC or in a zone such as "UTC+05:30"."""
    return _part("year", value, zone)


def month(value: Any, zone: str | None = None, /) -> Expression[Any]:
    """The month, 1 to 12."""
    return _part("month", value, zone)


def day(value: Any, zone: str | None = None, /) -> Expression[Any]:
    """The day of the month, 1 to 31."""
    return _part("day", value, zone)


def hour(value: Any, zone: str | None = None, /) -> Expression[Any]:
    """The hour, 0 to 23."""
    return _part("hour", value, zone)


def minute(value: Any, zone: str | None = None, /) -> Expression[Any]:
    """The minute, 0 to 59."""
    return _part("minute", value, zone)


def second(value: Any, zone: str | None = None, /) -> Expression[Any]:
    """The second, 0 to 59."""
    return _part("second", value, zone)


def weekday(value: Any, zone: str | None = None, /) -> Expression[Any]:
    """The day of the week, as the query language counts it; see docs/QUERIES.md."""
    return _part("weekday", value, zone)


def now() -> Expression[Any]:
    """The moment at which the query runs."""
    return _Call("now")


def abs(value: Any, /) -> Expression[Any]:  # noqa: A001 - as Python calls it.
    """A number without its sign."""
    return _call("abs", value)


def round(value: Any, /) -> Expression[Any]:  # noqa: A001
    """A number rounded to the next integer."""
    return _call("round", value)


def ceil(value: Any, /) -> Expression[Any]:
    """The least integer that is not below a number."""
    return _call("ceiling", value)


def floor(value: Any, /) -> Expression[Any]:
    """The greatest integer that is not above a number."""
    return _call("floor", value)


def trunc(value: Any, /) -> Expression[Any]:
    """A number without its fraction."""
    return _call("trunc", value)


def sqrt(value: Any, /) -> Expression[Any]:
    """The square root."""
    return _call("sqrt", value)


def exp(value: Any, /) -> Expression[Any]:
    """e to the power of a number."""
    return _call("exp", value)


def ln(value: Any, /) -> Expression[Any]:
    """The natural logarithm."""
    return _call("ln", value)


def log10(value: Any, /) -> Expression[Any]:
    """The logarithm to base 10."""
    return _call("log", value)


def mod(value: Any, by: Any, /) -> Expression[Any]:
    """The remainder of a division."""
    return _call("modulus", value, by)


def power(value: Any, exponent: Any, /) -> Expression[Any]:
    """A number to the power of another."""
    return _call("power", value, exponent)


def if_else(condition: Any, yes: Any, no: Any, /) -> Expression[Any]:
    """One value where a condition holds, another one where not."""
    return _Choice(condition, yes, no)


def cast(value: Any, to: str, /) -> Expression[Any]:
    """A value as one of another type: "Int", "Double", "Decimal", "String", "Date", "Bool", "UUID" or
    "ObjectId"."""
    names = ("Int", "Double", "Decimal", "String", "Date", "Bool", "UUID", "ObjectId")
    if to not in names:
        raise ArgumentError(f"cast() is to one of {', '.join(names)}, not to {to!r}")
    return _Call("CAST", value, to)
