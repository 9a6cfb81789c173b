"""Other spellings of a query: key paths as arguments, and format strings (rules X)."""

from __future__ import annotations

import random
import re
from decimal import Decimal
from typing import Any

from .schema import Universe
from .syntax import (And, Call, Lit, Node, Not, Or, Path, Query, SOFT, Suffix, Writer, literal,
                     quoted)
from .values import Date, Row, kind


class CannotSpell(Exception):
    """The other spelling has no such form."""


class KeyPathWriter(Writer):
    """Names of properties as `$K` arguments (N8, N9), each now and then."""

    def __init__(self, rng: random.Random, universe: Universe) -> None:
        super().__init__()
        self.rng = rng
        self.universe = universe

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
            word = f"@links.{self.origin(step[1], step[2])}"
        else:
            word = step[0]
        return ("." if before else "") + word

    def origin(self, cls: str, prop: str) -> str:
        """What stands behind @links (N4, N6): names, or key paths in their place."""
        rng = self.rng
        alias = self.universe.classes[cls].alias
        if alias and rng.random() < 0.5:
            cls = alias
        roll = rng.random()
        if roll < 0.2:
            return self.key_path([cls, prop])
        first = self.key_path([cls]) if roll < 0.4 else self.name(cls)
        return f"{first}.{self.key_path([prop]) if 0.3 < roll < 0.6 else self.name(prop)}"

    def name(self, name: str) -> str:
        """L8: any name may stand behind #."""
        roll = self.rng.random()
        if roll < 0.1:
            return "#" + quoted(name)
        if roll < 0.2 and re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
            return "#" + name
        return super().name(name)

    def operand(self, node: Node, level: int = 0) -> str:
        """L19, L22: constants that keep their type, in the place of arguments; public names."""
        if isinstance(node, Lit) and not node.text.startswith("$") and self.rng.random() < 0.6:
            value = node.value
            if isinstance(value, Decimal) and node.is_arg:
                return f"decimal({value})"
            if isinstance(value, Date):
                return f"timestamp({value.seconds}:{value.nanos})"
            if isinstance(value, Row) and value.cls.alias and value.cls.pk:
                key = literal(value.values[value.cls.pk.name])
                if key is not None:
                    return f"obj({quoted(value.cls.alias)}, {key})"
        return super().operand(node, level)

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
            if self.rng.random() < 0.5:
                return "#" + quoted(name)
            return self.key_path([name])  # X3: `-` is no part of a name
        return super().name(name)

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


def as_key_paths(query: Query, rng: random.Random, universe: Universe) -> tuple[str, list[Any]]:
    writer = KeyPathWriter(rng, universe)
    return writer.query(query), writer.args


def as_format(query: Query, rng: random.Random, universe: Universe) -> tuple[str, list[Any]]:
    writer = FormatWriter(rng, universe)
    return writer.query(query), writer.args
