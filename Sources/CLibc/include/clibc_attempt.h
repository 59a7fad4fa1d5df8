/* A call of a library that may end the process by assert(3). */
#ifndef AGENTUTILS_CLIBC_ATTEMPT_H
#define AGENTUTILS_CLIBC_ATTEMPT_H

#include <stdbool.h>

/* Calls `body`; false where an assertion of a library failed in it (with glibc). What
 * the library held is then lost, and must not be used again. Nothing of the caller's
 * may be between `body` and the library that has to be cleaned up. */
bool clibc_attempt(void (*body)(void *), void *context);

#endif
