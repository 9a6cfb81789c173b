// What RealmSwift needs of the Swift runtime and cannot say in Swift: making instances without their
// initializers, finding all classes of the program, asking which executor runs, waking a run loop; and
// the way out of a misuse for tests. Called by RealmSwift alone.
#ifndef CRUNTIME_H
#define CRUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A new instance of a class, its fields not initialised; the caller owns a reference.
void *crt_allocate(const void *metadata, size_t size, size_t alignment_mask);

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

#endif
