"""Attributes of Python's own that model classes take from mixins which are no model classes: those that the mixins
use themselves. Others are spelling mistakes."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

from . import _realm


def _functions(value: Any) -> Iterator[types.FunctionType]:
    """The functions behind a member of a class: of methods, properties, and what decorators wrap."""
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, types.FunctionType):
            yield one
        for name in ("__func__", "__wrapped__", "fget", "fset", "fdel", "func"):
            inner = getattr(one, name, None)
            if callable(inner):
                waiting.append(inner)


def _assigned(code: types.CodeType) -> Iterator[str]:
    """The attributes that code assigns, with the functions inside of it."""
    import dis

    for instruction in dis.get_instructions(code):
        if instruction.opname == "STORE_ATTR":
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _assigned(constant)


def _names_in(mixin: type) -> Iterator[str]:
    for name, value in vars(mixin).items():
        if name.startswith("__") and name.endswith("__") and not callable(value):
            continue
        if not hasattr(type(value), "__get__"):
            # A value for all instances, which one of them may have another for.
            yield name
        for function in _functions(value):
            yield from _assigned(function.__code__)


def _slots(cls: type) -> tuple[str, ...]:
    slots = vars(cls).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def free_attributes(bases: tuple[type, ...]) -> bool | frozenset[str]:
    """Attributes besides properties that may be assigned to objects of a class with these bases: True for all,
    where a mixin has `__dict__` among its slots."""
    found: set[str] = set()
    for base in bases:
        handed_down = getattr(base, "__realm_free_attributes__", ())
        if handed_down is True:
            return True
        found.update(handed_down)
        for cls in base.__mro__:
            if cls is object or issubclass(cls, _realm.Object) or "__dict__" not in vars(cls):
                continue
            if "__dict__" in _slots(cls):
                return True
            found.update(_names_in(cls))
    return frozenset(found)
