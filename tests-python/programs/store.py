"""The model's data: files with their versions, instances, objects, collections and handles.

A version is a `State`: objects as dictionaries of plain values. An object is told by its `Row`,
which all versions share; its key is whatever the library answered when it was made. Collections in
mixed values are `Nested` or `NestedMap`, whose number tells them through all versions.
"""

from __future__ import annotations

import itertools
import uuid
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cmp_to_key
from typing import Any, Iterator

from queries.schema import Cls, Prop
from queries.values import Date, F32, Oid, Row, order

DEFAULTS: dict[str, Any] = {
    "int": 0, "bool": False, "string": "", "binary": b"", "double": 0.0, "float": F32(0),
    "decimal128": Decimal(0), "timestamp": Date(0, 0), "objectId": Oid(bytes(12))}


class Fail(Exception):
    """The call fails, with one of these codes."""

    def __init__(self, *codes: int) -> None:
        super().__init__(str(codes))
        self.codes = frozenset(codes)


class Open(Exception):
    """The contract leaves the answer open: the call is made, and its answer not compared."""


class Stop(Exception):
    """Nobody knows what holds after this call, or it would block: it is not made."""


class Nested(list[Any]):
    """A list in a mixed value."""

    def __init__(self, items: Any = (), number: int | None = None) -> None:
        super().__init__(items)
        self.number = next(numbers) if number is None else number


class NestedMap(dict[str, Any]):
    """A dictionary in a mixed value."""

    def __init__(self, items: Any = (), number: int | None = None) -> None:
        super().__init__(items)
        self.number = next(numbers) if number is None else number


numbers = itertools.count(1)


def copied(value: Any) -> Any:
    """A copy of a value as another version keeps it: the same objects and numbers."""
    if isinstance(value, Nested):
        return Nested(map(copied, value), value.number)
    if isinstance(value, NestedMap):
        return NestedMap({key: copied(item) for key, item in value.items()}, value.number)
    if isinstance(value, list):
        return [copied(item) for item in value]
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return value


def default(prop: Prop) -> Any:
    if prop.coll:
        return {} if prop.coll == "dict" else []
    if prop.nullable or prop.type in ("link", "mixed"):
        return None
    if prop.type == "uuid":
        return uuid.UUID(int=0)
    return DEFAULTS[prop.type]


class State:
    """The objects of one version."""

    def __init__(self, classes: dict[str, Cls]) -> None:
        self.classes = classes
        self.rows: dict[Row, dict[str, Any]] = {}

    def copy(self) -> State:
        made = State(self.classes)
        made.rows = {row: {name: copied(value) for name, value in values.items()}
                     for row, values in self.rows.items()}
        return made

    def of(self, cls: str) -> list[Row]:
        return sorted((row for row in self.rows if row.cls.name == cls), key=lambda row: row.key)

    def find(self, cls: str, key: int) -> Row | None:
        return next((row for row in self.rows if row.cls.name == cls and row.key == key), None)

    def replaced(self, row: Row) -> bool:
        """Whether an object is gone, and another one has its key since a rollback."""
        return row not in self.rows and self.find(row.cls.name, row.key) is not None

    def add(self, row: Row) -> None:
        self.rows[row] = {prop.name: default(prop) for prop in row.cls.props
                          if prop.type != "backlinks"}

    # ------------------------------------------------------------------------------ deletion

    def children(self, row: Row) -> list[Row]:
        """The embedded objects that an object owns."""
        found = []
        for prop in row.cls.props:
            if prop.type == "link" and self.classes[prop.target].embedded:
                value = self.rows[row][prop.name]
                items = list(value.values()) if prop.coll == "dict" else \
                    value if prop.coll else [value]
                found += [item for item in items if item is not None]
        return found

    def owner(self, row: Row) -> Row | None:
        return next((other for other in self.rows if row in self.children(other)), None)

    def delete(self, row: Row) -> None:
        """8.3: with what it owns; links to it go or become null."""
        if row not in self.rows:
            return
        doomed = [row]
        for one in doomed:
            doomed += self.children(one)
        for one in doomed:
            del self.rows[one]
        gone = set(doomed)
        for values in self.rows.values():
            for name, value in values.items():
                values[name] = scrubbed(value, gone)


def scrubbed(value: Any, gone: set[Row]) -> Any:
    if isinstance(value, Row):
        return None if value in gone else value
    if isinstance(value, list):
        value[:] = [scrubbed(item, gone) for item in value
                    if not (isinstance(item, Row) and item in gone)]
    elif isinstance(value, dict):
        for key, item in value.items():
            value[key] = scrubbed(item, gone)
    return value


# ------------------------------------------------------------------------- files and instances

@dataclass(eq=False)
class File:
    path: str
    in_memory: bool
    classes: dict[str, Cls]
    versions: dict[int, State] = field(default_factory=dict)
    newest: int = 1
    schema_version: int = 2**64 - 1
    instances: list[Instance] = field(default_factory=list)
    created: dict[str, int] = field(default_factory=dict)  # class: the greatest key committed
    pins: list[int] = field(default_factory=list)  # versions that references keep
    shown: dict[str, dict[str, str]] = field(default_factory=dict)  # the schema as text
    uncertain: bool = False  # what its versions are called
    lost: set[int] = field(default_factory=set)  # nested collections moved away or undone

    def writer(self) -> Instance | None:
        return next((i for i in self.instances if i.state == "write"), None)

    def held(self) -> bool:
        """Whether data in memory lives on: references to results keep it."""
        return bool(self.live() or self.pins)

    def live(self) -> list[Instance]:
        return [i for i in self.instances if i.state != "closed"]

    def retained(self) -> set[int]:
        return {self.newest, *self.pins,
                *(i.version for i in self.live() if i.state in ("read", "write"))}


@dataclass(eq=False)
class Instance:
    """An opened realm. `state` is none, read, write or closed."""

    file: File
    state: str = "none"
    frozen: bool = False
    version: int = 0
    view: State | None = None
    epoch: int = 0  # counts what made all handles of the instance invalid
    mode: int = 0
    objects: list[Object] = field(default_factory=list)
    touched: bool = True  # of a frozen one: data was read
    schema: dict[str, Any] = field(default_factory=dict)
    max_versions: int = 2**64 - 1
    ordered: bool = True  # whether the order of properties is that of a schema that was given
    schema_version: int = 2**64 - 1
    asked_version: int = 2**64 - 1  # of its configuration

    def reading(self) -> State:
        """Begins a read transaction if there is none."""
        if self.state == "closed":
            raise Fail(2014)
        if self.state == "none":
            self.go(self.file.newest)
            self.state = "read"
        self.touched = True
        assert self.view is not None
        return self.view

    def go(self, version: int) -> None:
        self.version, self.view = version, self.file.versions[version]

    def alive(self, epoch: int) -> bool:
        return self.state != "closed" and self.epoch == epoch


# -------------------------------------------------------------------------------------- handles

@dataclass(eq=False)
class Realm:
    inst: Instance


@dataclass(eq=False)
class Object:
    inst: Instance
    row: Row
    epoch: int
    dead: bool = False  # a rollback does not bring it back
    loose: bool = False  # its object was not there when the handle was made

    @property
    def valid(self) -> bool:
        return self.inst.alive(self.epoch) and not self.dead and self.inst.view is not None \
            and self.row in self.inst.view.rows


@dataclass(eq=False)
class Collection:
    """A list, set or dictionary: of a property, or nested in another one."""

    inst: Instance
    kind: str  # "list", "set" or "dict"
    row: Row
    prop: Prop
    epoch: int
    parent: Collection | None = None
    number: int = 0  # which nested collection; 0 where there was none
    slot: Any = None  # the index or key it was asked for
    loose: bool = False  # its object was not there when the handle was made

    @property
    def mixed(self) -> bool:
        return self.prop.type == "mixed"

    def items(self) -> Any:
        """The list or dictionary of the model, None where there is none."""
        if not self.inst.alive(self.epoch) or self.inst.view is None:
            return None
        if self.parent is not None:
            return self.nested(self.parent.items())
        values = self.inst.view.rows.get(self.row)
        if values is None:
            return None
        value = values[self.prop.name]
        if self.prop.coll:
            return value
        kinds = {"list": Nested, "dict": NestedMap}
        return value if self.kind in kinds and isinstance(value, kinds[self.kind]) else None

    def nested(self, container: Any) -> Any:
        if container is None:
            return None
        if self.number == 0:
            # A handle of nothing; whether it follows its slot later is nowhere said.
            at = slot_value(container, self.slot)
            if isinstance(at, Nested if self.kind == "list" else NestedMap):
                raise Stop("a handle of a place where a collection came later")
            return None
        if self.number in self.inst.file.lost:
            raise Stop("a handle of a nested collection that was moved or undone")
        members = container if isinstance(container, list) else container.values()
        return next((item for item in members if isinstance(item, (Nested, NestedMap))
                     and item.number == self.number), None)

    def depth(self) -> int:
        return 1 if self.parent is None else self.parent.depth() + 1


def slot_value(container: Any, slot: Any) -> Any:
    if isinstance(container, list):
        return container[slot] if isinstance(slot, int) and slot < len(container) else None
    return container.get(slot) if isinstance(slot, str) else None


def in_order(items: list[Any]) -> list[Any]:
    """The elements of a set as their indexes tell them."""
    return sorted(items, key=cmp_to_key(order))


def entries(items: dict[str, Any]) -> list[tuple[str, Any]]:
    return sorted(items.items(), key=lambda item: item[0].encode())


def elements(collection: Collection, items: Any) -> list[Any]:
    """What a collection has, in the order of its indexes."""
    if collection.kind == "set":
        return in_order(items)
    if collection.kind == "dict":
        return [value for _, value in entries(items)]
    return list(items)


@dataclass(eq=False)
class Schema:
    classes: dict[str, dict[str, str]]


@dataclass(eq=False)
class Config:
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class Reference:
    """A thread-safe reference."""

    kind: str
    of: Any
    version: int
    file: File
    used: bool = False
    certain: bool = True  # what version it starts an instance at
    pinned: int = 0  # the version that results keep


@dataclass(eq=False)
class Error:
    code: int


@dataclass(eq=False)
class Scheduler:
    pass


KINDS = {Realm: "realm", Object: "object", Schema: "schema", Config: "config",
         Reference: "reference", Error: "error", Scheduler: "scheduler"}


def walk_nested(value: Any) -> Iterator[Any]:
    """All collections within a value."""
    if isinstance(value, (Nested, NestedMap)):
        yield value
    for item in value if isinstance(value, list) else value.values() \
            if isinstance(value, dict) else ():
        yield from walk_nested(item)
