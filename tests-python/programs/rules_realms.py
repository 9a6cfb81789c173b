"""Chapters 4, 5 and 18: closing, transactions, versions, freezing, copies of files."""

from __future__ import annotations

from typing import Any

from queries.values import Row

from .model import ANYTHING, CLOSED, ILLEGAL, SIZE_MAX, WRONG_STATE, Model, Open, Say, Stop, rule
from .rules_opening import IMMUTABLE, NOT_FOUND, READ_ONLY
from .store import Config, Fail, File, Instance, Object, Realm, State, walk_nested

FILE_EXISTS, OPENED, BROKEN, BAD_ENCRYPTION_KEY = 1020, 2012, 1002, 3014


@rule("realm_close")
def close(m: Model, realm: Realm) -> Say:
    inst = realm.inst
    if inst.state == "closed":
        return Say()
    inst.state = "closed"
    forget(m, inst.file)
    return Say()


def forget(m: Model, file: File) -> None:
    """4.7: data in memory goes with the last that keeps it."""
    if file.in_memory and not file.held() and m.files.get(file.path) is file:
        del m.files[file.path]


@rule("realm_is_closed")
def is_closed(m: Model, realm: Realm) -> Say:
    return Say(realm.inst.state == "closed")


@rule("realm_begin_read")
def begin_read(m: Model, realm: Realm) -> Say:
    m.realm(realm).reading()
    return Say()


@rule("realm_begin_write")
def begin_write(m: Model, realm: Realm) -> Say:
    inst = m.realm(realm)
    if inst.state == "write" or inst.frozen or inst.mode in (IMMUTABLE, READ_ONLY):
        raise Fail(WRONG_STATE)
    if inst.file.writer():
        raise Stop("another realm writes: the call would wait")
    if inst.max_versions != SIZE_MAX:
        if len(inst.file.retained()) > inst.max_versions:
            raise Fail(WRONG_STATE)
    inst.go(inst.file.newest)
    assert inst.view is not None
    inst.view = inst.view.copy()
    inst.state = "write"
    return Say()


@rule("realm_is_writable")
def is_writable(m: Model, realm: Realm) -> Say:
    return Say(realm.inst.state == "write")


@rule("realm_commit")
def commit(m: Model, realm: Realm) -> Say:
    inst = m.realm(realm)
    state, file = m.writing(inst), inst.file
    file.newest += 1
    file.versions[file.newest] = state
    inst.version, inst.state = file.newest, "read"
    for row in state.rows:
        file.created[row.cls.name] = max(file.created.get(row.cls.name, -1), row.key)
    return Say()


@rule("realm_rollback")
def rollback(m: Model, realm: Realm) -> Say:
    inst = m.realm(realm)
    undone = m.writing(inst)
    inst.go(inst.version)
    assert inst.view is not None
    inst.state = "read"
    # Numbers of nested collections may be given again, to others.
    inst.file.lost |= nested_numbers(undone) - nested_numbers(inst.view)
    for handle in inst.objects:
        if handle.row in inst.view.rows and handle.row not in undone.rows:
            # 5.2 has them stay invalid, as a quirk; the library has them valid again.
            m.open["handles of objects whose deletion was undone"] += 1
            m.handles = {name: other for name, other in m.handles.items() if other is not handle}
        elif handle.row in undone.rows and handle.row not in inst.view.rows:
            handle.dead = True
    return Say()


def nested_numbers(state: State) -> set[int]:
    return {nested.number for values in state.rows.values() for value in values.values()
            for nested in walk_nested(value)}


@rule("realm_refresh")
def refresh(m: Model, realm: Realm) -> Say:
    inst = m.realm(realm)
    if inst.mode == IMMUTABLE:
        raise Fail(WRONG_STATE)
    if inst.frozen or inst.state == "write":
        return Say(outs={"did_refresh": False})
    if inst.state == "none":
        inst.reading()
        return Say(outs={"did_refresh": True})
    moved = inst.version != inst.file.newest
    inst.go(inst.file.newest)
    return Say(outs={"did_refresh": moved})


@rule("realm_get_version_id")
def version_id(m: Model, realm: Realm) -> Say:
    inst = realm.inst
    if inst.state in ("none", "closed"):
        return Say(outs={"out_found": False, "out_version": 0})
    found = ANYTHING if inst.file.uncertain else inst.version
    return Say(outs={"out_found": True, "out_version": found})


@rule("realm_get_num_versions")
def num_versions(m: Model, realm: Realm) -> Say:
    inst = m.realm(realm)
    if inst.mode == IMMUTABLE:
        return Say(outs={"out_versions_count": 1})
    if any(not i.touched for i in inst.file.live()) or inst.file.uncertain:
        raise Open("the number of versions beside a frozen realm that nobody read, or a compaction")
    return Say(outs={"out_versions_count": len(inst.file.retained())})


@rule("realm_freeze")
def freeze(m: Model, realm: Realm) -> Say:
    inst = m.realm(realm)
    inst.reading()
    made = Instance(inst.file, "read", frozen=True, version=inst.version, mode=inst.mode)
    made.view = inst.file.versions[inst.version]
    made.touched, made.schema, made.ordered = False, inst.schema, inst.ordered
    made.schema_version, made.asked_version = inst.schema_version, inst.asked_version
    inst.file.instances.append(made)
    return Say(made=Realm(made))


@rule("realm_compact")
def compact(m: Model, realm: Realm) -> Say:
    inst = m.realm(realm)
    if inst.state == "write" or inst.mode in (IMMUTABLE, READ_ONLY):
        raise Fail(WRONG_STATE)
    if inst.frozen:
        raise Stop("compaction by a frozen realm")
    others = [i for i in inst.file.live() if i is not inst and i.state in ("read", "write")]
    if any(i.state == "write" for i in others):
        raise Stop("compaction while another realm writes")
    inst.state, inst.view, inst.epoch = "none", None, inst.epoch + 1
    unread = all(not i.touched for i in others)
    did: Any = ANYTHING if (others and unread) or inst.file.pins or inst.file.in_memory \
        else not others
    inst.file.uncertain = True
    return Say(outs={"did_compact": did})


@rule("realm_convert_with_path")
def convert_with_path(m: Model, realm: Realm, path: str, key: bytes, merge: bool) -> Say:
    if len(key) not in (0, 64):
        return converted(m, realm, path, merge, BAD_ENCRYPTION_KEY)
    if key:
        raise Stop("an encrypted copy")
    return converted(m, realm, path, merge)


@rule("realm_convert_with_config")
def convert_with_config(m: Model, realm: Realm, config: Config, merge: bool) -> Say:
    path = config.settings.get("path", "")
    if not path or config.settings.get("encryption_key"):
        raise Stop("a copy that the model does not know")
    return converted(m, realm, path, merge)


def converted(m: Model, realm: Realm, path: str, merge: bool, also: int = 0) -> Say:
    codes = {also} - {0}
    inst = realm.inst
    if inst.state == "closed":
        raise Fail(*codes, CLOSED)
    if inst.state == "none":
        raise Stop("a copy without a read transaction")
    target = m.files.get(path)
    if "/" in path:
        codes.add(NOT_FOUND)
    elif target is not None and not merge:
        codes.add(FILE_EXISTS)
    elif target is not None:
        codes |= {BROKEN, ILLEGAL} if target is inst.file else {BROKEN}
        if "_id" in (cls.pk.name for cls in inst.file.classes.values() if cls.pk):
            raise Stop("a merge")
    if codes:
        raise Fail(*codes)
    view = inst.view
    assert view is not None
    made = File(path, False, inst.file.classes)
    made.shown, made.schema_version = inst.file.shown, inst.file.schema_version
    made.newest, made.uncertain = 2, True
    made.versions[2] = rehomed(view)
    m.files[path] = made
    return Say()


def rehomed(view: State) -> State:
    """The same objects in another file."""
    return view.copy()


@rule("realm_delete_files")
def delete_files(m: Model, path: str) -> Say:
    file = m.files.get(path)
    if file and file.live():
        raise Fail(OPENED)
    if file and file.pins:
        raise Stop("the file of a reference to results deleted")
    did = file is not None
    m.files.pop(path, None)
    return Say(outs={"did_delete_realm": did})


@rule("realm_get_persisted_schema_version")
def persisted(m: Model, config: Config) -> Say:
    path = config.settings.get("path", "")
    file = m.files.get(path)
    if not path or "/" in path or config.settings.get("encryption_key"):
        raise Open("the stored version of a file that cannot be opened")
    if file is None:
        return Say(SIZE_MAX)  # 3.2: free not to create it
    if file.in_memory:
        raise Open("the stored version of data in memory")
    return Say(file.schema_version)


def remember(handle: Object) -> Object:
    """Object handles are known to their realm, for what a rollback does to them."""
    handle.inst.objects.append(handle)
    return handle


def object_say(inst: Instance, row: Row, **more: Any) -> Say:
    return Say(made=remember(Object(inst, row, inst.epoch)), **more)
