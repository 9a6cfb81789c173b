/* The Swift runtime has the names of all Unicode characters, half a megabyte, for one property that
 * nothing here asks for. librealm.so is linked with --wrap=_swift_stdlib_getScalarName, so that this
 * stands in its place and the linker leaves the names out. */
#include <stdint.h>

intptr_t __wrap__swift_stdlib_getScalarName(uint32_t scalar, uint8_t *buffer, intptr_t capacity);

/* No character has a name. */
intptr_t __wrap__swift_stdlib_getScalarName(uint32_t scalar, uint8_t *buffer, intptr_t capacity) {
    (void)scalar;
    (void)buffer;
    (void)capacity;
    return 0;
}
