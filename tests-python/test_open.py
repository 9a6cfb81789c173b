"""Opening, closing, schemas, files."""

from __future__ import annotations

import asyncio
import os
import pathlib

import pytest

import models
import realm
from models import Airport, Country, Note, Person


class TestOpening:
    def test_a_new_file_is_made(self, path):
        with realm.open(path, classes=[Note]) as r:
            assert os.path.exists(path)
            assert r.path == path
            assert not r.is_closed
            assert r.schema_version == 0
        assert r.is_closed

    def test_paths_may_be_path_objects(self, tmp_path):
        with realm.open(tmp_path / "a.realm", classes=[Note]) as r:
            assert pathlib.Path(r.path) == tmp_path / "a.realm"

    def test_paths_may_be_relative_and_not_ascii(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        with realm.open("häßlich ⚑.realm", classes=[Note]) as r:
            with r.write():
                r.create(Note, text="a")
        assert (tmp_path / "häßlich ⚑.realm").exists()

    def test_data_survives_reopening(self, path):
        with realm.open(path, classes=[Note]) as r:
            with r.write():
                r.add(Note(text="remember", stars=5))
        with realm.open(path, classes=[Note]) as r:
            assert [(n.text, n.stars) for n in r.objects(Note)] == [("remember", 5)]

    def test_linked_classes_are_included(self, path):
        with realm.open(path, classes=[Airport]) as r:
            assert set(r.classes) == {"Airport", "Country"}
            assert r.classes["Country"] is Country
            assert len(r.objects(Country)) == 0

    def test_classes_may_be_added_later(self, path):
        with realm.open(path, classes=[Note]) as r:
            with r.write():
                r.create(Note, text="a")
        with realm.open(path, classes=[Note, Person]) as r:
            with r.write():
                r.create(Person, id=1)
            assert len(r.objects(Note)) == 1

    def test_opening_with_fewer_classes_hides_the_others(self, path):
        with realm.open(path, classes=models.ALL):
            pass
        with realm.open(path, classes=[Note]) as r:
            assert list(r.classes) == ["Note"]
            with pytest.raises(realm.NoSuchClassError, match="without the class Person"):
                r.objects(Person)

    def test_closing_twice_is_fine(self, path):
        r = realm.open(path, classes=[Note])
        r.close()
        r.close()
        assert r.is_closed
        assert repr(r) == f"<realm {path!r}, closed>"

    def test_a_closed_realm_says_so(self, path):
        r = realm.open(path, classes=[Note])
        notes = r.objects(Note)
        with r.write():
            note = r.create(Note, text="a")
        r.close()
        for use in (
            lambda: r.objects(Note), lambda: r.begin_write(), lambda: r.version,
            lambda: r.refresh(), lambda: r.create(Note, text="b"), lambda: len(notes),
            lambda: notes[0], lambda: list(notes), lambda: note.text, lambda: r.compact(),
            lambda: setattr(note, "text", "b"), lambda: notes.filter("stars > 1"),
        ):
            with pytest.raises(realm.ClosedRealmError) as caught:
                use()
            assert isinstance(caught.value, ValueError)
        assert not realm.is_valid(note)
        assert not notes.is_valid
        assert not r.is_writing
        assert "closed" in repr(note) and "closed" in repr(notes)

    def test_closing_in_a_write_transaction_rolls_back(self, path):
        r = realm.open(path, classes=[Note])
        r.begin_write()
        r.create(Note, text="lost")
        r.close()
        with realm.open(path, classes=[Note]) as r:
            assert len(r.objects(Note)) == 0

    def test_closing_inside_a_write_block_is_allowed(self, path):
        r = realm.open(path, classes=[Note])
        with r.write():
            r.create(Note, text="lost")
            r.close()
        assert r.is_closed

    def test_two_realms_of_one_file(self, path):
        with realm.open(path, classes=[Note]) as a, realm.open(path, classes=[Note]) as b:
            with a.write():
                a.create(Note, text="from a")
            assert len(b.objects(Note)) == 0 or b.refresh() is False
            b.refresh()
            assert b.objects(Note)[0].text == "from a"
            assert a.objects(Note)[0] == b.objects(Note)[0]

    def test_another_way_of_opening_it_says_what_to_do(self, path):
        with realm.open(path, Note) as r:
            for options in ({"read_only": True}, {"in_memory": True}, {"version": 3}):
                with pytest.raises(realm.ConfigurationError, match=r"open already in this program.*freeze\(\)"):
                    realm.open(path, Note, **options)
            assert len(r.freeze().objects(Note)) == 0
        realm.open(path, Note, read_only=True).close()

    def test_not_a_class(self, path):
        with pytest.raises(realm.SchemaError, match="int"):
            realm.open(path, classes=[int])
        with pytest.raises(realm.SchemaError, match="Object"):
            realm.open(path, classes=[realm.Object])

    def test_two_classes_of_one_name(self, path):
        def make():
            class Note(realm.Object):
                other: int

            return Note

        with pytest.raises(realm.SchemaError, match="two classes are called Note"):
            realm.open(path, classes=[Note, make()])

    def test_a_link_to_a_class_that_is_not_there(self, path):
        class Lonely(realm.Object):
            friend: Missing | None  # noqa: F821

        with pytest.raises(realm.SchemaError, match=r"Lonely\.friend links to Missing"):
            realm.open(path, classes=[Lonely])
        assert not os.path.exists(path)


class TestSchemaDifferences:
    def reopen_with(self, path, annotations, **values):
        cls = type(realm.Object)(
            "Thing", (realm.Object,),
            {"__annotations__": annotations, "__module__": __name__, **values},
        )
        with realm.open(path, classes=[cls]):
            pass

    @pytest.fixture
    def thing(self, path):
        self.reopen_with(path, {"a": int, "b": str})
        return path

    def test_the_same_schema_is_fine(self, thing):
        self.reopen_with(thing, {"a": int, "b": str})

    @pytest.mark.parametrize(
        "annotations",
        [
            {"a": int},
            {"a": int, "b": str, "c": int},
            {"a": float, "b": str},
            {"a": "int | None", "b": str},
        ],
    )
    def test_a_changed_class_is_refused(self, thing, annotations):
        with pytest.raises(realm.SchemaMismatchError) as caught:
            self.reopen_with(thing, annotations)
        assert "Thing" in str(caught.value)
        assert isinstance(caught.value, ValueError)

    def test_a_changed_primary_key_is_refused(self, thing):
        with pytest.raises(realm.SchemaMismatchError):
            self.reopen_with(thing, {"a": int, "b": str}, a=realm.PrimaryKey())


class TestReflection:
    def test_without_classes_they_come_from_the_file(self, path):
        with realm.open(path, classes=models.ALL) as r:
            with r.write():
                pe = r.create(Country, code="PE", name="Peru")
                r.create(Airport, icao="SPZO", name="Cusco", country=pe)
        with realm.open(path) as r:
            assert list(r.classes) == sorted(c.__name__ for c in models.ALL)
            cusco = r.objects("Airport")[0]
            assert (cusco.icao, cusco.country.name) == ("SPZO", "Peru")
            found = r.classes["Airport"]
            its = realm.properties(found)
            assert its["icao"].primary_key and its["name"].indexed and its["city"].nullable
            assert its["latitude"].type == "float" and its["country"].link_target == "Country"
            with r.write():
                cusco.name = "Velasco Astete"
                r.create(found, icao="NEW1", name="New", latitude=1.0)
            assert r.find("Airport", "SPZO").name == "Velasco Astete"

    def test_every_type_is_recognised(self, path):
        with realm.open(path, classes=models.ALL):
            pass
        with realm.open(path) as r:
            for cls in models.ALL:
                found = r.classes[cls.__name__].__realm_model__.properties
                for mine, its in zip(cls.__realm_model__.properties, found, strict=True):
                    for detail in ("name", "type", "nullable", "primary_key", "indexed",
                                   "link_target"):
                        assert getattr(mine, detail) == getattr(its, detail)

    def test_an_empty_file_has_no_classes(self, path):
        with realm.open(path) as r:
            assert r.classes == {}
            with pytest.raises(realm.NoSuchClassError, match="no class 'Note'"):
                r.objects("Note")


class TestReadOnly:
    def test_it_reads_and_does_not_write(self, path):
        with realm.open(path, classes=[Note]) as r:
            with r.write():
                r.create(Note, text="a")
        with realm.open(path, classes=[Note], read_only=True) as r:
            assert r.objects(Note)[0].text == "a"
            with pytest.raises(realm.ReadOnlyError, match="was opened read-only"):
                r.begin_write()

    def test_coroutines_do_not_wait_for_what_never_comes(self, path):
        realm.open(path, Note).close()

        async def write(r):
            async with r.write_async():
                raise AssertionError("it was opened read-only")

        with realm.open(path, Note, read_only=True) as r, pytest.raises(realm.ReadOnlyError):
            asyncio.run(asyncio.wait_for(write(r), 10))

    def test_a_missing_file_is_not_made(self, path):
        with pytest.raises(FileNotFoundError, match="test.realm"):
            realm.open(path, classes=[Note], read_only=True)
        assert not pathlib.Path(path).exists()

    def test_a_file_of_other_classes_is_refused(self, path):
        with realm.open(path, classes=[Note]):
            pass

        def make():
            class Note(realm.Object):
                other: int

            return Note

        with pytest.raises(realm.SchemaMismatchError):
            realm.open(path, classes=[make()], read_only=True)


class TestInMemory:
    def test_nothing_outlives_the_last_realm(self, path):
        with realm.open(path, classes=[Note], in_memory=True) as a:
            with a.write():
                a.create(Note, text="a")
            with realm.open(path, classes=[Note], in_memory=True) as b:
                assert len(b.objects(Note)) == 1
        with realm.open(path, classes=[Note], in_memory=True) as r:
            assert len(r.objects(Note)) == 0


class TestBadFiles:
    def test_a_missing_directory(self, tmp_path):
        missing = tmp_path / "nowhere" / "a.realm"
        with pytest.raises(realm.FileMissingError) as caught:
            realm.open(missing, classes=[Note])
        assert isinstance(caught.value, FileNotFoundError)
        assert str(tmp_path / "nowhere") in caught.value.filename

    def test_a_directory(self, tmp_path):
        with pytest.raises(realm.FileError) as caught:
            realm.open(tmp_path, classes=[Note])
        assert isinstance(caught.value, OSError)

    @pytest.mark.parametrize("content", [b"hello, I am a text\n", os.urandom(5000)])
    def test_something_else(self, path, content):
        pathlib.Path(path).write_bytes(content)
        with pytest.raises(realm.InvalidDatabaseError) as caught:
            realm.open(path, classes=[Note])
        assert isinstance(caught.value, ValueError) and isinstance(caught.value, OSError)
        assert pathlib.Path(path).read_bytes() == content

    def test_a_truncated_file(self, path):
        with realm.open(path, classes=[Note]) as r:
            for _ in range(2):
                with r.write():
                    for i in range(2000):
                        r.create(Note, text=f"note {i}" * 10)
        whole = pathlib.Path(path).read_bytes()
        for pages in (1, 2, 5):
            pathlib.Path(path).write_bytes(whole[: pages * 4096])
            with pytest.raises(realm.InvalidDatabaseError, match="truncated"):
                realm.open(path, classes=[Note])

    def test_a_path_that_is_not_utf_8(self, tmp_path):
        with pytest.raises(realm.Error, match="path is not UTF-8"):
            realm.open(os.fsencode(tmp_path) + b"/\xff.realm", classes=[Note])
        assert os.listdir(tmp_path) == []

    def test_a_path_with_a_null(self):
        with pytest.raises(ValueError, match="null"):
            realm.open("a\0b", classes=[Note])


class TestFiles:
    def test_paths_are_compared_by_their_bytes(self, tmp_path):
        one, other = tmp_path / "\u00e9.realm", tmp_path / "e\u0301.realm"
        with realm.open(one, models.Note) as r, realm.open(other, models.Note) as s:
            with r.write():
                r.create(models.Note, text="one", stars=1)
            assert len(s.objects(models.Note)) == 0
            with s.write():
                s.create(models.Note, text="other", stars=2)
            assert [note.text for note in r.objects(models.Note)] == ["one"]

    def test_delete_files(self, path):
        assert realm.delete_files(path) is False
        with realm.open(path, classes=[Note]):
            with pytest.raises(realm.RealmInUseError):
                realm.delete_files(path)
        assert realm.delete_files(path) is True
        assert not os.path.exists(path)

    def test_write_copy(self, r, tmp_path):
        with r.write():
            r.create(Note, text="copied")
        copy = tmp_path / "copy.realm"
        r.write_copy(copy)
        with realm.open(copy) as c:
            assert c.objects("Note")[0].text == "copied"
        with pytest.raises(realm.FileTakenError):
            r.write_copy(copy)

    @pytest.mark.parametrize("name", ["n" * 246, "漢" * 82])
    def test_copies_have_names_as_long_as_files_may(self, r, tmp_path, name):
        r.write_copy(tmp_path / name)
        with realm.open(tmp_path / name) as c:
            assert len(c.objects("Note")) == 0
        assert sorted(os.listdir(tmp_path)) == sorted({name, name + ".lock", *map(os.path.basename, [r.path, r.path + ".lock"])})

    def test_compact(self, r):
        with r.write():
            for i in range(5000):
                r.create(Note, text=f"{i:200}")
        with r.write():
            r.objects(Note).filter("stars == 0").limit(4900).delete_all()
        before = os.path.getsize(r.path)
        note = r.objects(Note)[0]
        assert r.compact() is True
        assert os.path.getsize(r.path) < before / 4
        assert len(r.objects(Note)) == 100
        assert not realm.is_valid(note)

    def test_compacting_while_another_reads(self, path):
        with realm.open(path, classes=[Note]) as a, realm.open(path, classes=[Note]) as b:
            assert len(b.objects(Note)) == 0
            assert a.compact() is False
