"""`realm schema`, `query`, `count`, `explain` and `get`: looking into a file with the tool."""

from __future__ import annotations

import csv
import fcntl
import importlib.util
import io
import json
import os
import pty
import struct
import subprocess
import termios
from pathlib import Path

import pytest
from test_command_line import TOOL, run

import realm
import tool_models
from tool_models import HOSTILE


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed file that these tests only read."""
    path = tmp_path_factory.mktemp("tool") / "all.realm"
    tool_models.fill(path)
    return path


def said(*arguments: object) -> str:
    done = run(*arguments)
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


def width(text: str) -> int:
    return max(sum(2 if "⺀" <= letter <= "鿿" else 1 for letter in line) for line in text.splitlines())


def on_terminal(columns: int, *arguments: object) -> str:
    """What the tool prints on a terminal of so many columns."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    done = subprocess.Popen([TOOL, *map(str, arguments)], stdout=its)
    os.close(its)
    text = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    os.close(ours)
    assert done.wait(60) == 0
    return text.decode()


class TestSchema:
    def test_as_text(self, file: Path) -> None:
        shown = said("schema", file)
        assert "Person (4 objects)\n  id        int                  primary key\n" in shown
        assert "  name      string?              indexed\n" in shown
        assert "Room (embedded, 4 objects)\n" in shown and "  text   string      full text\n" in shown

    def test_of_one_class_with_those_that_it_needs(self, file: Path) -> None:
        names = [c["name"] for c in json.loads(said("schema", file, "Note", "--format", "json"))["classes"]]
        assert names == ["Dog", "Note"]

    def test_as_json(self, file: Path) -> None:
        classes = {c["name"]: c for c in json.loads(said("schema", file, "--format", "json"))["classes"]}
        assert classes["Person"]["primary_key"] == "id" and classes["Room"]["kind"] == "embedded"
        properties = {p["name"]: p for p in classes["Person"]["properties"]}
        assert properties["kennel"] == {
            "name": "kennel", "type": "object", "nullable": True, "collection": "dictionary", "target": "Dog"}
        assert properties["name"]["indexed"] is True

    def opened_with(self, code: Path, path: Path) -> None:
        spec = importlib.util.spec_from_file_location("generated_" + path.stem, code)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        classes = [v for v in vars(module).values() if isinstance(v, type) and issubclass(
            v, (realm.Object, realm.EmbeddedObject))]
        before = path.read_bytes()
        with realm.open(path, classes) as r:
            assert len(r.classes) == len(classes)
        # Nothing was to be migrated.
        assert path.read_bytes() == before

    def test_as_python_classes_that_open_the_file(self, file: Path, tmp_path: Path) -> None:
        code = tmp_path / "code.py"
        code.write_text(said("schema", file, "--format", "python"))
        self.opened_with(code, file)

    def test_names_that_are_none_in_python_are_told(self, tmp_path: Path) -> None:
        path, code = tmp_path / "odd.realm", tmp_path / "code.py"
        first = type(realm.Object)("A", (realm.Object,), {
            "__annotations__": {"x": "int", "y": "int", "z": "str | None"},
            "x": realm.Field(name_in_file='class"\n\x1b'), "y": realm.Field(name_in_file="1 2"),
            "z": realm.Field(name_in_file="漢-字")}, stored_name='"""\n; import')
        second = type(realm.Object)("B", (realm.Object,), {"__annotations__": {"list": "int"}},
                                    stored_name="int")
        with realm.open(path, [first, second]):
            pass
        code.write_text(said("schema", path, "--format", "python"))
        self.opened_with(code, path)
        assert "\x1b" not in code.read_text() and "\x1b" not in said("schema", path)
        swift = said("schema", path, "--format", "swift")
        assert '_realmObjectName() -> String? { "\\"\\"\\"\\u{a}; import" }' in swift
        assert '"class___": "class\\"\\u{a}\\u{1b}"' in swift and "\x1b" not in swift

    def test_names_stay_apart_that_python_takes_for_one(self, tmp_path: Path) -> None:
        """Python names by NFKC; and what a name becomes is not another name of the file."""
        path, code = tmp_path / "odd.realm", tmp_path / "code.py"
        names = ["a b", "a_b", "a-b", "\u00b5g", "\u03bcg", "n\u00ba", "realm", "realm_", "\u212a", "\u2167", "Straße", "σς",
                 "\ufb01n", "1", "property1", "Größe"]
        fields = {f"f{n}": realm.Field(name_in_file=name) for n, name in enumerate(names)}
        first = type(realm.Object)("A", (realm.Object,), {"__annotations__": dict.fromkeys(fields, "int"), **fields},
                                   stored_name="my class")
        second = type(realm.Object)("B", (realm.Object,), {"__annotations__": {"x": "int"}}, stored_name="my_class")
        third = type(realm.Object)("C", (realm.Object,), {"__annotations__": {"x": "int"}}, stored_name="\ufb01sh")
        with realm.open(path, [first, second, third]) as r, r.write():
            r.create(first, **{name: n for n, name in enumerate(fields)})
        code.write_text(said("schema", path, "--format", "python"))
        self.opened_with(code, path)
        for kept in ["    a_b: int\n", "    \u03bcg: int\n", "    Straße: int\n", "    σς: int\n",
                     "    property1: int\n", "    Größe: int\n", "class my_class(realm.Object):"]:
            assert kept in code.read_text(), kept
        swift = said("schema", path, "--format", "swift")
        declared = [line.split(" var ")[1].split(":")[0] for line in swift.splitlines() if " var " in line]
        assert len(set(declared[:len(names)])) == len(names) and "class my_class_: Object {" in swift

    def test_as_swift_classes(self, file: Path) -> None:
        shown = said("schema", file, "--format", "swift")
        for line in ["class Room: EmbeddedObject {", "@Persisted(primaryKey: true) var id: Int",
                     "@Persisted(fullText: .latin) var text: String", "var scores: MutableSet<Int>",
                     "var kennel: Map<String, Dog?>", "var tags: List<String?>", "var room: Room?"]:
            assert line in shown


class TestQuery:
    def test_as_json_lines_and_as_an_array(self, file: Path) -> None:
        lines = said("query", file, "Person", "age > 2 SORT(age ASC)", "--format", "jsonl").splitlines()
        assert [json.loads(line)["id"] for line in lines] == [-4, 1]
        array = json.loads(said("query", file, "Person", "age > 2 SORT(age ASC)", "--format", "json"))
        assert array == [json.loads(line) for line in lines]
        assert said("query", file, "Person", "age > 99", "--format", "json") == "[]\n"

    def test_limit_and_columns(self, file: Path) -> None:
        shown = said("query", file, "Person", "TRUEPREDICATE SORT(id ASC)", "--limit", 2, "--columns",
                     "id,age", "--format", "jsonl")
        assert shown == '{"id":-4,"age":7}\n{"id":1,"age":36}\n'
        assert said("query", file, "Person", "--limit", 0, "--format", "csv", "--columns", "id") == "id\n"

    def test_links_in_depth(self, file: Path) -> None:
        shown = said("query", file, "Person", "id == 1", "--format", "jsonl", "--depth", 1)
        assert json.loads(shown)["dog"] == {"name": '{"$link"'}

    def test_csv_is_read_by_others(self, file: Path) -> None:
        text = subprocess.run([TOOL, "query", file, "Person", "--format", "csv"], capture_output=True).stdout
        rows = list(csv.DictReader(io.StringIO(text.decode(), newline="")))
        assert rows[0]["name"] == '=1+2, "A"\n' and rows[0]["tags"] == '["a",null,"","x\\"y"]'
        assert rows[2]["dog"] == HOSTILE and rows[0]["real"] == "Infinity"

    def test_a_table_shows_no_control_characters(self, file: Path) -> None:
        shown = said("query", file, "Person")
        assert len(shown.splitlines()) == 5
        assert not any(ord(c) < 32 and c != "\n" or c == "\u202e" for c in shown)
        assert r"Rex,\r\n\u001b[31m\u202e" in shown

    def test_objects_without_primary_key_are_shown_with_their_keys(self, file: Path) -> None:
        lines = said("query", file, "Note").splitlines()
        assert lines[0].split() == ["(key)", "text", "me", "dog", "notes"]
        assert lines[1].split()[:4] == ["0", "hello", "Note", "0"]
        assert said("query", file, "Note", "text TEXT 'hello'", "--format", "csv").splitlines()[1] == (
            '0,hello'[2:] + ',"{""$link"":{""table"":""Note"",""key"":0}}",,'
            '"[{""$link"":{""table"":""Note"",""key"":0}}]"')

    @pytest.mark.parametrize("columns", [30, 60, 80, 120])
    def test_tables_fit_the_terminal(self, file: Path, columns: int) -> None:
        for arguments in (("query", file, "Person"), ("query", file, "Dog"), ("get", file, "Person", 1)):
            assert width(on_terminal(columns, *arguments).replace("\r\n", "\n")) <= columns
        assert width(said("query", file, "Person", "--width", columns)) <= columns
        # Into a pipe everything goes.
        assert width(said("query", file, "Person")) > 200

    def test_wide_letters_line_up(self, file: Path) -> None:
        lines = said("query", file, "Person", "--columns", "dog,id").splitlines()
        assert len({width(line) for line in lines}) == 1

    def test_many_rows_go_out_as_they_come(self, tmp_path: Path) -> None:
        path = tmp_path / "many.realm"
        with realm.open(path, tool_models.CLASSES) as r, r.write():
            r.insert_many(tool_models.Dog, {"name": [f"{i:05}" for i in range(3000)]})
        assert len(said("query", path, "Dog").splitlines()) == 3001
        # Who reads has enough.
        head = subprocess.run(f"'{TOOL}' query '{path}' Dog --format csv | head -n 2; echo ${{PIPESTATUS[0]}}",
                              shell=True, executable="/bin/bash", capture_output=True, text=True)
        assert head.stdout.startswith("name\n00000\n") and head.stderr == ""
        for ignored in ("", "trap '' PIPE;"):
            done = subprocess.run(
                ["/bin/bash", "-c", f"{ignored} '{TOOL}' query '{path}' Dog --format csv | :"],
                capture_output=True, text=True)
            assert (done.returncode, done.stderr) == (0, "")

    def test_a_full_disk_is_told(self, file: Path) -> None:
        with open("/dev/full", "w") as full:
            done = subprocess.run([TOOL, "query", file, "Person"], stdout=full, stderr=subprocess.PIPE,
                                  text=True)
        assert done.returncode == 2 and "can't write standard output: No space left" in done.stderr

    @pytest.mark.parametrize("command", [["check"], ["check", "--json"], ["stats"], ["stats", "--json"], ["compact"]])
    def test_a_full_disk_is_told_by_short_answers(self, file: Path, command: list[str]) -> None:
        with open("/dev/full", "w") as full:
            done = subprocess.run([TOOL, *command, file], stdout=full, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 2 and "can't write standard output: No space left" in done.stderr


class TestMistakes:
    @pytest.mark.parametrize(
        ("query", "words", "marked"),
        [
            ("age > > 2", "syntax error at byte 6", ">"),
            ("age > 2 SORT(nme ASC)", "no property 'nme'", "nme"),
            ("name == 'nme' AND nme = 'x'", "no property 'nme'", "nme"),
            ("dog.nme = 'x'", "no property 'nme'", "nme"),
            ("漢 = 1", "no property '漢'", "漢"),
            ("age == 'x'", "'Person.age'", "age"),
            ("age ==", "unexpected end", ""),
            # Of a word that is there several times the place that is meant.
            ("dog.name == 'name' AND name == 1", "name", "name == 1"),
            ("age > 1 AND age == $0 AND age < 2", "argument $0", "$0 AND age < 2"),
            ("age > 1 AND (age BETWEEN {1, 'x'})", "age", "age BETWEEN"),
            ("dog.name == 'dog' SORT(name ASC, dog.nme ASC)", "no property 'nme'", "nme ASC"),
            ("age > 1 LIMIT(-1)", "", "-1)"),
            # Words of an error that are in the text itself.
            ("age == 'syntax error at byte 30'", "'Person.age'", "age"),
            ("age == 'the date at byte 3'", "'Person.age'", "age"),
            ("age > 1 AND name MATCHES '('", "at byte 1", "name MATCHES"),
            ("name == '" + "漢\x1b" * 100 + "' nme", "syntax error", "nme"),
        ],
    )
    @pytest.mark.parametrize("command", ["query", "count", "explain"])
    def test_of_a_query_are_marked_under_its_text(self, file, command, query, words, marked) -> None:
        done = run(command, file, "Person", query)
        assert (done.returncode, done.stdout) == (2, "")
        problem, text, mark = done.stderr.splitlines()
        assert problem.startswith(f"realm: {file}: the query: ") and words in problem
        assert "\x1b" not in done.stderr
        # The mark is under the first column of the word.
        place, column = 0, 0
        while column < len(mark) - 1:
            column += 2 if "⺀" <= text[place] <= "鿿" else 1
            place += 1
        assert text[place:].startswith(marked) and width(text) <= 80

    def test_a_long_query_is_marked_at_once(self, file: Path) -> None:
        done = subprocess.run([TOOL, "count", file, "Person", f"id IN {{{','.join(map(str, range(20_000)))}}} AND nme == 1"],
                              capture_output=True, text=True, timeout=5)
        assert done.returncode == 2
        text, mark = done.stderr.splitlines()[-2:]
        assert text[mark.index("^"):] == "nme == 1" and len(text) <= 80

    def test_of_names(self, file: Path) -> None:
        for command, last in (("query", ()), ("count", ()), ("explain", ()), ("get", (1,)), ("schema", ())):
            done = run(command, file, "Persson", *last)
            assert (done.returncode, done.stdout) == (2, "")
            assert done.stderr == f"realm: {file}: no class 'Persson'; its classes are Dog, Note, Person, Room\n"
        done = run("query", file, "Note", "--columns", "text,x")
        assert done.returncode == 2 and "has no property 'x'; it has text, me, dog, notes" in done.stderr

    def test_of_options(self, file: Path) -> None:
        for arguments in (["--limit", "-1"], ["--format", "xml"], ["--width", "x"], ["--depth", "201"]):
            assert run("query", file, "Person", *arguments).returncode == 64

    def test_of_files_and_keys(self, file: Path, tmp_path: Path) -> None:
        foreign, empty, sealed = (tmp_path / name for name in ("foreign", "empty", "sealed"))
        foreign.write_text("something else\n" * 1000)
        empty.touch()
        key, other = tmp_path / "key", tmp_path / "other"
        key.write_bytes(os.urandom(64))
        other.write_bytes(os.urandom(64))
        with realm.open(file) as r:
            r.write_copy(sealed, encryption_key=key.read_bytes())
        for command in (["schema"], ["query", "Dog"], ["count", "Dog"], ["explain", "Dog"], ["get", "Dog", "x"]):
            for path, words in ((tmp_path / "none", "No such file"), (foreign, "not a realm"),
                                (empty, "empty"), (sealed, ""), (tmp_path, "")):
                done = run(command[0], path, *command[1:])
                assert (done.returncode, done.stdout) == (2, ""), done
                assert words in done.stderr and done.stderr.startswith(f"realm: {path}: ")
            assert run(command[0], sealed, *command[1:], "--key-file", other).returncode == 2
        assert said("count", sealed, "Dog", "--key-file", key) == "3\n"
        assert not (tmp_path / "none").exists()

    def test_of_a_damaged_file(self, file: Path, tmp_path: Path) -> None:
        original, path = file.read_bytes(), tmp_path / "damaged.realm"
        found = 0
        for page in range(2, len(original) // 4096):
            damaged = bytearray(original)
            damaged[page * 4096 + 72] ^= 0x10
            path.write_bytes(damaged)
            done = run("query", path, "Person", "--format", "jsonl")
            assert done.returncode in (0, 2), done
            found += done.returncode == 2 and f"page {page}" in done.stderr
        assert found > 0


class TestGet:
    def test_by_primary_key(self, file: Path) -> None:
        shown = dict(line.split(maxsplit=1) for line in said("get", file, "Person", 1).splitlines())
        assert shown["key"] == "00000000-0000-0000-0000-000000000007" and shown["dog"] == '{"$link"'
        assert json.loads(said("get", file, "Dog", '"quoted"', "--format", "json")) == {"name": '"quoted"'}
        assert said("get", file, "Person", "--columns", "id", "--format", "json", "--", "-4") == '{"id":-4}\n'

    def test_by_object_key(self, file: Path) -> None:
        assert "text   hello\n" in said("get", file, "Note", 0)
        assert json.loads(said("get", file, "Dog", "--object-key", 1, "--format", "json"))["name"]

    def test_what_is_not_there_is_status_1(self, file: Path) -> None:
        for cls, key in (("Person", 77), ("Dog", "Tim"), ("Note", 5)):
            done = run("get", file, cls, key)
            assert (done.returncode, done.stdout) == (1, "")
            assert f"class '{cls}' has no object '{key}'" in done.stderr

    def test_by_the_primary_key_null(self, tmp_path: Path) -> None:
        Nullable = type(realm.Object)("Nullable", (realm.Object,), {
            "__annotations__": {"id": "str | None", "n": "int"}, "id": realm.PrimaryKey(), "n": 0})
        path = tmp_path / "null.realm"
        with realm.open(path, [Nullable]) as r, r.write():
            r.create(Nullable, id="null", n=1)
        done = run("get", path, "Nullable", "--null")
        assert done.returncode == 1 and "no object whose primary key is null" in done.stderr
        assert said("edit", path, 'create Nullable {"id": null, "n": 2}', 'set Nullable null {"n": 3}')
        assert json.loads(said("get", path, "Nullable", "--null", "--format", "json")) == {"id": None, "n": 3}
        assert json.loads(said("get", path, "Nullable", "null", "--format", "json")) == {"id": "null", "n": 1}
        said("edit", path, 'set Nullable "null" {"n": 4}', "delete Nullable null")
        assert said("query", path, "Nullable", "--format", "jsonl") == '{"id":"null","n":4}\n'
        for arguments in (("null", "--null"), (), ("--null", "--object-key")):
            assert run("get", path, "Nullable", *arguments).returncode == 64

    def test_null_is_no_key_of_classes_that_require_one(self, file: Path) -> None:
        for cls, problem in (("Person", "'id' is required"), ("Note", "no primary key")):
            done = run("get", file, cls, "--null")
            assert done.returncode == 2 and problem in done.stderr

    def test_what_is_no_key_is_status_2(self, file: Path) -> None:
        for cls, key in (("Person", "x"), ("Note", "x")):
            done = run("get", file, cls, key)
            assert done.returncode == 2 and "'x' is no" in done.stderr


def test_it_reads_beside_a_writer(file: Path) -> None:
    with realm.open(file) as r:
        r.begin_write()
        r.create("Dog", name="uncommitted")
        assert said("count", file, "Dog") == "3\n"
        r.rollback()


def test_the_plan_of_a_query_is_told(file: Path) -> None:
    assert "index of name" in said("explain", file, "Person", "name == 'Ann'")
