"""Full text (section 13) and the words of @type (K9, K10)."""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Callable

from .values import Unspecified, kind

INVALID_ARGUMENT, INVALID_QUERY, INVALID_ARG = 3000, 1009, 3015
TOKEN = re.compile("[0-9A-Za-z\u00c0-\u00fe]+")
OWN_LETTERS = "åæøðþß"


def fold(word: str) -> str:
    """F4."""
    made = []
    for char in word.lower():
        if char not in OWN_LETTERS and char > "\x7f":
            char = unicodedata.normalize("NFD", char)[0]
        made.append(char)
    return "".join(made)


def tokens(text: str) -> set[str]:
    """F3."""
    text = text.replace("\u00d7", "").replace("\u00f7", "")
    if any(len(word.encode()) > 64 for word in TOKEN.findall(text)):
        raise Unspecified("words of more than 64 bytes")
    return {fold(word) for word in TOKEN.findall(text)}


class WordError(Exception):
    """F8."""


def search(words: str) -> tuple[Callable[[str | None], bool], bool]:
    """The test of one text (F5 to F7), and whether there are exclusions alone."""
    wanted: list[tuple[str, bool]] = []
    excluded: list[tuple[str, bool]] = []
    for word in re.split("[ \t\n\r]+", words):
        if not word:
            continue
        minus = word.startswith("-")
        word = word.removeprefix("-")
        prefix = word.endswith("*")
        word = word.removesuffix("*")
        word = word.replace("\u00d7", "").replace("\u00f7", "")
        if not TOKEN.fullmatch(word):
            raise WordError
        (excluded if minus else wanted).append((fold(word), prefix))
    if not wanted and not excluded:
        raise WordError
    if {word for word, _ in wanted} & {word for word, _ in excluded}:
        if set(wanted) & set(excluded):
            raise WordError
        raise Unspecified("a word included and excluded, one as a prefix")

    def test(text: str | None) -> bool:
        found = tokens(text) if text is not None else set()

        def occurs(word: str, prefix: bool) -> bool:
            return any(token.startswith(word) for token in found) if prefix else word in found
        if wanted and text is None:
            return False
        return all(occurs(*word) for word in wanted) and not any(
            occurs(*word) for word in excluded)
    return test, not wanted


# ------------------------------------------------------------------------------------ @type

TYPE_WORDS: dict[str, frozenset[str]] = {}
for words_of_kinds, kinds in (
        ("null", "null"), ("int integer int16 int32 int64 short long byte char", "int"),
        ("bool boolean", "bool"), ("string", "string"),
        ("binary data bytearray byte[] bindata", "binary"),
        ("date datetimeoffset timestamp", "timestamp"), ("float", "float"), ("double", "double"),
        ("decimal decimal128", "decimal128"), ("objectid", "objectId"), ("uuid guid", "uuid"),
        ("link objectlink", "link"), ("object dictionary", "dictionary"), ("array list", "list"),
        ("numeric", "int float double decimal128"), ("collection", "list dictionary")):
    for one in words_of_kinds.split():
        TYPE_WORDS[one] = frozenset(kinds.split())


def kinds_of(word: Any) -> frozenset[str] | None:
    """What a type word means; None where it is none."""
    return TYPE_WORDS.get(word.lower()) if kind(word) == "string" else None
