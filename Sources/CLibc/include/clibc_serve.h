/* A socket in the file system that serves other programs of the same user, and
 * takes descriptors from them; and its other end. */
#ifndef AGENTUTILS_CLIBC_SERVE_H
#define AGENTUTILS_CLIBC_SERVE_H

#include <stddef.h>
#include <sys/types.h>

/* Makes a socket at a path where nothing is, for the user alone, and listens; it
 * does not block. -1 with errno. */
int clibc_listen_local(const char *path);

/* Takes the next client; it does not block. -1 with errno: EACCES for one of
 * another user, who is hung up on. */
int clibc_accept_local(int listener);

/* Reads bytes, and up to `limit` descriptors that came with them into `fds`: only
 * pipes are taken, which do not block from then on; others are closed. */
ssize_t clibc_receive_descriptors(int socket, void *buffer, size_t capacity, int fds[],
                                  size_t limit, size_t *received);

/* Connects to a socket in the file system; nothing of it blocks. -1 with errno: EAGAIN
 * when too many wait there already. */
int clibc_connect_local(const char *path);

/* Sends a descriptor with one byte. 1, or -1 with errno. */
ssize_t clibc_send_descriptor(int socket, int fd);

#endif
