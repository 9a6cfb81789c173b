/* bench.h - what the benchmark programs of all engines share: clock, report lines, random numbers, the data of a
 * Person, the list of workloads and the loop that runs it.
 *
 * Not here: anything that knows an engine. Included once by each program (bench_realm has several C files; only the
 * one that defines BENCH_MAIN gets the loop).
 *
 * A program prints to stdout one line a measure: name<TAB>seconds<TAB>operations (seconds = time of them all).
 * A name that ends in _bytes carries a byte count in the third column and 0 seconds. A row that could not run prints
 * its name, then "not_supported" or "failed", then 0. Remarks ("# ...") go to stderr.
 */
#ifndef BENCH_H
#define BENCH_H
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <unistd.h>
#ifdef BENCH_CALLGRIND
#include <valgrind/callgrind.h>
#endif

/* ---------------------------------------------------------------- state, shared by the C files of one program */

struct bench {
    size_t n;         /* objects of each class */
    const char* path; /* the database file */
    bool fresh;       /* the data is as inserted, so counts can be checked */
    bool variants;    /* also time the forms whose names have a dot */
    uint64_t rng;
    clockid_t clock; /* wall time, or with BENCH_CLOCK=cpu processor time of the process */
    jmp_buf failed; /* where a failing workload returns to */
    int status;     /* exit status so far */
    unsigned dumps; /* of callgrind, see Benchmarks/instructions */
};
extern struct bench B;

/* A prime, so that steps of it lead through all of n objects in no order. */
enum { UNORDERED_STEP = 7368787 };

typedef struct workload {
    const char* name;
    void (*fn)(void);
    bool by_default; /* part of "all" */
} workload_t;

/* ---------------------------------------------------------------- measuring and reporting */

static inline double now(void)
{
    struct timespec t;
#ifdef BENCH_CALLGRIND
    /* A dump of what was executed since the last look at the clock; report() says what it was. */
    B.dumps++;
    CALLGRIND_DUMP_STATS;
#endif
    clock_gettime(B.clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline void report(const char* name, double seconds, size_t ops)
{
#ifdef BENCH_CALLGRIND
    fprintf(stderr, "# dump %u %s %zu\n", B.dumps, name, ops);
#endif
    printf("%s\t%.9f\t%zu\n", name, seconds, ops);
    fflush(stdout);
}

/* Ends the running workload; `supported` false marks work that the engine says it does not do yet. */
static inline _Noreturn void bench_fail(bool supported, const char* what, const char* why)
{
    fprintf(stderr, "%s: %s: %s\n", supported ? "FAILED" : "# not supported", what, why);
    longjmp(B.failed, supported ? 1 : 2);
}

static inline void expect(const char* name, size_t got, size_t want)
{
    char text[96];
    fprintf(stderr, "# %s result=%zu%s\n", name, got, B.fresh ? "" : " (not checked)");
    if (B.fresh && got != want) {
        snprintf(text, sizeof text, "got %zu, expected %zu", got, want);
        bench_fail(true, name, text);
    }
}

static inline void expect_double(const char* name, double got, double want)
{
    char text[96];
    fprintf(stderr, "# %s result=%.17g%s\n", name, got, B.fresh ? "" : " (not checked)");
    if (B.fresh && got != want) {
        snprintf(text, sizeof text, "got %.17g, expected %.17g", got, want);
        bench_fail(true, name, text);
    }
}

static inline size_t proc_status_kb(const char* field)
{
    char line[256];
    size_t kb = 0, n = strlen(field);
    FILE* f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, field, n))
            kb = strtoul(line + n + 1, NULL, 10);
    if (f)
        fclose(f);
    return kb;
}

static inline size_t file_bytes(const char* path, const char* suffix)
{
    char name[4200];
    struct stat st;
    snprintf(name, sizeof name, "%s%s", path, suffix);
    return stat(name, &st) ? 0 : (size_t)st.st_size;
}

/* ---------------------------------------------------------------- the data */

/* xorshift64*, the same sequence for every engine */
static inline uint64_t rnd(void)
{
    B.rng ^= B.rng >> 12;
    B.rng ^= B.rng << 25;
    B.rng ^= B.rng >> 27;
    return B.rng * 2685821657736338717ull;
}

enum { NAME_LEN = 14, CODE_LEN = 16, NUM_DEPTS = 100 };

/* "person-" and seven digits */
static inline void person_name(char* out, size_t i)
{
    memcpy(out, "person-0000000", NAME_LEN + 1);
    for (int p = NAME_LEN - 1; i; i /= 10)
        out[p--] = (char)('0' + i % 10);
}
static inline int64_t person_age(size_t i) { return (int64_t)(i * 7919 % 100); }
static inline double person_score(size_t i) { return (double)i * 0.5; }
/* Among `n` persons: the first with this age (19 * 79 is 1 modulo 100), how many have it, and the mean of their scores. */
static inline size_t first_of_age(int64_t age) { return (size_t)age * 79 % 100; }
static inline size_t count_of_age(int64_t age, size_t n) { return (n + 99 - first_of_age(age)) / 100; }
static inline double mean_of_age(int64_t age, size_t n)
{
    return 0.5 * ((double)first_of_age(age) + 50.0 * (double)(count_of_age(age, n) - 1));
}
static inline int64_t person_birth(size_t i) { return 1500000000 + (int64_t)i; }
static inline bool person_active(size_t i) { return i % 3 == 0; }

/* sixteen hexadecimal digits in an order that looks random: payload of events, key of Coded */
static inline void hex_code(char* out, size_t i)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t h = (i + 1) * 0x9E3779B97F4A7C15ull;
    for (int b = 0; b < CODE_LEN; b++, h >>= 4)
        out[b] = digits[h & 15];
}

/* position j of the scattered order of n; a permutation, as 7919 is prime (unless it divides n) */
static inline size_t shuffled(size_t j, size_t n) { return j * 7919 % n; }
static inline size_t scattered(size_t j) { return shuffled(j, B.n); }

static inline size_t sum_of_ages(void)
{
    size_t sum = 0;
    for (size_t i = 0; i < B.n; i++)
        sum += (size_t)person_age(i);
    return sum;
}
static inline size_t count_ages(int64_t from, int64_t below)
{
    size_t count = 0;
    for (size_t i = 0; i < B.n; i++)
        count += person_age(i) >= from && person_age(i) < below;
    return count;
}
static inline size_t count_names(const char* needle)
{
    char name[32];
    size_t count = 0;
    for (size_t i = 0; i < B.n; i++) {
        person_name(name, i);
        count += strstr(name, needle) != NULL;
    }
    return count;
}
static inline size_t target_id(void) { return B.n > 777777 ? 777777 : B.n / 2; }

/* texts of eight words, of which some are common and most are rare, out of 20,000 that have four to six letters each */
enum { NOTE_WORDS = 8, VOCABULARY = 20000, NOTE_MAX = NOTE_WORDS * 7, WORD_MIDDLE = 5000 };
static inline size_t note_word(size_t i, size_t w)
{
    uint64_t h = (i * NOTE_WORDS + w + 1) * 0x9E3779B97F4A7C15ull;
    h = (h ^ h >> 32) * 0xD6E8FEB86659FD93ull;
    uint64_t u = (h ^ h >> 29) >> 40; /* 24 bits; their cube favours the first words */
    return (size_t)((u * u >> 24) * u >> 24) * VOCABULARY >> 24;
}
/* three syllables of two letters; words that follow one another begin alike */
static inline size_t spell_word(char* out, size_t word)
{
    static const char syllables[] = "babebibobucacecicocudadedidodufafefifofugagegigoguhahehi";
    const size_t parts[] = {word / 784, word / 28 % 28, word % 28};
    for (int p = 0; p < 3; p++)
        memcpy(out + 2 * p, syllables + 2 * parts[p], 2);
    out[6] = 0;
    return 6;
}
static inline size_t note_text(char* out, size_t i)
{
    char* end = out;
    for (size_t w = 0; w < NOTE_WORDS; w++) {
        if (w)
            *end++ = ' ';
        end += spell_word(end, note_word(i, w));
    }
    return (size_t)(end - out);
}
static inline bool note_has(size_t i, size_t from, size_t below)
{
    for (size_t w = 0; w < NOTE_WORDS; w++)
        if (note_word(i, w) >= from && note_word(i, w) < below)
            return true;
    return false;
}
static inline size_t count_notes(size_t from, size_t below, size_t also)
{
    size_t count = 0;
    for (size_t i = 0; i < B.n; i++)
        count += note_has(i, from, below) && note_has(i, also, also + 1);
    return count;
}
/* A search: words from `from` up to `below`, and word `also`; `prefix` for the first four letters of `from`. */
typedef struct text_search {
    const char* name;
    size_t from, below, also, reps;
    bool prefix;
} text_search_t;
static const text_search_t text_searches[] = {
    {"text_rare", VOCABULARY - 1, VOCABULARY, VOCABULARY - 1, 200, false},
    {"text_common", 0, 1, 0, 20, false},
    {"text_two", 0, 1, WORD_MIDDLE, 50, false},
    {"text_two_common", 0, 1, 1, 20, false},
    {"text_prefix", WORD_MIDDLE / 28 * 28, WORD_MIDDLE / 28 * 28 + 28, WORD_MIDDLE, 20, true},
};
static inline void spell_search(char* out, const text_search_t* search)
{
    size_t n = spell_word(out, search->from);
    if (search->prefix)
        strcpy(out + 4, "*");
    else if (search->also != search->from) {
        out[n++] = ' ';
        spell_word(out + n, search->also);
    }
}
static inline size_t count_search(const text_search_t* s)
{
    size_t count = 0;
    if (!s->prefix)
        return count_notes(s->from, s->below, s->also);
    for (size_t i = 0; i < B.n; i++)
        count += note_has(i, s->from, s->below);
    return count;
}

/* Teams: three scores from 0 to 999, and one to four persons, each as likely as any other. Ranks are scattered. */
enum { TEAM_SCORES = 3, TEAM_CREW_MAX = 4 };
static inline uint64_t mixed(uint64_t i)
{
    uint64_t h = (i + 1) * 0x9E3779B97F4A7C15ull;
    h = (h ^ h >> 32) * 0xD6E8FEB86659FD93ull;
    return h ^ h >> 29;
}
static inline int64_t team_rank(size_t i) { return (int64_t)(mixed(i * 16) % B.n); }
static inline int64_t team_score(size_t i, size_t k) { return (int64_t)(mixed(i * 16 + 1 + k) % 1000); }
static inline size_t team_size(size_t i) { return 1 + mixed(i * 16 + 8) % TEAM_CREW_MAX; }
static inline size_t team_person(size_t i, size_t k) { return mixed(i * 16 + 9 + k) % B.n; }

/* What the queries of teams ask for, and the objects that have it. */
enum { SCORE_ABOVE = 995, AGE_ABOVE = 97, MEMBER_AGE_ABOVE = 90, LINKS_ABOVE = 6 };
static inline int64_t rank_from(void) { return (int64_t)(B.n / 4); }
static inline int64_t rank_below(void) { return rank_from() + (int64_t)(B.n / 100); }
static inline size_t count_ranks(void)
{
    size_t count = 0;
    for (size_t i = 0; i < B.n; i++)
        count += team_rank(i) >= rank_from() && team_rank(i) < rank_below();
    return count;
}
static inline size_t count_scores(void)
{
    size_t count = 0;
    for (size_t i = 0; i < B.n; i++) {
        bool found = false;
        for (size_t k = 0; k < TEAM_SCORES; k++)
            found |= team_score(i, k) > SCORE_ABOVE;
        count += found;
    }
    return count;
}
/* teams with `least` members or more who are older than `age` */
static inline size_t count_crews(int64_t age, size_t least)
{
    size_t count = 0;
    for (size_t i = 0; i < B.n; i++) {
        size_t found = 0;
        for (size_t k = 0; k < team_size(i); k++)
            found += person_age(team_person(i, k)) > age;
        count += found >= least;
    }
    return count;
}
static inline size_t count_sizes(size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < B.n; i++)
        count += team_size(i) == size;
    return count;
}
static inline size_t count_teams_of(size_t person)
{
    size_t count = 0;
    for (size_t i = 0; i < B.n; i++) {
        bool found = false;
        for (size_t k = 0; k < team_size(i); k++)
            found |= team_person(i, k) == person;
        count += found;
    }
    return count;
}
/* persons who are in more than LINKS_ABOVE crews */
static inline size_t count_linked(void)
{
    size_t count = 0;
    uint16_t* links = calloc(B.n, sizeof *links);
    if (!links)
        bench_fail(true, "count_linked", "no memory");
    for (size_t i = 0; i < B.n; i++)
        for (size_t k = 0; k < team_size(i); k++)
            links[team_person(i, k)]++;
    for (size_t i = 0; i < B.n; i++)
        count += links[i] > LINKS_ABOVE;
    free(links);
    return count;
}
/* the least score of the queries that end early: the first hundredth of the persons has less */
static inline double score_from(void) { return person_score(B.n / 100); }

/* the pinned reader: so many small commits over so many scattered objects while one reader holds its version */
enum { PINNED_OBJECTS = 64 };
static inline size_t pinned_commits(void) { return B.n >= 1000000 ? 10000 : B.n / 100; }
static inline size_t pinned_object(size_t i) { return i % PINNED_OBJECTS * (B.n / PINNED_OBJECTS); }

/* objects of one list that are deleted, each through its handle, in the scattered order */
static inline size_t listed_count(void) { return B.n / 10; }

/* dictionaries in the list of a mixed property */
enum { NESTED_ENTRIES = 3 };
static inline size_t nested_count(void) { return B.n / 20; }

/* ---------------------------------------------------------------- the loop */

/* Runs the workloads that `list` names ("all" or names with commas); false when a name is unknown.
 * `recover` brings the engine back to a state in which the next workload can run. */
static inline bool run_workloads(const char* list, const workload_t* table, size_t count, void (*recover)(void))
{
    int chosen[256];
    volatile int n = 0;
    char *names = strdup(list), *clock = getenv("BENCH_CLOCK");
    B.clock = clock && !strcmp(clock, "cpu") ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
    for (char* t = strtok(names, ","); t; t = strtok(NULL, ",")) {
        bool all = !strcmp(t, "all"), known = all;
        for (size_t w = 0; w < count && n < 256; w++)
            if ((all && table[w].by_default) || !strcmp(t, table[w].name)) {
                chosen[n++] = (int)w;
                known = true;
            }
        if (!known) {
            fprintf(stderr, "unknown workload: %s\n", t);
            free(names);
            return false;
        }
    }
    free(names);
    for (volatile int i = 0; i < n; i++) {
        const workload_t* w = &table[chosen[i]];
        int outcome = setjmp(B.failed);
        if (outcome == 0)
            w->fn();
        else {
            printf("%s\t%s\t0\n", w->name, outcome == 2 ? "not_supported" : "failed");
            fflush(stdout);
            if (outcome == 1)
                B.status = 1;
            recover();
        }
        fprintf(stderr, "# mem after %s: peak_rss=%zu kB anon=%zu kB file=%zu kB\n", w->name,
                proc_status_kb("VmHWM:"), proc_status_kb("RssAnon:"), proc_status_kb("RssFile:"));
    }
    return true;
}

static inline bool list_has(const char* list, const char* name)
{
    size_t n = strlen(name);
    for (const char* p = list; (p = strstr(p, name)) != NULL; p += n)
        if ((p == list || p[-1] == ',') && (p[n] == 0 || p[n] == ','))
            return true;
    return false;
}

static inline void report_peak_memory(void)
{
    /* not ru_maxrss: that starts at what the program that started this one occupied */
    report("peak_rss_bytes", 0, proc_status_kb("VmHWM:") * 1024);
    report("anon_bytes", 0, proc_status_kb("RssAnon:") * 1024);
}

#ifdef BENCH_MAIN
struct bench B = {.rng = 88172645463325252ull, .clock = CLOCK_MONOTONIC};
#endif
/* Has the kernel forget what it has read of a file. */
static inline void drop_from_memory(const char* path)
{
    int file = open(path, O_RDONLY);
    if (file < 0)
        return;
    fsync(file);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    close(file);
}

#endif
