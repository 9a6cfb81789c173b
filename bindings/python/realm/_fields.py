"""What a class body says about a property besides its type: `Field` and its shorter forms; and `typed`, which
tells type checkers of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar, dataclass_transform

from ._errors import SchemaError

C = TypeVar("C")


class _Float32Marker:
    def __repr__(self) -> str:
        return "realm.Float32"


#: A float of 32 bits: `weight: realm.Float32`.
Float32 = Annotated[float, _Float32Marker()]


class _Missing:
    def __repr__(self) -> str:
        return "<no default>"


_MISSING: Any = _Missing()


class Marker:
    """What `Field`, `PrimaryKey`, `Indexed`, `FullText` and `Default` leave in the class body."""

    __slots__ = (
        "default", "default_factory", "full_text", "indexed", "name_in_file", "primary_key",
    )

    def __init__(
        self,
        *,
        default: Any = _MISSING,
        default_factory: Callable[[], Any] | None = None,
        primary_key: bool = False,
        indexed: bool = False,
        full_text: str | None = None,
        name_in_file: str | None = None,
    ) -> None:
        if default is not _MISSING and default_factory is not None:
            raise SchemaError("give default or default_factory, not both")
        if default_factory is not None and not callable(default_factory):
            raise SchemaError(f"default_factory is a function, not {default_factory!r}")
        self.default = default
        self.default_factory = default_factory
        self.primary_key = primary_key
        self.indexed = indexed
        self.full_text = full_text
        self.name_in_file = name_in_file


# These are typed Any so that `icao: str = PrimaryKey()` passes a type checker.
def Field(
    *,
    default: Any = _MISSING,
    default_factory: Callable[[], Any] | None = None,
    primary_key: bool = False,
    indexed: bool = False,
    full_text: bool | Literal["latin", "unicode"] = False,
    name_in_file: str | None = None,
) -> Any:
    """What there is to say about a property, in one place.

    default          of new objects; for lists, sets and dicts each object gets a copy.
    default_factory  computes one for each new object.
    primary_key      identifies the object; see `PrimaryKey`.
    indexed          has an index; see `Indexed`.
    full_text        has an index of its words; `"unicode"`: of all scripts. See `FullText`.
    name_in_file     the name that the file, and programs in other languages, know it by.
    """
    if full_text not in (False, True, "latin", "unicode"):
        raise SchemaError(f"full_text is True, 'latin' or 'unicode', not {full_text!r}")
    if name_in_file is not None and not isinstance(name_in_file, str):
        raise SchemaError(f"name_in_file is a str, not {name_in_file!r}")
    return Marker(
        default=default,
        default_factory=default_factory,
        primary_key=primary_key,
        indexed=indexed,
        full_text="latin" if full_text is True else full_text or None,
        name_in_file=name_in_file,
    )


def PrimaryKey(
    *,
    default: Any = _MISSING,
    default_factory: Callable[[], Any] | None = None,
    name_in_file: str | None = None,
) -> Any:
    """Marks the property that identifies an object: an int, str, UUID or ObjectId, unique and
    fixed at creation."""
    return Marker(
        default=default, default_factory=default_factory, primary_key=True,
        name_in_file=name_in_file,
    )


def Indexed(
    *,
    default: Any = _MISSING,
    default_factory: Callable[[], Any] | None = None,
    name_in_file: str | None = None,
) -> Any:
    """Gives a property an index: look-ups, ranges, BEGINSWITH and sorting by it become fast."""
    return Marker(
        default=default, default_factory=default_factory, indexed=True, name_in_file=name_in_file
    )


def FullText(
    *,
    unicode: bool = False,
    indexed: bool = False,
    default: Any = _MISSING,
    default_factory: Callable[[], Any] | None = None,
    name_in_file: str | None = None,
) -> Any:
    """Gives a str an index of its words, for queries with TEXT: `filter("text TEXT 'storm'")`.
    Case and accents don't matter. Words are ASCII and Latin-1 letters and digits, or with
    `unicode=True` those of all scripts. `indexed=True` adds an index of whole values."""
    return Marker(
        default=default,
        default_factory=default_factory,
        indexed=indexed,
        full_text="unicode" if unicode else "latin",
        name_in_file=name_in_file,
    )


def Default(factory: Callable[[], Any]) -> Any:
    """A default that is computed for each new object: `created: datetime = Default(factory=now)`.
    (Type checkers see that the argument is optional if `factory` is named.)"""
    return Marker(default_factory=factory)


@dataclass_transform(
    kw_only_default=True, field_specifiers=(Field, PrimaryKey, Indexed, FullText, Default)
)
def typed(cls: type[C]) -> type[C]:
    """Decorates a model class so that type checkers check what it is constructed with. It changes nothing else.

    By PEP 681 they take every property without a value in the class for one that must be given, so that
    the class says `tags: list[str] = []` and `age: int | None = None`; and, as with dataclasses, classes
    that it is derived from, and mixins with properties, are to be decorated, too.
    """
    return cls
