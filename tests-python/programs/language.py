"""A reader for the part of the query language that programs use, into the trees of queries.syntax.

    query      = or {"SORT(" path ASC|DESC , ... ")" | "DISTINCT(" path , ... ")" | "LIMIT(" n ")"}
    or         = and {OR and}      and = unary {AND unary}
    unary      = NOT unary | "(" or ")" | TRUEPREDICATE | FALSEPREDICATE | comparison
    comparison = operand op operand, operand = constant | $n | {constant, ...} | [quantifier] path

What it cannot read is a syntax error; generator.py keeps to texts of which that is true.
"""

from __future__ import annotations

import re
from typing import Any

from queries.syntax import And, Compare, Const, ListLit, Lit, Node, Not, Or, Path, Query, Suffix

TOKEN = re.compile(r"""\s*(?:
    (?P<number>[+-]?\d+\.\d+|[+-]?\d+) | (?P<text>"[^"\\]*"|'[^'\\]*') | (?P<arg>\$\d+)
  | (?P<op>==|!=|<>|<=|>=|<|>) | (?P<word>@?[A-Za-z_][A-Za-z_0-9]*) | (?P<mark>[(){}\[\],.])
)""", re.VERBOSE)
OPS = {"==": "==", "!=": "!=", "<>": "!=", "<": "<", ">": ">", "<=": "<=", ">=": ">="}
TEXT_OPS = ("BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "IN")
ENDINGS = ("@count", "@size")


class SyntaxProblem(Exception):
    pass


class MissingArgument(Exception):
    """`$n` where there are not so many arguments."""


class Reader:
    def __init__(self, text: str, args: list[Any]) -> None:
        self.args = args
        self.missing = False
        self.tokens: list[tuple[str, str]] = []
        position = 0
        text = text.rstrip()
        while position < len(text):
            match = TOKEN.match(text, position)
            if match is None:
                raise SyntaxProblem(text[position:])
            self.tokens.append((str(match.lastgroup), match[str(match.lastgroup)]))
            position = match.end()
        self.position = 0

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.position] if self.position < len(self.tokens) else ("end", "")

    def take(self) -> tuple[str, str]:
        token = self.peek()
        self.position += 1
        return token

    def accept(self, *texts: str) -> str:
        kind, text = self.peek()
        if kind in ("op", "mark", "word") and text.upper() in texts:
            self.position += 1
            return text.upper()
        return ""

    def need(self, text: str) -> None:
        if not self.accept(text):
            raise SyntaxProblem(f"{self.peek()} in place of {text}")

    # ---------------------------------------------------------------------------- predicates

    def query(self) -> Query:
        pred = self.either()
        return Query(pred, self.suffixes())

    def suffixes(self) -> list[Suffix]:
        found = []
        while self.peek()[0] != "end":
            op = self.accept("SORT", "DISTINCT", "LIMIT")
            if not op:
                raise SyntaxProblem(self.peek())
            self.need("(")
            if op == "LIMIT":
                kind, text = self.take()
                if kind != "number" or not text.isdigit():
                    raise SyntaxProblem(text)
                found.append(Suffix(op, limit=int(text)))
            else:
                found.append(Suffix(op, self.keys(op == "SORT")))
            self.need(")")
        return found

    def keys(self, directions: bool) -> list[tuple[Path, str]]:
        keys = []
        while True:
            path = self.path("")
            way = ""
            if directions:
                way = self.accept("ASC", "DESC", "ASCENDING", "DESCENDING")
                if not way:
                    raise SyntaxProblem("a direction is missing")
            keys.append((path, way))
            if not self.accept(","):
                return keys

    def either(self) -> Node:
        parts = [self.both()]
        while self.accept("OR"):
            parts.append(self.both())
        return parts[0] if len(parts) == 1 else Or(parts)

    def both(self) -> Node:
        parts = [self.unary()]
        while self.accept("AND"):
            parts.append(self.unary())
        return parts[0] if len(parts) == 1 else And(parts)

    def unary(self) -> Node:
        if self.accept("NOT"):
            return Not(self.unary())
        if self.accept("TRUEPREDICATE"):
            return Const(True)
        if self.accept("FALSEPREDICATE"):
            return Const(False)
        if self.accept("("):
            inner = self.either()
            self.need(")")
            return inner
        left = self.operand()
        kind, text = self.take()
        if kind == "op":
            return Compare(OPS[text], left, self.operand())
        if kind != "word" or text.upper() not in TEXT_OPS:
            raise SyntaxProblem(text)
        return Compare(text.lower(), left, self.operand())

    # ------------------------------------------------------------------------------ operands

    def operand(self) -> Node:
        quant = self.accept("ANY", "ALL", "NONE", "SOME")
        if self.accept("{"):
            items = []
            while not self.accept("}"):
                items.append(self.constant())
                if not self.accept(","):
                    self.need("}")
                    break
            return ListLit(items, quant)
        kind, text = self.peek()
        if kind == "word" and text.upper() not in ("TRUE", "FALSE", "NULL"):
            return self.path(quant)
        constant = self.constant()
        if isinstance(constant.value, list):
            return ListLit([Lit(item, True) for item in constant.value], quant, True)
        return constant

    def constant(self) -> Lit:
        kind, text = self.take()
        if kind == "arg":
            if int(text[1:]) >= len(self.args):
                self.missing = True
                return Lit(None, True)
            return Lit(self.args[int(text[1:])], True)
        if kind == "number":
            return Lit(float(text) if "." in text else int(text), text=text)
        if kind == "text":
            return Lit(text[1:-1])
        words = {"TRUE": True, "FALSE": False, "NULL": None}
        if kind == "word" and text.upper() in words:
            return Lit(words[text.upper()])
        raise SyntaxProblem(text)

    def path(self, quant: str) -> Path:
        steps: list[tuple[Any, ...]] = []
        ending = ""
        while True:
            kind, text = self.take()
            if kind != "word":
                raise SyntaxProblem(text)
            if text in ENDINGS:
                ending = text
                break
            steps.append((text,) if text.startswith("@") else ("name", text))
            while self.accept("["):
                kind, index = self.take()
                if kind == "number":
                    steps.append(("index", int(index)))
                elif kind == "text":
                    steps.append(("index", index[1:-1]))
                else:
                    raise SyntaxProblem(index)
                self.need("]")
            if not self.accept("."):
                break
        return Path(steps, quant, ending)


def read(text: str, args: list[Any]) -> Query:
    """The tree of a query. Arguments that are missing are told after syntax."""
    reader = Reader(text, args)
    if not reader.tokens:
        raise SyntaxProblem("empty")
    query = reader.query()
    if reader.missing:
        raise MissingArgument
    return query


def read_suffix(op: str, text: str) -> Suffix:
    """The text of realm_results_sort() and realm_results_distinct()."""
    reader = Reader(f"{op}({text})", [])
    suffixes = reader.suffixes()
    if len(suffixes) != 1:
        raise SyntaxProblem(text)
    return suffixes[0]
