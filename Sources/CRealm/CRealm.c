/* No code: the functions that the header declares are written in Swift, in Sources/CABI. Here only
 * what callers were compiled against is held fast: sizes and offsets of the records. */
#include "CRealm.h"

#define HOLDS(condition) _Static_assert(condition, #condition)

HOLDS(sizeof(realm_string_t) == 16);
HOLDS(sizeof(realm_binary_t) == 16);
HOLDS(sizeof(realm_timestamp_t) == 16);
HOLDS(sizeof(realm_decimal128_t) == 16);
HOLDS(sizeof(realm_link_t) == 16 && offsetof(realm_link_t, target) == 8);
HOLDS(sizeof(realm_object_id_t) == 12);
HOLDS(sizeof(realm_uuid_t) == 16);
HOLDS(sizeof(realm_value_t) == 24 && offsetof(realm_value_t, type) == 16);
HOLDS(sizeof(realm_query_arg_t) == 24 && offsetof(realm_query_arg_t, arg) == 16);
HOLDS(sizeof(realm_version_id_t) == 16);
HOLDS(sizeof(realm_error_t) == 32 && offsetof(realm_error_t, path) == 24);
HOLDS(sizeof(realm_property_info_t) == 56 && offsetof(realm_property_info_t, key) == 40);
HOLDS(sizeof(realm_class_info_t) == 40 && offsetof(realm_class_info_t, key) == 32);
HOLDS(sizeof(realm_collection_move_t) == 16);
HOLDS(sizeof(realm_index_range_t) == 16);
HOLDS(sizeof(realm_errno_e) == 4 && sizeof(realm_value_type_e) == 4);
