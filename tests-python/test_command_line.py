"""The tool `realm` (build/bin/realm): what it says of sound, damaged and foreign files, and how it ends."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest
from conftest import REPOSITORY, fill_airports

import models
import realm

TOOL = Path(os.environ.get("REALM_TOOL", REPOSITORY / "build" / "bin" / "realm"))


def run(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(TOOL), *map(str, arguments)], capture_output=True, text=True, timeout=60, cwd=cwd
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A closed file with three countries and eight airports."""
    path = tmp_path / "airports.realm"
    with realm.open(path, classes=models.ALL) as r:
        fill_airports(r)
    return path


def test_check_says_that_a_sound_file_is_sound(file: Path) -> None:
    done = run("check", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{file}: sound; version ")
    assert "11 objects" in done.stdout


def test_a_message_names_its_file_once(tmp_path: Path) -> None:
    (tmp_path / "foreign.realm").write_bytes(b"something else\n" * 1000)
    for name in ("foreign.realm", "./foreign.realm", tmp_path / "foreign.realm"):
        done = run("count", name, "Airport", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (2, f"realm: {name}: not a realm file\n")


def test_check_as_json_has_the_same_in_fields(file: Path) -> None:
    done = run("check", "--json", file)
    answer = json.loads(done.stdout)
    assert done.returncode == 0
    assert (answer["sound"], answer["faults"], answer["objects"]) == (True, [], 11)
    assert answer["file_bytes"] == file.stat().st_size


def test_quiet_check_tells_by_its_status_alone(file: Path) -> None:
    done = run("check", "--quiet", file)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_check_works_while_a_program_writes(file: Path) -> None:
    with realm.open(file, classes=models.ALL) as r, r.write():
        r.create(models.Country, code="SE", name="Sweden")
        assert run("check", file).returncode == 0


def test_check_leaves_the_file_as_it_is(file: Path) -> None:
    before = file.read_bytes()
    run("check", file)
    run("stats", file)
    assert file.read_bytes() == before


def test_every_flipped_page_in_use_is_found_and_named(file: Path) -> None:
    original = file.read_bytes()
    found = 0
    for page in range(2, len(original) // 4096):
        damaged = bytearray(original)
        damaged[page * 4096 + 8] ^= 0x10
        file.write_bytes(damaged)
        done = run("check", file)
        assert done.returncode in (0, 1, 2), done.stderr
        if done.returncode == 0:
            continue  # A page that is free, or that only older versions used.
        found += 1
        assert f"page {page}" in done.stdout or "no valid" in done.stdout, done.stdout
    assert found > 0


def test_what_is_no_realm_is_refused_with_status_1(tmp_path: Path) -> None:
    text = tmp_path / "text.realm"
    text.write_text("not a database\n" * 1000)
    done = run("check", text)
    assert done.returncode == 1
    assert "not a realm" in done.stdout
    empty = tmp_path / "empty.realm"
    empty.touch()
    assert run("check", empty).returncode == 1
    assert empty.stat().st_size == 0, "an empty file must stay empty"


@pytest.mark.parametrize("command", ["check", "stats"])
def test_a_missing_file_is_status_2_and_is_not_created(command: str, tmp_path: Path) -> None:
    missing = tmp_path / "missing.realm"
    done = run(command, missing)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"realm: {missing}: No such file or directory\n"
    assert list(tmp_path.iterdir()) == []


def test_a_directory_is_status_2(tmp_path: Path) -> None:
    done = run("stats", tmp_path)
    assert done.returncode == 2
    assert str(tmp_path) in done.stderr


def test_errors_as_json_have_code_and_message(tmp_path: Path) -> None:
    done = run("stats", "--json", tmp_path / "missing.realm")
    answer = json.loads(done.stdout)
    assert done.returncode == 2
    assert answer["error"] == "No such file or directory"
    assert answer["code"] == realm.ErrorCode.FILE_NOT_FOUND


def test_stats_count_objects_and_bytes_of_each_class(file: Path) -> None:
    answer = json.loads(run("stats", "--json", file).stdout)
    classes = {entry["name"]: entry for entry in answer["classes"]}
    assert classes["Airport"]["objects"] == 8
    assert classes["Country"]["objects"] == 3
    assert classes["Airport"]["primary_key"] == "icao"
    assert classes["Airport"]["row_bytes"] > 0
    backlinks = [i for i in classes["Airport"]["indexes"] if i["backlinks"]]
    assert [(i["property"], i["entries"]) for i in backlinks] == [("country", 6)]
    assert answer["file_bytes"] == file.stat().st_size
    assert answer["live_versions"] == 1


def test_stats_as_text_line_up_in_columns(file: Path) -> None:
    lines = run("stats", file).stdout.splitlines()
    titles = next(line for line in lines if line.startswith("class "))
    row = next(line for line in lines if line.startswith("Airport "))
    assert titles.index("primary key") == row.index("icao")
    assert not any(line.endswith(" ") for line in lines)


def test_stats_count_the_versions_that_readers_hold(file: Path) -> None:
    with realm.open(file, classes=models.ALL) as reader:
        assert len(reader.objects(models.Country)) == 3
        with realm.open(file, classes=models.ALL) as writer, writer.write():
            writer.create(models.Country, code="SE", name="Sweden")
        answer = json.loads(run("stats", "--json", file).stdout)
        assert answer["live_versions"] == 2
        assert answer["pending_bytes"] > 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_status_2(file: Path) -> None:
    file.chmod(0)
    try:
        assert run("check", file).returncode == 2
    finally:
        file.chmod(stat.S_IRUSR | stat.S_IWUSR)


def test_unusable_arguments_are_status_64() -> None:
    assert run("check").returncode == 64
    assert run("frobnicate").returncode == 64
    assert run("check", "--frobnicate", "x").returncode == 64


def test_help_names_the_commands() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert all(command in done.stdout for command in ("check", "stats", "migrate"))


# -- keys ---------------------------------------------------------------------------------------------


def key_file(folder: Path, name: str) -> tuple[bytes, Path]:
    key = os.urandom(64)
    (folder / name).write_bytes(key)
    return key, folder / name


def count(file: Path, key: bytes | None) -> int:
    with realm.open(file, classes=models.ALL, encryption_key=key) as r:
        return len(r.objects(models.Airport))


def test_a_file_is_encrypted_gets_another_key_and_is_decrypted(file: Path, tmp_path: Path) -> None:
    (one, one_file), (two, two_file) = key_file(tmp_path, "one"), key_file(tmp_path, "two")
    done = run("encrypt", file, "--new-key-file", one_file)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{file}: encrypted\n", "")
    assert b"Airport" not in file.read_bytes()
    assert count(file, one) == 8
    done = run("rekey", file, "--key-file", one_file, "--new-key-file", two_file, "--json")
    assert (done.returncode, json.loads(done.stdout)) == (
        0, {"file": str(file), "encrypted": True})
    with pytest.raises(realm.Error):
        count(file, one)
    assert count(file, two) == 8
    done = run("decrypt", file, "--key-file", two_file)
    assert (done.returncode, done.stdout) == (0, f"{file}: no longer encrypted\n")
    assert count(file, None) == 8
    assert run("check", file).returncode == 0
    assert not list(tmp_path.glob("*.rekeying*"))


def test_a_key_is_not_changed_by_half(file: Path, tmp_path: Path) -> None:
    (one, one_file), (_, two_file) = key_file(tmp_path, "one"), key_file(tmp_path, "two")
    before = file.read_bytes()
    short = tmp_path / "short"
    short.write_bytes(b"x" * 63)
    for arguments, status, message in [
        (("encrypt", file), 64, "--new-key-file"),
        (("encrypt", file, "--new-key-file", short), 2, "64 bytes"),
        (("encrypt", file, "--key-file", one_file, "--new-key-file", two_file), 64, "no key"),
        (("decrypt", file), 64, "--key-file"),
        (("decrypt", file, "--key-file", one_file), 2, "not encrypted"),
        (("rekey", file, "--new-key-file", one_file), 64, "--key-file"),
        (("rekey", file, "--key-file", one_file, "--new-key-file", two_file), 2, "not encrypted"),
        (("encrypt", tmp_path / "none.realm", "--new-key-file", one_file), 2, "none.realm"),
    ]:
        done = run(*arguments)
        assert (done.returncode, done.stdout) == (status, "") and message in done.stderr, arguments
    with realm.open(file, classes=models.ALL):
        done = run("encrypt", file, "--new-key-file", one_file)
        assert done.returncode == 2 and "open" in done.stderr
    assert file.read_bytes() == before
    assert run("encrypt", file, "--new-key-file", one_file).returncode == 0
    done = run("encrypt", file, "--new-key-file", two_file)
    assert done.returncode == 2 and "no key was given" in done.stderr
    done = run("rekey", file, "--key-file", two_file, "--new-key-file", one_file)
    assert done.returncode == 2 and "another key" in done.stderr
    assert count(file, one) == 8
