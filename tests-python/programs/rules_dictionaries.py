"""Chapters 11 and 12: dictionaries."""

from __future__ import annotations

from typing import Any

from queries.values import Row

from .model import (BAD_KEY, BAD_VALUE, BOUNDS, INVALID_ARGUMENT, NO_PRIMARY_KEY, NO_PROPERTY,
                    NO_TABLE_REF, SIZE_MAX, Model, Say, Stop, Target, fail, rule, shown)
from .calls import NO_TEXT
from .rules_lists import deeper, nested_handle, position
from .rules_objects import embeds, make
from .rules_realms import object_say
from .store import Collection, Fail, Nested, NestedMap, Open, elements, entries


def is_text(key: Any) -> bool:
    return isinstance(key, str) or key is NO_TEXT


def bad(key: Any) -> bool:
    return key is NO_TEXT or key.startswith("$") or "." in key


def writable_key(m: Model, handle: Collection, key: Any, *earlier: Any) -> Any:
    """The checks of a call that writes at a key: what comes `earlier`, the transaction, the key."""
    if not is_text(key):
        m.either(lambda: fail(INVALID_ARGUMENT), lambda: m.collection(handle), *earlier,
                 lambda: m.writing(handle.inst))
    items = m.collection(handle)
    for check in earlier:
        check()
    m.writing(handle.inst)
    return items


def well_formed(key: Any) -> None:
    if bad(key):
        raise Fail(BAD_KEY)


@rule("realm_dictionary_get")
def get(m: Model, handle: Collection, index: int) -> Say:
    items = entries(m.collection(handle))
    if index >= len(items):
        raise Fail(BOUNDS)
    return Say(outs={"out_key": items[index][0], "out_value": shown(items[index][1])})


@rule("realm_dictionary_find")
def find(m: Model, handle: Collection, key: Any) -> Say:
    if not is_text(key):
        return Say(outs={"out_found": False})
    items = m.collection(handle)
    if key is NO_TEXT:
        raise Open("a key without data looked up")  # [Q]
    if key not in items:
        return Say(outs={"out_found": False, "out_value": "untouched"})
    return Say(outs={"out_found": True, "out_value": shown(items[key])})


def index_of(items: dict[str, Any], key: str) -> int:
    return [name for name, _ in entries(items)].index(key)


@rule("realm_dictionary_insert")
def insert(m: Model, handle: Collection, key: Any, value: Any) -> Say:
    prop = handle.prop
    nested = {"LIST": Nested, "DICTIONARY": NestedMap}.get(getattr(value, "name", ""))
    items = writable_key(
        m, handle, key, lambda: m.typed(prop, value),
        # A bad key is told before or after the transaction: the contract names neither here.
        lambda: m.either(lambda: is_text(key) and well_formed(key),
                         lambda: m.targets_before_writing(handle.inst, prop, value)))
    old = items.get(key)
    inserted = key not in items
    if nested:
        deeper(handle)
    if not (nested and isinstance(old, nested)):
        items[key] = m.stored(handle.inst, value)
    if embeds(handle.inst, prop) and isinstance(old, Row):
        m.writing(handle.inst).delete(old)
    return Say(outs={"out_index": index_of(items, key), "out_inserted": inserted})


@rule("realm_dictionary_insert_embedded")
def insert_embedded(m: Model, handle: Collection, key: Any) -> Say:
    prop, inst = handle.prop, handle.inst

    def fits() -> None:
        if prop.type != "link":
            raise Fail(NO_TABLE_REF)
        if inst.file.classes[prop.target].pk:
            raise Fail(NO_PRIMARY_KEY)
    if not is_text(key):
        writable_key(m, handle, key, fits)
    items = m.collection(handle)
    m.either(fits, lambda: m.writing(inst), lambda: well_formed(key))
    state, old = m.writing(inst), items.get(key)
    items[key] = make(state, inst.file.classes[prop.target])
    if embeds(inst, prop) and old is not None:
        state.delete(old)
    return object_say(inst, items[key])


@rule("realm_dictionary_insert_list", "realm_dictionary_insert_dictionary")
def insert_nested(m: Model, handle: Collection, key: Any) -> Say:
    items = writable_key(m, handle, key)

    def fits() -> None:
        if not handle.mixed:
            raise Fail(BAD_VALUE)
    m.either(fits, lambda: well_formed(key))
    deeper(handle)
    made: Any = Nested() if m.call.function.endswith("list") else NestedMap()
    if not isinstance(items.get(key), type(made)):
        items[key] = made
    return nested_handle(handle, "list" if isinstance(made, list) else "dict", items[key], key)


@rule("realm_dictionary_get_list", "realm_dictionary_get_dictionary")
def get_nested(m: Model, handle: Collection, key: Any) -> Say:
    kind = "list" if m.call.function.endswith("list") else "dict"

    def fits() -> None:
        # 12 as corrected: get_dictionary of one that is not mixed gives a handle.
        if not handle.mixed and kind == "list":
            raise Fail(NO_PROPERTY)
    if not is_text(key):
        m.either(lambda: fail(INVALID_ARGUMENT), lambda: m.collection(handle), fits)
    items = m.collection(handle)
    fits()
    if not handle.mixed:
        raise Open("realm_dictionary_get_dictionary of a dictionary that is not mixed")
    if key is NO_TEXT:
        raise Open("a key without data looked up")
    return nested_handle(handle, kind, items.get(key), key)


@rule("realm_dictionary_get_linked_object")
def linked_object(m: Model, handle: Collection, key: Any) -> Say:
    if not is_text(key):
        raise Fail(INVALID_ARGUMENT)
    items = handle.items()
    if key is NO_TEXT:
        raise Open("a key without data looked up")
    value = None if items is None else items.get(key)
    if not isinstance(value, Row):
        return Say(made=None)
    return object_say(handle.inst, value)


@rule("realm_dictionary_erase")
def erase(m: Model, handle: Collection, key: Any) -> Say:
    if not is_text(key):
        if handle.items() is None or handle.inst.state != "write":
            raise Open("a key that is no string, taken from a dictionary that cannot change")
        return Say(outs={"out_erased": False})
    items = m.collection(handle)
    m.writing(handle.inst)
    if key is NO_TEXT:
        raise Stop("a key without data erased")
    well_formed(key)
    if key not in items:
        return Say(outs={"out_erased": False})
    old = items.pop(key)
    if embeds(handle.inst, handle.prop) and old is not None:
        m.writing(handle.inst).delete(old)
    return Say(outs={"out_erased": True})


@rule("realm_dictionary_contains_key")
def contains_key(m: Model, handle: Collection, key: Any) -> Say:
    items = handle.items()
    if key is NO_TEXT:
        raise Open("a key without data looked up")
    return Say(outs={"found": isinstance(key, str) and items is not None and key in items})


@rule("realm_dictionary_contains_value")
def contains_value(m: Model, handle: Collection, value: Any) -> Say:
    items = m.collection(handle)
    if isinstance(value, Target) and handle.prop.type == "link" \
            and value.cls == handle.prop.target and m.here(handle.inst, value) is None:
        raise Open("a missing object looked for in a dictionary")
    at = position(m, handle, elements(handle, items), value)
    return Say(outs={"index": SIZE_MAX if at is None else at})
