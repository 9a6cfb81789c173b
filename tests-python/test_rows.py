"""Results as rows of plain values: what `pandas.DataFrame(results)` and NumPy make of them."""

from __future__ import annotations

import copy
import dataclasses
import enum
import pickle
import subprocess
import sys
import threading
import uuid
from collections.abc import Collection, Reversible, Sequence
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy
import pandas
import pyarrow
import pytest

import realm

UTC = timezone.utc


class Size(enum.Enum):
    SMALL = "S"
    LARGE = "L"


class Level(enum.Enum):
    LOW = 1
    HIGH = 2**40


class UUID(enum.Enum):
    """Called as a type of properties is."""

    A = "a"


class Town(realm.Object):
    name: str = realm.PrimaryKey()


class Place(realm.EmbeddedObject):
    street: str = ""


class Row(realm.Object):
    id: int = realm.PrimaryKey()
    number: int | None = None
    flag: bool | None = None
    real: float | None = None
    single: realm.Float32 | None = None
    text: str | None = None
    data: bytes | None = None
    moment: datetime | None = None
    day: date | None = None
    span: timedelta | None = None
    exact: Decimal | None = None
    key: uuid.UUID | None = None
    oid: realm.ObjectId | None = None
    size: Size | None = None
    level: Level = Level.LOW
    kind: UUID = UUID.A
    town: Town | None = None
    place: Place | None = None
    extra: Any = None
    names: list[str]
    moments: list[datetime | None]
    exacts: list[Decimal]
    towns: list[Town]
    places: list[Place]
    anything: list[Any]
    keys: set[uuid.UUID]
    friends: set[Town]
    counts: dict[str, int | None]
    homes: dict[str, Town | None]
    nested: dict[str, Any]


MOMENT = datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC)
ID = realm.ObjectId("0123456789abcdef01234567")

#: What is assigned to properties that an Arrow table has, and what its rows have then: the same where it is
#: left out.
COLUMNS: dict[str, list[tuple[Any, ...]]] = {
    "number": [(7,), (-(2**50),)],
    "flag": [(True,), (False,)],
    "real": [(-1.25,), (float("inf"),), (1e300,)],
    "single": [(0.5,), (-3.0,)],
    "text": [("",), ("ä\U0001f600\0b",), ("x" * 5000,)],
    "data": [(b"",), (b"\0\xff",)],
    "moment": [(MOMENT,), (datetime(2262, 1, 1, tzinfo=UTC),), (datetime(1, 1, 1, tzinfo=UTC),)],
    "day": [(date(1960, 2, 29),), (date(2024, 1, 1),)],
    "span": [(timedelta(microseconds=-7),), (timedelta(days=90_000),)],
    "exact": [(Decimal("1.50"), "1.50"), (Decimal("-12E+20"), "-1.2E+21")],
    "key": [(uuid.UUID(int=5), uuid.UUID(int=5).bytes)],
    "oid": [(ID, ID.bytes)],
    "size": [(Size.LARGE, "L")],
    "level": [(Level.HIGH, 2**40), (Level.LOW, 1)],
    "kind": [(UUID.A, "a")],
}

#: Of properties that it leaves out. `0` is the key of the only town, as of the first embedded object.
REFERENCE = realm.Reference("Town", 0)
OTHERS: dict[str, list[tuple[Any, ...]]] = {
    "extra": [(5,), ("x",), (Decimal("1.5"),), (uuid.UUID(int=9),), (MOMENT,), (b"b",), ("TOWN", REFERENCE),
              ([1, {"a": [None, "TOWN"]}], [1, {"a": [None, REFERENCE]}]), ({},), ([],)],
    "names": [(["a", ""],), ([],)],
    "moments": [([MOMENT, None],)],
    "exacts": [([Decimal(1)],)],
    "towns": [(["TOWN", "TOWN"], [0, 0])],
    "places": [([Place(), Place()], [0, 1])],
    "anything": [([1, None, [["TOWN"]], {"b": "TOWN"}], [1, None, [[REFERENCE]], {"b": REFERENCE}])],
    "keys": [({uuid.UUID(int=1)}, [uuid.UUID(int=1)])],
    "friends": [({"TOWN"}, [0])],
    "counts": [({"a": 1, "b": None},)],
    "homes": [({"a": "TOWN", "b": None}, {"a": 0, "b": None})],
    "nested": [({"a": {"b": ["TOWN", 1]}}, {"a": {"b": [REFERENCE, 1]}})],
}


def with_town(value: Any, town: Town) -> Any:
    if isinstance(value, list):
        return [with_town(item, town) for item in value]
    if isinstance(value, set):
        return [with_town(item, town) for item in value]
    if isinstance(value, dict):
        return {key: with_town(item, town) for key, item in value.items()}
    return town if isinstance(value, str) and value == "TOWN" else value


def cells(frame: pandas.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame; pandas has several nulls, and Timestamp for datetime where it reaches."""

    def cell(value: Any) -> Any:
        return None if not isinstance(value, list | dict) and pandas.isna(value) else value

    return [{name: cell(value) for name, value in row.items()} for row in frame.to_dict("records")]


@pytest.fixture
def r(path):
    with realm.open(path, [Row, Town, Place]) as opened:
        with opened.write():
            opened.create(Town, name="Lisbon")
        yield opened


@pytest.fixture
def rows(r):
    """More than are read at a time; every seventh is null."""
    with r.write():
        town = r.objects(Town)[0]
        for i in range(1100):
            nothing = i % 7 == 3
            r.create(
                Row, id=i, number=None if nothing else i, text=None if nothing else f"t{i % 11}ä",
                real=None if nothing else i / 4, town=None if nothing else town,
                moment=None if nothing else MOMENT + timedelta(hours=i), key=None if nothing else uuid.UUID(int=i),
                place=None if nothing else Place(), names=["a"] * (i % 3),
            )
    return r.objects(Row).sorted("id")


class TestValues:
    def given(self, r: realm.Realm, name: str, values: list[tuple[Any, ...]]) -> realm.Results[Row]:
        with r.write():
            for number, (value, *_) in enumerate([*values, (None,)]):
                row = r.create(Row, id=number)
                if number < len(values):
                    setattr(row, name, with_town(value, r.objects(Town)[0]))
        return r.objects(Row).sorted("id")

    @pytest.mark.parametrize("name", COLUMNS)
    def test_they_are_those_of_the_arrow_table(self, r, name):
        found = self.given(r, name, COLUMNS[name])
        expected = [case[-1] for case in COLUMNS[name]]
        values = [getattr(row, name) for row in numpy.asarray(found)]
        assert values[:-1] == expected and [type(v) for v in values[:-1]] == [type(v) for v in expected]
        first, second = pandas.DataFrame(found), pandas.DataFrame.from_arrow(found)
        assert cells(first[second.columns]) == cells(second)
        only = found.columns("id", name)
        assert cells(pandas.DataFrame(only)) == cells(pandas.DataFrame.from_arrow(only))

    @pytest.mark.parametrize("name", OTHERS)
    def test_what_that_leaves_out_is_plain(self, r, name):
        found = self.given(r, name, OTHERS[name])
        expected = [case[-1] for case in OTHERS[name]]
        values = [getattr(row, name) for row in numpy.asarray(found)]
        assert values[:-1] == expected and [type(v) for v in values[:-1]] == [type(v) for v in expected]
        assert list(pandas.DataFrame(found)[name])[:-1] == expected
        assert list(pandas.DataFrame(found.columns(name))[name])[:-1] == expected

    @pytest.mark.parametrize("name", ["town", "place"])
    def test_links_are_keys(self, rows, name):
        frame = pandas.DataFrame(rows)
        assert cells(frame[[name]]) == cells(pandas.DataFrame.from_arrow(rows)[[name]])
        keys = [None if obj is None else realm.reference(obj).key for obj in rows.values("town")]
        assert [row.town for row in numpy.asarray(rows)] == keys
        assert numpy.asarray(rows)[0].town is not None and numpy.asarray(rows)[3].town is None

    def test_all_rows_are_as_in_the_arrow_table(self, rows):
        frame, table = pandas.DataFrame(rows), pandas.DataFrame.from_arrow(rows)
        assert list(frame.columns) == [prop.name for prop in realm.properties(Row).values()]
        assert cells(frame[table.columns]) == cells(table)
        assert list(frame["names"]) == rows.values("names")

    def test_what_pandas_makes_of_types(self, rows):
        kinds = pandas.DataFrame(rows).dtypes
        assert kinds["id"] == "int64" and kinds["real"] == "float64" and kinds["flag"] == object
        assert str(kinds["moment"]) == "datetime64[us, UTC]"


class TestFrames:
    def test_sorted_filtered_and_limited_results(self, rows):
        found = rows.where(Row.number > 100).sorted("-number").limit(300).offset(5)
        assert list(pandas.DataFrame(found)["id"]) == found.values("id")

    def test_frozen_results_on_another_thread(self, rows):
        frozen, seen = rows.freeze(), []
        thread = threading.Thread(target=lambda: seen.append(pandas.DataFrame(frozen)))
        thread.start()
        thread.join()
        assert cells(seen[0]) == cells(pandas.DataFrame(rows))

    def test_of_another_thread_they_are_refused(self, rows):
        seen: list[BaseException] = []

        def use() -> None:
            try:
                pandas.DataFrame(rows)
            except realm.WrongThreadError as error:
                seen.append(error)

        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
        assert len(seen) == 1

    def test_columns_and_index(self, rows):
        frame = pandas.DataFrame(rows, columns=["text", "id"], index=range(10, 1110))
        assert list(frame.columns) == ["text", "id"] and frame.loc[12, "id"] == 2
        with pytest.raises(ValueError):
            pandas.DataFrame(rows, index=[1, 2])

    def test_some_columns(self, rows):
        frame = pandas.DataFrame(rows.columns("text", "names", "text"))
        assert list(frame.columns) == ["text", "names"] and frame["names"][2] == ["a", "a"]
        assert list(pandas.DataFrame(rows.columns()).columns) == list(pandas.DataFrame.from_arrow(rows).columns)
        assert len(rows.columns("id")) == 1100 and [row.id for row in rows.columns("id")] == rows.values("id")
        with pytest.raises(realm.NoSuchPropertyError, match="no property 'nothing'"):
            pandas.DataFrame(rows.columns("nothing"))
        with pytest.raises(ValueError, match="always a copy"):
            numpy.array(rows.columns("id"), copy=False)

    def test_nothing_has_no_columns_but_those_named(self, rows):
        nothing = rows.where(Row.id < 0)
        assert pandas.DataFrame(nothing).shape == (0, 0)
        assert list(pandas.DataFrame(nothing, columns=["id"]).columns) == ["id"]
        assert list(pandas.DataFrame.from_arrow(nothing).columns)[:2] == ["id", "number"]

    def test_objects_of_collections_and_backlinks(self, r):
        with r.write():
            town, other = r.objects(Town)[0], r.create(Town, name="Porto")
            row = r.create(Row, id=1, towns=[other, town], homes={"a": town, "b": None})
        frame = pandas.DataFrame(realm.results(row.towns))
        assert list(frame["name"]) == ["Porto", "Lisbon"]
        assert list(pandas.DataFrame(r.backlinks(town, Row, "towns"))["id"]) == [1]
        # As in the Arrow table, what is no object is a row of nulls.
        homes = realm.results(row.homes)
        assert cells(pandas.DataFrame(homes)) == cells(pandas.DataFrame.from_arrow(homes))
        assert [town.name for town in numpy.asarray(homes)] == ["Lisbon", None]

    def test_a_snapshot_with_a_deleted_object(self, rows):
        snapshot = rows.limit(3).snapshot()
        with rows.realm.write():
            rows.realm.delete(rows[1])
        frame = pandas.DataFrame(snapshot)
        assert cells(frame[["id", "names"]]) == [
            {"id": 0, "names": []}, {"id": None, "names": None}, {"id": 2, "names": ["a", "a"]}]

    def test_in_a_write_transaction(self, rows):
        with rows.realm.write():
            rows[0].text = "new"
            assert pandas.DataFrame(rows)["text"][0] == "new"

    def test_a_closed_realm(self, path):
        with realm.open(path, [Row, Town, Place]) as r:
            found = r.objects(Row)
            values = found.columns("id")
        for closed in (found, values):
            with pytest.raises(realm.ClosedRealmError):
                pandas.DataFrame(closed)
            with pytest.raises(realm.ClosedRealmError):
                numpy.asarray(closed)

    def test_names_that_python_has_no_place_for(self, tmp_path):
        class Odd(realm.Object):
            a: int = realm.Field(name_in_file="first name")
            b: int = realm.Field(name_in_file="class")
            c: int = realm.Field(name_in_file="2")
            d: int = realm.Field(name_in_file="__0")
            e: int = realm.Field(name_in_file="größe")
            f: int = realm.Field(name_in_file="_values")

        path = tmp_path / "odd.realm"
        with realm.open(path, Odd) as r, r.write():
            r.create(Odd, a=1, b=2, c=3, d=4, e=5, f=6)
        names = ["first name", "class", "2", "__0", "größe", "_values"]
        with realm.open(path) as r:
            found = r.objects("Odd")
            assert cells(pandas.DataFrame(found)) == [dict(zip(names, range(1, 7), strict=True))]
            (row,) = numpy.asarray(found)
            assert repr(row) == "Odd(first name=1, class=2, 2=3, __0=4, größe=5, _values=6)"
            assert pickle.loads(pickle.dumps(row)) == row


class TestRows:
    def test_they_are_frozen_data_classes(self, rows):
        one, other = numpy.asarray(rows.columns("id", "text"))[:2]
        assert dataclasses.is_dataclass(one) and [f.name for f in dataclasses.fields(one)] == ["id", "text"]
        assert dataclasses.asdict(one) == {"id": 0, "text": "t0ä"} and dataclasses.astuple(other) == (1, "t1ä")
        assert repr(one) == "Row(id=0, text='t0ä')"
        assert one == numpy.asarray(rows.columns("id", "text"))[0] != other and len({one, other}) == 2
        assert dataclasses.replace(one, id=5).id == 5
        for change in (lambda: setattr(one, "id", 3), lambda: setattr(one, "new", 3), lambda: delattr(one, "id")):
            with pytest.raises(AttributeError):
                change()
        row_type = type(one)
        match one:
            case row_type(0, text):
                assert text == "t0ä"
            case _:
                pytest.fail("it has no positions")

    def test_they_know_of_no_realm(self, rows):
        all_rows = numpy.asarray(rows)
        texts = rows.values("text")
        with rows.realm.write():
            rows.delete()
        assert [row.text for row in all_rows] == texts
        for made in (pickle.loads(pickle.dumps(all_rows[:9])), copy.deepcopy(all_rows[:9])):
            assert list(made) == list(all_rows[:9])

    def test_one_class_for_the_same_properties(self, rows):
        assert type(numpy.asarray(rows)[0]) is type(numpy.asarray(rows.limit(3))[0])
        assert type(numpy.asarray(rows)[0]) is not type(numpy.asarray(rows.columns("id"))[0])


class TestArrays:
    @pytest.fixture
    def row(self, r):
        class Values(realm.Object):
            whole: list[int]
            maybe: list[int | None]
            flags: list[bool]
            reals: list[float | None]
            singles: list[realm.Float32]
            texts: list[str | None]
            moments: set[datetime]
            sizes: list[Size]
            levels: list[Level]
            spans: dict[str, timedelta]
            anything: list[Any]

        with realm.open(r.path + "-values", [Values, Town]) as opened:
            with opened.write():
                opened.create(Town, name="Lisbon")
                made = opened.create(
                    Values, whole=[3, -(2**63)], maybe=[2**62 + 1, None], flags=[True, False], reals=[0.5, None],
                    singles=[0.5], texts=["a\0", None], moments={MOMENT}, sizes=[Size.LARGE],
                    levels=[Level.HIGH], spans={"a": timedelta(1)}, anything=[1, [2, [3]], {"a": None}, [4, 5]],
                )
            yield made

    @pytest.mark.parametrize(
        ("name", "dtype", "values"),
        [("whole", "int64", [3, -(2**63)]), ("maybe", "object", [2**62 + 1, None]), ("flags", "bool", [True, False]),
         ("singles", "float32", [0.5]), ("texts", "object", ["a\0", None]), ("moments", "object", [MOMENT]),
         ("sizes", "object", [Size.LARGE]), ("levels", "object", [Level.HIGH]), ("spans", "object", [timedelta(1)]),
         ("anything", "object", [1, [2, [3]], {"a": None}, [4, 5]])],
    )
    def test_values_that_are_no_objects(self, row, name, dtype, values):
        found = realm.results(getattr(row, name))
        made = numpy.asarray(found)
        assert made.dtype == dtype and made.shape == (len(values),) and made.tolist() == values
        nothing = numpy.asarray(found.limit(0))
        assert nothing.dtype == dtype and nothing.shape == (0,) or name == "maybe"
        assert list(pandas.DataFrame(found)[0]) == values or name == "texts"
        assert len(pandas.Series(found)) == len(values)

    def test_nulls_among_floating_point_numbers_are_nan(self, row):
        made = numpy.asarray(realm.results(row.reals))
        assert made.dtype == "float64" and made[0] == 0.5 and numpy.isnan(made[1])

    def test_other_types_on_request(self, row):
        whole = realm.results(row.whole)
        assert numpy.asarray(whole, dtype="float32").dtype == "float32"
        assert numpy.mean(realm.results(row.reals).limit(1)) == 0.5
        with pytest.raises(ValueError, match="always a copy"):
            numpy.array(whole, copy=False)

    def test_rows_are_objects(self, rows):
        assert numpy.array(rows, dtype=object).shape == (1100,)
        with pytest.raises(TypeError, match=r"objects of Row are rows .* not float64; numpy\(name\)"):
            numpy.asarray(rows, dtype=float)


class TestArrowOfValues:
    """Results of values that are no objects are Arrow arrays."""

    VALUES: dict[str, tuple[Any, list[Any], list[Any]]] = {
        "whole": (int | None, [3, -(2**63), None], [3, -(2**63), None]),
        "flags": (bool | None, [True, None, False, True] * 5, [True, None, False, True] * 5),
        "reals": (float | None, [0.5, None], [0.5, None]),
        "singles": (realm.Float32, [0.5, -2], [0.5, -2.0]),
        "texts": (str | None, ["ä" * 100, None, "", "x"] * 30, ["ä" * 100, None, "", "x"] * 30),
        "data": (bytes | None, [b"\0", b"", None], [b"\0", b"", None]),
        "moments": (datetime | None, [MOMENT, None], [MOMENT, None]),
        "days": (date | None, [date(1960, 2, 29), None], [date(1960, 2, 29), None]),
        "spans": (timedelta, [timedelta(microseconds=-7)], [timedelta(microseconds=-7)]),
        "exacts": (Decimal | None, [Decimal("1.50"), None], ["1.50", None]),
        "keys": (uuid.UUID | None, [uuid.UUID(int=5), None], [uuid.UUID(int=5).bytes, None]),
        "oids": (realm.ObjectId | None, [None, ID], [None, ID.bytes]),
        "sizes": (Size, [Size.LARGE], ["L"]),
    }
    CLASS = type(realm.Object)("Arrays", (realm.Object,), {
        "__module__": __name__, "__annotations__": {
            **{name: list[kind] for name, (kind, _, _) in VALUES.items()},
            "some": set[int], "named": dict[str, int], "anything": list[Any]}})

    @pytest.fixture
    def made(self, path):
        with realm.open(path, self.CLASS) as r:
            with r.write():
                given = {name: list(values) for name, (_, values, _) in self.VALUES.items()}
                obj = r.create(self.CLASS, some={3}, named={"a": 1}, anything=[1], **given)
            yield obj

    @pytest.mark.parametrize("name", VALUES)
    def test_every_type(self, made, name):
        found = realm.results(getattr(made, name))
        array = pyarrow.chunked_array(found)
        array.validate(full=True)
        assert array.to_pylist() == self.VALUES[name][2]
        assert pyarrow.chunked_array(found.limit(1)).to_pylist() == self.VALUES[name][2][:1]
        nothing = pyarrow.chunked_array(found.limit(0))
        assert len(nothing) == 0 and nothing.type == array.type

    def test_sets_dictionaries_and_frozen_results(self, made):
        assert pyarrow.chunked_array(realm.results(made.some)).to_pylist() == [3]
        assert pyarrow.chunked_array(realm.results(made.named)).to_pylist() == [1]
        whole = realm.results(made.whole).sorted()
        assert pyarrow.chunked_array(whole.freeze()).to_pylist() == list(whole)
        assert list(pandas.Series.from_arrow(realm.results(made.reals)).isna()) == [False, True]

    def test_what_is_none(self, made):
        with pytest.raises(realm.PropertyTypeError, match=r"anything can't be a column.*list\(\)"):
            pyarrow.chunked_array(realm.results(made.anything))
        whole = realm.results(made.whole)
        with pytest.raises(realm.QueryError, match="columns are for results of objects"):
            whole.columns()
        with pytest.raises(pyarrow.ArrowInvalid):
            pyarrow.table(whole)
        with made._realm_owner.write(), pytest.raises(TypeError, match="not one of tables"):
            made._realm_owner.insert_many(self.CLASS, whole)
        for _ in range(9):
            whole.__arrow_c_stream__()
        made._realm_owner.close()
        with pytest.raises(realm.ClosedRealmError):
            pyarrow.chunked_array(whole)


class TestResults:
    """They are used as sequences are, though they are none."""

    def test_of_what_kind_they_are(self, rows):
        assert isinstance(rows, Collection) and isinstance(rows, Reversible)
        assert not isinstance(rows, Sequence)

    def test_patterns_match_them(self, rows):
        match rows:
            case [first, *others]:
                assert first.id == 0 and len(others) == 1099
            case _:
                pytest.fail("no sequence")
        match rows.limit(2):
            case [one, two]:
                assert (one.id, two.id) == (0, 1)
            case _:
                pytest.fail("not two")

    def test_they_are_reversed(self, rows):
        assert [row.id for row in reversed(rows)] == list(reversed(rows.values("id")))
        assert min(rows, key=lambda row: -row.id).id == 1099


def test_numpy_is_not_needed_for_the_package(tmp_path):
    """Nor are data classes, which take long to import."""
    program = (
        "import sys; sys.modules['numpy'] = None; import realm\n"
        "assert 'dataclasses' not in sys.modules\n"
        "class P(realm.Object):\n"
        "    id: int = 0\n"
        f"with realm.open({str(tmp_path / 'x.realm')!r}, P) as r:\n"
        "    with r.write():\n"
        "        r.create(P, id=3)\n"
        "    print(list(r.objects(P).columns('id')))\n"
        "    try:\n"
        "        r.objects(P).__array__()\n"
        "    except ImportError as error:\n"
        "        print('numpy' in str(error))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("[P(id=3)]\nTrue\n", 0), done.stderr
