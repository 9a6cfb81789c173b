"""Parts of a predicate as the engine takes them (`realm_predicate_part_t`), and how they read as text.

Each part stands behind those that it takes: for `age > 5`, a step, a path, an argument, a comparison.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Any


class Kind(IntEnum):
    """`realm_predicate_kind_e`, of which Python's expressions use these."""

    ALL = 1
    ANY = 2
    NOT = 3
    COMPARE = 4
    BETWEEN = 5
    ARGUMENT = 8
    PATH = 9
    AGGREGATE = 10
    MATCHING = 11
    CALL = 12
    CHOOSE = 13
    ARITHMETIC = 14
    NAME = 16
    INDEX = 17
    KEY = 18
    BACKLINKS = 22
    VARIABLE = 24
    SELF = 25
    COUNT_OF = 26


#: Operators in the order of `realm_predicate_operator_e`, quantifiers and functions in theirs.
OPERATORS = (
    "==", "!=", "<", "<=", ">", ">=", "IN", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES", "TEXT"
)
QUANTIFIERS = ("", "ANY ", "ALL ", "NONE ")
FUNCTIONS = ("count", "min", "max", "sum", "avg")

#: Kind, detail, options, count, number, name.
Part = tuple[int, int, int, int, int, str]


def part(
    kind: int, *, detail: int = 0, options: int = 0, count: int = 0, number: int = 0, name: str = ""
) -> Part:
    return kind, detail, options, count, number, name


#: The comparisons that there are, by operator and options.
COMPARISONS = {
    (operator, options): part(int(Kind.COMPARE), detail=number, options=options)
    for number, operator in enumerate(OPERATORS)
    for options in range(4)
}
_ARGUMENT = int(Kind.ARGUMENT)

#: Words that can't stand in a query as names of properties, but behind a #.
_RESERVED = frozenset(
    "any some all none and or not true false null nil inf infinity nan truepredicate falsepredicate "
    "subquery geowithin geobox geopolygon geocircle obj self matches".split()
)


def spelled_name(name: str) -> str:
    """The name of a property as a query has it."""
    return f"#{name}" if name.lower() in _RESERVED else name


class Parts(list[Part]):
    """A predicate under construction; see `begun`."""

    __slots__ = ("arguments", "depth", "of_values", "root", "variables")

    #: The class that is queried; None for a condition that is only shown, and of values.
    root: type[Any] | None
    arguments: list[Any]
    #: The query is over values, not objects: paths start at SELF.
    of_values: bool
    #: Functions of elements that stand around the place, and the names of their elements.
    depth: int
    variables: dict[int, str]

    def argument(self, value: Any) -> None:
        self.append((_ARGUMENT, 0, 0, 0, len(self.arguments), ""))
        self.arguments.append(value)


def begun(root: type[Any] | None, of_values: bool = False) -> Parts:
    """A predicate without parts. One is made for each query: no `__init__`, which would cost more than all of this."""
    parts = Parts()
    parts.root = root
    parts.of_values = of_values
    parts.arguments = []
    parts.variables = {}
    parts.depth = 0
    return parts


def spelled(parts: Iterable[Part]) -> str:
    """The predicate, or the operand, as a query has it, with `$0`, `$1` ... for the arguments."""
    # Of what stands in a chain, chains are put in parentheses.
    stack: list[tuple[str, bool]] = []

    def take(count: int = 1) -> list[str]:
        start = len(stack) - count
        taken = [text for text, _ in stack[start:]]
        del stack[start:]
        return taken

    for kind, detail, options, count, number, name in parts:
        is_chain = False
        match kind:
            case Kind.ALL | Kind.ANY:
                start = len(stack) - count
                stack[start:] = [(f"({text})" if chain else text, False) for text, chain in stack[start:]]
                text = (" AND " if kind == Kind.ALL else " OR ").join(take(count))
                is_chain = True
            case Kind.NOT:
                text = f"NOT ({take()[0]})"
            case Kind.COMPARE:
                left, right = take(2)
                letters = ("c" if options & 1 else "") + ("d" if options & 2 else "")
                text = f"{left} {OPERATORS[detail]}{f'[{letters}]' if letters else ''} {right}"
            case Kind.BETWEEN:
                value, low, high = take(3)
                text = f"{value} BETWEEN {{{low}, {high}}}"
            case Kind.ARGUMENT:
                text = f"${number}"
            case Kind.PATH:
                text = QUANTIFIERS[detail] + "".join(take(count)).removeprefix(".")
            case Kind.AGGREGATE | Kind.MATCHING:
                names = "".join(take(count))
                if kind == Kind.MATCHING:
                    path, condition = take(2)
                    source = f"SUBQUERY({path}, ${name}, {condition})"
                else:
                    (source,) = take()
                text = f"{source}.@{FUNCTIONS[detail]}{names}"
            case Kind.CALL:
                text = f"{name}({', '.join(take(count))})"
            case Kind.CHOOSE:
                text = f"TERNARY({', '.join(take(3))})"
            case Kind.ARITHMETIC:
                left, right = take(2)
                text = f"({left} {chr(number)} {right})"
            case Kind.NAME:
                text = f".{spelled_name(name)}"
            case Kind.INDEX:
                text = "[LAST]" if number == -1 else f"[{number}]"
            case Kind.KEY:
                text = f"[{name!r}]"
            case Kind.BACKLINKS:
                text = f".@links.{name}{take()[0]}"
            case Kind.VARIABLE:
                text = f"${name}"
            case Kind.SELF:
                text = "SELF"
            case _:
                text = ".@count"
        stack.append((text, is_chain))
    return stack[0][0]
