"""Typed expressions: queries written in Python, compiled to the engine's query language.

    r.objects(Dog).where((Dog.age < 2) & Dog.name.startswith("B"))

A property that is read from its class is an expression (a `Path`, see _paths.py). Comparing it gives a
`Condition`; conditions are joined by `&`, `|` and `~`. Nothing is evaluated here: `_Text` collects
the text of a query and the values for its `$0`, `$1` ... - no value ever becomes part of the text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, NoReturn, TypeVar

from ._errors import UsageError

T = TypeVar("T")

_BOOLEAN_HINT = (
    "is no truth value: join conditions with & | ~ instead of `and`, `or`, `not`, write chained "
    "comparisons as (a < x) & (x < b), and `x in y` as y.contains(x) or x.in_(y)"
)

class _Text:
    """A query text under construction."""

    def __init__(self, root: type[Any] | None) -> None:
        self.root = root
        #: The query is over values, not objects: paths start at SELF.
        self.of_values = False
        self.arguments: list[Any] = []
        self.variables: dict[int, str] = {}
        self.depth = 0

    def value(self, value: Any) -> str:
        if isinstance(value, Expression):
            return value._render(self)
        if value is None:
            return "NULL"
        return self.argument(value)

    def argument(self, value: Any) -> str:
        if isinstance(value, Condition):
            raise UsageError(f"{value!r} is a condition, not a value; join conditions with & | ~")
        self.arguments.append(value)
        return f"${len(self.arguments) - 1}"


# ---- conditions ------------------------------------------------------------------------------


class Condition:
    """What holds for an object or not, for `Results.where`. Joined by `&`, `|` and `~`."""

    __slots__ = ()

    def _render(self, text: _Text) -> str:
        raise NotImplementedError

    def __and__(self, other: Condition | bool) -> Condition:
        return _Junction("AND", self, _condition(other))

    def __or__(self, other: Condition | bool) -> Condition:
        return _Junction("OR", self, _condition(other))

    def __rand__(self, other: Condition | bool) -> Condition:
        return _Junction("AND", _condition(other), self)

    def __ror__(self, other: Condition | bool) -> Condition:
        return _Junction("OR", _condition(other), self)

    def __invert__(self) -> Condition:
        return _Not(self)

    def __bool__(self) -> NoReturn:
        raise UsageError(f"{self!r} {_BOOLEAN_HINT}")

    def __repr__(self) -> str:
        text = _Text(None)
        return f"<condition {self._render(text)}{_shown(text)}>"


def _shown(text: _Text) -> str:
    return f", with {', '.join(map(repr, text.arguments))}" if text.arguments else ""


def _condition(value: Any) -> Condition:
    if isinstance(value, Condition):
        return value
    if isinstance(value, Expression) and value._is_boolean():
        return _Comparison(value, "==", True)
    if isinstance(value, Expression):
        raise UsageError(
            f"{value!r} is a value, not a condition; & and | bind tighter than comparisons, so put "
            "these in parentheses: (Dog.age < 2) & (Dog.name == 'Rex')"
        )
    raise UsageError(
        f"{value!r} is not a condition; & and | bind tighter than comparisons, so put these in "
        "parentheses: (Dog.age < 2) & (Dog.name == 'Rex')"
    )


class _Junction(Condition):
    __slots__ = ("left", "right", "word")

    def __init__(self, word: str, left: Condition, right: Condition) -> None:
        self.word, self.left, self.right = word, left, right

    def _render(self, text: _Text) -> str:
        # Chains of thousands of terms are nested as deep: no recursion along them.
        parts, pending = [], [self.left, self.right][::-1]
        while pending:
            part = pending.pop()
            if isinstance(part, _Junction) and part.word == self.word:
                pending += [part.right, part.left]
            elif isinstance(part, _Junction):
                parts.append(f"({part._render(text)})")
            else:
                parts.append(part._render(text))
        return f" {self.word} ".join(parts)


class _Not(Condition):
    __slots__ = ("inner",)

    def __init__(self, inner: Condition) -> None:
        self.inner = inner

    def _render(self, text: _Text) -> str:
        return f"NOT ({self.inner._render(text)})"

    def __invert__(self) -> Condition:
        return self.inner


class _Comparison(Condition):
    __slots__ = ("left", "operator", "right")

    def __init__(self, left: Expression[Any], operator: str, right: Any) -> None:
        self.left, self.operator, self.right = left, operator, right

    def _render(self, text: _Text) -> str:
        return f"{self.left._render(text)} {self.operator} {text.value(self.right)}"


class _Membership(Condition):
    """`x IN list`, where the list is a value or a path to a collection."""

    __slots__ = ("options", "value", "values")

    def __init__(self, value: Any, values: Any, options: str) -> None:
        self.value, self.values, self.options = value, values, options

    def _render(self, text: _Text) -> str:
        left = text.value(self.value)
        return f"{left} IN{self.options} {text.value(self.values)}"


class _Between(Condition):
    __slots__ = ("high", "low", "value")

    def __init__(self, value: Expression[Any], low: Any, high: Any) -> None:
        self.value, self.low, self.high = value, low, high

    def _render(self, text: _Text) -> str:
        left = self.value._render(text)
        low, high = (
            bound._render(text) if isinstance(bound, Expression) else text.argument(bound)
            for bound in (self.low, self.high)
        )
        return f"{left} BETWEEN {{{low}, {high}}}"


def _options(case: bool, diacritics: bool) -> str:
    letters = ("" if case else "c") + ("" if diacritics else "d")
    return f"[{letters}]" if letters else ""


# ---- values ----------------------------------------------------------------------------------


class Expression(Generic[T]):
    """A value that differs from object to object: a property, a path over links, or what is computed
    of these."""

    __slots__ = ()
    __hash__ = object.__hash__

    def _render(self, text: _Text) -> str:
        raise NotImplementedError

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
        return _Comparison(self, "==" + _options(case, diacritics), other)

    def in_(
        self, values: Iterable[Any] | Expression[Any], /, *, case: bool = True,
        diacritics: bool = True,
    ) -> Condition:
        """Is one of `values`: an iterable, or a path to a collection."""
        if isinstance(values, (str, bytes)):
            raise UsageError(f"in_() takes a list of values, got {values!r}; for text: contains()")
        if not isinstance(values, Expression):
            values = list(values)
        return _Membership(self, values, _options(case, diacritics))

    def between(self, low: T | Expression[T], high: T | Expression[T], /) -> Condition:
        """Lies from `low` to `high`, both included; of a collection, one and the same element does."""
        return _Between(self, low, high)

    def is_null(self) -> Condition:
        """Is None."""
        return _Comparison(self, "==", None)

    # Text.

    def _search(self, operator: str, word: str, value: Any, case: bool, diacritics: bool) -> Any:
        return _Comparison(self, operator + _options(case, diacritics), value)

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

    def __bool__(self) -> NoReturn:
        raise UsageError(f"{self!r} {_BOOLEAN_HINT}")

    def __contains__(self, value: object) -> NoReturn:
        raise UsageError(f"{self!r} {_BOOLEAN_HINT}")

    __iter__ = None

    def __repr__(self) -> str:
        text = _Text(None)
        return f"<expression {self._render(text)}{_shown(text)}>"


class _Arithmetic(Expression[T]):
    __slots__ = ("left", "operator", "right")

    def __init__(self, left: Any, operator: str, right: Any) -> None:
        for operand in (left, right):
            if operand is None or isinstance(operand, (str, bytes, Condition)):
                raise UsageError(f"{operator} is for numbers, got {operand!r}")
        self.left, self.operator, self.right = left, operator, right

    def _render(self, text: _Text) -> str:
        left = text.value(self.left)
        return f"({left} {self.operator} {text.value(self.right)})"
