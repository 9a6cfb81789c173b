// What RealmSwift needs of the Swift runtime and cannot say in Swift: making instances without their
// initializers, finding all classes of the program, asking which executor runs, waking a run loop; and
// the way out of a misuse for tests. Called by RealmSwift alone.
#ifndef CRUNTIME_H
#define CRUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-completeness"

/// What a session knows of all its classes.
struct crt_plans {
    /// By class key; NULL for classes that nobody asked for.
    struct crt_plan **_Nullable by_key;
    size_t count;
    /// The schema of the realm is another one by now.
    bool is_changed;
};

/// How accessors of a class are made. It is plain memory and no object of Swift, so that what programs do a million
/// times a second counts no references.
struct crt_plan {
    /// The class, as its metadata.
    const void *_Nonnull type;
    /// The bytes of an accessor without its handle; NULL where accessors are made by their initializer.
    const void *_Nullable image;
    size_t size;
    size_t alignment_mask;
    /// The key of the primary key, -1 without one.
    int64_t primary_key;
    /// Objects of Swift that outlive the plan. Each accessor holds the session.
    void *_Nonnull session;
    void *_Nonnull binding;
    const struct crt_plans *_Nonnull all;
    /// Accessors have collections, which they keep.
    bool has_collections;
    uint32_t class_key;
    /// The session has another one for the class.
    bool is_retired;
};

/// The beginning of every instance: the runtime's two words, and the fields of ObjectBase.
struct crt_object {
    const void *_Nonnull type;
    uint64_t references;
    void *_Nullable handle;
    void *_Nullable session;
    struct crt_plan *_Nullable plan;
    void *_Nullable aside;
};

/// Whether an accessor that nobody uses can stand for another object of its class and realm: it is a copy of the image,
/// and all that it has of an object are the handle and cached collections.
static inline bool crt_is_for_reuse(const struct crt_plan *_Nonnull plan) {
    return plan->image != NULL && !plan->is_retired && !plan->all->is_changed;
}

/// An accessor with a handle; the caller owns a reference. The plan has an image.
void *_Nonnull crt_make_accessor(const struct crt_plan *_Nonnull plan, void *_Nonnull handle);

/// Whether there is exactly one reference to an object, and neither weak nor unowned ones.
static inline bool crt_is_unshared(const void *_Nonnull object) {
    // The word of a new object: in others bits are set, or it leads to a table of weak references.
    return __atomic_load_n(&((const struct crt_object *)object)->references, __ATOMIC_ACQUIRE) == 3;
}

/// A reference more to an object whose memory is there; false, and none, if it is being deinitialised.
bool crt_try_retain(void *object);

/// The size of an instance and the mask of its alignment, read from the metadata of a class.
static inline uint32_t crt_instance_size(const void *metadata) {
    return *(const uint32_t *)((const char *)metadata + 24);
}
static inline uint16_t crt_instance_alignment_mask(const void *metadata) {
    return *(const uint16_t *)((const char *)metadata + 28);
}

/// Calls `found` with the metadata of each class that is not generic and has `base` among its
/// superclasses, in all images of the program.
void crt_find_subclasses(
    const void *base, void (*found)(const void *metadata, void *context), void *context);

/// How many images with Swift types there are; grows when a library is loaded.
size_t crt_count_images(void);

/// Whether the caller runs on this executor (an `UnownedSerialExecutor` in two words).
bool crt_is_on_executor(const void *identity, uintptr_t implementation);

/// Whether the calling thread is the program's first. Foundation asks the system each time.
bool crt_is_main_thread(void);

/// Wakes a `CFRunLoop`; nothing happens where Foundation is not loaded.
void crt_wake_run_loop(void *loop);
/// The `CFRunLoop` of the calling thread, or NULL.
void *crt_current_run_loop(void);

/// An address that the calling thread keeps; NULL at first.
void *crt_thread_note(void);
void crt_set_thread_note(void *note);

/// Calls `body`; true if `crt_leave` ended it. What the frames that were left held stays held, so that
/// this is for tests alone.
bool crt_catch(void (*body)(void *context), void *context);
/// Whether the calling thread is inside `crt_catch`.
bool crt_can_leave(void);
/// Ends the innermost `crt_catch` of the calling thread.
_Noreturn void crt_leave(void);

#pragma clang diagnostic pop

#endif
