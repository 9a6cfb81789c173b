"""Values of properties as text and back, for CSV and for people."""

from __future__ import annotations

import base64
import datetime
import decimal
import json
import uuid
from typing import Any

from . import _realm
from ._json import _tree
from ._values import ObjectId

#: The text stands for no value: the property takes its default.
MISSING: Any = object()


def declaration(prop: _realm.Property) -> str:
    """A property as it is declared."""
    element = str(prop.link_target) if prop.type == "link" else prop.type
    nullable = prop.nullable and element != "Any" and not (prop.type == "link" and prop.collection)
    text = f"{element} | None" if nullable else element
    if prop.collection is not None:
        text = f"{prop.collection}[{'str, ' if prop.collection == 'dict' else ''}{text}]"
    options = [
        name
        for name, is_set in (("primary_key=True", prop.primary_key), ("indexed=True", prop.indexed))
        if is_set
    ]
    if prop.full_text:
        options.append(f"full_text={prop.full_text!r}")
    return f"{text} = realm.Field({', '.join(options)})" if options else text


def to_text(value: Any) -> str:
    """A value as a field of CSV; collections, embedded and linked objects as JSON."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, _realm.Object):
        key = type(value).__realm_model__.primary_key  # type: ignore[attr-defined]
        return str(getattr(value, key.name)) if key is not None else str(value._realm_key)
    if isinstance(value, (_realm.List, _realm.Set, _realm.Dictionary)):
        return json.dumps(_tree(value), ensure_ascii=False)
    return str(value)


def _boolean(text: str) -> bool:
    known = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    if text.lower() not in known:
        raise ValueError("true or false is meant")
    return known[text.lower()]


def _instant(text: str) -> datetime.datetime:
    found = datetime.datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=datetime.timezone.utc)


_READERS: dict[str, Any] = {
    "int": int,
    "bool": _boolean,
    "float": float,
    "Float32": float,
    "bytes": lambda text: base64.b64decode(text, validate=True),
    "datetime": _instant,
    "Decimal": decimal.Decimal,
    "UUID": uuid.UUID,
    "ObjectId": ObjectId,
}


def from_text(prop: _realm.Property, text: str) -> Any:
    """What a field of CSV gives a property. An empty one is None, or nothing where that can't be."""
    if prop.collection is not None:
        if not text:
            return MISSING
        if prop.type not in ("int", "float", "bool", "str", "Any"):
            raise ValueError("collections of this type come from JSON lines or Parquet")
        return json.loads(text)
    if prop.type == "link":
        if not text:
            return MISSING
        raise ValueError("links come from JSON lines")
    if not text and prop.nullable:
        return None
    if prop.type in ("str", "Any"):
        return text
    if prop.type == "bytes" and not text:
        return b""
    return _READERS[prop.type](text) if text else MISSING
