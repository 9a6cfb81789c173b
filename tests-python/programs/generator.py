"""Writes random programs, call by call. It asks the model which handles exist, so that most calls
make sense; some are wrong on purpose: handles of what is gone, values of other types, keys that
nobody has, indexes behind the end."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any, Callable, Iterator

from queries.schema import Prop

from .abi import functions
from .calls import NULL, Call, Handle, Key, ObjectKey
from .helpers import PREFIXES
from .model import BOUND, Model
from .queries_written import QueryWriter
from .results import Results
from .store import (Collection, Config, Error, Fail, Object, Open, Realm, Reference, Schema,
                    Stop)
from .world import MORE, WORLD
from .writing import Writing

# Outputs that may be NULL, and calls that want them all the same or answer oddly without.
SPARED = ("out_index", "out_found", "out_inserted", "out_erased", "did_create", "did_refresh",
          "did_compact", "out_value", "out_key", "class_key", "out_version", "out_is_valid",
          "did_delete_realm", "out_min", "out_max", "out_sum", "out_average")
NEEDED = ("realm_results_find", "realm_results_find_object", "realm_config_get_encryption_key")


class Generator(Writing):
    def __init__(self, rng: random.Random, model: Model, *, focus: str = "") -> None:
        self.rng, self.model = rng, model
        self.count = 0
        self.writer = QueryWriter(rng, self)
        self.times: Counter[str] = Counter()
        self.ways: list[tuple[float, Callable[[], Call | None]]] = [
            (7, self.transaction), (6, self.create), (5, self.fetch), (10, self.set_value),
            (5, self.get_value), (9, self.get_collection), (20, self.lists), (12, self.sets),
            (18, self.dictionaries), (6, self.identity), (10, self.make_results),
            (13, self.use_results), (5, self.queries), (3, self.references), (3, self.errors),
            (3, self.introspection), (2, self.opening), (1, self.configuration),
            (2, self.release), (1.2, self.ending), (4, self.nested)]
        if focus:
            self.ways = [(weight * (8 if way.__name__ == focus else 1), way)
                         for weight, way in self.ways]

    # ------------------------------------------------------------------------------ programs

    def start(self) -> Iterator[Call]:
        """A file with the classes, opened once or twice."""
        schema, config = self.name("schema"), self.name("config")
        yield Call("realm_schema_new", [WORLD], schema)
        yield Call("realm_config_new", [], config)
        yield Call("realm_config_set_path", [config, "a.realm"])
        yield Call("realm_config_set_schema", [config, schema])
        yield Call("realm_config_set_schema_version", [config, 0])
        if self.chance(0.25):
            yield Call("realm_config_set_in_memory", [config, True])
        for _ in range(self.rng.choice([1, 1, 2, 3])):
            realm = self.name("realm")
            yield Call("realm_open", [config], realm)
        if self.chance(0.85):
            yield Call("realm_begin_write", [realm])
            for cls in ("Thing", "Thing", "Person", "Number"):
                keyed = cls != "Thing"
                args = [realm, Key(cls)]
                yield self.made(f"realm_object_create{'_with_primary_key' * keyed}",
                                [*args, self.primary_key(args[1])] if keyed else args, "object")

    def finish(self) -> Iterator[Call | None]:
        """What was written is read back, by the realms that are open and by a new one."""
        realm = self.one(Realm, lambda r: r.inst.state == "write")
        if realm and self.chance(0.7):
            yield Call("realm_commit", [realm])
        if self.handles(Config) and self.chance(0.6):
            yield self.made("realm_open", [self.handles(Config)[0]], "realm")
        for realm in self.handles(Realm, lambda r: r.inst.state in ("none", "read", "write"))[-2:]:
            for cls in self.rng.sample(["Thing", "Thing", "Person", "Number", "Part"], 2):
                results = self.name("results")
                yield Call("realm_object_find_all", [realm, Key(cls)], results)
                for index in range(min(2, self.found(results))):
                    handle = self.name("object")
                    yield Call("realm_results_get_object", [results, index], handle)
                    yield from self.read_back(handle)

    def found(self, name: Handle) -> int:
        """How many elements results have."""
        results = self.model.handles.get(name)
        try:
            return len(results.rows(self.model)) if isinstance(results, Results) else 0
        except (Fail, Open, Stop):
            return 0

    def read_back(self, handle: Handle) -> Iterator[Call | None]:
        if handle not in self.model.handles:
            return
        cls = self.of(handle).row.cls
        single = [prop for prop in cls.props if not prop.coll and prop.type != "backlinks"]
        yield Call("realm_get_values", [handle, [Key(cls.name, prop.name) for prop in single]])
        for prop in cls.props:
            if prop.coll in ("list", "set", "dict") and prop.type != "backlinks":
                word = "dictionary" if prop.coll == "dict" else prop.coll
                made = self.name(prop.coll)
                yield Call(f"realm_get_{word}", [handle, Key(cls.name, prop.name)], made)
                yield Call(f"realm_{word}_size", [made])
                for index in range(min(self.size(made), 4)):
                    yield Call(f"realm_{word}_get", [made, index])

    def next(self) -> Call | None:
        """The next call; None where there was nothing to do."""
        if self.chance(0.25) and not any(
                file.writer() for file in self.model.files.values()):
            realm = self.one(Realm, lambda r: r.inst.state in ("none", "read")
                             and not r.inst.frozen)
            if realm:
                return Call("realm_begin_write", [realm])
        way = self.rng.choices([way for _, way in self.ways], [weight for weight, _ in self.ways])
        return way[0]()

    def next_of_two(self) -> Call | None:
        """Often the one of two calls whose function the program has made less often."""
        call = self.next()
        if self.chance(0.5):
            other = self.next()
            if call is None or other is None:
                call = call or other
            elif self.times[other.function] < self.times[call.function]:
                call = other
        if call is not None:
            self.times[call.function] += 1
            self.varied(call)
        return call

    def varied(self, call: Call) -> None:
        """Seldom without an output, or on another thread."""
        outs = [out.name for out in functions()[call.function].outs if out.name in SPARED]
        if outs and call.function not in NEEDED and self.chance(0.04):
            call.nulls = frozenset([self.rng.choice(outs)])
        elif call.args and isinstance(call.args[0], Handle) and BOUND.match(call.function) \
                and self.chance(0.015):
            call.elsewhere = True

    def transaction(self) -> Call | None:
        realm = self.one(Realm, lambda r: r.inst.state != "closed" and not r.inst.frozen) \
            if self.chance(0.9) else self.one(Realm)
        if realm is None:
            return None
        inst = self.of(realm).inst
        if inst.state == "write":
            if self.chance(0.65):
                return None
            call = self.rng.choices(["realm_commit", "realm_rollback", "realm_begin_write",
                                     "realm_refresh"], [10, 4, 1, 1])[0]
        elif inst.file.writer() is None and self.chance(0.8):
            call = "realm_begin_write"
        else:
            call = self.rng.choice(["realm_begin_read", "realm_refresh", "realm_refresh",
                                    "realm_commit", "realm_rollback", "realm_is_writable",
                                    "realm_get_version_id", "realm_get_num_versions"])
        if call == "realm_begin_write" and inst.state in ("none", "read") \
                and inst.file.writer() not in (None, inst) and not inst.frozen:
            return None
        return Call(call, [realm])

    def create(self) -> Call | None:
        realm = self.realm()
        if realm is None:
            return None
        cls = self.cls()
        if self.chance(0.06):
            call = self.rng.choice(["realm_object_create", "realm_object_create_with_primary_key"])
        else:
            keyed = isinstance(cls, Key) and cls.cls in ("Person", "Number")
            call = self.rng.choice(["realm_object_create_with_primary_key",
                                    "realm_object_get_or_create_with_primary_key"]) \
                if keyed else "realm_object_create"
        args = [realm, cls]
        if call != "realm_object_create":
            args.append(self.primary_key(cls))
        return self.made(call, args, "object")

    def primary_key(self, cls: Any) -> Any:
        type = {"Person": "string", "Number": "int"}.get(getattr(cls, "cls", ""), "int")
        return self.value(Prop("", type, nullable=type == "string"))

    def fetch(self) -> Call | None:
        realm = self.realm()
        if realm is None:
            return None
        rng = self.rng
        if self.chance(0.3):
            cls = Key(rng.choice(["Person", "Number"])) if self.chance(0.95) else self.cls()
            if getattr(cls, "cls", "") not in ("Person", "Number"):
                return None
            return self.made("realm_object_find_with_primary_key",
                             [realm, cls, self.primary_key(cls)], "object")
        if self.chance(0.2):
            return Call("realm_get_num_objects", [realm, self.cls()])
        some = self.one(Object)
        if some is None or self.chance(0.1):
            return self.made("realm_get_object",
                             [realm, self.cls(), rng.choice([-1, 99, 10**6])], "object")
        return self.made("realm_get_object",
                         [realm, Key(self.of(some).row.cls.name), ObjectKey(some)], "object")

    # -------------------------------------------------------------------------- everything else

    def identity(self) -> Call | None:
        rng = self.rng
        handle = self.one(Object) if self.chance(0.3) else self.object()
        if handle is None:
            return None
        way = rng.random()
        if way < 0.12:
            part = self.object(lambda o: o.row.cls.embedded or self.chance(0.05))
            return part and self.made("realm_object_get_parent", [part], "object")
        if way < 0.5:
            return Call(rng.choice(["realm_object_is_valid", "realm_object_get_key",
                                    "realm_object_get_table", "realm_object_as_link"]), [handle])
        if way < 0.65:
            return self.get_collection()
        if way < 0.75:
            return Call("realm_object_delete", [handle])
        if way < 0.8:
            return Call("realm_is_frozen", [self.anything()])
        if way < 0.9:
            return self.equals()
        some = self.anything()
        kind = {v: k for k, v in PREFIXES.items()}[some[0]]
        return self.made("realm_clone", [some], kind)

    def equals(self) -> Call:
        a = self.anything()
        alike = self.handles(type(self.of(a)))
        b = self.rng.choice(alike) if self.chance(0.8) else self.anything()
        return Call("realm_equals", [a, b if not self.chance(0.03) else NULL])

    def anything(self) -> Handle:
        return Handle(self.rng.choice(list(self.model.handles)))

    def make_results(self) -> Call | None:
        return self.writer.make_results()

    def use_results(self) -> Call | None:
        return self.writer.use_results()

    def queries(self) -> Call | None:
        return self.writer.use_query()

    def references(self) -> Call | None:
        rng = self.rng
        known = self.one(Reference)
        if known is None or self.chance(0.4):
            kind = rng.choice([Object, Collection, Results])
            some = self.one(kind, lambda h: h.inst.state != "closed") \
                if self.chance(0.95) else self.anything()
            return some and self.made("realm_create_thread_safe_reference", [some], "reference")
        if self.chance(0.4):
            return self.resolve()
        realm = self.one(Realm, lambda r: r.inst.state != "closed" or self.chance(0.1))
        kind = self.of(known).kind if self.chance(0.93) else rng.choice(["object", "list"])
        function = {"dict": "dictionary"}.get(kind, kind)
        return realm and self.made(f"realm_{function}_from_thread_safe_reference", [realm, known],
                                   kind)

    def resolve(self) -> Call | None:
        kind = self.rng.choice([Object, Collection, Results])
        some = self.one(kind)
        realm = self.one(Realm, lambda r: r.inst.state != "closed" or self.chance(0.1))
        if some is None or realm is None:
            return None
        prefix = {"o": "object", "l": "list", "e": "set", "d": "dict", "v": "results"}[some[0]]
        function = {"dict": "dictionary"}.get(prefix, prefix)
        return self.made(f"realm_{function}_resolve_in", [some, realm], prefix)

    def errors(self) -> Call | None:
        way = self.rng.random()
        if way < 0.4:
            return Call("realm_get_last_error", [])
        if way < 0.55:
            return Call("realm_clear_last_error", [])
        if way < 0.8:
            return self.made("realm_get_last_error_as_async_error", [], "failure")
        some = self.one(Error)
        return Call("realm_get_async_error", [some or NULL])

    def introspection(self) -> Call | None:
        realm = self.one(Realm)
        if realm is None:
            return None
        rng, cls = self.rng, self.cls(bad=0.1)
        word = rng.choice(["Thing", "thing", "", "Part", "sn", "words", "i", "linked", "name",
                           "nope"])
        name = cls.cls if isinstance(cls, Key) else "Thing"
        prop = Key(name, rng.choice([p for title, props in WORLD.items()
                                     if title.split()[-1] == name for p in props]))
        ways: list[Call] = [
            Call("realm_get_num_classes", [realm]), Call("realm_get_schema_version", [realm]),
            Call("realm_get_class_keys", [realm, rng.choice([0, 4, 5, 9])]),
            Call("realm_find_class", [realm, word]), Call("realm_get_class", [realm, cls]),
            Call("realm_get_class_properties", [realm, cls, rng.choice([0, 5, 40])]),
            Call("realm_get_property_keys", [realm, cls, rng.choice([0, 5, 40])]),
            Call("realm_get_property", [realm, cls, prop if self.chance(0.9) else 12345]),
            Call("realm_find_property", [realm, cls, word]),
            Call("realm_find_property_by_public_name", [realm, cls, word]),
            Call("realm_find_primary_key_property", [realm, cls]),
            self.made("realm_get_schema", [realm], "schema"),
            Call("realm_is_closed", [realm]), Call("realm_is_writable", [realm]),
            Call("realm_get_version_id", [realm]), Call("realm_get_num_versions", [realm])]
        return rng.choice(ways)

    def opening(self) -> Call | None:
        rng = self.rng
        realm = self.one(Realm, lambda r: r.inst.state != "closed" or self.chance(0.1))
        config = self.one(Config)
        way = rng.random()
        if config and (way < 0.35 or realm is None):
            return self.made("realm_open", [config], "realm")
        if realm is None:
            return None
        if way < 0.7:
            return self.made("realm_freeze", [realm], "realm")
        if way < 0.78:
            return Call("realm_convert_with_path", [
                realm, rng.choice(["b.realm", "a.realm", "no/b.realm"]),
                b"" if self.chance(0.9) else b"short", self.chance(0.2)])
        if way < 0.82 and config:
            return Call("realm_convert_with_config", [realm, config, self.chance(0.2)])
        if way < 0.86:
            return Call("realm_delete_files", [rng.choice(["a.realm", "b.realm", "no/x.realm"])])
        if way < 0.9 and config:
            return Call("realm_get_persisted_schema_version", [config])
        return None

    def configuration(self) -> Call | None:
        rng = self.rng
        config, schema = self.one(Config), self.one(Schema)
        if config is None or self.chance(0.2):
            return self.made("realm_config_new", [], "config")
        fresh = config != self.handles(Config)[0]
        name, values = rng.choice([
            ("schema_version", [0, 0, 1, 2**64 - 1]), ("schema_mode", [0, 0, 2, 5, 6, 7]),
            ("schema_subset_mode", [0, 1, 2, 3]), ("disable_format_upgrade", [True, False]),
            ("automatic_change_notifications", [True, False]), ("force_sync_history", [False]),
            ("fifo_path", ["", "x"]), ("path", ["a.realm", "b.realm", "no/c.realm"]),
            ("in_memory", [False, True])])
        way = rng.random()
        if way < 0.4:
            return Call(f"realm_config_get_{name}", [config])
        if way < 0.45:
            return Call("realm_config_set_encryption_key", [config, b"short"])
        if way < 0.5:
            return Call("realm_config_get_encryption_key", [config])
        if way < 0.55:
            return self.made("realm_config_get_schema", [config], "schema")
        if way < 0.6:
            return Call("realm_config_needs_file_format_upgrade", [config])
        if way < 0.68 and schema:
            return Call("realm_schema_validate", [schema, rng.choice([0, 2])])
        if way < 0.72:
            return self.made("realm_schema_new", [rng.choice([WORLD, MORE])], "schema")
        if way < 0.8 and schema and fresh:
            return Call("realm_config_set_schema", [config, schema])
        if not fresh:
            return None
        return Call(f"realm_config_set_{name}", [config, rng.choice(values)])

    def release(self) -> Call | None:
        names = [name for name in self.model.handles if name[0] not in "rc"]
        if len(names) < 12:
            return None
        return Call("realm_release", [Handle(self.rng.choice(names))])

    def ending(self) -> Call | None:
        realm = self.one(Realm)
        if realm is None:
            return None
        live = [r for r in self.handles(Realm) if self.of(r).inst.state != "closed"]
        if len(live) > 1 and self.chance(0.4) or self.chance(0.06):
            return Call("realm_close", [realm])
        if self.chance(0.25):
            return Call("realm_compact", [realm])
        category = self.rng.choice(["Realm", "Realm.Storage", "Realm.Sync.Client", "nope", ""])
        return self.rng.choice([
            Call("realm_set_log_level", [self.rng.choice([4, 5, 8])]),
            Call("realm_set_log_level_category", [category, self.rng.choice([4, 6, 8])]),
            Call("realm_get_log_level_category", [category]),
            Call("realm_get_library_version", []), Call("realm_get_library_version_numbers", []),
            Call("realm_get_category_names", [self.rng.choice([0, 3, 15, 20])]),
            self.made("realm_scheduler_make_default", [], "scheduler"),
            Call("realm_scheduler_get_frozen", [])])
