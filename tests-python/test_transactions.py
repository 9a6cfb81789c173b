"""Write transactions, versions, refresh."""

from __future__ import annotations

import pytest

import realm
from models import Note, Person


class TestWriteBlock:
    def test_it_commits(self, r):
        before = r.version
        with r.write() as same:
            assert same is r
            assert r.is_writing
            r.create(Note, text="a")
        assert not r.is_writing
        assert r.version == before + 1
        assert len(r.objects(Note)) == 1

    def test_it_rolls_back_and_lets_the_exception_through(self, r):
        before = r.version
        with pytest.raises(ZeroDivisionError):
            with r.write():
                r.create(Note, text="a")
                1 / 0
        assert not r.is_writing
        assert r.version == before
        assert len(r.objects(Note)) == 0

    @pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
    def test_it_rolls_back_on_interruptions(self, r, kind):
        with pytest.raises(kind):
            with r.write():
                r.create(Note, text="a")
                raise kind
        assert len(r.objects(Note)) == 0

    def test_it_can_be_ended_inside(self, r):
        with r.write():
            r.create(Note, text="a")
            r.rollback()
        assert len(r.objects(Note)) == 0
        with r.write():
            r.create(Note, text="b")
            r.commit()
        assert len(r.objects(Note)) == 1

    def test_it_does_not_nest(self, r):
        with r.write():
            r.create(Note, text="a")
            with pytest.raises(realm.TransactionError):
                with r.write():
                    pass
            # The outer transaction goes on.
            assert r.is_writing
        assert len(r.objects(Note)) == 1

    def test_changes_are_undone_by_a_rollback(self, r):
        with r.write():
            ada = r.create(Person, id=1, name="Ada")
        r.begin_write()
        ada.name = "Bob"
        r.create(Person, id=2)
        r.rollback()
        assert (ada.name, len(r.objects(Person))) == ("Ada", 1)

    def test_ending_without_beginning(self, r):
        with pytest.raises(realm.TransactionError, match="committing"):
            r.commit()
        with pytest.raises(realm.TransactionError, match="rolling back"):
            r.rollback()


class TestVersions:
    def test_every_commit_adds_one(self, r):
        before = r.version
        for _ in range(3):
            with r.write():
                pass
        assert r.version == before + 3

    def test_refresh_moves_to_the_newest(self, r):
        assert r.refresh() is False or r.refresh() is False
        with realm.open(r.path, classes=[Note]) as other:
            seen = r.version
            with other.write():
                other.create(Note, text="a")
            assert r.version == seen
            assert r.refresh() is True
            assert r.version == seen + 1
            assert r.refresh() is False

    def test_a_write_transaction_begins_at_the_newest(self, r):
        assert len(r.objects(Note)) == 0
        with realm.open(r.path, classes=[Note]) as other, other.write():
            other.create(Note, text="a")
        with r.write():
            assert len(r.objects(Note)) == 1

    def test_readers_keep_their_version(self, r):
        with r.write():
            note = r.create(Note, text="old")
        with realm.open(r.path, classes=[Note]) as other:
            with other.write():
                other.objects(Note)[0].text = "new"
            assert note.text == "old"
            r.refresh()
            assert note.text == "new"

    def test_the_number_of_versions_can_be_limited(self, path):
        with realm.open(path, classes=[Note], max_versions=3) as r:
            held = []
            with pytest.raises(realm.TransactionError):
                for _ in range(10):
                    reader = realm.open(path, classes=[Note])
                    held.append(reader)
                    assert len(reader.objects(Note)) >= 0
                    with r.write():
                        r.create(Note, text="a")
            assert r.version_count > 3
            for reader in held:
                reader.close()
            with r.write():
                r.create(Note, text="b")

    def test_version_count(self, r):
        assert r.version_count >= 1
