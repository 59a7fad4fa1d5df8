/* meter INPUT OUTPUT COMMAND ARG...: run a command once and measure it.
 *
 * Prints the wall time (ns), user and system time (us), the largest resident
 * set (KiB, of the command and what it waited for) and the exit status. A small
 * process does this because a child's resident set begins with its parent's.
 *
 * meter -l COUNT LINES COMMAND ARG...: the lines of a file, one at a time, into
 * a command's standard input; each must come back before the next is written.
 * Prints the median, 90th and 99th percentile (ns) of COUNT such trips after
 * as many as the file has to warm up. Ends with 3 when one takes over 500 ms.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ll + t.tv_nsec;
}
static void die(const char *what) {
  perror(what);
  exit(2);
}
static long long microseconds(struct timeval t) { return t.tv_sec * 1000000ll + t.tv_usec; }

static int once(char **argv) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, argv[0], O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t pid;
  int status;
  struct rusage used;
  long long began = now();
  if (posix_spawnp(&pid, argv[2], &actions, NULL, argv + 2, environ) != 0) die(argv[2]);
  if (wait4(pid, &status, 0, &used) < 0) die("wait4");
  long long took = now() - began;
  long rss = used.ru_maxrss;
#ifdef __APPLE__
  rss /= 1024;
#endif
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  printf("%lld %lld %lld %ld %d\n", took, microseconds(used.ru_utime),
         microseconds(used.ru_stime), rss, code);
  return 0;
}

/* Writes a line and waits until a whole line is back. */
static long long trip(int in, int out, const char *line, size_t length, pid_t pid) {
  static char buffer[1 << 16];
  long long began = now();
  if (write(in, line, length) != (ssize_t)length) die("write");
  for (;;) {
    struct pollfd wait = {out, POLLIN, 0};
    ssize_t got = poll(&wait, 1, 500) == 1 ? read(out, buffer, sizeof buffer) : 0;
    if (got <= 0) {
      kill(pid, SIGTERM);
      waitpid(pid, NULL, 0);
      exit(3);
    }
    if (buffer[got - 1] == '\n') return now() - began;
  }
}

static int compare(const void *a, const void *b) {
  long long x = *(const long long *)a, y = *(const long long *)b;
  return (x > y) - (x < y);
}

static int latency(char **argv) {
  int count = atoi(argv[0]), in[2], out[2], warm = 0;
  FILE *lines = fopen(argv[1], "r");
  if (!lines || count < 1) die(argv[1]);
  if (pipe(in) != 0 || pipe(out) != 0) die("pipe");
  for (int i = 0; i < 2; i++) {
    fcntl(in[i], F_SETFD, FD_CLOEXEC);
    fcntl(out[i], F_SETFD, FD_CLOEXEC);
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  pid_t pid;
  if (posix_spawnp(&pid, argv[2], &actions, NULL, argv + 2, environ) != 0) die(argv[2]);
  close(in[0]);
  close(out[1]);
  signal(SIGPIPE, SIG_IGN);
  long long *times = calloc((size_t)count, sizeof *times);
  char *line = NULL;
  size_t room = 0;
  for (int i = 0; i < count;) {
    ssize_t length = getline(&line, &room, lines);
    if (length <= 0) {
      rewind(lines);
      warm = 1;
      continue;
    }
    long long took = trip(in[1], out[0], line, (size_t)length, pid);
    if (warm) times[i++] = took;
  }
  close(in[1]);
  waitpid(pid, NULL, 0);
  qsort(times, (size_t)count, sizeof *times, compare);
  printf("%lld %lld %lld\n", times[count / 2], times[count * 9 / 10], times[count * 99 / 100]);
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 4 && strcmp(argv[1], "-l") == 0) return latency(argv + 2);
  if (argc > 3) return once(argv + 1);
  fputs("usage: meter INPUT OUTPUT COMMAND ...\n       meter -l COUNT LINES COMMAND ...\n", stderr);
  return 2;
}
