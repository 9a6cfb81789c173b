#include "CKernelsLinks.h"

#include <string.h>

/* The `count` bytes before `end`, big-endian. */
static inline uint64_t bytes_before(const uint8_t *end, size_t count) {
    if (count == 0) return 0;
    uint64_t word;
    memcpy(&word, end - 8, 8);
    word = __builtin_bswap64(word);
    return count < 8 ? word & ((1ull << count * 8) - 1) : word;
}

static inline size_t offset(const ck_link_entries *entries, size_t entry) {
    uint16_t value;
    memcpy(&value, (const uint8_t *)entries->offsets + entry * 2, 2);
    return value;
}

/* The own bytes of an entry; missing ones, as only damaged entries have them, count as none. */
static inline __attribute__((always_inline)) uint64_t number(const ck_link_entries *entries,
                                                             size_t entry, size_t own,
                                                             size_t length, bool has_offsets) {
    if (!has_offsets) return bytes_before(entries->suffixes + entry * length + own, own);
    size_t start = offset(entries, entry), bytes = offset(entries, entry + 1) - start;
    if (bytes > own) bytes = own;
    return bytes_before(entries->suffixes + start + bytes, bytes);
}

/* What is stored does not depend on what was stored before: a sum in memory would take as long as a store and
 * a load for each entry. */
static inline __attribute__((always_inline)) size_t count_links(
    const ck_link_entries *entries, size_t first, size_t end, size_t rows, uint32_t *counts,
    ck_link_run *run, size_t own, size_t length, bool has_offsets) {
    const uint64_t base = entries->base;
    uint64_t last = run->row;
    size_t start = first - run->count, entry = first;
    for (; entry < end; entry++) {
        uint64_t row = base + number(entries, entry, own, length, has_offsets);
        if (row >= rows) {
            if ((int64_t)row >= 0) break;
            continue;
        }
        start = row == last ? start : entry;
        counts[row] = (uint32_t)(entry - start + 1);
        last = row;
    }
    run->row = last;
    run->count = (uint32_t)(entry - start);
    return entry;
}

size_t ck_count_links(const ck_link_entries *entries, size_t first, size_t end, size_t rows,
                      uint32_t *counts, ck_link_run *run) {
    const size_t own = entries->own, length = entries->length;
    bool has_offsets = entries->offsets != NULL;
#define COUNT(OWN, LENGTH, HAS_OFFSETS)                                                            \
    return count_links(entries, first, end, rows, counts, run, OWN, LENGTH, HAS_OFFSETS)
    if (has_offsets) {
        if (own == 2) COUNT(2, 0, true);
        if (own == 3) COUNT(3, 0, true);
        COUNT(own, 0, true);
    }
    if (own == 2 && length == 2) COUNT(2, 2, false);
    if (own == 3 && length == 3) COUNT(3, 3, false);
    COUNT(own, length, false);
}
