"""Chapters 1, 7, 17 and 18: handles, errors, logging, schedulers, references, resolve_in."""

from __future__ import annotations

from typing import Any

from queries.values import Row

from .calls import NULL
from .model import CLOSED, GONE, ILLEGAL, NO_TABLE_REF, STALE, Model, Open, Say, Stop, fail, rule
from .results import Query, Results
from .rules_realms import forget, object_say
from .store import (Collection, Config, Error, Fail, Instance, Object, Realm, Reference, Scheduler,
                    Schema)

NOT_CLONABLE = 1014
CATEGORY_NAMES = [
    "Realm", "Realm.App", "Realm.SDK", "Realm.Storage", "Realm.Storage.Notification",
    "Realm.Storage.Object", "Realm.Storage.Query", "Realm.Storage.Transaction", "Realm.Sync",
    "Realm.Sync.Client", "Realm.Sync.Client.Changeset", "Realm.Sync.Client.Network",
    "Realm.Sync.Client.Reset", "Realm.Sync.Client.Session", "Realm.Sync.Server"]


def instance(handle: Any) -> Instance | None:
    return getattr(handle, "inst", None)


@rule("realm_get_library_version")
def library_version(m: Model) -> Say:
    return Say("14.14.0")


@rule("realm_get_library_version_numbers")
def version_numbers(m: Model) -> Say:
    return Say(None, {"out_major": 14, "out_minor": 14, "out_patch": 0, "out_extra": ""})


@rule("realm_get_last_error")
def last_error(m: Model) -> Say:
    if not m.error:
        return Say(False, {"err": "untouched"})
    return Say(True, {"err": m.error})


@rule("realm_clear_last_error")
def clear_last_error(m: Model) -> Say:
    return Say(bool(m.error))


@rule("realm_get_last_error_as_async_error")
def as_async_error(m: Model) -> Say:
    return Say(made=Error(m.error) if m.error else None)


@rule("realm_get_async_error")
def async_error(m: Model, handle: Any) -> Say:
    if not isinstance(handle, Error):
        return Say(False, {"out_err": "untouched"})
    return Say(True, {"out_err": handle.code})


@rule("realm_release")
def release(m: Model, handle: Any) -> Say:
    if isinstance(handle, Realm) and sum(
            isinstance(other, Realm) and other.inst is handle.inst
            for other in m.handles.values()) == 1 and handle.inst.state != "closed":
        raise Stop("the last handle of an open realm released")
    if isinstance(handle, Reference) and handle.kind == "results":
        handle.file.pins.remove(handle.pinned)
        forget(m, handle.file)
    m.handles = {name: other for name, other in m.handles.items() if other is not handle}
    return Say(None)


@rule("realm_clone")
def clone(m: Model, handle: Any) -> Say:
    if isinstance(handle, (Config, Reference)):
        raise Fail(NOT_CLONABLE)
    if isinstance(handle, Realm):
        return Say(made=Realm(handle.inst))
    if isinstance(handle, Object):
        made = object_say(handle.inst, handle.row)
        made.made.dead, made.made.epoch = handle.dead, handle.epoch
        return made
    if isinstance(handle, Collection):
        return Say(made=Collection(handle.inst, handle.kind, handle.row, handle.prop, handle.epoch,
                                   handle.parent, handle.number, handle.slot))
    if isinstance(handle, (Results, Query)):
        return Say(made=handle.copy())
    if isinstance(handle, Schema):
        return Say(made=Schema(handle.classes))
    return Say(made=Error(handle.code) if isinstance(handle, Error) else Scheduler())


@rule("realm_is_frozen")
def is_frozen(m: Model, handle: Any) -> Say:
    inst = instance(handle)
    if isinstance(handle, Query):
        return Say(False)
    return Say(inst is not None and inst.frozen)


@rule("realm_equals")
def equals(m: Model, a: Any, b: Any) -> Say:
    if a is NULL or b is NULL:
        return Say(a is b)
    if a is b:
        return Say(True)
    if type(a) is not type(b):
        return Say(False)
    if isinstance(a, Collection):
        if a.kind != b.kind:
            return Say(False)
        if a.items() is None or b.items() is None:
            raise Open("equality of collections that are gone")
        if (a.parent is None) != (b.parent is None) and (a.row, a.prop) == (b.row, b.prop):
            raise Open("equality of collections in one mixed property")
        if a.parent and b.parent and a.number != b.number and (a.row, a.prop) == (b.row, b.prop):
            raise Open("equality of collections in one mixed property")
        return Say(a.inst is b.inst and (a.row, a.prop, a.number) == (b.row, b.prop, b.number))
    if isinstance(a, Realm):
        return Say(a.inst is b.inst)
    if isinstance(a, Object):
        if not (a.valid and b.valid):
            raise Open("equality of objects that are gone")
        return Say(a.inst is b.inst and a.row is b.row)
    if isinstance(a, Error):
        if a.code == b.code:
            raise Open("equality of errors with one code")
        return Say(False)
    if isinstance(a, Schema):
        if a.classes == b.classes:
            return Say(True)
        raise Open("equality of schemas that differ in some word")
    if isinstance(a, Scheduler):
        raise Open("equality of schedulers")
    return Say(False)


@rule("realm_scheduler_make_default")
def make_default(m: Model) -> Say:
    return Say(made=Scheduler())


@rule("realm_scheduler_get_frozen")
def get_frozen(m: Model) -> Say:
    return Say(made=None)


@rule("realm_get_category_names")
def category_names(m: Model, number: int) -> Say:
    if number == 0:
        return Say(15)
    filled = CATEGORY_NAMES[:number] + ["untouched"] * (number - 15)
    return Say(min(number, 15), {"out_values": filled})


# --------------------------------------------------------------------------------- references

@rule("realm_create_thread_safe_reference")
def create_reference(m: Model, handle: Any) -> Say:
    inst = instance(handle)
    kind = handle.kind if isinstance(handle, Collection) else type(handle).__name__.lower()
    if isinstance(handle, Query) or inst is None:
        raise Fail(ILLEGAL)
    if isinstance(handle, Realm):
        raise Stop("a reference to a realm")
    if inst.state == "closed":
        if isinstance(handle, Object):
            raise Open("a reference to an object of a closed realm")
        raise Fail(GONE if isinstance(handle, Collection) else STALE)
    if isinstance(handle, Collection):
        m.collection(handle)
        if handle.parent or not handle.prop.coll:
            raise Stop("a reference to a nested collection")  # [Q]: the outermost one
    elif isinstance(handle, Results):
        handle.check(m)
        owner = handle.base.collection.row if handle.base.collection else None
        if inst.state == "write" and owner is not None \
                and owner not in inst.file.versions[inst.version].rows:
            if handle.primitive or handle.steps or inst.view is None or owner not in inst.view.rows:
                raise Stop("a reference to values whose owner is new, or gone")
            raise Fail(2005)
        inst.file.pins.append(inst.version)
        version = inst.version + 1 if inst.state == "write" else inst.version
        return Say(made=Reference(kind, handle, version, inst.file, pinned=inst.version,
                                  certain=inst.state != "write"))
    elif not inst.alive(handle.epoch):
        raise Stop("a reference to an object that a compaction took")
    version = inst.version + 1 if inst.state == "write" else inst.version
    return Say(made=Reference(kind, handle, version, inst.file, certain=inst.state != "write"))


def resolved_into(m: Model, realm: Realm, reference: Reference, kind: str) -> Instance:
    """The instance, at a version where the referenced thing can be (17)."""
    inst = realm.inst
    if reference.kind != kind:
        m.either(lambda: m.realm(realm), lambda: fail(ILLEGAL))
    m.realm(realm)
    if inst.file is not reference.file:
        raise Stop("a reference in another file")
    if inst.frozen or inst.state == "write":
        inst.touched = True
        return inst
    if inst.state == "none":
        if reference.version != inst.file.newest:
            if not reference.certain or reference.version in inst.file.retained():
                raise Stop("a reference to an older version that may be kept")
        inst.reading()
    elif inst.version < reference.version:
        inst.go(inst.file.newest)
    return inst


def same_row(inst: Instance, row: Row) -> Row:
    if inst.view is not None and inst.view.replaced(row):
        raise Stop("a reference to an object whose key another one has")
    return row


@rule("realm_object_from_thread_safe_reference")
def object_from(m: Model, realm: Realm, reference: Reference) -> Say:
    inst = resolved_into(m, realm, reference, "object")
    row = same_row(inst, reference.of.row)
    say = object_say(inst, row)
    say.made.loose = not say.made.valid
    return say


@rule("realm_list_from_thread_safe_reference", "realm_set_from_thread_safe_reference",
      "realm_dictionary_from_thread_safe_reference")
def collection_from(m: Model, realm: Realm, reference: Reference) -> Say:
    kinds = {"list": "list", "set": "set", "dictionary": "dict"}
    inst = resolved_into(m, realm, reference, kinds[m.call.function.split("_")[1]])
    of = reference.of
    made = Collection(inst, of.kind, same_row(inst, of.row), of.prop, inst.epoch)
    made.loose = made.items() is None
    return Say(made=made)


@rule("realm_results_from_thread_safe_reference")
def results_from(m: Model, realm: Realm, reference: Reference) -> Say:
    inst = resolved_into(m, realm, reference, "results")
    base = reference.of.base
    for row in (base.row, base.collection.row if base.collection else None):
        if row is not None:
            same_row(inst, row)
    return Say(made=moved(reference.of, inst))


def moved(results: Results, inst: Instance) -> Results:
    """The same results in another instance, or the same anew."""
    ops = [op for op, _ in results.steps]
    if "snapshot" in ops and ops.index("snapshot") < len(ops) - 1:
        raise Stop("refined snapshots in another realm")
    return results.moved(inst)


@rule("realm_object_resolve_in")
def object_resolve(m: Model, handle: Object, target: Realm) -> Say:
    inst = m.realm(target)
    state = inst.reading()
    same_row(inst, handle.row)
    if handle.inst.state == "closed":
        raise Open("an object of a closed realm looked up in another")
    if not handle.valid or handle.row not in state.rows:
        return Say(made=None)
    return object_say(inst, handle.row)


@rule("realm_list_resolve_in", "realm_set_resolve_in", "realm_dictionary_resolve_in")
def collection_resolve(m: Model, handle: Collection, target: Realm) -> Say:
    inst = m.realm(target)
    state = inst.reading()
    same_row(inst, handle.row)
    if handle.inst.state == "closed":
        raise Open("a collection of a closed realm looked up in another")
    if handle.parent is not None or not handle.prop.coll:
        raise Open("a collection in a mixed value looked up in another realm")
    if handle.items() is None or handle.row not in state.rows:
        return Say(made=None)
    return Say(made=Collection(inst, handle.kind, handle.row, handle.prop, inst.epoch))


@rule("realm_results_resolve_in")
def results_resolve(m: Model, results: Results, target: Realm) -> Say:
    if target.inst.state == "closed":
        m.either(lambda: results.check(m), lambda: fail(CLOSED))
    results.check(m)
    inst = m.realm(target)
    inst.reading()
    made = moved(results, inst)
    if made.primitive and not made.valid():
        collection = made.base.collection
        if collection is not None and inst.view is not None and collection.row in inst.view.rows:
            raise Open("results over a mixed value that is no collection in another version")
        raise Fail(NO_TABLE_REF, STALE)  # [Q]
    return Say(made=made)
