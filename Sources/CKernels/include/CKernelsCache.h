/* The bounded memory behind the decrypted blocks of an encrypted file (docs/ENCRYPTION.md, "In memory"). */
#ifndef CKERNELS_CACHE_H
#define CKERNELS_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ck_cache;

struct ck_cache_setup {
    /* Address range of the decrypted pages: reserved, and not accessible. */
    void *base;
    uint64_t pages;
    /* How much of it may have memory behind it. */
    uint64_t bytes_max;
    /* By page: blocks that readers use without asking, and blocks that are known; see
     * `PageMapping.verified` and `Cleartext.check`. */
    uint64_t *marks;
    uint64_t *known;
    /* Decrypts a block again that was known; false when the file no longer has it. Called in a
     * signal handler: takes no lock and no memory. */
    bool (*open)(void *context, uint64_t page, uint32_t count, uint64_t version, uint64_t check,
                 void *target);
    void *context;
};

struct ck_cache_numbers {
    uint64_t resident, decrypted, evicted, faults, lost;
};

/* NULL: no memory. */
struct ck_cache *ck_cache_new(const struct ck_cache_setup *setup);
/* Nobody uses it any more; the caller unmaps the address range afterwards. */
void ck_cache_free(struct ck_cache *cache);

enum ck_cache_state {
    ck_cache_absent,
    ck_cache_here,
    /* Evicted, and not brought back: without memory, or damaged since. Others may hold pointers to it. */
    ck_cache_no_memory,
    ck_cache_damaged,
};

/* What became of this block, which is brought back if it was evicted. */
enum ck_cache_state ck_cache_find(struct ck_cache *cache, uint64_t page, uint32_t count,
                                  uint64_t version);
/* Makes room and memory for a block that nobody reads yet, in the place of what was there; false:
 * there is no memory. `ck_cache_end` follows when the block is there, or isn't. */
bool ck_cache_begin(struct ck_cache *cache, uint64_t page, uint32_t count, uint64_t version);
void ck_cache_end(struct ck_cache *cache, uint64_t page, bool is_there);

/* Reads so many bytes: 0, a code of errno, ENODATA where the file ends before. */
int ck_cache_read(int descriptor, void *target, size_t bytes, uint64_t offset);
/* Memory, and its end, also in a signal handler; NULL: there is none. */
void *ck_cache_map(size_t bytes);
void ck_cache_unmap(void *piece, size_t bytes);
/* Whether a block that some pointer leads to could not be brought back, because the file was damaged. */
bool ck_cache_has_lost(const struct ck_cache *cache);
/* Makes sure that faults come here where there may be some: a program may have put another handler in the place of
 * ours. */
void ck_cache_watch(const struct ck_cache *cache);
void ck_cache_count(struct ck_cache *cache, struct ck_cache_numbers *numbers);

/* Reads a byte, so that its page is there for a system call. */
static inline void ck_touch(const void *p) { (void)*(const volatile char *)p; }

#endif
