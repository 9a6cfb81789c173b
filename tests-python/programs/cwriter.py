"""Writes a program in C: it makes the same calls, prints what each says, and ends with 1 where an
error is none of those that the model allows.

    gcc -Iinclude program.c -Lbuild/lib -lrealm && ./a.out
"""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import Any

from queries.native import encode_decimal
from queries.values import Date, F32, Oid

from .abi import LENGTHS, Function, Parameter, functions
from .calls import DICTIONARY, LIST, NO_DATA, NO_TEXT, NULL, Call, Handle, Key, ObjectKey, To
from .engine import ERRORS, PATHS
from .records import records

PRELUDE = r"""/* %s */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "realm.h"

static int wrong;

static realm_value_t of(realm_value_type_e type) {
    realm_value_t value;
    memset(&value, 0, sizeof value);
    value.type = type;
    return value;
}
#define MAKER(name, ctype, member, tag) \
    static inline realm_value_t name(ctype given) { \
        realm_value_t value = of(tag); \
        value.member = given; \
        return value; \
    }
MAKER(v_int, int64_t, integer, RLM_TYPE_INT)
MAKER(v_bool, bool, boolean, RLM_TYPE_BOOL)
MAKER(v_float, float, fnum, RLM_TYPE_FLOAT)
MAKER(v_double, double, dnum, RLM_TYPE_DOUBLE)
MAKER(v_timestamp, realm_timestamp_t, timestamp, RLM_TYPE_TIMESTAMP)
MAKER(v_decimal, realm_decimal128_t, decimal128, RLM_TYPE_DECIMAL128)
MAKER(v_object_id, realm_object_id_t, object_id, RLM_TYPE_OBJECT_ID)
MAKER(v_uuid, realm_uuid_t, uuid, RLM_TYPE_UUID)
MAKER(v_link, realm_link_t, link, RLM_TYPE_LINK)
MAKER(v_string, realm_string_t, string, RLM_TYPE_STRING)
MAKER(v_binary, realm_binary_t, binary, RLM_TYPE_BINARY)

static inline realm_value_t *at(realm_value_t *memory, realm_value_t value) {
    *memory = value;
    return memory;
}

static inline void show_value(const char *name, realm_value_t value) {
    printf(" %%s: type %%d", name, (int)value.type);
    if (value.type == RLM_TYPE_INT) printf(" %%" PRId64, value.integer);
    if (value.type == RLM_TYPE_BOOL) printf(" %%d", value.boolean);
    if (value.type == RLM_TYPE_FLOAT) printf(" %%g", (double)value.fnum);
    if (value.type == RLM_TYPE_DOUBLE) printf(" %%g", value.dnum);
    if (value.type == RLM_TYPE_STRING)
        printf(" '%%.*s'", (int)value.string.size, value.string.data);
    if (value.type == RLM_TYPE_LINK)
        printf(" %%u/%%" PRId64, (unsigned)value.link.target_table, value.link.target);
}

/* Says how a call ended, and compares it with the errors that are allowed; -1 allows all. */
static inline void told(const char *call, const int *allowed, int count) {
    realm_error_t error;
    int code = realm_get_last_error(&error) ? (int)error.error : 0;
    bool right = count < 0;
    for (int i = 0; i < count; i++) right |= allowed[i] == code;
    printf("\n%%s: %%s", call, code ? error.message : "no error");
    if (code) printf(" (%%d)", code);
    if (!right) {
        wrong = 1;
        printf("  <-- wrong, expected %%d", allowed[0]);
    }
}
"""


def text_of(value: str | bytes) -> str:
    """A string literal, its bytes beyond ASCII in octal."""
    data = value.encode() if isinstance(value, str) else value
    plain = "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}"
                    for byte in data)
    return f'"{plain}"'


def identifier(name: str) -> str:
    return "".join(char if char.isalnum() and char.isascii() else f"_{ord(char):x}"
                   for char in name)


def class_key(key: Any) -> str:
    return f"class_{identifier(key.cls)}" if isinstance(key, Key) else str(key)


def property_key(key: Any) -> str:
    return f"prop_{identifier(key.cls)}_{identifier(key.prop)}" if isinstance(key, Key) \
        else str(key)


def number(value: float) -> str:
    if value != value:
        return "NAN"
    if value in (float("inf"), float("-inf")):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(float(value))


def value_of(value: Any) -> str:
    if value is None:
        return "of(RLM_TYPE_NULL)"
    if value is LIST or value is DICTIONARY:
        return f"of(RLM_TYPE_{value.name})"
    if value is NO_TEXT or value is NO_DATA:
        return "of(RLM_TYPE_STRING)" if value is NO_TEXT else "of(RLM_TYPE_BINARY)"
    if isinstance(value, To):
        if value.key is None:
            return f"v_link(realm_object_as_link({value.of}))"
        return f"v_link((realm_link_t){{{class_key(value.of)}, {value.key}}})"
    if isinstance(value, bool):
        return f"v_bool({str(value).lower()})"
    if isinstance(value, int):
        return f"v_int({integer(value)})"
    if isinstance(value, F32):
        return f"v_float((float){number(value)})"
    if isinstance(value, float):
        return f"v_double({number(value)})"
    if isinstance(value, str):
        return f"v_string((realm_string_t){{{text_of(value)}, {len(value.encode())}}})"
    if isinstance(value, (Oid, uuid.UUID)):
        data = value.bytes if isinstance(value, uuid.UUID) else value
        kind = "uuid" if isinstance(value, uuid.UUID) else "object_id"
        return f"v_{kind}((realm_{kind}_t){{{{{', '.join(map(str, data))}}}}})"
    if isinstance(value, bytes):
        return f"v_binary((realm_binary_t){{(const uint8_t *){text_of(value)}, {len(value)}}})"
    if isinstance(value, Date):
        return f"v_timestamp((realm_timestamp_t){{{value.seconds}, {value.nanos}}})"
    assert isinstance(value, Decimal), value
    low, high = encode_decimal(value)
    return f"v_decimal((realm_decimal128_t){{{{{low}u, {high}u}}}})"


def integer(value: int) -> str:
    return "INT64_MIN" if value == -2**63 else f"{value}u" if value > 2**63 - 1 else str(value)


def array(type: str, items: list[str]) -> str:
    return f"({type}[]){{{', '.join(items)}}}" if items else "NULL"


class Writer:
    def __init__(self) -> None:
        self.allowed: list[int] | None = None  # the errors that the call may have
        self.lines: list[str] = []
        self.declared: dict[str, str] = {}
        self.keys: set[Key] = set()
        self.schemas: list[str] = []
        self.learned = False
        self.threads: list[str] = []

    def argument(self, p: Parameter, value: Any) -> str:
        if value is NULL:
            return "NULL"
        if isinstance(value, Handle):
            return str(value)
        if p.kind == "class":
            self.note(value)
            return class_key(value)
        if p.kind == "prop":
            self.note(value)
            return property_key(value)
        if isinstance(value, ObjectKey):
            return f"realm_object_get_key({value.of})"
        if p.kind in ("value", "value*"):
            self.note_links(value)
            made = value_of(value)
            return f"at(&(realm_value_t){{0}}, {made})" if p.kind == "value*" else made
        if p.kind == "values":
            self.note_links(value)
            return array("realm_value_t", list(map(value_of, value)))
        if p.kind == "props":
            for key in value:
                self.note(key)
            return array("realm_property_key_t", list(map(property_key, value)))
        if p.kind == "args":
            return array("realm_query_arg_t", [self.query_argument(item) for item in value])
        if p.kind == "text":
            return f"PATH({text_of(value)})" if p.name in PATHS else text_of(value)
        if p.kind == "bool":
            return str(value).lower()
        if p.kind == "binary":
            return f"(realm_binary_t){{(const uint8_t *){text_of(value)}, {len(value)}}}" \
                if value else "(realm_binary_t){NULL, 0}"
        if p.kind == "bytes":
            return f"(const uint8_t *){text_of(value)}"
        return integer(value)

    def note(self, key: Any) -> None:
        if isinstance(key, Key):
            self.keys |= {key, Key(key.cls)}

    def note_links(self, value: Any) -> None:
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, To):
                self.note(item.of)

    def query_argument(self, value: Any) -> str:
        self.note_links(value)
        items = value if isinstance(value, list) else [value]
        made = array("realm_value_t", list(map(value_of, items)))
        return f"{{{len(items)}, {str(isinstance(value, list)).lower()}, {made}}}"

    def schema(self, classes: dict[str, dict[str, str]]) -> tuple[str, str]:
        """The names of its arrays, which stand before main()."""
        place = len(self.schemas)
        infos, lists = [], []
        for position, made in enumerate(records(classes)):
            props = ", ".join(
                f"{{{text_of(p.name)}, {text_of(p.alias)}, {p.type}, {p.coll}, "
                f"{text_of(p.target)}, {text_of(p.origin)}, 0, {p.flags}}}"
                for p in made.properties)
            name = f"props{place}_{position}"
            lists.append(f"static const realm_property_info_t {name}[] = {{{props or '{0}'}}};")
            infos.append(f"{{{text_of(made.name)}, {text_of(made.pk)}, {made.stored}, "
                         f"{made.computed}, 0, {made.flags}}}")
        names = ", ".join(f"props{place}_{position}" for position in range(len(infos)))
        self.schemas.append("\n".join([
            *lists, f"static const realm_class_info_t classes{place}[] = "
                    f"{{{', '.join(infos) or '{0}'}}};",
            f"static const realm_property_info_t *properties{place}[] = {{{names or 'NULL'}}};"]))
        return f"classes{place}", f"properties{place}"

    def call(self, call: Call) -> None:
        function = functions()[call.function]
        given = iter(call.args)
        by_name: dict[str, Any] = {}
        written: dict[str, str] = {}
        outs: list[str] = []
        lengths: dict[str, int] = {}
        for p in function.given:
            if p.kind == "properties":
                continue
            by_name[p.name] = next(given)
            if p.kind == "classes":
                written[p.name], written["class_properties"] = self.schema(by_name[p.name])
            else:
                written[p.name] = self.argument(p, by_name[p.name])
            lengths[p.name] = len(by_name[p.name]) if isinstance(
                by_name[p.name], (list, dict, bytes)) else 0
        parts, before = [], []
        for p in function.parameters:
            if p.out:
                parts.append(self.out(p, call, by_name, lengths, before, outs))
            elif p.kind == "length":
                parts.append(str(lengths[LENGTHS[p.name]]))
            else:
                parts.append(written.get(p.name, "NULL"))
        self.write(call, function, parts, before, outs)

    def out(self, p: Parameter, call: Call, by_name: dict[str, Any], lengths: dict[str, int],
            before: list[str], outs: list[str]) -> str:
        if p.name in call.nulls:
            return "NULL"
        type = p.c.removesuffix("*").strip()
        if type.endswith("*") and call.result and "realm_" in type:
            self.declared[call.result] = type
            return f"&{call.result}"
        room = 64 if p.name == "out_key" else max(
            int(by_name[p.room]) if p.room in by_name else max(lengths.values(), default=1), 1) \
            if p.room else 1
        before.append(f"{type} {p.name}[{min(room, 1000)}]; memset({p.name}, 0, sizeof {p.name});")
        if type == "realm_value_t":
            outs.append(f'show_value("{p.name}", {p.name}[0]);')
        elif type in ("bool", "size_t", "uint64_t"):
            outs.append(f'printf(" {p.name}: %llu", (unsigned long long){p.name}[0]);')
        return p.name

    def codes(self) -> str:
        allowed = self.allowed
        return "NULL, -1" if allowed is None else \
            f"(int[]){{{', '.join(map(str, allowed or [0]))}}}, {max(len(allowed), 1)}"

    def elsewhere(self, call: Call, function: Function, parts: list[str],
                  before: list[str]) -> None:
        """A call on another thread is a function of its own."""
        if call.result:
            self.declared[call.result] = function.c
        made = f"{call.result + ' = ' if call.result else ''}{function.name}({', '.join(parts)})"
        self.threads.append(THREAD % {
            "n": len(self.threads), "before": " ".join(before), "made": made,
            "text": text_of(str(call)[:300]), "codes": self.codes()})
        self.lines.append("    { pthread_t thread; pthread_create(&thread, NULL, thread%d, NULL); "
                          "pthread_join(thread, NULL); }" % (len(self.threads) - 1))

    def write(self, call: Call, function: Function, parts: list[str], before: list[str],
              outs: list[str]) -> None:
        if call.elsewhere:
            self.elsewhere(call, function, parts, before)
            return
        made = f"{function.name}({', '.join(parts)})"
        if function.type is not None and call.result and function.kind not in (
                "bool", "none"):
            self.declared[call.result] = function.c if function.kind != "any" else "void *"
            made = f"{call.result} = {made}"
        elif function.kind in ("bool", "size", "int"):
            outs.insert(0, 'printf(" returned %lld", returned);')
            before.append("long long returned;")
            made = f"returned = (long long){made}"
        elif function.kind == "json":
            made = f"realm_free({made})"
        elif function.type is not None:
            made = f"(void){made}"
        codes = self.codes()
        clear = "" if function.name in ERRORS else "realm_clear_last_error(); "
        told = "" if function.name in ERRORS else \
            f"\n    told({text_of(str(call)[:300])}, {codes});"
        self.lines.append("    {{ {}\n    {}{};{}\n    {} }}".format(
            " ".join(before), clear, made, told, " ".join(outs)))
        if function.name == "realm_open" and not self.learned:
            self.learned = True
            self.lines.append(f"    learn({call.args[0]});")


THREAD = """static void *thread%(n)d(void *unused) {
    (void)unused;
    %(before)s
    realm_clear_last_error();
    (void)%(made)s;
    told(%(text)s, %(codes)s);
    return NULL;
}"""


def program(calls: list[Call], why: str, told: list[tuple[str, list[int] | None]] | None = None
            ) -> str:
    """The C text. `told` are the calls to make, with the errors that are allowed; without it, all
    are made."""
    writer, waiting = Writer(), list(told or [])
    for call in calls:
        if told is None:
            writer.call(call)
        elif waiting and waiting[0][0] == str(call):
            writer.allowed = waiting.pop(0)[1]
            writer.call(call)
    keys = sorted(writer.keys, key=lambda key: (key.cls, key.prop))
    lines = [PRELUDE % why.replace("*/", "* /"),
             "static const char *folder;",
             "static inline const char *path(const char *name) {",
             "    static char text[4096];",
             '    snprintf(text, sizeof text, "%s/%s", folder, name);', "    return text;", "}",
             "#define PATH(name) path(name)", *writer.schemas]
    lines += [f"static {type} {name};" if type.endswith("*") else f"static {type} {name};"
              for name, type in writer.declared.items()]
    lines += [f"static realm_property_key_t {property_key(key)} = 0x7ffffff0;" if key.prop else
              f"static realm_class_key_t {class_key(key)} = 0x7ffffff0;" for key in keys]
    lines += ["", *writer.threads, "",
              "/* Asks for the keys of classes and properties, in a realm of its own. */",
              "static inline void learn(const realm_config_t *config) {",
              "    realm_t *realm = realm_open(config);", "    bool found;",
              "    realm_class_info_t info;", "    realm_property_info_t property;",
              "    (void)found, (void)info, (void)property;"]
    for key in keys:
        if not key.prop:
            lines.append(f"    if (realm_find_class(realm, {text_of(key.cls)}, &found, &info) && "
                         f"found) {class_key(key)} = info.key;")
        else:
            lines.append(f"    if (realm_find_property(realm, {class_key(key)}, "
                         f"{text_of(key.prop)}, &found, &property) && found) "
                         f"{property_key(key)} = property.key;")
    lines += ["    realm_close(realm);", "    realm_release(realm);", "}", "",
              "int main(int count, char **arguments) {",
              '    folder = count > 1 ? arguments[1] : ".";', *writer.lines,
              '    printf("\\n");', "    return wrong;", "}", ""]
    return "\n".join(lines)
