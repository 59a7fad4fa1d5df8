/* The records of the bench, the same everywhere for the same state: sizes, kinds, order of
 * members, escapes and wrappers as they come from agents, and what is true of each. For one
 * C file, which includes this.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"

enum { SMALLEST = 272, LARGEST = 21000, MEMBERS = 10, ROOM = 1 << 16 };

/* splitmix64, by Sebastiano Vigna (public domain). */
static uint64_t state = 20260301;
static uint64_t next(void) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static unsigned below(unsigned n) { return (unsigned)((next() >> 32) * n >> 32); }
static int chance(unsigned per_myriad) { return below(10000) < per_myriad; }

/* Text that grows; the rooms are larger than any record. */
struct text {
  size_t length;
  char bytes[ROOM];
};
static void add(struct text *t, const char *s) {
  size_t n = strlen(s);
  memcpy(t->bytes + t->length, s, n);
  t->length += n;
}
static void append(struct text *t, const struct text *other) {
  memcpy(t->bytes + t->length, other->bytes, other->length);
  t->length += other->length;
}
__attribute__((format(printf, 2, 3)))
static void addf(struct text *t, const char *format, ...) {
  va_list list;
  va_start(list, format);
  t->length += (size_t)vsnprintf(t->bytes + t->length, ROOM - t->length, format, list);
  va_end(list);
}

/* About `size` bytes of words, at most 12 more. */
static void prose(struct text *t, size_t size) {
  size_t end = t->length + size;
  while (t->length + 24 < end) {
    uint64_t r = next();
    for (int i = 0; i < 4; i++, r >>= 16)
      add(t, (r & 0xf) ? words[(r >> 4) % WORDS] : oddities[(r >> 4) % ODDITIES]);
    if (t->length > end) break;
  }
}

/* The record being made, and what is true of it. */
static struct text members[MEMBERS];
static unsigned kind;
static int holds_text;
static int is_twice; /* the kind: the last one counts */
static char cost[24];
static long long cost_units; /* of 1e-7 dollars */
static char when[48];

/* A row's cost is a number, 0 where it is not known; half of them are. */
static void make_cost(void) {
  unsigned form = below(100);
  if (form < 50) {
    cost_units = 0;
    strcpy(cost, form < 3 ? "0.0" : "0");
  } else if (form < 55) {
    cost_units = 1 + below(9);
    snprintf(cost, sizeof cost, "%llde-7", cost_units);
  } else if (form < 58) {
    cost_units = 100000;
    strcpy(cost, form == 55 ? "0.01" : form == 56 ? "1e-2" : "1.0E-2");
  } else if (form < 60) {
    cost_units = 99999;
    strcpy(cost, "0.0099999");
  } else {
    cost_units = 1 + below(300000);
    snprintf(cost, sizeof cost, "0.%07lld", cost_units);
  }
}

/* The kind as a JSON string, now and then with an escape. */
static void put_kind(struct text *t, unsigned which) {
  const char *name = kinds[which];
  const char *mark = strchr(name, '_');
  if (mark && chance(50))
    addf(t, "\"%.*s\\u005f%s\"", (int)(mark - name), name, mark + 1);
  else
    addf(t, "\"%s\"", name);
}

static void put_metadata(struct text *t, size_t size) {
  size_t end = t->length + size;
  addf(t, "{\"provider\":\"anthropic\",\"usage\":{\"inputTokens\":%u,\"outputTokens\":%u}",
       below(90000), below(4000));
  if (chance(300)) add(t, ",\"kind\":\"llm_error\",\"usd_cost\":9.5");
  if (chance(300)) add(t, ",\"cause\":{\"kind\":\"llm_error\",\"content\":\"rate limit\"}");
  if (t->length + 200 < end && chance(3000)) {
    add(t, ",\"toolCalls\":[");
    for (unsigned i = 0, n = 1 + below(4); i < n; i++)
      addf(t, "%s{\"name\":\"web_search\",\"input\":{\"q\":\"%u\",\"flags\":[true,null,-%u.5]}}",
           i ? "," : "", below(1000), below(100));
    add(t, "]");
  }
  if (t->length + 60 < end) {
    add(t, ",\"systemPrompt\":\"");
    if (chance(300)) add(t, "{\\\"kind\\\":\\\"llm_error\\\"} ");
    if (chance(300)) add(t, "rate limit ");
    prose(t, end - t->length - 12);
    add(t, "\"");
  }
  add(t, "}");
}

static void put_content(struct text *t, size_t size) {
  size_t end = t->length + size;
  add(t, "\"");
  holds_text = chance(200);
  if (chance(200)) add(t, "\\\"kind\\\":\\\"llm_error\\\" ");
  if (chance(200)) add(t, misses[below(MISSES)]);
  if (holds_text) {
    prose(t, size / 2);
    add(t, hits[below(HITS)]);
  }
  if (t->length < end) prose(t, end - t->length);
  add(t, "\"");
}

/* A key: as it is, or (one in a hundred) with a letter escaped. */
static void put_key(struct text *t, const char *name, const char *colon) {
  size_t at = below((unsigned)strlen(name));
  if (chance(100))
    addf(t, "\"%.*s\\u%04x%s\"%s", (int)at, name, (unsigned char)name[at], name + at + 1, colon);
  else
    addf(t, "\"%s\"%s", name, colon);
}

static const char *const names[MEMBERS] = {
    "id",      "created_at", "guild_id", "channel_id", "message_id",
    "user_id", "kind",       "content",  "metadata",   "usd_cost"};

/* Makes the members of the record with this number, `size` bytes in all, of the time told. */
static void make_members(unsigned number, size_t size) {
  for (int i = 0; i < MEMBERS; i++) members[i].length = 0;
  kind = below(KINDS);
  make_cost();
  addf(&members[0], "%u", number);
  addf(&members[1], "\"%s\"", when);
  addf(&members[2], "\"77120445881299%04u\"", below(5));
  addf(&members[3], "\"77120445900174%04u\"", below(40));
  if (chance(5000)) addf(&members[4], "\"77120445%010u\"", number); else add(&members[4], "null");
  addf(&members[5], "\"40011882273465%04u\"", below(300));
  put_kind(&members[6], kind);
  add(&members[9], cost);
  size_t fixed = 100;
  for (int i = 0; i < MEMBERS; i++) fixed += members[i].length;
  size_t rest = size > fixed ? size - fixed : 0;
  if (rest < 110) add(&members[8], "null"); else put_metadata(&members[8], rest - rest / 4);
  size_t used = fixed + members[8].length;
  put_content(&members[7], size > used ? size - used : 0);
}

/* Writes the line of the record: order, spaces, wrapper, a member twice. */
static void put_line(struct text *line, unsigned number) {
  int order[MEMBERS];
  for (int i = 0; i < MEMBERS; i++) order[i] = i;
  if (chance(1000))
    for (int i = MEMBERS - 1; i > 0; i--) {
      int j = (int)below((unsigned)i + 1), kept = order[i];
      order[i] = order[j];
      order[j] = kept;
    }
  int spaced = chance(200), wrapped = chance(1000);
  const char *colon = spaced ? ": " : ":", *comma = spaced ? ", " : ",";
  line->length = 0;
  if (wrapped) addf(line, "{\"event\":\"action_event\",\"id\":\"%u\",\"data\":", number);
  add(line, "{");
  if ((is_twice = chance(5))) {
    addf(line, "\"kind\"%s\"%s\"%s", colon, kinds[below(KINDS)], comma);
  }
  for (int i = 0; i < MEMBERS; i++) {
    if (i) add(line, comma);
    put_key(line, names[order[i]], colon);
    append(line, &members[order[i]]);
  }
  add(line, wrapped ? "}}" : "}");
  if (line->length < SMALLEST) { /* white space at the end is no part of the value */
    memset(line->bytes + line->length, ' ', SMALLEST - line->length);
    line->length = SMALLEST;
  }
}

/* A quarter below 600 bytes, four in a hundred above 6 KB, 2 KB on average. */
static size_t pick_size(void) {
  unsigned class = below(100);
  if (class < 25) return SMALLEST + below(600 - SMALLEST);
  if (class < 84) return 600 + below(1800);
  if (class < 96) return 2400 + below(3600);
  return 6000 + below(LARGEST - 400 - 6000);
}

static void put(FILE *file, struct text *line) { fwrite(line->bytes, 1, line->length, file); }
