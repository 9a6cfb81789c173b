"""Full text (rules F) and the words of @type (K9, K10)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Any, Callable

from .text_rules import strip_marks
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


IDEOGRAPH = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U000323af]")
ODD_IDEOGRAPHS = re.compile("[\u3005-\u3007\u3021-\u3029\u3038-\u303b\uf900-\ufaff\U0002f800-\U0002fa1f]")


def unicode_runs(text: str) -> list[str]:
    """B14: runs of letters, marks and numbers, and each ideograph by itself."""
    if ODD_IDEOGRAPHS.search(text):
        raise Unspecified("what is an ideograph")
    runs = [""]
    for char in text:
        if IDEOGRAPH.match(char):
            runs += [char, ""]
        elif unicodedata.category(char)[0] in "LMN":
            if not runs[-1] and len(runs) > 1 and unicodedata.category(char)[0] == "M":
                raise Unspecified("a mark behind an ideograph or at the start of a word")
            runs[-1] += char
        else:
            runs.append("")
    made = [run for run in runs if run]
    if any(len(run.encode()) > 60 for run in made):
        raise Unspecified("words of more than 64 bytes")
    return made


def unicode_tokens(text: str) -> list[str]:
    folded = [strip_marks(run.casefold()) for run in unicode_runs(text)]
    if "" in folded:
        raise Unspecified("a word of marks alone")
    return folded


class WordError(Exception):
    """F8."""


@dataclass(frozen=True)
class Wanted:
    """A word of a search. Of several ideographs, it is a word for each."""

    tokens: tuple[str, ...]
    prefix: bool

    def occurs(self, found: set[str]) -> bool:
        if self.prefix:
            return any(token.startswith(self.tokens[0]) for token in found)
        return found.issuperset(self.tokens)


def search_word(word: str, prefix: bool, unicode: bool) -> Wanted:
    if not unicode:
        word = word.replace("\u00d7", "").replace("\u00f7", "")
        if not TOKEN.fullmatch(word):
            raise WordError
        return Wanted((fold(word),), prefix)
    if not word or any(unicodedata.category(char)[0] not in "LMN" for char in word):
        raise WordError
    made = tuple(unicode_tokens(word))
    if prefix and len(made) > 1:
        raise Unspecified("the beginning of several ideographs")
    return Wanted(made, prefix)


def search(words: str, unicode: bool = False) -> tuple[Callable[[str | None], bool], bool]:
    """The test of one text (F5 to F7), and whether there are exclusions alone."""
    wanted: list[Wanted] = []
    excluded: list[Wanted] = []
    for word in re.split("[ \t\n\r]+", words):
        if not word:
            continue
        minus = word.startswith("-")
        word = word.removeprefix("-")
        prefix = word.endswith("*")
        made = search_word(word.removesuffix("*"), prefix, unicode)
        (excluded if minus else wanted).append(made)
    if not wanted and not excluded:
        raise WordError
    if {token for word in wanted for token in word.tokens} & {
            token for word in excluded for token in word.tokens}:
        if any(len(word.tokens) == 1 for word in set(wanted) & set(excluded)):
            raise WordError
        raise Unspecified("a word included and excluded, one as a prefix or in part")

    def test(text: str | None) -> bool:
        found: set[str] = set()
        if text is not None:
            found = set(unicode_tokens(text)) if unicode else tokens(text)
        if wanted and text is None:
            return False
        return all(word.occurs(found) for word in wanted) and not any(
            word.occurs(found) for word in excluded)
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
