#include "clibc_kernels.h"

#include "blocks.h"

_Atomic int clibc_level = -1;

int clibc_level_now(void) {
  return clibc_kernels(CLIBC_AVX512);
}

int clibc_kernels(enum clibc_level most) {
  int level = CLIBC_PLAIN;
#if HAS_LEVELS
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) level = CLIBC_AVX2;
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) level = CLIBC_AVX512;
#endif
  if (level > (int)most) level = most;
  atomic_store_explicit(&clibc_level, level, memory_order_relaxed);
  return level;
}
