/* What Swift 6 cannot import from libc as it stands: global variables that the
 * language calls unsafe (optarg, stderr, environ), macros with arguments, and
 * GNU functions that the Swift overlay hides. */
#ifndef AGENTUTILS_CLIBC_H
#define AGENTUTILS_CLIBC_H

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <netdb.h>
#include <poll.h>
#include <locale.h>
#include <pwd.h>
#include <regex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <spawn.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "clibc_attempt.h"
#include "clibc_charset.h"
#include "clibc_child.h"
#include "clibc_files.h"
#include "clibc_kernels.h"
#include "clibc_resolve.h"
#include "clibc_scan.h"
#include "clibc_search.h"
#include "clibc_secret.h"
#include "clibc_serve.h"
#include "clibc_tcp.h"
#include "clibc_terminal.h"
#include "clibc_threads.h"

/* The state of getopt_long after one call. */
struct clibc_getopt {
  int result;             /* what getopt_long returned */
  const char *argument;   /* optarg */
  int index;              /* optind */
  int unknown;            /* optopt */
};

/* getopt_long keeps its state in globals: one scan at a time. */
void clibc_getopt_lock(void);
void clibc_getopt_unlock(void);
void clibc_getopt_reset(void);
struct clibc_getopt clibc_getopt_next(int argc, char *const argv[], const char *short_options,
                                      const struct option *long_options);

/* errno of this thread, which Swift cannot see through a module of ours. */
static inline int clibc_errno(void) { return errno; }

/* open and fcntl, which take a variable number of arguments. The descriptor is
 * never passed on to a program that is started. -1 with errno on failure. */
static inline int clibc_open(const char *path, int flags) { return open(path, flags | O_CLOEXEC); }
/* A file to write, made where there is none, not cut. */
static inline int clibc_create(const char *path) {
  return open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
}
/* A file of the user's own that only grows, made where there is none; never through a
 * symbolic link, and never waiting for the other end of a FIFO. */
static inline int clibc_append(const char *path) {
  return open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
              0600);
}

/* The process environment, for posix_spawn. */
char **clibc_environ(void);

/* Width of the terminal behind fd in columns and rows, or false. */
bool clibc_window_size(int fd, int *columns, int *rows);

/* Ends the process by this signal with its default action. */
void clibc_die_by_signal(int signal_number);

/* The path that execve(2) was given; NULL where the system does not say. */
const char *clibc_started_path(void);

/* As atexit(3), of a few functions: `handler` is called by clibc_exit, too. */
void clibc_at_exit(void (*handler)(void));

/* Ends the process, after what clibc_at_exit was given, the last first. The libraries put
 * nothing in order: those of TLS alone would take a millisecond for it. */
__attribute__((noreturn)) void clibc_exit(int status);

/* A self-pipe: after clibc_signals_watch(n) the signal's number is written as
 * one byte into the pipe whose reading end clibc_signals_fd() returns. The
 * pipe is made by the first watch. From then on SIGALRM interrupts blocking
 * calls every second, so that none outlives the signal. Returns 0, or -1 with errno. */
int clibc_signals_watch(int signal_number);
int clibc_signals_fd(void);
/* The same for a signal that does not end the process: without the alarm. */
int clibc_signals_note(int signal_number);

/* Gives free memory back to the system, where the library would keep it. */
void clibc_memory_trim(void);
/* Lets each thread's free memory be kept up to so many bytes, and no more: to have a page back
 * from the system costs more than to fill it. */
void clibc_memory_keep(int bytes);

/* SIG_IGN is a cast that Swift cannot import. */
void clibc_signal_ignore(int signal_number);
bool clibc_signal_is_ignored(int signal_number);

/* Where, from a place on, a file has bytes that are not a hole; the place itself where the system
 * does not tell, or there are none. */
long long clibc_next_data(int file, long long place);
/* Whether a file has a hole, as far as the system tells. Its offset stays. */
bool clibc_has_hole(int file);

/* memrchr and memmem, where Swift's overlay hides them. */
const void *clibc_memrchr(const void *bytes, int byte, size_t count);
const void *clibc_memmem(const void *bytes, size_t count, const void *needle, size_t length);

#endif
