"""`python -m realm watch`, `log` and `diff`: what changes in a file, what changed, and what two files differ in, as
the program `realm` tells it (docs/TOOL.md)."""

from __future__ import annotations

import argparse
import datetime
import select
import sys
from collections.abc import Callable, Iterable
from typing import Any

import realm

from ._asking import class_named
from ._cells import ObjectText, json_text, visible
from ._json import _tree


def _value_json(value: Any, is_typed: bool) -> str:
    """A value of the change log as JSON; what JSON has no type for with its type, or as text alone."""
    if isinstance(value, realm.LoggedLink):
        return json_text({"$link": {"table": value.cls, "key": value.key}})
    if isinstance(value, (list, dict)):
        parts = [_value_json(v, is_typed) for v in (value.values() if isinstance(value, dict) else value)]
        if isinstance(value, list):
            return "[" + ",".join(parts) + "]"
        return "{" + ",".join(f"{json_text(k)}:{p}" for k, p in zip(value, parts, strict=True)) + "}"
    if isinstance(value, datetime.datetime):
        day, _, rest = value.astimezone(datetime.timezone.utc).isoformat().removesuffix("+00:00").partition(".")
        text = day + ("." + rest.rstrip("0") if rest else "") + "Z"
        return json_text({"$date": text} if is_typed else text)
    tree = _tree(value)
    if isinstance(tree, dict) and not is_typed:
        (tree,) = tree.values()
        tree = tree["base64"] if isinstance(tree, dict) else tree
    return json_text(tree)


class _Operations:
    """Operations of the change log, or of a comparison, as lines."""

    def __init__(
        self, r: realm.Realm, options: argparse.Namespace, *, has_values: Callable[[int], bool] = lambda _: True,
        is_versioned: bool = True,
    ) -> None:
        self.realm, self.form, self.has_values = r, options.format, has_values
        self.is_versioned = is_versioned
        self.only = options.only and class_named(r, options.only).__name__
        self.count = 0

    def write(self, operations: Iterable[realm.LoggedOperation], out: Any) -> None:
        version = None
        for op in operations:
            if self.is_versioned and op.version != version:
                version = op.version
                is_text = self.form == "text"
                line = f"version {version}" if is_text else json_text({"version": version, "kind": "version"})
                out.write(line + "\n")
            if self.only and op.cls != self.only and op.kind != "schema":
                continue
            self.count += 1
            if out is not None:
                out.write((self._text(op) if self.form == "text" else self._json(op)) + "\n")

    def _value(self, op: realm.LoggedOperation) -> str | None:
        if op.kind not in ("set", "added", "inserted", "replaced") or not self.has_values(op.version):
            return None
        cls: Any = self.realm.classes.get(op.cls or "")
        types = {} if cls is None else {p.name: p.type for p in cls.__realm_model__.properties}
        return _value_json(op.value, types.get(op.property or "") == "Any")

    def _text(self, op: realm.LoggedOperation) -> str:
        if op.kind == "schema":
            return "  schema changed"
        line = f"  {op.cls} #{op.objects[0]}"
        line += f"…#{op.objects[-1]}" if len(op.objects) > 1 else ""
        line += f".{op.property}" if op.property else ""
        line += f" (collection {op.number})" if op.number else ""
        line += f"[{json_text(op.key)}]" if op.key is not None else ""
        place = f" at {op.index}" if op.collection == "list" else ""
        value = self._value(op)
        line += {
            "set": " set" if value is None else f" = {value}",
            "nulled": " = null, as its target was deleted",
            "added": f" += {value}",
            "removed": f" removed{f' {op.count}' if op.count > 1 else ''}{place}",
            "moved": f" moved from {op.index} to {op.target}",
        }.get(op.kind) or f" {op.kind}" + (place if op.kind in ("inserted", "replaced") else "")
        if op.kind in ("inserted", "replaced") and value is not None:
            line += f": {value}"
        return visible(line + (", as its target was deleted" if op.derived and op.kind != "nulled" else ""))

    def _json(self, op: realm.LoggedOperation) -> str:
        members: dict[str, Any] = {"version": op.version} if self.is_versioned else {}
        members["kind"] = "schema_changed" if op.kind == "schema" else op.kind
        if op.kind != "schema":
            members |= {"class": op.cls, "objects": [op.objects[0], op.objects[-1]]}
        members |= {"property": op.property} if op.property else {}
        members |= {"collection": {"dict": "dictionary"}.get(op.collection, op.collection)} if op.collection else {}
        members |= {"collection_number": op.number} if op.number else {}
        members |= {"key": op.key} if op.key is not None else {}
        if op.kind in ("inserted", "removed", "replaced", "moved"):
            members["index"] = op.index
            members |= {"destination": op.target} if op.kind == "moved" else {}
            members |= {"count": op.count} if op.kind == "removed" else {}
        members |= {"count": op.count} if op.kind == "cleared" else {}
        members |= {"derived": True} if op.derived else {}
        value = self._value(op)
        return json_text(members)[:-1] + ("}" if value is None else f',"value":{value}}}')


def _with_values(r: realm.Realm) -> Callable[[int], bool]:
    """Whether the log of a version has values: those behind what a consumer has acknowledged."""
    acknowledged = tuple(r.consumers.values())
    return lambda version: any(version > number for number in acknowledged)


def log(r: realm.Realm, options: argparse.Namespace) -> int:
    start = options.start
    if start is None:
        if not r.consumers:
            print(f"realm: {options.file}: the file has no consumers of a change log; --from VERSION reads what "
                  "observers have it keep", file=sys.stderr)
            return 0
        start = min(r.consumers.values())
    _Operations(r, options, has_values=_with_values(r)).write(r.log(start), sys.stdout)
    return 0


def diff(r: realm.Realm, options: argparse.Namespace, other: Callable[[], realm.Realm] | None) -> int:
    out = None if options.quiet else sys.stdout
    if other is None:
        told = _Operations(r, options, has_values=_with_values(r), is_versioned=False)
        if options.since != r.version:
            told.write(r.log(options.since), out)
    else:
        told = _Operations(r, options, is_versioned=False)
        with other() as newer:
            told.write(r.read_changes(r.changes_to(newer)), out)
    return 1 if told.count else 0


# ---- following -------------------------------------------------------------------------------


def watch(r: realm.Realm, options: argparse.Namespace) -> int:
    if options.cls is not None:
        found: realm.Results[Any] = r.objects(class_named(r, options.cls))
        len(found.filter(options.query) if options.query else found)
    base = r.freeze()
    print(f"realm: {visible(options.file)}: watching from version {base.version}", file=sys.stderr, flush=True)
    told = 0
    while options.commits is None or told < options.commits:
        select.select([r], [], [])
        if not r.refresh() or r.version == base.version:
            continue
        newer = r.freeze()
        told += _told(base, newer, options)
        sys.stdout.flush()
        base.close()
        base = newer
    base.close()
    return 0


def _told(old: realm.Realm, new: realm.Realm, options: argparse.Namespace) -> bool:
    """Tells what happened between two versions; False where that is nothing of interest."""
    try:
        changes = old.changes_to(new)
    except realm.SchemaMismatchError:
        is_text = options.format == "text"
        print(f"version {new.version}: schema changed" if is_text
              else json_text({"version": new.version, "change": "schema"}))
        return True
    kinds: dict[str, dict[str, set[int]]] = {}
    for op in old.read_changes(changes):
        if op.cls is not None:
            of_class = kinds.setdefault(op.cls, {"created": set(), "deleted": set(), "modified": set()})
            of_class[op.kind if op.kind in ("created", "deleted") else "modified"].update(op.objects)
    teller = _Teller(old, new, options)
    for name in new.classes:
        if name in kinds and options.cls in (None, name):
            teller.tell(name, **kinds[name])
    # Objects may come and go for a query because of others, such as those that they link to.
    if options.query and kinds and options.cls not in kinds:
        teller.tell(options.cls, set(), set(), set())
    return teller.count > 0


class _Teller:
    """Writes a line for each object that changed."""

    def __init__(self, old: realm.Realm, new: realm.Realm, options: argparse.Namespace) -> None:
        self.old, self.new, self.options, self.count = old, new, options, 0

    def _chosen(self, r: realm.Realm, name: str) -> set[int] | None:
        if not self.options.query:
            return None
        return {obj._realm_key for obj in r.objects(name).filter(self.options.query)}

    def tell(self, name: str, created: set[int], deleted: set[int], modified: set[int]) -> None:
        before, after = self._chosen(self.old, name), self._chosen(self.new, name)
        for key in sorted(deleted - created):
            if before is None or key in before:
                self.write("deleted", name, key, True, False)
        for key in sorted(created - deleted):
            if after is None or key in after:
                self.write("created", name, key, False, True)
        touched = (modified - created - deleted) | (created & deleted)
        for key in sorted(touched):
            was, is_now = before is None or key in before, after is None or key in after
            if was or is_now:
                self.write(("modified" if was else "entered") if is_now else "left", name, key, was, is_now)
        others = touched | created | deleted
        for key in sorted((after or set()) - (before or set()) - others):
            self.write("entered", name, key, False, True)
        for key in sorted((before or set()) - (after or set()) - others):
            self.write("left", name, key, True, False)

    def write(self, change: str, name: str, key: int, before: bool, after: bool) -> None:
        past = ObjectText(self.old.object_at(name, key)) if before else None
        present = ObjectText(self.new.object_at(name, key)) if after else None
        shown = present or past
        assert shown is not None
        columns = list(range(len(shown.properties)))
        if past is not None and present is not None:
            columns = [place for place in columns if past.values[place] != present.values[place]]
            # Set to what it was.
            if not columns:
                return
        self.count += 1
        primary = [place for place, prop in enumerate(shown.properties) if prop.primary_key]
        version = self.new.version
        if self.options.format == "text":
            line = f"version {version}: {change} {visible(name)} {shown.cell(primary[0]) if primary else f'#{key}'}"
            if past is not None and present is not None:
                parts = (f"{shown.properties[p].name} {past.values[p]} → {present.values[p]}" for p in columns)
                line += ": " + visible(", ".join(parts))
            elif present is not None:
                line += " " + visible(present.json)
            print(line)
            return
        text = json_text({"version": version, "change": change, "class": name, "key": key})[:-1]
        text += f',"primary_key":{shown.values[primary[0]]}' if primary else ""
        text += f',"old":{past.part(columns)}' if past is not None else ""
        text += f',"new":{present.part(columns)}' if present is not None else ""
        print(text + "}")
