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
import enum
import sys
import types
import typing
import uuid
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar, Union, cast

from . import _realm
from ._backlinks import Backlinks, backlinks_in
from ._errors import InvalidObjectError, SchemaError, UsageError
from ._fields import (
    _MISSING,
    Float32,
    Marker,
    _Float32Marker,
)
from ._json import to_dict, to_json
from ._mixins import free_attributes
from ._names import _Choice, _Names, _Unknown, check_names_in_file, is_class_variable
from ._observing import KeyPath, ObjectChange, begin, freeze
from ._showing import html_of_object, short
from ._streams import Changes
from ._values import ObjectId

T = TypeVar("T")


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
#: What is stored as a value of another type.
_FORMS: dict[Any, str] = {datetime.date: "datetime", datetime.timedelta: "int"}

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
        #: date, timedelta, or a class derived from Enum.
        self.form: type[Any] | None = None
        self.written = annotation
        self.field = value if isinstance(value, Marker) else Marker(default=value)
        self.annotation = self._evaluated(annotation, names)
        self._read(self.annotation, names)
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
        elif isinstance(annotation, type) and annotation in _FORMS:
            self.kind, self.form = _FORMS[annotation], annotation
        elif isinstance(annotation, type) and issubclass(annotation, enum.Enum):
            self.kind, self.form = self._enum_kind(annotation), annotation
        else:
            raise self._unsupported(annotation)

    def _enum_kind(self, form: type[enum.Enum]) -> str:
        """The type of the values of an Enum."""
        for plain in (int, str):
            values = [member.value for member in form]
            if values and all(type(value) is plain for value in values):
                return plain.__name__
        raise SchemaError(
            f"{self.where}: {form.__name__} can't be stored: the values of its members have to be "
            "all int, or all str"
        )

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
        else:
            rule = (
                "the types are int, bool, float, realm.Float32, str, bytes, datetime, Decimal, "
                "UUID, realm.ObjectId, date, timedelta, classes derived from Enum, Any, classes "
                "derived from realm.Object, and list, set and dict of these"
            )
        return SchemaError(f"{self.where}: {text} can't be stored: {rule}")

    def _check(self) -> None:
        field = self.field
        if self.collection is not None:
            return self._check_collection()
        if self.kind == "link" and not self.nullable:
            builtin = getattr(builtins, self.target or "", None)
            if self.target_class is None and builtin is not None:
                error = self._unsupported(builtin)
                raise SchemaError(f"{error}; a link to a class that is declared later is `{self.target} | None`")
            unknown = (
                f" ({self.target} is none of the types, so it is taken for a class that is declared later)"
                if self.target_class is None else ""
            )
            raise SchemaError(
                f"{self.where}: a link can always be None, because its object can be deleted; "
                f"declare it as `{self.target} | None`{unknown}"
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

    def shown_annotation(self) -> Any:
        """The annotation for signatures; where it has names that are not known yet, as it was written."""
        text = isinstance(self.written, str)
        return self.written if text and self.target_class is None and self.target else self.annotation

    def property(self) -> _realm.Property:
        options: dict[str, Any] = {}
        if self.field.default is not _MISSING:
            options["default"] = self.field.default
        if self.form is not None:
            options["form"] = self.form
            if issubclass(self.form, enum.Enum):
                options["members"] = {member.value: member for member in self.form}
        if self.field.name_in_file not in (None, self.name):
            options["stored_name"] = self.field.name_in_file
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


def _declared_in(
    class_name: str,
    annotations: Mapping[str, Any],
    values: Mapping[str, Any],
    names: _Names,
    computed: dict[str, Backlinks[Any]],
) -> dict[str, _Declaration]:
    found = {}
    for name, annotation in annotations.items():
        if is_class_variable(annotation, names) or (name.startswith("__") and name.endswith("__")):
            continue
        linking = backlinks_in(annotation, names)
        if linking is not None:
            if name in values:
                raise SchemaError(f"{class_name}.{name}: Backlinks are computed and take no default")
            computed[name] = linking
            continue
        found[name] = _Declaration(
            class_name, name, annotation, values.get(name, _MISSING), names
        )
    for name, value in values.items():
        if isinstance(value, Marker) and name not in annotations:
            raise SchemaError(f"{class_name}.{name}: a property needs an annotation with its type")
    return found


def _module_scope(module: str | None) -> Mapping[str, Any]:
    found = sys.modules.get(module or "")
    return vars(found) if found else {}


class _Factory:
    """What `inspect.signature` shows for a default that is computed for each object."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()
#: The defaults of collections in signatures.
_EMPTY: dict[str, Any] = {"list": [], "set": set(), "dict": {}}


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
        # Instances have a __dict__ and weak references by themselves.
        slots = namespace.get("__slots__", ())
        slots = (slots,) if isinstance(slots, str) else tuple(slots)
        namespace["__slots__"] = tuple(s for s in slots if s not in ("__dict__", "__weakref__"))
        free = "__dict__" in slots or free_attributes(bases)
        if free:
            namespace["__realm_free_attributes__"] = free
        cls = super().__new__(mcls, name, bases, namespace, **options)
        frame = sys._getframe(1)
        names = _Names({name: cls}, frame.f_locals, _module_scope(cls.__module__))
        # The class may mention itself: it is a model before its properties are known.
        cls.__realm_model__ = _realm.Model(name, cls, (), embedded=embedded, stored_name=stored_name)
        declarations: dict[str, _Declaration] = {}
        computed: dict[str, Backlinks[Any]] = {}
        for base in reversed(cls.__mro__[1:]):
            if isinstance(base, ObjectMeta):
                declarations.update(base.__dict__.get("__realm_declarations__", {}))
            elif base is not object and base.__module__ != "realm._realm":
                declarations.update(
                    _declared_in(
                        name,
                        _annotations_of(base),
                        base.__dict__,
                        _Names(_module_scope(base.__module__)),
                        computed,
                    )
                )
        declarations.update(_declared_in(name, _annotations_of(cls), namespace, names, computed))
        for attribute, linking in computed.items():
            setattr(cls, attribute, linking)
            linking.__set_name__(cls, attribute)
        _install(cls, declarations, embedded, stored_name)
        return cls

    def __repr__(cls) -> str:
        return f"<class '{cls.__module__}.{cls.__qualname__}'>"

    @property
    def __signature__(cls) -> Any:
        # Whoever asks for it has the module.
        import inspect

        parameters = []
        for declaration in getattr(cls, "__realm_declarations__", {}).values():
            default: Any = inspect.Parameter.empty
            if declaration.field.default is not _MISSING:
                default = declaration.field.default
            elif declaration.field.default_factory is not None:
                default = _FACTORY
            elif declaration.collection is not None:
                default = _EMPTY[declaration.collection]
            elif declaration.nullable:
                default = None
            parameters.append(
                inspect.Parameter(
                    declaration.name, inspect.Parameter.KEYWORD_ONLY, default=default,
                    annotation=declaration.shown_annotation(),
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
    check_names_in_file({d.name: (d.field.name_in_file, d.where) for d in declarations.values()})
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

    if typing.TYPE_CHECKING:
        # Which properties may be left out can't be told to a checker, but by `realm.typed`.
        def __init__(self, **values: Any) -> None: ...

    def __reduce_ex__(self, protocol: typing.SupportsIndex) -> Any:
        cls = type(self)
        if self._realm_managed:
            raise UsageError(
                f"cannot pickle or copy a {cls.__name__}, which stands for a stored object; "
                "realm.to_dict gives its values, realm.reference something to find it by"
            )
        values = {
            prop.name: getattr(self, prop.name)
            for prop in cls.__realm_model__.properties
            if hasattr(self, prop.name)
        }
        free = getattr(cls, "__realm_free_attributes__", ())
        kept = {name: value for name, value in self.__dict__.items() if free is True or name in free}
        # Objects may link to each other in cycles: the values come when the object is there.
        return _blank, (cls,), (values, kept)

    def __setstate__(self, state: tuple[dict[str, Any], dict[str, Any]]) -> None:
        for name, value in state[0].items():
            setattr(self, name, value)
        self.__dict__.update(state[1])

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

    def _repr_html_(self) -> str:
        return html_of_object(self)

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


def _blank(cls: type[Object]) -> Object:
    """An object without values, for copies and pickles."""
    return cls.__new__(cls)


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


def _checked(obj: Any) -> Any:
    if not isinstance(obj, _realm.Object):
        raise UsageError(f"{obj!r} is no object of a class derived from realm.Object")
    return obj


def is_managed(obj: Object, /) -> bool:
    """Whether obj stands for a stored object."""
    return bool(_checked(obj)._realm_managed)


def is_valid(obj: Object, /) -> bool:
    """Whether obj can be used: neither deleted nor of a closed realm."""
    return bool(_checked(obj)._realm_valid)


def properties(cls: type[Object], /) -> dict[str, _realm.Property]:
    """The stored properties of a class by name, in order. (`Dog.age` is an expression for queries.)"""
    if not isinstance(cls, ObjectMeta) or cls in (Object, EmbeddedObject):
        raise UsageError(f"{cls!r} is no class derived from realm.Object")
    return {prop.name: prop for prop in cls.__realm_model__.properties}


def realm_of(obj: Object, /) -> Any:
    """The realm that obj is in, None for an unmanaged one."""
    return _checked(obj)._realm_owner


class Reference(typing.NamedTuple):
    """What finds a stored object again, in any realm of its file: for queues, pickles, other processes."""

    #: Name of the class in the file.
    cls: str
    #: The object's key in the file, which no other object ever gets.
    key: int


def reference(obj: Object, /) -> Reference:
    """A reference to a stored object, which can be pickled; `Realm.resolve` finds the object."""
    if not _checked(obj)._realm_managed:
        raise UsageError(f"this {type(obj).__name__} is in no realm yet; add it first")
    if not obj._realm_valid:
        raise InvalidObjectError(f"this {type(obj).__name__} has been deleted, or its realm closed")
    return Reference(type(obj).__realm_model__.stored_name, cast("int", obj._realm_key))


def parent_of(obj: EmbeddedObject, /) -> Object | None:
    """The object that an embedded one is part of, None for one that is in no realm yet."""
    if not isinstance(obj, EmbeddedObject):
        raise UsageError(f"a {type(obj).__name__} is not embedded: it has no owner")
    return obj._realm_parent() if obj._realm_managed else None
