"""The change log: what commits did, kept for consumers by name. See docs/CHANGE_LOG.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from . import _realm
from ._errors import ArgumentError, UsageError
from ._records import record

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


@record
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
    #: Of what was applied (`Realm.apply`): the number that was given with it; else None.
    origin: int | None = None


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


def _told(raws: list[Any]) -> Iterator[LoggedOperation]:
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
            origin=raw[15],
        )


def _operations(realm: Any, version: int) -> Iterator[LoggedOperation]:
    more = True
    while more:
        raws, version, more = realm._log_read(version)
        yield from _told(raws)


def _from_version(realm: Any, start: str | int) -> int:
    if isinstance(start, int):
        return start
    if not isinstance(start, str):
        raise UsageError(f"a log starts at the name of a consumer or a version, not at {start!r}")
    known: dict[str, int] = realm.consumers
    if start not in known:
        raise ArgumentError(f"the change log has no consumer {start!r}: add_consumer makes one")
    return known[start]


class LoggedRealm(_realm.Realm):
    """What a realm has of the change log."""

    @property
    def consumers(self) -> Mapping[str, int]:
        """Who reads the change log of the file by name, and which version each has acknowledged."""
        return self._log_consumers()

    def add_consumer(self, name: str, /) -> None:
        """Keeps what is committed behind this write transaction until the consumer acknowledges it,
        also while the file is not open. Does nothing for one that is there."""
        self._log_change_consumer(name, None)

    def acknowledge(self, name: str, version: int, /) -> None:
        """Notes, in a write transaction, that a consumer is done with a version and those before it."""
        if isinstance(version, bool) or not isinstance(version, int):
            raise UsageError(f"a version is an int, not {version!r}")
        self._log_change_consumer(name, version)

    def remove_consumer(self, name: str, /) -> None:
        """Keeps nothing for a consumer any more. In a write transaction."""
        self._log_change_consumer(name, False)

    def log(self, start: str | int, /) -> Iterator[LoggedOperation]:
        """What led from a version to the one that this realm sees, operation by operation: from what
        the consumer `start` has acknowledged, or from a version. `VersionError` where the log does not
        reach back to it."""
        return _operations(self, _from_version(self, start))

    def changes_to(self, newer: LoggedRealm, /) -> bytes:
        """What leads from this realm to another one, as bytes for `apply`: of the same file, where one
        of both is frozen, or of another one with the same classes. Objects of two files are the same
        that have one primary key, without one those that have one object key. `SchemaMismatchError`
        where a class or property is not the same in both."""
        return self._log_compare(newer)

    def export_log(self, start: str | int, /) -> bytes:
        """What `log` tells, as bytes for `apply`."""
        return self._log_export(_from_version(self, start))

    def apply(self, changes: bytes, /, *, origin: int = 0) -> None:
        """Does in the write transaction what bytes of `changes_to` or `export_log` say. This realm has
        to be as the one was that they lead from, as far as they touch it; else it is an
        `ArgumentError`, and nothing of them is done. `origin` is recorded with the
        commit, so that who sends the log on knows where it came from (`LoggedOperation.origin`)."""
        self._log_apply(changes, origin)

    def read_changes(self, changes: bytes, /) -> Iterator[LoggedOperation]:
        """The operations in bytes of `changes_to` or `export_log`, for a realm with the same schema."""
        return _told(self._log_read_changes(changes))
