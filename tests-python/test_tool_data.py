"""`realm export`, `import` of rows, `edit`, `copy` and `compact`: data in and out, and changes, with the tool."""

from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
from pathlib import Path

import pytest
from conftest import REPOSITORY
from test_command_line import TOOL, run
from test_tool_queries import said

import realm
import tool_models
from tool_models import CLASSES, dump


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed file that these tests only read."""
    path = tmp_path_factory.mktemp("tool") / "all.realm"
    tool_models.fill(path)
    return path


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    path = tmp_path / "empty.realm"
    realm.open(path, CLASSES).close()
    return path


@pytest.fixture
def file(full: Path, tmp_path: Path) -> Path:
    """A file that a test may change."""
    path = tmp_path / "some.realm"
    path.write_bytes(full.read_bytes())
    return path


def refused(*arguments: object, given: str | None = None) -> str:
    done = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, input=given)
    assert (done.returncode, done.stdout) == (2, ""), done
    return done.stderr


def imported(path: Path, cls: str, text: str | bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    given = text.encode() if isinstance(text, str) else text
    return subprocess.run([TOOL, "import", path, cls, "-", *options], capture_output=True, input=given)


class TestOutAndIn:
    @pytest.mark.parametrize("form", ["csv", "jsonl"])
    def test_everything_comes_back_the_same(self, full: Path, empty: Path, tmp_path: Path, form: str) -> None:
        for cls in ("Dog", "Person", "Note"):
            data = tmp_path / f"{cls}.{form}"
            assert said("export", full, cls, data) == ""
            count = len(dump(full, cls))
            assert said("import", empty, cls, data, "--object-keys") == f"{count} objects of {cls}\n"
            assert dump(empty, cls) == dump(full, cls)
            # Once more, over itself.
            if cls != "Note":
                before = empty.read_bytes()
                said("import", empty, cls, data, "--upsert")
                assert dump(empty, cls) == dump(full, cls) and len(before) > 0

    @pytest.mark.parametrize("form", ["csv", "jsonl"])
    def test_objects_without_properties(self, tmp_path: Path, form: str) -> None:
        class Mark(realm.Object):
            pass

        one, two, data = tmp_path / "one", tmp_path / "two", tmp_path / f"data.{form}"
        for path, count in ((one, 3), (two, 1)):
            with realm.open(path, [Mark]) as r, r.write():
                for _ in range(count):
                    r.create(Mark)
        said("export", one, "Mark", data)
        assert said("import", two, "Mark", data) == "3 objects of Mark\n"
        assert said("count", two, "Mark") == "4\n"
        assert "no property 'x'" in refused("import", two, "Mark", "-", "--format", "csv", given="x\n1\n")
        for rows in ("\n1\n", "\n,\n"):
            assert "line 2" in refused("import", two, "Mark", "-", "--format", "csv", given=rows)

    @pytest.mark.parametrize("form", ["csv", "jsonl"])
    def test_texts_of_all_sorts_come_back_the_same(self, tmp_path: Path, form: str) -> None:
        seed = random.randrange(1 << 32)
        print("seed", seed)
        chance = random.Random(seed)
        letters = '",\r\n\t\0 \x1b=+-@\\\'{[$#e\u0301漢\ufeff\u2028😀'
        names = {"".join(chance.choices(letters, k=chance.randrange(8))) for _ in range(300)}
        one, two, data = tmp_path / "one", tmp_path / "two", tmp_path / f"data.{form}"
        for path in (one, two):
            realm.open(path, CLASSES).close()
        with realm.open(one, CLASSES) as r, r.write():
            # A quote with a mark above it, which some take for one letter.
            for name in sorted(names | {'"\u0301', '{\u0301', 'a"\u0301,"'}):
                dog = r.create(tool_models.Dog, name=name)
                r.create(tool_models.Note, text=name, dog=dog)
                r.create(tool_models.Person, id=len(r.objects(tool_models.Person)), name=name,
                         anything=name, tags=[name], kennel={name: dog} if name and name[0] not in "$."
                         and "." not in name and "\0" not in name else {})
        for cls in ("Dog", "Person", "Note"):
            said("export", one, cls, data)
            said("import", two, cls, data)
            assert dump(two, cls) == dump(one, cls)

    @pytest.mark.parametrize("form", ["csv", "jsonl"])
    def test_what_python_writes_is_read_and_the_other_way_round(self, full, empty, tmp_path, form) -> None:
        data = tmp_path / f"dogs.{form}"
        python = [os.sys.executable, "-m", "realm"]
        subprocess.run([*python, "export", full, "Dog", data], check=True)
        said("import", empty, "Dog", data)
        assert dump(empty, "Dog") == dump(full, "Dog")
        said("export", full, "Dog", data)
        subprocess.run([*python, "import", empty, "Dog", data, "--update"], check=True, capture_output=True)
        assert dump(empty, "Dog") == dump(full, "Dog")

    def test_rows_may_link_to_later_ones(self, empty: Path) -> None:
        rows = [{"text": "a", "me": {"$link": {"table": "Note", "key": 1}}, "dog": None, "notes": []},
                {"text": "b", "me": None, "dog": None,
                 "notes": [{"$link": {"table": "Note", "key": n}} for n in (0, 1)]}]
        done = imported(empty, "Note", "\n".join(map(json.dumps, rows)), "--format", "jsonl", "--object-keys")
        assert (done.returncode, done.stderr) == (0, b"")
        with realm.open(empty, CLASSES) as r:
            first, second = r.objects(tool_models.Note)
            assert first.me == second and list(second.notes) == [first, second]

    def test_links_to_what_never_comes_are_refused(self, empty: Path) -> None:
        done = imported(empty, "Note", '{"text":"a"}\n{"text":"b","dog":"Rex"}', "--format", "jsonl")
        assert done.returncode == 2 and b"standard input, line 2: Note.dog: class Dog has no object" in done.stderr
        assert dump(empty, "Note") == []

    def test_a_part_of_the_objects_and_properties(self, full: Path) -> None:
        shown = said("export", full, "Person", "--query", "age > 2 SORT(age DESC)", "--columns", "age,id")
        assert shown == "age,id\n36,1\n7,-4\n"
        assert said("export", full, "Person", "-", "--format", "jsonl", "--columns", "id", "--query", "id == 2"
                    ) == '{"id":2}\n'

    def test_what_was_there_stays_until_all_is_written(self, file: Path, tmp_path: Path) -> None:
        data, link = tmp_path / "kept.csv", tmp_path / "link.csv"
        data.write_text("as it was\n")
        data.chmod(0o640)
        assert "has no property 'nme'" in refused("export", file, "Person", data, "--columns", "nme")
        assert "nme" in refused("export", file, "Person", data, "--query", "nme == 1")
        assert data.read_text() == "as it was\n"
        link.symlink_to(data)
        said("export", file, "Person", link, "--columns", "id")
        assert link.is_symlink() and data.read_text() == "id\n1\n2\n3\n-4\n" and data.stat().st_mode & 0o777 == 0o640
        assert sorted(path.name for path in tmp_path.iterdir() if "csv" in path.name) == ["kept.csv", "link.csv"]

    def test_the_longest_name_that_a_file_can_have(self, file: Path, tmp_path: Path) -> None:
        data = tmp_path / ("n" * 251 + ".csv")
        for _ in range(2):
            said("export", file, "Person", data, "--columns", "id")
            assert data.read_text() == "id\n1\n2\n3\n-4\n"

    def test_realm_files_are_not_written_over(self, file: Path, full: Path, tmp_path: Path) -> None:
        before = file.read_bytes()
        link = tmp_path / "link.csv"
        link.symlink_to(file)
        for target in (file, link):
            assert "is a realm file; it is not written over" in refused("export", full, "Dog", target, "--format", "csv")
        assert file.read_bytes() == before

    def test_names_that_are_not_utf_8_are_no_others(self, file: Path, tmp_path: Path) -> None:
        for arguments in (["export", file, "Dog", os.fsencode(tmp_path) + b"/v\xff.csv"], ["copy", file, b"\xff.realm"]):
            done = subprocess.run([TOOL, *arguments], capture_output=True, cwd=tmp_path)
            assert done.returncode == 64 and b"is not UTF-8" in done.stderr, done
        assert not [path for path in tmp_path.iterdir() if "\ufffd" in path.name]

    def test_formulas_are_marked_for_spreadsheets_alone(self, full: Path) -> None:
        shown = said("export", full, "Person", "--columns", "id,name", "--spreadsheet", "--query", "id IN {1,-4}")
        assert shown == '''id,name\n1,"'=1+2, ""A""\n"\n-4,Ann\n'''
        assert '1,"=1+2' in said("export", full, "Person", "--columns", "id,name")

    def test_what_spreadsheets_write(self, empty: Path) -> None:
        text = "\ufeffid,name,real,single,member,worth,since\r\n1,\"a\r\nb\",1.5,2,TRUE,3.10,2020-01-01\r\n\r\n2,,1e3,NaN,0,1,"
        assert imported(empty, "Person", text).stdout == b"2 objects of Person\n"
        with realm.open(empty, CLASSES) as r:
            one, two = r.objects(tool_models.Person)
            assert (one.name, one.member, str(one.worth)) == ("a\r\nb", True, "3.10")
            assert (two.name, two.since, two.real, two.single != two.single) == (None, None, 1000, True)

    def test_a_dry_run_changes_nothing(self, empty: Path) -> None:
        done = imported(empty, "Dog", "name\nRex\n", "--dry-run")
        assert done.stdout == b"1 object of Dog would be imported\n" and dump(empty, "Dog") == []

    @pytest.mark.parametrize(
        ("cls", "text", "words"),
        [
            ("Dog", "", "line 1: the line with the names"),
            ("Dog", "nme\n", "line 1: class 'Dog' has no property 'nme'; it has name"),
            ("Dog", "name,name\n", "'name' is there twice"),
            ("Dog", "name\nRex\nRex\n", "line 3: class Dog has an object with primary key the string \"Rex\""),
            ("Dog", 'name\n"a\nb"\n"c\n', "line 4: a quote that nothing closes"),
            ("Dog", 'name\n"a"b\n', "line 2: something stands behind"),
            ("Dog", 'name\na"b\n', "line 2: a quote within a field"),
            ("Dog", b"name\n\xff\n", "line 2: the text is not UTF-8"),
            ("Person", "id,name\n1\n", "line 2: 1 fields, for 2 names"),
            ("Person", "id,real,single,member,worth\nx,1,1,1,1\n", 'Person.id takes int, got the string "x"'),
            ("Person", "id,real,single,member,worth\n1,0x10,1,1,1\n", "Person.real takes double"),
            ("Person", "id,real,single,member,worth\n1,1,1,maybe,1\n", "Person.member takes bool"),
            ("Person", "id,tags\n1,[\n", "line 2: tags: "),
            ("Person", 'id,anything\n1,abc\n', "line 2: anything: "),
            ("Person", "id,dog\n1,Rex\n", "line 2: "),
            ("Note", 'text,me\nx,"{""$link"":{""table"":""Note"",""key"":0}}"\n', "--object-keys takes it"),
            ("Room", "number\n1\n", "is embedded"),
        ],
    )
    def test_mistakes_name_the_line_and_leave_the_file(self, empty, cls, text, words) -> None:
        done = imported(empty, cls, text)
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.decode().startswith(f"realm: {empty}: standard input, line ")
        assert words in done.stderr.decode() and len(done.stderr.splitlines()) == 1
        assert [len(dump(empty, c)) for c in ("Dog", "Person", "Note")] == [0, 0, 0]

    @pytest.mark.parametrize(
        ("line", "words"),
        [('{"name":', "line 2: "), ('{"name": 1}', "takes string, got the int 1"), ("[1, 2]", "line 2: "),
         ('{"name": "x", "nme": 1}', "no property 'nme'"), ("5", "line 2: "), ("[" * 2000, "line 2: ")],
    )
    def test_mistakes_in_json_lines(self, empty: Path, line: str, words: str) -> None:
        done = imported(empty, "Dog", f'{{"name":"Rex"}}\n{line}\n', "--format", "jsonl")
        assert done.returncode == 2 and words in done.stderr.decode()
        assert dump(empty, "Dog") == []

    def test_files_that_are_not_there_or_tell_no_format(self, empty: Path, tmp_path: Path) -> None:
        assert "can't read" in refused("import", empty, "Dog", tmp_path / "none.csv")
        assert "can't write" in refused("export", empty, "Dog", tmp_path / "no" / "x.csv")
        assert "no class 'Cow'" in refused("import", empty, "Cow", "-", given="")
        assert "No such file" in refused("import", tmp_path / "none.realm", "Dog", "-", given="name\n")
        assert not (tmp_path / "none.realm").exists()
        for command in ("import", "export"):
            assert run(command, empty, "Dog", tmp_path / "x.doc").returncode == 64

    def test_what_is_imported_is_told_apart(self, empty: Path, tmp_path: Path) -> None:
        old, rows, other = tmp_path / "old.realm", tmp_path / "rows.csv", tmp_path / "new.realm"
        sample = REPOSITORY / "Tests" / "Fixtures" / "realm-core" / "migrated.realm.gz"
        old.write_bytes(gzip.decompress(sample.read_bytes()))
        rows.write_text("name\nRex\n")
        before = {path: path.read_bytes() for path in (old, empty)}
        assert "'realm import FILE CLASS DATA'" in refused("import", empty, other)
        assert f"come into a class: 'realm import FILE CLASS {rows}'" in refused("import", rows, other)
        assert "is a realm file, not rows" in refused("import", empty, "Dog", empty, "--format", "csv")
        assert f"'realm import {old} NEW' imports it" in refused("import", empty, "Dog", old, "--format", "jsonl")
        assert f"'realm import {old} NEW' imports it" in refused("import", empty, "Dog", old)
        assert f"'realm import {old} NEW' makes a file" in refused("import", old, "Dog", rows)
        for arguments, words in (((old, other, "--upsert"), "--upsert is for rows"),
                                 ((old, other, "--format", "csv"), "--format is for rows"),
                                 ((old, other, "--dry-run"), "--dry-run is for rows"),
                                 ((old, other, "--object-keys"), "--object-keys is for rows"),
                                 ((old, other, "--ignore-unknown"), "--ignore-unknown is for rows"),
                                 ((empty, "Dog", rows, "--even-in-use"), "--even-in-use is for files"),
                                 ((empty, "Dog", rows, "--new-key-file", rows), "--new-key-file is for files"),
                                 ((empty,), "Missing expected argument")):
            done = run("import", *arguments)
            assert (done.returncode, done.stdout) == (64, "") and words in done.stderr, done
        assert not other.exists() and before == {path: path.read_bytes() for path in before}
        # A name that says nothing, and one that says something else than the content.
        odd = tmp_path / "odd.csv"
        odd.write_bytes(before[old])
        assert "everything came along" in said("import", odd, other)
        assert json.loads(said("import", empty, "Dog", rows, "--json")) == {
            "file": str(empty), "class": "Dog", "objects": 1, "dry_run": False}
        # Its name of before.
        assert said("import-data", empty, "Dog", rows, "--upsert") == "1 object of Dog\n"
        assert len(dump(empty, "Dog")) == 1

    def test_rows_come_from_a_pipe(self, empty: Path, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe.csv"
        os.mkfifo(pipe)
        running = subprocess.Popen([TOOL, "import", empty, "Dog", pipe], stdout=subprocess.PIPE, text=True)
        pipe.write_text("name\n" + "".join(f"{number}\n" for number in range(40)))
        assert running.communicate(timeout=60)[0] == "40 objects of Dog\n"

    def test_an_encrypted_file(self, full: Path, tmp_path: Path) -> None:
        key, sealed = tmp_path / "key", tmp_path / "sealed.realm"
        key.write_bytes(os.urandom(64))
        said("copy", full, sealed, "--new-key-file", key)
        done = subprocess.run([TOOL, "import", sealed, "Dog", "-", "--key-file", key], text=True,
                              input="name\nRex\n", capture_output=True)
        assert done.stdout == "1 object of Dog\n"
        assert said("count", sealed, "Dog", "--key-file", key) == "4\n"
        assert "name\n" in said("export", sealed, "Dog", "--key-file", key)
        assert refused("import", sealed, "Dog", "-", given="name\nA\n")


class TestEdit:
    def test_statements_are_one_transaction(self, file: Path) -> None:
        assert said("edit", file, 'create Dog {"name": "Rex"}', 'set Person 1 {"age": 37, "dog": "Rex"}',
                    'upsert Person {"id": 2, "name": "Bo", "room": {"number": 5}}', "delete Person -4",
                    'set Note #1 {"text": "y"}', "delete Note where text == 'hello'",
                    'delete Dog "\\"quoted\\""') == (
            'created Dog Rex\nset Person 1\nset Person 2\ndeleted Person -4\nset Note #1\n'
            'deleted 1 object of Note\ndeleted Dog "quoted"\n')
        with realm.open(file, CLASSES) as r:
            assert r.find(tool_models.Person, 1).dog.name == "Rex" and r.find(tool_models.Person, -4) is None
            assert r.find(tool_models.Person, 2).room.number == 5
            assert [n.text for n in r.objects(tool_models.Note)] == ["y"] and r.check() == []

    def test_keys_in_quotes(self, file: Path) -> None:
        for name in ("two words", '"\u0301', "#1", "tab\t", "where"):
            quoted = json.dumps(name)
            assert said("edit", file, f'create Dog {{"name": {quoted}}}', f"delete Dog {quoted}").count("\n") == 2

    @pytest.mark.parametrize("closed", [">&-", "<&- >&-", "<&- 2>&-"])
    def test_what_is_printed_never_goes_into_the_file(self, file: Path, closed: str) -> None:
        before = int(said("count", file, "Dog"))
        given = " ".join(f"'create Dog {{\"name\":\"n{i}\"}}'" for i in range(500))
        done = subprocess.run(["/bin/bash", "-c", f"'{TOOL}' edit '{file}' {given} {closed}"], capture_output=True)
        fails = ">&-" in closed.replace("2>&-", "")
        assert done.returncode == (2 if fails else 0)
        assert file.read_bytes()[:8] == b"RealmSwF"
        assert said("check", file) and int(said("count", file, "Dog")) == before + (0 if fails else 500)

    def test_what_can_not_be_said_is_not_done(self, file: Path) -> None:
        before = int(said("count", file, "Dog"))
        for arguments in (["edit", file, 'create Dog {"name":"new"}'], ["import", file, "Dog", "-", "--format", "jsonl"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([TOOL, *arguments], stdout=full, stderr=subprocess.PIPE, input=b'{"name":"new"}')
            assert done.returncode == 2 and b"can't write standard output" in done.stderr
            assert int(said("count", file, "Dog")) == before

    def test_others_write_while_statements_are_being_typed(self, file: Path) -> None:
        with subprocess.Popen([TOOL, "edit", file], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as typed:
            assert typed.stdin
            typed.stdin.write(b'create Dog {"name": "late"}\n')
            typed.stdin.flush()
            for n in range(20):
                subprocess.run([TOOL, "edit", file, f'create Dog {{"name": "n{n}"}}'], check=True, timeout=20,
                               stdout=subprocess.DEVNULL)
            assert typed.communicate(timeout=20)[0] == b"created Dog late\n"

    def test_from_standard_input(self, file: Path) -> None:
        done = subprocess.run([TOOL, "edit", file], text=True, capture_output=True,
                              input='# pets\n\ncreate Dog {"name": "A"}\n  create Dog {"name": "B"}')
        assert done.stdout == "created Dog A\ncreated Dog B\n" and len(dump(file, "Dog")) == 5

    def test_a_dry_run_changes_nothing(self, file: Path) -> None:
        before = dump(file, "Dog")
        assert said("edit", file, 'create Dog {"name": "A"}', "--dry-run") == "created Dog A\n"
        assert dump(file, "Dog") == before

    @pytest.mark.parametrize(
        ("statement", "words"),
        [
            ("paint Dog red", "a statement begins with create, delete, set, upsert"),
            ("create", "a class is missing: create CLASS JSON"),
            ("create Dog", "a JSON object is missing"),
            ("create Cow {}", "no class 'Cow'"),
            ('create Dog {"name": 1}', "takes string"),
            ('create Dog {"name": "\\"quoted\\""}', "already"),
            ('create "Dog {}', "a quote that nothing closes"),
            ("set Person", "a key is missing: set CLASS KEY JSON"),
            ('set Person 77 {"age": 1}', "no object '77'"),
            ('set Person x {"age": 1}', "'x' is no primary key"),
            ('set Person 1 {"id": 5}', "identifies the object"),
            ('set Note 9 {"text": "x"}', "no object '9'"),
            ("delete Person 1 2", "more behind the key: 2"),
            ("delete Person", "a key is missing"),
            ("delete Person where nme == 1", "no property 'nme'"),
        ],
    )
    def test_mistakes_leave_everything_as_it_was(self, file: Path, statement: str, words: str) -> None:
        before = [dump(file, cls) for cls in ("Dog", "Person", "Note")]
        problem = refused("edit", file, "delete Person 2", statement)
        assert problem.startswith(f"realm: {file}: statement 2: ") and words in problem
        assert [dump(file, cls) for cls in ("Dog", "Person", "Note")] == before

    def test_of_a_file_that_can_not_be_written(self, file: Path, tmp_path: Path) -> None:
        assert "No such file" in refused("edit", tmp_path / "none", 'create Dog {"name": "A"}')
        foreign = tmp_path / "foreign"
        foreign.write_text("something else\n" * 1000)
        assert "not a realm" in refused("edit", foreign, 'create Dog {"name": "A"}')


class TestCopyAndCompact:
    def test_a_copy_has_the_same_objects(self, file: Path, tmp_path: Path) -> None:
        copy = tmp_path / "copy.realm"
        with realm.open(file) as r:
            # Beside a program that has it open.
            assert said("copy", file, copy).startswith(f"{copy}: ")
            assert len(r.classes) == 4
        for cls in ("Dog", "Person", "Note"):
            assert dump(copy, cls) == dump(file, cls)
        assert "the file exists" in refused("copy", file, copy)

    def test_copies_are_encrypted_as_told(self, file: Path, tmp_path: Path) -> None:
        key, sealed, again, plain = (tmp_path / name for name in ("key", "sealed", "again", "plain"))
        key.write_bytes(os.urandom(64))
        said("copy", file, sealed, "--new-key-file", key)
        said("copy", sealed, again, "--key-file", key)
        said("copy", again, plain, "--key-file", key, "--decrypt")
        assert dump(again, "Dog", encryption_key=key.read_bytes()) == dump(plain, "Dog") == dump(file, "Dog")
        assert refused("copy", again, tmp_path / "other")
        assert run("copy", file, tmp_path / "x", "--decrypt", "--new-key-file", key).returncode == 64

    def test_compacting_gives_back_what_is_free(self, file: Path) -> None:
        with realm.open(file, CLASSES) as r:
            with r.write():
                r.insert_many(tool_models.Dog, {"name": [f"{n} {'x' * 100}" for n in range(5000)]})
            with r.write():
                r.delete(r.objects(tool_models.Dog).filter("name CONTAINS 'xx'"))
            full = file.stat().st_size
            refusal = refused("compact", file)
            assert "another program reads or writes the file" in refusal
        before = file.stat().st_size
        answer = json.loads(said("compact", "--json", file))
        # Beside the reader the free end went; what is free before it goes now.
        assert answer["bytes_before"] == before <= full
        assert answer["bytes"] == file.stat().st_size <= before and file.stat().st_size < full
        assert len(dump(file, "Dog")) == 3
