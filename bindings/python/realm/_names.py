"""Names in annotations: those that exist, and those of classes that come later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


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


class _Names(Mapping[str, Any]):
    """The names an annotation can see: function, module, builtins; else an `_Unknown`."""

    def __init__(self, *scopes: Mapping[str, Any]) -> None:
        self.scopes = scopes

    def __getitem__(self, name: str) -> Any:
        for scope in self.scopes:
            if name in scope:
                return scope[name]
        return _Unknown(name)

    def __iter__(self) -> Iterator[str]:
        for scope in self.scopes:
            yield from scope

    def __len__(self) -> int:
        return sum(map(len, self.scopes))
