/* The program's key is in no memory of the process that it has not made itself: not while a realm is open whose
 * configuration is gone, nor after it is closed. What is made of it is in locked memory. */
#define _GNU_SOURCE
#include "people.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

/* Not as an array: that would be found. */
static uint8_t key_byte(unsigned salt, int i) { return (uint8_t)((i * 167 + salt) ^ (i << 2) ^ 0x5c); }

static void make_key(uint8_t *key, unsigned salt) {
    for (int i = 0; i < 64; i++) key[i] = key_byte(salt, i);
}

static void wipe(volatile uint8_t *bytes) {
    for (int i = 0; i < 64; i++) bytes[i] = 0;
}

static bool has_key_at(const uint8_t *bytes, unsigned salt, int first) {
    for (int i = 0; i < 16; i++)
        if (bytes[i] != key_byte(salt, first + i)) return false;
    return true;
}

/* How often sixteen bytes of the key, from the first or from the 32nd on, are in memory that can be written. */
static int copies_of_key(unsigned salt) {
    enum { chunk = 1 << 20, overlap = 16 };
    /* Not part of what is searched: what was read stays in it. */
    uint8_t *buffer = mmap(NULL, chunk + overlap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(buffer != MAP_FAILED);
    FILE *maps = fopen("/proc/self/maps", "r");
    const int memory = open("/proc/self/mem", O_RDONLY);
    CHECK(maps != NULL && memory >= 0);
    char line[512];
    int found = 0;
    size_t searched = 0;
    while (fgets(line, sizeof line, maps)) {
        uintptr_t start, end;
        char rights[5];
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &start, &end, rights) != 3 || rights[1] != 'w') continue;
        /* What is that large is address space for the decrypted file. */
        if (end - start > (uintptr_t)1 << 30) continue;
        for (uintptr_t at = start; at < end; at += chunk) {
            if (at <= (uintptr_t)buffer && (uintptr_t)buffer < at + chunk + overlap) continue;
            const size_t size = end - at < chunk + overlap ? end - at : chunk + overlap;
            const ssize_t count = pread(memory, buffer, size, (off_t)at);
            const uint8_t first = key_byte(salt, 0), middle = key_byte(salt, 32);
            for (ssize_t i = 0; i + 16 <= count && i < chunk; i++)
                if (buffer[i] == first || buffer[i] == middle)
                    found += has_key_at(buffer + i, salt, 0) || has_key_at(buffer + i, salt, 32);
            searched += count > 0 ? (size_t)count : 0;
        }
    }
    CHECK(searched > 1 << 16);
    fclose(maps);
    close(memory);
    memset(buffer, 0, chunk + overlap);
    munmap(buffer, chunk + overlap);
    return found;
}

/* Kilobytes of memory that the kernel never writes to a disk. */
static long locked(void) {
    char line[256];
    long found = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) sscanf(line, "VmLck: %ld", &found);
    if (status) fclose(status);
    return found;
}

static realm_t *open_sealed(const char *path, uint8_t *key) {
    realm_config_t *config = people_config(path);
    SUCCEEDS(realm_config_set_encryption_key(config, key, 64));
    wipe(key);
    realm_t *realm = realm_open(config);
    realm_release(config);
    return realm;
}

int main(void) {
    /* In one place, so that this program has no copies of its own. */
    uint8_t *key = calloc(1, 64);
    make_key(key, 7);
    CHECK(copies_of_key(7) > 0);
    wipe(key);
    CHECK(copies_of_key(7) == 0);

    const long before = locked();
    make_key(key, 7);
    realm_t *realm = open_sealed("memory.realm", key);
    CHECK(realm != NULL);
    CHECK(copies_of_key(7) == 0);
    CHECK(locked() > before);
    CHECK(realm_begin_write(realm));
    const keys_t k = keys_of(realm);
    realm_release(realm_object_create_with_primary_key(realm, k.person, of_int(1)));
    CHECK(realm_commit(realm));
    CHECK(copies_of_key(7) == 0);

    /* A second opening has to bring the right key; another one is refused. */
    make_key(key, 7);
    realm_t *second = open_sealed("memory.realm", key);
    CHECK(second != NULL);
    make_key(key, 9);
    CHECK(open_sealed("memory.realm", key) == NULL);
    CHECK(copies_of_key(7) == 0 && copies_of_key(9) == 0);

    /* Calls with a key let go of it when they return. */
    make_key(key, 9);
    SUCCEEDS(realm_convert_with_path(realm, "other.realm", (realm_binary_t){key, 64}, false));
    wipe(key);
    CHECK(copies_of_key(9) == 0);
    make_key(key, 9);
    size_t problems = 1;
    SUCCEEDS(realm_check_file_with_key("other.realm", (realm_binary_t){key, 64}, NULL, NULL, &problems));
    CHECK(problems == 0);
    uint8_t *next = calloc(1, 64);
    make_key(next, 11);
    SUCCEEDS(realm_change_encryption_key("other.realm", (realm_binary_t){key, 64}, (realm_binary_t){next, 64}));
    wipe(key);
    wipe(next);
    free(next);
    CHECK(copies_of_key(9) == 0 && copies_of_key(11) == 0);

    realm_release(second);
    realm_close(realm);
    realm_release(realm);
    CHECK(copies_of_key(7) == 0);
    CHECK(locked() == before);
    free(key);
    return check_end("encryption_memory");
}
