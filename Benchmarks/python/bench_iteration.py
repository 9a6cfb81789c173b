"""Walking over collections in Python: nanoseconds of processor time per element, best of several rounds.

usage: python Benchmarks/python/bench_iteration.py N DIRECTORY

Columns: the realm package (list, set, dictionary of a stored object; results), a plain Python list,
set or dict, and sqlite3 of the standard library reading the same values from a table of its own in
their order (`for (value,) in connection.execute(...)`, or fetchall for copies). A dash: no counterpart.
Nothing is done with the elements, so this is what reading them costs. See RESULTS.md.
"""
import gc
import os
import sqlite3
import sys
import time
from collections import deque

import realm

if len(sys.argv) != 3:
    sys.exit(__doc__)
N, DIRECTORY = int(sys.argv[1]), sys.argv[2]
ROUNDS = 7


class Item(realm.Object):
    number: int = 0


class Holder(realm.Object):
    key: int = realm.PrimaryKey()
    ints: list[int]
    doubles: list[float]
    texts: list[str]
    links: list[Item]
    numbers: set[int]
    table: dict[str, int]


def walk(values):
    """Consumes an iterator at the speed of C."""
    deque(values, maxlen=0)


def loop(values):
    for _ in values:
        pass


def cost(function, *arguments):
    best = float("inf")
    gc.collect()
    for _ in range(ROUNDS):
        start = time.process_time()
        function(*arguments)
        best = min(best, time.process_time() - start)
    return best / N * 1e9


def main():
    path = os.path.join(DIRECTORY, "iteration")
    for end in (".realm", ".realm.lock", ".db"):
        if os.path.exists(path + end):
            os.unlink(path + end)
    ints = [i * 7919 % 1000003 for i in range(N)]
    doubles = [i * 0.5 for i in ints]
    texts = ["text-%07d" % i for i in ints]
    table = {text: number for text, number in zip(texts, ints)}
    r = realm.open(path + ".realm", classes=[Holder])
    with r.write():
        h = r.create(Holder, key=1, ints=ints, doubles=doubles, texts=texts, numbers=set(ints),
                     table=table)
        h.links = [r.create(Item, number=number) for number in ints]
    db = sqlite3.connect(path + ".db")
    db.execute("CREATE TABLE holder (at INTEGER PRIMARY KEY, int INTEGER, double REAL, text TEXT)")
    db.executemany("INSERT INTO holder VALUES (?, ?, ?, ?)", zip(range(N), ints, doubles, texts))
    db.commit()

    def rows(columns, order="at"):
        return db.execute(f"SELECT {columns} FROM holder ORDER BY {order}")

    items = r.objects(Item)
    lines = [
        ("for over a list of ints", lambda: loop(h.ints), lambda: loop(ints), lambda: loop(rows("int"))),
        ("list(...) of it", lambda: list(h.ints), lambda: list(ints), lambda: list(rows("int"))),
        ("list[:] of ints", lambda: h.ints[:], lambda: ints[:], lambda: rows("int").fetchall()),
        ("list[:] of floats", lambda: h.doubles[:], lambda: doubles[:],
         lambda: rows("double").fetchall()),
        ("for over a list of texts", lambda: loop(h.texts), lambda: loop(texts),
         lambda: loop(rows("text"))),
        ("list[:] of texts", lambda: h.texts[:], lambda: texts[:], lambda: rows("text").fetchall()),
        ("list[::2] of ints, per element read", lambda: (h.ints[::2], h.ints[1::2]),
         lambda: (ints[::2], ints[1::2]), None),
        ("list == list", lambda: h.ints == ints, lambda: ints == list(ints), None),
        ("for over a set of ints", lambda: loop(h.numbers), lambda: loop(set(ints)),
         lambda: loop(rows("int", "int"))),
        ("items() of a dict", lambda: walk(h.table.items()), lambda: walk(table.items()),
         lambda: walk(rows("text, int"))),
        ("keys of a dict", lambda: walk(h.table), lambda: walk(table), lambda: walk(rows("text"))),
        ("for over a list of objects", lambda: loop(h.links), None, None),
        ("for over results of objects", lambda: loop(items), None, None),
        ("values('number') of results", lambda: items.values("number"), None,
         lambda: rows("int").fetchall()),
        ("sum(list of ints)", lambda: h.ints.sum(), lambda: sum(ints),
         lambda: db.execute("SELECT sum(int) FROM holder").fetchone()),
    ]
    print(f"{N} elements, ns each")
    print(f"{'':38}{'realm':>9}{'plain':>9}{'sqlite3':>9}")
    for name, *functions in lines:
        figures = [f"{cost(f):9.1f}" if f else f"{'–':>9}" for f in functions]
        print(f"{name:38}{''.join(figures)}", flush=True)
    r.begin_write()
    for name, function in (
        ("for over a list of ints, while writing", lambda: loop(h.ints)),
        ("list[:] of ints, while writing", lambda: h.ints[:]),
    ):
        print(f"{name:38}{cost(function):9.1f}{'–':>9}{'–':>9}", flush=True)
    r.rollback()


main()
