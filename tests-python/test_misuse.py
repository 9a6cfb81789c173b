"""Wrong use: every public function and method, called with what it does not take, says so with an exception of
realm.Error's tree, which also is the builtin one."""

from __future__ import annotations

import inspect
import itertools
import pickle
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import realm


class Address(realm.EmbeddedObject):
    street: str = ""


class Dog(realm.Object):
    name: str = realm.PrimaryKey()
    age: int = 0
    tags: list[str] = []
    marks: set[int] = set()
    weights: dict[str, float] = {}
    data: Any = None


class Person(realm.Object):
    name: str = ""
    dogs: list[Dog] = []
    address: Address | None = None


class Odd:
    """A value of no type that anything takes."""


@pytest.fixture
def r(path: str) -> Iterator[realm.Realm]:
    with realm.open(path, [Dog, Person, Address]) as opened:
        with opened.write():
            dog = opened.create(Dog, name="Rex", tags=["a"], marks={1}, weights={"a": 1.0}, data={"a": [1]})
            opened.create(Person, name="Ada", dogs=[dog], address=Address(street="Main"))
        yield opened


# ---- what people do -----------------------------------------------------------------------------

CALLS: dict[str, tuple[Callable[[realm.Realm], object], type[Exception], str]] = {
    "positional": (lambda r: Person("Ada"), TypeError, r"Person\(\) takes its values by name, as in Person\(name=...\)"),
    "filter by a number": (lambda r: r.objects(Dog).filter(3), TypeError, "a query is a text, .* not 3"),
    "filter by a number with arguments": (lambda r: r.objects(Dog).filter([], 3), TypeError, "a query is a text"),
    "filter by a condition": (lambda r: r.objects(Dog).filter(Dog.age > 3), TypeError, r"are for where\(\)"),
    "format of a number": (lambda r: r.objects(Dog).filter_format(3), TypeError, "a query is a text"),
    "null in a query": (lambda r: r.objects(Dog).filter("age > 3\0"), ValueError, "has a null character"),
    "null in an order": (lambda r: r.objects(Dog).sorted("age\0"), ValueError, "has a null character"),
    "surrogate in a query": (lambda r: r.objects(Dog).filter("\ud800"), ValueError, "surrogates"),
    "open a number": (lambda r: realm.open(3), TypeError, "a path is a str, bytes or os.PathLike, not 3"),
    "open a class": (lambda r: realm.open(Dog), TypeError, "a path is a str"),
    "copy to nowhere": (lambda r: r.copy_to(None), TypeError, "a path is a str"),
    "check a number": (lambda r: realm.check_file(3), TypeError, "a path is a str"),
    "plan for a number": (lambda r: realm.migration_plan(3, Dog), TypeError, "a path is a str"),
    "null in a path": (lambda r: realm.open("a\0b", Dog), ValueError, "null"),
    "versions": (lambda r: realm.open("/tmp/x.realm", Dog, max_versions="3"), TypeError, "integer"),
    "cache": (lambda r: realm.open("/tmp/x.realm", Dog, encryption_cache=-1), OverflowError, "negative"),
    "key": (lambda r: realm.open("/tmp/x.realm", Dog, key=3), TypeError, "bytes-like"),
    "limit": (lambda r: r.objects(Dog).limit("3"), TypeError, "a limit is a number of objects, not '3'"),
    "negative limit": (lambda r: r.objects(Dog).limit(-3), ValueError, "a limit can't be negative: -3"),
    "offset": (lambda r: r.objects(Dog).offset(1.5), TypeError, "an offset is a number of objects, not 1.5"),
    "index": (lambda r: r.objects(Dog)["name"], TypeError, "indexed by int or slice, not by str"),
    "great index": (lambda r: r.objects(Dog)[2**70], IndexError, "index-sized"),
    "great index of a list": (lambda r: r.objects(Dog)[0].tags[2**70], IndexError, "index-sized"),
    "position": (lambda r: r.objects(Dog).index(3), ValueError, "3 is not in these results"),
    "sum": (lambda r: r.objects(Dog).sum(), TypeError, r"sum\(\) of objects needs the name of a property"),
    "values": (lambda r: r.objects(Dog).values(), TypeError, "names of properties"),
    "groups": (lambda r: r.objects(Dog).group_by("age", "age"), TypeError, "duplicate field name: 'age'"),
    "results by hand": (lambda r: realm.Results(), TypeError, r"Realm.objects\(\)"),
    "list by hand": (lambda r: realm.List(), TypeError, "comes from a property"),
    "add a number": (lambda r: r.add(3), TypeError, r"add\(\) argument 1 must be realm.Object, not int"),
    "add all of a number": (lambda r: r.add_all(3), TypeError, "one after another"),
    "add letters": (lambda r: r.add_all("ab"), TypeError, "one after another"),
    "copy a number": (lambda r: r.copy(3), TypeError, r"copy\(\) argument 1 must be realm.Object, not int"),
    "create without a class": (lambda r: r.create(), TypeError, "takes a class, and values by name"),
    "create by position": (lambda r: r.create(Dog, "Rex"), TypeError, "by name or as one mapping, not of 'Rex'"),
    "create by numbers": (lambda r: r.create(Dog, {3: 3}), TypeError, "names of properties are strings"),
    "insert by numbers": (lambda r: r.insert_many(Dog, {3: [3]}), AttributeError, "no property 3, as it is no str"),
    "find without a key": (lambda r: r.find(Dog), TypeError, r"find\(\) takes exactly 2 arguments"),
    "resolve": (lambda r: r.resolve("Dog"), TypeError, r"what realm.reference\(\) gave, not 'Dog'"),
    "thaw": (lambda r: r.thaw(3), TypeError, "3 is no stored object"),
    "timeout": (lambda r: r.begin_write("soon"), TypeError, "a timeout is a number of seconds, not 'soon'"),
    "negative timeout": (lambda r: r.begin_write(-1), ValueError, "a timeout is a number of seconds, not -1"),
    "consumer": (lambda r: r.add_consumer(3), TypeError, "a consumer is named by a str"),
    "version of a consumer": (lambda r: r.acknowledge("x", "3"), TypeError, "a version is an int, not '3'"),
    "log": (lambda r: r.log([]), TypeError, "the name of a consumer or a version"),
    "apply": (lambda r: r.apply("changes"), TypeError, "bytes-like"),
    "changes without a loop": (lambda r: r.changes(), RuntimeError, r"for coroutines.* observe\(\)"),
    "managed": (lambda r: realm.is_managed(3), TypeError, "3 is no object of a class derived from realm.Object"),
    "valid": (lambda r: realm.is_valid(None), TypeError, "None is no object"),
    "realm of": (lambda r: realm.realm_of("x"), TypeError, "'x' is no object"),
    "reference": (lambda r: realm.reference(Dog(name="x")), TypeError, "in no realm yet; add it first"),
    "parent": (lambda r: realm.parent_of(Dog(name="x")), TypeError, "not embedded"),
    "properties": (lambda r: realm.properties(int), TypeError, "no class derived from realm.Object"),
    "dict of a number": (lambda r: realm.to_dict(3), TypeError, "3 is no object"),
    "depth": (lambda r: realm.to_json(Dog(name="x"), depth="all"), TypeError, "a number of links, not 'all'"),
    "results of a list": (lambda r: realm.results([1]), TypeError, "over lists, sets and dictionaries"),
    "hash": (lambda r: hash(Dog(name="x")), TypeError, "in no realm yet"),
    "pickle": (lambda r: pickle.dumps(r.objects(Dog)[0]), TypeError, "cannot pickle"),
    "pickle a list": (lambda r: pickle.dumps(r.objects(Dog)[0].tags), TypeError, "cannot pickle"),
    "delete an attribute": (lambda r: delattr(Dog(name="x"), "age"), AttributeError, "can't be deleted"),
    "delete a setting": (lambda r: delattr(r, "autorefresh"), AttributeError, "can't be deleted"),
    "blank": (lambda r: Dog.__new__(Dog).age, AttributeError, "Dog.age has no value yet"),
    "extend": (lambda r: r.objects(Dog)[0].tags.extend(3), TypeError, "not iterable"),
    "update a dict": (lambda r: r.objects(Dog)[0].weights.update(3), TypeError, "not iterable"),
    "update a dict with letters": (lambda r: r.objects(Dog)[0].weights.update("ab"), ValueError, "sequence"),
    "update a set": (lambda r: r.objects(Dog)[0].marks.update(3), TypeError, "takes sets or other iterables"),
    "append outside": (lambda r: r.objects(Dog)[0].tags.append("x"), RuntimeError, r"open a `with r.write\(\):` block"),
    "discard outside": (lambda r: r.objects(Dog)[0].marks.discard(9), RuntimeError, r"open a `with r.write\(\):` block"),
    "list as a key": (lambda r: r.objects(Dog)[0].weights[[]], TypeError, "unhashable"),
    "list in a set": (lambda r: [] in r.objects(Dog)[0].marks, TypeError, "unhashable"),
    "any": (lambda r: Person.dogs.any(3), TypeError, r"any\(\) of a collection takes a function"),
    "in": (lambda r: Dog.age.in_(3), TypeError, r"in_\(\) takes a list"),
    "object id": (lambda r: realm.ObjectId(3), TypeError, "made of a str or bytes"),
    "object id of words": (lambda r: realm.ObjectId("no"), ValueError, "24 hexadecimal digits"),
    "key path": (lambda r: r.objects(Dog).observe(print, "\ud800"), ValueError, "surrogates"),
}


@pytest.mark.parametrize("name", CALLS)
def test_wrong_use_is_an_error_of_the_tree_and_the_builtin_one(r, name):
    call, builtin, message = CALLS[name]
    with pytest.raises(realm.Error, match=message) as caught:
        call(r)
    assert isinstance(caught.value, builtin)


def test_what_an_argument_itself_raises_stays_to_be_seen(r):
    class Broken:
        def __index__(self):
            raise ValueError("broken")

    with pytest.raises(realm.ArgumentError, match="broken") as caught:
        r.objects(Dog)[Broken()]
    assert caught.traceback[-1].name == "__index__" or "__index__" in repr(caught.getrepr(style="native"))


def test_what_elements_raise_while_they_are_made_passes_as_it_is(r):
    def elements():
        yield "x"
        raise TypeError("mine")

    with r.write(), pytest.raises(TypeError, match="^mine$") as caught:
        r.objects(Dog)[0].tags.extend(elements())
    assert not isinstance(caught.value, realm.Error)


# ---- everything ---------------------------------------------------------------------------------

VALUES = [None, 3, -1, 2**70, 1.5, "x", "a b(", "nul\0", "\ud800", b"x", Odd(), [3], {3: 3}, {"x": 1}, Dog]

#: What Python itself says of calls with too many or too few arguments, or names that it does not know.
OF_PYTHON = re.compile(
    r"positional argument|unexpected keyword|takes (no|exactly|at most|at least|\d+)|expected (at (most|least) )?\d+ "
    r"argument|missing a? ?required|required keyword"
)
#: What Python's containers have, and say in their own words: their operators, and what theirs of the same names do.
OF_CONTAINERS = {
    "pop", "sort", "union", "intersection", "difference", "symmetric_difference", "intersection_update",
    "difference_update", "symmetric_difference_update", "issubset", "issuperset", "isdisjoint",
}
#: Made by the functions that return them; and an annotation.
MADE = {"Float32", "Changes", "Columns", "Opening", "Savepoint", "Subquery", "SortKey", "Transaction", "AsyncTransaction"}
#: They end or begin something that the other calls need; open_async takes what open takes.
LEFT_OUT = {"close", "commit", "rollback", "begin_write", "compact", "open_async"}


def subjects(r: realm.Realm) -> Iterator[tuple[str, Any]]:
    dog, person = r.objects(Dog)[0], r.objects(Person)[0]
    yield "Realm", r
    yield "Object", Dog(name="x")
    yield "stored object", dog
    yield "embedded object", person.address
    yield "Results", r.objects(Dog)
    yield "results of values", dog.tags.results()
    yield "List", dog.tags
    yield "list of links", person.dogs
    yield "Set", dog.marks
    yield "Dictionary", dog.weights
    yield "nested", dog.data
    yield "Path", Dog.age
    yield "path to text", Dog.name
    yield "path to a list", Dog.tags
    yield "path to links", Person.dogs
    yield "Condition", Dog.age > 3
    yield "Expression", Dog.age + 1
    yield "Subquery", Person.dogs.where(lambda d: d.age > 3)
    yield "Token", r.observe(lambda change: None)
    yield "Columns", r.objects(Dog).columns("name")
    yield "ObjectId", realm.ObjectId()
    yield "fn", realm.fn
    yield "agg", realm.agg
    yield "realm", realm


def functions(subject: Any) -> Iterator[tuple[str, Any]]:
    names = getattr(subject, "__all__", None) or [name for name in dir(subject) if not name.startswith("_")]
    for name in names:
        if name in LEFT_OUT or name in MADE:
            continue
        function = inspect.getattr_static(subject, name, None)
        if isinstance(function, property):
            continue
        function = getattr(subject, name)
        is_exception = isinstance(function, type) and issubclass(function, (BaseException, int))
        if callable(function) and not is_exception and not isinstance(function, realm.Expression):
            yield name, function


def calls(function: Any) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    yield (), {}
    yield (1,) * 9, {}
    yield (), {"nonsense": 1}
    for value in VALUES:
        yield (value,), {}
    for pair in itertools.product(VALUES, [None, -1, "x", Odd(), 2**70]):
        yield pair, {}
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return
    for parameter, value in itertools.product(parameters, VALUES):
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            yield (), {parameter.name: value}


@pytest.mark.parametrize("is_writing", [False, True])
def test_every_function_says_what_is_wrong_in_the_tree(r, is_writing, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REALM_DEFAULT_DIRECTORY", str(tmp_path))
    made, wrong, count = len(list(subjects(r))), [], 0
    for place in range(made):
        label, subject = next(itertools.islice(subjects(r), place, None))
        for name, function in functions(subject):
            if is_writing and label in ("fn", "agg", "realm"):
                continue
            for arguments, named in calls(function):
                if is_writing:
                    r.begin_write()
                try:
                    result = function(*arguments, **named)
                except realm.Error:
                    count += 1
                except Exception as error:
                    expected = isinstance(error, TypeError) and OF_PYTHON.search(str(error))
                    if not expected and name not in OF_CONTAINERS:
                        wrong.append(f"{label}.{name}(*{arguments!r}, **{named!r}): {error!r}")
                else:
                    if isinstance(result, realm.Realm | realm.Token):
                        result.close()
                finally:
                    if is_writing:
                        r.rollback()
    assert count > 2000
    assert wrong == []
