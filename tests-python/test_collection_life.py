"""Collections over time: transactions, deletion, threads, and what else of the package meets them."""

from __future__ import annotations

import threading

import pytest
from collection_models import Address, Dog, Person, person, w  # noqa: F401

import realm


# ---- life ------------------------------------------------------------------------------------


def test_nothing_changes_outside_of_a_transaction(w, person):
    person.tags, person.scores, person.weights = ["a"], {1}, {"a": 1.0}
    w.commit()
    for attempt in (
        lambda: person.tags.append("b"), lambda: person.tags.clear(), lambda: person.tags.pop(),
        lambda: person.tags.__setitem__(0, "b"), lambda: setattr(person, "tags", []),
        lambda: person.scores.add(2), lambda: person.scores.discard(5),
        lambda: person.scores.clear(), lambda: person.weights.__delitem__("a"),
        lambda: person.weights.__setitem__("b", 1.0), lambda: person.dogs.append(Dog(name="x")),
        lambda: person.homes.append({"street": "x"}),
    ):
        with pytest.raises(realm.TransactionError):
            attempt()
    assert person.tags == ["a"] and person.scores == {1} and person.weights == {"a": 1.0}


def test_collections_of_deleted_objects_and_closed_realms_say_so(w, person):
    views = person.tags, person.scores, person.weights
    other = w.create(Person, id=2, tags=["a"])
    kept = other.tags
    w.delete(person)
    for view in views:
        assert not view.is_valid and "deleted" in repr(view)
        for attempt in (lambda v: len(v), list, lambda v: v.clear(), lambda v: "a" in v):
            with pytest.raises(realm.InvalidObjectError):
                attempt(view)
    iterator = iter(kept)
    w.commit()
    w.close()
    assert not kept.is_valid and repr(kept) == "<list Person.tags, closed>"
    for attempt in (lambda: len(kept), lambda: kept[0], lambda: next(iterator),
                    lambda: kept.append("x")):
        with pytest.raises(realm.ClosedRealmError):
            attempt()


def test_collections_belong_to_the_thread_of_their_realm(w, person):
    caught = []

    def elsewhere(view=person.tags):
        try:
            len(view)
        except realm.WrongThreadError as error:
            caught.append(error)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert len(caught) == 1


def test_reprs_are_short_and_true(person):
    person.tags = [f"t{i}" for i in range(100)]
    person.kennel = {"a": Dog(name="Rex")}
    person.friends = [person]
    assert repr(person.tags) == "<list Person.tags: ['t0', 't1', 't2', 't3', 't4', 't5', ...]>"
    assert repr(person.kennel) == "<dict Person.kennel: {'a': Dog('Rex')}>"
    assert repr(person.friends) == "<list Person.friends: [Person(1)]>"
    assert repr(person.scores) == "<set Person.scores: {}>"


def test_collections_are_made_by_their_objects_alone():
    for kind in (realm.List, realm.Set, realm.Dictionary):
        with pytest.raises(TypeError, match="comes from a property"):
            kind()


# ---- the rest of the package -----------------------------------------------------------------


def test_collections_are_arguments_of_queries(w, person):
    for name in ("Ada", "Bo", "Cy"):
        w.create(Dog, name=name)
    person.tags = ["Ada", "Cy"]
    assert w.objects(Dog).filter("name IN $0", person.tags).values("name") == ["Ada", "Cy"]


def test_content_may_come_from_what_changes_the_collection(person):
    person.numbers = [1, 2, 3]

    def shrinking():
        person.numbers.clear()
        yield 7

    person.numbers[1:] = shrinking()
    assert person.numbers == [7]
    person.numbers.extend(shrinking())
    assert person.numbers == [7]
    person.numbers.extend(person.numbers)
    assert person.numbers == [7, 7]

    def failing():
        yield 1
        raise LookupError

    for attempt in (lambda: person.numbers.extend(failing()),
                    lambda: setattr(person, "numbers", failing())):
        with pytest.raises(LookupError):
            attempt()
    assert person.numbers == [7, 7]


def test_realms_without_classes_know_collections_and_embedded_objects(w, person, path):
    person.homes = [{"street": "s", "rooms": [{"number": 1, "beds": ["b"]}]}]
    person.weights = {"a": None}
    w.commit()
    w.close()
    with realm.open(path) as r, r.write():
        assert issubclass(r.classes["Address"], realm.EmbeddedObject)
        one = r.find("Person", 1)
        assert one.homes[0].rooms[0].beds == ["b"] and one.weights == {"a": None}
        one.homes.append({"street": "t"})
        one.kennel["x"] = {"name": "Rex"}
        assert one.homes[1].street == "t" and one.kennel["x"].name == "Rex"
        assert r.check() == []


def test_rolling_back_takes_the_content_back(w, person):
    person.tags = ["a"]
    w.commit()
    w.begin_write()
    person.tags.append("b")
    person.homes.append({"street": "s"})
    w.rollback()
    assert person.tags == ["a"] and person.homes == []
