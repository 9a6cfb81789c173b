"""Files of realm-core become files of ours: realm.import_realm_core."""

from __future__ import annotations

import fcntl
import gzip
import json
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


def test_what_is_wrong_is_told_and_nothing_is_left(sample, tmp_path: Path) -> None:
    old, new = sample("encrypted"), tmp_path / "new.realm"
    for key, message in ((None, "with its key only"), (OTHER, "another key")):
        with pytest.raises(realm.InvalidDatabaseError, match=message):
            realm.import_realm_core(old, new, key=key)
    with pytest.raises(realm.InvalidDatabaseError, match="not encrypted"):
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
