#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "CLibc.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef __linux__
#include <sys/auxv.h>
#endif
#include <pthread.h>

static pthread_mutex_t getopt_mutex = PTHREAD_MUTEX_INITIALIZER;

void clibc_getopt_lock(void) { pthread_mutex_lock(&getopt_mutex); }
void clibc_getopt_unlock(void) { pthread_mutex_unlock(&getopt_mutex); }

void clibc_getopt_reset(void) {
  opterr = 0;
#ifdef __APPLE__
  optreset = 1;
  optind = 1;
#else
  optind = 0; /* glibc and musl: start anew, and reread POSIXLY_CORRECT */
#endif
}

struct clibc_getopt clibc_getopt_next(int argc, char *const argv[], const char *short_options,
                                      const struct option *long_options) {
  struct clibc_getopt state;
  optarg = NULL;
  optopt = 0;
  state.result = getopt_long(argc, argv, short_options, long_options, NULL);
  state.argument = optarg;
  state.index = optind;
  state.unknown = optopt;
  return state;
}

void clibc_memory_trim(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

void clibc_memory_keep(int bytes) {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, bytes);
  mallopt(M_TRIM_THRESHOLD, bytes);
#else
  (void)bytes;
#endif
}

extern char **environ;
char **clibc_environ(void) { return environ; }

bool clibc_window_size(int fd, int *columns, int *rows) {
  struct winsize size;
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return false;
  *columns = size.ws_col;
  *rows = size.ws_row;
  return true;
}

static void (*exit_handlers[8])(void);
static size_t exit_count;

void clibc_at_exit(void (*handler)(void)) {
  if (exit_count == sizeof exit_handlers / sizeof *exit_handlers) abort();
  exit_handlers[exit_count++] = handler;
  atexit(handler);
}

void clibc_exit(int status) {
  while (exit_count > 0) exit_handlers[--exit_count]();
  fflush(NULL);
  _exit(status);
}

void clibc_die_by_signal(int signal_number) {
  sigset_t set;
  signal(signal_number, SIG_DFL);
  sigemptyset(&set);
  sigaddset(&set, signal_number);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  raise(signal_number);
  _exit(128 + signal_number);
}

static int signal_pipe[2] = {-1, -1};

/* A signal may come between a check and a call that blocks: interrupt again,
 * every second, until the process has ended. */
static void on_alarm(int signal_number) {
  (void)signal_number;
  alarm(1);
}

static void tell(int signal_number) {
  int saved = errno;
  unsigned char byte = (unsigned char)signal_number;
  ssize_t ignored = write(signal_pipe[1], &byte, 1);
  (void)ignored;
  errno = saved;
}

static void on_signal(int signal_number) {
  tell(signal_number);
  alarm(1);
}

static int watch(int signal_number, void (*handler)(int)) {
  if (signal_pipe[0] < 0) {
    if (pipe(signal_pipe) != 0) return -1;
    for (int end = 0; end < 2; end++) {
      fcntl(signal_pipe[end], F_SETFD, FD_CLOEXEC);
      fcntl(signal_pipe[end], F_SETFL, fcntl(signal_pipe[end], F_GETFL) | O_NONBLOCK);
    }
  }
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler; /* no SA_RESTART: a blocked write must return */
  sigemptyset(&action.sa_mask);
  return sigaction(signal_number, &action, NULL);
}

int clibc_signals_note(int signal_number) { return watch(signal_number, tell); }

int clibc_signals_watch(int signal_number) {
  struct sigaction action;
  if (watch(signal_number, on_signal) != 0) return -1;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_alarm;
  sigemptyset(&action.sa_mask);
  return sigaction(SIGALRM, &action, NULL);
}

void clibc_signal_ignore(int signal_number) { signal(signal_number, SIG_IGN); }

bool clibc_signal_is_ignored(int signal_number) {
  struct sigaction action;
  return sigaction(signal_number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

int clibc_signals_fd(void) { return signal_pipe[0]; }

long long clibc_next_data(int file, long long place) {
#ifdef SEEK_DATA
  off_t old = lseek(file, 0, SEEK_CUR);
  off_t found = lseek(file, (off_t)place, SEEK_DATA);
  if (found < 0 && errno == ENXIO) {
    struct stat status;
    if (fstat(file, &status) == 0 && status.st_size > place) found = status.st_size;
  }
  if (old >= 0) lseek(file, old, SEEK_SET);
  return found > place ? found : place;
#else
  (void)file;
  return place;
#endif
}

bool clibc_has_hole(int file) {
#ifdef SEEK_HOLE
  struct stat status;
  off_t old = lseek(file, 0, SEEK_CUR);
  if (old < 0 || fstat(file, &status) != 0) return false;
  off_t found = lseek(file, 0, SEEK_HOLE);
  lseek(file, old, SEEK_SET);
  return found >= 0 && found < status.st_size;
#else
  (void)file;
  return false;
#endif
}

const void *clibc_memrchr(const void *bytes, int byte, size_t count) {
#ifdef __linux__
  return memrchr(bytes, byte, count);
#else
  const unsigned char *start = bytes;
  while (count > 0) {
    count--;
    if (start[count] == (unsigned char)byte) return start + count;
  }
  return NULL;
#endif
}

const void *clibc_memmem(const void *bytes, size_t count, const void *needle, size_t length) {
  return memmem(bytes, count, needle, length);
}

const char *clibc_started_path(void) {
#ifdef __linux__
  return (const char *)getauxval(AT_EXECFN);
#else
  return NULL;
#endif
}
