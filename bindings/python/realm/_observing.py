"""Observing objects, collections, results and realms: what observers are told, and by whom.

Observers are called on the realm's thread in the calls that move it: `refresh()` and the beginning of
a write transaction; where an asyncio loop runs on that thread, the loop does it besides.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, overload

from . import _realm
from ._errors import InvalidObjectError, OutOfBoundsError, UsageError
from ._realm import Token
from ._records import record

if TYPE_CHECKING:
    from ._database import Realm
    from ._results import Results

S = TypeVar("S")
O = TypeVar("O", bound=_realm.Object)

#: Key paths: names as in `"dept.budget"`, or `Person.dept.budget`; see docs/NOTIFICATIONS.md.
KeyPath = Any


class Positions(Sequence[int]):
    """Positions in ascending order; equal to a list or tuple of the same numbers."""

    __slots__ = ("ranges",)

    def __init__(self, ranges: tuple[range, ...] = ()) -> None:
        #: The same as ranges, apart from each other.
        self.ranges = ranges

    def __len__(self) -> int:
        return sum(map(len, self.ranges))

    def __iter__(self) -> Iterator[int]:
        for run in self.ranges:
            yield from run

    def __reversed__(self) -> Iterator[int]:
        for run in reversed(self.ranges):
            yield from reversed(run)

    def __contains__(self, value: object) -> bool:
        return any(value in run for run in self.ranges)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        if isinstance(index, slice):
            return list(self)[index]
        left = index if index >= 0 else index + len(self)
        for run in self.ranges:
            if 0 <= left < len(run):
                return run[left]
            left -= len(run)
        raise OutOfBoundsError(f"position {index} of {len(self)}")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Positions):
            return self.ranges == other.ranges
        if isinstance(other, list | tuple):
            return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = [str(r[0]) if len(r) == 1 else f"{r[0]}..{r[-1]}" for r in self.ranges[:8]]
        return f"[{', '.join(shown + ['...'] * (len(self.ranges) > 8))}]"


class Move(NamedTuple):
    """An element of a list that was moved: where it was, and where it is now."""

    source: int
    target: int


@record
class CollectionChange(Generic[S]):
    """What happened to results, a list or a set.

    Going through `deletions` from the end, then through `insertions` from the beginning, and reading
    `modifications_new` again leads from the elements before to those of now.
    """

    #: What is observed.
    collection: S
    #: Positions before the change.
    deletions: Positions
    #: Positions after it.
    insertions: Positions
    #: Elements that are others, or objects with other values, by their positions before the change ...
    modifications: Positions
    #: ... and after it, in the same order.
    modifications_new: Positions
    #: What `reverse()` and `sort()` of lists did; both ends are among the deletions and insertions, too.
    moves: tuple[Move, ...]
    #: Emptied as a whole, and empty.
    cleared: bool
    #: It is not there any more: the last change that is told.
    deleted: bool
    #: The first call, with what came since the observation began; mostly nothing.
    initial: bool


@record
class DictionaryChange(Generic[S]):
    """What happened to a dictionary, by key."""

    #: What is observed.
    collection: S
    deletions: tuple[str, ...]
    insertions: tuple[str, ...]
    modifications: tuple[str, ...]
    #: Emptied as a whole, and empty.
    cleared: bool
    #: It is not there any more: the last change that is told.
    deleted: bool
    #: The first call, with what came since the observation began; mostly nothing.
    initial: bool


class PropertyChange(NamedTuple):
    """A property of an object: its value as it was told last, and its value now. Objects and collections
    that it had are those of a frozen realm, so that all in them is as it was."""

    name: str
    old: Any
    new: Any


@record
class ObjectChange(Generic[S]):
    """What happened to an object."""

    #: What is observed.
    object: S
    #: The object as it was told last, in a frozen realm; also when it was deleted. None without changes.
    old: S | None
    #: The properties that changed, by name.
    properties: dict[str, PropertyChange]
    #: It is not there any more: the last change that is told.
    deleted: bool
    #: The first call, with what came since the observation began; mostly nothing.
    initial: bool


@record
class RealmChange:
    """A realm committed, or moved to another version."""

    realm: Realm
    version: int


@record
class SchemaChange:
    """Somebody gave the file other classes or properties."""

    realm: Realm
    #: The names of the classes that this realm sees now: without those that were added for others, and that
    #: ``realm.open(path)`` without classes finds.
    classes: tuple[str, ...]


# ---- what the extension module tells, as change objects ------------------------------------------


def _of_elements(collection: Any, function: Callable[[Any], object]) -> Callable[..., None]:
    def told(raw: Any, initial: bool) -> None:
        deletions, insertions, modifications, after, moves, cleared, deleted = raw
        function(
            CollectionChange(
                collection, Positions(deletions), Positions(insertions), Positions(modifications),
                Positions(after), tuple(Move(*move) for move in moves), cleared, deleted, initial,
            )  # fmt: skip
        )

    return told


def _of_keys(collection: Any, function: Callable[[Any], object]) -> Callable[..., None]:
    def told(raw: Any, initial: bool) -> None:
        deletions, insertions, modifications, cleared, deleted = raw
        function(
            DictionaryChange(
                collection, deletions, insertions, modifications, cleared, deleted, initial
            )
        )

    return told


def _of_object(obj: Any, function: Callable[[Any], object]) -> Callable[..., None]:
    key = obj._realm_key
    realm = obj._realm_owner

    def told(raw: Any, initial: bool) -> None:
        deleted, names = raw
        old = None
        changes: dict[str, PropertyChange] = {}
        if names or deleted:
            old = realm._freeze_told()._object_for_key(type(obj), key)
            for name in names:
                changes[name] = PropertyChange(name, getattr(old, name), getattr(obj, name))
        elif not initial:
            # What changed are properties that the class does not have here.
            return
        function(ObjectChange(obj, old, changes, deleted, initial))

    return told


def _of_realm(realm: Any, function: Callable[[Any], object]) -> Callable[..., None]:
    def told(raw: Any, initial: bool) -> None:
        function(RealmChange(realm, realm.version))

    return told


def _of_schema(realm: Any, function: Callable[[Any], object]) -> Callable[..., None]:
    def told(raw: Any, initial: bool) -> None:
        function(SchemaChange(realm, tuple(entry[0] for entry in realm._describe())))

    return told


def _adapter(subject: Any) -> Callable[..., Callable[..., None]]:
    if isinstance(subject, _realm.Object):
        return _of_object
    if isinstance(subject, _realm.Dictionary):
        return _of_keys
    return _of_realm if isinstance(subject, _realm.Realm) else _of_elements


def _texts(paths: tuple[KeyPath, ...]) -> tuple[str, ...] | None:
    """Key paths as text; None for all changes."""
    if not paths:
        return None
    if len(paths) == 1 and paths[0] is None:
        return ()
    texts = []
    for path in paths:
        plain = getattr(path, "_plain_path", None)
        if plain is not None:
            path = plain("a key path")
        if not isinstance(path, str):
            raise UsageError(f"key paths are str or as in Dog.age, not {path!r}")
        texts.append(path)
    return tuple(texts)


def check_callback(function: Any) -> None:
    if not callable(function):
        raise UsageError(f"an observer is a function, not {function!r}")
    import inspect

    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise UsageError(
            f"{function!r} would do nothing when it is called: observers are ordinary functions; "
            "in coroutines there is `async for change in x.changes()`"
        )


def begin(
    subject: Any, function: Callable[[Any], object], paths: tuple[KeyPath, ...]
) -> Token:
    """An observation of anything; `function` gets change objects."""
    check_callback(function)
    if isinstance(subject, _realm.Object) and not subject._realm_managed:
        raise UsageError(f"this {type(subject).__name__} is not in a realm")
    texts = _texts(paths)
    if isinstance(subject, _realm.Realm) and texts is not None:
        raise UsageError("a realm is observed as a whole, without key paths")
    token = Token(subject, _adapter(subject)(subject, function), texts)
    attach(token.realm)
    return token


def begin_schema(realm: Any, function: Callable[[SchemaChange], object]) -> Token:
    check_callback(function)
    token = Token(realm, _of_schema(realm, function), None, True)
    attach(realm)
    return token


# ---- event loops ---------------------------------------------------------------------------------


class Attachment:
    """An asyncio loop that delivers to the observers of a realm."""

    __slots__ = ("descriptor", "loop", "process")

    def __init__(self, loop: Any, realm: Any) -> None:
        self.loop = loop
        self.process = os.getpid()
        self.descriptor: int = realm.fileno()
        loop.add_reader(self.descriptor, self._deliver, realm)

    def _deliver(self, realm: Any) -> None:
        if realm.is_closed:
            # On another thread; what it asked for to end this comes next.
            self.loop.remove_reader(self.descriptor)
        else:
            realm._deliver()

    def _remove(self, realm: Any) -> None:
        self.loop.remove_reader(self.descriptor)

    def end(self, realm: Any) -> None:
        """On any thread. The descriptor stays as long as the realm, which the loop keeps until then."""
        if self.loop.is_closed() or self.process != os.getpid():
            return
        if _running_loop() is self.loop:
            self._remove(realm)
            return
        try:
            self.loop.call_soon_threadsafe(self._remove, realm)
        except RuntimeError:
            # It was closed meanwhile, and its readers with it.
            if not self.loop.is_closed():
                raise


def _running_loop() -> Any:
    """The loop that runs on this thread, or None; programs without asyncio need not load it."""
    asyncio = sys.modules.get("asyncio")
    return None if asyncio is None else asyncio._get_running_loop()


def attach(realm: Any) -> None:
    """Has the loop that runs here, if one does, deliver to the observers of the realm."""
    loop = _running_loop()
    known = getattr(realm, "_attachment", None)
    if loop is None or (known is not None and known.loop is loop):
        return
    if known is not None:
        known.end(realm)
    realm._attachment = Attachment(loop, realm)


def detach(realm: Any) -> None:
    known = getattr(realm, "_attachment", None)
    realm._attachment = None
    if known is not None:
        known.end(realm)


# ---- for everything ------------------------------------------------------------------------------


@overload
def observe(
    subject: Results[Any] | list[Any] | set[Any],
    function: Callable[[CollectionChange[Any]], object],
    /,
    *paths: KeyPath,
) -> Token: ...
@overload
def observe(
    subject: dict[str, Any], function: Callable[[DictionaryChange[Any]], object], /, *paths: KeyPath
) -> Token: ...
@overload
def observe(
    subject: O, function: Callable[[ObjectChange[O]], object], /, *paths: KeyPath
) -> Token: ...
def observe(subject: Any, function: Callable[[Any], object], /, *paths: KeyPath) -> Token:
    """Has `function` called with each change of an object, a collection, results or a realm: as their
    methods `observe`, for classes with a property of this name, and for type checkers, which take the
    collections of stored objects for plain ones."""
    return begin(subject, function, paths)


def freeze(subject: S, /) -> S:
    """A stored object, a collection or results as they are now, for all threads: they never change."""
    realm: Any = subject._realm_owner if isinstance(subject, _realm.Object) else getattr(
        subject, "realm", None
    )
    if not isinstance(realm, _realm.Realm):
        raise UsageError(f"{subject!r} is no stored object, collection or results")
    if realm.is_frozen:
        return subject
    found: S | None = realm._freeze()._resolve(subject)
    if found is None:
        raise InvalidObjectError(f"{subject!r} can't be frozen: it is not there")
    return found
