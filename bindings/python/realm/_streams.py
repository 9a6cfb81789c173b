"""Changes as asynchronous iterators: `async for change in results.changes()`."""

from __future__ import annotations

from collections import deque
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from . import _realm
from ._errors import IllegalOperationError
from ._observing import (
    CollectionChange,
    DictionaryChange,
    KeyPath,
    ObjectChange,
    begin,
)

if TYPE_CHECKING:
    from ._results import Results

C = TypeVar("C")
O = TypeVar("O", bound=_realm.Object)


class _Stream:
    """What came and was not taken. The observation knows this, and not the iterator, so that one
    that the program drops ends."""

    __slots__ = ("is_over", "loop", "pending", "token", "waiter")

    def __init__(self, loop: Any) -> None:
        self.loop = loop
        self.pending: deque[Any] = deque()
        self.waiter: Any = None
        self.is_over = False
        self.token: _realm.Token | None = None

    def put(self, change: Any) -> None:
        self.pending.append(change)
        if getattr(change, "deleted", False):
            self.is_over = True
        self.wake()

    def wake(self) -> None:
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)

    def end(self) -> None:
        """What came before is still taken."""
        self.is_over = True
        if self.token is not None:
            self.token.close()
        self.wake()


class Changes(Generic[C]):
    """The changes of something, one after another: `async for change in results.changes(): ...`

    The first one comes at once (`change.initial`). It ends when what is observed was deleted or the
    realm is closed. While the body of the loop waits for something else the realm goes on with the
    file; what changed meanwhile comes change by change then. Leaving the loop ends the observation;
    `async with results.changes() as changes:` and `changes.close()` do it at a place of your choice.
    """

    __slots__ = ("_realm", "_stream")

    def __init__(self, subject: Any, paths: tuple[KeyPath, ...]) -> None:
        import asyncio

        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise IllegalOperationError(
                "changes() is for coroutines: there is no event loop here; observe() calls a function without one"
            ) from None
        self._stream = stream = _Stream(loop)
        stream.token = begin(subject, stream.put, paths)
        self._realm: Any = stream.token.realm
        if getattr(self._realm, "_streams", None) is None:
            self._realm._streams = set()
        self._realm._streams.add(stream)

    def __aiter__(self) -> Changes[C]:
        return self

    async def __anext__(self) -> C:
        stream = self._stream
        while not stream.pending:
            if stream.is_over:
                self.close()
                raise StopAsyncIteration
            if stream.waiter is not None:
                raise IllegalOperationError("another task waits for the next of these changes already")
            stream.waiter = stream.loop.create_future()
            try:
                await stream.waiter
            finally:
                stream.waiter = None
        change: C = stream.pending.popleft()
        return change

    @property
    def _token(self) -> _realm.Token:
        assert self._stream.token is not None
        return self._stream.token

    def close(self) -> None:
        """Ends the observation. Twice is fine."""
        stream = self._stream
        stream.end()
        self._realm._streams.discard(stream)

    async def __aenter__(self) -> Changes[C]:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # Without a loop there is nothing to close.
        if hasattr(self, "_realm"):
            self.close()


def end_streams(realm: Any) -> None:
    """The realm was closed, on any thread: those that wait are told on their own."""
    for stream in list(getattr(realm, "_streams", ())):
        stream.is_over = True
        realm._streams.discard(stream)
        try:
            stream.loop.call_soon_threadsafe(stream.wake)
        except RuntimeError:
            # Nobody waits in a loop that is closed.
            if not stream.loop.is_closed():
                raise


@overload
def changes(
    subject: Results[Any] | list[Any] | set[Any], /, *paths: KeyPath
) -> Changes[CollectionChange[Any]]: ...
@overload
def changes(subject: dict[str, Any], /, *paths: KeyPath) -> Changes[DictionaryChange[Any]]: ...
@overload
def changes(subject: O, /, *paths: KeyPath) -> Changes[ObjectChange[O]]: ...
def changes(subject: Any, /, *paths: KeyPath) -> Changes[Any]:
    """The changes of an object, a collection, results or a realm, for `async for`: as their methods
    `changes`, for classes with a property of this name, and for type checkers, which take the
    collections of stored objects for plain ones."""
    return Changes(subject, paths)

