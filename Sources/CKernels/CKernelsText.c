#include "Kernels.h"

/* What is done seldom is there once. */
#define SELDOM static __attribute__((noinline))

/* ---- where rows lie */

/* Kind 0: one length, 1: 16-bit offsets, 2: 32-bit offsets; a constant in all loops. */
INLINE size_t row_end(const ck_texts *texts, int kind, size_t row) {
    return kind == 0   ? (row + 1) * texts->length
           : kind == 1 ? load16((const uint8_t *)texts->offsets16 + row * 2 + 2)
                       : load32((const uint8_t *)texts->offsets32 + row * 4 + 4);
}
INLINE int kind_of(const ck_texts *texts) {
    return texts->offsets16 ? 1 : texts->offsets32 ? 2 : 0;
}

INLINE void prefetch_ahead(const ck_texts *texts, const uint8_t *at) {
    __builtin_prefetch((const void *)((uintptr_t)at + (uintptr_t)texts->ahead));
}

#if defined(__x86_64__)
/* Whole vectors only; returns how many bytes it looked at, or SIZE_MAX when one is no ASCII. */
AVX2 static size_t ascii_avx2(const uint8_t *text, size_t count) {
    __m256i any = _mm256_setzero_si256();
    size_t i = 0;
    for (; i + 64 <= count; i += 64) {
        any = _mm256_or_si256(any, _mm256_loadu_si256((const __m256i *)(const void *)(text + i)));
        any = _mm256_or_si256(any,
                              _mm256_loadu_si256((const __m256i *)(const void *)(text + i + 32)));
    }
    return _mm256_movemask_epi8(any) ? SIZE_MAX : i;
}
#endif

bool ck_is_ascii(const uint8_t *text, size_t count) {
#if defined(__x86_64__)
    if (HAS_AVX2()) {
        const size_t seen = ascii_avx2(text, count);
        if (seen == SIZE_MAX) return false;
        text += seen;
        count -= seen;
    }
#endif
    uint64_t any = 0;
    size_t i = 0;
    for (; i + 8 <= count; i += 8) any |= load64(text + i);
    for (; i < count; i++) any |= (uint64_t)text[i] << 56 | text[i];
    return (any & 0x8080808080808080u) == 0;
}

/* ---- needles
 *
 * Compared eight bytes at a time, the last eight first, because texts with a common beginning are
 * common. Without case, bit 5 is set in the text where the needle has a letter: a byte then equals
 * the lower-case letter exactly if it is one of its two forms. */

INLINE uint8_t fold_of(uint8_t c, bool nocase) { return nocase && c >= 'a' && c <= 'z' ? 0x20 : 0; }

typedef struct {
    const uint8_t *bytes;
    size_t count;
    uint64_t last, last_fold, keep; /* the last eight bytes, or all: then `keep` cuts */
    uint64_t first, first_fold;     /* the first eight, of needles of nine bytes and more */
} probe;

SELDOM probe make_probe(const uint8_t *bytes, size_t count, bool nocase) {
    probe p = {bytes, count, 0, 0, 0, 0, 0};
    const size_t n = count < 8 ? count : 8;
    for (size_t i = 0; i < n; i++) {
        const uint8_t c = bytes[count - n + i], d = bytes[i];
        p.last |= (uint64_t)c << i * 8;
        p.last_fold |= (uint64_t)fold_of(c, nocase) << i * 8;
        p.first |= (uint64_t)d << i * 8;
        p.first_fold |= (uint64_t)fold_of(d, nocase) << i * 8;
        p.keep |= (uint64_t)0xFF << i * 8;
    }
    return p;
}

INLINE bool same_bytes(const uint8_t *a, const probe *p, size_t from, size_t to, bool nocase) {
    for (size_t i = from; i < to; i++)
        if ((a[i] | fold_of(p->bytes[i], nocase)) != p->bytes[i]) return false;
    return true;
}

/* Whether the needle stands at `a`, behind which `room` bytes may be read. */
INLINE bool same(const uint8_t *a, const probe *p, size_t room, bool nocase) {
    const size_t count = p->count;
    if (count >= 8) {
        if ((load64(a + count - 8) | (nocase ? p->last_fold : 0)) != p->last) return false;
        if (count == 8) return true;
        if ((load64(a) | (nocase ? p->first_fold : 0)) != p->first) return false;
        return count <= 16 || same_bytes(a, p, 8, count - 8, nocase);
    }
    if (room >= 8) return ((load64(a) | (nocase ? p->last_fold : 0)) & p->keep) == p->last;
    return same_bytes(a, p, 0, count, nocase);
}

/* ---- whole rows, beginnings, ends. Matches are rare, so a branch that is not taken is cheaper
 * than arithmetic on the result. There is no call for one either: where most rows match, calls
 * took two thirds of the time. */

enum { EQUAL, BEGINS, ENDS };

INLINE void mask_row(const ck_texts *texts, int kind, int op, const probe *p, size_t heap_end,
                     size_t row, bool nocase, uint64_t *mask) {
    const size_t begin = row ? row_end(texts, kind, row - 1) : 0, end = row_end(texts, kind, row);
    if (op == EQUAL ? end - begin != p->count : end - begin < p->count) return;
    const size_t place = op == ENDS ? end - p->count : begin;
    if (same(texts->heap + place, p, heap_end - place, nocase)) mask[row / 64] |= 1ull << (row % 64);
}

/* Rows of any length. Lengths vary without rule, so they are not branched on: length and eight
 * bytes are compared together, and what passes is looked at again. */
INLINE void mask_rows(const ck_texts *texts, int kind, int op, const uint8_t *needle, size_t count,
                      bool nocase, uint64_t *mask) {
    const uint8_t *heap = texts->heap;
    const size_t rows = texts->rows;
    const probe p = make_probe(needle, count, nocase);
    const size_t heap_end = rows ? row_end(texts, kind, rows - 1) : 0;
    const uint64_t fold = nocase ? p.last_fold : 0;
    /* The eight bytes end with the row, or begin with it or end with the needle in it. */
    const bool at_end = op != BEGINS;
    const size_t shift = at_end && count < 8 ? (8 - count) * 8 : 0;
    const size_t skip = count > 8 ? count - 8 : 0;
    if (kind && texts->ahead)
        for (size_t at = 0; at < rows * (kind == 1 ? 2 : 4); at += 64)
            prefetch_ahead(texts, (const uint8_t *)(kind == 1 ? texts->offsets16
                                                               : texts->offsets32) + at);
    size_t row = 0, start = 0;
    if (at_end)
        for (; row < rows && row_end(texts, kind, row) < 8; row++)
            mask_row(texts, kind, op, &p, heap_end, row, nocase, mask);
    if (row) start = row_end(texts, kind, row - 1);
    for (; row < rows; row++) {
        const size_t end = row_end(texts, kind, row), begin = start;
        if (!at_end && begin + skip + 8 > heap_end) break;
        prefetch_ahead(texts, heap + begin);
        start = end;
        uint64_t word = load64(heap + (at_end ? end - 8 : begin + skip));
        word = at_end ? (word >> shift | fold) : ((word | fold) & p.keep);
        const size_t length = end - begin;
        if ((op == EQUAL ? length == count : length >= count) & (count == 0 || word == p.last))
            mask_row(texts, kind, op, &p, heap_end, row, nocase, mask);
    }
    for (; row < rows; row++) mask_row(texts, kind, op, &p, heap_end, row, nocase, mask);
}

/* Rows of one length: eight bytes of each, four rows a turn, so that many cache lines are on their
 * way at a time. `offset` is where the needle stands in a row. */
INLINE void mask_fixed(const ck_texts *texts, size_t offset, const uint8_t *needle, size_t count,
                       bool nocase, uint64_t *mask) {
    const size_t length = texts->length, rows = texts->rows;
    const probe p = make_probe(needle, count, nocase);
    const uint64_t fold = nocase ? p.last_fold : 0, last = p.last;
    const uint8_t *at = texts->heap + offset + count - 8;
    size_t row = 0;
    for (; row + 4 <= rows; row += 4, at += 4 * length) {
        prefetch_ahead(texts, at);
        const uint64_t w0 = load64(at) | fold, w1 = load64(at + length) | fold;
        const uint64_t w2 = load64(at + 2 * length) | fold, w3 = load64(at + 3 * length) | fold;
        if ((w0 != last) & (w1 != last) & (w2 != last) & (w3 != last)) continue;
        for (size_t i = 0; i < 4; i++)
            if (same(at + i * length - (count - 8), &p, 8, nocase))
                mask[(row + i) / 64] |= 1ull << ((row + i) % 64);
    }
    for (; row < rows; row++, at += length)
        if (same(at - (count - 8), &p, 8, nocase)) mask[row / 64] |= 1ull << (row % 64);
}

INLINE void mask_one_length(const ck_texts *texts, int op, const uint8_t *needle, size_t count,
                            bool nocase, uint64_t *mask) {
    if (op == EQUAL ? texts->length != count : texts->length < count) return;
    if (count < 8) {
        mask_rows(texts, 0, op, needle, count, nocase, mask);
        return;
    }
    const size_t offset = op == ENDS ? texts->length - count : 0;
    if (nocase)
        mask_fixed(texts, offset, needle, count, true, mask);
    else
        mask_fixed(texts, offset, needle, count, false, mask);
}

#define ROWS(NAME, OP)                                                                             \
    void NAME(const ck_texts *texts, const uint8_t *needle, size_t count, bool nocase,             \
              uint64_t *mask) {                                                                    \
        memset(mask, 0, (texts->rows + 63) / 64 * 8);                                              \
        switch (kind_of(texts)) {                                                                  \
        case 0: mask_one_length(texts, OP, needle, count, nocase, mask); break;                    \
        case 1: mask_rows(texts, 1, OP, needle, count, nocase, mask); break;                       \
        default: mask_rows(texts, 2, OP, needle, count, nocase, mask);                             \
        }                                                                                          \
    }
ROWS(ck_mask_equal, EQUAL)
ROWS(ck_mask_begins, BEGINS)
ROWS(ck_mask_ends, ENDS)

/* ---- substrings: one pass over all rows' bytes, comparing the first, the last and one more byte
 * of the needle over whole vectors; what passes is compared in full and looked up in its row */

typedef struct {
    const ck_texts *texts;
    probe needle;
    size_t heap_end;
    uint64_t *mask;
    uint64_t inverse; /* kind 0: 2^32 / length, rounded up */
    size_t row;       /* kinds 1, 2: the row of the last hit; hits ascend */
} search;

/* Takes in that the needle may stand at `at`. */
INLINE void take(search *s, int kind, size_t at, bool nocase, bool sure) {
    size_t row, end;
    if (!sure && !same(s->texts->heap + at, &s->needle, s->heap_end - at, nocase)) return;
    if (kind == 0) {
        /* Exact while at * length < 2^32; leaves are far smaller. */
        row = (size_t)((uint64_t)at * s->inverse >> 32);
        end = (row + 1) * s->texts->length;
    } else {
        /* Steps that double, then halves: the first row that ends behind `at`. */
        size_t low = s->row, step = 1, high;
        const size_t rows = s->texts->rows;
        while (low + step < rows && row_end(s->texts, kind, low + step) <= at) {
            low += step;
            step *= 2;
        }
        high = low + step < rows ? low + step : rows - 1;
        while (low < high) {
            const size_t middle = (low + high) / 2;
            if (row_end(s->texts, kind, middle) <= at)
                low = middle + 1;
            else
                high = middle;
        }
        row = s->row = low;
        end = row_end(s->texts, kind, row);
    }
    if (at + s->needle.count <= end) s->mask[row / 64] |= 1ull << (row % 64);
}

SELDOM void search_scalar(search *s, int kind, size_t from, size_t end, bool nocase) {
    const uint8_t *heap = s->texts->heap;
    const uint8_t first = s->needle.bytes[0], fold = fold_of(first, nocase);
    for (size_t i = from; i < end; i++)
        if ((heap[i] | fold) == first) take(s, kind, i, nocase, false);
}

#if defined(__x86_64__)

AVX2 INLINE uint32_t hits32(const uint8_t *p, size_t middle, size_t last, __m256i a, __m256i b,
                            __m256i c, __m256i fa, __m256i fb, __m256i fc, bool nocase) {
    __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)p);
    __m256i y = _mm256_loadu_si256((const __m256i *)(const void *)(p + middle));
    __m256i z = _mm256_loadu_si256((const __m256i *)(const void *)(p + last));
    if (nocase) {
        x = _mm256_or_si256(x, fa);
        y = _mm256_or_si256(y, fb);
        z = _mm256_or_si256(z, fc);
    }
    return (uint32_t)_mm256_movemask_epi8(_mm256_and_si256(
        _mm256_cmpeq_epi8(x, a), _mm256_and_si256(_mm256_cmpeq_epi8(y, b), _mm256_cmpeq_epi8(z, c))));
}

AVX2 INLINE void search_avx2(search *s, int kind, bool nocase) {
    /* A copy: what `take` reaches would be read anew for each vector. */
    const ck_texts texts = *s->texts;
    const uint8_t *heap = texts.heap;
    const uint8_t *needle = s->needle.bytes;
    const size_t count = s->needle.count, last = count - 1, middle = last / 2;
    const size_t end = s->heap_end - last; /* places where the needle fits */
    const bool sure = count <= 3 && !nocase;
    const __m256i a = _mm256_set1_epi8((char)needle[0]);
    const __m256i b = _mm256_set1_epi8((char)needle[middle]);
    const __m256i c = _mm256_set1_epi8((char)needle[last]);
    const __m256i fa = _mm256_set1_epi8((char)fold_of(needle[0], nocase));
    const __m256i fb = _mm256_set1_epi8((char)fold_of(needle[middle], nocase));
    const __m256i fc = _mm256_set1_epi8((char)fold_of(needle[last], nocase));
    size_t i = 0;
    for (; i + 64 <= end; i += 64) {
        prefetch_ahead(&texts, heap + i);
        uint64_t hits =
            hits32(heap + i, middle, last, a, b, c, fa, fb, fc, nocase) |
            (uint64_t)hits32(heap + i + 32, middle, last, a, b, c, fa, fb, fc, nocase) << 32;
        /* As hits are seldom, the vectors above stay in registers. */
        while (__builtin_expect(hits != 0, 0)) {
            take(s, kind, i + (size_t)__builtin_ctzll(hits), nocase, sure);
            hits &= hits - 1;
        }
    }
    for (; i + 32 <= end; i += 32) {
        uint32_t hits = hits32(heap + i, middle, last, a, b, c, fa, fb, fc, nocase);
        while (hits) {
            take(s, kind, i + (size_t)__builtin_ctz(hits), nocase, sure);
            hits &= hits - 1;
        }
    }
    if (i == end) return;
    if (end < 32) {
        search_scalar(s, kind, i, end, nocase);
        return;
    }
    /* The last vector overlaps the one before it; rows of hits must not go back. */
    uint32_t hits = hits32(heap + end - 32, middle, last, a, b, c, fa, fb, fc, nocase);
    hits &= ~0u << (32 - (end - i));
    while (hits) {
        take(s, kind, end - 32 + (size_t)__builtin_ctz(hits), nocase, sure);
        hits &= hits - 1;
    }
}

#define SEARCH_AVX2(KIND)                                                                          \
    AVX2 static void search_avx2_##KIND(search *s, bool nocase) {                                  \
        if (nocase)                                                                                \
            search_avx2(s, KIND, true);                                                            \
        else                                                                                       \
            search_avx2(s, KIND, false);                                                           \
    }
SEARCH_AVX2(0)
SEARCH_AVX2(1)
SEARCH_AVX2(2)

#endif

void ck_mask_contains(const ck_texts *texts, const uint8_t *needle, size_t count, bool nocase,
                      uint64_t *mask) {
    const int kind = kind_of(texts);
    search s = {texts, make_probe(needle, count, nocase), 0, mask, 0, 0};
    memset(mask, 0, (texts->rows + 63) / 64 * 8);
    if (!texts->rows) return;
    s.heap_end = row_end(texts, kind, texts->rows - 1);
    if (s.heap_end < count || (kind == 0 && texts->length < count)) return;
    if (kind == 0) s.inverse = ((1ull << 32) + texts->length - 1) / texts->length;
#if defined(__x86_64__)
    if (HAS_AVX2()) {
        switch (kind) {
        case 0: search_avx2_0(&s, nocase); break;
        case 1: search_avx2_1(&s, nocase); break;
        default: search_avx2_2(&s, nocase);
        }
        return;
    }
#endif
    search_scalar(&s, kind, 0, s.heap_end - count + 1, nocase);
}

bool ck_contains(const uint8_t *text, size_t text_count, const uint8_t *needle, size_t count) {
    /* One row whose end its length tells. */
    ck_texts one = {text, 1, text_count, NULL, NULL, 0};
    uint64_t mask;
    if (text_count < count) return false;
    ck_mask_contains(&one, needle, count, false, &mask);
    return mask != 0;
}
