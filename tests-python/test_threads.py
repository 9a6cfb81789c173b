"""Threads, garbage collection, forks."""

from __future__ import annotations

import gc
import os
import subprocess
import threading
import time
import weakref

import pytest

import models
import realm
from conftest import run_python
from models import Note, Person


def in_thread(work):
    """Runs work on a thread of its own; returns what it returned, raises what it raised."""
    box = {}

    def run():
        try:
            box["value"] = work()
        except BaseException as error:
            box["error"] = error

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    if "error" in box:
        raise box["error"]
    return box["value"]


class TestConfinement:
    def test_another_thread_is_refused(self, r):
        with r.write():
            note = r.create(Note, text="a")
        notes = r.objects(Note)
        for use in (
            lambda: note.text, lambda: setattr(note, "text", "b"), lambda: len(notes),
            lambda: notes[0], lambda: list(notes), lambda: r.objects(Note),
            lambda: r.begin_write(), lambda: r.refresh(), lambda: r.find(Person, 1),
            lambda: r.create(Note, text="b"), lambda: r.add(Note(text="b")), lambda: r.version,
            lambda: notes.filter("stars > 0"), lambda: notes.sum("stars"),
            lambda: r.delete(note), lambda: r.is_writing, lambda: r.compact(),
        ):
            with pytest.raises(realm.WrongThreadError, match="on another thread") as caught:
                in_thread(use)
            assert isinstance(caught.value, RuntimeError)
        assert note.text == "a"

    def test_every_thread_opens_its_own(self, r):
        with r.write():
            r.create(Note, text="a")

        def work():
            with realm.open(r.path, classes=models.ALL) as mine, mine.write():
                mine.create(Note, text="b")
            return True

        assert in_thread(work)
        r.refresh()
        assert r.objects(Note).values("text") == ["a", "b"]

    def test_a_realm_may_be_closed_on_any_thread(self, path):
        r = realm.open(path, classes=[Note])
        in_thread(r.close)
        assert r.is_closed
        assert realm.delete_files(path)


class TestGil:
    def test_waiting_for_the_write_lock_lets_other_threads_run(self, r):
        started, finished = threading.Event(), threading.Event()

        def writer():
            with realm.open(r.path, classes=models.ALL) as mine:
                started.set()
                with mine.write():
                    mine.create(Note, text="second")
                finished.set()

        with r.write():
            thread = threading.Thread(target=writer)
            thread.start()
            assert started.wait(10)
            # The other thread sits in begin_write; this one must go on running.
            time.sleep(0.2)
            assert not finished.is_set()
            r.create(Note, text="first")
        thread.join(10)
        assert finished.is_set()
        r.refresh()
        assert r.objects(Note).values("text") == ["first", "second"]

    def test_many_writers_and_readers(self, path):
        with realm.open(path, classes=models.ALL) as r, r.write():
            r.create(Person, id=0, age=0)
        failures = []

        def guarded(work):
            def run():
                try:
                    work()
                except BaseException as error:
                    failures.append(error)
            return run

        def writer():
            with realm.open(path, classes=models.ALL) as mine:
                for _ in range(50):
                    with mine.write():
                        counter = mine.find(Person, 0)
                        counter.age += 1
                        mine.create(Note, text="x", stars=counter.age)

        def reader():
            with realm.open(path, classes=models.ALL) as mine:
                last = 0
                while last < 200:
                    mine.refresh()
                    age = mine.find(Person, 0).age
                    assert age >= last
                    assert len(mine.objects(Note)) == age
                    assert mine.objects(Note).sum("stars") == age * (age + 1) // 2
                    last = age

        threads = [threading.Thread(target=guarded(writer)) for _ in range(4)]
        threads += [threading.Thread(target=guarded(reader)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert failures == []
        with realm.open(path, classes=models.ALL) as r:
            assert r.find(Person, 0).age == 200


class TestLifetimes:
    def test_children_keep_their_realm_alive(self, path):
        r = realm.open(path, classes=models.ALL)
        with r.write():
            r.add(Person(id=1, name="Ada", boss=Person(id=2, name="Bob")))
        ada, results = r.find(Person, 1), r.objects(Person)
        walk = iter(results)
        del r
        gc.collect()
        assert ada.boss.name == "Bob" and len(results) == 2 and next(walk) == ada
        del results, walk
        gc.collect()
        assert ada.name == "Ada"

    def test_the_file_closes_with_the_last_of_them(self, path):
        r = realm.open(path, classes=models.ALL)
        with r.write():
            ada = r.create(Person, id=1)
        del r
        gc.collect()
        with pytest.raises(realm.RealmInUseError):
            realm.delete_files(path)
        del ada
        gc.collect()
        assert realm.delete_files(path) is True

    def test_any_order_of_release(self, path):
        import itertools

        for order in itertools.permutations(range(4)):
            r = realm.open(path, classes=models.ALL)
            with r.write():
                r.create(Person, id=1, update="all")
            results = r.objects(Person)
            held = [r, results[0], results, iter(results)]
            del r, results
            for index in order:
                held[index] = None
                gc.collect(0)
        assert realm.delete_files(path)

    def test_closing_and_then_releasing(self, path):
        r = realm.open(path, classes=models.ALL)
        with r.write():
            ada = r.create(Person, id=1)
            results = r.objects(Person)
            walk = iter(results)
        r.close()
        del ada, walk, results, r
        gc.collect()
        assert realm.delete_files(path)

    def test_handles_dropped_on_another_thread(self, r):
        with r.write():
            for i in range(100):
                r.create(Person, id=i)
        box = [list(r.objects(Person)), [r.objects(Person) for _ in range(50)]]

        def drop():
            box.clear()
            gc.collect()
            return True

        assert in_thread(drop)
        # The next use on the owner's thread releases them.
        assert len(r.objects(Person)) == 100

    def test_a_realm_dropped_on_another_thread(self, path):
        box = [realm.open(path, classes=models.ALL)]
        with box[0].write():
            box.append(box[0].create(Person, id=1))
        in_thread(lambda: (box.clear(), gc.collect()))
        assert realm.delete_files(path)

    def test_cycles_through_unmanaged_objects_are_collected(self):
        gc.collect()

        class Tracked(realm.Object):
            __slots__ = ("__weakref__",)
            other: Tracked | None = None

        a, b = Tracked(), Tracked()
        a.other, b.other = b, a
        watch = weakref.ref(a)
        del a, b
        gc.collect()
        assert watch() is None

    def test_classes_are_collected(self, path):
        class Passing(realm.Object):
            __slots__ = ("__weakref__",)
            x: int = 0

        watch = weakref.ref(Passing)
        with realm.open(path, classes=[Passing]) as r, r.write():
            kept = r.create(Passing)
        del kept, r, Passing
        gc.collect()
        assert watch() is None

    def test_nothing_leaks_per_call(self, r):
        """Counts blocks of memory over many calls of everything that allocates."""
        import sys

        def everything():
            with r.write():
                ada = r.create(Person, id=1, name="Ada", boss=Person(id=2))
                ada.name = "x" * 100
                r.create(Person, {"id": 1}, update="modified", age=3)
                r.add(Note(text="a"))
                for person in r.objects(Person).filter("id IN $0", [1, 2]).sorted("-id"):
                    person.boss
                r.objects(Person).values("id", "boss")
                try:
                    ada.age = "x"
                except TypeError:
                    pass
                try:
                    r.create(Person, id=1)
                except ValueError:
                    pass
                r.rollback()

        for _ in range(20):
            everything()
        gc.collect()
        before = sys.getallocatedblocks()
        for _ in range(500):
            everything()
        gc.collect()
        assert sys.getallocatedblocks() - before < 200


class TestFork:
    CODE = """
import os, sys
import models, realm
from models import Note
path = sys.argv[1]
r = realm.open(path, classes=models.ALL)
with r.write():
    note = r.create(Note, text="a")
notes = r.objects(Note)
walk = iter(notes)
reader, writer = os.pipe()
child = os.fork()
if child == 0:
    try:
        raised = 0
        for use in (lambda: note.text, lambda: len(notes), lambda: next(walk),
                    lambda: r.begin_write(), lambda: r.objects(Note), lambda: r.version):
            try:
                use()
            except realm.WrongThreadError as error:
                raised += "forked" in str(error)
        # Dropping and closing the parent's handles here must not disturb the parent.
        r.close()
        del note, notes, walk, r
        import gc; gc.collect()
        os.write(writer, bytes([raised]))
    finally:
        os._exit(0)
os.waitpid(child, 0)
assert os.read(reader, 1) == bytes([6])
with r.write():
    r.create(Note, text="b")
assert r.objects(Note).values("text") == ["a", "b"]
print("parent fine")
"""

    def test_the_childs_copies_are_refused_and_harmless(self, path):
        done = run_python(self.CODE, path)
        assert done.returncode == 0, done.stderr
        assert done.stdout == "parent fine\n"
        with realm.open(path, classes=models.ALL) as r:
            assert r.objects(Note).values("text") == ["a", "b"]

    def test_a_fork_in_a_write_transaction(self, path):
        code = """
import os, sys
import models, realm
from models import Note
r = realm.open(sys.argv[1], classes=models.ALL)
with r.write():
    r.create(Note, text="a")
    child = os.fork()
    if child == 0:
        # Leaving the block rolls back or commits; both belong to the parent.
        try:
            r.commit()
        except realm.WrongThreadError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    r.create(Note, text="b")
print(r.objects(Note).values("text"))
"""
        done = run_python(code, path)
        assert (done.returncode, done.stdout) == (0, "['a', 'b']\n"), done.stderr


    def test_a_child_that_opens_anew_works_on_the_same_file(self, path):
        code = """
import os, sys
import models, realm
from models import Note
r = realm.open(sys.argv[1], classes=models.ALL)
with r.write():
    r.create(Note, text="parent")
child = os.fork()
if child == 0:
    mine = realm.open(sys.argv[1], classes=models.ALL)
    with mine.write():
        mine.create(Note, text="child")
    mine.close()
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
r.refresh()
with r.write():
    r.create(Note, text="parent again")
print(r.objects(Note).values("text"))
"""
        done = run_python(code, path)
        assert done.stdout == "['parent', 'child', 'parent again']\n", done.stderr


def test_interpreters_end_cleanly_with_open_realms(path):
    code = """
import sys
import models, realm
r = realm.open(sys.argv[1], classes=models.ALL)
r.begin_write()
kept = r.create(models.Note, text="lost")
results = r.objects(models.Note)
walk = iter(results)
class Keeper: pass
Keeper.cycle = [Keeper, r, kept, results, walk]
"""
    done = run_python(code, path)
    assert (done.returncode, done.stderr) == (0, "")
    with realm.open(path, classes=models.ALL) as r:
        assert len(r.objects(Note)) == 0


def test_a_killed_process_leaves_the_file_usable(path):
    code = """
import os, signal, sys
import models, realm
r = realm.open(sys.argv[1], classes=models.ALL)
with r.write():
    r.create(models.Note, text="kept")
r.begin_write()
r.create(models.Note, text="lost")
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = run_python(code, path)
    assert done.returncode == -9
    with realm.open(path, classes=models.ALL) as r:
        with r.write():
            r.create(Note, text="after")
        assert r.objects(Note).values("text") == ["kept", "after"]


def test_the_library_starts_without_swift_around(tmp_path):
    """The binding needs nothing of the tool chain where it runs."""
    from pathlib import Path

    library = Path(realm.__file__).parent / "librealm.so"
    needed = subprocess.run(["readelf", "-d", str(library)], capture_output=True, text=True)
    if needed.returncode != 0:
        pytest.skip("no readelf")
    assert "swift" not in needed.stdout.lower().replace("librealm", "")
    assert os.path.getsize(library) > 0
