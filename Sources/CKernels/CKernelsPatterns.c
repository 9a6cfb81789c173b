/* The library of regular expressions (PCRE2) has a compiler for the machine, a quarter of a megabyte
 * that we never ask for: patterns are interpreted, because only then their steps can be counted. The
 * functions below stand for the compiler's where the interpreter names them, so that the linker does
 * not take its object file from the archive. They are weak: should a later release need more of that
 * file, the library's own are taken. None is ever called with a compiled pattern, as there are none. */
#include <stddef.h>
#include <stdint.h>

__attribute__((weak)) void _pcre2_jit_free_8(void *code, void *memory)
{
    (void)code;
    (void)memory;
}

__attribute__((weak)) int _pcre2_jit_check_exec_8(void)
{
    return 0;
}

/* What the library returns for patterns that are not compiled for the machine: PCRE2_ERROR_JIT_BADOPTION. */
__attribute__((weak)) int pcre2_jit_match_8(const void *code, const uint8_t *subject, size_t length,
                                            size_t start, uint32_t options, void *data, void *context)
{
    (void)code;
    (void)subject;
    (void)length;
    (void)start;
    (void)options;
    (void)data;
    (void)context;
    return -45;
}
