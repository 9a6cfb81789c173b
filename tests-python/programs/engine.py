"""Makes the calls of programs: arguments into C, answers back into Python.

Handles are named; keys of classes and properties are asked for by their names when a program first
opens a realm that has them. Strings that a call gets are copied at once, because they are borrowed.
"""

from __future__ import annotations

import ctypes as c
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from queries.native import (Arg, Blob, ClassInfo, Error, Link, PropertyInfo, Text, Value, bytes_of,
                            decode_value, encode_value)

from .abi import LENGTHS, Function, Parameter, VersionId, functions, load
from .calls import DICTIONARY, LIST, NO_DATA, NO_TEXT, NULL, Call, Handle, Key, ObjectKey, To
from .records import records

INFO = 4
UNTOUCHED = "untouched"  # an output that the call did not write
# Those that look at the error of the call before them.
ERRORS = ("realm_get_last_error", "realm_clear_last_error", "realm_get_last_error_as_async_error")
PATHS = ("path", "realm_file_path")


@dataclass(frozen=True)
class Linked:
    """A link that came back, or the object of a handle: names and numbers of the engine."""

    cls: str
    key: int


@dataclass
class Answer:
    """What a call said. `handle` is whether it gave one, of objects their class and key."""

    value: Any
    error: int
    outs: dict[str, Any] = field(default_factory=dict)
    handle: Any = None
    categories: int = 0
    path: bool = False  # the error names a file


class Engine:
    """The library, and the handles of one program."""

    def __init__(self, library: str) -> None:
        self.lib = load(library)
        self.functions = functions()

    def start(self, directory: str) -> None:
        """A new program, with files in a directory of its own."""
        self.directory = directory
        self.handles: dict[str, int] = {}
        self.classes: dict[int, str] = {}
        self.keys: dict[Key, int] = {}
        self.prop_names: dict[tuple[str, int], str] = {}
        self.lib["realm_clear_last_error"]()
        self.lib["realm_set_log_level"](INFO)  # of the whole process

    def end(self) -> None:
        """Lets go of everything."""
        for name, handle in reversed(list(self.handles.items())):
            if name[0] == "r" and handle:
                self.lib["realm_close"](handle)
        for handle in reversed(list(self.handles.values())):
            self.lib["realm_release"](handle)
        self.handles = {}

    # ------------------------------------------------------------------------------ arguments

    def key(self, key: Any, *, class_only: bool = False) -> int:
        if not isinstance(key, Key):
            return int(key)
        # One that is not known (yet) stands for a key that nobody has.
        return self.keys.get(Key(key.cls) if class_only else key, 0x7ffffff0)

    def link(self, to: To) -> Link:
        if to.key is None:
            link: Link = self.lib["realm_object_as_link"](self.handles[to.of])
            return link
        return Link(self.key(to.of), to.key)

    def value(self, value: Any) -> Value:
        made = Value()
        if isinstance(value, To):
            made.type, made.link = 10, self.link(value)
        elif value is LIST or value is DICTIONARY:
            made.type = 12 if value is LIST else 13
        elif value is NO_TEXT or value is NO_DATA:
            made.type = 3 if value is NO_TEXT else 4
            made.string = Text(None, 0)
        else:
            return encode_value(value)
        return made

    def given(self, p: Parameter, value: Any, keep: list[Any]) -> Any:
        """An argument as ctypes takes it."""
        if value == NULL:
            return None
        if isinstance(value, Handle):
            return self.handles[value]
        if p.kind in ("class", "prop", "objkey"):
            if isinstance(value, ObjectKey):
                return self.lib["realm_object_get_key"](self.handles[value.of])
            return self.key(value)
        if p.kind == "value":
            return self.value(value)
        if p.kind == "value*":
            keep.append(self.value(value))
            return c.addressof(keep[-1])
        if p.kind in ("values", "props"):
            kind: Any = Value if p.kind == "values" else c.c_int64
            made = self.value if p.kind == "values" else self.key
            keep.append((kind * max(len(value), 1))(*map(made, value)))
            return c.addressof(keep[-1])
        if p.kind == "args":
            return self.arguments(value, keep)
        if p.kind == "text":
            return (f"{self.directory}/{value}" if p.name in PATHS else value).encode()
        if p.kind == "classes":
            return self.schema(value, keep)[0]
        if p.kind == "properties":
            return keep[-1]
        if p.kind == "binary":
            return Blob(value, len(value)) if value else Blob(None, 0)
        return value

    def arguments(self, values: list[Any], keep: list[Any]) -> int:
        array = (Arg * max(len(values), 1))()
        for position, value in enumerate(values):
            items = value if isinstance(value, list) else [value]
            memory = (Value * max(len(items), 1))(*map(self.value, items))
            keep.append(memory)
            array[position] = Arg(len(items), isinstance(value, list), memory)
        keep.append(array)
        return c.addressof(array)

    def schema(self, classes: dict[str, dict[str, str]], keep: list[Any]) -> tuple[int, int]:
        """The records of {"Class" or "embedded Class": {"property": "list int? indexed"}}."""
        infos = (ClassInfo * max(len(classes), 1))()
        pointers = (c.c_void_p * max(len(classes), 1))()
        for position, made in enumerate(records(classes)):
            infos[position] = ClassInfo(made.name.encode(), made.pk.encode(), made.stored,
                                        made.computed, 0, made.flags)
            array = (PropertyInfo * max(len(made.properties), 1))()
            for number, prop in enumerate(made.properties):
                array[number] = PropertyInfo(
                    prop.name.encode(), prop.alias.encode(), prop.type, prop.coll,
                    prop.target.encode(), prop.origin.encode(), 0, prop.flags)
            keep.append(array)
            pointers[position] = c.addressof(array)
        keep += [infos, pointers, c.addressof(pointers)]
        return c.addressof(infos), c.addressof(pointers)

    # ---------------------------------------------------------------------------------- calls

    def call(self, call: Call) -> Answer:
        function = self.functions[call.function]
        keep: list[Any] = []
        given = iter(call.args)
        by_name: dict[str, Any] = {}
        for p in function.parameters:
            if p.kind == "properties" and not p.out:
                by_name[p.name] = by_name["classes"]
            elif not p.out and p.kind not in ("length", "none"):
                by_name[p.name] = next(given)
        arguments: list[Any] = []
        outs: dict[str, Any] = {}
        for p in function.parameters:
            if p.out:
                if p.name in call.nulls:
                    arguments.append(None)
                    continue
                outs[p.name] = self.room(p, by_name)
                arguments.append(c.addressof(outs[p.name]))
            elif p.kind == "length":
                arguments.append(len(by_name[self.length_of(p)]))
            elif p.kind == "none":
                arguments.append(None)
            else:
                arguments.append(self.given(p, by_name[p.name], keep))
        def make() -> Answer:
            if call.function not in ERRORS:
                self.lib["realm_clear_last_error"]()
            returned = self.lib[call.function](*arguments)
            return self.answer(function, call, returned, outs, by_name)
        if not call.elsewhere:
            return make()
        with ThreadPoolExecutor(1) as other:
            return other.submit(make).result()

    @staticmethod
    def length_of(p: Parameter) -> str:
        return LENGTHS[p.name]

    def room(self, p: Parameter, by_name: dict[str, Any]) -> Any:
        count = 1
        if p.room:
            given = by_name[p.room] if p.room in by_name else len(by_name[self.length_of(
                Parameter(p.room, "", None, ""))])
            count = min(int(given), 1000)
        if p.name == "out_key":
            count = 64
        made = (p.type * max(count, 1))()
        c.memset(c.addressof(made), 0xEE, c.sizeof(made))
        return made

    def answer(self, function: Function, call: Call, returned: Any, outs: dict[str, Any],
               by_name: dict[str, Any]) -> Answer:
        error = Error()
        failed = call.function not in ERRORS and self.lib["realm_get_last_error"](c.byref(error))
        answer = Answer(None, error.error if failed else 0)
        if failed:
            answer.categories, answer.path = error.categories, bool(error.path)
            assert error.message is not None, "an error without a message"
        handle = None
        if function.kind == "json":
            answer.value = c.string_at(returned).decode() if returned else None
            self.lib["realm_free"](returned)
        elif function.kind == "text":
            answer.value = None if returned is None else \
                returned.decode().removeprefix(f"{self.directory}/")
        elif function.kind == "link":
            answer.value = self.linked(returned)
        elif function.kind == "class":
            answer.value = self.classes.get(returned, returned)
        elif function.type is c.c_void_p:
            handle = returned
        else:
            answer.value = returned
        for p in function.outs:
            if p.name not in outs:
                continue
            if p.type is c.c_void_p and p.kind != "text":
                handle = outs[p.name][0]
                handle = None if handle == 0xEEEEEEEEEEEEEEEE else handle
            elif p.room:
                answer.outs[p.name] = [self.read(p, outs[p.name], index, function, by_name)
                                       for index in range(len(outs[p.name]))]
            else:
                answer.outs[p.name] = self.read(p, outs[p.name], 0, function, by_name)
        if handle:
            self.remember(call, handle, answer)
        if call.function == "realm_open" and handle:
            self.learn(self.handles[call.args[0]])
        if call.function == "realm_release" and isinstance(call.args[0], Handle):
            del self.handles[call.args[0]]
        return answer

    def drop(self, name: str) -> None:
        """Lets go of a handle that the model knows nothing of."""
        self.lib["realm_release"](self.handles.pop(name))

    def remember(self, call: Call, handle: int, answer: Answer) -> None:
        answer.handle = True
        if call.result is None:
            self.lib["realm_release"](handle)
            return
        self.handles[call.result] = handle
        if call.result[0] == "o":
            answer.handle = Linked(
                self.classes.get(self.lib["realm_object_get_table"](handle), "?"),
                self.lib["realm_object_get_key"](handle))

    def learn(self, config: int) -> None:
        """The keys of classes, from a realm of its own: asking for them begins to read."""
        realm = self.lib["realm_open"](config)
        if not realm:
            return
        self.learn_from(realm)
        self.lib["realm_close"](realm)
        self.lib["realm_release"](realm)

    def learn_from(self, realm: int) -> None:
        lib, count = self.lib, c.c_size_t()
        keys = (c.c_uint32 * 100)()
        self.keys, self.prop_names = {}, {}
        lib["realm_get_class_keys"](realm, keys, 100, c.byref(count))
        for key in keys[:count.value]:
            info = ClassInfo()
            if key == 0x7fffffff or not lib["realm_get_class"](realm, key, c.byref(info)):
                continue
            name = info.name.decode()
            self.classes[key] = name
            self.keys[Key(name)] = key
            props, number = (PropertyInfo * 100)(), c.c_size_t()
            lib["realm_get_class_properties"](realm, key, props, 100, c.byref(number))
            for prop in props[:number.value]:
                self.keys[Key(name, prop.name.decode())] = prop.key
                self.prop_names[name, prop.key] = prop.name.decode()

    # ---------------------------------------------------------------------------------- outputs

    def read(self, p: Parameter, memory: Any, index: int, function: Function,
             by_name: dict[str, Any]) -> Any:
        """An output; `UNTOUCHED` where the call left it alone."""
        size = c.sizeof(p.type)
        if bytes(c.string_at(c.addressof(memory) + index * size, size)) == b"\xEE" * size:
            return UNTOUCHED
        item = memory[index]
        if p.kind == "value":
            return UNTOUCHED if item.type == -286331154 else self.python(item)
        if p.kind == "bool":
            return bool(item) if item in (0, 1) else item
        if p.kind == "class":
            return self.classes.get(item, item)
        if p.kind == "prop":
            cls = by_name.get("class_key", by_name.get("key"))
            return self.prop_names.get((cls.cls if isinstance(cls, Key) else "", item), item)
        if p.kind == "text":
            return item.decode() if item is not None else None
        if p.kind == "version":
            return item.version
        if p.kind == "error":
            assert isinstance(item, Error)
            return item.error
        if p.kind == "classinfo":
            return self.class_info(item)
        if p.kind == "propinfo":
            return self.property_info(item)
        assert not isinstance(item, (VersionId, Value)), item
        return item

    @staticmethod
    def class_info(item: Any) -> dict[str, Any]:
        return {"name": item.name.decode(), "pk": item.primary_key.decode(),
                "stored": item.num_properties, "computed": item.num_computed, "flags": item.flags}

    @staticmethod
    def property_info(item: Any) -> dict[str, Any]:
        return {"name": item.name.decode(), "alias": item.public_name.decode(), "type": item.type,
                "coll": item.collection_type, "target": item.link_target.decode(),
                "origin": item.link_origin.decode(), "flags": item.flags}

    def linked(self, link: Any) -> Linked:
        return Linked(self.classes.get(link.table, str(link.table)), link.key)

    def python(self, value: Value) -> Any:
        """A value of the library as one of the model."""
        if value.type in (3, 4) and bytes_of(value) is None:
            return NO_TEXT if value.type == 3 else NO_DATA
        if value.type == 10:
            return self.linked(value.link)
        if value.type in (12, 13):
            return LIST if value.type == 12 else DICTIONARY
        return decode_value(value) if 0 <= value.type <= 11 else f"type {value.type}"
