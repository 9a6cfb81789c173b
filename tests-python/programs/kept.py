"""Programs that once were answered wrongly, made small; test_programs.py replays them. Each begins
with `opening(...)`: a file of the given classes in which `r3` writes, and `o4` is a new Thing."""

from __future__ import annotations

from dataclasses import dataclass

CLASSES = {"Thing": {"i": "int", "k": "int?", "sn": "string?", "m": "mixed", "link": "Thing",
                     "li": "list int", "lm": "list mixed", "ll": "list Thing", "lp": "list Part",
                     "sm": "set mixed", "di": "dict int", "ds": "dict string?", "dm": "dict mixed",
                     "dl": "dict Thing", "part": "Part"},
           "embedded Part": {"n": "int", "m": "mixed"}}


@dataclass
class Kept:
    name: str
    listing: str


def opening(text: str) -> str:
    start = f"""
h1 = realm_schema_new({CLASSES!r})
c2 = realm_config_new()
realm_config_set_path(c2, 'a.realm')
realm_config_set_schema(c2, h1)
realm_config_set_schema_version(c2, 0)
r3 = realm_open(c2)
realm_begin_write(r3)
o4 = realm_object_create(r3, Thing)
"""
    lines = [line.strip() for line in text.strip().splitlines()]
    return start.lstrip() + "\n".join(lines) + "\n"


def nested(levels: int) -> str:
    """So many lists in one another."""
    lines = ["l1000 = realm_get_list(o4, Thing.lm)"]
    lines += [f"l{1000 + level} = realm_list_insert_list(l{999 + level}, 0)"
              for level in range(1, levels)]
    return "\n".join(lines)


KEPT = [
    Kept("a hundred levels of lists, and one more", opening(nested(101) + """
        d5 = realm_list_insert_dictionary(l1099, 0)
        realm_list_size(l1099)
        realm_list_insert(l1099, 0, LIST)
        realm_list_insert(l1099, 0, 5)
        """)),
    Kept("a nested handle of a missing key of a dictionary never written to", opening("""
        d5 = realm_set_dictionary(o4, Thing.m)
        l6 = realm_dictionary_get_list(d5, 'k')
        realm_list_is_valid(l6)
        realm_list_size(l6)
        realm_list_set(l6, 18446744073709551615, 3)
        d7 = realm_dictionary_get_dictionary(d5, 'k')
        realm_dictionary_size(d7)
        """)),
    Kept("a reference made in a write transaction, resolved behind its commit", opening("""
        realm_commit(r3)
        r5 = realm_open(c2)
        realm_begin_read(r5)
        realm_begin_write(r3)
        o6 = realm_object_create(r3, Thing)
        l7 = realm_get_list(o6, Thing.ll)
        t8 = realm_create_thread_safe_reference(o6)
        t9 = realm_create_thread_safe_reference(l7)
        realm_commit(r3)
        o10 = realm_object_from_thread_safe_reference(r5, t8)
        realm_object_is_valid(o10)
        l11 = realm_list_from_thread_safe_reference(r5, t9)
        realm_list_size(l11)
        realm_get_version_id(r5)
        """)),
    Kept("a reference made before the file was opened anew", opening("""
        realm_commit(r3)
        d5 = realm_get_dictionary(o4, Thing.dl)
        t6 = realm_create_thread_safe_reference(d5)
        t7 = realm_create_thread_safe_reference(o4)
        realm_close(r3)
        r8 = realm_open(c2)
        d9 = realm_dictionary_from_thread_safe_reference(r8, t6)
        realm_dictionary_size(d9)
        o10 = realm_object_from_thread_safe_reference(r8, t7)
        realm_object_is_valid(o10)
        """)),
    Kept("calls on another thread", opening("""
        l5 = realm_get_list(o4, Thing.li)
        realm_list_insert(l5, 0, 5, thread=OTHER)
        realm_list_size(l5, thread=OTHER)
        realm_commit(r3)
        r6 = realm_freeze(r3)
        o7 = realm_get_object(r6, Thing, key(o4))
        realm_get_value(o7, Thing.i, thread=OTHER)
        realm_get_value(o4, Thing.i, thread=OTHER)
        """)),
    Kept("what a closed realm had, looked up in a realm of the file opened anew", opening("""
        v5 = realm_object_find_all(r3, Thing)
        realm_commit(r3)
        realm_close(r3)
        r6 = realm_open(c2)
        realm_begin_read(r6)
        v7 = realm_results_resolve_in(v5, r6)
        """)),
    Kept("the element behind the limit of results whose collection is gone", opening("""
        l5 = realm_get_list(o4, Thing.li)
        v6 = realm_list_to_results(l5)
        v7 = realm_results_limit(v6, 0)
        realm_object_delete(o4)
        realm_results_is_valid(v7)
        realm_results_get(v7, 0)
        """)),
    Kept("values of typed dictionaries compare as mixed ones", opening("""
        d5 = realm_get_dictionary(o4, Thing.ds)
        realm_dictionary_insert(d5, 'k', '5')
        d6 = realm_get_dictionary(o4, Thing.di)
        realm_dictionary_insert(d6, 'k', 5)
        q7 = realm_query_parse(r3, Thing, 'ds == 5', [])
        realm_query_count(q7)
        q8 = realm_query_parse(r3, Thing, "ds['k'] != 1 AND ds.@values != 1", [])
        realm_query_count(q8)
        q9 = realm_query_parse(r3, Thing, 'ALL di < $0', ['a'])
        realm_query_count(q9)
        """)),
    Kept("results filtered by a query of an empty list", opening("""
        l5 = realm_get_list(o4, Thing.ll)
        q6 = realm_query_parse_for_list(l5, 'i >= 0', [])
        v7 = realm_object_find_all(r3, Thing)
        v8 = realm_results_filter(v7, q6)
        realm_results_count(v8)
        """)),
    Kept("null links in a dictionary are elements of its results", opening("""
        d5 = realm_get_dictionary(o4, Thing.dl)
        realm_dictionary_insert(d5, 'a', None)
        realm_dictionary_insert(d5, 'b', link(o4))
        v6 = realm_dictionary_to_results(d5)
        realm_results_count(v6)
        v7 = realm_results_distinct(v6, 'i')
        realm_results_count(v7)
        realm_results_get(v7, 0)
        realm_results_get(v7, 1)
        realm_dictionary_insert(d5, 'b', None)
        realm_results_sum(v6, Thing.i)
        """)),
    Kept("results of an object whose creation was rolled back, and another one with its key",
         opening("""
        l5 = realm_get_list(o4, Thing.lm)
        v6 = realm_list_to_results(l5)
        v7 = realm_results_offset(v6, 0)
        l8 = realm_get_list(o4, Thing.ll)
        realm_list_insert(l8, 0, link(o4))
        v9 = realm_list_to_results(l8)
        v10 = realm_results_offset(v9, 0)
        realm_rollback(r3)
        realm_begin_write(r3)
        o11 = realm_object_create(r3, Thing)
        l12 = realm_get_list(o11, Thing.ll)
        realm_list_insert(l12, 0, link(o11))
        realm_results_count(v7)
        realm_results_count(v10)
        realm_results_count(v9)
        """)),
    Kept("results filtered by a query of linking objects, after the target's creation was undone",
         opening("""
        v5 = realm_object_find_all(r3, Thing)
        v6 = realm_get_backlinks(o4, Thing, Thing.ll)
        q7 = realm_query_parse_for_results(v6, 'TRUEPREDICATE', [])
        v8 = realm_results_filter(v5, q7)
        realm_rollback(r3)
        t9 = realm_create_thread_safe_reference(v8)
        v10 = realm_results_from_thread_safe_reference(r3, t9)
        v11 = realm_results_filter(v10, q7)
        """)),
    Kept("results over values of a closed realm, behind an offset", opening("""
        l5 = realm_get_list(o4, Thing.li)
        v6 = realm_list_to_results(l5)
        v7 = realm_results_offset(v6, 1)
        realm_close(r3)
        realm_results_count(v7)
        """)),
    Kept("a set asked for in a single mixed property", opening("""
        e5 = realm_get_set(o4, Thing.m)
        realm_set_is_valid(e5)
        realm_set_size(e5)
        """)),
    Kept("no linked object of null in mixed and string properties", opening("""
        o5 = realm_get_linked_object(o4, Thing.m)
        o6 = realm_get_linked_object(o4, Thing.sn)
        realm_set_value(o4, Thing.m, 5, False)
        o7 = realm_get_linked_object(o4, Thing.m)
        """)),
    Kept("a missing target is told before the missing transaction", opening("""
        l5 = realm_get_list(o4, Thing.ll)
        realm_commit(r3)
        realm_set_value(o4, Thing.link, link(Thing, 99), False)
        realm_list_size(l5)
        """)),
    Kept("an invalid handle is told before everything else", opening("""
        l5 = realm_get_list(o4, Thing.li)
        d6 = realm_get_dictionary(o4, Thing.di)
        d7 = realm_get_dictionary(o4, Thing.m)
        realm_object_delete(o4)
        realm_list_insert(l5, 9, 'a')
        realm_list_find(l5, 'a')
        realm_dictionary_insert(d6, '$', 'a')
        realm_dictionary_insert(d7, 'a.b', 5)
        realm_commit(r3)
        realm_dictionary_erase(d7, '')
        """)),
    Kept("the element's type, then the transaction, then a bad key", opening("""
        d5 = realm_get_dictionary(o4, Thing.di)
        realm_dictionary_insert(d5, '$', 'a')
        realm_commit(r3)
        realm_dictionary_erase(d5, 'a.b')
        """)),
    Kept("the owner of an object that is top-level and deleted", opening("""
        o5 = realm_set_embedded(o4, Thing.part)
        realm_object_delete(o4)
        o6 = realm_object_get_parent(o4)
        o7 = realm_object_get_parent(o5)
        """)),
]
