"""The program `realm`, which comes with this package and does what the library does not."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
from pathlib import Path

NAME = "realm"


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _installed() -> Path | None:
    """Where the installer put it, as its record says."""
    package = Path(__file__).parent
    try:
        distribution = importlib.metadata.distribution(NAME)
    except importlib.metadata.PackageNotFoundError:
        return None
    # Another copy of the package may come first where Python looks for distributions.
    own = Path(str(distribution.locate_file(NAME)))
    if not own.exists() or not own.samefile(package):
        return None
    for file in distribution.files or ():
        if file.name == NAME and file.parent.name in ("bin", "scripts"):
            path = Path(str(distribution.locate_file(file)))
            if _is_program(path):
                return path.resolve()
    return None


def find_program() -> str | None:
    """The program that came with the package; where there is none, that in the PATH."""
    # `pip install --target` puts programs there, and its record says another place.
    beside = Path(__file__).parent.parent / "bin" / NAME
    found = _installed() or (beside if _is_program(beside) else None)
    return str(found) if found is not None else shutil.which(NAME)
