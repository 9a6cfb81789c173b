"""Model classes made from the schema in a file, for realms opened without classes."""

from __future__ import annotations

import datetime
import decimal
import uuid
from typing import Any

from ._errors import SchemaError
from ._model import Field, Float32, Object, ObjectMeta, _Unknown
from ._values import ObjectId

_NULLABLE = 1
_PRIMARY_KEY = 2
_INDEXED = 4

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


def _annotation(where: str, kind: int, collection: int, target: str, nullable: bool) -> Any:
    if collection or (kind != _LINK and kind not in _TYPES):
        raise SchemaError(f"{where} is of a type that this version of the package does not know")
    if kind == _LINK:
        return _Unknown(target) | None
    return _TYPES[kind] | None if nullable else _TYPES[kind]


def classes_from_description(description: list[tuple[str, str, list[Any]]]) -> list[ObjectMeta]:
    """One class per entry of `_realm.Realm._describe()`."""
    classes = []
    for class_name, primary_key, properties in description:
        annotations: dict[str, Any] = {}
        namespace: dict[str, Any] = {"__annotations__": annotations, "__module__": __name__}
        for name, kind, collection, target, flags in properties:
            nullable = bool(flags & _NULLABLE)
            annotations[name] = _annotation(
                f"{class_name}.{name}", kind, collection, target, nullable
            )
            namespace[name] = Field(
                primary_key=name == primary_key and bool(flags & _PRIMARY_KEY),
                indexed=bool(flags & _INDEXED),
            )
        classes.append(ObjectMeta(class_name, (Object,), namespace))
    return classes
