"""`python -m realm`: looks into realm files, and brings data in and out. The commands are those of the program
`realm` (docs/TOOL.md), the formats of columns and a prompt of Python come besides."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import realm

from . import _asking, _cells, _progress, _telling
from ._asking import Failed
from ._asking import class_named as _class


def _key(options: argparse.Namespace) -> bytes | None:
    return _read_key(options.key_file)


def _read_key(path: str | None) -> bytes | None:
    if path is None:
        return None
    with open(path, "rb") as file:
        key = file.read()
    if len(key) != 64:
        raise Failed(f"{path} has {len(key)} bytes; a key has 64")
    return key


def _opened(options: argparse.Namespace, **more: Any) -> realm.Realm:
    if not os.path.isfile(options.file):
        raise Failed(f"there is no file {options.file!r}")
    return realm.open(options.file, encryption_key=_key(options), **more)


def _format(options: argparse.Namespace, path: str) -> str:
    """One of `_FORMATS`: as asked for, or by the name of the file; CSV through a pipe."""
    if options.format is not None or path == "-":
        return str(options.format or "csv")
    known = _format_of_name(path)
    if known is None:
        raise Failed(f"{path!r} does not tell its format; give --format csv, jsonl, parquet or arrow")
    return known


_FORMATS = ("csv", "jsonl", "parquet", "arrow")


def _format_of_name(path: str) -> str | None:
    end = os.path.splitext(path)[1].lower()
    known = {name: name[1:] for name in (".csv", ".jsonl", ".parquet", ".arrow")}
    return {**known, ".ndjson": "jsonl", ".feather": "arrow"}.get(end)


def _columns(form: str) -> Any:
    """The module of pyarrow that reads and writes tables in the format."""
    try:
        return importlib.import_module("pyarrow.parquet" if form == "parquet" else "pyarrow.feather")
    except ImportError:
        raise Failed(f"{form.capitalize()} needs pyarrow: pip install pyarrow")


def _read_columns(form: str, path: str) -> Any:
    try:
        return _columns(form).read_table(path)
    except ValueError as error:
        raise Failed(f"{path}: not {form.capitalize()}: {error}")


def _kind(path: str) -> str | None:
    """What the first bytes of a file tell: "ours", "core" for a plain one of realm-core, or nothing."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        head = file.read(24)
    if head.startswith(b"RealmSwF"):
        return "ours"
    return "core" if head[16:20] == b"T-DB" else None


def _declaration(prop: realm.Property) -> str:
    """A property as it is declared."""
    element = str(prop.link_target) if prop.type == "link" else prop.type
    nullable = prop.nullable and element != "Any" and not (prop.type == "link" and prop.collection)
    text = f"{element} | None" if nullable else element
    if prop.collection is not None:
        text = f"{prop.collection}[{'str, ' if prop.collection == 'dict' else ''}{text}]"
    options = [
        name
        for name, is_set in (("primary_key=True", prop.primary_key), ("indexed=True", prop.indexed))
        if is_set
    ]
    if prop.full_text:
        options.append(f"full_text={prop.full_text!r}")
    return f"{text} = realm.Field({', '.join(options)})" if options else text


# ---- commands --------------------------------------------------------------------------------


def check(options: argparse.Namespace) -> int:
    problems = realm.check_file(options.file, encryption_key=_key(options))
    print("\n".join(problems) if problems else f"{options.file}: sound")
    return 1 if problems else 0


def stats(options: argparse.Namespace) -> int:
    with _opened(options, read_only=True) as r:
        print(json.dumps(r.stats(), indent=2, default=str))
    return 0


def schema(options: argparse.Namespace) -> int:
    with _opened(options, read_only=True) as r:
        for cls in r.classes.values():
            base = "EmbeddedObject" if issubclass(cls, realm.EmbeddedObject) else "Object"
            print(f"class {cls.__name__}(realm.{base}):  # {len(r.objects(cls))} objects")
            for prop in realm.properties(cls).values():
                print(f"    {prop.name}: {_declaration(prop)}")
            print()
    return 0


def compact(options: argparse.Namespace) -> int:
    with _opened(options) as r:
        before = os.path.getsize(options.file)
        if not r.compact():
            raise Failed(f"{options.file!r} is read or written elsewhere; it was not made compact")
    print(f"{before} bytes before, {os.path.getsize(options.file)} now")
    return 0


def copy(options: argparse.Namespace) -> int:
    key = _key(options)
    new = key if options.new_key_file is None else _read_key(options.new_key_file)
    if options.plain:
        new = None
    if not os.path.isfile(options.file):
        raise Failed(f"there is no file {options.file!r}")
    with realm.open(options.file, encryption_key=key, read_only=True) as r:
        r.write_copy(options.to, encryption_key=new)
    return 0


def change_key(options: argparse.Namespace) -> int:
    realm.change_encryption_key(
        options.file, old=_key(options), new=_read_key(getattr(options, "new_key_file", None))
    )
    done = {"encrypt": "encrypted", "decrypt": "decrypted", "rekey": "encrypted with another key"}
    print(f"{options.file}: {done[options.command]}")
    return 0


def export(options: argparse.Namespace) -> int:
    with _opened(options, read_only=True) as r:
        found: Any = _asking.chosen(r, options)
        to_file = options.to not in (None, "-")
        form = _format(options, options.to or "out.csv")
        if form in ("parquet", "arrow"):
            if not to_file:
                raise Failed(f"{form.capitalize()} is written to a file; name one")
            if options.columns:
                found = found.columns(*options.columns.split(","))
            module = _columns(form)
            write = module.write_table if form == "parquet" else module.write_feather
            write(importlib.import_module("pyarrow").table(found), options.to)
            return 0
        cls = _class(r, options.cls)
        rows = _asking.Rows(cls, argparse.Namespace(depth=options.depth, columns=options.columns), form)
        out = open(options.to, "w", encoding="utf-8", newline="") if to_file else sys.stdout
        try:
            rows.write(found, out)
        finally:
            if to_file:
                out.close()
    return 0


def _rows(options: argparse.Namespace, r: realm.Realm, cls: Any) -> Iterator[tuple[int, str]]:
    """The rows as JSON, each with the number of its line."""
    with _input(options.data) as file:
        if _format(options, options.data) == "jsonl":
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, line
            return
        records = _cells.csv_records(file)
        _, names = next(records, (1, []))
        properties = realm.properties(cls)
        for name in names:
            if name not in properties:
                raise Failed(f"{options.cls} has no property {name!r}; it has {', '.join(properties)}")
        columns = [(properties[str(name)], _key_of_target(r, properties[str(name)])) for name in names]
        for number, fields in records:
            if fields == [None] and len(columns) > 1:
                continue
            if len(fields) != len(columns):
                raise ValueError(f"line {number}: not as many fields as names")
            yield number, _row(number, columns, fields)


def _input(path: str) -> Any:
    return open(path, encoding="utf-8", newline="") if path != "-" else contextlib.nullcontext(sys.stdin)


def _key_of_target(r: realm.Realm, prop: realm.Property) -> realm.Property | None:
    target: Any = r.classes.get(str(prop.link_target)) if prop.type == "link" else None
    return None if target is None else target.__realm_model__.primary_key


def _row(number: int, columns: list[tuple[realm.Property, realm.Property | None]], fields: _cells.Fields) -> str:
    members = []
    for (prop, key), text in zip(columns, fields, strict=True):
        try:
            found = _cells.json_of_field(prop, key, text)
        except (ValueError, ArithmeticError) as error:
            kind = "a collection" if prop.collection else prop.type
            raise ValueError(f"line {number}: {prop.name} is {kind}, not {text!r}: {error}") from None
        if found is not None:
            members.append(f"{_cells.json_text(prop.name)}:{found}")
    return "{" + ",".join(members) + "}"


#: A link by an object key, which means another object elsewhere.
_OBJECT_KEY = re.compile(r'"\$link"\s*:')


def _created(options: argparse.Namespace, r: realm.Realm, cls: Any) -> int:
    """Makes objects of the rows, and says how many; in a write transaction."""
    update: Literal["all", "modified", "error"] = "modified" if options.update else "error"
    count = 0
    with _progress.count(sys.stderr.isatty(), " objects") as tell:
        for number, row in _rows(options, r, cls):
            if not options.object_keys and _OBJECT_KEY.search(row):
                raise ValueError(f"line {number}: a link by an object key, which leads elsewhere in another file; "
                                 "--object-keys takes it nevertheless")
            try:
                r.create_from_json(cls, row, update=update)
            except realm.Error as error:
                error.add_note(f"in line {number} of {options.data}")
                raise
            count += 1
            if count % 1000 == 0:
                tell(count)
    return count


def import_(options: argparse.Namespace) -> int:
    """Rows as objects of a class; without rows, a file of realm-core as one of ours."""
    if options.data is None:
        return _import_file(options)
    if options.new_key_file is not None or options.even_in_use:
        raise Failed("--new-key-file and --even-in-use are for files of realm-core: import FILE NEW")
    if _kind(options.file) == "core":
        raise Failed(f"{options.file!r} is a file of realm-core, which gets no objects; "
                 "'import FILE NEW' makes a file of ours of it")
    if _kind(options.data) is not None:
        raise Failed(f"{options.data!r} is a realm file, not rows")
    form = _format(options, options.data)
    if options.data != "-" and not os.path.isfile(options.data):
        raise Failed(f"there is no file {options.data!r}")
    with _opened(options) as r:
        cls = _class(r, options.cls)
        try:
            with r.write():
                if form in ("parquet", "arrow"):
                    table = _read_columns(form, options.data)
                    count = r.insert_many(
                        cls, table, update="modified" if options.update else "error", progress=sys.stderr.isatty())
                else:
                    count = _created(options, r, cls)
        except ValueError as error:
            if isinstance(error, realm.Error):
                raise
            raise Failed(f"{options.data}, {error}") from None
    print(f"{count} object{'' if count == 1 else 's'} of {options.cls}")
    return 0


def _import_file(options: argparse.Namespace) -> int:
    if options.update or options.format is not None:
        raise Failed("--update and --format are for rows: import FILE CLASS DATA")
    if _kind(options.file) == "ours":
        raise Failed(f"{options.file!r} is none of realm-core, but one of ours; rows come into it by "
                 "'import FILE CLASS DATA'")
    if _kind(options.file) is None and _format_of_name(options.file) is not None:
        raise Failed(f"{options.file!r} is named as rows are, which come into a class: "
                 "'import FILE CLASS DATA'")
    report = realm.import_realm_core(
        options.file,
        options.cls,
        key=_key(options),
        new_key=_read_key(options.new_key_file),
        even_in_use=options.even_in_use,
        progress=sys.stderr.isatty(),
    )
    for note in report.notes:
        print(f"note: {note}")
    for loss in report.losses:
        print(f"left out: {loss}")
    if report.loss_count > len(report.losses):
        print(f"{report.loss_count} in all")
    for item in report.classes:
        print(f"{item.objects} objects of {item.name}")
    print(f"{options.cls}: {'everything came along' if report.whole else 'what could come along'}")
    return 0 if report.whole else 1


def shell(options: argparse.Namespace) -> int:
    import code

    with _opened(options, read_only=options.read_only) as r:
        names = {"r": r, "realm": realm, **r.classes}
        banner = f"{r!r}\nr is the realm; its classes are {', '.join(sorted(r.classes))}"
        if sys.stdin.isatty():
            import readline
            import rlcompleter

            readline.set_completer(rlcompleter.Completer(names).complete)
            readline.parse_and_bind("tab: complete")
        code.interact(banner=banner, local=names, exitmsg="")
    return 0


def asking(function: Callable[[realm.Realm, argparse.Namespace], int], **more: Any) -> Any:
    """A command that needs the open realm."""

    def run(options: argparse.Namespace) -> int:
        with _opened(options, **more) as r:
            return function(r, options)

    return run


def diff(options: argparse.Namespace) -> int:
    if (options.other is None) == (options.since is None):
        raise Failed("give either another file or --since")

    def other() -> realm.Realm:
        key = options.other_key_file or (None if options.other_plain else options.key_file)
        if not os.path.isfile(options.other):
            raise Failed(f"there is no file {options.other!r}")
        return realm.open(options.other, encryption_key=_read_key(key), read_only=True)

    with _opened(options, read_only=True) as r:
        return _telling.diff(r, options, None if options.other is None else other)


#: What the program `realm` does and the library does not.
_OF_PROGRAM = ("migrate", "salvage", "studio", "serve")


def _run_program(arguments: list[str]) -> int:
    from ._program import find_program

    program = find_program()
    if program is None:
        raise Failed(f"{arguments[0]} is done by the program realm, which this installation of the package "
                 "came without, and which is not in the PATH")
    os.execv(program, [program, *arguments])


def _unknown(name: str, commands: Iterable[str]) -> Failed:
    import difflib

    near = difflib.get_close_matches(name, commands, 1)
    meant = f"did you mean {near[0]}? All are" if near else "the commands are"
    return Failed(f"there is no command {name!r}; {meant} {', '.join(commands)}")


class _Options(argparse.ArgumentParser):
    """Takes an argument that may be left out also where it stands behind options, as the program does."""

    _is_intermixed = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self._is_intermixed:
            return super().parse_known_args(args, namespace)
        self._is_intermixed = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_intermixed = False


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m realm", description=__doc__)
    top.add_argument("--version", action="version", version=f"realm {realm.__version__}")
    commands = top.add_subparsers(dest="command", required=True, parser_class=_Options)

    def add(name: str, function: Any, text: str) -> argparse.ArgumentParser:
        found = commands.add_parser(name, help=text, description=text)
        found.set_defaults(run=function)
        found.add_argument("file", help="the realm's file")
        found.add_argument("--key-file", help="file with the 64 bytes of its key")
        return found

    def columns(one: argparse.ArgumentParser) -> None:
        one.add_argument("--columns", metavar="a,b,c", help="only these properties, in this order")
        one.add_argument("--depth", type=int, default=0, help="linked objects stand in JSON so many links deep")

    add("check", check, "Verifies every block, tree and index of a file; 1 where something is wrong.")
    add("stats", stats, "Shows where the bytes of a file are, as JSON.")
    add("schema", schema, "Shows the classes of a file, as Python declarations.")
    add("compact", compact, "Makes a file as small as it can be.")
    one = add("copy", copy, "Writes a compacted copy, encrypted as the file is, or as said.")
    one.add_argument("to")
    one.add_argument("--new-key-file", help="file with the key of the copy")
    one.add_argument("--plain", action="store_true", help="the copy is not encrypted")
    one = add("encrypt", change_key, "Encrypts a plain file in place.")
    one.add_argument("--new-key-file", required=True, help="file with the 64 random bytes of its key")
    add("decrypt", change_key, "Takes the encryption from a file, in place.")
    one = add("rekey", change_key, "Encrypts an encrypted file with another key, in place.")
    one.add_argument("--new-key-file", required=True, help="file with the 64 random bytes of its new key")
    one = add("export", export, "Writes the objects of a class: CSV, JSON lines, Parquet or Arrow.")
    one.add_argument("cls", metavar="class")
    one.add_argument("to", nargs="?", help="file, standard output if not given")
    one.add_argument("--query", help="only those for which it is true")
    one.add_argument("--format", choices=_FORMATS)
    columns(one)
    one = add("import", import_, "Makes objects of CSV, JSON lines, Parquet or Arrow: all or none. "
              "Without data: makes a new file of one of realm-core.")
    one.add_argument("cls", metavar="class|new", help="the class; without data, the new file")
    one.add_argument("data", nargs="?", help="file with the rows")
    one.add_argument("--update", "--upsert", action="store_true", help="objects that are there get the values")
    one.add_argument("--object-keys", action="store_true", help="links by object keys are meant for this file")
    one.add_argument("--format", choices=_FORMATS)
    one.add_argument("--new-key-file", help="file with the key that the new file is encrypted with")
    one.add_argument("--even-in-use", action="store_true", help="the old file also while programs have it open")
    questions(add, columns)
    one = add("shell", shell, "A Python prompt with the realm open as r.")
    one.add_argument("--read-only", action="store_true")
    for name, text in (
        ("migrate", "Renames and drops classes and properties of a file."),
        ("salvage", "Recovers what is intact of a damaged file into a new file."),
        ("studio", "Opens a page in the browser in which files are looked at and changed."),
        ("serve", "As studio."),
    ):
        commands.add_parser(name, help=text, add_help=False)
    top.set_defaults(names=tuple(commands.choices))
    return top


def questions(add: Callable[..., argparse.ArgumentParser], columns: Callable[..., None]) -> None:
    """The commands that ask, change and follow."""
    for name, function, text in (
        ("query", _asking.query, "Shows the objects of a class for which a query is true."),
        ("count", _asking.count, "Counts the objects of a class for which a query is true."),
        ("explain", _asking.explain, "Says how a query would be answered: by which indexes, tests and orders."),
    ):
        one = add(name, asking(function, read_only=True), text)
        one.add_argument("cls", metavar="class")
        one.add_argument("query", nargs="?", help="such as 'age > 2 SORT(name ASC)'; all objects if not given")
        if name == "query":
            one.add_argument("--limit", type=int, help="at most so many objects")
            one.add_argument("--format", choices=("table", "json", "jsonl", "csv"), default="table")
            columns(one)
    one = add("get", asking(_asking.get, read_only=True), "Shows one object; 1 where there is none.")
    one.add_argument("cls", metavar="class")
    one.add_argument("key", nargs="?", help="its primary key, or object key where the class has none")
    one.add_argument("--object-key", action="store_true", help="the key is an object key")
    one.add_argument("--null", action="store_true", help="the object whose primary key is null, in place of a key")
    one.add_argument("--format", choices=("table", "json", "jsonl", "csv"), default="table")
    columns(one)
    one = add("edit", asking(_asking.edit), "Creates, changes and deletes objects in one transaction: create CLASS "
              "JSON, upsert CLASS JSON, set CLASS KEY JSON, delete CLASS KEY, delete CLASS where QUERY.")
    one.add_argument("statements", nargs="*", help="from standard input, one a line, if not given")
    one = add("watch", asking(_telling.watch, read_only=True), "Prints changes as other programs commit them.")
    one.add_argument("cls", metavar="class", nargs="?")
    one.add_argument("query", nargs="?")
    one.add_argument("--commits", type=int, help="end after so many commits that changed something")
    one.add_argument("--format", choices=("text", "jsonl"), default="text")
    one = add("log", asking(_telling.log, read_only=True), "Shows what the change log in a file holds.")
    one.add_argument("--from", dest="start", type=int, help="what came behind this version")
    one.add_argument("--class", dest="only", help="of one class alone")
    one.add_argument("--format", choices=("text", "jsonl"), default="text")
    one = add("diff", diff, "Shows what leads from a file to another, or from an earlier version of it; 1 where "
              "something does.")
    one.add_argument("other", nargs="?", help="the other file")
    one.add_argument("--since", type=int, help="an earlier version, in place of another file")
    one.add_argument("--other-key-file", help="file with the other file's key; that of the first if not given")
    one.add_argument("--other-plain", action="store_true", help="the other file is not encrypted")
    one.add_argument("--class", dest="only", help="of one class alone")
    one.add_argument("--format", choices=("text", "jsonl"), default="text")
    one.add_argument("--quiet", action="store_true", help="tell by the exit status alone")


def main(arguments: list[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    top = parser()
    names = top.get_default("names")
    try:
        if given and not given[0].startswith("-") and given[0] not in names:
            raise _unknown(given[0], names)
        if given and given[0] in _OF_PROGRAM:
            return _run_program(given)
        options = top.parse_args(given)
        return int(options.run(options))
    except BrokenPipeError:
        # Whoever reads has enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    except Failed as error:
        print(f"realm: {error}", file=sys.stderr)
        return 2
    except (realm.Error, OSError) as error:
        notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
        print(f"realm: {error}{notes}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
