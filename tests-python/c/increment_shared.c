/* usage: increment_shared FILE TIMES    adds 1 to the score of object 0, a commit each */
#include "interop.h"

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    shared_t shared = shared_open(argv[1]);
    for (long i = 0; i < atol(argv[2]); i++) {
        realm_value_t key = {.type = RLM_TYPE_INT, .integer = 0}, score;
        if (!realm_begin_write(shared.realm)) fail("realm_begin_write");
        realm_object_t *object =
            realm_object_find_with_primary_key(shared.realm, shared.class_key, key, NULL);
        if (!object || !realm_get_value(object, shared.keys[P_SCORE], &score)) fail("find");
        score.dnum += 1;
        if (!realm_set_value(object, shared.keys[P_SCORE], score, false)) fail("set");
        realm_release(object);
        if (!realm_commit(shared.realm)) fail("realm_commit");
    }
    realm_release(shared.realm);
    return 0;
}
