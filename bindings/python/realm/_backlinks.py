"""`Backlinks`: what links to an object, as an attribute of it."""

from __future__ import annotations

import sys
import typing
from collections.abc import Mapping
from typing import Any, Generic, TypeVar, overload

from ._errors import ReadOnlyPropertyError, SchemaError, UsageError

if typing.TYPE_CHECKING:
    from ._model import Object
    from ._results import Results

T = TypeVar("T")


def _is_model(cls: Any) -> bool:
    return isinstance(cls, type) and hasattr(cls, "__realm_model__")


def _names_a_class(cls: Any) -> bool:
    """A class, its name, or a name in an annotation that does not exist yet."""
    return isinstance(cls, str) or _is_model(cls) or isinstance(getattr(cls, "name", None), str)


class Backlinks(Generic[T]):
    """The objects that link to an object through one of their properties, as an attribute of it:

        class Dog(realm.Object):
            owners: realm.Backlinks[Person, "dogs"]
            friends = realm.Backlinks(Person, "friends")

    Both forms are the same; type checkers understand the second. `dog.owners` are live results, empty
    for an object that is in no realm; `Dog.owners` is a path for conditions: `Dog.owners.count() > 1`.
    The class may be given by name if it comes later.
    """

    __slots__ = ("_cls", "_name", "_place")

    @overload
    def __init__(self, cls: type[T], name: str, /) -> None: ...
    @overload
    def __init__(self: Backlinks[Any], cls: str, name: str, /) -> None: ...
    def __init__(self, cls: Any, name: str, /) -> None:
        if not isinstance(name, str) or not _names_a_class(cls):
            raise UsageError(f"Backlinks takes a class and the name of its property: {cls!r}, {name!r}")
        self._cls: Any = cls if _is_model(cls) else getattr(cls, "name", cls)
        self._name = name
        self._place = "Backlinks"

    if not typing.TYPE_CHECKING:

        def __class_getitem__(cls, parameters: Any) -> Any:
            if isinstance(parameters, tuple) and len(parameters) == 2:
                return Backlinks(*parameters)
            return super().__class_getitem__(parameters)

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._place = f"{owner.__name__}.{name}"

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> Any: ...
    @overload
    def __get__(self, instance: Object, owner: type[Any]) -> Results[T]: ...
    def __get__(self, instance: Object | None, owner: type[Any]) -> Any:
        if instance is not None:
            if not instance._realm_managed:
                return ()
            return instance._realm_owner.backlinks(  # type: ignore[union-attr]
                instance, self._cls, self._name
            )
        source = self._cls
        if isinstance(source, str):
            source = vars(sys.modules[owner.__module__]).get(source)
            if not _is_model(source):
                raise SchemaError(f"{self._place}: there is no class {self._cls!r} in {owner.__module__}")
        from ._paths import backlinks

        return backlinks(getattr(source, self._name))

    def __set__(self, instance: Object, value: typing.Never) -> typing.NoReturn:
        raise ReadOnlyPropertyError(
            f"{self._place} is computed; assign to the property {self._name!r} of what links"
        )

    def __or__(self, other: object) -> typing.NoReturn:
        raise SchemaError(f"Backlinks are never None, only empty: {other!r} makes no sense")

    def __repr__(self) -> str:
        source = self._cls if isinstance(self._cls, str) else self._cls.__name__
        return f"<backlinks from {source}.{self._name}>"


def backlinks_in(annotation: Any, names: Mapping[str, Any]) -> Backlinks[Any] | None:
    """What an annotation `Backlinks[Person, "dogs"]` says; None for others."""
    if isinstance(annotation, typing.ForwardRef):
        annotation = annotation.__forward_arg__
    if isinstance(annotation, Backlinks):
        return annotation
    if not isinstance(annotation, str) or "Backlinks[" not in annotation:
        return None
    try:
        found = eval(annotation, {"__builtins__": {}}, names)
    except SyntaxError:
        return None
    return found if isinstance(found, Backlinks) else None
