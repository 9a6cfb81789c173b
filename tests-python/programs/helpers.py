"""What the parts of the generator share: handles to choose from, and values, right and wrong."""

from __future__ import annotations

import random
from typing import Any, Callable

from queries.schema import Cls, Prop

from .calls import DICTIONARY, LIST, NO_DATA, NO_TEXT, Call, Handle, Key, To
from .model import Model
from .schemas import classes_of
from .store import Collection, Object, Realm, Stop
from .world import BAD_KEYS, KEYS, SCALARS, WORLD, scalar

PREFIXES = {"realm": "r", "object": "o", "list": "l", "set": "e", "dict": "d", "query": "q",
            "results": "v", "config": "c", "schema": "h", "reference": "t", "failure": "x",
            "scheduler": "y"}
WORLD_CLASSES = {cls.name: cls for cls in classes_of(WORLD)}


class Helpers:
    rng: random.Random
    model: Model
    count: int

    # ----------------------------------------------------------------------------- helpers

    def name(self, kind: str) -> Handle:
        self.count += 1
        return Handle(f"{PREFIXES[kind]}{self.count}")

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def handles(self, kind: type, test: Callable[[Any], bool] = lambda handle: True
                ) -> list[Handle]:
        return [Handle(name) for name, handle in self.model.handles.items()
                if isinstance(handle, kind) and test(handle)]

    def one(self, kind: type, test: Callable[[Any], bool] = lambda handle: True) -> Handle | None:
        """A handle, rather a young one."""
        found = self.handles(kind, test)
        if not found:
            return None
        return found[-1 - min(int(self.rng.expovariate(0.15)), len(found) - 1)]

    def of(self, name: Handle) -> Any:
        return self.model.handles[name]

    def schema_classes(self) -> dict[str, Cls]:
        """The classes of the file that programs are about."""
        for file in self.model.files.values():
            if file.classes:
                return file.classes
        return WORLD_CLASSES

    def realm(self) -> Handle | None:
        """An open realm, mostly one that writes."""
        if self.chance(0.85):
            writing = self.one(Realm, lambda handle: handle.inst.state == "write")
            if writing:
                return writing
        if self.chance(0.06):
            return self.one(Realm)
        return self.one(Realm, lambda handle: handle.inst.state != "closed")

    def object(self, test: Callable[[Any], bool] = lambda handle: True) -> Handle | None:
        if self.chance(0.05):
            return self.one(Object, test)
        if self.chance(0.7):
            found = self.one(Object, lambda o: o.valid and o.inst.state == "write" and test(o))
            if found:
                return found
        return self.one(Object, lambda handle: handle.valid and test(handle))

    def collection(self, kind: str) -> Handle | None:
        if self.chance(0.08):
            return self.one(Collection, lambda c: c.kind == kind)

        def good(c: Collection) -> bool:
            return c.kind == kind and c.inst.state != "closed" and self.there(c)
        if self.chance(0.75):
            found = self.one(Collection, lambda c: c.inst.state == "write" and good(c))
            if found:
                return found
        return self.one(Collection, good)

    @staticmethod
    def there(collection: Collection) -> bool:
        try:
            return collection.items() is not None
        except Stop:
            return False

    def cls(self, *, bad: float = 0.03) -> Any:
        if self.chance(bad):
            return self.rng.choice([99, 0x7fffffff])
        return Key(self.rng.choice(["Thing", "Thing", "Thing", "Person", "Number", "Part",
                                    "Inner"]))

    def prop_of(self, name: Handle, test: Callable[[Prop], bool] = lambda prop: True) -> Any:
        """The key of a property of an object, seldom of none."""
        cls = self.of(name).row.cls
        if self.chance(0.03):
            return self.rng.choice([-1, 12345])
        fitting = [prop for prop in cls.props if prop.type != "backlinks" and test(prop)]
        return Key(cls.name, self.rng.choice(fitting).name) if fitting else None

    def prop(self, handle: Handle, key: Any) -> Prop | None:
        return self.of(handle).row.cls.find(key.prop) if isinstance(key, Key) else None

    # ------------------------------------------------------------------------------- values

    def value(self, prop: Prop | None) -> Any:
        """A value for a property, or of another type."""
        rng = self.rng
        if prop is None or self.chance(0.05):
            prop = Prop("", rng.choice([*SCALARS, "mixed", "link"]), target="Thing", nullable=True)
        if prop.nullable and self.chance(0.12) or self.chance(0.02):
            return rng.choice([None, None, NO_TEXT, NO_DATA])
        if prop.type == "link":
            return self.link(prop.target)
        if prop.type == "mixed":
            if self.chance(0.18):
                return self.link(rng.choice(["Thing", "Person", "Number", "Part"]))
            if self.chance(0.15) and prop.coll != "set":
                return rng.choice([LIST, DICTIONARY])
            return scalar(rng, rng.choice(SCALARS))
        return scalar(rng, prop.type)

    def link(self, cls: str) -> Any:
        if self.chance(0.06):
            return To(Key(cls), self.rng.choice([99, -1]))
        if self.chance(0.03):
            return To(98, 1)
        here = self.one(Object, lambda o: o.valid and o.row.cls.name == cls)
        if here and not self.chance(0.05):
            return To(here)
        some = self.one(Object, lambda o: o.row.cls.name == cls)
        return To(some) if some else To(Key(cls), 99)

    def index(self, size: int) -> int:
        if self.chance(0.08):
            return self.rng.choice([size, size + 1, 2**64 - 1, 2**63])
        return self.rng.randrange(size + 1) if self.chance(0.3) else self.rng.randrange(size or 1)

    def key(self) -> Any:
        if self.chance(0.05):
            return self.rng.choice([*BAD_KEYS, NO_TEXT])
        if self.chance(0.03):
            return self.rng.choice([5, None, b"a", LIST])
        return self.rng.choice(KEYS)

    def size(self, name: Handle) -> int:
        try:
            items = self.of(name).items()
        except Stop:
            return 0
        return len(items or ())

    def made(self, function: str, args: list[Any], kind: str) -> Call:
        return Call(function, args, self.name(kind))
