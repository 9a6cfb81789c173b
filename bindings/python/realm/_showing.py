"""Values in one short line, for the `repr` of objects and collections."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, cast

from . import _realm

if TYPE_CHECKING:
    from ._model import Object


def _collection(value: Any, depth: int) -> str:
    brackets = "[]" if isinstance(value, (list, _realm.List)) else "{}"
    if depth > 2 and value:
        return f"{brackets[0]}...{brackets[1]}"
    if isinstance(value, (dict, _realm.Dictionary)):
        pairs = cast("dict[str, Any]", value).items()
        texts = [f"{k!r}: {short(v, depth + 1)}" for k, v in itertools.islice(pairs, 4)]
    else:
        # Objects in it may contain it in turn.
        texts = [short(item, depth + 1) for item in itertools.islice(value, 4)]
    return brackets[0] + ", ".join(texts + ["..."] * (len(value) > 4)) + brackets[1]


def short(value: Any, depth: int = 0) -> str:
    """The value as text of some 40 characters; collections show four elements, to a depth of three."""
    if isinstance(value, _realm.Object):
        return _reference(cast("Object", value))
    if isinstance(value, (list, set, dict, _realm.List, _realm.Set, _realm.Dictionary)):
        return _collection(value, depth)
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _reference(value: Object) -> str:
    """An object in one word: its class and key. Links may form cycles, so it stops here."""
    name = type(value).__name__
    key = type(value).__realm_model__.primary_key
    if key is not None:
        return f"{name}({getattr(value, key.name)!r})"
    return f"{name}(...)" if value._realm_key is None else f"{name}(#{value._realm_key})"
