"""Managed objects: create, add, read, write, find, delete."""

from __future__ import annotations

import math
import struct
from datetime import datetime, timedelta, timezone

import hypothesis
import pytest
from hypothesis import strategies as st

import realm
from models import EPOCH, Airport, Country, Everything, Note, NullableKey, Person


class TestCreate:
    def test_by_name(self, r):
        with r.write():
            made = r.create(Note, text="a", stars=3)
        assert realm.is_managed(made) and realm.is_valid(made)
        assert realm.realm_of(made) is r
        assert (made.text, made.stars) == ("a", 3)

    def test_from_a_mapping(self, r):
        with r.write():
            r.create(Person, {"id": 1, "name": "Ada"})
            r.create(Person, {"id": 2}, name="Bob")
        assert r.objects(Person).values("name") == ["Ada", "Bob"]

    def test_defaults_are_filled_in(self, r):
        with r.write():
            thing = r.create(Everything, id=1)
        assert realm.to_dict(thing) == realm.to_dict(Everything(id=1))

    def test_a_missing_value_leaves_nothing_behind(self, r):
        with r.write():
            with pytest.raises(realm.MissingValueError, match=r"creating Note .*text"):
                r.create(Note, stars=1)
            with pytest.raises(realm.MissingValueError, match=r"creating Person .*id"):
                r.create(Person)
            assert len(r.objects(Note)) == len(r.objects(Person)) == 0

    def test_a_wrong_value_leaves_nothing_behind(self, r):
        with r.write():
            with pytest.raises(realm.PropertyTypeError, match=r"Person\.age is int"):
                r.create(Person, id=1, age="old")
            with pytest.raises(realm.NoSuchPropertyError, match="Person has no property 'agee'"):
                r.create(Person, id=1, agee=3)
            assert len(r.objects(Person)) == 0
            assert r.find(Person, 1) is None

    def test_a_duplicate_primary_key_is_refused(self, r):
        with r.write():
            r.create(Person, id=1, name="Ada")
            with pytest.raises(realm.ObjectExistsError, match=r"Person with id = 1") as caught:
                r.create(Person, id=1, name="Bob")
            assert isinstance(caught.value, ValueError)
        assert r.objects(Person).values("name") == ["Ada"]

    def test_outside_of_a_write_transaction(self, r):
        with pytest.raises(realm.TransactionError) as caught:
            r.create(Note, text="a")
        assert caught.value.code == realm.ErrorCode.WRONG_TRANSACTION_STATE
        assert isinstance(caught.value, RuntimeError)
        with pytest.raises(realm.TransactionError):
            r.create(Person, id=1)

    def test_update_all_sets_what_is_given(self, r):
        with r.write():
            r.create(Person, id=1, name="Ada", age=30)
            again = r.create(Person, id=1, age=31, update="all")
            assert (again.name, again.age) == ("Ada", 31)
            fresh = r.create(Person, id=2, update="all")
            assert fresh.name == ""
        assert len(r.objects(Person)) == 2

    def test_update_modified_sets_what_differs(self, r):
        with r.write():
            ada = r.create(Person, id=1, name="Ada", age=30)
            r.create(Person, id=1, name="Ada", age=31, boss=ada, update="modified")
        assert (ada.name, ada.age, ada.boss) == ("Ada", 31, ada)

    @pytest.mark.parametrize("policy", ["never", "", 1, None])
    def test_unknown_policies_are_refused(self, r, policy):
        with r.write():
            with pytest.raises(realm.ArgumentError, match="update is"):
                r.create(Person, id=1, update=policy)
            with pytest.raises((ValueError, TypeError)):
                r.add(Person(id=1), update=policy)

    def test_a_class_of_another_realm(self, r):
        class Stranger(realm.Object):
            x: int = 0

        with r.write():
            with pytest.raises(realm.NoSuchClassError, match="without the class Stranger"):
                r.create(Stranger, x=1)
            with pytest.raises(TypeError, match="not a class derived from"):
                r.create(int, x=1)
            with pytest.raises(TypeError):
                r.create()

    def test_links_to_unmanaged_objects_are_added(self, r):
        with r.write():
            cusco = r.create(Airport, icao="SPZO", name="Cusco",
                             country=Country(code="PE", name="Peru"))
        assert cusco.country.name == "Peru"
        assert r.find(Country, "PE") == cusco.country

    def test_a_link_that_can_not_be_added_leaves_nothing_behind(self, r):
        with r.write():
            r.create(Country, code="PE")
            with pytest.raises(realm.ObjectExistsError):
                r.create(Airport, icao="SPZO", name="", country=Country(code="PE"))
            assert len(r.objects(Airport)) == 0

    def test_many_properties(self, path):
        names = {f"p{i}": int for i in range(100)}
        wide = type(realm.Object)(
            "Wide", (realm.Object,), {"__annotations__": names, "__module__": __name__}
        )
        with realm.open(path, classes=[wide]) as r, r.write():
            made = r.create(wide, **{name: i for i, name in enumerate(names)})
            assert list(realm.to_dict(made).values()) == list(range(100))


class TestAdd:
    def test_it_turns_the_object_into_a_managed_one(self, r):
        note = Note(text="a")
        with r.write():
            assert r.add(note) is note
        assert realm.is_managed(note)
        assert note == r.objects(Note)[0]

    def test_adding_again_changes_nothing(self, r):
        with r.write():
            note = r.add(Note(text="a"))
            assert r.add(note) is note
        assert len(r.objects(Note)) == 1

    def test_graphs_with_cycles(self, r):
        a, b, c = Person(id=1), Person(id=2), Person(id=3)
        a.boss, b.boss, c.boss = b, c, a
        with r.write():
            r.add(a)
        assert [p.boss.id for p in r.objects(Person)] == [2, 3, 1]
        assert realm.is_managed(c) and c.boss == a

    def test_deep_chains(self, r):
        first = last = Person(id=0)
        for i in range(1, 20_000):
            last.boss = Person(id=i)
            last = last.boss
        with r.write():
            r.add(first)
        assert len(r.objects(Person)) == 20_000

    def test_a_shared_target_is_added_once(self, r):
        peru = Country(code="PE")
        with r.write():
            r.add_all([Airport(icao="A", name="", country=peru),
                       Airport(icao="B", name="", country=peru)])
        assert len(r.objects(Country)) == 1

    def test_failure_leaves_the_object_as_it_was(self, r):
        boss = Person(id=1, name="boss")
        worker = Person(id=2, name="worker", boss=boss)
        with r.write():
            r.create(Person, id=1, name="other")
            with pytest.raises(realm.ObjectExistsError):
                r.add(worker)
            assert len(r.objects(Person)) == 1
        assert not realm.is_managed(worker) and not realm.is_managed(boss)
        assert (worker.name, worker.boss) == ("worker", boss)
        with r.write():
            boss.id = 3
            r.add(worker)
        assert len(r.objects(Person)) == 3

    def test_outside_of_a_write_transaction(self, r):
        note = Note(text="a")
        with pytest.raises(realm.TransactionError):
            r.add(note)
        assert note.text == "a"

    def test_update_policies_reach_linked_objects(self, r):
        with r.write():
            r.create(Country, code="PE", name="?")
            r.add(Airport(icao="A", name="", country=Country(code="PE", name="Peru")),
                  update="modified")
        assert r.objects(Country).values("name") == ["Peru"]

    def test_objects_of_other_realms_and_deleted_ones(self, r, tmp_path):
        with realm.open(tmp_path / "other.realm", classes=[Note]) as other:
            with other.write():
                foreign = other.create(Note, text="x")
            with r.write():
                with pytest.raises(realm.ArgumentError, match="another realm"):
                    r.add(foreign)
                gone = r.create(Note, text="y")
                r.delete(gone)
                with pytest.raises(realm.InvalidObjectError, match="deleted"):
                    r.add(gone)
        with pytest.raises(TypeError):
            r.add("a string")

    def test_objects_added_in_a_rolled_back_transaction_are_gone(self, r):
        note = Note(text="a")
        with pytest.raises(ZeroDivisionError):
            with r.write():
                r.add(note)
                1 / 0
        assert not realm.is_valid(note)
        with pytest.raises(realm.InvalidObjectError):
            note.text


class TestProperties:
    def test_reads_and_writes_go_to_the_file(self, r):
        with r.write():
            ada = r.create(Person, id=1)
            other = r.find(Person, 1)
            ada.name = "Ada"
            assert other.name == "Ada"
            other.age += 36
        assert ada.age == 36

    def test_writing_needs_a_transaction(self, r):
        with r.write():
            ada = r.create(Person, id=1, name="Ada")
        with pytest.raises(realm.TransactionError, match=r"Person\.name = 'Bob'"):
            ada.name = "Bob"
        with pytest.raises(realm.TransactionError):
            ada.boss = Person(id=2)
        assert ada.name == "Ada"

    def test_the_primary_key_stays(self, r):
        with r.write():
            ada = r.create(Person, id=1)
            with pytest.raises(realm.ReadOnlyPropertyError, match=r"Person\.id = 2") as caught:
                ada.id = 2
            assert isinstance(caught.value, AttributeError)
        assert ada.id == 1

    def test_wrong_values_are_refused(self, r):
        with r.write():
            ada = r.create(Person, id=1)
            with pytest.raises(realm.PropertyTypeError, match=r"Person\.age is int, got str"):
                ada.age = "old"
            with pytest.raises(realm.NotNullableError):
                ada.age = None
            with pytest.raises(AttributeError):
                ada.agee = 1
            with pytest.raises(AttributeError):
                del ada.age

    def test_links(self, r, tmp_path):
        with r.write():
            ada = r.create(Person, id=1)
            assert ada.boss is None
            ada.boss = ada
            assert ada.boss == ada
            ada.boss = Person(id=2, boss=Person(id=3))
            assert (ada.boss.id, ada.boss.boss.id) == (2, 3)
            ada.boss = None
            assert ada.boss is None
            with pytest.raises(realm.PropertyTypeError, match="link to Person, got Note"):
                ada.boss = Note(text="")
            gone = r.create(Person, id=9)
            r.delete(gone)
            with pytest.raises(realm.InvalidObjectError, match=r"Person\.boss.*deleted"):
                ada.boss = gone
            with realm.open(tmp_path / "o.realm", classes=[Person]) as other, other.write():
                with pytest.raises(realm.ArgumentError, match="another realm"):
                    ada.boss = other.create(Person, id=1)

    def test_deleting_the_target_clears_the_link(self, r):
        with r.write():
            ada = r.create(Person, id=1, boss=Person(id=2))
            r.delete(ada.boss)
            assert ada.boss is None

    def test_large_values(self, r):
        text, data = "ü" * 3_000_000, bytes(range(256)) * 20_000
        with r.write():
            thing = r.create(Everything, id=1, text=text, data=data)
        assert thing.text == text and thing.data == data

    def test_text_keeps_its_bytes(self, r):
        texts = ["", "a\0b", "é", "e\u0301", "𝄞", "\uffff", "line\r\nbreak"]
        with r.write():
            for text in texts:
                r.create(Note, text=text)
        assert r.objects(Note).values("text") == texts


values = {
    "integer": st.integers(-(2**63), 2**63 - 1),
    "boolean": st.booleans(),
    "double": st.floats(),
    "single": st.floats(width=32),
    "text": st.text(),
    "data": st.binary(),
    "moment": st.datetimes(timezones=st.sampled_from(
        [timezone.utc, timezone(timedelta(hours=-9, minutes=-30))]
    ), min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)),
}


def same(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return struct.pack("d", a) == struct.pack("d", b) or (math.isnan(a) and math.isnan(b))
    return a == b and type(a) is type(b)


@hypothesis.given(
    st.fixed_dictionaries(
        values | {f"{name}_or_none": st.none() | kind for name, kind in values.items()}
    )
)
@hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
def test_every_value_comes_back(r, given):
    with r.write():
        made = r.create(Everything, id=1, update="all", **given)
        for name, value in given.items():
            assert same(getattr(made, name), value), name
        second = r.add(Everything(id=2, **given), update="all")
    found = r.find(Everything, 1)
    for name, value in given.items():
        assert same(getattr(found, name), value), name
        assert same(getattr(second, name), value), name
        got = r.objects(Everything).values(name)
        assert same(got[0], value) and same(got[1], value), name


class TestFind:
    def test_by_primary_key(self, airports):
        assert airports.find(Airport, "SPZO").city == "Cusco"
        assert airports.find(Airport, "spzo") is None
        assert airports.find(Airport, "") is None

    def test_integer_keys_of_every_size(self, r):
        keys = [0, 1, -1, 2**31, 2**63 - 1, -(2**63), 12345]
        with r.write():
            for key in keys:
                r.create(Person, id=key, name=str(key))
        for key in keys:
            assert r.find(Person, key).name == str(key)
        assert r.find(Person, 2) is None

    def test_null_is_a_key_of_a_nullable_property(self, r):
        with r.write():
            assert r.find(NullableKey, None) is None
            r.create(NullableKey, key=None, value=1)
            r.create(NullableKey, key="", value=2)
            with pytest.raises(realm.ObjectExistsError):
                r.create(NullableKey, value=3)
        assert r.find(NullableKey, None).value == 1
        assert r.find(NullableKey, "").value == 2

    def test_keys_of_the_wrong_type(self, r):
        with pytest.raises(realm.PropertyTypeError, match=r"Person\.id is int"):
            r.find(Person, "1")
        with pytest.raises(realm.NotNullableError):
            r.find(Person, None)

    def test_a_class_without_primary_key(self, r):
        with pytest.raises(realm.PrimaryKeyError, match="Note has no primary key"):
            r.find(Note, 1)


class TestIdentity:
    def test_views_of_one_object_are_equal(self, r):
        with r.write():
            ada = r.create(Person, id=1)
            bob = r.create(Person, id=2)
        again = r.find(Person, 1)
        assert ada == again and ada is not again and hash(ada) == hash(again)
        assert ada != bob and ada != 1 and ada != Person(id=1)
        assert {ada, again, bob} == {ada, bob}

    def test_objects_of_different_classes_with_one_key_differ(self, r):
        with r.write():
            assert r.create(Note, text="") != r.create(Country, code="")

    def test_deleted_objects(self, r):
        with r.write():
            ada = r.create(Person, id=1)
            before = hash(ada)
            r.delete(ada)
            assert not realm.is_valid(ada)
            assert hash(ada) == before and ada == ada
            assert repr(ada) == "<Person, deleted>"
            for use in (lambda: ada.name, lambda: setattr(ada, "age", 1), lambda: r.delete(ada),
                        lambda: realm.to_dict(ada), lambda: r.backlinks(ada, Person, "boss")):
                with pytest.raises(realm.InvalidObjectError) as caught:
                    use()
                assert isinstance(caught.value, ReferenceError)

    def test_repr(self, airports):
        cusco = airports.find(Airport, "SPZO")
        assert repr(cusco) == "Airport(icao='SPZO', name='Cusco', city='Cusco', elevation=3310, ...)"
        with airports.write():
            ada = airports.create(Person, id=1, boss=Person(id=2))
        assert repr(ada) == "Person(id=1, name='', age=0, boss=Person(2))"


class TestDelete:
    def test_one_some_and_all(self, airports):
        r = airports
        with r.write():
            r.delete(r.find(Airport, "LPPT"))
            assert len(r.objects(Airport)) == 7
            r.delete(r.objects(Airport).filter("name == 'Nameless'"))
            assert len(r.objects(Airport)) == 5
            r.delete([r.find(Airport, "LPPR"), r.find(Airport, "LPFR")])
            assert len(r.objects(Airport)) == 3
            r.objects(Airport).delete_all()
            assert not r.objects(Airport)

    def test_what_can_not_be_deleted(self, r):
        with r.write():
            with pytest.raises(realm.ArgumentError, match="in no realm"):
                r.delete(Note(text=""))
            with pytest.raises(TypeError):
                r.delete([1])
            for wrong in (3, None, "Note"):
                with pytest.raises(realm.UsageError, match=r"delete\(\) takes an object"):
                    r.delete(wrong)
            note = r.create(Note, text="a")
        with pytest.raises(realm.TransactionError):
            r.delete(note)
        with pytest.raises(realm.TransactionError):
            r.objects(Note).delete_all()
        assert note.text == "a"


class TestBacklinks:
    def test_they_are_results(self, airports):
        peru = airports.find(Country, "PE")
        back = airports.backlinks(peru, Airport, "country")
        assert sorted(a.icao for a in back) == ["SPJC", "SPJL", "SPZO"]
        assert back.filter("elevation > 1000").count() == 2
        assert not airports.backlinks(airports.find(Country, "XX"), Airport, "country")

    def test_they_are_live(self, airports):
        peru = airports.find(Country, "PE")
        back = airports.backlinks(peru, "Airport", "country")
        with airports.write():
            airports.find(Airport, "SPZO").country = None
            assert len(back) == 2

    def test_bad_arguments(self, airports):
        peru = airports.find(Country, "PE")
        with pytest.raises(realm.NoSuchPropertyError, match="no property 'land'"):
            airports.backlinks(peru, Airport, "land")
        with pytest.raises(realm.NoSuchPropertyError):
            airports.backlinks(peru, Airport, "name")
        with pytest.raises(TypeError):
            airports.backlinks(Country(code="A"), Airport, "country")


def test_microseconds_before_the_epoch(r):
    moments = [EPOCH - timedelta(microseconds=1), EPOCH - timedelta(seconds=1, microseconds=1),
               EPOCH + timedelta(microseconds=1)]
    with r.write():
        for i, moment in enumerate(moments):
            r.create(Everything, id=i, moment=moment)
    assert r.objects(Everything).sorted("id").values("moment") == moments
    assert r.objects(Everything).sorted("moment").values("id") == [1, 0, 2]
