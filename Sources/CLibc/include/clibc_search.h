/* Bytes that are looked for in a whole buffer at once: SIMD that Swift's
 * standard library has no shuffles and masks for. */
#ifndef AGENTUTILS_CLIBC_SEARCH_H
#define AGENTUTILS_CLIBC_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A byte b matches bytes[k] where (b | fold[k]) == bytes[k]: fold is 0x20 for a
 * letter (bytes[k] in lower case) whose case does not matter, else 0. */
struct clibc_needle {
  const uint8_t *bytes;
  const uint8_t *fold;
  uint32_t length; /* at least 1 */
  uint32_t first;  /* two of its bytes, seldom ones; may be the same */
  uint32_t second;
};

struct clibc_search {
  const struct clibc_needle *needles;
  uint32_t count;
  /* Besides the needles, a \u00XX is found where escaped[XX] is true, and any
   * other \u of four hexadecimal digits where wide is. */
  bool wide;
  bool escaped[256];
};

/* Where the first of them begins, -1 if there is none. Reads no byte outside of
 * the buffer. `plain` goes byte by byte, and is what the other one must equal. */
ptrdiff_t clibc_search_find(const struct clibc_search *search, const uint8_t *bytes, size_t count);
ptrdiff_t clibc_search_plain(const struct clibc_search *search, const uint8_t *bytes, size_t count);

/* How many line feeds there are. */
size_t clibc_count_lines(const uint8_t *bytes, size_t count);

#endif
