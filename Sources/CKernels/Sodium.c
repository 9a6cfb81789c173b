// `sodium_init` names every part of libsodium that has a choice of implementations, password hashing
// and elliptic curves among them, and so would link them all: 140 kB of code that nobody calls. What it
// does for the parts that are used is called here instead. These functions are libsodium's own, of its
// static library, and the same since 2018.

#include "CKernelsSodium.h"

#include <stdlib.h>

int _sodium_runtime_get_cpu_features(void);
int _sodium_alloc_init(void);

void ck_sodium_start(void) {
    // What these return says nothing: each has a working choice before.
    _sodium_runtime_get_cpu_features();
    _sodium_alloc_init();
}

// The library's own stands beside `sodium_init`. It is called for lengths that no caller here can
// give, and does not return.
void sodium_misuse(void);
void sodium_misuse(void) { abort(); }

// XChaCha20-Poly1305 is for the few processors without instructions for AES. Its faster variants, 17 kB,
// would have to be chosen, which nobody does; so they stay out.
const void *const crypto_onetimeauth_poly1305_sse2_implementation = 0;
const void *const crypto_stream_chacha20_dolbeau_ssse3_implementation = 0;
const void *const crypto_stream_chacha20_dolbeau_avx2_implementation = 0;
