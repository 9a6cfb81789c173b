/* Links in properties of every kind: what deletion does to them, backlinks, owners of embedded
 * objects, and links that must not be. */
#include "things.h"

static realm_property_info_t any_of(const char *name, realm_collection_type_e collection) {
    return many_of(name, collection, RLM_PROPERTY_TYPE_MIXED, RLM_PROPERTY_NULLABLE, "");
}

static realm_schema_t *of_relations(void) {
    const int nullable = RLM_PROPERTY_NULLABLE;
    const realm_property_type_e object = RLM_PROPERTY_TYPE_OBJECT;
    realm_property_info_t source[] = {
        link_of("one", "Target"),
        many_of("list", RLM_COLLECTION_TYPE_LIST, object, 0, "Target"),
        many_of("set", RLM_COLLECTION_TYPE_SET, object, 0, "Target"),
        many_of("dictionary", RLM_COLLECTION_TYPE_DICTIONARY, object, nullable, "Target"),
        any_of("any", RLM_COLLECTION_TYPE_NONE),
        any_of("anys", RLM_COLLECTION_TYPE_LIST),
        any_of("any_set", RLM_COLLECTION_TYPE_SET),
        any_of("by_name", RLM_COLLECTION_TYPE_DICTIONARY),
        link_of("part", "Part"),
        many_of("parts", RLM_COLLECTION_TYPE_LIST, object, 0, "Part"),
        many_of("part_of", RLM_COLLECTION_TYPE_DICTIONARY, object, nullable, "Part"),
    };
    realm_property_info_t target[] = {
        property_of("n", RLM_PROPERTY_TYPE_INT, 0),
        backlinks_of("by_one", "Source", "one"),
        backlinks_of("by_list", "Source", "list"),
        backlinks_of("by_set", "Source", "set"),
        backlinks_of("by_dictionary", "Source", "dictionary"),
    };
    realm_property_info_t part[] = {
        link_of("to", "Target"),
        link_of("inner", "Inner"),
        backlinks_of("whole", "Source", "part"),
    };
    realm_property_info_t inner[] = {
        many_of("to_many", RLM_COLLECTION_TYPE_LIST, object, 0, "Target"),
    };
    realm_class_info_t classes[] = {
        class_of("Source", "", sizeof source / sizeof *source, 0),
        class_of("Target", "", 1, 4),
        class_of("Part", "", 2, 1),
        class_of("Inner", "", 1, 0),
    };
    classes[2].flags = classes[3].flags = RLM_CLASS_EMBEDDED;
    const realm_property_info_t *properties[] = {source, target, part, inner};
    return realm_schema_new(classes, 4, properties);
}

typedef struct world {
    realm_t *realm;
    realm_class_key_t class, target_class, part_class, inner_class;
    realm_property_key_t one, list, set, dictionary, any, anys, any_set, by_name, part, parts,
        part_of, to, inner, to_many, n;
} world_t;

static world_t open_world(const char *path) {
    world_t w;
    w.realm = open_with(path, of_relations());
    w.class = class_key(w.realm, "Source");
    w.target_class = class_key(w.realm, "Target");
    w.part_class = class_key(w.realm, "Part");
    w.inner_class = class_key(w.realm, "Inner");
    w.one = property_key(w.realm, w.class, "one");
    w.list = property_key(w.realm, w.class, "list");
    w.set = property_key(w.realm, w.class, "set");
    w.dictionary = property_key(w.realm, w.class, "dictionary");
    w.any = property_key(w.realm, w.class, "any");
    w.anys = property_key(w.realm, w.class, "anys");
    w.any_set = property_key(w.realm, w.class, "any_set");
    w.by_name = property_key(w.realm, w.class, "by_name");
    w.part = property_key(w.realm, w.class, "part");
    w.parts = property_key(w.realm, w.class, "parts");
    w.part_of = property_key(w.realm, w.class, "part_of");
    w.to = property_key(w.realm, w.part_class, "to");
    w.inner = property_key(w.realm, w.part_class, "inner");
    w.to_many = property_key(w.realm, w.inner_class, "to_many");
    w.n = property_key(w.realm, w.target_class, "n");
    return w;
}

static size_t backlinks(realm_object_t *object, realm_class_key_t class, realm_property_key_t key) {
    realm_results_t *results = realm_get_backlinks(object, class, key);
    CHECK(results != NULL);
    size_t count = count_results(results);
    realm_release(results);
    return count;
}

/* One object that links to the target in every way, collections twice. */
typedef struct linked {
    realm_object_t *source;
    realm_list_t *list, *anys, *nested, *deep;
    realm_set_t *set, *any_set;
    realm_dictionary_t *dictionary, *by_name, *map;
} linked_t;

static linked_t link_all(const world_t *w, realm_object_t *target, realm_object_t *other) {
    linked_t l;
    l.source = realm_object_create(w->realm, w->class);
    l.list = realm_get_list(l.source, w->list);
    l.set = realm_get_set(l.source, w->set);
    l.dictionary = realm_get_dictionary(l.source, w->dictionary);
    l.anys = realm_get_list(l.source, w->anys);
    l.any_set = realm_get_set(l.source, w->any_set);
    l.by_name = realm_get_dictionary(l.source, w->by_name);
    realm_value_t to = link_to(target), elsewhere = link_to(other);
    SUCCEEDS(realm_set_value(l.source, w->one, to, false));
    SUCCEEDS(realm_set_value(l.source, w->any, to, false));
    SUCCEEDS(realm_list_insert(l.list, 0, to));
    SUCCEEDS(realm_list_insert(l.list, 0, elsewhere));
    SUCCEEDS(realm_list_insert(l.list, 0, to));
    SUCCEEDS(realm_set_insert(l.set, to, NULL, NULL));
    SUCCEEDS(realm_set_insert(l.set, elsewhere, NULL, NULL));
    SUCCEEDS(realm_dictionary_insert(l.dictionary, of_text("a"), to, NULL, NULL));
    SUCCEEDS(realm_dictionary_insert(l.dictionary, of_text("b"), to, NULL, NULL));
    SUCCEEDS(realm_dictionary_insert(l.dictionary, of_text("c"), elsewhere, NULL, NULL));
    SUCCEEDS(realm_list_insert(l.anys, 0, to));
    SUCCEEDS(realm_list_insert(l.anys, 1, of_int(1)));
    SUCCEEDS(realm_list_insert(l.anys, 2, to));
    SUCCEEDS(realm_set_insert(l.any_set, to, NULL, NULL));
    SUCCEEDS(realm_set_insert(l.any_set, of_null(), NULL, NULL));
    SUCCEEDS(realm_dictionary_insert(l.by_name, of_text("x"), to, NULL, NULL));
    SUCCEEDS(realm_dictionary_insert(l.by_name, of_text("y"), of_text("text"), NULL, NULL));
    /* Deeper: a list in a list, and a dictionary in that. */
    l.nested = realm_list_insert_list(l.anys, 3);
    SUCCEEDS(realm_list_insert(l.nested, 0, of_text("before")));
    SUCCEEDS(realm_list_insert(l.nested, 1, to));
    l.map = realm_list_insert_dictionary(l.nested, 2);
    SUCCEEDS(realm_dictionary_insert(l.map, of_text("in"), to, NULL, NULL));
    l.deep = realm_dictionary_insert_list(l.by_name, of_text("z"));
    SUCCEEDS(realm_list_insert(l.deep, 0, to));
    return l;
}
static void end_links(linked_t l) {
    void *handles[] = {l.source, l.list, l.anys, l.nested, l.deep, l.set, l.any_set, l.dictionary,
                       l.by_name, l.map};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        realm_release(handles[i]);
}

static realm_value_t value_at(realm_dictionary_t *dictionary, const char *key) {
    realm_value_t v = of_unknown_type();
    bool found = false;
    SUCCEEDS(realm_dictionary_find(dictionary, of_text(key), &v, &found));
    CHECK(found);
    return v;
}

/* What a deletion does to links (C_RULES, "Deletion"). */
static void check_unlinked(const world_t *w, const linked_t *l, realm_object_t *other) {
    realm_value_t v;
    SUCCEEDS(realm_get_value(l->source, w->one, &v));
    CHECK(v.type == RLM_TYPE_NULL);
    SUCCEEDS(realm_get_value(l->source, w->any, &v));
    CHECK(v.type == RLM_TYPE_NULL);
    CHECK(size_of_list(l->list) == 1 && size_of_set(l->set) == 1);
    SUCCEEDS(realm_list_get(l->list, 0, &v));
    CHECK(same(v, link_to(other)));
    SUCCEEDS(realm_set_get(l->set, 0, &v));
    CHECK(same(v, link_to(other)));
    CHECK(size_of_dictionary(l->dictionary) == 3);
    CHECK(value_at(l->dictionary, "a").type == RLM_TYPE_NULL);
    CHECK(value_at(l->dictionary, "b").type == RLM_TYPE_NULL);
    CHECK(same(value_at(l->dictionary, "c"), link_to(other)));
    CHECK(size_of_list(l->anys) == 2);
    SUCCEEDS(realm_list_get(l->anys, 0, &v));
    CHECK(same(v, of_int(1)));
    SUCCEEDS(realm_list_get(l->anys, 1, &v));
    CHECK(v.type == RLM_TYPE_LIST);
    CHECK(size_of_set(l->any_set) == 1);
    CHECK(size_of_dictionary(l->by_name) == 3);
    CHECK(value_at(l->by_name, "x").type == RLM_TYPE_NULL);
    CHECK(is_text(value_at(l->by_name, "y"), "text"));
    CHECK(realm_list_is_valid(l->nested) && size_of_list(l->nested) == 2);
    SUCCEEDS(realm_list_get(l->nested, 0, &v));
    CHECK(is_text(v, "before"));
    CHECK(realm_dictionary_is_valid(l->map) && size_of_dictionary(l->map) == 1);
    CHECK(value_at(l->map, "in").type == RLM_TYPE_NULL);
    CHECK(realm_list_is_valid(l->deep) && size_of_list(l->deep) == 0);
}

static void deletions(void) {
    world_t w = open_world("deletions.realm");
    SUCCEEDS(realm_begin_write(w.realm));
    realm_object_t *target = realm_object_create(w.realm, w.target_class),
                   *other = realm_object_create(w.realm, w.target_class);
    linked_t l = link_all(&w, target, other);
    /* Before and after a commit; links in mixed values are not asked for (14.5). */
    for (int round = 0; round < 2; round++) {
        CHECK(backlinks(target, w.class, w.one) == 1);
        CHECK(backlinks(target, w.class, w.list) == 2);
        CHECK(backlinks(target, w.class, w.set) == 1);
        CHECK(backlinks(target, w.class, w.dictionary) == 2);
        CHECK(backlinks(other, w.class, w.list) == 1 && backlinks(other, w.class, w.one) == 0);
        const realm_property_key_t mixed[] = {w.any, w.anys, w.any_set, w.by_name};
        for (int i = 0; i < 4; i++)
            FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_backlinks(target, w.class, mixed[i]));
        FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_backlinks(target, w.class, w.part));
        FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_backlinks(l.source, w.class, w.one));
        FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_backlinks(target, w.target_class, w.n));
        FAILS(RLM_ERR_NO_SUCH_TABLE, realm_get_backlinks(target, 4711, w.one));
        if (round == 0)
            SUCCEEDS(realm_commit(w.realm));
    }
    /* In queries: by name, and by the name of the property that links. */
    const char *texts[] = {"by_one.@count == 1", "by_list.@count == 2",
                           "by_set.@count == 1 AND by_one.@count == 1",
                           "by_dictionary.@count == 2", "@links.Source.list.@count == 2",
                           "@links.@count >= 6"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        realm_query_t *query = realm_query_parse(w.realm, w.target_class, texts[i], 0, NULL);
        size_t count = 9;
        SUCCEEDS(query && realm_query_count(query, &count));
        CHECK(count == 1);
        if (count != 1)
            fprintf(stderr, "    %zu: %s\n", count, texts[i]);
        realm_release(query);
    }
    realm_results_t *linking = realm_get_backlinks(target, w.class, w.list);
    CHECK(is_valid(linking) && count_results(linking) == 2);
    realm_results_t *once = realm_results_limit(linking, 1);
    for (int round = 0; round < 2; round++) {
        SUCCEEDS(realm_begin_write(w.realm));
        SUCCEEDS(realm_object_delete(target));
        check_unlinked(&w, &l, other);
        CHECK(is_valid(linking) && count_results(linking) == 0 && count_results(once) == 0);
        if (round == 0) {
            SUCCEEDS(realm_rollback(w.realm));
            CHECK(size_of_list(l.list) == 3 && size_of_list(l.anys) == 4);
            CHECK(count_results(linking) == 2 && count_results(once) == 1);
            /* The handle stays invalid after the rollback, a fresh one does not. */
            realm_object_key_t key = realm_object_get_key(target);
            realm_release(target);
            target = realm_get_object(w.realm, w.target_class, key);
            CHECK(target && backlinks(target, w.class, w.dictionary) == 2);
        } else {
            SUCCEEDS(realm_commit(w.realm));
            check_unlinked(&w, &l, other);
        }
    }
    size_t problems = 9;
    SUCCEEDS(realm_check(w.realm, NULL, NULL, &problems));
    CHECK(problems == 0);
    realm_release(once);
    realm_release(linking);
    end_links(l);
    realm_release(target);
    realm_release(other);
    realm_release(w.realm);
}

/* A source that links to itself, and one that goes: its links go with it. */
static void sources(void) {
    world_t w = open_world("sources.realm");
    SUCCEEDS(realm_begin_write(w.realm));
    realm_object_t *target = realm_object_create(w.realm, w.target_class),
                   *other = realm_object_create(w.realm, w.target_class);
    linked_t l = link_all(&w, target, other), m = link_all(&w, target, other);
    CHECK(backlinks(target, w.class, w.list) == 4);
    SUCCEEDS(realm_object_delete(l.source));
    CHECK(backlinks(target, w.class, w.list) == 2 && backlinks(target, w.class, w.one) == 1);
    CHECK(!realm_list_is_valid(l.nested) && realm_list_is_valid(m.nested));
    SUCCEEDS(realm_list_clear(m.list));
    SUCCEEDS(realm_set_erase(m.set, link_to(target), NULL));
    SUCCEEDS(realm_dictionary_insert(m.dictionary, of_text("a"), of_null(), NULL, NULL));
    SUCCEEDS(realm_set_value(m.source, w.one, link_to(other), false));
    CHECK(backlinks(target, w.class, w.list) == 0 && backlinks(target, w.class, w.set) == 0 &&
          backlinks(target, w.class, w.dictionary) == 1 && backlinks(target, w.class, w.one) == 0);
    SUCCEEDS(realm_commit(w.realm));
    CHECK(backlinks(target, w.class, w.dictionary) == 1 && backlinks(other, w.class, w.one) == 1);
    end_links(l);
    end_links(m);
    realm_release(target);
    realm_release(other);
    realm_release(w.realm);
}

static bool is_owned_by(realm_object_t *part, realm_object_t *owner) {
    realm_object_t *parent = NULL;
    realm_class_key_t class = 0;
    SUCCEEDS(realm_object_get_parent(part, &parent, &class));
    bool same_owner = realm_equals(parent, owner) && class == realm_object_get_table(owner);
    realm_release(parent);
    return same_owner;
}

/* Embedded objects in a property, a list, a dictionary, and in each other. */
static void owners(void) {
    world_t w = open_world("owners.realm");
    SUCCEEDS(realm_begin_write(w.realm));
    realm_object_t *source = realm_object_create(w.realm, w.class),
                   *second = realm_object_create(w.realm, w.class),
                   *target = realm_object_create(w.realm, w.target_class);
    realm_list_t *parts = realm_get_list(source, w.parts),
                 *others = realm_get_list(second, w.parts);
    realm_dictionary_t *part_of = realm_get_dictionary(source, w.part_of);
    realm_object_t *made[5];
    made[0] = realm_set_embedded(source, w.part);
    made[1] = realm_list_insert_embedded(parts, 0);
    made[2] = realm_dictionary_insert_embedded(part_of, of_text("p"));
    made[3] = realm_set_embedded(made[1], w.inner);
    made[4] = realm_set_embedded(made[2], w.inner);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++)
            CHECK(is_owned_by(made[i], source));
        CHECK(is_owned_by(made[3], made[1]) && is_owned_by(made[4], made[2]));
        FAILS(RLM_ERR_TOP_LEVEL_OBJECT, realm_object_get_parent(source, NULL, NULL));
        FAILS(RLM_ERR_TOP_LEVEL_OBJECT, realm_object_get_parent(target, NULL, NULL));
        if (round == 0) {
            SUCCEEDS(realm_commit(w.realm));
            SUCCEEDS(realm_begin_write(w.realm));
        }
    }
    /* No second owner, in whatever place; nor is it held by a mixed value. */
    realm_list_t *anys = realm_get_list(source, w.anys);
    realm_set_t *any_set = realm_get_set(source, w.any_set);
    realm_dictionary_t *by_name = realm_get_dictionary(source, w.by_name),
                       *second_of = realm_get_dictionary(second, w.part_of);
    for (int i = 0; i < 3; i++) {
        realm_value_t part = link_to(made[i]);
        FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_set_value(second, w.part, part, false));
        FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_set_value(source, w.part, part, false));
        FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_list_insert(others, 0, part));
        FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_list_insert(parts, 0, part));
        FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_list_set(parts, 0, part));
        FAILS(RLM_ERR_ILLEGAL_OPERATION,
              realm_dictionary_insert(second_of, of_text("q"), part, NULL, NULL));
        FAILS(RLM_ERR_ILLEGAL_OPERATION,
              realm_dictionary_insert(part_of, of_text("p"), part, NULL, NULL));
        FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_set_value(source, w.any, part, false));
        FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_list_insert(anys, 0, part));
        FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_set_insert(any_set, part, NULL, NULL));
        FAILS(RLM_ERR_ILLEGAL_OPERATION,
              realm_dictionary_insert(by_name, of_text("q"), part, NULL, NULL));
        CHECK(is_owned_by(made[i], source));
    }
    CHECK(count_of(w.realm, "Part") == 3 && count_of(w.realm, "Inner") == 2);
    /* Links of embedded objects are backlinks, too. */
    SUCCEEDS(realm_set_value(made[0], w.to, link_to(target), false));
    realm_list_t *to_many = realm_get_list(made[3], w.to_many);
    SUCCEEDS(realm_list_insert(to_many, 0, link_to(target)));
    CHECK(backlinks(target, w.part_class, w.to) == 1);
    CHECK(backlinks(target, w.inner_class, w.to_many) == 1);
    CHECK(backlinks(made[0], w.class, w.part) == 1 && backlinks(made[1], w.class, w.part) == 0);
    CHECK(backlinks(made[1], w.class, w.parts) == 1);
    CHECK(backlinks(made[2], w.class, w.part_of) == 1);
    SUCCEEDS(realm_list_erase(parts, 0));
    CHECK(!realm_object_is_valid(made[1]) && !realm_object_is_valid(made[3]));
    CHECK(!realm_list_is_valid(to_many) && backlinks(target, w.inner_class, w.to_many) == 0);
    /* A deleted embedded object leaves its place. */
    SUCCEEDS(realm_object_delete(made[0]));
    SUCCEEDS(realm_object_delete(made[2]));
    realm_value_t v;
    SUCCEEDS(realm_get_value(source, w.part, &v));
    CHECK(v.type == RLM_TYPE_NULL && value_at(part_of, "p").type == RLM_TYPE_NULL);
    CHECK(count_of(w.realm, "Part") == 0 && count_of(w.realm, "Inner") == 0);
    CHECK(backlinks(target, w.part_class, w.to) == 0);
    SUCCEEDS(realm_commit(w.realm));
    void *handles[] = {to_many, anys, any_set, by_name, second_of, parts, others, part_of, source,
                       second, target};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        realm_release(handles[i]);
    for (int i = 0; i < 5; i++)
        realm_release(made[i]);
    realm_release(w.realm);
}

/* A link value names class and key only: of an object of another file it is a link to whatever has
 * that key here, or to nothing. Handles of another realm are refused where one is asked for. */
static void other_realms(void) {
    world_t w = open_world("here.realm"), v = open_world("there.realm");
    SUCCEEDS(realm_begin_write(w.realm));
    SUCCEEDS(realm_begin_write(v.realm));
    realm_object_t *source = realm_object_create(w.realm, w.class), *there = NULL;
    for (int i = 0; i < 3; i++) {
        realm_release(there);
        there = realm_object_create(v.realm, v.target_class);
    }
    realm_list_t *list = realm_get_list(source, w.list);
    FAILS(RLM_ERR_NO_SUCH_OBJECT, realm_set_value(source, w.one, link_to(there), false));
    FAILS(RLM_ERR_NO_SUCH_OBJECT, realm_set_value(source, w.any, link_to(there), false));
    FAILS(RLM_ERR_NO_SUCH_OBJECT, realm_list_insert(list, 0, link_to(there)));
    realm_object_t *resolved = (realm_object_t *)1;
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_object_resolve_in(there, w.realm, &resolved));
    CHECK(resolved == (realm_object_t *)1);
    realm_results_t *all = realm_object_find_all(w.realm, w.target_class);
    realm_object_t *here = realm_object_create(w.realm, w.target_class);
    realm_object_t *first = realm_get_object(v.realm, v.target_class, 0);
    CHECK(!realm_equals(here, first));
    size_t index = 7;
    bool found = true;
    realm_list_t *anys = realm_get_list(source, w.anys);
    FAILS(RLM_ERR_OBJECT_TYPE_MISMATCH, realm_results_find_object(all, first, &index, &found));
    CHECK(!found && index == SIZE_MAX);
    realm_results_t *values = realm_list_to_results(anys);
    SUCCEEDS(realm_list_insert(anys, 0, link_to(here)));
    SUCCEEDS(realm_results_find_object(values, here, &index, &found));
    CHECK(found && index == 0);
    SUCCEEDS(realm_results_find_object(values, first, &index, &found));
    CHECK(!found && index == SIZE_MAX);
    realm_release(values);
    realm_release(anys);
    /* Conditions name columns by number: those of another file may mean what is not there. */
    realm_query_t *query = realm_query_parse(v.realm, v.target_class, "TRUEPREDICATE", 0, NULL);
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_filter(all, query));
    realm_release(query);
    realm_t *stranger = open_things("stranger.realm");
    query = realm_query_parse(stranger, w.target_class, "TRUEPREDICATE", 0, NULL);
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_filter(all, query));
    realm_release(stranger);
    FAILS(RLM_ERR_CLOSED_REALM, realm_results_filter(all, query));
    realm_release(query);
    /* Another realm of the same file will do. */
    SUCCEEDS(realm_commit(w.realm));
    realm_t *frozen = realm_freeze(w.realm);
    query = realm_query_parse(frozen, w.target_class, "n == 0", 0, NULL);
    realm_results_t *filtered = realm_results_filter(all, query);
    CHECK(filtered && count_results(filtered) == 1);
    realm_object_t *still = realm_get_object(frozen, w.target_class, 0);
    SUCCEEDS(realm_results_find_object(all, still, &index, &found));
    CHECK(found && index == 0);
    realm_release(still);
    realm_release(filtered);
    realm_release(query);
    realm_release(frozen);
    realm_release(first);
    realm_release(here);
    realm_release(all);
    realm_release(list);
    realm_release(source);
    realm_release(there);
    realm_release(w.realm);
    realm_release(v.realm);
}

int main(void) {
    deletions();
    sources();
    owners();
    other_realms();
    return check_end("relations");
}
