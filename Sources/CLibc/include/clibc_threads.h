/* Threads of the system: the type of what they run differs between systems. */
#ifndef AGENTUTILS_CLIBC_THREADS_H
#define AGENTUTILS_CLIBC_THREADS_H

#include <pthread.h>

/* Starts a thread that calls body(context) and ends, with the room on its stack that
 * the first thread has as a rule. Signals are left to the first thread. 0, or the
 * number of the error. */
int clibc_thread_start(pthread_t *thread, void (*body)(void *), void *context);

/* How many cores this process may run on at once; at least 1. */
int clibc_cores(void);

#endif
