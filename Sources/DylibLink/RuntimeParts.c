/* Parts of the runtimes that are linked into librealm.so which nothing here asks for, and small ones in
 * their place, so that the linker leaves the large ones out.
 *
 * Swift's has the names of all Unicode characters, half a megabyte, for one property of them; also their
 * ages, scripts, other names, numeric values and general categories, another 60 kilobytes, and what `Character.isLetter` and
 * its like go by and case folding, 35. C++'s has a printer of its symbols'
 * names, for messages when a program ends by an exception. The linker puts what is named `__wrap_…` here in
 * place of these (Package.swift).
 *
 * Swift's also has a signal handler that starts a program to print backtraces, 80 kilobytes: a library has
 * none to put into its host. Where these two symbols are defined, the linker doesn't take that part. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

intptr_t __wrap__swift_stdlib_getScalarName(uint32_t scalar, uint8_t *buffer, intptr_t capacity);
uint16_t __wrap__swift_stdlib_getAge(uint32_t scalar);
uint8_t __wrap__swift_stdlib_getScript(uint32_t scalar);
const uint8_t *__wrap__swift_stdlib_getScriptExtensions(uint32_t scalar, uint8_t *count);
const char *__wrap__swift_stdlib_getNameAlias(uint32_t scalar);
uint8_t __wrap__swift_stdlib_getNumericType(uint32_t scalar);
double __wrap__swift_stdlib_getNumericValue(uint32_t scalar);
uint8_t __wrap__swift_stdlib_getGeneralCategory(uint32_t scalar);
uint64_t __wrap__swift_stdlib_getBinaryProperties(uint32_t scalar);
void __wrap__swift_stdlib_getCaseMapping(uint32_t scalar, uint32_t *buffer);
char *__wrap___cxa_demangle(const char *name, char *buffer, size_t *length, int *status);
char *__wrap_swift_keyPathSourceString(const char *name);
bool _swift_backtrace_isThunkFunction(const char *name);

/* No character has a name. */
intptr_t __wrap__swift_stdlib_getScalarName(uint32_t scalar, uint8_t *buffer, intptr_t capacity) {
    (void)scalar;
    (void)buffer;
    (void)capacity;
    return 0;
}

/* The runtime's word for an unassigned character. */
uint16_t __wrap__swift_stdlib_getAge(uint32_t scalar) {
    (void)scalar;
    return UINT16_MAX;
}

/* The runtime's word for a character of unknown script. */
uint8_t __wrap__swift_stdlib_getScript(uint32_t scalar) {
    (void)scalar;
    return UINT8_MAX;
}

const uint8_t *__wrap__swift_stdlib_getScriptExtensions(uint32_t scalar, uint8_t *count) {
    (void)scalar;
    *count = 0;
    return 0;
}

/* No character has another name. */
const char *__wrap__swift_stdlib_getNameAlias(uint32_t scalar) {
    (void)scalar;
    return 0;
}

/* The runtime's word for a character that is no number. */
uint8_t __wrap__swift_stdlib_getNumericType(uint32_t scalar) {
    (void)scalar;
    return UINT8_MAX;
}

double __wrap__swift_stdlib_getNumericValue(uint32_t scalar) {
    (void)scalar;
    return 0;
}

/* The runtime's word for an unassigned character. */
uint8_t __wrap__swift_stdlib_getGeneralCategory(uint32_t scalar) {
    (void)scalar;
    return UINT8_MAX;
}

/* No character has a property that is true or false, such as being a letter. */
uint64_t __wrap__swift_stdlib_getBinaryProperties(uint32_t scalar) {
    (void)scalar;
    return 0;
}

/* Each character is folded to itself. */
void __wrap__swift_stdlib_getCaseMapping(uint32_t scalar, uint32_t *buffer) {
    buffer[0] = scalar;
}

/* The C++ runtime's word for a name that isn't one of its own: it is printed as it is. */
char *__wrap___cxa_demangle(const char *name, char *buffer, size_t *length, int *status) {
    (void)name;
    (void)buffer;
    (void)length;
    if (status)
        *status = -2;
    return NULL;
}

/* The runtime's word for a property whose name is not known: key paths of Swift are printed without names. */
char *__wrap_swift_keyPathSourceString(const char *name) {
    (void)name;
    return NULL;
}

bool _swift_backtrace_isThunkFunction(const char *name) {
    (void)name;
    return false;
}

/* Off, which is zero. The runtime's is 88 bytes long; it reads the first of them. */
_Alignas(16) char _swift_backtraceSettings[256];
