"""The model: what each call answers, from the contract alone, and what holds afterwards.

`Model.predict` gives a `Say`. The rules of each chapter are functions of their own files, entered
under the call's name by `@rule`. They check in the order of the contract and raise `Fail`; where
it names no order between two failures, `either` allows both. `Open` and `Stop` say what it leaves
open.
"""

from __future__ import annotations

import re
import uuid
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Callable

from queries.schema import Prop
from queries.values import Date, F32, Oid, Row, Unspecified, kind

from .calls import DICTIONARY, LIST, NO_DATA, NO_TEXT, Call, Handle, Key, ObjectKey, To
from .store import (Collection, Fail, File, Instance, Nested, NestedMap, Object, Open, Realm, State,
                    Stop)

SIZE_MAX = 2**64 - 1
ANYTHING = object()  # an output that the contract does not fix
WRONG_STATE, WRONG_THREAD, ILLEGAL, STALE, GONE, CLOSED = 2005, 2006, 2007, 2009, 2010, 2014
NO_TABLE_REF, TOP_LEVEL, INVALID_ARGUMENT = 2015, 2021, 3000
MISMATCH, NOT_NULLABLE, NO_PRIMARY_KEY, HAS_NO_KEY, NO_PROPERTY = 3001, 3002, 3005, 3006, 3009
BAD_KEY, BAD_VALUE, NO_OBJECT, BOUNDS, LIMIT, NO_TABLE = 3011, 3012, 3016, 3017, 3018, 3020
OTHER_CLASS, EXISTS = 3019, 1013


# 0.2: those that belong to the thread of a live realm, as far as programs call them elsewhere.
BOUND = re.compile(
    r"realm_(begin_write|commit|rollback|refresh|freeze|get_value|set_value|object_delete"
    r"|get_list|object_to_string|list_(size|get|insert|erase|find|clear)|set_(size|insert|get)"
    r"|dictionary_(size|get|insert|find)|results_(count|get|sort|limit|snapshot|min))$")


def on_thread(function: str, args: list[Any]) -> None:
    """A call on another thread: of a live realm WRONG_THREAD, of a frozen one as ever."""
    handle = args[0]
    inst: Instance = handle.inst
    odd = function == "realm_dictionary_find" and not isinstance(args[1], str)
    if not BOUND.match(function) or inst.state == "closed" or odd:
        raise Stop("a call on another thread that the contract does not name")
    if inst.frozen:
        return
    gone = isinstance(handle, Object) and not handle.valid or isinstance(handle, Collection) and \
        handle.items() is None
    codes = [WRONG_THREAD]
    if gone or not isinstance(handle, (Realm, Object, Collection)):
        codes += [GONE, STALE]
    if function.endswith(("_insert", "_set_value", "_erase")):
        codes += [INVALID_ARGUMENT, MISMATCH, NOT_NULLABLE, NO_PROPERTY, BAD_KEY]
    raise Fail(*codes)


# Calls that begin no read transaction when they fail.
UNREAD = ("realm_begin_write", "realm_commit", "realm_rollback", "realm_compact")


@dataclass
class Say:
    """A predicted answer. `made` is the model's handle where the call gives one; `row` tells which
    object it stands for."""

    value: Any = True
    outs: dict[str, Any] = field(default_factory=dict)
    errors: frozenset[int] = frozenset()
    made: Any = None
    open: str = ""
    near: bool = False  # numbers may differ in their last digits


@dataclass(frozen=True)
class Target:
    """A link as a value: the class by name, or by a number that no class has, and the object."""

    cls: Any
    row: Row | None


Rule = Callable[..., Say]
# Calls after which something else may hold.
MUTATES = re.compile(r"_(set|insert|erase|delete|clear|move|remove|add|create|begin|commit|compact"
                     r"|rollback|close|refresh|open|release)(_|$)")
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    def enter(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
        return function
    return enter


class Model:
    def __init__(self) -> None:
        self.files: dict[str, File] = {}
        self.handles: dict[str, Any] = {}
        self.error = 0  # what realm_get_last_error() would say
        self.open: Counter[str] = Counter()
        self.call: Call = Call("", [])
        self.levels: dict[str, int] = {}  # of log categories that were set

    # ---------------------------------------------------------------------------- prediction

    def predict(self, call: Call) -> Say:
        self.call = call
        args: list[Any] = []
        try:
            args = [self.argument(arg) for arg in call.args]
            if call.elsewhere:
                on_thread(call.function, args)
            return self.ruled(call.function, args)
        except Fail as failure:
            if call.function not in UNREAD and any(
                    isinstance(arg, Realm) and arg.inst.state == "none" for arg in args):
                raise Stop("a failing call may begin to read") from None
            return Say(False, errors=failure.codes)
        except (Open, Unspecified) as reason:
            if MUTATES.search(call.function):
                raise Stop(str(reason)) from None
            return Say(open=str(reason))

    def ruled(self, function: str, args: list[Any]) -> Say:
        """What the rule says. A call that is not made moves no instance."""
        before = [(inst, inst.state, inst.version, inst.view, inst.touched)
                  for file in self.files.values() for inst in file.instances]
        try:
            return RULES[function](self, *args)
        except Stop:
            for inst, *kept in before:
                inst.state, inst.version, inst.view, inst.touched = kept
            raise

    def argument(self, value: Any) -> Any:
        if isinstance(value, Handle):
            found = self.handles[value]
            self.not_replaced(found)
            return found
        if isinstance(value, ObjectKey):
            return self.handles[value.of].row.key
        if isinstance(value, To):
            return self.target(value)
        if value in (NO_TEXT, NO_DATA) and not isinstance(value, (bool, int, float)):
            return value
        if isinstance(value, list):
            return [self.argument(item) for item in value]
        return value

    @staticmethod
    def not_replaced(handle: Any) -> None:
        """Integer primary keys are object keys in this library: an object that is made again has
        the key, and the handles, of the one that is gone. The contract has a new key."""
        if isinstance(handle, (Object, Collection)) and handle.inst.view is not None \
                and (handle.loose or handle.row.cls.pk) and handle.inst.view.replaced(handle.row):
            raise Stop("a handle of an object whose key another one has by now")

    def target(self, to: To) -> Target:
        if to.key is None:
            handle = self.handles[to.of]
            return Target(handle.row.cls.name, handle.row)
        cls = to.of.cls if isinstance(to.of, Key) else to.of
        return Target(cls, self.row_by_key(cls, to.key))

    def row_by_key(self, cls: Any, key: int) -> Row | None:
        found = [row for file in self.files.values() for state in file.versions.values()
                 for row in state.rows if row.cls.name == cls and row.key == key]
        if found:
            return found[0]
        for file in self.files.values():
            writer = file.writer()
            if writer and writer.view and (row := writer.view.find(cls, key)):
                return row
        return None

    def bind(self, call: Call, say: Say) -> None:
        """The handle that a call gave has its name from now on."""
        if call.result is not None:
            self.handles[call.result] = say.made

    def free(self, name: str) -> None:
        self.handles.pop(name, None)

    # -------------------------------------------------------------------------------- checks

    @staticmethod
    def realm(realm: Realm) -> Instance:
        """An open instance."""
        if realm.inst.state == "closed":
            raise Fail(CLOSED)
        return realm.inst

    @staticmethod
    def cls(inst: Instance, key: Any) -> Any:
        """The class of a key."""
        cls = inst.file.classes.get(key.cls) if isinstance(key, Key) else None
        if cls is None or cls.name not in shown_names(inst):
            raise Fail(NO_TABLE)
        return cls

    @staticmethod
    def prop(cls: Any, key: Any, *, computed: bool = False) -> Prop:
        prop = cls.find(key.prop) if isinstance(key, Key) and key.cls == cls.name else None
        if isinstance(key, Key) and key.cls != cls.name:
            raise Stop("the key of another class's property")
        if prop is None or (prop.type == "backlinks" and not computed):
            raise Fail(NO_PROPERTY)
        return prop

    @staticmethod
    def object(handle: Object) -> dict[str, Any]:
        """The values of an object that is there."""
        if not handle.valid:
            raise Fail(GONE)
        assert handle.inst.view is not None
        return handle.inst.view.rows[handle.row]

    @staticmethod
    def collection(handle: Collection) -> Any:
        """The elements of a collection that is there."""
        items = handle.items()
        if items is None:
            raise Fail(GONE)
        return items

    @staticmethod
    def writing(inst: Instance) -> State:
        if inst.state != "write":
            raise Fail(WRONG_STATE)
        assert inst.view is not None
        return inst.view

    def typed(self, prop: Prop, value: Any) -> None:
        """1.8, the type check."""
        if is_null(value):
            if not prop.nullable:
                raise Fail(NOT_NULLABLE)
            return
        if prop.type == "mixed":
            return
        if isinstance(value, Target):
            if prop.type != "link" or value.cls != prop.target:
                raise Fail(MISMATCH)
        elif type_of(value) != prop.type:
            raise Fail(MISMATCH)

    def targeted(self, inst: Instance, prop: Prop, value: Any) -> None:
        """1.8, what follows the type check of a link."""
        if not isinstance(value, Target):
            return
        cls = inst.file.classes.get(value.cls)
        if cls is None:
            raise Fail(NO_TABLE)
        codes = []
        if self.here(inst, value) is None:
            codes.append(NO_OBJECT)
        if cls.embedded:
            codes.append(ILLEGAL)
        if codes:
            raise Fail(*codes)

    def targets_before_writing(self, inst: Instance, prop: Prop, value: Any) -> None:
        """A missing target is told before the transaction; where a link is wrong otherwise, and
        there is no transaction, either is."""
        def target() -> None:
            self.targeted(inst, prop, value)
        try:
            target()
        except Fail as failure:
            if inst.state != "write" and failure.codes == {NO_OBJECT}:
                raise
        self.either(target, lambda: self.writing(inst))

    @staticmethod
    def here(inst: Instance, target: Target) -> Row | None:
        """The object that a link means in the version of an instance."""
        if target.row is None or inst.view is None:
            return None
        return inst.view.find(target.cls, target.row.key)

    def stored(self, inst: Instance, value: Any) -> Any:
        """A value as the model keeps it."""
        if is_null(value):
            return None
        if isinstance(value, Target):
            return self.here(inst, value)
        if value == LIST:
            return Nested()
        if value == DICTIONARY:
            return NestedMap()
        return value

    def either(self, *checks: Callable[[], Any]) -> None:
        """Checks between which the contract names no order: whatever fails may be told."""
        codes: set[int] = set()
        for check in checks:
            try:
                check()
            except Fail as failure:
                codes |= failure.codes
        if len(codes) > 1:
            self.open["which of two failures is told"] += 1
        if codes:
            raise Fail(*codes)


def shown_names(inst: Instance) -> set[str]:
    """The classes that an instance shows."""
    return {title.split()[-1] for title in inst.schema}


def fail(code: int) -> None:
    raise Fail(code)


def is_null(value: Any) -> bool:
    return value is None or value is NO_TEXT or value is NO_DATA


def type_of(value: Any) -> str:
    """The type of property that holds a value."""
    if value == LIST or value == DICTIONARY:
        return "collection"
    for python, name in ((bool, "bool"), (int, "int"), (F32, "float"), (float, "double"),
                         (Decimal, "decimal128"), (str, "string"), (Oid, "objectId"),
                         (Date, "timestamp"), (bytes, "binary"), (uuid.UUID, "uuid")):
        if isinstance(value, python):
            return name
    return kind(value)


def shown(value: Any) -> Any:
    """A stored value as a call gives it: collections say only that they are there."""
    if isinstance(value, list):
        return LIST
    if isinstance(value, dict):
        return DICTIONARY
    return value
