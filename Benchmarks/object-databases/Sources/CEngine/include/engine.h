/* The workload through realm.h, on a file of its own. */
#ifndef ENGINE_H
#define ENGINE_H

#include <stdint.h>

/* Nanoseconds per object; of `observe` per commit. */
struct engine_times {
    double insert, find, loop, update, observe;
};

/* Ends the process with a message where a call fails or an answer is wrong. */
struct engine_times engine_run(const char *path, int64_t count, int64_t commits);

#endif
