/* Encrypts a file of realm-core as that library does, for measurements of `realm import`:
 *
 *     seal_old_file PLAIN SEALED KEYFILE
 *
 * KEYFILE has 64 bytes. The layout is in Sources/RealmCoreFile/PageCipher.swift. */
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, PAGES = 64, RECORD = 64 };

static void fail(const char *what) {
    perror(what);
    exit(1);
}

int main(int count, char **arguments) {
    if (count != 4) {
        fputs("usage: seal_old_file PLAIN SEALED KEYFILE\n", stderr);
        return 2;
    }
    static unsigned char key[64], group[(PAGES + 1) * PAGE], page[PAGE];
    FILE *in = fopen(arguments[1], "rb"), *out = fopen(arguments[2], "wb"), *keys = fopen(arguments[3], "rb");
    if (!in) fail(arguments[1]);
    if (!out) fail(arguments[2]);
    if (!keys || fread(key, 1, sizeof key, keys) != sizeof key) fail(arguments[3]);
    EVP_CIPHER_CTX *aes = EVP_CIPHER_CTX_new();
    if (!aes || !EVP_EncryptInit_ex2(aes, EVP_aes_256_cbc(), key, NULL, NULL) || !EVP_CIPHER_CTX_set_padding(aes, 0)) fail("key");
    uint64_t number = 0;
    size_t got;
    do {
        int pages = 0;
        memset(group, 0, sizeof group);
        while (pages < PAGES && (got = fread(page, 1, PAGE, in)) > 0) {
            memset(page + got, 0, PAGE - got);
            uint32_t iv = (uint32_t)(number % 1000 + 1);
            uint64_t place = number * PAGE;
            unsigned char vector[16] = {0};
            memcpy(vector, &iv, 4);
            memcpy(vector + 4, &place, 8);
            unsigned char *block = group + (size_t)(pages + 1) * PAGE, *record = group + (size_t)pages * RECORD;
            int count;
            if (!EVP_EncryptInit_ex2(aes, NULL, NULL, vector, NULL) || !EVP_EncryptUpdate(aes, block, &count, page, PAGE))
                fail("encrypt");
            memcpy(record, &iv, 4);
            if (!HMAC(EVP_sha224(), key + 32, 32, block, PAGE, record + 4, NULL)) fail("authenticate");
            pages++;
            number++;
        }
        if (pages > 0 && fwrite(group, PAGE, (size_t)pages + 1, out) != (size_t)pages + 1) fail(arguments[2]);
    } while (got > 0);
    EVP_CIPHER_CTX_free(aes);
    if (ferror(in) || fclose(out)) fail(arguments[2]);
    return 0;
}
