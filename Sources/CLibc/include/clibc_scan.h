/* JSON crossed 64 bytes at a time: the quick part of the Scan types.
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
  uint64_t quoted;            /* one bit for each block: whether there is a quote in it */
  /* Quotes without those that are escaped; brackets, braces, bars and backslashes. The
   * last word is 0, so that 8 bytes may be read from anywhere before it. */
  uint64_t quotes[CLIBC_SCAN_WINDOW + 1];
  uint64_t brackets[CLIBC_SCAN_WINDOW + 1];
};

/* A value as it stands in the text, quotes and all; absent when count is 0. */
struct clibc_value {
  const uint8_t *start;
  size_t count;
};

/* How many names a walk can tell; the number of those that it does not. */
enum { CLIBC_NAMES = 31 };

/* Names of members, to be found by their ends: two of one length differ there. */
struct clibc_names {
  uint64_t walked;    /* a bit for each whose objects and arrays are not crossed */
  uint32_t factor;    /* makes a place of a name's first and last byte and length */
  uint8_t place[64];  /* the number of the name at a place */
  struct {
    uint64_t head, tail;
    size_t count;
  } name[CLIBC_NAMES + 1];
};

/* Prepares names of 1 to 16 bytes, at most 31; false when two cannot be told. */
bool clibc_names_make(struct clibc_names *names, const char *const *texts, size_t count,
                      uint64_t walked);

/* The number of the name that a text is, CLIBC_NAMES if it is none. */
size_t clibc_names_find(const struct clibc_names *names, const uint8_t *text, size_t count);

/* Begins a walk over a text. Where it goes back, the text is looked at again. */
void clibc_scan_open(struct clibc_scan *scan, const uint8_t *begin, const uint8_t *end);

/* Crosses members up to the end of the object or to one that is not plain, and
 * notes the value of each name at its number in `values` (32 of them), the last
 * one of a name; values of other names at CLIBC_NAMES.
 *
 * `place` is behind a member, or, where `first` is true, behind the opening
 * bracket; it is moved behind the last one that was crossed. The result is
 * CLIBC_SCAN_END behind the closing bracket of the object, CLIBC_SCAN_STOP before
 * what is not plain, or the number of a name that is walked: then `place` is at its
 * object or array. A key with an escape is not plain. */
enum { CLIBC_SCAN_STOP = -1, CLIBC_SCAN_END = -2 };
int clibc_scan_members(struct clibc_scan *scan, const uint8_t **place, bool *first,
                       const struct clibc_names *names, struct clibc_value *values);

/* Behind the bracket that closes the object or array at `at`; NULL when it is not
 * plain. */
const uint8_t *clibc_scan_container(struct clibc_scan *scan, const uint8_t *at);

/* Crosses characters and known escapes inside of a string, up to the closing quote,
 * to what cannot stand in a string, or to where 64 bytes or fewer are left. The
 * result may be among the four digits of an escape that is known. */
const uint8_t *clibc_scan_text(const uint8_t *at, const uint8_t *end);

/* How many bytes of ASCII there are before another one, or at least so many that
 * fewer than 64 bytes are left. */
size_t clibc_scan_ascii(const uint8_t *bytes, size_t count);

/* The next LF or CR, or `end`. */
const uint8_t *clibc_scan_line(const uint8_t *at, const uint8_t *end);

#endif
