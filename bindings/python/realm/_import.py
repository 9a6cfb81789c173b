"""Files of realm-core, the library that Realm's SDKs were made of, as files of ours."""

from __future__ import annotations

import json
import os
from typing import NamedTuple

from . import _realm
from ._progress import Part, end, parts
from ._request import absolute


class ImportedClass(NamedTuple):
    """A class of an imported file: its name, whether it is embedded, and how many objects it has."""

    name: str
    embedded: bool
    objects: int


class ImportReport(NamedTuple):
    """What came along when a file of realm-core was imported.

    `notes` tells what is different in the new file by its nature, `losses` the first hundred values and objects that
    were left out, of `loss_count`; a sound file has none.
    """

    format: int
    schema_version: int | None
    classes: tuple[ImportedClass, ...]
    notes: tuple[str, ...]
    losses: tuple[str, ...]
    loss_count: int

    @property
    def whole(self) -> bool:
        """Whether nothing was left out."""
        return self.loss_count == 0


def import_realm_core(
    old: str | os.PathLike[str],
    new: str | os.PathLike[str],
    /,
    *,
    key: bytes | None = None,
    new_key: bytes | None = None,
    even_in_use: bool = False,
    progress: Part | bool | None = None,
) -> ImportReport:
    """Makes a new realm file `new` of the file of realm-core `old`, formats 9 to 11 and 20 to 24, which is only read.

    `key` is that of `old`, `new_key` the one to encrypt `new` with, each of 64 bytes. `progress` is called some
    hundred times with how much is done, between 0 and 1; the import ends with an error when it returns False or
    raises. True shows a bar where tqdm is installed. On an error there is no new file. A file that a program has open with realm-core is refused, unless
    `even_in_use`.
    """
    told = parts(progress, "import")
    try:
        text = _realm.import_realm_core(
            absolute(old),
            absolute(new),
            key,
            new_key,
            even_in_use,
            told,
        )
    finally:
        end(told)
    answer = json.loads(text)
    return ImportReport(
        format=answer["format"],
        schema_version=answer["schema_version"],
        classes=tuple(ImportedClass(**item) for item in answer["classes"]),
        notes=tuple(answer["notes"]),
        losses=tuple(answer["losses"]),
        loss_count=answer["loss_count"],
    )
