#include "clibc_scan.h"

#include "marks.h"

INLINE bool is_hex(uint8_t byte) {
  return (uint8_t)(byte - '0') < 10 || (uint8_t)((byte | 0x20) - 'a') < 6;
}

/* Whether four digits follow the u of an escape. */
INLINE bool is_unit(const uint8_t *at, const uint8_t *end) {
  return end - at >= 5 && is_hex(at[1]) && is_hex(at[2]) && is_hex(at[3]) && is_hex(at[4]);
}

/* The bytes that end an escape of two, and the u of a longer one. */
INLINE uint64_t known(const uint8_t *at) {
  block bytes = load(at);
  return bits((block)(bytes == '"') | (block)(bytes == '\\') | (block)(bytes == '/') |
              (block)(bytes == 'b') | (block)(bytes == 'f') | (block)(bytes == 'n') |
              (block)(bytes == 'r') | (block)(bytes == 't') | (block)(bytes == 'u'));
}

INLINE uint64_t controls(const uint8_t *at) { return bits((block)(load(at) < 0x20)); }

INLINE const uint8_t *text(const uint8_t *at, const uint8_t *end) {
  /* 1 when the byte before a block is a backslash that escapes its first one. */
  uint64_t carry = 0;
  /* No block waits for the marks of the one before it, but for that bit. */
  for (; end - at >= BLOCK; at += BLOCK) {
    block bytes = load(at);
    uint64_t slashes = equal(bytes, '\\'), quotes = equal(bytes, '"');
    uint64_t behind = escaped(slashes, &carry);
    uint64_t stop = (quotes & ~behind) | controls(at);
    uint64_t units = 0;
    /* Nearly all escapes are one of three. */
    if ((behind & ~(slashes | quotes | equal(bytes, 'n'))) != 0) {
      uint64_t unknown = behind & ~known(at);
      if ((unknown & 1) != 0) return at - 1;
      stop |= unknown >> 1;
      units = behind & equal(bytes, 'u');
    }
    for (units &= below(stop); units != 0; units &= units - 1) {
      const uint8_t *unit = at + __builtin_ctzll(units);
      if (!is_unit(unit, end)) return unit - 1;
    }
    if (stop != 0) return at + __builtin_ctzll(stop);
  }
  return at - carry;
}

INLINE size_t ascii(const uint8_t *bytes, size_t count) {
  size_t at = 0;
  for (; count - at >= BLOCK; at += BLOCK) {
    uint64_t others = bits((block)(load(bytes + at) >= 0x80));
    if (others != 0) return at + (size_t)__builtin_ctzll(others);
  }
  return at;
}

INLINE const uint8_t *line(const uint8_t *at, const uint8_t *end) {
  for (; end - at >= BLOCK; at += BLOCK) {
    block bytes = load(at);
    uint64_t ends = bits((block)(bytes == '\n') | (block)(bytes == '\r'));
    if (ends != 0) return at + __builtin_ctzll(ends);
  }
  while (at < end && *at != '\n' && *at != '\r') at++;
  return at;
}

#define KERNELS(TARGET, LEVEL)                                                             \
  TARGET static const uint8_t *text_##LEVEL(const uint8_t *at, const uint8_t *end) {        \
    return text(at, end);                                                                  \
  }                                                                                        \
  TARGET static size_t ascii_##LEVEL(const uint8_t *bytes, size_t count) {                  \
    return ascii(bytes, count);                                                            \
  }                                                                                        \
  TARGET static const uint8_t *line_##LEVEL(const uint8_t *at, const uint8_t *end) {        \
    return line(at, end);                                                                  \
  }

#if HAS_LEVELS
KERNELS(AVX512, avx512)
KERNELS(AVX2, avx2)
#endif
KERNELS(, plain)

const uint8_t *clibc_scan_text(const uint8_t *at, const uint8_t *end) {
  return CALL(text, at, end);
}

size_t clibc_scan_ascii(const uint8_t *bytes, size_t count) { return CALL(ascii, bytes, count); }

const uint8_t *clibc_scan_line(const uint8_t *at, const uint8_t *end) {
  return CALL(line, at, end);
}
