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

from importlib.metadata import version as _version

from ._change_log import LoggedLink, LoggedOperation
from ._collections import Dictionary, List, Set, results
from ._database import (
    Realm,
    Savepoint,
    Transaction,
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
    MissingValueError,
    NoSuchClassError,
    NoSuchObjectError,
    NoSuchPropertyError,
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
    VersionError,
    WriteTimeoutError,
    WrongThreadError,
)
from ._json import to_dict, to_json
from ._migration import Migration, MigrationPlan
from ._model import (
    Default,
    EmbeddedObject,
    Float32,
    FullText,
    Indexed,
    Object,
    PrimaryKey,
    is_managed,
    is_valid,
    parent_of,
    properties,
    realm_of,
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
from ._results import Results
from ._streams import Changes, changes
from ._values import ObjectId

#: Version of this package. That of the C interface it is compatible with is `library_version`.
__version__ = _version("realm")

__all__ = [
    "ArgumentError",
    "Changes",
    "ClosedRealmError",
    "CollectionChange",
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
    "FileError",
    "FileMissingError",
    "FilePermissionError",
    "FileTakenError",
    "Float32",
    "FullText",
    "IllegalOperationError",
    "Indexed",
    "InvalidDatabaseError",
    "InvalidObjectError",
    "LimitError",
    "List",
    "LoggedLink",
    "LoggedOperation",
    "Migration",
    "MigrationPlan",
    "MissingValueError",
    "Move",
    "NoSuchClassError",
    "NoSuchObjectError",
    "NoSuchPropertyError",
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
    "VersionError",
    "WriteTimeoutError",
    "WrongThreadError",
    "backlinks",
    "changes",
    "change_encryption_key",
    "check_file",
    "delete_files",
    "expr",
    "freeze",
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
    "results",
    "to_dict",
    "to_json",
]
