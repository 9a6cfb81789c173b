/* Objects and their parts from arrays of nodes: what they become, cycles, places in collections,
 * policies, and arrays that are no trees. */
#include "things.h"

typedef realm_value_node_t node_t;

static realm_t *realm;
static realm_class_key_t thing_class, part_class, keyed_class, screw_class;

static realm_property_key_t key_of(realm_class_key_t class, const char *name) {
    return property_key(realm, class, name);
}
static node_t value_node(realm_property_key_t property, realm_value_t value) {
    node_t node = {.kind = RLM_NODE_VALUE, .property = property, .value = value};
    return node;
}
static node_t inner(realm_value_node_kind_e kind, realm_property_key_t property, size_t count) {
    node_t node = {.kind = kind, .property = property, .num_children = count};
    return node;
}
static node_t reference(realm_property_key_t property, int64_t node) {
    node_t result = value_node(property, of_int(node));
    result.kind = RLM_NODE_REFERENCE;
    return result;
}
static node_t with_key(node_t node, const char *key) {
    node.key = (realm_string_t){key, strlen(key)};
    return node;
}
static void check_json(realm_object_t *object, const char *expected) {
    char *text = realm_object_to_json(object, 3, RLM_JSON_PLAIN);
    CHECK(text != NULL);
    if (text && !strstr(text, expected)) {
        CHECK(false);
        fprintf(stderr, "    %s\n    lacks %s\n", text, expected);
    }
    realm_free(text);
}
static size_t objects_of(realm_class_key_t class) {
    size_t count = SIZE_MAX;
    SUCCEEDS(realm_get_num_objects(realm, class, &count));
    return count;
}

/* Everything at once: scalars, collections, nested ones, embedded objects, links there and back. */
static void whole(void) {
    realm_property_key_t name = key_of(thing_class, "name"), note = key_of(part_class, "note");
    realm_property_key_t size = key_of(screw_class, "size");
    node_t nodes[] = {
        inner(RLM_NODE_OBJECT, 0, 8),
        value_node(name, of_text("one")),                                       /* 1 */
        inner(RLM_NODE_LIST, key_of(thing_class, "ints"), 2),                   /* 2 */
        inner(RLM_NODE_LIST, key_of(thing_class, "anys"), 2),                   /* 3 */
        inner(RLM_NODE_OBJECT, key_of(thing_class, "part"), 3),                 /* 4 */
        inner(RLM_NODE_OBJECT, key_of(thing_class, "other"), 2),                /* 5 */
        inner(RLM_NODE_DICTIONARY, key_of(thing_class, "links"), 2),            /* 6 */
        inner(RLM_NODE_LIST, key_of(thing_class, "tags"), 3),                   /* 7 */
        inner(RLM_NODE_LIST, key_of(thing_class, "friends"), 2),                /* 8 */
        value_node(0, of_int(7)), value_node(0, of_int(8)),                     /* 9: of ints */
        inner(RLM_NODE_DICTIONARY, 0, 1), inner(RLM_NODE_LIST, 0, 0),           /* 11: of anys */
        value_node(note, of_text("p")),                                         /* 13: of part */
        inner(RLM_NODE_LIST, key_of(part_class, "screws"), 1),
        reference(key_of(part_class, "made_by"), 5),
        value_node(name, of_text("two")),                                       /* 16: of other */
        reference(key_of(thing_class, "other"), 0),
        with_key(reference(0, 0), "self"), with_key(value_node(0, of_null()), "none"), /* 18 */
        value_node(0, of_text("b")), value_node(0, of_text("a")), value_node(0, of_text("b")),
        reference(0, 5), inner(RLM_NODE_OBJECT, 0, 1),                          /* 23: of friends */
        with_key(value_node(0, of_double(0.5)), "k"),                           /* 25: of anys[0] */
        inner(RLM_NODE_OBJECT, 0, 1),                                           /* 26: of screws */
        value_node(name, of_text("three")),                                     /* 27 */
        value_node(size, of_int(3)),                                            /* 28 */
    };
    const size_t count = sizeof nodes / sizeof *nodes;
    realm_object_key_t keys[sizeof nodes / sizeof *nodes];
    realm_object_t *one = realm_object_create_from_nodes(realm, thing_class, nodes, count,
                                                         RLM_UPDATE_NEVER, keys);
    SUCCEEDS(one != NULL);
    CHECK(one && keys[0] == realm_object_get_key(one) && keys[1] == -1 && keys[17] == -1);
    check_json(one, "\"name\":\"one\"");
    check_json(one, "\"ints\":[7,8]");
    check_json(one, "\"anys\":[{\"k\":0.5},[]]");
    check_json(one, "\"tags\":[\"a\",\"b\"]");
    check_json(one, "\"screws\":[{\"size\":3}]");
    realm_object_t *other = realm_get_linked_object(one, key_of(thing_class, "other"));
    CHECK(other && realm_object_get_key(other) == keys[5]);
    realm_object_t *back = realm_get_linked_object(other, key_of(thing_class, "other"));
    CHECK(back && realm_equals(back, one));
    realm_object_t *part = realm_get_linked_object(one, key_of(thing_class, "part"));
    CHECK(part && realm_object_get_key(part) == keys[4]);
    CHECK(objects_of(thing_class) == 3 && objects_of(part_class) == 1 && objects_of(screw_class) == 1);
    realm_release(part);
    realm_release(back);
    realm_release(other);
    realm_release(one);
}

/* Objects with primary keys, and what the policies do. */
static void policies(void) {
    realm_property_key_t id = key_of(keyed_class, "_id"), all = key_of(keyed_class, "all"),
                         list = key_of(keyed_class, "list");
    node_t nodes[] = {
        inner(RLM_NODE_OBJECT, 0, 3),
        value_node(id, of_int(1)),
        inner(RLM_NODE_LIST, list, 2),
        inner(RLM_NODE_DICTIONARY, all, 1),
        inner(RLM_NODE_OBJECT, 0, 1), reference(0, 0),
        with_key(inner(RLM_NODE_OBJECT, 0, 1), "x"),
        value_node(id, of_int(2)),
        value_node(id, of_int(3)),
    };
    const size_t count = sizeof nodes / sizeof *nodes;
    realm_object_key_t keys[sizeof nodes / sizeof *nodes], again[sizeof nodes / sizeof *nodes];
    realm_object_t *one = realm_object_create_from_nodes(realm, keyed_class, nodes, count,
                                                         RLM_UPDATE_NEVER, keys);
    SUCCEEDS(one != NULL);
    CHECK(objects_of(keyed_class) == 3);
    FAILS(RLM_ERR_OBJECT_ALREADY_EXISTS,
          realm_object_create_from_nodes(realm, keyed_class, nodes, count, RLM_UPDATE_NEVER, NULL));
    for (int policy = RLM_UPDATE_MODIFIED; policy <= RLM_UPDATE_ALL; policy++) {
        realm_object_t *same = realm_object_create_from_nodes(
            realm, keyed_class, nodes, count, (realm_update_policy_e)policy, again);
        SUCCEEDS(same != NULL);
        CHECK(same && realm_equals(same, one) && memcmp(keys, again, sizeof keys) == 0);
        realm_release(same);
    }
    /* Two descriptions of one object are one object, but for those who want a new one. */
    nodes[8].value = of_int(2);
    nodes[1].value = of_int(4);
    nodes[7].value = of_int(5);
    nodes[8].value = of_int(5);
    FAILS(RLM_ERR_OBJECT_ALREADY_EXISTS,
          realm_object_create_from_nodes(realm, keyed_class, nodes, count, RLM_UPDATE_NEVER, NULL));
    CHECK(objects_of(keyed_class) == 3);
    realm_object_t *four = realm_object_create_from_nodes(realm, keyed_class, nodes, count,
                                                          RLM_UPDATE_ALL, again);
    SUCCEEDS(four != NULL);
    CHECK(objects_of(keyed_class) == 5 && again[4] == again[6]);
    FAILS(RLM_ERR_INVALID_ARGUMENT,
          realm_object_create_from_nodes(realm, keyed_class, nodes, count,
                                         (realm_update_policy_e)7, NULL));
    realm_release(four);
    realm_release(one);
}

/* Defaults are for new objects; properties of an object that is there. */
static void objects_that_are_there(void) {
    realm_property_key_t name = key_of(thing_class, "name"), ints = key_of(thing_class, "ints"),
                         part = key_of(thing_class, "part"), note = key_of(part_class, "note");
    realm_object_t *thing = make_thing(realm, "before");
    node_t nodes[] = {
        inner(RLM_NODE_OBJECT, 0, 3),
        value_node(name, of_text("default")),
        inner(RLM_NODE_LIST, ints, 1),
        inner(RLM_NODE_OBJECT, part, 1),
        value_node(0, of_int(5)),
        value_node(note, of_text("first")),
    };
    const size_t count = sizeof nodes / sizeof *nodes;
    realm_object_key_t keys[sizeof nodes / sizeof *nodes], again[sizeof nodes / sizeof *nodes];
    nodes[1].flags = RLM_NODE_DEFAULT;
    SUCCEEDS(realm_object_set_nodes(thing, nodes, count, RLM_UPDATE_NEVER, keys));
    check_json(thing, "\"name\":\"before\"");
    check_json(thing, "\"ints\":[5]");
    check_json(thing, "\"note\":\"first\"");
    nodes[1].flags = 0;
    nodes[5].value = of_text("second");
    SUCCEEDS(realm_object_set_nodes(thing, nodes, count, RLM_UPDATE_MODIFIED, again));
    check_json(thing, "\"name\":\"default\"");
    check_json(thing, "\"note\":\"second\"");
    CHECK(keys[3] == again[3]);
    SUCCEEDS(realm_object_set_nodes(thing, nodes, count, RLM_UPDATE_ALL, again));
    CHECK(keys[3] != again[3]);
    /* Also of an embedded one. */
    realm_object_t *embedded = realm_get_linked_object(thing, part);
    node_t inside[] = {inner(RLM_NODE_OBJECT, 0, 1), value_node(note, of_text("third"))};
    SUCCEEDS(realm_object_set_nodes(embedded, inside, 2, RLM_UPDATE_ALL, NULL));
    check_json(thing, "\"note\":\"third\"");
    SUCCEEDS(realm_object_delete(embedded));
    FAILS(RLM_ERR_INVALIDATED_OBJECT,
          realm_object_set_nodes(embedded, inside, 2, RLM_UPDATE_ALL, NULL));
    realm_release(embedded);
    realm_release(thing);
}

static void places(void) {
    realm_property_key_t note = key_of(part_class, "note"), name = key_of(thing_class, "name");
    realm_object_t *thing = make_thing(realm, "places");
    realm_list_t *parts = list_of(realm, thing, "parts"), *anys = list_of(realm, thing, "anys");
    realm_set_t *peers = set_of(realm, thing, "peers");
    realm_dictionary_t *links = dictionary_of(realm, thing, "links");
    node_t part[] = {inner(RLM_NODE_OBJECT, 0, 1), value_node(note, of_text("x"))};
    node_t peer[] = {inner(RLM_NODE_OBJECT, 0, 1), value_node(name, of_text("peer"))};
    node_t nest[] = {inner(RLM_NODE_LIST, 0, 2), inner(RLM_NODE_LIST, 0, 0),
                     value_node(0, of_int(1))};
    realm_object_key_t keys[3];
    SUCCEEDS(realm_list_insert_nodes(parts, 0, part, 2, RLM_UPDATE_NEVER, keys));
    part[1].value = of_text("y");
    SUCCEEDS(realm_list_insert_nodes(parts, 0, part, 2, RLM_UPDATE_NEVER, keys));
    part[1].value = of_text("z");
    SUCCEEDS(realm_list_set_nodes(parts, 1, part, 2, RLM_UPDATE_NEVER, keys));
    CHECK(size_of_list(parts) == 2);
    check_json(thing, "\"parts\":[{\"note\":\"y\"");
    check_json(thing, "{\"note\":\"z\"");
    size_t things = objects_of(thing_class), count_parts = objects_of(part_class);
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS,
          realm_list_set_nodes(parts, 2, part, 2, RLM_UPDATE_NEVER, keys));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS,
          realm_list_insert_nodes(parts, SIZE_MAX, part, 2, RLM_UPDATE_NEVER, keys));
    CHECK(objects_of(part_class) == count_parts && size_of_list(parts) == 2);

    SUCCEEDS(realm_set_insert_nodes(peers, peer, 2, RLM_UPDATE_NEVER, keys));
    CHECK(size_of_set(peers) == 1 && objects_of(thing_class) == things + 1);
    SUCCEEDS(realm_dictionary_insert_nodes(links, of_text("k"), peer, 2, RLM_UPDATE_NEVER, keys));
    CHECK(size_of_dictionary(links) == 1 && objects_of(thing_class) == things + 2);
    FAILS(RLM_ERR_INVALID_DICTIONARY_KEY,
          realm_dictionary_insert_nodes(links, of_text("$k"), peer, 2, RLM_UPDATE_NEVER, keys));
    FAILS(RLM_ERR_INVALID_ARGUMENT,
          realm_dictionary_insert_nodes(links, of_int(1), peer, 2, RLM_UPDATE_NEVER, keys));
    CHECK(objects_of(thing_class) == things + 2);

    SUCCEEDS(realm_list_insert_nodes(anys, 0, nest, 3, RLM_UPDATE_NEVER, NULL));
    realm_list_t *inside = realm_list_get_list(anys, 0);
    CHECK(inside && size_of_list(inside) == 2);
    SUCCEEDS(realm_list_insert_nodes(inside, 1, nest, 3, RLM_UPDATE_NEVER, NULL));
    check_json(thing, "\"anys\":[[[],[[],1],1]]");
    node_t plain[] = {value_node(0, of_text("plain"))};
    SUCCEEDS(realm_list_set_nodes(inside, 0, plain, 1, RLM_UPDATE_NEVER, keys));
    check_json(thing, "\"anys\":[[\"plain\",[[],1],1]]");
    CHECK(keys[0] == -1);
    realm_release(inside);
    realm_release(links);
    realm_release(peers);
    realm_release(anys);
    realm_release(parts);
    realm_release(thing);
}

/* Whatever is wrong: an error that says what, and nothing written. */
static void wrong(void) {
    realm_property_key_t name = key_of(thing_class, "name"), ints = key_of(thing_class, "ints"),
                         friends = key_of(thing_class, "friends"), id = key_of(keyed_class, "_id"),
                         tags = key_of(thing_class, "tags"), labels = key_of(thing_class, "labels"),
                         part = key_of(thing_class, "part"), mixture = key_of(thing_class, "mixture"),
                         anys = key_of(thing_class, "anys"), other = key_of(thing_class, "other");
    size_t things = objects_of(thing_class);
    node_t root = inner(RLM_NODE_OBJECT, 0, 1), named = value_node(name, of_text("n"));
    realm_value_t type_12 = of_null(), gone = of_null();
    type_12.type = (realm_value_type_e)12;
    gone.type = RLM_TYPE_LINK;
    gone.link.target_table = thing_class;
    gone.link.target = 123456;
    node_t root_2 = inner(RLM_NODE_OBJECT, 0, 2), no_parent = value_node(0, of_int(1));
    node_t huge = inner(RLM_NODE_OBJECT, 0, SIZE_MAX), most = inner(RLM_NODE_OBJECT, 0, SIZE_MAX / 2);
    node_t unknown_kind = inner((realm_value_node_kind_e)9, 0, 0), parent = named;
    parent.num_children = 1;
    node_t nul = with_key(value_node(0, of_text("v")), "");
    nul.key.data = NULL;
    struct {
        realm_errno_e code;
        realm_class_key_t class;
        size_t count;
        node_t nodes[4];
    } cases[] = {
        {RLM_ERR_INVALID_ARGUMENT, thing_class, 0, {root}},
        {RLM_ERR_INVALID_ARGUMENT, thing_class, 1, {root}},
        {RLM_ERR_INVALID_ARGUMENT, thing_class, 2, {inner(RLM_NODE_OBJECT, 0, 0), no_parent}},
        {RLM_ERR_INVALID_ARGUMENT, thing_class, 1, {huge}},
        {RLM_ERR_INVALID_ARGUMENT, thing_class, 2, {most, named}},
        {RLM_ERR_INVALID_ARGUMENT, thing_class, 2, {root, unknown_kind}},
        {RLM_ERR_INVALID_ARGUMENT, thing_class, 3, {root, parent, no_parent}},
        {RLM_ERR_PROPERTY_TYPE_MISMATCH, thing_class, 1, {no_parent}},
        {RLM_ERR_NO_SUCH_TABLE, 4711, 2, {root, named}},
        {RLM_ERR_ILLEGAL_OPERATION, part_class, 2, {root, named}},
        {RLM_ERR_INVALID_PROPERTY, thing_class, 2, {root, value_node(id + 77, of_int(1))}},
        {RLM_ERR_INVALID_PROPERTY, thing_class, 2, {root, value_node(-1, of_int(1))}},
        {RLM_ERR_PROPERTY_TYPE_MISMATCH, thing_class, 2, {root, value_node(name, of_int(1))}},
        {RLM_ERR_PROPERTY_TYPE_MISMATCH, thing_class, 2, {root, value_node(name, type_12)}},
        {RLM_ERR_PROPERTY_NOT_NULLABLE, thing_class, 2, {root, value_node(name, of_null())}},
        {RLM_ERR_MISSING_PROPERTY_VALUE, thing_class, 1, {inner(RLM_NODE_OBJECT, 0, 0)}},
        {RLM_ERR_MISSING_PRIMARY_KEY, keyed_class, 1, {inner(RLM_NODE_OBJECT, 0, 0)}},
        {RLM_ERR_PROPERTY_TYPE_MISMATCH, thing_class, 3,
         {root_2, named, inner(RLM_NODE_DICTIONARY, ints, 0)}},
        {RLM_ERR_PROPERTY_TYPE_MISMATCH, thing_class, 3, {root_2, named, value_node(ints, of_int(1))}},
        {RLM_ERR_PROPERTY_TYPE_MISMATCH, thing_class, 4,
         {root_2, named, inner(RLM_NODE_LIST, ints, 1), value_node(0, of_text("x"))}},
        {RLM_ERR_PROPERTY_TYPE_MISMATCH, thing_class, 4,
         {root_2, named, inner(RLM_NODE_LIST, tags, 1), inner(RLM_NODE_LIST, 0, 0)}},
        {RLM_ERR_ILLEGAL_OPERATION, thing_class, 4,
         {root_2, named, inner(RLM_NODE_LIST, mixture, 1), inner(RLM_NODE_LIST, 0, 0)}},
        {RLM_ERR_PROPERTY_TYPE_MISMATCH, thing_class, 4,
         {root_2, named, inner(RLM_NODE_LIST, anys, 1), inner(RLM_NODE_OBJECT, 0, 0)}},
        {RLM_ERR_PROPERTY_TYPE_MISMATCH, thing_class, 4,
         {root_2, named, inner(RLM_NODE_LIST, anys, 1), value_node(0, type_12)}},
        {RLM_ERR_INVALID_DICTIONARY_KEY, thing_class, 4,
         {root_2, named, inner(RLM_NODE_DICTIONARY, labels, 1), nul}},
        {RLM_ERR_INVALID_DICTIONARY_KEY, thing_class, 4,
         {root_2, named, inner(RLM_NODE_DICTIONARY, labels, 1),
          with_key(value_node(0, of_text("v")), "a.b")}},
        {RLM_ERR_NO_SUCH_OBJECT, thing_class, 3, {root_2, named, value_node(other, gone)}},
        {RLM_ERR_NO_SUCH_OBJECT, thing_class, 3, {root_2, named, reference(other, 1)}},
        {RLM_ERR_NO_SUCH_OBJECT, thing_class, 3, {root_2, named, reference(other, -1)}},
        {RLM_ERR_NO_SUCH_OBJECT, thing_class, 3, {root_2, named, reference(other, INT64_MAX)}},
        {RLM_ERR_PROPERTY_TYPE_MISMATCH, thing_class, 3, {root_2, named, reference(part, 0)}},
        {RLM_ERR_PROPERTY_NOT_NULLABLE, thing_class, 4,
         {root_2, named, inner(RLM_NODE_LIST, friends, 1), value_node(0, of_null())}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int before = failures;
        FAILS(cases[i].code,
              realm_object_create_from_nodes(realm, cases[i].class, cases[i].nodes, cases[i].count,
                                             RLM_UPDATE_NEVER, NULL));
        if (failures != before) fprintf(stderr, "    case %zu\n", i);
    }
    CHECK(objects_of(thing_class) == things);
    FAILS(RLM_ERR_INVALID_ARGUMENT,
          realm_object_create_from_nodes(realm, thing_class, NULL, 3, RLM_UPDATE_NEVER, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT,
          realm_object_create_from_nodes(realm, thing_class, &root, SIZE_MAX, RLM_UPDATE_NEVER, NULL));

    /* Where the value is that is wrong. */
    node_t bad[] = {root_2, named, inner(RLM_NODE_LIST, ints, 2), value_node(0, of_int(1)),
                    value_node(0, of_bool(true))};
    realm_error_t error;
    CHECK(!realm_object_create_from_nodes(realm, thing_class, bad, 5, RLM_UPDATE_NEVER, NULL));
    CHECK(realm_get_last_error(&error) && strstr(error.message, "Thing.ints[1] takes"));
    realm_clear_last_error();
}

/* Mixed values as deep as they can be, and one more; objects have no limit. */
static void depth(void) {
    enum { LEVELS = 100, OBJECTS = 100000 };
    realm_property_key_t name = key_of(thing_class, "name"), anys = key_of(thing_class, "anys"),
                         other = key_of(thing_class, "other");
    node_t *nodes = calloc(2 * OBJECTS + 1, sizeof *nodes);
    for (int extra = 0; extra < 2; extra++) {
        size_t count = 0;
        nodes[count++] = inner(RLM_NODE_OBJECT, 0, 2);
        nodes[count++] = value_node(name, of_text("deep"));
        for (int level = 0; level < LEVELS + extra; level++) {
            nodes[count++] = inner(RLM_NODE_LIST, anys, level < LEVELS + extra - 1);
        }
        realm_object_t *made = realm_object_create_from_nodes(realm, thing_class, nodes, count,
                                                              RLM_UPDATE_NEVER, NULL);
        CHECK((made != NULL) == (extra == 0));
        realm_release(made);
    }
    realm_clear_last_error();
    size_t count = 0, things = objects_of(thing_class);
    for (int i = 0; i < OBJECTS; i++) {
        nodes[count++] = inner(RLM_NODE_OBJECT, other, i < OBJECTS - 1 ? 2 : 1);
        nodes[count++] = value_node(name, of_text("chain"));
    }
    realm_object_t *made = realm_object_create_from_nodes(realm, thing_class, nodes, count,
                                                          RLM_UPDATE_NEVER, NULL);
    SUCCEEDS(made != NULL);
    CHECK(objects_of(thing_class) == things + OBJECTS);
    realm_release(made);
    free(nodes);
}

/* Arrays of random numbers: errors or objects, never a crash. */
static void noise(void) {
    uint64_t state = 20261122;
    const char *texts[] = {"name", "", "$x", "a.b"};
    size_t made = 0, num_properties = 0;
    realm_property_key_t properties[32];
    CHECK(realm_get_property_keys(realm, thing_class, properties, 32, &num_properties));
    for (int round = 0; round < 200000; round++) {
        node_t nodes[8];
        size_t count = 1 + (size_t)round % 8;
        memset(nodes, 0, sizeof nodes);
        for (size_t i = 0; i < count; i++) {
            uint64_t bits = state = state * 6364136223846793005u + 1442695040888963407u;
            bits ^= bits >> 29;
            nodes[i].kind = (uint32_t)(i == 0 ? 1 : bits % 6);
            nodes[i].flags = (uint32_t)(bits >> 8 & 3);
            nodes[i].num_children = bits >> 12 & 1 ? bits >> 13 & 3 : 0;
            nodes[i].property = properties[(bits >> 16) % num_properties];
            const char *text = texts[bits >> 24 & 3];
            nodes[i].key = (realm_string_t){bits >> 26 & 7 ? text : NULL, strlen(text)};
            switch (bits >> 30 & 7) {
            case 0: nodes[i].value = of_text(text); break;
            case 1: nodes[i].value = of_null(); break;
            case 2: nodes[i].value.type = (realm_value_type_e)(bits >> 33 & 15);
                    if (nodes[i].value.type == RLM_TYPE_STRING ||
                        nodes[i].value.type == RLM_TYPE_BINARY) {
                        nodes[i].value = of_text(text);
                    }
                    break;
            default: nodes[i].value = of_int((int64_t)(bits >> 40 & 7)); break;
            }
        }
        realm_object_key_t keys[8];
        realm_object_t *object = realm_object_create_from_nodes(realm, thing_class, nodes, count,
                                                                RLM_UPDATE_MODIFIED, keys);
        made += object != NULL;
        realm_release(object);
    }
    realm_clear_last_error();
    CHECK(made > 0);
}

int main(void) {
    realm = open_things("nodes.realm");
    thing_class = class_key(realm, "Thing");
    part_class = class_key(realm, "Part");
    keyed_class = class_key(realm, "Keyed");
    screw_class = class_key(realm, "Screw");
    node_t thing[] = {inner(RLM_NODE_OBJECT, 0, 1),
                      value_node(key_of(thing_class, "name"), of_text("x"))};
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE,
          realm_object_create_from_nodes(realm, thing_class, thing, 2, RLM_UPDATE_NEVER, NULL));
    SUCCEEDS(realm_begin_write(realm));
    whole();
    policies();
    objects_that_are_there();
    places();
    wrong();
    depth();
    noise();
    SUCCEEDS(realm_commit(realm));
    size_t problems = 1;
    SUCCEEDS(realm_check(realm, NULL, NULL, &problems));
    CHECK(problems == 0);
    realm_release(realm);
    return check_end("nodes");
}
