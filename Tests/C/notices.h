/* What the tests of notifications share: a scheduler whose work the test runs itself, and observers
 * that keep the last change set they were given as text, so that a check is one line:
 *
 *     "d0-2 i1 m3>4"      deletions 0 and 1, insertion 1, element 3 modified, now at 4
 *     "moved 0>2", "cleared", "deleted" follow; "-" is an empty change set, "" no call
 */
#ifndef NOTICES_H
#define NOTICES_H

#include "loops.h"
#include "things.h"

#include <poll.h>

/* notify() comes on the thread that commits, or on the one of the library that listens for commits. */
typedef struct loop {
    int schedulers;
    realm_work_queue_t *queue;
    int pending;
    bool cannot_deliver;
} loop_t;

static inline void loop_notify(void *userdata, realm_work_queue_t *queue) {
    loop_t *loop = userdata;
    __atomic_store_n(&loop->queue, queue, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&loop->pending, 1, __ATOMIC_SEQ_CST);
}
static inline bool loop_on_thread(void *userdata) { return userdata != NULL; }
static inline bool loop_can_deliver(void *userdata) { return !((loop_t *)userdata)->cannot_deliver; }

/* How much is queued: when it is nothing, the listening thread may be about to queue something. */
static inline int pending(loop_t *loop) {
    for (int i = 0; i < 20 && !__atomic_load_n(&loop->pending, __ATOMIC_SEQ_CST); i++)
        (void)poll(NULL, 0, 1);
    return __atomic_load_n(&loop->pending, __ATOMIC_SEQ_CST);
}

/* Runs what was queued; more may be queued by it. */
static inline void turn(loop_t *loop) {
    (void)pending(loop);
    int count = __atomic_exchange_n(&loop->pending, 0, __ATOMIC_SEQ_CST);
    for (int i = 0; i < count; i++)
        realm_scheduler_perform_work(__atomic_load_n(&loop->queue, __ATOMIC_SEQ_CST));
}

static inline realm_t *open_looped(realm_config_t *config, loop_t *loop) {
    loop_add_scheduler(loop);
    realm_scheduler_t *scheduler =
        realm_scheduler_new(loop, loop_free, loop_notify, loop_on_thread, NULL, loop_can_deliver);
    realm_config_set_scheduler(config, scheduler);
    realm_release(scheduler);
    return open_or_exit(config);
}
static inline realm_t *open_looped_things(const char *path, loop_t *loop) {
    return open_looped(things_config(path), loop);
}

typedef struct notice {
    int calls, freed;
    char text[4096];
    /* Called after the text was taken. */
    void (*then)(struct notice *);
    realm_t *realm;
    void *other;
    void *clone;
    int kind;
    realm_notification_token_t *token;
} notice_t;

static inline void add_text(notice_t *notice, const char *text) {
    if (*notice->text)
        strncat(notice->text, " ", sizeof notice->text - strlen(notice->text) - 1);
    strncat(notice->text, text, sizeof notice->text - strlen(notice->text) - 1);
}
static inline void add_ranges(notice_t *notice, char what, const realm_index_range_t *ranges,
                              size_t count) {
    char text[64];
    for (size_t i = 0; i < count; i++) {
        if (ranges[i].to == ranges[i].from + 1)
            snprintf(text, sizeof text, "%c%zu", what, ranges[i].from);
        else
            snprintf(text, sizeof text, "%c%zu-%zu", what, ranges[i].from, ranges[i].to);
        add_text(notice, text);
    }
}
static inline void finish(notice_t *notice) {
    if (!*notice->text)
        strcpy(notice->text, "-");
    notice->calls++;
    if (notice->then)
        notice->then(notice);
}
static inline void describe_elements(notice_t *notice, const realm_collection_changes_t *changes) {
    enum { MOST = 300 };
    size_t deletions, insertions, modifications, moves, ranges[3];
    bool cleared, deleted;
    char text[64];
    *notice->text = 0;
    realm_collection_changes_get_num_changes(changes, &deletions, &insertions, &modifications,
                                             &moves, &cleared, &deleted);
    realm_collection_changes_get_num_ranges(changes, &ranges[0], &ranges[1], &ranges[2], NULL);
    realm_index_range_t d[MOST], i[MOST];
    realm_collection_changes_get_ranges(changes, d, MOST, i, MOST, NULL, 0, NULL, 0, NULL, 0);
    CHECK(ranges[0] <= MOST && ranges[1] <= MOST && modifications <= MOST && moves <= MOST);
    add_ranges(notice, 'd', d, ranges[0]);
    add_ranges(notice, 'i', i, ranges[1]);
    size_t before[MOST], after[MOST], sum = 0;
    realm_collection_move_t moved[MOST];
    realm_collection_changes_get_changes(changes, NULL, 0, NULL, 0, before, MOST, after, MOST,
                                         moved, MOST);
    for (size_t k = 0; k < modifications; k++) {
        if (before[k] == after[k])
            snprintf(text, sizeof text, "m%zu", before[k]);
        else
            snprintf(text, sizeof text, "m%zu>%zu", before[k], after[k]);
        add_text(notice, text);
    }
    for (size_t k = 0; k < moves; k++) {
        snprintf(text, sizeof text, "moved %zu>%zu", moved[k].from, moved[k].to);
        add_text(notice, text);
    }
    for (size_t k = 0; k < ranges[0]; k++)
        sum += d[k].to - d[k].from;
    CHECK(sum == deletions);
    if (cleared)
        add_text(notice, "cleared");
    if (deleted)
        add_text(notice, "deleted");
}
static inline void on_elements(void *userdata, const realm_collection_changes_t *changes) {
    notice_t *notice = userdata;
    describe_elements(notice, changes);
    if (notice->kind == 1)
        notice->clone = realm_clone(changes);
    finish(notice);
}
/* "deleted", or the names of changed properties of `kind`: 0 Thing, 1 Person. */
static inline void on_object(void *userdata, const realm_object_changes_t *changes) {
    notice_t *notice = userdata;
    *notice->text = 0;
    if (realm_object_changes_is_deleted(changes))
        add_text(notice, "deleted");
    realm_property_key_t keys[64];
    size_t count = realm_object_changes_get_num_modified_properties(changes);
    CHECK(realm_object_changes_get_modified_properties(changes, NULL, 0) == count);
    CHECK(realm_object_changes_get_modified_properties(changes, keys, 64) == count);
    realm_class_key_t class = class_key(notice->realm, notice->kind == 1 ? "Person" : "Thing");
    for (size_t i = 0; i < count; i++) {
        realm_property_info_t info;
        CHECK(realm_get_property(notice->realm, class, keys[i], &info));
        add_text(notice, info.name);
    }
    finish(notice);
}
/* "d:a i:b m:c cleared deleted" */
static inline void on_keys(void *userdata, const realm_dictionary_changes_t *changes) {
    enum { MOST = 100 };
    notice_t *notice = userdata;
    *notice->text = 0;
    size_t n[3], sizes[3] = {MOST, MOST, MOST};
    bool deleted, cleared;
    realm_dictionary_get_changes(changes, &n[0], &n[1], &n[2], &deleted);
    realm_value_t keys[3][MOST];
    realm_dictionary_get_changed_keys(changes, keys[0], &sizes[0], keys[1], &sizes[1], keys[2],
                                      &sizes[2], &cleared);
    for (int group = 0; group < 3; group++) {
        CHECK(n[group] == sizes[group]);
        for (size_t i = 0; i < sizes[group]; i++) {
            char text[64];
            CHECK(keys[group][i].type == RLM_TYPE_STRING);
            snprintf(text, sizeof text, "%c:%.*s", "dim"[group], (int)keys[group][i].string.size,
                     keys[group][i].string.data);
            add_text(notice, text);
        }
    }
    if (cleared)
        add_text(notice, "cleared");
    if (deleted)
        add_text(notice, "deleted");
    finish(notice);
}
static inline void free_notice(void *userdata) { ((notice_t *)userdata)->freed++; }

/* The one call since the last look had this text; "" there was none. */
static inline void told_at(notice_t *notice, const char *text, const char *file, int line) {
    checks++;
    const char *had = notice->calls == 0 ? "" : notice->text;
    if (notice->calls > 1 || strcmp(had, text) != 0) {
        failures++;
        fprintf(stderr, "%s:%d: FAILED: %d calls, told \"%s\", expected \"%s\"\n", file, line,
                notice->calls, had, text);
    }
    notice->calls = 0;
}
#define TOLD(notice, text) told_at(&(notice), (text), __FILE__, __LINE__)

static inline void watch_object(notice_t *notice, realm_t *realm, realm_object_t *object,
                                realm_key_path_array_t *paths) {
    notice->realm = realm;
    SUCCEEDS(notice->token = realm_object_add_notification_callback(object, notice, free_notice,
                                                                    paths, on_object));
}
static inline void watch_list(notice_t *notice, realm_list_t *list, realm_key_path_array_t *paths) {
    SUCCEEDS(notice->token = realm_list_add_notification_callback(list, notice, free_notice, paths,
                                                                  on_elements));
}
static inline void watch_set(notice_t *notice, realm_set_t *set, realm_key_path_array_t *paths) {
    SUCCEEDS(notice->token = realm_set_add_notification_callback(set, notice, free_notice, paths,
                                                                 on_elements));
}
static inline void watch_dictionary(notice_t *notice, realm_dictionary_t *dictionary,
                                    realm_key_path_array_t *paths) {
    SUCCEEDS(notice->token = realm_dictionary_add_notification_callback(
                 dictionary, notice, free_notice, paths, on_keys));
}
static inline void watch_results(notice_t *notice, realm_results_t *results,
                                 realm_key_path_array_t *paths) {
    SUCCEEDS(notice->token = realm_results_add_notification_callback(results, notice, free_notice,
                                                                     paths, on_elements));
}
static inline realm_key_path_array_t *paths_of(realm_t *realm, const char *class, const char *one,
                                               const char *two) {
    const char *paths[] = {one, two};
    realm_key_path_array_t *array = realm_create_key_path_array(
        realm, class_key(realm, class), one ? two ? 2 : 1 : 0, paths);
    CHECK(array != NULL);
    return array;
}

#define WRITE(realm, body)                                                                        \
    do {                                                                                          \
        CHECK(realm_begin_write(realm));                                                          \
        body;                                                                                     \
        CHECK(realm_commit(realm));                                                               \
    } while (0)

#endif
