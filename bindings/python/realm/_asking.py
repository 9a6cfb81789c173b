"""`python -m realm query`, `count`, `explain`, `get` and `edit`: objects of a file, and changes of them, as the program
`realm` has them (docs/TOOL.md)."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

import realm

from ._cells import ObjectText, _decoder, csv_field, json_text, table, visible

#: Rows that say how wide the columns of a table are.
_SAMPLE = 1000


class Failed(Exception):
    """What is wrong, for people: the command ends with status 2."""


def class_named(r: realm.Realm, name: str) -> Any:
    found = r.classes.get(name)
    if found is None:
        raise Failed(f"{r.path!r} has no class {name!r}; it has {', '.join(sorted(r.classes))}")
    return found


def chosen(r: realm.Realm, options: argparse.Namespace) -> realm.Results[Any]:
    found: realm.Results[Any] = r.objects(class_named(r, options.cls))
    return found.filter(options.query) if options.query else found


class Rows:
    """What is shown of the objects of a class, and how."""

    def __init__(self, cls: Any, options: argparse.Namespace, form: str | None = None) -> None:
        model = cls.__realm_model__
        self.form = form or options.format
        self.depth = options.depth
        names = [prop.name for prop in model.properties]
        self.columns = list(range(len(names)))
        if options.columns is not None:
            asked = options.columns.split(",")
            for name in asked:
                if name not in names:
                    raise Failed(f"{model.name} has no property {name!r}; it has {', '.join(names)}")
            self.columns = [names.index(name) for name in asked]
        self.is_whole = self.columns == list(range(len(names)))
        # Objects without primary key are known by their object keys.
        self.shows_keys = model.primary_key is None
        self.names = [names[place] for place in self.columns]
        self.titles = ["(key)"] * self.shows_keys + [visible(name) for name in self.names]
        numbers = ("int", "float", "Float32", "Decimal")
        self.right = [True] * self.shows_keys + [
            model.properties[place].collection is None and model.properties[place].type in numbers
            for place in self.columns
        ]

    def text(self, obj: Any) -> str:
        """The object as a line."""
        found = ObjectText(obj, depth=self.depth)
        if self.form == "csv":
            return ",".join(found.field(place) for place in self.columns)
        return found.json if self.is_whole else found.part(self.columns)

    def cells(self, obj: Any) -> list[str]:
        found = ObjectText(obj, depth=self.depth)
        return [str(obj._realm_key)] * self.shows_keys + [found.cell(place) for place in self.columns]

    def write(self, objects: Iterable[Any], out: Any, limit: int | None = None) -> None:
        if self.form == "table":
            return self._write_table(list(objects), out, limit)
        if self.form == "csv":
            out.write(",".join(map(csv_field, self.names)) + "\n")
        before = "[\n" if self.form == "json" else ""
        for obj in objects:
            out.write(before + self.text(obj) + ("" if self.form == "json" else "\n"))
            before = ",\n" if before else ""
        if self.form == "json":
            out.write("[]\n" if before == "[\n" else "\n]\n")

    def _write_table(self, objects: list[Any], out: Any, limit: int | None) -> None:
        # Parts of a long one have widths of their own.
        for start in range(0, len(objects), _SAMPLE):
            cells = [self.cells(obj) for obj in objects[start : start + _SAMPLE]]
            out.write(table([self.titles, *cells], self.right, limit))


def terminal_width() -> int | None:
    """Columns, None where tables are not for people."""
    return os.get_terminal_size(1).columns if sys.stdout.isatty() else None


# ---- commands --------------------------------------------------------------------------------


def query(r: realm.Realm, options: argparse.Namespace) -> int:
    found = chosen(r, options)
    if options.limit is not None:
        found = found.limit(options.limit)
    Rows(class_named(r, options.cls), options).write(found, sys.stdout, terminal_width())
    return 0


def count(r: realm.Realm, options: argparse.Namespace) -> int:
    print(len(chosen(r, options)))
    return 0


def explain(r: realm.Realm, options: argparse.Namespace) -> int:
    print(chosen(r, options).explain().rstrip("\n"))
    return 0


def get(r: realm.Realm, options: argparse.Namespace) -> int:
    if (options.key is None) != options.null:
        raise Failed("give either a key or --null")
    cls = class_named(r, options.cls)
    obj = _object(r, cls, options.key, options.object_key)
    if obj is None:
        shown = "null" if options.key is None else repr(options.key)
        print(f"realm: {options.file}: class {options.cls!r} has no object {shown}", file=sys.stderr)
        return 1
    rows = Rows(cls, options)
    if options.format == "table":
        pairs = [[title, cell] for title, cell in zip(rows.titles, rows.cells(obj), strict=True)]
        sys.stdout.write(table(pairs, [False, False], terminal_width()))
    else:
        Rows(cls, options, "jsonl" if options.format == "json" else None).write([obj], sys.stdout)
    return 0


def _object(r: realm.Realm, cls: Any, key: str | None, is_object_key: bool) -> Any:
    """The object that a key in a command stands for; None for no key is the primary key null."""
    prop = cls.__realm_model__.primary_key
    if key is not None and (is_object_key or prop is None):
        if not key.isdecimal():
            raise Failed(f"object keys are numbers, and {key!r} is none")
        return r.object_at(cls, int(key)) if int(key) < 1 << 63 else None
    if prop is None or (key is None and not prop.nullable):
        raise Failed(f"primary keys of {cls.__name__} are never null")
    return r.find(cls, None if key is None else _typed(prop, key))


def _typed(prop: realm.Property, key: str) -> Any:
    """A primary key of its type."""
    if prop.type == "str":
        return key
    try:
        makers: dict[str, Callable[[str], Any]] = {"int": int, "UUID": _uuid, "ObjectId": realm.ObjectId}
        return makers[prop.type](key)
    except ValueError:
        raise Failed(f"the primary key {prop.name} is {prop.type}, which {key!r} is not") from None


def _uuid(text: str) -> Any:
    import uuid

    return uuid.UUID(text)


# ---- statements ------------------------------------------------------------------------------


def edit(r: realm.Realm, options: argparse.Namespace) -> int:
    lines = options.statements or [line for line in sys.stdin if line.strip()]
    told = []
    with r.write():
        for line in lines:
            told.append(_carried_out(r, line.strip()))
    print("\n".join(told))
    return 0


def _word(text: str) -> tuple[str, bool, str]:
    """The first word or string in quotes, whether it was in quotes, and the rest."""
    if not text.startswith('"'):
        word, _, rest = text.partition(" ")
        return word, False, rest.strip()
    try:
        word, end = _decoder.raw_decode(text)
    except ValueError:
        raise Failed(f"a quote that nothing closes: {text}") from None
    return word, True, text[end:].strip()


def _carried_out(r: realm.Realm, line: str) -> str:
    """Does what a statement says; a line that says what was done."""
    verb, _, rest = _word(line)
    if verb not in ("create", "upsert", "set", "delete"):
        raise Failed(f"a statement begins with create, delete, set, upsert: {line}")
    name, _, rest = _word(rest)
    cls = class_named(r, name)
    if not rest:
        raise Failed(f"{verb} needs more: {line}")
    if verb in ("create", "upsert"):
        before = len(r.objects(cls))
        made = r.create_from_json(cls, rest, update="modified" if verb == "upsert" else "error")
        return f"{'created' if len(r.objects(cls)) > before else 'set'} {_shown(made)}"
    key, is_quoted, rest = _word(rest)
    if verb == "delete" and key.lower() == "where" and not is_quoted and rest:
        number = r.objects(cls).filter(rest).delete()
        return f"deleted {number} {'object' if number == 1 else 'objects'} of {name}"
    is_key = not is_quoted and key.startswith("#")
    is_null = not is_quoted and key == "null"
    obj = _object(r, cls, None if is_null else key[1:] if is_key else key, is_key)
    if obj is None:
        raise Failed(f"class {name!r} has no object {key}")
    if verb == "delete":
        shown = _shown(obj)
        r.delete(obj)
        return f"deleted {shown}"
    _set(r, cls, obj, rest)
    return f"set {_shown(obj)}"


def _set(r: realm.Realm, cls: Any, obj: Any, text: str) -> None:
    """Gives an object that is there the values of a JSON object."""
    prop = cls.__realm_model__.primary_key
    if prop is None:
        raise Failed(f"{cls.__name__} has no primary key: the program realm sets values of its objects")
    try:
        values = _decoder.decode(text)
    except ValueError as error:
        raise Failed(f"{text}: {error}") from None
    if not isinstance(values, dict):
        raise Failed(f"set takes a JSON object of values, not {text}")
    key = ObjectText(obj).values[obj.__realm_model__.properties.index(prop)]
    inside = text.strip()[1:-1].strip()
    if prop.name not in values:
        inside = f"{json_text(prop.name)}:{key}" + (f",{inside}" if inside else "")
    if r.create_from_json(cls, "{" + inside + "}", update="modified") != obj:
        raise Failed(f"{prop.name} is the primary key, which stays what it is")


def _shown(obj: Any) -> str:
    model = type(obj).__realm_model__
    if model.primary_key is None:
        return f"{model.name} #{obj._realm_key}"
    return f"{model.name} {ObjectText(obj).cell(model.properties.index(model.primary_key))}"
