"""Forged files of realm-core that a few hundred kilobytes of would take gigabytes: what `realm import` says of each, and how
much memory it takes until then."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Callable

import pytest
from test_command_line import TOOL, run
from test_tool_import import writer  # noqa: F401

import realm

MEGABYTE = 1 << 20
INT, STRING, MIXED = 0, 2, 6
NULLABLE, LIST = 16, 32


class Forger:
    """Writes files of one class, 'Item', from the nodes of their objects."""

    def __init__(self, old_file: ModuleType, path: Path) -> None:
        self.writer, self.path = old_file, path
        self.file = old_file.File(path)
        self.references = self.file.references

    def raw(self, flags: int, count: int, body: bytes = b"") -> int:
        return self.file.add(self.writer.node(flags, count, body))

    def integers(self, values: list[int]) -> int:
        return self.file.add(self.writer.integers(values))

    def zeros(self, count: int) -> int:
        return self.raw(0, count)

    def blob(self, data: bytes) -> int:
        return self.raw(0x10, len(data), data)

    def medium(self, ends: list[int], data: bytes, nulls: list[int] | None = None) -> int:
        return self.references(
            [self.integers(ends), self.blob(data), self.integers(nulls or [0] * len(ends))]
        )

    def mixed(self, types: int, texts: int = 0) -> int:
        return self.references([types, 0, 0, texts])

    def tree(self, leaves: list[int], count: int) -> int:
        return self.references([0, *leaves, count << 1 | 1], 0xC0)

    def cluster(self, count: int, *leaves: int) -> int:
        return self.references([count << 1 | 1, *leaves])

    def names(self, names: list[str], width: int = 64) -> int:
        flags = 0x08 | width.bit_length()
        body = b"".join(
            name.encode().ljust(width - 1, b"\0") + bytes([width - 1 - len(name)]) for name in names
        )
        return self.raw(flags, len(names), body)

    def table(self, columns: list[tuple[int, int]], root: int, count: int, texts: int = 0) -> int:
        keys = [
            place | kind << 16 | attributes << 22 for place, (kind, attributes) in enumerate(columns)
        ]
        spec = self.references(
            [
                self.integers([kind for kind, _ in columns]),
                self.names([f"p{place}" for place in range(len(columns))], 8),
                self.integers([attributes & NULLABLE for _, attributes in columns]),
                0,
                self.references([texts]) if texts else 0,
                self.integers(keys),
            ]
        )
        targets = self.integers([0x7FFF_FFFF] * len(columns))
        return self.references(
            [spec, 0, root, 1, 0, 1, 1, targets, targets, count << 1 | 1, 0, 0, 1, 0]
        )

    def finish(self, tables: list[int], file_format: int = 24) -> Path:
        names = self.names([f"class_Item{place or ''}" for place in range(len(tables))], 32)
        listed = self.references(tables)
        size = (self.file.place + 64 + 4095) // 4096 * 4096
        top = self.references([names, listed, size << 1 | 1])
        self.file.add(bytes(size - self.file.place))
        self.file.file.seek(0)
        header = struct.pack("<qq4sBBBB", top, 0, b"T-DB", file_format, file_format, 0, 0)
        self.file.file.write(header)
        self.file.file.close()
        return self.path


def shared_text(forger: Forger, count: int = 6000) -> Path:
    """Mixed values of one list that are all the same text, of a quarter of a megabyte."""
    text = forger.medium([250_001], b"x" * 250_000 + b"\0")
    types = forger.raw(4, count, b"\x63" * count)
    root = forger.cluster(1, forger.references([forger.mixed(types, text)]))
    return forger.finish([forger.table([(MIXED, LIST | NULLABLE)], root, 1)])


def many_nulls(forger: Forger) -> Path:
    """A list of four million mixed values, which are null, in leaves of 1,000."""
    leaves = [forger.mixed(forger.zeros(1000)) for _ in range(4000)]
    root = forger.cluster(1, forger.references([forger.tree(leaves, 4_000_000)]))
    return forger.finish([forger.table([(MIXED, LIST | NULLABLE)], root, 1)])


def large_leaf(forger: Forger) -> Path:
    """A leaf of sixteen million integers without bytes."""
    forger.blob(bytes(400_000))
    root = forger.cluster(1, forger.references([forger.zeros((1 << 24) - 1)]))
    return forger.finish([forger.table([(INT, LIST)], root, 1)])


def large_cluster(forger: Forger) -> Path:
    """A cluster of sixteen million objects with three integers each."""
    forger.blob(bytes(490_000))
    count = (1 << 24) - 1
    root = forger.cluster(count, *[forger.zeros(count) for _ in range(3)])
    return forger.finish([forger.table([(INT, 0)] * 3, root, count)])


def wide_cluster(forger: Forger) -> Path:
    """A cluster of 60,000 objects with a thousand integers each."""
    forger.blob(bytes(400_000))
    root = forger.cluster(60_000, *[forger.zeros(60_000) for _ in range(1000)])
    return forger.finish([forger.table([(INT, 0)] * 1000, root, 60_000)])


def descending_texts(forger: Forger) -> Path:
    """A list of 10,000 texts that are the same bytes each, as the ends of nulls between them lead back."""
    ends, nulls = [0, 300_000] * 10_000, [1, 0] * 10_000
    leaf = forger.medium(ends, b"x" * 299_999 + b"\0", nulls)
    root = forger.cluster(1, forger.references([leaf]))
    return forger.finish([forger.table([(STRING, LIST | NULLABLE)], root, 1)])


def enumerated(forger: Forger, objects: int) -> Path:
    """Objects whose text is the only one of its column."""
    root = forger.cluster(objects, forger.zeros(objects))
    texts = forger.references([forger.blob(b"y" * 400_000 + b"\0")], 0x60)
    return forger.finish([forger.table([(STRING, 0)], root, objects, texts)])


def many_named(forger: Forger) -> Path:
    return enumerated(forger, 20_000)


def old_table(forger: Forger, properties: int) -> int:
    """A class of format 9 whose properties take no bytes."""
    parts = [forger.zeros(properties), forger.raw(0x08, properties), forger.zeros(properties)]
    return forger.references([forger.references(parts), forger.references([0])])


def many_properties(forger: Forger) -> Path:
    forger.blob(bytes(300_000))
    return forger.finish([old_table(forger, 8_000_000)], 9)


def many_classes(forger: Forger) -> Path:
    forger.blob(bytes(300_000))
    return forger.finish([old_table(forger, 60_000) for _ in range(100)], 9)


def tree_without_references(forger: Forger) -> Path:
    """The inner node of a list with sixteen million children that take no bytes."""
    forger.blob(bytes(400_000))
    root = forger.cluster(1, forger.references([forger.raw(0xC0, (1 << 24) - 1)]))
    return forger.finish([forger.table([(INT, LIST)], root, 1)])


def strange_keys(forger: Forger) -> Path:
    """Two million objects with keys of 2^62 and more."""
    forger.blob(bytes(100_000))
    clusters = [forger.cluster(250_000, forger.zeros(250_000)) for _ in range(8)]
    keys = forger.integers([(1 << 62) + place * 250_000 for place in range(8)])
    root = forger.references([keys, 0 << 1 | 1, 2_000_000 << 1 | 1, *clusters], 0xC0)
    return forger.finish([forger.table([(INT, 0)], root, 2_000_000)])


# What a program has had before it became another one counts, too: so a small one starts the tool.
MEASURING = """\
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
sys.exit(status)
"""


def measured(old: Path, new: Path) -> tuple[int, str]:
    """Exit status of an import, and what it said. It takes memory in proportion to the file."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", MEASURING, TOOL, "import", old, new],
        capture_output=True,
        text=True,
    )
    size, resident = old.stat().st_size, int(done.stdout)
    print(f"{size} bytes, {resident / 1e6:.0f} MB resident")
    assert resident < 40 * MEGABYTE + 2 * (64 * MEGABYTE + 64 * size)
    return done.returncode, done.stderr


PLACE = "table 'class_Item': "
LIST_PLACE = PLACE + "object 0, property 'p0': "
MUCH = "MB of values at a time, in a file of"


@pytest.mark.parametrize(
    ("forge", "message"),
    [
        (shared_text, (LIST_PLACE, MUCH)),
        (many_nulls, (LIST_PLACE, MUCH)),
        (large_leaf, (LIST_PLACE, MUCH)),
        (large_cluster, (PLACE, MUCH)),
        (wide_cluster, (PLACE, MUCH)),
        (descending_texts, (LIST_PLACE, "text from 300000 to 0 of 300000 bytes")),
        (many_named, (PLACE + "property 'p0': ", "more texts that objects share than a file of")),
        (many_properties, (PLACE, "8000000 types, 8000000 names and 8000000 attributes")),
        (many_classes, ("table 'class_Item", MUCH)),
        (tree_without_references, (LIST_PLACE, "references of 0 bits")),
        (strange_keys, ("class 'Item': more than 1048576 objects have keys",)),
    ],
)
def test_a_forged_file_is_refused_in_proportion(
    writer: ModuleType,  # noqa: F811
    tmp_path: Path,
    forge: Callable[[Forger], Path],
    message: tuple[str, ...],
) -> None:
    old = forge(Forger(writer, tmp_path / "old.realm"))
    status, said = measured(old, tmp_path / "new.realm")
    assert status == 2 and said.startswith(f"realm: {old}: ")
    for part in message:
        assert part in said
    assert [path.name for path in tmp_path.iterdir()] == ["old.realm"]


def test_what_takes_much_in_a_sound_file_comes_along(
    writer: ModuleType,  # noqa: F811
    tmp_path: Path,
) -> None:
    """A shared text of many objects, zeros and nulls without bytes: as the old library writes them."""
    forger = Forger(writer, tmp_path / "old.realm")
    texts = forger.references([forger.blob(b"y" * 5000 + b"\0"), forger.blob(b"z" * 3 + b"\0")], 0x60)
    clusters = []
    for _ in range(256):
        leaves = [forger.zeros(1000) for _ in range(8)]
        # Of a cluster's lists but one are empty.
        lists = forger.references([forger.tree(leaves, 8000)] + [0] * 255)
        nulls = forger.references([forger.mixed(forger.zeros(1000))] + [0] * 255)
        names = forger.integers([0, 1] * 128)
        clusters.append(forger.cluster(256, names, lists, nulls))
    root = forger.references([0, 1 << 1 | 1, 65_536 << 1 | 1, *clusters], 0xC0)
    columns = [(STRING, 0), (INT, LIST), (MIXED, LIST | NULLABLE)]
    old = forger.finish([forger.table(columns, root, 65_536, texts)])
    assert measured(old, tmp_path / "new.realm") == (0, "")
    assert run("check", tmp_path / "new.realm").returncode == 0
    with realm.open(tmp_path / "new.realm") as r:
        items = r.objects("Item")
        assert len(items) == 65_536
        assert [len(items[place].p0) for place in (0, 1, 65_534, 65_535)] == [5000, 3] * 2
        assert list(items[256].p1) == [0] * 8000 and list(items[257].p1) == []
        assert list(items[65_280].p2) == [None] * 1000


def test_a_forged_file_within_the_limits_takes_no_more(
    writer: ModuleType,  # noqa: F811
    tmp_path: Path,
) -> None:
    old = shared_text(Forger(writer, tmp_path / "old.realm"), 300)
    assert measured(old, tmp_path / "new.realm") == (0, "")
    with realm.open(tmp_path / "new.realm") as r:
        assert {len(text) for text in r.objects("Item")[0].p0} == {250_000}
