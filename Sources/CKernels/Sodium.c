// `sodium_init` names every part of libsodium that has a choice of implementations, password hashing
// and elliptic curves among them, and so would link them all: 140 kB of code that nobody calls. What it
// does for the parts that are used is called here instead. These functions are libsodium's own, of its
// static library, and the same since 2018.

#include "CKernelsSodium.h"

#include <stdlib.h>

int _sodium_runtime_get_cpu_features(void);
int _sodium_alloc_init(void);
int _crypto_stream_chacha20_pick_best_implementation(void);
int sodium_runtime_has_avx2(void);

void ck_sodium_start(void) {
    // What these return says nothing: each has a working choice before.
    _sodium_runtime_get_cpu_features();
    _sodium_alloc_init();
    // Of its variants that for AVX2 alone is there.
    if (sodium_runtime_has_avx2()) _crypto_stream_chacha20_pick_best_implementation();
}

// What stands here instead of parts of libsodium. Hidden: its references to them are made for programs, and cannot
// be those to what a shared library exports.
#define INSTEAD __attribute__((visibility("hidden")))

// The library's own stands beside `sodium_init`. It is called for lengths that no caller here can
// give, and does not return.
INSTEAD void sodium_misuse(void);
void sodium_misuse(void) { abort(); }

// ChaCha20 hides what waits beside encrypted files: with AVX2, 6 kB, in a fifth of the time. Its variant for older
// processors stays out, and that of Poly1305 too: XChaCha20-Poly1305 is for the few without instructions for AES.
INSTEAD const void *const crypto_onetimeauth_poly1305_sse2_implementation = 0;
INSTEAD const void *const crypto_stream_chacha20_dolbeau_ssse3_implementation = 0;
