/* What opening with another schema would do, told without doing it. */
#include "schemas.h"

static char told[2000];

static void tell(void *userdata, const char *difference) {
    ++*(int *)userdata;
    strcat(strcat(told, difference), "; ");
}

static bool preview(realm_t *realm, const char *spec, uint64_t version, realm_schema_mode_e mode,
                    int *differences, bool *changes) {
    realm_schema_t *schema = schema_of(spec);
    told[0] = 0;
    *differences = 0;
    bool done = realm_preview_schema(realm, schema, version, mode, tell, differences, changes);
    realm_release(schema);
    return done;
}

static const realm_schema_mode_e automatic = RLM_SCHEMA_MODE_AUTOMATIC;

static void differences_in_words(realm_t *realm) {
    int n;
    bool changes;
    SUCCEEDS(preview(realm, "A{n:int,text:string};B{m:int}", 1, automatic, &n, &changes));
    CHECK(n == 0 && !changes && !told[0]);
    /* Classes that only the file has are no difference. */
    SUCCEEDS(preview(realm, "A{n:int,text:string}", 1, automatic, &n, &changes));
    CHECK(n == 0 && !changes);
    SUCCEEDS(preview(realm, "A{n:int,text:string}", 2, automatic, &n, &changes));
    CHECK(n == 0 && changes);
    SUCCEEDS(preview(realm, "A{n:int?,more:int};C{k:int}", 2, automatic, &n, &changes));
    CHECK(n == 4 && changes);
    CHECK(strstr(told, "property 'A.text' has been removed; "));
    CHECK(strstr(told, "property 'A.n' has been made optional; "));
    CHECK(strstr(told, "property 'A.more' has been added; "));
    CHECK(strstr(told, "class 'C' has been added; "));
}

static void refusals(realm_t *realm) {
    int n;
    bool changes = true;
    const char *other = "A{n:string,text:string}";
    FAILS(RLM_ERR_SCHEMA_MISMATCH, preview(realm, other, 1, automatic, &n, &changes));
    CHECK(n == 1 && !changes && strstr(told, "'A.n' has been changed from"));
    FAILS(RLM_ERR_INVALID_SCHEMA_VERSION, preview(realm, "A{n:int}", 0, automatic, &n, &changes));
    FAILS(RLM_ERR_SCHEMA_MISMATCH,
          preview(realm, "C{n:int}", 1, RLM_SCHEMA_MODE_MANUAL, &n, &changes));
    FAILS(RLM_ERR_INVALID_SCHEMA_CHANGE,
          preview(realm, other, 2, RLM_SCHEMA_MODE_ADDITIVE_EXPLICIT, &n, &changes));
    FAILS(RLM_ERR_SCHEMA_VALIDATION_FAILED,
          preview(realm, "A{b:Nobody}", 2, automatic, &n, &changes));
    FAILS(RLM_ERR_INVALID_ARGUMENT,
          preview(realm, "A{n:int}", 2, (realm_schema_mode_e)99, &n, &changes));
    FAILS(RLM_ERR_INVALID_ARGUMENT,
          realm_preview_schema(realm, NULL, 1, automatic, NULL, NULL, NULL));
    realm_schema_t *schema = schema_of("A{n:int}");
    FAILS(RLM_ERR_INVALID_ARGUMENT,
          realm_preview_schema(NULL, schema, 1, automatic, NULL, NULL, NULL));
    SUCCEEDS(realm_preview_schema(realm, schema, 2, automatic, NULL, NULL, NULL));
    realm_release(schema);
}

/* A realm that wants to write to the file that its own thread is migrating would wait for ever. */
static bool write_elsewhere(void *userdata, realm_t *old, realm_t *new,
                            const realm_schema_t *schema) {
    (void)old, (void)new, (void)schema;
    realm_t *other = OPEN(userdata, NULL);
    CHECK(other != NULL);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(other));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, OPEN(userdata, "Z{n:int}", .version = 2));
    shut(other);
    return true;
}

static int made;
static char *next_key(void *userdata) {
    (void)userdata;
    char *text = malloc(20);
    snprintf(text, 20, "%d", ++made);
    return text;
}
static void counted_keys(realm_schema_t *schema) {
    SUCCEEDS(realm_schema_set_default_func(schema, "A", "id", next_key, NULL, NULL));
}

/* A new primary key gets its computed defaults, as other properties do. */
static void defaults_of_keys(const char *path) {
    realm_t *realm =
        OPEN(path, "A{n:int,text:string,id:int#}", .version = 3, .change = counted_keys);
    CHECK(realm != NULL && made == 3);
    for (int i = 1; i <= 3; i++) {
        bool found = false;
        realm_value_t key = {.type = RLM_TYPE_INT, .integer = i};
        realm_object_t *object =
            realm_object_find_with_primary_key(realm, class_in(realm, "A"), key, &found);
        CHECK(found);
        realm_release(object);
    }
    shut(realm);
    SOUND(path);
}

int main(void) {
    char path[] = "preview.realm";
    remove(path);
    realm_t *realm = OPEN(path, "A{n:int,text:string};B{m:int}");
    SUCCEEDS(realm_begin_write(realm));
    for (int i = 0; i < 3; i++) add(realm, "A", "{\"n\":1,\"text\":\"t\"}");
    SUCCEEDS(realm_commit(realm));
    differences_in_words(realm);
    refusals(realm);
    /* Nothing of this changed anything. */
    CHECK(realm_get_schema_version(realm) == 1 && !has_property(realm, "A", "more", NULL));
    shut(realm);
    realm = OPEN(path, "A{n:int,text:string}", .version = 2, .migrate = write_elsewhere,
                 .userdata = path);
    CHECK(realm != NULL && realm_get_schema_version(realm) == 2);
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_rollback(realm));
    shut(realm);
    SOUND(path);
    defaults_of_keys(path);
    return check_end("schema previews");
}
