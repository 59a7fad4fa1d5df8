/* The frames of WebSockets (RFC 6455, section 5). */
#include <wslay/wslay.h>
