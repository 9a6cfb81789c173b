"""The part of the generator that is about properties of objects and about collections."""

from __future__ import annotations

from typing import Callable

from .calls import Call, Handle
from .helpers import Helpers
from .store import Collection


class Writing(Helpers):
    # --------------------------------------------------------------------------- properties

    def set_value(self) -> Call | None:
        handle = self.object()
        if handle is None:
            return None
        rng = self.rng
        way = rng.random()
        if way < 0.12:
            keys = [self.prop_of(handle, lambda p: not p.coll) for _ in range(rng.randrange(4))]
            return Call("realm_set_values", [
                handle, keys, [self.value(self.prop(handle, key)) for key in keys], False])
        if way < 0.2:
            key = self.prop_of(handle, lambda p: (
                p.type == "int" or p.type == "mixed" and rng.random() < 0.2) and (
                not p.coll and not p.pk or rng.random() < 0.02))
            return key and Call("realm_object_add_int", [handle, key, rng.choice([1, -5, 2**62])])
        if way < 0.27:
            key = self.prop_of(handle, lambda p: p.type == "mixed" and (not p.coll or
                                                                        rng.random() < 0.1))
            text = rng.choice(['1', '[1,"a",null,[2]]', '{"a":1,"b":{"c":[]}}', '', '[1', '1.5 x',
                               '"a"', 'null', '{"$a":1}', '{"a.b":[1]}', '[{}]', 'true', '2e3'])
            return key and Call("realm_set_json", [handle, key, text])
        if way < 0.34:
            key = self.prop_of(handle, lambda p: p.type == "link" and not p.coll and (
                p.target in ("Part", "Inner") or rng.random() < 0.1) or rng.random() < 0.02)
            return key and self.made("realm_set_embedded", [handle, key], "object")
        if way < 0.44:
            kind = rng.choice(["list", "dictionary"])
            key = self.prop_of(handle, lambda p: p.type == "mixed" and (
                not p.coll or rng.random() < 0.1))
            return key and self.made(f"realm_set_{kind}", [handle, key],
                                     "list" if kind == "list" else "dict")
        key = self.prop_of(handle, lambda p: not p.coll or rng.random() < 0.05)
        if key is None:
            return None
        prop = self.prop(handle, key)
        if prop and prop.pk and self.chance(0.8):
            return None
        return Call("realm_set_value", [handle, key, self.value(prop), False])

    def get_value(self) -> Call | None:
        handle = self.object()
        if handle is None:
            return None
        rng = self.rng
        way = rng.random()
        if way < 0.15:
            keys = [self.prop_of(handle, lambda p: not p.coll) for _ in range(rng.randrange(4))]
            return Call("realm_get_values", [handle, keys])
        if way < 0.3:
            return Call("realm_get_value_by_property_index", [handle, rng.randrange(12)])
        if way < 0.45:
            key = self.prop_of(handle, lambda p: not p.coll and p.type in ("link", "mixed")
                               or rng.random() < 0.02 and not p.coll)
            return key and self.made("realm_get_linked_object", [handle, key], "object")
        if way < 0.55:
            return Call("realm_object_to_string", [handle])
        key = self.prop_of(handle, lambda p: not p.coll or rng.random() < 0.05)
        return key and Call("realm_get_value", [handle, key])

    def get_collection(self) -> Call | None:
        handle = self.object(lambda o: o.row.cls.name == "Thing" or self.chance(0.3))
        if handle is None:
            return None
        kind = self.rng.choice(["list", "list", "set", "dict"])
        key = self.prop_of(handle, lambda p: p.coll == kind or (
            p.type == "mixed" and not p.coll and self.chance(0.6)) or self.chance(0.02))
        function = {"dict": "dictionary"}.get(kind, kind)
        return key and self.made(f"realm_get_{function}", [handle, key], kind)

    # -------------------------------------------------------------------------- collections

    def lists(self) -> Call | None:
        handle = self.collection("list")
        if handle is None:
            return None
        rng, size, prop = self.rng, self.size(handle), self.of(handle).prop
        mixed, link = prop.type == "mixed", prop.type == "link"
        some = min(1.0, size * 0.5 + 0.1)  # fewer calls that can only fail
        embedded = link and prop.target in ("Part", "Inner")
        odd = self.chance(0.05)
        ways: list[tuple[float, Callable[[], Call]]] = [
            (2 * some, lambda: Call("realm_list_get", [handle, self.index(size)])),
            (1, lambda: Call("realm_list_size", [handle])),
            (1, lambda: Call("realm_list_is_valid", [handle])),
            (.3, lambda: Call("realm_list_get_property", [handle])),
            (1.5, lambda: Call("realm_list_find", [handle, self.value(prop)])),
            (some, lambda: Call("realm_list_move", [handle, self.index(size), self.index(size)])),
            (some, lambda: Call("realm_list_erase", [handle, self.index(size)])),
            (.3, lambda: Call("realm_list_clear", [handle])),
            (.15, lambda: Call("realm_list_remove_all", [handle])),
            (.4, lambda: Call("realm_list_get_values", [handle, self.index(size),
                                                        rng.choice([0, 1, 3])])),
            (1, lambda: self.made("realm_list_to_results", [handle], "results"))]
        if not embedded or odd:
            ways += [(6, lambda: Call("realm_list_insert", [handle, self.index(size),
                                                            self.value(prop)])),
                     (1.5 * some, lambda: Call("realm_list_set", [handle, self.index(size),
                                                           self.value(prop)]))]
        if embedded or odd:
            ways += [(5, lambda: self.made("realm_list_insert_embedded",
                                           [handle, self.index(size)], "object")),
                     (1, lambda: self.made("realm_list_set_embedded",
                                           [handle, self.index(size)], "object"))]
        if link or odd or self.chance(0.1):
            ways.append((2, lambda: self.made("realm_list_get_linked_object",
                                              [handle, self.index(size)], "object")))
        if mixed or odd:
            ways += [(2, lambda: self.in_list(handle, size, verb))
                     for verb in ("insert", "set", "get", "get")]
        return rng.choices([w for _, w in ways], [n for n, _ in ways])[0]()

    def in_list(self, handle: Handle, size: int, verb: str) -> Call:
        kind = self.rng.choice(["list", "dictionary"])
        return self.made(f"realm_list_{verb}_{kind}", [handle, self.index(size)],
                         "list" if kind == "list" else "dict")

    def sets(self) -> Call | None:
        handle = self.collection("set")
        if handle is None:
            return None
        size, prop = self.size(handle), self.of(handle).prop
        ways: list[tuple[float, Callable[[], Call]]] = [
            (6, lambda: Call("realm_set_insert", [handle, self.value(prop)])),
            (2, lambda: Call("realm_set_erase", [handle, self.value(prop)])),
            (2, lambda: Call("realm_set_find", [handle, self.value(prop)])),
            (2, lambda: Call("realm_set_get", [handle, self.index(size)])),
            (1, lambda: Call("realm_set_size", [handle])),
            (1, lambda: Call("realm_set_is_valid", [handle])),
            (.3, lambda: Call("realm_set_get_property", [handle])),
            (.3, lambda: Call("realm_set_clear", [handle])),
            (.2, lambda: Call("realm_set_remove_all", [handle])),
            (.4, lambda: Call("realm_set_get_values", [handle, self.index(size),
                                                       self.rng.choice([0, 1, 3])])),
            (1, lambda: self.made("realm_set_to_results", [handle], "results"))]
        return self.rng.choices([w for _, w in ways], [n for n, _ in ways])[0]()

    def dictionaries(self) -> Call | None:
        handle = self.collection("dict")
        if handle is None:
            return None
        size, prop = self.size(handle), self.of(handle).prop
        embedded = prop.type == "link" and prop.target == "Part"
        odd = self.chance(0.05)
        p = "realm_dictionary_"
        ways: list[tuple[float, Callable[[], Call]]] = [
            (6, lambda: Call(p + "insert", [
                handle, self.key(), None if embedded and not odd else self.value(prop)])),
            (2, lambda: Call(p + "erase", [handle, self.key()])),
            (2, lambda: Call(p + "find", [handle, self.key()])),
            (2, lambda: Call(p + "get", [handle, self.index(size)])),
            (1, lambda: Call(p + "contains_key", [handle, self.key()])),
            (1, lambda: Call(p + "contains_value", [handle, self.value(prop)])),
            (1, lambda: Call(p + "size", [handle])),
            (1, lambda: Call(p + "is_valid", [handle])),
            (.3, lambda: Call(p + "get_property", [handle])),
            (.3, lambda: Call(p + "clear", [handle])),
            (1, lambda: self.made(p + "get_linked_object", [handle, self.key()], "object")),
            (.5, lambda: Call(p + "get_entries", [handle, self.index(size),
                                                  self.rng.choice([0, 1, 3])])),
            (1, lambda: self.made(p + "get_keys", [handle], "results")),
            (1, lambda: self.made(p + "to_results", [handle], "results"))]
        if embedded or odd or (prop.type == "link" and self.chance(0.1)):
            ways.append((6, lambda: self.made(p + "insert_embedded", [handle, self.key()],
                                              "object")))
        if prop.type == "mixed" or odd:
            ways += [(2, lambda: self.in_dictionary(handle, verb))
                     for verb in ("insert", "get", "get")]
        return self.rng.choices([w for _, w in ways], [n for n, _ in ways])[0]()

    def in_dictionary(self, handle: Handle, verb: str) -> Call:
        kind = self.rng.choice(["list", "dictionary"])
        return self.made(f"realm_dictionary_{verb}_{kind}", [handle, self.key()],
                         "list" if kind == "list" else "dict")

    def nested(self) -> Call | None:
        """More of collections in collections."""
        kind = self.rng.choice(["list", "dict"])
        found = self.one(Collection, lambda c: c.kind == kind and c.mixed and
                         c.inst.state == "write" and self.there(c))
        if found is None:
            return None
        verb = self.rng.choice(["insert", "get"])
        if kind == "list":
            return self.in_list(found, self.size(found), verb)
        return self.in_dictionary(found, verb)
