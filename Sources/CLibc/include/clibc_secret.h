/* A question to the user whose answer must not be seen. */
#ifndef AGENTUTILS_CLIBC_SECRET_H
#define AGENTUTILS_CLIBC_SECRET_H

#include <stddef.h>
#include <sys/types.h>

/* Asks on the terminal of the process, whatever mode that is in, and reads a line
 * without showing it. The terminal is given back as it was found; a signal that
 * comes meanwhile does what it would have done, behind that. The number of bytes
 * without the line feed, more than `size` being dropped; -1 where nobody answers:
 * no terminal, its end, or a signal that the process survived. */
ssize_t clibc_ask_secret(const char *prompt, char *answer, size_t size);

/* Overwrites bytes, which no compiler may find needless. */
void clibc_wipe(void *bytes, size_t count);

#endif
