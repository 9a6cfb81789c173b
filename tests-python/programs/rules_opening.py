"""Chapters 3.5 and 4.1 to 4.3: what opening says, and what it makes of the schema of a file."""

from __future__ import annotations

import re
from typing import Any

from queries.schema import Cls

from .model import SIZE_MAX, Model, Say, Stop, rule
from .schemas import Classes, cls_of, compatible, differences, orphans, problems, too_long
from .store import Config, Fail, File, Instance, Realm, State, default

COMBINATION, MISMATCHED, NOT_FOUND, INVALID_NAME = 3022, 2013, 1019, 3010
VALIDATION, BAD_VERSION, SCHEMA_DIFFERS, BAD_CHANGE = 2016, 2018, 2017, 2019
AUTOMATIC, IMMUTABLE, READ_ONLY, SOFT_RESET, HARD_RESET, DISCOVERED, EXPLICIT, MANUAL = range(8)
UNVERSIONED = SIZE_MAX


@rule("realm_open")
def open_realm(m: Model, config: Config) -> Say:
    c = config.settings
    schema, version, mode = c.get("schema"), c.get("schema_version", UNVERSIONED), \
        c.get("schema_mode", 0)
    path, in_memory = c.get("path", ""), c.get("in_memory", False)
    if not path or c.get("encryption_key") or c.get("cached"):
        raise Stop("an opening that the model does not know")
    if schema is not None and version == UNVERSIONED:
        raise Fail(COMBINATION)
    file = m.files.get(path)
    if file and file.live():
        other = file.live()[0]
        if schema is not None and not other.ordered:
            raise Stop("a schema for a file that is open without one")
        if (mode, in_memory) != (other.mode, file.in_memory) or (
                schema is not None and version != other.asked_version):
            if schema is not None and (problems(schema.classes, mode)
                                       or differences(file.shown, schema.classes)):
                raise Stop("another schema and other settings of a file that is open")
            raise Fail(MISMATCHED)
        if schema is not None and differences(file.shown, schema.classes):
            raise Stop("another schema of a file that is open")
    if "/" in path or (file is None and mode == IMMUTABLE):
        if schema is not None and problems(schema.classes, mode):
            m.open["which of two failures is told"] += 1
            raise Fail(NOT_FOUND, VALIDATION)
        raise Fail(NOT_FOUND)
    if schema is not None:
        if problems(schema.classes, mode):
            raise Fail(VALIDATION, *([INVALID_NAME] if too_long(schema.classes) else []))
        if too_long(schema.classes):
            raise Stop("names longer than the contract allows, up to 255 bytes")
    if file is None:
        if mode == READ_ONLY:
            raise Stop("a new file opened to be read")  # [Q]
        file = File(path, in_memory, {})
        file.versions[1] = State({})
        m.files[path] = file
    if schema is not None:
        arranged(file, schema.classes, version, mode)
    inst = Instance(file, mode=mode)
    inst.max_versions = c.get("max_number_of_active_versions", SIZE_MAX)
    inst.schema = visible(file, None if schema is None else schema.classes,
                          c.get("schema_subset_mode", 0))
    inst.ordered, inst.asked_version = schema is not None, version
    inst.schema_version = file.schema_version
    file.instances.append(inst)
    return Say(made=Realm(inst))


def plain(props: dict[str, str]) -> dict[str, str]:
    """3.4: what a file knows of properties: no computed ones, no public names."""
    return {name: re.sub(" alias .*", "", text) for name, text in props.items()
            if not text.startswith("from ")}


def visible(file: File, asked: Classes | None, subset: int) -> Classes:
    """3.5: what an instance shows."""
    if asked is None:
        return {title: plain(props) for title, props in file.shown.items()}
    shown = dict(asked)
    known = {title.split()[-1]: title for title in asked}
    if subset in (2, 3):
        for title, props in file.shown.items():
            ours = known.get(title.split()[-1])
            extra = {} if ours is None else plain({
                name: text for name, text in props.items() if name not in asked[ours]})
            if extra:
                shown[str(ours)] = {**asked[str(ours)], **extra}
    if subset in (1, 3):
        shown |= {title: plain(props) for title, props in file.shown.items()
                  if title.split()[-1] not in known}
    return shown


def arranged(file: File, classes: Classes, version: int, mode: int) -> None:
    """4.3: what opening does about the schema of the file."""
    if mode == DISCOVERED:
        lost = orphans({cls.name: cls for cls in (
            cls_of(title, props, 0) for title, props in classes.items())})
        if lost & set(file.classes):
            raise Stop("an embedded class without an owner that is in the file")
        classes = {title: props for title, props in classes.items()
                   if title.split()[-1] not in lost}
    if file.schema_version == UNVERSIONED and mode not in (IMMUTABLE, READ_ONLY):
        changed(file, classes, version)
        return
    if file.schema_version == UNVERSIONED:
        raise Stop("a file without a schema opened to be read")
    found = differences(file.shown, classes)
    if mode in (AUTOMATIC, MANUAL):
        if version < file.schema_version:
            raise Fail(BAD_VERSION)
        if version == file.schema_version:
            if found - ({"class", "index"} if mode == AUTOMATIC else set()):
                raise Fail(SCHEMA_DIFFERS)
        elif mode == MANUAL and found:
            raise Stop("a migration, which is not there yet")
        if version > file.schema_version and found - {"class", "index"}:
            raise Stop("a migration, which is not there yet")
    elif mode in (DISCOVERED, EXPLICIT):
        if found & {"type", "kind", "key"}:
            raise Fail(BAD_CHANGE)
        if "property" in found:
            raise Stop("a property added to a class, which is not there yet")
        if found <= {"index", "removed"} and version == file.schema_version:
            return
    elif mode in (IMMUTABLE, READ_ONLY):
        if mode == IMMUTABLE and version != file.schema_version:
            if not compatible(found):
                raise Fail(BAD_VERSION, BAD_CHANGE)
            raise Fail(BAD_VERSION)
        if not compatible(found):
            raise Fail(BAD_CHANGE)
        return
    else:
        kept = not found if mode == HARD_RESET else not found - {"class", "index"}
        if version != file.schema_version or not kept:
            raise Stop("a reset of a file, which is not there yet")
    if found or version != file.schema_version:
        changed(file, classes, version, keep=mode in (DISCOVERED, EXPLICIT))


def changed(file: File, classes: Classes, version: int, *, keep: bool = False) -> None:
    """A commit that gives the file these classes; those that it has beyond them stay, with `keep`
    properties, too."""
    titles = {title.split()[-1]: title for title in file.shown}
    shown = dict(file.shown)
    for title, props in classes.items():
        old = shown.pop(titles.get(title.split()[-1], title), {})
        shown[title] = {**old, **props} if keep else dict(props)
    state = file.versions[file.newest].copy()
    made: dict[str, Cls] = {}
    for number, (title, props) in enumerate(sorted(
            shown.items(), key=lambda item: item[0].split()[-1].encode())):
        new = cls_of(title, props, number)
        cls = file.classes.get(new.name)
        if cls is not None:
            converted(state, cls, new)
            cls.props, cls.embedded = new.props, new.embedded
        made[new.name] = cls or new
    file.uncertain |= file.schema_version != UNVERSIONED
    file.shown, file.classes, state.classes = shown, made, made
    file.newest += 1
    file.versions[file.newest] = state
    file.schema_version = version


def converted(state: State, old: Cls, new: Cls) -> None:
    """4.4: values of properties that stay what they were, or allow null now; else defaults."""
    before = {prop.name: prop for prop in old.props}
    for row, values in state.rows.items():
        if row.cls is not old:
            continue
        kept: dict[str, Any] = {}
        for prop in new.props:
            if prop.type == "backlinks":
                continue
            was = before.get(prop.name)
            same = was is not None and (was.type, was.coll, was.target) == (
                prop.type, prop.coll, prop.target) and (prop.nullable or not was.nullable)
            kept[prop.name] = values[prop.name] if same else default(prop)
        state.rows[row] = kept
