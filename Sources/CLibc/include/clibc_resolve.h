/* From a name to a TCP connection, without ever blocking the caller. */
#ifndef AGENTUTILS_CLIBC_RESOLVE_H
#define AGENTUTILS_CLIBC_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#define CLIBC_ADDRESSES 16

/* What became of a name. Small enough for a pipe to pass on in one piece. */
struct clibc_addresses {
  int status; /* 0, or what getaddrinfo returned */
  int error;  /* errno, where status is EAI_SYSTEM */
  int count;
  struct {
    socklen_t length;
    struct sockaddr_storage address;
  } items[CLIBC_ADDRESSES];
};

/* Looks a name or an address up for a port. The answer can be read, in one
 * piece, from the descriptor that is returned: getaddrinfo cannot be waited for
 * in any other way, so it runs on a thread that does nothing else, ends with
 * it and takes no signals. -1 with errno on failure. */
int clibc_resolve(const char *host, int port);
/* Reads the answer: 1 when it is there, 0 when it is not yet, -1 without one. */
int clibc_resolved(int descriptor, struct clibc_addresses *answer);
/* Why there is no address, in words. */
const char *clibc_resolve_reason(const struct clibc_addresses *answer);

/* Begins a TCP connection to one of the addresses: a descriptor that becomes
 * writable when it is known how that went; small packets go at once. -1 with errno. */
int clibc_connect_start(const struct clibc_addresses *addresses, int index);
/* How it went: 0 or an errno value. */
int clibc_connect_result(int descriptor);
/* The address in digits. */
void clibc_address_text(const struct clibc_addresses *addresses, int index, char *text,
                        size_t size);

/* send(2) without SIGPIPE, and recv(2), which never wait. */
ssize_t clibc_send(int descriptor, const void *bytes, size_t count);
ssize_t clibc_receive(int descriptor, void *bytes, size_t count);

#endif
