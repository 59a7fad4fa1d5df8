/* A preloaded library: the time of day is ahead by the seconds in the file CLOCK,
 * which is read each time. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
  long code = syscall(SYS_clock_gettime, clock, time);
  const char *path = getenv("CLOCK");
  if (code == 0 && clock == CLOCK_REALTIME && path) {
    char text[32] = "";
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
      if (read(file, text, sizeof text - 1) > 0) time->tv_sec += atol(text);
      close(file);
    }
  }
  return (int)code;
}
