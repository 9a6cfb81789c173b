"""Model classes made from the schema in a file, for realms opened without classes."""

from __future__ import annotations

import datetime
import decimal
import uuid
from typing import Any

from ._errors import SchemaError
from ._fields import Float32, Marker
from ._model import EmbeddedObject, Object, ObjectMeta
from ._names import _Unknown
from ._values import ObjectId

_NULLABLE = 1
_PRIMARY_KEY = 2
_INDEXED = 4
_FULL_TEXT = 8
_UNICODE_WORDS = 16

# By realm_property_type_e.
_TYPES: dict[int, Any] = {
    0: int,
    1: bool,
    2: str,
    4: bytes,
    8: datetime.datetime,
    9: Float32,
    10: float,
    6: Any,
    11: decimal.Decimal,
    15: ObjectId,
    17: uuid.UUID,
}
_LINK = 12


# By realm_collection_type_e.
_COLLECTIONS = {1: list, 2: set}
_DICTIONARY = 4


def _annotation(where: str, kind: int, collection: int, target: str, nullable: bool) -> Any:
    if kind != _LINK and kind not in _TYPES:
        raise SchemaError(f"{where} is of a type that this version of the package does not know")
    if kind == _LINK:
        element: Any = _Unknown(target)
        if not collection:
            return element | None
        nullable = False
    else:
        element = _TYPES[kind]
    if nullable and element is not Any:
        element = element | None
    if collection == _DICTIONARY:
        return dict[str, element]
    return _COLLECTIONS[collection][element] if collection else element  # type: ignore[index]


def _linking(collection: str | None, target: Any) -> Any:
    """The annotation of a property that links, as signatures show it."""
    if collection in ("list", "set"):
        return list[target] if collection == "list" else set[target]
    optional: Any = target | None
    return dict.__class_getitem__((str, optional)) if collection else optional


def _attributes(names: list[str]) -> list[str]:
    """The names of properties in Python: those of the file, but for what Python gives a meaning to in classes,
    which loses the underscores in front."""
    made: list[str] = []
    for name in names:
        shown = name
        if name.startswith("__") and name.endswith("__"):
            shown = name.lstrip("_") or "property"
            while shown in names or shown in made:
                shown += "_"
        made.append(shown)
    return made


def _words(flags: int) -> str | None:
    if not flags & _FULL_TEXT:
        return None
    return "unicode" if flags & _UNICODE_WORDS else "latin"


def classes_from_description(
    description: list[tuple[str, str, bool, list[Any]]],
) -> list[ObjectMeta]:
    """One class per entry of `_realm.Realm._describe()`."""
    classes = []
    for class_name, primary_key, embedded, properties in description:
        annotations: dict[str, Any] = {}
        namespace: dict[str, Any] = {"__annotations__": annotations, "__module__": __name__}
        shown = _attributes([entry[0] for entry in properties])
        for attribute, (name, kind, collection, target, flags) in zip(shown, properties, strict=True):
            nullable = bool(flags & _NULLABLE)
            annotations[attribute] = _annotation(
                f"{class_name}.{name}", kind, collection, target, nullable
            )
            namespace[attribute] = Marker(
                primary_key=name == primary_key and bool(flags & _PRIMARY_KEY),
                indexed=bool(flags & _INDEXED),
                full_text=_words(flags),
                name_in_file=name,
            )
        classes.append(ObjectMeta(class_name, (EmbeddedObject if embedded else Object,), namespace))
    by_name = {cls.__name__: cls for cls in classes}
    for cls in classes:
        for declaration in cls.__realm_declarations__.values():
            if declaration.target is not None:
                declaration.target_class = by_name.get(declaration.target)
                declaration.annotation = _linking(declaration.collection, declaration.target_class)
    return classes
