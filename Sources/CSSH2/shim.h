/* libssh2, with what Swift cannot import of it: macros that take arguments. */
/* Newer versions warn of functions for which older ones have no other. */
#define LIBSSH2_DISABLE_DEPRECATION 1
#include <libssh2.h>
#include <libssh2_sftp.h>
