/* The kernels of scan.c, for one kind of processor: included once for each, with
 * LEVEL(name) for the names and TARGET for what may be used. */

/* The marks of the next blocks, up to 64. False at the end of the text. */
TARGET static bool LEVEL(advance)(struct clibc_scan *scan) {
  const uint8_t *at = scan->base + scan->blocks * BLOCK;
  if (at >= scan->end) return false;
  scan->base = at;
  uint64_t carry = scan->carry;
  size_t whole = (size_t)(scan->end - at) / BLOCK, count = 0;
  if (whole > CLIBC_SCAN_WINDOW) whole = CLIBC_SCAN_WINDOW;
  for (; count < whole; count++) mark(scan, count, full(at + count * BLOCK), &carry);
  at += count * BLOCK;
  if (count < CLIBC_SCAN_WINDOW && at < scan->end)
    mark(scan, count++, view(at, scan->begin, scan->end), &carry);
  scan->quotes[count] = scan->slashes[count] = scan->brackets[count] = 0;
  scan->blocks = count;
  scan->carry = carry;
  return true;
}

/* Looks so far that `at` is in the window. */
TARGET static inline bool LEVEL(reach)(struct clibc_scan *scan, const uint8_t *at) {
  while (at >= scan->base + scan->blocks * BLOCK)
    if (!LEVEL(advance)(scan)) return false;
  return true;
}

/* The next quote from `at` on, however far it is; NULL without one. */
TARGET static __attribute__((noinline)) const uint8_t *LEVEL(far_quote)(struct clibc_scan *scan,
                                                                         const uint8_t *at) {
  if (!LEVEL(reach)(scan, at)) return NULL;
  size_t offset = (size_t)(at - scan->base), index = offset / BLOCK;
  uint64_t found = scan->quotes[index] & UINT64_MAX << offset % BLOCK;
  for (;;) {
    /* Behind the last block is a 0. */
    while (found == 0 && index < scan->blocks) found = scan->quotes[++index];
    if (found != 0) return scan->base + index * BLOCK + __builtin_ctzll(found);
    if (!LEVEL(advance)(scan)) return NULL;
    found = scan->quotes[index = 0];
  }
}

/* The same, quickly where it is near. */
TARGET static inline const uint8_t *LEVEL(quote)(struct clibc_scan *scan, const uint8_t *at) {
  size_t offset = (size_t)(at - scan->base);
  if (offset < scan->blocks * BLOCK) {
    uint64_t found = peek(scan->quotes, offset);
    if (found != 0) return at + __builtin_ctzll(found);
  }
  return LEVEL(far_quote)(scan, at);
}

/* The next member, `at` being its opening quote; behind it, else NULL. */
TARGET static inline const uint8_t *LEVEL(member)(struct clibc_scan *scan, const uint8_t *at,
                                                  struct clibc_member *member) {
  const uint8_t *end = scan->end, *key = at + 1, *next = LEVEL(quote)(scan, key);
  if (next == NULL) return NULL;
  member->key = key;
  member->key_count = (size_t)(next - key);
  next = past_white(next + 1, end);
  if (next == end || *next != ':') return NULL;
  next = past_white(next + 1, end);
  if (next == end) return NULL;
  const uint8_t *value = next;
  member->value = value;
  if (*value == '"') {
    next = LEVEL(quote)(scan, value + 1);
    if (next == NULL) return NULL;
    next++;
  } else if ((*value | 0x20) != '{') {
    next = word_end(value, scan->begin, end);
    if (next == NULL) return NULL;
  }
  member->value_count = (size_t)(next - value);
  return next;
}

TARGET static size_t LEVEL(members)(struct clibc_scan *scan, const uint8_t **place, bool first,
                                    struct clibc_member *members, size_t room) {
  const uint8_t *at = *place, *end = scan->end;
  size_t count = 0;
  while (count < room) {
    const uint8_t *next = past_white(at, end);
    if (!first) {
      if (next == end || *next != ',') break;
      next = past_white(next + 1, end);
    }
    if (next == end || *next != '"') break;
    next = LEVEL(member)(scan, next, &members[count]);
    if (next == NULL) break;
    at = next;
    first = false;
    if (members[count++].value_count == 0) break;
  }
  *place = at;
  return count;
}

TARGET static const uint8_t *LEVEL(container)(struct clibc_scan *scan, const uint8_t *at) {
  if (!LEVEL(reach)(scan, at)) return NULL;
  uint64_t in_string = 0, kinds = 0, wanted = UINT64_MAX << (size_t)(at - scan->base) % BLOCK;
  unsigned depth = 0;
  size_t index = (size_t)(at - scan->base) / BLOCK;
  for (;; index++, wanted = UINT64_MAX) {
    if (index == scan->blocks) {
      if (!LEVEL(advance)(scan)) return NULL;
      index = 0;
    }
    uint64_t quotes = scan->quotes[index] & wanted;
    if (quotes == 0 && in_string != 0) continue;
    uint64_t inside = between(quotes) ^ in_string;
    in_string = (uint64_t)((int64_t)inside >> 63);
    /* Outside of strings a backslash escapes nothing. */
    if ((scan->slashes[index] & wanted & ~inside) != 0) return NULL;
    const uint8_t *here = scan->base + index * BLOCK;
    for (uint64_t found = scan->brackets[index] & wanted & ~inside; found; found &= found - 1) {
      const uint8_t *bracket = here + __builtin_ctzll(found);
      uint64_t kind = *bracket >> 5 & 1;
      if ((*bracket & 2) != 0) {
        if (depth == 64) return NULL;
        kinds = kinds << 1 | kind;
        depth++;
      } else {
        if ((kinds & 1) != kind) return NULL;
        kinds >>= 1;
        if (--depth == 0) return bracket + 1;
      }
    }
  }
}
