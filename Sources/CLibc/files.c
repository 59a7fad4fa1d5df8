#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "CLibc.h"

#include <sys/file.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/inotify.h>
#elif defined(__APPLE__)
#include <sys/event.h>
#endif

int clibc_open_in(int folder, const char *name, int flags) {
  int fd = openat(folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  return fd;
}

int clibc_create_in(int folder, const char *name) {
  return openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

int clibc_open_folder(const char *path) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
#if defined(O_PATH)
  if (fd < 0 && errno == EACCES) fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
#elif defined(O_SEARCH)
  if (fd < 0 && errno == EACCES) fd = open(path, O_SEARCH | O_DIRECTORY | O_CLOEXEC);
#endif
  return fd;
}

int64_t clibc_born(const char *path) {
#if defined(STATX_BTIME)
  struct statx status;
  if (statx(AT_FDCWD, path, 0, STATX_BTIME, &status) != 0) return 0;
  if (!(status.stx_mask & STATX_BTIME)) return 0;
  return (int64_t)status.stx_btime.tv_sec * 1000000000 + status.stx_btime.tv_nsec;
#elif defined(__APPLE__) || defined(__FreeBSD__) || defined(__NetBSD__)
  struct stat status;
  if (stat(path, &status) != 0 || status.st_birthtimespec.tv_sec <= 0) return 0;
  return (int64_t)status.st_birthtimespec.tv_sec * 1000000000 + status.st_birthtimespec.tv_nsec;
#else
  (void)path;
  return 0;
#endif
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

int clibc_is_being_written(int fd) {
#ifdef F_SETLEASE
  /* Nobody gets a lease to read what another one has open to write. It is given
   * back at once; who opens the file meanwhile makes the kernel send SIGIO. */
  signal(SIGIO, SIG_IGN);
  if (fcntl(fd, F_SETLEASE, F_RDLCK) == 0) {
    fcntl(fd, F_SETLEASE, F_UNLCK);
    return 0;
  }
  return errno == EAGAIN;
#else
  (void)fd;
  return 0;
#endif
}

int clibc_folder_watch(const char *path) {
#ifdef __linux__
  int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (fd < 0) return -1;
  const uint32_t what = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE_SELF | IN_MOVE_SELF;
  if (inotify_add_watch(fd, path, what) < 0) {
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
  }
  return fd;
#elif defined(__APPLE__)
  struct kevent change;
  int folder = open(path, O_EVTONLY | O_CLOEXEC);
  int queue = folder < 0 ? -1 : kqueue();
  if (queue < 0) {
    if (folder >= 0) close(folder);
    return -1;
  }
  EV_SET(&change, folder, EVFILT_VNODE, EV_ADD | EV_CLEAR, NOTE_WRITE | NOTE_DELETE | NOTE_RENAME, 0,
         NULL);
  if (kevent(queue, &change, 1, NULL, 0, NULL) != 0) {
    close(folder);
    close(queue);
    return -1;
  }
  return queue;
#else
  (void)path;
  errno = ENOSYS;
  return -1;
#endif
}

int clibc_folder_drain(int fd) {
#ifdef __linux__
  _Alignas(struct inotify_event) char events[4096];
  int is_news = 0;
  ssize_t count;
  while ((count = read(fd, events, sizeof events)) > 0) {
    const struct inotify_event *event;
    for (char *at = events; at < events + count; at += sizeof *event + event->len) {
      event = (const struct inotify_event *)at;
      if (event->len == 0 || event->name[0] != '.') is_news = 1;
    }
  }
  return is_news;
#elif defined(__APPLE__)
  struct kevent event;
  struct timespec now = {0, 0};
  while (kevent(fd, NULL, 0, &event, 1, &now) > 0) continue;
  return -1;
#else
  (void)fd;
  return -1;
#endif
}

int clibc_changes(void) {
#ifdef __linux__
  return inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
#elif defined(__APPLE__)
  return kqueue();
#else
  errno = ENOSYS;
  return -1;
#endif
}

int clibc_changes_add(int fd, const char *path) {
#ifdef __linux__
  const uint32_t what = IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_MOVE_SELF;
  return inotify_add_watch(fd, path, what) < 0 ? -1 : 0;
#elif defined(__APPLE__)
  struct kevent change;
  int file = open(path, O_EVTONLY | O_CLOEXEC);
  if (file < 0) return -1;
  EV_SET(&change, file, EVFILT_VNODE, EV_ADD | EV_CLEAR, NOTE_WRITE | NOTE_EXTEND, 0, NULL);
  if (kevent(fd, &change, 1, NULL, 0, NULL) == 0) return 0;
  close(file);
  return -1;
#else
  (void)fd;
  (void)path;
  errno = ENOSYS;
  return -1;
#endif
}
