"""Typed expressions: queries written in Python, handed to the engine as they are, without text.

    r.objects(Dog).where((Dog.age < 2) & Dog.name.startswith("B"))

A property that is read from its class is an expression (a `Path`, see _paths.py). Comparing it gives a
`Condition`; conditions are joined by `&`, `|` and `~`. Nothing is evaluated here: each writes its parts
(_predicates.py), and values are arguments.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, NoReturn, TypeVar

from ._errors import UsageError
from ._predicates import COMPARISONS, Kind, Parts, begun, part, spelled

T = TypeVar("T")

_BOOLEAN_HINT = (
    "is no truth value: join conditions with & | ~ instead of `and`, `or`, `not`, write chained "
    "comparisons as (a < x) & (x < b), and `x in y` as y.contains(x) or x.in_(y)"
)


class Written:
    """A condition, or a value in one."""

    __slots__ = ()

    def _write(self, parts: Parts) -> None:
        raise NotImplementedError

    def __bool__(self) -> NoReturn:
        raise UsageError(f"{self!r} {_BOOLEAN_HINT}")


def _write_value(parts: Parts, value: Any) -> None:
    if not isinstance(value, Written):
        parts.argument(value)
    elif isinstance(value, Condition):
        raise UsageError(f"{value!r} is a condition, not a value; join conditions with & | ~")
    else:
        value._write(parts)


# ---- conditions ------------------------------------------------------------------------------


class Condition(Written):
    """What holds for an object or not, for `Results.where`. Joined by `&`, `|` and `~`."""

    __slots__ = ()

    def __and__(self, other: Condition | bool) -> Condition:
        return _Junction(Kind.ALL, self, _condition(other))

    def __or__(self, other: Condition | bool) -> Condition:
        return _Junction(Kind.ANY, self, _condition(other))

    def __rand__(self, other: Condition | bool) -> Condition:
        return _Junction(Kind.ALL, _condition(other), self)

    def __ror__(self, other: Condition | bool) -> Condition:
        return _Junction(Kind.ANY, _condition(other), self)

    def __invert__(self) -> Condition:
        return _Not(self)

    def __repr__(self) -> str:
        return f"<condition {_shown(self)}>"


def _shown(written: Written) -> str:
    parts = begun(None)
    written._write(parts)
    values = f", with {', '.join(map(repr, parts.arguments))}" if parts.arguments else ""
    return spelled(parts) + values


def _condition(value: Any) -> Condition:
    if isinstance(value, Condition):
        return value
    if isinstance(value, Expression) and value._is_boolean():
        return _Comparison(value, "==", True)
    found = "a value, not a condition" if isinstance(value, Expression) else "not a condition"
    raise UsageError(
        f"{value!r} is {found}; & and | bind tighter than comparisons, so put these in parentheses: "
        "(Dog.age < 2) & (Dog.name == 'Rex')"
    )


class _Junction(Condition):
    __slots__ = ("kind", "left", "right")

    def __init__(self, kind: Kind, left: Condition, right: Condition) -> None:
        self.kind, self.left, self.right = kind, left, right

    def _write(self, parts: Parts) -> None:
        # Chains of thousands of terms are nested as deep: no recursion along them.
        count, pending = 0, [self.right, self.left]
        while pending:
            term = pending.pop()
            if isinstance(term, _Junction) and term.kind == self.kind:
                pending += [term.right, term.left]
            else:
                term._write(parts)
                count += 1
        parts.append(part(self.kind, count=count))


class _Not(Condition):
    __slots__ = ("inner",)

    def __init__(self, inner: Condition) -> None:
        self.inner = inner

    def _write(self, parts: Parts) -> None:
        self.inner._write(parts)
        parts.append(part(Kind.NOT))

    def __invert__(self) -> Condition:
        return self.inner


class _Comparison(Condition):
    __slots__ = ("left", "part", "right")

    def __init__(self, left: Any, operator: str, right: Any, options: int = 0) -> None:
        self.left, self.right = left, right
        self.part = COMPARISONS[operator, options]

    def _write(self, parts: Parts) -> None:
        _write_value(parts, self.left)
        _write_value(parts, self.right)
        parts.append(self.part)


class _Between(Condition):
    __slots__ = ("high", "low", "value")

    def __init__(self, value: Expression[Any], low: Any, high: Any) -> None:
        self.value, self.low, self.high = value, low, high

    def _write(self, parts: Parts) -> None:
        for operand in (self.value, self.low, self.high):
            _write_value(parts, operand)
        parts.append(part(Kind.BETWEEN))


def _options(case: bool, diacritics: bool) -> int:
    return (0 if case else 1) | (0 if diacritics else 2)


# ---- values ----------------------------------------------------------------------------------


class Expression(Written, Generic[T]):
    """A value that differs from object to object: a property, a path over links, or what is computed
    of these."""

    __slots__ = ()
    __hash__ = object.__hash__

    def _is_boolean(self) -> bool:
        return False

    # Comparing.

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]
        return _Comparison(self, "==", other)

    def __ne__(self, other: object) -> Condition:  # type: ignore[override]
        return _Comparison(self, "!=", other)

    def __lt__(self, other: T | Expression[T]) -> Condition:
        return _Comparison(self, "<", other)

    def __le__(self, other: T | Expression[T]) -> Condition:
        return _Comparison(self, "<=", other)

    def __gt__(self, other: T | Expression[T]) -> Condition:
        return _Comparison(self, ">", other)

    def __ge__(self, other: T | Expression[T]) -> Condition:
        return _Comparison(self, ">=", other)

    def equals(
        self, other: T | Expression[T], /, *, case: bool = True, diacritics: bool = True
    ) -> Condition:
        """`==` that may ignore case and diacritics."""
        return _Comparison(self, "==", other, _options(case, diacritics))

    def in_(
        self, values: Iterable[Any] | Expression[Any], /, *, case: bool = True,
        diacritics: bool = True,
    ) -> Condition:
        """Is one of `values`: an iterable, or a path to a collection."""
        if isinstance(values, (str, bytes)):
            raise UsageError(f"in_() takes a list of values, got {values!r}; for text: contains()")
        if not isinstance(values, Expression):
            if not isinstance(values, Iterable):
                raise UsageError(f"in_() takes a list of values, got {values!r}")
            values = list(values)
        return _Comparison(self, "IN", values, _options(case, diacritics))

    def between(self, low: T | Expression[T], high: T | Expression[T], /) -> Condition:
        """Lies from `low` to `high`, both included; of a collection, one and the same element does."""
        return _Between(self, low, high)

    def is_null(self) -> Condition:
        """Is None."""
        return _Comparison(self, "==", None)

    # Text.

    def _search(self, operator: str, word: str, value: Any, case: bool, diacritics: bool) -> Any:
        return _Comparison(self, operator, value, _options(case, diacritics))

    def startswith(
        self, prefix: str | bytes | Expression[Any], /, *, case: bool = True,
        diacritics: bool = True,
    ) -> Condition:
        """Begins with `prefix`."""
        found: Condition = self._search("BEGINSWITH", "startswith", prefix, case, diacritics)
        return found

    def endswith(
        self, suffix: str | bytes | Expression[Any], /, *, case: bool = True,
        diacritics: bool = True,
    ) -> Condition:
        """Ends with `suffix`."""
        found: Condition = self._search("ENDSWITH", "endswith", suffix, case, diacritics)
        return found

    def contains(
        self, value: Any, /, *, case: bool = True, diacritics: bool = True
    ) -> Condition:
        """Text: has `value` somewhere in it. Collections: `value` is one of the elements."""
        found: Condition = self._search("CONTAINS", "contains", value, case, diacritics)
        return found

    def like(self, pattern: str, /, *, case: bool = True, diacritics: bool = True) -> Condition:
        """Fits a pattern, in which `?` is any character and `*` any number of them."""
        found: Condition = self._search("LIKE", "like", pattern, case, diacritics)
        return found

    def matches(self, pattern: str, /, *, case: bool = True, diacritics: bool = True) -> Condition:
        """Fits a regular expression as a whole."""
        found: Condition = self._search("MATCHES", "matches", pattern, case, diacritics)
        return found

    def has_words(self, words: str, /) -> Condition:
        """Has all of these words, `word*` for beginnings, none of `-word`; needs a full-text
        index (`realm.FullText`)."""
        found: Condition = self._search("TEXT", "has_words", words, True, True)
        return found

    # Computing.

    def __add__(self, other: Any) -> Expression[T]:
        return _Arithmetic(self, "+", other)

    def __sub__(self, other: Any) -> Expression[T]:
        return _Arithmetic(self, "-", other)

    def __mul__(self, other: Any) -> Expression[T]:
        return _Arithmetic(self, "*", other)

    def __truediv__(self, other: Any) -> Expression[T]:
        return _Arithmetic(self, "/", other)

    def __radd__(self, other: Any) -> Expression[T]:
        return _Arithmetic(other, "+", self)

    def __rsub__(self, other: Any) -> Expression[T]:
        return _Arithmetic(other, "-", self)

    def __rmul__(self, other: Any) -> Expression[T]:
        return _Arithmetic(other, "*", self)

    def __rtruediv__(self, other: Any) -> Expression[T]:
        return _Arithmetic(other, "/", self)

    def __neg__(self) -> Expression[T]:
        return _Arithmetic(0, "-", self)

    # Properties that are conditions by themselves; for others, a hint.

    def __and__(self, other: Condition | bool) -> Condition:
        return _condition(self) & other

    def __or__(self, other: Condition | bool) -> Condition:
        return _condition(self) | other

    def __rand__(self, other: Condition | bool) -> Condition:
        return _condition(other) & _condition(self)

    def __ror__(self, other: Condition | bool) -> Condition:
        return _condition(other) | _condition(self)

    def __invert__(self) -> Condition:
        return ~_condition(self)

    def __contains__(self, value: object) -> NoReturn:
        raise UsageError(f"{self!r} {_BOOLEAN_HINT}")

    __iter__ = None

    def __repr__(self) -> str:
        return f"<expression {_shown(self)}>"


class _Arithmetic(Expression[T]):
    __slots__ = ("left", "operator", "right")

    def __init__(self, left: Any, operator: str, right: Any) -> None:
        for operand in (left, right):
            if operand is None or isinstance(operand, (str, bytes, Condition)):
                raise UsageError(f"{operator} is for numbers, got {operand!r}")
        self.left, self.operator, self.right = left, operator, right

    def _write(self, parts: Parts) -> None:
        _write_value(parts, self.left)
        _write_value(parts, self.right)
        parts.append(part(Kind.ARITHMETIC, number=ord(self.operator)))
