"""Objects from JSON text, to it and to plain values, and copies between realms."""

from __future__ import annotations

import datetime
import decimal
import gc
import json
import math
import random
import string
import uuid
import weakref
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

import realm

UTC = datetime.timezone.utc
fresh = iter(range(10**9)).__next__


class Wheel(realm.EmbeddedObject):
    size: int
    maker: "Maker | None"


class Maker(realm.Object):
    name: str = realm.PrimaryKey()
    rank: int = 7
    rival: "Maker | None"


class Car(realm.Object):
    id: int = realm.PrimaryKey(default_factory=fresh)
    name: str = "no name"
    weight: float | None = None
    price: decimal.Decimal = decimal.Decimal("1.50")
    built: datetime.datetime = realm.Default(lambda: datetime.datetime(2020, 1, 2, tzinfo=UTC))
    token: uuid.UUID | None = None
    photo: bytes = b"\x00\x01"
    anything: Any = None
    maker: Maker | None
    spare: Wheel | None
    wheels: list[Wheel]
    tags: set[str]
    owners: dict[str, int | None]
    makers: list[Maker]
    scores: list[int] = realm.Default(lambda: [1, 2])


class Knot(realm.Object):
    text: str = ""
    next: "Knot | None"
    others: list["Knot"]


ALL = [Car, Knot, Maker, Wheel]


@pytest.fixture
def cars(tmp_path):
    with realm.open(tmp_path / "cars.realm", classes=ALL) as opened:
        yield opened


@pytest.fixture
def others(tmp_path):
    with realm.open(tmp_path / "others.realm", classes=ALL) as opened:
        yield opened


class TestFromJson:
    def test_nested_objects(self, cars):
        with cars.write():
            car = cars.create_from_json(Car, """
                {"id": 1, "name": "Beetle", "built": "1960-05-01T12:00:00+02:00", "photo": "AQI=",
                 "price": 12.340, "token": "123e4567-e89b-12d3-a456-426614174000",
                 "maker": {"name": "VW", "rival": {"name": "Opel", "rival": "VW"}},
                 "spare": {"size": 15, "maker": "VW"}, "wheels": [{"size": 1}, {"size": 2}],
                 "tags": ["a", "b", "a"], "owners": {"x": 1, "y": null}, "makers": ["Opel", "VW"],
                 "anything": {"list": [1, 2.5, null], "when": {"$date": "2020-01-01"}}}""")
        assert car.to_dict(depth=2) == {
            "id": 1, "name": "Beetle", "weight": None, "price": decimal.Decimal("12.340"),
            "built": datetime.datetime(1960, 5, 1, 10, tzinfo=UTC),
            "token": uuid.UUID("123e4567-e89b-12d3-a456-426614174000"), "photo": b"\1\2",
            "anything": {"list": [1, 2.5, None], "when": datetime.datetime(2020, 1, 1, tzinfo=UTC)},
            "maker": {"name": "VW", "rank": 7, "rival":
                      {"name": "Opel", "rank": 7, "rival": cars.find(Maker, "VW")}},
            "spare": {"size": 15, "maker":
                      {"name": "VW", "rank": 7, "rival":
                       {"name": "Opel", "rank": 7, "rival": cars.find(Maker, "VW")}}},
            "wheels": [{"size": 1, "maker": None}, {"size": 2, "maker": None}],
            "tags": {"a", "b"}, "owners": {"x": 1, "y": None},
            "makers": [
                {"name": "Opel", "rank": 7, "rival":
                 {"name": "VW", "rank": 7, "rival": cars.find(Maker, "Opel")}},
                {"name": "VW", "rank": 7, "rival":
                 {"name": "Opel", "rank": 7, "rival": cars.find(Maker, "VW")}}],
            "scores": [1, 2],
        }

    def test_defaults_of_the_class_are_used(self, cars):
        with cars.write():
            one, two = (cars.create_from_json(Car, "{}") for _ in range(2))
        assert two.id == one.id + 1
        assert (one.name, one.price, one.photo) == ("no name", decimal.Decimal("1.50"), b"\0\1")
        assert one.built == datetime.datetime(2020, 1, 2, tzinfo=UTC)
        assert one.scores == [1, 2]
        assert two.to_dict() == cars.find(Car, two.id).to_dict()

    def test_a_default_that_raises_is_heard(self, tmp_path):
        class Broken(realm.Object):
            value: int = realm.Default(lambda: 1 // 0)

        with realm.open(tmp_path / "b.realm", classes=[Broken]) as r, r.write():
            with pytest.raises(ZeroDivisionError):
                r.create_from_json(Broken, "{}")
            assert len(r.objects(Broken)) == 0
            assert r.create_from_json(Broken, '{"value": 3}').value == 3

    def test_the_engine_lets_go_of_defaults(self, tmp_path):
        class Factory:
            def __call__(self):
                return 5

        def use(factory):
            class Item(realm.Object):
                value: int = realm.Default(factory)

            with realm.open(tmp_path / "i.realm", classes=[Item]) as r, r.write():
                return r.create_from_json(Item, "{}").value

        factory = Factory()
        seen = weakref.ref(factory)
        value = use(factory)
        del factory
        gc.collect()
        assert value == 5 and seen() is None

    def test_update_policies(self, cars):
        with cars.write():
            car = cars.create_from_json(Car, '{"id": 1, "wheels": [{"size": 1}, {"size": 2}]}')
            first = car.wheels[0]
            with pytest.raises(realm.ObjectExistsError):
                cars.create_from_json(Car, '{"id": 1}')
            again = cars.create_from_json(
                Car, '{"id": 1, "name": "x", "wheels": [{"size": 1}, {"size": 3}]}', update="modified")
            assert again == car and car.name == "x" and [w.size for w in car.wheels] == [1, 3]
            assert first.size == 1 and realm.is_valid(first)
            cars.create_from_json(Car, '{"id": 1, "wheels": [{"size": 4}]}', update="all")
            assert not realm.is_valid(first) and car.name == "x"
            with pytest.raises(realm.ArgumentError, match="update is"):
                cars.create_from_json(Car, "{}", update="never")

    @pytest.mark.parametrize(("text", "error", "message"), [
        ("{", realm.Error, "malformed JSON at byte 1"),
        ('{"name": 5}', realm.PropertyTypeError, 'Car.name takes string, got the int 5'),
        ('{"name": null}', realm.NotNullableError, "Car.name"),
        ('{"wheels": [{"size": 1}, {}]}', realm.Error, "creating Wheel needs a value for size"),
        ('{"wheels": [{"size": 1}, 5]}', realm.PropertyTypeError, r"Car.wheels\[1\]"),
        ('{"colour": 5}', realm.NoSuchPropertyError, "Car has no property 'colour'"),
        ('{"maker": "nobody"}', realm.NoSuchObjectError, "nobody"),
        ('{"built": "yesterday"}', realm.PropertyTypeError, "ISO 8601"),
        ("{}\0", realm.Error, "byte 2"), ("[1]", realm.ArgumentError, "15 properties"),
    ])
    def test_errors_say_what_and_leave_nothing(self, cars, text, error, message):
        with cars.write():
            with pytest.raises(error, match=message):
                cars.create_from_json(Car, text)
            assert [len(cars.objects(c)) for c in (Car, Maker, Wheel)] == [0, 0, 0]
            if "colour" in text:
                cars.create_from_json(Car, text, ignore_unknown=True)

    def test_needs_a_write_transaction(self, cars):
        with pytest.raises(realm.TransactionError):
            cars.create_from_json(Car, "{}")

    def test_class_by_name(self, cars):
        with cars.write():
            assert cars.create_from_json("Knot", '{"text": "x"}').text == "x"


class TestToJson:
    def test_round_trip(self, cars, others):
        with cars.write(), others.write():
            car = cars.create(Car, id=1, anything=[1, {"a": [decimal.Decimal("1.0"), b"x"]}],
                              maker={"name": "VW", "rival": {"name": "Opel"}},
                              wheels=[{"size": 3}], owners={"k": None}, weight=0.1)
            for extended in (False, True):
                text = car.to_json(depth=5, extended=extended)
                assert json.loads(text)["maker"]["rival"]["name"] == "Opel"
                copy = others.create_from_json(Car, text, update="all")
                assert copy.to_json(depth=5) == car.to_json(depth=5)
                assert copy.to_dict(depth=5) == car.to_dict(depth=5)
            assert json.loads(car.to_json())["maker"] == "VW"
            assert realm.to_json(car) == car.to_json()

    def test_cycles_without_primary_key(self, cars, others):
        with cars.write(), others.write():
            one = cars.create(Knot, text="1", next={"text": "2"})
            one.next.next = one
            one.others = [one, one.next, one.next]
            text = one.to_json(depth=9)
            copy = others.create_from_json(Knot, text)
            assert copy.next.next == copy and len(others.objects(Knot)) == 2
            assert copy.others[0] == copy and copy.to_json(depth=9) == text

    def test_misuse(self, cars):
        with pytest.raises(realm.LimitError):
            Car(id=1).to_json(depth=201)
        with cars.write():
            car = cars.create(Car)
            with pytest.raises(realm.LimitError):
                car.to_json(depth=201)
            with pytest.raises(realm.LimitError):
                car.to_json(depth=-1)
            cars.delete(car)
            with pytest.raises(realm.InvalidObjectError):
                car.to_json()

    def test_properties_hide_the_methods(self, tmp_path):
        class Odd(realm.Object):
            to_json: str = "mine"
            to_dict: int = 3

        with realm.open(tmp_path / "odd.realm", classes=[Odd]) as r, r.write():
            odd = r.create(Odd)
            assert odd.to_json == "mine"
            assert realm.to_dict(odd) == {"to_json": "mine", "to_dict": 3}
            assert json.loads(realm.to_json(odd)) == {"to_json": "mine", "to_dict": 3}


class TestCopy:
    def test_graphs_come_over_whole(self, cars, others):
        with cars.write():
            car = cars.create(Car, id=1, maker={"name": "VW"}, spare={"size": 1},
                              anything={"a": [1]}, tags={"x"})
            car.maker.rival = Maker(name="Opel", rival=car.maker)
            car.anything["maker"] = car.maker
            car.spare.maker = car.maker
        with others.write():
            copy = others.copy(car)
            assert copy != car and copy.maker.rival.rival == copy.maker
            assert copy.anything["maker"] == copy.maker == copy.spare.maker
            assert copy.to_json(depth=9) == car.to_json(depth=9)
            with pytest.raises(realm.ObjectExistsError):
                others.copy(car)
            with cars.write():
                car.maker.rank = 8
            assert others.copy(car, update="modified") == copy and copy.maker.rank == 8

    def test_within_a_realm(self, cars):
        with cars.write():
            one = cars.create(Knot, text="1", next={"text": "2"})
            one.next.next = one
            two = cars.copy(one)
            assert two != one and two.next.next == two and two.next != one.next
            assert len(cars.objects(Knot)) == 4
            keyed = cars.create(Car)
            with pytest.raises(realm.ObjectExistsError):
                cars.copy(keyed)
            assert cars.copy(keyed, update="modified") == keyed

    def test_misuse(self, cars, others, tmp_path):
        with cars.write():
            car = cars.create(Car, spare={"size": 1})
            spare = car.spare
        with pytest.raises(realm.TransactionError):
            others.copy(car)
        with others.write():
            with pytest.raises(realm.IllegalOperationError):
                others.copy(spare)
            with pytest.raises(TypeError, match="not in a realm"):
                others.copy(Car())
            with pytest.raises(TypeError):
                others.copy(5)

        class Other(realm.Object):
            x: int = 0

        with realm.open(tmp_path / "third.realm", classes=[Other]) as third, third.write():
            with pytest.raises(realm.Error, match="no class 'Car'"):
                third.copy(car)
        cars.close()
        with others.write(), pytest.raises(realm.ClosedRealmError):
            others.copy(car)


# ---- arbitrary values ----------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
keys = texts.filter(lambda k: not k.startswith("$") and "." not in k)
integers = st.integers(-(2**63), 2**63 - 1)
floats = st.floats(allow_nan=False)
decimals = st.decimals(allow_nan=False, places=3, min_value=-(10**9), max_value=10**9)
moments = st.datetimes(timezones=st.just(UTC))
scalars = (st.none() | st.booleans() | integers | floats | texts | st.binary(max_size=8) | decimals
           | moments | st.uuids())
trees = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4)
                     | st.dictionaries(keys, inner, max_size=4), max_leaves=12)
wheels = st.fixed_dictionaries({"size": integers})
makers = st.fixed_dictionaries({"name": texts, "rank": integers, "rival": st.none()})
car_values = st.fixed_dictionaries({
    "id": integers, "name": texts, "weight": st.none() | floats, "price": decimals,
    "built": moments, "token": st.none() | st.uuids(), "photo": st.binary(max_size=8),
    "anything": trees, "maker": st.none() | makers,
    "spare": st.none() | wheels, "wheels": st.lists(wheels, max_size=3),
    "tags": st.sets(texts, max_size=3), "owners": st.dictionaries(keys, st.none() | integers,
                                                                    max_size=3),
    "makers": st.just([]), "scores": st.lists(integers, max_size=3),
})


def complete(values: dict[str, Any]) -> dict[str, Any]:
    """What an object made of these values reads as."""
    full = dict(values)
    full["wheels"] = [{**w, "maker": None} for w in values["wheels"]]
    if values["spare"] is not None:
        full["spare"] = {**values["spare"], "maker": None}
    return full


def same(a: Any, b: Any) -> bool:
    """Equal, types and signs of zero included."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return a == b and math.copysign(1, a) == math.copysign(1, b)
    return type(a) is type(b) and a == b


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    folder = tmp_path_factory.mktemp("json")
    with (realm.open(folder / "one.realm", classes=ALL, in_memory=True) as one,
          realm.open(folder / "two.realm", classes=ALL, in_memory=True) as two):
        one.begin_write()
        two.begin_write()
        yield one, two
        one.rollback()
        two.rollback()


@hypothesis.given(car_values)
def test_values_come_back_from_an_object_its_text_and_its_copy(both, values):
    one, two = both
    for r in both:
        for cls in (Car, Maker):
            r.objects(cls).delete_all()
    car = one.create(Car, values)
    expected = complete(values)
    assert same(car.to_dict(depth=1), expected)
    for extended in (False, True):
        parsed = two.create_from_json(Car, car.to_json(depth=1, extended=extended), update="all")
        assert same(parsed.to_dict(depth=1), expected)
    copy = two.copy(car, update="modified")
    assert copy == parsed and same(copy.to_dict(depth=1), expected)
    two.objects(Car).delete_all()
    two.objects(Maker).delete_all()
    assert same(two.copy(car).to_dict(depth=1), expected)


# ---- the reader against Python's ---------------------------------------------------------------

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**25), 10**25) | floats | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=20)


def expected_of(value: Any) -> Any:
    """What the engine makes of a number that is no 64-bit integer."""
    if isinstance(value, list):
        return [expected_of(item) for item in value]
    if isinstance(value, dict):
        return {key: expected_of(item) for key, item in value.items()}
    if type(value) is int and not -(2**63) <= value < 2**63:
        return float(value)
    return value


def read(r: realm.Realm, text: str) -> Any:
    car = r.create_from_json(Car, f'{{"id": 1, "anything": [{text}]}}', update="all")
    return realm.to_dict(car)["anything"][0]


@hypothesis.given(plain, st.booleans(), st.sampled_from([None, 1, "\t\r\n "]))
def test_reads_what_python_writes(both, value, ascii_only, indent):
    if isinstance(value, float) and math.isinf(value) or "Infinity" in json.dumps(value):
        return
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert same(read(both[0], text), expected_of(json.loads(text)))


def refuse_constant(name: str) -> None:
    raise ValueError(name)


def python_accepts(text: str) -> bool:
    try:
        value = json.loads(text, parse_constant=refuse_constant)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return False
    return True


def engine_accepts(r: realm.Realm, text: str) -> bool:
    try:
        r.create_from_json(Knot, text, ignore_unknown=True)
    except realm.Error as error:
        return error.code != realm.ErrorCode.MALFORMED_JSON
    return True


SAMPLES = [
    '{"a": [1, -2.5e-3, true, false, null, "x\\u00e9\\ud83d\\ude00"], "b": {"c": {}}}',
    '[[[["\\\\\\"\\/\\b\\f\\n\\r\\t"]]]]', "[0, -0, 0.0, 1e5, 1E+5, 1e-05, 123456789012345678901]",
    '{"a":1,"a":2,"":[]}', ' \t\r\n[ ] ', '"\u00e9\U0001f600"',
]
PIECES = [*'{}[]",:\\ \n\t0123456789.eE+-', "true", "false", "null", "\\u", "\\ud83d", "é", "\x00",
          "\x1f", "\x7f", "\ufeff", "NaN", "Infinity", "//", "'", '"a"', "0x1", "1.", ".1", "01"]


@pytest.mark.parametrize("seed", range(3))
def test_accepts_what_python_accepts(both, seed):
    choose = random.Random(seed)
    for _ in range(1500):
        text = choose.choice(SAMPLES)
        if choose.random() < 0.2:
            text = "".join(choose.choices(PIECES, k=choose.randrange(12)))
        for _ in range(choose.randrange(4)):
            place = choose.randrange(len(text) + 1)
            text = text[:place] + choose.choice(PIECES) + text[place + choose.randrange(3):]
        if "\x00" in text:
            # Not in a C string; the binding says so.
            assert not engine_accepts(both[0], text)
            continue
        assert engine_accepts(both[0], text) == python_accepts(text), repr(text)


def test_huge_and_deep_text(both):
    r = both[0]
    assert read(r, "9" * 300) == float("9" * 300)
    with pytest.raises(realm.PropertyTypeError):
        read(r, "9" * 400)
    assert read(r, "0." + "3" * 100_000) == 1 / 3
    assert read(r, "1e-99999999999999999999") == 0
    for opening in ("[", '{"a":'):
        with pytest.raises(realm.LimitError):
            r.create_from_json(Car, opening * 1_000_000)
    assert read(r, "[" * 98 + "]" * 98) is not None
    with pytest.raises(realm.LimitError):
        read(r, "[" * 100 + "]" * 100)
    text = "".join(random.Random(1).choices(string.printable, k=1_000_000))
    assert read(r, json.dumps(text)) == text


@pytest.mark.parametrize("value", [
    {"$numberLong": "5"}, {"$date": "q"}, {"$ref": "x"}, {"$link": {"table": "Doc", "key": 1}}, {"$oid": "0123456789abcdef01234567"},
    {"$binary": "", "$type": "0"}, {"$dictionary": {"$oid": "x"}}, [{"$uuid": 1}], {"a": {"$": None}}, {"$a": 1, "$b": 2, "$c": 3}])
def test_dictionaries_that_look_like_other_values_come_back(path, value):
    class Doc(realm.Object):
        id: int = realm.PrimaryKey()
        body: Any = None

    with realm.open(path, Doc) as r, r.write():
        doc = r.create(Doc, id=1)
        doc.body = value
        text = doc.to_json()
        r.delete_all(Doc)
        assert r.create_from_json(Doc, text).to_dict()["body"] == value


def test_dicts_and_texts_have_a_greatest_depth(path):
    class Node(realm.Object):
        next: "Node | None" = None

    with realm.open(path, Node) as r, r.write():
        last = r.create(Node)
        for _ in range(300):
            last = r.create(Node, next=last)
        dicts = last.to_dict(depth=200)
        for _ in range(200):
            dicts = dicts["next"]
        assert isinstance(dicts["next"], Node)
        for deeper in (last.to_dict, last.to_json):
            with pytest.raises(realm.LimitError, match="201 links deep, the limit is 200"):
                deeper(depth=201)
