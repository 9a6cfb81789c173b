/* usage: write_shared FILE COUNT    writes COUNT objects of Shared, each linked to the one before */
#include "interop.h"

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    long count = atol(argv[2]);
    shared_t shared = shared_open(argv[1]);
    if (!realm_begin_write(shared.realm)) fail("realm_begin_write");
    realm_link_t before = {0};
    for (long i = 0; i < count; i++) {
        char name[40];
        unsigned char data[4] = {0, 255, (unsigned char)i, 7};
        realm_value_t key = {.type = RLM_TYPE_INT, .integer = i};
        realm_object_t *object =
            realm_object_create_with_primary_key(shared.realm, shared.class_key, key);
        if (!object) fail("create");
        snprintf(name, sizeof name, "näme-%05ld", i);
        realm_value_t values[P_COUNT - 1] = {
            {.type = RLM_TYPE_STRING, .string = {name, strlen(name)}},
            {.type = RLM_TYPE_DOUBLE, .dnum = (double)i / 4},
            {.type = RLM_TYPE_FLOAT, .fnum = (float)i / 2},
            {.type = RLM_TYPE_BOOL, .boolean = i % 2 == 1},
            {.type = RLM_TYPE_BINARY, .binary = {data, sizeof data}},
            {.type = RLM_TYPE_TIMESTAMP, .timestamp = {i - 2, i < 2 ? -1000 : 1000}},
            {.type = RLM_TYPE_LINK, .link = before},
        };
        if (i % 3 == 0) values[P_SCORE - 1].type = values[P_DATA - 1].type = RLM_TYPE_NULL;
        if (i == 0) values[P_FRIEND - 1].type = RLM_TYPE_NULL;
        if (!realm_set_values(object, P_COUNT - 1, shared.keys + 1, values, false)) fail("set");
        before = realm_object_as_link(object);
        realm_release(object);
    }
    if (!realm_commit(shared.realm)) fail("realm_commit");
    realm_release(shared.realm);
    return 0;
}
