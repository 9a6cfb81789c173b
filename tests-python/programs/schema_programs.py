"""Programs about schemas: random classes, with mistakes, validated and opened; then changed, and
opened again in some mode, with data in between."""

from __future__ import annotations

from typing import Iterator

from .calls import Call, Handle, Key
from .generator import Generator
from .store import Realm

PLAIN = ["int", "int?", "string", "string?", "int indexed", "string indexed", "mixed", "double",
         "timestamp", "objectId?", "list int", "list string?", "set int", "dict string?",
         "list mixed", "binary?", "bool", "uuid", "mixed indexed", "decimal128",
         "list string indexed"]
WRONG = ["double indexed", "list int indexed", "double pk", "list int pk", "binary indexed",
         "Nowhere", "from A.i", "from Nowhere.x", "set E", "from E.nope"]
Classes = dict[str, dict[str, str]]


class SchemaGenerator(Generator):
    def classes(self) -> Classes:
        rng = self.rng
        made: Classes = {}
        for name in rng.sample(["A", "B", "C"], rng.choice([1, 2, 2, 3])):
            made[name] = {f"p{n}": self.property(made) for n in range(rng.randrange(1, 5))}
            if self.chance(0.4):
                made[name]["id"] = rng.choice(["int pk", "string? pk", "uuid pk", "objectId pk"])
        if self.chance(0.6):
            made["embedded E"] = {"n": "int"}
            if self.chance(0.75):
                made[rng.choice([name for name in made if name != "embedded E"])]["one"] = \
                    rng.choice(["E", "list E", "dict E"])
            if self.chance(0.3):
                made["embedded F"] = {"s": "string?"}
                made["embedded E"]["f"] = rng.choice(["F", "list F"])
                if self.chance(0.15):
                    made["embedded F"]["e"] = "E"
        if self.chance(0.12):
            self.mistake(made)
        return made

    def property(self, known: Classes) -> str:
        plain = [name for name in known if " " not in name]
        if plain and self.chance(0.25):
            target = self.rng.choice(plain)
            return self.rng.choice([target, f"list {target}", f"set {target}", f"dict {target}"])
        text = self.rng.choice(PLAIN)
        return f"{text} alias {self.rng.choice(['x1', 'x2', 'x3'])}" if self.chance(0.06) else text

    def mistake(self, made: Classes) -> None:
        rng = self.rng
        props = made[rng.choice(list(made))]
        way = rng.random()
        if way < 0.6:
            props["bad"] = rng.choice(WRONG)
        elif way < 0.75:
            props |= {"k1": "int pk", "k2": "int pk"}
        elif way < 0.85:
            props["p" * 64] = "int"
        elif way < 0.92:
            made["N" * 58] = {"i": "int"}
        else:
            props["q"] = "int alias q"

    def other(self, classes: Classes) -> Classes:
        """The classes with a change or two."""
        rng = self.rng
        made = {title: dict(props) for title, props in classes.items()}
        for _ in range(rng.choice([0, 1, 1, 1, 2])):
            title = rng.choice(list(made))
            props = made[title]
            way = rng.random()
            if way < 0.25:
                props[f"n{rng.randrange(3)}"] = rng.choice(PLAIN)
            elif way < 0.4 and props:
                del props[rng.choice(list(props))]
            elif way < 0.6 and props:
                props[rng.choice(list(props))] = rng.choice(PLAIN)
            elif way < 0.75:
                made[f"New{rng.randrange(2)}"] = {"a": rng.choice(PLAIN)}
            elif way < 0.85 and len(made) > 1:
                del made[title]
            else:
                made["embedded G"] = {"g": "int"}
        return made

    def opened(self, classes: Classes, version: int, mode: int) -> Iterator[Call]:
        schema, config = self.name("schema"), self.name("config")
        yield Call("realm_schema_new", [classes], schema)
        yield Call("realm_schema_validate", [schema, self.rng.choice([0, 2])])
        yield Call("realm_config_new", [], config)
        yield Call("realm_config_set_path", [config, "a.realm"])
        yield Call("realm_config_set_schema_mode", [config, mode])
        if self.chance(0.25):
            yield Call("realm_config_set_schema_subset_mode", [config, self.rng.randrange(4)])
        if not self.chance(0.08):
            yield Call("realm_config_set_schema", [config, schema])
            yield Call("realm_config_set_schema_version", [config, version])
        realm = self.name("realm")
        yield Call("realm_open", [config], realm)
        if realm in self.model.handles:
            yield from self.looked_at(realm, classes)
            yield Call("realm_get_persisted_schema_version", [config])
            if self.chance(0.8):
                yield Call("realm_close", [realm])

    def looked_at(self, realm: Handle, classes: Classes) -> Iterator[Call]:
        rng = self.rng
        yield Call("realm_get_schema_version", [realm])
        yield Call("realm_get_num_classes", [realm])
        yield Call("realm_get_class_keys", [realm, 9])
        for title in [*classes, "embedded G", "New0"]:
            name = title.split()[-1]
            yield Call("realm_find_class", [realm, name])
            if name in self.of(realm).inst.file.classes:
                yield Call("realm_get_class", [realm, Key(name)])
                yield Call("realm_get_class_properties", [realm, Key(name), 9])
                yield Call("realm_get_num_objects", [realm, Key(name)])
                yield from self.objects(realm, name)
        if self.chance(0.5):
            yield Call("realm_begin_write", [realm])
            for title in classes:
                name = title.split()[-1]
                cls = self.of(realm).inst.file.classes.get(name)
                if cls is None:
                    continue
                handle = self.name("object")
                yield Call("realm_object_create", [realm, Key(name)], handle)
                if cls.pk:
                    handle = self.name("object")
                    yield Call("realm_object_create_with_primary_key", [
                        realm, Key(name), self.value(cls.pk)], handle)
                if handle in self.model.handles:
                    for prop in cls.props:
                        if not prop.coll and prop.type not in ("link", "backlinks") \
                                and not prop.pk and prop.name in classes[title]:
                            yield Call("realm_set_value", [handle, Key(name, prop.name),
                                                           self.value(prop), False])
            yield Call(rng.choice(["realm_commit", "realm_commit", "realm_rollback"]), [realm])

    def objects(self, realm: Handle, name: str) -> Iterator[Call]:
        """What the objects of a class hold."""
        results = self.name("results")
        yield Call("realm_object_find_all", [realm, Key(name)], results)
        shown = self.of(realm).inst.schema
        for index in range(min(2, self.found(results))):
            handle = self.name("object")
            yield Call("realm_results_get_object", [results, index], handle)
            if handle not in self.model.handles:
                continue
            for title, props in shown.items():
                if title.split()[-1] == name:
                    for prop in self.of(handle).row.cls.props:
                        if prop.name in props and not prop.coll and prop.type != "backlinks":
                            yield Call("realm_get_value", [handle, Key(name, prop.name)])

    def start(self) -> Iterator[Call]:
        rng = self.rng
        classes, version, mode = self.classes(), 0, rng.choice([0, 0, 0, 5, 6, 7, 3, 4])
        yield from self.opened(classes, version, mode)
        for _ in range(rng.randrange(5)):
            classes = self.other(classes)
            version = rng.choice([version, version, version + 1, max(version - 1, 0)])
            mode = mode if self.chance(0.6) else rng.choice([0, 1, 2, 3, 4, 5, 6, 7])
            yield from self.opened(classes, version, mode)
        for realm in self.handles(Realm):
            yield Call("realm_close", [realm])

    def next_of_two(self) -> Call | None:
        return None

    def finish(self) -> Iterator[Call | None]:
        yield from ()
