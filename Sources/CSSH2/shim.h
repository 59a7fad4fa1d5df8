/* libssh2, with what Swift cannot import of it: macros that take arguments. */
/* Newer versions warn of functions for which older ones have no other. */
#define LIBSSH2_DISABLE_DEPRECATION 1
#include <libssh2.h>
#include <libssh2_sftp.h>

/* What libssh2 calls, each with its own type. */
static inline void cssh2_callbacks(
    LIBSSH2_SESSION *session, LIBSSH2_SEND_FUNC((*send)), LIBSSH2_RECV_FUNC((*receive)),
    LIBSSH2_DISCONNECT_FUNC((*disconnect)), LIBSSH2_MACERROR_FUNC((*damaged))) {
  libssh2_session_callback_set(session, LIBSSH2_CALLBACK_SEND, (void *)send);
  libssh2_session_callback_set(session, LIBSSH2_CALLBACK_RECV, (void *)receive);
  libssh2_session_callback_set(session, LIBSSH2_CALLBACK_DISCONNECT, (void *)disconnect);
  libssh2_session_callback_set(session, LIBSSH2_CALLBACK_MACERROR, (void *)damaged);
}
