"""Checked by test_typing.py with mypy --strict; the comments are what it must infer."""

# pyright: standard

from __future__ import annotations

import enum
import uuid
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, assert_type

import realm


class Country(realm.Object):
    code: str = realm.PrimaryKey()
    name: str = ""


@realm.typed
class Airport(realm.Object):
    icao: str = realm.PrimaryKey()
    name: str = realm.Indexed(default="")
    elevation: int | None = None
    weight: realm.Float32 = 0.0
    opened: datetime | None = None
    country: Country | None = None


class Product(realm.Object):
    id: uuid.UUID = realm.PrimaryKey(default_factory=uuid.uuid4)
    price: Decimal = Decimal(0)
    batch: realm.ObjectId | None = None
    extra: Any = None


class Note(realm.Object):
    """As it is written without a thought of checkers."""

    title: str
    pages: int
    tags: list[str]
    seen: set[datetime]
    counts: dict[str, int]
    airport: Airport | None
    links: realm.List[Airport]


class Mixed:
    made: date
    words: list[str]


class LongNote(Mixed, Note):
    part: Address | None


def use_plain_models() -> None:
    Note()
    note = Note(title="a", tags=["b"], airport=Airport(icao="A"))
    assert_type(note.tags, list[str])
    assert_type(note.airport, Airport | None)
    LongNote(title="a", made=date(2020, 1, 1), part=Address(street="s")).words.append("a")


def use_values() -> None:
    product = Product(price=Decimal("1.5"), batch=realm.ObjectId())
    assert_type(product.id, uuid.UUID)
    assert_type(product.price, Decimal)
    assert_type(product.batch, realm.ObjectId | None)
    assert_type(product.extra, Any)
    assert_type(realm.ObjectId("0" * 24).bytes, bytes)


class Shade(enum.Enum):
    DARK = "dark"


@realm.typed
class Named(realm.Object):
    title: str = realm.Field(indexed=True, default="")


@realm.typed
class Shelf(Named):
    id: int = realm.Field(primary_key=True, name_in_file="_id")
    shade: Shade = Shade.DARK
    made: date | None = None
    kept: timedelta = timedelta()
    books: list[Book] = []
    places: dict[str, int] = realm.Field(default_factory=dict)
    opened: datetime = realm.Default(factory=lambda: datetime.now(timezone.utc))


class Book(realm.Object):
    id: int
    text: str = realm.Field(full_text=True, default="")
    pages: set[int] = set()
    shelves = realm.Backlinks(Shelf, "books")


def use_fields() -> None:
    book = Book(id=1)
    shelf = Shelf(id=1, title="a", books=[book], made=date(2020, 1, 1))
    assert_type(shelf.shade, Shade)
    assert_type(shelf.made, date | None)
    assert_type(shelf.kept, timedelta)
    assert_type(shelf.title, str)
    assert_type(book.shelves, realm.Results[Shelf])
    assert_type(realm.reference(book), realm.Reference)
    classes = [Shelf, Book]
    with realm.open("x.realm", classes) as r:
        r.objects(Book).where(Book.shelves.count() > 1)
        r.resolve(realm.reference(book))
        r.insert_many(Book, {"id": [1, 2]})
        books = r.objects(Book)
        assert_type(books.where(realm.fn.length(Book.text) > 3).update(text="x"), int)
        assert_type(books.columns("id"), realm.Columns)
        for group in books.group_by(Book.text, n=realm.agg.count()):
            print(group.n)
    realm.open("x.realm", Book)


class Address(realm.EmbeddedObject):
    street: str


@realm.typed
class Person(realm.Object):
    id: int = realm.PrimaryKey()
    tags: list[str] = []
    scores: set[int] = set()
    weights: dict[str, float | None] = {}
    address: Address | None = None
    homes: list[Address] = []


def use_collections(person: Person) -> None:
    assert_type(person.tags, list[str])
    assert_type(person.tags[0], str)
    person.tags.append("a")
    person.scores |= {1}
    person.weights["a"] = None
    person.address = Address(street="s")
    assert_type(person.homes[0].street, str)


def use() -> None:
    airport = Airport(icao="LPPT", name="Lisbon", weight=1.5)
    assert_type(airport.icao, str)
    assert_type(airport.elevation, int | None)
    assert_type(airport.weight, float)
    with realm.open("x.realm", classes=[Airport], schema_version=1) as r:
        with r.write():
            assert_type(r.add(airport), Airport)
            assert_type(r.create(Airport, icao="A", update="all"), Airport)
        results = r.objects(Airport)
        assert_type(results, realm.Results[Airport])
        assert_type(results.filter("elevation > $0", 3).sorted("name").limit(2),
                    realm.Results[Airport])
        assert_type(results.limit(5).where(Airport.elevation == 3).distinct("name").filter("name != ''"),
                    realm.Results[Airport])
        assert_type(results[0], Airport)
        assert_type(results[1:], list[Airport])
        assert_type(results.first(), Airport | None)
        for one in results:
            assert_type(one, Airport)
        assert_type(r.find(Airport, "A"), Airport | None)
        assert_type(r.backlinks(airport, Airport, "country"), realm.Results[Airport])
        assert_type(r.find("Airport", "A"), Any)
        assert_type(r.objects("Airport"), realm.Results[Any])
        assert_type(r.refresh(), bool)
        assert_type(len(results), int)
        r.delete(results)
        r.delete([airport])
    try:
        pass
    except realm.Error as error:
        assert_type(error.code, realm.ErrorCode)


def use_expressions(r: realm.Realm) -> None:
    airports = r.objects(Airport)
    found = airports.where((Airport.icao == "LPPT") & Airport.name.startswith("L"))
    assert_type(found, realm.Results[Airport])
    airports.where(realm.expr(Airport.elevation) > 3, realm.expr(Airport.weight) < 2.0)
    airports.where(lambda airport: airport.country.name == "Peru")
    assert_type(realm.expr(Airport.name), realm.Path[str])
    assert_type(realm.expr(Airport.weight) < 1.5, realm.Condition)
    assert_type(realm.expr(Airport.name).startswith("x", case=False), realm.Condition)
    assert_type(realm.expr(Airport.elevation).is_null(), realm.Condition)
    assert_type(realm.expr(Airport.name).in_(["a", "b"]) 
                | realm.not_(Airport.icao == "x"), realm.Condition)
    assert_type(realm.expr(Airport.elevation).between(1, 3), realm.Condition)
    assert_type(realm.expr(Airport.weight) + 1 > 2, realm.Condition)
    assert_type(realm.expr(Airport.country).name == "Peru", realm.Condition)
    assert_type(realm.expr(Person.tags).count(), realm.Expression[int])
    airports.where(realm.expr(Person.homes).any(lambda home: home.street == "s"))
    airports.where(realm.expr(Person.homes).where(lambda home: home.street == "s").count() > 1)
    airports.where(realm.backlinks(Airport.country).count() > 1)
    assert_type(airports.sorted(Airport.name, realm.expr(Airport.elevation).desc(), "-icao"),
                realm.Results[Airport])
    assert_type(airports.distinct(Airport.country), realm.Results[Airport])
    assert_type(list(reversed(airports)), list[Airport])
    airports.max(Airport.elevation)
    airports.values(Airport.icao, Airport.name)
    person = r.objects(Person)[0]
    assert_type(realm.results(person.homes).where(Address.street == "s"), realm.Results[Address])
    assert_type(realm.results(person.weights).first(), float | None)
    assert_type(realm.results(person.tags).limit(2)[0], str)
    assert_type(realm.properties(Airport)["icao"].primary_key, bool)


def use_migrations(path: str) -> None:
    def with_two(old: realm.Realm, new: realm.Realm) -> None:
        assert_type(new.objects(Airport), realm.Results[Airport])

    def with_three(old: realm.Realm, new: realm.Realm, m: realm.Migration) -> None:
        m.rename(Airport, "title", "name")
        m.rename("Airport", "title", "name")
        m.rename_class("Town", Airport)
        assert_type(m.delete_class("Dog"), bool)
        assert_type(m.old_version, int)
        for before, after in m.each(Airport):
            assert_type(after, Airport)
            after.name = before.title.strip()

    realm.open(path, [Airport], version=2, migrate=with_two)
    realm.open(path, [Airport], version=2, migrate=with_three)
    realm.open(path, [Airport], version=3, migrate={2: with_two, 3: with_three})
    plan = realm.migration_plan(path, [Airport], version=2, migrate=with_three)
    assert_type(plan, realm.MigrationPlan)
    assert_type(plan.differences, tuple[str, ...])
    assert_type(plan.refusal, realm.Error | None)
    assert_type(realm.open_async(path, [Airport]).result(), realm.Realm)
    realm.open(path, [Airport], schema_mode="manual", progress=lambda part: part < 0.5)
    realm.open(path, [Airport], initial_data=lambda r: r.create(Airport, icao="x"))


async def open_elsewhere(path: str) -> None:
    opening = realm.open_async(path, [Airport], version=2)
    assert_type(opening, realm.Opening)
    assert_type(await opening, realm.Realm)
    opening.add_done_callback(lambda o: o.cancel())


async def observe(r: realm.Realm, airport: Airport) -> None:
    airports = r.objects(Airport)
    token = airports.observe(
        lambda change: print(change.collection.first(), change.insertions[0] + 1), "name"
    )
    assert_type(token, realm.Token)
    with airport.observe(lambda change: print(change.object.name, change.old)):
        r.refresh()
    async for change in airports.changes():
        assert_type(change, realm.CollectionChange[realm.Results[Airport]])
        assert_type(change.modifications_new, realm.Positions)
    async for told in airport.changes(Airport.name):
        assert_type(told.object, Airport)
        assert_type(told.properties, dict[str, realm.PropertyChange])
    assert_type(airports.freeze(), realm.Results[Airport])
    assert_type(r.thaw(airport.freeze()), Airport | None)
    assert_type(r.freeze(), realm.Realm)
