/* The Swift runtime has the names of all Unicode characters, half a megabyte, for one property that
 * nothing here asks for; also their ages, scripts, other names and numeric values, another 30 kilobytes. librealm.so is linked with
 * --wrap=_swift_stdlib_getScalarName and so on, so that these stand in their place and the linker
 * leaves the tables out. */
#include <stdint.h>

intptr_t __wrap__swift_stdlib_getScalarName(uint32_t scalar, uint8_t *buffer, intptr_t capacity);
uint16_t __wrap__swift_stdlib_getAge(uint32_t scalar);
uint8_t __wrap__swift_stdlib_getScript(uint32_t scalar);
const uint8_t *__wrap__swift_stdlib_getScriptExtensions(uint32_t scalar, uint8_t *count);
const char *__wrap__swift_stdlib_getNameAlias(uint32_t scalar);
uint8_t __wrap__swift_stdlib_getNumericType(uint32_t scalar);
double __wrap__swift_stdlib_getNumericValue(uint32_t scalar);

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
