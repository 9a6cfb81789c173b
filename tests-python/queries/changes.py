"""Random changes of the data, in the model and in every database: what was read must follow."""

from __future__ import annotations

import random
from functools import cmp_to_key
from typing import Any

from .capi import Database
from .schema import DataMaker, Universe, distinct_key
from .values import Row, order

GONE = object()


def forget(value: Any, victim: Row, *, inside: bool = False) -> Any:
    """A value without links to an object that was deleted (C_RULES, "Deletion"); GONE: no element."""
    if value is victim:
        return GONE if inside else None
    if isinstance(value, list):
        kept = [forget(item, victim, inside=True) for item in value]
        return [item for item in kept if item is not GONE]
    if isinstance(value, dict):
        return {key: forget(item, victim) for key, item in value.items()}
    return value


class Changer:
    def __init__(self, universe: Universe, databases: list[Database], rng: random.Random) -> None:
        self.universe = universe
        self.databases = databases
        self.rng = rng
        self.maker = DataMaker(rng, universe.classes)
        self.maker.rows = universe.rows

    def change(self, times: int) -> list[str]:
        """Within a write transaction of each database; returns what was done."""
        done = []
        for _ in range(times):
            roll = self.rng.random()
            if roll < 0.65:
                done.append(self.assign())
            elif roll < 0.85:
                done.append(self.delete())
            else:
                done.append(self.create())
        return done

    def objects(self) -> list[Row]:
        return [row for name, rows in self.universe.rows.items() for row in rows
                if not self.universe.classes[name].embedded]

    def assign(self) -> str:
        rows = [row for rows in self.universe.rows.values() for row in rows]
        if not rows:
            return "nothing to assign to"
        row = self.rng.choice(rows)
        props = [prop for prop in row.cls.props if not prop.pk and prop.type != "backlinks"
                 and not (prop.target and self.universe.classes[prop.target].embedded)]
        if not props:
            return "nothing to assign"
        prop = self.rng.choice(props)
        value = self.maker.value(prop) if row.cls.name != "Spot" or prop.coll else "point"
        if prop.coll == "set" and prop.type in ("link", "mixed"):
            value.sort(key=cmp_to_key(order))
        row.values[prop.name] = value
        for database in self.databases:
            database.replace(row, prop)
        return f"{row!r}.{prop.name} = {value!r}"

    def delete(self) -> str:
        rows = self.objects()
        if not rows:
            return "nothing to delete"
        victim = self.rng.choice(rows)
        for database in self.databases:
            database.delete(victim)
        self.remove(victim)
        return f"{victim!r} deleted"

    def remove(self, victim: Row) -> None:
        for rows in self.universe.rows.values():
            for child in [row for row in rows if row.owner is victim]:
                self.remove(child)
        self.universe.rows[victim.cls.name].remove(victim)
        # Not given again: whether a constant names the old object or the new one is left open.
        if victim.cls.pk:
            self.universe.gone.add((victim.cls.name, distinct_key(victim.values[victim.cls.pk.name])))
        for rows in self.universe.rows.values():
            for row in rows:
                for prop in row.cls.props:
                    if prop.type in ("link", "mixed"):
                        row.values[prop.name] = forget(row.values[prop.name], victim)

    def create(self) -> str:
        cls = self.rng.choice([cls for cls in self.universe.classes.values() if not cls.embedded])
        rows = self.universe.rows[cls.name]
        row = Row(cls, max((other.number for other in rows), default=-1) + 1)
        if cls.pk:
            taken = {distinct_key(other.values[cls.pk.name]) for other in rows}
            taken |= {key for name, key in self.universe.gone if name == cls.name}
            for _ in range(50):
                key = self.maker.key(cls.pk, row.number)
                if distinct_key(key) not in taken:
                    break
            else:
                return "no key is free"
            row.values[cls.pk.name] = key
        rows.append(row)
        before = {name: len(rows) for name, rows in self.universe.rows.items()}
        self.maker.fill_row(row)
        made = [child for name, rows in self.universe.rows.items()
                for child in rows[before[name]:]]
        for database in self.databases:
            database.add(row, [row, *made])
        self.sort_sets([row, *made])
        return f"{row!r} created: {row.values!r}"

    @staticmethod
    def sort_sets(rows: list[Row]) -> None:
        for row in rows:
            for prop in row.cls.props:
                if prop.coll == "set" and prop.type in ("link", "mixed"):
                    row.values[prop.name].sort(key=cmp_to_key(order))
