"""Paths: properties as expressions, over links and into collections; and what is made of these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from . import _realm
from ._errors import NoSuchPropertyError, QueryError, UsageError, names_near
from ._expressions import (
    Condition,
    Expression,
    Written,
    _Comparison,
    _condition,
    _options,
    _shown,
)
from ._model import ObjectMeta, _find_target
from ._predicates import FUNCTIONS, QUANTIFIERS, Kind, Part, Parts, begun, part, spelled_name

T = TypeVar("T")

class _Aggregate(Expression[T]):
    """`path.@min.name`, `path.@count`, and the same of a subquery."""

    __slots__ = ("function", "name", "source")

    def __init__(self, source: Path[Any] | Subquery, function: str, name: str | None) -> None:
        self.source, self.function, self.name = source, function, name

    def _write(self, parts: Parts) -> None:
        self.source._write_measured(parts, self.function, self.name)


class SortKey:
    """A property to sort by, and the direction: `Dog.age.desc()`."""

    __slots__ = ("descending", "path")

    def __init__(self, path: Path[Any], descending: bool) -> None:
        self.path, self.descending = path, descending

    def __repr__(self) -> str:
        return f"<sort by {self.path._text()} {'DESC' if self.descending else 'ASC'}>"


class Subquery:
    """The elements of a collection for which a condition holds: `Person.dogs.where(...)`."""

    __slots__ = ("_condition", "_path", "_variable")

    def __init__(self, path: Path[Any], test: Callable[[Any], Any]) -> None:
        self._path = path
        self._variable: Path[Any] = Path((object(),), (), path._last, path._target, many=False)
        self._variable._set_element()
        self._condition = _condition(test(self._variable))

    def _write_measured(self, parts: Parts, function: str, name: str | None) -> None:
        self._path._write(parts)
        key = id(self._variable._scope[0])
        parts.variables[key] = variable = f"v{len(parts.variables)}"
        parts.depth += 1
        self._condition._write(parts)
        parts.depth -= 1
        if name is not None:
            parts.append(part(Kind.NAME, name=name))
        names = 0 if name is None else 1
        parts.append(part(Kind.MATCHING, detail=FUNCTIONS.index(function), count=names, name=variable))

    def count(self) -> Expression[int]:
        """How many there are."""
        return _Aggregate(self, "count", None)

    def min(self, name: str, /) -> Expression[Any]:
        """The least value of a property of them."""
        return _Aggregate(self, "min", _checked_name(self._path, name))

    def max(self, name: str, /) -> Expression[Any]:
        """The greatest value of a property of them."""
        return _Aggregate(self, "max", _checked_name(self._path, name))

    def sum(self, name: str, /) -> Expression[Any]:
        """The sum of a property of them."""
        return _Aggregate(self, "sum", _checked_name(self._path, name))

    def avg(self, name: str, /) -> Expression[Any]:
        """The mean of a property of them."""
        return _Aggregate(self, "avg", _checked_name(self._path, name))

    def __repr__(self) -> str:
        shown, comma, values = _shown(self.count()).partition(", with ")
        return f"<subquery {shown.removesuffix('.@count')}{comma}{values}>"


def _check_test(method: str, test: Any) -> None:
    if not callable(test) or isinstance(test, Written):
        raise UsageError(
            f"{method}() of a collection takes a function of an element, as in "
            f"Person.dogs.{method}(lambda d: d.age > 3), not {test!r}"
        )


def _checked_name(path: Path[Any], name: str) -> str:
    if not isinstance(name, str):
        raise UsageError(f"the name of a property is a str, got {name!r}")
    path._child(name)
    return name


# ---- paths -----------------------------------------------------------------------------------

_TEXT_TYPES = ("str", "bytes", "Any")


class Path(Expression[T]):
    """A property as an expression: `Dog.age`, `Person.dept.name`, `Person.weights["june"]`.

    Attributes are the properties of the class it links to. One whose name is that of a method is
    reached as an item: `Person.dept["count"]`.
    """

    __slots__ = ("_last", "_many", "_quantifier", "_ready", "_scope", "_single", "_steps", "_target")

    def __init__(
        self,
        scope: tuple[Any, ...],
        steps: tuple[Any, ...],
        last: _realm.Property | None,
        target: ObjectMeta | None,
        *,
        many: bool,
        quantifier: str = "",
    ) -> None:
        #: The class that is queried, () for whatever that is; of members of subqueries a mark.
        self._scope = scope
        #: Names, and lists of one index or key each.
        self._steps = steps
        #: The property that the last name stands for; None where it is not known.
        self._last = last
        #: The class whose objects are reached, if it is known.
        self._target = target
        self._many = many
        self._quantifier = quantifier
        #: Is one element of its property, which is a collection.
        self._single = False
        #: Its class, and its parts in a query on objects of that, once they were asked for.
        self._ready: tuple[Any, list[Part]] | None = None

    def _set_element(self) -> None:
        self._single = True

    # Rendering.

    def _write_head(self, parts: Parts) -> bool:
        """Whether the path has a first step that stands for the object, the value or an element."""
        if not self._scope or isinstance(self._scope[0], type):
            root = self._scope[0] if self._scope else None
            if root is not None and parts.root is not None and not issubclass(parts.root, root):
                raise QueryError(
                    f"{self._text()} belongs to {root.__name__}, but the query is on "
                    f"{parts.root.__name__}"
                )
            if not (parts.depth or parts.of_values or not self._steps):
                return False
            parts.append(part(Kind.SELF))
            return True
        variable = parts.variables.get(id(self._scope[0]))
        if variable is None:
            if parts.root is not None:
                raise QueryError("an element of where(...) was used outside of it")
            variable = "element"
        parts.append(part(Kind.VARIABLE, name=variable))
        return True

    def _write_steps(self, parts: Parts) -> int:
        count = 1 if self._write_head(parts) else 0
        for step in self._steps:
            if isinstance(step, str):
                parts.append(part(Kind.NAME, name=step))
            elif isinstance(step, tuple):
                origin, name = step
                parts.append(part(Kind.NAME, name=name))
                parts.append(part(Kind.BACKLINKS, name=origin))
            elif isinstance(step[0], int):
                parts.append(part(Kind.INDEX, number=step[0]))
            else:
                parts.append(part(Kind.KEY, name=step[0]))
        return count + len(self._steps)

    def _write(self, parts: Parts) -> None:
        # Attributes of paths cost more than others do: they have a __getattr__.
        ready = self._ready
        if ready is not None and ready[0] is parts.root and not parts.depth:
            parts.extend(ready[1])
            return
        start = len(parts)
        self._write_path(parts, self._write_steps(parts))
        if self._scope and self._scope[0] is parts.root and not parts.depth:
            self._ready = parts.root, parts[start:]

    def _write_path(self, parts: Parts, count: int) -> None:
        parts.append(part(Kind.PATH, detail=QUANTIFIERS.index(self._quantifier), count=count))

    def _write_measured(self, parts: Parts, function: str, name: str | None) -> None:
        count = self._write_steps(parts)
        if function == "count":
            parts.append(part(Kind.COUNT_OF))
            self._write_path(parts, count + 1)
            return
        self._write_path(parts, count)
        if name is not None:
            parts.append(part(Kind.NAME, name=name))
        names = 0 if name is None else 1
        parts.append(part(Kind.AGGREGATE, detail=FUNCTIONS.index(function), count=names))

    def _text(self) -> str:
        """As it is written in Python."""
        head = self._scope[0] if self._scope else None
        written = head.__name__ if isinstance(head, type) else "element"
        for step in self._steps:
            if isinstance(step, tuple):
                written += f".@links.{step[0]}.{step[1]}"
            else:
                written += f".{step}" if isinstance(step, str) else f"[{step[0]!r}]"
        return written

    def _plain_path(self, clause: str) -> str:
        """For SORT and DISTINCT, which take names and no arguments."""
        if self._scope and not isinstance(self._scope[0], type):
            raise QueryError(f"{clause}: an element of where(...) was used outside of it")
        if not self._steps or not all(isinstance(step, str) for step in self._steps):
            raise QueryError(f"{clause}: {self._text()} is not a property or a path over links")
        return ".".join(map(spelled_name, self._steps))

    # Steps.

    def _collection(self) -> str | None:
        return None if self._last is None or self._single else self._last.collection

    def _is_boolean(self) -> bool:
        if self._last is None:
            return not self._many
        return self._last.type == "bool" and self._collection() is None and not self._many

    def _child(self, name: str) -> Path[Any]:
        """The path to a property of the objects that this one leads to."""
        if self._target is None:
            if self._last is not None and self._last.type not in ("link", "Any"):
                raise NoSuchPropertyError(
                    f"{self._text()} is {_type_text(self._last, self._single)}, which has no {name!r}"
                )
            # A class that is not known before a realm is open, or a value of any type.
            found: Path[Any] = Path(
                self._scope, (*self._steps, name), None, None, many=self._many,
                quantifier=self._quantifier,
            )
            found._many = self._many or self._collection() is not None
            return found
        last = _property_of(self._target, name)
        many = self._many or self._collection() is not None
        return Path(
            self._scope, (*self._steps, name), last, _find_target(self._target, name), many=many,
            quantifier=self._quantifier,
        )

    def __getattr__(self, name: str) -> Path[Any]:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self._child(name)

    def __getitem__(self, key: int | str) -> Path[Any]:
        collection = self._collection()
        of_any = self._last is None or (self._last.type == "Any" and collection is None)
        if isinstance(key, str) and (collection == "dict" or of_any):
            step = [key]
        elif isinstance(key, int) and not isinstance(key, bool) and (collection == "list" or of_any):
            if key < -1:
                raise QueryError(f"{self._text()}[{key}]: of the indexes from the end, -1 alone")
            step = [key]  # type: ignore[list-item]
        elif isinstance(key, str) and self._target is not None:
            return self._child(key)
        else:
            raise UsageError(f"{self._text()} has no element {key!r}")
        found: Path[Any] = Path(
            self._scope, (*self._steps, step), self._last, self._target, many=self._many,
            quantifier=self._quantifier,
        )
        found._set_element()
        if of_any:
            found._last = None
        return found

    def backlinks(self, source: Any, /) -> Path[Any]:
        """The objects that link here through a property: `Person.dept.backlinks(Firm.depts)`."""
        return _backlinks(self, source)

    # Conditions on collections.

    def _search(self, operator: str, word: str, value: Any, case: bool, diacritics: bool) -> Any:
        collection = self._collection()
        if word == "contains" and collection is not None and not self._quantifier:
            return _Comparison(value, "IN", self, _options(case, diacritics))
        if self._last is not None and self._last.type not in _TEXT_TYPES:
            raise UsageError(
                f"{self._text()} is {_type_text(self._last, self._single)}; {word}() is for text"
            )
        return super()._search(operator, word, value, case, diacritics)

    def _needs_many(self, method: str) -> None:
        if self._last is not None and not self._many and self._collection() is None:
            raise UsageError(
                f"{self._text()} is {_type_text(self._last, self._single)}; {method}() is for "
                "collections and paths through them"
            )
        if self._quantifier:
            raise UsageError(f"{self._text()} has a quantifier already: {self._quantifier.strip()}")

    def _quantified(self, word: str, test: Callable[[Any], Any] | None) -> Any:
        self._needs_many(word.lower())
        if test is not None:
            _check_test(word.lower(), test)
            matching = Subquery(self, (lambda e: ~_condition(test(e))) if word == "ALL" else test)
            return matching.count() > 0 if word == "ANY" else matching.count() == 0
        found: Path[Any] = Path(
            self._scope, self._steps, self._last, self._target, many=self._many,
            quantifier=f"{word} ",
        )
        found._single = self._single
        return found

    @overload
    def any(self, /) -> Path[Any]: ...
    @overload
    def any(self, test: Callable[[Any], Any], /) -> Condition: ...
    def any(self, test: Callable[[Any], Any] | None = None, /) -> Path[Any] | Condition:
        """For some element: `Person.tags.any() == "x"`, `Person.dogs.any(lambda d: d.age > 3)`."""
        found: Path[Any] | Condition = self._quantified("ANY", test)
        return found

    @overload
    def all(self, /) -> Path[Any]: ...
    @overload
    def all(self, test: Callable[[Any], Any], /) -> Condition: ...
    def all(self, test: Callable[[Any], Any] | None = None, /) -> Path[Any] | Condition:
        """For every element; true where there is none."""
        found: Path[Any] | Condition = self._quantified("ALL", test)
        return found

    @overload
    def none(self, /) -> Path[Any]: ...
    @overload
    def none(self, test: Callable[[Any], Any], /) -> Condition: ...
    def none(self, test: Callable[[Any], Any] | None = None, /) -> Path[Any] | Condition:
        """For no element; true where there is none."""
        found: Path[Any] | Condition = self._quantified("NONE", test)
        return found

    def where(self, test: Callable[[Any], Any], /) -> Subquery:
        """The elements for which a condition holds: `Person.dogs.where(lambda d: d.age > 3)`."""
        self._needs_many("where")
        _check_test("where", test)
        return Subquery(self, test)

    # Aggregates.

    def _aggregate(self, function: str, name: str | None) -> Expression[Any]:
        self._needs_many(function)
        if name is not None:
            return _Aggregate(self, function, _checked_name(self, name))
        if self._collection() is not None or not isinstance(self._steps[-1], str):
            if self._target is not None:
                raise UsageError(
                    f"{self._text()} holds objects: {function}() needs the name of a property"
                )
            return _Aggregate(self, function, None)
        # Person.dogs.age.min() is dogs.@min.age.
        owner: Path[Any] = Path(self._scope, self._steps[:-1], None, None, many=True)
        return _Aggregate(owner, function, self._steps[-1])

    def count(self) -> Expression[int]:
        """The number of elements."""
        self._needs_many("count")
        return _Aggregate(self, "count", None)

    def min(self, name: str | None = None, /) -> Expression[Any]:
        """The least element; of objects, the least value of a property."""
        return self._aggregate("min", name)

    def max(self, name: str | None = None, /) -> Expression[Any]:
        """The greatest element; of objects, the greatest value of a property."""
        return self._aggregate("max", name)

    def sum(self, name: str | None = None, /) -> Expression[Any]:
        """The sum of the elements, or of a property of the objects."""
        return self._aggregate("sum", name)

    def avg(self, name: str | None = None, /) -> Expression[Any]:
        """The mean of the elements, or of a property of the objects."""
        return self._aggregate("avg", name)

    # Sorting.

    def asc(self) -> SortKey:
        """Sorts by it upwards."""
        return SortKey(self, False)

    def desc(self) -> SortKey:
        """Sorts by it downwards."""
        return SortKey(self, True)


def _type_text(last: _realm.Property, single: bool) -> str:
    element = last.link_target if last.type == "link" else last.type
    if last.collection is None or single:
        return f"a link to {element}" if last.type == "link" else str(element)
    return f"{last.collection}[{'str, ' if last.collection == 'dict' else ''}{element}]"


def _property_of(cls: ObjectMeta, name: str) -> _realm.Property:
    names = []
    for prop in cls.__realm_model__.properties:
        if prop.name == name:
            return prop
        names.append(prop.name)
    raise NoSuchPropertyError(f"{cls.__name__} has no property {name!r}{names_near(name, names)}")


def _backlinks(target: Path[Any] | None, source: Any) -> Path[Any]:
    if (
        not isinstance(source, Path) or len(source._steps) != 1 or not source._scope
        or source._last is None or source._last.type != "link"
    ):
        raise UsageError(f"backlinks() takes a property with links, as in Firm.depts, not {source!r}")
    origin = source._scope[0]
    steps = target._steps if target is not None else ()
    reached = target._target if target is not None else None
    if reached is not None and source._last.link_target != reached.__realm_model__.name:
        raise UsageError(
            f"{source._text()} links to {source._last.link_target}, not to {reached.__name__}"
        )
    linked = (origin.__realm_model__.name, source._steps[0])
    found: Path[Any] = Path(
        target._scope if target is not None else (), (*steps, linked), None, origin, many=True,
        quantifier=target._quantifier if target is not None else "",
    )
    return found


def backlinks(source: Any, /) -> Path[Any]:
    """The objects that link to the queried ones through a property, in conditions:

    r.objects(Dog).where(realm.backlinks(Person.dogs).count() > 1)
    """
    return _backlinks(None, source)


def not_(condition: Condition | bool, /) -> Condition:
    """`~condition`, also for type checkers, which take `Dog.age == 2` for a bool and `~` of that for
    an int."""
    return ~_condition(condition)


def expr(value: T, /) -> Path[T]:
    """A property of a class as the expression that it is, for type checkers, which take `Dog.age`
    for an int: `realm.expr(Dog.age).in_([1, 2])`."""
    if not isinstance(value, Path):
        raise UsageError(f"expr() takes a property of a class, as in expr(Dog.age), not {value!r}")
    return value


def path_of_property(prop: _realm.Property, owner: ObjectMeta) -> Any:
    """What reading a property from its class gives; called by the extension module, which keeps it."""
    return Path((owner,), (prop.name,), prop, _find_target(owner, prop.name), many=False)


def element_of(cls: Any) -> Path[Any]:
    """What conditions given as functions are called with: the object or value that is tested."""
    return Path((cls,) if cls is not None else (), (), None, cls, many=False)


def compiled(conditions: tuple[Any, ...], cls: Any) -> tuple[Parts, list[Any]]:
    """The parts of a predicate that says all conditions, and its arguments."""
    if not conditions:
        raise UsageError("where() needs a condition, such as Dog.age < 2")
    joined: Any = None
    for given in conditions:
        condition = given if isinstance(given, Condition) else _condition_given(given, cls)
        joined = condition if joined is None else joined & condition
    parts = begun(cls, cls is None)
    joined._write(parts)
    return parts, parts.arguments


def _condition_given(given: Any, cls: Any) -> Condition:
    """A condition that is given as a function of the element, or as a property that is one by itself."""
    if callable(given) and not isinstance(given, Written):
        given = given(element_of(cls))
    if not isinstance(given, Written):
        raise UsageError(f"where() takes conditions, such as Dog.age < 2, not {given!r}")
    return _condition(given)


_realm._set_make_path(path_of_property)
