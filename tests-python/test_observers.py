"""Observers: what they are told, when, and how observations end."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest

import models
import realm
from collection_models import Dog as Hound
from collection_models import Person as Owner
from models import Airport, Country, Note, Person
from test_threads import in_thread


@pytest.fixture
def o(path):
    """A realm with an object of many collections."""
    with realm.open(path, classes=[Owner]) as opened:
        with opened.write():
            opened.create(Owner, id=1, tags=["a", "b", "c"], weights={"x": 1.0, "y": 2.0},
                          scores={1, 2}, dogs=[Hound(name="Rex"), Hound(name="Bo")],
                          anything=[["n"], {"k": 1}])
        yield opened


def told_by(subject, *paths):
    """An observation that has had its first call, and the list of what comes now."""
    changes: list[Any] = []
    token = subject.observe(changes.append, *paths)
    token.realm.refresh()
    first = changes.pop()
    assert first.initial and not changes
    return changes, token


def write(r, work):
    with r.write():
        work()
    r.refresh()


class TestChanges:
    def test_results(self, airports):
        high = airports.objects(Airport).filter("elevation > 100").sorted("name")
        changes, _ = told_by(high)
        names = [a.name for a in high]

        def work():
            airports.find(Airport, "SPZO").elevation = 3
            airports.find(Airport, "SPJL").city = "J"
            airports.create(Airport, icao="AAAA", name="Aaa", elevation=500)

        write(airports, work)
        (change,) = changes
        assert change.collection is high and not change.initial
        assert change.deletions == [names.index("Cusco")]
        assert change.insertions == [0]
        assert change.modifications == [names.index("Inca Manco Capac")]
        assert change.modifications_new == [[a.name for a in high].index("Inca Manco Capac")]
        assert not change.cleared and not change.deleted and change.moves == ()

    def test_modifications_after_in_more_runs_than_before(self, r):
        with r.write():
            r.add_all([Note(text=f"n{i}") for i in range(10)])
        notes = r.objects(Note)
        results = notes.sorted("text")
        changes, _ = told_by(results)

        def work():
            for note in list(notes)[2:6]:
                note.stars = 1
            r.create(Note, text="n25")
            r.create(Note, text="n35")

        write(r, work)
        (change,) = changes
        assert change.modifications.ranges == (range(2, 6),)
        assert change.insertions == [3, 5]
        assert change.modifications_new == [2, 4, 6, 7]
        assert change.modifications_new.ranges == (range(2, 3), range(4, 5), range(6, 8))

    def test_objects_tell_old_and_new_values(self, airports):
        cusco = airports.find(Airport, "SPZO")
        peru = cusco.country
        changes, _ = told_by(cusco)

        def work():
            cusco.elevation = 3311
            cusco.city = None
            cusco.country = airports.find(Country, "PT")
            peru.name = "PERU"

        write(airports, work)
        (change,) = changes
        assert change.object is cusco and not change.deleted
        assert set(change.properties) == {"elevation", "city", "country"}
        assert change.properties["elevation"] == ("elevation", 3310, 3311)
        assert change.properties["city"].old == "Cusco"
        assert change.properties["city"].new is None
        assert change.properties["country"].old.name == "Peru"
        assert change.properties["country"].new == airports.find(Country, "PT")
        assert realm.realm_of(change.old).is_frozen and change.old.country.code == "PE"
        # The next change begins where this one ended, also over several commits.
        with airports.write():
            cusco.elevation = 1
        with airports.write():
            cusco.elevation = 2
        airports.refresh()
        elevations = [c.properties["elevation"][1:] for c in changes[1:]]
        assert elevations[0][0] == 3311 and elevations[-1][1] == 2

    def test_old_values_of_collections(self, o):
        person = o.objects(Owner)[0]
        changes, _ = told_by(person)
        write(o, lambda: (person.tags.append("d"), person.dogs.clear()))
        (change,) = changes
        assert list(change.properties) == ["tags", "dogs"]
        assert change.properties["tags"].old == ["a", "b", "c"]
        assert change.properties["tags"].new == ["a", "b", "c", "d"]
        assert [dog.name for dog in change.properties["dogs"].old] == ["Rex", "Bo"]

    def test_deleted_objects(self, r):
        with r.write():
            note = r.create(Note, text="a")
        changes, token = told_by(note)
        write(r, lambda: r.delete(note))
        (change,) = changes
        assert change.deleted and change.properties == {} and change.old.text == "a"
        write(r, lambda: r.create(Note, text="b"))
        assert len(changes) == 1 and token.is_open

    def test_lists(self, o):
        tags = o.objects(Owner)[0].tags
        changes, _ = told_by(tags)

        def work():
            del tags[0]
            tags.append("d")
            tags[0] = "B"

        write(o, work)
        (change,) = changes
        assert change.collection is tags
        assert (change.deletions, change.insertions) == ([0], [2])
        assert (change.modifications, change.modifications_new) == ([1], [0])
        write(o, tags.reverse)
        assert changes[1].moves and isinstance(changes[1].moves[0], realm.Move)
        write(o, tags.clear)
        assert changes[2].cleared and changes[2].deletions == [0, 1, 2]

    def test_sets(self, o):
        scores = o.objects(Owner)[0].scores
        changes, _ = told_by(scores)
        write(o, lambda: (scores.discard(1), scores.add(7)))
        assert changes[0].deletions == [0] and changes[0].insertions == [1]

    def test_dictionaries_by_key(self, o):
        weights = o.objects(Owner)[0].weights
        changes, _ = told_by(weights)

        def work():
            del weights["x"]
            weights["y"] = 3.0
            weights["z"] = None

        write(o, work)
        (change,) = changes
        assert isinstance(change, realm.DictionaryChange) and change.collection is weights
        assert change.deletions == ("x",) and change.insertions == ("z",)
        assert change.modifications == ("y",)
        write(o, weights.clear)
        assert changes[1].cleared and set(changes[1].deletions) == {"y", "z"}
        write(o, lambda: o.delete(o.objects(Owner)[0]))
        assert changes[2].deleted

    def test_keys_that_unicode_finds_equal_are_several(self, o):
        weights = o.objects(Owner)[0].weights
        composed, decomposed = "\u00e9", "e\u0301"
        changes, _ = told_by(weights)
        write(o, lambda: weights.update({composed: 1.0, decomposed: 2.0}))
        assert changes[0].insertions == (decomposed, composed)
        write(o, lambda: weights.update({composed: 3.0, decomposed: 4.0}))
        assert changes[1].modifications == (decomposed, composed)
        write(o, lambda: weights.pop(composed))
        assert changes[2].deletions == (composed,)
        write(o, weights.clear)
        assert set(changes[3].deletions) == {decomposed, "x", "y"}

    def test_nested_collections(self, o):
        person = o.objects(Owner)[0]
        inner, mapping = person.anything[0], person.anything[1]
        of_list, _ = told_by(inner)
        of_dict, _ = told_by(mapping)
        write(o, lambda: (inner.append("m"), mapping.update(k=2)))
        assert of_list[0].insertions == [1] and of_dict[0].modifications == ("k",)
        write(o, lambda: person.anything.pop(0))
        assert of_list[1].deleted

    def test_results_over_values_and_members(self, o):
        person = o.objects(Owner)[0]
        values, _ = told_by(person.tags.sorted(reverse=True))
        members, _ = told_by(person.dogs.results())
        write(o, lambda: (person.tags.append("z"), person.dogs.pop()))
        assert values[0].insertions == [0] and members[0].deletions == [1]

    def test_linking_objects_are_told(self, airports):
        """Inverse relationships: which objects link here, and their names."""
        peru = airports.find(Country, "PE")
        changes, _ = told_by(airports.backlinks(peru, Airport, "country"), "name")
        write(airports, lambda: setattr(airports.find(Airport, "SPZO"), "country", None))
        assert changes[0].deletions == [0]
        write(airports, lambda: setattr(airports.find(Airport, "SPJL"), "name", "I"))
        assert changes[1].modifications == [0]
        write(airports, lambda: setattr(airports.find(Airport, "SPJL"), "elevation", 1))
        assert len(changes) == 2

    def test_key_paths(self, airports):
        lisbon = airports.find(Airport, "LPPT")
        everything = airports.objects(Airport)
        of_name, _ = told_by(everything, "name")
        of_link, _ = told_by(everything, Airport.country.name, "city")
        of_none, _ = told_by(everything, None)
        of_all, _ = told_by(everything, "*.*")
        of_object, _ = told_by(lisbon, "country.name")
        write(airports, lambda: setattr(lisbon, "elevation", 1))
        assert not of_name and not of_link and not of_none and not of_object
        assert len(of_all) == 1
        write(airports, lambda: setattr(lisbon.country, "name", "P"))
        assert not of_name and not of_none and len(of_link[0].modifications) == 3
        assert list(of_object[0].properties) == ["country"]
        assert of_object[0].properties["country"].old.name == "Portugal"
        assert of_object[0].properties["country"].new.name == "P"
        write(airports, lambda: airports.delete(lisbon))
        assert all(len(c[-1].deletions) == 1 for c in (of_name, of_link, of_none, of_all))
        for bad, kind in (("nothing", realm.ArgumentError), (3, TypeError), ("name.x", realm.ArgumentError),
                          ("name\0x", realm.ArgumentError)):
            with pytest.raises(kind):
                everything.observe(print, bad)

    def test_key_paths_of_values_are_refused(self, o):
        with pytest.raises(realm.ArgumentError, match="no objects"):
            o.objects(Owner)[0].tags.observe(print, "name")
        with pytest.raises(TypeError, match="as a whole"):
            realm.observe(o, print, "name")

    def test_the_realm_as_a_whole(self, r):
        changes = []
        r.observe(changes.append)
        with r.write():
            r.create(Note, text="a")
        assert [c.version for c in changes] == [r.version] and changes[0].realm is r
        in_thread(lambda: add_note(r.path))
        assert len(changes) == 1
        r.refresh()
        assert len(changes) == 2

    def test_the_schema(self, path):
        with realm.open(path, classes=[Note]) as r:
            changes = []
            r.observe_schema(changes.append)
            in_thread(lambda: realm.open(path, classes=[Note, Country]).close())
            assert not changes
            r.refresh()
            assert len(changes) == 1 and changes[0].realm is r and "Note" in changes[0].classes

    def test_functions_for_classes_with_such_properties(self, path):
        class Odd(realm.Object):
            observe: int = 0
            changes: str = ""

        with realm.open(path, classes=[Odd]) as r:
            with r.write():
                odd = r.create(Odd)
            changes = []
            realm.observe(odd, changes.append)
            r.refresh()
            write(r, lambda: setattr(odd, "observe", 3))
            assert changes[1].properties["observe"][1:] == (0, 3)


def add_note(path, text="elsewhere"):
    with realm.open(path, classes=models.ALL) as mine, mine.write():
        mine.create(Note, text=text)


class TestDelivery:
    def test_other_threads_commits_come_with_refresh(self, r):
        changes, _ = told_by(r.objects(Note))
        for _ in range(3):
            in_thread(lambda: add_note(r.path))
        assert not changes
        assert r.refresh()
        (change,) = changes
        assert change.insertions == [0, 1, 2]
        assert not r.refresh() and len(changes) == 1

    def test_beginning_to_write_delivers(self, r):
        changes, _ = told_by(r.objects(Note))
        in_thread(lambda: add_note(r.path))
        with r.write():
            assert len(changes) == 1

    def test_callbacks_may_write_and_are_told_later(self, r):
        notes = r.objects(Note)

        def answer(change):
            if change.insertions and len(notes) < 3:
                with r.write():
                    r.create(Note, text="answer")

        notes.observe(answer)
        r.refresh()
        write(r, lambda: r.create(Note, text="first"))
        for _ in range(3):
            r.refresh()
        assert notes.values("text") == ["first", "answer", "answer"]

    def test_a_loop_over_results_survives_a_refresh(self, r):
        with r.write():
            r.add_all([Note(text=str(i)) for i in range(200)])
        seen = []
        r.objects(Note).observe(lambda change: seen.append(len(list(r.objects(Note)))))
        for count, _note in enumerate(r.objects(Note)):
            if count == 100:
                r.refresh()
        assert seen == [200] and count == 199

    def test_observers_begin_before_changes(self, r):
        with r.write():
            r.create(Note, text="a")
            with pytest.raises(realm.TransactionError, match="before"):
                r.objects(Note).observe(print)


class TestExceptions:
    def test_they_come_out_of_refresh(self, r):
        def fail(change):
            raise ZeroDivisionError("mine")

        told = []
        r.objects(Note).observe(fail)
        r.objects(Note).observe(told.append)
        with pytest.raises(ZeroDivisionError, match="mine"):
            r.refresh()
        assert len(told) == 1, "the others are called all the same"
        assert r.refresh() is False

    def test_several_come_as_a_group(self, r):
        def fail(change):
            raise ValueError(change.initial)

        r.objects(Note).observe(fail)
        r.objects(Person).observe(fail)
        with pytest.raises(ExceptionGroup) as caught:
            r.refresh()
        assert [type(e) for e in caught.value.exceptions] == [ValueError, ValueError]

    def test_out_of_begin_write_no_transaction_is_left(self, r):
        def fail(change):
            raise KeyboardInterrupt

        r.objects(Note).observe(fail)
        with pytest.raises(KeyboardInterrupt), r.write():
            pytest.fail("the block must not run")
        assert not r.is_writing
        with r.write():
            r.create(Note, text="a")
        assert len(r.objects(Note)) == 1

    def test_out_of_commit_what_was_committed_stays(self, r):
        def fail(change):
            raise ValueError("after it")

        with r.observe(fail), pytest.raises(ValueError, match="after it"), r.write():
            r.create(Note, text="a")
        assert not r.is_writing and len(r.objects(Note)) == 1

    def test_what_is_no_observer(self, r):
        async def coroutine(change):
            pass

        def generator(change):
            yield

        for bad in (coroutine, generator, 3, None):
            with pytest.raises(TypeError):
                r.objects(Note).observe(bad)
        with pytest.raises(TypeError, match="not in a realm"):
            Note(text="a").observe(print)
        with pytest.raises(TypeError):
            realm.observe(3, print)

    def test_where_nothing_changes(self, r):
        with r.write():
            r.create(Note, text="a")
        with pytest.raises(realm.TransactionError, match="frozen"):
            r.freeze().objects(Note).observe(print)
        with pytest.raises(realm.IllegalOperationError, match="snapshot"):
            r.objects(Note).snapshot().observe(print)
        with pytest.raises(realm.WrongThreadError):
            in_thread(lambda: r.objects(Note))
        results = r.objects(Note)
        with pytest.raises(realm.WrongThreadError):
            in_thread(lambda: results.observe(print))


class TestTokens:
    def test_closing(self, r):
        changes, token = told_by(r.objects(Note))
        assert token.is_open and token.realm is r
        token.close()
        token.close()
        assert not token.is_open
        write(r, lambda: r.create(Note, text="a"))
        assert not changes

    def test_as_a_context(self, r):
        with r.objects(Note).observe(lambda change: None) as token:
            assert token.is_open
        assert not token.is_open

    def test_within_the_callback(self, r):
        calls = []
        released = threading.Event()

        class Watcher:
            def __call__(self, change):
                calls.append(change)
                self.token.close()

        watcher = Watcher()
        watcher.token = r.objects(Note).observe(watcher)
        weakref.finalize(watcher, released.set)
        del watcher
        r.refresh()
        write(r, lambda: r.create(Note, text="a"))
        gc.collect()
        assert len(calls) == 1 and released.is_set()

    def test_on_another_thread(self, r):
        changes, token = told_by(r.objects(Note))
        in_thread(token.close)
        write(r, lambda: r.create(Note, text="a"))
        assert not changes

    def test_a_forgotten_one_goes_on(self, r):
        calls = []
        r.objects(Note).observe(calls.append)
        gc.collect()
        write(r, lambda: r.create(Note, text="a"))
        r.refresh()
        assert calls

    def test_closing_the_realm_ends_all(self, path):
        r = realm.open(path, classes=[Note])
        changes, token = told_by(r.objects(Note))
        in_thread(r.close)
        assert not token.is_open
        token.close()

    def test_a_callback_may_close_the_realm(self, path):
        r = realm.open(path, classes=[Note])
        after = []
        r.objects(Note).observe(lambda change: r.close())
        r.objects(Note).observe(after.append)
        r.refresh()
        assert r.is_closed and not after
        r = realm.open(path, classes=[Note])
        r.objects(Note).observe(lambda change: r.close())
        with pytest.raises(realm.ClosedRealmError):
            r.begin_write()

    def test_a_forgotten_realm_is_collected_with_its_observers(self, path):
        r = realm.open(path, classes=[Note])

        class Callback:
            def __call__(self, change):
                pass

        callback = Callback()
        gone = weakref.ref(callback)
        r.objects(Note).observe(callback)
        r.refresh()
        del r, callback
        gc.collect()
        assert gone() is None
        assert realm.delete_files(path)


def test_positions():
    positions = realm.Positions((range(2, 5), range(7, 8)))
    assert positions == [2, 3, 4, 7] and positions == (2, 3, 4, 7) and len(positions) == 4
    assert positions != [2, 3, 4] and positions != [2, 3, 4, 8] and positions != "2347"
    assert positions[0] == 2 and positions[-1] == 7 and positions[1:3] == [3, 4]
    assert list(reversed(positions)) == [7, 4, 3, 2]
    assert 3 in positions and 5 not in positions and positions.index(7) == 3
    assert positions == realm.Positions((range(2, 5), range(7, 8)))
    assert repr(positions) == "[2..4, 7]" and not realm.Positions()
    with pytest.raises(IndexError):
        positions[4]
