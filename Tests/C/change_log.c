/* The change log for programs: consumers by name, and reading it. */
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

int main(void) {
    reading();
    return check_end("change_log");
}
