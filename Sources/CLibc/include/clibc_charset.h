/* clibc_charset.h: texts of other charsets, by iconv(3). */
#ifndef AGENTUTILS_CLIBC_CHARSET_H
#define AGENTUTILS_CLIBC_CHARSET_H

#include <stddef.h>

/* Whether iconv(3) knows a charset by this name. */
int clibc_charset_is_known(const char *name);

/* The bytes as UTF-8, in memory that the caller frees, and how many bytes that are; what stands for
 * nothing becomes U+FFFD. NULL without memory, or for a charset that is not known. */
char *clibc_charset_utf8(const char *name, const char *bytes, size_t size, size_t *length);

#endif
