/* usage: read_shared FILE    prints every object of Shared, one line each, by primary key */
#include "interop.h"

static void print_value(const realm_value_t *value) {
    switch (value->type) {
    case RLM_TYPE_NULL: printf("null"); break;
    case RLM_TYPE_INT: printf("%lld", (long long)value->integer); break;
    case RLM_TYPE_BOOL: printf("%s", value->boolean ? "true" : "false"); break;
    case RLM_TYPE_STRING: printf("%.*s", (int)value->string.size, value->string.data); break;
    case RLM_TYPE_BINARY:
        for (size_t i = 0; i < value->binary.size; i++) printf("%02x", value->binary.data[i]);
        break;
    case RLM_TYPE_TIMESTAMP:
        printf("%lld:%d", (long long)value->timestamp.seconds, value->timestamp.nanoseconds);
        break;
    case RLM_TYPE_FLOAT: printf("%.9g", (double)value->fnum); break;
    case RLM_TYPE_DOUBLE: printf("%.17g", value->dnum); break;
    default: printf("?%d", (int)value->type);
    }
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    shared_t shared = shared_open(argv[1]);
    realm_results_t *all = realm_object_find_all(shared.realm, shared.class_key);
    realm_results_t *sorted = all ? realm_results_sort(all, "id ASC") : NULL;
    size_t count;
    if (!sorted || !realm_results_count(sorted, &count)) fail("results");
    for (size_t i = 0; i < count; i++) {
        realm_object_t *object = realm_results_get_object(sorted, i);
        realm_value_t values[P_COUNT];
        if (!object || !realm_get_values(object, P_COUNT, shared.keys, values)) fail("get");
        for (int p = 0; p < P_FRIEND; p++) {
            print_value(&values[p]);
            putchar('|');
        }
        realm_object_t *other = realm_get_linked_object(object, shared.keys[P_FRIEND]);
        realm_value_t key = {.type = RLM_TYPE_NULL};
        if (other && !realm_get_value(other, shared.keys[P_ID], &key)) fail("friend");
        print_value(&key);
        putchar('\n');
        realm_release(other);
        realm_release(object);
    }
    realm_release(sorted);
    realm_release(all);
    realm_release(shared.realm);
    return 0;
}
