#ifdef __linux__
#define _GNU_SOURCE
#endif

#include "clibc_tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int fail(int fd) {
  int code = errno;
  close(fd);
  errno = code;
  return -1;
}

static void set(int fd, int level, int option, int value) {
  (void)setsockopt(fd, level, option, &value, sizeof value);
}

#ifndef __linux__
static int prepare(int fd) {
  if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || fcntl(fd, F_SETFL, O_NONBLOCK) != 0) return -1;
#ifdef SO_NOSIGPIPE
  set(fd, SOL_SOCKET, SO_NOSIGPIPE, 1);
#endif
  return 0;
}
#endif

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
#ifdef __linux__
  int fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
#else
  int fd = socket(found->ai_family, SOCK_STREAM, 0);
  if (fd >= 0 && prepare(fd) != 0) fd = fail(fd);
#endif
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
  if (status != 0) return fail(fd);
  struct sockaddr_storage got;
  socklen_t length = sizeof got;
  if (getsockname(fd, (struct sockaddr *)&got, &length) != 0) return fail(fd);
  *port = ntohs(got.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&got)->sin6_port
                                          : ((struct sockaddr_in *)&got)->sin_port);
  return fd;
}

int clibc_tcp_accept(int listener, char *address, size_t size) {
  struct sockaddr_storage peer = {0};
  socklen_t length = sizeof peer;
#ifdef __linux__
  int fd = accept4(listener, (struct sockaddr *)&peer, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) return -1;
#else
  int fd = accept(listener, (struct sockaddr *)&peer, &length);
  if (fd < 0) return -1;
  if (prepare(fd) != 0) return fail(fd);
#endif
  set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  const void *raw = peer.ss_family == AF_INET6
                        ? (const void *)&((struct sockaddr_in6 *)&peer)->sin6_addr
                        : (const void *)&((struct sockaddr_in *)&peer)->sin_addr;
  if (inet_ntop(peer.ss_family, raw, address, (socklen_t)size) == NULL && size > 0) *address = 0;
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
