/* The end of a loop that is the userdata of schedulers: notify() may come from another thread until the
 * library has freed the last of them, a moment after the realm was released. A loop on the stack
 * waits for that. It begins with the number of its schedulers. */
#ifndef LOOPS_H
#define LOOPS_H

#include "check.h"

#include <poll.h>

static inline void loop_add_scheduler(void *loop) {
    __atomic_add_fetch((int *)loop, 1, __ATOMIC_SEQ_CST);
}
static inline void loop_free(void *loop) { __atomic_sub_fetch((int *)loop, 1, __ATOMIC_SEQ_CST); }

/* Waits ten seconds at most. */
static inline bool loop_ended(void *loop) {
    for (int i = 0; i < 10000 && __atomic_load_n((int *)loop, __ATOMIC_SEQ_CST); i++)
        (void)poll(NULL, 0, 1);
    return !__atomic_load_n((int *)loop, __ATOMIC_SEQ_CST);
}

#endif
