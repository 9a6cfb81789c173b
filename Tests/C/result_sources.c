/* Results from every source, refined in every way: in a transaction, after it, as snapshots,
 * frozen, on the way to another instance and back, and what deleting all of them deletes. */
#include "things.h"

enum { SOURCES = 13, REFINEMENTS = 6 };
static const char *source_names[SOURCES] = {
    "a class",           "a query",          "a list of objects", "a set of objects",
    "links by name",     "a list of ints",   "a list of texts",   "a set of texts",
    "a list of anything", "ints by name",    "anything by name",  "keys",
    "backlinks"};
static bool holds_objects(int source) { return source <= 4 || source == 12; }

typedef struct world {
    realm_t *realm;
    realm_object_t *things[6];
    realm_query_t *some;
} world_t;

static void fill(world_t *w) {
    const char *names[] = {"e", "b", "d", "a", "c", "b"};
    realm_class_key_t class = class_key(w->realm, "Thing");
    SUCCEEDS(realm_begin_write(w->realm));
    for (int i = 0; i < 6; i++)
        w->things[i] = make_thing(w->realm, names[i]);
    realm_object_t *owner = w->things[0];
    realm_list_t *friends = list_of(w->realm, owner, "friends"),
                 *ints = list_of(w->realm, owner, "ints"),
                 *texts = list_of(w->realm, owner, "names"),
                 *anys = list_of(w->realm, owner, "anys");
    realm_set_t *peers = set_of(w->realm, owner, "peers"), *tags = set_of(w->realm, owner, "tags");
    realm_dictionary_t *links = dictionary_of(w->realm, owner, "links"),
                       *scores = dictionary_of(w->realm, owner, "scores"),
                       *values = dictionary_of(w->realm, owner, "values");
    const int order[] = {3, 1, 5, 1, 2, 4};
    for (size_t i = 0; i < 6; i++) {
        char key[4] = {'k', (char)('f' - i), 0, 0};
        realm_object_t *other = w->things[order[i]];
        SUCCEEDS(realm_list_insert(friends, i, link_to(other)));
        SUCCEEDS(realm_set_insert(peers, link_to(other), NULL, NULL));
        SUCCEEDS(realm_dictionary_insert(links, of_text(key), i == 2 ? of_null() : link_to(other),
                                         NULL, NULL));
        SUCCEEDS(realm_list_insert(ints, i, of_int((int64_t)(i * i) - 6)));
        SUCCEEDS(realm_list_insert(texts, i, of_text(names[i])));
        SUCCEEDS(realm_list_insert(anys, i, i % 2 ? of_text(names[i]) : link_to(other)));
        SUCCEEDS(realm_set_insert(tags, of_text(names[i]), NULL, NULL));
        SUCCEEDS(realm_dictionary_insert(scores, of_text(key), of_int((int64_t)i), NULL, NULL));
        SUCCEEDS(realm_dictionary_insert(values, of_text(key), i % 2 ? of_double(1) : of_null(),
                                         NULL, NULL));
        if (i)
            SUCCEEDS(realm_set_value(w->things[i], thing_key(w->realm, "other"), link_to(owner),
                                     false));
    }
    SUCCEEDS(realm_commit(w->realm));
    w->some = realm_query_parse(w->realm, class, "name > 'a'", 0, NULL);
    void *handles[] = {friends, ints, texts, anys, peers, tags, links, scores, values};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        realm_release(handles[i]);
}
static void end_world(world_t *w) {
    for (int i = 0; i < 6; i++)
        realm_release(w->things[i]);
    realm_release(w->some);
    realm_release(w->realm);
}

static realm_results_t *from_source(const world_t *w, int source) {
    realm_object_t *owner = w->things[0];
    realm_class_key_t class = class_key(w->realm, "Thing");
    const char *names[SOURCES] = {NULL,   NULL,     "friends", "peers",  "links",  "ints", "names",
                                  "tags", "anys",   "scores",  "values", "links",  NULL};
    realm_property_key_t key = names[source] ? thing_key(w->realm, names[source]) : 0;
    realm_results_t *results = NULL;
    void *from = NULL;
    switch (source) {
    case 0: results = realm_object_find_all(w->realm, class); break;
    case 1: results = realm_query_find_all(w->some); break;
    case 2:
    case 5:
    case 6:
    case 8: results = realm_list_to_results(from = realm_get_list(owner, key)); break;
    case 3:
    case 7: results = realm_set_to_results(from = realm_get_set(owner, key)); break;
    case 4:
    case 9:
    case 10: results = realm_dictionary_to_results(from = realm_get_dictionary(owner, key)); break;
    case 11:
        from = realm_get_dictionary(owner, key);
        SUCCEEDS(realm_dictionary_get_keys(from, NULL, &results));
        break;
    default: results = realm_get_backlinks(owner, class, thing_key(w->realm, "other")); break;
    }
    realm_release(from);
    CHECK(results != NULL);
    return results;
}

/* NULL where the refinement is not defined for values. */
static realm_results_t *refined(const world_t *w, int source, int refinement) {
    realm_results_t *results = from_source(w, source), *found = NULL;
    if (!holds_objects(source) && refinement >= 3) {
        FAILS(RLM_ERR_INVALID_TABLE_REF, realm_results_sort(results, "name ASC"));
        FAILS(RLM_ERR_INVALID_TABLE_REF, realm_results_distinct(results, "name"));
        FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_filter(results, w->some));
        realm_release(results);
        return NULL;
    }
    switch (refinement) {
    case 0: return results;
    case 1: found = realm_results_limit(results, 3); break;
    case 2: found = realm_results_snapshot(results); break;
    case 3: found = realm_results_sort(results, "name DESC"); break;
    case 4: found = realm_results_filter(results, w->some); break;
    default: found = realm_results_distinct(results, "name"); break;
    }
    CHECK(found != NULL);
    realm_release(results);
    return found;
}

/* The elements as text; owned by the caller. */
static char *shown(realm_results_t *results) {
    char *text = calloc(1, 512);
    size_t count = count_results(results), length = 0;
    for (size_t i = 0; i < count && length < 400; i++) {
        realm_value_t v = of_unknown_type();
        SUCCEEDS(realm_results_get(results, i, &v));
        switch (v.type) {
        case RLM_TYPE_NULL: length += (size_t)sprintf(text + length, "-"); break;
        case RLM_TYPE_INT: length += (size_t)sprintf(text + length, "%d", (int)v.integer); break;
        case RLM_TYPE_DOUBLE: length += (size_t)sprintf(text + length, "%.1f", v.dnum); break;
        case RLM_TYPE_LINK:
            length += (size_t)sprintf(text + length, "@%d", (int)v.link.target);
            break;
        case RLM_TYPE_STRING:
            length += (size_t)sprintf(text + length, "%.*s", (int)v.string.size, v.string.data);
            break;
        default: length += (size_t)sprintf(text + length, "?"); break;
        }
        text[length++] = ' ';
    }
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_results_get(results, count, NULL));
    return text;
}
static bool alike(realm_results_t *a, realm_results_t *b, int source, int refinement) {
    char *left = shown(a), *right = shown(b);
    bool same_text = !strcmp(left, right);
    if (!same_text)
        fprintf(stderr, "results of %s, refinement %d: '%s' and '%s'\n", source_names[source],
                refinement, left, right);
    free(left);
    free(right);
    return same_text;
}

/* Changes something in each source. */
static void change(const world_t *w) {
    realm_object_t *owner = w->things[0];
    realm_list_t *friends = list_of(w->realm, owner, "friends"),
                 *ints = list_of(w->realm, owner, "ints"),
                 *texts = list_of(w->realm, owner, "names"),
                 *anys = list_of(w->realm, owner, "anys");
    realm_set_t *tags = set_of(w->realm, owner, "tags");
    realm_dictionary_t *links = dictionary_of(w->realm, owner, "links"),
                       *scores = dictionary_of(w->realm, owner, "scores"),
                       *values = dictionary_of(w->realm, owner, "values");
    SUCCEEDS(realm_object_delete(w->things[1]));
    SUCCEEDS(realm_list_move(friends, 0, 2));
    SUCCEEDS(realm_list_insert(ints, 0, of_int(77)));
    SUCCEEDS(realm_list_erase(texts, 0));
    SUCCEEDS(realm_list_erase(anys, 1));
    SUCCEEDS(realm_set_insert(tags, of_text(""), NULL, NULL));
    SUCCEEDS(realm_dictionary_insert(links, of_text("a"), of_null(), NULL, NULL));
    SUCCEEDS(realm_dictionary_erase(scores, of_text("kb"), NULL));
    SUCCEEDS(realm_dictionary_insert(values, of_text("kc"), of_text("new"), NULL, NULL));
    void *handles[] = {friends, ints, texts, anys, tags, links, scores, values};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        realm_release(handles[i]);
}

static void everywhere(void) {
    world_t w;
    w.realm = open_things("everywhere.realm");
    fill(&w);
    realm_t *other = open_things("everywhere.realm");
    SUCCEEDS(realm_begin_read(other));
    realm_t *frozen = realm_freeze(w.realm);
    realm_results_t *live[SOURCES][REFINEMENTS], *still[SOURCES][REFINEMENTS];
    realm_thread_safe_reference_t *references[SOURCES][REFINEMENTS];
    for (int s = 0; s < SOURCES; s++) {
        for (int r = 0; r < REFINEMENTS; r++) {
            still[s][r] = NULL;
            references[s][r] = NULL;
            live[s][r] = refined(&w, s, r);
            if (!live[s][r])
                continue;
            CHECK(!realm_is_frozen(live[s][r]) && is_valid(live[s][r]));
            still[s][r] = realm_results_resolve_in(live[s][r], frozen);
            CHECK(still[s][r] && realm_is_frozen(still[s][r]));
            CHECK(alike(live[s][r], still[s][r], s, r));
            references[s][r] = realm_create_thread_safe_reference(live[s][r]);
            CHECK(references[s][r] != NULL);
            realm_results_t *there = realm_results_from_thread_safe_reference(other,
                                                                              references[s][r]);
            CHECK(there && alike(live[s][r], there, s, r));
            realm_release(there);
            there = realm_results_resolve_in(live[s][r], other);
            CHECK(there && alike(live[s][r], there, s, r));
            realm_release(there);
            FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_results_delete_all(live[s][r]));
            FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_results_delete_all(still[s][r]));
        }
    }
    for (int round = 0; round < 3; round++) {
        char *before[SOURCES][REFINEMENTS] = {{NULL}};
        for (int s = 0; s < SOURCES; s++)
            for (int r = 0; r < REFINEMENTS; r++)
                if (live[s][r])
                    before[s][r] = shown(live[s][r]);
        SUCCEEDS(realm_begin_write(w.realm));
        change(&w);
        for (int s = 0; s < SOURCES; s++) {
            for (int r = 0; r < REFINEMENTS; r++) {
                if (!live[s][r])
                    continue;
                /* As if they were made now; snapshots of objects as they were. */
                realm_results_t *anew = refined(&w, s, r);
                if (r != 2 || !holds_objects(s))
                    CHECK(alike(live[s][r], anew, s, r));
                else
                    CHECK(count_results(live[s][r]) == count_results(still[s][r]));
                realm_release(anew);
            }
        }
        if (round < 2)
            SUCCEEDS(realm_rollback(w.realm));
        else
            SUCCEEDS(realm_commit(w.realm));
        for (int s = 0; s < SOURCES; s++) {
            for (int r = 0; r < REFINEMENTS; r++) {
                if (!live[s][r])
                    continue;
                if (round < 2) {
                    char *after = shown(live[s][r]);
                    CHECK(!strcmp(before[s][r], after));
                    free(after);
                }
                free(before[s][r]);
            }
        }
        if (round < 2) {
            /* The handle of what was deleted stays invalid. */
            realm_object_key_t key = realm_object_get_key(w.things[1]);
            realm_release(w.things[1]);
            w.things[1] = realm_get_object(w.realm, class_key(w.realm, "Thing"), key);
        }
    }
    /* What is frozen did not move; back in the living realm it is as there. */
    for (int s = 0; s < SOURCES; s++) {
        for (int r = 0; r < REFINEMENTS; r++) {
            if (!live[s][r])
                continue;
            realm_results_t *back = realm_results_resolve_in(still[s][r], w.realm);
            realm_results_t *anew = refined(&w, s, r);
            CHECK(back && !realm_is_frozen(back) && alike(back, anew, s, r));
            realm_release(back);
            SUCCEEDS(realm_refresh(other, NULL));
            realm_results_t *there = realm_results_from_thread_safe_reference(other,
                                                                              references[s][r]);
            CHECK(there && alike(there, anew, s, r));
            realm_release(there);
            realm_release(anew);
        }
    }
    for (int s = 0; s < SOURCES; s++) {
        for (int r = 0; r < REFINEMENTS; r++) {
            realm_release(live[s][r]);
            realm_release(still[s][r]);
            realm_release(references[s][r]);
        }
    }
    realm_release(other);
    realm_release(frozen);
    end_world(&w);
}

static void deleting_all(void) {
    world_t w;
    w.realm = open_things("deleting.realm");
    fill(&w);
    /* How many objects are left, and elements, of the six. */
    const struct {
        int source, refinement;
        size_t objects, left;
    } cases[] = {
        {0, 0, 0, 0},  {0, 1, 3, 3}, {0, 2, 0, 6},  {0, 4, 1, 0},  {0, 5, 1, 1},
        {1, 0, 1, 0},  {2, 0, 1, 0}, {2, 1, 3, 2},  {2, 2, 1, 6},  {3, 0, 1, 0},
        {3, 1, 3, 2},  {4, 0, 6, 0}, {5, 0, 6, 0},  {5, 1, 6, 3},  {7, 0, 6, 0},
        {7, 2, 6, 0},  {8, 0, 6, 0}, {9, 0, 6, 0},  {10, 0, 6, 0}, {12, 0, 1, 0},
        {12, 1, 3, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SUCCEEDS(realm_begin_write(w.realm));
        realm_results_t *results = refined(&w, cases[i].source, cases[i].refinement);
        SUCCEEDS(realm_results_delete_all(results));
        size_t objects = count_of(w.realm, "Thing"), left = SIZE_MAX;
        if (is_valid(results))
            left = count_results(results);
        if (objects != cases[i].objects || left != cases[i].left)
            fprintf(stderr, "    %s, refinement %d: %zu objects, %zu elements\n",
                    source_names[cases[i].source], cases[i].refinement, objects, left);
        CHECK(objects == cases[i].objects && left == cases[i].left);
        /* Snapshots keep their size; the elements are null. */
        if (cases[i].refinement == 2 && holds_objects(cases[i].source)) {
            for (size_t k = 0; k < left; k++) {
                realm_value_t v = of_unknown_type();
                SUCCEEDS(realm_results_get(results, k, &v));
                realm_object_t *gone = realm_results_get_object(results, k);
                CHECK(v.type == RLM_TYPE_NULL && gone && !realm_object_is_valid(gone));
                realm_release(gone);
            }
        }
        realm_release(results);
        SUCCEEDS(realm_rollback(w.realm));
        CHECK(count_of(w.realm, "Thing") == 6);
        /* Handles of deleted objects stay invalid. */
        for (int k = 0; k < 6; k++) {
            realm_release(w.things[k]);
            w.things[k] = realm_get_object(w.realm, class_key(w.realm, "Thing"), k);
            CHECK(w.things[k] != NULL);
        }
    }
    /* Embedded objects leave the list that owns them. */
    SUCCEEDS(realm_begin_write(w.realm));
    realm_list_t *parts = list_of(w.realm, w.things[0], "parts");
    for (size_t i = 0; i < 4; i++)
        realm_release(realm_list_insert_embedded(parts, i));
    realm_results_t *results = realm_list_to_results(parts), *two = realm_results_limit(results, 2);
    SUCCEEDS(realm_results_delete_all(two));
    CHECK(size_of_list(parts) == 2 && count_of(w.realm, "Part") == 2);
    realm_results_t *all = realm_object_find_all(w.realm, class_key(w.realm, "Part"));
    SUCCEEDS(realm_results_delete_all(all));
    CHECK(size_of_list(parts) == 0 && count_of(w.realm, "Part") == 0);
    SUCCEEDS(realm_commit(w.realm));
    size_t problems = 9;
    SUCCEEDS(realm_check(w.realm, NULL, NULL, &problems));
    CHECK(problems == 0);
    realm_release(all);
    realm_release(two);
    realm_release(results);
    realm_release(parts);
    end_world(&w);
}

int main(void) {
    everywhere();
    deleting_all();
    return check_end("result sources");
}
