"""Migrations that fail, that others want to see or do meanwhile, and their plans."""

from __future__ import annotations

import gc
import pathlib
import weakref
from typing import Any

import pytest

import realm
from migration_classes import (  # noqa: F401 - people is a fixture
    PERSON_1,
    Undone,
    class_,
    people,
    person_1,
)


class TestFailures:
    def test_an_exception_undoes_all_and_comes_out_unchanged(self, people):
        person = class_("Person", {"full": str, "added": int}, added=3)
        error = LookupError("my own")

        def migrate(old, new, m):
            m.rename(person, "name", "full")
            m.delete_class("Dog")
            new.create(person, full="Dan")
            new.objects(person)[0].full = "changed"
            raise error

        with Undone(people), pytest.raises(LookupError) as caught:
            realm.open(people, [person], version=2, migrate=migrate)
        assert caught.value is error
        assert caught.value.__cause__ is None and caught.value.__context__ is None
        # And then it works.
        with realm.open(people, [person], version=2, migrate=lambda old, new, m:
                        m.rename(person, "name", "full")) as r:
            assert r.objects(person)[0].full == "Ann"

    @pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, StopIteration,
                                       GeneratorExit, MemoryError])
    def test_whatever_it_raises(self, people, error):
        def migrate(old, new):
            raise error

        with Undone(people), pytest.raises(error):
            realm.open(people, [person_1()], version=2, migrate=migrate)

    def test_functions_that_are_none(self, people):
        async def coroutine(old, new):
            pass

        def generator(old, new):
            yield

        with Undone(people):
            for bad in (3, "f", coroutine, generator, lambda: None, lambda old: None,
                        lambda a, b, c, d: None, {2: None}):
                with pytest.raises(TypeError, match="migrat|ordinary"):
                    realm.open(people, [person_1()], version=2, migrate=bad)
            with pytest.raises(TypeError, match="ordinary|returned"):
                realm.open(people, [person_1()], version=2,
                           migrate=lambda old, new: generator(old, new))

    def test_modes_that_take_none(self, people):
        with Undone(people):
            with pytest.raises(realm.ConfigurationError):
                realm.open(people, [person_1()], version=2, read_only=True,
                           migrate=lambda old, new: None)
            with pytest.raises(realm.ConfigurationError, match="classes"):
                realm.open(people, version=2, migrate=lambda old, new: None)

    def test_the_transaction_is_not_the_functions(self, people):
        def migrate(old, new):
            for act in (new.begin_write, new.commit, new.rollback, old.begin_write):
                with pytest.raises(realm.TransactionError):
                    act()
            with pytest.raises(realm.TransactionError):
                with new.write():
                    pass
            new.objects(person)[0].age = 99

        person = person_1()
        with realm.open(people, [person], version=2, migrate=migrate) as r:
            assert r.objects(person)[0].age == 99

    def test_nothing_is_written_through_the_old_realm(self, people):
        def migrate(old, new):
            before = old.objects("Person")[0]
            for act in (lambda: setattr(before, "age", 1), lambda: old.create("Person", name="x"),
                        lambda: old.delete(before), lambda: old.objects("Person").delete_all()):
                with pytest.raises(realm.Error):
                    act()
            assert before.age == 30

        with realm.open(people, [person_1()], version=2, migrate=migrate) as r:
            assert len(r.objects("Person")) == 3

    def test_old_objects_are_no_new_ones(self, people):
        dog = class_("Dog", {"name": str, "owner": class_("Person", PERSON_1) | None})

        def migrate(old, new):
            with pytest.raises((realm.Error, TypeError)):
                new.objects(dog)[0].owner = old.objects("Person")[0]
            with pytest.raises(realm.Error):
                new.delete(old.objects("Person")[0])
            with pytest.raises(realm.NoSuchClassError):
                old.objects(dog)

        realm.open(people, [dog], version=2, migrate=migrate).close()

    @pytest.mark.parametrize("which", [0, 1])
    def test_its_realms_are_not_closed_by_it(self, people, which):
        def migrate(*realms):
            with pytest.raises(realm.IllegalOperationError, match="being migrated"):
                realms[which].close()
            assert len(realms[which].objects("Person")) == 3

        realm.open(people, [person_1()], version=2,
                   migrate=lambda old, new: migrate(old, new)).close()
        with pytest.raises(realm.IllegalOperationError, match="being migrated"):
            realm.open(people, [person_1()], version=3, migrate=lambda *r: r[which].close())

    @pytest.mark.parametrize("fails", [False, True])
    def test_what_is_kept_is_invalid_afterwards(self, people, fails):
        kept: list[Any] = []
        person = class_("Person", {**PERSON_1, "tags": list[str]},
                        tags=realm.Default(lambda: ["a"]))

        def migrate(old, new, m):
            for r in (old, new):
                kept.extend([r, r.objects("Person"), r.objects("Person")[0],
                             iter(r.objects("Person"))])
            next(kept[-1])
            kept.extend([new.objects(person)[0].tags, m])
            if fails:
                raise RuntimeError

        if fails:
            with pytest.raises(RuntimeError):
                realm.open(people, [person], version=2, migrate=migrate)
        else:
            opened = realm.open(people, [person], version=2, migrate=migrate)
        old, old_results, old_object, old_iterator, new, results, obj, iterator, tags, m = kept
        for use in (lambda: old.objects("Person"), lambda: len(old_results),
                    lambda: old_object.name, lambda: new.objects(person), lambda: len(results),
                    lambda: obj.name, lambda: setattr(obj, "name", "x"), lambda: tags[0],
                    lambda: tags.append("b"), new.commit, lambda: m.rename(person, "a", "b"),
                    lambda: m.old_version, lambda: list(m.each(person))):
            with pytest.raises(realm.ClosedRealmError, match="migration of .* is over"):
                use()
        for rest in (old_iterator, iterator):
            with pytest.raises((realm.ClosedRealmError, StopIteration)):
                while True:
                    next(rest)
        assert old.is_closed and new.is_closed and not realm.is_valid(obj)
        new.close()
        if not fails:
            assert opened.objects(person)[0].name == "Ann"
            kept.clear()
            del old, old_results, old_object, old_iterator, new, results, obj, iterator, tags, m
            gc.collect()
            assert opened.objects(person)[0].name == "Ann"
            opened.close()
        assert realm.check_file(people) == []

    def test_nothing_of_it_stays_in_memory(self, people):
        found = []

        def migrate(old, new, m):
            found.extend(weakref.ref(type(old.objects("Person")[0])) for _ in range(1))

        realm.open(people, [person_1()], version=2, migrate=migrate).close()
        del migrate
        gc.collect()
        assert [f() for f in found] == [None]


class TestOthersMeanwhile:
    def test_the_same_file_within_is_an_error_and_no_deadlock(self, people):
        def migrate(old, new):
            with pytest.raises(realm.ConfigurationError):
                realm.open(people, [person_1()], version=1)
            with pytest.raises(realm.TransactionError, match="being migrated"):
                realm.open(people, [class_("Person", {"other": int})], version=2)
            with realm.open(people) as other:
                assert other.schema_version == 1
                assert len(other.objects("Person")) == 3
                with pytest.raises(realm.TransactionError, match="being migrated"):
                    other.begin_write()
                with pytest.raises(realm.TransactionError, match="being migrated"):
                    other.create("Person", name="x") if other.write().__enter__() else None
            assert realm.check_file(people) == []
            with pytest.raises(realm.RealmInUseError):
                realm.delete_files(people)

        with realm.open(people, [person_1()], version=2, migrate=migrate) as r:
            with r.write():
                r.create("Person", name="Dan", age=1, nick=None)

    def test_another_file_within(self, people, tmp_path):
        def migrate(old, new):
            with realm.open(tmp_path / "other.realm", [person_1()], version=1) as r, r.write():
                for before in old.objects("Person"):
                    r.create("Person", name=before.name, age=before.age, nick=before.nick)
            with realm.open(tmp_path / "other.realm", [class_("Person", {"age": int})], version=2,
                            migrate=lambda a, b: b.create("Person", age=len(a.objects("Person")))):
                pass

        realm.open(people, [person_1()], version=2, migrate=migrate).close()
        with realm.open(tmp_path / "other.realm") as r:
            assert [p.age for p in r.objects("Person")] == [30, 41, 52, 3]

    def test_a_file_that_is_open_with_the_old_version(self, people):
        with realm.open(people, [person_1()], version=1) as r:
            assert len(r.objects("Person")) == 3
            with pytest.raises(realm.ConfigurationError, match="version"):
                realm.open(people, [class_("Person", {"name": str})], version=2)
        realm.open(people, [class_("Person", {"name": str})], version=2).close()

    def test_a_reader_goes_on_with_what_it_has(self, people):
        reader = realm.open(people)
        dog = reader.objects("Dog")[0]
        with realm.open(people, [person_1()], version=2,
                        migrate=lambda old, new, m: m.delete_class("Dog")):
            assert dog.name == "Rex"
        reader.close()


class TestPlans:
    def test_differences_in_words(self, people):
        person = class_("Person", {"name": str, "age": int | None, "email": str},
                        name=realm.Indexed())
        cat = class_("Cat", {"name": str})
        bytes_before = pathlib.Path(people).read_bytes()
        plan = realm.migration_plan(people, [person, cat], version=2)
        assert plan.differences == (
            "class 'Cat' has been added",
            "property 'Person.nick' has been removed",
            "property 'Person.name' has been made indexed",
            "property 'Person.age' has been made optional",
            "property 'Person.email' has been added",
        )
        assert (plan.old_version, plan.new_version, plan.changes) == (1, 2, True)
        assert plan.refusal is None
        assert str(plan).splitlines() == ["schema version 1 becomes 2"] + [
            f"- {d}" for d in plan.differences]
        assert pathlib.Path(people).read_bytes() == bytes_before

    def test_nothing_to_do(self, people):
        plan = realm.migration_plan(people, [person_1()], version=1)
        assert not plan.changes and not plan.differences and str(plan) == "nothing changes"

    def test_what_would_be_refused(self, people):
        person = class_("Person", {"name": str})
        plan = realm.migration_plan(people, [person], version=1)
        assert isinstance(plan.refusal, realm.SchemaMismatchError) and not plan.changes
        assert "'Person.age' has been removed" in str(plan)
        assert sorted(plan.differences) == ["property 'Person.age' has been removed",
                                            "property 'Person.nick' has been removed"]
        plan = realm.migration_plan(people, [person], version=0)
        assert plan.refusal is not None and "lower" in str(plan.refusal)

    def test_a_rehearsal_finds_what_is_in_the_data(self, people):
        person = class_("Person", {**PERSON_1, "id": int}, id=realm.PrimaryKey())
        with Undone(people):
            assert realm.migration_plan(people, [person], version=2).refusal is None
            plan = realm.migration_plan(people, [person], version=2, rehearse=True)
            assert plan.refusal is not None and "not unique" in str(plan.refusal)
            plan = realm.migration_plan(
                people, [person], version=2, migrate=lambda old, new: [
                    setattr(p, "id", i) for i, p in enumerate(new.objects(person))])
            assert plan.refusal is None and plan.changes

    def test_a_rehearsal_leaves_the_file_and_the_exceptions(self, people):
        person = class_("Person", {"full": str})
        seen = []

        def migrate(old, new, m):
            m.rename(person, "name", "full")
            seen.extend([(b.name, a.full) for b, a in m.each(person)])
            assert (m.old_version, m.new_version) == (1, 2)

        bytes_before = pathlib.Path(people).read_bytes()
        plan = realm.migration_plan(people, [person], version=2, migrate=migrate)
        assert plan.changes and seen == [("Ann", "Ann"), ("Bob", "Bob"), ("Cid", "Cid")]

        def fail(old, new):
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            realm.migration_plan(people, [person], version=2, migrate=fail)
        assert pathlib.Path(people).read_bytes() == bytes_before
        assert realm.check_file(people) == []

    def test_of_a_file_that_is_open(self, people):
        person = class_("Person", {"name": str})
        for options in ({}, {"read_only": True}):
            with realm.open(people, [person_1()], version=1, **options) as r:
                assert len(r.objects("Person")) == 3
                assert len(realm.migration_plan(people, [person], version=2).differences) == 2

    def test_of_no_file(self, tmp_path):
        missing = tmp_path / "missing.realm"
        with pytest.raises(realm.FileMissingError, match="missing.realm"):
            realm.migration_plan(missing, [person_1()], version=2)
        assert not missing.exists()
        missing.write_bytes(b"")
        with pytest.raises(realm.FileMissingError):
            realm.migration_plan(missing, [person_1()], version=2)
        missing.write_bytes(b"something else" * 1000)
        with pytest.raises(realm.InvalidDatabaseError):
            realm.migration_plan(missing, [person_1()], version=2)
