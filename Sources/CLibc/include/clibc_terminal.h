/* A terminal that must be given back as it was found, whatever ends the
 * process: exit, a signal, a crash. One terminal at a time. */
#ifndef AGENTUTILS_CLIBC_TERMINAL_H
#define AGENTUTILS_CLIBC_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* The most bytes that undo what was written. */
enum { CLIBC_UNDO = 1024 };

/* Keeps the modes of the terminal `input`, and the bytes that undo what will be
 * written to `output`; then takes keys one by one and without echo. From then on
 * clibc_terminal_restore is called by exit and by signals that tell of a crash.
 * 0, or -1 with errno. */
int clibc_terminal_guard(int input, int output, const char *undo, size_t count);

/* Other bytes that undo what was written, from now on. 0, or -1 with errno. */
int clibc_terminal_undo(const char *undo, size_t count);

/* How keys come to a terminal that is guarded, from now on; or once more, after
 * something else has changed it. 0, or -1 with errno. */
int clibc_terminal_keys(bool raw);

/* Gives the terminal back; does nothing when there is none to give back. Safe
 * in a signal handler. Keys that were not read are dropped. */
void clibc_terminal_restore(void);

/* Stops the process as SIGTSTP does by default, even when it is watched, and
 * returns when it goes on; at once where no shell could make it go on. */
void clibc_stop(void);

#endif
