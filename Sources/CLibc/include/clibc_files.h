/* Files in a folder that is held open, so that nobody can put another one in
 * its place: openat with its variable arguments, and copying in the kernel. */
#ifndef AGENTUTILS_CLIBC_FILES_H
#define AGENTUTILS_CLIBC_FILES_H

#include <stdint.h>
#include <sys/types.h>

/* Opens a file of a folder, never through a symbolic link, never waiting for the
 * other end of a FIFO, and not handed on to programs. -1 with errno. */
int clibc_open_in(int folder, const char *name, int flags);

/* Makes a file of a folder for the owner alone; EEXIST when there is one. */
int clibc_create_in(int folder, const char *name);

/* Holds a folder open, to make and to rename files in it, even where it may not be
 * listed. -1 with errno. */
int clibc_open_folder(const char *path);

/* Copies up to `count` bytes from one file to another, both at their places.
 * 0 at the end of the source; -1 with errno, EINVAL or ENOSYS or EXDEV or
 * EOPNOTSUPP where the kernel cannot do it for these files. */
ssize_t clibc_copy_range(int from, int to, size_t count);

/* When a file was made, nanoseconds since 1970; 0 where the system does not tell. */
int64_t clibc_born(const char *path);

/* flock: exclusive, without waiting. 0, or -1 with errno, EWOULDBLOCK when it is
 * held by another. */
int clibc_lock(int fd);

/* Whether somebody has a file of ours open to write it, as far as the system can
 * tell. From then on SIGIO is ignored. */
int clibc_is_being_written(int fd);

/* A descriptor that is readable when something came into a folder (inotify,
 * kqueue): a hint, which may be wrong both ways. -1 with errno, ENOSYS where there is
 * no such thing. `drain` takes what waits in it: 0 when it was of hidden files alone,
 * 1 when it was not, -1 when nobody knows. */
int clibc_folder_watch(const char *path);
int clibc_folder_drain(int fd);

/* A descriptor that is readable when something changed in what was given to
 * `clibc_changes_add`: a folder with the files in it, a file that grew. As above a hint,
 * which `clibc_folder_drain` takes. `add` keeps a file open on some systems: call it once
 * for each. -1 with errno. */
int clibc_changes(void);
int clibc_changes_add(int fd, const char *path);

#endif
