"""A program that opens, observes and closes again and again, and says what that left behind:

    python tests-python/life_cycles.py KIND COUNT

prints one line of JSON: what the process held after a tenth of the cycles, and after all of them.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable

import realm


class Author(realm.Object):
    id: int = realm.PrimaryKey()
    name: str = ""
    tags: list[str] = []
    boss: Author | None = None


class Usage(ctypes.Structure):
    """struct mallinfo2 of glibc."""

    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
        "fordblks", "keepcost")]


mallinfo = ctypes.CDLL(None).mallinfo2
mallinfo.restype = Usage


def held() -> dict[str, int]:
    gc.collect()
    usage = mallinfo()
    return {
        "descriptors": len(os.listdir("/proc/self/fd")),
        "threads": len(os.listdir("/proc/self/task")),
        "mappings": sum(1 for _ in open("/proc/self/maps")),
        "bytes": usage.uordblks + usage.hblkhd,   # in use, of malloc()
        "objects": sys.getallocatedblocks(),      # of Python
    }


def make_open(path: str) -> Callable[[int], None]:
    def cycle(i: int) -> None:
        with realm.open(path, classes=[Author]) as r:
            author = r.find(Author, 1)
            assert author is not None and author.name and author.boss is None
            if i % 16 == 0:
                with r.write():
                    author.name = f"name {i}"
                    author.tags = [str(i)]
    return cycle


def make_opened_wrongly(path: str) -> Callable[[int], None]:
    """What goes wrong in opening gives everything back, too."""
    with open(path + ".text", "w") as file:
        file.write("this is no realm" * 300)

    def cycle(i: int) -> None:
        for wrong in (path + ".text", "/no/such/place/a.realm"):
            try:
                realm.open(wrong, classes=[Author])
            except realm.Error:
                continue
            raise AssertionError("it was opened")
    return cycle


def make_observe(path: str) -> Callable[[int], None]:
    r = realm.open(path, classes=[Author])
    author = r.find(Author, 1)
    assert author is not None
    told: list[object] = []

    def cycle(i: int) -> None:
        results = r.objects(Author).where(Author.id < 5)
        tokens = [results.observe(told.append), realm.observe(author, told.append),
                  realm.observe(author.tags, told.append), r.observe(told.append)]
        if i % 16 == 0:
            with r.write():
                author.name = f"name {i}"
            assert told
            told.clear()
        for token in tokens:
            token.close()
    return cycle


def make_freeze(path: str) -> Callable[[int], None]:
    r = realm.open(path, classes=[Author])

    def cycle(i: int) -> None:
        frozen = r.freeze()
        assert frozen.objects(Author).numpy("id").sum() == 1
        assert len(frozen.objects(Author).values("name")) == 1
        frozen.close()
    return cycle


KINDS = {"open": make_open, "open wrongly": make_opened_wrongly, "observe": make_observe,
         "freeze": make_freeze}


def main(kind: str, count: int) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = os.path.join(folder, "authors.realm")
        with realm.open(path, classes=[Author]) as r, r.write():
            r.create(Author, id=1, name="Ada")
        cycle = KINDS[kind](path)
        begin = time.monotonic()
        for i in range(count // 10):
            cycle(i)
        before = held()
        for i in range(count // 10, count):
            cycle(i)
        after = held()
        print(json.dumps({"kind": kind, "count": count, "before": before, "after": after,
                          "seconds": round(time.monotonic() - begin, 1)}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
