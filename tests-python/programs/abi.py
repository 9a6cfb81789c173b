"""The prototypes of librealm.so, read from include/realm-abi.tsv: what each parameter is.

Nothing is written by hand twice: the calls by ctypes, the check of a program's arguments and the C
programs all follow these kinds.
"""

from __future__ import annotations

import ctypes as c
import functools
import importlib.util
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from queries.native import Blob, ClassInfo, Error, Link, PropertyInfo, Value

ROOT = Path(__file__).resolve().parents[2]
HANDLES = {"realm": "realm", "schema": "schema", "scheduler": "scheduler", "object": "object",
           "list": "list", "set": "set", "dictionary": "dict", "query": "query",
           "results": "results", "config": "config", "async_error": "failure",
           "thread_safe_reference": "reference", "work_queue": "queue",
           "key_path_array": "paths", "notification_token": "token", "callback_token": "token",
           "refresh_callback_token": "token", "object_changes": "changes",
           "collection_changes": "changes", "dictionary_changes": "changes",
           "groups": "groups"}
PLAIN: dict[str, tuple[str, Any]] = {
    "size_t": ("size", c.c_size_t), "bool": ("bool", c.c_bool), "int64_t": ("int", c.c_int64),
    "uint64_t": ("int", c.c_uint64), "int": ("int", c.c_int), "unsigned int": ("int", c.c_uint),
    "realm_class_key_t": ("class", c.c_uint32), "realm_property_key_t": ("prop", c.c_int64),
    "realm_object_key_t": ("objkey", c.c_int64), "realm_value_t": ("value", Value),
    "realm_binary_t": ("binary", Blob), "const char *": ("text", c.c_char_p),
    "realm_link_t": ("link", Link), "char *": ("json", c.c_void_p)}


class VersionId(c.Structure):
    _fields_ = [("version", c.c_uint64), ("index", c.c_uint64)]


OUT: dict[str, tuple[str, Any]] = {
    "bool": ("bool", c.c_uint8), "size_t": ("size", c.c_size_t), "uint64_t": ("int", c.c_uint64),
    "int": ("int", c.c_int), "unsigned int": ("int", c.c_uint), "realm_value_t": ("value", Value),
    "realm_class_key_t": ("class", c.c_uint32), "realm_property_key_t": ("prop", c.c_int64),
    "realm_object_key_t": ("objkey", c.c_int64), "realm_class_info_t": ("classinfo", ClassInfo),
    "realm_property_info_t": ("propinfo", PropertyInfo), "realm_error_t": ("error", Error),
    "realm_version_id_t": ("version", VersionId), "const char *": ("text", c.c_char_p),
    "uint8_t": ("bytes", c.c_uint8), "int64_t": ("int", c.c_int64),
    "double": ("double", c.c_double)}
# Inputs behind a pointer; other pointers to numbers, values and records are written to.
IN_ARRAYS = {"const realm_property_key_t *": "props", "const realm_query_arg_t *": "args",
             "const realm_class_info_t *": "classes",
             "const realm_property_info_t **": "properties"}
# Outputs with room for several, and the parameter that says for how many.
ROOM = {"out_keys": ("max", "count"), "out_properties": ("max",), "out_col_keys": ("max",),
        "out_values": ("num_values", "count")}
# What an array's length follows from; programs do not say it again.
LENGTHS = {"num_args": "args", "num_classes": "classes", "key_size": "key",
           "num_values": "properties", "num_properties": "properties"}


@dataclass(frozen=True)
class Parameter:
    """`kind` is what a program gives; of outputs, what it gets. `type` is that of ctypes."""

    name: str
    kind: str
    type: Any
    c: str
    out: bool = False
    room: str = ""  # of an output with room for several: the parameter that says how many


@dataclass(frozen=True)
class Function:
    name: str
    kind: str
    type: Any
    c: str
    parameters: tuple[Parameter, ...]

    @property
    def given(self) -> list[Parameter]:
        """The parameters that a program writes."""
        return [p for p in self.parameters if not p.out and p.kind not in ("length", "none")]

    @property
    def outs(self) -> list[Parameter]:
        return [p for p in self.parameters if p.out]


def handle_of(type: str) -> str | None:
    found = re.fullmatch(r"(?:const )?realm_(\w+?)_t \*|(?:const )?(realm)_t \*", type)
    if found is None:
        return None
    return HANDLES.get(found[1] or found[2])


def parameter(function: str, type: str, name: str, names: list[str]) -> Parameter:
    handle = handle_of(type)
    if handle:
        return Parameter(name, handle, c.c_void_p, type)
    if name in LENGTHS and LENGTHS[name] in names:
        return Parameter(name, "length", c.c_size_t, type)
    if type in IN_ARRAYS:
        return Parameter(name, IN_ARRAYS[type], c.c_void_p, type)
    if type == "const realm_value_t *" or (type == "realm_value_t *" and name == "value"):
        kind = "values" if name == "values" else "value*"
        return Parameter(name, kind, c.c_void_p, type)
    if type == "const uint8_t *":
        return Parameter(name, "bytes", c.c_char_p, type)
    if type.startswith("const realm_") and type[6:] in PLAIN:
        type = type[6:]
    if type in PLAIN:
        kind, made = PLAIN[type]
        return Parameter(name, kind, made, type)
    if type.endswith("_e"):
        return Parameter(name, "int", c.c_int, type)
    if type in ("const void *", "void *") and name in ("handle", "a", "b", "ptr"):
        return Parameter(name, "any", c.c_void_p, type)
    pointed = type.removesuffix("*").strip()
    out = handle_of(pointed)
    if type.endswith("**") and out:
        room = "count" if "count" in names else ""
        return Parameter(name, out, c.c_void_p, type, out=True, room=room)
    if pointed in OUT and not type.startswith("const realm"):
        kind, made = OUT[pointed]
        room = next((room for room in ROOM.get(name, ()) if room in names), "")
        return Parameter(name, kind, made, type, out=True, room=room)
    # Callbacks and their userdata: NULL, unless the engine knows better.
    return Parameter(name, "none", c.c_void_p, type)


@functools.cache
def functions() -> dict[str, Function]:
    made = {}
    for line in (ROOT / "include" / "realm-abi.tsv").read_text().splitlines():
        fields = line.split("\t")
        if line.startswith("#") or len(fields) != 3:
            continue
        returns, name, text = fields
        pairs = [] if text == "void" else [
            (match[1].strip(), match[2]) for match in
            (re.fullmatch(r"(.*?)(\w+)", part) for part in text.split(", ")) if match]
        names = [name for _, name in pairs]
        parameters = tuple(parameter(name, *pair, names) for pair in pairs)
        handle = handle_of(returns) or ("any" if returns == "void *" else None)
        kind, type = (handle, c.c_void_p) if handle else ("none", None) if returns == "void" \
            else PLAIN.get(returns, ("int", c.c_int))
        made[name] = Function(name, kind, type, returns, parameters)
    return made


def library_path() -> str:
    """The library under test: REALM_PROGRAMS_LIBRARY, that of the installed package, or the one
    that was built."""
    given = os.environ.get("REALM_PROGRAMS_LIBRARY")
    if given:
        return given
    package = importlib.util.find_spec("realm")
    if package and package.origin:
        return str(Path(package.origin).parent / "librealm.so")
    return str(ROOT / "build" / "lib" / "librealm.so")


def load(path: str) -> dict[str, Any]:
    """The functions of a library, with their types."""
    library, loaded = c.CDLL(path), {}
    for name, function in functions().items():
        try:
            made = getattr(library, name)
        except AttributeError:
            continue  # an older library
        made.restype = function.type
        made.argtypes = [c.c_void_p if p.out else p.type for p in function.parameters]
        loaded[name] = made
    return loaded
