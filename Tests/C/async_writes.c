/* Asynchronous transactions (C_RULES has a chapter of them): blocks that wait for the writer, commits that
 * wait for their sync. Several threads: async_threads.c. */
#include "async.h"

static uint64_t version(realm_t *realm) {
    bool found;
    realm_version_id_t id;
    return realm_get_version_id(realm, &found, &id) && found ? id.version : 0;
}
static void add_one(step_t *step) { add(step->realm, 1); }
static void add_and_roll_back(step_t *step) {
    add(step->realm, 1);
    SUCCEEDS(realm_rollback(step->realm));
}

static void blocks(const char *path) {
    loop_t loop;
    loop_init(&loop);
    realm_t *realm = open_counters(path, &loop);
    size_t before = count(realm);
    ran = 0;
    unsigned int number = 99;
    step_t first = {.realm = realm, .body = add_and_commit};
    step_t second = {.realm = realm, .body = add_one};
    step_t third = {.realm = realm, .body = add_and_roll_back};
    step_t fourth = {.realm = realm, .body = add_and_commit};
    CHECK(!realm_is_writable(realm));
    SUCCEEDS(realm_async_begin_write(realm, run_block, &first, step_freed, false, &number));
    CHECK(number == 0 && !first.called && realm_is_writable(realm));
    SUCCEEDS(realm_async_begin_write(realm, run_block, &second, step_freed, false, &number));
    CHECK(number == 1);
    SUCCEEDS(realm_async_begin_write(realm, run_block, &third, step_freed, false, NULL));
    SUCCEEDS(realm_async_begin_write(realm, run_block, &fourth, step_freed, false, &number));
    CHECK(number == 3);
    CHECK(loop_until(&loop, &fourth.called, 1));
    CHECK(first.order == 1 && second.order == 2 && third.order == 3 && fourth.order == 4);
    CHECK(first.freed == 1 && second.freed == 1 && third.freed == 1 && fourth.freed == 1);
    /* What the second left open and what the third rolled back is not there. */
    CHECK(count(realm) == before + 2 && !realm_is_writable(realm));

    /* A block that only tells leaves the transaction open; the next one waits for its end. */
    step_t tells = {.realm = realm}, next = {.realm = realm, .body = add_and_commit};
    SUCCEEDS(realm_async_begin_write(realm, run_block, &tells, step_freed, true, NULL));
    SUCCEEDS(realm_async_begin_write(realm, run_block, &next, step_freed, false, NULL));
    CHECK(loop_until(&loop, &tells.called, 1) && tells.freed == 1);
    CHECK(realm_is_writable(realm));
    add(realm, 5);
    loop_turn(&loop, 20);
    CHECK(next.called == 0);
    SUCCEEDS(realm_commit(realm));
    CHECK(loop_until(&loop, &next.called, 1));
    CHECK(count(realm) == before + 4);

    /* A block may be queued in a write transaction, and waits for its end. */
    step_t queued = {.realm = realm, .body = add_and_commit};
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_async_begin_write(realm, run_block, &queued, step_freed, false, NULL));
    loop_turn(&loop, 20);
    CHECK(queued.called == 0);
    SUCCEEDS(realm_rollback(realm));
    CHECK(loop_until(&loop, &queued.called, 1));
    /* A transaction at once goes before blocks whose turn has come. */
    step_t late = {.realm = realm, .body = add_and_commit};
    SUCCEEDS(realm_async_begin_write(realm, run_block, &late, step_freed, false, NULL));
    SUCCEEDS(realm_begin_write(realm));
    CHECK(late.called == 0);
    SUCCEEDS(realm_commit(realm));
    CHECK(loop_until(&loop, &late.called, 1));
    realm_close(realm);
    realm_release(realm);
    CHECK(loop_ended(&loop));
}

static void in_completion(step_t *step) {
    realm_t *realm = step->realm;
    step->nested = true;
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE,
          realm_async_begin_write(realm, run_block, step, NULL, false, NULL));
    SUCCEEDS(realm_begin_write(realm));
    add(realm, 7);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_rollback(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE,
          realm_async_commit(realm, completed, step, NULL, false, NULL));
    SUCCEEDS(realm_commit(realm));
}

static void note_insertions(void *userdata, const realm_collection_changes_t *changes) {
    size_t deleted, inserted, modified, moved;
    bool cleared, gone;
    realm_collection_changes_get_num_changes(changes, &deleted, &inserted, &modified, &moved, &cleared,
                                             &gone);
    CHECK(!deleted && !modified && !moved && !gone);
    *(size_t *)userdata += inserted;
}

static void commits(const char *path) {
    loop_t loop;
    loop_init(&loop);
    realm_t *realm = open_counters(path, &loop);
    realm_t *other = open_counters(path, NULL);
    size_t before = count(realm);
    ran = 0;
    unsigned int a = 9, b = 9;
    step_t first = {.realm = realm}, second = {.realm = realm};
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE,
          realm_async_commit(realm, completed, &first, step_freed, false, NULL));
    CHECK(first.freed == 1);
    first.freed = 0;
    SUCCEEDS(realm_begin_write(realm));
    add(realm, 1);
    SUCCEEDS(realm_async_commit(realm, completed, &first, step_freed, false, &a));
    /* Seen at once, here and elsewhere; the realm reads. */
    CHECK(a == 0 && count(realm) == before + 1 && first.called == 0 && realm_is_writable(realm));
    SUCCEEDS(realm_refresh(other, NULL));
    CHECK(count(other) == before + 1 && version(other) == version(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_commit(realm));
    CHECK(loop_until(&loop, &first.called, 1));
    CHECK(!first.error && !first.hasText && first.freed == 1 && !realm_is_writable(realm));

    /* A transaction at once waits for the sync and calls the completion. */
    SUCCEEDS(realm_begin_write(realm));
    add(realm, 2);
    SUCCEEDS(realm_async_commit(realm, completed, &second, step_freed, true, &b));
    CHECK(b == 1 && second.called == 0);
    SUCCEEDS(realm_begin_write(realm));
    CHECK(second.called == 1 && second.freed == 1);
    SUCCEEDS(realm_rollback(realm));

    /* No callback, no number. */
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_async_commit(realm, NULL, NULL, NULL, false, NULL));
    step_t nested = {.realm = realm, .body = in_completion};
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_async_commit(realm, completed, &nested, step_freed, false, NULL));
    CHECK(loop_until(&loop, &nested.called, 1) && nested.nested && nested.freed == 1);
    CHECK(count(realm) == before + 3);

    /* Blocks that share syncs; their completions come in order. */
    enum { MANY = 300 };
    static step_t steps[MANY], ends[MANY];
    uint64_t start = version(realm);
    /* An observer hears of all of them, of several at once or of each. */
    size_t inserted = 0, elsewhere = 0;
    realm_results_t *all = realm_object_find_all(realm, counters(realm));
    realm_results_t *others = realm_object_find_all(other, counters(other));
    realm_notification_token_t *token =
        realm_results_add_notification_callback(all, &inserted, NULL, NULL, note_insertions);
    SUCCEEDS(realm_refresh(other, NULL));
    realm_notification_token_t *other_token =
        realm_results_add_notification_callback(others, &elsewhere, NULL, NULL, note_insertions);
    CHECK(token && other_token);
    while (loop_turn(&loop, 50))
        ;
    for (int i = 0; i < MANY; i++) {
        ends[i] = (step_t){.realm = realm};
        steps[i] = (step_t){.realm = realm, .body = add_and_commit_later, .then = &ends[i]};
        SUCCEEDS(realm_async_begin_write(realm, run_block, &steps[i], step_freed, false, NULL));
    }
    CHECK(loop_until(&loop, &ends[MANY - 1].called, 1));
    for (int i = 0; i < MANY; i++) {
        CHECK(steps[i].called == 1 && steps[i].freed == 1);
        CHECK(ends[i].called == 1 && ends[i].freed == 1 && !ends[i].error);
        CHECK(i == 0 || (ends[i].order > ends[i - 1].order && steps[i].order > steps[i - 1].order));
        CHECK(ends[i].order > steps[i].order && ends[i].seen >= before + 4 + (size_t)i);
    }
    CHECK(count(realm) == before + 3 + MANY);
    CHECK(version(realm) >= start + MANY);
    while (loop_turn(&loop, 50))
        ;
    SUCCEEDS(realm_refresh(realm, NULL));
    SUCCEEDS(realm_refresh(other, NULL));
    CHECK(inserted == MANY && elsewhere == MANY);
    realm_release(token);
    realm_release(other_token);
    realm_release(all);
    realm_release(others);
    realm_close(other);
    realm_release(other);

    /* A failing block of the group leaves what others committed. */
    step_t good = {.realm = realm, .body = add_and_commit_later}, good_end = {.realm = realm};
    step_t bad = {.realm = realm, .body = add_and_roll_back};
    good.then = &good_end;
    SUCCEEDS(realm_async_begin_write(realm, run_block, &good, step_freed, false, NULL));
    SUCCEEDS(realm_async_begin_write(realm, run_block, &bad, step_freed, false, NULL));
    CHECK(loop_until(&loop, &good_end.called, 1) && loop_until(&loop, &bad.called, 1));
    CHECK(count(realm) == before + 4 + MANY);
    realm_close(realm);
    realm_release(realm);
    realm = open_counters(path, &loop);
    CHECK(count(realm) == before + 4 + MANY);
    realm_close(realm);
    realm_release(realm);
    CHECK(loop_ended(&loop));
}

/* The userdata of a completion is freed behind it, where a block may be queued. */
static void free_and_begin(void *userdata) {
    step_t *step = userdata;
    step->freed++;
    SUCCEEDS(realm_async_begin_write(step->realm, run_block, step->then, step_freed, false, NULL));
}

static void freeing(const char *path) {
    loop_t loop;
    loop_init(&loop);
    realm_t *realm = open_counters(path, &loop);
    step_t next = {.realm = realm, .body = add_and_commit};
    step_t end = {.realm = realm, .then = &next};
    SUCCEEDS(realm_begin_write(realm));
    add(realm, 1);
    SUCCEEDS(realm_async_commit(realm, completed, &end, free_and_begin, true, NULL));
    CHECK(loop_until(&loop, &next.called, 1) && end.called == 1 && end.freed == 1);
    realm_release(realm);
    CHECK(loop_ended(&loop));
}

static void cancelling(const char *path) {
    loop_t loop;
    loop_init(&loop);
    realm_t *realm = open_counters(path, &loop);
    size_t before = count(realm);
    unsigned int one, two, commit;
    bool cancelled = false;
    step_t first = {.realm = realm, .body = add_and_commit};
    step_t second = {.realm = realm, .body = add_and_commit};
    step_t end = {.realm = realm};
    SUCCEEDS(realm_async_begin_write(realm, run_block, &first, step_freed, false, &one));
    SUCCEEDS(realm_async_begin_write(realm, run_block, &second, step_freed, false, &two));
    SUCCEEDS(realm_async_cancel(realm, one, &cancelled));
    CHECK(cancelled && first.freed == 1 && first.called == 0);
    SUCCEEDS(realm_async_cancel(realm, one, &cancelled));
    CHECK(!cancelled);
    CHECK(loop_until(&loop, &second.called, 1));
    SUCCEEDS(realm_async_cancel(realm, two, &cancelled));
    CHECK(!cancelled && count(realm) == before + 1);
    SUCCEEDS(realm_async_cancel(realm, 12345, NULL));

    /* All of them: the right to write is given back. */
    step_t only = {.realm = realm, .body = add_and_commit};
    SUCCEEDS(realm_async_begin_write(realm, run_block, &only, step_freed, false, &one));
    SUCCEEDS(realm_async_cancel(realm, one, &cancelled));
    CHECK(cancelled && only.freed == 1);
    realm_t *other = open_counters(path, NULL);
    SUCCEEDS(realm_begin_write(other));
    SUCCEEDS(realm_rollback(other));
    realm_close(other);
    realm_release(other);

    /* Of a commit only the callback is dropped. */
    SUCCEEDS(realm_begin_write(realm));
    add(realm, 1);
    SUCCEEDS(realm_async_commit(realm, completed, &end, step_freed, false, &commit));
    SUCCEEDS(realm_async_cancel(realm, commit, &cancelled));
    CHECK(cancelled && end.freed == 1);
    SUCCEEDS(realm_async_cancel(realm, commit, &cancelled));
    CHECK(!cancelled);
    while (loop_turn(&loop, 50))
        ;
    CHECK(end.called == 0 && count(realm) == before + 2 && !realm_is_writable(realm));
    realm_close(realm);
    FAILS(RLM_ERR_CLOSED_REALM, realm_async_cancel(realm, 0, &cancelled));
    realm_release(realm);
    CHECK(loop_ended(&loop));
}

static void close_it(step_t *step) { realm_close(step->realm); }

static void closing(const char *path) {
    loop_t loop;
    loop_init(&loop);
    realm_t *realm = open_counters(path, &loop);
    size_t before = count(realm);
    step_t end = {.realm = realm}, queued = {.realm = realm, .body = add_and_commit};
    SUCCEEDS(realm_begin_write(realm));
    add(realm, 1);
    SUCCEEDS(realm_async_commit(realm, completed, &end, step_freed, true, NULL));
    SUCCEEDS(realm_async_begin_write(realm, run_block, &queued, step_freed, false, NULL));
    realm_close(realm);
    CHECK(end.called == 1 && end.freed == 1 && queued.called == 0 && queued.freed == 1);
    while (loop_turn(&loop, 50))
        ;
    CHECK(queued.called == 0);
    realm_release(realm);

    /* In the block itself; and by its last handle, with a block that waits. */
    realm = open_counters(path, &loop);
    CHECK(count(realm) == before + 1);
    step_t closes = {.realm = realm, .body = close_it}, after = {.realm = realm};
    SUCCEEDS(realm_async_begin_write(realm, run_block, &closes, step_freed, false, NULL));
    SUCCEEDS(realm_async_begin_write(realm, run_block, &after, step_freed, false, NULL));
    CHECK(loop_until(&loop, &closes.called, 1));
    CHECK(closes.freed == 1 && after.freed == 1 && after.called == 0 && realm_is_closed(realm));
    realm_release(realm);
    realm = open_counters(path, &loop);
    step_t forgotten = {.realm = realm};
    SUCCEEDS(realm_async_begin_write(realm, run_block, &forgotten, step_freed, false, NULL));
    realm_release(realm);
    CHECK(forgotten.freed == 1);
    while (loop_turn(&loop, 50))
        ;
    CHECK(forgotten.called == 0);
    realm = open_counters(path, &loop);
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_rollback(realm));
    realm_close(realm);
    realm_release(realm);
    CHECK(loop_ended(&loop));
}

static void committed(void *userdata, bool error, const char *text) {
    step_t *step = userdata;
    step->called++;
    step->error = error || text;
}

/* The last handle goes in a block: what waits behind it is dropped, as when it goes outside of one. */
static void release_it(step_t *step) { realm_release(step->realm); }
static void commit_and_release(step_t *step) {
    step_t *end = step->then;
    add(step->realm, 1);
    SUCCEEDS(realm_async_commit(step->realm, committed, end, step_freed, true, NULL));
    realm_release(step->realm);
}

static void releasing(const char *path) {
    loop_t loop;
    loop_init(&loop);
    realm_t *realm = open_counters(path, &loop);
    size_t before = count(realm);
    for (int commits = 0; commits < 2; commits++) {
        step_t end = {0}, after[3] = {{0}};
        step_t releases = {.realm = realm, .then = &end};
        releases.body = commits ? commit_and_release : release_it;
        SUCCEEDS(realm_async_begin_write(realm, run_block, &releases, step_freed, false, NULL));
        for (int i = 0; i < 3; i++)
            SUCCEEDS(realm_async_begin_write(realm, run_block, after + i, step_freed, false, NULL));
        CHECK(loop_until(&loop, &releases.called, 1) && releases.freed == 1);
        while (loop_turn(&loop, 50))
            ;
        for (int i = 0; i < 3; i++)
            CHECK(after[i].called == 0 && after[i].freed == 1);
        CHECK(end.called == commits && end.freed == commits && !end.error);
        realm = open_counters(path, &loop);
        CHECK(count(realm) == before + (size_t)commits);
    }
    realm_release(realm);
    CHECK(loop_ended(&loop));
}

/* Too many versions are read: the call says so; a block whose turn comes then waits, and those behind it. */
static realm_t *hold_version(realm_t *realm) {
    realm_t *frozen = realm_freeze(realm);
    CHECK(frozen);
    SUCCEEDS(realm_begin_write(realm));
    add(realm, 1);
    SUCCEEDS(realm_commit(realm));
    return frozen;
}

static void limited(const char *path) {
    loop_t loop;
    loop_init(&loop);
    realm_property_info_t property = property_of("value", RLM_PROPERTY_TYPE_INT, 0);
    const realm_property_info_t *properties[] = {&property};
    realm_class_info_t item = class_of("Counter", "", 1, 0);
    realm_config_t *config = config_with(path, realm_schema_new(&item, 1, properties));
    realm_scheduler_t *scheduler = loop_scheduler(&loop);
    realm_config_set_scheduler(config, scheduler);
    realm_release(scheduler);
    realm_config_set_max_number_of_active_versions(config, 3);
    realm_t *realm = open_or_exit(config);
    realm_t *held[3];
    held[0] = hold_version(realm);
    held[1] = hold_version(realm);
    step_t first = {.realm = realm, .body = add_and_commit}, second = first, refused = first;
    SUCCEEDS(realm_async_begin_write(realm, run_block, &first, step_freed, false, NULL));
    SUCCEEDS(realm_async_begin_write(realm, run_block, &second, step_freed, false, NULL));
    held[2] = hold_version(realm);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE,
          realm_async_begin_write(realm, run_block, &refused, step_freed, false, NULL));
    CHECK(refused.freed == 1);
    for (int i = 0; i < 20; i++)
        loop_turn(&loop, 10);
    CHECK(!first.called && !first.freed && !second.called && !second.freed);
    realm_release(held[2]);
    CHECK(loop_until(&loop, &second.called, 1));
    CHECK(first.called == 1 && first.freed == 1 && second.freed == 1 && second.order > first.order);

    /* What waits so is dropped with the realm. */
    step_t dropped = {.realm = realm};
    SUCCEEDS(realm_async_begin_write(realm, run_block, &dropped, step_freed, false, NULL));
    held[2] = hold_version(realm);
    for (int i = 0; i < 5; i++)
        loop_turn(&loop, 10);
    realm_release(realm);
    CHECK(!dropped.called && dropped.freed == 1);
    for (int i = 0; i < 3; i++)
        realm_release(held[i]);
    CHECK(loop_ended(&loop));
}

static void misuse(const char *path) {
    loop_t loop;
    loop_init(&loop);
    realm_t *realm = open_counters(path, &loop);
    step_t step = {.realm = realm};
    FAILS(RLM_ERR_INVALID_ARGUMENT,
          realm_async_begin_write(realm, NULL, &step, step_freed, false, NULL));
    CHECK(step.freed == 1);
    loop.delivers = false;
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE,
          realm_async_begin_write(realm, run_block, &step, step_freed, false, NULL));
    CHECK(step.freed == 2);
    /* Without a scheduler that delivers the commit waits for its sync. */
    step_t end = {.realm = realm};
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_async_commit(realm, completed, &end, step_freed, true, NULL));
    CHECK(end.called == 1 && end.freed == 1 && !realm_is_writable(realm));
    loop.delivers = true;

    realm_t *frozen = realm_freeze(realm);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE,
          realm_async_begin_write(frozen, run_block, &step, step_freed, false, NULL));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE,
          realm_async_commit(frozen, completed, &step, step_freed, false, NULL));
    realm_close(frozen);
    realm_release(frozen);

    /* Two realms of one thread: the second does not wait for the first for ever. */
    realm_t *second = open_counters(path, &loop);
    SUCCEEDS(realm_begin_write(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(second));
    SUCCEEDS(realm_rollback(realm));
    SUCCEEDS(realm_begin_write(second));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(realm));
    SUCCEEDS(realm_commit(second));
    /* Nor for a block of the first whose turn has come, but which this thread has to run. */
    step_t block = {.realm = realm, .body = add_and_commit};
    SUCCEEDS(realm_async_begin_write(realm, run_block, &block, step_freed, false, NULL));
    SUCCEEDS(realm_begin_write(second));
    loop_turn(&loop, 50);
    CHECK(block.called == 0);
    SUCCEEDS(realm_commit(second));
    CHECK(loop_until(&loop, &block.called, 1));
    realm_close(second);
    realm_release(second);

    realm_close(realm);
    FAILS(RLM_ERR_CLOSED_REALM,
          realm_async_begin_write(realm, run_block, &step, step_freed, false, NULL));
    FAILS(RLM_ERR_CLOSED_REALM,
          realm_async_commit(realm, completed, &step, step_freed, false, NULL));
    realm_release(realm);
    CHECK(loop_ended(&loop));
}
int main(void) {
    const char *path = "async_writes.realm";
    unlink(path);
    blocks(path);
    commits(path);
    freeing(path);
    cancelling(path);
    closing(path);
    releasing(path);
    limited(path);
    misuse(path);
    return check_end("async_writes");
}
