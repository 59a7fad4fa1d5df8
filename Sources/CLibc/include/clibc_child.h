/* Programs that are started: pipes and terminals of our own for them, and what
 * Swift cannot call (fcntl, the macros of sendmsg, types that differ between
 * systems). Every descriptor made here is closed in programs that are started. */
#ifndef AGENTUTILS_CLIBC_CHILD_H
#define AGENTUTILS_CLIBC_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A pipe; the end `ours` (0 reads, 1 writes) does not block. 0, or -1 with errno. */
int clibc_pipe(int ends[2], int ours);

/* A terminal of this size: the controlling end, which does not block, and the
 * other end's path in `name`. -1 with errno. */
int clibc_terminal_pair(int columns, int rows, char *name, size_t capacity);

/* Gives a terminal a size; its foreground processes get SIGWINCH. */
int clibc_set_window_size(int fd, int columns, int rows);

/* What clibc_spawn does with one of the standard descriptors, else a descriptor
 * that becomes it. */
enum { CLIBC_SPAWN_NOTHING = -1, CLIBC_SPAWN_OURS = -2 };

/* Starts argv[0], found in PATH, with every signal at its default and none
 * blocked. With `terminal`, in a session of its own whose controlling terminal
 * that path is, and which is all three standard descriptors, but for the output
 * where `standard` gives another one. The fourth of `standard` becomes descriptor 3; with
 * CLIBC_SPAWN_NOTHING there is none. No other descriptor is open in it. Without a terminal,
 * and when `leads`, it is in a process group of its own.
 * Returns an error number, 0 for none. */
int clibc_spawn(pid_t *child, char *const argv[], char *const environment[],
                const int standard[4], const char *terminal, bool leads);

/* Closes every descriptor behind the standard ones when this process becomes another program. */
void clibc_keep_others_private(void);

/* Makes a FIFO for the user alone, and opens it to read without waiting for a
 * writer, and without an end when the last writer goes. -1 with errno. */
int clibc_fifo(const char *path);

#endif
