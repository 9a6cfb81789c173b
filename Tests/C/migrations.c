/* Migrations: properties that come, go, change and get other names; what the callback may do. */
#include "schemas.h"

static void remove_file(const char *path) {
    bool deleted;
    SUCCEEDS(realm_delete_files(path, &deleted));
}

/* A file with `n` objects of class A, i being the number of each. */
static void fill(const char *path, const char *spec, const char *json, int n) {
    remove_file(path);
    realm_t *realm = OPEN(path, spec);
    CHECK(realm && realm_begin_write(realm));
    for (int i = 0; i < n; i++) {
        char text[9000];
        snprintf(text, sizeof text, json, i, i, i, i);
        add(realm, "A", text);
    }
    SUCCEEDS(realm_commit(realm));
    shut(realm);
}

static void set_defaults(realm_schema_t *schema) {
    SUCCEEDS(realm_schema_set_default(schema, "A", "count", "7"));
    SUCCEEDS(realm_schema_set_default(schema, "A", "word", "\"new\""));
    SUCCEEDS(realm_schema_set_default(schema, "A", "ratio", "0.5"));
    SUCCEEDS(realm_schema_set_default(schema, "A", "half", "0.25"));
    SUCCEEDS(realm_schema_set_default(schema, "A", "flag", "true"));
    SUCCEEDS(realm_schema_set_default(schema, "A", "when", "\"2020-01-02T03:04:05.5Z\""));
    SUCCEEDS(realm_schema_set_default(schema, "A", "exact", "\"1.50\""));
    SUCCEEDS(realm_schema_set_default(schema, "A", "id", "\"00000000-0000-0000-0000-00000000000a\""));
    SUCCEEDS(realm_schema_set_default(schema, "A", "thing", "\"anything\""));
    SUCCEEDS(realm_schema_set_default(schema, "A", "tags", "[\"a\",\"b\"]"));
    SUCCEEDS(realm_schema_set_default(schema, "A", "nothing", "null"));
}

static void defaults_of_new_properties(void) {
    const char *path = "defaults.realm";
    fill(path, "A{n:int}", "{\"n\":%d}", 1000);
    const char *spec =
        "A{n:int,count:int*,word:string*,ratio:double,half:float,flag:bool,when:date,exact:decimal,"
        "id:uuid,thing:mixed,tags:list<string>,nothing:string?,zero:int,empty:string%,never:date?,"
        "numbers:set<int>}";
    FAILS(RLM_ERR_SCHEMA_MISMATCH, OPEN(path, spec));
    realm_t *realm = OPEN(path, spec, .version = 2, .change = set_defaults);
    CHECK(realm != NULL);
    JSON(first(realm, "A", "n == 999"),
         "{\"n\":999,\"count\":7,\"word\":\"new\",\"ratio\":0.5,\"half\":0.25,\"flag\":true,"
         "\"when\":\"2020-01-02T03:04:05.5Z\",\"exact\":\"1.50\","
         "\"id\":\"00000000-0000-0000-0000-00000000000a\",\"thing\":\"anything\",\"tags\":[\"a\",\"b\"],"
         "\"nothing\":null,\"zero\":0,\"empty\":\"\",\"never\":null,\"numbers\":[]}");
    SOUND(path);
    /* Leaves that lack the columns answer queries by them, whatever runs over the column. */
    const char *all[] = {"count == 7", "count > 6 AND count < 8", "count IN {1, 7}", "word == 'new'",
                         "word BEGINSWITH 'n'", "word LIKE[c] 'NE*'", "word CONTAINS 'ew'",
                         "ratio == 0.5", "ratio < 1", "half == 0.25", "flag == true", "exact == 1.5",
                         "when > 2020-01-01@00:00:00", "thing == 'anything'", "nothing == nil",
                         "zero == 0", "empty == ''", "never == nil", "tags.@count == 2",
                         "ANY tags == 'b'", "numbers.@count == 0", "count + zero == 7",
                         "count * 2 == 14 AND ratio * 2 == 1", "NOT word == 'old'",
                         "id == uuid(00000000-0000-0000-0000-00000000000a)", "word.@size == 3"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        size_t found = count(realm, "A", all[i]);
        if (found != 1000)
            fprintf(stderr, "    %s: %zu\n", all[i], found);
        CHECK(found == 1000);
    }
    const char *none[] = {"count == 0", "word == ''", "flag == false", "when == nil", "zero != 0",
                          "ratio > 0.5", "thing == nil", "empty TEXT 'word'", "exact < 1.5"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        CHECK(count(realm, "A", none[i]) == 0);
    realm_query_t *query = realm_query_parse(realm, class_in(realm, "A"),
                                             "count == 7 SORT(word ASC, n DESC) LIMIT(3)", 0, NULL);
    realm_results_t *results = realm_query_find_all(query);
    realm_value_t value;
    bool found;
    SUCCEEDS(realm_results_get(results, 0, &value));
    CHECK(value.link.target == 999);
    realm_release(results);
    realm_release(query);
    query = realm_query_parse(realm, class_in(realm, "A"), "TRUEPREDICATE", 0, NULL);
    results = realm_query_find_all(query);
    SUCCEEDS(realm_results_sum(results, key_in(realm, "A", "count"), &value, &found));
    CHECK(value.integer == 7000);
    SUCCEEDS(realm_results_max(results, key_in(realm, "A", "ratio"), &value, &found));
    CHECK(value.dnum == 0.5);
    SUCCEEDS(realm_results_min(results, key_in(realm, "A", "zero"), &value, &found));
    CHECK(value.integer == 0);
    realm_release(results);
    realm_release(query);
    /* Writing to an object gives its leaf the columns; the others keep the defaults. */
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *object = first(realm, "A", "n == 500");
    SUCCEEDS(realm_set_value(object, key_in(realm, "A", "word"), of_text("old"), false));
    realm_release(object);
    object = first(realm, "A", "n == 501");
    SUCCEEDS(realm_object_delete(object));
    realm_release(object);
    SUCCEEDS(realm_commit(realm));
    CHECK(count(realm, "A", "word == 'new'") == 998 && count(realm, "A", "word == 'old'") == 1);
    CHECK(count(realm, "A", "count == 7") == 999);
    /* Objects made without values start with zeros, as ever. */
    SUCCEEDS(realm_begin_write(realm));
    object = realm_object_create(realm, class_in(realm, "A"));
    CHECK(object != NULL);
    realm_release(object);
    SUCCEEDS(realm_commit(realm));
    CHECK(count(realm, "A", "count == 0 AND word == '' AND flag == false") == 1);
    shut(realm);
    SOUND(path);
    /* What is there when the file is opened again, and by who asks for nothing. */
    realm = OPEN(path, NULL);
    CHECK(count(realm, "A", "count == 7 AND word == 'new' AND flag == true") == 998);
    shut(realm);
}

static void bad_default(realm_schema_t *schema) {
    SUCCEEDS(realm_schema_set_default(schema, "A", "count", "\"seven\""));
}
static int made;
static char *next_number(void *userdata) {
    (void)userdata;
    char *text = malloc(20);
    snprintf(text, 20, "%d", made++);
    return text;
}
static void counting_default(realm_schema_t *schema) {
    SUCCEEDS(realm_schema_set_default_func(schema, "A", "count", next_number, NULL, NULL));
}
static void long_default(realm_schema_t *schema) {
    static char text[4000];
    memset(text, 'x', 3990);
    text[0] = text[3989] = '"';
    SUCCEEDS(realm_schema_set_default(schema, "A", "word", text));
}
static void nested_defaults(realm_schema_t *schema) {
    SUCCEEDS(realm_schema_set_default(schema, "A", "home", "{\"street\":\"Main\"}"));
    SUCCEEDS(realm_schema_set_default(schema, "A", "thing", "[1,{\"a\":2}]"));
}

static void defaults_for_each_object(void) {
    const char *path = "fills.realm";
    fill(path, "A{n:int}", "{\"n\":%d}", 100);
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH,
          OPEN(path, "A{n:int,count:int}", .version = 2, .change = bad_default));
    made = 0;
    realm_t *realm =
        OPEN(path, "A{n:int,count:int*}", .version = 2, .change = counting_default);
    CHECK(made == 100);
    for (int i = 0; i < 100; i++) {
        char text[40];
        snprintf(text, sizeof text, "count == %d", i);
        CHECK(count(realm, "A", text) == 1);
    }
    shut(realm);
    realm = OPEN(path, "A{n:int,count:int*,word:string?}", .version = 3, .change = long_default);
    CHECK(count(realm, "A", "word.@size == 3988") == 100);
    shut(realm);
    SOUND(path);
    realm = OPEN(path, "A{n:int,count:int*,word:string?,home:B,thing:mixed};B!{street:string}",
                 .version = 4, .change = nested_defaults);
    CHECK(count(realm, "A", "home.street == 'Main' AND thing[0] == 1 AND thing[1]['a'] == 2") == 100);
    size_t homes = 0;
    SUCCEEDS(realm_get_num_objects(realm, class_in(realm, "B"), &homes));
    CHECK(homes == 100);
    shut(realm);
    SOUND(path);
    /* Dropping gives the blocks and the embedded objects back. */
    realm = OPEN(path, "A{n:int};B!{street:string}", .version = 5);
    SUCCEEDS(realm_get_num_objects(realm, class_in(realm, "B"), &homes));
    CHECK(homes == 0);
    shut(realm);
    SOUND(path);
}

static void dropped_properties(void) {
    const char *path = "drop.realm";
    const char *all = "A{n:int,text:string*,big:data?,list:list<string>,thing:mixed,other:B,"
                      "others:list<B>,map:dictionary<B>,words:string%,b:C,cs:list<C>};"
                      "B{k:int#};C!{c:int}";
    remove_file(path);
    realm_t *realm = OPEN(path, all);
    SUCCEEDS(realm_begin_write(realm));
    static char json[70000], list[30000];
    list[0] = 0;
    for (int i = 0; i < 2000; i++)
        strcat(list, i ? ",\"element\"" : "\"element\"");
    for (int i = 0; i < 5; i++) {
        snprintf(json, sizeof json, "{\"k\":%d}", i);
        add(realm, "B", json);
    }
    for (int i = 0; i < 60; i++) {
        char data[3001] = {0};
        memset(data, 'A', i % 7 == 0 ? 3000 : 8);
        snprintf(json, sizeof json,
                 "{\"n\":%d,\"text\":\"text %d\",\"big\":\"%s\",\"list\":[%s],\"thing\":%s,"
                 "\"other\":{\"k\":%d},\"others\":[%d,1],\"map\":{\"x\":1},\"words\":\"some words\","
                 "\"b\":{\"c\":1},\"cs\":[{\"c\":2},{\"c\":3}]}",
                 i, i, data, i % 11 == 0 ? list : "\"a\"", i % 13 == 0 ? "[[1],{\"a\":[2]}]" : "\"z\"",
                 i % 5, (i + 1) % 5);
        realm_object_t *object = realm_object_create_from_json(realm, class_in(realm, "A"), json,
                                                               RLM_UPDATE_MODIFIED, 0);
        realm_error_t error;
        if (!object && realm_get_last_error(&error))
            fprintf(stderr, "    %s\n", error.message);
        CHECK(object != NULL);
        realm_release(object);
    }
    SUCCEEDS(realm_commit(realm));
    shut(realm);
    SOUND(path);
    /* One after another, from both ends. */
    const char *steps[] = {
        "A{n:int,text:string*,big:data?,list:list<string>,thing:mixed,other:B,others:list<B>,"
        "map:dictionary<B>,words:string%,b:C};B{k:int#};C!{c:int}",
        "A{n:int,big:data?,list:list<string>,thing:mixed,other:B,others:list<B>,map:dictionary<B>,"
        "words:string%,b:C};B{k:int#};C!{c:int}",
        "A{n:int,list:list<string>,thing:mixed,others:list<B>,map:dictionary<B>,words:string%,b:C};"
        "B{k:int#};C!{c:int}",
        "A{n:int,thing:mixed,map:dictionary<B>,b:C};B{k:int#};C!{c:int}",
        "A{n:int,again:string,text:int*};B{k:int#};C!{c:int}",
        "A{again:string,text:int*};B{k:int#};C!{c:int}",
    };
    for (int i = 0; i < 6; i++) {
        realm = OPEN(path, steps[i], .version = (uint64_t)i + 2);
        CHECK(realm != NULL);
        size_t cs = 0;
        SUCCEEDS(realm_get_num_objects(realm, class_in(realm, "C"), &cs));
        CHECK(cs == (i < 4 ? 60u : 0u));
        /* Backlinks are those of what is left. */
        realm_object_t *b = first(realm, "B", "k == 1");
        CHECK(b != NULL);
        if (i == 4) {
            SUCCEEDS(realm_begin_write(realm));
            SUCCEEDS(realm_object_delete(b));
            SUCCEEDS(realm_commit(realm));
        }
        realm_release(b);
        if (i == 4) {
            CHECK(count(realm, "A", "text == 0") == 60);
            SUCCEEDS(realm_begin_write(realm));
            realm_object_t *object = first(realm, "A", "n == 30");
            SUCCEEDS(realm_set_value(object, key_in(realm, "A", "text"), of_int(5), false));
            realm_release(object);
            add(realm, "B", "{\"k\":1}");
            SUCCEEDS(realm_commit(realm));
            CHECK(count(realm, "A", "text == 5") == 1 && count(realm, "A", "again == ''") == 60);
        }
        shut(realm);
        SOUND(path);
    }
    realm = OPEN(path, NULL);
    realm_class_info_t info;
    SUCCEEDS(realm_get_class(realm, class_in(realm, "A"), &info));
    CHECK(info.num_properties == 2);
    SUCCEEDS(realm_convert_with_path(realm, "drop-copy.realm", (realm_binary_t){0}, false) ||
             (remove("drop-copy.realm"),
              realm_convert_with_path(realm, "drop-copy.realm", (realm_binary_t){0}, false)));
    bool compacted = false;
    shut(realm);
    SOUND("drop-copy.realm");
    realm = OPEN(path, NULL);
    SUCCEEDS(realm_compact(realm, &compacted));
    CHECK(compacted);
    CHECK(count(realm, "A", "text == 5") == 1);
    shut(realm);
    SOUND(path);
}

/* What the callback of a test does, and how often it was called. */
typedef struct run {
    int called;
    bool fails;
    void (*act)(realm_t *old, realm_t *new, realm_schema_t *schema);
} run_t;
static bool migrate(void *userdata, realm_t *old, realm_t *new, const realm_schema_t *schema) {
    run_t *run = userdata;
    run->called++;
    if (run->act)
        run->act(old, new, (realm_schema_t *)schema);
    return !run->fails;
}

static void join_names(realm_t *old, realm_t *new, realm_schema_t *schema) {
    (void)schema;
    CHECK(realm_get_schema_version(old) == 1 && realm_get_schema_version(new) == 2);
    CHECK(realm_is_writable(new) && !realm_is_writable(old));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(old));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(new));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_commit(new));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_rollback(new));
    CHECK(has_property(old, "A", "first", NULL) && !has_property(new, "A", "first", NULL));
    CHECK(!has_property(old, "A", "full", NULL) && has_property(new, "A", "full", NULL));
    realm_value_t values[2];
    for (int i = 0; i < 100; i++) {
        realm_object_t *before = realm_get_object(old, class_in(old, "A"), i);
        realm_object_t *after = realm_get_object(new, class_in(new, "A"), i);
        CHECK(realm_get_value(before, key_in(old, "A", "first"), &values[0]));
        CHECK(realm_get_value(before, key_in(old, "A", "last"), &values[1]));
        char text[100];
        snprintf(text, sizeof text, "%.*s %.*s", (int)values[0].string.size, values[0].string.data,
                 (int)values[1].string.size, values[1].string.data);
        CHECK(realm_set_value(after, key_in(new, "A", "full"), of_text(text), false));
        /* The old realm can't be written. */
        FAILS(RLM_ERR_WRONG_TRANSACTION_STATE,
              realm_set_value(before, key_in(old, "A", "first"), of_text("x"), false));
        realm_release(before);
        realm_release(after);
    }
}
static void close_new(realm_t *old, realm_t *new, realm_schema_t *schema) {
    (void)old, (void)schema;
    realm_close(new);
}
static void close_old(realm_t *old, realm_t *new, realm_schema_t *schema) {
    (void)new, (void)schema;
    realm_close(old);
}
static int user_error;
static void register_error(realm_t *old, realm_t *new, realm_schema_t *schema) {
    (void)old, (void)new, (void)schema;
    realm_register_user_code_callback_error(&user_error);
}

static void callbacks(void) {
    const char *path = "callback.realm";
    const char *v1 = "A{first:string,last:string}", *v2 = "A{full:string*}";
    fill(path, v1, "{\"first\":\"first-%d\",\"last\":\"last-%d\"}", 100);
    run_t run = {0};
    /* The same version: it is not called. */
    realm_t *realm = OPEN(path, v1, .migrate = migrate, .userdata = &run);
    CHECK(run.called == 0);
    shut(realm);
    /* Failure leaves everything as it was. */
    run = (run_t){.fails = true, .act = join_names};
    FAILS(RLM_ERR_CALLBACK, OPEN(path, v2, .version = 2, .migrate = migrate, .userdata = &run));
    CHECK(run.called == 1);
    run = (run_t){.fails = true, .act = register_error};
    realm_error_t error;
    CHECK(!OPEN(path, v2, .version = 2, .migrate = migrate, .userdata = &run));
    CHECK(realm_get_last_error(&error) && error.error == RLM_ERR_CALLBACK &&
          error.user_code_error == &user_error);
    CHECK(error.message && !strcmp(error.message, "User-provided callback failed"));
    realm_clear_last_error();
    run = (run_t){.act = close_new};
    FAILS(RLM_ERR_MIGRATION_FAILED,
          OPEN(path, v2, .version = 2, .migrate = migrate, .userdata = &run));
    SOUND(path);
    realm = OPEN(path, v1);
    CHECK(realm_get_schema_version(realm) == 1 && count(realm, "A", "first == 'first-99'") == 1);
    shut(realm);
    run = (run_t){.act = join_names};
    realm = OPEN(path, v2, .version = 2, .migrate = migrate, .userdata = &run);
    CHECK(run.called == 1 && realm_get_schema_version(realm) == 2);
    CHECK(count(realm, "A", "full == 'first-7 last-7'") == 1);
    shut(realm);
    SOUND(path);
    /* Equal schemas and a higher version: it is called once, and the version is kept. */
    run = (run_t){.act = close_old};
    realm = OPEN(path, v2, .version = 5, .migrate = migrate, .userdata = &run);
    CHECK(run.called == 1 && realm_get_schema_version(realm) == 5);
    shut(realm);
    realm = OPEN(path, v2, .version = 5, .migrate = migrate, .userdata = &run);
    CHECK(run.called == 1);
    shut(realm);
    FAILS(RLM_ERR_INVALID_SCHEMA_VERSION, OPEN(path, v2, .version = 4));
    /* A new file is not migrated. */
    remove_file(path);
    realm = OPEN(path, v2, .version = 3, .migrate = migrate, .userdata = &run);
    CHECK(run.called == 1);
    shut(realm);
}

static void rename_name(realm_t *old, realm_t *new, realm_schema_t *schema) {
    (void)old;
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_schema_rename_property(new, schema, "X", "name", "full"));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_schema_rename_property(new, schema, "A", "nom", "full"));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_schema_rename_property(new, schema, "A", "n", "full"));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_schema_rename_property(new, schema, "A", "name", "age"));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_schema_rename_property(new, schema, "A", "maybe", "sure"));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_rename_property(new, schema, "A", NULL, "sure"));
    SUCCEEDS(realm_schema_rename_property(new, schema, "A", "name", "full"));
    CHECK(count(new, "A", "full == 'name 3'") == 1);
    SUCCEEDS(realm_schema_rename_property(new, schema, "A", "id", "key"));
    SUCCEEDS(realm_schema_rename_property(new, schema, "A", "links", "friends"));
}

static void renames(void) {
    const char *path = "rename.realm";
    fill(path, "A{id:int#,n:int,name:string*,maybe:int?,links:list<A>}",
         "{\"id\":%d,\"n\":%d,\"name\":\"name %d\",\"maybe\":1,\"links\":[0]}", 0);
    realm_t *realm = OPEN(path, "A{id:int#,n:int,name:string*,maybe:int?,links:list<A>}");
    SUCCEEDS(realm_begin_write(realm));
    for (int i = 0; i < 50; i++) {
        char text[200];
        snprintf(text, sizeof text, "{\"id\":%d,\"n\":%d,\"name\":\"name %d\",\"maybe\":1,\"links\":[%d]}", i,
                 i, i, i / 2);
        realm_object_t *object = realm_object_create_from_json(
            realm, class_in(realm, "A"), text, RLM_UPDATE_MODIFIED, 0);
        CHECK(object != NULL);
        realm_release(object);
    }
    SUCCEEDS(realm_commit(realm));
    shut(realm);
    run_t run = {.act = rename_name};
    realm = OPEN(path, "A{key:int#,n:int,full:string?,age:int,sure:int,friends:list<A>}",
                 .version = 2, .migrate = migrate, .userdata = &run);
    CHECK(realm && run.called == 1);
    CHECK(count(realm, "A", "full == 'name 3' AND age == 0 AND sure == 0") == 1);
    CHECK(count(realm, "A", "ANY friends.full == 'name 3'") == 2);
    bool found = false;
    realm_object_t *object =
        realm_object_find_with_primary_key(realm, class_in(realm, "A"), of_int(7), &found);
    CHECK(found);
    JSON(object, "{\"key\":7,\"n\":7,\"full\":\"name 7\",\"age\":0,\"sure\":0,\"friends\":[3]}");
    SUCCEEDS(realm_begin_write(realm));
    object = first(realm, "A", "key == 7");
    SUCCEEDS(realm_set_value(object, key_in(realm, "A", "full"), of_null(), false));
    realm_release(object);
    SUCCEEDS(realm_commit(realm));
    shut(realm);
    SOUND(path);
    /* Outside of a transaction. */
    realm = OPEN(path, NULL);
    realm_schema_t *schema = realm_get_schema(realm);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE,
          realm_schema_rename_property(realm, schema, "A", "n", "m"));
    realm_release(schema);
    shut(realm);
}

int main(void) {
    defaults_of_new_properties();
    defaults_for_each_object();
    dropped_properties();
    callbacks();
    renames();
    return check_end("migrations");
}
