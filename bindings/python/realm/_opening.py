"""Opening realms on another thread, for migrations that take their time."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
from collections.abc import Callable, Generator
from typing import Any

from ._database import Realm, _bind_found
from ._request import Classes, Request, SchemaMode
from ._errors import Error, ErrorCode
from ._migration import Migrate
from ._progress import Part
from . import _realm


class Opening:
    """A realm that is being opened on another thread; made by `realm.open_async`.

    `await` it, ask it for its `result()`, or have it call a function: `add_done_callback`. The realm
    belongs to the thread that awaits it, or that asks for the result first.
    """

    __slots__ = (
        "__weakref__", "_callbacks", "_ended", "_error", "_is_cancelled", "_lock", "_realm",
        "_reference", "_request", "_token",
    )  # fmt: skip

    def __init__(self, request: Request) -> None:
        self._request = request
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._callbacks: list[Callable[[Opening], object]] = []
        self._reference: Any = None
        self._error: BaseException | None = None
        self._realm: Realm | None = None
        self._is_cancelled = False
        _pending.add(self)
        try:
            self._token = Realm._open_async(
                *request.positional, **request.options, done=self._finish
            )
        except BaseException:
            _pending.discard(self)
            raise

    def _finish(self, reference: Any, error: BaseException | None) -> None:
        """On the other thread, once."""
        with self._lock:
            self._reference = reference
            self._error = error
            callbacks, self._callbacks = self._callbacks, []
            self._ended.set()
        try:
            for function in callbacks:
                function(self)
        finally:
            _pending.discard(self)

    def done(self) -> bool:
        """Whether the realm is open, or opening has failed."""
        return self._ended.is_set()

    def cancel(self) -> bool:
        """Gives up as soon as that can be, and undoes what was not committed; False: it is too late.

        A migration function goes on until it returns; no other begins.
        """
        if self.done():
            return False
        self._is_cancelled = True
        _realm._cancel_opening(self._token)
        return True

    def cancelled(self) -> bool:
        """Whether it was given up: the file is as it was."""
        error = self._error
        return self._is_cancelled and isinstance(error, Error) and error.code == ErrorCode.CALLBACK

    def add_done_callback(self, function: Callable[[Opening], object], /) -> None:
        """Has `function(opening)` called at the end, on the thread that opened; at once if it was."""
        with self._lock:
            if not self._ended.is_set():
                self._callbacks.append(function)
                return
        function(self)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Waits, and returns what opening failed with, or None."""
        if not self._ended.wait(timeout):
            raise TimeoutError(f"{self._request.path!r} is still being opened")
        if self.cancelled():
            # Brings logging along, which few programs need.
            from concurrent.futures import CancelledError

            return CancelledError()
        return self._error

    def result(self, timeout: float | None = None) -> Realm:
        """Waits, and returns the realm, which belongs to the thread that asks first."""
        error = self.exception(timeout)
        if error is not None:
            raise error
        with self._lock:
            if self._realm is None:
                request, reference = self._request, self._reference
                realm = Realm._claim(reference, request.path, request.models)
                if request.models is None:
                    _bind_found(realm)
                self._realm, self._reference = realm, None
            return self._realm

    def __await__(self) -> Generator[Any, None, Realm]:
        return self._wait().__await__()

    async def _wait(self) -> Realm:
        import asyncio

        loop = asyncio.get_running_loop()
        ended = asyncio.Event()

        def wake(_: Opening) -> None:
            # A loop that is closed waits for nothing.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(ended.set)

        self.add_done_callback(wake)
        cancellation: asyncio.CancelledError | None = None
        while not ended.is_set():
            try:
                await ended.wait()
            except asyncio.CancelledError as error:
                # Whoever cancels the task finds the file as it was, when that has ended.
                cancellation = error
                self.cancel()
        if cancellation is not None:
            self._reference = None
            raise cancellation
        if self.cancelled():
            raise asyncio.CancelledError
        return self.result()

    def __repr__(self) -> str:
        if not self.done():
            state = "being cancelled" if self._is_cancelled else "under way"
        elif self._error is not None:
            state = "cancelled" if self.cancelled() else "failed"
        else:
            state = "done"
        return f"<opening of {self._request.path!r}, {state}>"


_pending: set[Opening] = set()


def _end_all() -> None:
    """When Python ends, its threads have to be done with it."""
    for opening in list(_pending):
        opening.cancel()
        opening._ended.wait()


def _after_fork() -> None:
    """The other threads are the parent's."""
    for opening in list(_pending):
        opening._lock = threading.Lock()
        opening._ended = threading.Event()
        opening._error = Error(
            f"{opening._request.path!r} was being opened before this process was forked; open it "
            "again here",
            ErrorCode.WRONG_THREAD,
            opening._request.path,
        )
        opening._ended.set()
    _pending.clear()


atexit.register(_end_all)
os.register_at_fork(after_in_child=_after_fork)


def open_async(
    path: str | os.PathLike[str] | None = None,
    classes: Classes | None = None,
    *,
    schema: Classes | None = None,
    version: int | None = None,
    schema_version: int | None = None,
    schema_mode: SchemaMode | None = None,
    migrate: Migrate | None = None,
    initial_data: Callable[[Realm], object] | None = None,
    progress: Part | bool | None = None,
    read_only: bool = False,
    in_memory: bool = False,
    max_versions: int | None = None,
    encryption_key: bytes | None = None,
    key: bytes | None = None,
    encryption_cache: int | None = None,
    client_number: int = 0,
) -> Opening:
    """Opens the realm at `path` on another thread, as `realm.open` does: `r = await open_async(...)`.

    The functions among the arguments are called on that thread. A task that is cancelled while it
    waits gives the opening up. Without asyncio: `open_async(...).result()`, or a function for
    `add_done_callback`.
    """
    return Opening(
        Request(
            path, classes, schema, version, schema_version, schema_mode, migrate, initial_data,
            progress, read_only, in_memory, max_versions, encryption_key, key, encryption_cache,
            client_number,
        )
    )  # fmt: skip
