"""Text operators on single values: matching, folding and LIKE (rules S, B1, B2, B3, B4)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .values import Oid, Unspecified

MARKS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")


def option_letters(opts: str) -> str:
    """B3: case, order, repeats and blanks do not matter; n overrides c and d."""
    letters = set(opts.lower().replace(" ", ""))
    return "" if "n" in letters else "".join(sorted(letters & {"c", "d"}))


@lru_cache(maxsize=4096)
def strip_marks(text: str) -> str:
    """D(s) of B1."""
    return MARKS.sub("", unicodedata.normalize("NFD", text))


@lru_cache(maxsize=4096)
def transform(text: str, letters: str) -> str:
    if letters == "c":
        return text.casefold()
    if letters == "d":
        return strip_marks(text)
    if letters == "cd":
        return strip_marks(strip_marks(text).casefold())
    return text


def fold_data(data: bytes, letters: str) -> bytes:
    """S11: [c] on Data folds ASCII."""
    return data.lower() if "c" in letters else data


def is_text(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, bytes) and not isinstance(value, Oid))


@dataclass(frozen=True)
class Token:
    """`*`, `?`, or literal text."""

    text: str
    wild: bool = False


def pattern_tokens(pattern: str, escapes: bool) -> list[Token]:
    """CORE has no escapes (S7), format strings have three (X7)."""
    tokens: list[Token] = []
    literal, at = "", 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char in "*?":
            tokens += [Token(literal)] if literal else []
            tokens.append(Token(char, True))
            literal = ""
            continue
        if escapes and char == "\\":
            if pattern[at:at + 1] not in ("*", "?", "\\"):
                raise Unspecified("a backslash of LIKE before another character")
            char = pattern[at]
            at += 1
        literal += char
    return [*tokens, Token(literal)] if literal else tokens


def match_units(units: list[str], tokens: list[Token]) -> bool:
    """Whether units match the tokens as a whole. A literal covers whole units (B2)."""
    reachable = {0}
    for token in tokens:
        following: set[int] = set()
        if token.wild and token.text == "*":
            following = set(range(min(reachable), len(units) + 1)) if reachable else set()
        elif token.wild:
            following = {start + 1 for start in reachable if start < len(units)}
        else:
            for start in reachable:
                covered, at = "", start
                while at < len(units) and len(covered) < len(token.text):
                    covered += units[at]
                    at += 1
                if covered == token.text:
                    following.add(at)
        reachable = following
    return len(units) in reachable


def like(value: Any, pattern: Any, letters: str, escapes: bool = False) -> bool:
    if isinstance(value, bytes):
        value = fold_data(value, letters).decode("latin-1")
        pattern = fold_data(pattern, letters).decode("latin-1")
        return match_units(list(value), pattern_tokens(pattern, escapes))
    # B1: with [d], `?` eats one scalar of the transformed text.
    tokens = [token if token.wild else Token(transform(token.text, letters))
              for token in pattern_tokens(pattern, escapes)]
    if letters == "c":
        return match_units([char.casefold() for char in value], tokens)
    if letters and any(len(token.text) != len(strip_marks(token.text)) for token in tokens):
        raise Unspecified("marks that stand at the border of a wildcard")
    return match_units(list(transform(value, letters)), tokens)


def matches(value: Any, pattern: str, letters: str) -> bool:
    """B4, for the patterns that Python and ICU understand alike."""
    if not isinstance(value, str):
        return False
    if not value.isascii() or "\n" in value or not pattern.isascii():
        raise Unspecified("MATCHES where dialects differ")
    flags = re.IGNORECASE if "c" in letters else 0
    if "d" in letters:
        value, pattern = strip_marks(value), strip_marks(pattern)
    return re.fullmatch(pattern, value, flags) is not None


def text_operation(op: str, value: Any, needle: Any, letters: str, *, direct: bool,
                   is_data: bool = False, escapes: bool = False) -> bool:
    """One value and one needle. `direct` chooses S5 over S6 for a null needle; `is_data`: the
    property is one of Data, whose value may be null."""
    if op == "matches":
        return matches(value, needle, letters)
    if needle is None:
        if op == "like":
            return value is None
        if direct:
            return value is not None or not (is_data and op == "contains" and "c" in letters)
        return op == "contains" and value is not None
    if not is_text(value) or not is_text(needle) or type(value) is not type(needle):
        return False
    if op == "like":
        return like(value, needle, letters, escapes)
    if isinstance(value, bytes):
        value, needle = fold_data(value, letters), fold_data(needle, letters)
    else:
        value, needle = transform(value, letters), transform(needle, letters)
    if op == "contains":
        return needle in value
    return bool(value.startswith(needle) if op == "beginswith" else value.endswith(needle))
