/* libnats: connections to a NATS server, driven by a poll loop of ours.
 *
 * What the library tells its event loop may come from any of its threads: it is kept in
 * atomics, and a pipe wakes who polls. Connecting blocks, so it has a thread of its own that
 * hands its result over by a pipe. */
#include <errno.h>
#include <fcntl.h>
#include <nats/nats.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the library wants of the loop, for one connection. */
struct cnats_loop {
  atomic_int socket; /* -1 before the connection has one, and when it has been let go */
  atomic_bool reads;
  atomic_bool writes;
  int wake; /* the pipe's writing end, not ours to close */
};

typedef struct cnats_loop *cnats_loop_ref;

/* How a connection came about. Small enough for a pipe to pass on in one piece. */
struct cnats_outcome {
  natsStatus status;
  natsConnection *connection; /* NULL unless status is NATS_OK */
  char reason[256];           /* the library's words, empty for none */
};

/* A pipe that blocks at neither end and is not passed on. 0, or -1 with errno. */
static inline int cnats_pipe(int ends[2]) {
  if (pipe(ends) != 0) return -1;
  for (int end = 0; end < 2; end++) {
    fcntl(ends[end], F_SETFD, FD_CLOEXEC);
    fcntl(ends[end], F_SETFL, O_NONBLOCK);
  }
  return 0;
}

static inline void cnats_wake(struct cnats_loop *loop) {
  int code = errno;
  /* A full pipe wakes as well. */
  ssize_t written = write(loop->wake, "", 1);
  (void)written;
  errno = code;
}

static inline cnats_loop_ref cnats_loop_new(int wake) {
  struct cnats_loop *loop = (struct cnats_loop *)calloc(1, sizeof *loop);
  if (!loop) return NULL;
  atomic_init(&loop->socket, -1);
  loop->wake = wake;
  return loop;
}

static inline void cnats_loop_free(cnats_loop_ref loop) { free(loop); }
static inline int cnats_loop_socket(cnats_loop_ref loop) { return atomic_load(&loop->socket); }
static inline bool cnats_loop_reads(cnats_loop_ref loop) { return atomic_load(&loop->reads); }
static inline bool cnats_loop_writes(cnats_loop_ref loop) { return atomic_load(&loop->writes); }

static inline natsStatus cnats_attach(void **data, void *context, natsConnection *connection,
                                      natsSock socket) {
  struct cnats_loop *loop = (struct cnats_loop *)context;
  (void)connection;
  *data = loop;
  /* No program that is started may go on with it. */
  (void)fcntl((int)socket, F_SETFD, FD_CLOEXEC);
  atomic_store(&loop->socket, (int)socket);
  atomic_store(&loop->reads, true);
  cnats_wake(loop);
  return NATS_OK;
}

static inline natsStatus cnats_read(void *data, bool add) {
  struct cnats_loop *loop = (struct cnats_loop *)data;
  atomic_store(&loop->reads, add);
  cnats_wake(loop);
  return NATS_OK;
}

static inline natsStatus cnats_write(void *data, bool add) {
  struct cnats_loop *loop = (struct cnats_loop *)data;
  atomic_store(&loop->writes, add);
  if (!add) return NATS_OK;
  cnats_wake(loop);
  return NATS_OK;
}

static inline natsStatus cnats_detach(void *data) {
  struct cnats_loop *loop = (struct cnats_loop *)data;
  int socket = atomic_exchange(&loop->socket, -1);
  atomic_store(&loop->reads, false);
  atomic_store(&loop->writes, false);
#if NATS_VERSION_NUMBER >= 0x030a00
  /* Since 3.10 the library leaves that to whoever polled. */
  natsSock ours = (natsSock)socket;
  if (socket >= 0) natsConnection_ProcessCloseEvent(&ours);
#else
  (void)socket;
#endif
  cnats_wake(loop);
  return NATS_OK;
}

/* Without a handler of ours the library prints to standard error. This one is called from
 * another thread, perhaps when the loop is gone. */
static inline void cnats_ignore_error(natsConnection *connection, natsSubscription *subscription,
                                      natsStatus status, void *context) {
  (void)connection, (void)subscription, (void)status, (void)context;
}

/* Has a connection driven by the loop, which must outlive it. */
static inline natsStatus cnats_drive(natsOptions *options, cnats_loop_ref loop) {
  natsStatus status = natsOptions_SetErrorHandler(options, cnats_ignore_error, NULL);
  if (status == NATS_OK)
    status = natsOptions_SetEventLoop(options, loop, cnats_attach, cnats_read, cnats_write,
                                      cnats_detach);
  return status;
}

struct cnats_dial {
  natsOptions *options;
  int answer;
};

static inline void *cnats_dialled(void *context) {
  struct cnats_dial *dial = (struct cnats_dial *)context;
  struct cnats_outcome outcome;
  memset(&outcome, 0, sizeof outcome);
  outcome.status = natsConnection_Connect(&outcome.connection, dial->options);
  if (outcome.status != NATS_OK) {
    natsStatus last = NATS_OK;
    const char *reason = nats_GetLastError(&last);
    outcome.connection = NULL;
    if (reason) strncpy(outcome.reason, reason, sizeof outcome.reason - 1);
  }
  natsOptions_Destroy(dial->options);
  nats_ReleaseThreadMemory();
  ssize_t written = write(dial->answer, &outcome, sizeof outcome);
  (void)written;
  close(dial->answer);
  free(dial);
  return NULL;
}

/* Connects in a thread that takes no signals and ends with it; the options are its own from
 * now on. The outcome can be read, in one piece, from the descriptor that is returned. -1 with
 * errno on failure; the options are gone then, too. */
static inline int cnats_dial_start(natsOptions *options) {
  int ends[2];
  pthread_t thread;
  sigset_t all, before;
  struct cnats_dial *dial = (struct cnats_dial *)malloc(sizeof *dial);
  if (!dial || cnats_pipe(ends) != 0) {
    int code = errno;
    free(dial);
    natsOptions_Destroy(options);
    errno = code;
    return -1;
  }
  dial->options = options;
  dial->answer = ends[1];
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int code = pthread_create(&thread, NULL, cnats_dialled, dial);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (code == 0) {
    pthread_detach(thread);
    return ends[0];
  }
  close(ends[0]);
  close(ends[1]);
  free(dial);
  natsOptions_Destroy(options);
  errno = code;
  return -1;
}

/* Starts the library's own threads, which take no signals, either. */
static inline natsStatus cnats_open(void) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  natsStatus status = nats_Open(-1);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return status;
}

/* Frees what natsConnection_GetDiscoveredServers made. */
static inline void cnats_free_list(char **list, int count) {
  for (int place = 0; place < count; place++) free(list[place]);
  free(list);
}
