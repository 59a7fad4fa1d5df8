/* libssh2, with what Swift cannot import of it: macros that take arguments. */
#include <libssh2.h>
#include <libssh2_sftp.h>
