"""Objects as plain values and as JSON text, and the defaults of model classes as JSON text."""

from __future__ import annotations

import base64
import copy
import datetime
import decimal
import enum
import json
import math
import os
import uuid
from typing import Any, cast

from . import _realm
from ._errors import LimitError, UsageError
from ._values import ObjectId

# How many links deep a text may be, in the engine; dicts as well, which are made by recursion.
_DEPTH_MAX = 200


def to_dict(obj: Any, /, *, depth: int = 0) -> dict[str, Any]:
    """The values of obj by name, as plain Python values that no realm knows of.

    Embedded objects become dicts, collections plain ones. Linked objects become dicts, too, for
    `depth` links (at most 200); beyond that, and where an object links back to one it is in, they stay
    objects. Sets of objects become lists then, as dicts can't be in sets.
    """
    _check(obj, depth)
    if depth > _DEPTH_MAX:
        raise LimitError(f"{type(obj).__name__} as a dict: it can't be {depth} links deep, the limit is {_DEPTH_MAX}")
    return _values(obj, depth, (obj,))


def to_json(obj: Any, /, *, depth: int = 0, extended: bool = False) -> str:
    """An object as JSON text, which `Realm.create_from_json` reads back.

    Linked objects stand in it for `depth` links (at most 200), each once; others are named by their
    primary key. Datetimes are ISO 8601 text, bytes base64, decimals text; with `extended`, and
    always in values of type Any, they are MongoDB's extended JSON.
    """
    _check(obj, depth)
    if not obj._realm_managed:
        return _text_without_realm(obj, depth, extended)
    return cast(str, obj._realm_to_json(depth, extended))


def _check(obj: Any, depth: Any) -> None:
    if not isinstance(obj, _realm.Object):
        raise UsageError(f"{obj!r} is no object of a class derived from realm.Object")
    if isinstance(depth, bool) or not isinstance(depth, int):
        raise UsageError(f"depth is a number of links, not {depth!r}")


def _text_without_realm(obj: Any, depth: int, extended: bool) -> str:
    """The engine writes the text of stored objects: of a copy in a realm of its own, in memory."""
    # Few programs need these.
    import tempfile

    from ._database import open

    with tempfile.TemporaryDirectory(prefix="realm-json-") as folder:
        with open(os.path.join(folder, "object.realm"), type(obj), in_memory=True) as r:
            with r.write():
                return to_json(r.add(copy.deepcopy(obj)), depth=depth, extended=extended)


def _values(obj: Any, depth: int, path: tuple[Any, ...]) -> dict[str, Any]:
    return {
        prop.name: _plain(getattr(obj, prop.name), depth, path)
        for prop in type(obj).__realm_model__.properties
    }


def _plain(value: Any, depth: int, path: tuple[Any, ...]) -> Any:
    if isinstance(value, _realm.Object):
        if type(value).__realm_model__.embedded:  # type: ignore[attr-defined]
            return _values(value, depth, path)
        if depth > 0 and value not in path:
            return _values(value, depth - 1, (*path, value))
        return value
    if isinstance(value, _realm.List | list):
        return [_plain(item, depth, path) for item in value]
    if isinstance(value, _realm.Dictionary | dict):
        pairs = cast("dict[str, Any]", value).items()
        return {key: _plain(item, depth, path) for key, item in pairs}
    if isinstance(value, _realm.Set | set):
        items = [_plain(item, depth, path) for item in value]
        return items if any(isinstance(item, dict) for item in items) else set(items)
    return value


# ---- defaults --------------------------------------------------------------------------------


def _default_text(prop: _realm.Property, value: Any) -> str:
    """The JSON text of a default, for the engine."""
    if prop.type == "float" or prop.type == "Float32":
        # An int will do for a float here as elsewhere.
        value = float(value) if type(value) is int else value
    return json.dumps(_tree(value), ensure_ascii=False)


def _tree(value: Any) -> Any:
    """What `json` can write; types that JSON lacks as extended JSON."""
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return {"$numberDouble": "NaN" if value != value else f"{value:+}".replace("inf", "Infinity")
                .removeprefix("+")}
    if isinstance(value, enum.Enum):
        return value.value
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        text = base64.b64encode(bytes(value)).decode()
        return {"$binary": {"base64": text, "subType": "00"}}
    if isinstance(value, datetime.timedelta):
        return value // datetime.timedelta(microseconds=1)
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return {"$date": f"{value.isoformat()}T00:00:00+00:00"}
    if isinstance(value, datetime.datetime):
        return {"$date": value.astimezone(datetime.timezone.utc).isoformat()}
    if isinstance(value, decimal.Decimal):
        return {"$numberDecimal": str(value)}
    if isinstance(value, ObjectId):
        return {"$oid": str(value)}
    if isinstance(value, uuid.UUID):
        return {"$uuid": str(value)}
    if isinstance(value, _realm.Object):
        return _object(value)
    if isinstance(value, dict | _realm.Dictionary):
        return {key: _tree(item) for key, item in cast("dict[str, Any]", value).items()}
    return [_tree(item) for item in value]


def _object(value: Any) -> Any:
    model = type(value).__realm_model__
    if not value._realm_managed:
        return {prop.name: _tree(getattr(value, prop.name)) for prop in model.properties}
    key = value._realm_key
    if model.primary_key is not None:
        key = _tree(getattr(value, model.primary_key.name))
    return {"$link": {"table": model.stored_name, "key": key}}


_realm._set_default_to_json(_default_text)
