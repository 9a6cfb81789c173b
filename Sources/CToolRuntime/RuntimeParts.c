/* What Foundation, linked into the program `realm`, asks for and the program never uses: stand-ins, so that it
 * needs neither libcurl nor ICU's tables where it runs.
 *
 * The server of `realm studio` can also pass requests on to other servers; the studio never does. Foundation makes
 * such requests by libcurl, which is in no program that doesn't ask for it. Each function that it names is here,
 * and ends the program: nothing calls them.
 *
 * Foundation has ICU's data in it, 31 megabytes about languages and calendars, for texts in the user's language.
 * The program makes none: it writes numbers and moments itself. ICU takes the table of contents below, which
 * lists nothing, for its data, and answers that there is none of a language. The name has ICU's version; where
 * a compiler comes with another one, its data gets linked in again, and the program works as well. */
#include <stdint.h>
#include <stdlib.h>

#define NEVER_CALLED(name)                                                                                             \
    _Noreturn void name(void);                                                                                         \
    void name(void) { abort(); }

NEVER_CALLED(curl_easy_cleanup)
NEVER_CALLED(curl_easy_getinfo)
NEVER_CALLED(curl_easy_init)
NEVER_CALLED(curl_easy_pause)
NEVER_CALLED(curl_easy_setopt)
NEVER_CALLED(curl_easy_strerror)
NEVER_CALLED(curl_free)
NEVER_CALLED(curl_global_init)
NEVER_CALLED(curl_multi_add_handle)
NEVER_CALLED(curl_multi_assign)
NEVER_CALLED(curl_multi_cleanup)
NEVER_CALLED(curl_multi_info_read)
NEVER_CALLED(curl_multi_init)
NEVER_CALLED(curl_multi_remove_handle)
NEVER_CALLED(curl_multi_setopt)
NEVER_CALLED(curl_multi_socket_action)
NEVER_CALLED(curl_slist_append)
NEVER_CALLED(curl_slist_free_all)
NEVER_CALLED(curl_url)
NEVER_CALLED(curl_url_get)
NEVER_CALLED(curl_url_set)
NEVER_CALLED(curl_version)
NEVER_CALLED(curl_version_info)

/* ICU's header of data (unicode/udata.h), then the number of its parts. */
struct icu_data {
    uint16_t header_bytes;
    uint8_t magic[2];
    uint16_t info_bytes, reserved;
    uint8_t is_big_endian, charset_family, bytes_of_unit, reserved_byte;
    uint8_t format[4], format_version[4], data_version[4];
    uint8_t padding[8];
    uint32_t parts[4];
};

extern const struct icu_data icudt76_dat;
_Alignas(16) const struct icu_data icudt76_dat = {
    .header_bytes = 32,
    .magic = {0xda, 0x27},
    .info_bytes = 20,
    .bytes_of_unit = 2,
    .format = {'T', 'o', 'C', 'P'},
    .format_version = {1},
};
