#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "CLibc.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* macOS: SO_NOSIGPIPE on the socket */
#endif

struct question {
  int answers;
  char port[8];
  char host[];
};

static void look_up(const struct question *question, int flags, struct clibc_addresses *answer) {
  struct addrinfo hints, *found = NULL;
  memset(&hints, 0, sizeof hints);
  memset(answer, 0, sizeof *answer);
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  answer->status = getaddrinfo(question->host, question->port, &hints, &found);
  answer->error = errno;
  for (struct addrinfo *item = found;
       answer->status == 0 && item && answer->count < CLIBC_ADDRESSES; item = item->ai_next) {
    if (item->ai_addrlen > sizeof(struct sockaddr_storage)) continue;
    answer->items[answer->count].length = item->ai_addrlen;
    memcpy(&answer->items[answer->count].address, item->ai_addr, item->ai_addrlen);
    answer->count++;
  }
  if (found) freeaddrinfo(found);
}

static void hand_over(int answers, const struct clibc_addresses *answer) {
  /* In one piece, into an empty pipe. */
  ssize_t ignored = write(answers, answer, sizeof *answer);
  (void)ignored;
  close(answers);
}

static void *run(void *argument) {
  struct question *question = argument;
  struct clibc_addresses answer;
  look_up(question, AI_ADDRCONFIG, &answer);
  if (answer.status != 0) {
    /* A machine without a network still has its loopback names. */
    struct clibc_addresses second;
    look_up(question, 0, &second);
    if (second.status == 0) answer = second;
  }
  hand_over(question->answers, &answer);
  free(question);
  return NULL;
}

int clibc_resolve(const char *host, int port) {
  int ends[2];
  size_t length = strlen(host) + 1;
  struct question *question = malloc(sizeof *question + length);
  if (!question) return -1;
  memcpy(question->host, host, length);
  snprintf(question->port, sizeof question->port, "%d", port);
  if (pipe(ends) != 0) {
    free(question);
    return -1;
  }
  for (int end = 0; end < 2; end++) fcntl(ends[end], F_SETFD, FD_CLOEXEC);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  question->answers = ends[1];

  struct clibc_addresses answer;
  look_up(question, AI_NUMERICHOST, &answer);
  if (answer.status == 0) {
    hand_over(ends[1], &answer);
    free(question);
    return ends[0];
  }

  pthread_t thread;
  pthread_attr_t attributes;
  sigset_t all, before;
  sigfillset(&all);
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(&thread, &attributes, run, question);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    close(ends[0]);
    close(ends[1]);
    free(question);
    errno = error;
    return -1;
  }
  return ends[0];
}

int clibc_resolved(int descriptor, struct clibc_addresses *answer) {
  ssize_t count = read(descriptor, answer, sizeof *answer);
  if (count == (ssize_t)sizeof *answer) return 1;
  return count < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

const char *clibc_resolve_reason(const struct clibc_addresses *answer) {
  if (answer->status == EAI_SYSTEM) return strerror(answer->error);
  return gai_strerror(answer->status);
}

static void prepare(int descriptor) {
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
#ifdef SO_NOSIGPIPE
  int on = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
}

int clibc_connect_start(const struct clibc_addresses *addresses, int index) {
  const struct sockaddr *address = (const struct sockaddr *)&addresses->items[index].address;
  int on = 1;
  int descriptor = socket(address->sa_family, SOCK_STREAM, 0);
  if (descriptor < 0) return -1;
  prepare(descriptor);
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (connect(descriptor, address, addresses->items[index].length) == 0 ||
      errno == EINPROGRESS || errno == EINTR)
    return descriptor;
  int saved = errno;
  close(descriptor);
  errno = saved;
  return -1;
}

int clibc_connect_result(int descriptor) {
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
  return error;
}

void clibc_address_text(const struct clibc_addresses *addresses, int index, char *text,
                        size_t size) {
  const struct sockaddr *address = (const struct sockaddr *)&addresses->items[index].address;
  if (getnameinfo(address, addresses->items[index].length, text, (socklen_t)size, NULL, 0,
                  NI_NUMERICHOST) != 0)
    snprintf(text, size, "?");
}

ssize_t clibc_send(int descriptor, const void *bytes, size_t count) {
  return send(descriptor, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
}

ssize_t clibc_receive(int descriptor, void *bytes, size_t count) {
  return recv(descriptor, bytes, count, MSG_DONTWAIT);
}
