"""Typed expressions: what they compile to, what they find, and what they say when misused."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

import realm
from realm._paths import compiled
from realm._predicates import spelled


class Dept(realm.Object):
    name: str = realm.PrimaryKey()
    floor: int = 0


class Dog(realm.Object):
    name: str = realm.PrimaryKey()
    age: int = 0
    good: bool = True
    count: int = 0


class Person(realm.Object):
    id: int = realm.PrimaryKey()
    name: str = ""
    age: int | None = None
    height: float = 0.0
    active: bool = True
    born: datetime | None = None
    photo: bytes = b""
    dept: Dept | None
    boss: Person | None
    dogs: list[Dog]
    tags: list[str]
    numbers: set[int]
    weights: dict[str, float]
    data: Any = None


class Reserved(realm.Object):
    any: int = 0
    true: int = 0
    dept: Dept | None


BORN = datetime(1990, 5, 6, tzinfo=timezone.utc)


@pytest.fixture(scope="module")
def r(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("expressions") / "a.realm")
    with realm.open(path, classes=[Person, Reserved]) as opened:
        with opened.write():
            cellar, attic = Dept(name="Cellar", floor=-1), Dept(name="Attic", floor=3)
            rex, bo = Dog(name="Rex", age=5), Dog(name="Bo", age=2, good=False)
            ada = opened.create(
                Person, id=1, name="Ada", age=30, height=1.7, dept=attic, dogs=[rex, bo],
                tags=["a", "b"], numbers={1, 5}, weights={"may": 60.0, "june": 61.5}, born=BORN,
                data={"k": [1, 2]}, photo=b"\0\1",
            )
            opened.create(Person, id=2, name="bob", age=40, height=1.9, dept=cellar, boss=ada,
                          dogs=[bo], tags=["b"], numbers={7}, active=False, data=5)
            opened.create(Person, id=3, name="Øre", boss=ada, tags=["x", "x"], weights={"may": 9.0})
            opened.create(Person, id=4, name="Ada Zoe", age=2, dept=attic, numbers={3, 4},
                          dogs=[rex], data="text")
            opened.create(Reserved, any=1)
        yield opened


P = Person

# Expression, text of the query, what must hold in Python.
CASES: list[tuple[Any, str, Any]] = [
    (P.age < 31, "age < $0", lambda p: p.age is not None and p.age < 31),
    (P.age <= 30, "age <= $0", lambda p: p.age is not None and p.age <= 30),
    (P.age > 30, "age > $0", lambda p: p.age is not None and p.age > 30),
    (P.age >= 30, "age >= $0", lambda p: p.age is not None and p.age >= 30),
    (P.age == 30, "age == $0", lambda p: p.age == 30),
    (P.age != 30, "age != $0", lambda p: p.age != 30),
    (30 > P.age, "age < $0", lambda p: p.age is not None and p.age < 30),
    (P.age.is_null(), "age == $0", lambda p: p.age is None),
    (P.age == None, "age == $0", lambda p: p.age is None),  # noqa: E711
    (P.age != None, "age != $0", lambda p: p.age is not None),  # noqa: E711
    (~P.age.is_null(), "NOT (age == $0)", lambda p: p.age is not None),
    (P.active, "active == $0", lambda p: p.active),
    (~P.active, "NOT (active == $0)", lambda p: not p.active),
    (P.active & (P.age > 1), "active == $0 AND age > $1", lambda p: p.active and (p.age or 0) > 1),
    ((P.age > 1) | P.active, "age > $0 OR active == $1", lambda p: p.active or (p.age or 0) > 1),
    ((P.age == 30) | (P.age == 40) & (P.id == 1), "age == $0 OR (age == $1 AND id == $2)",
     lambda p: p.age == 30),
    (((P.age == 30) | (P.age == 40)) & (P.id == 1), "(age == $0 OR age == $1) AND id == $2",
     lambda p: p.id == 1),
    (~((P.age == 30) & (P.id == 1)), "NOT (age == $0 AND id == $1)", lambda p: p.id != 1),
    (P.age.in_([30, 40]), "age IN $0", lambda p: p.age in (30, 40)),
    (P.age.in_(x for x in (2, None)), "age IN $0", lambda p: p.age in (2, None)),
    (P.name.in_([]), "name IN $0", lambda p: False),
    (P.age.between(2, 30), "age BETWEEN {$0, $1}", lambda p: p.age is not None and 2 <= p.age <= 30),
    (P.age.between(P.id, 30), "age BETWEEN {id, $0}",
     lambda p: p.age is not None and p.id <= p.age <= 30),
    (P.age.between(P.age, P.age), "age BETWEEN {age, age}", lambda p: p.age is not None),
    (P.numbers.between(P.id, P.id + 1), "numbers BETWEEN {id, (id + $0)}",
     lambda p: any(p.id <= number <= p.id + 1 for number in p.numbers)),
    (P.born == BORN, "born == $0", lambda p: p.born == BORN),
    (P.born.between(BORN, BORN), "born BETWEEN {$0, $1}", lambda p: p.born == BORN),
    (P.photo.startswith(b"\0"), "photo BEGINSWITH $0", lambda p: p.photo.startswith(b"\0")),
    (P.name.startswith("Ada"), "name BEGINSWITH $0", lambda p: p.name.startswith("Ada")),
    (P.name.startswith("aDA", case=False), "name BEGINSWITH[c] $0",
     lambda p: p.name.startswith("Ada")),
    (P.name.endswith("Zoe"), "name ENDSWITH $0", lambda p: p.name.endswith("Zoe")),
    (P.name.contains("da"), "name CONTAINS $0", lambda p: "da" in p.name),
    (P.name.contains("ØR", case=False), "name CONTAINS[c] $0", lambda p: p.id == 3),
    (P.name.equals("BOB", case=False), "name ==[c] $0", lambda p: p.id == 2),
    (P.name.equals("ádá", case=False, diacritics=False), "name ==[cd] $0", lambda p: p.id == 1),
    (P.name.in_(["ADA"], case=False), "name IN[c] $0", lambda p: p.id == 1),
    (P.name.like("?d*"), "name LIKE $0", lambda p: p.id in (1, 4)),
    (P.name.matches("A[a-z]+"), "name MATCHES $0", lambda p: p.id == 1),
    (P.dept.name == "Attic", "dept.name == $0", lambda p: p.dept and p.dept.name == "Attic"),
    (P.dept.floor > 0, "dept.floor > $0", lambda p: p.dept and p.dept.floor > 0),
    (P.dept.is_null(), "dept == $0", lambda p: p.dept is None),
    (P.boss.dept.name == "Attic", "boss.dept.name == $0", lambda p: p.boss is not None),
    (P.height > P.age, "height > age", lambda p: p.age is not None and p.height > p.age),
    (P.age + 1 > 30, "(age + $0) > $1", lambda p: p.age is not None and p.age + 1 > 30),
    (2 * P.age - 10 == P.age + 20, "(($0 * age) - $1) == (age + $2)",
     lambda p: p.age in (30, None)),  # None equals None
    (P.height / 2 < 0.9, "(height / $0) < $1", lambda p: p.height / 2 < 0.9),
    (100 - P.age < 65, "($0 - age) < $1", lambda p: p.age is not None and 100 - p.age < 65),
    (-P.age < -30, "($0 - age) < $1", lambda p: p.age is not None and -p.age < -30),
    (P.tags.contains("a"), "$0 IN tags", lambda p: "a" in p.tags),
    (P.dogs.name.contains("o"), "dogs.name CONTAINS $0", lambda p: any("o" in d.name for d in p.dogs)),
    (P.tags.any() == "x", "ANY tags == $0", lambda p: "x" in p.tags),
    (P.tags.all() == "x", "ALL tags == $0", lambda p: all(t == "x" for t in p.tags)),
    (P.tags.none() == "x", "NONE tags == $0", lambda p: "x" not in p.tags),
    (P.tags.any().startswith("x"), "ANY tags BEGINSWITH $0", lambda p: "x" in p.tags),
    (P.tags.any().contains("x"), "ANY tags CONTAINS $0", lambda p: "x" in p.tags),
    (P.tags.count() == 2, "tags.@count == $0", lambda p: len(p.tags) == 2),
    (P.tags[0] == "b", "tags[0] == $0", lambda p: p.tags[:1] == ["b"]),
    (P.tags[-1] == "b", "tags[LAST] == $0", lambda p: p.tags[-1:] == ["b"]),
    (P.name.in_(P.tags), "name IN tags", lambda p: p.name in p.tags),
    (P.numbers.contains(7), "$0 IN numbers", lambda p: 7 in p.numbers),
    (P.numbers.max() >= 5, "numbers.@max >= $0", lambda p: any(n >= 5 for n in p.numbers)),
    (P.numbers.min() == 1, "numbers.@min == $0", lambda p: 1 in p.numbers),
    (P.numbers.sum() > 6, "numbers.@sum > $0", lambda p: sum(p.numbers) > 6),
    (P.numbers.avg() == 3.5, "numbers.@avg == $0", lambda p: p.id == 4),
    (P.weights["may"] > 20, "weights['may'] > $0", lambda p: p.weights.get("may", 0) > 20),
    (P.weights.any() > 61, "ANY weights > $0", lambda p: p.id == 1),
    (P.dogs.count() > 1, "dogs.@count > $0", lambda p: len(p.dogs) > 1),
    (P.dogs.age > 4, "dogs.age > $0", lambda p: any(d.age > 4 for d in p.dogs)),
    (P.dogs.any().age > 4, "ANY dogs.age > $0", lambda p: any(d.age > 4 for d in p.dogs)),
    (P.dogs.age.all() > 4, "ALL dogs.age > $0", lambda p: all(d.age > 4 for d in p.dogs)),
    (P.dogs.age.max() == 5, "dogs.@max.age == $0", lambda p: 5 in [d.age for d in p.dogs]),
    (P.dogs.max("age") == 5, "dogs.@max.age == $0", lambda p: 5 in [d.age for d in p.dogs]),
    (P.dogs["count"] == 0, "dogs.count == $0", lambda p: len(p.dogs) > 0),
    (P.dogs[0].age > 2, "dogs[0].age > $0", lambda p: len(p.dogs) > 0 and p.dogs[0].age > 2),
    (P.dogs.where(lambda d: (d.age > 1) & d.good).count() > 0,
     "SUBQUERY(dogs, $v0, $v0.age > $0 AND $v0.good == $1).@count > $2",
     lambda p: any(d.age > 1 and d.good for d in p.dogs)),
    (P.dogs.any(lambda d: d.age < 3), "SUBQUERY(dogs, $v0, $v0.age < $0).@count > $1",
     lambda p: any(d.age < 3 for d in p.dogs)),
    (P.dogs.all(lambda d: d.age < 3), "SUBQUERY(dogs, $v0, NOT ($v0.age < $0)).@count == $1",
     lambda p: all(d.age < 3 for d in p.dogs)),
    (P.dogs.none(lambda d: d.age < 3), "SUBQUERY(dogs, $v0, $v0.age < $0).@count == $1",
     lambda p: not any(d.age < 3 for d in p.dogs)),
    (P.dogs.any(lambda d: d.age > P.age), "SUBQUERY(dogs, $v0, $v0.age > SELF.age).@count > $0",
     lambda p: p.age is not None and any(d.age > p.age for d in p.dogs)),
    (P.tags.where(lambda t: t == "x").count() == 2,
     "SUBQUERY(tags, $v0, $v0 == $0).@count == $1", lambda p: list(p.tags).count("x") == 2),
    (P.dogs.where(lambda d: d.good).max("age") == 5,
     "SUBQUERY(dogs, $v0, $v0.good == $0).@max.age == $1",
     lambda p: 5 in [d.age for d in p.dogs if d.good]),
    (P.data["k"][0] == 1, "data['k'][0] == $0", lambda p: p.id == 1),
    (P.data == 5, "data == $0", lambda p: p.id == 2),
    (realm.backlinks(Person.boss).count() == 2, "@links.Person.boss.@count == $0",
     lambda p: p.id == 1),
    (realm.backlinks(Person.boss).name == "bob", "@links.Person.boss.name == $0",
     lambda p: p.id == 1),
    (P.boss.backlinks(Person.boss).count() == 2, "boss.@links.Person.boss.@count == $0",
     lambda p: p.boss is not None),
    (realm.backlinks(Person.boss).any(lambda p: p.age > 39),
     "SUBQUERY(@links.Person.boss, $v0, $v0.age > $0).@count > $1", lambda p: p.id == 1),
]


@pytest.mark.parametrize(("condition", "text", "holds"), CASES, ids=[case[1] for case in CASES])
def test_they_find_what_python_finds(r, condition, text, holds):
    assert spelled(compiled((condition,), Person)[0]) == text
    found = [p.id for p in r.objects(Person).where(condition)]
    assert found == [p.id for p in r.objects(Person) if holds(p)]


def test_objects_are_values(r):
    ada = r.find(Person, 1)
    assert [p.id for p in r.objects(Person).where(P.boss == ada)] == [2, 3]
    assert [p.id for p in r.objects(Person).where(P.boss.in_([ada, None]))] == [1, 2, 3, 4]
    assert [p.id for p in r.objects(Person).where(P.dept == ada.dept)] == [1, 4]


def test_several_conditions_and_functions(r):
    assert [p.id for p in r.objects(Person).where(P.active, P.age > 1, P.age < 9)] == [4]
    assert [p.id for p in r.objects(Person).where(lambda p: (p.age > 1) & p.active)] == [1, 4]
    assert [p.id for p in r.objects("Person").where(lambda p: p.dept.floor < 0)] == [2]
    old = r.objects(Person).where(P.age > 2)
    assert [p.id for p in old.where(P.age < 40).where(P.active)] == [1]


def test_values_are_never_part_of_a_text(r):
    for value in ('" OR TRUEPREDICATE OR "', "$0", "x') == ('", "\\", "a\0b", "null"):
        for condition in (P.name == value, P.name.contains(value), P.name.in_([value])):
            parts, arguments = compiled((condition,), Person)
            assert spelled(parts).endswith(" $0") and arguments in ([value], [[value]])
            assert r.objects(Person).where(condition).first() is None
    for key in ("x'] == 1 OR ['", '"', "a\\'\"b", "#", ""):
        assert r.objects(Person).where(P.weights[key] == 1).first() is None
        with r.write():
            r.find(Person, 1).weights[key] = 1.0
        assert [p.id for p in r.objects(Person).where(P.weights[key] == 1)] == [1]
        with r.write():
            del r.find(Person, 1).weights[key]


def test_sorting_and_distinct(r):
    people = r.objects(Person)
    assert [p.id for p in people.sorted(P.age.desc())] == [2, 1, 4, 3]
    assert [p.id for p in people.sorted(P.age.asc(), reverse=True)] == [2, 1, 4, 3]
    assert [p.id for p in people.sorted(P.active, P.name.desc())] == [2, 3, 4, 1]
    assert [p.id for p in people.sorted(P.dept.name, "-id")] == [4, 1, 2, 3]
    assert [p.id for p in people.distinct(P.active)] == [1, 2]
    assert people.max(P.age) == 40 and people.min(P.age) == 2 and people.sum(P.age) == 72
    assert people.avg(P.age) == people.average("age") == 24
    assert people.values(P.id, P.age)[0] == (1, 30)
    for bad in (P.tags[0], P.weights["may"], P.age + 1, 5):
        with pytest.raises((realm.QueryError, TypeError)):
            people.sorted(bad)


def test_inherited_properties_fit_derived_classes(r):
    class Animal(realm.Object):
        name: str = realm.PrimaryKey()

    class Cat(Animal):
        lives: int = 9

    assert spelled(compiled((Animal.name == "x",), Cat)[0]) == "name == $0"
    with pytest.raises(realm.QueryError, match="belongs to Cat, but the query is on Animal"):
        compiled((Cat.lives == 9,), Animal)


def test_names_that_are_words_of_the_language(r):
    reserved = Reserved
    assert r.objects(Reserved).where(reserved.any == 1).first() is not None
    parts, arguments = compiled((reserved.true > 2, reserved.any < 3), Reserved)
    assert spelled(parts) == "#true > $0 AND #any < $1" and arguments == [2, 3]
    people = r.objects(Reserved)
    assert [x.any for x in people.sorted(reserved.any.desc(), reserved.true)] == sorted(
        (x.any for x in people), reverse=True
    )


def test_words_of_the_language_behind_links_and_in_collections(tmp_path):
    class Word(realm.Object):
        id: int = realm.PrimaryKey()
        all: int = 0
        none: list[int] = []
        self: "Word | None" = None
        matches: list["Word"] = []

    with realm.open(tmp_path / "words.realm", Word) as words:
        with words.write():
            first = words.create(Word, id=1, all=5, none=[7, 8])
            words.create(Word, id=2, all=6, none=[9], self=first, matches=[first])
        found = words.objects(Word)
        assert [w.id for w in found.where(Word.self["all"] == 5)] == [2]
        assert [w.id for w in found.where(Word.none[1] == 8)] == [1]
        assert [w.id for w in found.where(Word.matches.max("all") == 5)] == [2]
        assert [w.id for w in found.where(Word.matches.where(lambda w: w["all"] > 4).count() == 1)] == [2]
        assert [w.id for w in found.sorted(Word.self["all"])] == [2, 1]
        assert [w.id for w in found.sorted(Word.self["all"].desc())] == [1, 2]


def test_long_chains(r):
    condition = P.id == 0
    for number in range(1, 20000):
        condition |= P.id == number
    assert r.objects(Person).where(condition).count() == 4


MISTAKES: list[tuple[Any, type[BaseException], str]] = [
    (lambda: bool(P.age < 3), TypeError, "join conditions with & | ~"),
    (lambda: 1 < P.age < 3, TypeError, r"chained comparisons as \(a < x\) & \(x < b\)"),
    (lambda: (P.age < 3) and P.active, TypeError, "instead of `and`"),
    (lambda: (P.age < 3) or P.active, TypeError, "instead of `and`, `or`"),
    (lambda: not P.active, TypeError, "`not`"),
    (lambda: P.age < 2 & P.name.startswith("x"), TypeError, "parentheses"),
    (lambda: P.age & (P.id == 1), TypeError, "parentheses"),
    (lambda: 3 in P.numbers, TypeError, r"y.contains\(x\)"),
    (lambda: P.age in [1, 2], TypeError, r"x.in_\(y\)"),
    (lambda: list(P.tags), TypeError, "not iterable"),
    (lambda: P.agee, AttributeError, "agee"),
    (lambda: P.dept.nam, AttributeError, "Dept has no property 'nam'; did you mean 'name'"),
    (lambda: P.age.foo, AttributeError, "Person.age is int, which has no 'foo'"),
    (lambda: P.age.startswith("x"), TypeError, r"Person.age is int; startswith\(\) is for text"),
    (lambda: P.dept.like("x"), TypeError, "Person.dept is a link to Dept"),
    (lambda: P.age.count(), TypeError, "for collections"),
    (lambda: P.age.any(), TypeError, "for collections"),
    (lambda: P.dogs.max(), TypeError, "needs the name of a property"),
    (lambda: P.dogs.max("agee"), AttributeError, "did you mean 'age'"),
    (lambda: P.dogs.where(3), TypeError, "a function of an element"),
    (lambda: P.dogs.any().any(), TypeError, "quantifier already"),
    (lambda: P.name.in_("abc"), TypeError, "list of values"),
    (lambda: P.age + "x", TypeError, "for numbers"),
    (lambda: P.age + None, TypeError, "for numbers"),
    (lambda: P.weights[0], TypeError, "no element 0"),
    (lambda: P.tags["a"], TypeError, "no element 'a'"),
    (lambda: P.tags[-2], realm.QueryError, "-1 alone"),
    (lambda: P.name[0], TypeError, "no element 0"),
    (lambda: realm.backlinks(P.age), TypeError, "a property with links"),
    (lambda: P.dept.backlinks(P.boss), TypeError, "links to Person, not to Dept"),
    (lambda: realm.expr(3), TypeError, "a property of a class"),
]


@pytest.mark.parametrize(("mistake", "error", "message"), MISTAKES)
def test_mistakes_are_explained(mistake, error, message):
    with pytest.raises(error, match=message):
        mistake()


@pytest.mark.parametrize(
    ("condition", "error", "message"),
    [
        (True, TypeError, "takes conditions, such as Dog.age < 2, not True"),
        ("age < 2", TypeError, "not 'age < 2'"),
        (P.age, TypeError, "is a value, not a condition"),
        (Dog.age < 3, realm.QueryError, "Dog.age belongs to Dog, but the query is on Person"),
        (P.age == (P.id == 3), TypeError, "is a condition, not a value"),
        (P.age == "x", realm.QueryError, "age"),
    ],
)
def test_where_takes_conditions_of_its_class(r, condition, error, message):
    with pytest.raises(error, match=message):
        r.objects(Person).where(condition)
    with pytest.raises(TypeError, match="needs a condition"):
        r.objects(Person).where()


def test_elements_stay_in_their_function(r):
    kept = []
    P.dogs.where(lambda d: kept.append(d) or d.good)
    with pytest.raises(realm.QueryError, match="outside of it"):
        r.objects(Person).where(kept[0].good)


def test_reprs():
    assert repr((P.age < 2) & (P.name == "x")) == "<condition age < $0 AND name == $1, with 2, 'x'>"
    assert repr(P.dept.name) == "<expression dept.name>"
    assert repr(P.age.desc()) == "<sort by Person.age DESC>"
    assert repr(P.dogs.where(lambda d: d.good)) == (
        "<subquery SUBQUERY(dogs, $v0, $v0.good == $0), with True>"
    )


def test_not(r):
    assert r.objects(Person).where(realm.not_(P.active)).count() == 1
    assert repr(realm.not_(P.age == 2)) == repr(~(P.age == 2))


def test_conditions_are_used_again(r):
    adult = P.age > 17
    assert r.objects(Person).where(adult).count() == 2
    assert r.objects(Person).where(adult & P.active).count() == 1
    assert r.objects(Person).where(~adult).count() == 2


def test_between_expressions_is_said_of_one_element(tmp_path):
    class Ship(realm.Object):
        id: int = realm.PrimaryKey()
        low: int = 0
        high: int = 0
        marks: list[int]

    with realm.open(str(tmp_path / "a.realm"), classes=[Ship]) as r, r.write():
        r.create(Ship, id=1, low=3, high=5, marks=[1, 9])
        r.create(Ship, id=2, low=3, high=5, marks=[1, 4])
        found = r.objects(Ship).where(Ship.marks.between(Ship.low, Ship.high))
        assert [ship.id for ship in found] == [2]


def test_a_property_of_a_class_is_one_expression_that_all_queries_share(r):
    people = r.objects(Person)
    assert Person.age is Person.age and Person.boss is Person.boss
    older = {p.id for p in people if p.age is not None and p.age > 20}
    assert {p.id for p in people.where(Person.age > 20)} == older
    # In a function of elements it needs another beginning, and by itself the first one again.
    above = {p.id for p in people if any(p.age is not None and dog.age < p.age for dog in p.dogs)}
    assert above and {p.id for p in people.where(Person.dogs.any(lambda dog: dog.age < Person.age))} == above
    assert {p.id for p in people.where(Person.age > 20)} == older
    with pytest.raises(realm.QueryError, match="Person.age belongs to Person, but the query is on Dog"):
        r.objects(Dog).where(Person.age > 20)


def test_derived_classes_have_expressions_of_their_own(tmp_path):
    class Animal(realm.Object):
        legs: int = 4

    class Cat(Animal):
        pass

    assert Cat.legs is not Animal.legs and Cat.legs is Cat.legs
    with realm.open(tmp_path / "a.realm", [Animal, Cat]) as opened:
        with opened.write():
            opened.create(Animal, legs=2)
            opened.create(Cat)
        for _ in range(2):
            assert opened.objects(Animal).where(Animal.legs == 2).count() == 1
            assert opened.objects(Cat).where(Animal.legs == 4).count() == 1
            assert opened.objects(Cat).where(Cat.legs == 4).count() == 1
            with pytest.raises(realm.QueryError, match="Cat.legs belongs to Cat"):
                opened.objects(Animal).where(Cat.legs == 4)


def test_links_to_classes_that_come_later_are_found_when_they_are_there():
    class Wagon(realm.Object):
        engine: "LaterEngine | None" = None

    before = Wagon.engine
    assert before.legs is not None, "nobody knows yet what it has"

    class LaterEngine(realm.Object):
        power: int = 0

    globals()["LaterEngine"] = LaterEngine
    try:
        assert repr(Wagon.engine.power > 3) == "<condition engine.power > $0, with 3>"
        assert Wagon.engine is Wagon.engine
        with pytest.raises(realm.NoSuchPropertyError, match="LaterEngine has no property 'legs'"):
            Wagon.engine.legs
    finally:
        del globals()["LaterEngine"]


def test_classes_that_were_asked_for_expressions_are_forgotten():
    import gc
    import weakref

    class Passing(realm.Object):
        age: int = 0
        other: "Passing | None" = None

    assert Passing.age is Passing.age and repr((Passing.age > 3) & (Passing.other.age > 2))
    gone = weakref.ref(Passing)
    del Passing
    gc.collect()
    assert gone() is None
