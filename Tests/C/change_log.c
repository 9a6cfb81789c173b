/* The change log for programs: consumers by name, reading it, and changes as bytes: compared, exported, applied. */
#include "notices.h"

typedef struct {
    char text[2048];
    int calls, most;
    uint64_t last;
} reader_t;

static void append(reader_t *reader, const char *text) {
    strncat(reader->text, text, sizeof reader->text - strlen(reader->text) - 1);
}

/* "V", "C", "S name=...": a letter for each kind, and texts and integers that were set. */
static bool note(void *userdata, const realm_change_log_operation_t *operation) {
    static const char kinds[] = "VXDCSNAIRPMLE";
    reader_t *reader = userdata;
    char text[100] = {kinds[operation->kind], 0};
    append(reader, *reader->text ? " " : "");
    append(reader, text);
    *text = 0;
    if (operation->value.type == RLM_TYPE_STRING)
        snprintf(text, sizeof text, "=%.*s", (int)operation->value.string.size,
                 operation->value.string.data);
    if (operation->value.type == RLM_TYPE_INT)
        snprintf(text, sizeof text, "=%d", (int)operation->value.integer);
    if (operation->value.type == RLM_TYPE_LIST)
        snprintf(text, sizeof text, "=%zu", operation->count);
    append(reader, text);
    CHECK(operation->version >= reader->last);
    reader->last = operation->version;
    return ++reader->calls != reader->most;
}

static const char *read_from(realm_t *realm, uint64_t version, reader_t *reader) {
    *reader = (reader_t){.most = reader->most};
    SUCCEEDS(realm_change_log_read(realm, version, note, reader));
    return reader->text;
}

static uint64_t version_of(realm_t *realm) {
    realm_version_id_t version;
    bool found;
    SUCCEEDS(realm_get_version_id(realm, &found, &version));
    return version.version;
}

static void count_consumer(void *userdata, realm_string_t name, uint64_t acknowledged) {
    reader_t *reader = userdata;
    reader->calls++;
    reader->last = acknowledged;
    snprintf(reader->text, sizeof reader->text, "%.*s", (int)name.size, name.data);
}

static void set_value(realm_t *realm, realm_object_t *thing, const char *name, realm_value_t value) {
    CHECK(realm_set_value(thing, thing_key(realm, name), value, false));
}

static void reading(void) {
    realm_t *realm = open_things("log.realm");
    reader_t reader = {0};
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_change_log_add_consumer(realm, "audit"));
    FAILS(RLM_ERR_BAD_VERSION, realm_change_log_read(realm, version_of(realm), note, &reader));
    WRITE(realm, SUCCEEDS(realm_change_log_add_consumer(realm, "audit")));
    uint64_t start = version_of(realm);
    CHECK(strcmp(read_from(realm, start, &reader), "") == 0);
    realm_object_t *thing = NULL;
    WRITE(realm, thing = make_thing(realm, "a"));
    CHECK(strcmp(read_from(realm, start, &reader), "V C S=a") == 0);
    uint64_t made = version_of(realm);
    realm_list_t *list = list_of(realm, thing, "ints");
    WRITE(realm, set_value(realm, thing, "name", of_text("b"));
          CHECK(realm_list_insert(list, 0, of_int(7))));
    CHECK(strcmp(read_from(realm, made, &reader), "V S=b I=7") == 0);
    CHECK(reader.last == version_of(realm));
    WRITE(realm, CHECK(realm_list_clear(list)));
    WRITE(realm, CHECK(realm_object_delete(thing)));
    CHECK(strcmp(read_from(realm, made, &reader), "V S=b I=7 V L V D") == 0);
    reader.most = 2;
    CHECK(strcmp(read_from(realm, made, &reader), "V S=b") == 0);
    FAILS(RLM_ERR_BAD_VERSION, realm_change_log_read(realm, start - 1, note, &reader));
    FAILS(RLM_ERR_BAD_VERSION, realm_change_log_read(realm, start + 100, note, &reader));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_change_log_read(realm, start, NULL, NULL));
    /* Acknowledged, it goes. */
    WRITE(realm, SUCCEEDS(realm_change_log_acknowledge(realm, "audit", made));
          FAILS(RLM_ERR_INVALID_ARGUMENT, realm_change_log_acknowledge(realm, "other", made)));
    reader = (reader_t){0};
    SUCCEEDS(realm_change_log_get_consumers(realm, count_consumer, &reader));
    CHECK(reader.calls == 1 && reader.last == made && strcmp(reader.text, "audit") == 0);
    WRITE(realm, SUCCEEDS(realm_change_log_remove_consumer(realm, "audit")));
    reader = (reader_t){0};
    SUCCEEDS(realm_change_log_get_consumers(realm, count_consumer, &reader));
    CHECK(reader.calls == 0);
    FAILS(RLM_ERR_BAD_VERSION, realm_change_log_read(realm, made, note, &reader));
    realm_release(list);
    realm_release(thing);
    realm_release(realm);
}

/* How many changes lead from one realm to another. */
static int differences(realm_t *older, realm_t *newer) {
    reader_t reader = {0};
    size_t size = 0;
    uint8_t *changes = realm_change_log_compare(older, newer, &size);
    CHECK(changes);
    SUCCEEDS(realm_change_log_read_changes(older, changes, size, note, &reader));
    realm_free(changes);
    return reader.calls;
}

static void applying(void) {
    realm_t *source = open_things("source.realm"), *target = open_things("target.realm");
    reader_t reader = {0};
    size_t size = 0;
    WRITE(source, SUCCEEDS(realm_change_log_add_consumer(source, "sync")));
    WRITE(target, SUCCEEDS(realm_change_log_add_consumer(target, "sync")));
    uint64_t start = version_of(source), target_start = version_of(target);
    realm_t *before = realm_freeze(source);
    realm_object_t *things[2];
    WRITE(source, things[0] = make_thing(source, "a"); things[1] = make_thing(source, "b"));
    realm_list_t *list = list_of(source, things[0], "ints");
    WRITE(source, CHECK(realm_list_insert(list, 0, of_int(7))); CHECK(realm_object_delete(things[1])));

    /* Of one file: what both commits came to. */
    uint8_t *changes = realm_change_log_compare(before, source, &size);
    CHECK(changes && size > 48);
    SUCCEEDS(realm_change_log_read_changes(target, changes, size, note, &reader));
    CHECK(strcmp(reader.text, "V C S=a S=1 E=7") == 0);
    CHECK(differences(before, before) == 0 && differences(source, source) == 0);

    /* Of two: the log of one is applied to the other, with an origin. */
    CHECK(differences(target, source) == 5);
    size_t log_size = 0;
    uint8_t *log = realm_change_log_export(source, start, &log_size);
    CHECK(log && log_size > size);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_change_log_apply(target, log, log_size, 77));
    WRITE(target, SUCCEEDS(realm_change_log_apply(target, log, log_size, 77)));
    CHECK(differences(target, source) == 0 && differences(source, target) == 0);
    CHECK(strncmp(read_from(target, target_start, &reader), "V=77 C S=a", 10) == 0);
    CHECK(count_of(target, "Thing") == 1);

    /* What does not fit: made already, and after other changes. */
    CHECK(realm_begin_write(target));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_change_log_apply(target, changes, size, 77));
    CHECK(realm_rollback(target));
    CHECK(realm_begin_write(target));
    CHECK(make_thing(target, "other"));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_change_log_apply(target, log, log_size, 77));
    CHECK(realm_rollback(target));
    CHECK(differences(target, source) == 0);

    /* And back: nothing is left of it. */
    uint8_t *back = realm_change_log_compare(source, before, &size);
    CHECK(back);
    WRITE(target, SUCCEEDS(realm_change_log_apply(target, back, size, 78)));
    CHECK(differences(target, before) == 0 && differences(target, source) > 0);

    /* Bytes that are no changes, or not any more. */
    CHECK(realm_begin_write(target));
    for (size_t cut = 0; cut < size; cut++)
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_change_log_apply(target, back, cut, 0));
    for (size_t place = 0; place < size; place++) {
        back[place] ^= 0x40;
        CHECK(!realm_change_log_apply(target, back, size, 0));
        back[place] ^= 0x40;
    }
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_change_log_apply(target, NULL, 0, 0));
    CHECK(realm_rollback(target));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_change_log_read_changes(target, NULL, 0, note, &reader));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_change_log_read_changes(target, log, log_size, NULL, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_change_log_compare(target, NULL, &size));
    FAILS(RLM_ERR_BAD_VERSION, realm_change_log_export(source, start - 1, &size));

    /* Another schema. */
    realm_t *other = open_people("other.realm");
    FAILS(RLM_ERR_SCHEMA_MISMATCH, realm_change_log_compare(other, source, &size));
    FAILS(RLM_ERR_SCHEMA_MISMATCH, realm_change_log_read_changes(other, log, log_size, note, &reader));
    CHECK(realm_begin_write(other));
    FAILS(RLM_ERR_SCHEMA_MISMATCH, realm_change_log_apply(other, log, log_size, 0));
    CHECK(realm_rollback(other));
    realm_free(changes);
    realm_free(log);
    realm_free(back);
    realm_release(list);
    realm_release(things[0]);
    realm_release(things[1]);
    realm_release(other);
    realm_release(before);
    realm_release(source);
    realm_release(target);
}

static realm_t *open_client(const char *path, uint32_t number) {
    realm_config_t *config = things_config(path);
    CHECK(realm_config_get_client_number(config) == 0);
    realm_config_set_client_number(config, number);
    CHECK(realm_config_get_client_number(config) == number);
    return open_or_exit(config);
}

/* Objects made in two files at the same time have keys of their own: each side takes the other's. */
static void meeting(void) {
    realm_t *sides[2];
    uint64_t starts[2];
    uint8_t *logs[2];
    size_t sizes[2];
    for (uint32_t i = 0; i < 2; i++) {
        char path[32];
        snprintf(path, sizeof path, "client%u.realm", i + 1);
        sides[i] = open_client(path, i + 1);
        WRITE(sides[i], SUCCEEDS(realm_change_log_add_consumer(sides[i], "sync")));
        starts[i] = version_of(sides[i]);
        for (int made = 0; made < 3; made++)
            WRITE(sides[i], realm_release(make_thing(sides[i], i ? "second" : "first")));
        CHECK(logs[i] = realm_change_log_export(sides[i], starts[i], &sizes[i]));
    }
    for (int i = 0; i < 2; i++)
        WRITE(sides[i], SUCCEEDS(realm_change_log_apply(sides[i], logs[!i], sizes[!i], 1 + !i)));
    CHECK(count_of(sides[0], "Thing") == 6 && count_of(sides[1], "Thing") == 6);
    CHECK(differences(sides[0], sides[1]) == 0);

    realm_config_t *config = things_config("client1.realm");
    realm_config_set_client_number(config, 3);
    FAILS(RLM_ERR_MISMATCHED_CONFIG, realm_open(config));
    realm_config_set_client_number(config, UINT32_MAX);
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_open(config));
    realm_release(config);
    for (int i = 0; i < 2; i++) {
        realm_free(logs[i]);
        realm_release(sides[i]);
    }
}

int main(void) {
    reading();
    applying();
    meeting();
    return check_end("change_log");
}
