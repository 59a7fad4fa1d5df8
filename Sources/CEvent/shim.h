/* Readiness of descriptors and times, by what the system has for it: epoll, kqueue. */

/* First: libevent's headers would choose other variants of the C library's types than the rest
 * has, which Swift takes for other types. */
#include <sys/types.h>

#include <event2/event.h>
