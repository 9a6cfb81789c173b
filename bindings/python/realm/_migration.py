"""Migrations: moving the data of a file to classes that have changed, and dry runs of that."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from ._errors import ArgumentError, Error, NoSuchClassError, UsageError
from ._model import Object
from ._records import record
from ._reflection import classes_from_description

if TYPE_CHECKING:
    from ._database import Realm

T = TypeVar("T", bound=Object)


class Migration:
    """What the third argument of a migration function can do besides changing objects.

    def migrate(old, new, m):
        m.rename(Person, "name", "full_name")
        for before, after in m.each(Person):
            after.age = int(before.age_text)

    Classes are given as the new classes, or by their names in the file.
    """

    __slots__ = ("_new", "_old", "_origins")

    def __init__(self, old: Realm, new: Realm) -> None:
        self._old = old
        self._new = new
        # Names in the file before, by those that renaming gave.
        self._origins: dict[str, str] = {}

    @property
    def old(self) -> Realm:
        """The realm as it was: it can't be written, and has the classes of the file."""
        return self._old

    @property
    def new(self) -> Realm:
        """The realm as it will be, in its write transaction, with the new classes."""
        return self._new

    @property
    def old_version(self) -> int:
        """Schema version of the file."""
        return self._old.schema_version or 0

    @property
    def new_version(self) -> int:
        """Schema version that the file gets."""
        return self._new.schema_version or 0

    def _stored(self, cls: type[Object] | str) -> str:
        """The name of a class in the file."""
        if not isinstance(cls, str):
            model = getattr(cls, "__realm_model__", None)
            if model is None:
                raise UsageError(f"{cls!r} is not a class derived from realm.Object")
            return str(model.stored_name)
        for model in self._new._models:
            if model.name == cls:
                return model.stored_name
        return cls

    def rename(self, cls: type[Object] | str, old: str, new: str, /) -> None:
        """Gives what the property `old` of the file holds to the property `new` of a class.

        Both have the same type; `new` may be None if `old` may. Costs nothing per object. What
        `new` held until now is lost.
        """
        stored = self._stored(cls)
        for model in self._new._models:
            if model.stored_name == stored:
                # The file may know the property by another name.
                names = {prop.name: prop.stored_name for prop in model.properties}
                new = names.get(new, new)
        self._new._rename_property(stored, old, new)

    def rename_class(self, old: str, new: type[Object] | str, /) -> None:
        """Has the class `old` of the file go on as one of the new classes.

        Its objects stay, and the links to them; properties of the same name and type keep their
        values. The new class has no objects yet. Rename its properties afterwards.
        """
        stored = self._stored(new)
        self._new._rename_class(old, stored)
        self._origins[stored] = self._origins.pop(old, old)

    def delete_class(self, name: str, /) -> bool:
        """Deletes a class that is not among the new ones, and its objects; False: there was none.

        Classes that are not among the new ones otherwise stay in the file as they are.
        """
        return self._new._delete_class(name)

    def delete_objects(self, cls: type[Object] | str, /) -> None:
        """Deletes all objects of a class, also of one that is not among the new ones."""
        self._new._delete_objects_of(self._stored(cls))

    @overload
    def each(self, cls: type[T], /) -> Iterator[tuple[Any, T]]: ...
    @overload
    def each(self, cls: str, /) -> Iterator[tuple[Any, Any]]: ...
    def each(self, cls: type[Object] | str, /) -> Iterator[tuple[Any, Any]]:
        """The objects of a class as they were, each with what it is now: (before, after).

        Those that the migration has deleted are left out, and those that it made. Nothing for a
        class that the file did not have.
        """
        self._new.objects(cls)
        stored = self._stored(cls)
        try:
            found = self._old.objects(self._origins.get(stored, stored))
        except NoSuchClassError:
            return iter(())
        return self._new._pairs(cls, found)

    def __repr__(self) -> str:
        if self._new.is_closed:
            return f"<migration of {self._new.path!r}, over>"
        versions = f"from version {self.old_version} to {self.new_version}"
        return f"<migration of {self._new.path!r} {versions}>"


Step: TypeAlias = "Callable[[Realm, Realm], object] | Callable[[Realm, Realm, Migration], object]"
#: What `realm.open` takes as `migrate`.
Migrate: TypeAlias = "Step | Mapping[int, Step]"


def check_ordinary(function: Any) -> None:
    """Refuses functions that would do nothing when they are called."""
    # Few programs migrate, and this takes a while to load.
    import inspect

    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise UsageError(f"{function!r} can't be called here: it has to be an ordinary function")


def _arguments(function: Any) -> int:
    """2 or 3: how many arguments a migration function takes."""
    if not callable(function):
        raise UsageError(
            f"migrate is a function, or a dict of functions by version, not {function!r}"
        )
    check_ordinary(function)
    import inspect

    try:
        signature = inspect.signature(function)
    except ValueError:
        return 2
    for count in (2, 3):
        try:
            signature.bind(*range(count))
        except TypeError:
            continue
        return count
    raise UsageError(
        f"a migration function takes (old, new) or (old, new, m); {function!r} takes {signature}"
    )


def _steps(migrate: Any, version: int) -> list[tuple[int, Any, int]]:
    """Versions, functions and their numbers of arguments, in order; version 0: for any version."""
    if not isinstance(migrate, Mapping):
        return [(0, migrate, _arguments(migrate))]
    for step in migrate:
        if not isinstance(step, int) or isinstance(step, bool) or step < 1:
            raise UsageError(f"migrate has functions by schema version, 1 or higher, not {step!r}")
        if step > version:
            raise ArgumentError(
                f"migrate has a function for schema version {step}, and version is {version}"
            )
    return [(step, migrate[step], _arguments(migrate[step])) for step in sorted(migrate)]


def runner(migrate: Migrate, version: int) -> Callable[[Realm, Realm], None]:
    """The function that the extension calls; checks what was given before anything happens."""
    steps = _steps(migrate, version)

    def run(old: Realm, new: Realm) -> None:
        found = classes_from_description(old._describe())
        old._bind(tuple(cls.__realm_model__ for cls in found))
        migration = Migration(old, new)
        for step, function, count in steps:
            if step and step <= migration.old_version:
                continue
            result = function(*(old, new, migration)[:count])
            if isinstance(result, Awaitable | Generator):
                # It has done nothing yet, and would not in time.
                raise UsageError(f"{function!r} can't migrate: it returned {result!r}")

    return run


@record
class MigrationPlan:
    """What opening a file with other classes would do; `str(plan)` says it in words."""

    path: str
    #: Schema version of the file; None if it has none yet.
    old_version: int | None
    new_version: int
    #: How the file differs from the classes, as sentences. Classes that only the file has stay.
    differences: tuple[str, ...]
    #: Opening would write to the file.
    changes: bool
    #: Why opening would fail; None if it would not.
    refusal: Error | None

    def __str__(self) -> str:
        lines = [f"- {difference}" for difference in self.differences]
        if self.refusal is not None:
            return str(self.refusal)
        if self.old_version != self.new_version:
            old = "without a schema version" if self.old_version is None else self.old_version
            lines.insert(0, f"schema version {old} becomes {self.new_version}")
        return "\n".join(lines) or "nothing changes"
