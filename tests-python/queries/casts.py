"""CAST, and dates as texts (B8)."""

from __future__ import annotations

import re
import uuid
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any, Callable

from .values import DECIMAL, Date, Oid, Unspecified, kind

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
MOMENT = re.compile(r"(\d{4})-(\d\d)-(\d\d)"
                    r"(?:T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?)?", re.ASCII)
TYPES = {"Int": "int", "Double": "double", "Decimal": "decimal128", "String": "string",
         "Date": "timestamp", "UUID": "uuid", "ObjectId": "objectId"}


def civil(days: int) -> tuple[int, int, int]:
    """Year, month and day of a day since 1970, in the Gregorian calendar of all times."""
    era, day = divmod(days + 719_468, 146_097)  # eras of 400 years from 1 March of the year 0
    year = (day - day // 1460 + day // 36_524 - day // 146_096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    return (era * 400 + year + month // 10, month + 3 if month < 10 else month - 9,
            day - (153 * month + 2) // 5 + 1)


def moment(text: str) -> Date | None:
    found = MOMENT.fullmatch(text)
    if not found:
        if re.match(r"\s*[+-]?\d+-\d+-\d+", text):
            raise Unspecified("text that nearly is a date")
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    if hour > 23 or minute > 59 or second > 59:
        return None
    try:
        days = date(year, month, day).toordinal() - date(1970, 1, 1).toordinal()
    except ValueError:
        return None
    zone = found[8] or "Z"
    east = 0 if zone == "Z" else (int(zone[1:3]) * 60 + int(zone[4:])) * (
        -60 if zone[0] == "-" else 60)
    total = (days * 86_400 + hour * 3600 + minute * 60 + second - east) * 10**9 \
        + int((found[7] or "").ljust(9, "0"))
    sign = -1 if total < 0 else 1
    seconds, nanos = divmod(abs(total), 10**9)
    return Date(sign * seconds, sign * nanos)


def of_text(text: str, target: str) -> Any:
    if target == "Date":
        return moment(text)
    if target in ("UUID", "ObjectId"):
        digits = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}" if target == "UUID" \
            else "[0-9a-f]{24}"
        if not re.fullmatch(digits, text, re.IGNORECASE):
            return None
        return uuid.UUID(text) if target == "UUID" else Oid(bytes.fromhex(text))
    if not NUMBER.fullmatch(text):
        if NUMBER.fullmatch(text.strip()) or "n" in text.lower():
            raise Unspecified("CAST of text that nearly is a number")
        return None
    if target == "Int":
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
            raise Unspecified("CAST of a fraction to Int")
        return int(text)
    try:
        return float(text) if target == "Double" else DECIMAL.create_decimal(text)
    except InvalidOperation:
        return None


def of_moment(value: Date) -> str:
    days, second = divmod(value.total // 10**9, 86_400)
    year, month, day = civil(days)
    if value.nanos or not 0 <= year <= 9999:
        raise Unspecified("CAST of a fraction or a far date to String")
    return (f"{year:04}-{month:02}-{day:02}T{second // 3600:02}:{second // 60 % 60:02}:"
            f"{second % 60:02}Z")


def cast(target: str) -> Callable[[Any], Any]:
    """What fails is null."""
    def apply(value: Any) -> Any:
        name = kind(value)
        if value is None:
            return None
        if isinstance(value, str):
            return of_text(value, target)
        if name == "number" and isinstance(value, int):
            return {"Double": float, "Decimal": Decimal, "String": str,
                    "Date": lambda number: Date(number, 0)}[target](value)
        if target == "String":
            if isinstance(value, Date):
                return of_moment(value)
            if isinstance(value, uuid.UUID):
                return str(value)
            if isinstance(value, Oid):
                return value.hex()
        raise Unspecified("CAST of other kinds")
    return apply
