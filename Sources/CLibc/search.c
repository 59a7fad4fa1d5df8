#include "clibc_search.h"

#include "blocks.h"

enum { MOST = 16 };

static int hex(uint8_t byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  byte |= 0x20;
  return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

static bool is_escape(const struct clibc_search *search, const uint8_t *at, size_t left) {
  if (left < 6 || at[0] != '\\' || at[1] != 'u') return false;
  int unit = 0;
  for (int i = 2; i < 6; i++) {
    int digit = hex(at[i]);
    if (digit < 0) return false;
    unit = unit << 4 | digit;
  }
  return unit < 256 ? search->escaped[unit] : search->wide;
}

static bool is_needle(const struct clibc_needle *needle, const uint8_t *at, size_t left) {
  if (needle->length > left) return false;
  for (uint32_t i = 0; i < needle->length; i++)
    if ((at[i] | needle->fold[i]) != needle->bytes[i]) return false;
  return true;
}

static bool is_hit(const struct clibc_search *search, const uint8_t *at, size_t left) {
  for (uint32_t i = 0; i < search->count; i++)
    if (is_needle(&search->needles[i], at, left)) return true;
  return is_escape(search, at, left);
}

ptrdiff_t clibc_search_plain(const struct clibc_search *search, const uint8_t *bytes, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (is_hit(search, bytes + i, count - i)) return (ptrdiff_t)i;
  return -1;
}

/* What makes a position worth a look: two bytes of a needle where they should be,
 * or the first and one more of an escape. */
struct pairs {
  struct {
    size_t place;
    uint8_t byte, fold;
  } each[MOST][2];
  size_t reach; /* no byte from this one on is read for a position */
};

INLINE struct pairs pairs(const struct clibc_search *search) {
  struct pairs result;
  result.reach = 3;
  for (uint32_t i = 0; i < search->count; i++) {
    const struct clibc_needle *needle = &search->needles[i];
    for (int k = 0; k < 2; k++) {
      size_t place = k == 0 ? needle->first : needle->second;
      result.each[i][k].place = place;
      result.each[i][k].byte = needle->bytes[place];
      result.each[i][k].fold = needle->fold[place];
      if (place >= result.reach) result.reach = place + 1;
    }
  }
  return result;
}

/* The positions of a block that are worth it. */
INLINE uint64_t worth(const struct clibc_search *search, const struct pairs *pairs,
                      const uint8_t *here) {
  /* Of the escapes below 256 the third byte is a 0: seldom behind a backslash. */
  const size_t place = search->wide ? 1 : 2;
  const uint8_t behind = search->wide ? 'u' : '0';
  uint64_t found = bits((block)(load(here) == '\\') & (block)(load(here + place) == behind));
  for (uint32_t i = 0; i < search->count; i++) {
    block match[2];
    for (int k = 0; k < 2; k++) {
      block bytes = load(here + pairs->each[i][k].place) | pairs->each[i][k].fold;
      match[k] = (block)(bytes == pairs->each[i][k].byte);
    }
    found |= bits(match[0] & match[1]);
  }
  return found;
}

INLINE ptrdiff_t find(const struct clibc_search *search, const uint8_t *bytes, size_t count) {
  const struct pairs looked_for = pairs(search);
  /* The rest, with zeros behind it: blocks are read from there to the end. */
  uint8_t rest[3 * BLOCK];
  const uint8_t *here = bytes;
  bool is_rest = false;
  for (size_t at = 0; at < count; at += BLOCK, here += BLOCK) {
    if (!is_rest && count - at < BLOCK + looked_for.reach) {
      if (looked_for.reach > BLOCK) {
        ptrdiff_t found = clibc_search_plain(search, bytes + at, count - at);
        return found < 0 ? found : found + (ptrdiff_t)at;
      }
      memset(rest, 0, sizeof rest);
      memcpy(rest, bytes + at, count - at);
      here = rest;
      is_rest = true;
    }
    for (uint64_t found = worth(search, &looked_for, here); found != 0; found &= found - 1) {
      size_t position = at + (size_t)__builtin_ctzll(found);
      if (position >= count) break;
      if (is_hit(search, bytes + position, count - position)) return (ptrdiff_t)position;
    }
  }
  return -1;
}

INLINE size_t lines(const uint8_t *bytes, size_t count) {
  size_t result = 0, at = 0;
  for (; count - at >= BLOCK; at += BLOCK)
    result += (size_t)__builtin_popcountll(equal(load(bytes + at), '\n'));
  for (; at < count; at++) result += bytes[at] == '\n';
  return result;
}

#define KERNELS(TARGET, LEVEL)                                                               \
  TARGET static ptrdiff_t find_##LEVEL(const struct clibc_search *search, const uint8_t *bytes, \
                                       size_t count) {                                       \
    return find(search, bytes, count);                                                       \
  }                                                                                          \
  TARGET static size_t lines_##LEVEL(const uint8_t *bytes, size_t count) {                   \
    return lines(bytes, count);                                                              \
  }

#if HAS_LEVELS
KERNELS(AVX512, avx512)
KERNELS(AVX2, avx2)
#endif
KERNELS(, plain)

ptrdiff_t clibc_search_find(const struct clibc_search *search, const uint8_t *bytes, size_t count) {
  if (search->count > MOST) return clibc_search_plain(search, bytes, count);
  return CALL(find, search, bytes, count);
}

size_t clibc_count_lines(const uint8_t *bytes, size_t count) { return CALL(lines, bytes, count); }
