/* The sockets of a server: what differs between systems, or what Swift cannot call. */
#ifndef AGENTUTILS_CLIBC_TCP_H
#define AGENTUTILS_CLIBC_TCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Listens at a numeric address; the descriptor does not block. `port` is replaced by the
 * one that was got where it is 0. -1 with errno. */
int clibc_tcp_listen(const char *host, uint16_t *port);

/* Takes the next client, whose numeric address is put into `address`. The descriptor does
 * not block, and small answers leave at once. -1 with errno. */
int clibc_tcp_accept(int listener, char *address, size_t size);

/* Ends the connection when the other machine has answered nothing for so long, with data
 * under way or without. */
void clibc_tcp_watch(int descriptor, int seconds);

/* How much the kernel keeps of what is sent, bytes. */
void clibc_tcp_send_buffer(int descriptor, int bytes);

/* Whether the other side has ended its half or all of the connection, also behind bytes that
 * were not read. On Linux; elsewhere only where nothing is left to be read. */
bool clibc_tcp_has_left(int descriptor);

/* The bytes that the other side has not yet confirmed; 0 where the system does not say. */
int clibc_tcp_unsent(int descriptor);

/* Says that nothing more is sent. */
void clibc_tcp_end_output(int descriptor);

/* Makes close(2) break the connection off, with what is under way. */
void clibc_tcp_reset(int descriptor);

#endif
