"""realm_object_to_string (8.4): an object as one line of JSON."""

from __future__ import annotations

import base64
import math
import time
import uuid
from decimal import Decimal
from typing import Any

from queries.values import Date, F32, Oid, Row

from .model import Open
from .store import State, entries, in_order

ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f",
           "\b": "\\b"}


def object_text(state: State, row: Row) -> str:
    members = []
    if not row.cls.embedded and row.cls.pk is None:
        members.append(f'"_key":{row.key}')
    for prop in row.cls.props:
        if prop.type == "backlinks":
            continue
        value = state.rows[row][prop.name]
        if prop.coll == "set":
            value = in_order(value)
        members.append(f"{quoted(prop.name)}:{value_text(state, value, prop.type == 'mixed')}")
    return "{" + ",".join(members) + "}"


def quoted(text: str) -> str:
    return '"' + "".join(ESCAPES.get(char, char) for char in text) + '"'


def link_text(state: State, row: Row) -> str:
    if row.cls.pk is None:
        return str(row.key)
    return value_text(state, state.rows[row][row.cls.pk.name], False)


def value_text(state: State, value: Any, mixed: bool) -> str:
    if value is None:
        return "null"
    if isinstance(value, Row):
        if value.cls.embedded:
            return object_text(state, value)
        text = link_text(state, value)
        if not mixed:
            return text
        return f'{{ "$link": {{"table": {quoted(value.cls.name)}, "key": {text}}}}}'
    if isinstance(value, list):
        return "[" + ",".join(value_text(state, item, mixed) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{quoted(key)}:{value_text(state, item, mixed)}"
                              for key, item in entries(value)) + "}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            if math.isnan(value):
                raise Open("the sign of NaN in text")
            return "inf" if value > 0 else "-inf"
        return f"{float(value):.7e}" if isinstance(value, F32) else f"{value:.16e}"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Oid):
        return f'"{value.hex()}"'
    if isinstance(value, bytes):
        return f'"{base64.b64encode(value).decode()}"'
    if isinstance(value, uuid.UUID):
        return f'"{value}"'
    if isinstance(value, Decimal):
        raise Open("the digits of a decimal in text")
    assert isinstance(value, Date), value
    if value.seconds < 0 or value.nanos < 0:
        raise Open("times before 1970 in text")
    text = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(value.seconds))
    return f'"{text}.{value.nanos:09}"' if value.nanos else f'"{text}"'
