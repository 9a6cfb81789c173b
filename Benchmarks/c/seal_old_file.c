/* Encrypts a file of realm-core as that library does, for measurements of `realm import`:
 *
 *     seal_old_file PLAIN SEALED KEYFILE
 *
 * KEYFILE has 64 bytes. The layout is in Sources/RealmCoreFile/PageCipher.swift. */
#include <mbedtls/aes.h>
#include <mbedtls/md.h>
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
    mbedtls_aes_context aes;
    mbedtls_aes_init(&aes);
    const mbedtls_md_info_t *sha224 = mbedtls_md_info_from_type(MBEDTLS_MD_SHA224);
    if (!sha224 || mbedtls_aes_setkey_enc(&aes, key, 256)) fail("key");
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
            if (mbedtls_aes_crypt_cbc(&aes, MBEDTLS_AES_ENCRYPT, PAGE, vector, page, block)) fail("encrypt");
            memcpy(record, &iv, 4);
            if (mbedtls_md_hmac(sha224, key + 32, 32, block, PAGE, record + 4)) fail("authenticate");
            pages++;
            number++;
        }
        if (pages > 0 && fwrite(group, PAGE, (size_t)pages + 1, out) != (size_t)pages + 1) fail(arguments[2]);
    } while (got > 0);
    mbedtls_aes_free(&aes);
    if (ferror(in) || fclose(out)) fail(arguments[2]);
    return 0;
}
