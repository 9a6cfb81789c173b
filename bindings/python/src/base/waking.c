/* The scheduler of a realm: tells an event loop that there is something to deliver. The engine calls
 * it on any thread, without the GIL, when somebody committed and the program has asked for a
 * descriptor; that gets readable. What is to be done then, `waking_perform` does on the realm's
 * thread. */
#include "base/base.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Shared by the realm and by the engine's scheduler; ends with the last of them. */
struct Waking {
    atomic_uint users;
    pthread_t thread;
    pthread_mutex_t lock;
    realm_work_queue_t *queue; /* once there was work; under `lock` like what follows */
    bool is_due;               /* there is work that was not begun */
    int descriptor;            /* -1 until somebody asked for it */
};

static void let_go(void *userdata) {
    Waking *waking = userdata;
    if (atomic_fetch_sub(&waking->users, 1) > 1) return;
    if (waking->descriptor >= 0) close(waking->descriptor);
    pthread_mutex_destroy(&waking->lock);
    free(waking);
}

/* Makes the descriptor readable. It counts up to 2^64: that does not fail for want of room. */
static void signal_descriptor(Waking *waking) {
    const uint64_t one = 1;
    while (write(waking->descriptor, &one, sizeof one) < 0 && errno == EINTR) {}
}

static void notify(void *userdata, realm_work_queue_t *queue) {
    Waking *waking = userdata;
    pthread_mutex_lock(&waking->lock);
    waking->queue = queue;
    waking->is_due = true;
    if (waking->descriptor >= 0) signal_descriptor(waking);
    pthread_mutex_unlock(&waking->lock);
}

static bool is_on_thread(void *userdata) {
    Waking *waking = userdata;
    return pthread_equal(waking->thread, pthread_self()) != 0;
}

static bool is_same_as(const realm_userdata_t one, const realm_userdata_t other) {
    return pthread_equal(((const Waking *)one)->thread, ((const Waking *)other)->thread) != 0;
}

/* As long as nobody asked for the descriptor commits need not wake the realm. */
static bool can_deliver(void *userdata) { return ((Waking *)userdata)->descriptor >= 0; }

Waking *waking_new(realm_scheduler_t **scheduler) {
    Waking *waking = calloc(1, sizeof *waking);
    if (!waking) {
        PyErr_NoMemory();
        return NULL;
    }
    atomic_init(&waking->users, 2);
    waking->thread = pthread_self();
    waking->descriptor = -1;
    pthread_mutex_init(&waking->lock, NULL);
    *scheduler = realm_scheduler_new(waking, let_go, notify, is_on_thread, is_same_as, can_deliver);
    if (*scheduler) return waking;
    /* The engine has freed its part. */
    let_go(waking);
    PyErr_NoMemory();
    return NULL;
}

void waking_release(Waking *waking) {
    if (waking) let_go(waking);
}

int waking_descriptor(Waking *waking, bool *is_new) {
    *is_new = false;
    pthread_mutex_lock(&waking->lock);
    if (waking->descriptor < 0) {
        waking->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        *is_new = true;
    }
    int descriptor = waking->descriptor;
    int reason = errno;
    pthread_mutex_unlock(&waking->lock);
    if (descriptor < 0) {
        errno = reason;
        PyErr_SetFromErrno(PyExc_OSError);
    }
    return descriptor;
}

void waking_perform(Waking *waking) {
    realm_work_queue_t *queue = NULL;
    pthread_mutex_lock(&waking->lock);
    if (waking->is_due) queue = waking->queue;
    waking->is_due = false;
    uint64_t count;
    if (waking->descriptor >= 0) {
        while (read(waking->descriptor, &count, sizeof count) < 0 && errno == EINTR) {}
    }
    pthread_mutex_unlock(&waking->lock);
    if (queue) realm_scheduler_perform_work(queue);
}
