"""Decimals, UUIDs, object ids and properties of any type."""

from __future__ import annotations

import copy
import os
import pickle
import uuid
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

import realm
from realm import ObjectId


class Product(realm.Object):
    id: uuid.UUID = realm.PrimaryKey(default_factory=uuid.uuid4)
    price: Decimal = Decimal(0)
    discount: Decimal | None = None
    batch: ObjectId = realm.Indexed(default_factory=ObjectId)
    origin: ObjectId | None = None
    owner: uuid.UUID | None = None
    extra: Any = None
    tag: Any = realm.Indexed(default=None)
    number: int = 0


class Batch(realm.Object):
    id: ObjectId = realm.PrimaryKey()
    parent: Batch | None = None
    any: Any = None


class Loose(realm.Object):
    id: ObjectId | None = realm.PrimaryKey()


@pytest.fixture
def products(tmp_path):
    path = tmp_path / "products.realm"
    with realm.open(path, classes=[Product, Batch, Loose]) as r:
        yield r


DECIMALS = [
    Decimal(text)
    for text in [
        "0", "-0", "0.00", "1", "-1.10", "1E+6111", "9" * 34 + "E+6111", "1E-6176", "NaN",
        "Infinity", "-Infinity", "1" + "0" * 33, "123.456", "1E+6144", "0E+9000",
    ]
]
IDS = [ObjectId(bytes(12)), ObjectId("ffffffffffffffffffffffff"), ObjectId()]
UUIDS = [uuid.UUID(int=0), uuid.UUID(int=2**128 - 1), uuid.uuid4()]
ANYTHING = [
    None, True, False, 0, -(2**63), 2**63 - 1, 1.5, float("inf"), "", "text \x00 é 😀", b"", b"\x00",
    datetime(2020, 1, 1, tzinfo=timezone.utc), *DECIMALS, *IDS, *UUIDS,
]


def same(a, b):
    if isinstance(a, Decimal):
        if a.is_finite() and b.as_tuple().exponent > 6111:
            return a == b  # stored with zeros at its end, or as a zero with a smaller exponent
        return isinstance(b, Decimal) and str(a) == str(b)
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("value", DECIMALS, ids=str)
def test_decimals_keep_their_digits(products, value):
    with products.write():
        product = products.create(Product, price=value, discount=value)
        assert same(product.price, value) and same(product.discount, value)
    assert same(product.price, value)


@pytest.mark.parametrize(
    ("text", "rule"), [("1" * 35, "34 digits"), ("1E+7000", "exponents"), ("1E-6177", "exponents")]
)
def test_decimals_that_are_not_stored_are_out_of_range(products, text, rule):
    with products.write():
        with pytest.raises(realm.OutOfRangeError, match=rule):
            products.create(Product, price=Decimal(text))
        with pytest.raises(realm.OutOfRangeError, match=rule):
            products.create(Product, extra=Decimal(text))
    with pytest.raises(realm.Error):
        products.objects(Product).filter("price == $0", Decimal(text))


def test_ids_round_trip(products):
    with products.write():
        for given, owner in zip(IDS, UUIDS, strict=True):
            product = products.create(Product, id=owner, batch=given, origin=given, owner=owner)
            assert (product.batch, product.origin, product.owner) == (given, given, owner)
            assert products.find(Product, owner) == product
        assert products.find(Product, uuid.uuid4()) is None
        product.origin = None
        assert product.origin is None
        with pytest.raises(realm.NotNullableError):
            product.batch = None


@pytest.mark.parametrize("value", ANYTHING, ids=repr)
def test_any_holds_every_type(products, value):
    with products.write():
        product = products.create(Product, extra=value, tag=value)
        assert same(product.extra, value) and same(product.tag, value)
    stored = products.objects(Product)[0]
    assert same(stored.extra, value) and same(stored.tag, value)
    assert same(Product(extra=value).extra, value)


def test_any_holds_links_to_objects_of_every_class(products):
    with products.write():
        batch = products.create(Batch, id=ObjectId())
        product = products.create(Product, extra=batch)
        batch.any = product
    assert product.extra == batch and isinstance(product.extra, Batch)
    assert product.extra.any == product
    with products.write():
        with pytest.raises(realm.ArgumentError, match="add it first"):
            product.extra = Batch(id=ObjectId())
        products.delete(batch)
    assert product.extra is None


def test_any_refuses_what_is_not_stored(products):
    with products.write():
        product = products.create(Product)
        for value in [object(), 1j, {1}, datetime(2020, 1, 1)]:
            with pytest.raises(realm.PropertyTypeError):
                product.extra = value
        with pytest.raises(realm.OutOfRangeError):
            product.extra = 2**63
        # In UTC it would be in the year 10000, or 0.
        for text in ("9999-12-31T23:30:00-05:00", "0001-01-01T00:30:00+05:00"):
            with pytest.raises(realm.OutOfRangeError, match="no datetime in UTC"):
                product.extra = datetime.fromisoformat(text)
    assert product.extra is None


def test_types_do_not_mix(products):
    with products.write():
        product = products.create(Product)
        for name, wrong in [
            ("price", True), ("price", "1"), ("price", 1.0), ("batch", "0" * 24), ("batch", bytes(12)),
            ("batch", uuid.uuid4()), ("owner", ObjectId()), ("owner", str(uuid.uuid4())),
        ]:
            with pytest.raises(realm.PropertyTypeError, match=name):
                setattr(product, name, wrong)


def test_primary_keys(products):
    key = ObjectId()
    with products.write():
        batch = products.create(Batch, id=key)
        assert products.create(Batch, {"id": key}, update="all") == batch
        with pytest.raises(realm.ObjectExistsError):
            products.create(Batch, id=key)
        loose = products.create(Loose, id=None)
        assert products.find(Loose, None) == loose
    assert products.find(Batch, key) == batch
    assert products.find(Batch, ObjectId(key.bytes)) == batch
    assert products.find(Batch, ObjectId()) is None


def test_update_modified_leaves_equal_values_alone(products):
    key = uuid.uuid4()
    batch = ObjectId()
    with products.write():
        products.create(Product, id=key, price=Decimal("1.0"), batch=batch, extra=key)
    with products.write():
        again = {"id": key, "price": Decimal("1.0"), "batch": batch, "extra": key}
        products.create(Product, again, update="modified")
    found = products.find(Product, key)
    assert (str(found.price), found.batch, found.extra) == ("1.0", batch, key)


def test_queries_sorting_and_aggregates(products):
    prices = ["1.10", "-2", "0.30", "100", "NaN"]
    values = [1, 1.0, Decimal("1.00"), "one", None]
    with products.write():
        for number, (price, value) in enumerate(zip(prices, values, strict=True)):
            products.create(
                Product,
                id=uuid.UUID(int=number),
                number=number,
                price=Decimal(price),
                extra=value,
                tag=value,
                batch=ObjectId(bytes(11) + bytes([number])),
            )
    objects = products.objects(Product)

    def numbers(query, *arguments):
        return [p.number for p in objects.filter(query, *arguments).sorted("number")]

    assert numbers("price == $0", Decimal("1.1")) == [0]
    assert numbers("price > 0") == [0, 2, 3]
    assert numbers("price BETWEEN {0.3, 1.1}") == [0, 2]
    assert numbers("extra == 1") == numbers("tag == $0", Decimal(1)) == [0, 1, 2]
    assert numbers("tag == 'one'") == numbers("extra CONTAINS 'n'") == [3]
    assert numbers("batch == $0", ObjectId(bytes(11) + b"\x02")) == [2]
    assert numbers("batch IN $0", [ObjectId(bytes(12)), ObjectId(bytes(11) + b"\x04")]) == [0, 4]
    assert numbers("id == $0", uuid.UUID(int=3)) == [3]
    assert numbers("id < uuid(00000000-0000-0000-0000-000000000002)") == [0, 1]
    assert [p.number for p in objects.sorted("price")] == [4, 1, 2, 0, 3]
    assert [p.number for p in objects.sorted("extra", "number")][0] == 4
    assert objects.sum("price") == Decimal("99.40")
    assert objects.min("price") == Decimal("-2")
    assert objects.max("price") == Decimal(100)
    assert objects.average("price") == Decimal("24.85")
    assert objects.sum("extra") == Decimal("3.00")
    assert objects.max("extra") == "one"


def test_a_realm_opened_without_classes_knows_the_types(tmp_path):
    path = tmp_path / "a.realm"
    given = dict(id=uuid.uuid4(), price=Decimal("1.5"), origin=ObjectId(), extra="x")
    with realm.open(path, classes=[Product, Batch, Loose]) as r, r.write():
        r.create(Product, given)
    with realm.open(path) as r:
        product = r.objects("Product")[0]
        for name, value in given.items():
            assert getattr(product, name) == value
        assert realm.properties(type(product))["price"].type == "Decimal"
        assert realm.properties(type(product))["extra"].type == "Any"


def test_object_ids_behave_like_values():
    one = ObjectId("0123456789abcdef01234567")
    assert str(one) == "0123456789abcdef01234567" == ObjectId(one.bytes).bytes.hex()
    assert repr(one) == "ObjectId('0123456789abcdef01234567')"
    assert one == ObjectId("0123456789ABCDEF01234567") and hash(one) == hash(ObjectId(one))
    assert one != one.bytes and one < ObjectId("f" * 24) and one >= one
    assert one.seconds == 0x01234567
    assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one
    with pytest.raises(AttributeError):
        one.anything = 1
    for wrong in ["", "0" * 23, "g" * 24, "0" * 12 + " " * 12, b"", bytes(13)]:
        with pytest.raises(ValueError):
            ObjectId(wrong)
    with pytest.raises(TypeError):
        ObjectId(5)


def test_new_object_ids_differ_also_after_a_fork():
    made = [ObjectId() for _ in range(1000)]
    assert len(set(made)) == 1000
    assert abs(made[0].seconds - datetime.now(timezone.utc).timestamp()) < 5
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, ObjectId().bytes)
        os._exit(0)
    os.waitpid(child, 0)
    theirs = os.read(read, 12)
    os.close(read)
    os.close(write)
    assert theirs[4:9] != made[0].bytes[4:9]


def test_declarations_are_checked():
    with pytest.raises(realm.SchemaError, match="primary key"):

        class A(realm.Object):
            id: Decimal = realm.PrimaryKey()

    with pytest.raises(realm.SchemaError, match="index"):

        class B(realm.Object):
            price: Decimal = realm.Indexed()

    with pytest.raises(realm.PropertyTypeError):

        class C(realm.Object):
            price: Decimal = 1.5

    class D(realm.Object):
        anything: Any
        price: Decimal = Decimal("1.0")

    assert realm.properties(D)["anything"].nullable and D().anything is None and str(D().price) == "1.0"


def test_datetimes_in_any_are_instants(products):
    zone = timezone(timedelta(hours=2))
    with products.write():
        product = products.create(Product, extra=datetime(2020, 1, 1, 2, tzinfo=zone))
    assert product.extra == datetime(2020, 1, 1, tzinfo=timezone.utc)
    assert product.extra.tzinfo is timezone.utc
