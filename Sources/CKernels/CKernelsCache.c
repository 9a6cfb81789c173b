/* Decrypted blocks lie at fixed addresses, page n of the file n pages behind `base`, and pointers to
 * them are in the hands of anybody: fingers, handles, scans under way on other threads, texts lent to
 * the program. When a block is evicted its pages are made inaccessible. What a pointer leads to can't
 * change as long as the pointer may be used, because a block is written once and its pages are not
 * reused while a version that has it is held. So a pointer to an evicted block is as good as before:
 * whoever follows it gets a fault, the handler decrypts the block again to the same place, and the
 * instruction is repeated. Readers pay nothing for that.
 *
 * The system calls are made here and not in SystemCalls.swift because a signal handler makes them,
 * and directly, because the thread sanitizer would take an eviction for a write to what readers read.
 *
 * Invariants
 *  1. All of a cache changes with its lock held. Who holds the lock touches no page that may be evicted,
 *     so the handler never waits for its own thread.
 *  2. A page is inaccessible exactly if its kind is `evicted`, or `tail` of such a block, or `shut`: so none is
 *     before something was evicted, which needs the handler. Where no block is, a pointer that outlived its own,
 *     and a read that goes a little too far, find zeros or what was there. `used` counts the pages of resident and
 *     filling blocks, and of what is left of those whose place another takes in part: a block of version 0.
 *  3. Of blocks that overlap one is alive at most: making room for a block ends all that it overlaps.
 *  4. A resident block is in the ring exactly once, under its first page.
 *  5. An evicted block comes back as a whole at one moment, while readers may be waiting for its pages:
 *     it is decrypted elsewhere, and the memory is moved. */
#define _GNU_SOURCE
#include "CKernelsCache.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { page_shift = 12, page_size = 1 << page_shift };

/* What is at a page: a kind, flags, and a number. */
enum {
    number_bits = 0xFFFF, /* pages of a block that begins here; of a tail, the distance to its start */
    kind_bits = 7 << 24,
    kind_nothing = 0, /* no block */
    kind_tail = 1 << 24,
    kind_filling = 2 << 24,
    kind_resident = 3 << 24,
    kind_evicted = 4 << 24,
    kind_shut = 5 << 24, /* no block; of an evicted one */
    flag_ring = 1 << 28 /* the page is in the ring */
};

enum {
    /* A process has 65,530 mappings by default, and a block may split one into three. */
    blocks_max = 20000,
    /* These stay: an instruction that touches two blocks must be able to end, on several threads at a time. Large
     * ones, of more than so many pages together, but for two, whatever their size. */
    ring_min = 16,
    ring_min_pages = 8 << (20 - page_shift),
    scratch_bytes = 1 << 20
};

struct ck_cache {
    struct ck_cache_setup set;
    pthread_mutex_t lock;
    pid_t pid;
    uint32_t *extents;  /* by page */
    uint64_t *versions; /* by first page of a block */
    uint32_t *ring;
    uint64_t ring_size, first, entries; /* `first` and `entries` count up and wrap with the size */
    uint64_t used;
    char *scratch; /* what is left of the piece that blocks are decrypted to */
    size_t scratch_left;
    struct ck_cache_numbers numbers;
};

/* ---- system calls ------------------------------------------------------------------------------ */

static void *map_memory(void *place, size_t bytes, int protection, int flags) {
    long address = syscall(SYS_mmap, place, bytes, protection,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
    return address == -1 ? NULL : (void *)address;
}

/* Takes the memory away; whoever touches the pages gets a fault. */
static bool shut(struct ck_cache *cache, uint64_t page, uint64_t count) {
    char *place = (char *)cache->set.base + (page << page_shift);
    return map_memory(place, count << page_shift, PROT_NONE, MAP_FIXED) != NULL;
}

static bool make_accessible(struct ck_cache *cache, uint64_t page, uint64_t count) {
    char *place = (char *)cache->set.base + (page << page_shift);
    if (syscall(SYS_mprotect, place, count << page_shift, PROT_READ | PROT_WRITE) != 0) return false;
    (void)syscall(SYS_madvise, place, count << page_shift, MADV_DONTDUMP);
    return true;
}

/* Gives the memory back; the pages are zeros then. */
static void discard(struct ck_cache *cache, uint64_t page, uint64_t count) {
    char *place = (char *)cache->set.base + (page << page_shift);
    (void)syscall(SYS_madvise, place, count << page_shift, MADV_DONTNEED);
}

static char *new_scratch(size_t bytes) {
    char *piece = map_memory(NULL, bytes, PROT_READ | PROT_WRITE, 0);
    if (piece) (void)syscall(SYS_madvise, piece, bytes, MADV_DONTDUMP);
    return piece;
}

void *ck_cache_map(size_t bytes) { return new_scratch(bytes); }
void ck_cache_unmap(void *piece, size_t bytes) { (void)syscall(SYS_munmap, piece, bytes); }

int ck_cache_read(int descriptor, void *target, size_t bytes, uint64_t offset) {
    for (size_t done = 0; done < bytes;) {
        const ssize_t count = pread(descriptor, (char *)target + done, bytes - done,
                                    (off_t)(offset + done));
        if (count == 0) return ENODATA;
        if (count < 0 && errno != EINTR) return errno;
        if (count > 0) done += (size_t)count;
    }
    return 0;
}

/* Memory to decrypt to; it is moved away, or given back by `drop_scratch`. */
static char *take_scratch(struct ck_cache *cache, size_t bytes) {
    if (bytes > scratch_bytes) return new_scratch(bytes);
    if (cache->scratch_left < bytes) {
        if (cache->scratch_left) (void)syscall(SYS_munmap, cache->scratch, cache->scratch_left);
        cache->scratch_left = 0;
        cache->scratch = new_scratch(scratch_bytes);
        if (!cache->scratch) return NULL;
        cache->scratch_left = scratch_bytes;
    }
    char *taken = cache->scratch;
    cache->scratch += bytes;
    cache->scratch_left -= bytes;
    return taken;
}

/* ---- faults ------------------------------------------------------------------------------------ */

enum { caches_max = 256 };
static struct ck_cache *caches[caches_max];
static pthread_mutex_t handler_lock = PTHREAD_MUTEX_INITIALIZER;
/* What was there before our handler: at first, and when it was last found replaced. */
static struct sigaction others[2];
static bool is_installed;

static bool bring_back(struct ck_cache *cache, uint64_t page);

/* A fault that is none of ours goes to whoever had the signal before. */
static void pass_on(int number, siginfo_t *info, void *machine) {
    /* A handler that was put before ours may call ours, as the one it knew before. */
    static _Thread_local __attribute__((tls_model("initial-exec"))) int depth;
    struct sigaction *next = depth < 2 ? &others[1 - depth] : NULL;
    if (next && (next->sa_flags & SA_SIGINFO)) {
        depth++;
        next->sa_sigaction(number, info, machine);
        depth--;
    } else if (next && next->sa_handler != SIG_DFL && next->sa_handler != SIG_IGN) {
        depth++;
        next->sa_handler(number);
        depth--;
    } else {
        /* The instruction is repeated, and ends the process as it would have without us. */
        struct sigaction none = {.sa_handler = SIG_DFL};
        if (info->si_code <= 0 && next && next->sa_handler == SIG_IGN) return;
        (void)sigaction(number, &none, NULL);
        if (info->si_code <= 0) (void)raise(number);
    }
}

static void on_fault(int number, siginfo_t *info, void *machine) {
    const int before = errno;
    const uintptr_t address = (uintptr_t)info->si_addr;
    for (int i = 0; i < caches_max && info->si_code == SEGV_ACCERR; i++) {
        struct ck_cache *cache = __atomic_load_n(&caches[i], __ATOMIC_ACQUIRE);
        if (!cache) continue;
        const uintptr_t offset = address - (uintptr_t)cache->set.base;
        if (offset >= cache->set.pages << page_shift) continue;
        if (bring_back(cache, offset >> page_shift)) {
            errno = before;
            return;
        }
        break;
    }
    errno = before;
    pass_on(number, info, machine);
}

/* Makes sure that faults come to us: asked before pages are taken away, because a program may have
 * put another handler in the place of ours. */
static bool install_handler(void) {
    struct sigaction now;
    (void)pthread_mutex_lock(&handler_lock);
    bool done = sigaction(SIGSEGV, NULL, &now) == 0;
    if (done && !((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_fault)) {
        struct sigaction ours = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
        ours.sa_sigaction = on_fault;
        if (!is_installed) others[0] = now;
        others[1] = now;
        done = is_installed = sigaction(SIGSEGV, &ours, NULL) == 0;
    }
    (void)pthread_mutex_unlock(&handler_lock);
    return done;
}

/* ---- the ring ---------------------------------------------------------------------------------- */

static uint32_t kind(const struct ck_cache *cache, uint64_t page) {
    return cache->extents[page] & kind_bits;
}

static uint64_t number(const struct ck_cache *cache, uint64_t page) {
    return cache->extents[page] & number_bits;
}

/* Whether the page is in the ring is not a matter of what is there. */
static void set(struct ck_cache *cache, uint64_t page, uint32_t word) {
    cache->extents[page] = (cache->extents[page] & flag_ring) | word;
}

static uint64_t pop(struct ck_cache *cache) {
    const uint64_t page = cache->ring[cache->first++ % cache->ring_size];
    cache->entries--;
    cache->extents[page] &= ~(uint32_t)flag_ring;
    return page;
}

static void push(struct ck_cache *cache, uint64_t page) {
    if (cache->extents[page] & flag_ring) return;
    /* Happens when no block could be evicted; the one that is left out stays until its end. */
    if (cache->entries == cache->ring_size) (void)pop(cache);
    cache->extents[page] |= flag_ring;
    cache->ring[(cache->first + cache->entries++) % cache->ring_size] = (uint32_t)page;
}

static void note_evicted(struct ck_cache *cache, uint64_t page, uint64_t count) {
    for (uint64_t at = page; at < page + count; at += number(cache, at)) {
        set(cache, at, kind_evicted | (uint32_t)number(cache, at));
        __atomic_store_n(cache->set.marks + at, 0, __ATOMIC_RELAXED);
    }
    cache->used -= count;
    __atomic_store_n(&cache->numbers.evicted, cache->numbers.evicted + (count << page_shift), __ATOMIC_RELAXED);
}

/* Evicts blocks that stand side by side, as scans leave them, in one call. */
static bool evict_run(struct ck_cache *cache, uint64_t page, uint64_t count) {
    if (count == 0) return true;
    if (shut(cache, page, count)) {
        note_evicted(cache, page, count);
        return true;
    }
    /* No mapping is left to split: they stay. */
    for (uint64_t at = page; at < page + count; at += number(cache, at)) push(cache, at);
    return false;
}

/* Whether a block may go, where `leaving` pages go already. */
static bool may_evict(const struct ck_cache *cache, uint64_t leaving) {
    return cache->entries > ring_min || (cache->entries > 2 && cache->used > leaving + ring_min_pages);
}

/* Makes room for so many pages; blocks that were used since they were last considered stay. */
static void make_room(struct ck_cache *cache, uint64_t count) {
    const uint64_t pages_max = cache->set.bytes_max >> page_shift;
    if (cache->used + count <= pages_max && cache->entries < cache->ring_size) return;
    if (!install_handler()) return;
    /* More than is needed, so that it isn't needed again at once. */
    uint64_t slack = pages_max / 8 < 256 ? pages_max / 8 : 256;
    uint64_t target = count + slack < pages_max ? pages_max - count - slack : 0;
    uint64_t run = 0, run_count = 0, looks = 2 * cache->entries;
    while (looks-- && may_evict(cache, run_count)
           && (cache->used > target + run_count || cache->entries + 64 > cache->ring_size)) {
        const uint64_t page = pop(cache);
        if (kind(cache, page) != kind_resident) continue;
        if (__atomic_exchange_n(cache->set.marks + page, 0, __ATOMIC_RELAXED) != 0) {
            push(cache, page);
            continue;
        }
        if (run_count && page == run + run_count) {
            run_count += number(cache, page);
            continue;
        }
        if (!evict_run(cache, run, run_count)) run_count = 0;
        run = page;
        run_count = number(cache, page);
    }
    (void)evict_run(cache, run, run_count);
}

/* ---- blocks ------------------------------------------------------------------------------------ */

static void note_block(struct ck_cache *cache, uint64_t page, uint64_t count, uint32_t word) {
    for (uint64_t i = 1; i < count; i++) set(cache, page + i, kind_tail | (uint32_t)i);
    set(cache, page, word | (uint32_t)count);
}

/* The first page of the block that has this one. */
static uint64_t start_of(const struct ck_cache *cache, uint64_t page) {
    return kind(cache, page) == kind_tail ? page - number(cache, page) : page;
}

/* Puts zeros where a pointer leads that outlived its block, or whose block the file has no more. */
static bool put_zeros(struct ck_cache *cache, uint64_t page, uint64_t count) {
    if (!make_accessible(cache, page, count)) return false;
    for (uint64_t i = 0; i < count; i++) set(cache, page + i, kind_nothing);
    return true;
}

static void note_decrypted(struct ck_cache *cache, uint64_t page, uint64_t bytes) {
    push(cache, page);
    cache->numbers.decrypted += bytes;
}

static bool move_memory(void *from, size_t bytes, void *place) {
    return syscall(SYS_mremap, from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) != -1;
}

/* The process has no mapping left: blocks that stand alone give theirs back. */
static void empty(struct ck_cache *cache) { make_room(cache, cache->set.bytes_max >> page_shift); }

/* Decrypts an evicted block again: ck_cache_here, or why not; it is evicted then as before. With the lock
 * held. */
static enum ck_cache_state restore(struct ck_cache *cache, uint64_t page) {
    const uint64_t count = number(cache, page);
    const size_t bytes = count << page_shift;
    const uint64_t check = __atomic_load_n(cache->set.known + page, __ATOMIC_RELAXED);
    make_room(cache, count);
    char *target = take_scratch(cache, bytes);
    if (!target) return ck_cache_no_memory;
    if (check == 0 || cache->versions[page] == 0
        || !cache->set.open(cache->set.context, page, (uint32_t)count, cache->versions[page], check,
                            target)) {
        (void)syscall(SYS_munmap, target, bytes);
        return ck_cache_damaged;
    }
    char *place = (char *)cache->set.base + (page << page_shift);
    if (!move_memory(target, bytes, place)) {
        empty(cache);
        if (!move_memory(target, bytes, place)) {
            (void)syscall(SYS_munmap, target, bytes);
            return ck_cache_no_memory;
        }
    }
    set(cache, page, kind_resident | (uint32_t)count);
    cache->used += count;
    note_decrypted(cache, page, bytes);
    return ck_cache_here;
}

/* The page was touched and isn't accessible. */
static bool bring_back(struct ck_cache *cache, uint64_t page) {
    if (cache->pid != getpid()) {
        /* A forked child, in which another thread's lock is never released. */
        if (pthread_mutex_trylock(&cache->lock) != 0) return false;
    } else {
        (void)pthread_mutex_lock(&cache->lock);
    }
    bool done = true;
    const uint64_t start = start_of(cache, page);
    cache->numbers.faults++;
    switch (kind(cache, start)) {
    case kind_shut:
        done = put_zeros(cache, page, 1);
        break;
    case kind_evicted:
        if (restore(cache, start) == ck_cache_here) break;
        /* Of a block that some version has, the file was damaged since: no error can be given to an
         * instruction, but to what comes next. */
        if (cache->versions[start] != 0 && __atomic_load_n(cache->set.known + start, __ATOMIC_RELAXED) != 0)
            __atomic_add_fetch(&cache->numbers.lost, 1, __ATOMIC_RELAXED);
        done = put_zeros(cache, start, number(cache, start));
        break;
    default: /* Another thread was faster. */
        break;
    }
    (void)pthread_mutex_unlock(&cache->lock);
    return done;
}

/* Ends the block that begins at `page`; true when there is memory of it. */
static bool end_block(struct ck_cache *cache, uint64_t page) {
    const uint32_t word = cache->extents[page];
    const uint64_t end = page + (word & number_bits);
    const bool has_memory = (word & kind_bits) == kind_resident;
    for (uint64_t at = page; at < end; at++) set(cache, at, has_memory ? kind_nothing : kind_shut);
    if (has_memory) cache->used -= end - page;
    return has_memory;
}

/* Keeps what a block that ended leaves beside the one that takes its place, as a block of no version: nobody
 * finds it, and it is evicted as others are. To give the memory back, and be given it for what is decrypted to or
 * written at these pages next, would take longer than that. */
static void leave(struct ck_cache *cache, uint64_t page, uint64_t count) {
    note_block(cache, page, count, kind_resident);
    cache->versions[page] = 0;
    cache->used += count;
    push(cache, page);
}

enum ck_cache_state ck_cache_find(struct ck_cache *cache, uint64_t page, uint32_t count,
                                  uint64_t version) {
    enum ck_cache_state state = ck_cache_absent;
    (void)pthread_mutex_lock(&cache->lock);
    if (number(cache, page) == count && cache->versions[page] == version) {
        if (kind(cache, page) == kind_evicted) {
            state = restore(cache, page);
        } else if (kind(cache, page) == kind_resident) {
            state = ck_cache_here;
        }
    }
    (void)pthread_mutex_unlock(&cache->lock);
    return state;
}

bool ck_cache_begin(struct ck_cache *cache, uint64_t page, uint32_t count, uint64_t version) {
    const uint64_t end = page + count;
    (void)pthread_mutex_lock(&cache->lock);
    make_room(cache, count);
    for (uint64_t at = page; at < end;) {
        const uint64_t start = start_of(cache, at);
        const uint64_t pages = number(cache, start);
        switch (kind(cache, start)) {
        case kind_filling: /* Only a forged file has two blocks there. */
            (void)pthread_mutex_unlock(&cache->lock);
            (void)sched_yield();
            (void)pthread_mutex_lock(&cache->lock);
            continue;
        case kind_resident:
        case kind_evicted:
            if (end_block(cache, start)) {
                if (start < page) leave(cache, start, page - start);
                if (end < start + pages) leave(cache, end, start + pages - end);
            }
            at = start + pages;
            break;
        default:
            at++;
        }
    }
    bool is_open = true;
    for (uint64_t at = page; at < end && is_open; at++) is_open = kind(cache, at) == kind_nothing;
    bool done = is_open || make_accessible(cache, page, count);
    if (!done) {
        empty(cache);
        done = make_accessible(cache, page, count);
    }
    if (done) {
        note_block(cache, page, count, kind_filling);
        cache->versions[page] = version;
        cache->used += count;
    }
    (void)pthread_mutex_unlock(&cache->lock);
    return done;
}

void ck_cache_end(struct ck_cache *cache, uint64_t page, bool is_there) {
    (void)pthread_mutex_lock(&cache->lock);
    const uint64_t count = number(cache, page);
    set(cache, page, kind_resident | (uint32_t)count);
    if (is_there) {
        note_decrypted(cache, page, count << page_shift);
    } else {
        (void)end_block(cache, page);
        discard(cache, page, count);
    }
    (void)pthread_mutex_unlock(&cache->lock);
}

void ck_cache_count(struct ck_cache *cache, struct ck_cache_numbers *numbers) {
    (void)pthread_mutex_lock(&cache->lock);
    *numbers = cache->numbers;
    numbers->resident = cache->used << page_shift;
    (void)pthread_mutex_unlock(&cache->lock);
}

bool ck_cache_has_lost(const struct ck_cache *cache) {
    return __atomic_load_n(&cache->numbers.lost, __ATOMIC_RELAXED) != 0;
}

void ck_cache_watch(const struct ck_cache *cache) {
    /* Where it can't, nothing more is evicted, either. */
    if (__atomic_load_n(&cache->numbers.evicted, __ATOMIC_RELAXED) != 0) (void)install_handler();
}

/* ---- making and freeing ------------------------------------------------------------------------ */

static bool enter(struct ck_cache *cache) {
    for (int i = 0; i < caches_max; i++) {
        struct ck_cache *none = NULL;
        if (__atomic_compare_exchange_n(&caches[i], &none, cache, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
            return true;
    }
    return false;
}

struct ck_cache *ck_cache_new(const struct ck_cache_setup *setup) {
    struct ck_cache *cache = calloc(1, sizeof *cache);
    if (!cache) return NULL;
    cache->set = *setup;
    cache->pid = getpid();
    /* A block has a page at least, and the last ones stay. */
    cache->ring_size = (setup->bytes_max >> page_shift) + 8 * ring_min;
    if (cache->ring_size > blocks_max) cache->ring_size = blocks_max;
    cache->ring = malloc(cache->ring_size * sizeof *cache->ring);
    char *tables = map_memory(NULL, setup->pages * 12, PROT_READ | PROT_WRITE, 0);
    cache->versions = (uint64_t *)(void *)tables;
    if (tables) cache->extents = (uint32_t *)(void *)(tables + setup->pages * 8);
    (void)pthread_mutex_init(&cache->lock, NULL);
    /* What is decrypted is counted in pages. */
    (void)syscall(SYS_madvise, setup->base, setup->pages << page_shift, MADV_NOHUGEPAGE);
    if (!cache->ring || !tables || !enter(cache)) {
        ck_cache_free(cache);
        return NULL;
    }
    return cache;
}

void ck_cache_free(struct ck_cache *cache) {
    for (int i = 0; i < caches_max; i++) {
        struct ck_cache *this_one = cache;
        (void)__atomic_compare_exchange_n(&caches[i], &this_one, NULL, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED);
    }
    if (cache->versions) (void)syscall(SYS_munmap, cache->versions, cache->set.pages * 12);
    if (cache->scratch_left) (void)syscall(SYS_munmap, cache->scratch, cache->scratch_left);
    (void)pthread_mutex_destroy(&cache->lock);
    free(cache->ring);
    free(cache);
}
