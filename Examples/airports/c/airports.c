/* airports.c - the airports of the world in a realm file, from C, through dlopen alone.
 *
 * usage: airports import FILE DATA    fill FILE from the text that export.py writes
 *        airports explore FILE        look up, search, sort, count
 *        airports change FILE         a transaction, a rollback, and what another instance sees of them
 *        airports summary FILE        one line that is the same for every program that reads the same data
 *
 * The library is librealm.so where the loader finds it, or what REALM_LIBRARY names.
 */
#include "realm_api.h"
#include "text.h"

/* ---------------------------------------------------------------- errors and values */

static void fail(const char* what)
{
    realm_error_t error;
    memset(&error, 0, sizeof error);
    bool set = rlm.get_last_error(&error);
    fprintf(stderr, "%s: %s\n", what, set && error.message ? error.message : "no error set");
    exit(1);
}
#define CHECK(call)                                                                                                  \
    do {                                                                                                             \
        if (!(call))                                                                                                 \
            fail(#call);                                                                                             \
    } while (0)

static realm_value_t text_value(const char* text)
{
    return (realm_value_t){.string = {text, strlen(text)}, .type = RLM_TYPE_STRING};
}
static realm_value_t optional_text(const char* text)
{
    return *text ? text_value(text) : (realm_value_t){.type = RLM_TYPE_NULL};
}
static realm_value_t number_value(double number)
{
    return (realm_value_t){.dnum = number, .type = RLM_TYPE_DOUBLE};
}

/* ---------------------------------------------------------------- schema */

#define PROPERTY(n, t, target, f)                                                                                    \
    {                                                                                                                \
        .name = n, .public_name = "", .type = RLM_PROPERTY_TYPE_##t, .collection_type = RLM_COLLECTION_TYPE_NONE,    \
        .link_target = target, .link_origin_property_name = "", .key = RLM_INVALID_PROPERTY_KEY, .flags = f          \
    }
static const realm_property_info_t airport_properties[] = {
    PROPERTY("icao", STRING, "", RLM_PROPERTY_PRIMARY_KEY),
    PROPERTY("iata", STRING, "", RLM_PROPERTY_NULLABLE | RLM_PROPERTY_INDEXED),
    PROPERTY("name", STRING, "", RLM_PROPERTY_NORMAL),
    PROPERTY("city", STRING, "", RLM_PROPERTY_INDEXED),
    PROPERTY("subdivision", STRING, "", RLM_PROPERTY_NORMAL),
    PROPERTY("elevation", DOUBLE, "", RLM_PROPERTY_NORMAL),
    PROPERTY("latitude", DOUBLE, "", RLM_PROPERTY_NORMAL),
    PROPERTY("longitude", DOUBLE, "", RLM_PROPERTY_NORMAL),
    PROPERTY("timezone", STRING, "", RLM_PROPERTY_NORMAL),
    PROPERTY("country", OBJECT, "Country", RLM_PROPERTY_NULLABLE)};
static const realm_property_info_t country_properties[] = {
    PROPERTY("code", STRING, "", RLM_PROPERTY_PRIMARY_KEY), PROPERTY("name", STRING, "", RLM_PROPERTY_INDEXED)};
static const realm_class_info_t classes[] = {
    {.name = "Airport", .primary_key = "icao", .num_properties = 10, .key = RLM_INVALID_CLASS_KEY},
    {.name = "Country", .primary_key = "code", .num_properties = 2, .key = RLM_INVALID_CLASS_KEY}};
static const realm_property_info_t* properties[] = {airport_properties, country_properties};

/* the fields of the exported text; the properties of Airport are in the same order, but for the two of the country */
enum { ICAO, IATA, NAME, CITY, SUBDIVISION, CODE, COUNTRY_NAME, ELEVATION, LATITUDE, LONGITUDE, TIMEZONE, FIELDS };

typedef struct world {
    realm_t* realm;
    realm_class_key_t airport, country;
    realm_property_key_t icao, iata, name, city, subdivision, elevation, latitude, longitude, timezone, in_country;
    realm_property_key_t code, country_name;
} world_t;

static realm_class_key_t class_key(realm_t* realm, const char* name)
{
    realm_class_info_t info;
    bool found = false;
    CHECK(rlm.find_class(realm, name, &found, &info) && found);
    return info.key;
}
static realm_property_key_t property_key(realm_t* realm, realm_class_key_t class, const char* name)
{
    realm_property_info_t info;
    bool found = false;
    CHECK(rlm.find_property(realm, class, name, &found, &info) && found);
    return info.key;
}

static world_t open_world(const char* path)
{
    world_t w;
    realm_schema_t* schema = rlm.schema_new(classes, 2, properties);
    realm_config_t* config = rlm.config_new();
    CHECK(schema && config);
    rlm.config_set_path(config, path);
    rlm.config_set_schema(config, schema);
    rlm.config_set_schema_version(config, 1);
    CHECK(w.realm = rlm.open(config));
    rlm.release(config);
    rlm.release(schema);
    w.airport = class_key(w.realm, "Airport");
    w.country = class_key(w.realm, "Country");
    w.icao = property_key(w.realm, w.airport, "icao");
    w.iata = property_key(w.realm, w.airport, "iata");
    w.name = property_key(w.realm, w.airport, "name");
    w.city = property_key(w.realm, w.airport, "city");
    w.subdivision = property_key(w.realm, w.airport, "subdivision");
    w.elevation = property_key(w.realm, w.airport, "elevation");
    w.latitude = property_key(w.realm, w.airport, "latitude");
    w.longitude = property_key(w.realm, w.airport, "longitude");
    w.timezone = property_key(w.realm, w.airport, "timezone");
    w.in_country = property_key(w.realm, w.airport, "country");
    w.code = property_key(w.realm, w.country, "code");
    w.country_name = property_key(w.realm, w.country, "name");
    return w;
}
static void close_world(world_t* w)
{
    CHECK(rlm.close(w->realm));
    rlm.release(w->realm);
}

/* ---------------------------------------------------------------- import */

static char* read_file(const char* path, size_t* lines)
{
    FILE* file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        exit(1);
    }
    long size = ftell(file);
    char* text = malloc((size_t)size + 1);
    rewind(file);
    if (!text || fread(text, 1, (size_t)size, file) != (size_t)size) {
        perror(path);
        exit(1);
    }
    fclose(file);
    text[size] = 0;
    *lines = 0;
    for (const char* p = text; (p = strchr(p, '\n')) != NULL; p++)
        ++*lines;
    return text;
}

static void import_airports(const char* path, const char* data)
{
    size_t total, done = 0, countries = 0;
    char *text = read_file(data, &total), *rest = NULL;
    world_t w = open_world(path);
    const realm_property_key_t keys[] = {w.iata,     w.name,      w.city,     w.subdivision, w.elevation,
                                         w.latitude, w.longitude, w.timezone, w.in_country};
    double started = seconds_now();
    CHECK(rlm.begin_write(w.realm));
    for (char* line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char* field[FIELDS] = {0};
        for (int f = 0; f < FIELDS; f++)
            field[f] = strsep(&line, "\t");
        if (!field[TIMEZONE]) {
            fprintf(stderr, "%s: line %zu has too few fields\n", data, done + 1);
            exit(1);
        }
        bool created = false;
        realm_object_t* country =
            rlm.object_get_or_create_with_primary_key(w.realm, w.country, text_value(field[CODE]), &created);
        CHECK(country);
        if (created) {
            CHECK(rlm.set_value(country, w.country_name, text_value(field[COUNTRY_NAME]), false));
            countries++;
        }
        realm_object_t* airport = rlm.object_create_with_primary_key(w.realm, w.airport, text_value(field[ICAO]));
        CHECK(airport);
        const realm_value_t values[] = {optional_text(field[IATA]),
                                        text_value(field[NAME]),
                                        text_value(field[CITY]),
                                        text_value(field[SUBDIVISION]),
                                        number_value(strtod(field[ELEVATION], NULL)),
                                        number_value(strtod(field[LATITUDE], NULL)),
                                        number_value(strtod(field[LONGITUDE], NULL)),
                                        text_value(field[TIMEZONE]),
                                        {.link = rlm.object_as_link(country), .type = RLM_TYPE_LINK}};
        CHECK(rlm.set_values(airport, 9, keys, values, false));
        rlm.release(airport);
        rlm.release(country);
        progress("importing", ++done, total, started);
    }
    CHECK(rlm.commit(w.realm));
    printf("%s airports in %zu countries, committed to %s\n", with_commas((double)done, 0), countries, path);
    close_world(&w);
    free(text);
}

/* ---------------------------------------------------------------- explore */

static char* copy_text(realm_value_t value, char* out, size_t size)
{
    if (value.type != RLM_TYPE_STRING || !value.string.data)
        snprintf(out, size, "–");
    else
        snprintf(out, size, "%.*s", (int)value.string.size, value.string.data);
    return out;
}

/* one row for an airport; the object is released */
static void airport_row(world_t* w, table_t* t, realm_object_t* airport)
{
    const realm_property_key_t keys[] = {w->icao, w->iata, w->name, w->city, w->elevation};
    realm_value_t v[5], country_name = {.type = RLM_TYPE_NULL};
    char text[5][CELL_BYTES];
    CHECK(airport);
    CHECK(rlm.get_values(airport, 5, keys, v));
    realm_object_t* country = rlm.get_linked_object(airport, w->in_country);
    if (country)
        CHECK(rlm.get_value(country, w->country_name, &country_name));
    table_row(t, copy_text(v[0], text[0], CELL_BYTES), copy_text(v[1], text[1], CELL_BYTES),
              copy_text(v[2], text[2], CELL_BYTES), copy_text(v[3], text[3], CELL_BYTES),
              copy_text(country_name, text[4], CELL_BYTES), with_commas(v[4].dnum, 0));
    rlm.release(country);
    rlm.release(airport);
}
static table_t* airport_table(void)
{
    static const char* const titles[] = {"ICAO", "IATA", "name", "city", "country", ">feet"};
    return table_new(6, titles);
}
static realm_object_t* find_airport(world_t* w, const char* icao)
{
    bool found = false;
    return rlm.object_find_with_primary_key(w->realm, w->airport, text_value(icao), &found);
}

/* the airports that link to a country */
static realm_results_t* airports_of(world_t* w, const char* code)
{
    bool found = false;
    realm_object_t* country = rlm.object_find_with_primary_key(w->realm, w->country, text_value(code), &found);
    CHECK(country);
    realm_results_t* airports = rlm.get_backlinks(country, w->airport, w->in_country);
    CHECK(airports);
    rlm.release(country);
    return airports;
}
/* prints the first rows of `airports` in an order; releases nothing */
static void print_sorted(world_t* w, realm_results_t* airports, const char* order, size_t limit)
{
    size_t count = 0;
    realm_results_t* sorted = rlm.results_sort(airports, order);
    CHECK(sorted && rlm.results_count(sorted, &count));
    table_t* t = airport_table();
    for (size_t i = 0; i < count && i < limit; i++)
        airport_row(w, t, rlm.results_get_object(sorted, i));
    table_print(t);
    if (count > limit)
        printf("  and %zu more\n", count - limit);
    rlm.release(sorted);
}
static size_t count_where(world_t* w, const char* condition)
{
    size_t count = 0;
    realm_query_t* query = rlm.query_parse(w->realm, w->airport, condition, 0, NULL);
    CHECK(query && rlm.query_count(query, &count));
    rlm.release(query);
    return count;
}

typedef struct tally {
    char name[CELL_BYTES];
    size_t airports;
    double average, highest;
} tally_t;
static int more_airports(const void* a, const void* b)
{
    size_t x = ((const tally_t*)a)->airports, y = ((const tally_t*)b)->airports;
    return x < y ? 1 : x > y ? -1 : 0;
}
static void print_countries(world_t* w, size_t limit)
{
    static const char* const titles[] = {"country", ">airports", ">average feet", ">highest"};
    size_t count = 0;
    bool found;
    realm_results_t* countries = rlm.object_find_all(w->realm, w->country);
    CHECK(countries && rlm.results_count(countries, &count));
    tally_t* tallies = calloc(count + 1, sizeof *tallies);
    CHECK(tallies);
    for (size_t i = 0; i < count; i++) {
        realm_value_t name, value;
        realm_object_t* country = rlm.results_get_object(countries, i);
        CHECK(country && rlm.get_value(country, w->country_name, &name));
        copy_text(name, tallies[i].name, CELL_BYTES);
        realm_results_t* airports = rlm.get_backlinks(country, w->airport, w->in_country);
        CHECK(airports && rlm.results_count(airports, &tallies[i].airports));
        CHECK(rlm.results_average(airports, w->elevation, &value, &found));
        tallies[i].average = value.dnum;
        CHECK(rlm.results_max(airports, w->elevation, &value, &found));
        tallies[i].highest = value.dnum;
        rlm.release(airports);
        rlm.release(country);
    }
    rlm.release(countries);
    qsort(tallies, count, sizeof *tallies, more_airports);
    table_t* t = table_new(4, titles);
    for (size_t i = 0; i < count && i < limit; i++)
        table_row(t, tallies[i].name, with_commas((double)tallies[i].airports, 0), with_commas(tallies[i].average, 0),
                  with_commas(tallies[i].highest, 0));
    table_print(t);
    free(tallies);
}

static void explore(const char* path)
{
    static const char* const some[] = {"SPJC", "LFPG", "KJFK", "RJTT", "BIKF"};
    static const char* const titles[] = {"condition", ">airports"};
    static const char* const conditions[] = {
        "elevation > 10000",         "elevation < 0", "name CONTAINS[c] 'international'", "timezone BEGINSWITH 'Europe/'",
        "latitude > 66.5622",        "iata != nil",   "city == 'London' AND iata != nil",
        "NOT (latitude BETWEEN {-60, 60})"};
    world_t w = open_world(path);
    size_t airports = 0;
    bool found;
    realm_value_t value;
    printf("\nlibrealm %s, opened %s\n\nBy key\n", rlm.get_library_version(), path);
    table_t* t = airport_table();
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        airport_row(&w, t, find_airport(&w, some[i]));
    table_print(t);

    printf("\nThe highest airports of Peru\n");
    realm_results_t* peru = airports_of(&w, "PE");
    print_sorted(&w, peru, "elevation DESC, icao ASC", 8);
    CHECK(rlm.results_average(peru, w.elevation, &value, &found));
    printf("  on average they lie at %s feet\n", with_commas(value.dnum, 0));
    rlm.release(peru);

    printf("\nThe airports of Iceland by name\n");
    realm_results_t* iceland = airports_of(&w, "IS");
    print_sorted(&w, iceland, "name ASC", 8);
    rlm.release(iceland);

    printf("\nCountries by number of airports\n");
    print_countries(&w, 8);

    printf("\nHow many airports ...\n");
    t = table_new(2, titles);
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
        table_row(t, conditions[i], with_commas((double)count_where(&w, conditions[i]), 0));
    CHECK(rlm.get_num_objects(w.realm, w.airport, &airports));
    table_row(t, "all", with_commas((double)airports, 0));
    table_print(t);
    close_world(&w);
}

/* ---------------------------------------------------------------- change */

static void print_elevation(world_t* w, const char* who, const char* icao)
{
    realm_value_t name, elevation;
    char text[CELL_BYTES];
    realm_object_t* airport = find_airport(w, icao);
    CHECK(airport && rlm.get_value(airport, w->name, &name) && rlm.get_value(airport, w->elevation, &elevation));
    printf("  %-16s %s: %s, %s feet\n", who, icao, copy_text(name, text, sizeof text), with_commas(elevation.dnum, 0));
    rlm.release(airport);
}

static void change(const char* path)
{
    world_t first = open_world(path), second = open_world(path);
    bool advanced = false;
    size_t count = 0;
    printf("\nTwo instances of %s\n", path);
    print_elevation(&first, "first", "SPJC");
    print_elevation(&second, "second", "SPJC");

    printf("The first one commits a new name and elevation\n");
    CHECK(rlm.begin_write(first.realm));
    realm_object_t* airport = find_airport(&first, "SPJC");
    CHECK(airport && rlm.set_value(airport, first.name, text_value("Jorge Chávez International Airport"), false));
    CHECK(rlm.set_value(airport, first.elevation, number_value(112), false));
    rlm.release(airport);
    CHECK(rlm.commit(first.realm));
    print_elevation(&first, "first", "SPJC");
    print_elevation(&second, "second, before", "SPJC");
    CHECK(rlm.refresh(second.realm, &advanced));
    print_elevation(&second, "second, after", "SPJC");

    printf("The first one deletes the airports of Iceland, and rolls that back\n");
    CHECK(rlm.begin_write(first.realm));
    realm_results_t* iceland = airports_of(&first, "IS");
    CHECK(rlm.results_count(iceland, &count));
    for (; count > 0; count--) { /* backlinks are live: the next one moves to the front */
        airport = rlm.results_get_object(iceland, 0);
        CHECK(airport && rlm.object_delete(airport));
        rlm.release(airport);
    }
    CHECK(rlm.results_count(iceland, &count));
    printf("  in the transaction: %zu airports\n", count);
    CHECK(rlm.rollback(first.realm));
    rlm.release(iceland);
    iceland = airports_of(&first, "IS");
    CHECK(rlm.results_count(iceland, &count));
    printf("  after the rollback: %zu airports\n", count);
    rlm.release(iceland);
    close_world(&second);
    close_world(&first);
}

/* ---------------------------------------------------------------- summary and main */

static void summary(const char* path)
{
    world_t w = open_world(path);
    size_t airports = 0, countries = 0, in_peru = 0;
    bool found;
    realm_value_t sum, north, name;
    char text[CELL_BYTES];
    realm_results_t* all = rlm.object_find_all(w.realm, w.airport);
    CHECK(all && rlm.results_count(all, &airports) && rlm.get_num_objects(w.realm, w.country, &countries));
    CHECK(rlm.results_sum(all, w.elevation, &sum, &found) && rlm.results_max(all, w.latitude, &north, &found));
    realm_results_t* peru = airports_of(&w, "PE");
    CHECK(rlm.results_count(peru, &in_peru));
    realm_object_t* lima = find_airport(&w, "SPJC");
    CHECK(lima && rlm.get_value(lima, w.name, &name));
    printf("%zu airports, %zu countries, %zu in Peru, elevations %.1f, northernmost %.4f, SPJC %s\n", airports, countries,
           in_peru, sum.dnum, north.dnum, copy_text(name, text, sizeof text));
    rlm.release(lima);
    rlm.release(peru);
    rlm.release(all);
    close_world(&w);
}

int main(int argc, char** argv)
{
    const char *library = getenv("REALM_LIBRARY"), *verb = argc > 1 ? argv[1] : "";
    if (argc != (strcmp(verb, "import") ? 3 : 4)) {
        fprintf(stderr, "usage: airports import FILE DATA | explore FILE | change FILE | summary FILE\n");
        return 2;
    }
    if (!load_realm(library ? library : "librealm.so"))
        return 1;
    if (!strcmp(verb, "import"))
        import_airports(argv[2], argv[3]);
    else if (!strcmp(verb, "explore"))
        explore(argv[2]);
    else if (!strcmp(verb, "change"))
        change(argv[2]);
    else if (!strcmp(verb, "summary"))
        summary(argv[2]);
    else {
        fprintf(stderr, "airports: no such command: %s\n", verb);
        return 2;
    }
    return 0;
}
