/* A library that lies beside the one that this code is in: for parts that few programs need. */
#define _GNU_SOURCE
#include "CKernels.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

void *ck_function_beside(const char *library, const char *function, char *problem, size_t size) {
    Dl_info own;
    char path[PATH_MAX];
    const char *folder_end = NULL;
    if (dladdr((const void *)&ck_function_beside, &own) && own.dli_fname) {
        folder_end = strrchr(own.dli_fname, '/');
    }
    int length = folder_end ? snprintf(path, sizeof path, "%.*s/%s",
                                       (int)(folder_end - own.dli_fname), own.dli_fname, library)
                            : snprintf(path, sizeof path, "%s", library);
    if (length < 0 || (size_t)length >= sizeof path) {
        snprintf(problem, size, "its path is too long");
        return NULL;
    }
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *found = handle ? dlsym(handle, function) : NULL;
    if (!found) {
        const char *reason = dlerror();
        snprintf(problem, size, "%s", reason ? reason : path);
    }
    /* It stays loaded, as what is in it may. */
    return found;
}
