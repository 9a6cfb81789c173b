"""Results: sequences, queries, order, aggregates."""

from __future__ import annotations

from collections.abc import Collection, Reversible
from datetime import datetime, timezone

import numpy
import pytest

import realm
from models import Airport, Country, Everything, Note, Person


def codes(results):
    return [a.icao for a in results]


@pytest.fixture
def people(r):
    with r.write():
        for i in range(10):
            r.create(Person, id=i, name=f"p{i % 3}", age=i * i % 7)
    return r


class TestSequence:
    def test_it_is_used_as_one(self, people):
        results = people.objects(Person)
        assert isinstance(results, Collection) and isinstance(results, Reversible)
        assert len(results) == results.count() == 10
        assert results[0].id == 0 and results[-1].id == 9 and results[9].id == 9
        assert [p.id for p in results] == list(range(10))
        assert [p.id for p in reversed(results)] == list(range(9, -1, -1))
        assert bool(results) and not people.objects(Note)

    @pytest.mark.parametrize(
        "cut", [slice(None), slice(2, 5), slice(-3, None), slice(None, None, -2), slice(5, 2),
                slice(0, 100), slice(8, None, 5)],
    )
    def test_slices_are_lists(self, people, cut):
        assert [p.id for p in people.objects(Person)[cut]] == list(range(10))[cut]

    @pytest.mark.parametrize("index", [10, -11, 2**62, -(2**62), 2**70])
    def test_indexes_outside(self, people, index):
        with pytest.raises(IndexError):
            people.objects(Person)[index]

    def test_an_index_of_the_wrong_type(self, people):
        with pytest.raises(TypeError, match="not by str"):
            people.objects(Person)["a"]

    def test_first_and_last(self, people):
        results = people.objects(Person)
        assert (results.first().id, results.last().id) == (0, 9)
        assert people.objects(Note).first() is None and people.objects(Note).last() is None

    def test_in_index_and_count(self, people):
        results = people.objects(Person).sorted("-id")
        three = people.find(Person, 3)
        assert three in results and results.index(three) == 6 and results.count(three) == 1
        some = results.filter("id > 3")
        assert three not in some and some.count(three) == 0
        with pytest.raises(ValueError, match="is not in"):
            some.index(three)
        with pytest.raises(ValueError):
            results.index(three, 0, 6)
        assert results.index(three, 6) == 6
        # Counting needs no second search where no object can be twice.
        assert results._each_once and some._each_once and results.snapshot()._each_once
        assert results.freeze()._each_once
        for other in (None, 3, "x", Person(id=3), Note(text="")):
            assert other not in results

    def test_they_are_live(self, people):
        results = people.objects(Person).filter("age > 100")
        assert len(results) == 0
        with people.write():
            people.find(Person, 1).age = 101
            assert len(results) == 1
            people.delete(people.find(Person, 1))
            assert len(results) == 0

    def test_a_loop_may_delete_what_it_walks_over(self, people):
        with people.write():
            for person in people.objects(Person).filter("age < 3"):
                people.delete(person)
        assert all(p.age >= 3 for p in people.objects(Person))

    def test_a_loop_may_change_what_it_selects_by(self, people):
        with people.write():
            seen = 0
            for person in people.objects(Person).filter("age < 100").sorted("age"):
                person.age = 100
                seen += 1
        assert seen == 10

    def test_a_loop_skips_what_was_deleted_before_it_came_there(self, people):
        with people.write():
            seen = []
            for person in people.objects(Person):
                seen.append(person.id)
                later = people.find(Person, person.id + 1)
                if later:
                    people.delete(later)
        assert seen == [0, 2, 4, 6, 8]

    def test_a_loop_may_write_in_transactions_of_its_own(self, people):
        for person in people.objects(Person).filter("age < 100").sorted("-id"):
            with people.write():
                person.age = 100
                if person.id % 2:
                    people.delete(people.find(Person, person.id - 1))
                people.create(Person, id=1000 + person.id)
        assert [p.id for p in people.objects(Person).filter("age == 100")] == [1, 3, 5, 7, 9]

    def test_a_loop_goes_on_after_a_refresh(self, people):
        with realm.open(people.path, classes=[Person]) as other:
            walk = iter(people.objects(Person).sorted("id"))
            abandoned = iter(people.objects(Person))
            seen = [next(walk).id, next(abandoned).id]
            with other.write():
                other.delete(other.find(Person, 5))
                other.create(Person, id=100)
            del abandoned
            assert people.refresh()
            seen += [p.id for p in walk]
            assert seen == [0, 0, 1, 2, 3, 4, 6, 7, 8, 9]

    def test_a_loop_over_a_compacted_realm_ends_with_an_error(self, people):
        walk = iter(people.objects(Person))
        next(walk)
        assert people.compact()
        with pytest.raises(realm.InvalidObjectError):
            list(walk)

    def test_loops_within_loops(self, people):
        pairs = [(a.id, b.id) for a in people.objects(Person) for b in people.objects(Person)]
        assert len(set(pairs)) == 100

    def test_exhausted_iterators_stay_so(self, people):
        walk = iter(people.objects(Person))
        assert len(list(walk)) == 10
        assert list(walk) == []

    def test_equality_is_identity(self, people):
        a, b = people.objects(Person), people.objects(Person)
        assert a == a and a != b and len({a, b}) == 2

    def test_repr(self, people):
        assert repr(people.objects(Person)) == "<results of Person, 10 objects>"

    def test_they_can_not_be_made(self):
        with pytest.raises(TypeError):
            realm.Results()

    def test_where_they_belong(self, people):
        results = people.objects(Person)
        assert results.realm is people and results.element_class is Person and results.is_valid


class TestFilter:
    @pytest.mark.parametrize(
        ("query", "arguments", "expected"),
        [
            ("elevation > $0", (1000,), ["SPZO", "SPJL"]),
            ("elevation > 1000 AND name BEGINSWITH 'C'", (), ["SPZO"]),
            ("city == 'Lima' OR city == $0", ("Porto",), ["SPJC", "LPPR"]),
            ("NOT elevation > 100", (), ["SPJC", "LPPR", "LPFR", "ZZZ1", "ZZZ2"]),
            ("city == $0", (None,), ["ZZZ1", "ZZZ2"]),
            ("city == NULL AND elevation == NULL", (), ["ZZZ1"]),
            ("name CONTAINS $0", ("Delgado",), ["LPPT"]),
            ("name CONTAINS[c] $0", ("delgado",), ["LPPT"]),
            ("name ENDSWITH 'o'", (), ["SPZO", "LPPT", "LPPR", "LPFR"][:3] + ["LPFR"]),
            ("latitude < 0.0", (), ["SPZO", "SPJL", "SPJC"]),
            ("icao == $0", ("LPPT",), ["LPPT"]),
            ("TRUEPREDICATE", (), None),
            ("FALSEPREDICATE", (), []),
        ],
    )
    def test_queries(self, airports, query, arguments, expected):
        results = airports.objects(Airport).filter(query, *arguments)
        if expected is None:
            expected = codes(airports.objects(Airport))
        if "ENDSWITH" in query:
            expected = [a.icao for a in airports.objects(Airport) if a.name.endswith("o")]
        assert sorted(codes(results)) == sorted(expected)
        assert len(results) == len(expected)

    def test_they_chain(self, airports):
        results = airports.objects(Airport).filter("elevation > 50").filter("latitude > $0", 0.0)
        assert sorted(codes(results)) == ["LPPR", "LPPT"]

    def test_objects_are_arguments(self, airports):
        peru = airports.find(Country, "PE")
        assert len(airports.objects(Airport).filter("country == $0", peru)) == 3

    def test_datetimes_bytes_and_booleans_are_arguments(self, r):
        now = datetime(2024, 5, 6, 7, 8, 9, tzinfo=timezone.utc)
        with r.write():
            r.create(Everything, id=1, moment=now, data=b"\0\1", boolean=True, double=1.5)
            r.create(Everything, id=2)
        for query, argument in (("moment == $0", now), ("data == $0", b"\0\1"),
                                ("boolean == $0", True), ("double == $0", 1.5)):
            assert r.objects(Everything).filter(query, argument).values("id") == [1]

    @pytest.mark.parametrize(
        "query", ["", "elevation >", "elevation > > 1", "SORT(name ASC)", "elevation > 'x", "!!"]
    )
    def test_texts_that_are_no_query(self, airports, query):
        with pytest.raises(realm.QueryError) as caught:
            airports.objects(Airport).filter(query)
        assert caught.value.code == realm.ErrorCode.INVALID_QUERY_STRING
        assert isinstance(caught.value, ValueError)

    def test_unknown_properties(self, airports):
        with pytest.raises(realm.QueryError, match="height"):
            airports.objects(Airport).filter("height > 1")

    def test_types_that_do_not_compare(self, airports):
        with pytest.raises(realm.QueryError):
            airports.objects(Airport).filter("name > 1")

    def test_missing_arguments(self, airports):
        with pytest.raises(realm.QueryError):
            airports.objects(Airport).filter("elevation > $1", 1)

    def test_arguments_of_the_wrong_type(self, airports):
        with pytest.raises(realm.QueryError):
            airports.objects(Airport).filter("elevation > $0", object())
        with pytest.raises(realm.QueryError):
            airports.objects(Airport).filter("elevation > $0", b"x")
        with pytest.raises(realm.QueryError, match="can't be given a ndarray"):
            airports.objects(Airport).filter("elevation > $0", numpy.array([1.5]))
        with pytest.raises(realm.QueryError, match="time zone"):
            airports.objects(Airport).filter("elevation > $0", datetime(2020, 1, 1))
        with pytest.raises(realm.QueryError, match="not in this realm"):
            airports.objects(Airport).filter("country == $0", Country(code="A"))
        with pytest.raises(realm.OutOfRangeError):
            airports.objects(Airport).filter("elevation > $0", 2**64)
        with pytest.raises(TypeError):
            airports.objects(Airport).filter(1)


class TestOrder:
    def test_by_one_property(self, airports):
        by_height = airports.objects(Airport).sorted("elevation")
        assert codes(by_height)[0] == "ZZZ1"
        assert codes(by_height)[-1] == "SPJL"
        assert codes(airports.objects(Airport).sorted("elevation", reverse=True))[0] == "SPJL"
        assert codes(airports.objects(Airport).sorted("-elevation")) == codes(
            airports.objects(Airport).sorted("elevation", reverse=True)
        )

    def test_by_several(self, airports):
        assert codes(airports.objects(Airport).filter("icao BEGINSWITH 'ZZZ'")
                     .sorted("name", "-icao")) == ["ZZZ2", "ZZZ1"]

    def test_are_filtered_by_format_strings(self, airports):
        every = airports.objects(Airport)
        assert codes(every.filter_format("%K == %@", "icao", "LPPT")) == ["LPPT"]
        assert codes(every.filter_format("icao In %@", ["LPPT", "x"])) == ["LPPT"]
        assert codes(every.filter_format("icao CONTAINS ''")) == []
        assert codes(every.sorted("name").filter_format("elevation == %d", 374)) == codes(
            every.filter("elevation == 374"))
        with pytest.raises(realm.QueryError, match="takes 1 arguments, 0 were given"):
            every.filter_format("icao == %@")
        names = every.sorted("name").values("icao")
        assert codes(every.sorted("name").filter_format("icao != %@ LIMIT(1)", names[0])) == names[1:2]

    def test_filtered_and_then_sorted_and_the_other_way_round(self, airports):
        a = airports.objects(Airport).filter("elevation > 0").sorted("name")
        b = airports.objects(Airport).sorted("name").filter("elevation > 0")
        assert codes(a) == codes(b) == ["SPZO", "LPFR", "LPPR", "LPPT", "SPJL", "SPJC"]

    def test_the_sort_is_stable(self, people):
        ordered = people.objects(Person).sorted("name")
        expected = sorted(people.objects(Person), key=lambda p: p.name)
        assert [p.id for p in ordered] == [p.id for p in expected]

    @pytest.mark.parametrize("keys", [("height",), ("name", "height"), ("",), ("name ASC, icao",)])
    def test_bad_keys(self, airports, keys):
        with pytest.raises(realm.QueryError):
            len(airports.objects(Airport).sorted(*keys))

    def test_texts_with_a_null(self, airports):
        for use in (lambda: airports.objects(Airport).sorted("name\0x"),
                    lambda: airports.objects(Airport).distinct("name\0x"),
                    lambda: airports.objects(Airport).filter("name == 'a'\0 OR")):
            with pytest.raises(ValueError, match="null"):
                use()

    def test_no_keys(self, airports):
        with pytest.raises(TypeError):
            airports.objects(Airport).sorted()
        with pytest.raises(TypeError):
            airports.objects(Airport).distinct()

    def test_limit(self, airports):
        highest = airports.objects(Airport).sorted("-elevation").limit(2)
        assert codes(highest) == ["SPJL", "SPZO"]
        assert len(airports.objects(Airport).limit(0)) == 0
        assert len(airports.objects(Airport).limit(100)) == 8
        with pytest.raises(ValueError, match="negative"):
            airports.objects(Airport).limit(-1)

    def test_offset(self, airports):
        highest = airports.objects(Airport).sorted("-elevation")
        names = highest.values("icao")
        for skip in 0, 1, 5, 8, 100:
            for most in 0, 2, 100:
                page = highest.offset(skip).limit(most)
                assert page.values("icao") == names[skip:][:most] and len(page) == len(names[skip:][:most])
        assert highest.limit(3).offset(2).values("icao") == names[2:3]
        assert highest.offset(6).first().icao == names[6] and highest.offset(8).first() is None
        assert airports.objects(Airport).filter("TRUEPREDICATE OFFSET(3) LIMIT(2)").values("icao") == (
            airports.objects(Airport).offset(3).limit(2).values("icao"))
        with pytest.raises(ValueError, match="negative"):
            highest.offset(-1)
        assert highest.offset(7).filter("elevation > 3").values("icao") == []

    def test_distinct(self, people):
        names = people.objects(Person).distinct("name")
        assert [p.id for p in names] == [0, 1, 2]

    def test_order_inside_a_query(self, airports):
        results = airports.objects(Airport).filter(
            "elevation != NULL SORT(elevation DESC) LIMIT(2)"
        )
        assert codes(results) == ["SPJL", "SPZO"]

    def test_order_inside_a_query_on_ordered_results(self, airports):
        three = airports.objects(Airport).sorted("-elevation").limit(3)
        names = sorted(a.icao for a in three if a.elevation != 3310)
        assert three.filter("elevation != 3310 SORT(icao ASC)").values("icao") == names
        assert three.filter("elevation != 3310 SORT(icao ASC) LIMIT(1)").values("icao") == names[:1]

    def test_what_is_chained_works_on_what_came_before(self, people):
        def ids(results):
            return [p.id for p in results]

        all = people.objects(Person)
        oldest = sorted(range(10), key=lambda i: -(i * i % 7))
        assert ids(all.sorted("-age").limit(4).filter("name == 'p1'")) == [
            i for i in oldest[:4] if i % 3 == 1]
        assert ids(all.sorted("-age").offset(4).where(Person.id > 5)) == [i for i in oldest[4:] if i > 5]
        # The first of each name are 0, 1 and 2; a name's first that is above 1 would be another.
        assert ids(all.distinct("name").filter("id > 1")) == [2]
        assert ids(all.filter("id > 1").distinct("name")) == [2, 3, 4]
        assert ids(all.limit(5).filter("id > 1").limit(2).filter("id > 2")) == [3]
        assert ids(all.limit(5).filter("id > 1 SORT(id DESC)").limit(2).sorted("id")) == [3, 4]
        assert ids(all.limit(5).filter_format("id > %d SORT(id DESC) LIMIT(1)", 1)) == [4]
        assert len(all.limit(5).filter("id > 100")) == 0
        # A step works on what is there when it is asked.
        first = all.limit(2).filter("age == 0")
        assert ids(first) == [0]
        with people.write():
            people.delete(all[0])
            all[1].age = 0
        assert ids(first) == [2]

    def test_snapshot(self, people):
        fixed = people.objects(Person).filter("age < 3").snapshot()
        count = len(fixed)
        with people.write():
            for person in people.objects(Person):
                person.age = 50
            assert len(fixed) == count
            assert fixed[0].age == 50


class TestAggregates:
    def test_of_numbers(self, airports):
        some = airports.objects(Airport)
        assert some.min("elevation") == -5
        assert some.max("elevation") == 3826
        assert some.sum("elevation") == 3310 + 3826 + 34 + 114 + 69 + 7 - 5
        assert some.average("elevation") == pytest.approx(some.sum("elevation") / 7)
        assert some.sum("latitude") == pytest.approx(76.0)

    def test_of_nothing(self, airports):
        none = airports.objects(Airport).filter("elevation > 9000")
        assert none.min("elevation") is None and none.max("elevation") is None
        assert none.average("elevation") is None
        assert none.sum("elevation") == 0

    def test_of_datetimes(self, r):
        early = datetime(1960, 1, 1, tzinfo=timezone.utc)
        late = datetime(2060, 1, 1, 0, 0, 0, 7, tzinfo=timezone.utc)
        with r.write():
            r.create(Everything, id=1, moment=late)
            r.create(Everything, id=2, moment=early)
        assert r.objects(Everything).min("moment") == early
        assert r.objects(Everything).max("moment") == late
        with pytest.raises(realm.IllegalOperationError):
            r.objects(Everything).sum("moment")

    def test_of_what_has_none(self, airports):
        with pytest.raises(realm.IllegalOperationError, match=r"sum of Airport\.name"):
            airports.objects(Airport).sum("name")
        with pytest.raises(realm.NoSuchPropertyError, match="height"):
            airports.objects(Airport).max("height")

    def test_respect_limits_and_filters(self, airports):
        assert airports.objects(Airport).filter("latitude > 0.0").max("elevation") == 114


class TestValues:
    def test_of_one_property(self, people):
        assert people.objects(Person).values("id") == list(range(10))

    def test_of_several(self, people):
        assert people.objects(Person).filter("id < 2").values("id", "name") == [
            (0, "p0"), (1, "p1"),
        ]

    def test_of_links(self, airports):
        links = airports.objects(Airport).filter("icao == 'SPZO' OR icao == 'ZZZ1'")
        assert set(links.values("country")) == {airports.find(Country, "PE"), None}

    def test_bad_names(self, people):
        with pytest.raises(realm.NoSuchPropertyError):
            people.objects(Person).values("nope")
        with pytest.raises(TypeError):
            people.objects(Person).values(1)
        with pytest.raises(TypeError):
            people.objects(Person).values()

    def test_in_the_order_of_the_results(self, people):
        ordered = people.objects(Person).sorted("-id")
        assert ordered.values("id") == list(range(9, -1, -1))


class TestPlan:
    def test_it_tells_where_the_objects_come_from(self, people):
        everyone = people.objects(Person)
        plan = everyone.filter("age > 2").sorted("name").explain()
        assert plan.splitlines()[0] == "Person: 10 objects"
        assert "start: scan of all leaves" in plan and "then: SORT(name ASC)" in plan
        assert "start: all objects" in everyone.explain()
        assert "primary key" in everyone.filter("id == 3").explain()
