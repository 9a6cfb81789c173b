"""`python -m realm`: looks into realm files, and brings data in and out."""

from __future__ import annotations

import argparse
import csv
import importlib
import json
import os
import shutil
import sys
from collections.abc import Iterator
from typing import Any, Literal

import realm

from . import _convert


def _key(options: argparse.Namespace) -> bytes | None:
    return _read_key(options.key_file)


def _read_key(path: str | None) -> bytes | None:
    if path is None:
        return None
    with open(path, "rb") as file:
        key = file.read()
    if len(key) != 64:
        sys.exit(f"realm: {path} has {len(key)} bytes; a key has 64")
    return key


def _opened(options: argparse.Namespace, **more: Any) -> realm.Realm:
    if not os.path.isfile(options.file):
        sys.exit(f"realm: there is no file {options.file!r}")
    return realm.open(options.file, encryption_key=_key(options), **more)


def _class(r: realm.Realm, name: str) -> Any:
    found = r.classes.get(name)
    if found is None:
        sys.exit(f"realm: {r.path!r} has no class {name!r}; it has {', '.join(sorted(r.classes))}")
    return found


def _format(options: argparse.Namespace, path: str) -> str:
    """One of `_FORMATS`: as asked for, or by the name of the file."""
    if options.format is not None:
        return str(options.format)
    known = _format_of_name(path)
    if known is None:
        sys.exit(f"realm: {path!r} does not tell its format; give --format csv, jsonl, parquet or arrow")
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
        sys.exit(f"realm: {form.capitalize()} needs pyarrow: pip install pyarrow")


def _read_columns(form: str, path: str) -> Any:
    try:
        return _columns(form).read_table(path)
    except ValueError as error:
        sys.exit(f"realm: {path}: not {form.capitalize()}: {error}")


def _kind(path: str) -> str | None:
    """What the first bytes of a file tell: "ours", "core" for a plain one of realm-core, or nothing."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        head = file.read(24)
    if head.startswith(b"RealmSwF"):
        return "ours"
    return "core" if head[16:20] == b"T-DB" else None


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
                print(f"    {prop.name}: {_convert.declaration(prop)}")
            print()
    return 0


def compact(options: argparse.Namespace) -> int:
    with _opened(options) as r:
        before = os.path.getsize(options.file)
        if not r.compact():
            sys.exit(f"realm: {options.file!r} is read or written elsewhere; it was not made compact")
    print(f"{before} bytes before, {os.path.getsize(options.file)} now")
    return 0


def copy(options: argparse.Namespace) -> int:
    key = _key(options)
    new = key if options.new_key_file is None else _read_key(options.new_key_file)
    if options.plain:
        new = None
    if not os.path.isfile(options.file):
        sys.exit(f"realm: there is no file {options.file!r}")
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
        found: realm.Results[Any] = r.objects(_class(r, options.cls))
        if options.query:
            found = found.filter(options.query)
        to_file = options.to not in (None, "-")
        form = _format(options, options.to or "out.csv")
        if form in ("parquet", "arrow"):
            if not to_file:
                sys.exit(f"realm: {form.capitalize()} is written to a file; name one")
            module = _columns(form)
            write = module.write_table if form == "parquet" else module.write_feather
            write(importlib.import_module("pyarrow").table(found), options.to)
            return 0
        out = open(options.to, "w", encoding="utf-8", newline="") if to_file else sys.stdout
        try:
            if form == "jsonl":
                for obj in found:
                    out.write(realm.to_json(obj) + "\n")
            else:
                names = list(realm.properties(_class(r, options.cls)))
                writer = csv.writer(out)
                writer.writerow(names)
                for obj in found:
                    writer.writerow([_convert.to_text(getattr(obj, name)) for name in names])
        finally:
            if to_file:
                out.close()
    return 0


def _rows(options: argparse.Namespace, properties: Any) -> Iterator[dict[str, Any]]:
    with open(options.data, encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        unknown = [name for name in reader.fieldnames or [] if name not in properties]
        if unknown:
            sys.exit(f"realm: {options.cls} has no property {unknown[0]!r}; it has {', '.join(properties)}")
        for row in reader:
            values = {}
            for name, text in row.items():
                if name is None or text is None:
                    sys.exit(f"realm: {options.data}, line {reader.line_num}: not as many fields as names")
                try:
                    value = _convert.from_text(properties[name], text)
                except (ValueError, ArithmeticError) as error:
                    sys.exit(
                        f"realm: {options.data}, line {reader.line_num}: {name} is "
                        f"{properties[name].type}, not {text!r}: {error}"
                    )
                if value is not _convert.MISSING:
                    values[name] = value
            yield values


def import_(options: argparse.Namespace) -> int:
    """Rows as objects of a class; without rows, a file of realm-core as one of ours."""
    if options.data is None:
        return _import_file(options)
    if options.new_key_file is not None or options.even_in_use:
        sys.exit("realm: --new-key-file and --even-in-use are for files of realm-core: import FILE NEW")
    if _kind(options.file) == "core":
        sys.exit(f"realm: {options.file!r} is a file of realm-core, which gets no objects; "
                 "'import FILE NEW' makes a file of ours of it")
    if _kind(options.data) is not None:
        sys.exit(f"realm: {options.data!r} is a realm file, not rows")
    form = _format(options, options.data)
    if not os.path.isfile(options.data):
        sys.exit(f"realm: there is no file {options.data!r}")
    with _opened(options) as r:
        cls = _class(r, options.cls)
        update: Literal["all", "error"] = "all" if options.update else "error"
        with r.write():
            if form in ("parquet", "arrow"):
                count = r.insert_many(cls, _read_columns(form, options.data), update=update)
            elif form == "csv":
                rows = _rows(options, realm.properties(cls))
                count = r.insert_many(cls, rows, update=update)
            else:
                count = 0
                with open(options.data, encoding="utf-8") as file:
                    for line in filter(str.strip, file):
                        r.create_from_json(cls, line, update=update)
                        count += 1
    print(f"{count} objects of {options.cls}")
    return 0


def _import_file(options: argparse.Namespace) -> int:
    if options.update or options.format is not None:
        sys.exit("realm: --update and --format are for rows: import FILE CLASS DATA")
    if _kind(options.file) == "ours":
        sys.exit(f"realm: {options.file!r} is none of realm-core, but one of ours; rows come into it by "
                 "'import FILE CLASS DATA'")
    if _kind(options.file) is None and _format_of_name(options.file) is not None:
        sys.exit(f"realm: {options.file!r} is named as rows are, which come into a class: "
                 "'import FILE CLASS DATA'")
    report = realm.import_realm_core(
        options.file,
        options.cls,
        key=_key(options),
        new_key=_read_key(options.new_key_file),
        even_in_use=options.even_in_use,
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


def tool(options: argparse.Namespace) -> int:
    """What the program `realm` does and the library does not."""
    program = shutil.which("realm")
    if program is None:
        sys.exit(f"realm: {options.command} is done by the program realm of the Swift package, which is not "
                 "in the PATH")
    os.execv(program, [program, options.command, *options.arguments])


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m realm", description=__doc__)
    top.add_argument("--version", action="version", version=f"realm {realm.__version__}")
    commands = top.add_subparsers(dest="command", required=True)

    def add(name: str, function: Any, text: str) -> argparse.ArgumentParser:
        found = commands.add_parser(name, help=text, description=text)
        found.set_defaults(run=function)
        found.add_argument("file", help="the realm's file")
        found.add_argument("--key-file", help="file with the 64 bytes of its key")
        return found

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
    one = add("import", import_, "Makes objects of CSV, JSON lines, Parquet or Arrow: all or none. "
              "Without data: makes a new file of one of realm-core.")
    one.add_argument("cls", metavar="class|new", help="the class; without data, the new file")
    one.add_argument("data", nargs="?", help="file with the rows")
    one.add_argument("--update", action="store_true", help="objects that are there get the values")
    one.add_argument("--format", choices=_FORMATS)
    one.add_argument("--new-key-file", help="file with the key that the new file is encrypted with")
    one.add_argument("--even-in-use", action="store_true", help="the old file also while programs have it open")
    one = add("shell", shell, "A Python prompt with the realm open as r.")
    one.add_argument("--read-only", action="store_true")
    for name in ("migrate", "salvage"):
        one = commands.add_parser(name, help="As the program realm does.", add_help=False)
        one.set_defaults(run=tool)
        one.add_argument("arguments", nargs=argparse.REMAINDER)
    return top


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except BrokenPipeError:
        # Whoever reads has enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (realm.Error, OSError) as error:
        notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
        print(f"realm: {error}{notes}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
