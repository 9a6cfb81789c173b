"""Migrations: files whose classes have changed since."""

from __future__ import annotations

import datetime
import decimal
import uuid
from typing import Any

import pytest

import realm
from migration_classes import (  # noqa: F401 - people is a fixture
    PERSON_1,
    Undone,
    class_,
    content,
    people,
    person_1,
)

UTC = datetime.timezone.utc


class TestWithoutAFunction:
    def test_properties_come_and_go(self, people):
        person = class_("Person", {"name": str, "email": str | None, "score": float})
        with realm.open(people, [person], version=2) as r:
            assert r.schema_version == 2
            assert [(p.name, p.email, p.score) for p in r.objects(person)] == [
                ("Ann", None, 0.0), ("Bob", None, 0.0), ("Cid", None, 0.0)]
            assert r.objects(person).filter("score == 0 AND email == nil").count() == 3
        assert realm.check_file(people) == []

    def test_schema_version_is_the_same_as_version(self, people):
        person = class_("Person", {"name": str})
        with realm.open(people, [person], schema_version=2) as r:
            assert r.schema_version == 2
        with pytest.raises(TypeError, match="not both"):
            realm.open(people, [person], schema_version=2, version=2)

    def test_a_change_needs_a_version_and_is_told_in_words(self, people):
        person = class_("Person", {"name": str, "age": str, "email": str}, name=realm.Indexed())
        with Undone(people), pytest.raises(realm.SchemaMismatchError) as caught:
            realm.open(people, [person], version=1)
        for words in ("'Person.age' has been changed from", "'Person.email' has been added",
                      "'Person.nick' has been removed", "higher"):
            assert words in str(caught.value)
        assert "CoreSwift" not in str(caught.value)
        assert caught.value.code == realm.ErrorCode.SCHEMA_MISMATCH

    def test_a_lower_version_is_refused(self, people):
        with Undone(people), pytest.raises(realm.SchemaMismatchError, match="lower than the file"):
            realm.open(people, [person_1()], version=0, migrate=lambda old, new: None)

    def test_classes_that_are_not_named_stay(self, people):
        with realm.open(people, [person_1()], version=2):
            pass
        with realm.open(people) as r:
            assert len(r.objects("Dog")) == 2 and r.objects("Dog")[0].owner.name == "Ann"


ADDED: dict[str, tuple[Any, Any, Any]] = {
    # name: annotation, default, what is read
    "int": (int, 7, 7),
    "bool": (bool, True, True),
    "float": (float, 2, 2.0),
    "single": (realm.Float32, 0.5, 0.5),
    "str": (str, "häß\u0000lich", "häß\u0000lich"),
    "long": (str, "x" * 5000, "x" * 5000),
    "bytes": (bytes, b"\0\1", b"\0\1"),
    "datetime": (datetime.datetime, datetime.datetime(2026, 1, 2, 3, 4, 5, 6, UTC),
                 datetime.datetime(2026, 1, 2, 3, 4, 5, 6, UTC)),
    "Decimal": (decimal.Decimal, decimal.Decimal("1.10"), decimal.Decimal("1.10")),
    "UUID": (uuid.UUID, uuid.UUID(int=5), uuid.UUID(int=5)),
    "ObjectId": (realm.ObjectId, realm.ObjectId("0" * 24), realm.ObjectId("0" * 24)),
    "Any": (Any, 3, 3),
    "nested": (Any, [1, {"a": 2}], [1, {"a": 2}]),
    "int or None": (int | None, 8, 8),
    "None": (int | None, None, None),
    "list": (list[int], [1, 2], [1, 2]),
    "set": (set[str], {"a"}, {"a"}),
    "dict": (dict[str, float], {"a": 1.5}, {"a": 1.5}),
    "infinity": (float, float("inf"), float("inf")),
}


class TestDefaults:
    """Objects that are there get what new ones would."""

    @pytest.mark.parametrize("kind", ADDED)
    def test_constants(self, people, kind):
        annotation, default, read = ADDED[kind]
        person = class_("Person", {**PERSON_1, "added": annotation}, added=default)
        with realm.open(people, [person], version=2) as r:
            found = [p.added for p in r.objects(person)]
            assert [realm.to_dict(p)["added"] for p in r.objects(person)] == [read] * 3
            assert len(found) == 3
        # The default is in the file, not only in the program.
        assert [p["added"] for p in content(people)["Person"]] == [read] * 3
        assert realm.check_file(people) == []

    def test_marked_constants_and_indexes(self, people):
        person = class_("Person", {**PERSON_1, "added": str},
                        added=realm.Indexed(default="new"))
        with realm.open(people, [person], version=2) as r:
            assert r.objects(person).filter("added == 'new'").count() == 3

    def test_a_factory_is_asked_for_each_object(self, people):
        counter = iter(range(100))
        person = class_("Person", {**PERSON_1, "added": int},
                        added=realm.Default(lambda: next(counter)))
        with realm.open(people, [person], version=2) as r:
            assert sorted(p.added for p in r.objects(person)) == [0, 1, 2]

    def test_factories_of_collections_and_embedded_objects(self, people):
        address = class_("Address", {"street": str}, realm.EmbeddedObject)
        person = class_(
            "Person", {**PERSON_1, "tags": list[str], "home": address | None},
            tags=realm.Default(lambda: ["a", "b"]),
            home=realm.Default(lambda: address(street="Main")))
        with realm.open(people, [person], version=2) as r:
            assert [(list(p.tags), p.home.street) for p in r.objects(person)] == [
                (["a", "b"], "Main")] * 3
        assert realm.check_file(people) == []

    def test_a_factory_that_raises_undoes_all(self, people):
        def broken():
            raise RuntimeError("no number today")

        person = class_("Person", {**PERSON_1, "added": int}, added=realm.Default(broken))
        with Undone(people), pytest.raises(RuntimeError, match="no number today"):
            realm.open(people, [person], version=2)

    def test_a_factory_of_another_type_undoes_all(self, people):
        person = class_("Person", {**PERSON_1, "added": int}, added=realm.Default(lambda: "x"))
        with Undone(people), pytest.raises((realm.Error, TypeError)):
            realm.open(people, [person], version=2)

    def test_defaults_of_a_class_with_another_stored_name(self, path):
        def version(annotations, **values):
            return class_("Dog", annotations, stored_name="t_dog", **values)

        with realm.open(path, [version({"name": str})], version=1) as r, r.write():
            r.create("Dog", name="Rex")
        dog = version({"name": str, "age": int, "number": int}, age=3,
                      number=realm.Default(lambda: 9))
        with realm.open(path, [dog], version=2) as r:
            assert [(d.age, d.number) for d in r.objects(dog)] == [(3, 9)]
        assert list(content(path)) == ["version", "t_dog"]

    def test_the_function_sees_them(self, people):
        person = class_("Person", {**PERSON_1, "added": int}, added=5)
        seen = []
        with realm.open(people, [person], version=2, migrate=lambda old, new:
                        seen.extend(p.added for p in new.objects(person))):
            assert seen == [5, 5, 5]


class TestTheFunction:
    @pytest.mark.parametrize("key, kind, value", [("rank", int, 500), ("id", str, "new"), ("name", str, "new")])
    def test_objects_are_made_by_the_key_that_the_class_will_have(self, path, key, kind, value):
        types = {"id": int, "rank": int, "name": str}
        before = class_("Thing", types, id=realm.PrimaryKey())
        with realm.open(path, [before], version=1) as r, r.write():
            for i in range(3):
                r.create(before, id=i, rank=i + 100, name=f"n{i}")
        after = class_("Thing", {**types, key: kind}, **{key: realm.PrimaryKey()})

        def migrate(old, new, m):
            for was, now in m.each(after):
                setattr(now, key, kind(getattr(was, key)))
            made = new.create(after, **{"id": 5, "rank": 2, "name": "x", key: value})
            assert getattr(made, key) == value
            # Not the object whose key was 2.
            other = new.create(after, {"id": 6, "rank": 2, "name": "y", key: kind(2)}, update="modified")
            assert len(new.objects(after)) == 5 and getattr(other, key) == kind(2)
            assert new.find(after, 0 if kind is int else "0") is None

        if key == "id":
            with pytest.raises(realm.Error, match="not unique"):
                realm.open(path, [after], version=2, migrate=migrate)
            return
        with realm.open(path, [after], version=2, migrate=migrate) as r:
            assert len(r.objects(after)) == 5 and r.check() == []
            assert r.find(after, value).rank in (2, 500) and r.find(after, kind(2)).name == ("y" if key == "rank" else "2")

    def test_it_moves_data(self, people):
        person = class_("Person", {"full": str, "born": int | None})

        def migrate(old, new):
            assert old.schema_version == 1 and new.schema_version == 2
            assert old.classes.keys() == {"Person", "Dog"}
            assert not old.is_writing and new.is_writing
            for before, after in zip(old.objects("Person"), new.objects(person), strict=True):
                after.full = f"{before.name} ({before.nick})"
                after.born = 2000 - before.age
            new.create(person, full="Dan", born=None)

        with realm.open(people, [person], version=2, migrate=migrate) as r:
            assert [(p.full, p.born) for p in r.objects(person)] == [
                ("Ann (None)", 1970), ("Bob (Bobby)", 1959), ("Cid (C)", 1948), ("Dan", None)]
            assert not r.is_writing
            with r.write():
                r.objects(person)[0].full = "still works"
        assert realm.check_file(people) == []

    def test_old_objects_follow_links_of_the_old_classes(self, people):
        person = class_("Person", PERSON_1)
        dog = class_("Dog", {"name": str, "owner_name": str | None})

        def migrate(old, new, m):
            for before, after in m.each(dog):
                after.owner_name = before.owner.name
            assert old.objects("Dog").filter("owner.age > 35").count() == 1
            assert repr(old.objects("Dog")[0]).startswith("Dog(name='Rex'")

        with realm.open(people, [person, dog], version=2, migrate=migrate) as r:
            assert [d.owner_name for d in r.objects(dog)] == ["Ann", "Bob"]

    def test_it_is_called_once_for_a_version_alone(self, people):
        calls = []
        for _ in range(3):
            with realm.open(people, [person_1()], version=2,
                            migrate=lambda old, new: calls.append(1)) as r:
                assert r.schema_version == 2
        assert calls == [1]

    def test_it_is_not_called_for_a_new_file(self, path):
        def migrate(old, new):
            raise AssertionError

        with realm.open(path, [person_1()], version=5, migrate=migrate) as r:
            assert r.schema_version == 5

    def test_types_are_changed_by_hand(self, people):
        person = class_("Person", {"name": str, "age": str, "nick": str | None})

        def migrate(old, new, m):
            for before, after in m.each(person):
                assert after.age == ""
                after.age = str(before.age)

        with realm.open(people, [person], version=2, migrate=migrate) as r:
            assert [p.age for p in r.objects(person)] == ["30", "41", "52"]

    def test_each_leaves_out_what_is_gone_and_what_is_new(self, people):
        person = person_1()

        def migrate(old, new, m):
            new.delete(new.objects(person).filter("name == 'Bob'"))
            new.create(person, name="Dan", age=1, nick=None)
            assert [(b.name, a.name) for b, a in m.each(person)] == [
                ("Ann", "Ann"), ("Cid", "Cid")]
            assert [b.name for b, _ in m.each("Person")] == ["Ann", "Cid"]
            seen.append(1)

        seen: list[int] = []
        with realm.open(people, [person], version=2, migrate=migrate):
            assert seen == [1]

    def test_each_of_a_class_that_is_new_and_of_none(self, people):
        cat = class_("Cat", {"name": str})

        def migrate(old, new, m):
            assert list(m.each(cat)) == []
            with pytest.raises(realm.NoSuchClassError):
                m.each("Cow")
            with pytest.raises(TypeError):
                m.each(int)
            seen.append(1)

        seen: list[int] = []
        with realm.open(people, [cat], version=2, migrate=migrate):
            assert seen == [1]

    def test_a_class_is_split(self, people):
        nick = class_("Nick", {"text": str})
        person = class_("Person", {"name": str, "nicks": list[nick]})

        def migrate(old, new, m):
            for before, after in m.each(person):
                if before.nick is not None:
                    after.nicks.append(nick(text=before.nick))

        with realm.open(people, [person], version=2, migrate=migrate) as r:
            assert [[n.text for n in p.nicks] for p in r.objects(person)] == [[], ["Bobby"], ["C"]]

    def test_a_migration_says_what_it_is(self, people):
        kept = []

        def migrate(old, new, m):
            kept.append(m)
            assert (m.old, m.new, m.old_version, m.new_version) == (old, new, 1, 4)
            assert repr(m) == f"<migration of {people!r} from version 1 to 4>"

        realm.open(people, [person_1()], version=4, migrate=migrate).close()
        assert repr(kept[0]) == f"<migration of {people!r}, over>"

    def test_in_memory(self, path):
        kept = realm.open(path, [person_1()], version=1, in_memory=True)
        with kept.write():
            kept.create("Person", name="Ann", age=1)
        with pytest.raises(realm.ConfigurationError):
            realm.open(path, [person_1()], version=2, in_memory=True)
        kept.close()


class TestStepsByVersion:
    def open(self, path, version, log, steps):
        def step(number):
            def run(old, new, m):
                assert m.new_version == version
                log.append(number)
            return run

        return realm.open(path, [person_1()], version=version,
                          migrate={n: step(n) for n in steps})

    def test_those_above_the_file_run_in_order(self, people):
        log: list[int] = []
        self.open(people, 4, log, [4, 2, 3]).close()
        assert log == [2, 3, 4]
        self.open(people, 4, log, [4, 2, 3]).close()
        assert log == [2, 3, 4]
        self.open(people, 7, log, [2, 3, 4, 6]).close()
        assert log == [2, 3, 4, 6]

    def test_one_that_raises_undoes_those_before(self, people):
        def rename(old, new, m):
            m.rename("Person", "nick", "alias")

        def fail(old, new):
            raise KeyError("b")

        person = class_("Person", {"name": str, "age": int, "alias": str | None})
        with Undone(people), pytest.raises(KeyError):
            realm.open(people, [person], version=3, migrate={2: rename, 3: fail})

    def test_versions_that_can_not_be(self, people):
        with Undone(people):
            with pytest.raises(ValueError, match="version 3, and version is 2"):
                realm.open(people, [person_1()], version=2, migrate={3: lambda old, new: None})
            for bad in ("2", 0, -1, True, 2.0):
                with pytest.raises(TypeError, match="schema version"):
                    realm.open(people, [person_1()], version=9, migrate={bad: lambda old, new: 1})


class TestRenaming:
    def test_a_property_keeps_its_values_and_index(self, people):
        person = class_("Person", {"full_name": str, "age": int, "nick": str | None},
                        full_name=realm.Indexed())

        def migrate(old, new, m):
            some = new.objects(person)[0]
            assert some.full_name == ""
            m.rename(person, "name", "full_name")
            assert some.full_name == "Ann"
            assert new.objects(person).filter("full_name == 'Bob'").count() == 1

        with realm.open(people, [person], version=2, migrate=migrate) as r:
            assert [p.full_name for p in r.objects(person)] == ["Ann", "Bob", "Cid"]
            assert r.objects(person).filter("full_name == 'Cid'").count() == 1
        assert realm.check_file(people) == []

    def test_a_property_may_become_optional_on_the_way(self, people):
        person = class_("Person", {"name": str, "years": int | None, "nick": str | None})
        with realm.open(people, [person], version=2, migrate=lambda old, new, m:
                        m.rename("Person", "age", "years")) as r:
            assert [p.years for p in r.objects(person)] == [30, 41, 52]

    @pytest.mark.parametrize(
        ("cls", "old", "new", "error", "words"),
        [
            ("Cow", "name", "full", realm.NoSuchClassError, "Cow"),
            ("Person", "nome", "full", realm.NoSuchPropertyError, "Person.nome"),
            ("Person", "age", "full", realm.IllegalOperationError, "int"),
            ("Person", "nick", "full", realm.IllegalOperationError, "required"),
            ("Person", "kept", "full", realm.NoSuchPropertyError, "kept"),
            ("Person", "name", "", realm.Error, "name"),
        ],
    )
    def test_what_can_not_be(self, people, cls, old, new, error, words):
        person = class_("Person", {"full": str})
        with Undone(people), pytest.raises(error, match=words):
            realm.open(people, [person], version=2,
                       migrate=lambda before, after, m: m.rename(cls, old, new))

    def test_a_property_that_is_still_there(self, people):
        person = class_("Person", {**PERSON_1, "full": str})
        with Undone(people), pytest.raises(realm.IllegalOperationError, match="still has"):
            realm.open(people, [person], version=2,
                       migrate=lambda old, new, m: m.rename(person, "name", "full"))

    def test_errors_may_be_handled(self, people):
        def migrate(old, new, m):
            with pytest.raises(realm.NoSuchPropertyError):
                m.rename(person, "nome", "full")
            m.rename(person, "name", "full")

        person = class_("Person", {"full": str})
        with realm.open(people, [person], version=2, migrate=migrate) as r:
            assert [p.full for p in r.objects(person)] == ["Ann", "Bob", "Cid"]

    def test_a_class_keeps_objects_and_links(self, people):
        human = class_("Human", {"name": str, "years": int, "height": float}, height=1.5)
        dog = class_("Dog", {"name": str, "owner": human | None})

        def migrate(old, new, m):
            m.rename_class("Person", human)
            m.rename(human, "age", "years")
            assert [(b.nick, a.name, a.years) for b, a in m.each(human)] == [
                (None, "Ann", 30), ("Bobby", "Bob", 41), ("C", "Cid", 52)]
            assert new.objects(dog)[0].owner.name == "Ann"

        with realm.open(people, [human, dog], version=2, migrate=migrate) as r:
            assert [(h.name, h.years, h.height) for h in r.objects(human)] == [
                ("Ann", 30, 1.5), ("Bob", 41, 1.5), ("Cid", 52, 1.5)]
            assert [d.owner.name for d in r.objects(dog)] == ["Ann", "Bob"]
            assert r.backlinks(r.objects(human)[0], dog, "owner").count() == 1
        assert set(content(people)) == {"version", "Human", "Dog"}
        assert realm.check_file(people) == []

    def test_a_stored_name_is_taken_for_a_python_class(self, people):
        human = class_("Human", PERSON_1, stored_name="Person")
        with realm.open(people, [human], version=2, migrate=lambda old, new, m:
                        new.delete(a for b, a in m.each(human) if b.name == "Bob")) as r:
            assert [h.name for h in r.objects(human)] == ["Ann", "Cid"]

    def test_classes_that_can_not_be_renamed(self, people):
        human = class_("Human", {"name": str})
        dog = class_("Dog", {"name": str})

        def cases(old, new, m):
            with pytest.raises(realm.NoSuchClassError, match="Cow"):
                m.rename_class("Cow", human)
            with pytest.raises(realm.NoSuchClassError, match="Horse"):
                m.rename_class("Person", "Horse")
            with pytest.raises(realm.IllegalOperationError, match="still has"):
                m.rename_class("Dog", human)
            with pytest.raises(realm.IllegalOperationError, match="objects"):
                m.rename_class("Person", dog)

        with realm.open(people, [human, dog], version=2, migrate=cases):
            pass

    def test_only_the_new_realm_of_a_migration(self, people):
        with realm.open(people, [person_1()], version=1) as r:
            for act in (lambda: r._rename_property("Person", "name", "full"),
                        lambda: r._delete_class("Dog"), lambda: r._rename_class("Dog", "Person"),
                        lambda: r._delete_objects_of("Dog")):
                with pytest.raises(realm.IllegalOperationError, match="migration"):
                    act()

        def migrate(old, new):
            with pytest.raises(realm.IllegalOperationError, match="migration"):
                old._rename_property("Person", "name", "full")

        realm.open(people, [person_1()], version=2, migrate=migrate).close()


class TestDeletingClasses:
    def test_a_class_that_is_gone(self, people):
        found = []
        with realm.open(people, [person_1()], version=2, migrate=lambda old, new, m:
                        found.extend([m.delete_class("Dog"), m.delete_class("Cow")])):
            assert found == [True, False]
        assert set(content(people)) == {"version", "Person"}

    def test_not_one_that_is_there_or_linked_to(self, people):
        dog = class_("Dog", {"name": str, "owner": "Person | None"})
        with Undone(people), pytest.raises(realm.SchemaMismatchError, match="Person"):
            realm.open(people, [person_1()], version=2,
                       migrate=lambda old, new, m: m.delete_class("Person"))
        assert dog

    def test_the_objects_alone(self, people):
        def migrate(old, new, m):
            m.delete_objects(person)
            m.delete_objects("Dog")
            with pytest.raises(realm.NoSuchClassError):
                m.delete_objects("Cow")

        person = person_1()
        with realm.open(people, [person], version=2, migrate=migrate) as r:
            assert len(r.objects(person)) == 0
        assert content(people) == {"version": 2, "Person": [], "Dog": []}


class TestPrimaryKeys:
    def test_a_property_becomes_the_key(self, people):
        person = class_("Person", PERSON_1, name=realm.PrimaryKey())
        with realm.open(people, [person], version=2) as r:
            assert r.find(person, "Bob").age == 41
            with r.write(), pytest.raises(realm.ObjectExistsError):
                r.create(person, name="Ann", age=1, nick=None)

    def test_duplicates_are_refused_by_name_and_value(self, people):
        with realm.open(people, [person_1()], version=1) as r, r.write():
            r.create("Person", name="Bob", age=1, nick=None)
        person = class_("Person", PERSON_1, name=realm.PrimaryKey())
        with Undone(people), pytest.raises(realm.SchemaMismatchError) as caught:
            realm.open(people, [person], version=2)
        assert "name" in str(caught.value) and "Bob" in str(caught.value)
        assert caught.value.code == realm.ErrorCode.MIGRATION_FAILED

    def test_the_function_makes_them_unique(self, people):
        person = class_("Person", {**PERSON_1, "id": int}, id=realm.PrimaryKey())

        def migrate(old, new):
            for number, item in enumerate(new.objects(person)):
                item.id = 100 + number

        with realm.open(people, [person], version=2, migrate=migrate) as r:
            assert [r.find(person, n).name for n in (100, 101, 102)] == ["Ann", "Bob", "Cid"]
        assert realm.check_file(people) == []

    def test_a_factory_makes_them_unique(self, people):
        person = class_("Person", {**PERSON_1, "id": uuid.UUID},
                        id=realm.PrimaryKey(default_factory=uuid.uuid4))
        with realm.open(people, [person], version=2) as r:
            assert len({p.id for p in r.objects(person)}) == 3
