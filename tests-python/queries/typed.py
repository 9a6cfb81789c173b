"""Queries as typed expressions of the Python package, compared with the evaluator and with the text."""

from __future__ import annotations

import itertools
import keyword
import random
import sys
import types
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

import realm

from .capi import Database
from .evaluator import evaluate
from .generator import Generator
from .schema import Cls, Prop, Universe, make_universe
from .syntax import (Aggregate, And, Arith, Between, Compare, Flag, FullText, ListLit, Lit,
                     Negative, Node, Not, Or, Path, Query, Subquery, render, rewrite)
from .values import Date, F32, Oid, Row, Unspecified, kind


class CannotSay(Exception):
    """Python has no such expression."""


@dataclass
class Scope:
    """The candidate: its class, and the expression that stands for it."""

    cls: Cls
    expression: Any
    var: str = ""
    parent: Scope | None = None


def as_arguments(node: Node) -> Node | None:
    """Every constant is an argument in Python."""
    if isinstance(node, Lit) and not node.text.startswith("$"):
        return Lit(node.value, arg=node.value is not None)
    if isinstance(node, Negative):
        inner = rewrite(node.inner, as_arguments)
        return Arith("-", Lit(0, arg=True), inner)
    return None


WORDS = {"int": "int", "bool": "bool", "string": "str", "binary": "bytes", "mixed": "Any",
         "timestamp": "datetime", "float": "realm.Float32", "double": "float",
         "decimal128": "Decimal", "objectId": "realm.ObjectId", "uuid": "uuid.UUID"}
HEAD = """from datetime import datetime
from decimal import Decimal
from typing import Any
import uuid
import realm
"""


def rename(universe: Universe) -> None:
    """Names that Python can write, without aliases and linking objects."""
    for cls in universe.classes.values():
        cls.props = [prop for prop in cls.props if prop.type != "backlinks"]
        for number, prop in enumerate(cls.props):
            prop.alias, old = "", prop.name
            odd = not old.isidentifier() or keyword.iskeyword(old) or hasattr(realm.Path, old) \
                or hasattr(realm.Object, old) or old.startswith("_")
            if odd:
                prop.name = f"p{number}"
                for row in universe.rows[cls.name]:
                    row.values[prop.name] = row.values.pop(old)


def declared(universe: Universe) -> str:
    """The classes as they are written in Python."""
    lines = [HEAD]
    for cls in universe.classes.values():
        lines.append(f"class {cls.name}(realm.{'Embedded' if cls.embedded else ''}Object):")
        for prop in cls.props:
            word = prop.target if prop.type == "link" else WORDS[prop.type]
            if prop.type == "link" and prop.coll in ("list", "set"):
                pass
            elif prop.nullable and prop.type != "mixed" and (prop.type != "link" or not prop.coll):
                word += " | None"
            word = {"": word, "list": f"list[{word}]", "set": f"set[{word}]",
                    "dict": f"dict[str, {word}]"}[prop.coll]
            trait = " = realm.PrimaryKey()" if prop.pk else \
                " = realm.FullText(unicode=True)" if prop.unicode else \
                " = realm.FullText()" if prop.fulltext else \
                " = realm.Indexed()" if prop.indexed else ""
            lines.append(f'    {prop.name}: "{word}"{trait}')
    return "\n".join(lines)


class Typed:
    """A universe that is open in Python."""

    numbers = itertools.count()

    def __init__(self, seed: str, directory: str) -> None:
        self.universe = make_universe(seed)
        rename(self.universe)
        database = Database(self.universe, directory, in_memory=False)
        database.close()
        module = types.ModuleType(f"queries_declared_{next(self.numbers)}")
        sys.modules[module.__name__] = module
        exec(declared(self.universe), module.__dict__)
        self.models = {name: getattr(module, name) for name in self.universe.classes}
        self.realm = realm.open(database.path, classes=self.models.values(), schema_version=1)
        self.objects = {(cls.name, found._realm_key): found
                        for cls in self.universe.classes.values() if not cls.embedded
                        for found in self.realm.objects(self.models[cls.name])}

    # -------------------------------------------------------------------------- conditions

    def condition(self, node: Node, scope: Scope) -> Any:
        if isinstance(node, (And, Or)):
            made = self.condition(node.parts[0], scope)
            for part in node.parts[1:]:
                other = self.condition(part, scope)
                made = made & other if isinstance(node, And) else made | other
            return made
        if isinstance(node, Not):
            return ~self.condition(node.inner, scope)
        if isinstance(node, Flag):
            return self.operand(node.path, scope)
        if isinstance(node, FullText):
            return self.operand(node.left, scope).has_words(node.words)
        if isinstance(node, Between) and len(node.bounds.items) == 2:
            low, high = (
                self.value(item.value) if isinstance(item, Lit) else self.operand(item, scope)
                for item in node.bounds.items)
            made = self.expression(node.left, scope).between(low, high)
            return ~made if node.negated else made
        if isinstance(node, Compare):
            made = self.comparison(node, scope)
            return ~made if node.negated else made
        raise CannotSay

    def comparison(self, node: Compare, scope: Scope) -> Any:
        options = {"case": "c" not in node.opts, "diacritics": "d" not in node.opts}
        if "n" in node.opts or node.opts and node.op not in (
                "==", "in", "beginswith", "endswith", "contains", "like", "matches"):
            raise CannotSay
        right, op = node.right, node.op
        if op == "in":
            left = self.operand(node.left, scope)
            if isinstance(right, ListLit):
                if right.quant or isinstance(node.left, Lit):
                    raise CannotSay
                return left.in_([self.value(item.value) for item in right.items], **options)
            if isinstance(right, Lit):
                raise CannotSay
            if isinstance(node.left, Lit):
                raise CannotSay
            return left.in_(self.operand(right, scope), **options)
        if isinstance(right, ListLit):
            raise CannotSay
        left, other = self.operand(node.left, scope), self.operand(right, scope)
        if isinstance(node.left, Lit):
            if isinstance(right, Lit) or op not in ("==", "!=", "<", "<=", ">", ">="):
                raise CannotSay
            left, other = other, left
            op = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(op, op)
        if op == "==":
            return left.equals(other, **options)
        methods = {"beginswith": "startswith", "endswith": "endswith", "contains": "contains",
                   "like": "like", "matches": "matches"}
        if op in methods:
            # contains() of a collection is membership (but not of a quantified one).
            if op == "contains" and isinstance(node.left, Path) and not node.left.quant:
                raise CannotSay
            if op in ("like", "matches") and not isinstance(other, str):
                raise CannotSay
            return getattr(left, methods[op])(other, **options)
        return {"!=": lambda: left != other, "<": lambda: left < other,
                "<=": lambda: left <= other, ">": lambda: left > other,
                ">=": lambda: left >= other}[op]()

    # ---------------------------------------------------------------------------- operands

    def expression(self, node: Node, scope: Scope) -> Any:
        if isinstance(node, Lit):
            raise CannotSay
        return self.operand(node, scope)

    def operand(self, node: Node, scope: Scope) -> Any:
        if isinstance(node, Lit):
            if node.text:
                raise CannotSay  # an argument that is not there
            return self.value(node.value)
        if isinstance(node, Path):
            return self.path(node, scope)
        if isinstance(node, Arith):
            left, right = self.operand(node.left, scope), self.operand(node.right, scope)
            if not any(isinstance(side, realm.Expression) for side in (left, right)):
                raise CannotSay
            return {"+": lambda: left + right, "-": lambda: left - right,
                    "*": lambda: left * right, "/": lambda: left / right}[node.op]()
        if isinstance(node, Aggregate):
            path, name = self.path(node.path, scope), node.op[1:]
            if len(node.of) > 1:
                raise CannotSay
            return getattr(path, name)(*node.of)
        if isinstance(node, Subquery):
            return self.subquery(node, scope)
        raise CannotSay

    def subquery(self, node: Subquery, scope: Scope) -> Any:
        cls = self.target(node.path, scope)
        if cls is None or node.of:
            raise CannotSay
        path = self.path(node.path, scope)
        found = path.where(lambda element: self.condition(
            node.pred, Scope(cls, element, node.var, scope)))
        if node.op not in ("@count", "@size"):
            raise CannotSay
        return found.count()

    def start(self, path: Path, scope: Scope) -> Scope:
        if path.head == "SELF":
            while scope.parent:
                scope = scope.parent
            return scope
        at: Scope | None = scope
        while at:
            if path.head and at.var == path.head:
                return at
            if not path.head and path.steps[0][0] == "name" and at.cls.find(path.steps[0][1]):
                return at
            at = at.parent
        raise CannotSay

    def target(self, path: Path, scope: Scope) -> Cls | None:
        cls: Cls | None = self.start(path, scope).cls
        for step in path.steps:
            prop = cls.find(step[1]) if cls and step[0] == "name" else None
            if prop is None:
                return None
            cls = self.universe.classes[prop.target] if prop.objects else None
        return cls

    def path(self, path: Path, scope: Scope) -> Any:
        at = self.start(path, scope)
        cls: Cls | None
        last: Prop | None = None
        made, first, cls = at.expression, True, at.cls
        for step in path.steps:
            prop = cls.find(step[1]) if cls and step[0] == "name" else None
            if step[0] == "name":
                cls = self.universe.classes[prop.target] if prop and prop.objects else None
            if step[0] == "index":
                index = {"FIRST": 0, "LAST": -1}.get(step[1], step[1])
                if index == "*":
                    raise CannotSay
                made = made[index]
            elif step[0] != "name" or " " in step[1] or "-" in step[1]:
                raise CannotSay
            elif first and isinstance(made, type):
                made = getattr(made, step[1], None)
            elif prop is None and isinstance(last, Prop) and last.coll == "dict":
                made = made[step[1]]  # I8: a key
            else:
                made = getattr(made, step[1])
            last = prop
            first = False
        if not isinstance(made, realm.Expression):
            raise CannotSay  # a name that Python has for something else
        if path.quant:
            made = getattr(made, {"SOME": "any"}.get(path.quant, path.quant.lower()))()
        if path.ending in ("@count", "@size", "[SIZE]"):
            if path.quant or not (isinstance(last, Prop) and last.coll):
                raise CannotSay  # the length of a text, or a link; which of several numbers
            return made.count()
        if path.ending:
            raise CannotSay
        return made

    def value(self, value: Any) -> Any:
        if isinstance(value, F32):
            raise CannotSay
        if isinstance(value, Date):
            if value.nanos % 1000 or not -62_135_596_800 < value.seconds < 253_402_300_799:
                raise CannotSay
            return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(
                seconds=value.seconds, microseconds=value.nanos // 1000)
        if isinstance(value, Oid):
            return realm.ObjectId(value.hex())
        if isinstance(value, Row):
            if value.cls.embedded:
                raise CannotSay
            return self.objects[value.cls.name, value.key]
        if kind(value) in ("list", "dictionary"):
            raise CannotSay
        return value

    # ----------------------------------------------------------------------------- compare

    def compare(self, root: Cls, query: Query) -> str | None:
        """What is different; None where nothing is."""
        query = Query(rewrite(query.pred, as_arguments))
        expected = evaluate(self.universe, root, query)
        model = self.models[root.name]
        results = self.realm.objects(model)
        text, args = render(query)
        try:
            condition = self.condition(query.pred, Scope(root, model))
            found = [root_key._realm_key for root_key in results.where(condition)]
        except (realm.Error, TypeError) as error:
            if expected.rows is None:
                return None
            return f"{text} {args!r}: expected {expected.rows}, got {error!r}"
        if expected.rows is None:
            return f"{text} {args!r} is {condition!r}: expected an error, got {found}"
        keys = [row.key for row in expected.rows]
        if found != keys:
            return f"{text} {args!r} is {condition!r}: expected {keys}, got {found}"
        return None

    def close(self) -> None:
        self.objects = {}
        self.realm.close()


def run(directory: str, seed: str, queries: int) -> tuple[int, list[str]]:
    """How many queries of a universe were compared, and the differences."""
    compared, differences = 0, []
    rng = random.Random(seed)
    typed = Typed(seed, directory)
    generator = Generator(rng, typed.universe)
    try:
        for _ in range(queries):
            root = typed.universe.classes[rng.choice(["Ship", "Ship", "Crew", "Port"])]
            try:
                difference = typed.compare(root, generator.query(root))
            except (CannotSay, Unspecified):
                continue
            compared += 1
            if difference:
                differences.append(f"{seed}, {root.name}: {difference}")
    finally:
        typed.close()
    return compared, differences
