"""What `realm.open` takes besides classes and a migration, and opening on another thread."""

from __future__ import annotations

import asyncio
import concurrent.futures
import gc
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import weakref
from typing import Any

import pytest

import realm
from migration_classes import Undone, class_, content

PERSON_1 = {"name": str, "age": int}
#: Indexes and the new default have objects gone through.
PERSON_2 = {"name": str, "age": int, "number": int}
COUNT = 3000


def person_1() -> type[Any]:
    return class_("Person", PERSON_1)


def person_2(**values: Any) -> type[Any]:
    return class_("Person", PERSON_2, name=realm.Indexed(), age=realm.Indexed(), **values)


@pytest.fixture
def people(path: str) -> str:
    person = person_1()
    with realm.open(path, [person], version=1) as r, r.write():
        for number in range(COUNT):
            r.create(person, name=f"person {number}", age=number)
    return path


class TestProgress:
    def test_it_ascends_from_0_to_1(self, people):
        told: list[float] = []
        with realm.open(people, [person_2()], version=2, progress=told.append) as r:
            assert r.objects("Person").filter("age == 7").count() == 1
        assert told[0] == 0 and told[-1] == 1 and told == sorted(told) and len(told) > 5
        assert all(type(part) is float for part in told)

    def test_nothing_is_told_where_nothing_changes(self, people):
        told: list[float] = []
        realm.open(people, [person_1()], version=1, progress=told.append).close()
        assert told == []

    @pytest.mark.parametrize("at", [0, 0.5, 1])
    def test_false_gives_up(self, people, at):
        with Undone(people), pytest.raises(realm.Error, match="given up") as caught:
            realm.open(people, [person_2()], version=2, progress=lambda part: part < at)
        assert caught.value.code == realm.ErrorCode.CALLBACK

    def test_only_false_does(self, people):
        realm.open(people, [person_2()], version=2, progress=lambda part: None).close()
        realm.open(people, [person_1()], version=3, progress=lambda part: 0).close()
        assert content(people)["version"] == 3

    def test_an_exception_comes_out(self, people):
        error = KeyError("mine")

        def fail(part: float) -> None:
            if part > 0.3:
                raise error

        with Undone(people), pytest.raises(KeyError) as caught:
            realm.open(people, [person_2()], version=2, progress=fail)
        assert caught.value is error

    def test_the_exception_of_the_migration_comes_first(self, people):
        def migrate(old, new):
            raise ZeroDivisionError

        with Undone(people), pytest.raises(ZeroDivisionError):
            realm.open(people, [person_2()], version=2, migrate=migrate, progress=lambda part: True)

    @pytest.mark.parametrize("bad", [3, "f"])
    def test_what_is_no_function(self, people, bad):
        for name in ("progress", "initial_data"):
            with pytest.raises(TypeError, match=name):
                realm.open(people, [person_1()], version=1, **{name: bad})


class TestInitialData:
    def test_it_fills_a_new_file_once(self, path):
        calls = []

        def fill(r):
            assert r.is_writing and r.schema_version == 3
            with pytest.raises(realm.IllegalOperationError, match="being filled"):
                r.close()
            r.create("Person", name="first", age=1)
            calls.append(r)

        for _ in range(2):
            with realm.open(path, [person_1()], version=3, initial_data=fill) as r:
                assert [p.name for p in r.objects("Person")] == ["first"]
                assert not r.is_writing
        assert len(calls) == 1
        with pytest.raises(realm.ClosedRealmError, match="initialisation of .* is over"):
            calls[0].objects("Person")
        assert realm.check_file(path) == []

    def test_not_for_a_file_that_is_there(self, people):
        def fill(r):
            raise AssertionError

        realm.open(people, [person_2()], version=2, initial_data=fill).close()

    def test_an_exception_undoes_it_and_the_next_one_tries_again(self, path):
        def fail(r):
            r.create("Person", name="half", age=1)
            raise LookupError("no data")

        for _ in range(2):
            with pytest.raises(LookupError, match="no data"):
                realm.open(path, [person_1()], version=1, initial_data=fail)
            assert content(path) == {"version": None}
        with realm.open(path, [person_1()], version=1,
                        initial_data=lambda r: r.create("Person", name="x", age=1)) as r:
            assert len(r.objects("Person")) == 1

    def test_it_needs_classes_and_an_ordinary_function(self, path):
        async def coroutine(r):
            pass

        with pytest.raises(realm.ConfigurationError, match="classes"):
            realm.open(path, initial_data=lambda r: None)
        with pytest.raises(TypeError, match="returned"):
            realm.open(path, [person_1()], initial_data=lambda r: (n for n in range(3)))
        with pytest.raises(TypeError, match="ordinary"):
            realm.open(path, [person_1()], initial_data=coroutine)
        with pytest.raises(realm.ConfigurationError):
            realm.open(path, [person_1()], read_only=True, initial_data=lambda r: None)

    def test_a_file_that_begins_anew_is_filled_anew(self, people):
        with realm.open(people, [person_2()], version=2, schema_mode="soft_reset",
                        initial_data=lambda r: r.create("Person", name="x", age=1, number=2)) as r:
            assert [p.number for p in r.objects("Person")] == [2]


class TestSchemaModes:
    MORE = {**PERSON_1, "more": str | None}
    LESS = {"name": str}
    OTHER = {"name": str, "age": str}

    def opens(self, path, annotations, mode, version=1):
        with realm.open(path, [class_("Person", annotations)], version=version,
                        schema_mode=mode) as r:
            return len(r.objects("Person"))

    @pytest.mark.parametrize("mode", ["additive_discovered", "additive_explicit"])
    def test_additive(self, people, mode):
        assert self.opens(people, self.MORE, mode) == COUNT
        assert self.opens(people, self.LESS, mode, version=1) == COUNT
        with realm.open(people) as r:
            assert set(realm.properties(r.classes["Person"])) == {"name", "age", "more"}
        with pytest.raises(realm.SchemaMismatchError, match="'Person.age' has been changed from"):
            self.opens(people, self.OTHER, mode, version=2)

    def test_orphans_are_found_or_refused(self, path):
        orphan = class_("Orphan", {"x": int}, realm.EmbeddedObject)
        with pytest.raises(realm.SchemaError, match="Orphan"):
            realm.open(path, [person_1(), orphan], schema_mode="additive_explicit")
        with realm.open(path, [person_1(), orphan], schema_mode="additive_discovered") as r:
            assert len(r.objects("Person")) == 0
        with realm.open(path) as r:
            assert set(r.classes) == {"Person"}

    def test_manual(self, people):
        for version in (1, 2):
            with Undone(people), pytest.raises(realm.SchemaMismatchError, match="'Person.more'"):
                self.opens(people, self.MORE, "manual", version)
        person = class_("Person", {"full": str, "age": int})
        with realm.open(people, [person], version=2, schema_mode="manual",
                        migrate=lambda old, new, m: m.rename("Person", "name", "full")) as r:
            assert r.objects(person)[5].full == "person 5"

    def test_resets(self, people):
        assert self.opens(people, PERSON_1, "soft_reset") == COUNT
        assert self.opens(people, PERSON_1, "hard_reset") == COUNT
        with realm.open(people, [person_1(), class_("Dog", {"n": int})], version=1,
                        schema_mode="soft_reset") as r:
            assert len(r.objects("Person")) == COUNT
        assert self.opens(people, self.MORE, "soft_reset") == 0
        with realm.open(people, [class_("Person", self.MORE)], version=1) as r, r.write():
            r.create("Person", name="x", age=1)
        with realm.open(people, [class_("Person", self.MORE), class_("Cat", {"n": int})], version=1,
                        schema_mode="hard_reset") as r:
            assert len(r.objects("Person")) == 0
        assert realm.check_file(people) == []

    @pytest.mark.parametrize("mode", ["read_only", "immutable"])
    def test_reading(self, people, mode):
        assert self.opens(people, self.LESS, mode) == COUNT
        with pytest.raises(realm.SchemaMismatchError, match="'Person.more' has been added"):
            self.opens(people, self.MORE, mode)
        cat = class_("Cat", {"n": int})
        with realm.open(people, [person_1(), cat], version=1, schema_mode=mode) as r:
            assert len(r.objects("Person")) == COUNT
            with pytest.raises(realm.NoSuchClassError):
                len(r.objects(cat))
            with pytest.raises(realm.Error):
                r.begin_write()
        if mode == "immutable":
            with pytest.raises(realm.SchemaMismatchError, match="version"):
                self.opens(people, PERSON_1, mode, version=2)
        else:
            assert self.opens(people, PERSON_1, mode, version=2) == COUNT

    def test_names_that_are_none(self, people):
        with pytest.raises(realm.ConfigurationError, match="additive_explicit"):
            self.opens(people, PERSON_1, "additive")
        with pytest.raises(realm.ConfigurationError, match="no schema mode 3"):
            self.opens(people, PERSON_1, 3)
        with pytest.raises(TypeError, match="read_only"):
            realm.open(people, [person_1()], read_only=True, schema_mode="manual")

    def test_plans(self, people):
        more = class_("Person", self.MORE)
        assert realm.migration_plan(people, [more], version=1).refusal is not None
        plan = realm.migration_plan(people, [more], version=1, schema_mode="additive_explicit")
        assert plan.refusal is None and plan.changes
        plan = realm.migration_plan(people, [class_("Person", self.OTHER)], version=2,
                                    schema_mode="additive_explicit", rehearse=True)
        assert "'Person.age'" in str(plan.refusal)
        plan = realm.migration_plan(people, [more], version=2, schema_mode="read_only",
                                    rehearse=True)
        assert "'Person.more'" in str(plan.refusal)


class TestOpenAsync:
    def test_await(self, people):
        seen: dict[str, Any] = {"parts": []}

        def migrate(old, new, m):
            seen["thread"] = threading.get_ident()
            for before, after in m.each("Person"):
                after.number = before.age * 2

        def progress(part):
            seen["parts"].append((part, threading.get_ident()))

        async def main():
            opening = realm.open_async(people, [person_2()], version=2, migrate=migrate,
                                       progress=progress)
            r = await opening
            assert opening.done() and await opening is r and opening.result() is r
            with r, r.write():
                found = r.objects("Person").filter("number == 14")[0]
                found.name = "here"
                return found.age

        assert asyncio.run(main()) == 7
        assert seen["thread"] != threading.get_ident()
        assert {thread for _, thread in seen["parts"]} == {seen["thread"]}
        assert seen["parts"][0][0] == 0 and seen["parts"][-1][0] == 1
        assert realm.check_file(people) == []

    def test_the_loop_goes_on_meanwhile(self, people):
        turns = 0

        def migrate(old, new):
            released.wait(30)

        async def main():
            nonlocal turns
            opening = realm.open_async(people, [person_2()], version=2, migrate=migrate)
            assert not opening.done() and "under way" in repr(opening)
            with pytest.raises(TimeoutError):
                opening.result(0)
            while turns < 50:
                await asyncio.sleep(0)
                turns += 1
            released.set()
            (await opening).close()

        released = threading.Event()
        asyncio.run(main())
        assert turns == 50

    def test_result_and_callback(self, people):
        told: list[Any] = []
        ended = threading.Event()

        def done(opening):
            told.append((opening, threading.get_ident()))
            ended.set()

        opening = realm.open_async(people, [person_2()], version=2)
        opening.add_done_callback(done)
        with opening.result(30) as r:
            assert len(r.objects("Person")) == COUNT
        assert ended.wait(30)
        assert told[0][0] is opening and opening.exception() is None and "done" in repr(opening)
        opening.add_done_callback(done)
        assert told[1] == (opening, threading.get_ident())

    def test_the_callback_may_take_the_realm(self, people):
        counts: list[int] = []
        ended = threading.Event()

        def done(opening):
            with opening.result() as r:
                counts.append(len(r.objects("Person")))
            ended.set()

        realm.open_async(people, [person_2()], version=2).add_done_callback(done)
        assert ended.wait(30) and counts == [COUNT]

    def test_without_classes_and_without_a_file(self, people, tmp_path):
        with realm.open_async(people).result(30) as r:
            assert set(r.classes) == {"Person"}
        with realm.open_async(tmp_path / "new.realm", [person_1()], initial_data=lambda r:
                              r.create("Person", name="x", age=1)).result(30) as r:
            assert len(r.objects("Person")) == 1

    @pytest.mark.parametrize("where", ["migrate", "progress", "default"])
    def test_exceptions_come_out_unchanged(self, people, where):
        error = LookupError("mine")

        def fail(*_: object) -> None:
            raise error

        classes = [person_2(**({"number": realm.Default(fail)} if where == "default" else {}))]
        options: dict[str, Any] = {} if where == "default" else {where: fail}
        if where == "migrate":
            options["migrate"] = lambda old, new: fail()

        async def main():
            await realm.open_async(people, classes, version=2, **options)

        with Undone(people):
            opening = realm.open_async(people, classes, version=2, **options)
            assert opening.exception(30) is error and not opening.cancelled()
            with pytest.raises(LookupError) as caught:
                opening.result()
            assert caught.value is error and "failed" in repr(opening)
            with pytest.raises(LookupError):
                asyncio.run(main())

    def test_errors_of_the_engine(self, people, tmp_path):
        with Undone(people), pytest.raises(realm.SchemaMismatchError, match="'Person.number'"):
            realm.open_async(people, [person_2()], version=1).result(30)
        with pytest.raises(realm.FileError, match="missing"):
            realm.open_async(tmp_path / "missing" / "x.realm", [person_1()]).result(30)
        with pytest.raises(ValueError):
            realm.open_async(people, [person_1()], version=1, schema_mode="x")  # type: ignore

    def test_cancelling_a_task_leaves_the_file_as_it_was(self, people):
        started = threading.Event()
        calls = []

        def migrate(old, new, m):
            for _, after in m.each("Person"):
                after.number = 5
            calls.append(1)
            started.set()
            time.sleep(0.05)

        async def main():
            task = asyncio.create_task(self.wait(people, migrate))
            await asyncio.to_thread(started.wait, 30)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            # What it began is over.
            realm.open(people, [person_1()], version=1).close()

        with Undone(people):
            asyncio.run(main())
            assert calls == [1]

    async def wait(self, path, migrate):
        return await realm.open_async(path, [person_2()], version=2, migrate=migrate)

    def test_cancelling_at_any_moment_is_all_or_nothing(self, people):
        # At moments of the clock, over as long as the whole takes on this machine right now.
        began = time.perf_counter()
        realm.open_async(people, [person_2()], version=2).result(60).close()
        whole = time.perf_counter() - began
        for round_number in range(40):
            before = content(people)["version"]
            classes = [person_2()] if before % 2 else [person_1()]
            opening = realm.open_async(people, classes, version=before + 1)
            time.sleep(round_number / 40 * 1.5 * whole)
            opening.cancel()
            self.check_cancelled_or_done(people, opening, before)
        assert realm.check_file(people) == []

    def test_cancelling_at_any_step_undoes_all(self, people):
        """As above, at moments that no clock decides: each call of progress, until one has no such."""
        for step in range(200):
            given: queue.SimpleQueue[realm.Opening] = queue.SimpleQueue()
            calls = []

            def progress(part, given=given, calls=calls, step=step):
                if len(calls) == step:
                    assert given.get(timeout=30).cancel()
                calls.append(part)

            opening = realm.open_async(people, [person_2()], version=2, progress=progress)
            given.put(opening)
            undone = self.check_cancelled_or_done(people, opening, before=1)
            assert len(calls) == step + 1
            if not undone:
                break
        # Only the last call is too late: it tells that all is done.
        assert calls[-1] == 1.0 and step > 5
        assert realm.check_file(people) == []

    def check_cancelled_or_done(self, people, opening, before):
        """Waits; whether it was undone, wholly."""
        error = opening.exception(60)
        if error is not None:
            assert isinstance(error, concurrent.futures.CancelledError)
            assert opening.cancelled() and not opening.cancel()
            assert "cancelled" in repr(opening)
        else:
            opening.result().close()
        after = content(people)
        assert after["version"] == before + (error is None)
        assert len(after["Person"]) == COUNT
        return error is not None

    def test_many_at_once_and_realms_that_nobody_takes(self, people, tmp_path):
        openings = [realm.open_async(people, [person_2()], version=2) for _ in range(8)]
        others = [realm.open_async(tmp_path / f"{n}.realm", [person_1()]) for n in range(8)]
        for opening in openings[::2] + others[::2]:
            opening.result(60).close()
        for opening in openings + others:
            assert opening.exception(60) is None
        reference = weakref.ref(openings[1])
        del opening, openings, others
        gc.collect()
        assert reference() is None
        assert realm.delete_files(people)

    def test_cancelled_by_another_while_a_task_awaits_it(self, people):
        started = threading.Event()

        def migrate(old, new):
            started.set()
            time.sleep(0.05)

        async def main():
            opening = realm.open_async(people, [person_2()], version=2, migrate=migrate)

            async def cancel():
                await asyncio.to_thread(started.wait, 30)
                assert opening.cancel()

            other = asyncio.create_task(cancel())
            with pytest.raises(asyncio.CancelledError):
                await opening
            await other

        with Undone(people):
            asyncio.run(main())

    def test_the_end_of_the_program_undoes_it(self, people):
        program = f"""
import sys, time
sys.path.insert(0, {os.path.dirname(__file__)!r})
import realm
from test_opening import person_2
def migrate(old, new):
    print("began", flush=True)
    time.sleep(0.2)
opening = realm.open_async({people!r}, [person_2()], version=2, migrate=migrate)
while not opening.done():
    time.sleep(0.01)
    break
"""
        with Undone(people):
            done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60)
            assert (done.returncode, done.stderr) == (0, b"")

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
    def test_a_forked_child_is_told(self, people):
        released = threading.Event()
        opening = realm.open_async(people, [person_2()], version=2,
                                   migrate=lambda old, new: released.wait(30))
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            error = opening.exception(5)
            right = isinstance(error, realm.WrongThreadError) or (
                getattr(error, "code", None) == realm.ErrorCode.WRONG_THREAD)
            os._exit(0 if right and "forked" in str(error) else 1)
        _, status = os.waitpid(child, 0)
        released.set()
        assert status == 0
        opening.result(30).close()
        assert content(people)["version"] == 2
