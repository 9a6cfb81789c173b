"""What collections take and how: by assignment, with new objects, embedded objects, in declarations."""

from __future__ import annotations

import pytest
from collection_models import (  # noqa: F401
    CLASSES,
    Address,
    Dog,
    Person,
    Room,
    person,
    w,
)

import realm


# ---- properties ------------------------------------------------------------------------------


def test_assigning_replaces_the_content(person):
    tags = person.tags
    person.tags = ["a", "b"]
    person.tags = ("c",)
    assert tags == ["c"]
    person.tags = person.tags
    person.tags += ["d"]
    assert tags == ["c", "d"]
    person.tags = (t + "!" for t in person.tags)
    assert tags == ["c!", "d!"]
    person.scores = [3, 3]
    person.scores |= {4}
    assert person.scores == {3, 4}
    person.weights = {"a": 1.0}
    person.weights = person.weights
    person.weights |= {"b": None}
    assert person.weights == {"a": 1.0, "b": None}
    person.weights = {}
    assert person.weights == {}


@pytest.mark.parametrize("value", ["text", b"bytes", 5, None, {"a": 1}, ["a", 1], [None]])
def test_what_is_no_content_changes_nothing(person, value):
    person.tags = ["a"]
    with pytest.raises(realm.PropertyTypeError):
        person.tags = value
    assert person.tags == ["a"]
    with pytest.raises(realm.PropertyTypeError):
        Person(id=9, tags=value)
    assert len(person.tags) == 1


@pytest.mark.parametrize("value", ["text", 5, None, ["a"], {"a": "b"}])
def test_what_is_no_dictionary_changes_nothing(person, value):
    person.weights = {"a": 1.0}
    with pytest.raises(realm.PropertyTypeError):
        person.weights = value
    assert person.weights == {"a": 1.0}


def test_creating_with_a_wrong_element_leaves_nothing(w):
    for wrong in ({"tags": ["a", 1]}, {"kennel": {"a": 1}}, {"homes": [{"number": 1}]},
                  {"dogs": [Dog(name="a"), Person(id=5)]}, {"homes": [{"street": "s", "no": 1}]}):
        with pytest.raises((TypeError, AttributeError)):
            w.create(Person, id=2, **wrong)
    assert len(w.objects(Person)) == 0 and len(w.objects(Dog)) == 0


def test_unmanaged_objects_carry_plain_collections():
    given = ["a"]
    one = Person(id=1, tags=given)
    assert one.tags == ["a"] and type(one.tags) is list and one.tags is not given
    assert one.scores == set() and type(one.scores) is set
    assert one.weights == {} and one.numbers == []
    assert realm.to_dict(one)["tags"] == ["a"]


def test_updates_replace_given_collections_alone(w):
    person = w.create(Person, id=1, tags=["a"], scores={1})
    w.create(Person, id=1, tags=["b"], update="all")
    assert person.tags == ["b"] and person.scores == {1}
    w.create(Person, id=1, scores=[], update="modified")
    assert person.tags == ["b"] and person.scores == set()


def test_defaults_are_not_shared(path):
    class Holder(realm.Object):
        a: list[int] = [1]  # noqa: RUF012
        b: dict[str, int] = realm.Default(dict)

    one, two = Holder(), Holder()
    one.a.append(2)
    assert two.a == [1] and Holder().a == [1]
    with realm.open(path, classes=[Holder]) as r, r.write():
        assert r.create(Holder).a == [1] and r.add(one).a == [1, 2] and one.b == {}


# ---- links -----------------------------------------------------------------------------------


def test_objects_are_added_with_what_links_to_them(w, person):
    rex = Dog(name="Rex")
    person.dogs.append(rex)
    person.dogs.append(rex)
    person.dogs.append({"name": "Ada"})
    person.pack.add(rex)
    person.kennel["x"] = rex
    person.kennel["y"] = Dog(name="Bo")
    person.kennel["z"] = None
    assert realm.is_managed(rex) and [d.name for d in person.dogs] == ["Rex", "Rex", "Ada"]
    assert person.pack == {rex} and person.kennel["x"] == rex and rex in person.dogs
    assert len(w.objects(Dog)) == 3 and len(w.backlinks(rex, Person, "dogs")) > 0
    w.delete(rex)
    assert [d.name for d in person.dogs] == ["Ada"] and len(person.pack) == 0
    assert person.kennel["x"] is None and person.kennel["y"].name == "Bo"
    with pytest.raises(realm.InvalidObjectError):
        person.dogs.append(rex)
    with pytest.raises(realm.PropertyTypeError):
        person.dogs.append(None)
    with pytest.raises(realm.PropertyTypeError):
        person.dogs.append(person)


def test_graphs_with_cycles_go_in_at_once(w):
    people = [Person(id=i) for i in range(300)]
    for i, one in enumerate(people):
        one.friends = [people[(i + 1) % 300], people[i - 1]]
    assert len(repr(people[0])) < 500
    w.add(people[0])
    assert len(w.objects(Person)) == 300 and people[7].friends == [people[8], people[6]]


def test_a_graph_that_fails_leaves_nothing(w):
    w.create(Dog, name="Rex")
    one = Person(id=1, dogs=[Dog(name="Ada"), Dog(name="Rex")], homes=[Address(street="s")])
    with pytest.raises(realm.ObjectExistsError):
        w.add(one)
    assert not realm.is_managed(one) and not realm.is_managed(one.homes[0])
    assert [d.name for d in w.objects(Dog)] == ["Rex"] and len(w.objects(Address)) == 0
    assert one.dogs[0].name == "Ada"


def test_objects_of_another_realm_are_refused(w, person, tmp_path):
    with realm.open(tmp_path / "other.realm", classes=CLASSES) as other, other.write():
        dog = other.create(Dog, name="x")
        with pytest.raises(realm.ArgumentError):
            person.dogs.append(dog)
        with pytest.raises(realm.ArgumentError):
            person.dogs = [dog]
        assert dog not in person.dogs


# ---- embedded objects ------------------------------------------------------------------------


def test_embedded_objects_live_and_die_with_their_owner(w, person):
    first = Address(street="first", rooms=[Room(number=1, beds=["a", "b"])], guest=Dog(name="g"))
    person.address = first
    assert realm.is_managed(first) and person.address == first
    assert first.rooms[0].beds == ["a", "b"] and first.guest.name == "g"
    first.rooms.append({"number": 2})
    assert person.address.rooms[1].number == 2
    person.address = {"street": "second", "number": 5}
    assert not realm.is_valid(first) and person.address.number == 5
    assert len(w.objects(Room)) == 0 and len(w.objects(Address)) == 1
    person.homes = [Address(street="a"), {"street": "b"}]
    person.places = {"x": {"street": "c"}, "y": None}
    assert [h.street for h in person.homes] == ["a", "b"] and person.places["y"] is None
    assert len(w.objects(Address)) == 4
    del person.homes[0]
    person.homes[0] = {"street": "B"}
    person.places["x"] = Address(street="C")
    assert [a.street for a in w.objects(Address).sorted("street")] == ["B", "C", "second"]
    person.address = None
    w.delete(person)
    assert len(w.objects(Address)) == 0


def test_an_embedded_object_has_one_owner(w, person):
    home = Address(street="a")
    person.homes.append(home)
    other = w.create(Person, id=2)
    for attempt in (
        lambda: person.homes.append(home),
        lambda: setattr(other, "address", home),
        lambda: other.places.__setitem__("x", home),
        lambda: setattr(other, "homes", person.homes),
        lambda: w.create(Person, id=3, address=home),
    ):
        with pytest.raises(realm.IllegalOperationError):
            attempt()
    person.homes[0] = home
    person.homes = person.homes
    assert person.homes == [home] and w.find(Person, 3) is None
    with pytest.raises(realm.IllegalOperationError):
        w.add(Address(street="alone"))
    with pytest.raises(realm.PropertyTypeError):
        person.address = Dog(name="x")
    person.address = {"street": "own"}
    person.address = person.address
    assert person.address.street == "own"


def test_objects_are_created_from_nested_plain_values(w):
    person = w.create(Person, {
        "id": 1, "tags": ["x"], "address": {"street": "s", "rooms": [{"number": 3}]},
        "dogs": [{"name": "Ada"}, {"name": "Bo"}], "kennel": {"k": {"name": "Cy"}},
        "friends": [{"id": 2, "friends": [{"id": 3}]}],
    })
    assert person.address.rooms[0].number == 3 and person.kennel["k"].name == "Cy"
    assert person.friends[0].friends[0].id == 3 and len(w.objects(Dog)) == 3
    w.create(Person, {"id": 1, "friends": [{"id": 2, "tags": ["t"]}]}, update="all")
    assert w.find(Person, 2).tags == ["t"] and w.find(Person, 2).friends[0].id == 3
    unmanaged = Person(id=9, address={"street": "s"}, homes=[{"street": "t"}])
    assert isinstance(unmanaged.address, Address) and unmanaged.homes[0].street == "t"


# ---- declarations ----------------------------------------------------------------------------


@pytest.mark.parametrize(("annotation", "part"), [
    (list, "needs the type"),
    (list[list[int]], "collections in collections"),
    (list[int] | None, "never None"),
    (dict[int, int], "keys of a dict are str"),
    (list[Dog | None], "holds no None"),
    (set[Address], "can't hold embedded"),
    (tuple[int], "list, set and dict"),
    (list[complex], "can't be stored"),
])
def test_declarations_that_make_no_sense_say_why(annotation, part):
    with pytest.raises(realm.SchemaError, match=part.replace("[", r"\[")):
        type(realm.Object)("Bad", (realm.Object,),
                           {"__annotations__": {"a": annotation}, "__module__": __name__})


def test_embedded_classes_have_no_primary_key():
    with pytest.raises(realm.SchemaError, match="no primary key"):
        class Bad(realm.EmbeddedObject):
            id: int = realm.PrimaryKey()


def test_properties_describe_their_collections():
    its = realm.properties(Person)
    assert its["tags"].collection == "list" and its["tags"].type == "str"
    assert its["id"].collection is None
    assert repr(its["weights"]) == "<property Person.weights: dict[str, float | None]>"
    assert Address.__realm_model__.embedded and not Person.__realm_model__.embedded
