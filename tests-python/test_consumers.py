"""Consumers of Arrow's streams that read on threads of their own: results answer there, too."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pytest

import realm


class Person(realm.Object):
    id: int = realm.PrimaryKey()
    name: str = ""
    age: int | None = None
    marks: list[int] = []


@pytest.fixture
def r(path):
    with realm.open(path, Person) as r:
        with r.write():
            r.insert_many(Person, {"id": range(5000), "name": [f"n{i}" for i in range(5000)],
                                   "age": [None if i % 10 == 0 else i % 50 for i in range(5000)]})
        yield r


def elsewhere(function: Callable[[], Any]) -> Any:
    """What a function returns, or raises, on another thread."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append((function(), None))
        except BaseException as error:
            found.append((None, error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    value, error = found[0]
    if error is not None:
        raise error
    return value


def people(r: realm.Realm) -> realm.Results[Person]:
    return r.objects(Person).where(Person.age < 20).sorted("-id").limit(1000)


def test_duckdb_reads_live_results(r):
    young = people(r)  # noqa: F841: the query names it
    for threads in (1, 4):
        with duckdb.connect() as db:
            db.execute(f"set threads={threads}")
            for _ in range(20):
                assert db.execute("select count(*), min(id), sum(age) from young").fetchall() == [
                    (1000, young.min("id"), young.sum("age"))]
    columns = young.columns("name")  # noqa: F841
    assert duckdb.sql("select name from columns order by name limit 1").fetchall() == [
        (min(young.values("name")),)]


def test_a_relation_of_duckdb_reads_what_is_there_when_it_is_asked(r):
    all_of_them = r.objects(Person)  # noqa: F841
    relation = duckdb.sql("select count(*) from all_of_them")
    assert relation.fetchall() == [(5000,)]
    with r.write():
        r.create(Person, id=-1)
    assert duckdb.sql("select count(*) from all_of_them").fetchall() == [(5001,)]


def test_polars_pandas_and_pyarrow_on_this_and_other_threads(r):
    young = people(r)
    assert pyarrow.schema(young).names == ["id", "name", "age"] == polars.DataFrame(young).columns
    wanted = young.values("id", "name", "age")
    for run in (lambda function: function(), elsewhere):
        assert run(lambda: polars.DataFrame(young)).rows() == wanted
        assert [tuple(row.values()) for row in run(lambda: pyarrow.table(young)).to_pylist()] == wanted
        assert run(lambda: pandas.DataFrame.from_arrow(young)).id.tolist() == young.values("id")
        assert run(lambda: pyarrow.table(young.columns("age")))["age"].to_pylist() == young.values("age")


def test_the_columns_alone_open_the_way_to_other_threads(r):
    young = people(r)
    schema = pyarrow.schema(young)
    assert [str(field.type) for field in schema] == ["int64", "large_string", "int64"]
    assert not schema.field("id").nullable and schema.field("age").nullable
    assert elsewhere(lambda: pyarrow.table(young)).schema == schema
    with r.write():
        marks = r.find(Person, 7)
        marks.marks = [3, 1, 2]
    values = marks.marks.results().sorted()
    assert pyarrow.field(values).type == pyarrow.int64()
    assert elsewhere(lambda: pyarrow.chunked_array(values)).to_pylist() == [1, 2, 3]
    with pytest.raises(realm.PropertyTypeError, match=r"Person\.marks can't be a column"):
        pyarrow.schema(young.columns("marks"))


def test_results_that_were_not_asked_on_their_thread_say_what_to_do(r):
    with pytest.raises(realm.WrongThreadError, match=r"freeze\(\)"):
        elsewhere(lambda: pyarrow.table(people(r)))


def test_other_threads_read_what_the_realm_sees_until_it_goes_on(r, path):
    young = people(r)
    pyarrow.schema(young)
    with realm.open(path, Person) as other, other.write():
        other.objects(Person).delete()
    assert elsewhere(lambda: pyarrow.table(young)).num_rows == 1000
    r.refresh()
    with pytest.raises(realm.WrongThreadError):
        elsewhere(lambda: pyarrow.table(young))
    assert pyarrow.table(young).num_rows == 0 == elsewhere(lambda: pyarrow.table(young)).num_rows


def test_a_write_transaction_is_read_on_its_own_thread(r):
    every = r.objects(Person)
    assert pyarrow.table(every).num_rows == 5000
    with r.write():
        r.create(Person, id=-1)
        assert pyarrow.table(every).num_rows == 5001
        with pytest.raises(realm.WrongThreadError):
            elsewhere(lambda: pyarrow.table(every))
    assert pyarrow.table(every).num_rows == 5001 == elsewhere(lambda: pyarrow.table(every)).num_rows


def test_no_version_stays_in_the_file_for_other_threads(r):
    kept = [r.objects(Person).where(Person.age < limit) for limit in range(20)]
    for results in kept:
        pyarrow.table(results)
    with r.write():
        r.create(Person, id=-1)
    with r.write():
        r.create(Person, id=-2)
    gc.collect()
    assert r.version_count == 1
    pyarrow.table(kept[0])
    assert r.compact()


def test_results_that_are_gone_are_forgotten(r):
    """Others may come to stand at their address."""
    for limit in range(300):
        some = r.objects(Person).where(Person.id < limit)
        assert pyarrow.table(some).num_rows == limit == elsewhere(lambda some=some: pyarrow.table(some)).num_rows
        del some
        with pytest.raises(realm.WrongThreadError):
            elsewhere(lambda: pyarrow.table(r.objects(Person).where(Person.id < 5)))


@pytest.mark.parametrize("name", ["closed", "collected"])
def test_streams_outlive_their_realm(path, name):
    with realm.open(path, Person) as r:
        with r.write():
            r.insert_many(Person, {"id": range(100)})
        every = r.objects(Person)
        capsule = every.__arrow_c_stream__()
        schema = every.__arrow_c_schema__()
        if name == "collected":
            del every
            gc.collect()

    class Held:
        def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
            return capsule

        def __arrow_c_schema__(self) -> Any:
            return schema

    assert elsewhere(lambda: pyarrow.table(Held())).num_rows == 100
    assert pyarrow.schema(Held()).names == ["id", "name", "age"]
    if name == "closed":
        for ask in (lambda function: function(), elsewhere):
            with pytest.raises(realm.ClosedRealmError):
                ask(lambda: pyarrow.table(every))


def test_threads_read_while_the_realm_goes_on(r):
    """Either a whole table of one version, or the error that says what to do."""
    every = r.objects(Person)
    over = threading.Event()
    counts: list[int] = []
    errors: list[BaseException] = []

    def read() -> None:
        while not over.is_set():
            try:
                table = pyarrow.table(every)
                counts.append(table.num_rows)
                assert table["id"].to_pylist() == list(range(table.num_rows))
            except realm.WrongThreadError:
                pass
            except BaseException as error:
                errors.append(error)
                return

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(60):
        pyarrow.schema(every)
        with r.write():
            r.create(Person, id=5000 + number)
        assert pyarrow.table(every).num_rows == 5001 + number
    over.set()
    for thread in threads:
        thread.join()
    assert not errors and set(counts) <= set(range(5000, 5061))


@pytest.mark.parametrize("options", [{"read_only": True}, {"classes": None}, {"in_memory": True}])
def test_realms_of_all_kinds(path, tmp_path, options):
    with realm.open(path, Person) as r, r.write():
        r.create(Person, id=1)
    where = str(tmp_path / "memory.realm") if "in_memory" in options else path
    with realm.open(where, **{"classes": Person, **options}) as r:
        if "in_memory" in options:
            with r.write():
                r.create(Person, id=1)
        every = r.objects("Person")
        assert pyarrow.table(every).num_rows == 1 == elsewhere(lambda: pyarrow.table(every)).num_rows


def test_migrations_and_observers_read_tables(path):
    seen = []
    with realm.open(path, Person) as r, r.write():
        r.create(Person, id=1)

    def migrate(old: realm.Realm, new: realm.Realm) -> None:
        seen.append([pyarrow.table(one.objects("Person")).num_rows for one in (old, new)])

    with realm.open(path, Person, version=1, migrate=migrate) as r:
        every = r.objects(Person)
        with every.observe(lambda change: seen.append(elsewhere(lambda: len(polars.DataFrame(every)))
                                                      if pyarrow.schema(every) else None)):
            r.refresh()
            with r.write():
                r.create(Person, id=2)
            r.refresh()
    assert seen == [[1, 1], 1, 2]


def test_frames_that_were_filtered_come_in(r):
    frame = pandas.DataFrame({"id": [-1, -2, -3, -4], "name": list("abcd")})
    with r.write():
        assert r.insert_many(Person, frame[frame.id.isin([-1, -2, -4])]) == 3
        assert r.insert_many(Person, frame[frame.id == -3].sample(1)) == 1
    assert [r.find(Person, -n).name for n in (1, 2, 3, 4)] == list("abcd")
