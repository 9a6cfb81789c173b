// Also the functions for one kind of hash, which are deprecated in favour of those for any: see PageCipher.swift.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
