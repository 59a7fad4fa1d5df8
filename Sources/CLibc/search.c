#include "clibc_search.h"

#include <string.h>

/* 64 positions at a time. The compiler makes of it what the processor has: four
 * registers of SSE2 or NEON, two of AVX2. */
typedef uint8_t block __attribute__((vector_size(64)));
typedef bool flags __attribute__((ext_vector_type(64)));
enum { BLOCK = sizeof(block), MOST = 16 };

#if defined(__x86_64__)
#define HAS_AVX2 1
#else
#define HAS_AVX2 0
#endif
/* Blocks are handed to inlined functions alone: no ABI is at stake. */
#pragma clang diagnostic ignored "-Wpsabi"
#define INLINE static inline __attribute__((always_inline))

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

INLINE block load(const uint8_t *at) {
  block value;
  memcpy(&value, at, sizeof value);
  return value;
}

/* One bit for each byte that is not 0. */
INLINE uint64_t bits(block mask) {
  flags each = __builtin_convertvector(mask, flags);
  uint64_t result;
  memcpy(&result, &each, sizeof result);
  return result;
}

/* A position is looked at when two bytes of a needle are where they should be,
 * or the first and one more of an escape. */
INLINE ptrdiff_t find(const struct clibc_search *search, const uint8_t *bytes, size_t count) {
  struct {
    size_t place;
    uint8_t byte, fold;
  } pairs[MOST][2];
  /* No byte beyond this one is read for a position. */
  size_t reach = 2;
  for (uint32_t i = 0; i < search->count; i++) {
    const struct clibc_needle *needle = &search->needles[i];
    for (int k = 0; k < 2; k++) {
      pairs[i][k].place = k == 0 ? needle->first : needle->second;
      pairs[i][k].byte = needle->bytes[pairs[i][k].place];
      pairs[i][k].fold = needle->fold[pairs[i][k].place];
    }
    if (needle->length > reach) reach = needle->length;
  }
  /* Of the escapes below 256 the third byte is a 0: seldom behind a backslash. */
  const size_t place = search->wide ? 1 : 2;
  const uint8_t behind = search->wide ? 'u' : '0';
  size_t at = 0;
  for (; count >= BLOCK + reach && at <= count - BLOCK - reach; at += BLOCK) {
    const uint8_t *here = bytes + at;
    uint64_t found = bits((block)(load(here) == '\\') & (block)(load(here + place) == behind));
    for (uint32_t i = 0; i < search->count; i++) {
      block match[2];
      for (int k = 0; k < 2; k++)
        match[k] = (block)((load(here + pairs[i][k].place) | pairs[i][k].fold) == pairs[i][k].byte);
      found |= bits(match[0] & match[1]);
    }
    for (; found != 0; found &= found - 1) {
      size_t position = at + (size_t)__builtin_ctzll(found);
      if (is_hit(search, bytes + position, count - position)) return (ptrdiff_t)position;
    }
  }
  ptrdiff_t rest = clibc_search_plain(search, bytes + at, count - at);
  return rest < 0 ? rest : rest + (ptrdiff_t)at;
}

INLINE size_t lines(const uint8_t *bytes, size_t count) {
  size_t result = 0, at = 0;
  for (; count - at >= BLOCK; at += BLOCK)
    result += (size_t)__builtin_popcountll(bits((block)(load(bytes + at) == '\n')));
  for (; at < count; at++) result += bytes[at] == '\n';
  return result;
}

#if HAS_AVX2
__attribute__((target("avx2,popcnt"))) static ptrdiff_t find_avx2(
    const struct clibc_search *search, const uint8_t *bytes, size_t count) {
  return find(search, bytes, count);
}
__attribute__((target("avx2,popcnt"))) static size_t lines_avx2(const uint8_t *bytes, size_t count) {
  return lines(bytes, count);
}
#endif

ptrdiff_t clibc_search_find(const struct clibc_search *search, const uint8_t *bytes, size_t count) {
  if (search->count > MOST) return clibc_search_plain(search, bytes, count);
#if HAS_AVX2
  if (__builtin_cpu_supports("avx2")) return find_avx2(search, bytes, count);
#endif
  return find(search, bytes, count);
}

size_t clibc_count_lines(const uint8_t *bytes, size_t count) {
#if HAS_AVX2
  if (__builtin_cpu_supports("avx2")) return lines_avx2(bytes, count);
#endif
  return lines(bytes, count);
}
