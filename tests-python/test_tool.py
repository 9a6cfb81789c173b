"""`python -m realm`, tables for notebooks, and messages that say what to do."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import uuid
from datetime import datetime, timezone
from decimal import Decimal

import pytest
from conftest import REPOSITORY

import realm
from realm.__main__ import main


class Town(realm.Object):
    name: str = realm.PrimaryKey()


class Person(realm.Object):
    id: int = realm.PrimaryKey()
    name: str = realm.Field(indexed=True, default="<b>")
    age: int | None = None
    real: float = 0.0
    member: bool = False
    data: bytes = b""
    since: datetime | None = None
    worth: Decimal = Decimal(0)
    key: uuid.UUID | None = None
    tags: list[str] = []
    town: Town | None = None


@pytest.fixture
def file(path):
    with realm.open(path, Person) as r, r.write():
        r.create(Person, id=1, name='Ada, "A"', age=36, real=1.5, member=True, data=b"\x00\xff",
                 since=datetime(2020, 1, 1, tzinfo=timezone.utc), worth=Decimal("1.50"),
                 key=uuid.UUID(int=7), tags=["a", "b"], town={"name": "Porto"})
        r.create(Person, id=2)
    return path


def text(capsys, *arguments: str) -> str:
    assert main([*arguments]) == 0
    return capsys.readouterr().out


class TestCommands:
    def test_looking(self, file, capsys):
        assert text(capsys, "check", file) == f"{file}: sound\n"
        assert json.loads(text(capsys, "stats", file))
        shown = text(capsys, "schema", file)
        assert "class Person(realm.Object):  # 2 objects" in shown
        assert "    id: int = realm.Field(primary_key=True)" in shown
        assert "    tags: list[str]" in shown and "    town: Town | None" in shown
        assert "bytes now" not in text(capsys, "compact", file)

    def test_damage_is_status_1(self, file, tmp_path, capsys):
        with open(file, "r+b") as f:
            for place in range(8192, os.path.getsize(file), 4096):
                f.seek(place + 64)
                f.write(b"\xff" * 64)
        assert main(["check", file]) == 1
        assert capsys.readouterr().out

    @pytest.mark.parametrize("form", ["jsonl", "parquet", "arrow", "feather", "csv"])
    def test_out_and_in_again(self, file, tmp_path, capsys, form):
        data, other = str(tmp_path / f"data.{form}"), str(tmp_path / "other.realm")
        with realm.open(file, Person) as r, r.write():
            if form == "csv":
                # Links have no form there.
                r.objects(Person).update(town=None)
            if form in ("parquet", "arrow", "feather"):
                r.objects(Person).update(town=None, tags=[])
        text(capsys, "export", file, "Person", data)
        with realm.open(other, Person):
            pass
        if form == "parquet":
            # Links are object keys there, which mean nothing elsewhere.
            import pyarrow.parquet

            pyarrow.parquet.write_table(pyarrow.parquet.read_table(data).drop(["town"]), data)
        if form in ("arrow", "feather"):
            import pyarrow.feather

            pyarrow.feather.write_feather(pyarrow.feather.read_table(data).drop(["town"]), data)
        if form == "jsonl":
            with realm.open(other, Person) as r, r.write():
                r.create(Town, name="Porto")
        assert text(capsys, "import", other, "Person", data) == "2 objects of Person\n"
        with realm.open(file, Person) as r, realm.open(other, Person) as s:
            assert [o.to_json() for o in r.objects(Person)] == [o.to_json() for o in s.objects(Person)]

    def test_some_on_standard_output(self, file, capsys):
        shown = text(capsys, "export", file, "Person", "--query", "id == 1").splitlines()
        assert shown[0].startswith("id,name,age") and len(shown) == 2
        assert '"Ada, ""A""",36,1.5,true,AP8=,2020-01-01T00:00:00+00:00,1.50' in shown[1]
        assert shown[1].endswith(',"[""a"", ""b""]",Porto')

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            ("id,age\n3,x\n", "line 2: age is int, not 'x'"),
            ("id,member\n3,maybe\n", "true or false"),
            ("id,nothing\n3,4\n", "no property 'nothing'"),
            ("id,age\n3\n", "line 2: not as many fields"),
            ("id,town\n3,Porto\n", "links come from JSON lines"),
        ],
    )
    def test_rows_that_do_not_fit(self, file, tmp_path, content, words):
        data = tmp_path / "data.csv"
        data.write_text(content)
        with pytest.raises(SystemExit, match=words):
            main(["import", file, "Person", str(data)])
        with realm.open(file, Person) as r:
            assert len(r.objects(Person)) == 2

    def test_updating(self, file, tmp_path, capsys):
        data = tmp_path / "data.csv"
        data.write_text("id,name,real,member,data,worth,age\n1,a,1,yes,,2,40\n3,b,0,0,,1,\n")
        assert main(["import", file, "Person", str(data)]) == 2
        assert "in row 0" in capsys.readouterr().err
        text(capsys, "import", file, "Person", str(data), "--update")
        with realm.open(file, Person) as r:
            assert r.objects(Person).sorted("id").values("id", "age") == [(1, 40), (2, None), (3, None)]

    def test_copies_and_keys(self, file, tmp_path, capsys):
        key, sealed = tmp_path / "key", str(tmp_path / "sealed.realm")
        key.write_bytes(os.urandom(64))
        text(capsys, "copy", file, sealed, "--new-key-file", str(key))
        assert main(["schema", sealed]) == 2
        assert "class Person" in text(capsys, "schema", sealed, "--key-file", str(key))
        text(capsys, "copy", sealed, str(tmp_path / "plain.realm"), "--key-file", str(key), "--plain")
        assert "class Person" in text(capsys, "schema", str(tmp_path / "plain.realm"))
        (tmp_path / "short").write_bytes(b"x")
        with pytest.raises(SystemExit, match="a key has 64"):
            main(["stats", sealed, "--key-file", str(tmp_path / "short")])

    def test_keys_in_place(self, file, tmp_path, capsys):
        one, two = tmp_path / "one", tmp_path / "two"
        one.write_bytes(os.urandom(64))
        two.write_bytes(os.urandom(64))
        text(capsys, "encrypt", file, "--new-key-file", str(one))
        assert main(["rekey", file, "--key-file", str(two), "--new-key-file", str(one)]) == 2
        text(capsys, "rekey", file, "--key-file", str(one), "--new-key-file", str(two))
        assert main(["schema", file]) == 2
        assert text(capsys, "decrypt", file, "--key-file", str(two)).endswith("decrypted\n")
        assert "class Person" in text(capsys, "schema", file)

    def test_mistakes(self, file, tmp_path):
        for name in ("rows.arrow", "rows.parquet"):
            (tmp_path / name).write_text("id,age\n3,4\n")
        for arguments, words in [
            (["stats", str(tmp_path / "none.realm")], "no file"),
            (["export", file, "Nobody"], "no class 'Nobody'; it has Person, Town"),
            (["export", file, "Person", str(tmp_path / "x.doc")], "--format csv, jsonl, parquet or arrow"),
            (["export", file, "Person", "-", "--format", "arrow"], "Arrow is written to a file"),
            (["import", file, "Person", str(tmp_path / "x.csv")], "no file"),
            (["import", file, "Person", str(tmp_path / "rows.arrow")], "rows.arrow: not Arrow: "),
            (["import", file, "Person", str(tmp_path / "rows.parquet")], "rows.parquet: not Parquet: "),
            (["import", file, "Person", file], "is a realm file, not rows"),
            (["import", file, str(tmp_path / "new.realm")], "one of ours; rows come into it"),
            (["import", str(tmp_path / "x.csv"), str(tmp_path / "new.realm")], "come into a class"),
            (["import", file, str(tmp_path / "new.realm"), "--update"], "are for rows"),
            (["import", file, "Person", "x.csv", "--even-in-use"], "are for files of realm-core"),
        ]:
            with pytest.raises(SystemExit, match=words):
                main(arguments)
        assert not (tmp_path / "none.realm").exists()

    def test_files_of_realm_core(self, tmp_path, capsys):
        old, new, key = tmp_path / "old", str(tmp_path / "new.realm"), tmp_path / "key"
        samples = REPOSITORY / "Tests" / "Fixtures" / "realm-core"
        old.write_bytes(gzip.decompress((samples / "migrated.realm.gz").read_bytes()))
        report = realm.import_realm_core(old, tmp_path / "other.realm")
        lines = text(capsys, "import", str(old), new).splitlines()
        assert lines[-1] == f"{new}: everything came along"
        assert {f"{item.objects} objects of {item.name}" for item in report.classes} <= set(lines)
        assert realm.check_file(new) == []
        with pytest.raises(SystemExit, match="a file of realm-core, which gets no objects"):
            main(["import", str(old), "Person", str(tmp_path / "x.csv")])
        assert main(["import", str(old), new]) == 2 and "exists" in capsys.readouterr().err
        key.write_bytes(bytes(range(64)))
        old.write_bytes(gzip.decompress((samples / "encrypted.realm.gz").read_bytes()))
        text(capsys, "import", str(old), str(tmp_path / "sealed.realm"), "--key-file", str(key),
             "--new-key-file", str(key))
        assert realm.check_file(tmp_path / "sealed.realm", encryption_key=key.read_bytes()) == []

    def test_as_a_program_with_a_shell(self, file):
        done = subprocess.run(
            [sys.executable, "-m", "realm", "shell", file, "--read-only"], capture_output=True, text=True,
            input="print(len(r.objects(Person)), r.find(Town, 'Porto').name)\n", timeout=60)
        assert done.returncode == 0 and "2 Porto" in done.stdout


class TestNotebooks:
    def test_tables(self, file):
        with realm.open(file, Person) as r:
            shown = r.objects(Person)._repr_html_()
            assert "<caption>2 objects of Person</caption>" in shown and "<th>id</th>" in shown
            assert "&lt;b&gt;" in shown and "<b>" not in shown and "Ada, &quot;A&quot;" in shown
            assert "<td>tags</td>" in r.find(Person, 1)._repr_html_()
            assert "2 values of Person.tags" in r.find(Person, 1).tags.results()._repr_html_()
            assert "<td>Town</td><td>1</td>" in r._repr_html_()
            held = r.objects(Person)[0], r.objects(Person), r
        for thing in held:
            assert "closed" in thing._repr_html_()
        assert "Town" in Town(name="x")._repr_html_()

    def test_long_ones_are_cut(self, path):
        with realm.open(path, Town) as r:
            with r.write():
                r.insert_many(Town, {"name": [str(i) * 50 for i in range(100)]})
            shown = r.objects(Town)._repr_html_()
            assert "100 objects of Town, of which 10 are shown" in shown and shown.count("<tr>") == 11
            assert len(shown) < 2000


def test_messages_say_what_to_do(file):
    with realm.open(file, Person) as r:
        ada = r.find(Person, 1)
        for change in [
            lambda: setattr(ada, "age", 3), lambda: setattr(ada, "tags", []), lambda: ada.tags.append("x"),
            lambda: r.create(Town, name="x"), lambda: r.delete(ada), lambda: r.commit(),
        ]:
            with pytest.raises(realm.TransactionError, match=r"`with r\.write\(\):`"):
                change()
        with pytest.raises(realm.NoSuchPropertyError, match="'nme'; did you mean 'name'"):
            Person(id=1, nme="x")
        with pytest.raises(realm.NoSuchPropertyError, match="'zzz'; it has name"):
            r.create(Town, zzz=1)
