"""Universes in librealm.so: just enough to build one and to run queries on it (see native.py)."""

from __future__ import annotations

import ctypes as c
import itertools
from functools import cmp_to_key
from typing import Any

from .native import (COLLECTIONS, FULLTEXT, INDEXED, NULLABLE, PRIMARY_KEY, PROPERTY_TYPES, UNICODE,
                     Arg, ClassInfo, Link, PropertyInfo, Value, decode_value, encode_value, library)
from .schema import Cls, Prop, Universe
from .values import Row, order


class Database:
    """A universe in the engine, with the indexes of its schema, or with all or none."""

    numbers = itertools.count()

    def __init__(self, universe: Universe, directory: str, *, indexed: bool | None = None,
                 state: str = "committed", in_memory: bool = True) -> None:
        """`state` is committed, open (all in a write transaction that goes on) or half (objects
        committed, their values in a write transaction that goes on)."""
        self.universe = universe
        self.state = state
        self.in_memory = in_memory
        self.path = f"{directory}/u{next(self.numbers)}.realm"
        self.lib = library()
        self.table: dict[str, int] = {}
        self.property: dict[tuple[str, str], int] = {}
        self.classes: dict[int, str] = {}
        self.handles: dict[Row, int] = {}
        self.keys: dict[Row, int] = {}
        self.realm = self.open(indexed)
        try:
            self.fill()
        except BaseException:
            self.close()
            raise

    def open(self, indexed: bool | None) -> int:
        lib, classes = self.lib, list(self.universe.classes.values())
        infos = (ClassInfo * len(classes))()
        pointers = (c.c_void_p * len(classes))()
        keep = []
        for position, cls in enumerate(classes):
            computed = [prop for prop in cls.props if prop.type == "backlinks"]
            stored = [prop for prop in cls.props if prop.type != "backlinks"]
            pk = cls.pk.name.encode() if cls.pk else b""
            infos[position] = ClassInfo(cls.name.encode(), pk, len(stored), len(computed), 0,
                                        int(cls.embedded))
            array = (PropertyInfo * len(cls.props))(
                *[self.info(prop, indexed) for prop in [*stored, *computed]])
            keep.append(array)
            pointers[position] = c.addressof(array)
        schema = lib.check(lib.schema_new(infos, len(classes), pointers))
        for cls in classes:
            if cls.alias:
                lib.check(lib.schema_set_class_public_name(
                    schema, cls.name.encode(), cls.alias.encode()))
        config = lib.config_new()
        lib.config_set_path(config, self.path.encode())
        lib.config_set_in_memory(config, self.in_memory)
        lib.config_set_schema(config, schema)
        lib.config_set_schema_version(config, 1)
        realm = lib.open(config)
        error = None if realm else lib.last_error()
        lib.release(config)
        lib.release(schema)
        if error:
            raise error
        return int(realm)

    def info(self, prop: Prop, indexed: bool | None) -> PropertyInfo:
        from .schema import INDEXABLE
        wanted = prop.indexed
        if indexed is not None:
            wanted = indexed and not prop.coll and prop.type in INDEXABLE
        flags = NULLABLE * prop.nullable | PRIMARY_KEY * prop.pk
        flags |= INDEXED * (wanted and not prop.pk and not prop.fulltext)
        flags |= FULLTEXT * prop.fulltext | UNICODE * prop.unicode
        return PropertyInfo(prop.name.encode(), prop.alias.encode(), PROPERTY_TYPES[prop.type],
                            COLLECTIONS["list" if prop.type == "backlinks" else prop.coll],
                            prop.target.encode(), prop.origin.encode(), 0, flags)

    def fill(self) -> None:
        lib, universe = self.lib, self.universe
        found, info, prop_info = c.c_bool(), ClassInfo(), PropertyInfo()
        for cls in universe.classes.values():
            lib.check(lib.find_class(self.realm, cls.name.encode(), c.byref(found), c.byref(info)))
            self.table[cls.name] = info.key
            cls.position = info.key
            self.classes[info.key] = cls.name
            for prop in cls.props:
                lib.check(lib.find_property(self.realm, info.key, prop.name.encode(),
                                            c.byref(found), c.byref(prop_info)))
                self.property[cls.name, prop.name] = prop_info.key
        self.begin()
        for cls in universe.classes.values():
            if not cls.embedded:
                for row in universe.rows[cls.name]:
                    self.create(row)
        if self.state == "half":
            lib.check(lib.commit(self.realm))
            lib.check(lib.begin_write(self.realm))
        for cls in universe.classes.values():
            if not cls.embedded:
                for row in universe.rows[cls.name]:
                    self.fill_row(row)
        if self.state == "committed":
            lib.check(lib.commit(self.realm))
        self.settle()
        self.sort_sets()

    def settle(self) -> None:
        """Tells objects their keys and lets go of the handles."""
        for row, key in self.keys.items():
            row.key = key
        for handle in self.handles.values():
            self.lib.release(handle)
        self.handles = {}
        self.row_of = {(row.cls.name, key): row for row, key in self.keys.items()}

    def sort_sets(self) -> None:
        """Q9: now that objects have keys, sets that hold links get their ascending order."""
        for cls in self.universe.classes.values():
            for prop in cls.props:
                if prop.coll == "set" and prop.type in ("link", "mixed"):
                    for row in self.universe.rows[cls.name]:
                        row.values[prop.name].sort(key=cmp_to_key(order))

    def create(self, row: Row) -> None:
        table, pk = self.table[row.cls.name], row.cls.pk
        if pk:
            handle = self.lib.object_create_with_primary_key(
                self.realm, table, self.value(row.values[pk.name]))
        else:
            handle = self.lib.object_create(self.realm, table)
        self.remember(row, self.lib.check(handle))

    def remember(self, row: Row, handle: int) -> None:
        self.handles[row] = handle
        self.keys[row] = self.lib.object_get_key(handle)

    def fill_row(self, row: Row) -> None:
        for prop in row.cls.props:
            if not prop.pk and prop.type != "backlinks":
                self.fill_property(row, prop, self.handles[row])

    def fill_property(self, row: Row, prop: Prop, handle: int) -> None:
        lib, key = self.lib, self.property[row.cls.name, prop.name]
        value = row.values[prop.name]
        if prop.coll:
            self.fill_collection(handle, key, prop, value)
        elif isinstance(value, Row) and value.cls.embedded:
            self.remember(value, lib.check(lib.set_embedded(handle, key)))
            self.fill_row(value)
        elif isinstance(value, list):
            self.fill_list(lib.check(lib.set_list(handle, key)), value)
        elif isinstance(value, dict):
            self.fill_dictionary(lib.check(lib.set_dictionary(handle, key)), value)
        else:
            lib.check(lib.set_value(handle, key, self.value(value), False))

    def fill_collection(self, handle: int, key: int, prop: Prop, value: Any) -> None:
        lib = self.lib
        if prop.coll == "list":
            collection = lib.check(lib.get_list(handle, key))
            if prop.target and self.universe.classes[prop.target].embedded:
                for position, child in enumerate(value):
                    made = lib.list_insert_embedded(collection, position)
                    self.remember(child, lib.check(made))
                    self.fill_row(child)
                lib.release(collection)
            else:
                self.fill_list(collection, value)
        elif prop.coll == "set":
            collection = lib.check(lib.get_set(handle, key))
            inserted = c.c_bool()
            for item in value:
                lib.check(lib.set_insert(collection, self.value(item), None, c.byref(inserted)))
                assert inserted.value, f"the set {prop.name} takes {item!r} for a duplicate"
            lib.release(collection)
        else:
            self.fill_dictionary(lib.check(lib.get_dictionary(handle, key)), value)

    def fill_list(self, collection: int, items: list[Any]) -> None:
        lib = self.lib
        for position, item in enumerate(items):
            if isinstance(item, list):
                self.fill_list(lib.check(lib.list_insert_list(collection, position)), item)
            elif isinstance(item, dict):
                made = lib.check(lib.list_insert_dictionary(collection, position))
                self.fill_dictionary(made, item)
            else:
                lib.check(lib.list_insert(collection, position, self.value(item)))
        lib.release(collection)

    def fill_dictionary(self, collection: int, items: dict[str, Any]) -> None:
        lib = self.lib
        for name, item in items.items():
            key = self.value(name)
            if isinstance(item, list):
                self.fill_list(lib.check(lib.dictionary_insert_list(collection, key)), item)
            elif isinstance(item, dict):
                made = lib.check(lib.dictionary_insert_dictionary(collection, key))
                self.fill_dictionary(made, item)
            else:
                lib.check(lib.dictionary_insert(collection, key, self.value(item), None, None))
        lib.release(collection)

    # ------------------------------------------------------------------------------- changes

    def begin(self) -> None:
        self.lib.check(self.lib.begin_write(self.realm))

    def commit(self) -> None:
        self.lib.check(self.lib.commit(self.realm))

    def handle(self, row: Row) -> int:
        return int(self.lib.check(
            self.lib.get_object(self.realm, self.table[row.cls.name], self.keys[row])))

    def replace(self, row: Row, prop: Prop) -> None:
        """Writes a property of an object anew."""
        lib, handle = self.lib, self.handle(row)
        key = self.property[row.cls.name, prop.name]
        getters = {"list": (lib.get_list, lib.list_clear), "set": (lib.get_set, lib.set_clear),
                   "dict": (lib.get_dictionary, lib.dictionary_clear)}
        if prop.coll:
            get, clear = getters[prop.coll]
            collection = lib.check(get(handle, key))
            lib.check(clear(collection))
            lib.release(collection)
        elif isinstance(row.values[prop.name], (list, dict)):
            # A collection of the same kind would keep its elements.
            lib.check(lib.set_value(handle, key, self.value(None), False))
        self.fill_property(row, prop, handle)
        lib.release(handle)

    def delete(self, row: Row) -> None:
        handle = self.handle(row)
        self.lib.check(self.lib.object_delete(handle))
        self.lib.release(handle)

    def add(self, row: Row, made: list[Row]) -> None:
        """Creates an object and the embedded ones in it."""
        self.create(row)
        self.fill_row(row)
        assert set(made) <= set(self.keys), "an embedded object was not made"
        self.settle()

    def value(self, value: Any) -> Value:
        if not isinstance(value, Row):
            return encode_value(value)
        result = Value()
        result.type = 10
        result.link = Link(self.table[value.cls.name], self.keys[value])
        return result

    # ------------------------------------------------------------------------------- queries

    def arguments(self, values: list[Any]) -> Any:
        """Arguments of a query; a Python list is a list argument."""
        array = (Arg * max(len(values), 1))()
        self.kept = []
        for position, value in enumerate(values):
            items = value if isinstance(value, list) else [value]
            memory = (Value * max(len(items), 1))(*[self.value(item) for item in items])
            self.kept.append(memory)
            array[position] = Arg(len(items), isinstance(value, list), memory)
        return array

    def parse(self, cls: Cls, text: str, values: list[Any]) -> int:
        query = self.lib.query_parse(self.realm, self.table[cls.name], text.encode(), len(values),
                                     self.arguments(values))
        return int(self.lib.check(query))

    def parse_format(self, cls: Cls, text: str, values: list[Any]) -> int:
        query = self.lib.query_parse_format(self.realm, self.table[cls.name], text.encode(),
                                            len(values), self.arguments(values))
        return int(self.lib.check(query))

    def description(self, query: int) -> str:
        return str(self.lib.check(self.lib.query_get_description(query)).decode())

    def collection(self, owner: Row, prop: Prop) -> int:
        """The list, set or dictionary of an object; of linking objects, their results."""
        lib, handle = self.lib, self.handle(owner)
        try:
            if prop.type == "backlinks":
                return int(lib.check(lib.get_backlinks(
                    handle, self.table[prop.target], self.property[prop.target, prop.origin])))
            get = {"list": lib.get_list, "set": lib.get_set, "dict": lib.get_dictionary}[prop.coll]
            return int(lib.check(get(handle, self.property[owner.cls.name, prop.name])))
        finally:
            lib.release(handle)

    def values_of(self, owner: Row, prop: Prop) -> int:
        """Results over the elements of a collection."""
        lib, collection = self.lib, self.collection(owner, prop)
        if prop.type == "backlinks":
            return collection
        name = {"list": "list", "set": "set", "dict": "dictionary"}[prop.coll]
        try:
            return int(lib.check(getattr(lib, f"{name}_to_results")(collection)))
        finally:
            lib.release(collection)

    def parse_for(self, owner: Row, prop: Prop, text: str, values: list[Any], *,
                  as_results: bool = False) -> int:
        """A query over the elements of a collection, or of the results over it."""
        lib = self.lib
        parse = {"list": lib.query_parse_for_list, "set": lib.query_parse_for_set}.get(prop.coll)
        if as_results or parse is None or prop.type == "backlinks":
            parse, target = lib.query_parse_for_results, self.values_of(owner, prop)
        else:
            target = self.collection(owner, prop)
        try:
            return int(lib.check(parse(target, text.encode(), len(values),
                                       self.arguments(values))))
        finally:
            lib.release(target)

    def delete_all(self, query: int, *, as_results: bool) -> None:
        """Deletes what a query finds."""
        if as_results:
            results = self.results(query)
            self.lib.check(self.lib.results_delete_all(results))
            self.lib.release(results)
        else:
            self.lib.check(self.lib.query_delete_all(query))

    def parse_for_values(self, results: int, text: str, values: list[Any]) -> int:
        return int(self.lib.check(self.lib.query_parse_for_values(
            results, text.encode(), len(values), self.arguments(values))))

    def append(self, query: int, text: str, values: list[Any]) -> int:
        """The conditions of both, and the suffixes of both (D13)."""
        return int(self.lib.check(self.lib.query_append_query(
            query, text.encode(), len(values), self.arguments(values))))

    def aggregate(self, query: int, op: str, cls: Cls, prop: Prop) -> Any:
        """@min, @max, @sum or @avg over the results of a query."""
        return self.aggregate_of(query, op, self.property[cls.name, prop.name])

    def aggregate_of(self, query: int, op: str, key: int = 0) -> Any:
        """The same for one that finds values: without a property."""
        lib, made, found = self.lib, Value(), c.c_bool()
        results = lib.check(lib.query_find_all(query))
        name = {"@min": "min", "@max": "max", "@sum": "sum", "@avg": "average"}[op]
        try:
            lib.check(getattr(lib, f"results_{name}")(results, key, c.byref(made), c.byref(found)))
            return self.python(made)
        finally:
            lib.release(results)

    def values(self, query: int) -> list[Any]:
        """What a query over values finds."""
        results = self.results(query)
        try:
            return self.read_values(results)
        finally:
            self.lib.release(results)

    def read_values(self, results: int) -> list[Any]:
        found, value = [], Value()
        for index in range(self.size(results)):
            self.lib.check(self.lib.results_get(results, index, c.byref(value)))
            found.append(self.python(value))
        return found

    def first_value(self, query: int) -> list[Any]:
        value, found = Value(), c.c_bool()
        self.lib.check(self.lib.query_find_first(query, c.byref(value), c.byref(found)))
        return [self.python(value)] if found.value else []

    def python(self, value: Value) -> Any:
        """A value of the library as one of the model; collections within Any are empty."""
        if value.type == 10:
            return self.row_of[self.classes[value.link.table], value.link.key]
        return {12: [], 13: {}}[value.type] if value.type in (12, 13) else decode_value(value)

    def results(self, query: int) -> int:
        return int(self.lib.check(self.lib.query_find_all(query)))

    def rows(self, query: int, cls: Cls) -> list[Row]:
        results = self.results(query)
        try:
            return self.read(results, cls)
        finally:
            self.lib.release(results)

    def size(self, results: int) -> int:
        count = c.c_size_t()
        self.lib.check(self.lib.results_count(results, c.byref(count)))
        return count.value

    def read(self, results: int, cls: Cls) -> list[Row]:
        got, size = c.c_size_t(), self.size(results)
        keys = (c.c_int64 * max(size, 1))()
        self.lib.check(self.lib.results_read_keys(results, 0, size, keys, c.byref(got)))
        assert got.value == size, (got.value, size)
        return [self.row_of[cls.name, key] for key in keys[:size]]

    def element(self, results: int, index: int) -> Row | None:
        value = Value()
        self.lib.check(self.lib.results_get(results, index, c.byref(value)))
        if value.type == 0:
            return None
        return self.row_of[self.classes[value.link.table], value.link.key]

    def position(self, results: int, row: Row) -> int | None:
        index, found, handle = c.c_size_t(), c.c_bool(), self.handle(row)
        self.lib.check(self.lib.results_find_object(results, handle, c.byref(index),
                                                    c.byref(found)))
        self.lib.release(handle)
        return index.value if found.value else None

    def refined(self, results: int, op: str, what: Any) -> int:
        """Other results by `filter` (a query), `sort`, `distinct` (texts) or `limit`."""
        if isinstance(what, str):
            what = what.encode()
        return int(self.lib.check(getattr(self.lib, f"results_{op}")(results, what)))

    def refine(self, results: int, text: str, values: list[Any]) -> int:
        """Other results by the conditions and clauses of a text, behind what is there already."""
        return int(self.lib.check(self.lib.results_refine(
            results, text.encode(), len(values), self.arguments(values))))

    def count(self, query: int) -> int:
        count = c.c_size_t()
        self.lib.check(self.lib.query_count(query, c.byref(count)))
        return count.value

    def first(self, query: int) -> Row | None:
        value, found = Value(), c.c_bool()
        self.lib.check(self.lib.query_find_first(query, c.byref(value), c.byref(found)))
        if not found.value:
            return None
        return self.row_of[self.classes[value.link.table], value.link.key]

    def release(self, handle: int) -> None:
        self.lib.release(handle)

    def close(self) -> None:
        self.lib.close(self.realm)
        self.lib.release(self.realm)
