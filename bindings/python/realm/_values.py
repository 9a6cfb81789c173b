"""Values that Python's built-in types do not cover: `ObjectId`, and the bits of decimals.

The extension module imports `ObjectId`, `decimal_to_bytes` and `decimal_from_bytes` from here; all
other conversions are in its values.c.
"""

from __future__ import annotations

import decimal
import functools
import itertools
import os
import time

from ._errors import ArgumentError, ReadOnlyPropertyError, UsageError

__all__ = ["ObjectId"]

# Inside of ObjectId, `bytes` is its property.
_Bytes = bytes


class _Source:
    """What new ids have in common in this process, and the counter that tells them apart."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.random = os.urandom(5)
        self.counter = itertools.count(int.from_bytes(os.urandom(3), "big"))


_source = _Source()


@functools.total_ordering
class ObjectId:
    """A 12-byte identifier: unique without asking anybody, ascending with the time of its making.

    `ObjectId()` makes a new one; `ObjectId("0123456789abcdef01234567")` and
    `ObjectId(twelve_bytes)` stand for the one given.
    """

    __slots__ = ("_bytes",)
    _bytes: bytes

    def __init__(self, value: str | bytes | ObjectId | None = None, /) -> None:
        if value is None:
            data = _new_id()
        elif isinstance(value, ObjectId):
            data = value._bytes
        elif isinstance(value, str):
            if len(value) != 24 or not value.isascii() or not value.isalnum():
                raise ArgumentError(f"{value!r} is no object id: that is 24 hexadecimal digits")
            try:
                data = bytes.fromhex(value)
            except ValueError:
                raise ArgumentError(
                    f"{value!r} is no object id: that is 24 hexadecimal digits"
                ) from None
        elif isinstance(value, (bytes, bytearray)):
            data = bytes(value)
            if len(data) != 12:
                raise ArgumentError(f"an object id has 12 bytes, not {len(data)}")
        else:
            raise UsageError(f"an object id is made of a str or bytes, not {type(value).__name__}")
        object.__setattr__(self, "_bytes", data)

    def __setattr__(self, name: str, value: object) -> None:
        raise ReadOnlyPropertyError("an ObjectId cannot be changed")

    def __delattr__(self, name: str) -> None:
        raise ReadOnlyPropertyError("an ObjectId cannot be changed")

    @property
    def bytes(self) -> bytes:
        """The 12 bytes."""
        return self._bytes

    @property
    def seconds(self) -> int:
        """When it was made: seconds since 1970-01-01 UTC."""
        return int.from_bytes(self._bytes[:4], "big")

    def __str__(self) -> str:
        return self._bytes.hex()

    def __repr__(self) -> str:
        return f"ObjectId('{self}')"

    def __eq__(self, other: object) -> bool:
        return self._bytes == other._bytes if isinstance(other, ObjectId) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self._bytes < other._bytes if isinstance(other, ObjectId) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._bytes)

    def __reduce__(self) -> tuple[type[ObjectId], tuple[_Bytes]]:
        return ObjectId, (self._bytes,)


def _new_id() -> bytes:
    global _source
    if _source.process != os.getpid():
        # A forked child must not count on where its parent does.
        _source = _Source()
    seconds = int(time.time()) & 0xFFFF_FFFF
    count = next(_source.counter) & 0xFF_FFFF
    return seconds.to_bytes(4, "big") + _source.random + count.to_bytes(3, "big")


# IEEE 754-2008 decimal128 in the binary integer encoding: sign (1 bit), exponent + 6176 (14),
# coefficient (113). Infinity and NaN are marked by the upper bits.
_BIAS = 6176
_EXPONENT_MAX = 6111
_COEFFICIENT_MAX = 10**34 - 1
_INFINITY = 0x78 << 120
_NAN = 0x7C << 120


def decimal_to_bytes(value: decimal.Decimal) -> bytes:
    """The 16 bytes of a decimal; ValueError when it needs more than 34 digits or the exponent is
    out of range."""
    sign, digits, exponent = value.as_tuple()
    if isinstance(exponent, int):
        bits = _finite_bits(int("".join(map(str, digits))), exponent)
    else:
        bits = _INFINITY if exponent == "F" else _NAN
    return (sign << 127 | bits).to_bytes(16, "little")


def _finite_bits(coefficient: int, exponent: int) -> int:
    # Zeros at the end make room, in digits as well as in exponents.
    while (
        coefficient
        and coefficient % 10 == 0
        and (coefficient > _COEFFICIENT_MAX or exponent < -_BIAS)
    ):
        coefficient //= 10
        exponent += 1
    while exponent > _EXPONENT_MAX and 0 < coefficient * 10 <= _COEFFICIENT_MAX:
        coefficient *= 10
        exponent -= 1
    if coefficient == 0:
        exponent = min(max(exponent, -_BIAS), _EXPONENT_MAX)
    if coefficient > _COEFFICIENT_MAX:
        raise ValueError("has more than the 34 digits that are stored")
    if not -_BIAS <= exponent <= _EXPONENT_MAX:
        raise ValueError("is beyond the exponents that are stored, -6143 to 6144")
    return (exponent + _BIAS) << 113 | coefficient


def decimal_from_bytes(data: bytes) -> decimal.Decimal:
    """The decimal with these 16 bytes; every pattern is one."""
    bits = int.from_bytes(data, "little")
    sign = bits >> 127
    marker = bits >> 122 & 0x1F
    if marker == 0x1F:
        return decimal.Decimal("NaN")
    if marker == 0x1E:
        return decimal.Decimal("-Infinity" if sign else "Infinity")
    if bits >> 125 & 3 == 3:
        # Such a coefficient would be above 34 digits: zero, as the standard says.
        coefficient, exponent = 0, (bits >> 111 & 0x3FFF) - _BIAS
    else:
        coefficient, exponent = bits & (1 << 113) - 1, (bits >> 113 & 0x3FFF) - _BIAS
        if coefficient > _COEFFICIENT_MAX:
            coefficient = 0
    return decimal.Decimal((sign, tuple(map(int, str(coefficient))), exponent))


def decimal_of_digits(data: bytes, scale: int) -> decimal.Decimal:
    """The decimal of Arrow's 16 bytes: a number in two's complement, `scale` digits of it behind the
    point."""
    sign, digits, _ = decimal.Decimal(int.from_bytes(data, "little", signed=True)).as_tuple()
    return decimal.Decimal((sign, digits, -scale))
