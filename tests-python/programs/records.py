"""A program's schema as the records that realm_schema_new() takes, in ctypes and in C alike."""

from __future__ import annotations

from typing import NamedTuple

from queries.kept import make_prop
from queries.native import (COLLECTIONS, FULLTEXT, INDEXED, NULLABLE, PRIMARY_KEY, PROPERTY_TYPES)
from queries.schema import Prop


class PropertyRecord(NamedTuple):
    """The members of realm_property_info_t, without the key."""

    name: str
    alias: str
    type: int
    coll: int
    target: str
    origin: str
    flags: int


class ClassRecord(NamedTuple):
    """The members of realm_class_info_t, without the key, and the properties."""

    name: str
    pk: str
    stored: int
    computed: int
    flags: int
    properties: list[PropertyRecord]


def property_record(prop: Prop) -> PropertyRecord:
    flags = NULLABLE * prop.nullable | PRIMARY_KEY * prop.pk | INDEXED * prop.indexed | \
        FULLTEXT * prop.fulltext
    coll = "list" if prop.type == "backlinks" else prop.coll
    return PropertyRecord(prop.name, prop.alias, PROPERTY_TYPES[prop.type], COLLECTIONS[coll],
                          prop.target, prop.origin, flags)


def properties(texts: dict[str, str]) -> list[Prop]:
    """Stored ones first."""
    made = [make_prop(name, text) for name, text in texts.items()]
    return sorted(made, key=lambda prop: prop.type == "backlinks")


def records(classes: dict[str, dict[str, str]]) -> list[ClassRecord]:
    made = []
    for title, texts in classes.items():
        props = properties(texts)
        computed = sum(prop.type == "backlinks" for prop in props)
        pk = next((prop.name for prop in props if prop.pk), "")
        made.append(ClassRecord(title.split()[-1], pk, len(props) - computed, computed,
                                int(title.startswith("embedded ")),
                                [property_record(prop) for prop in props]))
    return made
