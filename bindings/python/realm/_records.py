"""Frozen classes of named values. As `dataclasses.dataclass(frozen=True, slots=True)` makes them, without the
modules that it brings along: these took a third of the time of `import realm`."""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar, dataclass_transform

from ._errors import ReadOnlyPropertyError, UsageError

C = TypeVar("C")


def _init(self: Any, *values: Any, **named: Any) -> None:
    cls = type(self)
    fields = cls.__match_args__
    if len(values) > len(fields):
        raise UsageError(f"{cls.__name__}() takes {len(fields)} values, not {len(values)}")
    named = {**dict(zip(fields, values, strict=False)), **named}
    for field in fields:
        if field not in named and field not in cls.__realm_defaults__:
            raise UsageError(f"{cls.__name__}() needs a value for {field}")
        value = named.pop(field) if field in named else cls.__realm_defaults__[field]
        object.__setattr__(self, field, value)
    if named:
        raise UsageError(f"{cls.__name__}() has no {', '.join(named)}")


def _values(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, field) for field in self.__match_args__)


def _repr(self: Any) -> str:
    pairs = (f"{field}={getattr(self, field)!r}" for field in self.__match_args__)
    return f"{type(self).__qualname__}({', '.join(pairs)})"


def _eq(self: Any, other: object) -> bool:
    return _values(self) == _values(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


def _set(self: Any, name: str, value: object = None) -> NoReturn:
    raise ReadOnlyPropertyError(f"a {type(self).__name__} can't be changed: {name!r}")


def _reduce(self: Any) -> tuple[Any, ...]:
    return type(self), _values(self)


@dataclass_transform(frozen_default=True)
def record(cls: type[C]) -> type[C]:
    """Makes the class one of the values that it annotates, in their order."""
    fields = tuple(cls.__dict__["__annotations__"])
    namespace = {k: v for k, v in vars(cls).items() if k not in ("__dict__", "__weakref__")}
    namespace["__realm_defaults__"] = {f: namespace.pop(f) for f in fields if f in namespace}
    namespace.update(
        __slots__=fields, __match_args__=fields, __init__=_init, __eq__=_eq, __hash__=_hash,
        __setattr__=_set, __delattr__=_set, __reduce__=_reduce,
    )
    namespace.setdefault("__repr__", _repr)
    made: type[C] = type(cls.__name__, cls.__bases__, namespace)
    return made
