"""What a realm is opened with: its classes, its place and the options, checked."""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator
from typing import Any, Literal, TypeAlias, get_args

from . import _realm
from ._errors import ArgumentError, ConfigurationError, SchemaError, UsageError
from ._migration import Migrate, check_ordinary, runner
from ._model import EmbeddedObject, Object, ObjectMeta, _find_target
from ._progress import Part, parts

#: The classes of a realm: several, or one. (Type checkers take a list of two classes for one of their
#: metaclass.)
Classes: TypeAlias = "type[Object] | Iterable[type[Object]] | Iterable[ObjectMeta]"

#: What opening does about a file with other classes; see docs/MIGRATIONS.md.
SchemaMode = Literal[
    "automatic",
    "manual",
    "additive_discovered",
    "additive_explicit",
    "read_only",
    "immutable",
    "soft_reset",
    "hard_reset",
]
#: The greatest number of a client: keys have 26 bits for it, and one value of them is no client's.
_CLIENT_MAX = 2**26 - 2
#: Those that write nothing.
_READING = ("read_only", "immutable")


def absolute(path: Any) -> str:
    """Where a file is that somebody named."""
    try:
        return os.path.abspath(os.fsdecode(path))
    except TypeError:
        raise UsageError(f"a path is a str, bytes or os.PathLike, not {path!r}") from None


def _with_targets(classes: Iterable[ObjectMeta]) -> Iterator[ObjectMeta]:
    """The classes, and those they link to, in the order in which they are first mentioned."""
    pending = list(classes)
    seen: set[ObjectMeta] = set()
    for cls in pending:
        if not isinstance(cls, ObjectMeta) or cls in (Object, EmbeddedObject):
            raise SchemaError(f"{cls!r} is not a class derived from realm.Object")
        if cls in seen:
            continue
        seen.add(cls)
        yield cls
        for declaration in cls.__realm_declarations__.values():
            target = _find_target(cls, declaration.name)
            if target is not None:
                pending.append(target)


def checked(given: Any) -> tuple[_realm.Model, ...]:
    by_name: dict[str, ObjectMeta] = {}
    classes: Any = (given,) if isinstance(given, type) else given
    if not isinstance(classes, Iterable):
        raise SchemaError(f"{given!r} is no class derived from realm.Object, and no list of such classes")
    for cls in _with_targets(classes):
        other = by_name.setdefault(cls.__realm_model__.name, cls)
        if other is not cls:
            raise SchemaError(f"two classes are called {cls.__name__}: {other!r} and {cls!r}")
    for cls in by_name.values():
        for declaration in cls.__realm_declarations__.values():
            if declaration.target is not None and declaration.target not in by_name:
                is_type = hasattr(builtins, declaration.target)
                kind = "no type that can be stored, and " if is_type else ""
                raise SchemaError(
                    f"{cls.__name__}.{declaration.name} links to {declaration.target}, which is {kind}"
                    f"not among the classes: {', '.join(sorted(by_name))}"
                )
    return tuple(cls.__realm_model__ for cls in by_name.values())


def _one_of(name: str, value: Any, other_name: str, other: Any) -> Any:
    """The argument under one of its two names."""
    if value is not None and other is not None:
        raise UsageError(f"give {name} or {other_name}, not both: they mean the same")
    return other if value is None else value


def version_of(version: int | None, schema_version: int | None) -> int:
    number = _one_of("version", version, "schema_version", schema_version)
    if number is None:
        return 0
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 2**64 - 1:
        raise ConfigurationError(f"a schema version is an int from 0 on, not {number!r}")
    return number


def default_path(make: bool = False, /) -> str:
    """Where `realm.open()` without a path has its file: `default.realm` in `$REALM_DEFAULT_DIRECTORY`, or
    in `$XDG_DATA_HOME/PROGRAM`, which is `~/.local/share/PROGRAM` where that is not set. PROGRAM is the
    name of the running program. The folder is made when the file is."""
    folder = os.environ.get("REALM_DEFAULT_DIRECTORY")
    if not folder:
        program = os.path.splitext(os.path.basename(sys.argv[0] if sys.argv else ""))[0]
        data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
        folder = os.path.join(data, program if program.strip("-") else "python")
    if make:
        os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, "default.realm")


def _first(initial_data: Callable[[Any], object] | None) -> Callable[[Any], None] | None:
    if initial_data is None:
        return None
    if not callable(initial_data):
        raise UsageError(f"initial_data is a function, not {initial_data!r}")
    check_ordinary(initial_data)
    function = initial_data

    def run(realm: Any) -> None:
        result = function(realm)
        if isinstance(result, Awaitable | Generator):
            raise UsageError(f"{function!r} has made no data: it returned {result!r}")

    return run


class Request:
    """What a realm is opened with, checked: the arguments of the extension's two calls."""

    __slots__ = ("models", "options", "path", "positional")

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        classes: Classes | None,
        schema: Classes | None,
        version: int | None,
        schema_version: int | None,
        schema_mode: SchemaMode | None,
        migrate: Migrate | None,
        initial_data: Callable[[Any], object] | None,
        progress: Part | bool | None,
        read_only: bool,
        in_memory: bool,
        max_versions: int | None,
        encryption_key: bytes | None,
        key: bytes | None,
        encryption_cache: int | None,
        client_number: int,
    ) -> None:
        self.path = absolute(default_path(True) if path is None else path)
        classes = _one_of("classes", classes, "schema", schema)
        encryption_key = _one_of("encryption_key", encryption_key, "key", key)
        number = version_of(version, schema_version)
        self.models = None if classes is None else checked(classes)
        if classes is None:
            for name, given in (("migrate", migrate), ("initial_data", initial_data)):
                if given is not None:
                    raise ConfigurationError(f"{name} needs classes")
        if schema_mode is not None and schema_mode not in get_args(SchemaMode):
            raise ConfigurationError(f"no schema mode {schema_mode!r}; there are {', '.join(get_args(SchemaMode))}")
        if read_only and schema_mode not in (None, "read_only"):
            raise UsageError(f"read_only has a schema mode of its own, not {schema_mode!r}")
        if isinstance(client_number, bool) or not isinstance(client_number, int):
            raise UsageError(f"client_number is an int, not {client_number!r}")
        if not 0 <= client_number <= _CLIENT_MAX:
            raise ArgumentError(
                f"client_number is between 1 and {_CLIENT_MAX}, or 0 for none, not {client_number}",
                None,
                self.path,
            )
        mode = "read_only" if read_only else schema_mode or "automatic"
        self.positional = (self.path, self.models, number, mode)
        self.options: dict[str, Any] = {
            "in_memory": in_memory,
            "max_versions": max_versions,
            "encryption_key": encryption_key,
            "encryption_cache": encryption_cache,
            "client_number": client_number,
            "migrate": None if migrate is None else runner(migrate, number),
            "initial_data": _first(initial_data),
            "progress": parts(progress, "migration"),
        }
