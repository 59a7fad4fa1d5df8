#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <sys/select.h>

#include "CLibc.h"

/* What ends a question, and what stops it for a while. */
static const int interrupting[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
enum { INTERRUPTING = sizeof interrupting / sizeof *interrupting };
static volatile sig_atomic_t caught;

static void on_signal(int signal_number) { caught = signal_number; }

static void put(int terminal, const char *text) {
  size_t rest = strlen(text);
  while (rest > 0) {
    ssize_t count = write(terminal, text, rest);
    if (count < 0 && errno != EINTR && errno != EAGAIN) return;
    if (count > 0) {
      text += count;
      rest -= (size_t)count;
    }
  }
}

/* One byte of the terminal, -1 at its end or when a signal was caught. They are
 * blocked but in pselect, so that none comes between the look and the wait. */
static int next_byte(int terminal, const sigset_t *open) {
  for (;;) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(terminal, &set);
    unsigned char byte;
    int ready = pselect(terminal + 1, &set, NULL, NULL, NULL, open);
    if (caught != 0) return -1;
    if (ready < 0 && errno != EINTR) return -1;
    if (ready <= 0) continue;
    ssize_t count = read(terminal, &byte, 1);
    if (count == 1) return byte;
    if (count == 0 || (errno != EINTR && errno != EAGAIN)) return -1;
  }
}

/* One try: the answer's length, or -1. */
static ssize_t ask(int terminal, const char *prompt, char *answer, size_t size) {
  struct termios found, quiet;
  struct sigaction before[INTERRUPTING], action;
  sigset_t blocked, mask;
  caught = 0;
  if (tcgetattr(terminal, &found) != 0) return -1;
  quiet = found;
  quiet.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
  quiet.c_lflag |= ICANON | ISIG;
  quiet.c_iflag |= ICRNL;
  quiet.c_oflag |= OPOST | ONLCR;

  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigemptyset(&blocked);
  for (int index = 0; index < INTERRUPTING; index++) sigaddset(&blocked, interrupting[index]);
  sigprocmask(SIG_BLOCK, &blocked, &mask);
  for (int index = 0; index < INTERRUPTING; index++) {
    sigaction(interrupting[index], NULL, &before[index]);
    if (before[index].sa_handler != SIG_IGN) sigaction(interrupting[index], &action, NULL);
  }

  ssize_t length = -1;
  if (tcsetattr(terminal, TCSAFLUSH, &quiet) == 0) {
    put(terminal, prompt);
    size_t count = 0;
    int byte;
    while ((byte = next_byte(terminal, &mask)) >= 0 && byte != '\n')
      if (count < size) answer[count++] = (char)byte;
    /* ^D behind nothing is nobody's answer. */
    if (byte == '\n' || (caught == 0 && count > 0)) length = (ssize_t)count;
    put(terminal, "\n");
    /* Not what was typed ahead for somebody else: that would be shown. */
    tcsetattr(terminal, TCSAFLUSH, &found);
  }
  for (int index = 0; index < INTERRUPTING; index++)
    sigaction(interrupting[index], &before[index], NULL);
  int signal_number = caught;
  if (signal_number != 0) raise(signal_number);
  sigprocmask(SIG_SETMASK, &mask, NULL);
  return length;
}

ssize_t clibc_ask_secret(const char *prompt, char *answer, size_t size) {
  int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0) return -1;
  ssize_t length;
  do {
    length = ask(terminal, prompt, answer, size);
    /* Stopped and told to go on: the question is put again. */
  } while (length < 0 && caught == SIGTSTP);
  close(terminal);
  return length;
}

void clibc_wipe(void *bytes, size_t count) {
  volatile unsigned char *place = bytes;
  while (count-- > 0) *place++ = 0;
}
