"""Waits for other writers: with a limit, and ended by Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import models
import realm
from models import Note

HOLDER = """
import sys, realm, models
with realm.open(sys.argv[1], classes=models.ALL) as r:
    r.begin_write()
    print("writing", flush=True)
    sys.stdin.readline()
    r.create(models.Note, text="held")
    r.commit()
"""


@contextlib.contextmanager
def process_that_writes(path):
    """Another process in a write transaction, until the block ends or what it gets is called."""
    environment = dict(os.environ, PYTHONPATH=str(Path(__file__).parent))
    with subprocess.Popen([sys.executable, "-c", HOLDER, path], env=environment, text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == "writing\n"

        def let_go():
            with contextlib.suppress(BrokenPipeError):
                # Past the file object, which would try once more when it is closed.
                os.write(process.stdin.fileno(), b"\n")

        try:
            yield let_go
        finally:
            let_go()
    assert process.returncode == 0


@contextlib.contextmanager
def thread_that_writes(path):
    begun, end = threading.Event(), threading.Event()

    def work():
        with realm.open(path, classes=models.ALL) as mine, mine.write():
            begun.set()
            end.wait(60)

    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(30)
    try:
        yield end.set
    finally:
        end.set()
        thread.join()


@pytest.fixture(params=[thread_that_writes, process_that_writes])
def other_writer(request):
    return request.param


class Interrupted(Exception):
    pass


@contextlib.contextmanager
def signal_after(seconds):
    """SIGALRM comes then, and its handler raises; tells how long after that the block ended."""
    def handle(number, frame):
        raise Interrupted

    before = signal.signal(signal.SIGALRM, handle)
    times = []
    signal.setitimer(signal.ITIMER_REAL, seconds)
    begun = time.monotonic()
    try:
        yield times
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        times.append(time.monotonic() - begun - seconds)
        signal.signal(signal.SIGALRM, before)


class TestTimeout:
    def test_an_error_of_its_own_and_no_transaction(self, r, other_writer):
        with other_writer(r.path) as let_go:
            begun = time.monotonic()
            with pytest.raises(realm.WriteTimeoutError, match=r"waited for 0.2 seconds") as caught:
                with r.write(timeout=0.2):
                    pytest.fail("the block must not run")
            assert 0.2 <= time.monotonic() - begun < 5
            assert isinstance(caught.value, TimeoutError) and caught.value.filename == r.path
            assert not r.is_writing
            with pytest.raises(realm.WriteTimeoutError):
                r.begin_write(timeout=0)
            threading.Timer(0.1, let_go).start()
            with r.write(timeout=30):
                r.create(Note, text="mine")
        assert r.objects(Note).values("text")[-1] == "mine"

    def test_without_another_writer(self, r):
        for timeout in (0, 0.0, 1, None):
            with r.write(timeout=timeout):
                r.create(Note, text="a")
        assert len(r.objects(Note)) == 4

    def test_what_is_no_timeout(self, r):
        for bad, kind in ((-1, ValueError), (float("nan"), ValueError), ("1", TypeError)):
            with pytest.raises(kind):
                r.begin_write(timeout=bad)
        assert not r.is_writing

    def test_other_threads_run_meanwhile(self, r):
        counted = []
        stop = threading.Event()

        def count():
            while not stop.is_set():
                counted.append(1)
                time.sleep(0.001)

        with thread_that_writes(r.path):
            thread = threading.Thread(target=count)
            thread.start()
            with pytest.raises(realm.WriteTimeoutError):
                r.begin_write(timeout=0.3)
            stop.set()
            thread.join()
        assert len(counted) > 20


class TestSignals:
    def test_a_wait_for_the_writer_ends(self, r, other_writer):
        with other_writer(r.path):
            with signal_after(0.2) as late, pytest.raises(Interrupted), r.write():
                pytest.fail("the block must not run")
            assert late[0] < 3 and not r.is_writing
        with r.write():
            r.create(Note, text="after it")

    def test_opening_that_waits_for_the_writer_ends(self, r, other_writer):
        class Added(realm.Object):
            name: str

        with other_writer(r.path):
            with signal_after(0.3) as late, pytest.raises(Interrupted):
                realm.open(r.path, classes=[*models.ALL, Added])
            assert late[0] < 3
        with realm.open(r.path, classes=[*models.ALL, Added]) as opened:
            assert len(opened.objects(Added)) == 0

    def test_a_handler_that_returns_lets_it_go_on(self, r):
        came = []
        before = signal.signal(signal.SIGALRM, lambda number, frame: came.append(number))
        try:
            with thread_that_writes(r.path) as let_go:
                signal.setitimer(signal.ITIMER_REAL, 0.1)
                threading.Timer(0.4, let_go).start()
                with r.write():
                    r.create(Note, text="a")
        finally:
            signal.signal(signal.SIGALRM, before)
        assert came == [signal.SIGALRM]


class TestWithoutNotifying:
    def watch(self, r, subject):
        changes = []
        token = subject.observe(changes.append)
        r.refresh()
        changes.clear()
        return changes, token

    def test_those_are_not_told_and_others_are(self, r):
        notes = r.objects(Note).sorted("text")
        mine, token = self.watch(r, notes)
        others, _ = self.watch(r, notes)
        elsewhere, _ = self.watch(r, r.objects(Note).filter("stars >= 0"))
        with r.write(without_notifying=[token]):
            r.create(Note, text="b")
        r.refresh()
        assert not mine and others[0].insertions == [0] and elsewhere[0].insertions == [0]
        # The next change is told from there on.
        with r.write():
            r.create(Note, text="a")
        r.refresh()
        assert [c.insertions for c in mine] == [[0]] and len(others) == 2

    def test_objects_lists_and_the_realm(self, r):
        with r.write():
            note = r.create(Note, text="a")
        of_note, first = self.watch(r, note)
        of_realm, second = self.watch(r, r)
        with r.write(without_notifying=(first, second)):
            note.stars = 1
        r.refresh()
        assert not of_note and not of_realm
        with r.write():
            note.stars = 2
        r.refresh()
        assert of_note[0].properties["stars"][1:] == (1, 2) and len(of_realm) == 1

    def test_changes_as_an_iterator(self, r):
        async def main():
            changes = r.objects(Note).changes()
            await anext(changes)
            with r.write(without_notifying=[changes]):
                r.create(Note, text="a")
            with r.write():
                r.create(Note, text="b")
            return list((await asyncio.wait_for(anext(changes), 30)).insertions)

        assert asyncio.run(main()) == [1]

    def test_alone_on_their_results(self, r):
        changes, token = self.watch(r, r.objects(Note).filter("stars > 0").sorted("text"))
        mirror = []
        for text in "cab":
            with r.write(without_notifying=[token]):
                r.create(Note, text=text, stars=1)
            mirror = sorted([*mirror, text])
            r.refresh()
        assert not changes
        with r.write():
            r.create(Note, text="aa", stars=1)
        r.refresh()
        assert [c.insertions for c in changes] == [[1]]

    def test_changes_of_others_are_not_lost(self, r):
        changes, token = self.watch(r, r.objects(Note))
        thread = threading.Thread(target=add, args=(r.path,))
        thread.start()
        thread.join()
        with r.write(without_notifying=[token]):
            assert [c.insertions for c in changes] == [[0]]
            r.create(Note, text="mine")
        r.refresh()
        assert len(changes) == 1

    def test_from_within_a_callback(self, r):
        told = []
        notes = r.objects(Note)

        def answer(change):
            told.append(change)
            if change.insertions and len(notes) == 1:
                with r.write(without_notifying=[token]):
                    r.create(Note, text="answer")

        later = []
        token = notes.observe(answer)
        after = notes.observe(later.append)
        r.refresh()
        told.clear()
        later.clear()
        with r.write():
            r.create(Note, text="a")
        for _ in range(3):
            r.refresh()
        assert [list(c.insertions) for c in told] == [[0]]
        assert sum(len(c.insertions) for c in later) == 2 and after.is_open

    def test_mistakes(self, r, tmp_path):
        with realm.open(tmp_path / "other.realm", classes=[Note]) as other:
            foreign = other.objects(Note).observe(print)
            r.objects(Note).observe(lambda change: None)
            r.begin_write()
            r.create(Note, text="a")
            with pytest.raises(realm.ArgumentError, match="not of an observer"):
                r.commit(without_notifying=[foreign])
            with pytest.raises(TypeError):
                r.commit(without_notifying=[3])
            assert r.is_writing
            foreign.close()
            r.commit(without_notifying=[foreign])
        assert len(r.objects(Note)) == 1


def add(path):
    with realm.open(path, classes=models.ALL) as mine, mine.write():
        mine.create(Note, text="elsewhere")
