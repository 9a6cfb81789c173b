"""SQLite as a third opinion, for what SQL can say: scalar columns, paths over links as joins,
quantifiers, counts, aggregates and SUBQUERY as subselects, any chain of clauses."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass, field
from typing import Any, Callable

from .schema import Cls, Prop, Universe
from .syntax import (Aggregate, And, Between, Compare, Const, ListLit, Lit, Node, Not, Or, Path,
                     Query, Subquery, Suffix)
from .values import Date, Row, is_infinite, is_nan, kind

COLUMNS = {"int": "INTEGER", "bool": "INTEGER", "string": "TEXT", "binary": "BLOB",
           "timestamp": "INTEGER", "float": "REAL", "double": "REAL", "objectId": "BLOB",
           "uuid": "BLOB", "link": "INTEGER"}
NUMBERS = ("int", "float", "double")
SIZES = ("@count", "@size", "[SIZE]")


@dataclass
class Statement:
    text: str
    values: list[Any] = field(default_factory=list)
    joins: bool = False

    @property
    def named(self) -> dict[str, Any]:
        """The values by the names of their marks."""
        return {f"v{place}": value for place, value in enumerate(self.values, start=1)}


class CannotSay(Exception):
    pass


def stored(value: Any) -> Any:
    """A value as SQLite keeps it; NaN has no place there."""
    if value is None:
        return None
    name = kind(value)
    if name == "bool":
        return int(value)
    if name == "timestamp":
        assert isinstance(value, Date)
        if not -(2**62) < value.total < 2**62:
            raise CannotSay
        return value.total
    if name == "uuid":
        return value.bytes
    if name == "link":
        return value.key
    if name in ("binary", "objectId"):
        return bytes(value)
    if name == "number":
        if is_nan(value):
            raise CannotSay
        return float(value) if isinstance(value, float) else value
    return value


def quoted(name: str) -> str:
    return f'"{name}"'


@dataclass
class Scope:
    """A candidate: of the query, or the member of a SUBQUERY."""

    cls: Cls
    alias: str
    var: str = ""
    parent: Scope | None = None


@dataclass
class Value:
    """An operand: an expression, and where it is one of many, what they come from."""

    text: str
    type: str
    source: str = ""  # FROM and WHERE of the many
    quant: str = ""
    direct: bool = False
    prop: Prop | None = None
    target: str = ""

    @property
    def many(self) -> bool:
        return bool(self.source)


@dataclass
class Walk:
    """The joins from a candidate to what a path reaches."""

    cls: Cls
    alias: str
    tables: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    many: bool = False

    def add(self, table: str, alias: str, condition: str) -> None:
        self.tables.append(f"{quoted(table)} {alias}")
        self.conditions.append(condition)

    @property
    def source(self) -> str:
        return f"FROM {' JOIN '.join(self.tables)} WHERE {' AND '.join(self.conditions)}"


class Translator:
    def __init__(self, universe: Universe, cls: Cls, bad: set[tuple[str, str]],
                 dialect: str = "core") -> None:
        self.dialect = dialect
        self.universe = universe
        self.cls = cls
        self.bad = bad
        self.count = 0
        self.joins = False
        self.names: list[Any] = []  # of the values, in the order of the marks

    def alias(self) -> str:
        self.count += 1
        return f"t{self.count}"

    # ------------------------------------------------------------------------------- paths

    def start(self, path: Path, scope: Scope) -> Scope:
        if path.head == "SELF":
            while scope.parent:
                scope = scope.parent
            return scope
        name = path.steps[0][1] if path.steps and path.steps[0][0] == "name" else None
        at: Scope | None = scope
        while at:
            if at.var == path.head if path.head else name is None or at.cls.find(name):
                return at
            at = at.parent
        raise CannotSay

    def hop(self, walk: Walk, prop: Prop) -> None:
        """From objects to those a property links to."""
        self.joins = True
        target = self.universe.classes[prop.target]
        alias = self.alias()
        if prop.type == "backlinks":
            origin = target.find(prop.origin)
            assert origin is not None
            self.back(walk, target, origin)
            return
        if prop.coll:
            join = self.alias()
            walk.add(f"{walk.cls.name}.{prop.name}", join, f'{join}."owner" = {walk.alias}."key"')
            walk.add(target.name, alias, f'{alias}."key" = {join}."item"')
            walk.many = True
        else:
            walk.add(target.name, alias, f'{alias}."key" = {walk.alias}.{quoted(prop.name)}')
        walk.cls, walk.alias = target, alias

    def back(self, walk: Walk, origin: Cls, prop: Prop) -> None:
        self.joins = True
        alias = self.alias()
        if prop.coll:
            join = self.alias()
            walk.add(f"{origin.name}.{prop.name}", join, f'{join}."item" = {walk.alias}."key"')
            walk.add(origin.name, alias, f'{alias}."key" = {join}."owner"')
        else:
            walk.add(origin.name, alias, f'{alias}.{quoted(prop.name)} = {walk.alias}."key"')
        walk.cls, walk.alias, walk.many = origin, alias, True

    def walk(self, path: Path, scope: Scope) -> tuple[Walk, Prop | None]:
        """The joins before the last property, and that one; None behind backlinks."""
        at = self.start(path, scope)
        walk = Walk(at.cls, at.alias)
        for position, step in enumerate(path.steps):
            last = position == len(path.steps) - 1
            if step[0] == "links":
                origin = self.universe.classes[step[1]]
                prop = origin.find(step[2])
                if prop is None or prop.type != "link":
                    raise CannotSay
                self.back(walk, origin, prop)
                continue
            if step[0] != "name":
                raise CannotSay
            found = walk.cls.find(step[1])
            if found is None:
                raise CannotSay
            if last:
                return walk, found
            if not found.objects:
                raise CannotSay
            if found.coll == "dict":
                following = path.steps[position + 1]
                target = self.universe.classes[found.target]
                if following[0] != "name" or target.find(following[1]) is None:
                    raise CannotSay  # an entry (I8)
            self.hop(walk, found)
        return walk, None

    def one(self, walk: Walk, text: str) -> str:
        """A value behind links to one; NULL behind a null link (U6)."""
        return f"(SELECT {text} {walk.source})" if walk.tables else text

    def path(self, path: Path, scope: Scope) -> Value:
        if not path.steps:
            raise CannotSay
        walk, prop = self.walk(path, scope)
        if path.ending in SIZES:
            return self.size(path, walk, prop)
        if path.ending:
            raise CannotSay
        if prop is None or prop.to_many and prop.objects:
            if prop and prop.coll == "dict":
                raise CannotSay  # null links are among the values, which joins leave out
            if prop:
                self.hop(walk, prop)
            return Value(f'{walk.alias}."key"', "link", walk.source, path.quant,
                         target=walk.cls.name)
        if prop.type not in COLUMNS or (walk.cls.name, prop.name) in self.bad:
            raise CannotSay
        if prop.coll:
            if walk.many:
                raise CannotSay  # Q12: collection by collection
            item = self.items(walk, prop)
            return Value(f'{item}."item"', prop.type, walk.source, path.quant, prop=prop)
        text = f"{walk.alias}.{quoted(prop.name)}"
        if walk.many:
            if prop.type == "link":
                walk.conditions.append(f"{text} IS NOT NULL")  # U7
            return Value(text, prop.type, walk.source, path.quant, prop=prop, target=prop.target)
        return Value(self.one(walk, text), prop.type, prop=prop, direct=not walk.tables,
                     target=prop.target)

    def items(self, walk: Walk, prop: Prop) -> str:
        self.joins = True
        join = self.alias()
        walk.add(f"{walk.cls.name}.{prop.name}", join, f'{join}."owner" = {walk.alias}."key"')
        return join

    def size(self, path: Path, walk: Walk, prop: Prop | None) -> Value:
        if path.quant or walk.tables and (prop is not None or len(path.steps) != 1):
            raise CannotSay  # A6: a number for each parent
        if prop is None:
            return Value(f"(SELECT count(*) {walk.source})", "int")
        if prop.objects:
            self.hop(walk, prop)
            return Value(f"(SELECT count(*) {walk.source})", "int")
        if prop.coll and prop.type in COLUMNS:
            if (walk.cls.name, prop.name) in self.bad:
                raise CannotSay
            self.items(walk, prop)
            return Value(f"(SELECT count(*) {walk.source})", "int")
        if prop.type not in ("string", "binary"):
            raise CannotSay
        return Value(f"length(CAST({walk.alias}.{quoted(prop.name)} AS BLOB))", "int")

    # ---------------------------------------------------------------------------- operands

    def operand(self, node: Node, scope: Scope) -> Value:
        if isinstance(node, Path):
            return self.path(node, scope)
        if isinstance(node, Aggregate) and len(node.of) == 1:
            return self.aggregate(node.op, self.path(node.path, scope), node.of[0])
        if isinstance(node, Aggregate) and not node.of:
            value = self.path(node.path, scope)
            if not value.many or value.prop is None or not value.prop.coll:
                raise CannotSay
            return self.total(node.op, value.text, value.type, value.prop, value.source, None)
        if isinstance(node, Subquery) and node.op in SIZES:
            value = self.path(node.path, scope)
            if value.type != "link" or not value.many or value.prop:
                raise CannotSay
            alias = value.text.split(".")[0]
            inner = Scope(self.universe.classes[value.target], alias, node.var, scope)
            return Value(f"(SELECT count(*) {value.source} AND {self.condition(node.pred, inner)})",
                         "int")
        raise CannotSay

    def aggregate(self, op: str, value: Value, name: str) -> Value:
        if value.type != "link" or not value.many or value.prop:
            raise CannotSay
        cls = self.universe.classes[value.target]
        prop = cls.find(name)
        if prop is None or prop.coll or (cls.name, prop.name) in self.bad:
            raise CannotSay
        text = f"{value.text.split('.')[0]}.{quoted(prop.name)}"
        return self.total(op, text, prop.type, prop, value.source, cls)

    def total(self, op: str, text: str, type: str, prop: Prop, source: str, cls: Cls | None
              ) -> Value:
        if type not in NUMBERS and not (type == "timestamp" and op in ("@min", "@max")):
            raise CannotSay
        if op in ("@min", "@max"):
            return Value(f"(SELECT {op[1:]}({text}) {source})", type)
        if self.hard(op, prop):
            raise CannotSay
        if op == "@sum":
            return Value(f"(SELECT ifnull(sum({text}), 0) {source})",
                         "int" if type == "int" else "double")
        return Value(f"(SELECT avg({text}) {source})", "double")

    def hard(self, op: str, prop: Prop) -> bool:
        """Sums that are NULL for SQLite, averages of integers that Double does not hold."""
        values = [row.values.get(prop.name) for rows in self.universe.rows.values()
                  for row in rows if prop in row.cls.props]
        flat = [item for value in values for item in (
            value if isinstance(value, list) else
            [*value.values()] if isinstance(value, dict) else [value])]
        return any(kind(item) == "number" and (
            is_infinite(item) or op == "@avg" and isinstance(item, int) and abs(item) > 2**53)
            for item in flat)

    def mark(self, value: Any) -> str:
        self.names.append(stored(value))
        return f":v{len(self.names)}"

    def constant(self, lit: Node, value: Value) -> str:
        if not isinstance(lit, Lit) or lit.value is None or lit.text:
            raise CannotSay
        constant = lit.value
        if value.type in NUMBERS:
            # Text, decimals and rounding to Float are the evaluator's; bool is no number.
            fits = isinstance(constant, (int, float)) and not isinstance(constant, bool)
            if value.type == "float" and isinstance(constant, float) \
                    and type_of(constant) != "float":
                fits = False
        elif value.type == "link":
            fits = isinstance(constant, Row) and constant.cls.name == value.target
        else:
            fits = kind(constant) == value.type
        if not fits:
            raise CannotSay
        return self.mark(constant)

    # -------------------------------------------------------------------------- conditions

    def condition(self, node: Node, scope: Scope) -> str:
        """A condition that is 0 or 1, never NULL (U1)."""
        if isinstance(node, Const):
            return str(int(node.truth))
        if isinstance(node, (And, Or)):
            word = " AND " if isinstance(node, And) else " OR "
            return "(" + word.join(self.condition(part, scope) for part in node.parts) + ")"
        if isinstance(node, Not):
            return f"(NOT {self.condition(node.inner, scope)})"
        if isinstance(node, Between):
            value = self.operand(node.left, scope)
            if value.type in ("bool", "link") or len(node.bounds.items) != 2:
                raise CannotSay
            low, high = (self.bound(item, value, scope) for item in node.bounds.items)
            return self.wrap(value, f"ifnull({value.text} BETWEEN {low} AND {high}, 0)",
                             node.negated)
        if isinstance(node, Compare) and not node.opts:
            return self.comparison(node, scope)
        raise CannotSay

    def bound(self, node: Node, value: Value, scope: Scope) -> str:
        if isinstance(node, Lit):
            return self.constant(node, value)
        end = self.operand(node, scope)
        if end.many or end.type != value.type and not {end.type, value.type} <= set(NUMBERS):
            raise CannotSay
        return end.text

    @staticmethod
    def wrap(value: Value, text: str, negated: bool) -> str:
        """The test of one value as that of an operand."""
        if value.many:
            if value.quant == "ALL":
                text = f"NOT EXISTS(SELECT 1 {value.source} AND NOT {text})"
            else:
                text = f"{'NOT ' if value.quant == 'NONE' else ''}EXISTS(SELECT 1 " \
                       f"{value.source} AND {text})"
        return f"(NOT {text})" if negated else f"({text})"

    def comparison(self, node: Compare, scope: Scope) -> str:
        value, op, right = self.operand(node.left, scope), node.op, node.right
        if isinstance(right, ListLit):
            if right.quant not in ("", "ANY", "SOME") or op not in ("in", "=="):
                raise CannotSay
            if value.many and not value.quant:
                raise CannotSay  # Q6, Q8
            if any(item.value is None for item in right.items):
                raise CannotSay
            marks = ", ".join(self.constant(item, value) for item in right.items)
            return self.wrap(value, f"ifnull({value.text} IN ({marks}), 0)", node.negated)
        if isinstance(right, (Path, Aggregate, Subquery)):
            return self.two(value, op, self.operand(right, scope), node.negated)
        if isinstance(right, Lit) and right.value is None:
            if op not in ("==", "!=") or value.many and value.type == "link":
                raise CannotSay
            return self.wrap(value, f"({value.text} IS {'NOT ' if op == '!=' else ''}NULL)",
                             node.negated)
        mark = self.constant(right, value)
        return self.wrap(value, self.test(value, op, mark, right), node.negated)

    def test(self, value: Value, op: str, mark: str, right: Node) -> str:
        if op in ("==", "!="):
            return f"({value.text} IS {'NOT ' if op == '!=' else ''}{mark})"
        if value.type == "link":
            raise CannotSay
        if op in ("<", "<=", ">", ">="):
            # U4: a null String of the object itself is the smallest.
            null = int(value.direct and value.type == "string" and op in ("<", "<="))
            return f"ifnull({value.text} {op} {mark}, {null})"
        if value.type != "string" or op in ("matches", "in") or not isinstance(right, Lit):
            raise CannotSay
        self.names[-1] = self.pattern(op, right.value, value)
        return f"ifnull({value.text} GLOB {mark}, 0)"

    def pattern(self, op: str, text: str, value: Value) -> str:
        if op == "like":
            # X7: in a format string, a backslash makes the next character one of the text.
            parts = re.findall(r"\\.|[^\\]|\\$" if self.dialect == "format" else ".", text, re.S)
            if self.dialect == "format" and any(
                    part[0] == "\\" and part[1:] not in ("*", "?", "\\") for part in parts):
                raise CannotSay
            pattern = "".join(f"[{part[-1]}]" if part == "[" or len(part) > 1 else part
                              for part in parts)
        elif self.dialect == "format" and not text:
            raise CannotSay  # X6
        else:
            plain = "".join(f"[{char}]" if char in "*?[" else char for char in text)
            pattern = {"contains": f"*{plain}*", "beginswith": f"{plain}*",
                       "endswith": f"*{plain}"}[op]
        if "\0" in pattern or value.prop is None or self.has_nul(value.prop):
            raise CannotSay  # GLOB ends at NUL
        return pattern

    def has_nul(self, prop: Prop) -> bool:
        return any("\0" in text for rows in self.universe.rows.values() for row in rows
                   if prop in row.cls.props for text in texts(row.values[prop.name]))

    def two(self, left: Value, op: str, right: Value, negated: bool) -> str:
        """Two operands of the same object; one of them may be many (Q17)."""
        if left.many and right.many or left.type == "link" or right.type == "link":
            raise CannotSay
        if left.type != right.type and not {left.type, right.type} <= set(NUMBERS):
            raise CannotSay
        if op in ("==", "!="):
            text = f"({left.text} IS {'NOT ' if op == '!=' else ''}{right.text})"
        elif op in ("<", "<=", ">", ">="):
            # U3: both null are <= and >=.
            null = f"({left.text} IS NULL AND {right.text} IS NULL)" if "=" in op else "0"
            text = f"ifnull({left.text} {op} {right.text}, {null})"
        else:
            raise CannotSay
        return self.wrap(left if left.many else right, text, negated)

    # --------------------------------------------------------------------------- clauses

    def query(self, query: Query) -> Statement:
        where = self.condition(query.pred, Scope(self.cls, "s"))
        table = quoted(self.cls.name)
        text = (f'SELECT s."key" AS "key", row_number() OVER (ORDER BY s."key") AS "pos" '
                f"FROM {table} s WHERE {where}")
        for suffix in query.suffixes:
            text = self.clause(suffix, text, table)
        return Statement(f'SELECT "key" FROM ({text}) ORDER BY "pos"', self.names, self.joins)

    def clause(self, suffix: Suffix, text: str, table: str) -> str:
        if suffix.op in ("LIMIT", "OFFSET"):
            first = suffix.limit if suffix.op == "OFFSET" else 0
            return (f'SELECT "key", "pos" FROM ({text}) ORDER BY "pos" '
                    f"LIMIT {suffix.limit if suffix.op == 'LIMIT' else -1} OFFSET {first}")
        keys, missing = [], []
        for path, way in suffix.keys:
            walk, prop = self.walk(path, Scope(self.cls, "s"))
            if walk.many or prop is None or prop.to_many or prop.type not in COLUMNS \
                    or (walk.cls.name, prop.name) in self.bad:
                raise CannotSay
            down = " DESC" if way.upper().startswith("DESC") else ""
            if walk.tables:  # D4: behind a null link last, and first in descending order
                absent = f"(NOT EXISTS(SELECT 1 {walk.source}))"
                keys.append(absent + down)
                missing.append(absent)
            keys.append(self.one(walk, f"{walk.alias}.{quoted(prop.name)}") + down)
        base = f'({text}) p JOIN {table} s ON s."key" = p."key"'
        order = ", ".join(keys)
        if suffix.op == "SORT":
            return (f'SELECT p."key" AS "key", row_number() OVER (ORDER BY {order}, p."pos") '
                    f'AS "pos" FROM {base}')
        where = " AND ".join(f"NOT {absent}" for absent in missing) or "1"  # D8
        return (f'SELECT "key", "pos" FROM (SELECT p."key" AS "key", p."pos" AS "pos", '
                f'row_number() OVER (PARTITION BY {order} ORDER BY p."pos") AS "nth" '
                f'FROM {base} WHERE {where}) WHERE "nth" = 1')


def texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        value = list(value.values())
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, str)]


def type_of(value: Any) -> str:
    from .reach import value_type
    return value_type(value)


class Oracle:
    """A universe in SQLite: a table for each class and for each collection. Columns that hold what
    SQLite cannot are known as bad ones."""

    def __init__(self, universe: Universe) -> None:
        self.db = sqlite3.connect(":memory:")
        self.universe = universe
        self.bad: set[tuple[str, str]] = set()
        self.by_key: dict[str, dict[int, Row]] = {}
        for cls in universe.classes.values():
            self.fill(cls)

    def __del__(self) -> None:
        self.db.close()

    def column(self, cls: Cls, prop: Prop, read: Callable[[Any], Any]) -> list[Any]:
        try:
            return [read(row.values[prop.name]) for row in self.universe.rows[cls.name]]
        except CannotSay:
            self.bad.add((cls.name, prop.name))
            return [None] * len(self.universe.rows[cls.name])

    def fill(self, cls: Cls) -> None:
        rows = self.universe.rows[cls.name]
        props = [prop for prop in cls.props if prop.type in COLUMNS]
        plain = [prop for prop in props if not prop.coll]
        names = "".join(f", {quoted(prop.name)} {COLUMNS[prop.type]}" for prop in plain)
        self.db.execute(f'CREATE TABLE {quoted(cls.name)} ("key" INTEGER PRIMARY KEY{names})')
        columns = [[row.key for row in rows], *[self.column(cls, prop, stored) for prop in plain]]
        marks = ", ".join("?" * len(columns))
        self.db.executemany(f"INSERT INTO {quoted(cls.name)} VALUES ({marks})", zip(*columns))
        self.by_key[cls.name] = {row.key: row for row in rows}
        for prop in props:
            if prop.coll:
                self.fill_collection(cls, prop)

    def fill_collection(self, cls: Cls, prop: Prop) -> None:
        table = quoted(f"{cls.name}.{prop.name}")
        self.db.execute(f'CREATE TABLE {table} ("owner" INTEGER, "item" {COLUMNS[prop.type]})')
        lists = self.column(cls, prop, lambda value: [stored(item) for item in (
            value.values() if isinstance(value, dict) else value)])
        self.db.executemany(f"INSERT INTO {table} VALUES (?, ?)", [
            (row.key, item) for row, items in zip(self.universe.rows[cls.name], lists)
            for item in items or []])

    def translate(self, cls: Cls, query: Query, dialect: str = "core") -> Statement | None:
        """The query in SQL, or None where it has more than SQL can say."""
        try:
            return Translator(self.universe, cls, self.bad, dialect).query(query)
        except CannotSay:
            return None

    def answer(self, cls: Cls, query: Query, dialect: str) -> list[Row] | None:
        statement = self.translate(cls, query, dialect)
        return self.rows(cls, statement) if statement else None

    def rows(self, cls: Cls, statement: Statement) -> list[Row] | None:
        try:
            found = self.db.execute(statement.text, statement.named).fetchall()
        except sqlite3.OperationalError as error:
            if "overflow" in str(error) or "too many" in str(error) or "parser stack" in str(error):
                return None
            raise
        return [self.by_key[cls.name][key] for key, in found]

    def aggregate(self, op: str, cls: Cls, prop: Prop, rows: list[Row]) -> tuple[bool, Any]:
        """An aggregate over objects, where SQL can say it."""
        if (cls.name, prop.name) in self.bad or prop.type not in NUMBERS:
            return False, None
        if op in ("@sum", "@avg") and Translator(self.universe, cls, self.bad).hard(op, prop):
            return False, None
        name = {"@min": "min", "@max": "max", "@sum": "sum", "@avg": "avg"}[op]
        keys = ", ".join(str(row.key) for row in rows)
        try:
            made, = self.db.execute(f"SELECT {name}({quoted(prop.name)}) FROM {quoted(cls.name)} "
                                    f'WHERE "key" IN ({keys})').fetchone()
        except sqlite3.OperationalError:
            return False, None  # an overflow
        return True, 0 if made is None and op == "@sum" else made
