"""Exceptions, and the one table that says which engine error becomes which of them.

Every exception is a `realm.Error`. Each also is the builtin exception that says the same, so that
code which knows nothing of realms can catch it, and carries the engine's code as `.code`.
"""

from __future__ import annotations

import enum
import errno
from collections.abc import Iterable
from typing import Any


class ErrorCode(enum.IntEnum):
    """Codes of the engine, as in `realm_errno_e`."""

    RUNTIME = 1000
    RANGE_ERROR = 1001
    BROKEN_INVARIANT = 1002
    OUT_OF_MEMORY = 1003
    OUT_OF_DISK_SPACE = 1004
    ADDRESS_SPACE_EXHAUSTED = 1005
    MAXIMUM_FILE_SIZE_EXCEEDED = 1006
    INCOMPATIBLE_SESSION = 1007
    INCOMPATIBLE_LOCK_FILE = 1008
    INVALID_QUERY = 1009
    BAD_VERSION = 1010
    UNSUPPORTED_FILE_FORMAT_VERSION = 1011
    OBJECT_ALREADY_EXISTS = 1013
    NOT_CLONABLE = 1014
    FILE_OPERATION_FAILED = 1017
    FILE_PERMISSION_DENIED = 1018
    FILE_NOT_FOUND = 1019
    FILE_ALREADY_EXISTS = 1020
    INVALID_DATABASE = 1021
    DECRYPTION_FAILED = 1022
    INCOMPATIBLE_HISTORIES = 1023
    FILE_FORMAT_UPGRADE_REQUIRED = 1024
    SCHEMA_VERSION_MISMATCH = 1025
    OPERATION_ABORTED = 1027
    SYSTEM_ERROR = 1999
    LOGIC = 2000
    NOT_SUPPORTED = 2001
    CROSS_TABLE_LINK_TARGET = 2003
    KEY_ALREADY_USED = 2004
    WRONG_TRANSACTION_STATE = 2005
    WRONG_THREAD = 2006
    ILLEGAL_OPERATION = 2007
    SERIALIZATION_ERROR = 2008
    STALE_ACCESSOR = 2009
    INVALIDATED_OBJECT = 2010
    READ_ONLY_DB = 2011
    DELETE_OPENED_REALM = 2012
    MISMATCHED_CONFIG = 2013
    CLOSED_REALM = 2014
    INVALID_TABLE_REF = 2015
    SCHEMA_VALIDATION_FAILED = 2016
    SCHEMA_MISMATCH = 2017
    INVALID_SCHEMA_VERSION = 2018
    INVALID_SCHEMA_CHANGE = 2019
    MIGRATION_FAILED = 2020
    TOP_LEVEL_OBJECT = 2021
    INVALID_ARGUMENT = 3000
    PROPERTY_TYPE_MISMATCH = 3001
    PROPERTY_NOT_NULLABLE = 3002
    READ_ONLY_PROPERTY = 3003
    MISSING_PROPERTY_VALUE = 3004
    MISSING_PRIMARY_KEY = 3005
    UNEXPECTED_PRIMARY_KEY = 3006
    MODIFY_PRIMARY_KEY = 3007
    INVALID_QUERY_STRING = 3008
    INVALID_PROPERTY = 3009
    INVALID_NAME = 3010
    INVALID_DICTIONARY_KEY = 3011
    INVALID_DICTIONARY_VALUE = 3012
    INVALID_SORT_DESCRIPTOR = 3013
    INVALID_ENCRYPTION_KEY = 3014
    INVALID_QUERY_ARG = 3015
    NO_SUCH_OBJECT = 3016
    INDEX_OUT_OF_BOUNDS = 3017
    LIMIT_EXCEEDED = 3018
    OBJECT_TYPE_MISMATCH = 3019
    NO_SUCH_TABLE = 3020
    TABLE_NAME_IN_USE = 3021
    ILLEGAL_COMBINATION = 3022
    MALFORMED_JSON = 4201
    CALLBACK = 1000000
    UNKNOWN = 2000000


class Error(Exception):
    """Base of every exception of this package."""

    #: What the engine calls it.
    code: ErrorCode = ErrorCode.UNKNOWN

    def __init__(
        self, message: str, code: ErrorCode | None = None, path: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        if code is not None:
            self.code = code

    #: Where in what was given; in the message, too.
    _place: str | None = None

    # Some builtins print their argument in a way of their own (KeyError its repr).
    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.message, self.code, self.path))


class FileError(Error, OSError):
    """The file can't be opened, read or written. `.filename` names it."""

    code = ErrorCode.FILE_OPERATION_FAILED

    # OSError fills its fields from two or more positional arguments, which __new__ takes from the
    # constructor's; ours are not those.
    def __new__(
        cls, message: str, code: ErrorCode | None = None, path: str | None = None
    ) -> FileError:
        return OSError.__new__(cls, message)

    def __init__(
        self, message: str, code: ErrorCode | None = None, path: str | None = None
    ) -> None:
        super().__init__(message, code, path)
        self.filename = path
        self.errno = _ERRNO.get(self.code)
        self.strerror = message


class FileMissingError(FileError, FileNotFoundError):
    """The file or its directory does not exist."""

    code = ErrorCode.FILE_NOT_FOUND


class FileTakenError(FileError, FileExistsError):
    """There is a file already where one was to be made."""

    code = ErrorCode.FILE_ALREADY_EXISTS


class FilePermissionError(FileError, PermissionError):
    """The operating system denies access to the file."""

    code = ErrorCode.FILE_PERMISSION_DENIED


class RealmInUseError(FileError):
    """The realm is open elsewhere, here or in another process, in a way that forbids this."""

    code = ErrorCode.DELETE_OPENED_REALM


class InvalidDatabaseError(FileError, ValueError):
    """The file is no realm, is damaged, or needs another key."""

    code = ErrorCode.INVALID_DATABASE


class UnsupportedFormatError(InvalidDatabaseError):
    """The file was written by a version of the library that this one does not understand."""

    code = ErrorCode.UNSUPPORTED_FILE_FORMAT_VERSION


class DecryptionError(InvalidDatabaseError):
    """The key does not fit the file."""

    code = ErrorCode.DECRYPTION_FAILED


class WrongKeyError(DecryptionError):
    """The file is encrypted with another key."""


class MissingKeyError(DecryptionError):
    """The file is encrypted, and no key was given."""


class NotEncryptedError(DecryptionError):
    """A key was given, and the file is not encrypted."""


class OutOfSpaceError(FileError):
    """The disk is full, or the file has reached its greatest size."""

    code = ErrorCode.OUT_OF_DISK_SPACE


class OutOfMemoryError(Error, MemoryError):
    """Memory or address space ran out."""

    code = ErrorCode.OUT_OF_MEMORY


class WriteTimeoutError(FileError, TimeoutError):
    """Somebody else wrote the file for as long as the program was ready to wait."""

    code = ErrorCode.CALLBACK


class SystemCallError(FileError):
    """The operating system failed in another way."""

    code = ErrorCode.SYSTEM_ERROR


class SchemaError(Error, ValueError):
    """The declared classes contradict themselves or each other."""

    code = ErrorCode.SCHEMA_VALIDATION_FAILED


class SchemaMismatchError(SchemaError):
    """The declared classes do not fit those in the file."""

    code = ErrorCode.SCHEMA_MISMATCH


class ConfigurationError(Error, ValueError):
    """Options of `open` that contradict each other, or those of another open of the file."""

    code = ErrorCode.ILLEGAL_COMBINATION


class TransactionError(Error, RuntimeError):
    """Not allowed in this state: a write outside of a write transaction, say, or a second one."""

    code = ErrorCode.WRONG_TRANSACTION_STATE


class ReadOnlyError(TransactionError):
    """The realm was opened for reading only."""

    code = ErrorCode.READ_ONLY_DB


class WrongThreadError(Error, RuntimeError):
    """A realm belongs to the thread that opened it."""

    code = ErrorCode.WRONG_THREAD


class ClosedRealmError(Error, ValueError):
    """The realm has been closed. (Files raise ValueError for that, too.)"""

    code = ErrorCode.CLOSED_REALM


class InvalidObjectError(Error, ReferenceError):
    """The object has been deleted, or what it was read from is gone."""

    code = ErrorCode.INVALIDATED_OBJECT


class NoSuchObjectError(Error, KeyError):
    """There is no object under that key."""

    code = ErrorCode.NO_SUCH_OBJECT


class ObjectExistsError(Error, ValueError):
    """An object with that primary key exists already."""

    code = ErrorCode.OBJECT_ALREADY_EXISTS


class PropertyTypeError(Error, TypeError):
    """A value of the wrong type for its property."""

    code = ErrorCode.PROPERTY_TYPE_MISMATCH


class NotNullableError(PropertyTypeError):
    """None for a property that can't be null."""

    code = ErrorCode.PROPERTY_NOT_NULLABLE


class MissingValueError(Error, TypeError):
    """A new object lacks a value for a property that has no default."""

    code = ErrorCode.MISSING_PROPERTY_VALUE


class NoSuchPropertyError(Error, AttributeError):
    """The class has no such property."""

    code = ErrorCode.INVALID_PROPERTY


class NoSuchClassError(Error, LookupError):
    """The realm has no such class."""

    code = ErrorCode.NO_SUCH_TABLE


class PrimaryKeyError(Error, TypeError):
    """The class has a primary key, or has none, and the call does not fit that."""

    code = ErrorCode.MISSING_PRIMARY_KEY


class ReadOnlyPropertyError(Error, AttributeError):
    """The property can't be set; a primary key stays what it was at creation."""

    code = ErrorCode.MODIFY_PRIMARY_KEY


class QueryError(Error, ValueError):
    """A query, its arguments or an order that can't be understood or do not fit the class."""

    code = ErrorCode.INVALID_QUERY


class OutOfBoundsError(Error, IndexError):
    """An index outside of the sequence."""

    code = ErrorCode.INDEX_OUT_OF_BOUNDS


class OutOfRangeError(Error, OverflowError):
    """A number or instant that the type can't hold, or text that is none."""

    code = ErrorCode.RANGE_ERROR


class LimitError(Error, OverflowError):
    """More than the engine can store, or a query whose nesting takes too many steps."""

    code = ErrorCode.LIMIT_EXCEEDED


class ArgumentError(Error, ValueError):
    """An argument that makes no sense here."""

    code = ErrorCode.INVALID_ARGUMENT


class UsageError(Error, TypeError):
    """A function was called with what it does not take."""

    code = ErrorCode.INVALID_ARGUMENT


class IllegalOperationError(Error, RuntimeError):
    """An operation that this kind of object, property or results does not have."""

    code = ErrorCode.ILLEGAL_OPERATION


class NotSupportedError(Error, NotImplementedError):
    """Not in this version of the library."""

    code = ErrorCode.NOT_SUPPORTED


class VersionError(Error, LookupError):
    """The snapshot does not exist any more."""

    code = ErrorCode.BAD_VERSION


_CLASSES: dict[ErrorCode, type[Error]] = {
    ErrorCode.RANGE_ERROR: OutOfRangeError,
    ErrorCode.OUT_OF_MEMORY: OutOfMemoryError,
    ErrorCode.OUT_OF_DISK_SPACE: OutOfSpaceError,
    ErrorCode.ADDRESS_SPACE_EXHAUSTED: OutOfMemoryError,
    ErrorCode.MAXIMUM_FILE_SIZE_EXCEEDED: OutOfSpaceError,
    ErrorCode.INCOMPATIBLE_SESSION: RealmInUseError,
    ErrorCode.INCOMPATIBLE_LOCK_FILE: RealmInUseError,
    ErrorCode.INVALID_QUERY: QueryError,
    ErrorCode.BAD_VERSION: VersionError,
    ErrorCode.UNSUPPORTED_FILE_FORMAT_VERSION: UnsupportedFormatError,
    ErrorCode.OBJECT_ALREADY_EXISTS: ObjectExistsError,
    ErrorCode.FILE_OPERATION_FAILED: FileError,
    ErrorCode.FILE_PERMISSION_DENIED: FilePermissionError,
    ErrorCode.FILE_NOT_FOUND: FileMissingError,
    ErrorCode.FILE_ALREADY_EXISTS: FileTakenError,
    ErrorCode.INVALID_DATABASE: InvalidDatabaseError,
    ErrorCode.DECRYPTION_FAILED: DecryptionError,
    ErrorCode.INCOMPATIBLE_HISTORIES: UnsupportedFormatError,
    ErrorCode.FILE_FORMAT_UPGRADE_REQUIRED: UnsupportedFormatError,
    ErrorCode.SCHEMA_VERSION_MISMATCH: SchemaMismatchError,
    ErrorCode.SYSTEM_ERROR: SystemCallError,
    ErrorCode.NOT_SUPPORTED: NotSupportedError,
    ErrorCode.CROSS_TABLE_LINK_TARGET: SchemaError,
    ErrorCode.KEY_ALREADY_USED: ObjectExistsError,
    ErrorCode.WRONG_TRANSACTION_STATE: TransactionError,
    ErrorCode.WRONG_THREAD: WrongThreadError,
    ErrorCode.ILLEGAL_OPERATION: IllegalOperationError,
    ErrorCode.STALE_ACCESSOR: InvalidObjectError,
    ErrorCode.INVALIDATED_OBJECT: InvalidObjectError,
    ErrorCode.READ_ONLY_DB: ReadOnlyError,
    ErrorCode.DELETE_OPENED_REALM: RealmInUseError,
    ErrorCode.MISMATCHED_CONFIG: ConfigurationError,
    ErrorCode.CLOSED_REALM: ClosedRealmError,
    ErrorCode.INVALID_TABLE_REF: NoSuchClassError,
    ErrorCode.SCHEMA_VALIDATION_FAILED: SchemaError,
    ErrorCode.SCHEMA_MISMATCH: SchemaMismatchError,
    ErrorCode.INVALID_SCHEMA_VERSION: SchemaMismatchError,
    ErrorCode.INVALID_SCHEMA_CHANGE: SchemaMismatchError,
    ErrorCode.MIGRATION_FAILED: SchemaMismatchError,
    ErrorCode.TOP_LEVEL_OBJECT: IllegalOperationError,
    ErrorCode.INVALID_ARGUMENT: ArgumentError,
    ErrorCode.PROPERTY_TYPE_MISMATCH: PropertyTypeError,
    ErrorCode.PROPERTY_NOT_NULLABLE: NotNullableError,
    ErrorCode.READ_ONLY_PROPERTY: ReadOnlyPropertyError,
    ErrorCode.MISSING_PROPERTY_VALUE: MissingValueError,
    ErrorCode.MISSING_PRIMARY_KEY: PrimaryKeyError,
    ErrorCode.UNEXPECTED_PRIMARY_KEY: PrimaryKeyError,
    ErrorCode.MODIFY_PRIMARY_KEY: ReadOnlyPropertyError,
    ErrorCode.INVALID_QUERY_STRING: QueryError,
    ErrorCode.INVALID_PROPERTY: NoSuchPropertyError,
    ErrorCode.INVALID_NAME: SchemaError,
    ErrorCode.INVALID_DICTIONARY_KEY: ArgumentError,
    ErrorCode.INVALID_DICTIONARY_VALUE: ArgumentError,
    ErrorCode.INVALID_SORT_DESCRIPTOR: QueryError,
    ErrorCode.INVALID_ENCRYPTION_KEY: ConfigurationError,
    ErrorCode.INVALID_QUERY_ARG: QueryError,
    ErrorCode.NO_SUCH_OBJECT: NoSuchObjectError,
    ErrorCode.INDEX_OUT_OF_BOUNDS: OutOfBoundsError,
    ErrorCode.LIMIT_EXCEEDED: LimitError,
    ErrorCode.OBJECT_TYPE_MISMATCH: PropertyTypeError,
    ErrorCode.NO_SUCH_TABLE: NoSuchClassError,
    ErrorCode.TABLE_NAME_IN_USE: SchemaError,
    ErrorCode.ILLEGAL_COMBINATION: ConfigurationError,
    ErrorCode.MALFORMED_JSON: ArgumentError,
}

_ERRNO = {
    ErrorCode.FILE_NOT_FOUND: errno.ENOENT,
    ErrorCode.FILE_ALREADY_EXISTS: errno.EEXIST,
    ErrorCode.FILE_PERMISSION_DENIED: errno.EACCES,
    ErrorCode.OUT_OF_DISK_SPACE: errno.ENOSPC,
    ErrorCode.MAXIMUM_FILE_SIZE_EXCEEDED: errno.EFBIG,
    ErrorCode.DELETE_OPENED_REALM: errno.EBUSY,
}


#: What the extension module says in place of a code where a call never reaches the engine.
_MISUSE = -1

#: What Python raises for arguments, and what becomes of it; the more special first.
_OF_BUILTINS: tuple[tuple[type[Exception], type[Error]], ...] = (
    (TypeError, UsageError),
    (OverflowError, OutOfRangeError),
    (IndexError, OutOfBoundsError),
    (ValueError, ArgumentError),
)


def misuse(error: BaseException) -> BaseException:
    """What Python raised for an argument as one of these exceptions, which is the same builtin one; others as they
    are. Called by the extension module."""
    if isinstance(error, Error):
        return error
    for builtin, kind in _OF_BUILTINS:
        if isinstance(error, builtin):
            found = kind(str(error).replace("realm._realm.", "realm."))
            # The program's own code may have raised it, such as an `__index__`.
            found.__cause__ = error if error.__traceback__ is not None else None
            return found
    return error


def make_error(code: int, message: str, path: str | None) -> Error:
    """The exception for an error of the engine; called by the extension module."""
    if code == _MISUSE:
        return UsageError(message, None, path)
    try:
        known = ErrorCode(code)
    except ValueError:
        return Error(f"{message} (engine code {code})", ErrorCode.UNKNOWN, path)
    for engine, python in _ADVICE.get(known, ()):
        message = message.replace(engine, python)
    kind = _CLASSES.get(known, Error)
    kind = next((special for phrase, special in _BY_PHRASE.get(known, ()) if phrase in message), kind)
    return kind(message, known, path)


#: What the engine says under one code, and Python tells apart. Of keys and files that don't go together, for files
#: of realm-core, which tell less, the second phrases.
_BY_PHRASE: dict[ErrorCode, tuple[tuple[str, type[Error]], ...]] = {
    ErrorCode.INVALID_DATABASE: (
        ("the file is encrypted with another key", WrongKeyError),
        ("another key, or not an encrypted file of realm-core", WrongKeyError),
        ("the file is encrypted, and no key was given", MissingKeyError),
        ("or an encrypted one, which can be read with its key only", MissingKeyError),
        ("a key was given, and the file is not encrypted", NotEncryptedError),
        ("the file is not encrypted, but a key was given", NotEncryptedError),
    ),
    ErrorCode.WRONG_TRANSACTION_STATE: (("was opened read-only", ReadOnlyError),),
}

#: What the engine advises, in Python.
_ADVICE = {
    ErrorCode.WRONG_TRANSACTION_STATE: (
        ("need a write transaction; begin one first",
         "need a write transaction: open a `with r.write():` block"),
        ("no write transaction is open", "no write transaction is open: use `with r.write():`"),
    ),
    ErrorCode.MISMATCHED_CONFIG: (
        ("is open already with other settings (",
         "is open already in this program, with other settings; beside a realm that writes, freeze() gives one that "
         "only reads (it is open as: "),
    ),
    ErrorCode.SCHEMA_MISMATCH: (
        ("a migration takes a higher one", "a migration takes a higher one, as `version=` of realm.open"),
    ),
}


def names_near(name: Any, names: Iterable[str]) -> str:
    """What might have been meant, to end a message with."""
    import difflib

    names = list(names)
    if not isinstance(name, str):
        return f", as it is no str; it has {', '.join(names)}"
    near = difflib.get_close_matches(name, names, 1)
    return f"; did you mean {near[0]!r}?" if near else f"; it has {', '.join(names)}"


def add_place(error: BaseException, place: str) -> None:
    """Says where in what was given an error lies: `[3]`, `['key']` or the name of a property. Called
    with the innermost place first."""
    if not isinstance(error, Error):
        if isinstance(error, Exception):
            error.add_note(f"at {place} of what was given")
        return
    before = error._place
    if before:
        error.message = error.message.removesuffix(f" (at {before})")
        place += before if before.startswith("[") else f".{before}"
    error._place = place
    error.message += f" (at {place})"
