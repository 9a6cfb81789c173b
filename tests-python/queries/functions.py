"""Arithmetic (rules R), aggregates of values (A10 to A12) and functions on values (B7, B8)."""

from __future__ import annotations

import math
import re
import time
from dataclasses import replace
from decimal import Decimal, ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP
from fractions import Fraction
from functools import cmp_to_key
from typing import TYPE_CHECKING, Any, Callable

from . import casts
from .casts import civil
from .schema import NUMERIC
from .syntax import Aggregate, Arith, Call, Lit, Negative, Node, Path
from .values import (DECIMAL, F32, Date, Unspecified, exact, is_infinite, is_nan, kind, order,
                     to_decimal, wrap64)

if TYPE_CHECKING:
    from .operands import Operand, OperandBinder, Scope
    from .reach import Env, Groups

INVALID_QUERY, INVALID_ARG = 1009, 3015


# ------------------------------------------------------------------------------- arithmetic

def numeric_type(value: Any) -> str:
    if isinstance(value, Decimal):
        return "decimal128"
    if isinstance(value, F32):
        return "float"
    return "double" if isinstance(value, float) else "int"


def result_type(a: str, b: str) -> str:
    """R2."""
    for name in ("mixed", "decimal128", "double", "float"):
        if name in (a, b):
            return name
    return "int"


def is_number(value: Any) -> bool:
    return kind(value) == "number"


def calculate(op: str, a: Any, b: Any) -> Any:
    """R2 to R5 on two values."""
    if not is_number(a) or not is_number(b):
        return None  # R4
    type = result_type(numeric_type(a), numeric_type(b))
    if type == "decimal128":
        x, y = to_decimal(a), to_decimal(b)
        if op == "+":
            return DECIMAL.add(x, y)
        if op == "-":
            return DECIMAL.subtract(x, y)
        return DECIMAL.multiply(x, y) if op == "*" else DECIMAL.divide(x, y)
    if type == "int":
        if op == "/":
            if b == 0:
                return None  # R5
            quotient = abs(a) // abs(b)
            return wrap64(quotient if (a < 0) == (b < 0) else -quotient)  # R3
        return wrap64(a + b if op == "+" else a - b if op == "-" else a * b)
    x, y = float(a), float(b)
    if type == "float":
        x, y = F32(x), F32(y)
    made = binary_float(op, float(x), float(y))
    return F32(made) if type == "float" else made


def binary_float(op: str, x: float, y: float) -> float:
    if op == "+":
        return x + y
    if op == "-":
        return x - y
    if op == "*":
        return x * y
    if y != 0:
        return x / y
    if x == 0 or x != x or y != y:
        return math.nan
    return math.inf if (x > 0) == (math.copysign(1, y) > 0) else -math.inf


def negative(value: Any) -> Any:
    if not is_number(value):
        return None
    if isinstance(value, F32):
        return F32(-value)
    if isinstance(value, Decimal):
        return value.copy_negate()
    return wrap64(-value) if isinstance(value, int) else -value


def bind(binder: OperandBinder, node: Node, scope: Scope) -> Operand:
    if isinstance(node, Call):
        return bind_call(binder, node, scope)
    if isinstance(node, Negative):
        inner = binder.operand(node.inner, scope)
        need_number(binder, inner, INVALID_ARG)
        return elementwise(binder, [inner], inner.type, negative)
    assert isinstance(node, Arith)
    left, right = binder.operand(node.left, scope), binder.operand(node.right, scope)
    for side in (left, right):
        need_number(binder, side, INVALID_ARG)  # R1, R4, R8
    if left.many and right.many:
        raise binder.fail(INVALID_QUERY)  # R6
    op = node.op
    type = result_type(*(side.type if side.type != "list" else "mixed" for side in (left, right)))
    return elementwise(binder, [left, right], type, lambda a, b: calculate(op, a, b))


def need_number(binder: OperandBinder, side: Operand, code: int) -> None:
    if side.role == "list":
        if not all(is_number(value) for group in side.values(None) for value in group):
            raise Unspecified("arithmetic with a list of other things than numbers")
    elif side.type not in (*NUMERIC, "mixed"):
        raise binder.fail(code)


def elementwise(binder: OperandBinder, sides: list[Operand], type: str,
                function: Callable[..., Any]) -> Operand:
    """R6: a function of scalars and at most one collection."""
    from .operands import Operand
    if all(side.role == "const" for side in sides):  # R7
        value = function(*[side.values(None)[0][0] for side in sides])
        return Operand(type, "const", lambda env: [[value]], node=Lit(value))
    many = [side for side in sides if side.many]
    if len(many) > 1:
        raise binder.fail(INVALID_QUERY)
    position = sides.index(many[0]) if many else -1

    def values(env: Env) -> Groups:
        scalars = [side.values(env) for side in sides]
        chosen: Groups = scalars[position] if many else [[None]]
        made = []
        for group in chosen:
            results = []
            for value in group:
                inputs = []
                for number, groups in enumerate(scalars):
                    if number == position:
                        inputs.append(value)
                    elif groups and groups[0]:
                        inputs.append(groups[0][0])
                if len(inputs) == len(sides):
                    results.append(function(*inputs))
            made.append(results)
        return made
    quant = next((side.quant for side in sides if side.quant), "")
    return Operand(type, "expr", values, many=bool(many), quant=quant,
                   grouped=any(side.grouped for side in sides))


# ------------------------------------------------------------------------------- aggregates

def aggregate_type(op: str, type: str) -> str:
    """A11."""
    if op in ("@min", "@max"):
        return type
    if type in ("decimal128", "mixed"):
        return "decimal128"
    return "int" if op == "@sum" and type == "int" else "double"


def aggregate(op: str, type: str, inputs: list[Any]) -> Any:
    values = [value for value in inputs if value is not None and not is_nan(value)]  # A10
    if op in ("@min", "@max"):
        if any(kind(value) in ("link", "list", "dictionary") for value in values):
            raise Unspecified("@min and @max over links and nested collections")
        ranked = sorted(values, key=cmp_to_key(order))  # A12
        if not ranked:
            return None
        return ranked[0] if op == "@min" else ranked[-1]
    values = [value for value in values if is_number(value)]  # A12
    if not values and op == "@avg":
        return None
    if aggregate_type(op, type) == "decimal128":
        return decimal_sum(op, values)
    if type == "int":
        total = sum(values)
        if op == "@sum":
            return wrap64(total)
        if abs(total) > 2**53:
            raise Unspecified("average of large integers")
        return total / len(values)
    total_double = double_sum([float(value) for value in values])
    return total_double if op == "@sum" else total_double / len(values)


def double_sum(values: list[float]) -> float:
    """A sum that does not depend on the order of its terms; else it is not specified."""
    infinite = {value for value in values if math.isinf(value)}
    if infinite:
        return infinite.pop() if len(infinite) == 1 else math.nan
    if any(abs(value) > 1e300 for value in values) and len(values) > 1:
        raise Unspecified("a sum that may overflow on the way")
    total = Fraction(0)
    magnitude = Fraction(0)
    for value in values:
        total += exact(value)
        magnitude += abs(exact(value))
    scale = max((exact(value).denominator for value in values), default=1)
    if magnitude * scale >= 2**53:
        raise Unspecified("a sum that depends on the order of its terms")
    return float(total)


def decimal_sum(op: str, values: list[Any]) -> Decimal:
    decimals = [to_decimal(value) for value in values]
    if any(is_infinite(value) for value in decimals) and len(decimals) > 1:
        raise Unspecified("a decimal sum with infinities")
    if any(value and not -20 < value.adjusted() < 14 for value in decimals
           if not is_infinite(value)) and len(decimals) > 1:
        raise Unspecified("a decimal sum that may be inexact")
    total = Decimal(0)
    for value in decimals:
        total = DECIMAL.add(total, value)
    return total if op == "@sum" else DECIMAL.divide(total, Decimal(len(decimals)))


# -------------------------------------------------------------------------------- functions

WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007" \
              "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"


def rounded(mode: str) -> Callable[[Any], Any]:
    """`ceiling floor round trunc` keep the kind; half goes away from zero."""
    modes = {"ceiling": ROUND_CEILING, "floor": ROUND_FLOOR, "round": ROUND_HALF_UP,
             "trunc": ROUND_DOWN}

    def apply(value: Any) -> Any:
        if not is_number(value):
            return None
        if isinstance(value, int) or is_nan(value) or is_infinite(value):
            return value
        if isinstance(value, Decimal):
            return value.to_integral_value(modes[mode])
        made = Fraction(value)
        whole = {"ceiling": math.ceil, "floor": math.floor, "trunc": math.trunc,
                 "round": lambda x: math.floor(abs(x) + Fraction(1, 2)) * (1 if x >= 0 else -1),
                 }[mode](made)
        return F32(whole) if isinstance(value, F32) else float(whole)
    return apply


def absolute(value: Any) -> Any:
    if not is_number(value):
        return None
    if value == -(2**63) and isinstance(value, int):
        raise Unspecified("abs of the least integer")
    if isinstance(value, F32):
        return F32(abs(float(value)))
    return value.copy_abs() if isinstance(value, Decimal) else abs(value)


def real(function: Callable[[float], float], limit: float) -> Callable[[Any], Any]:
    def apply(value: Any) -> Any:
        if not is_number(value):
            return None
        if isinstance(value, Decimal):
            raise Unspecified("a real function of a decimal")
        number = float(value)
        if math.isnan(number) or math.isinf(number) or (number == 0 and limit == 0):
            raise Unspecified("a real function at a limit")
        if number < limit:
            return None
        try:
            return function(number)
        except OverflowError:
            return math.inf
    return apply


def modulus(a: Any, b: Any) -> Any:
    if not is_number(a) or not is_number(b):
        return None
    if any(is_nan(x) or is_infinite(x) for x in (a, b)):
        raise Unspecified("modulus of infinities")
    if b == 0:
        return None
    type = result_type(numeric_type(a), numeric_type(b))
    if type == "decimal128":
        raise Unspecified("modulus of decimals")
    if type == "int":
        return int(math.copysign(1, a)) * (abs(a) % abs(b))
    made = math.fmod(float(a), float(b))
    return F32(made) if type == "float" else made


def divided(a: Any, b: Any) -> Any:
    if is_number(b) and b == 0:
        if not (isinstance(a, int) and isinstance(b, int)):
            raise Unspecified("divide() of fractions by zero: null or IEEE")
        return None
    return calculate("/", a, b)


def power(a: Any, b: Any) -> Any:
    if not is_number(a) or not is_number(b):
        return None
    if any(isinstance(x, Decimal) or is_nan(x) or is_infinite(x) for x in (a, b)):
        raise Unspecified("power of decimals and infinities")
    if abs(a) > 1000 or a < 0 and b != int(b) or a == 0 and b <= 0:
        raise Unspecified("power at a limit")
    return float(a) ** float(b)


def text(function: Callable[[str], str]) -> Callable[[Any], Any]:
    def apply(value: Any) -> Any:
        if not isinstance(value, str):
            return None
        if "\u03a3" in value:
            raise Unspecified("the lower case of a capital sigma depends on its place")
        return function(value)
    return apply


def text_length(value: Any) -> Any:
    return len(value) if kind(value) in ("string", "binary") else None


def date_part(name: str, zone: int = 0) -> Callable[[Any], Any]:
    """`zone`: seconds east of UTC."""
    def apply(value: Any) -> Any:
        if not isinstance(value, Date):
            return None
        days, second = divmod(value.total // 10**9 + zone, 86_400)
        year, month, day = civil(days)
        return {"year": year, "month": month, "day": day, "hour": second // 3600,
                "minute": second // 60 % 60, "second": second % 60,
                "weekday": (days + 3) % 7 + 1}[name]
    return apply


NUMERIC_FUNCTIONS: dict[str, tuple[Callable[..., Any], str]] = {
    "abs": (absolute, ""), "ceiling": (rounded("ceiling"), ""), "floor": (rounded("floor"), ""),
    "round": (rounded("round"), ""), "trunc": (rounded("trunc"), ""),
    "sqrt": (real(math.sqrt, -0.0), "double"), "exp": (real(math.exp, -math.inf), "double"),
    "ln": (real(math.log, 0), "double"), "log": (real(math.log10, 0), "double"),
}
PAIR_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "modulus": modulus, "add": lambda a, b: calculate("+", a, b),
    "subtract": lambda a, b: calculate("-", a, b), "multiply": lambda a, b: calculate("*", a, b),
    "divide": lambda a, b: divided(a, b), "power": lambda a, b: power(a, b),
}
TEXT_FUNCTIONS = {"uppercase": text(str.upper), "lowercase": text(str.lower),
                  "trim": text(lambda value: value.strip(WHITE_SPACE))}
DATE_FUNCTIONS = ["year", "month", "day", "hour", "minute", "second", "weekday"]
ZONE = re.compile(r"UTC(?:([+-])(\d\d):(\d\d))?")
TOTALS = {"min": "@min", "max": "@max", "sum": "@sum", "average": "@avg"}


def bind_call(binder: OperandBinder, node: Call, scope: Scope) -> Operand:
    from .operands import Operand
    name = node.name.lower()
    if name == "ternary":
        return ternary(binder, node, scope)
    if name == "cast":
        assert isinstance(node.args[1], Lit)
        inner = binder.operand(node.args[0], scope)
        target = node.args[1].value
        return elementwise(binder, [inner], casts.TYPES[target], casts.cast(target))
    if name == "now":
        return Operand("timestamp", "expr", lambda env: [[Date(int(time.time()), 0)]])
    if name in TOTALS or name == "count":
        return total(binder, node, scope)
    zone = 0
    if name in DATE_FUNCTIONS and len(node.args) == 2:
        assert isinstance(node.args[1], Lit)
        found = ZONE.fullmatch(node.args[1].value)
        assert found
        zone = (int(found[2] or 0) * 60 + int(found[3] or 0)) * (-60 if found[1] == "-" else 60)
        node = Call(node.name, node.args[:1])
    sides = [binder.operand(arg, scope) for arg in node.args]
    wanted = 2 if name in PAIR_FUNCTIONS else 1
    if len(sides) != wanted:
        raise binder.fail(INVALID_QUERY)
    type = sides[0].type
    if any(side.role == "list" for side in sides):
        raise Unspecified("functions of list literals")
    if name in PAIR_FUNCTIONS:
        for side in sides:
            if side.type == "null":
                raise Unspecified("a function of the literal null")
            need_number(binder, side, INVALID_QUERY)
        return elementwise(binder, sides, result_type(type, sides[1].type), PAIR_FUNCTIONS[name])
    if type == "null":
        raise Unspecified("a function of the literal null")
    if name in NUMERIC_FUNCTIONS:
        need_number(binder, sides[0], INVALID_QUERY)
        function, result = NUMERIC_FUNCTIONS[name]
        return elementwise(binder, sides, result or type, function)
    if name in TEXT_FUNCTIONS:
        if type not in ("string", "mixed"):
            raise binder.fail(INVALID_QUERY)
        return elementwise(binder, sides, "string", TEXT_FUNCTIONS[name])
    if name == "length":
        if type not in ("string", "binary", "mixed"):
            raise binder.fail(INVALID_QUERY)
        return elementwise(binder, sides, "int", text_length)
    if name in DATE_FUNCTIONS:
        if type not in ("timestamp", "mixed"):
            raise binder.fail(INVALID_QUERY)
        return elementwise(binder, sides, "int", date_part(name, zone))
    raise binder.fail(INVALID_QUERY)


def total(binder: OperandBinder, node: Call, scope: Scope) -> Operand:
    path = node.args[0]
    assert isinstance(path, Path)
    if node.name == "count":
        return binder.operand(replace(path, ending="@count"), scope)
    return binder.operand(Aggregate(path, TOTALS[node.name]), scope)


def ternary(binder: OperandBinder, node: Call, scope: Scope) -> Operand:
    condition = binder.predicate(node.args[0], scope)
    first, second = (binder.operand(arg, scope) for arg in node.args[1:])
    if first.many or second.many:
        raise Unspecified("TERNARY of collections")
    if first.type != second.type and not {first.type, second.type} <= {*NUMERIC}:
        raise Unspecified("TERNARY of two types")
    type = first.type if first.type == second.type else result_type(first.type, second.type)
    if type == "null":
        raise Unspecified("TERNARY of nulls")
    from .operands import Operand
    return Operand(type, "expr",
                   lambda env: first.values(env) if condition(env) else second.values(env))
