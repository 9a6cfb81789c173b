"""Names in annotations: those that exist, and those of classes that come later; and those of properties in
the file."""

from __future__ import annotations

import builtins
import typing
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from ._errors import SchemaError


class _Unknown:
    """A name in an annotation that does not exist yet: a link to a class of that name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name

    def __or__(self, other: object) -> _Choice:
        return _Choice((self, other))

    def __ror__(self, other: object) -> _Choice:
        return _Choice((other, self))


class _Choice:
    """`X | Y` where one of them is unknown."""

    __slots__ = ("members",)

    def __init__(self, members: tuple[object, ...]) -> None:
        self.members = members

    def __repr__(self) -> str:
        return " | ".join(m.__name__ if isinstance(m, type) else repr(m) for m in self.members)

    def __or__(self, other: object) -> _Choice:
        return _Choice((*self.members, other))

    def __ror__(self, other: object) -> _Choice:
        return _Choice((other, *self.members))


class _Builtin(_Unknown):
    """A builtin that can't be stored: perhaps the name of a class that comes later. Called or with parameters,
    as in `type(None)` and `tuple[int]`, it is the builtin itself."""

    __slots__ = ()

    def __call__(self, *args: Any, **options: Any) -> Any:
        return getattr(builtins, self.name)(*args, **options)

    def __getitem__(self, parameters: Any) -> Any:
        return getattr(builtins, self.name)[parameters]


#: The builtins that annotations mean as they are.
_STORED: dict[str, Any] = {
    cls.__name__: cls for cls in (int, bool, float, str, bytes, list, set, dict)
}


class _Names(Mapping[str, Any]):
    """The names an annotation can see: function, module, builtins that are stored; else an `_Unknown`."""

    def __init__(self, *scopes: Mapping[str, Any]) -> None:
        self.scopes = (*scopes, _STORED)

    def __getitem__(self, name: str) -> Any:
        for scope in self.scopes:
            if name in scope:
                return scope[name]
        return _Builtin(name) if hasattr(builtins, name) else _Unknown(name)

    def __iter__(self) -> Iterator[str]:
        for scope in self.scopes:
            yield from scope

    def __len__(self) -> int:
        return sum(map(len, self.scopes))


def is_class_variable(annotation: Any, names: _Names) -> bool:
    """Whether an annotation is a `ClassVar`, by whatever name. What is inside of it may not exist yet."""
    if isinstance(annotation, typing.ForwardRef):
        annotation = annotation.__forward_arg__
    if not isinstance(annotation, str):
        return annotation is ClassVar or typing.get_origin(annotation) is ClassVar
    first, *rest = (part.strip() for part in annotation.partition("[")[0].split("."))
    found = names[first]
    if isinstance(found, _Unknown):
        # Imported for type checkers alone.
        return (rest or [first])[-1] == "ClassVar"
    for name in rest:
        found = getattr(found, name, None)
    return found is ClassVar


def check_names_in_file(declared: Mapping[str, tuple[str | None, str]]) -> None:
    """Refuses two properties with one name, in Python or the file. By the name in Python: the one in the file,
    if it is another, and where the property is declared."""
    owners: dict[str, str] = {}
    for name, (stored, where) in declared.items():
        in_file = name if stored is None else stored
        if in_file in owners:
            raise SchemaError(f"{where}: {in_file!r} is the name of {owners[in_file]} in the file already")
        owners[in_file] = where
    for name, (stored, where) in declared.items():
        if stored not in (None, name) and name in owners:
            raise SchemaError(
                f"{where}: {name!r} is the name of {owners[name]} in the file, and queries know both names"
            )
