#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "CLibc.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
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
#ifdef SO_NOSIGPIPE
  int yes = 1;
  (void)setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &yes, sizeof yes);
#endif
  return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/* A socket for a path, which does not block, and its address. -1 with errno. */
static int local_socket(const char *path, struct sockaddr_un *address) {
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address->sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  strcpy(address->sun_path, path);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd >= 0 && make_private(fd) != 0) return close_with_errno(fd);
  return fd;
}

int clibc_listen_local(const char *path) {
  struct sockaddr_un address;
  int fd = local_socket(path, &address);
  if (fd < 0) return -1;
  /* Nobody can connect before it listens, and then it is for its owner alone. */
  if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || chmod(path, 0600) != 0 ||
      listen(fd, 32) != 0)
    return close_with_errno(fd);
  return fd;
}

int clibc_connect_local(const char *path) {
  struct sockaddr_un address;
  int fd = local_socket(path, &address);
  if (fd < 0) return -1;
  /* If it blocked, one that is stopped would hold us up once enough callers wait. */
  if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) return close_with_errno(fd);
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

ssize_t clibc_send_descriptor(int socket, int fd) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control;
  char byte = 0;
  struct iovec vector = {.iov_base = &byte, .iov_len = 1};
  struct msghdr message;
  memset(&message, 0, sizeof message);
  memset(&control, 0, sizeof control);
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &fd, sizeof fd);
  return sendmsg(socket, &message, 0);
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

/* --- TCP */

static void set(int fd, int level, int option, int value) {
  (void)setsockopt(fd, level, option, &value, sizeof value);
}

int clibc_tcp_listen(const char *host, uint16_t *port) {
  char service[8];
  snprintf(service, sizeof service, "%u", (unsigned)*port);
  struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
                           .ai_socktype = SOCK_STREAM};
  struct addrinfo *found = NULL;
  if (getaddrinfo(host, service, &hints, &found) != 0) {
    errno = EADDRNOTAVAIL;
    return -1;
  }
  int fd = socket(found->ai_family, SOCK_STREAM, 0);
  if (fd >= 0 && make_private(fd) != 0) fd = close_with_errno(fd);
  if (fd < 0) {
    int code = errno;
    freeaddrinfo(found);
    errno = code;
    return -1;
  }
  set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  int status = bind(fd, found->ai_addr, found->ai_addrlen);
  if (status == 0) status = listen(fd, 1024);
  int code = errno;
  freeaddrinfo(found);
  errno = code;
  if (status != 0) return close_with_errno(fd);
  struct sockaddr_storage got;
  socklen_t length = sizeof got;
  if (getsockname(fd, (struct sockaddr *)&got, &length) != 0) return close_with_errno(fd);
  *port = ntohs(got.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&got)->sin6_port
                                          : ((struct sockaddr_in *)&got)->sin_port);
  return fd;
}

int clibc_tcp_accept(int listener, char *address, size_t size) {
  struct sockaddr_storage who = {0};
  socklen_t length = sizeof who;
#ifdef __linux__
  int fd = accept4(listener, (struct sockaddr *)&who, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) return -1;
#else
  int fd = accept(listener, (struct sockaddr *)&who, &length);
  if (fd < 0) return -1;
  if (make_private(fd) != 0) return close_with_errno(fd);
#endif
  set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  const void *raw = who.ss_family == AF_INET6
                        ? (const void *)&((struct sockaddr_in6 *)&who)->sin6_addr
                        : (const void *)&((struct sockaddr_in *)&who)->sin_addr;
  if (inet_ntop(who.ss_family, raw, address, (socklen_t)size) == NULL && size > 0) *address = 0;
  return fd;
}

void clibc_tcp_watch(int descriptor, int seconds) {
  set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
  /* A first question after half of the time, and three more in the rest of it. */
#ifdef TCP_KEEPIDLE
  set(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, seconds / 2);
#elif defined TCP_KEEPALIVE
  set(descriptor, IPPROTO_TCP, TCP_KEEPALIVE, seconds / 2);
#endif
#ifdef TCP_KEEPINTVL
  set(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, seconds / 6);
#endif
#ifdef TCP_KEEPCNT
  set(descriptor, IPPROTO_TCP, TCP_KEEPCNT, 3);
#endif
#ifdef TCP_USER_TIMEOUT
  set(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, seconds * 1000);
#elif defined TCP_RXT_CONNDROPTIME
  set(descriptor, IPPROTO_TCP, TCP_RXT_CONNDROPTIME, seconds);
#endif
}

void clibc_tcp_send_buffer(int descriptor, int bytes) {
  set(descriptor, SOL_SOCKET, SO_SNDBUF, bytes);
}

bool clibc_tcp_has_left(int descriptor) {
  struct pollfd entry = {.fd = descriptor, .events = POLLIN};
#ifdef POLLRDHUP
  entry.events |= POLLRDHUP;
#endif
  if (poll(&entry, 1, 0) <= 0) return false;
  if (entry.revents & (POLLHUP | POLLERR | POLLNVAL)) return true;
#ifdef POLLRDHUP
  return (entry.revents & POLLRDHUP) != 0;
#else
  char byte;
  ssize_t count = recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
#endif
}

int clibc_tcp_unsent(int descriptor) {
  int count = 0;
#ifdef __linux__
  if (ioctl(descriptor, TIOCOUTQ, &count) != 0) return 0;
#elif defined SO_NWRITE
  socklen_t size = sizeof count;
  if (getsockopt(descriptor, SOL_SOCKET, SO_NWRITE, &count, &size) != 0) return 0;
#endif
  return count;
}

void clibc_tcp_end_output(int descriptor) { (void)shutdown(descriptor, SHUT_WR); }

void clibc_tcp_reset(int descriptor) {
  struct linger now = {.l_onoff = 1, .l_linger = 0};
  (void)setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}
