"""Changes in event loops: `async for`, and delivery by asyncio and by select."""

from __future__ import annotations

import asyncio
import gc
import select
import threading

import pytest

import models
import realm
from collection_models import Person as Owner
from models import Note
from test_observers import add_note
from test_threads import in_thread


def run(coroutine, limit=30):
    async def limited():
        return await asyncio.wait_for(coroutine, limit)

    return asyncio.run(limited())


def write(r, work):
    with r.write():
        work()


class TestAsyncFor:
    def test_commits_of_other_threads_wake_it(self, r):
        async def main():
            seen = []
            threads = []
            async for change in r.objects(Note).changes():
                if change.initial:
                    threads.append(threading.Thread(target=add_note, args=(r.path, "a")))
                    threads[-1].start()
                seen.extend(change.collection[i].text for i in change.insertions)
                if seen:
                    break
            threads[0].join()
            return seen

        assert run(main()) == ["a"]

    def test_realms_that_do_not_follow_stay_until_they_do(self, r):
        async def main():
            seen = []
            assert r.autorefresh
            with r.objects(Note).observe(lambda change: seen.append(change.insertions)):
                r.refresh()
                r.autorefresh = False
                assert not r.autorefresh
                await asyncio.to_thread(add_note, r.path, "a")
                await asyncio.sleep(0.05)
                assert seen == [[]] and not r.objects(Note)
                r.autorefresh = True
                while len(seen) < 2:
                    await asyncio.sleep(0.01)
            return seen, len(r.objects(Note))

        assert run(main()) == ([[], [0]], 1)

    def test_whether_it_follows_is_asked_of_realms_that_can(self, r):
        frozen = r.freeze()
        assert not frozen.autorefresh
        with pytest.raises(realm.Error, match="frozen realm stays at its version"):
            frozen.autorefresh = True
        with pytest.raises(AttributeError, match="can't be deleted"):
            del r.autorefresh
        with pytest.raises(realm.WrongThreadError):
            in_thread(lambda: setattr(r, "autorefresh", False))
        r.close()
        assert not r.autorefresh
        with pytest.raises(realm.ClosedRealmError):
            r.autorefresh = False

    def test_own_commits_wake_it(self, r):
        async def main():
            changes = r.objects(Note).changes()
            assert (await anext(changes)).initial
            write(r, lambda: r.create(Note, text="a"))
            change = await anext(changes)
            assert change.insertions == [0] and not change.initial
            changes.close()
            with pytest.raises(StopAsyncIteration):
                await anext(changes)

        run(main())

    def test_each_change_is_told_once_and_in_order(self, r):
        async def main():
            mirror = []
            notes = r.objects(Note)
            thread = threading.Thread(
                target=lambda: [add_note(r.path, f"n{i}") for i in range(30)])
            async for change in notes.changes():
                if change.initial:
                    thread.start()
                for index in change.insertions:
                    mirror.insert(index, notes[index].text)
                await asyncio.sleep(0)
                if len(mirror) == 30:
                    break
            thread.join()
            return mirror

        assert run(main()) == [f"n{i}" for i in range(30)]

    def test_objects_collections_and_the_realm(self, path):
        async def main(r):
            person = r.objects(Owner)[0]
            of_object = person.changes("tags")
            of_list = person.tags.changes()
            of_dict = realm.changes(person.weights)
            of_realm = r.changes()
            for stream in (of_object, of_list, of_dict):
                assert (await anext(stream)).initial
            write(r, lambda: (person.tags.append("x"), person.weights.update(k=1.0)))
            assert (await anext(of_object)).properties["tags"].old == []
            assert (await anext(of_list)).insertions == [0]
            assert (await anext(of_dict)).insertions == ("k",)
            assert (await anext(of_realm)).version == r.version

        with realm.open(path, classes=[Owner]) as r:
            with r.write():
                r.create(Owner, id=1)
            run(main(r))

    def test_it_ends_when_the_thing_is_deleted(self, r):
        async def main():
            with r.write():
                note = r.create(Note, text="a")
            seen = []
            async for change in note.changes():
                seen.append(change.deleted)
                if change.initial:
                    write(r, lambda: r.delete(note))
            return seen

        assert run(main()) == [False, True]

    def test_closing_the_realm_ends_those_that_wait(self, path):
        async def main(close):
            r = realm.open(path, classes=models.ALL)
            seen = []

            async def follow():
                async for change in r.objects(Note).changes():
                    seen.append(change)

            task = asyncio.create_task(follow())
            while not seen:
                await asyncio.sleep(0.001)
            close(r)
            await task
            assert r.is_closed and len(seen) == 1

        run(main(lambda r: r.close()))
        run(main(lambda r: in_thread(r.close)))

    def test_cancelling_the_task_ends_the_observation(self, r):
        async def main():
            async def follow():
                async with r.objects(Note).changes() as changes:
                    streams.append(changes)
                    async for _change in changes:
                        pass

            streams = []
            task = asyncio.create_task(follow())
            await asyncio.sleep(0.02)
            assert r._streams
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert not r._streams and not streams[0]._stream.token.is_open

        run(main())

    def test_waiting_can_be_given_up_and_begun_again(self, r):
        async def main():
            changes = r.objects(Note).changes()
            await anext(changes)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(changes), 0.02)
            write(r, lambda: r.create(Note, text="a"))
            assert (await anext(changes)).insertions == [0]
            waiting = asyncio.create_task(anext(changes))
            await asyncio.sleep(0)
            with pytest.raises(RuntimeError, match="another task"):
                await anext(changes)
            waiting.cancel()

        run(main())

    def test_leaving_the_loop_ends_the_observation(self, r):
        async def main():
            async for _change in r.objects(Note).changes():
                break
            gc.collect()
            assert not r._streams

        run(main())

    def test_a_realm_in_several_loops_one_after_another(self, r):
        async def main(text):
            changes = r.objects(Note).changes()
            await anext(changes)
            thread = threading.Thread(target=add_note, args=(r.path, text))
            thread.start()
            change = await anext(changes)
            thread.join()
            return [change.collection[i].text for i in change.insertions]

        assert run(main("a")) == ["a"]
        assert run(main("b")) == ["b"]
        gc.collect()

    def test_loops_of_several_threads(self, path):
        count, each = 3, 5
        realm.open(path, classes=models.ALL).close()
        started = threading.Barrier(count)

        def work(number):
            async def main():
                with realm.open(path, classes=models.ALL) as r:
                    notes = r.objects(Note)
                    async for change in notes.changes():
                        if change.initial:
                            await asyncio.to_thread(started.wait, 20)
                            for i in range(each):
                                write(r, lambda i=i: r.create(Note, text=f"{number}-{i}"))
                                await asyncio.sleep(0)
                        if len(notes) == count * each:
                            return len(notes)

            return run(main())

        found = []
        threads = [threading.Thread(target=lambda n=n: found.append(work(n))) for n in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [count * each] * count

    def test_it_needs_a_loop(self, r):
        with pytest.raises(RuntimeError, match="no event loop here"):
            r.objects(Note).changes()


class TestLoops:
    def test_callbacks_run_in_the_loop_that_runs(self, r):
        async def main():
            told = asyncio.Event()
            r.objects(Note).observe(lambda change: change.insertions and told.set())
            thread = threading.Thread(target=add_note, args=(r.path,))
            thread.start()
            await told.wait()
            thread.join()

        run(main())

    def test_exceptions_reach_the_handler_of_the_loop(self, r):
        async def main():
            contexts = []
            asyncio.get_running_loop().set_exception_handler(lambda loop, c: contexts.append(c))

            def fail(change):
                raise ZeroDivisionError("in a loop")

            r.objects(Note).observe(fail)
            while not contexts:
                await asyncio.sleep(0.001)
            return contexts

        (context,) = run(main())
        assert isinstance(context["exception"], ZeroDivisionError)

    def test_select(self, r):
        told = []
        r.objects(Note).observe(told.append)
        assert select.select([r], [], [], 10)[0] == [r]
        r.refresh()
        assert len(told) == 1 and not select.select([r], [], [], 0)[0]
        thread = threading.Thread(target=add_note, args=(r.path,))
        thread.start()
        assert select.select([r], [], [], 10)[0] == [r]
        thread.join()
        r.refresh()
        assert told[1].insertions == [0] and not select.select([r], [], [], 0)[0]

    def test_a_descriptor_is_of_open_realms_that_move(self, path):
        r = realm.open(path, classes=[Note])
        number = r.fileno()
        assert number == r.fileno()
        frozen = r.freeze()
        with pytest.raises(realm.IllegalOperationError):
            frozen.fileno()
        frozen.close()
        r.close()
        with pytest.raises(realm.ClosedRealmError):
            r.fileno()

    def test_an_awaited_realm_is_woken(self, path):
        async def main():
            r = await realm.open_async(path, classes=models.ALL)
            changes = r.objects(Note).changes()
            await anext(changes)
            await asyncio.to_thread(add_note, path)
            assert (await anext(changes)).insertions == [0]
            r.close()

        run(main())
