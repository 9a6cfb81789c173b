"""Makes a program smaller as long as it differs in the same way: fewer calls, then fewer classes
and properties, then shorter lists of arguments."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Callable, Iterator

from .calls import Call, without_orphans

Holds = Callable[[list[Call]], bool]


def shrink(program: list[Call], holds: Holds, budget: int = 600) -> list[Call]:
    """`holds` says whether a program still differs so. It is asked at most `budget` times."""
    left = [budget]

    def check(candidate: list[Call]) -> bool:
        left[0] -= 1
        return left[0] >= 0 and bool(candidate) and holds(candidate)

    before = 0
    while before != len(program) and left[0] > 0:
        before = len(program)
        program = fewer_calls(program, check)
    for candidate in schemas(program):
        if check(candidate(program)):
            program = candidate(program)
    return shorter_arguments(program, check)


def fewer_calls(program: list[Call], check: Holds) -> list[Call]:
    size = max(len(program) // 2, 1)
    while True:
        position = len(program)
        while position > 0:
            # From the end, as what comes later depends on what comes earlier.
            start = max(position - size, 0)
            candidate = without_orphans(program[:start] + program[position:])
            if len(candidate) < len(program) and check(candidate):
                program = candidate
                position = min(start, len(program))
            else:
                position = start
        if size == 1:
            return program
        size //= 2


Change = Callable[[list[Call]], list[Call]]


def schemas(program: list[Call]) -> Iterator[Change]:
    """Without classes and properties that no call names: all at once, then one by one."""
    text = "\n".join(str(call) for call in program if call.function != "realm_schema_new")
    words = set(re.findall(r"\w+", text))
    known: set[tuple[str, str]] = {
        (title, name) for call in program if call.function == "realm_schema_new"
        for title, props in call.args[0].items() for name in props
        if name not in words}

    def without(dropped: set[tuple[str, str]]) -> Change:
        return lambda program: [reduced(call, dropped, words) for call in program]
    yield without(known)
    for pair in sorted(known):
        yield without({pair})


def reduced(call: Call, dropped: set[tuple[str, str]], words: set[str]) -> Call:
    if call.function != "realm_schema_new":
        return call
    classes = {title: {name: text for name, text in props.items() if (title, name) not in dropped}
               for title, props in call.args[0].items()}
    targets = {word for props in classes.values() for text in props.values()
               for word in re.findall(r"\w+", text)}
    classes = {title: props for title, props in classes.items()
               if title.split()[-1] in words | targets}
    return dataclasses.replace(call, args=[classes])


def shorter_arguments(program: list[Call], check: Holds) -> list[Call]:
    """Fewer pairs of realm_set_values() and the like."""
    for position, call in enumerate(program):
        if call.function not in ("realm_get_values", "realm_set_values"):
            continue
        number = 0
        while number < len(call.args[1]):
            args: list[Any] = [arg[:number] + arg[number + 1:] if isinstance(arg, list) else arg
                               for arg in call.args]
            made = dataclasses.replace(call, args=args)
            candidate = program[:position] + [made] + program[position + 1:]
            if check(candidate):
                program, call = candidate, made
            else:
                number += 1
    return program
