"""A random program runs against a realm and against plain Python; they must never differ."""

from __future__ import annotations

import os
import shutil
import tempfile

import pytest
from hypothesis import seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

import realm
from campaigns import Campaign


class Node(realm.Object):
    key: str = realm.PrimaryKey()
    number: int | None = realm.Indexed(default=None)
    label: str = realm.Indexed(default="")
    weight: float = 0.0
    next: Node | None = None


class Loose(realm.Object):
    number: int = 0
    node: Node | None = None


small_keys = st.text(alphabet="abé", max_size=3)
numbers = st.none() | st.integers(-5, 5) | st.integers(-(2**63), 2**63 - 1)
labels = st.sampled_from(["", "a", "ab", "b", "ü", "x" * 3000])


class Program(RuleBasedStateMachine):
    """`model` maps the keys of Node to its values; `loose` is the list of Loose in creation order."""

    keys = Bundle("keys")

    @initialize()
    def open(self):
        self.directory = tempfile.mkdtemp(prefix="realm-model-")
        self.path = os.path.join(self.directory, "model.realm")
        self.model, self.loose = {}, []
        self.saved = None
        self.r = realm.open(self.path, classes=[Node, Loose])

    def teardown(self):
        if hasattr(self, "r"):
            self.r.close()
            shutil.rmtree(self.directory)

    # ---- transactions ----------------------------------------------------------------------

    def writing(self):
        return self.saved is not None

    @precondition(lambda self: not self.writing())
    @rule()
    def begin(self):
        self.saved = ({k: dict(v) for k, v in self.model.items()},
                      [dict(v) for v in self.loose])
        self.r.begin_write()

    @precondition(writing)
    @rule()
    def commit(self):
        self.r.commit()
        self.saved = None

    @precondition(writing)
    @rule()
    def roll_back(self):
        self.r.rollback()
        self.model, self.loose = self.saved
        self.saved = None

    @precondition(lambda self: not self.writing())
    @rule()
    def reopen(self):
        self.r.close()
        self.r = realm.open(self.path, classes=[Node, Loose])

    @precondition(lambda self: not self.writing())
    @rule()
    def compact(self):
        assert self.r.compact()

    @precondition(lambda self: not self.writing())
    @rule()
    def check(self):
        assert self.r.check() == []

    @rule()
    def other_realm(self):
        """Another realm of the file sees the last committed state, whatever is going on here."""
        model, loose = self.saved or (self.model, self.loose)
        with realm.open(self.path, classes=[Node, Loose]) as other:
            assert sorted(other.objects(Node).values("key")) == sorted(model)
            assert other.objects(Loose).values("number") == [v["number"] for v in loose]

    # ---- changes ---------------------------------------------------------------------------

    @precondition(writing)
    @rule(target=keys, key=small_keys, number=numbers, label=labels)
    def create(self, key, number, label):
        if key in self.model:
            with pytest.raises(realm.ObjectExistsError):
                self.r.create(Node, key=key)
            return multiple()
        self.r.create(Node, key=key, number=number, label=label)
        self.model[key] = {"number": number, "label": label, "weight": 0.0, "next": None}
        return key

    @precondition(writing)
    @rule(first=st.integers(0, 1000), count=st.integers(1, 300))
    def create_many(self, first, count):
        for i in range(first, first + count):
            key = f"{i:04}"
            if key not in self.model:
                self.model[key] = {"number": i % 7, "label": f"l{i % 11}", "weight": float(i),
                                   "next": None}
                self.r.create(Node, key=key, **self.model[key])

    @precondition(writing)
    @rule(key=keys, number=numbers, label=labels, policy=st.sampled_from(["all", "modified"]))
    def upsert(self, key, number, label, policy):
        self.r.create(Node, key=key, number=number, label=label, update=policy)
        row = self.model.setdefault(key, {"weight": 0.0, "next": None})
        row |= {"number": number, "label": label}

    @precondition(writing)
    @rule(key=keys, number=numbers, weight=st.floats(allow_nan=False))
    def change(self, key, number, weight):
        node = self.r.find(Node, key)
        assert (node is None) == (key not in self.model)
        if node is not None:
            node.number, node.weight = number, weight
            self.model[key] |= {"number": number, "weight": weight}

    @precondition(writing)
    @rule(key=keys, other=keys)
    def link(self, key, other):
        if key in self.model:
            self.r.find(Node, key).next = self.r.find(Node, other)
            self.model[key]["next"] = other if other in self.model else None

    @precondition(writing)
    @rule(key=keys)
    def delete(self, key):
        if key in self.model:
            self.r.delete(self.r.find(Node, key))
            self.forget([key])

    @precondition(writing)
    @rule(number=st.integers(-5, 6))
    def delete_some(self, number):
        self.r.objects(Node).filter("number == $0", number).delete_all()
        self.forget([k for k, v in self.model.items() if v["number"] == number])

    def forget(self, keys):
        for key in keys:
            del self.model[key]
        for row in self.model.values():
            if row["next"] in keys:
                row["next"] = None
        for row in self.loose:
            if row["node"] in keys:
                row["node"] = None

    @precondition(writing)
    @rule(key=keys, number=st.integers(-5, 5))
    def create_loose(self, key, number):
        self.r.create(Loose, number=number, node=self.r.find(Node, key))
        self.loose.append({"number": number, "node": key if key in self.model else None})

    # ---- questions -------------------------------------------------------------------------

    @rule(key=small_keys)
    def find(self, key):
        found = self.r.find(Node, key)
        assert (found is not None) == (key in self.model)

    @rule(low=st.integers(-6, 6), high=st.integers(-6, 6))
    def range(self, low, high):
        found = self.r.objects(Node).filter("number >= $0 AND number < $1", low, high)
        assert sorted(n.key for n in found) == sorted(
            k for k, v in self.model.items() if v["number"] is not None
            and low <= v["number"] < high
        )

    @rule(label=labels)
    def labelled(self, label):
        found = self.r.objects(Node).filter("label == $0", label)
        assert sorted(found.values("key")) == sorted(
            k for k, v in self.model.items() if v["label"] == label
        )
        assert self.r.objects(Node).filter("label BEGINSWITH $0", label[:1]).count() == sum(
            v["label"].startswith(label[:1]) for v in self.model.values()
        )

    @rule(key=keys)
    def backlinks(self, key):
        node = self.r.find(Node, key)
        if node is not None:
            assert sorted(n.key for n in self.r.backlinks(node, Node, "next")) == sorted(
                k for k, v in self.model.items() if v["next"] == key
            )
            assert len(self.r.backlinks(node, Loose, "node")) == sum(
                v["node"] == key for v in self.loose
            )

    @rule()
    def sorted_by_number(self):
        order = self.r.objects(Node).sorted("number", "-key").values("number", "key")
        by_key = sorted(self.model, key=lambda k: k.encode(), reverse=True)
        expected = sorted(
            ((self.model[k]["number"], k) for k in by_key),
            key=lambda pair: (pair[0] is not None, pair[0] or 0),
        )
        assert order == expected

    @rule()
    def aggregates(self):
        present = [v["number"] for v in self.model.values() if v["number"] is not None]
        nodes = self.r.objects(Node)
        assert nodes.min("number") == min(present, default=None)
        assert nodes.max("number") == max(present, default=None)
        assert nodes.sum("number") == (sum(present) + 2**63) % 2**64 - 2**63

    @invariant()
    def same(self):
        if not hasattr(self, "r"):
            return
        nodes = self.r.objects(Node)
        assert len(nodes) == len(self.model)
        found = {
            key: {"number": number, "label": label, "weight": weight,
                  "next": None if target is None else target.key}
            for key, number, label, weight, target in nodes.values(
                "key", "number", "label", "weight", "next"
            )
        }
        assert found == self.model
        assert [
            {"number": number, "node": None if node is None else node.key}
            for number, node in self.r.objects(Loose).values("number", "node")
        ] == self.loose


def test_random_programs_do_what_a_dictionary_does() -> None:
    for number in Campaign("objects", seconds=8, at_least=3):
        run_state_machine_as_test(
            seed(number)(Program), settings=settings(max_examples=5, stateful_step_count=40))
