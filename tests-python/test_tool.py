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
from pathlib import Path

import pytest
from conftest import REPOSITORY
from test_command_line import TOOL

import realm
import tool_models
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


def refused(capsys, *arguments: str) -> str:
    assert main([*arguments]) == 2
    return capsys.readouterr().err


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
        if form in ("csv", "jsonl"):
            with realm.open(other, Person) as r, r.write():
                r.create(Town, name="Porto")
        assert text(capsys, "import", other, "Person", data) == "2 objects of Person\n"
        with realm.open(file, Person) as r, realm.open(other, Person) as s:
            assert [o.to_json() for o in r.objects(Person)] == [o.to_json() for o in s.objects(Person)]

    def test_some_on_standard_output(self, file, capsys):
        shown = text(capsys, "export", file, "Person", "--query", "id == 1").splitlines()
        assert shown[0].startswith("id,name,age") and len(shown) == 2
        assert '"Ada, ""A""",36,1.5,true,AP8=,2020-01-01T00:00:00Z,1.50' in shown[1]
        assert shown[1].endswith(',"[""a"",""b""]",Porto')
        shown = text(capsys, "export", file, "Person", "--columns", "age,name")
        assert shown == 'age,name\n36,"Ada, ""A"""\n,<b>\n'

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            ("id,age\n3,x\n", "line 2: age is int, not 'x'"),
            ("id,member\n3,maybe\n", "true or false"),
            ("id,nothing\n3,4\n", "no property 'nothing'"),
            ("id,age\n3\n", "line 2: not as many fields"),
            ("id,town\n3,Lisboa\n", "in line 2 of"),
            ('id,town\n3,"{""$link"":{""table"":""Town"",""key"":0}}"\n', "line 2: a link by an object key"),
            ("id,tags\n3,x\n", "line 2: tags is a collection, not 'x': JSON is meant"),
            ('id,name\n3,"x"y\n', "line 2: no comma after field 2"),
            ('id,name\n\n3,"x\n', "line 3: a quote that nothing closes"),
        ],
    )
    def test_rows_that_do_not_fit(self, file, tmp_path, capsys, content, words):
        data = tmp_path / "data.csv"
        data.write_text(content)
        assert words in refused(capsys, "import", file, "Person", str(data))
        with realm.open(file, Person) as r:
            assert len(r.objects(Person)) == 2

    def test_updating(self, file, tmp_path, capsys):
        data = tmp_path / "data.csv"
        data.write_text("id,name,real,member,data,worth,age\n1,a,1,yes,,2,40\n3,b,0,0,\"\",1,\n")
        assert f"in line 2 of {data}" in refused(capsys, "import", file, "Person", str(data))
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
        assert "a key has 64" in refused(capsys, "stats", sealed, "--key-file", str(tmp_path / "short"))

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

    def test_mistakes(self, file, tmp_path, capsys):
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
            (["query", file, "Person", "--columns", "id,nothing"], "no property 'nothing'"),
            (["get", file, "Person", "x"], "the primary key id is int"),
            (["get", file, "Person"], "a key or --null"), (["get", file, "Person", "--null"], "never null"),
            (["edit", file, "drop Person 1"], "a statement begins with create"),
            (["edit", file, "delete Person 1", "set Person 99 {}"], "has no object 99"),
            (["edit", file, 'set Person 1 {"id": 2}'], "stays what it is"),
            (["diff", file], "another file or --since"), (["diff", file, str(tmp_path / "none")], "no file"),
        ]:
            assert words in refused(capsys, *arguments)
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
        words = "a file of realm-core, which gets no objects"
        assert words in refused(capsys, "import", str(old), "Person", str(tmp_path / "x.csv"))
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


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """Files with every type, which differ, and a change log."""
    folder = tmp_path_factory.mktemp("full")
    one, two = str(folder / "one.realm"), str(folder / "two.realm")
    tool_models.fill(one)
    with realm.open(one) as r:
        with r.write():
            r.add_consumer("test")
        with r.write():
            some = r.objects("Person")[0]
            some.tags.append("q")
            some.anything = {"a": [1, {"b": None}], "c": datetime(2020, 1, 2, tzinfo=timezone.utc)}
            some.many[0], some.weights["k"], some.dog = b"zz", 2.5, None
            r.create("Dog", name="new")
        r.copy_to(two)
    with realm.open(two) as r, r.write():
        r.objects("Person")[0].age = 5
        r.delete(r.objects("Dog")[0])
        r.objects("Note")[0].text = tool_models.HOSTILE
    return one, two


class TestAsTheProgramDoes:
    """What both print is the same to the byte."""

    @staticmethod
    def both(*arguments: str) -> str:
        ours = subprocess.run([sys.executable, "-m", "realm", *arguments], capture_output=True, text=True)
        theirs = subprocess.run([TOOL, *arguments], capture_output=True, text=True)
        assert (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout), ours.stderr
        return ours.stdout

    @pytest.mark.parametrize("form", ["table", "json", "jsonl", "csv"])
    def test_objects(self, full, form):
        for cls in ("Dog", "Note", "Person"):
            assert self.both("query", full[0], cls, "--format", form)
        self.both("query", full[0], "Person", "age > 1 SORT(id DESC)", "--limit", "1", "--format", form)
        self.both("query", full[0], "Person", "--columns", "name,dog,id", "--format", form)
        self.both("query", full[0], "Person", "age > 1000", "--format", form)
        self.both("get", full[0], "Person", "1", "--format", form)

    def test_answers(self, full):
        assert self.both("count", full[0], "Person", "age > 3") == "2\n"
        self.both("explain", full[0], "Person", "name == 'Ann'")
        for arguments in (["Note", "1"], ["Person", "99"], ["Person", "1", "--object-key"], ["Note", "9"]):
            self.both("get", full[0], *arguments)

    def test_arguments_stand_before_options_or_behind(self, full):
        for words in (["count", "Person", "age > 3"], ["get", "Person", "1"], ["query", "Person", "age > 3"]):
            command, *places = words
            for options in ([], ["--depth", "0"] if command != "count" else []):
                assert self.both(command, full[0], *places, *options) == self.both(
                    command, full[0], *places[:1], *options, *places[1:])
        assert self.both("get", "--format", "json", full[0], "--object-key", "Person", "1")

    def test_a_negative_key_is_no_option(self, full):
        for behind in ([], ["--format", "json"]):
            found = self.both("get", full[0], "Person", "-4", *behind)
            assert "Ann" in found
            assert found == self.both("get", full[0], "Person", *behind, "--", "-4")
        for arguments in (["-8"], ["--object-key", "-8"], ["--format", "csv", "-8"]):
            assert self.both("get", full[0], "Person", *arguments) == ""

    @pytest.mark.parametrize("form", ["text", "jsonl"])
    def test_changes(self, full, form):
        with realm.open(full[0], read_only=True) as r:
            start = str(r.consumers["test"])
        assert self.both("log", full[0], "--from", start, "--format", form)
        assert self.both("diff", full[0], full[1], "--format", form)
        assert self.both("diff", full[0], full[1], "--class", "Dog", "--format", form)
        assert self.both("diff", full[0], "--since", start, "--format", form)
        assert self.both("diff", full[0], full[0]) == self.both("diff", full[0], full[1], "--quiet") == ""

    def test_statements(self, full, tmp_path):
        statements = [
            'set Person 1 {"age": 78}', 'create Dog {"name": "z"}', 'upsert Dog {"name": "z"}', 'delete Dog z',
            "delete Person where name == 'Ann'", "delete Note #0", 'set Person #1 {"tags": ["a b"]}', "set Person 3 { }",
        ]
        texts = []
        for program in ([sys.executable, "-m", "realm"], [TOOL]):
            file = tmp_path / f"{len(texts)}.realm"
            file.write_bytes(Path(full[0]).read_bytes())
            done = subprocess.run([*program, "edit", file], input="\n".join(statements), capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            texts.append(done.stdout)
        assert texts[0] == texts[1]
        assert self.both("diff", str(tmp_path / "0.realm"), str(tmp_path / "1.realm")) == ""

    @pytest.mark.parametrize("form", ["csv", "jsonl"])
    def test_rows(self, full, tmp_path, form):
        other = str(tmp_path / "other.realm")
        realm.open(other, tool_models.CLASSES).close()
        for cls in ("Dog", "Person"):
            data = str(tmp_path / f"{cls}.{form}")
            shown = subprocess.run([TOOL, "export", full[0], cls, "-", "--format", form], capture_output=True).stdout
            assert main(["export", full[0], cls, data]) == 0
            assert Path(data).read_bytes() == shown
            assert main(["import", other, cls, data, "--object-keys"]) == 0
            assert tool_models.dump(other, cls) == tool_models.dump(full[0], cls)

    def test_commits_are_printed(self, full, tmp_path):
        file = str(tmp_path / "watched.realm")
        Path(file).write_bytes(Path(full[0]).read_bytes())
        told = []
        for program in ([sys.executable, "-m", "realm"], [TOOL]):
            watching = subprocess.Popen([*program, "watch", file, "Person", "age > 35", "--commits", "3"], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            assert "watching from" in watching.stderr.readline()
            lines = []
            for statements in (['set Person 1 {"age": 40}', 'set Person 2 {"age": 50}'], ['set Person 2 {"age": 1}'],
                               ['set Person 1 {"age": 36}']):
                subprocess.run([TOOL, "edit", file, *statements], check=True, capture_output=True)
                lines += [watching.stdout.readline().partition(": ")[2] for _ in statements]
            assert watching.wait(60) == 0
            watching.stdout.close()
            watching.stderr.close()
            told.append(lines)
        assert told[0] == told[1] and [line.split()[0] for line in told[0]] == ["modified", "entered", "left", "modified"]


class TestNotebooks:
    def test_tables(self, file):
        with realm.open(file, Person) as r:
            shown = r.objects(Person)._repr_html_()
            assert "<caption>2 objects of Person</caption>" in shown and "<th>id</th>" in shown
            assert "&lt;b&gt;" in shown and "<b>" not in shown and "Ada, &quot;A&quot;" in shown
            assert "<td>tags</td>" in r.find(Person, 1)._repr_html_()
            assert "2 values of Person.tags" in r.find(Person, 1).tags.results()._repr_html_()
            assert "2 values of Person.tags" in r.find(Person, 1).tags._repr_html_()
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


@pytest.mark.parametrize("name, near", [
    ("frob", []), ("stat", ["stats"]), ("qurey", ["query"]), ("Schema", ["schema"]), ("comp", ["compact"]), ("imprt", ["import"]),
    ("cop", ["copy"]), ("e", ["explain", "edit", "export", "encrypt"]), ("", []), ("hlep", ["help"]), ("x\x1b[2Jy", []),
])
def test_a_command_that_there_is_not_is_named_with_those_that_are_near(name: str, near: list[str]) -> None:
    for arguments in [[name], [name, "some.realm", "--json"], ["help", name]]:
        done = subprocess.run([str(TOOL), *arguments], capture_output=True, text=True, timeout=30)
        assert done.returncode == 64 and done.stdout == ""
        assert done.stderr.startswith("realm: there is no command '") and "\x1b" not in done.stderr
        meant = done.stderr.partition("did you mean ")[2].partition("?")[0]
        assert set(near[:3]) <= set(meant.replace(",", "").split()) and (meant != "") == bool(near)
        assert "are schema, query, count" in done.stderr


def test_all_commands_are_known_by_all_names() -> None:
    shown = subprocess.run([str(TOOL), "--help"], capture_output=True, text=True, check=True).stdout
    names = [name for line in shown.split("SUBCOMMANDS:")[1].split("\n\n")[0].splitlines() if line[:2] == "  " and line[2:3].isalpha()
             for name in line[:26].replace(",", "").split()]
    assert {"schema", "import", "import-data", "studio", "serve"} <= set(names)
    for name in names:
        assert subprocess.run([str(TOOL), name, "--help"], capture_output=True, text=True).returncode == 0
        assert subprocess.run([str(TOOL), "help", name], capture_output=True, text=True).returncode == 0
