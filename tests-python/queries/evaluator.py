"""Predicates bound to a schema, and whole queries: which rows, in which order, or which errors.

A second, naive implementation of the rules; it shares nothing with the engine.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Callable

from . import geo, text_rules, words
from .clauses import bind_suffix
from .operands import Failed, INVALID_ARG, INVALID_QUERY, Operand, OperandBinder, Scope
from .reach import Env, Groups
from .schema import Cls, NUMERIC, Universe
from .syntax import (And, Between, Compare, Const, Flag, FullText, ListLit, Lit, Node, Not, Or,
                     Query, Within)
from .values import (DECIMAL, F32, Row, Unspecified, equal, is_infinite, is_nan, kind, order,
                     ordered)

TEXT_OPS = ("beginswith", "endswith", "contains", "like", "matches")
ORDER_OPS = ("<", "<=", ">", ">=")
ILLEGAL_OPERATION = 2007
UNFIT = object()  # a constant that cannot equal anything of the type


class Binder(OperandBinder):
    def __init__(self, universe: Universe, root: Cls, dialect: str = "core") -> None:
        super().__init__(universe, root)
        self.dialect = dialect

    # -------------------------------------------------------------------------- predicates

    def predicate(self, node: Node, scope: Scope) -> Callable[[Env], bool]:
        if isinstance(node, Const):
            truth = node.truth
            return lambda env: truth
        if isinstance(node, (And, Or)):
            parts = [self.part(part, scope) for part in node.parts]
            # Both sides are evaluated, so that what is unspecified is noticed in either.
            if isinstance(node, And):
                return lambda env: all([part(env) for part in parts])
            return lambda env: any([part(env) for part in parts])
        if isinstance(node, Not):
            inner = self.part(node.inner, scope)
            return lambda env: not inner(env)  # U1
        if isinstance(node, Flag):
            return self.compare(Compare("==", node.path, Lit(True)), scope)  # X11
        if isinstance(node, Within):
            return self.within(node, scope)
        if isinstance(node, FullText):
            return self.full_text(node, scope)
        if isinstance(node, Between):
            test = self.between(node, scope)
        elif isinstance(node, Compare):
            test = self.compare(node, scope)
        else:
            raise Unspecified(type(node).__name__)
        if node.negated:
            return lambda env: not test(env)  # B9
        return test

    def part(self, node: Node, scope: Scope) -> Callable[[Env], bool]:
        """One of several conditions: an error in it leaves the others to be looked at."""
        try:
            return self.predicate(node, scope)
        except Failed:
            return lambda env: False

    # ------------------------------------------------------------------------- comparisons

    def compare(self, node: Compare, scope: Scope) -> Callable[[Env], bool]:
        op = node.op
        left, right = self.operand(node.left, scope), self.operand(node.right, scope)
        constant = ("const", "list")
        if "@type" in (left.type, right.type):
            if node.op == "in" and right.role != "list" and not right.many:
                raise self.fail(INVALID_ARG)
            return self.type_test(node, left, right)
        if left.role in constant and right.role in constant:
            raise self.fail(INVALID_QUERY)  # Y4
        if op == "in":
            if not (right.role == "list" or right.many):
                raise self.fail(INVALID_ARG)  # C3
        left, right = loosened(op, left, right), loosened(op, right, left)
        self.check_types(op, left, right, text_rules.option_letters(node.opts))
        left_values = self.coerced(op, left, right)
        right_values = self.coerced(op, right, left)
        test = self.value_test("==" if op == "in" else op, left, right, node.opts)
        if left.many and right.many and not left.quant and not right.quant:
            return self.positional(op, left, right, left_values, right_values, test)
        return quantified(left, right, left_values, right_values, test)

    def check_types(self, op: str, left: Operand, right: Operand, letters: str) -> None:
        self.check_links(op, left, right)
        types = {left.type, right.type}
        if op in TEXT_OPS:
            unfit = [side for side in (right, left)
                     if side.type not in ("string", "binary", "mixed", "list")
                     and not (side.type == "null" and side.role == "const")]
            if unfit:
                self.errors += [self.code(side) for side in unfit]  # S1
                raise Failed
            if types == {"string", "binary"}:
                raise Unspecified("text operators between String and Data")
            if "binary" in types and "d" in letters:
                raise self.fail(INVALID_QUERY)  # B1
            if op == "matches" and right.type in ("null", "list"):
                raise Unspecified("MATCHES with null or lists")
            return
        if types & {"null", "list"}:
            return
        if "binary" in types and "d" in letters:
            raise self.fail(INVALID_QUERY)  # B1
        if left.type == right.type or types <= set(NUMERIC) or "mixed" in types:
            return  # T1
        for side, other in ((left, right), (right, left)):
            if side.role == "const":
                if side.type == "string" and other.type in NUMERIC:
                    return  # T6, looked at by coerced()
                raise self.fail(self.code(side))  # E3
        raise self.fail(INVALID_QUERY)

    def check_links(self, op: str, left: Operand, right: Operand) -> None:
        for side, other in ((left, right), (right, left)):
            if side.type == "link" and op in ORDER_OPS:
                if other.role == "const" and other.type != "link":
                    self.errors.append(self.code(other))
                raise self.fail(INVALID_QUERY)  # T15
            if side.type != "link" or side.role == "const":
                continue
            if op not in ("==", "!=", "in"):
                if other.role == "const":  # or S1 of the constant
                    self.errors.append(self.code(other))
                raise self.fail(INVALID_QUERY)  # T15
            if other.role == "const":
                if other.type == "null":
                    if side.many:
                        raise self.fail(INVALID_QUERY)  # U8
                elif other.type == "link":
                    if other.target != side.target:
                        raise self.fail(INVALID_ARG)  # T15
                else:
                    raise self.fail(self.code(other))
            elif other.role == "list":
                assert isinstance(other.node, ListLit)
                for item in other.node.items:
                    if isinstance(item.value, Row) and item.value.cls.name != side.target:
                        raise self.fail(INVALID_ARG)
                    if side.many and item.value is None:
                        raise Unspecified("null in a list against an object collection")
            elif other.type == "link" and other.target != side.target:
                raise self.fail(INVALID_QUERY)  # T16

    @staticmethod
    def code(side: Operand) -> int:
        """E3: a mismatch through an argument has a code of its own."""
        is_arg = isinstance(side.node, Lit) and side.node.is_arg
        return INVALID_ARG if is_arg else INVALID_QUERY

    def coerced(self, op: str, side: Operand, other: Operand) -> Callable[[Env], Groups]:
        """The values of a side, constants in the type of the other (T5, T6)."""
        if side.role == "const":
            assert isinstance(side.node, Lit)
            value = self.constant(side.node, other, op, member=False)
            return lambda env: [[value]]
        if side.role == "list":
            assert isinstance(side.node, ListLit)
            items = [Lit(item.value, True) if side.node.arg else item for item in side.node.items]
            values = [self.constant(item, other, op, member=True) for item in items]
            if UNFIT in values:
                plain = op in ("==", "in") and side.quant in ("", "ANY", "SOME") and not (
                    other.many and not other.quant and not side.quant)
                if not plain:
                    raise Unspecified("an unfit member of a list")
            fitting = [value for value in values if value is not UNFIT]  # C4
            return lambda env: [fitting]
        return side.values

    def constant(self, lit: Lit, other: Operand, op: str, *, member: bool) -> Any:
        value, type = lit.value, other.type
        if value is None:
            if member and op in TEXT_OPS:
                raise Unspecified("null in a list of a text operator")
            return None
        name = kind(value)
        if type in NUMERIC:
            if name == "string" and op not in TEXT_OPS:
                return self.number_of_text(lit, other, member)
            if name == "number":
                return self.number(lit, other, member)
            return UNFIT
        if name == "link" and op in ORDER_OPS:
            raise Unspecified("order of a link and Any")
        if type in ("mixed", "list"):
            return value
        if name != type:
            if member:
                return UNFIT
            if name == "number" and is_infinite(value):
                raise self.fail(INVALID_QUERY)  # T9
            raise self.fail(INVALID_ARG if lit.is_arg else INVALID_QUERY)
        return value

    def number_of_text(self, lit: Lit, other: Operand, member: bool) -> Any:
        """T6."""
        text = lit.value.strip()
        if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text, re.ASCII):
            if re.search(r"inf|nan|0x|f$", text, re.IGNORECASE):
                raise Unspecified("text that may be a number")
            if member:
                return UNFIT
            raise self.fail(INVALID_ARG if lit.is_arg else INVALID_QUERY)
        if other.type == "decimal128":
            return DECIMAL.create_decimal(text)
        if re.fullmatch(r"[+-]?\d+", text):
            if abs(int(text)) >= (2**63 if other.type == "int" else 2**53):
                raise Unspecified("text of a large integer")
            if other.type == "int":
                return int(text)
        return F32(float(text)) if other.type == "float" else float(text)

    def number(self, lit: Lit, other: Operand, member: bool) -> Any:
        value, type = lit.value, other.type
        if type == "int" and not isinstance(value, int):
            if is_infinite(value) or (is_nan(value) and lit.is_arg):
                if member:
                    raise Unspecified("infinity in a list")
                if isinstance(value, Decimal):
                    raise Unspecified("an infinite decimal against Int")
                raise self.fail(INVALID_QUERY)  # T9
            if isinstance(value, Decimal) and is_nan(value):
                raise Unspecified("a decimal NaN against Int")
            return value
        if type == "float" and not isinstance(value, F32) and not is_nan(value):
            if other.role != "path" and F32(float(value)) != value:
                raise Unspecified("rounding of a constant beside a Float expression")
            if isinstance(value, int):
                if F32(float(value)) == value:
                    return value
                raise Unspecified("an integer that Float cannot hold")
            if isinstance(value, float):
                if not is_infinite(value) and is_infinite(F32(value)):
                    raise Unspecified("a constant beyond the range of Float")
                return F32(value)  # T5
        if type == "decimal128" and lit.text and not lit.is_arg and "x" not in lit.text:
            if other.role != "path":
                raise Unspecified("digits of a constant beside a Decimal expression")
            try:
                return DECIMAL.create_decimal(lit.text)  # T5
            except InvalidOperation:
                pass
        if type == "decimal128" and isinstance(value, float) and not lit.is_arg:
            if not isinstance(value, F32):
                return DECIMAL.create_decimal(repr(value))
            # T4 rounds a float to seven digits, T5 reads the text of a constant whole.
            if DECIMAL.create_decimal(repr(float(value))) != DECIMAL.create_decimal(f"{value:.7g}"):
                raise Unspecified("digits of a Float constant beside a Decimal")
            return value
        return value

    def value_test(self, op: str, left: Operand, right: Operand, opts: str
                   ) -> Callable[[Any, Any], bool]:
        """The test of one value against one value."""
        letters = text_rules.option_letters(opts)
        if op in TEXT_OPS:
            direct = left.direct and right.role == "const"
            if letters and "binary" in (left.type, right.type) and op == "like":
                raise Unspecified("LIKE[c] of Data")
            odd_null = left.direct and left.type == "mixed" and right.type == "null"

            def text_test(a: Any, b: Any) -> bool:
                if self.dialect == "format":
                    if op in ("beginswith", "endswith", "contains") and not b:
                        return False  # X6
                if odd_null:
                    raise Unspecified("a null needle on a direct Any property")
                return text_rules.text_operation(
                    op, a, b, letters, direct=direct, is_data=left.type == "binary",
                    escapes=self.dialect == "format")
            return text_test
        types = {left.type, right.type}
        family = "decimal128" if "decimal128" in types else \
            "" if "mixed" in types else "double"
        # U4: a direct String property orders null below every constant.
        low_null = False
        for side, other in ((left, right), (right, left)):
            if side.direct and side.type == "string" and other.role in ("const", "list"):
                low_null = True
        odd = low_null and "list" in types

        def test(a: Any, b: Any) -> bool:
            if letters and isinstance(a, str) and isinstance(b, str):
                a, b = (text_rules.transform(x, letters) for x in (a, b))
            elif letters and kind(a) == "binary" and kind(b) == "binary":
                a, b = (text_rules.fold_data(x, letters) for x in (a, b))
            if "mixed" in types and any(isinstance(x, Decimal) and is_nan(x) for x in (a, b)):
                raise Unspecified("NaN of a decimal beside Any")
            if op == "==":
                return equal(a, b, family)
            if op == "!=":
                return not equal(a, b, family)
            if low_null and (a is None or b is None):
                if odd:
                    raise Unspecified("order of a null String against a list")
                result = order(a, b)
                return {"<": result < 0, "<=": result <= 0, ">": result > 0,
                        ">=": result >= 0}[op]
            return ordered(op, a, b, family)
        return test

    def positional(self, op: str, left: Operand, right: Operand,
                   left_values: Callable[[Env], Groups], right_values: Callable[[Env], Groups],
                   test: Callable[[Any, Any], bool]) -> Callable[[Env], bool]:
        """Q6 to Q10."""
        if left.grouped and right.grouped:
            raise Unspecified("two grouped collections by position")
        if {left.type, right.type} == {"link", "list"} and op in ("==", "!="):
            many, list_side = (left, right) if left.type == "link" else (right, left)
            if many.direct:
                if op == "==" and not (isinstance(list_side.node, ListLit)
                                       and not list_side.node.items):
                    # Q10: some member is one of.
                    return quantified(left, right, left_values, right_values, test)

        def pair(a: list[Any], b: list[Any]) -> bool:
            if op == "!=":
                return len(a) != len(b) or any(test(x, y) for x, y in zip(a, b))  # Q7
            return len(a) == len(b) and all([test(x, y) for x, y in zip(a, b)])
        return lambda env: any([pair(a, b) for a in left_values(env) or [[]]
                                for b in right_values(env) or [[]]])

    def full_text(self, node: FullText, scope: Scope) -> Callable[[Env], bool]:
        """F1 to F9."""
        left = self.operand(node.left, scope)
        if left.type != "string" or left.role != "path":
            raise self.fail(INVALID_QUERY)
        if left.prop is None:
            raise self.fail(ILLEGAL_OPERATION)  # a value that is no property
        if left.quant or left.grouped or left.prop.coll:
            raise Unspecified("TEXT with a quantifier or on a collection of strings")
        if not left.prop.fulltext:
            raise self.fail(ILLEGAL_OPERATION)
        try:
            test, excludes = words.search(node.words, left.prop.unicode)
        except words.WordError:
            raise self.fail(words.INVALID_ARGUMENT) from None
        if excludes and not left.direct:
            raise Unspecified("exclusions alone through links")
        values = left.values
        return lambda env: any([test(value) for group in values(env) for value in group])

    def within(self, node: Within, scope: Scope) -> Callable[[Env], bool]:
        left = self.operand(node.path, scope)
        cls = self.universe.classes[left.target] if left.type == "link" else None
        fits = cls and cls.embedded and cls.find("type") and cls.find("coordinates")
        if not fits:
            raise self.fail(INVALID_QUERY)  # G1
        inside, values, quant = geo.shape(node.kind, node.numbers), left.values, left.quant

        def test(env: Env) -> bool:
            points = [geo.point_of(row) for group in values(env) for row in group]
            truths = [point is not None and inside(point) for point in points]
            return bool(truths) and all(truths) if quant == "ALL" else quantify(quant, truths)
        return test  # G5

    def type_test(self, node: Compare, left: Operand, right: Operand) -> Callable[[Env], bool]:
        """K9 to K11: each value stands for the set of its kinds."""
        if node.op not in ("==", "!=", "in"):
            raise self.fail(INVALID_QUERY)
        if all(side.type == "@type" and side.role == "const" for side in (left, right)):
            raise self.fail(INVALID_QUERY)
        sides = []
        for side, other in ((left, right), (right, left)):
            if side.type == "@type":
                sides.append(side.values)
                continue
            if side.role not in ("const", "list"):
                raise Unspecified("@type beside a property")
            if other.role == "const":
                raise self.fail(INVALID_QUERY)
            kinds = [words.kinds_of(value) for value in side.values(Env(None))[0]]
            if None in kinds:
                raise self.fail(INVALID_ARG)
            sides.append(lambda env, kinds=kinds: [kinds])
        differ = node.op == "!="
        if left.many and right.many and not left.quant and not right.quant:
            raise Unspecified("@type by position")
        return quantified(left, right, sides[0], sides[1],
                          lambda a, b: bool(a & b) != differ)

    def between(self, node: Between, scope: Scope) -> Callable[[Env], bool]:
        """C8 to C11, B10."""
        left = self.operand(node.left, scope)
        if len(node.bounds.items) != 2:
            raise self.fail(INVALID_QUERY)
        ends = []
        for item in node.bounds.items:
            if isinstance(item, Lit) and node.bounds.arg:
                item = Lit(item.value, True)
            ends.append(self.operand(item, scope))
        if left.role == "list" or all(side.role == "const" for side in (left, *ends)):
            raise self.fail(INVALID_QUERY)  # Y4
        if isinstance(left.node, Lit) and left.node.value is None:
            raise Unspecified("null between bounds")
        if any(side.many for side in ends):
            raise Unspecified("collections as bounds")
        if left.type in ("link", "bool") or any(end.type in ("link", "bool") for end in ends):
            raise Unspecified("BETWEEN of types that the rules do not name")
        return between_test(left, [
            self.bound_tests(op, left, end, not isinstance(item, Lit))
            for op, end, item in zip((">=", "<="), ends, node.bounds.items)])

    def bound_tests(self, op: str, left: Operand, end: Operand, folded: bool) -> Bound:
        """A bound: its values, and the test of one value against one of them."""
        if end.role == "const":
            assert isinstance(end.node, Lit)
            if end.node.value is None:
                if folded:
                    self.errors.append(INVALID_ARG)  # of constants and arguments
                raise self.fail(self.code(end))  # C10
        if end.type == "@type" or left.type == "@type":
            raise Unspecified("BETWEEN of @type")
        if left.role == "const" and end.role == "const":
            raise Unspecified("a constant between a constant and an expression")
        left, end = loosened(op, left, end), loosened(op, end, left)
        self.check_types(op, left, end, "")
        ends, values = self.coerced(op, end, left), self.coerced(op, left, end)
        if end.role == "const":
            low = ends(Env(None))[0][0]
            if low is UNFIT:
                raise self.fail(self.code(end))
            if is_nan(low):
                raise Unspecified("NaN as a bound")
        nulls = left.role == "const" and end.direct and end.type == "string"
        test = self.value_test(op, left, end, "")

        def within(value: Any, bound: Any) -> bool:
            if bound is None and nulls:
                raise Unspecified("a null String as the bound of a constant")  # U4 or C10
            return value is not None and bound is not None and test(value, bound)
        return Bound(values, ends, within)


def loosened(op: str, side: Operand, other: Operand) -> Operand:
    """I6, T1: values of a typed dictionary are Any beside what their type does not fit."""
    prop = side.prop
    if prop is None or prop.coll != "dict" or side.type != prop.type or op in TEXT_OPS \
            or side.type == "mixed":
        return side
    if other.role == "const" and isinstance(other.node, Lit):
        value = other.node.value
        name = "null" if value is None else kind(value)
        fits = name in ("null", "number" if side.type in NUMERIC else side.type)
        if side.type in NUMERIC and name == "string":  # T6
            fits = re.fullmatch(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*|.*(inf|nan|0x|f$).*",
                                value, re.IGNORECASE | re.DOTALL) is not None
        elif side.type == "int" and name == "number":  # T9
            fits = not is_infinite(value) and not (is_nan(value) and other.node.is_arg)
    elif other.role in ("const", "list"):
        return side
    else:
        fits = other.type in (side.type, "mixed") or {side.type, other.type} <= set(NUMERIC)
    return side if fits else dataclasses.replace(side, type="mixed")


@dataclass
class Bound:
    values: Callable[[Env], Groups]  # of the left side, in the type of this bound
    ends: Callable[[Env], Groups]
    within: Callable[[Any, Any], bool]


def between_test(left: Operand, bounds: list[Bound]) -> Callable[[Env], bool]:
    """B10: one and the same member satisfies both ends."""
    def row(env: Env) -> bool:
        ends = [[value for group in bound.ends(env) for value in group] for bound in bounds]
        if left.quant in ("ALL", "NONE") and not all(ends):
            raise Unspecified("a quantifier beside no value")
        lows, highs = (bound.values(env) or [[]] for bound in bounds)
        return any([quantify(left.quant, [
            all(end and bound.within(value, end[0])
                for bound, value, end in zip(bounds, pair, ends))
            for pair in zip(low, high)]) for low, high in zip(lows, highs)])
    return row


def quantify(quant: str, truths: list[bool]) -> bool:
    if quant == "ALL":
        return all(truths)
    if quant == "NONE":
        return not any(truths)
    return any(truths)


def quantified(left: Operand, right: Operand, left_values: Callable[[Env], Groups],
               right_values: Callable[[Env], Groups], test: Callable[[Any, Any], bool]
               ) -> Callable[[Env], bool]:
    """Q5 and, with one scalar side, Q1 to Q4; groups are tested one by one (Q12)."""
    odd = {"ALL", "NONE"}

    def row(env: Env) -> bool:
        truths = []
        for a in left_values(env) or [[]]:
            for b in right_values(env) or [[]]:
                if (not left.many and not a and right.quant in odd) or (
                        not right.many and not b and left.quant in odd):
                    raise Unspecified("a quantifier beside no value")
                truths.append(quantify(left.quant, [
                    quantify(right.quant, [test(x, y) for y in b]) for x in a]))
        return any(truths)
    return row


# ---------------------------------------------------------------------------- whole queries

class Expected:
    """What a query must give: rows in order, or one of some error codes."""

    def __init__(self, rows: list[Row] | None, errors: list[int]) -> None:
        self.rows = rows
        self.errors = errors


def evaluate(universe: Universe, root: Cls, query: Query, base: list[Row] | None = None,
             dialect: str = "core") -> Expected:
    """`base` are the members of a list that is queried; else all objects of the class."""
    binder = Binder(universe, root, dialect)
    scope = Scope(root)
    test = binder.part(query.pred, scope)
    stages = []
    for suffix in query.suffixes:
        try:
            stages.append(bind_suffix(binder, suffix, root))
        except Failed:
            pass
    if binder.errors:
        return Expected(None, binder.errors)
    rows = base if base is not None else \
        sorted(universe.rows[root.name], key=lambda row: row.key)  # D2
    found = [row for row in rows if test(Env(row))]
    for stage in stages:
        found = stage(found)  # D1
    return Expected(found, [])
