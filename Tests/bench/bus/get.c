/* get URL STREAM NAME COUNT none|each: prints so many records of a stream by a consumer that it
 * makes, pulled as libnats's users do it, 128 asked for and more when half of them are there;
 * what bus-get is measured against. COUNT 0 is without end. */
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 128 };

static void need(natsStatus status, const char *what) {
  if (status == NATS_OK) return;
  fprintf(stderr, "get: %s: %s\n", what, natsStatus_GetText(status));
  exit(2);
}

static void make(natsConnection *link, char **words) {
  char subject[256], body[512];
  natsMsg *answer = NULL;
  snprintf(subject, sizeof subject, "$JS.API.CONSUMER.DURABLE.CREATE.%s.%s", words[2], words[3]);
  snprintf(body, sizeof body,
           "{\"stream_name\":\"%s\",\"config\":{\"durable_name\":\"%s\",\"deliver_policy\":\"all\","
           "\"replay_policy\":\"instant\",\"max_ack_pending\":%d,\"ack_policy\":\"%s\"}}",
           words[2], words[3], strcmp(words[5], "each") ? 0 : 4096,
           strcmp(words[5], "each") ? "none" : "explicit");
  need(natsConnection_RequestString(&answer, link, subject, body, 20000), "consumer");
  if (strstr(natsMsg_GetData(answer), "\"error\"")) {
    fprintf(stderr, "get: %s\n", natsMsg_GetData(answer));
    exit(2);
  }
  natsMsg_Destroy(answer);
}

int main(int count, char **words) {
  natsConnection *link = NULL;
  natsSubscription *inbox = NULL;
  natsInbox *name = NULL;
  char subject[256];
  long left, asked = 0;
  if (count != 6) return 2;
  left = atol(words[4]) ? atol(words[4]) : -1;
  need(natsConnection_ConnectTo(&link, words[1]), "connect");
  make(link, words);
  need(natsInbox_Create(&name), "inbox");
  need(natsConnection_SubscribeSync(&inbox, link, name), "inbox");
  need(natsSubscription_SetPendingLimits(inbox, -1, -1), "limits");
  snprintf(subject, sizeof subject, "$JS.API.CONSUMER.MSG.NEXT.%s.%s", words[2], words[3]);
  while (left) {
    natsMsg *message = NULL;
    if (asked <= BATCH / 2) {
      long more = BATCH - asked;
      char body[128];
      if (left > 0 && more > left - asked) more = left - asked;
      if (more > 0) {
        snprintf(body, sizeof body, "{\"batch\":%ld,\"expires\":60000000000}", more);
        need(natsConnection_PublishRequestString(link, subject, name, body), "ask");
        asked += more;
      }
    }
    if (natsSubscription_NextMsg(&message, inbox, 0) != NATS_OK) {
      fflush(stdout);
      need(natsSubscription_NextMsg(&message, inbox, 60000), "next");
    }
    const char *reply = natsMsg_GetReply(message);
    if (!reply) {
      /* A request is over. */
      asked = 0;
    } else {
      fwrite(natsMsg_GetData(message), 1, natsMsg_GetDataLength(message), stdout);
      putchar('\n');
      if (!strcmp(words[5], "each"))
        need(natsConnection_PublishString(link, reply, "+ACK"), "acknowledge");
      asked--;
      if (left > 0) left--;
    }
    natsMsg_Destroy(message);
  }
  if (fflush(stdout)) return 2;
  need(natsConnection_Flush(link), "the end");
  natsSubscription_Destroy(inbox);
  natsConnection_Destroy(link);
  natsInbox_Destroy(name);
  return 0;
}
