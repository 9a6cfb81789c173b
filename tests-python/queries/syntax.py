"""Predicates as trees, and their text."""

from __future__ import annotations

import base64
import dataclasses
import re
import uuid
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Callable, Iterator

from .geo import shape_text
from .values import Date, F32, Oid, Row, is_infinite, is_nan


@dataclass
class Node:
    pass


# ------------------------------------------------------------------------------- predicates

@dataclass
class Const(Node):
    truth: bool


@dataclass
class And(Node):
    parts: list[Node]


@dataclass
class Or(Node):
    parts: list[Node]


@dataclass
class Not(Node):
    inner: Node


@dataclass
class Compare(Node):
    """Any binary comparison, text operators and IN included; `negated` is the infix NOT (B9)."""

    op: str
    left: Node
    right: Node
    opts: str = ""
    negated: bool = False


@dataclass
class Between(Node):
    """The bounds may be expressions."""

    left: Node
    bounds: ListLit
    negated: bool = False


@dataclass
class Flag(Node):
    """A bare boolean path (X11)."""

    path: Node


@dataclass
class FullText(Node):
    left: Node
    words: str
    arg: bool = False


@dataclass
class Within(Node):
    """GEOWITHIN; the numbers are longitudes and latitudes, then the radius of a circle."""

    path: Path
    kind: str
    numbers: list[float]


# --------------------------------------------------------------------------------- operands

@dataclass
class Lit(Node):
    """A constant; `text` is its spelling where it has several, `arg` makes it an argument."""

    value: Any
    arg: bool = False
    text: str = ""

    @property
    def is_arg(self) -> bool:
        return self.arg or not self.text and literal(self.value) is None


@dataclass
class ListLit(Node):
    items: list[Any]  # constants; as bounds, any operands
    quant: str = ""
    arg: bool = False


@dataclass
class Path(Node):
    """Steps are ("name", n), ("index", int|"FIRST"|"LAST"|"*"|str), ("links", class, property),
    ("@keys",), ("@values",), ("@links",). `head` is "", "SELF" or a variable. `ending` is "",
    "@count", "@size", "[SIZE]", "length" or "@type"."""

    steps: list[tuple[Any, ...]]
    quant: str = ""
    ending: str = ""
    head: str = ""


@dataclass
class Aggregate(Node):
    path: Path
    op: str
    of: list[str] = field(default_factory=list)


@dataclass
class Subquery(Node):
    path: Path
    var: str
    pred: Node
    op: str = "@count"
    of: list[str] = field(default_factory=list)


@dataclass
class Arith(Node):
    op: str
    left: Node
    right: Node


@dataclass
class Negative(Node):
    inner: Node


@dataclass
class Call(Node):
    name: str
    args: list[Node]


@dataclass
class Suffix(Node):
    """SORT with [(path, dir)], DISTINCT with [(path, "")], LIMIT or OFFSET with a number."""

    op: str
    keys: list[tuple[Path, str]] = field(default_factory=list)
    limit: int = 0


@dataclass
class Query(Node):
    pred: Node
    suffixes: list[Suffix] = field(default_factory=list)


# -------------------------------------------------------------------------------------- text

SOFT = {"beginswith", "endswith", "contains", "like", "between", "sort", "distinct", "limit",
        "asc", "ascending", "desc", "descending", "in", "text", "bin", "binary", "first", "last",
        "size", "oid", "uuid", "length"}


def quoted(text: str) -> str:
    """A string literal (L14, L15) that a reader can make sense of."""
    made = []
    for char in text:
        code = ord(char)
        if char in "\"\\":
            made.append("\\" + char)
        elif char in "\n\r\t\b\f":
            made.append({"\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}[char])
        elif code < 32:
            made.append(f"\\u{code:04x}")
        else:
            made.append(char)
    return '"' + "".join(made) + '"'


def name_text(name: str) -> str:
    return re.sub(r"[ \t\n\r]", lambda m: {" ": "\\ ", "\t": "\\t", "\n": "\\n",
                                           "\r": "\\r"}[m.group()], name)


def literal(value: Any) -> str | None:
    """The canonical literal of a value, None where only an argument can carry it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, (float, Decimal)):
        if is_nan(value):
            return None if isinstance(value, (F32, Decimal)) else "nan"
        if is_infinite(value):
            if isinstance(value, (F32, Decimal)):
                return None
            return "inf" if value > 0 else "-inf"
        if isinstance(value, Decimal):
            return None
        text = repr(float(value))
        return text + "f" if isinstance(value, F32) else text
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Oid):
        return f"oid({value.hex()})"
    if isinstance(value, bytes):
        return f'bin(B64"{base64.b64encode(value).decode()}")'
    if isinstance(value, Date):
        return f"T{value.seconds}:{value.nanos}"
    if isinstance(value, uuid.UUID):
        return f"uuid({value})"
    if isinstance(value, Row):
        pk = value.cls.pk
        key = literal(value.values[pk.name]) if pk else None
        if key is None or key == "null":
            return None
        return f"obj({quoted(value.cls.name)}, {key})"
    return None


class Writer:
    """Makes the text of a tree and collects the arguments."""

    def __init__(self) -> None:
        self.args: list[Any] = []

    def argument(self, value: Any) -> str:
        self.args.append(value)
        return f"${len(self.args) - 1}"

    def name(self, name: str) -> str:
        return name_text(name)

    def query(self, query: Query) -> str:
        return " ".join([self.pred(query.pred, 0), *map(self.suffix, query.suffixes)])

    def suffix(self, suffix: Suffix) -> str:
        if suffix.op in ("LIMIT", "OFFSET"):
            return f"{suffix.op}({suffix.limit})"
        keys = ", ".join(f"{self.path(path)} {way}".strip() for path, way in suffix.keys)
        return f"{suffix.op}({keys})"

    def pred(self, node: Node, level: int) -> str:
        """Level 0 stands alone, 1 inside OR, 2 inside AND, 3 after NOT."""
        if isinstance(node, Const):
            return "TRUEPREDICATE" if node.truth else "FALSEPREDICATE"
        if isinstance(node, (And, Or)):
            is_and = isinstance(node, And)
            word, inner = (" AND ", 2) if is_and else (" OR ", 1)
            text = word.join(self.pred(part, inner) for part in node.parts)
            return f"({text})" if level >= (3 if is_and else 2) else text
        if isinstance(node, Not):
            return f"NOT {self.pred(node.inner, 3)}"
        if isinstance(node, Flag):
            return self.operand(node.path)
        if isinstance(node, Within):
            return f"{self.path(node.path)} GEOWITHIN {shape_text(node.kind, node.numbers)}"
        if isinstance(node, FullText):
            left = self.operand(node.left)
            words = self.argument(node.words) if node.arg else quoted(node.words)
            return f"{left} TEXT {words}"
        if isinstance(node, Between):
            infix = "NOT BETWEEN" if node.negated else "BETWEEN"
            left = self.operand(node.left)  # first: arguments are taken from left to right
            if node.bounds.arg:
                return f"{left} {infix} {self.operand(node.bounds)}"
            ends = ", ".join(map(self.operand, node.bounds.items))  # expressions, too (B10)
            return f"{left} {infix} {{{ends}}}"
        assert isinstance(node, Compare), node
        infix = ("NOT " if node.negated else "") + node.op.upper()
        opts = f"[{node.opts}]" if node.opts else ""
        return f"{self.operand(node.left)} {infix}{opts} {self.operand(node.right)}"

    def operand(self, node: Node, level: int = 0) -> str:
        """Level 0 stands alone, 1 is a member of a sum, 2 of a product."""
        if isinstance(node, Lit):
            text = node.text or literal(node.value)
            if node.arg or text is None:
                return self.argument(node.value)
            return text
        if isinstance(node, ListLit):
            quant = node.quant + " " if node.quant else ""
            if node.arg:
                return quant + self.argument([item.value for item in node.items])
            return quant + "{" + ", ".join(map(self.operand, node.items)) + "}"
        if isinstance(node, Path):
            return self.path(node)
        if isinstance(node, Aggregate):
            return ".".join([self.path(node.path), node.op, *map(self.name, node.of)])
        if isinstance(node, Subquery):
            inner = f"SUBQUERY({self.path(node.path)}, {node.var}, {self.pred(node.pred, 0)})"
            return ".".join([inner, node.op, *map(self.name, node.of)])
        if isinstance(node, Arith):
            own = 1 if node.op in "+-" else 2
            text = f"{self.operand(node.left, own - 1 if own == 1 else 1)} {node.op} " \
                   f"{self.operand(node.right, own)}"
            return f"({text})" if level >= own else text
        if isinstance(node, Negative):
            return f"-{self.operand(node.inner, 2)}"
        assert isinstance(node, Call), node
        return f"{node.name}({', '.join(self.argument_text(arg) for arg in node.args)})"

    def argument_text(self, node: Node) -> str:
        if isinstance(node, (Compare, And, Or, Not, Const, Between, Flag, FullText, Within)):
            return self.pred(node, 0)
        return self.operand(node)

    def path(self, path: Path) -> str:
        text = path.head
        for step in path.steps:
            if step[0] == "index":
                index = step[1]
                if isinstance(index, str) and index not in ("FIRST", "LAST", "*"):
                    index = quoted(index)
                text += f"[{index}]"
                continue
            if step[0] == "name":
                word = self.name(step[1])
            elif step[0] == "links":
                word = f"@links.{step[1]}.{self.name(step[2])}"
            else:
                word = step[0]
            text += ("." if text else "") + word
        if path.ending == "[SIZE]":
            text += "[SIZE]"
        elif path.ending:
            text += "." + path.ending
        return f"{path.quant} {text}" if path.quant else text


def render(query: Query) -> tuple[str, list[Any]]:
    writer = Writer()
    return writer.query(query), writer.args


def walk(node: Any) -> Iterator[Node]:
    if isinstance(node, Node):
        yield node
        for item in dataclasses.fields(node):
            yield from walk(getattr(node, item.name))
    elif isinstance(node, (list, tuple)):
        for item in node:
            yield from walk(item)


def rewrite(node: Any, change: Callable[[Node], Node | None]) -> Any:
    """A copy with every node replaced for which `change` gives another."""
    if isinstance(node, Node):
        changed = change(node)
        if changed is not None:
            return changed
        return type(node)(**{item.name: rewrite(getattr(node, item.name), change)
                             for item in dataclasses.fields(node)})
    if isinstance(node, list):
        return [rewrite(item, change) for item in node]
    if isinstance(node, tuple):
        return tuple(rewrite(item, change) for item in node)
    return node
