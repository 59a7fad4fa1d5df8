/* year KB DAY RARE: one day of an archive, to standard output.
 *
 * DAY is from 0, the first of January 2025; the day has KB thousand bytes, spread over its 24
 * hours, and one record in RARE is of the kind `memory_export`, which is no other's. The same
 * arguments give the same bytes everywhere. How many records are of that kind, and how many
 * of the kind `llm_error`, goes to standard error. No member is there twice: other tools stop
 * at such a record, or leave it out.
 */
#include "../filter/records.h"

enum { MEAN = 2010 };

/* The time of a record by its number: the day's own, in steps that fill it. */
static void tell_day(unsigned day, unsigned number, unsigned records) {
  static const unsigned months[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  unsigned month = 0;
  while (day >= months[month]) day -= months[month++];
  unsigned long long ms = 86400000ull * (number < records ? number : records - 1) / records;
  snprintf(when, sizeof when, "2025-%02u-%02uT%02llu:%02llu:%02llu.%03lluZ", month + 1, day + 1,
           ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, ms % 1000);
}

int main(int argc, char **argv) {
  if (argc != 4) return fputs("usage: year KB DAY RARE\n", stderr), 2;
  unsigned long long wanted = strtoull(argv[1], NULL, 10) * 1000, bytes = 0;
  unsigned day = (unsigned)atoi(argv[2]) % 365, rare = (unsigned)atoi(argv[3]);
  unsigned records = (unsigned)(wanted / MEAN) + 1, number = 0, exports = 0, errors = 0;
  static struct text line;
  state += day * 0x632be59bd9b4e019u;
  setvbuf(stdout, NULL, _IOFBF, 1 << 20);
  for (; bytes < wanted; number++) {
    tell_day(day, number, records);
    make_members(day * 10000000 + number + 1, pick_size());
    if (rare && below(rare) == 0) {
      members[6].length = 0;
      add(&members[6], "\"memory_export\"");
      kind = KINDS;
      exports++;
    }
    errors += kind == 0;
    do /* the one in 2,000 that has its kind twice is made again */
      put_line(&line, day * 10000000 + number + 1);
    while (is_twice);
    line.bytes[line.length++] = '\n';
    bytes += line.length;
    put(stdout, &line);
  }
  fprintf(stderr, "%u %u\n", exports, errors);
  return fflush(stdout) != 0;
}
