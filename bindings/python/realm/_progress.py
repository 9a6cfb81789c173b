"""Progress of long work: told to a function, or shown as a bar where tqdm is installed."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator
from typing import Any

from ._errors import UsageError

#: What is called with how many are done.
Count = Callable[[int], object]
#: What is called with how much is done, from 0.0 to 1.0; False gives up.
Part = Callable[[float], object]


def _nothing(done: float) -> None:
    """Tells nobody."""


def _checked(progress: Any) -> None:
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise UsageError(f"progress is a function or True, not {progress!r}")


def _tqdm() -> Any:
    try:
        return importlib.import_module("tqdm.auto").tqdm
    except ImportError:
        return None


@contextlib.contextmanager
def count(progress: Count | bool | None, unit: str, total: int | None = None) -> Iterator[Count]:
    """What to call with how many are done."""
    _checked(progress)
    tqdm = _tqdm() if progress is True else None
    if tqdm is None:
        yield progress if callable(progress) else _nothing
        return
    with tqdm(total=total, unit=unit, unit_scale=True) as bar:
        yield lambda done: bar.update(done - bar.n)


class _Bar:
    """A bar of how much is done. It appears with the first part that is told, and is done with the last one."""

    def __init__(self, tqdm: Any, title: str) -> None:
        self.tqdm, self.title = tqdm, title
        self.bar: Any = None

    def __call__(self, part: float) -> None:
        if self.bar is None:
            self.bar = self.tqdm(
                total=100, desc=self.title, bar_format="{l_bar}{bar}| {elapsed}<{remaining}", leave=part < 1.0
            )
        # What begins once more goes back.
        self.bar.update(round(part * 100, 1) - self.bar.n)
        if part >= 1.0:
            self.end()

    def end(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None


def parts(progress: Part | bool | None, title: str) -> Part | None:
    """What to call with how much is done; None for nothing. Its `end()` ends a bar."""
    _checked(progress)
    if isinstance(progress, bool):
        tqdm = _tqdm() if progress else None
        return None if tqdm is None else _Bar(tqdm, title)
    return progress


def end(told: Part | None) -> None:
    """Nothing more is told."""
    if isinstance(told, _Bar):
        told.end()
