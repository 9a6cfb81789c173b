"""Compaction makes a file about as long as a copy, whatever lay where, and never longer."""

from __future__ import annotations

import os
import random

import pytest

import realm

KEY = bytes(range(64))


class Blob(realm.Object):
    id: int = realm.PrimaryKey()
    data: bytes = b""


def expect_compact(r: realm.Realm, path: str, copy: str) -> None:
    """The first call makes the file as long as a copy and a twentieth, the second nothing better."""
    before = os.path.getsize(path)
    r.write_copy(copy)
    ideal = os.path.getsize(copy)
    realm.delete_files(copy)
    sizes = [before]
    for _ in range(3):
        assert r.compact()
        sizes.append(os.path.getsize(path))
    assert all(after <= size for size, after in zip(sizes, sizes[1:])), sizes
    assert sizes[1] <= ideal * 1.05 + 64 * 1024, (sizes, ideal)
    assert r.check() == []


@pytest.mark.parametrize("size,count", [(30, 200_000), (200, 60_000), (3_000, 2_000),
                                        (20_000, 400)])
@pytest.mark.parametrize("kept", ["front", "end", "middle", "scattered"])
@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
def test_what_is_left_of_large_files(path, tmp_path, size, count, kept, key):
    numbers = random.Random(size)
    with realm.open(path, [Blob], key=key) as r:
        with r.write():
            r.insert_many(Blob, {"id": list(range(count)),
                                 "data": [numbers.randbytes(size) for _ in range(count)]})
        with r.write():
            query, *arguments = {
                "front": ("id >= $0", count // 2), "end": ("id < $0", count // 2),
                "middle": ("id < $0 OR id >= $1", count // 3, count * 2 // 3),
                "scattered": ("id IN $0", numbers.sample(range(count), count // 2)),
            }[kept]
            r.delete(r.objects(Blob).filter(query, *arguments))
        left = sorted(r.objects(Blob).values("id"))
        sample = {id: r.find(Blob, id).data for id in left[:: max(1, len(left) // 100)]}
        expect_compact(r, path, str(tmp_path / "copy.realm"))
        assert sorted(r.objects(Blob).values("id")) == left
        for id, data in sample.items():
            assert r.find(Blob, id).data == data


@pytest.mark.parametrize("seed", range(4))
def test_again_and_again(path, tmp_path, seed):
    numbers = random.Random(seed)
    model: dict[int, bytes] = {}
    with realm.open(path, [Blob]) as r:
        for turn in range(12):
            for _ in range(numbers.randrange(1, 5)):
                with r.write():
                    for _ in range(numbers.choice([1, 50, 2_000])):
                        id = numbers.randrange(20_000)
                        if id in model and numbers.random() < 0.6:
                            r.delete(r.find(Blob, id))
                            del model[id]
                        else:
                            model[id] = numbers.randbytes(numbers.choice([0, 40, 900, 6_000]))
                            r.create(Blob, id=id, data=model[id], update="all")
            expect_compact(r, path, str(tmp_path / f"copy{turn}.realm"))
        assert {o.id: o.data for o in r.objects(Blob)} == model


@pytest.mark.parametrize("kept", ["front", "end", "scattered"])
@pytest.mark.parametrize("size,count", [(30, 400_000), (200, 100_000), (3_000, 12_000),
                                        (20_000, 2_000)])
def test_small_commits_give_space_back(path, tmp_path, size, count, kept):
    numbers = random.Random(size)
    with realm.open(path, [Blob]) as r:
        ids = list(range(count))
        for part in range(0, count, count // 4):
            with r.write():
                some = ids[part:part + count // 4]
                r.insert_many(Blob, {"id": some, "data": [numbers.randbytes(size) for _ in some]})
        left = {"front": ids[: count // 40], "end": ids[-(count // 40):],
                "scattered": sorted(numbers.sample(ids, count // 40))}[kept]
        gone = sorted(set(ids) - set(left), key=lambda id: numbers.random())
        for part in range(0, len(gone), 3_000):
            with r.write():
                r.delete(r.objects(Blob).filter("id IN $0", gone[part:part + 3_000]))
        copy = str(tmp_path / "copy.realm")
        r.write_copy(copy)
        ideal = os.path.getsize(copy)

        def change(times: int) -> int:
            before = written()
            for _ in range(times):
                with r.write():
                    r.find(Blob, numbers.choice(left)).data = numbers.randbytes(size)
            return (written() - before) // times

        change(500)
        assert os.path.getsize(path) <= ideal * 1.5 + 256 * 1024, ideal
        # Then nothing is moved any more: a commit writes what it changes.
        assert change(500) < 64 * 1024 + size
        assert sorted(r.objects(Blob).values("id")) == left
        assert r.check() == []


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
@pytest.mark.parametrize("large,step", [(1_000_000, 16), (200_000, 4), (300_000, 8), (2_500_000, 64)])
def test_large_values_behind_small_holes_move_to_the_front(path, tmp_path, large, step, key):
    """None of them fits into a hole: the sweep has to make room first."""
    numbers = random.Random(large)
    with realm.open(path, [Blob], key=key) as r:
        count = 1_500
        for part in range(0, count, 100):
            with r.write():
                for id in range(part, part + 100):
                    r.create(Blob, id=id, data=numbers.randbytes(20_000))
        values = {}
        for id in range(count, count + 8_000_000 // large):
            values[id] = numbers.randbytes(large)
            with r.write():
                r.create(Blob, id=id, data=values[id])
        with r.write():
            for id in range(count):
                if id % step:
                    r.delete(r.find(Blob, id))
        copy = str(tmp_path / "copy.realm")
        r.copy_to(copy, key=key)
        ideal = os.path.getsize(copy)
        assert os.path.getsize(path) > 2 * ideal
        for _ in range(3_000):
            with r.write():
                r.find(Blob, 0).data = numbers.randbytes(100)
        assert os.path.getsize(path) <= ideal * 1.5 + 256 * 1024, ideal
        before = written()
        for _ in range(500):
            with r.write():
                r.find(Blob, 0).data = numbers.randbytes(100)
        assert written() - before < 500 * 64 * 1024
        assert all(r.find(Blob, id).data == data for id, data in values.items())
        assert r.check() == []


def written() -> int:
    """Bytes that the process has written."""
    with open("/proc/self/io") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("wchar:"))
