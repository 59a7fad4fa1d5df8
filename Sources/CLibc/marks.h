/* Backslashes by blocks, for the kernels that cross strings. */
#ifndef AGENTUTILS_MARKS_H
#define AGENTUTILS_MARKS_H

#include "blocks.h"

/* The bytes behind a backslash that escapes them. `carry` is 1 when the block
 * before ended with such a backslash, and then tells the same of this one. */
INLINE uint64_t escaped(uint64_t slashes, uint64_t *carry) {
  uint64_t behind = slashes << 1 | *carry;
  /* Most backslashes stand alone. */
  if (__builtin_expect((slashes & behind) == 0, 1)) {
    *carry = slashes >> 63;
    return behind;
  }
  /* In a run of them every other one escapes, from the first on. Adding its first
   * bit to a run clears all of it, so that the runs that begin at even places can
   * be told from the others without a loop. */
  const uint64_t even = 0x5555555555555555;
  uint64_t open = slashes & ~*carry;
  uint64_t starts = open & ~(open << 1);
  uint64_t from_even = open & ~(open + (starts & even));
  uint64_t escapes = open & ~(from_even ^ even);
  behind = escapes << 1 | *carry;
  *carry = escapes >> 63;
  return behind;
}

#endif
