"""Other spellings of a query: key paths as arguments, and format strings (section 17)."""

from __future__ import annotations

import random
import re
from typing import Any

from .syntax import (And, Call, Lit, Node, Not, Or, Path, Query, SOFT, Suffix, Writer, quoted)
from .values import kind


class CannotSpell(Exception):
    """The other spelling has no such form."""


class KeyPathWriter(Writer):
    """Names of properties as `$K` arguments (N8, N9), each now and then."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__()
        self.rng = rng

    def key_path(self, names: list[str]) -> str:
        self.args.append(".".join(names))
        return f"$K{len(self.args) - 1}"

    def path(self, path: Path) -> str:
        """The words before a head, names by themselves or several in one argument, endings."""
        text = path.head
        position = 0
        while position < len(path.steps):
            step = path.steps[position]
            run = 0
            while position + run < len(path.steps) and path.steps[position + run][0] == "name":
                run += 1
            if run and self.rng.random() < 0.6:
                taken = self.rng.choice([1, run])
                names = [step[1] for step in path.steps[position:position + taken]]
                if not any("." in name for name in names):
                    text += ("." if text else "") + self.key_path(names)
                    position += taken
                    continue
            text += self.step_text(step, text)
            position += 1
        if path.ending == "[SIZE]":
            text += "[SIZE]"
        elif path.ending:
            text += "." + path.ending
        if not path.quant:
            return text
        odd = path.steps and path.steps[0][0] == "name" and path.steps[0][1] in SOFT
        return f"{path.quant if odd else self.keyword(path.quant)} {text}"

    def step_text(self, step: tuple[Any, ...], before: str) -> str:
        if step[0] == "index":
            index = step[1]
            if isinstance(index, str) and index not in ("FIRST", "LAST", "*"):
                index = quoted(index)
            return f"[{index}]"
        if step[0] == "name":
            word = self.name(step[1])
        elif step[0] == "links":
            if self.name(step[2]) != step[2]:
                raise CannotSpell  # no argument stands behind @links yet
            word = f"@links.{step[1]}.{step[2]}"
        else:
            word = step[0]
        return ("." if before else "") + word

    def keyword(self, word: str) -> str:
        return word


class FormatWriter(KeyPathWriter):
    """The way of NSPredicate: `%@` and its like from left to right, `%K`, words in any case."""

    def key_path(self, names: list[str]) -> str:
        self.args.append(".".join(names))
        return "%K"

    def argument(self, value: Any) -> str:
        self.args.append(value)
        places = ["%@"]
        if not isinstance(value, list):
            places += {"number": ["%d", "%lld", "%f", "%g", "%i"], "string": ["%s"]}.get(
                kind(value), [])
        return self.rng.choice(places)

    def name(self, name: str) -> str:
        if "-" in name or " " in name:
            return self.key_path([name])  # X3: `-` is no part of a name
        return name

    def keyword(self, word: str) -> str:
        return self.rng.choice([str.upper, str.lower, str.title])(word)

    def suffix(self, suffix: Suffix) -> str:
        if suffix.op in ("LIMIT", "OFFSET"):
            limit = self.argument(suffix.limit) if self.rng.random() < 0.3 else suffix.limit
            return f"{self.keyword(suffix.op)}({limit})"
        return super().suffix(suffix)

    def operand(self, node: Node, level: int = 0) -> str:
        rng = self.rng
        if isinstance(node, Lit):
            if node.text.startswith("$"):
                raise CannotSpell
            if isinstance(node.value, bool) and not node.arg:
                return rng.choice(["YES", "true"] if node.value else ["NO", "false"])
            return super().operand(node, level)
        if isinstance(node, Call) and rng.random() < 0.3:
            inner = ", ".join(self.argument_text(arg) for arg in node.args)
            return f"{node.name}:({inner})"
        return super().operand(node, level)

    def pred(self, node: Node, level: int) -> str:
        rng = self.rng
        if isinstance(node, (And, Or)) and rng.random() < 0.5:
            is_and = isinstance(node, And)
            word = rng.choice(["&&", "And", "and"] if is_and else ["||", "Or", "or"])
            text = f" {word} ".join(self.pred(part, 2 if is_and else 1) for part in node.parts)
            return f"({text})" if level >= (3 if is_and else 2) else text
        if isinstance(node, Not):
            inner = self.pred(node.inner, 3)
            # `Not -1 < x` is a property less one, `Not contains[0] == 1` one that contains (X2).
            odd = inner.startswith("-") or re.split(r"\W", inner)[0].lower() in SOFT
            return f"{'NOT' if odd else self.keyword('NOT')} {inner}"
        return super().pred(node, level)


def as_key_paths(query: Query, rng: random.Random) -> tuple[str, list[Any]]:
    writer = KeyPathWriter(rng)
    return writer.query(query), writer.args


def as_format(query: Query, rng: random.Random) -> tuple[str, list[Any]]:
    writer = FormatWriter(rng)
    return writer.query(query), writer.args
