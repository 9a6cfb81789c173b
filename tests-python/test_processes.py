"""Several processes on one file."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import models
import realm
from models import Note, Person

spawn = multiprocessing.get_context("spawn")


def increment(path: str, times: int) -> None:
    with realm.open(path, classes=models.ALL) as r:
        for _ in range(times):
            with r.write():
                r.find(Person, 0).age += 1
                r.create(Note, text=f"of {os.getpid()}")


def watch(path: str, target: int, queue) -> None:
    """Reads consistent states until the counter is at its target."""
    try:
        with realm.open(path, classes=models.ALL) as r:
            seen = 0
            while True:
                r.refresh()
                age = r.find(Person, 0).age
                assert age >= seen and len(r.objects(Note)) == age, (seen, age)
                seen = age
                if age >= target:
                    break
        queue.put("fine")
    except BaseException as error:
        queue.put(repr(error))


def write_forever(path: str) -> None:
    with realm.open(path, classes=models.ALL) as r:
        while True:
            with r.write():
                r.find(Person, 0).age += 1
                r.create(Note, text="x" * 100)


@pytest.fixture
def counter(path):
    with realm.open(path, classes=models.ALL) as r, r.write():
        r.create(Person, id=0, age=0)
    return path


def test_concurrent_writers_and_readers(counter):
    queue = spawn.Queue()
    writers = [spawn.Process(target=increment, args=(counter, 100)) for _ in range(3)]
    readers = [spawn.Process(target=watch, args=(counter, 300, queue)) for _ in range(2)]
    for process in writers + readers:
        process.start()
    answers = [queue.get(timeout=120) for _ in readers]
    for process in writers + readers:
        process.join(60)
    assert answers == ["fine", "fine"]
    assert [p.exitcode for p in writers + readers] == [0] * 5
    with realm.open(counter, classes=models.ALL) as r:
        assert r.find(Person, 0).age == 300
        assert len(r.objects(Note)) == 300


def test_a_refresh_sees_what_another_process_committed(counter):
    with realm.open(counter, classes=models.ALL) as r:
        assert r.find(Person, 0).age == 0
        process = spawn.Process(target=increment, args=(counter, 5))
        process.start()
        process.join(60)
        assert r.find(Person, 0).age == 0
        assert r.refresh() is True
        assert r.find(Person, 0).age == 5


def test_killed_writers_lose_only_what_they_had_not_committed(counter):
    for round_number in range(5):
        processes = [spawn.Process(target=write_forever, args=(counter,)) for _ in range(2)]
        for process in processes:
            process.start()
        time.sleep(0.8 + 0.1 * round_number)
        for process in processes:
            os.kill(process.pid, signal.SIGKILL)
            process.join(10)
        with realm.open(counter, classes=models.ALL) as r:
            before = r.find(Person, 0).age
            assert len(r.objects(Note)) == before
            with r.write():
                r.find(Person, 0).age += 1
                r.create(Note, text="by the parent")
    assert before > 0


def test_deleting_a_file_that_another_process_has_open(counter):
    process = spawn.Process(target=write_forever, args=(counter,))
    process.start()
    try:
        deadline = time.monotonic() + 30
        with realm.open(counter, classes=models.ALL) as r:
            while r.find(Person, 0).age == 0 and time.monotonic() < deadline:
                r.refresh()
        with pytest.raises(realm.RealmInUseError):
            realm.delete_files(counter)
    finally:
        process.kill()
        process.join(10)
    assert realm.delete_files(counter) is True


WAITS = """
import signal, sys, threading
import realm
from models import ALL, Note, Person

path, how = sys.argv[1:]
signal.signal(signal.SIGINT, signal.default_int_handler)
with realm.open(path, classes=ALL) as r:
    assert r.find(Person, 0) is not None
    ran = False
    print("waiting", flush=True)
    try:
        if how == "block":
            with r.write():
                ran = True
        else:
            r.begin_write()
            ran = True
    except KeyboardInterrupt:
        assert not ran and not r.is_writing
        print("interrupted", flush=True)
    sys.stdin.readline()
    with r.write():
        r.create(Note, text=how)
    print(len(r.objects(Note)), flush=True)
"""


@pytest.mark.parametrize("how", ["block", "call"])
def test_ctrl_c_ends_the_wait_for_another_writer(counter, how):
    with realm.open(counter, classes=models.ALL) as r:
        r.begin_write()
        with subprocess.Popen(
            [sys.executable, "-c", WAITS, counter, how], cwd=os.path.dirname(__file__), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            alarm = threading.Timer(120, process.kill)
            alarm.start()
            try:
                assert process.stdout.readline() == "waiting\n"
                # Time to begin to wait.
                time.sleep(0.5)
                process.send_signal(signal.SIGINT)
                assert process.stdout.readline() == "interrupted\n"
                r.rollback()
                process.stdin.write("on\n")
                process.stdin.flush()
                assert process.stdout.readline() == "1\n"
                assert process.wait(60) == 0
            finally:
                alarm.cancel()
                process.kill()
