"""Migrations of a file that other processes have open, or that die meanwhile."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import random
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

import realm
from campaigns import Campaign
from migration_classes import Undone, class_, content

spawn = multiprocessing.get_context("spawn")

OLD = {"name": str, "age": int}
#: What fits a program with the old classes, and what does not.
MORE = {"name": str, "age": int, "more": str}
OTHER = {"name": str, "years": int}
COUNT = 500


def person(annotations: dict[str, Any]) -> type[Any]:
    return class_("Person", annotations)


@pytest.fixture
def people(path: str) -> str:
    with realm.open(path, [person(OLD)], version=1) as r, r.write():
        for number in range(COUNT):
            r.create("Person", name=f"person {number}", age=number)
    return path


class Other:
    """A process that runs a function of this module, step by step: it says what it has come to, and
    goes on when it is told to."""

    def __init__(self, function: Callable[..., None], *arguments: Any) -> None:
        self.pipe, theirs = spawn.Pipe()
        self.process = spawn.Process(target=run, args=(function, theirs, *arguments))
        self.process.start()
        theirs.close()

    def says(self, timeout: float = 60) -> Any:
        assert self.pipe.poll(timeout), "the other process says nothing"
        return self.pipe.recv()

    def is_silent(self, seconds: float = 0.3) -> bool:
        return not self.pipe.poll(seconds)

    def go(self) -> None:
        self.pipe.send("go")

    def end(self) -> None:
        self.process.join(60)
        assert self.process.exitcode == 0

    def __enter__(self) -> Other:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.is_alive():
            self.process.join(5)
            self.process.kill()


def run(function: Callable[..., None], pipe: Any, *arguments: Any) -> None:
    try:
        function(pipe, *arguments)
    except realm.Error as error:
        pipe.send((type(error).__name__, str(error)))


def migrate(pipe: Any, path: str, annotations: dict[str, Any], version: int = 2) -> None:
    """Migrates, and waits within."""

    def function(old, new, m):
        pipe.send(("migrating", len(old.objects("Person"))))
        assert pipe.recv() == "go"

    with realm.open(path, [person(annotations)], version=version, migrate=function) as r:
        pipe.send(("migrated", len(r.objects("Person"))))


def read(pipe: Any, path: str) -> None:
    """Has the file open with the old classes; then refreshes, writes and opens it again."""
    r = realm.open(path, [person(OLD)], version=1)
    first = r.objects("Person")[0]
    pipe.send(first.age)
    while pipe.recv() == "go":
        pipe.send((first.age, len(r.objects("Person"))))
        try:
            pipe.send(("refreshed", r.refresh(), first.age))
        except realm.Error as error:
            pipe.send((type(error).__name__, str(error)))
        try:
            with r.write():
                r.create("Person", name="late", age=1)
            pipe.send("written")
        except realm.Error as error:
            pipe.send((type(error).__name__, str(error)))
        pipe.send((first.age, len(r.objects("Person"))))
        r.close()
        r = realm.open(path, [person(OLD)], version=1)


def write(pipe: Any, path: str, version: int = 1) -> None:
    r = realm.open(path, [person(OLD)], version=version)
    pipe.send("open")
    with r.write():
        pipe.send("writing")
        r.create("Person", name="other", age=1)
        assert pipe.recv() == "go"
    pipe.send("written")
    r.close()


class TestReaders:
    def test_one_whose_classes_are_gone_keeps_its_version_and_is_told(self, people):
        with Other(read, people) as reader:
            assert reader.says() == 0
            realm.open(people, [person(OTHER)], version=2).close()
            reader.go()
            assert reader.says() == (0, COUNT)
            for _ in ("refreshed", "written"):
                name, message = reader.says()
                assert name == "SchemaMismatchError"
                assert "another program changed the schema" in message
                assert "property 'Person.age' has been removed" in message
                assert "open it again" in message and "CoreSwift" not in message
            assert reader.says() == (0, COUNT)
            # Opening it with the old classes and version is an error that names both.
            name, message = reader.says()
            assert name == "SchemaMismatchError" and "schema version 1 is lower" in message
            reader.end()
        assert content(people)["version"] == 2 and realm.check_file(people) == []

    def test_one_whose_classes_are_there_goes_on(self, people):
        with Other(read, people) as reader:
            assert reader.says() == 0
            with realm.open(people, [class_("Person", MORE, name=realm.Indexed(), more="x")],
                            version=2) as r:
                reader.go()
                assert reader.says() == (0, COUNT)
                assert reader.says() == ("refreshed", True, 0)
                assert reader.says() == "written"
                assert reader.says() == (0, COUNT + 1)
                assert reader.says()[0] == "SchemaMismatchError"
                r.refresh()
                late = r.objects("Person").filter("name == 'late'")[0]
                assert (late.age, late.more) == (1, "")
                assert r.objects("Person")[0].more == "x"
            reader.end()
        assert realm.check_file(people) == []

    def test_the_other_way_round(self, people):
        """Another process migrates, and this one reads."""
        r = realm.open(people, [person(OLD)], version=1)
        some = r.objects("Person").filter("age > 490")
        with Other(migrate, people, OTHER) as other:
            assert other.says() == ("migrating", COUNT)
            assert not r.refresh() and len(some) == 9
            other.go()
            assert other.says() == ("migrated", COUNT)
            other.end()
        assert len(some) == 9 and some[0].age == 491
        with pytest.raises(realm.SchemaMismatchError, match="'Person.age' has been removed"):
            r.refresh()
        with pytest.raises(realm.SchemaMismatchError, match="'Person.age' has been removed"):
            r.begin_write()
        assert len(some) == 9 and not r.is_writing
        r.close()
        with pytest.raises(realm.SchemaMismatchError, match="version 1 is lower than the file's, 2"):
            realm.open(people, [person(OLD)], version=1)
        realm.open(people, [person(OTHER)], version=2).close()


class TestWriters:
    def test_a_migration_waits_for_a_writer(self, people):
        with Other(write, people) as writer:
            assert (writer.says(), writer.says()) == ("open", "writing")
            with Other(migrate, people, OTHER) as other:
                assert other.is_silent()
                writer.go()
                assert writer.says() == "written"
                # It sees what was written.
                assert other.says() == ("migrating", COUNT + 1)
                other.go()
                assert other.says() == ("migrated", COUNT + 1)
                writer.end()
                other.end()
        assert realm.check_file(people) == []

    @pytest.mark.parametrize("annotations", [OTHER, MORE])
    def test_a_writer_waits_for_a_migration(self, people, annotations):
        with Other(migrate, people, annotations) as other:
            assert other.says() == ("migrating", COUNT)
            with Other(write, people) as writer:
                assert writer.says() == "open"
                assert writer.is_silent()
                other.go()
                assert other.says() == ("migrated", COUNT)
                if annotations is MORE:
                    assert writer.says() == "writing"
                    writer.go()
                    assert writer.says() == "written"
                else:
                    name, message = writer.says()
                    assert name == "SchemaMismatchError" and "'Person.age'" in message
                writer.end()
                other.end()
        expected = COUNT + (annotations is MORE)
        assert len(content(people)["Person"]) == expected

    def test_a_function_that_waits_for_a_writer_of_the_file_may_give_up(self, people):
        """The writer waits for the migration."""

        def function(old, new):
            writers.append(Other(write, people))
            assert writers[0].says() == "open"
            assert writers[0].is_silent(0.5)

        writers: list[Other] = []
        realm.open(people, [person(MORE)], version=2, migrate=function).close()
        with writers[0] as writer:
            assert writer.says() == "writing"
            writer.go()
            assert writer.says() == "written"
            writer.end()
        assert len(content(people)["Person"]) == COUNT + 1

    def test_of_several_migrations_at_once_one_is_done(self, people):
        others = [Other(migrate, people, OTHER) for _ in range(3)]
        try:
            while not (ready := [o for o in others if o.pipe.poll(0.05)]):
                pass
            (first,) = ready
            assert first.says() == ("migrating", COUNT)
            assert all(o.is_silent(0.2) for o in others if o is not first)
            first.go()
            # The others find it done.
            assert [o.says() for o in others] == [("migrated", COUNT)] * 3
            for other in others:
                other.end()
        finally:
            for other in others:
                other.__exit__()
        assert content(people)["version"] == 2

    def test_one_that_dies_lets_the_next_one_begin(self, people):
        with Undone(people), Other(migrate, people, OTHER) as first:
            assert first.says() == ("migrating", COUNT)
            first.process.kill()
            first.process.join(10)
        with Other(migrate, people, OTHER) as first, Other(migrate, people, OTHER) as second:
            # On a busy machine a process takes seconds to come to it.
            begun = multiprocessing.connection.wait([first.pipe, second.pipe], 60)
            running, waiting = (first, second) if first.pipe in begun else (second, first)
            assert running.says() == ("migrating", COUNT) and waiting.is_silent()
            running.process.kill()
            assert waiting.says() == ("migrating", COUNT)
            waiting.go()
            assert waiting.says() == ("migrated", COUNT)
            waiting.end()
        assert content(people)["version"] == 2 and realm.check_file(people) == []


def step(version: int) -> tuple[type[Any], Callable[..., None]]:
    """The classes and function of a version: every second one has other properties and indexes."""
    if version % 2:
        return class_("Person", OLD, name=realm.Indexed()), lambda old, new: None

    def function(old, new, m):
        for before, after in m.each("Person"):
            after.twice = before.age * 2
            after.key = before.name
        new.create("Person", key=f"made {m.new_version}", twice=-2, age=-1, name="made")
        new.delete(new.objects("Person").filter("key != $0 AND name == 'made'",
                                                f"made {m.new_version}"))

    annotations = {**OLD, "twice": int, "key": str}
    return class_("Person", annotations, key=realm.PrimaryKey(), age=realm.Indexed()), function


def migrate_and_exit(path: str, version: int, ready: int) -> None:
    try:
        cls, function = step(version)
        os.write(ready, b".")
        realm.open(path, [cls], version=version, migrate=function)
    finally:
        os._exit(0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_any_moment_the_file_is_the_old_or_the_new_one(people):
    version, old, new, duration = 1, 0, 0, 0.02
    for seed in Campaign("killed migrations", seconds=5, at_least=200):
        chance = random.Random(seed)
        begin, ready = os.pipe()
        child = os.fork()
        if child == 0:
            migrate_and_exit(people, version + 1, ready)
        os.close(ready)
        os.read(begin, 1)
        os.close(begin)
        if chance.random() < 0.9:
            time.sleep(chance.random() * duration)
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with realm.open(people) as r:
            assert r.schema_version in (version, version + 1)
            done = r.schema_version == version + 1
            version = r.schema_version
            objects = r.objects("Person")
            ages = [p.age for p in objects]
            assert sorted(age for age in ages if age >= 0) == list(range(COUNT))
            assert len(ages) <= COUNT + 1
            assert objects.filter("age == 77").count() == 1
            if version % 2 == 0:
                assert len(ages) == COUNT + 1 and r.find("Person", f"made {version}").age == -1
                assert r.find("Person", "person 77").twice == 154
                assert all(p.twice == p.age * 2 for p in objects)
        assert realm.check_file(people) == []
        old, new = old + (not done), new + done
        # How long a migration takes depends on what else the machine does: half of them are to get through.
        duration *= 0.9 if done else 1.1
    assert old > 20 and new > 20, (old, new)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
class TestForks:
    """A function that forks: the child can't use what is the parent's, and disturbs nothing."""

    def child(self, body: Callable[[], None]) -> int:
        """Runs it in a child; 0 where nothing was raised."""
        number = os.fork()
        if number == 0:
            signal.alarm(30)
            status = 1
            try:
                body()
                status = 0
            except BaseException as error:
                os.write(2, repr(error).encode())
            finally:
                os._exit(status)
        return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])

    def test_the_realms_are_the_parents(self, people):
        def function(old, new, m):
            before = old.objects("Person")[0]

            def body():
                for use in (lambda: old.objects("Person"), lambda: new.objects("Person"),
                            lambda: before.name, lambda: new.create("Person", name="x", age=1),
                            new.commit, lambda: m.rename("Person", "a", "b"),
                            lambda: list(m.each("Person"))):
                    with pytest.raises(realm.WrongThreadError, match="forked"):
                        use()
                # As it was before the migration.
                with realm.open(people) as r:
                    assert r.schema_version == 1 and len(r.objects("Person")) == COUNT

            assert self.child(body) == 0
            for _, after in m.each("Person"):
                after.more = "y"

        with realm.open(people, [person(MORE)], version=2, migrate=function) as r:
            assert r.objects("Person").filter("more == 'y'").count() == COUNT
        assert realm.check_file(people) == []

    @pytest.mark.parametrize("raises", [False, True])
    def test_a_child_that_goes_on_commits_nothing(self, people, raises):
        parent = os.getpid()
        children = []

        def function(old, new):
            number = os.fork()
            if number == 0:
                signal.alarm(30)
                if raises:
                    raise LookupError("the child's")
                return
            children.append(os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]))

        status = 1
        try:
            r = realm.open(people, [person(MORE)], version=2, migrate=function)
        except realm.IllegalOperationError as error:
            status = 7 if "before fork()" in str(error) else 8
        except LookupError as error:
            status = 9 if "the child's" in str(error) else 10
        finally:
            if os.getpid() != parent:
                os._exit(status)
        assert children == [9 if raises else 7]
        with r:
            assert r.schema_version == 2 and len(r.objects("Person")) == COUNT
            with r.write():
                r.create("Person", name="x", age=1, more="z")
        assert realm.check_file(people) == []
        assert len(content(people)["Person"]) == COUNT + 1
