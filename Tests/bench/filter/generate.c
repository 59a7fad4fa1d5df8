/* generate MB FOLDER: the data of the bench and the truth about it.
 *
 * Writes FOLDER/data.ndjson and, for each test, what an exact tool answers:
 * t1.want, t2.want and t4.want (the lines selected), t3.want (the four members
 * of every action), t5.want (kind, count, cost). The facts of the data go to
 * standard output. The same MB gives the same bytes everywhere. The truth is
 * noted while a record is made, so that no reader of JSON is trusted.
 */
#include "records.h"

/* Says when the next record is made: milliseconds in months of 28 days, from March on. */
static void tell_time(unsigned long long ms) {
  snprintf(when, sizeof when, "2026-%02llu-%02lluT%02llu:%02llu:%02llu.%03lluZ",
           3 + ms / 2419200000ull % 9, 1 + ms / 86400000 % 28, ms / 3600000 % 24,
           ms / 60000 % 60, ms / 1000 % 60, ms % 1000);
}

static FILE *create(const char *folder, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  if (!file) {
    perror(path);
    exit(2);
  }
  setvbuf(file, NULL, _IOFBF, 1 << 20);
  return file;
}

int main(int argc, char **argv) {
  if (argc != 3) return fputs("usage: generate MB FOLDER\n", stderr), 2;
  unsigned long long wanted = strtoull(argv[1], NULL, 10) * 1000000, bytes = 0;
  FILE *data = create(argv[2], "data.ndjson"), *t1 = create(argv[2], "t1.want");
  FILE *t2 = create(argv[2], "t2.want"), *t3 = create(argv[2], "t3.want");
  FILE *t4 = create(argv[2], "t4.want"), *t5 = create(argv[2], "t5.want");
  static struct text line;
  static unsigned long long counts[KINDS];
  static long long costs[KINDS];
  size_t shortest = SIZE_MAX, longest = 0;
  unsigned number = 0;
  while (bytes < wanted) {
    tell_time(++number * 137ull);
    make_members(number, pick_size());
    put_line(&line, number);
    if (line.length < shortest) shortest = line.length;
    if (line.length > longest) longest = line.length;
    line.bytes[line.length++] = '\n';
    bytes += line.length;
    put(data, &line);
    if (kind == 0) put(t1, &line);
    if (kind < 3 && cost_units >= 100000) put(t2, &line);
    if (holds_text) put(t4, &line);
    fprintf(t3, "{\"id\":%u,\"created_at\":\"%s\",\"kind\":\"%s\",\"usd_cost\":%s}\n", number, when,
            kinds[kind], cost);
    counts[kind]++;
    costs[kind] += cost_units;
  }
  for (int i = 0; i < KINDS; i++)
    if (counts[i])
      fprintf(t5, "%s %llu %lld.%07lld\n", kinds[i], counts[i], costs[i] / 10000000,
              costs[i] % 10000000);
  FILE *files[] = {data, t1, t2, t3, t4, t5};
  for (int i = 0; i < 6; i++)
    if (fclose(files[i])) return perror(argv[2]), 2;
  printf("%u %llu %zu %zu\n", number, bytes, shortest, longest);
  return 0;
}
