"""Files of realm-core become files of ours: realm.import_realm_core."""

from __future__ import annotations

import fcntl
import gzip
import json
import lzma
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
import realm

SAMPLES = Path(__file__).resolve().parent.parent / "Tests" / "Fixtures" / "realm-core"
KEY = bytes(range(64))
OTHER = bytes(64)


@pytest.fixture
def sample(tmp_path: Path):
    def unpack(name: str) -> Path:
        path = tmp_path / f"{name}.old"
        path.write_bytes(gzip.decompress((SAMPLES / f"{name}.realm.gz").read_bytes()))
        return path

    return unpack


def counts(name: str) -> dict[str, int]:
    """The objects of each class, as the old library found them."""
    lines = gzip.decompress((SAMPLES / f"{name}.jsonl.gz").read_bytes()).decode().splitlines()
    tables = (json.loads(line) for line in lines)
    return {
        table["name"].removeprefix("class_"): table["count"]
        for table in tables
        if table["kind"] == "table" and table["name"].startswith("class_") and table["type"] == "top"
    }


@pytest.mark.parametrize(
    "name", ["alltypes", "holes", "format9", "format20_core", "format24_core", "encrypted", "empty"]
)
def test_all_objects_of_an_old_file_arrive(sample, tmp_path: Path, name: str) -> None:
    old = sample(name)
    before = old.read_bytes()
    report = realm.import_realm_core(
        old, tmp_path / "new.realm", key=KEY if name == "encrypted" else None
    )
    assert report.whole and report.losses == ()
    assert {c.name: c.objects for c in report.classes if not c.embedded} == counts(name)
    assert old.read_bytes() == before
    with realm.open(tmp_path / "new.realm") as r:
        for item in report.classes:
            if not item.embedded:
                assert len(r.objects(item.name)) == item.objects


def test_values_keys_and_the_schema_version_arrive(sample, tmp_path: Path) -> None:
    report = realm.import_realm_core(
        sample("encrypted"), tmp_path / "new.realm", key=KEY, new_key=OTHER
    )
    assert report.format == 24 and report.schema_version == 1
    with pytest.raises(realm.InvalidDatabaseError):
        realm.open(tmp_path / "new.realm")
    with realm.open(tmp_path / "new.realm", encryption_key=OTHER) as r:
        assert r.schema_version == 1
        first = r.objects("Log")[0]
        assert first.n == 0 and first.s == "commit 0.0.0"


# A machine on which its OpenSSL has no AES-256-CBC and no SHA-224.
STRICT_MACHINE = """\
openssl_conf = all
[all]
alg_section = algorithms
[algorithms]
default_properties = fips=yes
"""

# The first use of the cipher in a process, by several threads at once.
IN_THREADS = """\
import sys, threading
import realm
case = sys.argv[3]
def uses_openssl():
    import ssl, _hashlib
    try:
        _hashlib.new("sha224")
    except ValueError:
        assert case == "strict machine"
    else:
        assert case != "strict machine"
        ssl.create_default_context()
if case == "ssl":
    uses_openssl()
def run(number):
    key = bytes(range(64))
    report = realm.import_realm_core(sys.argv[1], f"{sys.argv[2]}/{number}.realm", key=key)
    wholes.append(report.whole)
wholes = []
threads = [threading.Thread(target=run, args=(number,)) for number in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert wholes == [True] * 3, wholes
if case != "no OpenSSL":
    uses_openssl()
"""


def test_trees_of_two_levels_arrive(sample, tmp_path: Path) -> None:
    """66,100 objects and a list of 1,001,050 elements, against the listing of the old library."""
    lines = gzip.decompress((SAMPLES / "deep.jsonl.gz").read_bytes()).decode().splitlines()
    told = [json.loads(line) for line in lines]
    assert realm.import_realm_core(sample("deep"), tmp_path / "new.realm").whole

    def shown(value: object) -> object:
        match value:
            case bool():
                return ["b", value]
            case int():
                return ["i", str(value)]
            case str():
                return ["s", value]
            case realm.Object():
                return ["l", f"class_{type(value).__name__}", realm.reference(value).key]
        return None

    with realm.open(tmp_path / "new.realm") as r:
        keys = {item["key"] for item in told if item["kind"] == "object" and item["table"] == "class_Small"}
        assert {realm.reference(obj).key for obj in r.objects("Small")} == keys and len(keys) == 300
        for item in told:
            if item["kind"] == "object":
                obj = r.object_at(item["table"].removeprefix("class_"), item["key"])
                for name, value in item["values"].items():
                    found = getattr(obj, name)
                    match value:
                        case ["L", elements]:
                            assert [shown(element) for element in found] == elements
                        case ["L#", count, digest]:
                            parts = ",".join(json.dumps(shown(element), separators=(",", ":")) for element in found)
                            assert (len(found), sha256(parts.encode()).hexdigest()) == (count, digest)
                        case ["M", pairs]:
                            assert {key: shown(x) for key, x in found.items()} == {key[1]: x for key, x in pairs}
                        case ["E", elements]:
                            assert set(found) == {element[1] for element in elements}
                            assert len(found) == len(elements)
                        case _:
                            assert shown(found) == value
            elif item["kind"] == "digest":
                all_lines = sha256()
                objects = r.objects(item["table"].removeprefix("class_"))
                for obj in sorted(objects, key=lambda obj: realm.reference(obj).key):
                    line = {"kind": "object", "table": item["table"], "key": realm.reference(obj).key,
                            "values": {"v": shown(obj.v)}}
                    all_lines.update(json.dumps(line, separators=(",", ":")).encode() + b"\n")
                assert (len(objects), all_lines.hexdigest()) == (item["count"], item["sha256"])


def test_the_largest_values_arrive(tmp_path: Path) -> None:
    old = tmp_path / "old.realm"
    old.write_bytes(lzma.decompress((SAMPLES / "maxblob.realm.xz").read_bytes()))
    assert realm.import_realm_core(old, tmp_path / "new.realm").whole
    with realm.open(tmp_path / "new.realm") as r:
        (obj,) = r.objects("Max")
        assert obj.b == bytes(16_777_200) and obj.s == "x" * 16_777_199
    assert realm.check_file(tmp_path / "new.realm") == []


@pytest.mark.parametrize("case", ["plain", "ssl", "strict machine", "old processor", "no OpenSSL"])
def test_encrypted_files_are_read_by_several_threads_whatever_openssl_there_is(
    sample, tmp_path: Path, case: str
) -> None:
    environment = dict(os.environ)
    if case == "strict machine":
        (tmp_path / "openssl.cnf").write_text(STRICT_MACHINE)
        environment["OPENSSL_CONF"] = str(tmp_path / "openssl.cnf")
    if case == "old processor":
        # Without instructions for AES and SHA: what OpenSSL asks the processor for is masked.
        environment["OPENSSL_ia32cap"] = "~0x200000200000000:~0x20000000"
    if case == "no OpenSSL":
        (tmp_path / "libcrypto.so.3").write_text("no library")
        environment["LD_LIBRARY_PATH"] = str(tmp_path)
    result = subprocess.run(
        [sys.executable, "-c", IN_THREADS, str(sample("encrypted")), str(tmp_path), case],
        env=environment, capture_output=True, text=True, check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    for number in range(3):
        with realm.open(tmp_path / f"{number}.realm") as r:
            for name, count in counts("encrypted").items():
                assert len(r.objects(name)) == count


def test_what_is_wrong_is_told_and_nothing_is_left(sample, tmp_path: Path) -> None:
    old, new = sample("encrypted"), tmp_path / "new.realm"
    for key, message, error in ((None, "with its key only", realm.MissingKeyError),
                                (OTHER, "another key", realm.WrongKeyError)):
        with pytest.raises(error, match=message):
            realm.import_realm_core(old, new, key=key)
    with pytest.raises(realm.NotEncryptedError, match="not encrypted"):
        realm.import_realm_core(sample("migrated"), new, key=KEY)
    with pytest.raises(ValueError, match="64 bytes"):
        realm.import_realm_core(old, new, key=KEY[1:])
    new.write_bytes(b"something")
    with pytest.raises(realm.FileTakenError):
        realm.import_realm_core(old, new, key=KEY)
    assert new.read_bytes() == b"something"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "encrypted.old", "migrated.old", "new.realm",
    ]


def test_progress_is_told_and_can_end_the_import(sample, tmp_path: Path) -> None:
    old, new = sample("deep"), tmp_path / "new.realm"
    shares: list[float] = []
    realm.import_realm_core(old, new, progress=shares.append)
    assert len(shares) > 10 and shares == sorted(shares) and shares[-1] == 1
    new.unlink()
    with pytest.raises(realm.Error, match="ended"):
        realm.import_realm_core(old, new, progress=lambda share: share < 0.3)

    def fail(share: float) -> None:
        raise LookupError(share)

    with pytest.raises(LookupError):
        realm.import_realm_core(old, new, progress=fail)
    assert not new.exists()


def test_a_file_in_use_is_refused_unless_told_otherwise(sample, tmp_path: Path) -> None:
    old = sample("migrated")
    lock = old.with_name(old.name + ".lock")
    lock.write_bytes(b"")
    with lock.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        with pytest.raises(realm.Error, match="has the file open"):
            realm.import_realm_core(old, tmp_path / "new.realm")
        assert realm.import_realm_core(old, tmp_path / "new.realm", even_in_use=True).whole
