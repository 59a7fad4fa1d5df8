/* Bytes by 64 at a time, one bit for each: what the kernels are made of.
 *
 * No processor has vectors of this size. The compiler makes of them
 * what the function that they are inlined into may use: one register of AVX-512,
 * two of AVX2, four of SSE2 or NEON. */
#ifndef AGENTUTILS_BLOCKS_H
#define AGENTUTILS_BLOCKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "clibc_kernels.h"

typedef uint8_t block __attribute__((vector_size(64)));
typedef bool flags __attribute__((ext_vector_type(64)));
enum { BLOCK = sizeof(block) };

/* Blocks are handed to inlined functions alone: no ABI is at stake. */
#pragma clang diagnostic ignored "-Wpsabi"
#define INLINE static inline __attribute__((always_inline))

/* What the function of a kernel may use. */
#if defined(__x86_64__)
#define HAS_LEVELS 1
#define AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#define AVX512 __attribute__((target("avx512bw,avx512vl,bmi,bmi2,lzcnt,popcnt")))
#else
#define HAS_LEVELS 0
#endif

/* What this processor has; below 0 as long as nobody asked. */
extern _Atomic int clibc_level;
int clibc_level_now(void);

INLINE int level(void) {
  int known = atomic_load_explicit(&clibc_level, memory_order_relaxed);
  return known >= 0 ? known : clibc_level_now();
}

/* Calls the form of a kernel that fits the processor. */
#if HAS_LEVELS
#define CALL(name, ...)                                                  \
  (level() == CLIBC_AVX512 ? name##_avx512(__VA_ARGS__)                  \
   : level() == CLIBC_AVX2 ? name##_avx2(__VA_ARGS__) : name##_plain(__VA_ARGS__))
#else
#define CALL(name, ...) name##_plain(__VA_ARGS__)
#endif

INLINE block load(const uint8_t *at) {
  block value;
  memcpy(&value, at, sizeof value);
  return value;
}

/* One bit for each byte, the first one lowest; `mask` holds 0 or 255 in each. */
INLINE uint64_t bits(block mask) {
  uint64_t result;
#if defined(__aarch64__)
  /* Each byte keeps the bit of its place among eight; then they are added. */
  const uint8x16_t place = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
  uint8x16_t part[4];
  memcpy(part, &mask, sizeof part);
  for (int i = 0; i < 4; i++) part[i] = vandq_u8(part[i], place);
  uint8x16_t halves = vpaddq_u8(vpaddq_u8(part[0], part[1]), vpaddq_u8(part[2], part[3]));
  halves = vpaddq_u8(halves, halves);
  result = vgetq_lane_u64(vreinterpretq_u64_u8(halves), 0);
#else
  flags each = __builtin_convertvector(mask, flags);
  memcpy(&result, &each, sizeof result);
#endif
  return result;
}

INLINE uint64_t equal(block bytes, uint8_t byte) { return bits((block)(bytes == byte)); }

/* The bits below the lowest one; all where there is none. */
INLINE uint64_t below(uint64_t mask) { return ~mask & (mask - 1); }

#endif
