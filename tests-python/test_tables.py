"""Tables: Arrow and NumPy out and in, groups, changes of all results, functions in conditions."""

from __future__ import annotations

import array
import enum
import gc
import threading
import uuid
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy
import pyarrow
import pytest
from test_command_line import run

import realm


class Size(enum.Enum):
    SMALL = "S"
    LARGE = "L"


class Town(realm.Object):
    name: str = realm.Field(primary_key=True)
    country: Country | None = None


class Country(realm.Object):
    code: str


class Row(realm.Object):
    id: int = realm.Field(primary_key=True)
    number: int | None = None
    flag: bool = False
    real: float | None = None
    single: realm.Float32 = 0.0
    text: str | None = None
    data: bytes = b""
    moment: datetime | None = None
    day: date | None = None
    span: timedelta = timedelta()
    exact: Decimal = Decimal(0)
    key: uuid.UUID | None = None
    oid: realm.ObjectId | None = None
    size: Size = Size.SMALL
    town: Town | None = None
    tags: list[str] = []
    extra: Any = None


NAMES = ["id", "number", "flag", "real", "single", "text", "data", "moment", "day", "span", "exact",
         "key", "oid", "size"]


#: More than are read at a time.
COUNT = 1100


def fill(r: realm.Realm, count: int = COUNT) -> None:
    utc = timezone.utc
    with r.write():
        lisbon = r.create(Town, name="Lisbon", country=Country(code="PT"))
        for i in range(count):
            nothing = i % 7 == 3
            r.create(
                Row, id=i, number=None if nothing else i * 3 - 50, flag=i % 3 == 0,
                real=None if nothing else i / 4, single=i / 2, text=None if nothing else f"t{i % 11}ä",
                data=bytes([i % 256]) * (i % 5), exact=Decimal(i) / 8, key=uuid.UUID(int=i),
                moment=None if nothing else datetime(1969, 12, 31, 23, 59, 59, 999_999, utc)
                + timedelta(hours=i), day=None if nothing else date(1960, 1, 1) + timedelta(days=i),
                span=timedelta(microseconds=i * i - 7), size=Size.LARGE if i % 2 else Size.SMALL,
                town=lisbon if i % 2 else None,
            )


@pytest.fixture
def r(path):
    with realm.open(path, Row) as opened:
        yield opened


@pytest.fixture
def rows(r):
    fill(r)
    return r.objects(Row).sorted("id")


def expected(rows: realm.Results[Row], name: str) -> list[Any]:
    """What Arrow should have."""
    values = rows.values(name)
    if name in ("key", "oid"):
        return [None if v is None else v.bytes for v in values]
    if name == "exact":
        return [str(v) for v in values]
    return [v.value for v in values] if name == "size" else values


class TestOut:
    def test_every_type_is_a_column(self, rows):
        table = pyarrow.table(rows)
        table.validate(full=True)
        assert table.column_names == [*NAMES, "town"] and table.num_rows == len(rows)
        for name in NAMES:
            assert table[name].to_pylist() == expected(rows, name), name
        assert table.schema.field("number").nullable and not table.schema.field("id").nullable
        assert str(table.schema.field("moment").type) == "timestamp[us, tz=UTC]"

    def test_some_columns_of_sorted_and_filtered_results(self, rows):
        found = rows.where(Row.number > 100).sorted("-number").limit(700)
        table = pyarrow.table(found.columns("number", "text"))
        assert table.to_pylist() == [{"number": n, "text": t} for n, t in found.values("number", "text")]
        assert pyarrow.table(rows.where(Row.id < 0)).num_rows == 0

    def test_the_table_outlives_the_realm_and_goes_to_other_threads(self, path):
        with realm.open(path, Row) as r:
            fill(r, 100)
            capsule = r.objects(Row).columns("id", "text").__arrow_c_stream__()
        seen: list[int] = []

        class Held:
            def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
                return capsule

        thread = threading.Thread(target=lambda: seen.append(pyarrow.table(Held()).num_rows))
        thread.start()
        thread.join()
        assert seen == [100]
        with pytest.raises(Exception):
            pyarrow.table(Held())

    def test_a_stream_that_nobody_reads_is_dropped(self, rows):
        for _ in range(20):
            rows.columns("text").__arrow_c_stream__()
        gc.collect()

    @pytest.mark.parametrize("name", ["tags", "extra"])
    def test_what_is_no_column(self, rows, name):
        with pytest.raises(realm.PropertyTypeError, match=rf"Row\.{name} can't be a column"):
            pyarrow.table(rows.columns(name))
        with pytest.raises(realm.NoSuchPropertyError, match="did you mean 'number'"):
            rows.columns("nunber")

    def test_numpy(self, rows):
        assert rows.numpy("id").dtype == "int64" and rows.numpy("id").tolist() == list(range(COUNT))
        assert rows.numpy("flag").tolist() == rows.values("flag") and rows.numpy("flag").dtype == bool
        number = rows.numpy("number")
        assert number.tolist() == rows.values("number") and number[0] == -50
        real = rows.numpy("real")
        assert numpy.isnan(real[3]) and real[4] == 1.0 and rows.numpy("single").dtype == "float32"
        moment, day = rows.numpy("moment"), rows.numpy("day")
        assert numpy.isnat(moment[3]) and moment[0] == numpy.datetime64("1969-12-31T23:59:59.999999")
        assert day[1] == numpy.datetime64("1960-01-02") and numpy.isnat(day[3])
        assert rows.numpy("span").dtype == "timedelta64[us]"
        assert rows.numpy("text").tolist() == rows.values("text")
        assert rows.numpy("size")[1] is Size.LARGE and rows.numpy(Row.tags)[0] == []

    def test_values_over_links(self, rows):
        assert rows.values("town.name")[:4] == [None, "Lisbon", None, "Lisbon"]
        assert rows.values("id", Row.town.country.code)[1] == (1, "PT")
        for path, words in [("town.nothing", "no property 'nothing'"), ("tags.x", "is no link"),
                            ("id.x", "is no link"), ("nothing.x", "no property 'nothing'")]:
            with pytest.raises(realm.NoSuchPropertyError, match=words):
                rows.values(path)


class TestIn:
    def test_what_came_out_goes_in(self, rows, tmp_path):
        table = pyarrow.table(rows.columns(*NAMES))
        with realm.open(tmp_path / "copy.realm", Row) as copy, copy.write():
            assert copy.insert_many(Row, table) == COUNT
            assert copy.objects(Row).sorted("id").values(*NAMES) == rows.values(*NAMES)
            with pytest.raises(realm.ObjectExistsError, match="row 0"):
                copy.insert_many(Row, table)
            assert copy.insert_many(Row, table.slice(5, 100), update="all") == 100
            assert copy.insert_many(Row, rows.where(Row.id < 0)) == 0

    def test_tables_in_pieces_and_slices(self, r):
        table = pyarrow.table({"id": range(10), "text": [None if i % 4 == 0 else "x" * i for i in range(10)]})
        pieces = pyarrow.concat_tables([table.slice(7), table.slice(1, 3)])
        with r.write():
            assert r.insert_many(Row, pieces) == 6
        assert r.objects(Row).sorted("id").values("id", "text") == [
            (1, "x"), (2, "xx"), (3, "xxx"), (7, "x" * 7), (8, None), (9, "x" * 9)]

    @pytest.mark.parametrize(
        "column",
        [
            [1, 2, 3], (1, 2, 3), array.array("h", [1, 2, 3]), numpy.array([1, 2, 3], "u8"),
            numpy.array([1, 0, 2, 0, 3])[::2], numpy.ma.MaskedArray([1, 2, 3], [0, 0, 0]),
            memoryview(array.array("q", [1, 2, 3])), range(1, 4), iter([1, 2, 3]),
        ],
    )
    def test_columns_of_all_kinds(self, r, column):
        with r.write():
            assert r.insert_many(Row, {"id": range(3), "number": column}) == 3
        assert r.objects(Row).sorted("id").values("number") == [1, 2, 3]

    @pytest.mark.parametrize("kind", [str, object])
    def test_rows_of_arrays_are_collections(self, r, kind):
        texts = numpy.array([["a", "b"], ["c", "d"]], kind)
        with r.write():
            r.insert_many(Row, {"id": range(2), "tags": texts, "extra": numpy.array([[1, 2], [3, 4]])})
        one, two = r.objects(Row).sorted("id")
        assert (list(one.tags), list(two.tags), list(two.extra)) == (["a", "b"], ["c", "d"], [3, 4])

    def test_types_that_fit_another(self, r):
        table = pyarrow.table({
            "id": pyarrow.array([1, 2], "int8"),
            "real": pyarrow.array([1, None], "uint32"),
            "single": pyarrow.array([0.5, 2], "float64"),
            "text": pyarrow.array(["a", None]).dictionary_encode(),
            "size": pyarrow.array(["L", "S"]),
            "exact": pyarrow.array([Decimal("-1.50"), Decimal("7.25")]),
            "moment": pyarrow.array([datetime(2020, 1, 1, tzinfo=timezone.utc), None],
                                    pyarrow.timestamp("ns", "Europe/Lisbon")),
            "day": pyarrow.array([date(1900, 3, 1), None], "date64"),
            "span": pyarrow.array([timedelta(seconds=-3), timedelta(days=4)], pyarrow.duration("ns")),
            "tags": pyarrow.array([["a", "b"], []]),
            "extra": pyarrow.array([None, 5]),
            "key": pyarrow.array([str(uuid.UUID(int=5)), None]),
        })
        with r.write():
            r.insert_many(Row, table)
        one, two = r.objects(Row).sorted("id")
        assert (one.real, one.single, one.text, two.text, one.size) == (1.0, 0.5, "a", None, Size.LARGE)
        assert (str(one.exact), one.moment.year, two.moment) == ("-1.50", 2020, None)
        assert (one.day, one.span, two.span) == (date(1900, 3, 1), timedelta(seconds=-3), timedelta(4))
        assert (list(one.tags), list(two.tags), two.extra, one.key) == (["a", "b"], [], 5, uuid.UUID(int=5))

    def test_texts_as_views(self, r):
        """As polars has them."""
        texts = ["", "short", "exactly 12 b", "a text of more than twelve bytes ä", None] * 3
        table = pyarrow.table({
            "id": range(15), "text": pyarrow.array(texts, pyarrow.string_view()),
            "data": pyarrow.array([b"x" * i for i in range(15)], pyarrow.binary_view())}).slice(1)
        with r.write():
            r.insert_many(Row, table)
        assert r.objects(Row).sorted("id").values("text") == texts[1:]
        assert r.objects(Row).sorted("id").values("data") == [b"x" * i for i in range(1, 15)]

    def test_numpy_instants(self, r):
        with r.write():
            r.insert_many(Row, {
                "id": numpy.arange(2), "moment": numpy.array(["2020-01-01", "NaT"], "datetime64[s]"),
                "span": numpy.array([3, -4], "timedelta64[ms]")})
        one, two = r.objects(Row).sorted("id")
        assert one.moment == datetime(2020, 1, 1, tzinfo=timezone.utc) and two.moment is None
        assert two.span == timedelta(milliseconds=-4)

    def test_rows(self, r):
        seen: list[int] = []
        with r.write():
            count = r.insert_many(
                Row, (Row(id=i) if i % 2 else {"id": i, "tags": ["x"]} for i in range(6)),
                progress=seen.append)
            assert count == 6 and seen == [6] and len(r.objects(Row)) == 6
            with pytest.raises(realm.PropertyTypeError, match="dicts or objects as rows, not 3"):
                r.insert_many(Row, [{"id": 10}, 3])
            assert len(r.objects(Row)) == 6

    def test_progress(self, r):
        seen: list[int] = []
        with r.write():
            r.insert_many(Row, {"id": range(140_000)}, progress=seen.append)
            assert seen == [65536, 131072, 140_000]
            with pytest.raises(ZeroDivisionError):
                r.insert_many(Row, {"id": range(-70_000, 0)}, progress=lambda done: 1 / 0)
            assert len(r.objects(Row)) == 140_000

    @pytest.mark.parametrize(
        ("columns", "error", "words"),
        [
            ({"id": [1, 2], "text": ["a"]}, realm.ArgumentError, "different lengths: id has 2 values, text 1"),
            ({"id": [1, "2"]}, realm.PropertyTypeError, r"Row\.id is int.*row 1"),
            ({"id": [1], "nothing": [1]}, realm.NoSuchPropertyError, "no property 'nothing'"),
            ({"text": ["a"]}, realm.MissingValueError, "id"),
            ({"id": [1, None]}, realm.NotNullableError, r"Row\.id.*row 1"),
            ({"id": numpy.array([0.5])}, realm.PropertyTypeError, r"Row\.id is int, got float: 0.5"),
            ({"id": numpy.array([2**63], "u8")}, realm.OutOfRangeError, "64 bits"),
            ({"id": "ab"}, realm.PropertyTypeError, "text for a column"),
            ({"id": None}, realm.PropertyTypeError, r"Row\.id can't be given None for a column"),
            ({"id": [1], "number": 5}, realm.PropertyTypeError, r"Row\.number can't be given int: 5"),
            ({"id": numpy.array(5)}, realm.PropertyTypeError, r"Row\.id can't be given ndarray: array\(5\)"),
            ({"id": numpy.array([[1, 2]])}, realm.PropertyTypeError, r"Row\.id is int, got list: \[1, 2\]"),
            ({"id": memoryview(numpy.array([[1]]))}, realm.PropertyTypeError, r"Row\.id is int, got list"),
            ({"nothing": None}, realm.NoSuchPropertyError, "no property 'nothing'"),
            ({"nothing": numpy.array(5)}, realm.NoSuchPropertyError, "no property 'nothing'"),
            ({"id": [1], "flag": numpy.array([1])}, realm.PropertyTypeError, r"Row\.flag is bool"),
            (pyarrow.table({"id": [1], "size": ["X"]}), realm.OutOfRangeError, "no Size"),
            (pyarrow.table({"id": [1], "moment": [datetime(2020, 1, 1)]}), realm.PropertyTypeError,
             "without a time zone"),
            (pyarrow.table({"id": [1], "extra": [{"a": 1}]}), realm.NotSupportedError, r"\+s"),
            (pyarrow.array([1, 2]), realm.PropertyTypeError, "rows, not"),
            ("text", realm.PropertyTypeError, "not text"),
            (5, realm.PropertyTypeError, "not 5"),
        ],
    )
    def test_mistakes_change_nothing(self, r, columns, error, words):
        with r.write():
            with pytest.raises(error, match=words):
                r.insert_many(Row, columns)
            assert r.is_empty

    def test_outside_a_write_transaction(self, r):
        for data in ({"id": [1]}, [{"id": 1}], pyarrow.table({"id": [1]})):
            with pytest.raises(realm.TransactionError):
                r.insert_many(Row, data)


class TestGroups:
    def test_groups_with_aggregates(self, rows):
        found = rows.group_by("flag", n=realm.agg.count(), most=realm.agg.max("number"),
                              mean=realm.agg.avg("real"), total=realm.agg.sum("exact"),
                              least=realm.agg.min(Row.day))
        by_flag = {group.flag: group for group in found}
        assert [g.flag for g in found] == [True, False]
        for flag, group in by_flag.items():
            those = rows.where(Row.flag == flag)
            assert (group.n, group.most, group.total) == (
                len(those), those.max("number"), those.sum("exact"))
            assert group.mean == pytest.approx(those.average("real")) and group.least == those.min("day")

    def test_several_keys_and_paths(self, rows):
        found = rows.group_by("town.name", Row.flag, n=realm.agg.count())
        assert found[0]._fields == ("town_name", "flag", "n") and sum(g.n for g in found) == COUNT
        assert {(g.town_name, g.flag) for g in found} == {
            (None, True), (None, False), ("Lisbon", True), ("Lisbon", False)}

    def test_nothing_and_null(self, r, rows):
        assert rows.where(Row.id < 0).group_by("flag", n=realm.agg.count()) == []
        (group,) = rows.where(Row.id == 3).group_by(
            "number", s=realm.agg.sum("real"), a=realm.agg.avg("real"), m=realm.agg.min("real"))
        assert tuple(group) == (None, 0, None, None)

    @pytest.mark.parametrize("name", [name for name in NAMES if name != "tags"])
    @pytest.mark.parametrize("source", ["all", "sorted", "some"])
    def test_every_type_is_grouped_as_python_does(self, rows, name, source):
        objects = {"all": rows, "sorted": rows.sorted("-id"), "some": rows.filter("id < 200 OR id > 900")}[source]
        wanted: dict[Any, list[Row]] = {}
        for row in objects:
            wanted.setdefault(getattr(row, name), []).append(row)
        numbers = realm.agg.sum("number"), realm.agg.avg(Row.single), realm.agg.sum("span"), realm.agg.avg("exact")
        found = objects.group_by(
            name, n=realm.agg.count(), s=numbers[0], a=numbers[1], d=numbers[2], e=numbers[3],
            least=realm.agg.min(name), most=realm.agg.max("moment"))
        assert [group[0] for group in found] == list(wanted)
        for key, n, s, a, d, e, least, most in found:
            those = wanted[key]
            moments = [row.moment for row in those if row.moment is not None]
            assert (n, least, most) == (len(those), key, max(moments, default=None))
            assert s == sum(row.number or 0 for row in those)
            assert d == sum((row.span for row in those), timedelta())
            assert a == pytest.approx(sum(row.single for row in those) / n)
            assert e == sum((row.exact for row in those), Decimal(0)) / n or abs(
                e - sum((row.exact for row in those), Decimal(0)) / n) < Decimal("1e-20")

    def test_links_and_mixed_values_are_keys(self, r, rows):
        with r.write():
            for row, extra in zip(rows.limit(8), [1, 1.0, Decimal(1), "1", b"1", None, True, 2.5], strict=True):
                row.extra = extra
        lisbon = r.find(Town, "Lisbon")
        assert [tuple(g) for g in rows.group_by("town", n=realm.agg.count())] == [
            (None, COUNT // 2), (lisbon, COUNT // 2)]
        assert [tuple(g) for g in rows.group_by("town.country.code", n=realm.agg.count())] == [
            (None, COUNT // 2), ("PT", COUNT // 2)]
        groups = rows.limit(8).group_by(Row.extra, n=realm.agg.count(), total=realm.agg.sum("extra"))
        assert [(g.extra, g.n, g.total) for g in groups] == [
            (1, 3, 3), ("1", 1, 0), (b"1", 1, 0), (None, 1, 0), (True, 1, 0), (2.5, 1, Decimal("2.5"))]

    def test_groups_of_frozen_results_stay_and_others_follow(self, r, rows):
        some = rows.where(Row.id < 10)
        frozen = some.freeze()
        before = frozen.group_by("flag", n=realm.agg.count())
        with r.write():
            some.update(flag=True)
            assert some.group_by("flag", n=realm.agg.count()) == [(True, 10)]
        assert some.group_by("flag", n=realm.agg.count()) == [(True, 10)]
        assert frozen.group_by("flag", n=realm.agg.count()) == before == [(True, 4), (False, 6)]

    def test_mistakes(self, rows):
        with pytest.raises(TypeError, match="at least one property"):
            rows.group_by()
        with pytest.raises(realm.NoSuchPropertyError, match="'nothing'"):
            rows.group_by("nothing")
        with pytest.raises(realm.NoSuchPropertyError, match="'nothing'"):
            rows.group_by("flag", n=realm.agg.max("town.nothing"))
        with pytest.raises(realm.QueryError, match="collection"):
            rows.group_by("tags")
        with pytest.raises(realm.QueryError, match="groups are of objects"):
            rows[0].tags.filter("TRUEPREDICATE").group_by("x")
        with pytest.raises(TypeError, match="no aggregate"):
            rows.group_by("flag", n="count")
        with pytest.raises(realm.QueryError, match="sums are of numbers"):
            rows.group_by("flag", n=realm.agg.sum("text"))


class TestAll:
    def test_updating_all(self, r, rows):
        with r.write():
            assert rows.where(Row.number < 100).update(number=1000, text="new") > 10
            assert not rows.where(Row.number < 100)
            with pytest.raises(realm.PropertyTypeError):
                rows.update(text="lost", number="x")
            assert not rows.where(Row.text == "lost")
            with pytest.raises(realm.NoSuchPropertyError, match="'nothing'"):
                rows.where(Row.id < 0).update(nothing=1)
            with pytest.raises(TypeError, match="needs values"):
                rows.update()
        for some in (rows, rows.where(Row.id < 0)):
            with pytest.raises(realm.TransactionError, match="write"):
                some.update(number=1)

    def test_deleting_all(self, r, rows):
        with r.write():
            assert rows.where(Row.id < 100).delete() == 100
        assert len(rows) == COUNT - 100

    @pytest.mark.parametrize(
        ("query", "arguments", "unused"),
        [
            ("id == 1", [1], "$0"), ("id == $0", [1, 2], "$1"), ("text == '$0'", [1], "$0"),
            ("id == $1", [1, 2], "$0"), ("text == \"a\\\"$0\"", [1], "$0"),
        ],
    )
    def test_unused_arguments_are_refused(self, rows, query, arguments, unused):
        with pytest.raises(realm.QueryError, match=f"does not use all of its.*: [$]{unused[1]}"):
            rows.filter(query, *arguments)

    def test_used_ones_are_not(self, rows):
        assert len(rows.filter("id == $1 OR $K2 == $0", 1, 2, "id")) == 2
        assert len(rows.filter("text == 'it\\'s' OR id == $0", 7)) == 1


class TestFunctions:
    @pytest.mark.parametrize(
        ("condition", "test"),
        [
            (lambda: realm.fn.upper(Row.text) == "T3Ä", lambda row: (row.text or "").upper() == "T3Ä"),
            (lambda: realm.fn.length(Row.text) > 3, lambda row: len(row.text or "") > 3),
            (lambda: realm.fn.year(Row.day) == 1961, lambda row: row.day and row.day.year == 1961),
            (lambda: realm.fn.month(Row.moment) == 2, lambda row: row.moment and row.moment.month == 2),
            (lambda: realm.fn.hour(Row.moment, "UTC+05:30") == 5,
             lambda row: row.moment and (row.moment + timedelta(hours=5.5)).hour == 5),
            (lambda: realm.fn.mod(Row.id, 10) == 3, lambda row: row.id % 10 == 3),
            (lambda: realm.fn.abs(Row.number) < 9, lambda row: row.number is not None and abs(row.number) < 9),
            (lambda: realm.fn.sqrt(Row.id) == 9, lambda row: row.id == 81),
            (lambda: realm.fn.if_else(Row.flag == True, 1, 2) == 1, lambda row: row.flag),  # noqa: E712
            (lambda: realm.fn.cast(Row.id, "String") == "12", lambda row: row.id == 12),
            (lambda: realm.fn.lower(realm.fn.trim(Row.text)).startswith("t1"),
             lambda row: (row.text or "").startswith("t1")),
            (lambda: Row.moment < realm.fn.now(), lambda row: row.moment is not None),
        ],
    )
    def test_they_are_computed_by_the_engine(self, rows, condition, test):
        assert rows.where(condition()).values("id") == [row.id for row in rows if test(row)]

    def test_mistakes(self):
        with pytest.raises(TypeError, match="takes a property of a class"):
            realm.fn.lower("Rex")
        with pytest.raises(ValueError, match="cast"):
            realm.fn.cast(Row.id, "Complex")


class TestDays:
    """Days of instants that no `date` of Python has made."""

    def test_an_instant_before_midnight_is_of_its_day(self, path):
        before = [datetime(1970, 1, 1, tzinfo=timezone.utc), datetime(1969, 12, 31, tzinfo=timezone.utc),
                  datetime(1970, 1, 2, tzinfo=timezone.utc)]
        instants = [moment - timedelta(microseconds=1) for moment in before]
        with realm.open(path, days_of(datetime)) as r, r.write():
            r.insert_many("Stamp", {"day": instants})
        with realm.open(path, days_of(date)) as r:
            stamps = r.objects("Stamp")
            expected = [moment.date() for moment in instants]
            assert [stamp.day for stamp in stamps] == expected
            assert stamps.numpy("day").tolist() == expected
            assert pyarrow.table(stamps.columns("day"))["day"].to_pylist() == expected

    def test_days_beyond_32_bits_are_no_others(self, path):
        with realm.open(path, days_of(date)) as r:
            run("edit", path, 'create Stamp {"day": "T300000000000000:0"}')
            r.refresh()
            with pytest.raises(realm.OutOfRangeError, match=r"Stamp\.day of row 0"):
                r.objects("Stamp").numpy("day")


def days_of(kind):
    return type(realm.Object)("Stamp", (realm.Object,), {"__annotations__": {"day": kind}, "__module__": __name__})


def test_arrays_are_no_numbers(path):
    with realm.open(path, days_of(int)) as r, r.write():
        with pytest.raises(realm.PropertyTypeError, match=r"Stamp\.day is int, got ndarray"):
            r.create("Stamp", day=numpy.array([1, 2]))
        assert r.create("Stamp", day=numpy.array(7)).day == 7
