#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "CLibc.h"

#include <sys/file.h>

int clibc_open_in(int folder, const char *name, int flags) {
  int fd = openat(folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  return fd;
}

int clibc_create_in(int folder, const char *name) {
  return openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

ssize_t clibc_copy_range(int from, int to, size_t count) {
#ifdef __linux__
  return copy_file_range(from, NULL, to, NULL, count, 0);
#else
  (void)from, (void)to, (void)count;
  errno = ENOSYS;
  return -1;
#endif
}

int clibc_lock(int fd) { return flock(fd, LOCK_EX | LOCK_NB); }
