/* What migrations make of the data: primary keys, embedded classes, classes that get another name or
 * go. Every pair of property kinds is in conversion_matrix.c. */
#include "schemas.h"

static const char *path = "conversions.realm";

typedef void (*act_t)(realm_t *old, realm_t *new, realm_schema_t *schema);
static bool act(void *userdata, realm_t *old, realm_t *new, const realm_schema_t *schema) {
    (*(act_t *)userdata)(old, new, (realm_schema_t *)schema);
    return true;
}
static uint64_t version;
/* Opens with the next version, or tries to. */
static realm_t *migrate_to(const char *spec, act_t function) {
    static act_t kept;
    kept = function;
    realm_t *realm = open_as(path, spec, (opening_t){.version = version + 1,
                                                     .migrate = function ? act : NULL,
                                                     .userdata = &kept});
    if (realm)
        version++;
    return realm;
}

/* A new file; `fill` is called in a write transaction. */
static void start(const char *spec, void (*fill)(realm_t *realm)) {
    bool deleted;
    SUCCEEDS(realm_delete_files(path, &deleted));
    version = 1;
    realm_t *realm = OPEN(path, spec);
    SUCCEEDS(realm_begin_write(realm));
    fill(realm);
    SUCCEEDS(realm_commit(realm));
    shut(realm);
}
static void again(realm_t *realm) {
    CHECK(realm != NULL);
    if (realm)
        shut(realm);
    SOUND(path);
}
static bool has_key(realm_t *realm, const char *class, realm_value_t key) {
    bool found = false;
    realm_object_t *object =
        realm_object_find_with_primary_key(realm, class_in(realm, class), key, &found);
    realm_release(object);
    return found;
}

/* MARK: Primary keys */

static void fill_people(realm_t *realm) {
    for (int i = 0; i < 300; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "{\"id\":%d,\"name\":\"person %d\",\"boss\":%s,\"n\":%d}", i == 7 ? -70 : i * 10, i,
                 i ? "0" : "null", i);
        add(realm, "P", text);
    }
}
static void set_names_as_keys(realm_t *old, realm_t *new, realm_schema_t *schema) {
    (void)old, (void)schema;
    for (int i = 0; i < 300; i++) {
        char text[40], key[40];
        snprintf(text, sizeof text, "n == %d", i);
        realm_object_t *object = first(new, "P", text);
        snprintf(key, sizeof key, "key %d", i);
        SUCCEEDS(realm_set_value(object, key_in(new, "P", "key"), of_text(key), false));
        realm_release(object);
    }
    /* Classes whose key is about to change take objects in either way. */
    realm_object_t *object = realm_object_create(new, class_in(new, "P"));
    CHECK(object != NULL);
    SUCCEEDS(realm_set_value(object, key_in(new, "P", "key"), of_text("made"), false));
    realm_release(object);
    object = realm_object_create_with_primary_key(new, class_in(new, "P"), of_text("made too"));
    CHECK(object != NULL);
    realm_release(object);
}
static void renumber(realm_t *old, realm_t *new, realm_schema_t *schema) {
    (void)old, (void)schema;
    /* Swapped: each is taken while it is set. */
    realm_object_t *a = first(new, "P", "n == 1"), *b = first(new, "P", "n == 2");
    realm_property_key_t id = key_in(new, "P", "id");
    SUCCEEDS(realm_set_value(a, id, of_int(20), false));
    SUCCEEDS(realm_set_value(b, id, of_int(10), false));
    realm_value_t values[] = {of_int(INT64_MIN)};
    SUCCEEDS(realm_set_values(first(new, "P", "n == 3"), 1, &id, values, false));
    realm_release(a);
    realm_release(b);
}
static void repeat(realm_t *old, realm_t *new, realm_schema_t *schema) {
    (void)old, (void)schema;
    realm_object_t *a = first(new, "P", "n == 1");
    SUCCEEDS(realm_set_value(a, key_in(new, "P", "id"), of_int(50), false));
    realm_release(a);
}

static void primary_keys(void) {
    const char *v1 = "P{id:int#,name:string,boss:P,n:int}";
    /* Renumbered: links lead where they led. */
    start(v1, fill_people);
    realm_error_t error;
    CHECK(!migrate_to(v1, repeat) && realm_get_last_error(&error));
    CHECK(error.error == RLM_ERR_MIGRATION_FAILED && strstr(error.message, "'P.id'") &&
          strstr(error.message, "50"));
    realm_clear_last_error();
    SOUND(path);
    realm_t *realm = OPEN(path, v1);
    CHECK(has_key(realm, "P", of_int(10)));
    shut(realm);
    realm = migrate_to(v1, renumber);
    CHECK(count(realm, "P", "id == 10 AND n == 2") == 1);
    CHECK(has_key(realm, "P", of_int(INT64_MIN)) && !has_key(realm, "P", of_int(30)));
    CHECK(count(realm, "P", "boss.n == 0") == 299 && count(realm, "P", "id > 2980") == 1);
    SUCCEEDS(realm_begin_write(realm));
    FAILS(RLM_ERR_OBJECT_ALREADY_EXISTS,
          realm_object_create_with_primary_key(realm, class_in(realm, "P"), of_int(20)));
    realm_object_t *object =
        realm_object_create_with_primary_key(realm, class_in(realm, "P"), of_int(30));
    CHECK(object != NULL);
    FAILS(RLM_ERR_MODIFY_PRIMARY_KEY,
          realm_set_value(object, key_in(realm, "P", "id"), of_int(31), false));
    realm_release(object);
    object = first(realm, "P", "n == 299");
    SUCCEEDS(realm_object_delete(object));
    realm_release(object);
    SUCCEEDS(realm_commit(realm));
    CHECK(!has_key(realm, "P", of_int(2990)) && has_key(realm, "P", of_int(30)));
    again(realm);
    /* Gone, with its values kept, and back. */
    start(v1, fill_people);
    realm = migrate_to("P{id:int,name:string,boss:P,n:int}", NULL);
    CHECK(count(realm, "P", "id == 100 AND boss.n == 0") == 1);
    CHECK(count(realm, "P", "id < 0") == 1);
    SUCCEEDS(realm_begin_write(realm));
    object = first(realm, "P", "id == 100");
    SUCCEEDS(realm_set_value(object, key_in(realm, "P", "id"), of_int(110), false));
    realm_release(object);
    object = realm_object_create(realm, class_in(realm, "P"));
    SUCCEEDS(realm_set_value(object, key_in(realm, "P", "id"), of_int(5), false));
    realm_release(object);
    SUCCEEDS(realm_commit(realm));
    again(realm);
    CHECK(!migrate_to(v1, NULL) && realm_get_last_error(&error));
    CHECK(error.error == RLM_ERR_MIGRATION_FAILED && strstr(error.message, "110"));
    realm_clear_last_error();
    realm = OPEN(path, "P{id:int,name:string,boss:P,n:int}", .version = version);
    SUCCEEDS(realm_begin_write(realm));
    object = first(realm, "P", "id == 110 AND n == 10");
    SUCCEEDS(realm_set_value(object, key_in(realm, "P", "id"), of_int(100), false));
    realm_release(object);
    SUCCEEDS(realm_commit(realm));
    shut(realm);
    realm = migrate_to(v1, NULL);
    CHECK(has_key(realm, "P", of_int(5)) && has_key(realm, "P", of_int(-70)));
    CHECK(count(realm, "P", "boss.n == 0 AND id IN {100, 110}") == 2);
    again(realm);
    /* Another property, of another type. */
    start(v1, fill_people);
    CHECK(!migrate_to("P{id:int,name:string,boss:P,n:int,key:string#}", NULL) &&
          realm_get_last_error(&error));
    CHECK(error.error == RLM_ERR_MIGRATION_FAILED && strstr(error.message, "\"\""));
    realm_clear_last_error();
    realm = migrate_to("P{id:int,name:string,boss:P,n:int,key:string#}", set_names_as_keys);
    CHECK(has_key(realm, "P", of_text("key 299")) && has_key(realm, "P", of_text("made too")));
    CHECK(count(realm, "P", "boss.key == 'key 0'") == 299 && count(realm, "P", "id == 2990") == 1);
    again(realm);
    realm = migrate_to("P{id:int,name:string#,boss:P,n:int}", NULL);
    CHECK(!realm && realm_get_last_error(&error) && strstr(error.message, "P.name"));
    realm_clear_last_error();
    /* The same name, another type: everybody starts with the same value. */
    start(v1, fill_people);
    CHECK(!migrate_to("P{id:uuid#,name:string,boss:P,n:int}", NULL));
    realm_clear_last_error();
    realm = OPEN(path, v1);
    CHECK(has_key(realm, "P", of_int(2990)));
    again(realm);
    /* Optional: values stay object keys, and null is one more. */
    realm = migrate_to("P{id:int?#,name:string,boss:P,n:int}", NULL);
    SUCCEEDS(realm_begin_write(realm));
    object = realm_object_create_with_primary_key(realm, class_in(realm, "P"), of_null());
    CHECK(object != NULL);
    realm_release(object);
    SUCCEEDS(realm_commit(realm));
    CHECK(has_key(realm, "P", of_null()) && has_key(realm, "P", of_int(-70)));
    again(realm);
}

/* MARK: Embedded */

static void fill_owners(realm_t *realm) {
    add(realm, "Home", "{\"street\":\"alone\",\"tags\":[],\"room\":null}");
    add(realm, "Owner", "{\"n\":1,\"home\":{\"street\":\"one\",\"tags\":[\"a\",\"b\"],"
                        "\"room\":{\"x\":1}},\"homes\":[],\"map\":{}}");
    realm_object_t *shared =
        make(realm, "Home", "{\"street\":\"shared\",\"tags\":[\"c\"],\"room\":{\"x\":2}}");
    realm_value_t link = {.type = RLM_TYPE_LINK, .link = realm_object_as_link(shared)};
    for (int i = 2; i < 4; i++) {
        char text[100];
        snprintf(text, sizeof text, "{\"n\":%d,\"home\":null,\"homes\":[],\"map\":{}}", i);
        realm_object_t *owner = make(realm, "Owner", text);
        SUCCEEDS(realm_set_value(owner, key_in(realm, "Owner", "home"), link, false));
        realm_list_t *homes = realm_get_list(owner, key_in(realm, "Owner", "homes"));
        SUCCEEDS(realm_list_insert(homes, 0, link) && realm_list_insert(homes, 1, link));
        realm_dictionary_t *map = realm_get_dictionary(owner, key_in(realm, "Owner", "map"));
        SUCCEEDS(realm_dictionary_insert(map, of_text("k"), link, NULL, NULL));
        realm_release(map);
        realm_release(homes);
        realm_release(owner);
    }
    realm_release(shared);
}
static void fill_one(realm_t *realm) {
    add(realm, "Owner", "{\"n\":1,\"home\":{\"street\":\"one\",\"tags\":[\"a\",\"b\"],"
                        "\"room\":{\"x\":1}},\"homes\":[{\"street\":\"two\",\"tags\":[],"
                        "\"room\":null}],\"map\":{}}");
}
static void drop_alone(realm_t *old, realm_t *new, realm_schema_t *schema) {
    (void)old, (void)schema;
    realm_object_t *object = first(new, "Home", "street == 'one'");
    SUCCEEDS(realm_object_delete(object));
    realm_release(object);
}

static void embedded(void) {
    const char *top = "Owner{n:int,home:Home,homes:list<Home>,map:dictionary<Home>};"
                      "Home{street:string,tags:list<string>,room:Room};Room!{x:int}";
    const char *inner = "Owner{n:int,home:Home,homes:list<Home>,map:dictionary<Home>};"
                        "Home!{street:string,tags:list<string>,room:Room};Room!{x:int}";
    start(top, fill_owners);
    FAILS(RLM_ERR_ILLEGAL_OPERATION, migrate_to(inner, NULL));
    SOUND(path);
    realm_t *realm = OPEN(path, top);
    CHECK(realm && count(realm, "Home", "street == 'shared'") == 1);
    shut(realm);
    realm = OPEN(path, inner, .version = 2, .mends = true);
    CHECK(realm != NULL);
    CHECK(count(realm, "Home", "street == 'alone'") == 0);
    CHECK(count(realm, "Home", "street == 'shared' AND room.x == 2 AND tags[0] == 'c'") == 8);
    CHECK(count(realm, "Owner", "home.street == 'shared' AND homes.@count == 2") == 2);
    size_t rooms = 0;
    SUCCEEDS(realm_get_num_objects(realm, class_in(realm, "Room"), &rooms));
    CHECK(rooms == 9);
    again(realm);
    version = 2;
    /* Owned objects go with their owners now. */
    realm = OPEN(path, inner, .version = 2);
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *owner = first(realm, "Owner", "n == 2");
    SUCCEEDS(realm_object_delete(owner));
    realm_release(owner);
    SUCCEEDS(realm_commit(realm));
    CHECK(count(realm, "Home", "TRUEPREDICATE") == 5);
    again(realm);
    /* And back: they stay. */
    realm = migrate_to(top, NULL);
    CHECK(realm && count(realm, "Home", "TRUEPREDICATE") == 5);
    SUCCEEDS(realm_begin_write(realm));
    owner = first(realm, "Owner", "n == 3");
    SUCCEEDS(realm_object_delete(owner));
    realm_release(owner);
    SUCCEEDS(realm_commit(realm));
    CHECK(count(realm, "Home", "TRUEPREDICATE") == 5);
    again(realm);
    /* One link each needs no mending; the callback may see to that. */
    start(top, fill_one);
    again(migrate_to(inner, NULL));
    start(top, fill_one);
    realm = migrate_to(inner, drop_alone);
    CHECK(realm && count(realm, "Owner", "home == nil") == 1);
    again(realm);
    /* With a primary key, or in a mixed value: never. */
    bool deleted;
    SUCCEEDS(realm_delete_files(path, &deleted));
    realm = OPEN(path, "O{l:K,m:mixed};K{k:int#}");
    shut(realm);
    FAILS(RLM_ERR_ILLEGAL_OPERATION, OPEN(path, "O{l:K,m:mixed};K!{k:int}", .version = 2));
    SUCCEEDS(realm_delete_files(path, &deleted));
    realm = OPEN(path, "O{l:K,m:mixed};K{k:int}");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *k = make(realm, "K", "{\"k\":1}");
    realm_object_t *o = make(realm, "O", "{\"l\":null,\"m\":null}");
    realm_value_t link = {.type = RLM_TYPE_LINK, .link = realm_object_as_link(k)};
    SUCCEEDS(realm_set_value(o, key_in(realm, "O", "m"), link, false));
    realm_release(k);
    realm_release(o);
    SUCCEEDS(realm_commit(realm));
    shut(realm);
    FAILS(RLM_ERR_ILLEGAL_OPERATION,
          OPEN(path, "O{l:K,m:mixed};K!{k:int}", .version = 2, .mends = true));
    SOUND(path);
}

/* MARK: Classes */

static void fill_dogs(realm_t *realm) {
    add(realm, "Dog", "{\"id\":1,\"name\":\"Rex\",\"age\":3}");
    add(realm, "Dog", "{\"id\":2,\"name\":\"Bea\",\"age\":4}");
    add(realm, "Owner", "{\"dog\":1,\"dogs\":[1,2],\"thing\":null}");
    realm_object_t *owner = first(realm, "Owner", "TRUEPREDICATE");
    realm_object_t *dog = first(realm, "Dog", "id == 2");
    realm_value_t link = {.type = RLM_TYPE_LINK, .link = realm_object_as_link(dog)};
    SUCCEEDS(realm_set_value(owner, key_in(realm, "Owner", "thing"), link, false));
    realm_release(owner);
    realm_release(dog);
}
static void rename_dogs(realm_t *old, realm_t *new, realm_schema_t *schema) {
    (void)old;
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_schema_rename_class(new, schema, "Cat", "Hound"));
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_schema_rename_class(new, schema, "Dog", "Cat"));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_schema_rename_class(new, schema, "Owner", "Hound"));
    FAILS(RLM_ERR_INVALID_SCHEMA_CHANGE, realm_remove_table(new, "Hound", NULL));
    SUCCEEDS(realm_schema_rename_class(new, schema, "Dog", "Hound"));
    SUCCEEDS(realm_schema_rename_property(new, schema, "Hound", "name", "called"));
    CHECK(count(new, "Hound", "called == 'Rex'") == 1);
}
static void remove_dogs(realm_t *old, realm_t *new, realm_schema_t *schema) {
    (void)old, (void)schema;
    bool deleted = true;
    SUCCEEDS(realm_remove_table(new, "Nothing", &deleted));
    CHECK(!deleted);
    FAILS(RLM_ERR_INVALID_SCHEMA_CHANGE, realm_remove_table(new, "Owner", &deleted));
    SUCCEEDS(realm_remove_table(new, "Dog", &deleted));
    CHECK(deleted);
}
static void remove_linked(realm_t *old, realm_t *new, realm_schema_t *schema) {
    (void)old, (void)schema;
    bool deleted = true;
    FAILS(RLM_ERR_CROSS_TABLE_LINK_TARGET, realm_remove_table(new, "Dog", &deleted));
    CHECK(!deleted);
}

static void classes(void) {
    const char *v1 = "Dog{id:int#,name:string*,age:int};Owner{dog:Dog,dogs:list<Dog>,thing:mixed}";
    start(v1, fill_dogs);
    realm_t *realm = migrate_to("Hound{id:int#,called:string*,weight:double,age:int?};"
                                "Owner{dog:Hound,dogs:list<Hound>,thing:mixed}",
                                rename_dogs);
    CHECK(realm != NULL);
    CHECK(count(realm, "Hound", "called == 'Bea' AND weight == 0 AND age == 4") == 1);
    CHECK(count(realm, "Owner", "dog.called == 'Rex' AND ANY dogs.called == 'Bea'") == 1);
    CHECK(count(realm, "Owner", "thing.called == 'Bea'") == 1);
    CHECK(has_key(realm, "Hound", of_int(2)) && class_in(realm, "Dog") == RLM_INVALID_CLASS_KEY);
    again(realm);
    /* Without a rename, the links are of another type. */
    start(v1, fill_dogs);
    realm = migrate_to("Hound{id:int#};Owner{dog:Hound,dogs:list<Hound>,thing:mixed}", NULL);
    CHECK(realm && count(realm, "Owner", "dog == nil AND dogs.@count == 0") == 1);
    again(realm);
    /* Classes that the schema lacks stay until they are removed. */
    start(v1, fill_dogs);
    again(migrate_to("Owner{thing:mixed}", NULL));
    realm = OPEN(path, NULL);
    CHECK(count(realm, "Dog", "TRUEPREDICATE") == 2);
    SUCCEEDS(realm_begin_write(realm));
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_delete_class_objects(realm, "Cat"));
    SUCCEEDS(realm_delete_class_objects(realm, "Dog"));
    CHECK(count(realm, "Dog", "TRUEPREDICATE") == 0);
    CHECK(count(realm, "Owner", "thing == nil") == 1);
    SUCCEEDS(realm_rollback(realm));
    CHECK(count(realm, "Dog", "TRUEPREDICATE") == 2);
    /* A class that is shown, and one that there is not, need no transaction to be told from others. */
    bool deleted = true;
    FAILS(RLM_ERR_INVALID_SCHEMA_CHANGE, realm_remove_table(realm, "Dog", &deleted));
    CHECK(!deleted);
    shut(realm);
    realm = OPEN(path, "Owner{thing:mixed}", .version = 2);
    deleted = true;
    SUCCEEDS(realm_remove_table(realm, "Nothing", &deleted));
    CHECK(!deleted);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_remove_table(realm, "Dog", &deleted));
    CHECK(!deleted && realm_get_num_classes(realm) == 1);
    shut(realm);
    realm = migrate_to("Owner{thing:mixed}", remove_dogs);
    CHECK(realm && count(realm, "Owner", "thing == nil") == 1);
    again(realm);
    realm = OPEN(path, NULL);
    CHECK(class_in(realm, "Dog") == RLM_INVALID_CLASS_KEY);
    shut(realm);
    start(v1, fill_dogs);
    realm = migrate_to("Cat{n:int};Owner{n:int}", remove_dogs);
    again(realm);
    /* Linked to by what the schema does not show. */
    start(v1, fill_dogs);
    realm = migrate_to("Cat{n:int}", remove_linked);
    CHECK(realm != NULL);
    again(realm);
}

int main(void) {
    primary_keys();
    embedded();
    classes();
    return check_end("conversions");
}
