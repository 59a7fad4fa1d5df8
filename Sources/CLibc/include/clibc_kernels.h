/* Which of their forms the kernels of clibc_scan.h and clibc_search.h take. */
#ifndef AGENTUTILS_CLIBC_KERNELS_H
#define AGENTUTILS_CLIBC_KERNELS_H

/* What a processor may have: each includes those before it. */
enum clibc_level { CLIBC_PLAIN = 0, CLIBC_AVX2 = 1, CLIBC_AVX512 = 2 };

/* Keeps the kernels from what is above this level, for tests that hold them
 * against each other; the result is the level that they use from now on. */
int clibc_kernels(enum clibc_level most);

#endif
