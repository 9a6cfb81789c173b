"""The command `realm import`: what it says, and files with many objects, as Benchmarks/old-file writes them, which are filled in
bulk, or object by object where an object can't be had."""

from __future__ import annotations

import fcntl
import gzip
import importlib.machinery
import importlib.util
import json
import os
import pty
import random
import re
import struct
import subprocess
from pathlib import Path
from types import ModuleType

import pytest
from conftest import REPOSITORY
from test_command_line import TOOL, run
from test_tool_queries import said

import realm

OBJECTS = 65_536


class Item(realm.Object):
    numbers: list[int]
    friends: list[Item]
    linking = realm.Backlinks("Item", "friends")


@pytest.fixture(scope="module")
def writer() -> ModuleType:
    path = str(REPOSITORY / "Benchmarks" / "old-file")
    loader = importlib.machinery.SourceFileLoader("old_file", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("old_file", loader))
    loader.exec_module(module)
    return module


def imported(old: Path, new: Path, *arguments: object, status: int = 0) -> dict:
    done = run("import", old, new, "--json", *arguments)
    assert done.returncode == status, done
    assert run("check", new, *arguments).returncode == 0
    assert {path.name for path in new.parent.iterdir()} <= {old.name, new.name, new.name + ".lock"}
    return json.loads(done.stdout)


def integers(node: bytes) -> list[int]:
    """The integers of a node; its header tells their width and number."""
    count = int.from_bytes(node[5:8], "big")
    kind = {0: "", 4: "b", 5: "h", 6: "i", 7: "q"}[node[4] & 7]
    return list(struct.unpack_from(f"<{count}{kind}", node, 8)) if kind else [0] * count


def test_lists_of_links_to_earlier_and_later_objects(writer: ModuleType, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new.realm"
    writer.write("lists", 0, str(old))
    report = imported(old, new)
    assert report["classes"] == [{"name": "Item", "embedded": False, "objects": OBJECTS}]
    columns = {name: leaves for name, _, _, _, leaves in writer.columns_of("lists", random.Random(19))}
    for first in (0, 30_000, 59_900, 65_000):
        for key in range(first, first + 300, 37):
            leaf, place = key // 256 % 64, key % 256
            found = json.loads(said("get", new, "Item", key, "--format", "json"))
            assert found["numbers"] == integers(columns["numbers"][leaf].parts[place])
            assert [link["$link"]["key"] for link in found["friends"]] == integers(
                columns["friends"][leaf].parts[place])
    # Links are known from where they lead to, too: 10 of each object.
    links = said("query", new, "Item", "@links.@count > 0", "--format", "csv", "--columns", "numbers")
    assert links.count("\n") > 30_000


def replaced(old: Path, first: bytes, *others: bytes) -> None:
    """Writes other bytes over the first copies of these, from the start of the file on."""
    data = bytearray(old.read_bytes())
    place = 0
    for other in others:
        assert len(other) == len(first)
        place = data.index(first, place)
        data[place:place + len(other)] = other
        place += len(other)
    old.write_bytes(data)


def test_links_to_objects_themselves_and_several_to_one(writer: ModuleType, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new.realm"
    writer.write("lists", 0, str(old))
    friends = dict((name, leaves) for name, _, _, _, leaves in writer.columns_of("lists", random.Random(19)))["friends"]
    leaf = friends[0]
    place = next(place for place, part in enumerate(leaf.parts) if part[4] & 7 == 6)
    links = [place, place, 65_535, 40, 65_535, 65_535, 3, place, 40, 0]
    # Object `place` and, of the 64 clusters that differ, the same one of the next round.
    replaced(old, leaf.parts[place], writer.integers(links), writer.integers([*links[:9], 65_000]))
    assert imported(old, new)["whole"]

    second = place + 64 * 256
    with realm.open(new, Item) as r:
        assert r.check() == []
        every = [[integers(friends[key // 256 % 64].parts[key % 256])] for key in range(OBJECTS)]
        every[place], every[second] = [links], [[*links[:9], 65_000]]
        sources: dict[int, list[int]] = {}
        for key, (targets,) in enumerate(every):
            for target in targets:
                sources.setdefault(target, []).append(key)
        objects = r.objects(Item)
        assert len(objects) == OBJECTS
        keys = {key: item._realm_key for key, item in ((key, objects[key]) for key in (place, second, 40, 65_535))}
        assert keys == {key: key for key in keys}
        assert [item._realm_key for item in objects[place].friends] == links
        for target in (place, second, 40, 0, 65_535, 65_000, *range(0, 60_000, 977)):
            assert sorted(item._realm_key for item in objects[target].linking) == sources.get(target, []), target


def test_long_lists_of_links_among_objects(writer: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too long to stand in their objects; those beyond a thousand are trees in the old file, and not written here."""
    chance = random.Random(4)
    leaves = [[[chance.randrange(OBJECTS) for _ in range(900)] if place in (0, 7) else [] for place in range(256)]
              for _ in range(64)]
    monkeypatch.setattr(writer, "columns_of", lambda shape, random_: [
        ("friends", writer.LINK, writer.LIST, False, [writer.lists(values) for values in leaves])])
    old, new = tmp_path / "old", tmp_path / "new.realm"
    writer.write("lists", 0, str(old))
    assert imported(old, new)["whole"]
    counts: dict[int, int] = {}
    for leaf in leaves:
        for target in (*leaf[0], *leaf[7]):
            counts[target] = counts.get(target, 0) + 4
    with realm.open(new) as r:
        objects = r.objects("Item")
        for key in (0, 7, 256, 65_280, 65_287, 8):
            assert [item._realm_key for item in objects[key].friends] == leaves[key // 256 % 64][key % 256]
        linked = r.objects("Item").filter("@links.@count > 10")
        assert len(linked) == sum(count > 10 for count in counts.values()) > 0


def test_a_link_to_what_there_is_not_is_left_out(writer: ModuleType, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new.realm"
    writer.write("lists", 0, str(old))
    friends = dict((name, leaves) for name, _, _, _, leaves in writer.columns_of("lists", random.Random(19)))["friends"]
    place = next(place for place, part in enumerate(friends[0].parts) if part[4] & 7 == 6)
    links = [50_000, 70_000, 65_535, 40, 5, 6, 7, 8, 9, 10]
    replaced(old, friends[0].parts[place], writer.integers(links))
    report = imported(old, new, status=1)
    assert report["losses"] == ["a link to object 70000 of 'class_Item', which there is not"]
    found = json.loads(said("get", new, "Item", place, "--format", "json"))
    assert [link["$link"]["key"] for link in found["friends"]] == [50_000, *links[2:]]
    assert said("count", new, "Item") == f"{OBJECTS}\n"


def test_links_to_single_objects(writer: ModuleType, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new.realm"
    writer.write("people", 0, str(old))
    key = tmp_path / "key"
    key.write_bytes(bytes(range(64)))
    assert run("import", old, new, "--new-key-file", key).returncode == 0
    assert run("check", new, "--key-file", key).returncode == 0
    columns = {name: leaves for name, _, _, _, leaves in writer.columns_of("people", random.Random(19))}
    for number in (0, 999, 60_001, 65_535):
        leaf, place = number // 256 % 64, number % 256
        found = json.loads(said("get", new, "Item", number, "--format", "json", "--key-file", key))
        link = integers(columns["friend"][leaf].parts[0])[place] - 1
        assert found["friend"]["$link"]["key"] == link
        assert found["age"] == integers(columns["age"][leaf].parts[0])[place]


def test_a_second_object_with_a_primary_key_is_left_out(writer: ModuleType, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new.realm"
    writer.write("keys", 0, str(old))
    name = [b"%032d" % (key * 2654435761 % (1 << 64)) for key in (5, 40_000)]
    data = old.read_bytes()
    assert data.count(name[1]) == 1
    old.write_bytes(data.replace(name[1], name[0]))
    report = imported(old, new, status=1)
    assert report["loss_count"] == 1 and report["losses"][0].startswith("class 'Item', object 40000: ")
    assert said("count", new, "Item") == f"{OBJECTS - 1}\n"
    assert said("count", new, "Item", f"id == '{name[0].decode()}'") == "1\n"


SAMPLES = REPOSITORY / "Tests" / "Fixtures" / "realm-core"


def unpacked(name: str, folder: Path) -> Path:
    path = folder / f"{name}.old"
    path.write_bytes(gzip.decompress((SAMPLES / f"{name}.realm.gz").read_bytes()))
    return path


@pytest.mark.parametrize(("history", "note"), [(0, False), (2, False), (3, True), (4, True)])
def test_what_a_synchronisation_left_is_named(writer: ModuleType, tmp_path: Path, history: int, note: bool) -> None:
    old, new = tmp_path / "old", tmp_path / "new.realm"
    writer.write("numbers", 0, str(old))
    data = old.read_bytes()
    assert data.count(b"class_Item") == 1
    data = bytearray(data.replace(b"class_Item", b"sync_\x1b[31m"))
    # Another top of the file behind the first, with the kind of its history.
    top = struct.unpack_from("<q", data)[0]
    names, tables, _ = struct.unpack_from("<3q", data, top + 8)
    place = len(data)
    end = place + 8 + 10 * 8
    data += writer.node(0x47, 10, struct.pack("<10q", names, tables, end << 1 | 1, 0, 0, 0, 3, history << 1 | 1, 0, 1))
    data[:8] = struct.pack("<q", place)
    old.write_bytes(data)
    report = imported(old, new)
    expected = ["the history of its synchronisation stays behind"] if note else []
    assert report["notes"] == [*expected, "tables of the library itself stay behind: 'sync_\x1b[31m'"]
    assert (report["classes"], report["whole"]) == ([], True)
    new.unlink()
    # Not as the terminal would take it.
    assert "stay behind: 'sync_\\u001b[31m'\n" in said("import", old, new)


def test_the_command_reports_by_class(tmp_path: Path) -> None:
    old, key = unpacked("encrypted", tmp_path), tmp_path / "key"
    key.write_bytes(bytes(range(64)))
    done = run("import", old, tmp_path / "new.realm", "--key-file", key)
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert lines[0] == f"{old}: format 24 of realm-core, schema version 1"
    assert ["Log", "272"] in [line.split() for line in lines]
    assert lines[-1] == f"{tmp_path / 'new.realm'}: everything came along"


def test_a_bar_shows_how_far_it_is(tmp_path: Path) -> None:
    ours, its = pty.openpty()
    done = subprocess.Popen([str(TOOL), "import", unpacked("deep", tmp_path), tmp_path / "new.realm"],
                            stdout=subprocess.DEVNULL, stderr=its)
    os.close(its)
    text = b""
    while True:
        try:
            text += os.read(ours, 65536)
        except OSError:
            break
    os.close(ours)
    assert done.wait(60) == 0
    shares = [int(share) for share in re.findall(rb"\[[#.]{30}\] (\d+) %", text)]
    assert len(shares) > 3 and shares == sorted(shares) and shares[-1] == 100
    # It goes in the end.
    assert text.endswith(b"\r\x1b[K")


def test_the_command_says_what_is_wrong_with_a_file(tmp_path: Path) -> None:
    key, new = tmp_path / "key", tmp_path / "new.realm"
    key.write_bytes(bytes(64))
    sealed, plain = unpacked("encrypted", tmp_path), unpacked("migrated", tmp_path)
    foreign = tmp_path / "foreign"
    foreign.write_bytes(b"nothing of realm-core" * 10)
    cut = tmp_path / "cut"
    cut.write_bytes(plain.read_bytes()[:4096])
    lock = plain.with_name(plain.name + ".lock")
    lock.write_bytes(b"")
    for arguments, problem in (
            ((sealed, new), "with its key only"),
            ((sealed, new, "--key-file", key), "another key"),
            ((plain, new, "--key-file", key), "is not encrypted"),
            ((foreign, new), "not a file of realm-core"),
            ((cut, new), "truncated"),
            ((tmp_path / "none", new), "No such file"),
            ((plain, plain), "exists")):
        done = run("import", *arguments)
        assert (done.returncode, done.stdout) == (2, "") and problem in done.stderr, done
    with lock.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        done = run("import", plain, new)
        assert done.returncode == 2 and "has the file open" in done.stderr
        assert run("import", plain, new, "--even-in-use").returncode == 0
    assert lock.read_bytes() == b""
