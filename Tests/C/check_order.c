/* Which error is told where several things are wrong: in each row a call that fails for more than one
 * reason, and its error while the realm reads, while it writes, and when the object is gone. */
#include "things.h"

#define ARGUMENT RLM_ERR_INVALID_ARGUMENT
#define BAD_KEY RLM_ERR_INVALID_DICTIONARY_KEY
#define BAD_VALUE RLM_ERR_INVALID_DICTIONARY_VALUE
#define BOUNDS RLM_ERR_INDEX_OUT_OF_BOUNDS
#define GONE RLM_ERR_INVALIDATED_OBJECT
#define ILLEGAL RLM_ERR_ILLEGAL_OPERATION
#define NO_OBJECT RLM_ERR_NO_SUCH_OBJECT
#define NO_PROPERTY RLM_ERR_INVALID_PROPERTY
#define NO_TABLE RLM_ERR_NO_SUCH_TABLE
#define NO_TABLE_REF RLM_ERR_INVALID_TABLE_REF
#define NOT_NULL RLM_ERR_PROPERTY_NOT_NULLABLE
#define READING RLM_ERR_WRONG_TRANSACTION_STATE
#define TOP_LEVEL RLM_ERR_TOP_LEVEL_OBJECT
#define TYPE RLM_ERR_PROPERTY_TYPE_MISMATCH
/* Not called in that state: nothing is wrong. */
#define NONE RLM_ERR_NONE

enum state { READS, WRITES, IS_GONE };

typedef struct world {
    realm_t *realm;
    realm_object_t *thing, *part;
    realm_list_t *ints, *friends, *anys, *parts;
    realm_set_t *tags, *mixture, *peers;
    realm_dictionary_t *scores, *links, *values, *parts_by_name;
    realm_value_t missing, stranger, text, one, null, list, dollar, key;
    realm_property_key_t name, other, owned, numbers;
    realm_class_key_t own;
} world_t;

/* X(while reading, while writing, of what is gone, call) */
#define LISTS(X)                                                                                  \
    X(TYPE, TYPE, GONE, realm_list_insert(w->ints, 9, w->text))                                   \
    X(TYPE, TYPE, GONE, realm_list_set(w->ints, 9, w->text))                                      \
    X(NOT_NULL, NOT_NULL, GONE, realm_list_insert(w->ints, 9, w->null))                           \
    X(NOT_NULL, NOT_NULL, GONE, realm_list_set(w->ints, 9, w->null))                              \
    X(READING, BOUNDS, GONE, realm_list_insert(w->ints, 9, w->one))                               \
    X(READING, BOUNDS, GONE, realm_list_set(w->ints, 9, w->one))                                  \
    X(TYPE, TYPE, GONE, realm_list_insert(w->friends, 9, w->stranger))                            \
    X(READING, BOUNDS, GONE, realm_list_insert(w->friends, 9, w->missing))                        \
    X(READING, NO_OBJECT, GONE, realm_list_insert(w->friends, 0, w->missing))                     \
    X(READING, NO_OBJECT, GONE, realm_list_insert(w->anys, 0, w->missing))                        \
    X(READING, BOUNDS, GONE, realm_list_insert(w->anys, 9, w->missing))                           \
    X(READING, BOUNDS, GONE, realm_list_insert(w->anys, 9, w->list))                              \
    X(TYPE, TYPE, GONE, realm_list_find(w->ints, &w->text, NULL, NULL))                           \
    X(NOT_NULL, NOT_NULL, GONE, realm_list_find(w->ints, &w->null, NULL, NULL))                   \
    X(BOUNDS, BOUNDS, GONE, realm_list_get(w->ints, 9, NULL))                                     \
    X(READING, BOUNDS, GONE, realm_list_move(w->ints, 9, 9))                                      \
    X(READING, BOUNDS, GONE, realm_list_erase(w->ints, 9))                                        \
    X(READING, NONE, GONE, realm_list_clear(w->ints))                                             \
    X(READING, NONE, GONE, realm_list_remove_all(w->ints))                                        \
    X(READING, BOUNDS, GONE, realm_list_insert_embedded(w->ints, 9))                              \
    X(READING, ILLEGAL, GONE, realm_list_insert_embedded(w->ints, 0))                             \
    X(READING, BOUNDS, GONE, realm_list_set_embedded(w->ints, 9))                                 \
    X(READING, ILLEGAL, GONE, realm_list_set_embedded(w->friends, 0))                             \
    X(READING, BOUNDS, GONE, realm_list_insert_embedded(w->parts, 9))                             \
    X(READING, ILLEGAL, GONE, realm_list_insert_list(w->ints, 9))                                 \
    X(READING, ILLEGAL, GONE, realm_list_set_list(w->ints, 9))                                    \
    X(READING, ILLEGAL, GONE, realm_list_insert_dictionary(w->ints, 9))                           \
    X(READING, ILLEGAL, GONE, realm_list_set_dictionary(w->ints, 9))                              \
    X(READING, BOUNDS, GONE, realm_list_insert_list(w->anys, 9))                                  \
    X(READING, BOUNDS, GONE, realm_list_set_dictionary(w->anys, 9))                               \
    X(ILLEGAL, ILLEGAL, GONE, realm_list_get_list(w->ints, 9))                                    \
    X(ILLEGAL, ILLEGAL, GONE, realm_list_get_dictionary(w->ints, 9))                              \
    X(BOUNDS, BOUNDS, GONE, realm_list_get_linked_object(w->friends, 9))                          \
    X(NONE, NONE, GONE, realm_list_get_linked_object(w->ints, 9))                                 \
    X(NONE, NONE, GONE, realm_list_to_results(w->ints))                                           \
    X(NONE, NONE, GONE, realm_query_parse_for_list(w->ints, "nothing ==", 0, NULL))

#define SETS(X)                                                                                   \
    X(TYPE, TYPE, GONE, realm_set_insert(w->tags, w->one, NULL, NULL))                            \
    X(NOT_NULL, NOT_NULL, GONE, realm_set_insert(w->tags, w->null, NULL, NULL))                   \
    X(ILLEGAL, ILLEGAL, GONE, realm_set_insert(w->mixture, w->list, NULL, NULL))                  \
    X(READING, NO_OBJECT, GONE, realm_set_insert(w->peers, w->missing, NULL, NULL))               \
    X(READING, NONE, GONE, realm_set_erase(w->tags, w->text, NULL))                               \
    X(NONE, NONE, GONE, realm_set_erase(w->tags, w->one, NULL))                                   \
    X(NONE, NONE, GONE, realm_set_find(w->tags, w->one, NULL, NULL))                              \
    X(BOUNDS, BOUNDS, GONE, realm_set_get(w->tags, 9, NULL))                                      \
    X(READING, NONE, GONE, realm_set_clear(w->tags))                                              \
    X(READING, NONE, GONE, realm_set_remove_all(w->tags))

#define DICTIONARIES(X)                                                                           \
    X(ARGUMENT, ARGUMENT, ARGUMENT, realm_dictionary_insert(w->scores, w->one, w->text, 0, 0))    \
    X(TYPE, TYPE, GONE, realm_dictionary_insert(w->scores, w->dollar, w->text, 0, 0))             \
    X(NOT_NULL, NOT_NULL, GONE, realm_dictionary_insert(w->scores, w->dollar, w->null, 0, 0))     \
    X(BAD_KEY, BAD_KEY, GONE, realm_dictionary_insert(w->scores, w->dollar, w->one, 0, 0))        \
    X(BAD_KEY, BAD_KEY, GONE, realm_dictionary_insert(w->links, w->dollar, w->missing, 0, 0))     \
    X(NO_OBJECT, NO_OBJECT, GONE, realm_dictionary_insert(w->links, w->key, w->missing, 0, 0))    \
    X(NO_OBJECT, NO_OBJECT, GONE, realm_dictionary_insert(w->values, w->key, w->missing, 0, 0))   \
    X(TYPE, TYPE, GONE, realm_dictionary_insert(w->links, w->dollar, w->stranger, 0, 0))          \
    X(READING, NONE, GONE, realm_dictionary_insert(w->scores, w->key, w->one, 0, 0))              \
    X(READING, BAD_KEY, GONE, realm_dictionary_erase(w->scores, w->dollar, NULL))                 \
    X(READING, NONE, GONE, realm_dictionary_clear(w->scores))                                     \
    X(ARGUMENT, ARGUMENT, ARGUMENT, realm_dictionary_insert_embedded(w->scores, w->one))          \
    X(NO_TABLE_REF, NO_TABLE_REF, GONE, realm_dictionary_insert_embedded(w->scores, w->dollar))   \
    X(READING, BAD_KEY, GONE, realm_dictionary_insert_embedded(w->parts_by_name, w->dollar))      \
    X(ARGUMENT, ARGUMENT, ARGUMENT, realm_dictionary_insert_list(w->scores, w->one))              \
    X(READING, BAD_VALUE, GONE, realm_dictionary_insert_list(w->scores, w->dollar))               \
    X(READING, BAD_VALUE, GONE, realm_dictionary_insert_dictionary(w->scores, w->dollar))         \
    X(READING, BAD_KEY, GONE, realm_dictionary_insert_list(w->values, w->dollar))                 \
    X(READING, BAD_KEY, GONE, realm_dictionary_insert_dictionary(w->values, w->dollar))           \
    X(ARGUMENT, ARGUMENT, ARGUMENT, realm_dictionary_get_list(w->scores, w->one))                 \
    X(NO_PROPERTY, NO_PROPERTY, GONE, realm_dictionary_get_list(w->scores, w->key))               \
    X(NO_PROPERTY, NO_PROPERTY, GONE, realm_dictionary_get_dictionary(w->scores, w->key))         \
    X(BOUNDS, BOUNDS, GONE, realm_dictionary_get(w->scores, 9, NULL, NULL))                       \
    X(NONE, NONE, GONE, realm_dictionary_find(w->scores, w->key, NULL, NULL))                     \
    X(NONE, NONE, GONE, realm_dictionary_to_results(w->scores))

#define OBJECTS(X)                                                                                \
    X(NO_PROPERTY, NO_PROPERTY, GONE, realm_set_value(w->thing, 77, w->one, false))               \
    X(TYPE, TYPE, GONE, realm_set_value(w->thing, w->name, w->one, false))                        \
    X(TYPE, TYPE, GONE, realm_set_value(w->thing, w->numbers, w->one, false))                     \
    X(TYPE, TYPE, GONE, realm_set_value(w->thing, w->other, w->stranger, false))                  \
    X(NO_OBJECT, NO_OBJECT, GONE, realm_set_value(w->thing, w->other, w->missing, false))         \
    X(ILLEGAL, ILLEGAL, GONE, realm_set_value(w->thing, w->owned, link_to(w->part), false))       \
    X(READING, NONE, GONE, realm_set_value(w->thing, w->name, w->text, false))                    \
    X(ILLEGAL, ILLEGAL, GONE, realm_object_add_int(w->thing, w->name, 1))                         \
    X(TYPE, TYPE, GONE, realm_set_embedded(w->thing, w->name))                                    \
    X(ILLEGAL, ILLEGAL, GONE, realm_set_embedded(w->thing, w->other))                             \
    X(READING, NONE, GONE, realm_set_embedded(w->thing, w->owned))                                \
    X(TYPE, TYPE, GONE, realm_get_list(w->thing, w->name))                                        \
    X(TYPE, TYPE, GONE, realm_get_set(w->thing, w->numbers))                                      \
    X(TYPE, TYPE, GONE, realm_get_dictionary(w->thing, w->name))                                  \
    X(TYPE, TYPE, GONE, realm_set_list(w->thing, w->name))                                        \
    X(TYPE, TYPE, GONE, realm_set_dictionary(w->thing, w->name))                                  \
    X(NO_PROPERTY, NO_PROPERTY, GONE, realm_get_list(w->thing, 77))                               \
    X(NO_PROPERTY, NO_PROPERTY, GONE, realm_get_value(w->thing, 77, NULL))                        \
    X(NO_PROPERTY, NO_PROPERTY, GONE, realm_get_value_by_property_index(w->thing, 99, NULL))      \
    X(NO_TABLE_REF, NO_TABLE_REF, GONE, realm_get_linked_object(w->thing, w->name))               \
    X(NO_TABLE, NO_TABLE, GONE, realm_get_backlinks(w->thing, 999, w->name))                      \
    X(NO_PROPERTY, NO_PROPERTY, GONE, realm_get_backlinks(w->thing, w->own, 77))               \
    X(READING, NONE, GONE, realm_object_delete(w->thing))                                         \
    X(TOP_LEVEL, TOP_LEVEL, TOP_LEVEL, realm_object_get_parent(w->thing, NULL, NULL))             \
    X(NONE, NONE, NO_OBJECT, realm_object_get_parent(w->part, NULL, NULL))

static void check_all(world_t *w, enum state state) {
#define ROW(reading, writing, gone, call)                                                         \
    do {                                                                                          \
        realm_errno_e code = state == READS ? reading : state == WRITES ? writing : gone;         \
        if (code != NONE) {                                                                       \
            realm_clear_last_error();                                                             \
            check_error_at(!(call), code, #call, __FILE__, __LINE__);                             \
        }                                                                                         \
    } while (0);
    LISTS(ROW)
    SETS(ROW)
    DICTIONARIES(ROW)
    OBJECTS(ROW)
#undef ROW
}

int main(void) {
    world_t world, *w = &world;
    w->realm = open_things("order.realm");
    SUCCEEDS(realm_begin_write(w->realm));
    w->thing = make_thing(w->realm, "thing");
    w->own = class_key(w->realm, "Thing");
    w->name = thing_key(w->realm, "name");
    w->other = thing_key(w->realm, "other");
    w->owned = thing_key(w->realm, "part");
    w->numbers = thing_key(w->realm, "ints");
    w->part = realm_set_embedded(w->thing, w->owned);
    w->ints = list_of(w->realm, w->thing, "ints");
    w->friends = list_of(w->realm, w->thing, "friends");
    w->anys = list_of(w->realm, w->thing, "anys");
    w->parts = list_of(w->realm, w->thing, "parts");
    w->tags = set_of(w->realm, w->thing, "tags");
    w->mixture = set_of(w->realm, w->thing, "mixture");
    w->peers = set_of(w->realm, w->thing, "peers");
    w->scores = dictionary_of(w->realm, w->thing, "scores");
    w->links = dictionary_of(w->realm, w->thing, "links");
    w->values = dictionary_of(w->realm, w->thing, "values");
    w->parts_by_name = dictionary_of(w->realm, w->thing, "parts_by_name");
    w->missing = of_link_to(w->own, 77);
    w->stranger = of_link_to(class_key(w->realm, "Keyed"), 77);
    w->text = of_text("x");
    w->one = of_int(1);
    w->null = of_null();
    w->list = of_type(RLM_TYPE_LIST);
    w->dollar = of_text("$x");
    w->key = of_text("k");
    SUCCEEDS(realm_list_insert(w->friends, 0, link_to(w->thing)));
    check_all(w, WRITES);
    SUCCEEDS(realm_commit(w->realm));
    check_all(w, READS);
    /* In a transaction that has found nothing yet, too. */
    SUCCEEDS(realm_begin_write(w->realm));
    check_all(w, WRITES);
    SUCCEEDS(realm_rollback(w->realm));
    check_all(w, READS);
    SUCCEEDS(realm_begin_write(w->realm));
    SUCCEEDS(realm_object_delete(w->thing));
    check_all(w, IS_GONE);
    SUCCEEDS(realm_commit(w->realm));
    check_all(w, IS_GONE);

    void *handles[] = {w->thing, w->part,    w->ints,  w->friends, w->anys,  w->parts,  w->tags,
                       w->mixture, w->peers, w->scores, w->links,  w->values, w->parts_by_name,
                       w->realm};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        realm_release(handles[i]);
    return check_end("check order");
}
