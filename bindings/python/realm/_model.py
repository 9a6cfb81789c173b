"""Model classes: from annotations to the properties that the engine stores.

    class Airport(realm.Object):
        icao: str = realm.PrimaryKey()
        name: str
        elevation: int | None = None
        country: "Country | None"

The metaclass reads the annotations when the class is declared, replaces them by descriptors
written in C (`_realm.Property`), and keeps the result as `__realm_model__`. Names that an
annotation mentions before they exist are taken as links to a class of that name, which must be
among the classes when a realm is opened.
"""

from __future__ import annotations

import builtins
import datetime
import decimal
import inspect
import sys
import types
import typing
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, TypeVar, Union

from . import _realm
from ._errors import SchemaError
from ._json import to_dict, to_json
from ._observing import KeyPath, ObjectChange, begin, freeze
from ._showing import short
from ._streams import Changes
from ._values import ObjectId

T = TypeVar("T")


class _Float32Marker:
    def __repr__(self) -> str:
        return "realm.Float32"


#: A float of 32 bits: `weight: realm.Float32`.
Float32 = Annotated[float, _Float32Marker()]


class _Missing:
    def __repr__(self) -> str:
        return "<no default>"


_MISSING: Any = _Missing()


class Field:
    """What `PrimaryKey`, `Indexed`, `FullText` and `Default` leave in the class body."""

    __slots__ = ("default", "default_factory", "full_text", "indexed", "primary_key")

    def __init__(
        self,
        *,
        default: Any = _MISSING,
        default_factory: Callable[[], Any] | None = None,
        primary_key: bool = False,
        indexed: bool = False,
        full_text: str | None = None,
    ) -> None:
        if default is not _MISSING and default_factory is not None:
            raise TypeError("give default or default_factory, not both")
        self.default = default
        self.default_factory = default_factory
        self.primary_key = primary_key
        self.indexed = indexed
        self.full_text = full_text


# These are typed Any so that `icao: str = PrimaryKey()` passes a type checker.
def PrimaryKey(*, default: Any = _MISSING, default_factory: Callable[[], Any] | None = None) -> Any:
    """Marks the property that identifies an object: an int, str, UUID or ObjectId, unique and
    fixed at creation."""
    return Field(default=default, default_factory=default_factory, primary_key=True)


def Indexed(*, default: Any = _MISSING, default_factory: Callable[[], Any] | None = None) -> Any:
    """Gives a property an index: look-ups, ranges, BEGINSWITH and sorting by it become fast."""
    return Field(default=default, default_factory=default_factory, indexed=True)


def FullText(
    *,
    unicode: bool = False,
    indexed: bool = False,
    default: Any = _MISSING,
    default_factory: Callable[[], Any] | None = None,
) -> Any:
    """Gives a str an index of its words, for queries with TEXT: `filter("text TEXT 'storm'")`.
    Case and accents don't matter. Words are ASCII and Latin-1 letters and digits, or with
    `unicode=True` those of all scripts. `indexed=True` adds an index of whole values."""
    return Field(
        default=default,
        default_factory=default_factory,
        indexed=indexed,
        full_text="unicode" if unicode else "latin",
    )


def Default(factory: Callable[[], Any]) -> Any:
    """A default that is computed for each new object: `created: datetime = Default(now)`."""
    return Field(default_factory=factory)


class _Unknown:
    """A name in an annotation that does not exist yet: a link to a class of that name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __or__(self, other: object) -> _Choice:
        return _Choice((self, other))

    def __ror__(self, other: object) -> _Choice:
        return _Choice((other, self))


class _Choice:
    """`X | Y` where one of them is unknown."""

    __slots__ = ("members",)

    def __init__(self, members: tuple[object, ...]) -> None:
        self.members = members

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


_SCALARS: dict[Any, str] = {
    int: "int",
    bool: "bool",
    float: "float",
    str: "str",
    bytes: "bytes",
    datetime.datetime: "datetime",
    decimal.Decimal: "Decimal",
    uuid.UUID: "UUID",
    ObjectId: "ObjectId",
    Any: "Any",
}

_COLLECTIONS: dict[Any, str] = {list: "list", set: "set", dict: "dict"}
_PLAIN_COLLECTIONS: tuple[Any, ...] = (list, set, dict, typing.List, typing.Set, typing.Dict)

_PRIMARY_KEY_TYPES = ("int", "str", "UUID", "ObjectId")
_INDEXED_TYPES = ("int", "bool", "str", "datetime", "UUID", "ObjectId", "Any")


class _Declaration:
    """One annotated property on its way to a `_realm.Property`."""

    def __init__(self, owner: str, name: str, annotation: Any, value: Any, names: _Names) -> None:
        self.where = f"{owner}.{name}"
        self.name = name
        self.nullable = False
        self.kind = ""
        self.collection: str | None = None
        self.target: str | None = None
        self.target_class: ObjectMeta | None = None
        self.field = value if isinstance(value, Field) else Field(default=value)
        self._read(self._evaluated(annotation, names), names)
        self._check()

    def _evaluated(self, annotation: Any, names: _Names) -> Any:
        if not isinstance(annotation, str):
            return annotation
        try:
            return eval(annotation, {"__builtins__": {}}, names)
        except Exception as error:
            raise SchemaError(
                f"{self.where}: the annotation {annotation!r} can't be evaluated: {error}"
            ) from error

    def _read(self, annotation: Any, names: _Names) -> None:
        origin = typing.get_origin(annotation)
        if isinstance(annotation, typing.ForwardRef):
            return self._read(self._evaluated(annotation.__forward_arg__, names), names)
        if isinstance(annotation, str):
            return self._read(self._evaluated(annotation, names), names)
        if isinstance(annotation, _Choice):
            return self._read_choice(annotation.members, names)
        if origin is Union or origin is types.UnionType:
            return self._read_choice(typing.get_args(annotation), names)
        if origin in _COLLECTIONS or annotation in _PLAIN_COLLECTIONS:
            return self._read_collection(annotation, origin, names)
        if origin is Annotated:
            base, *extras = typing.get_args(annotation)
            if base is float and any(isinstance(e, _Float32Marker) for e in extras):
                self.kind = "Float32"
                return None
            return self._read(base, names)
        if isinstance(annotation, _Unknown):
            self.kind, self.target = "link", annotation.name
        elif isinstance(annotation, ObjectMeta):
            self.kind, self.target = "link", annotation.__realm_model__.name
            self.target_class = annotation
        elif isinstance(annotation, type) and annotation in _SCALARS:
            self.kind = _SCALARS[annotation]
            # Any value includes None.
            self.nullable = self.nullable or annotation is Any
        else:
            raise self._unsupported(annotation)

    def _read_collection(self, annotation: Any, origin: Any, names: _Names) -> None:
        arguments = typing.get_args(annotation)
        if self.collection is not None:
            raise SchemaError(f"{self.where}: collections in collections can't be declared")
        if not arguments:
            text = annotation.__name__ if isinstance(annotation, type) else str(annotation)
            raise SchemaError(
                f"{self.where}: {text} needs the type of its elements, as in list[int], set[int] "
                "or dict[str, int]"
            )
        self.collection = _COLLECTIONS[origin]
        if self.collection == "dict" and arguments[0] is not str:
            raise SchemaError(f"{self.where}: the keys of a dict are str")
        self._read(arguments[-1], names)

    def _read_choice(self, members: tuple[object, ...], names: _Names) -> None:
        others = [m for m in members if m is not None and m is not type(None)]
        if len(others) != 1:
            raise SchemaError(f"{self.where}: a property has one type, which may be `| None`")
        inside = self.collection is not None
        self._read(others[0], names)
        if self.collection is not None and not inside:
            raise SchemaError(
                f"{self.where}: a {self.collection} is never None, only empty; its elements may "
                "be `| None`"
            )
        self.nullable = len(others) < len(members) or self.nullable

    def _unsupported(self, annotation: Any) -> SchemaError:
        text = annotation.__name__ if isinstance(annotation, type) else str(annotation)
        base = typing.get_origin(annotation) or annotation
        if base in (frozenset, tuple):
            rule = "the collections are list, set and dict"
        elif annotation is datetime.date:
            rule = "a date is not supported; store a datetime or a str"
        else:
            rule = (
                "the types are int, bool, float, realm.Float32, str, bytes, datetime, Decimal, "
                "UUID, realm.ObjectId, Any, classes derived from realm.Object, and list, set and "
                "dict of these"
            )
        return SchemaError(f"{self.where}: {text} can't be stored: {rule}")

    def _check(self) -> None:
        field = self.field
        if self.collection is not None:
            return self._check_collection()
        if self.kind == "link" and not self.nullable:
            raise SchemaError(
                f"{self.where}: a link can always be None, because its object can be deleted; "
                f"declare it as `{self.target} | None`"
            )
        if field.primary_key and self.kind not in _PRIMARY_KEY_TYPES:
            raise SchemaError(
                f"{self.where}: a primary key is an int, str, UUID or ObjectId, not a {self.kind}"
            )
        if field.indexed and self.kind not in _INDEXED_TYPES:
            raise SchemaError(
                f"{self.where}: an index is possible on int, bool, str, datetime, UUID, "
                f"ObjectId and Any, not on {self.kind}"
            )
        if field.full_text and self.kind != "str":
            raise SchemaError(
                f"{self.where}: a full-text index is possible on str only, not on {self.kind}"
            )
        if field.default is None and not self.nullable:
            raise SchemaError(f"{self.where}: the default None needs the type `{self.kind} | None`")
        if isinstance(field.default, Object):
            raise SchemaError(
                f"{self.where}: objects would share one default; use realm.Default(factory)"
            )

    def _check_collection(self) -> None:
        """The rules for lists, sets and dictionaries."""
        field = self.field
        if field.primary_key:
            raise SchemaError(f"{self.where}: a primary key is no {self.collection}")
        if field.indexed or field.full_text:
            raise SchemaError(f"{self.where}: an index is possible on single values only")
        if field.default is None:
            raise SchemaError(f"{self.where}: a {self.collection} is never None, only empty")
        if self.kind != "link":
            return
        if self.collection == "dict":
            # The value of a key becomes None when its object is deleted.
            self.nullable = True
        elif self.nullable:
            raise SchemaError(
                f"{self.where}: a {self.collection} of links holds no None: deleted objects leave "
                f"it; declare it as `{self.collection}[{self.target}]`"
            )
        target = self.target_class
        if self.collection == "set" and target is not None and target.__realm_model__.embedded:
            raise SchemaError(f"{self.where}: a set can't hold embedded objects; use a list")

    def property(self) -> _realm.Property:
        options: dict[str, Any] = {}
        if self.field.default is not _MISSING:
            options["default"] = self.field.default
        return _realm.Property(
            self.name,
            self.kind,
            nullable=self.nullable,
            primary_key=self.field.primary_key,
            indexed=self.field.indexed,
            link_target=self.target,
            default_factory=self.field.default_factory,
            collection=self.collection,
            full_text=self.field.full_text,
            **options,
        )


def _annotations_of(cls: type) -> Mapping[str, Any]:
    """The annotations of this class alone, unknown names as forward references."""
    if sys.version_info >= (3, 14):
        # Annotations are evaluated on demand there, and then fail on unknown names.
        import annotationlib

        return annotationlib.get_annotations(cls, format=annotationlib.Format.FORWARDREF)
    found: Mapping[str, Any] = cls.__dict__.get("__annotations__", {})
    return found


def _is_class_variable(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return annotation.replace("typing.", "").startswith("ClassVar")
    return annotation is ClassVar or typing.get_origin(annotation) is ClassVar


def _declared_in(
    class_name: str, annotations: Mapping[str, Any], values: Mapping[str, Any], names: _Names
) -> dict[str, _Declaration]:
    found = {}
    for name, annotation in annotations.items():
        if _is_class_variable(annotation) or (name.startswith("__") and name.endswith("__")):
            continue
        found[name] = _Declaration(
            class_name, name, annotation, values.get(name, _MISSING), names
        )
    for name, value in values.items():
        if isinstance(value, Field) and name not in annotations:
            raise SchemaError(f"{class_name}.{name}: a property needs an annotation with its type")
    return found


def _module_scope(module: str | None) -> Mapping[str, Any]:
    found = sys.modules.get(module or "")
    return vars(found) if found else {}


@typing.dataclass_transform(
    kw_only_default=True, field_specifiers=(PrimaryKey, Indexed, FullText, Default)
)
class ObjectMeta(type):
    """Metaclass of model classes: reads the declarations."""

    __realm_model__: _realm.Model
    __realm_declarations__: dict[str, _Declaration]

    def __new__(
        mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any
    ) -> ObjectMeta:
        stored_name = options.pop("stored_name", name)
        embedded = options.pop("embedded", False) or any(
            getattr(base, "__realm_embedded__", False) for base in bases
        )
        if not any(isinstance(base, ObjectMeta) for base in bases) or "__realm_base__" in namespace:
            return super().__new__(mcls, name, bases, namespace, **options)
        # Without a __dict__, assigning to a misspelt property is an AttributeError.
        namespace.setdefault("__slots__", ())
        cls = super().__new__(mcls, name, bases, namespace, **options)
        frame = sys._getframe(1)
        names = _Names(
            {name: cls}, frame.f_locals, _module_scope(cls.__module__), vars(builtins)
        )
        # The class may mention itself: it is a model before its properties are known.
        cls.__realm_model__ = _realm.Model(name, cls, (), embedded=embedded, stored_name=stored_name)
        declarations: dict[str, _Declaration] = {}
        for base in reversed(cls.__mro__[1:]):
            if isinstance(base, ObjectMeta):
                declarations.update(base.__dict__.get("__realm_declarations__", {}))
            elif base is not object and base.__module__ != "realm._realm":
                declarations.update(
                    _declared_in(
                        name,
                        _annotations_of(base),
                        base.__dict__,
                        _Names(_module_scope(base.__module__), vars(builtins)),
                    )
                )
        declarations.update(_declared_in(name, _annotations_of(cls), namespace, names))
        _install(cls, declarations, embedded, stored_name)
        return cls

    def __repr__(cls) -> str:
        return f"<class '{cls.__module__}.{cls.__qualname__}'>"

    @property
    def __signature__(cls) -> inspect.Signature:
        parameters = []
        for declaration in getattr(cls, "__realm_declarations__", {}).values():
            default: Any = inspect.Parameter.empty
            if declaration.field.default is not _MISSING:
                default = declaration.field.default
            elif declaration.field.default_factory is not None:
                default = ...
            elif declaration.collection is not None:
                default = ...
            elif declaration.nullable:
                default = None
            parameters.append(
                inspect.Parameter(
                    declaration.name, inspect.Parameter.KEYWORD_ONLY, default=default
                )
            )
        return inspect.Signature(parameters)


def _install(
    cls: ObjectMeta, declarations: dict[str, _Declaration], embedded: bool, stored: str) -> None:
    keys = [d.where for d in declarations.values() if d.field.primary_key]
    if len(keys) > 1:
        raise SchemaError(f"{cls.__name__}: a class has one primary key, not {' and '.join(keys)}")
    if keys and embedded:
        raise SchemaError(f"{keys[0]}: an embedded object has no primary key; its owner has one")
    properties = tuple(d.property() for d in declarations.values())
    cls.__realm_declarations__ = declarations
    cls.__realm_model__ = _realm.Model(
        cls.__name__, cls, properties, embedded=embedded, stored_name=stored
    )
    for prop in properties:
        setattr(cls, prop.name, prop)
    # Defaults must fit their type: say so where the class is declared.
    for prop in properties:
        prop._check_default()


class Object(_realm.Object, metaclass=ObjectMeta):
    """Base of the classes whose objects a realm stores.

    `class Dog(realm.Object, stored_name="t_dog")` has another name in the file; queries know both.

    Constructing one gives an ordinary, *unmanaged* object that carries its values. `Realm.add`
    stores it and makes it *managed*: from then on its attributes read and write the file, and it
    equals every other object that stands for the same stored one.
    """

    __slots__ = ()

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> typing.NoReturn:
        raise TypeError(
            f"cannot pickle or copy a {type(self).__name__}, which stands for a stored object; "
            "realm.to_dict gives its values"
        )

    def to_dict(self, *, depth: int = 0) -> dict[str, Any]:
        """As `realm.to_dict`; a property of this name hides it."""
        return to_dict(self, depth=depth)

    def to_json(self, *, depth: int = 0, extended: bool = False) -> str:
        """As `realm.to_json`; a property of this name hides it."""
        return to_json(self, depth=depth, extended=extended)

    def observe(
        self, function: Callable[[ObjectChange[typing.Self]], builtins.object], /, *paths: KeyPath
    ) -> _realm.Token:
        """Has `function(change)` called soon, and after each change of this object: of its
        properties, or along key paths (`"dept.budget"`, `Person.dept.budget`) if there are any.
        A property of this name hides it: `realm.observe(obj, ...)`."""
        return begin(self, function, paths)

    def changes(self, *paths: KeyPath) -> Changes[ObjectChange[typing.Self]]:
        """The same for `async for`; `realm.changes(obj)` where a property hides it."""
        return Changes(self, paths)

    def freeze(self) -> typing.Self:
        """This object as it is now, for all threads; `realm.freeze(obj)` where a property hides it."""
        return freeze(self)

    def __repr__(self) -> str:
        name = type(self).__name__
        if self._realm_managed:
            if self._realm_owner is not None and self._realm_owner.is_closed:
                return f"<{name} of a closed realm>"
            try:
                valid = self._realm_valid
            except Exception as error:
                return f"<{name}: {error}>"
            if not valid:
                return f"<{name}, deleted>"
        model = type(self).__realm_model__
        shown = []
        for prop in model.properties[:4]:
            value = getattr(self, prop.name, _MISSING)
            shown.append(f"{prop.name}={short(value)}")
        if len(model.properties) > 4:
            shown.append("...")
        return f"{name}({', '.join(shown)})"


class EmbeddedObject(Object):
    """Base of the classes whose objects are parts of others: `address: Address | None`.

    An embedded object has one owner, which it is assigned to, put into a list of, or into a
    dictionary of. It is deleted with its owner, and when another one takes its place.
    """

    __slots__ = ()
    __realm_base__ = True
    __realm_embedded__ = True


def _find_target(cls: ObjectMeta, name: str) -> ObjectMeta | None:
    """The class that a property links to, if it is known without a realm; for the extension."""
    declaration = cls.__realm_declarations__[name]
    if declaration.target_class is None and declaration.target is not None:
        found = _module_scope(cls.__module__).get(declaration.target)
        if isinstance(found, ObjectMeta):
            declaration.target_class = found
    return declaration.target_class


def is_managed(obj: Object, /) -> bool:
    """Whether obj stands for a stored object."""
    return obj._realm_managed


def is_valid(obj: Object, /) -> bool:
    """Whether obj can be used: neither deleted nor of a closed realm."""
    return obj._realm_valid


def properties(cls: type[Object], /) -> dict[str, _realm.Property]:
    """The stored properties of a class by name, in order. (`Dog.age` is an expression for queries.)"""
    return {prop.name: prop for prop in cls.__realm_model__.properties}


def realm_of(obj: Object, /) -> Any:
    """The realm that obj is in, None for an unmanaged one."""
    return obj._realm_owner


def parent_of(obj: EmbeddedObject, /) -> Object | None:
    """The object that an embedded one is part of, None for one that is in no realm yet."""
    if not isinstance(obj, EmbeddedObject):
        raise TypeError(f"a {type(obj).__name__} is not embedded: it has no owner")
    return obj._realm_parent() if obj._realm_managed else None
