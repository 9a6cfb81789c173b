// See CRuntime.h. Layouts: "TypeMetadata.rst" and "MetadataSections" of the Swift runtime, which are
// part of its stable binary interface on the platforms that have one and have not changed on Linux since 5.9.
#define _GNU_SOURCE
#include "CRuntime.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void *swift_allocObject(const void *metadata, size_t size, size_t alignment_mask);

void *swift_retain(void *object);

void *crt_make_accessor(const struct crt_plan *plan, void *handle) {
    struct crt_object *object = swift_allocObject(plan->type, plan->size, plan->alignment_mask);
    // From where both are aligned; the image has no handle.
    size_t first = offsetof(struct crt_object, handle);
    memcpy((char *)object + first, (const char *)plan->image + first, plan->size - first);
    object->handle = handle;
    swift_retain(plan->session);
    return object;
}

void *swift_tryRetain(void *object);

bool crt_try_retain(void *object) { return swift_tryRetain(object) != NULL; }

// -- classes ----------------------------------------------------------------------------------------

struct range {
    uintptr_t start;
    size_t length;
};

// Where an image has its metadata; only the fields up to the one that is used.
struct sections {
    uintptr_t version;
    const void *base;
    void *unused[2];
    struct range protocols;
    struct range conformances;
    struct range types;
};

void swift_enumerateAllMetadataSections(
    bool (*body)(const struct sections *sections, void *context), void *context);

// A class context descriptor, up to the superclass. Fields that end in `_offset` are relative to their
// own address.
struct descriptor {
    uint32_t flags;
    int32_t parent_offset;
    int32_t name_offset;
    int32_t access_offset;
    int32_t fields_offset;
    int32_t superclass_offset;
};

enum { KIND_MASK = 0x1F, KIND_CLASS = 16, IS_GENERIC = 0x80, DEPTH_MAX = 64 };

static const void *resolve(const int32_t *field) { return (const char *)field + *field; }

static int32_t read_offset(const char *p) {
    int32_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

// The descriptor of the superclass, where its mangled name is one symbolic reference; else NULL.
static const struct descriptor *superclass(const struct descriptor *d) {
    if (d->superclass_offset == 0) return NULL;
    const char *name = resolve(&d->superclass_offset);
    const char *target = name + 1 + read_offset(name + 1);
    if (name[0] == 1) return (const struct descriptor *)target;
    if (name[0] == 2) return *(const struct descriptor *const *)target;
    return NULL;
}

static bool derives(const struct descriptor *d, const struct descriptor *base) {
    for (int depth = 0; d != NULL && depth < DEPTH_MAX; depth++) {
        if ((d->flags & KIND_MASK) != KIND_CLASS) return false;
        d = superclass(d);
        if (d == base) return true;
    }
    return false;
}

struct search {
    const struct descriptor *base;
    void (*found)(const void *metadata, void *context);
    void *context;
};

struct response {
    const void *metadata;
    size_t state;
};
typedef __attribute__((swiftcall)) struct response (*accessor)(size_t request);

static bool search_image(const struct sections *sections, void *context) {
    const struct search *search = context;
    const int32_t *record = (const int32_t *)sections->types.start;
    const int32_t *end = (const int32_t *)(sections->types.start + sections->types.length);
    for (; record < end; record++) {
        // The low bits say what the record leads to: 0 a descriptor, 1 a pointer to one.
        int32_t offset = *record;
        const char *target = (const char *)record + (offset & ~3);
        const struct descriptor *d = (offset & 3) == 1
            ? *(const struct descriptor *const *)target
            : (const struct descriptor *)target;
        if ((offset & 3) > 1 || d == NULL || (d->flags & KIND_MASK) != KIND_CLASS) continue;
        if (d->flags & IS_GENERIC || !derives(d, search->base)) continue;
        accessor get = (accessor)resolve(&d->access_offset);
        search->found(get(0).metadata, search->context);
    }
    return true;
}

void crt_find_subclasses(
    const void *base, void (*found)(const void *metadata, void *context), void *context) {
    struct search search = {*(const struct descriptor *const *)((const char *)base + 40), found, context};
    swift_enumerateAllMetadataSections(search_image, &search);
}

static bool count_image(const struct sections *sections, void *context) {
    (void)sections;
    ++*(size_t *)context;
    return true;
}

size_t crt_count_images(void) {
    size_t count = 0;
    swift_enumerateAllMetadataSections(count_image, &count);
    return count;
}

// -- executors and run loops ------------------------------------------------------------------------

struct executor {
    const void *identity;
    uintptr_t implementation;
};

__attribute__((swiftcall)) bool swift_task_isCurrentExecutorWithFlags(
    struct executor executor, uintptr_t flags);

bool crt_is_on_executor(const void *identity, uintptr_t implementation) {
    struct executor executor = {identity, implementation};
    return swift_task_isCurrentExecutorWithFlags(executor, 0);
}

bool crt_is_main_thread(void) {
    static _Thread_local enum { UNKNOWN, MAIN, OTHER } known;
    if (known == UNKNOWN) known = syscall(SYS_gettid) == getpid() ? MAIN : OTHER;
    return known == MAIN;
}

void crt_wake_run_loop(void *loop) {
    void (*wake)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "CFRunLoopWakeUp");
    if (wake != NULL && loop != NULL) wake(loop);
}

void *crt_current_run_loop(void) {
    void *(*current)(void) = (void *(*)(void))dlsym(RTLD_DEFAULT, "CFRunLoopGetCurrent");
    return current == NULL ? NULL : current();
}

static _Thread_local void *thread_note;

void *crt_thread_note(void) { return thread_note; }
void crt_set_thread_note(void *note) { thread_note = note; }

// -- leaving ----------------------------------------------------------------------------------------

static _Thread_local jmp_buf *way_out;

bool crt_catch(void (*body)(void *context), void *context) {
    jmp_buf here;
    jmp_buf *volatile outer = way_out;
    way_out = &here;
    if (setjmp(here) != 0) {
        way_out = outer;
        return true;
    }
    body(context);
    way_out = outer;
    return false;
}

bool crt_can_leave(void) { return way_out != NULL; }

_Noreturn void crt_leave(void) {
    if (way_out == NULL) abort();
    longjmp(*way_out, 1);
}
