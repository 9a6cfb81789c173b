"""Chapters 9, 10 and 12: lists, sets, and collections nested in lists."""

from __future__ import annotations

from typing import Any

from queries.values import Row, order

from .model import BOUNDS, ILLEGAL, LIMIT, SIZE_MAX, Model, Say, Stop, Target, fail, rule, shown
from .rules_objects import embeds, make
from .rules_realms import object_say
from .schemas import prop_info
from .store import Collection, Fail, Nested, NestedMap, elements, in_order, numbers, walk_nested

DEPTH_MAX = 100


def within(index: int, size: int, *, end: bool = False) -> None:
    if index > size or (index == size and not end):
        raise Fail(BOUNDS)


def same(a: Any, b: Any) -> bool:
    """Equality of elements; collections equal those of their kind (9, realm_list_find)."""
    return order(a, b) == 0


# ----------------------------------------------------------------------- all kinds of collections

@rule("realm_list_is_valid", "realm_set_is_valid", "realm_dictionary_is_valid")
def is_valid(m: Model, handle: Collection) -> Say:
    return Say(handle.items() is not None)


@rule("realm_list_size", "realm_set_size", "realm_dictionary_size")
def size(m: Model, handle: Collection) -> Say:
    return Say(outs={"out_size": len(m.collection(handle))})


@rule("realm_list_get_property", "realm_set_get_property", "realm_dictionary_get_property")
def get_property(m: Model, handle: Collection) -> Say:
    m.collection(handle)
    name = "out_info" if handle.kind == "dict" else "out_property_info"
    return Say(outs={name: prop_info(handle.prop)})


@rule("realm_list_get", "realm_set_get")
def get(m: Model, handle: Collection, index: int) -> Say:
    items = elements(handle, m.collection(handle))
    within(index, len(items))
    return Say(outs={"out_value": shown(items[index])})


@rule("realm_list_clear", "realm_set_clear", "realm_dictionary_clear")
def clear(m: Model, handle: Collection) -> Say:
    items = m.collection(handle)
    state = m.writing(handle.inst)
    doomed = list(elements(handle, items)) if embeds(handle.inst, handle.prop) else []
    items.clear()
    for row in doomed:
        if row is not None:
            state.delete(row)
    return Say()


@rule("realm_list_remove_all", "realm_set_remove_all")
def remove_all(m: Model, handle: Collection) -> Say:
    items = m.collection(handle)
    state = m.writing(handle.inst)
    doomed = [item for item in items if isinstance(item, Row)] if handle.prop.type == "link" else []
    items.clear()
    for row in doomed:
        state.delete(row)
    return Say()


# --------------------------------------------------------------------------------------- lists

def insertable(m: Model, handle: Collection, value: Any, index: int, *, end: bool) -> Any:
    """The checks before one element is written: the transaction is told before the index."""
    items = m.collection(handle)
    m.typed(handle.prop, value)
    if embeds(handle.inst, handle.prop):
        raise Stop("a link put into a list of embedded objects")  # [Q], free to fail

    def target() -> None:
        m.targeted(handle.inst, handle.prop, value)
    if handle.inst.state != "write":
        m.either(target, lambda: m.writing(handle.inst))
    m.either(target, lambda: within(index, len(items), end=end))
    return items


def deeper(handle: Collection) -> None:
    if handle.depth() + 1 > DEPTH_MAX:
        raise Fail(LIMIT)


@rule("realm_list_insert")
def insert(m: Model, handle: Collection, index: int, value: Any) -> Say:
    items = insertable(m, handle, value, index, end=True)
    if getattr(value, "name", "") in ("LIST", "DICTIONARY"):
        deeper(handle)
    items.insert(index, m.stored(handle.inst, value))
    return Say()


@rule("realm_list_set")
def set_element(m: Model, handle: Collection, index: int, value: Any) -> Say:
    items = insertable(m, handle, value, index, end=False)
    held = {"LIST": Nested, "DICTIONARY": NestedMap}.get(getattr(value, "name", ""))
    if held:
        deeper(handle)
        if isinstance(items[index], held):
            raise Stop("LIST or DICTIONARY set over one of its kind in a list")
    items[index] = m.stored(handle.inst, value)
    return Say()


@rule("realm_list_find")
def find(m: Model, handle: Collection, value: Any) -> Say:
    items = m.collection(handle)
    m.typed(handle.prop, value)
    wanted = absent if isinstance(value, Target) and m.here(handle.inst, value) is None \
        else m.stored(handle.inst, value)
    at = next((index for index, item in enumerate(items)
               if wanted is not absent and same(item, wanted)), None)
    return found_at(at)


absent = object()  # a link to nothing


def found_at(at: int | None) -> Say:
    return Say(outs={"out_index": SIZE_MAX if at is None else at, "out_found": at is not None})


@rule("realm_list_move")
def move(m: Model, handle: Collection, source: int, to: int) -> Say:
    items = m.collection(handle)
    m.writing(handle.inst)
    within(source, len(items))
    within(to, len(items))
    item = items.pop(source)
    items.insert(to, item)
    if source != to:
        for nested in walk_nested(item) if isinstance(item, (Nested, NestedMap)) else ():
            # [Q]: whether handles follow is open. New ones have to.
            handle.inst.file.lost.add(nested.number)
            nested.number = next(numbers)
    return Say()


@rule("realm_list_erase")
def erase(m: Model, handle: Collection, index: int) -> Say:
    items = m.collection(handle)
    state = m.writing(handle.inst)
    within(index, len(items))
    item = items.pop(index)
    if embeds(handle.inst, handle.prop):
        state.delete(item)
    return Say()


def embedding(m: Model, handle: Collection, index: int, *, end: bool) -> Any:
    items = m.collection(handle)
    m.writing(handle.inst)  # before the type of the collection
    m.either(lambda: within(index, len(items), end=end),
             lambda: embeds(handle.inst, handle.prop) or fail(ILLEGAL))
    return items


@rule("realm_list_insert_embedded")
def insert_embedded(m: Model, handle: Collection, index: int) -> Say:
    items = embedding(m, handle, index, end=True)
    made = make(m.writing(handle.inst), handle.inst.file.classes[handle.prop.target])
    items.insert(index, made)
    return object_say(handle.inst, made)


@rule("realm_list_set_embedded")
def set_embedded(m: Model, handle: Collection, index: int) -> Say:
    items = embedding(m, handle, index, end=False)
    state, old = m.writing(handle.inst), items[index]
    items[index] = make(state, handle.inst.file.classes[handle.prop.target])
    state.delete(old)
    return object_say(handle.inst, items[index])


@rule("realm_list_get_linked_object")
def linked_object(m: Model, handle: Collection, index: int) -> Say:
    items = m.collection(handle)
    if handle.prop.type != "link":
        return Say(made=None)
    within(index, len(items))
    return object_say(handle.inst, items[index])


# ----------------------------------------------------------------------- collections in lists

@rule("realm_list_insert_list", "realm_list_insert_dictionary")
def insert_nested(m: Model, handle: Collection, index: int) -> Say:
    items = nesting(m, handle)
    m.either(lambda: within(index, len(items), end=True), lambda: deeper(handle))
    made: Any = Nested() if m.call.function.endswith("list") else NestedMap()
    items.insert(index, made)
    return nested_say(handle, made)


@rule("realm_list_set_list", "realm_list_set_dictionary")
def set_nested(m: Model, handle: Collection, index: int) -> Say:
    items = nesting(m, handle)
    m.either(lambda: within(index, len(items)), lambda: deeper(handle))
    made: Any = Nested() if m.call.function.endswith("list") else NestedMap()
    if isinstance(items[index], type(made)):
        return nested_say(handle, items[index])
    items[index] = made
    return nested_say(handle, made)


def nesting(m: Model, handle: Collection) -> Any:
    items = m.collection(handle)
    m.writing(handle.inst)  # before the type of the collection
    if not handle.mixed:
        raise Fail(ILLEGAL)
    return items


def nested_say(parent: Collection, made: Any) -> Say:
    return nested_handle(parent, "list" if isinstance(made, list) else "dict", made, None)


@rule("realm_list_get_list", "realm_list_get_dictionary")
def get_nested(m: Model, handle: Collection, index: int) -> Say:
    items = m.collection(handle)
    if not handle.mixed:
        raise Fail(ILLEGAL)
    kind = "list" if m.call.function.endswith("list") else "dict"
    return nested_handle(handle, kind, items[index] if index < len(items) else None, index)


def nested_handle(parent: Collection, kind: str, value: Any, slot: Any) -> Say:
    """A handle of a nested collection; of nothing where the value is no such collection."""
    wanted = Nested if kind == "list" else NestedMap
    number = value.number if isinstance(value, wanted) else 0
    return Say(made=Collection(parent.inst, kind, parent.row, parent.prop, parent.epoch, parent,
                               number, slot))


# ---------------------------------------------------------------------------------------- sets

@rule("realm_set_find")
def set_find(m: Model, handle: Collection, value: Any) -> Say:
    items = in_order(m.collection(handle))
    return found_at(position(m, handle, items, value))


def position(m: Model, handle: Collection, items: list[Any], value: Any) -> int | None:
    """Where an element is; none for what cannot be one."""
    try:
        m.typed(handle.prop, value)
    except Fail:
        return None
    if isinstance(value, Target) and m.here(handle.inst, value) is None:
        return None
    wanted = m.stored(handle.inst, value)
    return next((index for index, item in enumerate(items) if same(item, wanted)), None)


@rule("realm_set_insert")
def set_insert(m: Model, handle: Collection, value: Any) -> Say:
    items = m.collection(handle)
    m.typed(handle.prop, value)
    if getattr(value, "name", "") in ("LIST", "DICTIONARY"):
        m.either(lambda: fail(ILLEGAL), lambda: m.writing(handle.inst))
    m.either(lambda: m.targeted(handle.inst, handle.prop, value), lambda: m.writing(handle.inst))
    at = position(m, handle, in_order(items), value)
    if at is not None:
        return Say(outs={"out_index": at, "out_inserted": False})
    items.append(m.stored(handle.inst, value))
    return Say(outs={"out_index": position(m, handle, in_order(items), value),
                     "out_inserted": True})


@rule("realm_set_erase")
def set_erase(m: Model, handle: Collection, value: Any) -> Say:
    items = m.collection(handle)
    try:
        m.typed(handle.prop, value)
    except Fail:
        return Say(outs={"out_erased": False})
    if isinstance(value, Target) and m.here(handle.inst, value) is None \
            and handle.inst.state != "write":
        raise Stop("a missing object taken from a set without a transaction")
    m.writing(handle.inst)
    at = position(m, handle, items, value)
    if at is not None:
        del items[at]
    return Say(outs={"out_erased": at is not None})
