"""Frozen realms, objects, results and collections, used on other threads; thawing."""

from __future__ import annotations

import gc
import threading

import pytest

import models
import realm
from collection_models import Dog as Hound
from collection_models import Person as Owner
from models import Airport, Country, Note
from test_threads import in_thread


class TestFrozen:
    def test_they_never_change(self, airports):
        frozen = airports.freeze()
        lisbon = airports.find(Airport, "LPPT")
        high = airports.objects(Airport).filter("elevation > 100").sorted("name").freeze()
        kept = lisbon.freeze()
        before = [a.name for a in high]
        with airports.write():
            lisbon.elevation = 9000
            airports.delete(airports.find(Airport, "SPZO"))
        assert frozen.is_frozen and not airports.is_frozen
        assert kept.elevation == 114 and lisbon.elevation == 9000
        assert [a.name for a in high] == before and high.realm.is_frozen
        assert frozen.find(Airport, "SPZO").name == "Cusco"
        assert frozen.version < airports.version
        assert frozen.refresh() is False
        assert high.where(Airport.country.code == "PE").max("elevation") == 3826
        assert kept.freeze() is kept and realm.freeze(high) is high and frozen.freeze().is_frozen

    def test_nothing_is_written(self, airports):
        frozen = airports.freeze()
        with pytest.raises(realm.TransactionError), frozen.write():
            pytest.fail("a frozen realm")
        with pytest.raises(realm.TransactionError):
            frozen.find(Airport, "LPPT").elevation = 1

    def test_on_other_threads(self, airports):
        frozen = airports.freeze()
        results = frozen.objects(Airport).sorted("icao")
        obj = frozen.find(Airport, "LPPT")

        def work():
            assert obj.country.name == "Portugal"
            assert [a.icao for a in results] == sorted(a.icao for a in results)
            assert len(results.filter("country == $0", obj.country)) == 3
            return list(results)

        found = in_thread(work)
        assert [a.icao for a in found] == results.values("icao")
        del found
        gc.collect()

    def test_many_threads_at_once(self, airports):
        frozen = airports.freeze()
        results = frozen.objects(Airport).filter("elevation != nil").sorted("-elevation")
        barrier = threading.Barrier(4)
        failures = []

        def work():
            try:
                barrier.wait(10)
                for _ in range(50):
                    names = [a.name for a in results]
                    assert names[0] == "Inca Manco Capac" and len(names) == 7
                    assert results.sum("elevation") == results.sum("elevation")
                    assert frozen.find(Airport, "LPPT").country.code == "PT"
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        with airports.write():
            airports.delete(airports.objects(Airport))
        for thread in threads:
            thread.join()
        assert not failures
        assert len(airports.objects(Airport)) == 0 and len(results) == 7

    def test_they_outlive_their_realm_and_die_anywhere(self, path):
        r = realm.open(path, classes=[Note])
        with r.write():
            r.create(Note, text="a")
        notes = r.objects(Note).freeze()
        box = [notes[0]]
        r.close()
        assert notes.values("text") == ["a"]
        del notes
        in_thread(lambda: box[0].text and box.clear())
        gc.collect()
        assert realm.delete_files(path)

    def test_a_pinned_version_is_counted_and_let_go(self, r):
        frozen = r.freeze()
        with r.write():
            r.create(Note, text="a")
        with r.write():
            r.create(Note, text="b")
        held = r.version_count
        frozen.close()
        with pytest.raises(realm.ClosedRealmError):
            frozen.objects(Note)
        with r.write():
            r.create(Note, text="c")
        assert r.version_count < held

    def test_in_a_write_transaction_it_is_the_state_before(self, r):
        with r.write():
            r.create(Note, text="a")
            assert len(r.freeze().objects(Note)) == 0


class TestCollections:
    @pytest.fixture
    def person(self, path):
        with realm.open(path, classes=[Owner]) as r:
            with r.write():
                r.create(Owner, id=1, tags=["a"], scores={1}, weights={"k": 1.0},
                         dogs=[Hound(name="Rex")], anything=[["n", {"k": [1]}]])
            yield r.find(Owner, 1)

    def test_of_every_kind(self, person):
        r = realm.realm_of(person)
        frozen = [c.freeze() for c in (person.tags, person.scores, person.weights, person.dogs,
                                       person.anything[0], person.anything[0][1]["k"])]
        with r.write():
            person.tags.append("b")
            person.scores.clear()
            person.weights["k"] = 2.0
            person.dogs.clear()
            person.anything.clear()

        def work():
            tags, scores, weights, dogs, nested, deep = frozen
            assert tags == ["a"] and scores == {1} and weights == {"k": 1.0}
            assert dogs[0].name == "Rex" and nested == ["n", {"k": [1]}] and deep == [1]
            assert tags.is_valid and tags.sorted()[0] == "a" and dogs.realm.is_frozen

        in_thread(work)
        work()
        assert r.thaw(frozen[0]) == ["a", "b"] and r.thaw(frozen[4]) is None

    def test_results_over_values(self, person):
        numbers = person.scores.results().freeze()
        assert in_thread(lambda: list(numbers)) == [1]


class TestThawing:
    def test_objects_and_results(self, airports):
        lisbon = airports.find(Airport, "LPPT")
        kept, all_kept = lisbon.freeze(), airports.objects(Airport).sorted("name").freeze()
        with airports.write():
            lisbon.elevation = 5
        assert airports.thaw(kept) == lisbon and airports.thaw(kept).elevation == 5
        assert airports.thaw(all_kept).realm is airports
        with airports.write():
            airports.delete(lisbon)
        assert airports.thaw(kept) is None
        assert len(airports.thaw(all_kept)) == 7 and len(all_kept) == 8

    def test_on_another_thread(self, airports):
        kept = airports.find(Airport, "LPPT").freeze()

        def work():
            with realm.open(airports.path, classes=models.ALL) as mine, mine.write():
                mine.thaw(kept).elevation += 1

        in_thread(work)
        airports.refresh()
        assert airports.thaw(kept).elevation == kept.elevation + 1

    def test_into_a_realm_that_takes_its_classes_from_the_file(self, airports):
        kept = airports.find(Airport, "LPPT").freeze()
        with realm.open(airports.path) as bare:
            found = bare.thaw(kept)
            assert found.name == "Humberto Delgado" and type(found) is bare.classes["Airport"]
            assert len(bare.thaw(kept.country).freeze().name) == 8
        with realm.open(airports.path) as bare, realm.open(airports.path) as other:
            results = other.thaw(bare.objects("Airport").filter("elevation > 3000"))
            assert len(results) == 2 and results.realm is other

    def test_what_was_made_later(self, r):
        told = []
        r.objects(Note).observe(told.append)
        r.refresh()

        def work():
            with realm.open(r.path, classes=models.ALL) as mine:
                with mine.write():
                    note = mine.create(Note, text="new")
                return note.freeze()

        note = in_thread(work)
        r.refresh()
        assert r.thaw(note).text == "new" and len(told) == 2

    def test_mistakes(self, r, tmp_path):
        with r.write():
            note = r.create(Note, text="a")
        for bad in (3, r, Note(text="b")):
            with pytest.raises(TypeError):
                r.thaw(bad)
        with pytest.raises(TypeError):
            realm.freeze(Note(text="b"))
        with realm.open(tmp_path / "other.realm", classes=[Note]) as other:
            with pytest.raises(realm.IllegalOperationError):
                other.thaw(note)
        with realm.open(r.path, classes=[Country]) as narrow:
            with pytest.raises(realm.NoSuchClassError):
                narrow.thaw(note)
        frozen = note.freeze()
        with r.write():
            r.delete(note)
        with pytest.raises(realm.InvalidObjectError):
            note.freeze()
        assert r.thaw(frozen) is None
