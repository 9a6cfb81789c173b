"""Chapter 8: objects and their properties."""

from __future__ import annotations

import json
from typing import Any

from queries.schema import Cls, Prop
from queries.values import Row, wrap64

from .model import (BAD_KEY, EXISTS, GONE, HAS_NO_KEY, ILLEGAL, MISMATCH, NOT_NULLABLE, NO_OBJECT,
                    NO_PRIMARY_KEY, NO_PROPERTY, NO_TABLE_REF, TOP_LEVEL, Model, Open, Say, Stop,
                    Target, fail, is_null, rule, shown, type_of)
from .rules_realms import object_say
from .store import Collection, Fail, Instance, Nested, NestedMap, Object, Realm, State
from .text import object_text

MALFORMED = 4201
numbers = iter(range(1, 10**9))


def new_row(cls: Cls) -> Row:
    return Row(cls, next(numbers))


def make(state: State, cls: Cls) -> Row:
    row = new_row(cls)
    state.add(row)
    return row


# ------------------------------------------------------------------------ creation and looking up

@rule("realm_object_create")
def create(m: Model, realm: Realm, key: Any) -> Say:
    inst = m.realm(realm)
    cls = m.cls(inst, key)
    if cls.pk:
        raise Fail(NO_PRIMARY_KEY)
    if cls.embedded:
        raise Fail(ILLEGAL)
    return object_say(inst, make(m.writing(inst), cls))


def key_fits(m: Model, cls: Cls, pk: Any) -> None:
    if cls.pk is None:
        raise Fail(HAS_NO_KEY)
    if is_null(pk):
        if not cls.pk.nullable:
            raise Fail(NOT_NULLABLE)
    elif isinstance(pk, Target) or type_of(pk) != cls.pk.type:
        raise Fail(MISMATCH)


def by_primary_key(state: State, cls: Cls, pk: Any) -> Row | None:
    assert cls.pk
    wanted = None if is_null(pk) else pk
    return next((row for row, values in state.rows.items() if row.cls is cls
                 and values[cls.pk.name] == wanted
                 and type(values[cls.pk.name]) is type(wanted)), None)


@rule("realm_object_create_with_primary_key")
def create_with_key(m: Model, realm: Realm, key: Any, pk: Any) -> Say:
    return created(m, realm, key, pk, must_be_new=True)


@rule("realm_object_get_or_create_with_primary_key")
def get_or_create(m: Model, realm: Realm, key: Any, pk: Any) -> Say:
    return created(m, realm, key, pk, must_be_new=False)


def created(m: Model, realm: Realm, key: Any, pk: Any, *, must_be_new: bool) -> Say:
    inst = m.realm(realm)
    cls = m.cls(inst, key)
    key_fits(m, cls, pk)
    state = inst.reading()
    found = by_primary_key(state, cls, pk)
    if found:
        if must_be_new:
            m.either(lambda: m.writing(inst), lambda: fail(EXISTS))
        return object_say(inst, found, outs={"did_create": False})
    state = m.writing(inst)
    row = make(state, cls)
    assert cls.pk
    state.rows[row][cls.pk.name] = m.stored(inst, pk)
    return object_say(inst, row, outs={"did_create": True})


@rule("realm_object_find_with_primary_key")
def find_by_key(m: Model, realm: Realm, key: Any, pk: Any) -> Say:
    inst = m.realm(realm)
    cls = m.cls(inst, key)
    state = inst.reading()
    try:
        key_fits(m, cls, pk)
        found = by_primary_key(state, cls, pk)
    except Fail:
        found = None
    if found is None:
        return Say(outs={"out_found": False})
    return object_say(inst, found, outs={"out_found": True})


@rule("realm_get_object")
def get_object(m: Model, realm: Realm, key: Any, number: int) -> Say:
    inst = m.realm(realm)
    cls = m.cls(inst, key)
    row = inst.reading().find(cls.name, number)
    if row is None:
        raise Fail(NO_OBJECT)
    return object_say(inst, row)


@rule("realm_get_num_objects")
def num_objects(m: Model, realm: Realm, key: Any) -> Say:
    inst = m.realm(realm)
    cls = m.cls(inst, key)
    return Say(outs={"out_count": len(inst.reading().of(cls.name))})


# ----------------------------------------------------------------------------------- identity

@rule("realm_object_is_valid")
def is_valid(m: Model, handle: Object) -> Say:
    return Say(handle.valid)


@rule("realm_object_get_key", "realm_object_as_link")
def get_key(m: Model, handle: Object) -> Say:
    return Say(handle.row)


@rule("realm_object_get_table")
def get_table(m: Model, handle: Object) -> Say:
    return Say(handle.row.cls.name)


@rule("realm_object_get_parent")
def get_parent(m: Model, handle: Object) -> Say:
    if handle.inst.state == "closed":
        raise Fail(NO_OBJECT, GONE, *([] if handle.row.cls.embedded else [TOP_LEVEL]))
    if not handle.row.cls.embedded:
        raise Fail(TOP_LEVEL)
    if not handle.valid:
        raise Fail(NO_OBJECT)
    assert handle.inst.view is not None
    owner = handle.inst.view.owner(handle.row)
    assert owner is not None
    return object_say(handle.inst, owner, outs={"class_key": owner.cls.name})


@rule("realm_object_delete")
def delete(m: Model, handle: Object) -> Say:
    m.object(handle)
    m.writing(handle.inst).delete(handle.row)
    return Say()


# ------------------------------------------------------------------------------------ reading

def single(m: Model, handle: Object, key: Any) -> Prop:
    """A property that is no collection, in the order of 8.4 and 8.5."""
    m.object(handle)
    prop = m.prop(handle.row.cls, key)
    if prop.coll:
        raise Fail(MISMATCH)
    return prop


@rule("realm_get_value")
def get_value(m: Model, handle: Object, key: Any) -> Say:
    prop = single(m, handle, key)
    return Say(outs={"out_value": shown(m.object(handle)[prop.name])})


@rule("realm_get_values")
def get_values(m: Model, handle: Object, keys: list[Any]) -> Say:
    if not keys and not handle.valid:
        raise Open("no values of an object that is gone")
    m.object(handle)
    props = [single(m, handle, key) for key in keys]
    values = m.object(handle)
    return Say(outs={"out_values": [shown(values[prop.name]) for prop in props] or ["untouched"]})


@rule("realm_get_value_by_property_index")
def by_index(m: Model, handle: Object, index: int) -> Say:
    stored = [prop for prop in handle.row.cls.props if prop.type != "backlinks"]
    if index >= len(stored) or stored[index].coll == "set":
        # The header answers what the contract leaves: errors.
        m.either(lambda: m.object(handle), lambda: fail(NO_PROPERTY), lambda: fail(MISMATCH))
    values = m.object(handle)
    return Say(outs={"out_value": shown(values[stored[index].name])})


@rule("realm_get_linked_object")
def linked_object(m: Model, handle: Object, key: Any) -> Say:
    values = m.object(handle)
    prop = m.prop(handle.row.cls, key)
    if prop.coll and prop.type == "link":
        raise Fail(NO_TABLE_REF, MISMATCH)
    value = values[prop.name]
    # 8.4 as corrected: null in a mixed or string property gives NULL without an error.
    if prop.type == "link" or (prop.type in ("mixed", "string") and not prop.coll):
        if value is None:
            return Say(made=None)
    if not isinstance(value, Row):
        raise Fail(NO_TABLE_REF)
    return object_say(handle.inst, value)


@rule("realm_object_to_string")
def to_string(m: Model, handle: Object) -> Say:
    m.object(handle)
    assert handle.inst.view is not None
    return Say(object_text(handle.inst.view, handle.row))


# ------------------------------------------------------------------------------------ writing

@rule("realm_set_value")
def set_value(m: Model, handle: Object, key: Any, value: Any, is_default: bool) -> Say:
    return set_values(m, handle, [key], [value], is_default)


@rule("realm_set_values")
def set_values(m: Model, handle: Object, keys: list[Any], values: list[Any],
               is_default: bool) -> Say:
    if not keys and not handle.valid:
        raise Stop("no values set of an object that is gone")
    m.object(handle)
    props = []
    for key, value in zip(keys, values):
        prop = single(m, handle, key)
        m.typed(prop, value)
        props.append(prop)
    for prop, value in zip(props, values):
        store(m, handle, prop, value)
    return Say()


def embeds(inst: Instance, prop: Prop) -> bool:
    return prop.type == "link" and inst.file.classes[prop.target].embedded


def store(m: Model, handle: Object, prop: Prop, value: Any) -> None:
    inst = handle.inst
    old = m.object(handle)[prop.name]
    if prop.pk and not (m.stored(inst, value) == old):
        # 8.5: free to reject it, and the header does.
        m.either(lambda: fail(3007), lambda: m.writing(inst))
    m.targets_before_writing(inst, prop, value)
    if embeds(inst, prop):
        if old is not None:
            m.writing(inst).delete(old)
        return
    kinds = {"LIST": Nested, "DICTIONARY": NestedMap}
    held = kinds.get(getattr(value, "name", ""))
    if held and isinstance(old, held):
        return  # the collection that is there stays
    m.object(handle)[prop.name] = m.stored(inst, value)


@rule("realm_object_add_int")
def add_int(m: Model, handle: Object, key: Any, delta: int) -> Say:
    values = m.object(handle)
    prop = m.prop(handle.row.cls, key)
    value = None if prop.coll else values[prop.name]
    if prop.type not in ("int", "mixed") or isinstance(value, bool) or not isinstance(value, int):
        raise Fail(ILLEGAL)
    if prop.pk:
        m.either(lambda: fail(3007), lambda: m.writing(handle.inst))
    m.writing(handle.inst)
    values[prop.name] = wrap64(value + delta)
    return Say()


def of_json(value: Any) -> Any:
    if isinstance(value, dict):
        return NestedMap({key: of_json(item) for key, item in value.items()})
    if isinstance(value, list):
        return Nested(map(of_json, value))
    return wrap64(value) if isinstance(value, int) and not isinstance(value, bool) else value


def bad_names(value: Any) -> bool:
    if isinstance(value, dict):
        return any(key.startswith("$") or "." in key or bad_names(item)
                   for key, item in value.items())
    return isinstance(value, list) and any(map(bad_names, value))


@rule("realm_set_json")
def set_json(m: Model, handle: Object, key: Any, text: str) -> Say:
    values = m.object(handle)
    prop = m.prop(handle.row.cls, key)
    codes, value = set(), None
    if prop.coll or prop.type != "mixed":
        raise Fail(MISMATCH)
    try:
        value = json.loads(text)
    except ValueError:
        codes.add(MALFORMED)
    if bad_names(value):
        codes.add(BAD_KEY)
    m.either(lambda: m.writing(handle.inst), lambda: [fail(code) for code in codes])
    old = values[prop.name]
    made = of_json(value)
    if isinstance(made, NestedMap) and isinstance(old, NestedMap):
        merge(old, made)
    elif isinstance(made, Nested) and isinstance(old, Nested):
        old[:] = made  # the list stays the one that it was
    else:
        values[prop.name] = made
    return Say()


def merge(old: NestedMap, new: NestedMap) -> None:
    """8.5: an object assigned over a dictionary is merged into it."""
    if any(isinstance(old.get(key), (Nested, NestedMap)) and isinstance(item, (Nested, NestedMap))
           for key, item in new.items()):
        raise Stop("JSON over collections in a dictionary")
    old.update(new)


@rule("realm_set_embedded")
def set_embedded(m: Model, handle: Object, key: Any) -> Say:
    values = m.object(handle)
    prop = m.prop(handle.row.cls, key)
    if prop.coll or prop.type != "link":
        raise Fail(MISMATCH)
    if not embeds(handle.inst, prop):
        m.either(lambda: fail(ILLEGAL), lambda: m.writing(handle.inst))  # free to fail
    state = m.writing(handle.inst)
    if values[prop.name] is not None:
        state.delete(values[prop.name])
    values[prop.name] = make(state, handle.inst.file.classes[prop.target])
    return object_say(handle.inst, values[prop.name])


@rule("realm_set_list")
def set_list(m: Model, handle: Object, key: Any) -> Say:
    return set_collection(m, handle, key, "list")


@rule("realm_set_dictionary")
def set_dictionary(m: Model, handle: Object, key: Any) -> Say:
    return set_collection(m, handle, key, "dict")


def set_collection(m: Model, handle: Object, key: Any, kind: str) -> Say:
    values = m.object(handle)
    prop = m.prop(handle.row.cls, key)
    inst = handle.inst
    made = Collection(inst, kind, handle.row, prop, inst.epoch)
    if prop.coll == kind and (prop.type == "mixed" or kind == "dict"):
        if inst.state != "write":
            raise Stop("the list of a property asked for as a change")
        return Say(made=made)
    if prop.coll or prop.type != "mixed":
        if prop.coll == kind:
            raise Stop("realm_set_list of a list that is not mixed")
        m.either(lambda: fail(MISMATCH), lambda: m.writing(inst))
    m.writing(inst)
    new: Any = Nested() if kind == "list" else NestedMap()
    if not isinstance(values[prop.name], type(new)):
        values[prop.name] = new
    return Say(made=made)


@rule("realm_get_list")
def get_list(m: Model, handle: Object, key: Any) -> Say:
    return get_collection(m, handle, key, "list")


@rule("realm_get_set")
def get_set(m: Model, handle: Object, key: Any) -> Say:
    return get_collection(m, handle, key, "set")


@rule("realm_get_dictionary")
def get_dictionary(m: Model, handle: Object, key: Any) -> Say:
    return get_collection(m, handle, key, "dict")


def get_collection(m: Model, handle: Object, key: Any, kind: str) -> Say:
    m.object(handle)
    prop = m.prop(handle.row.cls, key)
    if prop.coll != kind and (prop.coll or prop.type != "mixed"):
        raise Fail(MISMATCH)
    return Say(made=Collection(handle.inst, kind, handle.row, prop, handle.inst.epoch))
