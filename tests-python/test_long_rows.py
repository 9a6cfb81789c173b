"""Objects whose values in the row are longer together than a leaf of rows is meant to be."""

from __future__ import annotations

import pytest

import realm


class Long(realm.Object):
    id: int = realm.PrimaryKey()
    a: str = ""
    b: str = ""
    c: str = ""
    d: str = ""
    e: str = ""
    f: str = ""
    g: str = ""
    h: str = ""
    i: str = ""
    j: str = ""
    k: str = ""
    l: str = ""  # noqa: E741


TEXTS = "abcdefghijkl"


@pytest.mark.parametrize("count", [1, 2, 20, 300])
@pytest.mark.parametrize("length", [1000, 1500, 2000])
def test_they_are_found_counted_and_changed(path: str, count: int, length: int) -> None:
    def values(number: int) -> dict[str, str]:
        return {name: f"{name}{number}".ljust(length, "x") for name in TEXTS}

    expected = {number: values(number) for number in range(count)}
    with realm.open(path, classes=[Long]) as r:
        with r.write():
            for number, texts in expected.items():
                r.create(Long, id=number, **texts)
        with r.write():
            for number in range(0, count, 3):
                expected[number] = values(number + 1000)
                r.create(Long, id=number, update="all", **expected[number])
            for number in range(1, count, 5):
                r.delete(r.find(Long, number))
                del expected[number]
        assert r.check() == []
    with realm.open(path, classes=[Long]) as r:
        found = {o.id: {name: getattr(o, name) for name in TEXTS} for o in r.objects(Long)}
        assert found == expected
        assert r.objects(Long).values("id") == sorted(expected)


def test_columns_of_dropped_properties_do_not_divide_leaves(path: str) -> None:
    """Each version drops ten properties and adds others; objects are changed in each."""
    def class_of(version: int) -> type[realm.Object]:
        names = [f"p{version}_{number}" for number in range(10)]
        space = {"__annotations__": {"id": int, **dict.fromkeys(names, int)},
                 "__module__": __name__, "id": realm.PrimaryKey(), **dict.fromkeys(names, 0)}
        return type(realm.Object)("Wide", (realm.Object,), space)

    count = 300
    for version in range(1, 81):
        wide = class_of(version)
        with realm.open(path, [wide], version=version) as r:
            with r.write():
                for number in range(count if version == 1 else 0):
                    r.create(wide, id=number)
                for item in r.objects(wide):
                    setattr(item, f"p{version}_3", item.id + version)
            assert r.objects(wide).sum(f"p{version}_3") == sum(range(count)) + count * version
    with realm.open(path, [wide], version=version) as r:
        assert r.check() == []
        # One leaf: what says where 800 columns are, and the numbers.
        assert r.stats()["classes"]["Wide"]["row_bytes"] < 64 * 1024
