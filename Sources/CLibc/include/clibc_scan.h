/* JSON crossed 64 bytes at a time: the quick part of Core's Scan types.
 *
 * Everything here is a shortcut. A function that meets what is not plain (a
 * fault, a nesting beyond 64) stops before it; the walk in Swift, which the
 * result must equal, goes on from there and says what is wrong. No byte outside
 * of the text is read. */
#ifndef AGENTUTILS_CLIBC_SCAN_H
#define AGENTUTILS_CLIBC_SCAN_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

/* Blocks of 64 bytes that are looked at ahead of the walk. */
enum { CLIBC_SCAN_WINDOW = 64 };

/* A text and where in a window of it its marks are: one bit for each byte. */
struct clibc_scan {
  const uint8_t *begin, *end; /* the text */
  const uint8_t *base;        /* the first byte of the window */
  size_t blocks;              /* of the window; the last one may reach beyond the end */
  uint64_t carry;             /* 1 when the byte behind the window is escaped */
  /* Quotes without those that are escaped; backslashes; brackets and braces. The
   * last word is 0, so that 8 bytes may be read from anywhere before it. */
  uint64_t quotes[CLIBC_SCAN_WINDOW + 1];
  uint64_t slashes[CLIBC_SCAN_WINDOW + 1];
  uint64_t brackets[CLIBC_SCAN_WINDOW + 1];
};

/* A member of an object: its key between the quotes, escapes as they stand, and
 * its value, quotes and all. */
struct clibc_member {
  const uint8_t *key;
  size_t key_count;
  const uint8_t *value;
  size_t value_count;
};

/* Begins a walk over a text. Where it goes back, the text is looked at again. */
void clibc_scan_open(struct clibc_scan *scan, const uint8_t *begin, const uint8_t *end);

/* Crosses members with strings, numbers and words for values, up to the end of
 * the object or until there is no more room.
 *
 * `place` is behind a member, or, where `first` is true, behind the opening
 * bracket; it is moved behind the last one that was crossed. A member whose value
 * is an object or array is the last one too, has a value_count of 0, and `place`
 * is at that value. The result is the number of members. */
size_t clibc_scan_members(struct clibc_scan *scan, const uint8_t **place, bool first,
                          struct clibc_member *members, size_t room);

/* Behind the bracket that closes the object or array at `at`; NULL when it is not
 * plain. */
const uint8_t *clibc_scan_container(struct clibc_scan *scan, const uint8_t *at);

#endif
