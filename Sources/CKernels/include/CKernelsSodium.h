// Starting those parts of libsodium that the library uses, and no others.

#ifndef CKERNELS_SODIUM_H
#define CKERNELS_SODIUM_H

// Chooses implementations for this processor and makes locked memory available. To be called once,
// before anything of libsodium, in the place of `sodium_init`.
void ck_sodium_start(void);

#endif
