"""Operands bound to a schema: static types, errors, and the values that a row gives them.

An operand yields *groups*: a list of collections of values. A scalar is one group of one value, or
of none where the rules say "no value"; a flat collection is one group; primitive collections behind
to-many steps are one group each (Q12).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable

from . import functions
from .schema import Cls, NUMERIC, Prop, Universe
from .syntax import (Aggregate, Arith, Call, ListLit, Lit, Negative, Node, Path, Subquery)
from .reach import (Env, Groups, element, getter, kind_of, length_of, mapped, members, size_of,
                    value_type)
from .values import Row, Unspecified

INVALID_QUERY, INVALID_ARG = 1009, 3015
SYNTAX_ERROR, SORT_ERROR = 3008, 3013


@dataclass
class Scope:
    """Where names are looked up (B6): the member of a SUBQUERY, or the root candidate."""

    cls: Cls | None
    var: str = ""
    parent: Scope | None = None
    type: str = "link"


@dataclass
class Operand:
    type: str
    role: str  # "const", "list", "path" or "expr"
    values: Callable[[Env], Groups]
    many: bool = False
    grouped: bool = False
    quant: str = ""
    direct: bool = False  # a property of the candidate itself, without any step
    target: str = ""  # class of links
    node: Node | None = None
    prop: Prop | None = None
    collection: bool = False  # the last step is a collection


class Failed(Exception):
    """Binding cannot go on after an error."""


NEVER = Operand("null", "const", lambda env: [[None]], node=Lit(None))


class Hop:
    """One step from objects to objects."""

    def __init__(self, step: Callable[[Row], list[Row | None]], prop: Prop | None, cls: Cls,
                 to_many: bool) -> None:
        self.step = step
        self.prop = prop
        self.cls = cls
        self.to_many = to_many


@dataclass
class Reached:
    rows: list[Row]
    null: bool  # a to-one link on the way is null


@dataclass
class Route:
    """Hops from a candidate, and whether one of them is to-many."""

    levels: int
    hops: list[Hop] = field(default_factory=list)

    @property
    def many(self) -> bool:
        return any(hop.to_many for hop in self.hops)

    @property
    def dictionary(self) -> Prop | None:
        """The dictionary whose values, or one of whose values, the last hop leads to."""
        prop = self.hops[-1].prop if self.hops else None
        return prop if prop and prop.coll == "dict" else None

    def links(self, env: Env) -> list[Row | None]:
        """What the last hop leads to; null links of a dictionary are among its values."""
        reached = self.follow(env, len(self.hops) - 1 if self.many and self.dictionary else None)
        if self.many and self.dictionary:
            return [found for row in reached.rows for found in self.hops[-1].step(row)
                    if found is not None or self.hops[-1].to_many]
        return [*reached.rows, None] if reached.null else list(reached.rows)

    def follow(self, env: Env, upto: int | None = None) -> Reached:
        rows, null, many = [env.up(self.levels)], False, self.many  # U7
        for hop in self.hops[:upto]:
            following: list[Row] = []
            for row in rows:
                for found in hop.step(row):
                    if found is not None:
                        following.append(found)
                    elif not many:
                        null = True
            rows = following
        return Reached(rows, null)


class OperandBinder:
    def __init__(self, universe: Universe, root: Cls) -> None:
        self.universe = universe
        self.root = root
        self.errors: list[int] = []

    def fail(self, code: int) -> Failed:
        self.errors.append(code)
        return Failed(code)

    # ---------------------------------------------------------------------------- dispatch

    def operand(self, node: Node, scope: Scope) -> Operand:
        if isinstance(node, Lit):
            if node.text.startswith("$"):
                raise self.fail(INVALID_ARG)  # P2
            value = node.value
            return Operand(value_type(value), "const", lambda env: [[value]], node=node,
                           target=value.cls.name if isinstance(value, Row) else "")
        if isinstance(node, ListLit):
            items = [item.value for item in node.items]
            return Operand("list", "list", lambda env: [items], many=True, quant=node.quant,
                           node=node)
        if isinstance(node, Path):
            bound = self.path(node, scope)
            bound.node = node
            return bound
        if isinstance(node, Aggregate):
            return self.aggregate(node, scope)
        if isinstance(node, Subquery):
            return self.subquery(node, scope)
        if isinstance(node, (Arith, Negative, Call)):
            return functions.bind(self, node, scope)
        raise AssertionError(node)

    def predicate(self, node: Node, scope: Scope) -> Callable[[Env], bool]:
        raise NotImplementedError

    # ------------------------------------------------------------------------------- paths

    def start(self, path: Path, scope: Scope) -> tuple[int, Scope]:
        """B6: how many scopes up the head of a path lives."""
        levels, at = 0, scope
        if path.head == "SELF":
            while at.parent:
                levels, at = levels + 1, at.parent
            return levels, at
        if path.head:
            while at.var != path.head:
                if not at.parent:
                    raise self.fail(INVALID_QUERY)
                levels, at = levels + 1, at.parent
            return levels, at
        first = path.steps[0]
        if first[0] == "name":
            outer: Scope | None = scope
            while outer:
                if outer.cls and outer.cls.find(first[1]):
                    return levels, outer
                levels, outer = levels + 1, outer.parent
            raise self.fail(INVALID_QUERY)  # N2
        return 0, scope

    def path(self, path: Path, scope: Scope) -> Operand:
        levels, origin = self.start(path, scope)
        route, cls = Route(levels), origin.cls
        steps = list(path.steps)
        if cls is None:
            return self.member_value(path, levels, origin)
        while steps:
            step = steps.pop(0)
            if step[0] == "links":
                cls = self.backlink_hop(route, cls, step)
                continue
            if step[0] == "@links":
                return self.incoming_count(path, route)
            if step[0] != "name":
                raise self.fail(INVALID_QUERY)
            prop = cls.find(step[1])
            if prop is None:
                raise self.fail(INVALID_QUERY)  # N2
            if prop.objects:
                keys = self.object_hop(route, cls, prop, steps)
                if keys:
                    return self.finish_collection(path, route, cls, prop, [("@keys",)])
                cls = self.universe.classes[prop.target]
                continue
            if prop.coll:
                return self.finish_collection(path, route, cls, prop, steps)
            if prop.type == "mixed" and steps:
                return self.finish_any(path, route, prop, steps, many=route.many)
            if steps:
                raise self.fail(INVALID_QUERY)  # N3, I3
            return self.finish_scalar(path, route, prop)
        return self.finish_objects(path, route, cls)

    def backlink_hop(self, route: Route, cls: Cls, step: tuple[Any, ...]) -> Cls:
        origin = self.universe.classes.get(step[1])
        prop = origin.find(step[2]) if origin else None
        if origin is None or prop is None or prop.type != "link" or prop.target != cls.name:
            raise self.fail(INVALID_QUERY)  # N6
        name, source = prop.name, origin.name
        universe = self.universe
        route.hops.append(Hop(lambda row: list(universe.backlinks(row, source, name)), None,
                              origin, True))
        return origin

    def object_hop(self, route: Route, cls: Cls, prop: Prop, steps: list[tuple[Any, ...]]) -> bool:
        """Adds the hop over `prop` and takes its index from `steps`; True for `@keys`."""
        universe, name = self.universe, prop.name
        target = universe.classes[prop.target]
        if prop.type == "backlinks":
            def back(row: Row) -> list[Row | None]:
                return list(universe.backlinks(row, prop.target, prop.origin))
            route.hops.append(Hop(back, prop, target, True))
            return False
        if not prop.coll:
            route.hops.append(Hop(lambda row: [row.values[name]], prop, target, False))
            return False
        if steps and steps[0] == ("@keys",):
            if prop.coll != "dict":
                raise self.fail(INVALID_QUERY)  # I7
            return True
        if steps and steps[0] in (("@values",), ("index", "*")):
            if prop.coll != "dict" and steps[0] == ("@values",):
                raise self.fail(INVALID_QUERY)  # I7
            steps.pop(0)
        elif steps and steps[0][0] == "index":
            self.object_entry(route, prop, target, steps.pop(0)[1])
            return False
        elif prop.coll == "dict" and steps and steps[0][0] == "name" \
                and target.find(steps[0][1]) is None:
            self.object_entry(route, prop, target, steps.pop(0)[1])  # I8
            return False
        if prop.coll == "dict":
            route.hops.append(Hop(lambda row: list(row.values[name].values()), prop, target, True))
        else:
            route.hops.append(Hop(lambda row: list(row.values[name]), prop, target, True))
        return False

    def object_entry(self, route: Route, prop: Prop, target: Cls, index: Any) -> None:
        name, textual = prop.name, isinstance(index, str) and index not in ("FIRST", "LAST")
        if prop.coll == "set" or (prop.coll == "dict") != textual:
            raise self.fail(INVALID_QUERY)  # I3

        def entry(row: Row) -> list[Row | None]:
            return list(element(row.values[name], index, objects=True))
        route.hops.append(Hop(entry, prop, target, False))

    # ------------------------------------------------------------------------------ endings

    def finish_scalar(self, path: Path, route: Route, prop: Prop) -> Operand:
        name, many = prop.name, route.many
        if path.quant and not many:
            raise self.fail(INVALID_QUERY)  # Q13

        def read(env: Env) -> Groups:
            reached = route.follow(env)
            values = [row.values[name] for row in reached.rows]
            return [[*values, None] if reached.null else values]  # U6
        type, result = prop.type, read
        if path.ending in ("@count", "@size", "[SIZE]"):
            if type not in ("string", "binary", "mixed"):
                raise self.fail(INVALID_QUERY)  # A5
            type, result = "int", mapped(read, size_of)
        elif path.ending == "@type":
            if type != "mixed":
                if many:
                    raise Unspecified("@type of a typed property behind to-many steps")
                kinds = frozenset([type])
                return Operand("@type", "const", lambda env: [[kinds]])  # K11
            type, result = "@type", mapped(read, kind_of)
        elif path.ending:
            raise self.fail(INVALID_QUERY)
        return Operand(type, "expr" if path.ending else "path", result, many=many,
                       quant=path.quant, prop=prop,
                       direct=not route.hops and not route.levels and not path.ending)

    def finish_objects(self, path: Path, route: Route, cls: Cls) -> Operand:
        many = route.many
        if path.ending in ("@count", "@size", "[SIZE]"):
            return self.object_count(path, route)
        if path.ending:
            raise self.fail(INVALID_QUERY)
        if path.quant and not many:
            raise self.fail(INVALID_QUERY)  # Q13

        def read(env: Env) -> Groups:
            return [route.links(env)]
        return Operand("link", "path", read, many=many, quant=path.quant, target=cls.name,
                       prop=route.dictionary,
                       collection=bool(route.hops) and route.hops[-1].to_many,
                       direct=len(route.hops) == 1)  # Q10: one hop, from any scope

    def object_count(self, path: Path, route: Route) -> Operand:
        if not route.hops:
            raise self.fail(INVALID_QUERY)
        last, before = route.hops[-1], Route(route.levels, route.hops[:-1])
        if path.quant and not before.many:
            raise Unspecified("a quantifier before the size of one collection")

        def read(env: Env) -> Groups:
            reached = before.follow(env)  # A6: one number per parent
            return [[sum(found is not None for found in last.step(row)) for row in reached.rows]]
        return Operand("int", "expr", read, many=before.many, quant=path.quant)

    def incoming_count(self, path: Path, route: Route) -> Operand:
        if path.ending not in ("@count", "@size") or path.quant:
            raise self.fail(INVALID_QUERY)  # N7
        universe = self.universe

        def read(env: Env) -> Groups:
            return [[sum(universe.incoming(row) for row in route.follow(env).rows)]]
        return Operand("int", "expr", read)

    def finish_collection(self, path: Path, route: Route, cls: Cls, prop: Prop,
                          steps: list[tuple[Any, ...]]) -> Operand:
        """A collection of primitives or Any, or the keys of a dictionary."""
        name, type, many = prop.name, prop.type, True
        step = steps.pop(0) if steps else None
        if step == ("@values",) or step == ("@keys",):
            if prop.coll != "dict":
                raise self.fail(INVALID_QUERY)  # I7
        keys, index = step == ("@keys",), None
        if step and step[0] in ("index", "name") and step != ("index", "*"):
            index = step[1]
            if type == "mixed" and prop.coll != "dict" and step[0] == "name":
                raise Unspecified("a name behind a list of Any")
            textual = isinstance(index, str) and index not in ("FIRST", "LAST")
            if prop.coll == "set" or (prop.coll == "dict") != textual:
                raise self.fail(INVALID_QUERY)  # I3
            many = route.many
        if steps and (type != "mixed" or keys):
            raise self.fail(INVALID_QUERY)  # I12, N3
        if steps:
            return self.finish_any(path, route, prop, [step, *steps] if step else steps,
                                   many=many, collection=True)
        if path.quant and not many:
            raise self.fail(INVALID_QUERY)

        def read(env: Env) -> Groups:
            reached = route.follow(env)
            if index is not None and reached.null:
                raise Unspecified("an element of a list behind a null link")
            groups = [members(row.values[name], keys, index) for row in reached.rows]
            if index is not None and route.many and [] in groups:
                raise Unspecified("an element of an empty list behind to-many steps")
            return groups or [[]]  # Q12
        bound = Operand("string" if keys else type, "path", read, many=many,
                        grouped=route.many, quant=path.quant, prop=prop,
                        collection=index is None)
        return self.collection_ending(path, route, bound, index is not None)

    def collection_ending(self, path: Path, route: Route, bound: Operand, one: bool) -> Operand:
        read = bound.values
        if path.ending in ("@count", "@size", "[SIZE]"):
            if one:
                if bound.type not in ("string", "binary", "mixed"):
                    raise self.fail(INVALID_QUERY)
                bound.values = mapped(read, size_of)
            else:
                if path.quant and not route.many:
                    raise Unspecified("a quantifier before the size of one collection")

                def count(env: Env) -> Groups:
                    reached = route.follow(env)
                    if reached.null:
                        return [[0]]  # A6
                    return [[len(group) for group in read(env)] if reached.rows else []]
                bound.values, bound.many, bound.grouped = count, route.many, False
            bound.type, bound.role = "int", "expr"
        elif path.ending == "length":
            if path.steps[-1][0] == "name" and bound.prop and bound.prop.coll == "dict":
                raise Unspecified("length of a dictionary, or its key of that name")
            if one or bound.type not in ("string", "binary", "mixed"):
                raise self.fail(INVALID_QUERY)
            bound.values = mapped(read, length_of)  # S13
            bound.type, bound.role = "int", "expr"
        elif path.ending == "@type":
            if bound.type != "mixed":
                raise self.fail(INVALID_QUERY)  # K11
            bound.values, bound.type, bound.role = mapped(read, kind_of), "@type", "expr"
        return bound

    def finish_any(self, path: Path, route: Route, prop: Prop, steps: list[tuple[Any, ...]],
                   *, many: bool, collection: bool = False) -> Operand:
        """I9 to I11: steps into stored values of Any."""
        name = prop.name
        if path.ending == "length":
            raise Unspecified("lengths of steps into Any")
        starred = any(step == ("index", "*") for step in steps)
        if path.quant and not (many or starred):
            raise Unspecified("a quantifier on one element of Any")

        def read(env: Env) -> Groups:
            reached = route.follow(env)
            if reached.null:
                raise Unspecified("steps into Any behind a null link")
            groups: Groups = []
            for row in reached.rows:
                groups += self.descend(row.values[name], steps, collection)
            return groups or [[]]
        values, type, role = read, "mixed", "path"
        if path.ending == "@type":  # K11, with the children of [*] as a collection (I9, I10)
            values, type, role = mapped(read, kind_of), "@type", "expr"
        elif path.ending:
            values, type = mapped(read, size_of), "int"
        return Operand(type, role, values, many=many or starred,
                       grouped=route.many or starred, quant=path.quant, prop=prop)

    def descend(self, value: Any, steps: list[tuple[Any, ...]], collection: bool) -> Groups:
        """The groups that steps reach below one value."""
        if not steps:
            return [[value]]
        step, rest = steps[0], steps[1:]
        if step in (("index", "*"), ("@values",)):
            if isinstance(value, dict):
                value = list(value.values())
            if not isinstance(value, list):
                return []
            if rest:
                return [group for item in value for group in self.descend(item, rest, False)]
            return [list(value)]
        if step == ("@keys",):
            if rest or not isinstance(value, dict):
                raise Unspecified("@keys of something else")
            return [list(value)]
        index = step[1]
        if isinstance(value, Row):
            target = value.cls.find(index) if isinstance(index, str) else None
            if target is None or target.coll or target.objects or rest or step[0] != "name":
                raise Unspecified("steps from Any through a link")
            return [[value.values[target.name]]]
        if isinstance(value, dict) and isinstance(index, str) and index not in ("FIRST", "LAST"):
            if index in value:
                return self.descend(value[index], rest, False)
            if collection and not rest:
                return [[None]] if value else []  # I6
            if rest:
                return []
            if not value:
                raise Unspecified("a key of an empty dictionary inside Any")
            return [[None]]
        if isinstance(value, list) and (isinstance(index, int) or index in ("FIRST", "LAST")):
            found = element(value, index, objects=not collection)
            if not rest:
                return [found] if found else []
            return self.descend(found[0], rest, False) if found else []
        return []

    def member_value(self, path: Path, levels: int, scope: Scope) -> Operand:
        """B5: the variable of a SUBQUERY over primitives."""
        if path.steps:
            if scope.type == "mixed":
                raise Unspecified("steps into a member that is Any")
            raise self.fail(INVALID_QUERY)
        if path.quant:
            raise self.fail(INVALID_QUERY)  # Q13
        type, read = scope.type, lambda env: [[env.up(levels)]]
        if path.ending in ("@count", "@size", "[SIZE]"):
            if type not in ("string", "binary", "mixed"):
                raise self.fail(INVALID_QUERY)
            type, read = "int", mapped(read, size_of)
        elif path.ending == "length":
            if type not in ("string", "binary", "mixed"):
                raise self.fail(INVALID_QUERY)
            type, read = "int", mapped(read, length_of)
        elif path.ending:
            if type != "mixed":
                raise Unspecified("@type of a typed member")
            type, read = "@type", mapped(read, kind_of)
        return Operand(type, "expr" if path.ending else "path", read)

    # --------------------------------------------------------- aggregates and subqueries

    def aggregate(self, node: Aggregate, scope: Scope) -> Operand:
        path = node.path
        if path.quant:
            raise self.fail(SYNTAX_ERROR)  # A13
        bound = self.operand(path, scope)
        if not node.of:
            if bound.type == "mixed" and bound.many and not bound.collection:
                raise Unspecified("aggregates of members of Any")
            if bound.type == "link" or not bound.collection or path.ending:
                raise self.fail(INVALID_QUERY)  # A9
            if bound.grouped:
                raise Unspecified("aggregates of primitive collections behind to-many steps")
            type, read = bound.type, bound.values
        else:
            if bound.type != "link":
                raise self.fail(INVALID_QUERY)  # A8
            type, get = self.tail(node.of, self.universe.classes[bound.target])
            values = bound.values

            def read(env: Env) -> Groups:
                return [[found for group in values(env) for row in group if row is not None
                         for found in get(row)]]
        return self.aggregated(node.op, type, read)

    def tail(self, names: list[str], cls: Cls) -> tuple[str, Callable[[Row], list[Any]]]:
        """The property behind `@min.`; to-one hops before it are skipped where null (B12)."""
        hops: list[str] = []
        for position, name in enumerate(names):
            prop = cls.find(name)
            if prop is None or prop.to_many:
                raise self.fail(INVALID_QUERY)  # A15
            if position == len(names) - 1:
                if prop.objects:
                    raise self.fail(INVALID_QUERY)
                return prop.type, getter(hops, prop.name)
            if not prop.objects:
                raise self.fail(INVALID_QUERY)
            hops.append(prop.name)
            cls = self.universe.classes[prop.target]
        raise AssertionError

    def aggregated(self, op: str, type: str, read: Callable[[Env], Groups]) -> Operand:
        allowed = [*NUMERIC, "mixed"] + (["timestamp"] if op in ("@min", "@max") else [])
        if type not in allowed:
            raise self.fail(INVALID_QUERY)  # A8, A9
        result = functions.aggregate_type(op, type)

        def values(env: Env) -> Groups:
            inputs = [value for group in read(env) for value in group]
            return [[functions.aggregate(op, type, inputs)]]
        return Operand(result, "expr", values)

    def subquery(self, node: Subquery, scope: Scope) -> Operand:
        bound = self.path(node.path, scope)
        if bound.type == "mixed" and bound.many and not bound.collection:
            raise Unspecified("SUBQUERY of members of Any")
        if bound.many and bound.prop and bound.prop.coll and not bound.collection:
            raise Unspecified("SUBQUERY of elements behind to-many steps")
        if not bound.collection or node.path.quant or node.path.ending:
            raise self.fail(INVALID_QUERY)  # K4
        objects = bound.type == "link"
        member = self.universe.classes[bound.target] if objects else None
        outer: Scope | None = scope
        while outer:
            if outer.var == node.var:
                raise self.fail(INVALID_QUERY)  # K6
            outer = outer.parent
        inner = self.predicate(node.pred, Scope(member, node.var, scope, bound.type))
        members = bound.values

        def passing(env: Env) -> list[Any]:
            return [value for group in members(env) for value in group
                    if not (objects and value is None) and inner(Env(value, env))]
        if node.op in ("@count", "@size"):
            return Operand("int", "expr", lambda env: [[len(passing(env))]])
        if not node.of:
            return self.aggregated(node.op, bound.type, lambda env: [passing(env)])
        if member is None:
            raise self.fail(INVALID_QUERY)
        type, get = self.tail(node.of, member)
        return self.aggregated(node.op, type, lambda env: [
            [found for row in passing(env) for found in get(row)]])
