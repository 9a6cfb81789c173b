"""Realm: an object database in one file.

    import realm

    class Dog(realm.Object):
        name: str = realm.PrimaryKey()
        age: int = 0

    with realm.open("dogs.realm", classes=[Dog]) as r:
        with r.write():
            r.add(Dog(name="Rex", age=3))
        for dog in r.objects(Dog).filter("age > $0", 2).sorted("name"):
            print(dog.name)
"""

from typing import Any as _Any

from . import functions as fn
from ._backlinks import Backlinks
from ._change_log import LoggedLink, LoggedOperation
from ._collections import Dictionary, List, Set, results
from ._database import (
    Realm,
    change_encryption_key,
    check_file,
    delete_files,
    migration_plan,
    open,
)
from ._errors import (
    ArgumentError,
    ClosedRealmError,
    ConfigurationError,
    DecryptionError,
    Error,
    ErrorCode,
    FileError,
    FileMissingError,
    FilePermissionError,
    FileTakenError,
    IllegalOperationError,
    InvalidDatabaseError,
    InvalidObjectError,
    LimitError,
    MissingKeyError,
    MissingValueError,
    NoSuchClassError,
    NoSuchObjectError,
    NoSuchPropertyError,
    NotEncryptedError,
    NotNullableError,
    NotSupportedError,
    ObjectExistsError,
    OutOfBoundsError,
    OutOfMemoryError,
    OutOfRangeError,
    OutOfSpaceError,
    PrimaryKeyError,
    PropertyTypeError,
    QueryError,
    ReadOnlyError,
    ReadOnlyPropertyError,
    RealmInUseError,
    SchemaError,
    SchemaMismatchError,
    SystemCallError,
    TransactionError,
    UnsupportedFormatError,
    UsageError,
    VersionError,
    WriteTimeoutError,
    WrongKeyError,
    WrongThreadError,
)
from ._import import ImportedClass, ImportReport, import_realm_core
from ._json import to_dict, to_json
from ._migration import Migration, MigrationPlan
from ._fields import Default, Field, Float32, FullText, Indexed, PrimaryKey, typed
from ._model import (
    EmbeddedObject,
    Object,
    Reference,
    is_managed,
    is_valid,
    parent_of,
    properties,
    realm_of,
    reference,
)
from ._expressions import Condition, Expression
from ._observing import (
    CollectionChange,
    DictionaryChange,
    Move,
    ObjectChange,
    Positions,
    PropertyChange,
    RealmChange,
    SchemaChange,
    freeze,
    observe,
)
from ._opening import Opening, open_async
from ._paths import Path, SortKey, Subquery, backlinks, expr, not_
from ._realm import Property, Token, library_version
from ._request import default_path
from ._results import Results
from ._streams import Changes, changes
from ._tables import Aggregate, Columns, agg
from ._transactions import AsyncTransaction, Savepoint, Transaction
from ._values import ObjectId

def __getattr__(name: str) -> _Any:
    """`__version__`: that of this package, looked up when somebody asks, as it takes 20 ms. That of the C
    interface it is compatible with is `library_version`."""
    if name == "__version__":
        from importlib.metadata import version

        return version("realm")
    raise AttributeError(f"module 'realm' has no attribute {name!r}")


__all__ = [
    "Aggregate",
    "ArgumentError",
    "AsyncTransaction",
    "Backlinks",
    "Changes",
    "ClosedRealmError",
    "CollectionChange",
    "Columns",
    "Condition",
    "ConfigurationError",
    "DecryptionError",
    "Default",
    "Dictionary",
    "DictionaryChange",
    "EmbeddedObject",
    "Error",
    "ErrorCode",
    "Expression",
    "Field",
    "FileError",
    "FileMissingError",
    "FilePermissionError",
    "FileTakenError",
    "Float32",
    "FullText",
    "IllegalOperationError",
    "ImportReport",
    "ImportedClass",
    "Indexed",
    "InvalidDatabaseError",
    "InvalidObjectError",
    "LimitError",
    "List",
    "LoggedLink",
    "LoggedOperation",
    "Migration",
    "MigrationPlan",
    "MissingKeyError",
    "MissingValueError",
    "Move",
    "NoSuchClassError",
    "NoSuchObjectError",
    "NoSuchPropertyError",
    "NotEncryptedError",
    "NotNullableError",
    "NotSupportedError",
    "Object",
    "ObjectChange",
    "ObjectExistsError",
    "ObjectId",
    "Opening",
    "OutOfBoundsError",
    "OutOfMemoryError",
    "OutOfRangeError",
    "OutOfSpaceError",
    "Path",
    "Positions",
    "PrimaryKey",
    "PrimaryKeyError",
    "Property",
    "PropertyChange",
    "PropertyTypeError",
    "QueryError",
    "ReadOnlyError",
    "ReadOnlyPropertyError",
    "Realm",
    "RealmChange",
    "RealmInUseError",
    "Reference",
    "Results",
    "Savepoint",
    "SchemaChange",
    "SchemaError",
    "SchemaMismatchError",
    "Set",
    "SortKey",
    "Subquery",
    "SystemCallError",
    "Token",
    "Transaction",
    "TransactionError",
    "UnsupportedFormatError",
    "UsageError",
    "VersionError",
    "WriteTimeoutError",
    "WrongKeyError",
    "WrongThreadError",
    "agg",
    "backlinks",
    "changes",
    "change_encryption_key",
    "check_file",
    "default_path",
    "delete_files",
    "expr",
    "fn",
    "freeze",
    "import_realm_core",
    "is_managed",
    "is_valid",
    "library_version",
    "migration_plan",
    "not_",
    "observe",
    "open",
    "open_async",
    "parent_of",
    "properties",
    "realm_of",
    "reference",
    "results",
    "to_dict",
    "to_json",
    "typed",
]
