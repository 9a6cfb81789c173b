"""Fields, values that the engine has no type for, backlinks, and what Python does with objects."""

from __future__ import annotations

import copy
import enum
import functools
import gc
import inspect
import pickle
import weakref
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

import realm


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Person(realm.Object):
    name: str = realm.Field(primary_key=True)
    dogs: list[Dog] = []
    friends = realm.Backlinks("Person", "best")
    best: Person | None = None


class Dog(realm.Object):
    name: str = realm.Field(primary_key=True, name_in_file="_id")
    colour: Colour = Colour.RED
    level: Level | None = None
    access: Access = Access.READ
    born: date | None = realm.Field(indexed=True, default=None)
    walked: timedelta = timedelta()
    weight: Decimal = realm.Field(default=Decimal(0), name_in_file="kg")
    notes: str = realm.Field(default="", full_text=True)
    colours: list[Colour] = realm.Field(default_factory=lambda: [Colour.BLUE])
    days: set[date] = set()
    walks: dict[str, timedelta | None] = {}
    owners: realm.Backlinks[Person, "dogs"]  # noqa: F821

    @functools.cached_property
    def loud(self) -> str:
        return self.name.upper()


CLASSES = [Person, Dog]


@pytest.fixture
def r(path):
    with realm.open(path, CLASSES) as opened:
        yield opened


@pytest.fixture
def rex(r):
    with r.write():
        return r.create(
            Dog, name="Rex", level=Level.HIGH, born=date(1969, 12, 31), weight=7,
            walked=timedelta(days=-1, microseconds=3), days=[date(2020, 2, 29)],
            walks={"june": timedelta(hours=1), "july": None}, access=Access.READ | Access.WRITE,
        )


class TestForms:
    def test_values_come_back_as_they_went_in(self, rex):
        assert (rex.colour, rex.level, rex.access) == (Colour.RED, Level.HIGH, Access(3))
        assert type(rex.level) is Level and type(rex.born) is date
        assert (rex.born, rex.walked) == (date(1969, 12, 31), timedelta(days=-1, microseconds=3))
        assert rex.weight == Decimal(7) and type(rex.weight) is Decimal
        assert list(rex.colours) == [Colour.BLUE] and rex.days == {date(2020, 2, 29)}
        assert dict(rex.walks) == {"june": timedelta(hours=1), "july": None}
        assert Colour.BLUE in rex.colours and date(2020, 2, 29) in rex.days

    def test_the_same_without_a_realm(self):
        dog = Dog(name="Bo", born=date(2020, 1, 1), weight=3, colour=Colour.BLUE)
        assert (dog.born, dog.colour, dog.colours) == (date(2020, 1, 1), Colour.BLUE, [Colour.BLUE])
        assert dog.weight == 3 and type(dog.weight) is Decimal and dog.owners == ()
        dog.days = {date.min, date.max}
        assert dog.days == {date.min, date.max}

    @pytest.mark.parametrize(
        "moment", [date.min, date.max, date(1970, 1, 1), date(1969, 12, 31), date(2000, 2, 29)])
    def test_dates_at_the_limits(self, r, rex, moment):
        with r.write():
            rex.born = moment
        assert rex.born == moment and r.objects(Dog).where(Dog.born == moment).first() == rex

    def test_queries_take_them(self, r, rex):
        dogs = r.objects(Dog)
        for condition in [
            Dog.colour == Colour.RED, Dog.level == Level.HIGH, Dog.born < date(1970, 1, 1),
            Dog.walked < timedelta(), Dog.colours.contains(Colour.BLUE), Dog.weight == 7,
            Dog.born.in_([date(1969, 12, 31)]), Dog.walked.between(timedelta(-2), timedelta()),
        ]:
            assert dogs.where(condition).first() == rex, condition
            assert not dogs.where(~condition)
        assert dogs.filter("born == $0 AND walked == $1", rex.born, rex.walked).first() == rex

    def test_columns_and_aggregates_have_their_types(self, r, rex):
        with r.write():
            r.create(Dog, name="Bo", born=date(2000, 1, 1), walked=timedelta(days=3), level=Level.LOW)
        dogs = r.objects(Dog).sorted("name")
        assert dogs.values("born") == [date(2000, 1, 1), date(1969, 12, 31)]
        assert dogs.values("name", "level") == [("Bo", Level.LOW), ("Rex", Level.HIGH)]
        assert dogs.max("born") == date(2000, 1, 1) and dogs.min("level") is Level.LOW
        assert dogs.sum("walked") == timedelta(days=2, microseconds=3)
        assert dogs.average("walked") == timedelta(days=1, microseconds=2)
        assert dogs.average("level") == 1.5 and type(dogs.sum("level")) is int

    def test_what_is_no_member_is_refused(self, r, rex):
        with r.write():
            for name, wrong in [
                ("colour", "red"), ("colour", Level.LOW), ("level", 1), ("walked", 3),
                ("born", datetime(2020, 1, 1, tzinfo=timezone.utc)), ("born", "2020-01-01"),
                ("weight", True), ("weight", 1.5),
            ]:
                with pytest.raises(realm.PropertyTypeError, match=rf"Dog\.{name} is ") as caught:
                    setattr(rex, name, wrong)
                assert type(wrong).__name__ in str(caught.value)
            with pytest.raises(realm.OutOfRangeError, match=r"Dog\.walked.*64 bits"):
                rex.walked = timedelta.max

    def test_values_of_the_file_that_are_no_members_say_so(self, path):
        with realm.open(path, CLASSES) as r, r.write():
            r.create(Dog, name="Rex")
        with realm.open(path) as plain:
            dog = plain.objects("Dog")[0]
            assert (dog._id, dog.colour, dog.access, dog.kg) == ("Rex", "red", 1, 0)
            with plain.write():
                dog.colour = "green"
        with realm.open(path, CLASSES) as r:
            with pytest.raises(realm.OutOfRangeError, match=r"Dog\.colour holds 'green'.*no Colour"):
                r.objects(Dog)[0].colour

    def test_decimals_take_ints_of_34_digits(self, r, rex):
        with r.write():
            rex.weight = -(10**33)
            assert rex.weight == -(10**33)
            with pytest.raises(realm.OutOfRangeError, match=r"Dog\.weight.*34 digits"):
                rex.weight = 10**34 + 1

    def test_json_has_what_the_file_holds(self, r, rex):
        text = rex.to_json()
        assert '"colour":"red"' in text and '"level":2' in text and '"weight":"7"' in text
        assert rex.to_dict()["colour"] is Colour.RED
        with r.write():
            again = r.create_from_json(Dog, text.replace("Rex", "Bo"))
        assert (again.born, again.colour, again.walks) == (rex.born, rex.colour, rex.walks)

    def test_json_of_objects_without_a_realm_is_the_same(self, r):
        dog = Dog(name="Bo", born=date(2020, 1, 2), weight=Decimal("1.50"), days={date.min})
        text = Person(name="Ada", dogs=[dog]).to_json(depth=1)
        with r.write():
            assert r.add(Person(name="Ada", dogs=[dog])).to_json(depth=1) == text
        assert text.startswith('{"name":"Ada","dogs":[{"name":"Bo"')


class TestFields:
    def test_the_file_has_other_names_and_queries_take_ours(self, r, rex):
        assert realm.properties(Dog)["name"].stored_name == "_id"
        dogs = r.objects(Dog)
        assert dogs.filter("name == 'Rex' AND weight > 3").first() == rex
        assert dogs.sorted("-weight", "name").first() == rex and dogs.max("weight") == 7
        assert dogs.distinct("weight").first() == rex and r.find(Dog, "Rex") == rex
        assert dogs.values("name", "weight") == [("Rex", 7)]

    def test_observers_go_by_our_names(self, r, rex):
        seen: list[Any] = []
        with rex.observe(lambda change: seen.append(change.properties), "weight"):
            r.refresh()
            with r.write():
                rex.weight = 8
                rex.notes = "x"
            r.refresh()
        assert list(seen[-1]) == ["weight"] and seen[-1]["weight"][1:] == (7, 8)

    def test_migrations_go_by_our_names(self, path, r, rex):
        class Beast(realm.Object, stored_name="Dog"):
            name: str = realm.Field(primary_key=True, name_in_file="_id")
            heavy: Decimal = realm.Field(name_in_file="mass")

        class Owner(realm.Object, stored_name="Person"):
            name: str = realm.Field(primary_key=True)

        r.close()
        with realm.open(path, [Beast, Owner], version=1,
                        migrate=lambda old, new, m: m.rename(Beast, "kg", "heavy")) as changed:
            assert changed.objects(Beast).values("name", "heavy") == [("Rex", 7)]

    def test_words_are_found(self, r, rex):
        with r.write():
            rex.notes = "Likes the Sea"
        assert r.objects(Dog).where(Dog.notes.has_words("sea")).first() == rex

    def test_defaults_of_collections_are_copies(self):
        one, two = Person(name="a"), Person(name="b")
        one.dogs.append(Dog(name="x"))
        assert (len(one.dogs), two.dogs, Person(name="c").dogs) == (1, [], [])

    def test_the_signature_shows_real_defaults(self):
        shown = inspect.signature(Dog).parameters
        assert shown["colour"].default is Colour.RED and shown["born"].default is None
        assert (shown["days"].default, shown["walks"].default) == (set(), {})
        assert repr(shown["colours"].default) == "<factory>"
        assert shown["name"].default is inspect.Parameter.empty and shown["level"].annotation
        assert "owners" not in shown

    def test_signatures_of_classes_from_a_file_name_what_they_link_to(self, path, r, rex):
        with realm.open(path) as other:
            shown = inspect.signature(other.classes["Person"]).parameters
            assert shown["dogs"].annotation == list[other.classes["Dog"]]
            assert shown["best"].annotation == other.classes["Person"] | None

    def test_mistakes(self):
        with pytest.raises(realm.SchemaError, match="full_text is True"):
            realm.Field(full_text="words")
        with pytest.raises(realm.SchemaError, match="name_in_file is a str"):
            realm.Field(name_in_file=3)
        with pytest.raises(realm.SchemaError, match="default_factory is a function"):
            realm.Field(default_factory=[])


class TestBacklinks:
    def test_they_are_live(self, r, rex):
        assert len(rex.owners) == 0
        with r.write():
            ada = r.create(Person, name="Ada", dogs=[rex])
            bo = r.create(Person, name="Bo", best=ada)
        assert list(rex.owners) == [ada] and list(ada.friends) == [bo]
        assert rex.owners.filter("name == 'Ada'").first() == ada

    def test_conditions_follow_them(self, r, rex):
        with r.write():
            r.create(Person, name="Ada", dogs=[rex])
            r.create(Dog, name="Stray")
        assert [d.name for d in r.objects(Dog).where(Dog.owners.count() == 0)] == ["Stray"]
        assert r.objects(Dog).where(Dog.owners.name == "Ada").first() == rex
        assert len(r.objects(Person).where(Person.friends.count() > 0)) == 0

    def test_they_can_not_be_set(self, r, rex):
        with pytest.raises(realm.ReadOnlyPropertyError, match=r"Dog\.owners is computed"):
            rex.owners = []
        with pytest.raises(realm.NoSuchPropertyError):
            Dog(name="x", owners=[])


class TestObjects:
    def test_weak_references_and_cached_properties(self, r, rex):
        gone = weakref.ref(rex)
        other = r.find(Dog, "Rex")
        assert rex.loud == "REX" and rex.__dict__ == {"loud": "REX"} and other.__dict__ == {}
        del rex.loud
        assert rex.loud == "REX" and weakref.ref(other)() is other
        cache = weakref.WeakKeyDictionary({other: 1})
        assert cache[r.find(Dog, "Rex")] == 1
        assert gone() is not None

    def test_a_weak_reference_ends_with_its_object(self, r, rex):
        held = r.find(Dog, "Rex")
        gone = weakref.ref(held)
        held.loud
        held.__dict__["self"] = held
        del held
        gc.collect()
        assert gone() is None

    def test_misspelt_names_are_refused_nevertheless(self, r, rex):
        for dog in (rex, Dog(name="x")):
            with pytest.raises(realm.NoSuchPropertyError, match="Dog has no property 'colr'"):
                dog.colr = Colour.RED

    def test_a_class_may_ask_for_attributes(self):
        class Free(realm.Object):
            __slots__ = ("__dict__", "__weakref__")
            x: int = 0

        free = Free()
        free.anything = 3
        assert copy.copy(free).anything == 3 and weakref.ref(free)() is free

    def test_python_properties_with_setters(self):
        class Circle(realm.Object):
            radius: float

            @property
            def diameter(self) -> float:
                return self.radius * 2

            @diameter.setter
            def diameter(self, value: float) -> None:
                self.radius = value / 2

        circle = Circle(radius=1.0)
        circle.diameter = 6.0
        assert circle.radius == 3.0
        with pytest.raises(AttributeError):
            del circle.nothing

    def test_stored_objects_are_equal_through_two_instances(self, path, r, rex):
        with realm.open(path, CLASSES) as other:
            same = other.find(Dog, "Rex")
            assert same == rex and hash(same) == hash(rex) and len({same, rex}) == 1
            with r.write():
                bo = r.create(Dog, name="Bo")
                ada = r.create(Person, name="Ada")
            assert bo != same and ada != rex and same != Dog(name="Rex")
        assert same != rex and hash(same) == hash(rex)

    def test_frozen_objects_are_equal_of_one_version(self, r, rex):
        one, two = rex.freeze(), r.freeze().find(Dog, "Rex")
        assert one == two and one != rex
        with r.write():
            rex.level = None
        assert rex.freeze() != one

    def test_the_same_key_in_another_file_is_another_object(self, tmp_path, rex):
        with realm.open(tmp_path / "other.realm", CLASSES) as other, other.write():
            assert other.create(Dog, name="Rex") != rex

    def test_objects_without_a_realm_are_copied_and_pickled(self):
        ada = Person(name="Ada", dogs=[Dog(name="Rex", born=date(2020, 1, 2), colours=[])])
        again = pickle.loads(pickle.dumps(ada))
        assert again.dogs[0].born == date(2020, 1, 2) and again.dogs[0].colours == []
        shallow, deep = copy.copy(ada), copy.deepcopy(ada)
        assert shallow.dogs[0] is ada.dogs[0] and shallow.dogs is not ada.dogs
        assert deep.dogs[0] is not ada.dogs[0]

    def test_stored_ones_are_not_but_can_be_referred_to(self, path, r, rex):
        for function in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="stands for a stored object"):
                function(rex)
        reference = pickle.loads(pickle.dumps(realm.reference(rex)))
        with realm.open(path, CLASSES) as other:
            assert other.resolve(reference) == rex
        with r.write():
            r.delete(rex)
        assert r.resolve(reference) is None
        with pytest.raises(realm.InvalidObjectError):
            realm.reference(rex)
        with pytest.raises(TypeError, match="in no realm yet"):
            realm.reference(Dog(name="x"))


def test_classes_read_from_a_file_know_their_targets(path, r, rex):
    with r.write():
        r.create(Person, name="Ada", dogs=[rex])
    r.close()
    with realm.open(path) as plain:
        person, dog = plain.classes["Person"], plain.classes["Dog"]
        assert plain.objects("Person").where(person.dogs._id == "Rex").first().name == "Ada"
        with pytest.raises(realm.NoSuchPropertyError, match="Dog has no property 'legs'"):
            person.dogs.legs
        assert plain.objects(dog).where(realm.backlinks(person.dogs).count() == 1)
        assert person(name="Bo", dogs=[{"_id": "x", "colour": "red", "access": 1, "walked": 0,
                                        "kg": 0, "notes": ""}]).dogs[0].colour == "red"


def test_one_class_alone_opens_a_realm(tmp_path):
    with realm.open(tmp_path / "one.realm", Person) as r:
        assert set(r.classes) == {"Person", "Dog"}
