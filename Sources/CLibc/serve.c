#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "CLibc.h"

#include <sys/socket.h>
#include <sys/un.h>

static int close_with_errno(int fd) {
  int saved = errno;
  close(fd);
  errno = saved;
  return -1;
}

static int make_private(int fd) {
  if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) return -1;
  return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

int clibc_listen_local(const char *path) {
  struct sockaddr_un address;
  memset(&address, 0, sizeof address);
  address.sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  strcpy(address.sun_path, path);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd < 0) return -1;
  /* Nobody can connect before it listens, and then it is for its owner alone. */
  if (make_private(fd) != 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
      chmod(path, 0600) != 0 || listen(fd, 32) != 0)
    return close_with_errno(fd);
  return fd;
}

static int peer(int fd, uid_t *user) {
#ifdef __linux__
  struct ucred who;
  socklen_t size = sizeof who;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return -1;
  *user = who.uid;
  return 0;
#else
  gid_t group;
  return getpeereid(fd, user, &group);
#endif
}

int clibc_accept_local(int listener) {
  int fd = accept(listener, NULL, NULL);
  if (fd < 0) return -1;
  uid_t user;
  if (make_private(fd) != 0 || peer(fd, &user) != 0) return close_with_errno(fd);
  if (user != geteuid()) {
    close(fd);
    errno = EACCES;
    return -1;
  }
  return fd;
}

ssize_t clibc_receive_descriptors(int socket, void *buffer, size_t capacity, int fds[],
                                  size_t limit, size_t *received) {
  enum { most = 8 };
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(most * sizeof(int))];
  } control;
  struct iovec vector = {.iov_base = buffer, .iov_len = capacity};
  struct msghdr message;
  memset(&message, 0, sizeof message);
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  *received = 0;
#ifdef MSG_CMSG_CLOEXEC
  ssize_t count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
#else
  ssize_t count = recvmsg(socket, &message, 0);
#endif
  if (count < 0) return -1;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    size_t many = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t index = 0; index < many; index++) {
      int fd;
      memcpy(&fd, CMSG_DATA(header) + index * sizeof fd, sizeof fd);
      struct stat status;
      /* Of anything else, a read or write may take as long as it likes. */
      bool is_pipe = fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
      if (is_pipe && *received < limit && make_private(fd) == 0) {
        fds[(*received)++] = fd;
      } else {
        close(fd);
      }
    }
  }
  return count;
}
