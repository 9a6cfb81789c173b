"""SQLite as a third opinion, for what SQL can say: scalar columns, order and limit."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from typing import Any

from .schema import Cls, Universe
from .syntax import And, Between, Compare, Const, ListLit, Lit, Node, Not, Or, Path, Query
from .values import Date, Row, is_nan, kind

COLUMNS = {"int": "INTEGER", "bool": "INTEGER", "string": "TEXT", "binary": "BLOB",
           "timestamp": "INTEGER", "float": "REAL", "double": "REAL", "objectId": "BLOB",
           "uuid": "BLOB"}


@dataclass
class Statement:
    text: str
    values: list[Any] = field(default_factory=list)


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
    if name in ("binary", "objectId"):
        return bytes(value)
    if name == "number":
        if is_nan(value):
            raise CannotSay
        return float(value) if isinstance(value, float) else value
    return value


class Translator:
    def __init__(self, cls: Cls, rows: list[Row]) -> None:
        self.cls = cls
        self.rows = rows
        self.values: list[Any] = []

    def column(self, node: Node) -> tuple[str, str]:
        if not isinstance(node, Path) or len(node.steps) != 1 or node.ending or node.head \
                or node.quant or node.steps[0][0] != "name":
            raise CannotSay
        prop = self.cls.find(node.steps[0][1])
        if prop is None or prop.to_many or prop.type not in COLUMNS:
            raise CannotSay
        return f'"{prop.name}"', prop.type

    def texts(self, node: Node) -> list[str]:
        """What is stored in a column of texts."""
        assert isinstance(node, Path)
        prop = self.cls.find(node.steps[0][1])
        return [text for row in self.rows if (text := row.values[prop.name if prop else ""])]

    def constant(self, lit: Node, type: str) -> str:
        if not isinstance(lit, Lit) or lit.value is None or lit.text:
            raise CannotSay
        value = lit.value
        if type in ("int", "float", "double"):
            # Text, decimals and rounding to Float are the evaluator's; bool is no number.
            fits = isinstance(value, (int, float)) and not isinstance(value, bool)
            if type == "float" and isinstance(value, float) and type_of(value) != "float":
                fits = False
        else:
            fits = kind(value) == type
        if not fits:
            raise CannotSay
        self.values.append(stored(value))
        return "?"

    def condition(self, node: Node) -> str:
        """A condition that is 0 or 1, never NULL (U1)."""
        if isinstance(node, Const):
            return str(int(node.truth))
        if isinstance(node, (And, Or)):
            word = " AND " if isinstance(node, And) else " OR "
            return "(" + word.join(self.condition(part) for part in node.parts) + ")"
        if isinstance(node, Not):
            return f"(NOT {self.condition(node.inner)})"
        if isinstance(node, Between):
            name, type = self.column(node.left)
            if type == "bool" or len(node.bounds.items) != 2:
                raise CannotSay
            low, high = (self.constant(item, type) for item in node.bounds.items)
            text = f"ifnull({name} BETWEEN {low} AND {high}, 0)"
            return f"(NOT {text})" if node.negated else text
        if isinstance(node, Compare) and not node.opts:
            text = self.comparison(node)
            return f"(NOT {text})" if node.negated else text
        raise CannotSay

    def comparison(self, node: Compare) -> str:
        name, type = self.column(node.left)
        op, right = node.op, node.right
        if isinstance(right, ListLit):
            if right.quant not in ("", "ANY", "SOME") or op not in ("in", "=="):
                raise CannotSay
            if any(item.value is None for item in right.items):
                raise CannotSay
            marks = ", ".join(self.constant(item, type) for item in right.items)
            return f"ifnull({name} IN ({marks}), 0)"
        if isinstance(right, Lit) and right.value is None:
            if op in ("==", "!="):
                return f"({name} IS {'NOT ' if op == '!=' else ''}NULL)"
            raise CannotSay
        mark = self.constant(right, type)
        if op in ("==", "!="):
            return f"({name} IS {'NOT ' if op == '!=' else ''}{mark})"
        if op in ("<", "<=", ">", ">="):
            # CONTRACT A.3: a null String is the smallest.
            null = int(type == "string" and op in ("<", "<="))
            return f"ifnull({name} {op} {mark}, {null})"
        if type != "string" or op == "matches":
            raise CannotSay
        value = self.values.pop()
        if op == "like":
            pattern = "".join(f"[{char}]" if char == "[" else char for char in value)
        else:
            plain = "".join(f"[{char}]" if char in "*?[" else char for char in value)
            pattern = {"contains": f"*{plain}*", "beginswith": f"{plain}*",
                       "endswith": f"*{plain}"}[op]
        if "\0" in pattern or any("\0" in text for text in self.texts(node.left)):
            raise CannotSay  # GLOB ends at NUL
        self.values.append(pattern)
        return f"ifnull({name} GLOB ?, 0)"

    def query(self, query: Query) -> Statement:
        where = self.condition(query.pred)
        order, first, stop = ['"key"'], 0, 2**62
        limited = False
        for suffix in query.suffixes:
            if suffix.op == "SORT" and not limited:
                keys = []
                for path, way in suffix.keys:
                    name, _ = self.column(path)
                    keys.append(f"{name} {'DESC' if way.upper().startswith('DESC') else 'ASC'}")
                order = keys + order
            elif suffix.op == "LIMIT":
                stop, limited = min(stop, first + suffix.limit), True
            elif suffix.op == "OFFSET":
                first, limited = first + suffix.limit, True
            else:
                raise CannotSay
        return Statement(f'SELECT "key" FROM "{self.cls.name}" WHERE {where} '
                         f"ORDER BY {', '.join(order)} LIMIT {max(stop - first, 0)} "
                         f"OFFSET {first}", self.values)


def type_of(value: Any) -> str:
    from .reach import value_type
    return value_type(value)


def translate(cls: Cls, rows: list[Row], query: Query) -> Statement | None:
    """The query in SQL, or None where it has more than SQL can say."""
    try:
        return Translator(cls, rows).query(query)
    except CannotSay:
        return None


class Oracle:
    """The scalar columns of a universe in SQLite. Classes that hold NaN are left out."""

    def __init__(self, universe: Universe) -> None:
        self.db = sqlite3.connect(":memory:")
        self.universe = universe
        self.by_key: dict[str, dict[int, Row]] = {}
        for cls in universe.classes.values():
            self.fill(cls)

    def fill(self, cls: Cls) -> None:
        props = [prop for prop in cls.props if prop.type in COLUMNS and not prop.to_many]
        columns = "".join(f', "{prop.name}" {COLUMNS[prop.type]}' for prop in props)
        self.db.execute(f'CREATE TABLE "{cls.name}" ("key" INTEGER{columns})')
        marks = ", ".join("?" * (len(props) + 1))
        try:
            self.db.executemany(
                f'INSERT INTO "{cls.name}" VALUES ({marks})',
                [[row.key, *[stored(row.values[prop.name]) for prop in props]]
                 for row in self.universe.rows[cls.name]])
        except CannotSay:
            return
        self.by_key[cls.name] = {row.key: row for row in self.universe.rows[cls.name]}

    def rows(self, cls: Cls, statement: Statement) -> list[Row] | None:
        rows = self.by_key.get(cls.name)
        if rows is None:
            return None
        return [rows[key] for key, in self.db.execute(statement.text, statement.values)]
