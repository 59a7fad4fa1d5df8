#include "clibc_scan.h"

#include "marks.h"

/* Up to 64 bytes of a text from `at` on. Where fewer are left, the last 64 are
 * loaded, and what stands before `at` is shifted out of each mask. */
struct view {
  block bytes;
  unsigned shift;
};

INLINE struct view view(const uint8_t *at, const uint8_t *begin, const uint8_t *end) {
  size_t left = (size_t)(end - at);
  struct view result = {.shift = 0};
  if (__builtin_expect(end - begin < BLOCK, 0)) {
    result.bytes = (block){0};
    memcpy(&result.bytes, at, left);
    return result;
  }
  result.shift = left < BLOCK ? (unsigned)(BLOCK - left) : 0;
  result.bytes = load(at - result.shift);
  return result;
}

/* The 64 bytes at `at`, all of the text. */
INLINE struct view full(const uint8_t *at) {
  struct view result = {load(at), 0};
  return result;
}

INLINE uint64_t seen(struct view view, uint8_t byte) {
  return equal(view.bytes, byte) >> view.shift;
}

/* Brackets and braces, and what stands between those of a kind: | and the backslash,
 * which no JSON has outside of strings. */
INLINE uint64_t brackets(struct view view) {
  /* [ and ] differ from { and } by this bit alone. */
  block low = view.bytes | 0x20;
  return bits((block)((block)(low - '{') <= '}' - '{')) >> view.shift;
}

/* Notes the marks of a block. */
INLINE void mark(struct clibc_scan *scan, size_t index, struct view view, uint64_t *carry) {
  scan->quotes[index] = seen(view, '"') & ~escaped(seen(view, '\\'), carry);
  scan->brackets[index] = brackets(view);
}

/* One bit for each of eight words: whether any of its bits is set. */
INLINE uint64_t filled(const uint64_t *words) {
  typedef uint64_t eight __attribute__((vector_size(64)));
  typedef bool eight_flags __attribute__((ext_vector_type(8)));
  eight value;
  memcpy(&value, words, sizeof value);
  eight_flags each = __builtin_convertvector((eight)(value != 0), eight_flags);
  uint8_t result;
  memcpy(&result, &each, sizeof result);
  return result;
}

/* The bits of the blocks behind one of a window. */
INLINE uint64_t behind(size_t index) { return UINT64_MAX << index << 1; }

/* The bits from `offset` on: 57 of them at least. */
INLINE uint64_t peek(const uint64_t *words, size_t offset) {
  uint64_t result;
  memcpy(&result, (const uint8_t *)words + offset / 8, sizeof result);
  return result >> offset % 8;
}

/* Each bit is the sum of those up to it: what is between quotes. */
INLINE uint64_t between(uint64_t quotes) {
  for (int distance = 1; distance < 64; distance *= 2) quotes ^= quotes << distance;
  return quotes;
}

INLINE bool is_white(uint8_t byte) {
  return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

INLINE const uint8_t *past_white(const uint8_t *at, const uint8_t *end) {
  while (at < end && *at <= ' ' && is_white(*at)) at++;
  return at;
}

/* How many digits stand from `at` on; `digits` are those of the block there. */
INLINE size_t run(uint64_t digits, size_t at) {
  return (size_t)__builtin_ctzll(~(digits >> at) | (uint64_t)1 << 63);
}

/* The length of a number (RFC 8259, section 6) of less than 60 bytes, else 0. */
INLINE size_t number_length(const uint8_t *at, const uint8_t *begin, const uint8_t *end) {
  struct view here = view(at, begin, end);
  uint64_t digits = bits((block)((block)(here.bytes - '0') < 10)) >> here.shift;
  size_t left = (size_t)(end - at), length = *at == '-';
  size_t whole = run(digits, length);
  if (whole == 0 || (whole > 1 && at[length] == '0')) return 0;
  length += whole;
  if (length < 60 && length < left && at[length] == '.') {
    size_t decimals = run(digits, length + 1);
    if (decimals == 0) return 0;
    length += 1 + decimals;
  }
  if (length < 60 && length < left && (at[length] | 0x20) == 'e') {
    length++;
    if (length < left && (at[length] == '-' || at[length] == '+')) length++;
    size_t exponent = run(digits, length);
    if (exponent == 0) return 0;
    length += exponent;
  }
  return length < 60 ? length : 0;
}

/* The length of true, false or null, else 0. */
INLINE size_t word_length(const uint8_t *at, const uint8_t *end) {
  size_t left = (size_t)(end - at);
  if (left >= 4 && (memcmp(at, "null", 4) == 0 || memcmp(at, "true", 4) == 0)) return 4;
  return left >= 5 && memcmp(at, "false", 5) == 0 ? 5 : 0;
}

/* Behind a number or word and before what ends it, else NULL. */
INLINE const uint8_t *word_end(const uint8_t *at, const uint8_t *begin, const uint8_t *end) {
  bool is_number = *at == '-' || (uint8_t)(*at - '0') < 10;
  size_t length = is_number ? number_length(at, begin, end) : word_length(at, end);
  if (length == 0) return NULL;
  at += length;
  if (at == end) return at;
  switch (*at) {
    case ' ': case '\t': case '\n': case '\r': case '"': case ',': case ':':
    case '[': case ']': case '{': case '}': return at;
    default: return NULL;
  }
}

/* The first and the last bytes of a name: with its length, all of it up to 16. */
INLINE void ends(const uint8_t *name, size_t count, uint64_t *head, uint64_t *tail) {
  uint32_t low, high;
  if (count >= 8) {
    memcpy(head, name, 8);
    memcpy(tail, name + count - 8, 8);
  } else if (count >= 4) {
    memcpy(&low, name, 4);
    memcpy(&high, name + count - 4, 4);
    *head = low;
    *tail = high;
  } else {
    *head = count > 0 ? name[0] : 0;
    *tail = count > 0 ? (uint64_t)name[count / 2] << 8 | name[count - 1] : 0;
  }
}

INLINE unsigned place_of(uint32_t factor, uint32_t first, uint32_t last, size_t count) {
  return (first | last << 8 | (uint32_t)count << 16) * factor >> 26;
}

/* The number of the name that a key is. */
INLINE unsigned number(const struct clibc_names *names, const uint8_t *key, size_t count) {
  if (count == 0 || count > 16) return CLIBC_NAMES;
  unsigned found = names->place[place_of(names->factor, key[0], key[count - 1], count)];
  uint64_t head, tail;
  ends(key, count, &head, &tail);
  bool is = names->name[found].count == count && names->name[found].head == head &&
            names->name[found].tail == tail;
  return is ? found : CLIBC_NAMES;
}

bool clibc_names_make(struct clibc_names *names, const char *const *texts, size_t count,
                      uint64_t walked) {
  if (count > CLIBC_NAMES) return false;
  memset(names, 0, sizeof *names);
  names->walked = walked;
  for (size_t i = 0; i < count; i++) {
    names->name[i].count = strlen(texts[i]);
    if (names->name[i].count == 0 || names->name[i].count > 16) return false;
    ends((const uint8_t *)texts[i], names->name[i].count, &names->name[i].head,
         &names->name[i].tail);
  }
  /* Some odd factor has a place for each: of a few thousand, more than one. */
  names->factor = 1;
  for (int tries = 0; tries < 1 << 18; tries++, names->factor += 0x9e3779b8) {
    memset(names->place, CLIBC_NAMES, sizeof names->place);
    size_t i = 0;
    for (; i < count; i++) {
      const uint8_t *text = (const uint8_t *)texts[i];
      size_t length = names->name[i].count;
      uint8_t *place = &names->place[place_of(names->factor, text[0], text[length - 1], length)];
      if (*place != CLIBC_NAMES) break;
      *place = (uint8_t)i;
    }
    if (i == count) return true;
  }
  return false;
}

size_t clibc_names_find(const struct clibc_names *names, const uint8_t *text, size_t count) {
  return number(names, text, count);
}

/* Crosses the closing bracket of an object, if that is next. */
INLINE int leave(const uint8_t **place, bool *first, const uint8_t *at, const uint8_t *end) {
  if (at == end || *at != '}') return CLIBC_SCAN_STOP;
  *place = at + 1;
  /* An object that ends is a value of the one around it. */
  *first = false;
  return CLIBC_SCAN_END;
}

#if HAS_LEVELS
#define LEVEL(name) name##_avx512
#define TARGET AVX512
#include "scan_level.h"
#undef LEVEL
#undef TARGET
#define LEVEL(name) name##_avx2
#define TARGET AVX2
#include "scan_level.h"
#undef LEVEL
#undef TARGET
#endif
#define LEVEL(name) name##_plain
#define TARGET
#include "scan_level.h"

void clibc_scan_open(struct clibc_scan *scan, const uint8_t *begin, const uint8_t *end) {
  scan->begin = scan->base = begin;
  scan->end = end;
  scan->blocks = 0;
  scan->carry = 0;
}

int clibc_scan_members(struct clibc_scan *scan, const uint8_t **place, bool *first,
                       const struct clibc_names *names, struct clibc_value *values) {
  if (*place < scan->base) clibc_scan_open(scan, *place, scan->end);
  return CALL(members, scan, place, first, names, values);
}

const uint8_t *clibc_scan_container(struct clibc_scan *scan, const uint8_t *at) {
  if (at < scan->base) clibc_scan_open(scan, at, scan->end);
  return CALL(container, scan, at);
}
