"""`Results.values()` of properties that are lists, sets and dictionaries."""

from __future__ import annotations

import pytest
from collection_models import Dog, Person, w  # noqa: F401

import realm


class TestValuesOfCollections:
    @pytest.fixture
    def people(self, w):
        rex, bo = w.create(Dog, name="Rex"), w.create(Dog, name="Bo")
        w.create(
            Person, id=1, tags=["x", "y", "x"], numbers=range(600), scores={3, 1},
            weights={"a": 1.5, "b": None}, dogs=[rex, bo, rex], pack={bo},
            kennel={"k": rex, "none": None}, homes=[{"street": "s"}],
            places={"p": {"street": "t"}}, anything=[1, ["in"], {"k": 2}],
        )
        w.create(Person, id=2)
        w.create(Person, id=3, weights={str(i): float(i) for i in range(600)})
        return w.objects(Person).sorted("id")

    def test_lists_and_sets_are_lists_and_dictionaries_are_dicts(self, people):
        assert people.values("tags") == [["x", "y", "x"], [], []]
        assert people.values("numbers") == [list(range(600)), [], []]
        assert [sorted(scores) for scores in people.values("scores")] == [[1, 3], [], []]
        weights = people.values("weights")
        assert weights == [{"a": 1.5, "b": None}, {}, {str(i): float(i) for i in range(600)}]
        assert {type(value) for value in people.values("scores")} == {list}
        assert {type(value) for value in weights} == {dict}

    def test_objects_in_them_are_objects(self, w, people):
        rex, bo = w.find(Dog, "Rex"), w.find(Dog, "Bo")
        assert people.values("dogs")[0] == [rex, bo, rex]
        assert people.values("pack")[0] == [bo]
        assert people.values("kennel")[0] == {"k": rex, "none": None}
        assert [home.street for home in people.values("homes")[0]] == ["s"]
        assert people.values("places")[0]["p"].street == "t"

    def test_paths_over_collections_of_links(self, w, people):
        """As a loop over the objects would give them."""
        assert people.values("dogs.name") == [["Rex", "Bo", "Rex"], [], []]
        assert people.values("id", "pack.name", "tags")[0] == (1, ["Bo"], ["x", "y", "x"])
        assert people.values("kennel.name") == [{"k": "Rex", "none": None}, {}, {}]
        assert people.values("homes.street") == [["s"], [], []]
        assert people.values(Person.places.street)[0] == {"p": "t"}
        with pytest.raises(realm.NoSuchPropertyError, match="Dog has no property 'nothing'"):
            people.values("dogs.nothing")
        with pytest.raises(realm.NoSuchPropertyError, match="Person.tags is no link"):
            people.values("tags.name")
        with pytest.raises(realm.NoSuchPropertyError, match="no link to one object"):
            people.group_by("dogs.name", n=realm.agg.count())

    def test_nested_collections_are_views(self, people):
        first, inner, named = people.values("anything")[0]
        assert (first, inner, named) == (1, ["in"], {"k": 2})
        inner.append("more")
        assert people[0].anything[1] == ["in", "more"]

    def test_beside_other_properties(self, w, people):
        assert people.values("id", "tags", "id") == [(1, ["x", "y", "x"], 1), (2, [], 2), (3, [], 3)]
        assert people.values("tags", "weights")[0] == (["x", "y", "x"], {"a": 1.5, "b": None})
        for number in range(4, 700):
            w.create(Person, id=number, tags=[str(number)])
        many = people.values("tags", "id")
        assert len(many) == 699 and many[3:] == [([str(n)], n) for n in range(4, 700)]

    def test_they_are_copies(self, people):
        tags = people.values("tags")[0]
        tags.append("z")
        people[0].tags.clear()
        assert tags == ["x", "y", "x", "z"] and people.values("tags")[0] == []

    def test_of_objects_that_are_gone(self, w, people):
        kept = people.snapshot()
        w.delete(people[1])
        assert kept.values("tags") == [["x", "y", "x"], None, []]
