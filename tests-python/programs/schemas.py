"""Chapter 3: schemas as programs write them, what is wrong with them, and how two differ.

A schema is {"Class" or "embedded Class": {"property": "list int? indexed"}}, in the words of
queries.kept.make_prop.
"""

from __future__ import annotations

from typing import Any

from queries.schema import INDEXABLE, Cls, Prop

from .model import NO_PROPERTY, NO_TABLE, Model, Open, Say, Stop, rule
from .records import properties, property_record
from .store import Config, Fail, Instance, Realm, Schema

Classes = dict[str, dict[str, str]]
INVALID_SCHEMA = 2016
MISSING = 0x7fffffff  # the key of a class that is in the schema and not in the file


def cls_of(title: str, props: dict[str, str], position: int) -> Cls:
    return Cls(title.split()[-1], position, properties(props), title.startswith("embedded "))


def classes_of(classes: Classes) -> list[Cls]:
    """In the order of their names."""
    return sorted((cls_of(title, props, 0) for title, props in classes.items()),
                  key=lambda cls: cls.name.encode())


def problems(classes: Classes, mode: int = 0) -> bool:
    """3.1: whether a schema breaks a rule. Mode 6 rejects embedded classes without an owner."""
    made = classes_of(classes)
    by_name = {cls.name: cls for cls in made}
    if len(by_name) < len(made):
        return True
    wrong = any(prop_problem(by_name, cls, prop) for cls in made for prop in cls.props)
    for cls in made:
        public = [prop.alias for prop in cls.props if prop.alias]
        wrong |= len(set(public)) < len(public)
        wrong |= bool(set(public) & {prop.name for prop in cls.props})
        wrong |= sum(prop.pk for prop in cls.props) > 1
        wrong |= cls.embedded and any(prop.pk for prop in cls.props)
    if wrong:
        return True
    return cycle(by_name) or (mode == 6 and bool(orphans(by_name)))


def prop_problem(classes: dict[str, Cls], cls: Cls, prop: Prop) -> bool:
    if prop.type in ("link", "backlinks") and prop.target not in classes:
        return True
    if prop.type == "backlinks":
        origin = next((p for p in classes[prop.target].props if p.name == prop.origin), None)
        return prop.nullable or origin is None or origin.type != "link" \
            or origin.target != cls.name
    if prop.type == "link":
        if prop.nullable != (prop.coll in ("", "dict")):
            return True
        if prop.coll == "set" and classes[prop.target].embedded:
            return True
    if prop.type == "mixed" and not prop.nullable:
        return True
    if prop.pk and (prop.type not in ("int", "string", "objectId", "uuid") or prop.coll):
        return True
    if prop.indexed and (prop.type not in INDEXABLE or prop.coll) and not (
            prop.coll == "list" and prop.type == "string"):
        return True
    return False


def embedded_links(classes: dict[str, Cls], cls: Cls) -> list[str]:
    return [prop.target for prop in cls.props if prop.type == "link"
            and classes[prop.target].embedded]


def cycle(classes: dict[str, Cls]) -> bool:
    """Whether embedded classes hold one another in a ring."""
    def reaches(start: str, name: str, seen: set[str]) -> bool:
        for target in embedded_links(classes, classes[name]):
            if target == start:
                return True
            if target not in seen:
                seen.add(target)
                if reaches(start, target, seen):
                    return True
        return False
    return any(reaches(name, name, set()) for name, cls in classes.items() if cls.embedded)


def orphans(classes: dict[str, Cls]) -> set[str]:
    """Embedded classes that nothing links to, starting from those that are not embedded."""
    reached = {name for name, cls in classes.items() if not cls.embedded}
    waiting = list(reached)
    while waiting:
        for target in embedded_links(classes, classes[waiting.pop()]):
            if target not in reached:
                reached.add(target)
                waiting.append(target)
    return set(classes) - reached


def too_long(classes: Classes) -> bool:
    """Appendix B: class names have 57 bytes, property names 63."""
    return any(len(title.split()[-1].encode()) > 57 or any(
        len(name.encode()) > 63 for name in props) for title, props in classes.items())


def differences(old: Classes, new: Classes) -> set[str]:
    """What differs in the classes of `new`: class, property, removed, index, key, kind or type."""
    found: set[str] = set()
    known = {cls.name: cls for cls in classes_of(old)}
    for cls in classes_of(new):
        before = known.get(cls.name)
        if before is None:
            found.add("class")
            continue
        if before.embedded != cls.embedded:
            found.add("kind")
        ours = {p.name: p for p in cls.props if p.type != "backlinks"}
        theirs = {p.name: p for p in before.props if p.type != "backlinks"}
        found |= {"property" for name in ours if name not in theirs}
        found |= {"removed" for name in theirs if name not in ours}
        if {n for n, p in ours.items() if p.pk} != {n for n, p in theirs.items() if p.pk}:
            found.add("key")
        for name in ours.keys() & theirs.keys():
            a, b = ours[name], theirs[name]
            if (a.type, a.coll, a.nullable, a.target) != (b.type, b.coll, b.nullable, b.target):
                found.add("type")
            if (a.indexed, a.fulltext) != (b.indexed, b.fulltext):
                found.add("index")
    return found


def compatible(differing: set[str]) -> bool:
    """4.3: what READ_ONLY tolerates."""
    return not differing & {"property", "type", "key"}


# ---------------------------------------------------------------------------------------- calls

@rule("realm_schema_new")
def schema_new(m: Model, classes: Classes) -> Say:
    return Say(made=Schema(classes))


@rule("realm_schema_validate")
def validate(m: Model, schema: Schema, mode: int) -> Say:
    if mode & 5:
        raise Open("rules of synchronisation")
    if problems(schema.classes, 6 if mode & 2 else 0):
        raise Fail(INVALID_SCHEMA)
    return Say()


@rule("realm_get_schema")
def get_schema(m: Model, realm: Realm) -> Say:
    return Say(made=Schema(realm.inst.schema))


@rule("realm_get_schema_version")
def schema_version(m: Model, realm: Realm) -> Say:
    return Say(realm.inst.schema_version)


@rule("realm_get_num_classes")
def num_classes(m: Model, realm: Realm) -> Say:
    return Say(len(realm.inst.schema))


def shown(inst: Instance) -> list[Cls]:
    return classes_of(inst.schema)


@rule("realm_get_class_keys")
def class_keys(m: Model, realm: Realm, maximum: int) -> Say:
    known = realm.inst.file.classes
    keys = [cls.name if cls.name in known else MISSING for cls in shown(realm.inst)]
    return copied_all(m, "out_keys", keys, maximum)


def copied_all(m: Model, name: str, items: list[Any], maximum: int) -> Say:
    """The keys are copied only where there is room for all of them."""
    outs: dict[str, Any] = {"out_n": len(items)}
    size = max(maximum, 1)
    if maximum >= len(items):
        outs[name] = items + ["untouched"] * (size - len(items))
    else:
        outs[name] = ["untouched"] * size
    return Say(outs=outs)


def class_info(cls: Cls) -> dict[str, Any]:
    computed = sum(prop.type == "backlinks" for prop in cls.props)
    return {"name": cls.name, "pk": cls.pk.name if cls.pk else "",
            "stored": len(cls.props) - computed, "computed": computed, "flags": int(cls.embedded)}


def prop_info(prop: Prop) -> dict[str, Any]:
    return property_record(prop)._asdict()


def looked_up(realm: Realm, key: Any) -> Cls:
    """A class by its key, in a call that begins a read transaction."""
    realm.inst.reading()
    name = getattr(key, "cls", None)
    found = next((cls for cls in shown(realm.inst) if cls.name == name), None)
    if found is None:
        raise Fail(NO_TABLE)
    if name not in realm.inst.file.classes:
        raise Stop("a class that is in the schema and not in the file")
    return found


@rule("realm_find_class", "realm_find_class_by_public_name")
def find_class(m: Model, realm: Realm, name: str) -> Say:
    found = next((cls for cls in shown(realm.inst) if cls.name == name), None)
    if found is None:
        return Say(outs={"out_found": False, "out_class_info": "untouched"})
    return Say(outs={"out_found": True, "out_class_info": class_info(found)})


@rule("realm_get_class")
def get_class(m: Model, realm: Realm, key: Any) -> Say:
    return Say(outs={"out_class_info": class_info(looked_up(realm, key))})


@rule("realm_get_class_properties")
def class_properties(m: Model, realm: Realm, key: Any, maximum: int) -> Say:
    cls = looked_up(realm, key)
    if not realm.inst.ordered:
        raise Open("the order of properties that a file has")
    return copied_all(m, "out_properties", [prop_info(prop) for prop in cls.props], maximum)


@rule("realm_get_property_keys")
def property_keys(m: Model, realm: Realm, key: Any, maximum: int) -> Say:
    cls = looked_up(realm, key)
    if any(prop.type == "backlinks" for prop in cls.props) or not realm.inst.ordered:
        raise Open("the keys of computed properties")
    return copied_all(m, "out_col_keys", [prop.name for prop in cls.props], maximum)


@rule("realm_get_property")
def get_property(m: Model, realm: Realm, key: Any, prop: Any) -> Say:
    cls = looked_up(realm, key)
    if getattr(prop, "cls", cls.name) != cls.name:
        raise Stop("the key of another class's property")
    found = cls.find(prop.prop) if hasattr(prop, "prop") else None
    if found is None:
        raise Fail(NO_PROPERTY)
    return Say(outs={"out_property_info": prop_info(found)})


@rule("realm_find_property", "realm_find_property_by_public_name")
def find_property(m: Model, realm: Realm, key: Any, name: str) -> Say:
    cls = looked_up(realm, key)
    public = m.call.function.endswith("public_name")
    found = next((prop for prop in cls.props
                  if name == ((prop.alias or prop.name) if public else prop.name)), None)
    if found is None:
        return Say(outs={"out_found": False, "out_property_info": "untouched"})
    return Say(outs={"out_found": True, "out_property_info": prop_info(found)})


@rule("realm_find_primary_key_property")
def find_primary_key(m: Model, realm: Realm, key: Any) -> Say:
    pk = looked_up(realm, key).pk
    if pk is None:
        return Say(outs={"out_found": False, "out_property_info": "untouched"})
    return Say(outs={"out_found": True, "out_property_info": prop_info(pk)})


# ---------------------------------------------------------------------------------- configuration

@rule("realm_config_new")
def config_new(m: Model) -> Say:
    return Say(made=Config())


def plain(name: str, default: Any) -> None:
    """A setting with its getter and setter (chapter 2)."""
    @rule(f"realm_config_set_{name}")
    def setter(m: Model, config: Config, value: Any) -> Say:
        config.settings[name] = value
        return Say(None)

    @rule(f"realm_config_get_{name}")
    def getter(m: Model, config: Config) -> Say:
        return Say(config.settings.get(name, default))


for setting, start in (("path", ""), ("schema_version", 2**64 - 1), ("schema_mode", 0),
                       ("schema_subset_mode", 0), ("disable_format_upgrade", False),
                       ("automatic_change_notifications", True), ("force_sync_history", False),
                       ("max_number_of_active_versions", 2**64 - 1), ("in_memory", False),
                       ("fifo_path", ""), ("cached", False)):
    plain(setting, start)


@rule("realm_config_set_automatic_backlink_handling")
def backlink_handling(m: Model, config: Config, value: bool) -> Say:
    return Say(None)


@rule("realm_config_set_encryption_key")
def set_key(m: Model, config: Config, key: bytes) -> Say:
    if len(key) not in (0, 64):
        raise Fail(3014)
    config.settings["encryption_key"] = key
    return Say()


@rule("realm_config_get_encryption_key")
def get_key(m: Model, config: Config) -> Say:
    return Say(len(config.settings.get("encryption_key", b"")))


@rule("realm_config_set_schema")
def set_schema(m: Model, config: Config, schema: Any) -> Say:
    config.settings["schema"] = Schema(schema.classes) if isinstance(schema, Schema) else None
    return Say(None)


@rule("realm_config_get_schema")
def config_schema(m: Model, config: Config) -> Say:
    schema = config.settings.get("schema")
    return Say(made=Schema(schema.classes) if schema else None)


@rule("realm_config_needs_file_format_upgrade")
def needs_upgrade(m: Model, config: Config) -> Say:
    return Say(False)
