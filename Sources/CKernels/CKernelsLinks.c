#include "CKernelsLinks.h"

#include "Kernels.h"

/* The `count` bytes before `end`, big-endian. */
static inline uint64_t bytes_before(const uint8_t *end, size_t count) {
    if (count == 0) return 0;
    const uint64_t word = __builtin_bswap64(load64(end - 8));
    return count < 8 ? word & ((1ull << count * 8) - 1) : word;
}

static inline size_t offset(const ck_link_entries *entries, size_t entry) {
    return load16((const uint8_t *)entries->offsets + entry * 2);
}

/* The own bytes of an entry; missing ones, as only damaged entries have them, count as none. */
INLINE uint64_t number(const ck_link_entries *entries, size_t entry, size_t own, size_t length,
                       bool has_offsets) {
    if (!has_offsets) return bytes_before(entries->suffixes + entry * length + own, own);
    size_t start = offset(entries, entry), bytes = offset(entries, entry + 1) - start;
    if (bytes > own) bytes = own;
    return bytes_before(entries->suffixes + start + bytes, bytes);
}

/* What is stored does not depend on what was stored before: a sum in memory would take as long as a store and
 * a load for each entry. */
INLINE size_t count_links(
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

INLINE uint64_t source(const ck_link_sources *sources, size_t entry) {
    const uint8_t *keys = sources->keys;
    switch (sources->width) {
    case 0: return sources->base;
    case 1: return sources->base + keys[entry];
    case 2: return sources->base + load16(keys + entry * 2);
    case 4: return sources->base + load32(keys + entry * 4);
    default: return sources->base + load64(keys + entry * 8);
    }
}

/* Entries that were found, whose sources are read together: the processor waits for one from memory while it asks for
 * others, which it could not between searches that it has to guess the way of. */
enum { FOUND_MAX = 128, FOUND_AT_ONCE = 16 };

typedef struct {
    size_t count;
    uint32_t entries[FOUND_MAX + FOUND_AT_ONCE];
} found_entries;

static bool count_found(found_entries *found, const ck_link_sources *sources, const ck_link_members *members) {
    uint64_t places[FOUND_MAX + FOUND_AT_ONCE];
    const unsigned width = members->width, shift = (unsigned)__builtin_ctz(width);
    const uint64_t most = (1ull << width) - 1;
    for (size_t i = 0; i < found->count; i++) {
        uint64_t place = source(sources, found->entries[i]);
        if (place >= members->sources) return false;
        places[i] = place << shift;
        __builtin_prefetch(members->counts + (places[i] >> 6), 1);
    }
    for (size_t i = 0; i < found->count; i++) {
        uint64_t *word = members->counts + (places[i] >> 6);
        unsigned place = places[i] & 63;
        *word += (uint64_t)((*word >> place & most) != most) << place;
    }
    found->count = 0;
    return true;
}

/* The first entry from `low` on that is not of a row below `target`, which that before `low` is. */
#define ROW(ENTRY) ((int64_t)(entries->base + number(entries, ENTRY, own, length, has_offsets)))
INLINE size_t search(const ck_link_entries *entries, size_t low, size_t count, int64_t target,
                     size_t own, size_t length, bool has_offsets) {
    size_t step = 1, high = count;
    while (step < count - low && ROW(low + step) < target) {
        low += step + 1;
        step *= 2;
    }
    if (step < count - low) high = low + step;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ROW(middle) < target)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

INLINE bool count_members(
    const ck_link_entries *entries, const ck_link_sources *sources, size_t first, size_t count,
    ck_link_members *members, size_t own, size_t length, bool has_offsets) {
    found_entries found;
    found.count = 0;
    size_t entry = first;
    while (entry < count && members->next < members->end) {
        const int64_t target = members->targets[members->next], row = ROW(entry);
        if (row > target) {
            members->next++;
        } else if (row < target) {
            entry = search(entries, entry + 1, count, target, own, length, has_offsets);
        } else {
            found.entries[found.count++] = (uint32_t)entry++;
            if (found.count == FOUND_MAX && !count_found(&found, sources, members)) return false;
        }
    }
    return count_found(&found, sources, members);
}
#undef ROW

#if defined(__x86_64__)
/* 16 numbers of two bytes, big-endian, as signed ones in the same order. */
AVX2 static inline __m256i two_bytes(const uint8_t *numbers) {
    const __m128i turned = _mm_set_epi8(14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1);
    __m256i raw = _mm256_loadu_si256((const __m256i *)numbers);
    return _mm256_xor_si256(_mm256_shuffle_epi8(raw, _mm256_broadcastsi128_si256(turned)),
                            _mm256_set1_epi16(INT16_MIN));
}

static inline unsigned two_bytes_at(const uint8_t *numbers, size_t place) {
    return (unsigned)numbers[place * 2] << 8 | numbers[place * 2 + 1];
}

/* The first of `count` ascending numbers from `from` on that is not below `least`. Most searches end in the first step, so
 * that it need not be guessed which. */
AVX2 static inline size_t pass_below(const uint8_t *numbers, size_t from, size_t count, unsigned least) {
    const __m256i bound = _mm256_set1_epi16((int16_t)(least ^ 0x8000));
    for (; from + 64 <= count; from += 64) {
        __m256i part[4];
        for (size_t i = 0; i < 4; i++) part[i] = _mm256_cmpgt_epi16(bound, two_bytes(numbers + (from + i * 16) * 2));
        unsigned first = (unsigned)_mm256_movemask_epi8(_mm256_packs_epi16(part[0], part[1]));
        unsigned second = (unsigned)_mm256_movemask_epi8(_mm256_packs_epi16(part[2], part[3]));
        unsigned below = (unsigned)__builtin_popcountll((uint64_t)second << 32 | first);
        if (below < 64) return from + below;
    }
    for (; from + 16 <= count; from += 16) {
        unsigned below = (unsigned)_mm256_movemask_epi8(_mm256_cmpgt_epi16(bound, two_bytes(numbers + from * 2)));
        if (below != UINT32_MAX) return from + (unsigned)__builtin_popcount(below) / 2;
    }
    while (from < count && two_bytes_at(numbers, from) < least) from++;
    return from;
}

/* The same where suffixes are numbers of two bytes, as they are for classes whose objects follow one another. Targets
 * are spread evenly more often than not: the search for one that is not near begins before the place where it would be
 * then. */
AVX2 static bool count_members_of_two_bytes(const ck_link_entries *entries, const ck_link_sources *sources,
                                            size_t first, size_t count, ck_link_members *members) {
    enum { EARLIER = 32, NEAR = 96 };
    const uint8_t *numbers = entries->suffixes, *keys = sources->keys;
    const __m256i places = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    if (first >= count) return true;
    found_entries found;
    found.count = 0;
    size_t entry = first, next = members->next;
    unsigned last = two_bytes_at(numbers, first), covered = two_bytes_at(numbers, count - 1) - last;
    /* Entries for 65,536 numbers. */
    uint64_t density = covered != 0 ? ((count - entry) << 16) / covered : 1;
    while (next < members->end) {
        const int64_t wanted = (int64_t)((uint64_t)members->targets[next] - entries->base);
        if (wanted > UINT16_MAX) break;
        if (wanted < last) {
            next++;
            continue;
        }
        const unsigned least = (unsigned)wanted;
        uint64_t ahead = (least - last) * density >> 16;
        if (ahead > NEAR && ahead < count - entry && two_bytes_at(numbers, entry + ahead - EARLIER) < least)
            entry += ahead - EARLIER;
        entry = pass_below(numbers, entry, count, least);
        if (entry == count) break;
        last = least;
        /* All entries of the target, or as many as fit into a step. */
        size_t length = 0;
        if (count - entry >= FOUND_AT_ONCE) {
            __m256i wanted_now = _mm256_set1_epi16((int16_t)(least ^ 0x8000));
            __m256i equal = _mm256_cmpeq_epi16(two_bytes(numbers + entry * 2), wanted_now);
            length = (size_t)__builtin_ctzll(~(uint64_t)(uint32_t)_mm256_movemask_epi8(equal)) / 2;
        } else {
            while (entry + length < count && two_bytes_at(numbers, entry + length) == least) length++;
        }
        __builtin_prefetch(keys + entry * sources->width);
        __m256i at = _mm256_add_epi32(_mm256_set1_epi32((int)entry), places);
        _mm256_storeu_si256((__m256i *)(found.entries + found.count), at);
        _mm256_storeu_si256((__m256i *)(found.entries + found.count + 8), _mm256_add_epi32(at, _mm256_set1_epi32(8)));
        found.count += length;
        entry += length;
        if (found.count >= FOUND_MAX && !count_found(&found, sources, members)) return false;
        if (entry == count) break;
        next += length < FOUND_AT_ONCE;
    }
    members->next = next;
    return count_found(&found, sources, members);
}
#endif

bool ck_count_members(const ck_link_entries *entries, const ck_link_sources *sources, size_t first,
                      size_t count, ck_link_members *members) {
    const size_t own = entries->own, length = entries->length;
    if (entries->offsets != NULL) return count_members(entries, sources, first, count, members, own, 0, true);
#if defined(__x86_64__)
    if (own == 2 && length == 2 && HAS_AVX2())
        return count_members_of_two_bytes(entries, sources, first, count, members);
#endif
    return count_members(entries, sources, first, count, members, own, length, false);
}

/* A bit of all fields at a time. */
void ck_add_counts(uint64_t *counts, const uint64_t *more, size_t words, unsigned width) {
    const uint64_t most = (1ull << width) - 1, lowest = UINT64_MAX / most;
    for (size_t word = 0; word < words; word++) {
        uint64_t a = counts[word], b = more[word], sum = 0, carry = 0;
        for (unsigned bit = 0; bit < width; bit++) {
            uint64_t x = a >> bit & lowest, y = b >> bit & lowest;
            sum |= (x ^ y ^ carry) << bit;
            carry = (x & y) | (carry & (x ^ y));
        }
        counts[word] = sum | carry * most;
    }
}

void ck_mask_counts(const uint64_t *counts, unsigned width, unsigned low, unsigned high, uint64_t *bits, size_t words) {
    /* What the fields of a byte are. */
    const unsigned fields = 8 / width, most = (1u << width) - 1;
    uint8_t passing[256];
    for (unsigned byte = 0; byte < 256; byte++) {
        unsigned mask = 0;
        for (unsigned field = 0; field < fields; field++) {
            unsigned value = byte >> field * width & most;
            mask |= (unsigned)(value >= low && value <= high) << field;
        }
        passing[byte] = (uint8_t)mask;
    }
    for (size_t word = 0; word < words; word++) {
        uint64_t mask = 0;
        for (unsigned part = 0; part < width; part++) {
            uint64_t all = counts[word * width + part];
            for (unsigned byte = 0; byte < 8; byte++)
                mask |= (uint64_t)passing[all >> byte * 8 & 255] << (part * 8 + byte) * fields;
        }
        bits[word] = mask;
    }
}

void ck_send_for(const void *bytes, size_t count) {
    for (size_t place = 0; place < count; place += 64) __builtin_prefetch((const char *)bytes + place);
}
