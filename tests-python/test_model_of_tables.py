"""Random programs of what works on many objects at once - columns in and out, `update` and `delete` of
results, groups - and of copies, against rows of plain Python: they must never differ."""

from __future__ import annotations

import asyncio
import copy
import datetime
import enum
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

import numpy
import pyarrow
import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import realm
from campaigns import Campaign


class Colour(enum.Enum):
    RED = "r"
    BLUE = "b"


class Item(realm.Object):
    id: int = realm.PrimaryKey()
    group: str | None = realm.Indexed(default=None)
    number: int | None = None
    # Quarters, so that sums are the same in any order.
    score: float | None = None
    when: datetime.datetime | None = None
    colour: Colour = Colour.RED
    done: bool = False
    tags: list[str] = []


Row = dict[str, Any]
COLUMNS = ["id", "group", "number", "score", "when", "colour", "done"]
ARROW = pyarrow.schema([
    ("id", pyarrow.int64()), ("group", pyarrow.string()), ("number", pyarrow.int64()),
    ("score", pyarrow.float64()), ("when", pyarrow.timestamp("us", tz="UTC")),
    ("colour", pyarrow.string()), ("done", pyarrow.bool_())])

instants = st.datetimes(datetime.datetime(1890, 1, 1), datetime.datetime(2200, 1, 1),
                        timezones=st.just(datetime.UTC))
rows = st.fixed_dictionaries({
    "id": st.integers(0, 60),
    "group": st.sampled_from([None, "", "a", "b", "ü" * 30]),
    "number": st.none() | st.integers(-3, 3) | st.integers(-(2**62), 2**62),
    "score": st.none() | st.integers(-6, 6).map(lambda n: n / 4),
    "when": st.none() | instants,
    "colour": st.sampled_from(Colour),
    "done": st.booleans(),
})


def stored_form(row: Row) -> Row:
    """The row as tables of Arrow have it: members of an Enum are their values."""
    return row | {"colour": row["colour"].value}


class Stop(Exception):
    """What ends a write early."""


class Tables(RuleBasedStateMachine):
    """`model` maps keys to rows."""

    # Many of the rules find nothing to do in an empty realm.
    @initialize(given=st.lists(rows, min_size=6, max_size=16, unique_by=lambda row: row["id"]))
    def open(self, given: list[Row]) -> None:
        self.directory = tempfile.mkdtemp(prefix="realm-tables-")
        self.path = os.path.join(self.directory, "tables.realm")
        self.r = realm.open(self.path, Item)
        self.model: dict[int, Row] = {row["id"]: row | {"tags": []} for row in given}
        with self.r.write():
            assert self.r.insert_many(Item, given) == len(given)

    def teardown(self) -> None:
        if hasattr(self, "r"):
            self.r.close()
            shutil.rmtree(self.directory)

    def write(self, how: str, change: Callable[[], Any]) -> Any:
        """Does `change` in a write transaction, of a coroutine or not, or in one that is given up."""
        async def in_coroutine() -> Any:
            async with self.r.write_async():
                return change()

        if how == "async":
            return asyncio.run(in_coroutine())
        before = copy.deepcopy(self.model)
        try:
            with self.r.write():
                result = change()
                if how == "given up":
                    raise Stop
                return result
        except Stop:
            self.model = before
            return None

    hows = st.sampled_from(["plain", "plain", "async", "given up"])

    def found(self, keep: Callable[[Row], bool]) -> list[Row]:
        return [row for row in self.model.values() if keep(row)]

    # ---- in --------------------------------------------------------------------------------

    @rule(how=hows, given=st.lists(rows, min_size=1, max_size=6), update=st.sampled_from(
        ["error", "all", "modified"]),
        form=st.sampled_from(["lists", "numpy", "arrow", "batches", "dicts", "objects"]))
    def insert(self, how: str, given: list[Row], update: str, form: str) -> None:
        columns: Row = {name: [row[name] for row in given] for name in COLUMNS}
        data: Any = given
        if form == "lists":
            data = columns
        elif form == "numpy":
            data = columns | {"id": numpy.array(columns["id"], "int32"),
                              "done": numpy.array(columns["done"])}
        elif form in ("arrow", "batches"):
            data = pyarrow.Table.from_pylist(list(map(stored_form, given)), schema=ARROW)
            if form == "batches":
                data = pyarrow.Table.from_batches(data.to_batches(max_chunksize=3))
        elif form == "objects":
            data = [Item(**row) for row in given]
        keys = [row["id"] for row in given]
        taken = len(set(keys)) < len(keys) or not self.model.keys().isdisjoint(keys)

        def change() -> None:
            if update == "error" and taken:
                # All of them or none.
                with pytest.raises(realm.ObjectExistsError):
                    self.r.insert_many(Item, data, update=update)
                return
            assert self.r.insert_many(Item, data, update=update) == len(given)
            for row in given:
                tags = self.model[row["id"]]["tags"] if row["id"] in self.model else []
                # Objects bring their empty lists with them, columns say nothing of them.
                self.model[row["id"]] = row | {"tags": [] if form == "objects" else tags}

        self.write(how, change)

    @rule(how=hows, row=rows, tags=st.lists(st.sampled_from("xyz"), max_size=3),
          way=st.sampled_from([copy.copy, copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))]))
    def copied(self, how: str, row: Row, tags: list[str], way: Callable[[Item], Item]) -> None:
        first = Item(**row, tags=tags)
        second = way(first)
        second.number = 7
        # A copy is an object of its own, whatever becomes of the first.
        assert first.number == row["number"]
        for name in COLUMNS:
            assert getattr(second, name) == (7 if name == "number" else row[name])

        def change() -> None:
            self.r.add(second, update="all")
            self.model[row["id"]] = row | {"number": 7, "tags": tags}

        self.write(how, change)

    # ---- changing all ----------------------------------------------------------------------

    @rule(how=hows, group=rows.map(lambda row: row["group"]), number=st.integers(-3, 3),
          tags=st.lists(st.sampled_from("xyz"), max_size=2))
    def update(self, how: str, group: str | None, number: int, tags: list[str]) -> None:
        def change() -> None:
            found = self.found(lambda row: row["group"] == group)
            objects = self.r.objects(Item).filter("group == $0", group)
            # They leave the results while they are changed.
            assert objects.update(group="moved", number=number, tags=tags) == len(found)
            for row in found:
                row |= {"group": "moved", "number": number, "tags": tags}
            assert len(objects) == 0

        self.write(how, change)

    @rule(how=hows, number=st.integers(-3, 3))
    def update_fails(self, how: str, number: int) -> None:
        """What can't be stored in one of them changes none."""
        def change() -> None:
            objects = self.r.objects(Item).filter("number >= $0", number)
            if len(objects):
                with pytest.raises(realm.Error):
                    objects.update(number=1, score="no number")

        self.write(how, change)

    @rule(how=hows, number=st.integers(-4, 4))
    def delete(self, how: str, number: int) -> None:
        def change() -> None:
            found = self.found(lambda row: row["number"] is not None and row["number"] < number)
            assert self.r.objects(Item).where(Item.number < number).delete() == len(found)
            for row in found:
                del self.model[row["id"]]

        self.write(how, change)

    @precondition(lambda self: hasattr(self, "r"))
    @rule()
    def reopen(self) -> None:
        self.r.close()
        self.r = realm.open(self.path, Item)

    # ---- out -------------------------------------------------------------------------------

    @rule(keys=st.sampled_from([("group",), ("colour",), ("group", "done"), ("when",)]))
    def groups(self, keys: tuple[str, ...]) -> None:
        wanted: dict[tuple[Any, ...], list[Row]] = {}
        for row in self.model.values():
            wanted.setdefault(tuple(row[key] for key in keys), []).append(row)
        found = self.r.objects(Item).group_by(
            *keys, n=realm.agg.count(), total=realm.agg.sum("score"), low=realm.agg.min("number"),
            high=realm.agg.max("number"), mean=realm.agg.avg("score"))
        assert len(found) == len(wanted)
        for group in found:
            members = wanted[tuple(group[:len(keys)])]
            scores = [row["score"] for row in members if row["score"] is not None]
            numbers = [row["number"] for row in members if row["number"] is not None]
            assert group.n == len(members) and group.total == sum(scores)
            assert (group.low, group.high) == (min(numbers, default=None), max(numbers, default=None))
            assert group.mean == (sum(scores) / len(scores) if scores else None)

    @rule(frozen=st.booleans())
    def table(self, frozen: bool) -> None:
        objects = self.r.objects(Item)
        table = pyarrow.table(objects.freeze() if frozen else objects)
        assert set(table.column_names) == set(COLUMNS)
        found = {row["id"]: row for row in table.to_pylist()}
        assert found == {
            key: {name: stored_form(row)[name] for name in COLUMNS} for key, row in self.model.items()}

    @rule()
    def arrays(self) -> None:
        objects = self.r.objects(Item)
        keys = objects.numpy("id").tolist()
        assert sorted(keys) == sorted(self.model)
        for name in ("number", "done", "group"):
            assert objects.numpy(name).tolist() == [self.model[key][name] for key in keys]
        scores = objects.numpy("score")
        for key, score in zip(keys, scores.tolist(), strict=True):
            wanted = self.model[key]["score"]
            assert numpy.isnan(score) if wanted is None else score == wanted
        for key, instant in zip(keys, objects.numpy("when").tolist(), strict=True):
            wanted = self.model[key]["when"]
            assert instant == (wanted and wanted.replace(tzinfo=None))

    @invariant()
    def the_same(self) -> None:
        if not hasattr(self, "r"):
            return
        names = [*COLUMNS, "tags"]
        found = {values[0]: dict(zip(names, values, strict=True))
                 for values in self.r.objects(Item).values(*names)}
        assert found == self.model


def test_random_programs_do_what_rows_of_python_do() -> None:
    # Shrinking runs long programs again and again; the seed that is printed replays them.
    wanted = settings(max_examples=4, stateful_step_count=25, deadline=None, phases=[Phase.generate],
                      suppress_health_check=list(HealthCheck))
    for number in Campaign("tables", seconds=1.5, at_least=2):
        run_state_machine_as_test(seed(number)(Tables), settings=wanted)
