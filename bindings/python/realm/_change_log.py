"""The change log: what commits did, kept for consumers by name. See docs/CHANGE_LOG.md."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from ._errors import ArgumentError

#: By the number of `realm_change_log_kind_e`.
_KINDS = (
    "version", "schema", "deleted", "created", "set", "nulled", "added", "inserted", "removed",
    "replaced", "moved", "cleared", "element",
)  # fmt: skip
_ELEMENT = _KINDS.index("element")
_COLLECTIONS = {0: None, 1: "list", 2: "set", 4: "dict"}
#: `RLM_TYPE_LIST` and `RLM_TYPE_DICTIONARY`.
_LIST, _DICTIONARY = 12, 13


class LoggedLink(NamedTuple):
    """A link in the change log. The object may be gone."""

    cls: str | None
    key: int


@dataclass(frozen=True, slots=True)
class LoggedOperation:
    """One thing that a commit did."""

    #: "created", "deleted", "set", "nulled" (the object that was linked to was deleted), "added"; of
    #: collections "inserted", "removed", "replaced", "moved", "cleared"; "schema": classes changed.
    kind: str
    #: The version that it was committed with.
    version: int
    #: The class, None for one that this realm was opened without.
    cls: str | None
    #: The keys of the objects that it was done to, mostly one: see `Realm.object_at`.
    objects: range
    #: The property, None for whole objects.
    property: str | None
    #: The value, plain throughout; links are `LoggedLink`s. What was added for "added". Collections that
    #: are put into collections come empty, and then what is put into them.
    value: Any
    #: "list", "set", "dict", or None where no collection was changed.
    collection: str | None
    #: Of a collection in a property of type Any: the same as long as it exists; 0 for others.
    number: int
    #: Position of the element, before the operation.
    index: int
    #: How many elements were removed, or were there to be cleared; else 0.
    count: int
    #: Where an element was moved to.
    target: int
    #: Key of the dictionary.
    key: str | None
    #: Whether it follows from the deletion of an object.
    derived: bool


def _value(raws: list[Any], place: int) -> tuple[Any, int]:
    """The value of the operation at a place, and the place behind it and its elements."""
    raw = raws[place]
    count, value, kind = raw[10], raw[13], raw[14]
    place += 1
    if kind not in (_LIST, _DICTIONARY):
        return (LoggedLink(*value) if isinstance(value, tuple) else value), place
    elements: list[tuple[Any, Any]] = []
    for _ in range(count):
        key = raws[place][12]
        element, place = _value(raws, place)
        elements.append((key, element))
    if kind == _DICTIONARY:
        return dict(elements), place
    return [element for _, element in elements], place


def operations(realm: Any, version: int) -> Iterator[LoggedOperation]:
    more = True
    while more:
        raws, version, more = realm._log_read(version)
        place = 0
        while place < len(raws):
            raw = raws[place]
            value, place = _value(raws, place)
            is_of_collection = _KINDS.index("inserted") <= raw[0] < _ELEMENT
            yield LoggedOperation(
                kind=_KINDS[raw[0]],
                version=raw[1],
                cls=raw[2],
                objects=range(raw[3], raw[4] + 1) if raw[3] >= 0 else range(0),
                property=raw[5],
                value=value,
                collection=_COLLECTIONS[raw[6]] if is_of_collection else None,
                number=raw[7],
                index=raw[9],
                count=raw[10] if _KINDS[raw[0]] in ("removed", "cleared") else 0,
                target=raw[11],
                key=raw[12],
                derived=raw[8],
            )


def from_version(realm: Any, start: str | int) -> int:
    if isinstance(start, int):
        return start
    known: dict[str, int] = realm.consumers
    if start not in known:
        raise ArgumentError(f"the change log has no consumer {start!r}: add_consumer makes one")
    return known[start]
