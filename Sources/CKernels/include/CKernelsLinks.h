/* Kernels over the entries of an inverse index (CountedLinks.swift): how many links lead to each of some
 * objects, and how many come from each to some others. */
#ifndef CKERNELS_LINKS_H
#define CKERNELS_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The entries of a leaf, ordered by target. Of a target's key the upper bytes are common to all, `own` bytes
 * (at most 8) stand at the beginning of each entry's suffix, big-endian. Suffixes are `length` bytes long, or that of
 * entry i goes from offset i to offset i + 1, of 16 bits each. */
typedef struct {
    const uint8_t *suffixes; /* at least 8 bytes behind the start of their block */
    const void *offsets;     /* NULL: all are `length` bytes long, which is at least `own` */
    size_t own, length;
    uint64_t base; /* modulo 2^64: the row of the target with zeros as own bytes */
} ck_link_entries;

/* The row of the entry before, and how many entries of it came one after another. */
typedef struct {
    uint64_t row;
    uint32_t count;
} ck_link_run;

/* Adds up entries `first` ... `end` - 1: counts[row] gets how many entries the row has, if they are
 * neighbours; rows without any are left as they are. Ends at the first entry that is behind the last row
 * and returns its position; what is before the first row is passed over. */
size_t ck_count_links(const ck_link_entries *entries, size_t first, size_t end, size_t rows,
                      uint32_t *counts, ck_link_run *run);

/* The sources of the entries of a leaf: that of entry i is `base` + keys[i], numbers of `width` bytes (0, 1, 2, 4
 * or 8). */
typedef struct {
    const void *keys;
    size_t width;
    uint64_t base; /* modulo 2^64, from the source that has the first count */
} ck_link_sources;

/* The targets that count, ascending, and which comes next. How many of them each source leads to stands in fields of
 * 1, 2, 4 or 8 bits (`width`), from the lowest bit of counts[0] on; the greatest value is that number or more. */
typedef struct {
    const int64_t *targets; /* as rows of the entries */
    size_t next, end;
    uint64_t *counts;
    uint64_t sources; /* how many fields there are */
    unsigned width;
} ck_link_members;

/* Adds one to the field of the source of each entry from `first` on that leads to one of the targets, and passes over
 * the others without looking at each. Ends behind the last entry or the last target. False at a source that has
 * no field. */
bool ck_count_members(const ck_link_entries *entries, const ck_link_sources *sources, size_t first,
                      size_t count, ck_link_members *members);

/* Adds the fields of `more` to those of `counts`, as far as they go. */
void ck_add_counts(uint64_t *counts, const uint64_t *more, size_t words, unsigned width);

/* Sets bit i of `bits` where low <= field i <= high, and clears it elsewhere; there are `width` times as many words of
 * counts as `words` of bits. */
void ck_mask_counts(const uint64_t *counts, unsigned width, unsigned low, unsigned high, uint64_t *bits, size_t words);

/* Sends for what will be read in no order. */
void ck_send_for(const void *bytes, size_t count);

#endif
