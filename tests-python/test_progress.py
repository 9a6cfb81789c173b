"""`progress=True`: bars of tqdm for long work."""

from __future__ import annotations

import gzip

import pytest
import tqdm.auto
from conftest import REPOSITORY

import realm


class Row(realm.Object):
    id: int = realm.PrimaryKey()


@pytest.fixture
def bars(monkeypatch):
    """What bars were told, and whether they were closed."""
    seen = []

    class Bar:
        def __init__(self, **options):
            self.options, self.n, self.is_closed = options, 0, False
            seen.append(self)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.close()

        def update(self, more):
            assert not self.is_closed
            self.n += more

        def close(self):
            self.is_closed = True

    monkeypatch.setattr(tqdm.auto, "tqdm", Bar)
    yield seen
    assert all(bar.is_closed for bar in seen)


@pytest.mark.parametrize("data", [
    {"id": range(100_000)}, [{"id": number} for number in range(10_000)],
])
def test_objects_that_are_inserted(path, bars, data):
    with realm.open(path, Row) as r, r.write():
        count = r.insert_many(Row, data, progress=True)
    bar, = bars
    assert (bar.n, bar.options["total"]) == (count, count)


def test_migrations(path, bars):
    with realm.open(path, Row, progress=True) as r, r.write():
        r.insert_many(Row, {"id": range(5000)})

    class More(realm.Object, stored_name="Row"):
        id: int = realm.PrimaryKey()
        text: str = "new"

    realm.open(path, More, version=1, progress=True).close()
    assert bars and bars[-1].n == 100

    def give_up(old, new):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        realm.open(path, Row, version=2, migrate=give_up, progress=True)


def test_imports(tmp_path, bars):
    old = tmp_path / "old.realm"
    samples = REPOSITORY / "Tests" / "Fixtures" / "realm-core"
    old.write_bytes(gzip.decompress((samples / "migrated.realm.gz").read_bytes()))
    realm.import_realm_core(old, tmp_path / "new.realm", progress=True)
    assert bars and bars[-1].n == 100


def test_what_is_no_progress(path):
    with realm.open(path, Row) as r, r.write():
        for wrong in (3, "yes"):
            with pytest.raises(TypeError, match="a function or True"):
                r.insert_many(Row, {"id": [1]}, progress=wrong)
