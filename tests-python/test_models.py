"""Declaring classes, and objects that are in no realm."""

from __future__ import annotations

import copy
import enum
import inspect
import math
import pickle
import typing
from datetime import date, datetime, timedelta, timezone
from typing import Annotated, ClassVar, Optional

import pytest

import realm
from models import Airport, Country, Everything, Note, Person


def kinds(cls: type) -> dict[str, str]:
    return {p.name: p.type for p in cls.__realm_model__.properties}


class Mixed(enum.Enum):
    ONE = 1
    TWO = "two"


class TestDeclarations:
    def test_annotations_become_properties_in_order(self):
        assert list(kinds(Airport)) == [
            "icao", "name", "city", "elevation", "latitude", "country",
        ]
        assert kinds(Airport)["latitude"] == "float"

    def test_properties_are_described(self):
        described = realm.properties(Airport)
        assert isinstance(described["icao"], realm.Property)
        assert list(described) == [p.name for p in Airport.__realm_model__.properties]
        assert (described["icao"].primary_key, described["icao"].nullable) == (True, False)
        assert (described["name"].indexed, described["name"].has_default) == (True, False)
        assert (described["city"].nullable, described["city"].has_default) == (True, True)
        assert described["country"].link_target == "Country"
        assert repr(described["elevation"]) == "<property Airport.elevation: int | None>"
        assert repr(described["icao"]) == "<property Airport.icao: str, primary key>"

    def test_every_scalar_type_is_known(self):
        assert kinds(Everything) == {
            "id": "int", "integer": "int", "boolean": "bool", "double": "float",
            "single": "Float32", "text": "str", "data": "bytes", "moment": "datetime",
            "integer_or_none": "int", "boolean_or_none": "bool", "double_or_none": "float",
            "single_or_none": "Float32", "text_or_none": "str", "data_or_none": "bytes",
            "moment_or_none": "datetime", "link": "link",
        }

    def test_optional_in_any_spelling(self):
        class Spelt(realm.Object):
            a: Optional[int] = None
            b: "int | None"
            c: typing.Union[None, int]
            d: Annotated[int | None, "a note"]
            e: None | int

        assert set(kinds(Spelt).values()) == {"int"}
        assert all(p.nullable for p in Spelt.__realm_model__.properties)

    def test_annotations_may_be_real_objects(self):
        cls = realm.Object.__class__(
            "Made", (realm.Object,),
            {"__annotations__": {"a": int, "b": Optional["Made"], "c": "Later | None"},
             "__module__": __name__},
        )
        assert kinds(cls) == {"a": "int", "b": "link", "c": "link"}
        assert realm.properties(cls)["b"].link_target == "Made"

    def test_links_to_classes_declared_later_and_to_itself(self):
        class First(realm.Object):
            second: Second | None  # noqa: F821
            third: None | Third  # noqa: F821
            own: First | None

        assert [p.link_target for p in First.__realm_model__.properties] == [
            "Second", "Third", "First",
        ]

    def test_local_names_are_seen(self):
        Alias = int

        class Local(realm.Object):
            a: Alias

        assert kinds(Local) == {"a": "int"}

    def test_class_variables_methods_and_properties_are_not_stored(self):
        class Circle(realm.Object):
            kind: ClassVar[str] = "round"
            radius: float
            PI = 3

            @property
            def area(self) -> float:
                return math.pi * self.radius**2

        assert kinds(Circle) == {"radius": "float"}
        circle = Circle(radius=2.0)
        assert circle.area == pytest.approx(12.566, abs=1e-3)
        assert (Circle.kind, Circle.PI) == ("round", 3)

    @pytest.mark.parametrize(
        "annotation", ["ClassVar", "ClassVar[int]", "typing.ClassVar[Later]", "t.ClassVar[int]", "Shared[int]",
                       "for_checkers.ClassVar[int]", ClassVar[int]],
    )
    def test_class_variables_are_known_by_any_name(self, annotation):
        t, Shared = typing, ClassVar  # noqa: F841
        cls = realm.Object.__class__(
            "Made", (realm.Object,),
            {"__annotations__": {"a": int, "limit": annotation}, "limit": 3, "__module__": __name__},
        )
        assert (kinds(cls), cls.limit) == ({"a": "int"}, 3)

    def test_links_to_classes_whose_names_begin_like_class_variables_are_stored(self):
        class ClassVariant(realm.Object):
            name: str

        class Lesson(realm.Object):
            variant: ClassVariant | None
            quoted: "ClassVar_ | None"  # noqa: F821

        assert kinds(Lesson) == {"variant": "link", "quoted": "link"}

    def test_a_model_class_may_be_called_as_class_variables_are(self):
        Made = realm.Object.__class__
        ClassVar = Made("ClassVar", (realm.Object,), {"__annotations__": {"own": "ClassVar | None"}})

        class Lesson(realm.Object):
            one: ClassVar | None
            many: list[ClassVar]

        assert kinds(ClassVar) == {"own": "link"}
        assert kinds(Lesson) == {"one": "link", "many": "link"}
        with pytest.raises(realm.SchemaError, match=r"Bad\.one.*ClassVar \| None"):
            Made("Bad", (realm.Object,), {"__annotations__": {"one": "ClassVar"}})

    def test_classes_declared_later_may_have_the_names_of_builtins(self, tmp_path):
        class Truck(realm.Object):
            warnings: list[Warning]
            first: filter | None
            quoted: dict[str, "object"]
            bases: set["super"]

        class Warning(realm.Object):
            text: str

        class filter(realm.Object):
            text: str

        class super(realm.Object):
            text: str

        class object(realm.Object):
            text: str

        targets = [p.link_target for p in realm.properties(Truck).values()]
        assert targets == ["Warning", "filter", "object", "super"]
        with realm.open(tmp_path / "a.realm", [Truck, Warning, filter, super, object]) as r, r.write():
            truck = r.create(Truck, warnings=[{"text": "hot"}], first={"text": "new"})
            assert (truck.warnings[0].text, truck.first.text) == ("hot", "new")

    def test_builtins_mean_themselves_inside_of_annotations(self):
        class Odd(realm.Object):
            a: int | type(None)
            b: Annotated[int, max(1, 2), range(3)]

        assert kinds(Odd) == {"a": "int", "b": "int"} and realm.properties(Odd)["a"].nullable

    @pytest.mark.parametrize("annotation", ["object | None", "list[object]", "dict[str, object]"])
    def test_builtins_that_no_class_is_called_by_are_refused_at_the_opening(self, tmp_path, annotation):
        cls = realm.Object.__class__("Bad", (realm.Object,), {"__annotations__": {"x": annotation}})
        with pytest.raises(realm.SchemaError, match=r"Bad\.x links to object, which is no type that can be stored"):
            realm.open(tmp_path / "a.realm", cls)

    def test_classes_and_plain_mixins_hand_down_their_properties(self):
        class Stamped:
            created: datetime | None = None

            def age_in(self, now: datetime) -> timedelta:
                return now - self.created

        class Named(realm.Object):
            name: str = realm.PrimaryKey()

        class Dog(Stamped, Named):
            legs: int = 4

        assert set(kinds(Dog)) == {"name", "created", "legs"}
        assert realm.properties(Dog)["name"].primary_key
        dog = Dog(name="Rex", created=datetime(2020, 1, 1, tzinfo=timezone.utc))
        assert dog.age_in(datetime(2020, 1, 2, tzinfo=timezone.utc)) == timedelta(days=1)
        assert Dog.__realm_model__.primary_key is realm.properties(Dog)["name"]

    def test_a_property_may_be_redeclared(self):
        class Base(realm.Object):
            x: int = 1

        class Derived(Base):
            x: str = "one"

        assert (Base().x, Derived().x) == (1, "one")

    def test_the_signature_tells_the_names(self):
        assert str(inspect.signature(Person)) == (
            "(*, id: int, name: str = '', age: int = 0, boss: models.Person | None = None)"
        )

    @pytest.mark.parametrize(
        ("annotation", "default", "words"),
        [
            ("list", None, ["Bad.x", "list", "type of its elements"]),
            ("tuple[int]", None, ["Bad.x", "tuple", "collections"]),
            ("list[int]", realm.PrimaryKey(), ["Bad.x", "primary key", "list"]),
            ("list[int]", realm.Indexed(), ["Bad.x", "index"]),
            ("Mixed", None, ["Bad.x", "Mixed", "all int, or all str"]),
            ("int", realm.Field(full_text=True), ["Bad.x", "full-text index", "int"]),
            ("complex", None, ["Bad.x", "complex can't be stored: the types are int", "complex | None"]),
            ("object", None, ["Bad.x", "object can't be stored: the types are int"]),
            ("tuple", None, ["Bad.x", "tuple can't be stored: the collections are"]),
            ("tuple[int] | None", None, ["Bad.x", "tuple", "collections"]),
            ("int | str", None, ["Bad.x", "one type"]),
            ("int | 1/0", None, ["Bad.x", "can't be evaluated"]),
            ("Country", None, ["Bad.x", "Country | None"]),
            ("float", realm.PrimaryKey(), ["Bad.x", "primary key", "float"]),
            ("bytes", realm.Indexed(), ["Bad.x", "index", "bytes"]),
            ("Country | None", realm.Indexed(), ["Bad.x", "index", "link"]),
            ("int", realm.FullText(), ["Bad.x", "full-text index", "int"]),
            ("list[str]", realm.FullText(), ["Bad.x", "index"]),
            ("int", realm.Indexed(default=None), ["Bad.x", "None", "int | None"]),
        ],
    )
    def test_what_cannot_be_stored_is_refused_at_the_declaration(self, annotation, default, words):
        namespace = {"__annotations__": {"x": annotation}, "__module__": __name__}
        if default is not None:
            namespace["x"] = default
        with pytest.raises(realm.SchemaError) as caught:
            realm.Object.__class__("Bad", (realm.Object,), namespace)
        for word in words:
            assert word in str(caught.value)

    def test_a_default_of_the_wrong_type_is_refused(self):
        with pytest.raises(realm.PropertyTypeError, match=r"Bad\.x is int, got str: 'one'"):

            class Bad(realm.Object):
                x: int = "one"

    def test_two_primary_keys_are_refused(self):
        with pytest.raises(realm.SchemaError, match=r"Bad\.a and Bad\.b"):

            class Bad(realm.Object):
                a: int = realm.PrimaryKey()
                b: str = realm.PrimaryKey()

    def test_a_marker_without_annotation_is_refused(self):
        with pytest.raises(realm.SchemaError, match=r"Bad\.a.*annotation"):

            class Bad(realm.Object):
                a = realm.PrimaryKey()

    def test_default_and_factory_exclude_each_other(self):
        with pytest.raises(realm.SchemaError, match="not both"):
            realm.Indexed(default=1, default_factory=int)

    def test_property_names_may_be_those_of_helpers(self):
        class Odd(realm.Object):
            _id: int = realm.PrimaryKey()
            realm: str = ""
            objects: int = 0
            filter: str = "f"
            update: int = 1

        odd = Odd(_id=1, realm="here", update=2)
        assert (odd._id, odd.realm, odd.filter, odd.update) == (1, "here", "f", 2)


class TestUnmanagedObjects:
    def test_they_carry_their_values(self):
        peru = Country(code="PE", name="Peru")
        cusco = Airport(icao="SPZO", name="Cusco", elevation=3310, country=peru)
        assert (cusco.icao, cusco.elevation, cusco.city) == ("SPZO", 3310, None)
        assert cusco.country is peru
        cusco.elevation = 1
        assert cusco.elevation == 1
        assert not realm.is_managed(cusco)
        assert realm.is_valid(cusco)
        assert realm.realm_of(cusco) is None

    def test_a_required_value_must_be_given(self):
        with pytest.raises(realm.MissingValueError, match=r"Note\(\).*text.*str") as caught:
            Note(stars=1)
        assert isinstance(caught.value, TypeError)

    def test_values_are_given_by_name(self):
        with pytest.raises(TypeError, match=r"Note\(\) takes its values by name"):
            Note("hello")

    def test_unknown_names_are_refused(self):
        with pytest.raises(realm.NoSuchPropertyError, match="Note has no property 'txt'"):
            Note(text="a", txt="b")
        note = Note(text="a")
        with pytest.raises(AttributeError):
            note.txt = "b"

    def test_factories_run_for_every_object(self):
        counter = iter(range(10))

        class Numbered(realm.Object):
            id: int = realm.PrimaryKey(default_factory=lambda: next(counter))
            made: datetime = realm.Default(lambda: datetime.now(timezone.utc))

        assert [Numbered().id, Numbered().id, Numbered(id=7).id, Numbered().id] == [0, 1, 7, 2]
        assert Numbered().made.tzinfo is timezone.utc

    def test_initialisers_may_be_written(self):
        class Point(realm.Object):
            x: int
            y: int

            def __init__(self, x: int, y: int) -> None:
                super().__init__(x=x, y=y)

        assert (Point(1, 2).x, Point(1, 2).y) == (1, 2)

    def test_an_initialiser_that_forgets_to_call_ours_leaves_no_values(self):
        class Hollow(realm.Object):
            x: int

            def __init__(self) -> None:
                pass

        with pytest.raises(AttributeError, match=r"Hollow\.x has no value yet"):
            Hollow().x

    def test_equality_is_identity_and_there_is_no_hash(self):
        a, b = Note(text="a"), Note(text="a")
        assert a == a and a != b and not (a == 1)
        with pytest.raises(TypeError, match="unhashable"):
            hash(a)

    def test_repr_is_short(self):
        assert repr(Note(text="hello", stars=3)) == "Note(text='hello', stars=3)"
        long = Note(text="x" * 1000)
        assert len(repr(long)) < 100
        assert repr(Airport(icao="A", name="B", country=Country(code="C"))).endswith(", ...)")

    def test_repr_of_a_cycle_ends(self):
        a = Person(id=1)
        a.boss = a
        assert repr(a) == "Person(id=1, name='', age=0, boss=Person(1))"

    def test_properties_can_not_be_deleted(self):
        note = Note(text="a")
        with pytest.raises(AttributeError, match=r"Note\.text can't be deleted"):
            del note.text

    def test_to_dict(self):
        assert realm.to_dict(Note(text="a")) == {"text": "a", "stars": 0}

    def test_they_are_copied_and_pickled(self):
        note = Note(text="a", stars=3)
        for other in (copy.copy(note), copy.deepcopy(note), pickle.loads(pickle.dumps(note))):
            assert type(other) is Note and other is not note and other != note
            assert realm.to_dict(other) == {"text": "a", "stars": 3}
        person = Person(id=1)
        person.boss = person
        other = pickle.loads(pickle.dumps(person))
        assert other.boss is other and copy.copy(person).boss is person
        assert copy.deepcopy(person).boss is not person

    def test_a_descriptor_refuses_other_classes(self):
        with pytest.raises(TypeError, match="'text' of Note does not apply to a Person"):
            realm.properties(Note)["text"].__get__(Person(id=1))

    def test_the_base_class_has_no_instances(self):
        with pytest.raises(TypeError):
            realm.Object()

    def test_reinitialising_replaces_values(self):
        note = Note(text="a", stars=1)
        note.__init__(text="b")
        assert note.text == "b"


class TestConversion:
    """The checks on the way in, which are the same for unmanaged and managed objects."""

    @pytest.mark.parametrize(
        ("name", "value", "error"),
        [
            ("integer", "1", r"Everything\.integer is int, got str: '1'"),
            ("integer", 1.0, r"Everything\.integer is int, got float: 1\.0"),
            ("integer", True, r"Everything\.integer is int, got bool: True"),
            ("boolean", 1, r"Everything\.boolean is bool, got int: 1"),
            ("double", "1", r"Everything\.double is float, got str"),
            ("double", True, r"Everything\.double is float, got bool"),
            ("single", b"", r"Everything\.single is Float32, got bytes"),
            ("text", b"a", r"Everything\.text is str, got bytes"),
            ("data", "a", r"Everything\.data is bytes, got str"),
            ("moment", 0, r"Everything\.moment is datetime, got int"),
            ("moment", date(2020, 1, 1), r"Everything\.moment is datetime, got date"),
            ("link", 1, r"Everything\.link is a link to Person, got int: 1"),
            ("link", Note(text=""), r"Everything\.link is a link to Person, got Note"),
        ],
    )
    def test_wrong_types_name_class_property_and_value(self, name, value, error):
        with pytest.raises(realm.PropertyTypeError, match=error) as caught:
            Everything(id=1, **{name: value})
        assert isinstance(caught.value, TypeError)
        assert caught.value.code == realm.ErrorCode.PROPERTY_TYPE_MISMATCH
        thing = Everything(id=1)
        with pytest.raises(realm.PropertyTypeError, match=error):
            setattr(thing, name, value)

    @pytest.mark.parametrize(
        "name", ["integer", "boolean", "double", "single", "text", "data", "moment"]
    )
    def test_none_needs_a_nullable_property(self, name):
        with pytest.raises(realm.NotNullableError, match=rf"Everything\.{name} .*None"):
            Everything(id=1, **{name: None})
        assert getattr(Everything(id=1), f"{name}_or_none") is None

    @pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**100])
    def test_integers_beyond_64_bits_are_refused(self, value):
        with pytest.raises(realm.OutOfRangeError, match="64 bits") as caught:
            Everything(id=1, integer=value)
        assert isinstance(caught.value, OverflowError)

    def test_integers_at_the_limits(self):
        for value in (2**63 - 1, -(2**63)):
            assert Everything(id=1, integer=value).integer == value

    def test_floats_that_do_not_fit(self):
        with pytest.raises(realm.OutOfRangeError, match="32 bits"):
            Everything(id=1, single=1e300)
        with pytest.raises(realm.OutOfRangeError, match="float"):
            Everything(id=1, double=10**400)

    def test_float32_is_rounded_at_once(self):
        thing = Everything(id=1, single=0.1)
        assert thing.single == 0.10000000149011612
        thing.single = math.inf
        assert thing.single == math.inf

    def test_int_is_taken_for_float(self):
        thing = Everything(id=1, double=3, single=4)
        assert (thing.double, thing.single) == (3.0, 4.0)
        assert type(thing.double) is float

    def test_index_types_are_taken_for_int(self):
        class Seven:
            def __index__(self) -> int:
                return 7

        assert Everything(id=1, integer=Seven()).integer == 7

    def test_buffers_are_taken_for_bytes(self):
        buffer = bytearray(b"abc")
        thing = Everything(id=1, data=buffer)
        buffer[0] = 0
        assert thing.data == b"abc"
        assert Everything(id=1, data=memoryview(b"xyz")).data == b"xyz"

    def test_lone_surrogates_are_refused(self):
        with pytest.raises(realm.OutOfRangeError, match="surrogates"):
            Everything(id=1, text="\ud800")

    def test_naive_datetimes_are_refused(self):
        with pytest.raises(realm.PropertyTypeError, match="no time zone"):
            Everything(id=1, moment=datetime(2020, 1, 1))

    def test_datetimes_become_utc(self):
        zone = timezone(timedelta(hours=5, minutes=30))
        thing = Everything(id=1, moment=datetime(2020, 1, 1, 5, 30, tzinfo=zone))
        assert thing.moment == datetime(2020, 1, 1, tzinfo=timezone.utc)
        assert thing.moment.tzinfo is timezone.utc

    @pytest.mark.parametrize(
        "value",
        [
            datetime.min.replace(tzinfo=timezone.utc),
            datetime.max.replace(tzinfo=timezone.utc),
            datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=timezone.utc),
            datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=timezone.utc),
        ],
    )
    def test_datetimes_at_the_limits(self, value):
        assert Everything(id=1, moment=value).moment == value
