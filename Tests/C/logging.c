/* Log categories, thresholds and receivers. */
#include "people.h"

static void receive(void *userdata, const char *category, realm_log_level_e level,
                    const char *message) {
    (void)category, (void)level, (void)message;
    ((counter_t *)userdata)->called++;
}

/* What was told, a line each: "category level text". */
typedef struct diary {
    char text[65536];
    size_t used;
    int freed;
} diary_t;
static void note(void *userdata, const char *category, realm_log_level_e level,
                 const char *message) {
    diary_t *diary = userdata;
    int n = snprintf(diary->text + diary->used, sizeof diary->text - diary->used, "%s %d %s\n",
                     category, (int)level, message);
    if (n > 0 && diary->used + (size_t)n < sizeof diary->text)
        diary->used += (size_t)n;
}
static void end_diary(void *userdata) { ((diary_t *)userdata)->freed++; }
/* Whether a line has all three; the diary begins anew. */
static bool told(diary_t *diary, const char *category, realm_log_level_e level, const char *text) {
    char start[64];
    snprintf(start, sizeof start, "%s %d ", category, (int)level);
    bool found = false;
    char copy[sizeof diary->text];
    memcpy(copy, diary->text, diary->used + 1);
    for (char *line = strtok(copy, "\n"); line; line = strtok(NULL, "\n"))
        found = found || (!strncmp(line, start, strlen(start)) && strstr(line, text));
    if (!found)
        fprintf(stderr, "no line '%s...%s' in:\n%s", start, text, diary->text);
    return found;
}
static bool is_silent(diary_t *diary) {
    bool silent = diary->used == 0;
    diary->used = 0;
    diary->text[0] = 0;
    return silent;
}

static realm_t *work(const char *path, diary_t *diary, bool listens) {
    const char *storage = "Realm.Storage", *steps = "Realm.Storage.Transaction",
               *queries = "Realm.Storage.Query";
    const realm_log_level_e detail = RLM_LOG_LEVEL_DETAIL, debug = RLM_LOG_LEVEL_DEBUG,
                            trace = RLM_LOG_LEVEL_TRACE;
    realm_t *realm = open_people(path);
    CHECK(!listens || told(diary, storage, detail, "opened"));
    CHECK(!listens || told(diary, storage, detail, "Person"));
    CHECK(is_silent(diary) != listens);
    keys_t k = keys_of(realm);
    SUCCEEDS(realm_begin_write(realm));
    CHECK(!listens || told(diary, steps, trace, "version 2"));
    realm_release(make_person(realm, &k, 7));
    SUCCEEDS(realm_commit(realm));
    CHECK(!listens || told(diary, steps, debug, "version 3"));
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_rollback(realm));
    CHECK(!listens || told(diary, steps, debug, "rolled back"));
    CHECK(is_silent(diary) != listens);
    realm_query_t *query =
        realm_query_parse(realm, k.person, "score > 3.0 SORT(name ASC)", 0, NULL);
    size_t count = 0;
    SUCCEEDS(realm_query_count(query, &count));
    CHECK(!listens || told(diary, queries, debug, "score > 3"));
    CHECK(is_silent(diary) != listens && count == 1);
    realm_results_t *results = realm_query_find_all(query);
    SUCCEEDS(realm_results_get(results, 0, NULL));
    CHECK(!listens || told(diary, queries, debug, "SORT(name ASC): found"));
    CHECK(is_silent(diary) != listens);
    realm_release(results);
    realm_release(query);
    return realm;
}

/* What is told of opening, schemas, commits and queries, to the receiver at the time of opening. */
static void messages(void) {
    static diary_t diary, other;
    realm_set_log_callback(note, &diary, end_diary);
    realm_set_log_level(RLM_LOG_LEVEL_INFO);
    realm_release(work("silent.realm", &diary, false));
    CHECK(is_silent(&diary));
    realm_set_log_level(RLM_LOG_LEVEL_ALL);
    realm_t *realm = work("loud.realm", &diary, true);
    realm_set_log_callback(note, &other, end_diary);
    CHECK(diary.freed == 0);
    SUCCEEDS(realm_close(realm));
    CHECK(told(&diary, "Realm.Storage", RLM_LOG_LEVEL_DETAIL, "closed") && is_silent(&other));
    realm_release(realm);
    CHECK(diary.freed == 1);
    realm_set_log_level(RLM_LOG_LEVEL_OFF);
    realm_release(work("off.realm", &other, false));
    CHECK(is_silent(&other));
    realm_set_log_level(RLM_LOG_LEVEL_INFO);
    realm_set_log_callback(NULL, NULL, NULL);
    CHECK(other.freed == 1);
}

int main(void) {
    messages();
    CHECK(realm_get_category_names(0, NULL) == 15);
    const char *names[20] = {0};
    CHECK(realm_get_category_names(3, names) == 3 && names[2] && !names[3]);
    CHECK(realm_get_category_names(20, names) == 15 && !names[15]);
    for (int i = 1; i < 15; i++)
        CHECK(strcmp(names[i - 1], names[i]) < 0);
    CHECK(strcmp(names[0], "Realm") == 0 && strcmp(names[14], "Realm.Sync.Server") == 0);

    for (int i = 0; i < 15; i++)
        CHECK(realm_get_log_level_category(names[i]) == RLM_LOG_LEVEL_INFO);
    realm_set_log_level(RLM_LOG_LEVEL_ERROR);
    CHECK(realm_get_log_level_category("Realm.Storage.Query") == RLM_LOG_LEVEL_ERROR);
    CHECK(realm_set_log_level_category("Realm.Storage", RLM_LOG_LEVEL_DEBUG) ==
          RLM_LOG_LEVEL_ERROR);
    CHECK(realm_get_log_level_category("Realm.Storage.Query") == RLM_LOG_LEVEL_DEBUG);
    CHECK(realm_get_log_level_category("Realm.Sync") == RLM_LOG_LEVEL_ERROR);
    CHECK(realm_get_log_level_category("Realm") == RLM_LOG_LEVEL_ERROR);

    /* Unknown names and levels change nothing. */
    CHECK(realm_set_log_level_category("Nobody", RLM_LOG_LEVEL_OFF) == RLM_LOG_LEVEL_INFO);
    CHECK(realm_set_log_level_category(NULL, RLM_LOG_LEVEL_OFF) == RLM_LOG_LEVEL_INFO);
    CHECK(realm_get_log_level_category("realm") == RLM_LOG_LEVEL_INFO);
    realm_set_log_level((realm_log_level_e)99);
    CHECK(realm_get_log_level_category("Realm") == RLM_LOG_LEVEL_ERROR);

    /* The userdata of a receiver lives until the next one is set. */
    counter_t a = {0, 0}, b = {0, 0};
    realm_set_log_callback(receive, &a, count_freed);
    CHECK(a.freed == 0);
    realm_set_log_callback(receive, &b, count_freed);
    CHECK(a.freed == 1 && b.freed == 0);
    realm_set_log_callback(NULL, NULL, NULL);
    CHECK(b.freed == 1);
    return check_end("logging");
}
