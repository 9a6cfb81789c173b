"""The values of the model, their kinds, and how they compare.

A value is plain Python: None, bool, int, F32, float, decimal.Decimal, str, bytes, Date, Oid,
uuid.UUID, Row (a link), list and dict (collections inside Any).
"""

from __future__ import annotations

import struct
import uuid
from decimal import Context, Decimal, ROUND_HALF_EVEN
from fractions import Fraction
from typing import Any, NamedTuple


class Unspecified(Exception):
    """The rules do not say what happens here; the query is not compared."""


class F32(float):
    """A 32-bit float; the value is rounded when it is made."""

    def __new__(cls, value: float) -> F32:
        try:
            return super().__new__(cls, struct.unpack("<f", struct.pack("<f", value))[0])
        except OverflowError:
            return super().__new__(cls, float("inf") if value > 0 else float("-inf"))

    def __repr__(self) -> str:
        return f"F32({float(self)!r})"


class Date(NamedTuple):
    seconds: int
    nanos: int

    @property
    def total(self) -> int:
        return self.seconds * 10**9 + self.nanos


class Oid(bytes):
    def __repr__(self) -> str:
        return f"Oid({self.hex()})"


class Row:
    """An object of the model. Its key is what the engine gave it, for the order D2."""

    __slots__ = ("cls", "number", "key", "values", "owner")

    def __init__(self, cls: Any, number: int) -> None:
        self.cls = cls
        self.number = number
        self.key = -1
        self.values: dict[str, Any] = {}
        self.owner: Row | None = None

    def __repr__(self) -> str:
        return f"{self.cls.name}#{self.number}"

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


NUMBER_TYPES = (int, float, Decimal)
DECIMAL = Context(prec=34, rounding=ROUND_HALF_EVEN, Emin=-6143, Emax=6144, clamp=1, traps=[])
TO_DOUBLE_DIGITS = Context(prec=15, rounding=ROUND_HALF_EVEN, traps=[])
TO_FLOAT_DIGITS = Context(prec=7, rounding=ROUND_HALF_EVEN, traps=[])


def kind(value: Any) -> str:
    """The kind within which values of Any compare (T10, D3)."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, NUMBER_TYPES):
        return "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, Oid):
        return "objectId"
    if isinstance(value, bytes):
        return "binary"
    if isinstance(value, Date):
        return "timestamp"
    if isinstance(value, uuid.UUID):
        return "uuid"
    if isinstance(value, Row):
        return "link"
    if isinstance(value, list):
        return "list"
    assert isinstance(value, dict), value
    return "dictionary"


ORDER = ["null", "bool", "number", "string", "binary", "timestamp", "objectId", "uuid", "link",
         "list", "dictionary"]
RANK = {name: rank for rank, name in enumerate(ORDER)}


def is_nan(value: Any) -> bool:
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, float) and value != value


def is_infinite(value: Any) -> bool:
    if isinstance(value, Decimal):
        return value.is_infinite()
    return isinstance(value, float) and value in (float("inf"), float("-inf"))


def to_decimal(value: Any) -> Decimal:
    """T4: a binary float becomes a decimal of 15 digits, a Float one of 7."""
    if isinstance(value, Decimal):
        return value
    if isinstance(value, int):
        return Decimal(value)
    if is_nan(value):
        return Decimal("NaN")
    if is_infinite(value):
        return Decimal("Infinity") if value > 0 else Decimal("-Infinity")
    context = TO_FLOAT_DIGITS if isinstance(value, F32) else TO_DOUBLE_DIGITS
    return context.create_decimal(Decimal(float(value)))


def exact(value: Any) -> Fraction:
    return Fraction(value)


def compare_numbers(a: Any, b: Any, *, rounding: bool = True) -> int:
    """-1, 0 or 1 by mathematical value (T3), decimals against binary floats by T4. No NaN."""
    decimal_a, decimal_b = isinstance(a, Decimal), isinstance(b, Decimal)
    if rounding and decimal_a != decimal_b:
        a, b = to_decimal(a), to_decimal(b)
    infinite_a, infinite_b = is_infinite(a), is_infinite(b)
    if infinite_a or infinite_b:
        sign_a = (1 if a > 0 else -1) if infinite_a else 0
        sign_b = (1 if b > 0 else -1) if infinite_b else 0
        return (sign_a > sign_b) - (sign_a < sign_b)
    x, y = exact(a), exact(b)
    return (x > y) - (x < y)


def sort_bytes(value: Any) -> Any:
    """What orders a value among those of its kind (T13, A.1)."""
    name = kind(value)
    if name == "string":
        return value.encode()
    if name == "uuid":
        return value.bytes
    if name == "link":
        return (value.cls.position, value.key)
    if name == "timestamp":
        return value.total
    return value


def order(a: Any, b: Any) -> int:
    """The total order of sorting and of sets (A.1, D3)."""
    kind_a, kind_b = kind(a), kind(b)
    if kind_a != kind_b:
        return 1 if RANK[kind_a] > RANK[kind_b] else -1
    if kind_a in ("null", "list", "dictionary"):
        return 0
    if kind_a == "number":
        nan_a, nan_b = is_nan(a), is_nan(b)
        if nan_a or nan_b:
            return nan_b - nan_a
        result = compare_numbers(a, b, rounding=False)
        if isinstance(a, Decimal) != isinstance(b, Decimal):
            if result != compare_numbers(a, b):
                raise Unspecified("order of a decimal and a binary float made equal by rounding")
        return result
    x, y = sort_bytes(a), sort_bytes(b)
    return (x > y) - (x < y)


def equal(a: Any, b: Any, family: str = "") -> bool:
    """U2, T3, T10, T11. `family` is the static type that NaN depends on (T11)."""
    kind_a, kind_b = kind(a), kind(b)
    if kind_a != kind_b:
        return False
    if kind_a == "number":
        nan_a, nan_b = is_nan(a), is_nan(b)
        if nan_a or nan_b:
            if not (nan_a and nan_b) or family == "double":
                return False
            if family == "decimal128":
                if isinstance(a, Decimal) and isinstance(b, Decimal):
                    return True
                raise Unspecified("NaN of a decimal against NaN of a binary float")
            if type(a) is type(b):
                return True
            raise Unspecified("NaNs of two kinds in Any")
        return compare_numbers(a, b) == 0
    if kind_a in ("list", "dictionary"):
        raise Unspecified("equality of nested collections")
    return bool(a == b)


def ordered(op: str, a: Any, b: Any, family: str = "") -> bool:
    """`<`, `<=`, `>` and `>=` (U3, T10 to T13)."""
    kind_a, kind_b = kind(a), kind(b)
    if kind_a == "null" or kind_b == "null":
        return op in ("<=", ">=") and kind_a == kind_b
    if kind_a != kind_b:
        return False
    if kind_a in ("list", "dictionary", "link"):
        if kind_a == "link":
            raise Unspecified("order of links inside Any")
        if op in ("<=", ">="):
            raise Unspecified("equality of nested collections")
        return False
    if kind_a == "number":
        nan_a, nan_b = is_nan(a), is_nan(b)
        if nan_a or nan_b:
            if family != "decimal128":
                if op in ("<=", ">=") and nan_a and nan_b and family != "double":
                    raise Unspecified("NaN <= NaN inside Any")
                return False
            # A decimal NaN is the least number and equal to itself.
            if not (isinstance(a, Decimal) and isinstance(b, Decimal)) and not (
                    isinstance(a, int) or isinstance(b, int)):
                raise Unspecified("order of a decimal's NaN and a binary float")
            result = nan_b - nan_a
        else:
            result = compare_numbers(a, b)
    else:
        x, y = sort_bytes(a), sort_bytes(b)
        result = (x > y) - (x < y)
    return {"<": result < 0, "<=": result <= 0, ">": result > 0, ">=": result >= 0}[op]


def wrap64(value: int) -> int:
    """R5, A11: integers wrap."""
    return (value + 2**63) % 2**64 - 2**63


def distinct_key(value: Any) -> Any:
    """D7: equal keys for values that DISTINCT takes for one."""
    name = kind(value)
    if name == "number":
        if is_nan(value):
            return (name, "nan")
        if is_infinite(value):
            return (name, value > 0, "inf")
        return (name, exact(value))
    if name in ("list", "dictionary"):
        raise Unspecified("DISTINCT of nested collections")
    return (name, sort_bytes(value))
