#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "CLibc.h"

/* Two of them: a signal never meets one that is being written. */
static struct undo {
  char bytes[CLIBC_UNDO];
  size_t count;
} undos[2];
static volatile sig_atomic_t undo_index;

static struct termios found_modes;
static int guarded_input = -1;
static int guarded_output = -1;
static volatile sig_atomic_t is_guarded;

void clibc_terminal_restore(void) {
  int saved = errno;
  if (!is_guarded) return;
  is_guarded = 0;
  /* A terminal that is held (^S) or slow must not keep the process: no retries
   * without end, and no wait for the output to drain. */
  const struct undo *undo = &undos[undo_index];
  size_t done = 0;
  for (int tries = 0; done < undo->count && tries < 8; tries++) {
    ssize_t count = write(guarded_output, undo->bytes + done, undo->count - done);
    if (count > 0) {
      done += (size_t)count;
    } else if (errno == EAGAIN) {
      struct pollfd entry = {.fd = guarded_output, .events = POLLOUT};
      poll(&entry, 1, 250);
    } else if (errno != EINTR) {
      break;
    }
  }
  tcflush(guarded_input, TCIFLUSH);
  tcsetattr(guarded_input, TCSANOW, &found_modes);
  errno = saved;
}

static void on_crash(int signal_number) {
  clibc_terminal_restore();
  clibc_die_by_signal(signal_number);
}

int clibc_terminal_guard(int input, int output, const char *undo, size_t count) {
  static bool is_installed;
  static const int crashes[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGSYS, SIGTRAP};
  if (clibc_terminal_undo(undo, count) != 0) return -1;
  if (tcgetattr(input, &found_modes) != 0) return -1;
  guarded_input = input;
  guarded_output = output;
  if (!is_installed) {
    is_installed = true;
    clibc_at_exit(clibc_terminal_restore);
    for (size_t index = 0; index < sizeof crashes / sizeof *crashes; index++) {
      if (!clibc_signal_is_ignored(crashes[index])) signal(crashes[index], on_crash);
    }
  }
  is_guarded = 1;
  if (clibc_terminal_keys(false) != 0) {
    is_guarded = 0;
    return -1;
  }
  return 0;
}

int clibc_terminal_undo(const char *undo, size_t count) {
  if (count > CLIBC_UNDO) {
    errno = EINVAL;
    return -1;
  }
  struct undo *next = &undos[!undo_index];
  memcpy(next->bytes, undo, count);
  next->count = count;
  undo_index = !undo_index;
  return 0;
}

int clibc_terminal_keys(bool raw) {
  struct termios modes = found_modes;
  if (!is_guarded) return 0;
  if (raw) {
    cfmakeraw(&modes);
  } else {
    modes.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
    modes.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IXON);
  }
  modes.c_cc[VMIN] = 1;
  modes.c_cc[VTIME] = 0;
  return tcsetattr(guarded_input, TCSANOW, &modes);
}

void clibc_stop(void) {
  struct sigaction usual, before;
  sigset_t set;
  memset(&usual, 0, sizeof usual);
  usual.sa_handler = SIG_DFL;
  sigemptyset(&usual.sa_mask);
  if (sigaction(SIGTSTP, &usual, &before) != 0) return;
  sigemptyset(&set);
  sigaddset(&set, SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  raise(SIGTSTP);
  sigaction(SIGTSTP, &before, NULL);
}
