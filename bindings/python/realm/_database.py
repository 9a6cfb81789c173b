"""Opening realms, and the realm itself: transactions, objects, versions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, cast, overload

from . import _realm
from ._change_log import LoggedRealm
from ._errors import (
    ConfigurationError,
    FileMissingError,
    FilePermissionError,
    NoSuchClassError,
    NoSuchObjectError,
    SchemaMismatchError,
    UsageError,
)
from ._migration import Migrate, MigrationPlan, runner
from ._model import Object, Reference
from ._observing import RealmChange, SchemaChange, begin, begin_schema, detach
from ._progress import Count, Part, end
from ._reflection import classes_from_description
from ._request import _READING, Classes, Request, SchemaMode, absolute, checked, version_of
from ._results import Results
from ._showing import html_of_realm
from ._streams import Changes, end_streams
from ._tables import insert_many
from ._transactions import AsyncTransaction, Savepoint, Transaction

S = TypeVar("S")
T = TypeVar("T", bound=Object)

#: What happens to objects whose primary key is there already.
Update = Literal["error", "all", "modified"]


def _all_of(objects: Any, taken: str) -> list[Any]:
    if isinstance(objects, (str, bytes)) or not isinstance(objects, Iterable):
        raise UsageError(f"{taken} objects one after another, such as a list of them, not {objects!r}")
    return list(objects)


class Realm(LoggedRealm):
    """An open realm. Made by `realm.open`; belongs to the thread that opened it.

    As a context it closes itself at the end: `with realm.open(path, classes=[...]) as r:`.
    """

    # What runs in event loops; not there before it is needed.
    __slots__ = ("_attachment", "_streams", "_turns")
    _attachment: Any
    _streams: set[Any]
    _turns: Any

    def __enter__(self) -> Realm:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def write(
        self,
        *,
        timeout: float | None = None,
        without_notifying: Iterable[_realm.Token | Changes[Any]] = (),
    ) -> Transaction:
        """A write transaction: `with r.write(): ...` commits, or rolls back on an exception.

        timeout            seconds to wait for other writers, in this process and in others, before it
                           is a `WriteTimeoutError`; without one, until they are done.
        without_notifying  tokens of observers that are not told of what the block changes, because
                           the program shows it already; see `commit`.
        """
        return Transaction(self, timeout, without_notifying)

    def write_async(self, *, timeout: float | None = None) -> AsyncTransaction:
        """The same for coroutines: `async with r.write_async(): ...`. While others write, in this realm's
        other tasks, threads or processes, the event loop goes on. The commit itself is as long as a sync."""
        return AsyncTransaction(self, timeout)

    def commit(
        self, *, without_notifying: Iterable[_realm.Token | Changes[Any]] = ()
    ) -> None:
        """Commits the write transaction durably. What the observers with these tokens are told next
        begins after it."""
        tokens = tuple(
            token._token if isinstance(token, Changes) else token for token in without_notifying
        )
        if tokens:
            self._commit_without(tokens)
        else:
            super().commit()

    def savepoint(self) -> Savepoint:
        """A place in the write transaction to go back to; see `Savepoint`."""
        return Savepoint(self)

    # ---- objects ---------------------------------------------------------------------------

    @overload
    def objects(self, cls: type[T], /) -> Results[T]: ...
    @overload
    def objects(self, cls: str, /) -> Results[Any]: ...
    def objects(self, cls: type[T] | str, /) -> Results[Any]:
        """All objects of a class, lazily."""
        return Results._of_class(self, cls)

    def add_all(
        self, objects: Iterable[T], /, *, update: Literal["error", "all", "modified"] = "error"
    ) -> list[T]:
        """Adds several objects, all or none when there is an error; see `add`."""
        waiting = _all_of(objects, "add_all() takes")

        def add() -> list[T]:
            return [self.add(obj, update=update) for obj in waiting]

        return self._atomically(add)

    def insert_many(
        self,
        cls: type[Object] | str,
        data: Any,
        /,
        *,
        update: Update = "error",
        progress: Count | bool | None = None,
    ) -> int:
        """Creates many objects, all or none, and returns how many.

        `data` are rows: dicts, or objects that are in no realm; or columns: a dict of lists, arrays or
        buffers by name of the property; or a table of Apache Arrow: of pyarrow, polars, DuckDB,
        pandas and all others with `__arrow_c_stream__`. Columns take a fraction of the time of rows.
        `progress` is called with how many are done; True shows a bar where tqdm is installed.
        """
        return insert_many(self, cls, data, update, progress)

    @overload
    def create_from_json(
        self, cls: type[T], text: str, /, *, update: Update = "error", ignore_unknown: bool = False
    ) -> T: ...
    @overload
    def create_from_json(
        self, cls: str, text: str, /, *, update: Update = "error", ignore_unknown: bool = False
    ) -> Any: ...
    def create_from_json(
        self,
        cls: type[T] | str,
        text: str,
        /,
        *,
        update: Update = "error",
        ignore_unknown: bool = False,
    ) -> Any:
        """Creates the object that a JSON text describes, with all that is nested in it.

        Values of types that JSON lacks are text (ISO 8601, base64, hexadecimal digits) or MongoDB's
        extended JSON. Links are objects in turn, or primary keys. `update` as in `create`; names
        that the class does not have are an error, or passed over with `ignore_unknown`. An error
        leaves everything as it was.
        """
        return self._create_from_json(cls, text, update, ignore_unknown)

    def copy(self, obj: T, /, *, update: Update = "error") -> T:
        """Copies a stored object into this realm, with all that it links to and contains.

        It may be of another realm, of a frozen one, or of this one. Each object is copied once, also
        in cycles. Objects whose primary key this realm has are an error, or updated as `update`
        says; within one file they stay as they are. Others become new objects.
        """
        return cast(T, self._copy_object(obj, update))

    def delete(self, target: Object | Iterable[Object], /) -> None:
        """Deletes an object, or all objects of results or another iterable: all, or none where one of them
        can't be deleted."""
        if isinstance(target, Results):
            target.delete_all()
        elif isinstance(target, Object):
            self._delete_object(target)
        else:
            objects = _all_of(target, "delete() takes an object, results, or")

            def delete() -> None:
                for obj in objects:
                    self._delete_object(obj)

            self._atomically(delete)

    def delete_all(self, *classes: type[Object] | str) -> None:
        """Deletes all objects of these classes; without any, all objects of the realm's classes."""
        names = classes or [m.name for m in self._models if not m.embedded]

        def delete() -> None:
            for cls in names:
                self.objects(cls).delete_all()

        self._atomically(delete)

    @property
    def is_empty(self) -> bool:
        """Has no objects of its classes."""
        return not any(self.objects(m.name) for m in self._models if not m.embedded)

    @overload
    def backlinks(self, target: Object, cls: type[T], name: str, /) -> Results[T]: ...
    @overload
    def backlinks(self, target: Object, cls: str, name: str, /) -> Results[Any]: ...
    def backlinks(self, target: Object, cls: type[T] | str, name: str, /) -> Results[Any]:
        """The objects of `cls` that link to `target` through their property `name`."""
        return Results._of_backlinks(target, cls, name)

    # ---- observers, versions ---------------------------------------------------------------

    def observe(self, function: Callable[[RealmChange], object], /) -> _realm.Token:
        """Has `function(change)` called after each commit of this realm, and whenever it moves to
        another version. Observers of objects, collections and results are called after it."""
        return begin(self, function, ())

    def observe_schema(self, function: Callable[[SchemaChange], object], /) -> _realm.Token:
        """Has `function(change)` called when the realm moves to a version where somebody gave the
        file other classes or properties. Its own classes stay those it was opened with."""
        return begin_schema(self, function)

    def changes(self) -> Changes[RealmChange]:
        """The commits that this realm makes or follows, for `async for`."""
        return Changes(self, ())

    def freeze(self) -> Self:
        """The realm as it is now: it never changes, and all threads may use it. It keeps its version in
        the file until it is closed or forgotten. In a write transaction: as it was before."""
        return self._freeze()

    def thaw(self, subject: S, /) -> S | None:
        """What a frozen object, collection or results stand for, in this realm; None if it is not there
        any more. Also for those of another realm of the file that is open on this thread."""
        return cast("S | None", self._resolve(subject))

    def close(self) -> None:
        """Closes the realm; a write transaction that is open is rolled back, and observations end.
        Closing twice is fine."""
        super().close()
        detach(self)
        end_streams(self)

    @overload
    def object_at(self, cls: type[T], key: int, /) -> T | None: ...
    @overload
    def object_at(self, cls: str, key: int, /) -> Any: ...
    def object_at(self, cls: type[T] | str, key: int, /) -> Any:
        """The object of a class under a key of the change log, None if it is gone."""
        try:
            return self._object_for_key(cls, key)
        except NoSuchObjectError:
            return None

    def resolve(self, reference: Reference, /) -> Any:
        """The object that a `realm.reference` stands for, None if it was deleted."""
        if not isinstance(reference, Reference):
            raise UsageError(f"resolve() takes what realm.reference() gave, not {reference!r}")
        for model in self._models:
            if model.stored_name == reference.cls:
                return self.object_at(model.name, reference.key)
        raise NoSuchClassError(f"the realm {self.path!r} has no class {reference.cls!r}")

    # ---- the file --------------------------------------------------------------------------

    @property
    def classes(self) -> Mapping[str, type[Any]]:
        """The classes that this realm was opened with, by name."""
        return {model.name: model.type for model in self._models}

    def write_copy(
        self, path: str | os.PathLike[str], /, *, encryption_key: bytes | None = None
    ) -> None:
        """Writes what this realm sees to a new, compacted file.

        The file is encrypted with `encryption_key`, and without one not at all, whether this realm
        is or not: writing a copy is how a realm gets another key, its first one, or none.
        """
        self._write_copy(absolute(path), encryption_key)

    def copy_to(
        self, path: str | os.PathLike[str], /, *, key: bytes | None = None
    ) -> None:
        """As `write_copy`."""
        self._write_copy(absolute(path), key)

    def stats(self) -> dict[str, Any]:
        """As `statistics`: where the bytes of the file are, and how many objects there are."""
        return self.statistics()

    def _repr_html_(self) -> str:
        return html_of_realm(self)

    def __repr__(self) -> str:
        if self.is_closed:
            return f"<realm {self.path!r}, closed>"
        try:
            return f"<realm {self.path!r}, version {self.version}>"
        except Exception as error:
            return f"<realm {self.path!r}: {error}>"


def _bind_found(realm: Realm) -> None:
    """Gives a realm the classes of its file."""
    try:
        found = classes_from_description(realm._describe())
        realm._bind(tuple(cls.__realm_model__ for cls in found))
    except BaseException:
        realm.close()
        raise


def _opened(request: Request) -> Realm:
    try:
        realm = Realm(*request.positional, **request.options)
    finally:
        end(request.options["progress"])
    if request.models is None:
        _bind_found(realm)
    return realm


def open(  # noqa: A001 - `realm.open` is the natural name, as `gzip.open` is.
    path: str | os.PathLike[str] | None = None,
    classes: Classes | None = None,
    *,
    schema: Classes | None = None,
    version: int | None = None,
    schema_version: int | None = None,
    schema_mode: SchemaMode | None = None,
    migrate: Migrate | None = None,
    initial_data: Callable[[Realm], object] | None = None,
    progress: Part | bool | None = None,
    read_only: bool = False,
    in_memory: bool = False,
    max_versions: int | None = None,
    encryption_key: bytes | None = None,
    key: bytes | None = None,
    encryption_cache: int | None = None,
    client_number: int = 0,
) -> Realm:
    """Opens the realm at `path`, creating the file if there is none; without a path that at
    `realm.default_path()`.

    classes         the model classes to store, or one class; classes they link to need not be listed.
                    None takes the classes from the file: see `Realm.classes`. `schema` is the same.
    version         schema version of these declarations, 0 if not given. Adding classes and
                    changing indexes needs no new version, all other changes need a higher one.
                    `schema_version` is the same.
    schema_mode     what happens where the file has other classes: "automatic" if not given. The
                    others are in docs/MIGRATIONS.md.
    migrate         called as `migrate(old, new)` or `migrate(old, new, m)` when the file has a
                    lower schema version: `old` is the realm as it was, with the classes of the
                    file; `new` is the realm as it will be, in its write transaction; `m` is a
                    `realm.Migration`. An exception undoes everything and comes out of `open`. Or a
                    dict of such functions by schema version: those above the version of the file
                    are called in order.
    initial_data    called with the realm, in its write transaction, when the file gets its first
                    classes. An exception undoes that, too, and comes out of `open`.
    progress        called with how much of a change of classes is done, from 0.0 to 1.0, as far as
                    objects have to be gone through. If it returns False or raises, everything is
                    undone. True shows a bar where tqdm is installed.
    read_only       nothing can be written, not even new classes.
    in_memory       nothing outlives the last realm that is open under this path.
    max_versions    a write transaction fails when readers hold more versions than this.
    encryption_key  64 bytes that everything in the file is encrypted with, from the moment it is made:
                    `os.urandom(64)`, kept where only the program finds it. See docs/ENCRYPTION.md. `key` is
                    the same.
    encryption_cache  how many bytes of an encrypted file are kept decrypted in memory, 256 MB if not
                    given; 0 keeps all that was read. Who opens the file first in a process decides.
    client_number   a number for the upper bits of the keys of new objects, so that objects made in several
                    files with different numbers can be brought together; 0: none. All who write to a
                    file give the same. See docs/CHANGE_LOG.md.

    Objects that are there get the defaults of properties that are added. See docs/MIGRATIONS.md.
    `realm.open_async` does the same on another thread.
    """
    request = Request(
        path, classes, schema, version, schema_version, schema_mode, migrate, initial_data, progress,
        read_only, in_memory, max_versions, encryption_key, key, encryption_cache, client_number,
    )  # fmt: skip
    return _opened(request)


def migration_plan(
    path: str | os.PathLike[str],
    classes: Classes,
    *,
    version: int | None = None,
    schema_version: int | None = None,
    schema_mode: SchemaMode = "automatic",
    migrate: Migrate | None = None,
    rehearse: bool = False,
    encryption_key: bytes | None = None,
) -> MigrationPlan:
    """What opening the file at `path` with other classes would do. The file stays as it is.

    From the classes alone, `print(plan)` lists the differences, or says why opening would fail. With
    `rehearse`, or with a function for `migrate`, all of it is carried out, and taken back: this also
    finds what depends on the data, such as two objects with one primary key. Exceptions of `migrate`
    come out of this. Needs the file.
    """
    text = absolute(path)
    number = version_of(version, schema_version)
    models = checked(classes)
    run = None if migrate is None else runner(migrate, number)
    if not os.path.isfile(text) or os.path.getsize(text) == 0:
        raise FileMissingError(f"there is no realm at {text!r}", None, text)
    rehearse = rehearse or run is not None
    # Opening without classes changes nothing; a rehearsal takes over the mode of the realm.
    open_mode = schema_mode if rehearse and schema_mode not in _READING else "automatic"
    try:
        realm = Realm(text, None, 0, open_mode, encryption_key=encryption_key)
    except (ConfigurationError, FilePermissionError):
        # It is open as read-only here, or can't be written.
        if rehearse:
            raise
        realm = Realm(text, None, 0, "read_only", encryption_key=encryption_key)
    with realm:
        differences, changes, refusal = realm._preview(models, number, schema_mode)
        old = realm.schema_version
        if rehearse and changes:
            try:
                realm._rehearse(models, number, run)
            except SchemaMismatchError as error:
                refusal = error
    return MigrationPlan(text, old, number, tuple(differences), changes, refusal)


def check_file(
    path: str | os.PathLike[str], /, *, encryption_key: bytes | None = None
) -> list[str]:
    """Verifies the realm file at `path`, which need not be open, and does not change it.

    Returns the problems found, as texts; an empty list means that every block, tree, index and
    link of the file is sound. What prevents opening the file is a problem, too.
    """
    return _realm.check_file(absolute(path), encryption_key)


def change_encryption_key(
    path: str | os.PathLike[str], /, *, old: bytes | None, new: bytes | None
) -> None:
    """Encrypts the realm file at `path` with the key `new` instead of `old`; None stands for none.

    So this encrypts plain files and decrypts encrypted ones, too. The file is written anew, and is
    changed as a whole or not at all. Raises an error when it is open anywhere.
    """
    _realm.change_encryption_key(absolute(path), old, new)


def delete_files(path: str | os.PathLike[str], /) -> bool:
    """Deletes the files of the realm at `path`; False if there was none.

    Fails with `RealmInUseError` while the realm is open, here or in another process.
    """
    return _realm.delete_files(absolute(path))
