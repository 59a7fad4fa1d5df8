#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "CLibc.h"

static int keep_private(int fd, bool blocks) {
  if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) return -1;
  return blocks ? 0 : fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static int close_with_errno(int fd) {
  int saved = errno;
  close(fd);
  errno = saved;
  return -1;
}

int clibc_pipe(int ends[2], int ours) {
  if (pipe(ends) != 0) return -1;
  if (keep_private(ends[0], ours != 0) == 0 && keep_private(ends[1], ours != 1) == 0) return 0;
  close_with_errno(ends[0]);
  return close_with_errno(ends[1]);
}

int clibc_set_window_size(int fd, int columns, int rows) {
  struct winsize size;
  memset(&size, 0, sizeof size);
  size.ws_col = (unsigned short)columns;
  size.ws_row = (unsigned short)rows;
  return ioctl(fd, TIOCSWINSZ, &size);
}

static int set_up_terminal(int fd, int columns, int rows) {
  struct termios modes;
  if (tcgetattr(fd, &modes) != 0) return -1;
  /* Typed at in UTF-8, as they all are. */
  modes.c_iflag |= IUTF8;
  if (tcsetattr(fd, TCSANOW, &modes) != 0) return -1;
  return clibc_set_window_size(fd, columns, rows);
}

int clibc_terminal_pair(int columns, int rows, char *name, size_t capacity) {
  int fd = posix_openpt(O_RDWR | O_NOCTTY);
  if (fd < 0) return -1;
  if (keep_private(fd, false) != 0 || grantpt(fd) != 0 || unlockpt(fd) != 0 ||
      ptsname_r(fd, name, capacity) != 0)
    return close_with_errno(fd);
  if (set_up_terminal(fd, columns, rows) != 0) {
    /* Where only the other end has modes, and only once it has been opened. */
    int other = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (other < 0) return close_with_errno(fd);
    set_up_terminal(other, columns, rows);
    close(other);
  }
  return fd;
}

static int add_standard(posix_spawn_file_actions_t *actions, const int standard[4]) {
  int code = 0;
  for (int fd = 0; fd < 3 && code == 0; fd++) {
    if (standard[fd] == CLIBC_SPAWN_NOTHING) {
      code = posix_spawn_file_actions_addopen(actions, fd, "/dev/null", O_RDWR, 0);
    } else if (standard[fd] >= 0) {
      code = posix_spawn_file_actions_adddup2(actions, standard[fd], fd);
    }
  }
  /* The last one, for 3 may be what one of the others is made of. */
  if (standard[3] >= 0 && code == 0)
    code = posix_spawn_file_actions_adddup2(actions, standard[3], 3);
  return code;
}

static int add_terminal(posix_spawn_file_actions_t *actions, const char *terminal, int output) {
  /* Opened by the leader of a session without one, it becomes the controlling terminal. */
  int code = posix_spawn_file_actions_addopen(actions, 0, terminal, O_RDWR, 0);
  if (code == 0) code = posix_spawn_file_actions_adddup2(actions, output >= 0 ? output : 0, 1);
  if (code == 0) code = posix_spawn_file_actions_adddup2(actions, 0, 2);
  return code;
}

void clibc_keep_others_private(void) {
  DIR *folder = opendir("/dev/fd");
  if (!folder) return;
  for (struct dirent *entry; (entry = readdir(folder));) {
    int fd = atoi(entry->d_name);
    if (fd > 2) fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
  closedir(folder);
}

/* Closes in the program what was given to us, or opened without a thought of it, by another
 * thread perhaps in this very moment: a pipe of one program, open in the next one, would have
 * no end. */
static int close_others(posix_spawn_file_actions_t *actions, const int standard[4], int *flags) {
#if defined(__APPLE__)
  int code = 0;
  *flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
  for (int fd = 0; fd < 3 && code == 0; fd++)
    if (standard[fd] == CLIBC_SPAWN_OURS) code = posix_spawn_file_actions_addinherit_np(actions, fd);
  return code;
#elif defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
  (void)flags;
  return posix_spawn_file_actions_addclosefrom_np(actions, standard[3] >= 0 ? 4 : 3);
#else
  (void)actions;
  (void)standard;
  (void)flags;
  clibc_keep_others_private();
  return 0;
#endif
}

int clibc_spawn(pid_t *child, char *const argv[], char *const environment[],
                const int standard[4], const char *terminal, bool leads) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t signals;
  int flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
  int code = posix_spawn_file_actions_init(&actions);
  if (code != 0) return code;
  code = posix_spawnattr_init(&attributes);
  if (code != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return code;
  }
  code = terminal ? add_terminal(&actions, terminal, standard[1]) : add_standard(&actions, standard);
  sigfillset(&signals);
  sigdelset(&signals, SIGKILL);
  sigdelset(&signals, SIGSTOP);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  if (terminal) flags |= POSIX_SPAWN_SETSID;
  else if (leads) flags |= POSIX_SPAWN_SETPGROUP;
  if (code == 0) code = close_others(&actions, standard, &flags);
  posix_spawnattr_setflags(&attributes, (short)flags);
  if (code == 0) code = posix_spawnp(child, argv[0], &actions, &attributes, argv, environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return code;
}

int clibc_fifo(const char *path) {
  if (mkfifo(path, 0600) != 0) return -1;
  /* Our own writing end keeps it from ending. */
  return open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}
