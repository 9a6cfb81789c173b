"""Objects as cells of tables and fields of CSV, from the JSON that the engine writes of them; and fields of CSV
as JSON. It is the CSV of docs/TOOL.md, which the program `realm` writes and reads, too."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from . import _realm
from ._json import to_json

_decoder = json.JSONDecoder(strict=False)
_BLANKS = " \t\r\n"


def json_text(value: Any) -> str:
    """Compact JSON, as the engine writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _members(text: str) -> list[tuple[str, str]]:
    """The names of a JSON object and the texts of its values as they stand there."""
    found = []
    place = 1
    while text[place] != "}":
        place += text[place] == ","
        name, place = _decoder.raw_decode(text, place)
        _, end = _decoder.raw_decode(text, place + 1)
        found.append((name, text[place + 1 : end]))
        place = end
    return found


class ObjectText:
    """An object as the JSON texts of its properties, in their order."""

    def __init__(self, obj: Any, *, depth: int = 0) -> None:
        model = type(obj).__realm_model__
        self.properties: tuple[_realm.Property, ...] = model.properties
        self.json = to_json(obj, depth=depth)
        members = _members(self.json)
        # The name under which an object that links to itself refers to itself.
        own = None
        if len(members) > len(self.properties):
            members = members[1:]
            own = json_text({"$link": {"table": model.stored_name, "key": obj._realm_key}})
        self.values = [
            text.replace('{"$ref":"1"}', own) if own is not None and prop.type == "link" else text
            for (_, text), prop in zip(members, self.properties, strict=True)
        ]

    def part(self, columns: Iterable[int]) -> str:
        """The JSON of some of the properties."""
        texts = (f"{json_text(self.properties[place].name)}:{self.values[place]}" for place in columns)
        return "{" + ",".join(texts) + "}"

    def _plain(self, column: int) -> str | None:
        """What a value that is a text in JSON says; None for the others."""
        prop, text = self.properties[column], self.values[column]
        if prop.collection is not None or prop.type == "Any" or not text.startswith('"'):
            return None
        return str(_decoder.decode(text))

    def cell(self, column: int) -> str:
        """The value for people."""
        plain = self._plain(column)
        if plain is not None:
            return visible(plain)
        prop, text = self.properties[column], self.values[column]
        if prop.type == "link" and prop.collection is None and text.startswith('{"$link":'):
            return f"{visible(str(prop.link_target))} {_decoder.decode(text)['$link']['key']}"
        return visible(text)

    def field(self, column: int) -> str:
        """The value as a field of CSV."""
        text = self.values[column]
        if text == "null":
            return ""
        plain = self._plain(column)
        # Keys that begin so would be read as JSON.
        if plain is None or (self.properties[column].type == "link" and plain[:1] in ("{", '"') and plain):
            return csv_field(text)
        return csv_field(plain)


# ---- CSV -------------------------------------------------------------------------------------


def csv_field(text: str) -> str:
    """A text as a field, in quotes where it needs them. The empty text does: without them it is null."""
    if text and text[0] != " " and text[-1] != " " and not any(letter in text for letter in '",\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'


_FIELD = re.compile(r'"((?:[^"]|"")*)"|([^",\r\n]*)')

#: A field: its text, None for nothing.
Fields = list[str | None]


def csv_records(file: TextIO) -> Iterator[tuple[int, Fields]]:
    """The records of a file that was opened with `newline=""`, each with the number of its first line."""
    record, first = "", 1
    for number, line in enumerate(file, 1):
        record = record + line if record else line
        if number == 1:
            record = record.removeprefix("\ufeff")
        if record.count('"') % 2:
            continue
        yield first, _fields(record, first)
        record, first = "", number + 1
    if record:
        raise ValueError(f"line {first}: a quote that nothing closes")


def _fields(record: str, number: int) -> Fields:
    fields: Fields = []
    place = 0
    while True:
        found = _FIELD.match(record, place)
        assert found is not None
        quoted, plain = found.groups()
        fields.append(quoted.replace('""', '"') if quoted is not None else plain or None)
        place = found.end()
        rest = record[place : place + 1]
        if rest == ",":
            place += 1
        elif record[place:] in ("", "\n", "\r\n", "\r"):
            return fields
        else:
            raise ValueError(f"line {number}: no comma after field {len(fields)}")


#: The property gets no value: its default, or the one that it has.
MISSING = None

_BOOLEANS = {"true": "true", "1": "true", "yes": "true", "false": "false", "0": "false", "no": "false"}
_INTEGER = re.compile(r"[+-]?\d+")
_SPECIAL = re.compile(r"[+-]?(?:inf|infinity|nan)", re.I)


def json_of_field(prop: _realm.Property, key: _realm.Property | None, text: str | None) -> str | None:
    """The JSON for a field; `key` is the primary key of the class that a link leads to. ValueError for a text
    that can't be one."""
    single = prop.collection is None
    if text is None:
        if prop.nullable and single:
            return "null"
        return '""' if single and prop.type == "str" else MISSING
    if not single or prop.type == "Any":
        return _checked_json(text)
    if prop.type == "link":
        if text[:1] in ("{", '"') or key is None:
            return _checked_json(text)
        return json_of_field(key, None, text)
    if prop.type == "bool":
        if text.lower() not in _BOOLEANS:
            raise ValueError("true or false is meant")
        return _BOOLEANS[text.lower()]
    if prop.type in ("int", "timedelta"):
        if not _INTEGER.fullmatch(text.strip()):
            raise ValueError("digits are meant")
        return str(int(text))
    if prop.type in ("float", "Float32") and not _SPECIAL.fullmatch(text.strip()):
        return repr(float(text))
    return json_text(text)


def _checked_json(text: str) -> str:
    try:
        _decoder.decode(text)
    except ValueError as error:
        raise ValueError(f"JSON is meant: {error}") from None
    return text


# ---- tables ----------------------------------------------------------------------------------

# What moves a cursor, turns the direction of writing, or is a blank of no width.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def visible(text: str) -> str:
    """The text with what a terminal would obey as escape sequences of JSON."""
    return _HIDDEN.sub(lambda found: _NAMED.get(found[0]) or f"\\u{ord(found[0]):04x}", text)


def _width(text: str) -> int:
    """Columns of a terminal."""
    if text.isascii():
        return len(text)
    count = 0
    for letter in text:
        if not unicodedata.combining(letter) and unicodedata.category(letter) not in ("Mn", "Me", "Cf"):
            count += 2 if unicodedata.east_asian_width(letter) in "WF" else 1
    return count


def _cut(text: str, width: int) -> str:
    if _width(text) <= width:
        return text
    while text and _width(text) > width - 1:
        text = text[:-1]
    return text + "…" if width > 0 else ""


def table(rows: list[list[str]], right: list[bool], limit: int | None) -> str:
    """Rows with aligned columns, the first one the titles; where they don't fit into `limit` columns, the widest
    are cut, or each row becomes a list of its values."""
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    if limit is not None:
        room = limit - 2 * (len(widths) - 1)
        cap = max((c for c in range(room + 1) if sum(min(w, c) for w in widths) <= room), default=0)
        if cap < 6 and max(widths) > cap:
            titles, *others = rows
            lists = ([[t, v] for t, v in zip(titles, row, strict=True)] for row in others)
            return "\n".join(table(pairs, [False, False], max(limit, 16)) for pairs in lists)
        widths = [min(width, cap) for width in widths]
        rows = [[_cut(cell, width) for cell, width in zip(row, widths, strict=True)] for row in rows]
    lines = []
    for row in rows:
        padded = [
            " " * (width - _width(cell)) + cell if is_right else cell + " " * (width - _width(cell))
            for cell, width, is_right in zip(row, widths, right, strict=True)
        ]
        lines.append("  ".join(padded).rstrip(" ") + "\n")
    return "".join(lines)
