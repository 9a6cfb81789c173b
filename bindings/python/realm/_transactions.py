"""Write transactions and savepoints, as contexts."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _realm
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
