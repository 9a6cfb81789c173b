#include <mbedtls/aes.h>
#include <mbedtls/md.h>
