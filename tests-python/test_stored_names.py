"""Classes that have another name in the file than in Python."""

from __future__ import annotations

import pytest

import realm


class Owner(realm.Object, stored_name="t_owner"):
    id: int = realm.PrimaryKey()
    name: str
    dogs: list["Dog"]


class Dog(realm.Object, stored_name="t_dog"):
    id: int = realm.PrimaryKey()
    owner: Owner | None
    collar: "Collar | None"


class Collar(realm.EmbeddedObject, stored_name="t_collar"):
    color: str


@pytest.fixture
def opened(tmp_path):
    with realm.open(tmp_path / "named.realm", [Dog, Owner, Collar], schema_version=1) as r:
        with r.write():
            ada = r.create(Owner, id=1, name="Ada")
            rex = r.create(Dog, id=1, owner=ada, collar={"color": "red"})
            r.create(Dog, id=2)
            ada.dogs.append(rex)
        yield r


def test_objects_are_stored_and_found(opened):
    assert (Dog.__realm_model__.name, Dog.__realm_model__.stored_name) == ("Dog", "t_dog")
    rex = opened.find(Dog, 1)
    assert isinstance(rex.owner, Owner) and isinstance(rex.owner.dogs[0], Dog)
    assert rex.collar.color == "red" and repr(rex).startswith("Dog(id=1")
    with pytest.raises(realm.Error, match="Dog"), opened.write():
        rex.owner = rex


def test_queries_know_both_names(opened):
    owners = opened.objects(Owner)
    for name in "Dog", "t_dog":
        assert len(owners.filter(f"@links.{name}.owner.id == 1")) == 1
        assert len(owners.filter(f"ANY dogs == obj('{name}', 1)")) == 1
        assert len(owners.filter(f"@links.{name}.$K0.id == 2", "owner")) == 0
    assert len(owners.where(realm.backlinks(Dog.owner).count() == 1)) == 1
    with pytest.raises(realm.QueryError, match="'Owner' has no property 'nope'"):
        owners.filter("nope == 1")
    assert opened.objects(Dog).explain().startswith("Dog: 2 objects")


def test_the_file_has_the_stored_names(opened, tmp_path):
    path = opened.path
    opened.close()
    with realm.open(path) as r:
        assert sorted(r.classes) == ["t_collar", "t_dog", "t_owner"]
    with realm.open(path, [Dog, Owner, Collar], schema_version=1) as again:
        assert [dog.id for dog in again.objects(Dog)] == [1, 2]


def test_names_are_told_apart(tmp_path):
    class First(realm.Object, stored_name="x"):
        a: int

    class Second(realm.Object, stored_name="x"):
        a: int

    class Third(realm.Object, stored_name="First"):
        a: int

    with pytest.raises(realm.SchemaError, match="more than once"):
        realm.open(tmp_path / "same.realm", [First, Second], schema_version=1)
    with pytest.raises(realm.SchemaError, match="also the name of a class"):
        realm.open(tmp_path / "same.realm", [First, Third], schema_version=1)
    with pytest.raises(TypeError):
        type(First)("Fourth", (realm.Object,), {}, stored_name=5)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ({"a": "z", "z": None}, r"Bad\.z: 'z' is the name of Bad\.a in the file"),
        ({"a": "z", "b": "z"}, r"Bad\.b: 'z' is the name of Bad\.a in the file"),
        ({"a": "b", "b": "a"}, r"Bad\.a: 'a' is the name of Bad\.b in the file"),
        ({"a": "b", "b": "c"}, r"Bad\.b: 'b' is the name of Bad\.a in the file"),
        ({"a": "base"}, r"Bad\.a: 'base' is the name of Base\.base in the file"),
        ({"stored": None}, r"Bad\.stored: 'stored' is the name of Base\.other in the file"),
        ({"mixed": "a", "a": None}, r"Bad\.a: 'a' is the name of Bad\.mixed in the file"),
    ],
)
def test_two_properties_with_one_name_are_refused_at_the_declaration(names, words):
    class Mixin:
        mixed: int = 0

    class Base(realm.Object):
        base: int
        other: int = realm.Field(name_in_file="stored")

    fields = {name: realm.Field(name_in_file=stored) for name, stored in names.items()}
    with pytest.raises(realm.SchemaError, match=words):
        type(Base)("Bad", (Mixin, Base), {"__annotations__": dict.fromkeys(names, int), **fields})


def test_a_name_in_the_file_may_be_the_one_in_python(tmp_path):
    name = "".join(["i", "d"])

    class Same(realm.Object):
        id: int = realm.PrimaryKey(name_in_file=name)

    class Derived(Same):
        id: int = realm.PrimaryKey(name_in_file="key")

    with realm.open(tmp_path / "same.realm", [Same, Derived]) as r, r.write():
        assert (r.create(Same, id=1).id, r.create(Derived, id=2).id) == (1, 2)


def test_names_with_a_meaning_in_python_lose_it_where_classes_come_from_the_file(tmp_path):
    special = ["__slots__", "__annotations__", "__realm_base__", "__class__", "__module__", "__"]
    fields = {f"p{i}": realm.Field(name_in_file=name) for i, name in enumerate(special)}
    cls = type(Owner)("Odd", (realm.Object,), {
        "__annotations__": {"slots__": int, **dict.fromkeys(fields, int)}, **fields})
    with realm.open(tmp_path / "odd.realm", cls) as r, r.write():
        r.create(cls, slots__=-1, **{name: i for i, name in enumerate(fields)})
    with realm.open(tmp_path / "odd.realm") as r:
        (odd,) = r.objects("Odd").filter("__slots__ == 0 AND __module__ == 4")
        assert odd.to_dict() == {
            "slots__": -1, "slots___": 0, "annotations__": 1, "realm_base__": 2, "class__": 3, "module__": 4,
            "property": 5}
        with r.write():
            odd.class__ = 7
        assert r.objects("Odd").values("class__") == [7]
