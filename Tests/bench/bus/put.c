/* put URL SUBJECT [one]: publishes the lines of standard input as libnats's own loop does, each
 * with an id of its own, 256 of them under way, or one; what bus-put is measured against. */
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void need(natsStatus status, const char *what) {
  if (status == NATS_OK) return;
  fprintf(stderr, "put: %s: %s\n", what, natsStatus_GetText(status));
  exit(2);
}

int main(int count, char **words) {
  natsConnection *link = NULL;
  jsCtx *stream = NULL;
  jsOptions options;
  char *line = NULL, id[64];
  size_t room = 0;
  ssize_t length;
  long number = 0;
  if (count < 3) return 2;
  need(natsConnection_ConnectTo(&link, words[1]), "connect");
  need(jsOptions_Init(&options), "options");
  options.PublishAsync.MaxPending = 256;
  need(natsConnection_JetStream(&stream, link, &options), "stream");
  while ((length = getline(&line, &room, stdin)) > 0) {
    jsPubOptions each;
    need(jsPubOptions_Init(&each), "options");
    snprintf(id, sizeof id, "%s.%ld", words[2], ++number);
    each.MsgId = id;
    if (count > 3)
      need(js_Publish(NULL, stream, words[2], line, (int)length - 1, &each, NULL), "publish");
    else
      need(js_PublishAsync(stream, words[2], line, (int)length - 1, &each), "publish");
  }
  need(js_PublishAsyncComplete(stream, NULL), "the end");
  jsCtx_Destroy(stream);
  natsConnection_Destroy(link);
  free(line);
  return 0;
}
