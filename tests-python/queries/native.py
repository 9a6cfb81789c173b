"""The C interface of librealm.so by ctypes: its structures, and the functions that the fuzzer needs.

The Python package is not used, so that error codes are seen as they are and every kind of value can
be stored, whatever the package supports. `capi.Database` builds universes with it.
"""

from __future__ import annotations

import ctypes as c
import os
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

from .values import Date, F32, Oid


class Text(c.Structure):
    _fields_ = [("data", c.c_char_p), ("size", c.c_size_t)]


class Blob(c.Structure):
    _fields_ = [("data", c.c_char_p), ("size", c.c_size_t)]


class Timestamp(c.Structure):
    _fields_ = [("seconds", c.c_int64), ("nanoseconds", c.c_int32)]


class Link(c.Structure):
    _fields_ = [("table", c.c_uint32), ("key", c.c_int64)]


class Payload(c.Union):
    _fields_ = [("integer", c.c_int64), ("boolean", c.c_bool), ("string", Text), ("binary", Blob),
                ("timestamp", Timestamp), ("fnum", c.c_float), ("dnum", c.c_double),
                ("decimal", c.c_uint64 * 2), ("object_id", c.c_uint8 * 12),
                ("uuid", c.c_uint8 * 16), ("link", Link)]


class Value(c.Structure):
    _anonymous_ = ("u",)
    _fields_ = [("u", Payload), ("type", c.c_int)]


class Arg(c.Structure):
    _fields_ = [("count", c.c_size_t), ("is_list", c.c_bool), ("values", c.POINTER(Value))]


class PropertyInfo(c.Structure):
    _fields_ = [("name", c.c_char_p), ("public_name", c.c_char_p), ("type", c.c_int),
                ("collection_type", c.c_int), ("link_target", c.c_char_p),
                ("link_origin", c.c_char_p), ("key", c.c_int64), ("flags", c.c_int)]


class ClassInfo(c.Structure):
    _fields_ = [("name", c.c_char_p), ("primary_key", c.c_char_p), ("num_properties", c.c_size_t),
                ("num_computed", c.c_size_t), ("key", c.c_uint32), ("flags", c.c_int)]


class Error(c.Structure):
    _fields_ = [("error", c.c_int), ("categories", c.c_uint), ("message", c.c_char_p),
                ("user", c.c_void_p), ("path", c.c_char_p)]


PROPERTY_TYPES = {"int": 0, "bool": 1, "string": 2, "binary": 4, "mixed": 6, "timestamp": 8,
                  "float": 9, "double": 10, "decimal128": 11, "link": 12, "backlinks": 14,
                  "objectId": 15, "uuid": 17}
COLLECTIONS = {"": 0, "list": 1, "set": 2, "dict": 4}
NULLABLE, PRIMARY_KEY, INDEXED, FULLTEXT, UNICODE = 1, 2, 4, 8, 16


class EngineError(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


def library_path() -> str:
    given = os.environ.get("REALM_QUERY_FUZZ_LIBRARY")
    if given:
        return given
    import realm
    return str(Path(realm.__file__).parent / "librealm.so")


class Library:
    """The functions, with their types: P pointer or handle, s text, z size, b flag, V value."""

    signatures = {
        "realm_config_new": "P", "realm_config_set_path": "-Ps",
        "realm_config_set_in_memory": "-Pb", "realm_config_set_schema": "-PP",
        "realm_config_set_schema_version": "-Pq", "realm_schema_new": "PPzP", "realm_open": "PP",
        "realm_release": "-P", "realm_close": "bP", "realm_begin_write": "bP",
        "realm_commit": "bP", "realm_find_class": "bPsPP", "realm_find_property": "bPqsPP",
        "realm_get_last_error": "bP", "realm_object_create": "Piq",
        "realm_object_create_with_primary_key": "PPiV", "realm_object_get_key": "qP",
        "realm_set_value": "bPqVb", "realm_set_embedded": "PPq", "realm_get_list": "PPq",
        "realm_set_list": "PPq", "realm_set_dictionary": "PPq", "realm_get_set": "PPq",
        "realm_get_dictionary": "PPq", "realm_list_insert": "bPzV",
        "realm_list_insert_embedded": "PPz", "realm_list_insert_list": "PPz",
        "realm_list_insert_dictionary": "PPz", "realm_set_insert": "bPVPP",
        "realm_dictionary_insert": "bPVVPP", "realm_dictionary_insert_list": "PPV",
        "realm_dictionary_insert_dictionary": "PPV", "realm_query_parse": "PPiszP",
        "realm_query_get_description": "sP", "realm_query_count": "bPP",
        "realm_query_find_first": "bPPP", "realm_query_find_all": "PP",
        "realm_get_object": "PPiq", "realm_query_parse_for_list": "PPszP",
        "realm_query_parse_for_set": "PPszP", "realm_query_parse_for_results": "PPszP",
        "realm_query_parse_for_values": "PPszP", "realm_list_to_results": "PP",
        "realm_set_to_results": "PP", "realm_dictionary_to_results": "PP",
        "realm_schema_set_class_public_name": "bPss", "realm_query_delete_all": "bP", "realm_results_delete_all": "bP",
        "realm_get_backlinks": "PPiq", "realm_query_append_query": "PPszP", "realm_results_min": "bPqPP",
        "realm_results_max": "bPqPP", "realm_results_sum": "bPqPP",
        "realm_results_average": "bPqPP", "realm_results_count": "bPP",
        "realm_results_read_keys": "bPzzPP", "realm_query_parse_format": "PPiszP",
        "realm_results_filter": "PPP", "realm_results_refine": "PPszP", "realm_results_sort": "PPs",
        "realm_results_distinct": "PPs", "realm_results_limit": "PPz",
        "realm_results_offset": "PPz", "realm_results_get": "bPzP", "realm_results_snapshot": "PP",
        "realm_results_find_object": "bPPPP", "realm_object_delete": "bP",
        "realm_list_clear": "bP", "realm_set_clear": "bP", "realm_dictionary_clear": "bP",
    }

    def __init__(self) -> None:
        library = c.CDLL(library_path())
        types: dict[str, Any] = {"P": c.c_void_p, "s": c.c_char_p, "z": c.c_size_t, "b": c.c_bool,
                                 "q": c.c_int64, "i": c.c_uint32, "V": Value, "-": None}
        for name, signature in self.signatures.items():
            try:
                function = getattr(library, name)
            except AttributeError:
                continue  # an older library
            function.restype = types[signature[0]]
            if name == "realm_object_create":
                signature = "PPi"
            if name == "realm_find_property":
                signature = "bPisPP"
            function.argtypes = [types[letter] for letter in signature[1:]]
            setattr(self, name[6:], function)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def check(self, result: Any) -> Any:
        if not result:
            raise self.last_error()
        return result

    def last_error(self) -> EngineError:
        error = Error()
        if not self.get_last_error(c.byref(error)):
            return EngineError(0, "failed without an error")
        return EngineError(error.error, (error.message or b"").decode(errors="replace"))


_library: Library | None = None


def library() -> Library:
    global _library
    if _library is None:
        _library = Library()
    return _library


def encode_decimal(number: Decimal) -> tuple[int, int]:
    """IEEE 754-2008 decimal128, binary integer encoding, low word first."""
    sign, digits, exponent = number.as_tuple()
    high = sign << 63
    if number.is_nan():
        return 0, high | 0x7C00 << 48
    if number.is_infinite():
        return 0, high | 0x7800 << 48
    coefficient = int("".join(map(str, digits)))
    assert isinstance(exponent, int) and -6176 <= exponent <= 6111, number
    return coefficient & 2**64 - 1, high | exponent + 6176 << 49 | coefficient >> 64


def decode_decimal(low: int, high: int) -> Decimal:
    sign = "-" if high >> 63 else ""
    if high >> 58 & 0x1F == 0x1F:
        return Decimal("NaN")
    if high >> 58 & 0x1F == 0x1E:
        return Decimal(sign + "Infinity")
    coefficient = (high & 2**49 - 1) << 64 | low
    return Decimal(f"{sign}{coefficient}E{(high >> 49 & 0x3FFF) - 6176}")


def encode_value(value: Any) -> Value:
    """A scalar of the model, or null, as the library takes it."""
    made = Value()
    if value is None:
        made.type = 0
    elif isinstance(value, bool):
        made.type, made.boolean = 2, value
    elif isinstance(value, int):
        made.type, made.integer = 1, value
    elif isinstance(value, str):
        data = value.encode()
        made.type, made.string = 3, Text(data, len(data))
    elif isinstance(value, Oid):
        made.type, made.object_id = 9, (c.c_uint8 * 12)(*value)
    elif isinstance(value, bytes):
        made.type, made.binary = 4, Blob(value, len(value))
    elif isinstance(value, Date):
        made.type, made.timestamp = 5, Timestamp(*value)
    elif isinstance(value, F32):
        made.type, made.fnum = 6, float(value)
    elif isinstance(value, float):
        made.type, made.dnum = 7, value
    elif isinstance(value, Decimal):
        made.type, made.decimal = 8, (c.c_uint64 * 2)(*encode_decimal(value))
    else:
        assert isinstance(value, uuid.UUID), value
        made.type, made.uuid = 11, (c.c_uint8 * 16)(*value.bytes)
    return made


def bytes_of(value: Value) -> bytes | None:
    """What a string or binary holds; None where it has no data."""
    pointer = c.c_size_t.from_buffer(value).value  # a field of text would end at NUL
    return c.string_at(pointer, value.string.size) if pointer else None


def decode_value(value: Value) -> Any:
    """A scalar, or null, of the library as one of the model."""
    readers = {0: lambda: None, 1: lambda: value.integer, 2: lambda: value.boolean,
               3: lambda: (bytes_of(value) or b"").decode(), 4: lambda: bytes_of(value) or b"",
               5: lambda: Date(value.timestamp.seconds, value.timestamp.nanoseconds),
               6: lambda: F32(value.fnum), 7: lambda: value.dnum,
               8: lambda: decode_decimal(value.decimal[0], value.decimal[1]),
               9: lambda: Oid(bytes(value.object_id)),
               11: lambda: uuid.UUID(bytes=bytes(value.uuid))}
    return readers[value.type]()
