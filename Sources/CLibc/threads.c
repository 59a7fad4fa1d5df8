#ifdef __linux__
#define _GNU_SOURCE
#include <sched.h>
#endif
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "clibc_threads.h"

enum { STACK = 8 << 20 };

struct start {
  void (*body)(void *);
  void *context;
};

static void *run(void *given) {
  struct start start = *(struct start *)given;
  free(given);
  start.body(start.context);
  return NULL;
}

int clibc_thread_start(pthread_t *thread, void (*body)(void *), void *context) {
  struct start *start = malloc(sizeof *start);
  if (!start) return ENOMEM;
  *start = (struct start){body, context};
  pthread_attr_t attributes;
  int status = pthread_attr_init(&attributes);
  if (status == 0) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    status = pthread_create(thread, &attributes, run, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
  }
  if (status != 0) free(start);
  return status;
}

int clibc_cores(void) {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    int count = CPU_COUNT(&set);
    if (count > 0) return count;
  }
#endif
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? (int)count : 1;
}
