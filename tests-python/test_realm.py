"""Opening under other names, the whole content, transactions of coroutines, waits that never end."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

import pytest

import realm
from conftest import run_python


class Book(realm.Object):
    title: str
    author: Author | None = None


class Author(realm.Object):
    name: str = realm.Field(primary_key=True)


@pytest.fixture
def r(path):
    with realm.open(path, Book) as opened:
        yield opened


class TestOpening:
    def test_the_same_under_two_names(self, tmp_path):
        key = os.urandom(64)
        with realm.open(tmp_path / "a.realm", schema=[Book], key=key) as r:
            assert set(r.classes) == {"Book", "Author"}
        with realm.open(tmp_path / "a.realm", schema=Book, encryption_key=key, read_only=True):
            pass
        with realm.open_async(tmp_path / "a.realm", schema=Book, key=key).result():
            pass
        with pytest.raises(TypeError, match="classes or schema, not both"):
            realm.open(tmp_path / "b.realm", Book, schema=Book)
        with pytest.raises(TypeError, match="encryption_key or key, not both"):
            realm.open(tmp_path / "b.realm", Book, key=key, encryption_key=key)
        assert not (tmp_path / "b.realm").exists()

    @pytest.mark.parametrize("wrong", [int, [int], "Book", realm.Object, 3])
    def test_what_is_no_schema(self, tmp_path, wrong):
        with pytest.raises(realm.SchemaError, match="derived from realm.Object"):
            realm.open(tmp_path / "b.realm", schema=wrong)

    @pytest.mark.parametrize("wrong", [-1, "1", 1.5, True, 2**64])
    def test_what_is_no_version(self, tmp_path, wrong):
        with pytest.raises(realm.ConfigurationError, match="a schema version is an int from 0 on"):
            realm.open(tmp_path / "b.realm", schema=Book, version=wrong)

    def test_a_default_place(self, tmp_path):
        code = (
            "import realm\nclass A(realm.Object):\n    x: int\n"
            "with realm.open(schema=A) as r:\n    print(r.path == realm.default_path(), r.path)"
        )
        script = tmp_path / "library.py"
        script.write_text(code)
        environment = dict(os.environ, XDG_DATA_HOME=str(tmp_path / "data"))
        environment.pop("REALM_DEFAULT_DIRECTORY", None)
        import subprocess
        import sys

        def run(**more: str) -> str:
            return subprocess.run([sys.executable, str(script)], env={**environment, **more},
                                  capture_output=True, text=True, check=True).stdout

        assert run() == f"True {tmp_path}/data/library/default.realm\n"
        assert run(REALM_DEFAULT_DIRECTORY=str(tmp_path / "x")) == f"True {tmp_path}/x/default.realm\n"


class TestContent:
    def test_emptiness(self, r):
        assert r.is_empty
        with r.write():
            r.create(Book, title="a", author=Author(name="Ada"))
            assert not r.is_empty
            r.delete_all(Book)
            assert len(r.objects(Book)) == 0 and not r.is_empty
            r.delete_all()
            assert r.is_empty
        with pytest.raises(realm.TransactionError):
            r.delete_all()

    def test_deleting_several_is_all_or_nothing(self, r, path):
        with r.write():
            books = [r.create(Book, title=str(i)) for i in range(3)]
            r.delete(books[1])
            with pytest.raises(realm.InvalidObjectError):
                r.delete(books)
            assert len(r.objects(Book)) == 2
            r.delete(b for b in books if realm.is_valid(b))
            assert r.is_empty

    def test_copies_and_figures(self, r, tmp_path):
        with r.write():
            r.create(Book, title="a")
        key = os.urandom(64)
        r.copy_to(tmp_path / "plain.realm")
        r.copy_to(tmp_path / "sealed.realm", key=key)
        with realm.open(tmp_path / "sealed.realm", Book, key=key) as copy:
            assert copy.objects(Book)[0].title == "a"
        assert r.stats().keys() == r.statistics().keys() and r.check() == []


class TestOneThread:
    def test_a_second_instance_says_that_it_would_wait_for_ever(self, r, path):
        with realm.open(path, Book) as other:
            with r.write():
                for timeout in (None, 60):
                    with pytest.raises(realm.TransactionError, match="by this thread, through another realm"):
                        other.begin_write(timeout)
            with other.write():
                other.create(Book, title="later")
        assert len(r.objects(Book)) == 1 or r.refresh()

    def test_so_does_opening_that_has_to_write(self, r, path):
        class New(realm.Object):
            x: int

        with r.write():
            with pytest.raises(realm.TransactionError, match="by this thread, through another realm"):
                realm.open(path, [Book, New])
            with realm.open(path, Book) as other:
                assert len(other.objects(Book)) == 0

    def test_other_threads_wait_as_ever(self, r, path):
        def elsewhere() -> None:
            with realm.open(path, Book) as other, other.write():
                other.create(Book, title="b")

        with r.write():
            thread = threading.Thread(target=elsewhere)
            thread.start()
            r.create(Book, title="a")
        thread.join(20)
        r.refresh()
        assert len(r.objects(Book)) == 2

    def test_instances_that_are_gone_are_forgotten(self, path):
        for _ in range(50):
            realm.open(path, Book).begin_write()
            with realm.open(path, Book) as r, r.write():
                pass


class TestCoroutines:
    def test_tasks_take_turns_and_the_loop_goes_on(self, r, path):
        order: list[str] = []

        async def write(r: realm.Realm, name: str) -> None:
            async with r.write_async():
                r.create(Book, title=name)
                order.append(f"{name} begins")
                await asyncio.sleep(0.003)
                order.append(f"{name} ends")

        async def main() -> None:
            with realm.open(path, Book) as other:
                await asyncio.gather(write(r, "a"), write(r, "b"), write(other, "c"))
            r.refresh()

        asyncio.run(main())
        assert sorted(r.objects(Book).values("title")) == ["a", "b", "c"]
        for begins, ends in zip(order[::2], order[1::2]):
            assert begins.split()[0] == ends.split()[0]

    def test_errors_roll_back_and_give_the_turn_on(self, r):
        async def main() -> None:
            with pytest.raises(ZeroDivisionError):
                async with r.write_async():
                    r.create(Book, title="a")
                    1 / 0
            async with r.write_async() as same:
                assert same is r and r.is_empty

        asyncio.run(main())

    def test_timeouts_and_cancellation(self, r, path):
        async def hold(begun: asyncio.Event, end: asyncio.Event) -> None:
            async with r.write_async():
                begun.set()
                await end.wait()

        async def main() -> None:
            begun, end = asyncio.Event(), asyncio.Event()
            holding = asyncio.create_task(hold(begun, end))
            await begun.wait()
            with realm.open(path, Book) as other:
                for realm_ in (r, other):
                    with pytest.raises(realm.WriteTimeoutError):
                        async with realm_.write_async(timeout=0.01):
                            raise AssertionError
                waiting = asyncio.create_task(hold(asyncio.Event(), end))
                await asyncio.sleep(0.005)
                waiting.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await waiting
                end.set()
                await holding
                async with other.write_async(timeout=5):
                    other.create(Book, title="b")
                async with r.write_async():
                    assert len(r.objects(Book)) == 1

        asyncio.run(main())


def test_the_default_place_needs_no_realm():
    done = run_python("import realm; print(realm.default_path())")
    assert done.returncode == 0 and Path(done.stdout.strip()).name == "default.realm"
