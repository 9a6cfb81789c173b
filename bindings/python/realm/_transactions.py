"""Write transactions and savepoints, as contexts."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _realm
from ._errors import ReadOnlyError, TransactionError, WriteTimeoutError
from ._streams import Changes

if TYPE_CHECKING:
    from ._database import Realm


class Transaction:
    """A write transaction as a context: commits at the end, rolls back on an exception.

    `with r.write():` never swallows the exception. A transaction that the block has already ended
    itself, by `r.commit()` or `r.rollback()`, is left as it is.
    """

    __slots__ = ("_realm", "_timeout", "_without_notifying")

    def __init__(
        self,
        realm: Realm,
        timeout: float | None = None,
        without_notifying: Iterable[_realm.Token | Changes[Any]] = (),
    ) -> None:
        self._realm = realm
        self._timeout = timeout
        self._without_notifying = without_notifying

    def __enter__(self) -> Realm:
        realm = self._realm
        was_writing = realm.is_writing
        try:
            realm.begin_write(self._timeout)
            return realm
        except BaseException:
            # A signal may raise when the transaction has begun and the block has not.
            if not was_writing and realm.is_writing:
                realm.rollback()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        realm = self._realm
        if not realm.is_writing:
            return
        if kind is not None:
            realm.rollback()
            return
        try:
            realm.commit(without_notifying=self._without_notifying)
        except BaseException:
            if realm.is_writing:
                realm.rollback()
            raise


class AsyncTransaction:
    """A write transaction of a coroutine: `async with r.write_async(): ...`."""

    __slots__ = ("_realm", "_timeout")

    def __init__(self, realm: Realm, timeout: float | None) -> None:
        self._realm = realm
        self._timeout = timeout

    async def __aenter__(self) -> Realm:
        import asyncio

        realm = self._realm
        # Tasks of this realm take turns; others are asked for theirs again and again.
        if getattr(realm, "_turns", None) is None:
            realm._turns = asyncio.Lock()
        clock = asyncio.get_running_loop().time
        end = None if self._timeout is None else clock() + self._timeout
        try:
            async with asyncio.timeout_at(end):
                await realm._turns.acquire()
        except TimeoutError:
            raise self._expired() from None
        pause = 0.001
        try:
            while True:
                try:
                    realm.begin_write(0)
                    return realm
                except WriteTimeoutError:
                    if end is not None and clock() >= end:
                        raise
                except ReadOnlyError:
                    raise
                except TransactionError:
                    # A task of another instance of the realm is writing on this thread.
                    if realm.is_writing or realm.is_frozen:
                        raise
                    if end is not None and clock() >= end:
                        raise self._expired() from None
                await asyncio.sleep(pause)
                pause = min(2 * pause, 0.02)
        except BaseException:
            realm._turns.release()
            raise

    def _expired(self) -> WriteTimeoutError:
        path = self._realm.path
        return WriteTimeoutError(
            f"{path!r} is being written by another task: waited for {self._timeout} seconds", None, path
        )

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            Transaction(self._realm).__exit__(kind, error, traceback)
        finally:
            self._realm._turns.release()


class Savepoint:
    """A place in a write transaction to go back to, as a context: `with r.savepoint(): ...`.

    An exception takes back what the block changed, and goes on. `rollback()` takes back what was
    changed so far, and the block goes on. Objects that were deleted are there again, as the same.
    Savepoints can be in one another.
    """

    __slots__ = ("_number", "_realm")

    def __init__(self, realm: Realm) -> None:
        self._realm = realm
        self._number = realm._savepoint_begin()

    def rollback(self) -> None:
        """Takes back all changes since the savepoint, which stays."""
        self._realm._savepoint_rollback(self._number)

    def release(self) -> None:
        """Ends the savepoint, and those made after it; the changes stay."""
        self._realm._savepoint_release(self._number)

    def __enter__(self) -> Savepoint:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # A transaction that the block has ended has ended its savepoints.
        if not self._realm.is_writing:
            return
        if kind is not None:
            self.rollback()
        self.release()
