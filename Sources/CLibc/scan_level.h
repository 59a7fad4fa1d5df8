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
  scan->quotes[count] = scan->brackets[count] = 0;
  scan->blocks = count;
  scan->carry = carry;
  scan->quoted = 0;
  for (size_t i = 0; i < count; i += 8) scan->quoted |= filled(scan->quotes + i) << i;
  /* What an earlier window left behind the last block does not count. */
  scan->quoted &= UINT64_MAX >> (CLIBC_SCAN_WINDOW - count);
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
  if (found == 0) {
    uint64_t quoted = scan->quoted & behind(index);
    for (; quoted == 0; quoted = scan->quoted)
      if (!LEVEL(advance)(scan)) return NULL;
    index = (size_t)__builtin_ctzll(quoted);
    found = scan->quotes[index];
  }
  return scan->base + index * BLOCK + __builtin_ctzll(found);
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

TARGET static const uint8_t *LEVEL(container)(struct clibc_scan *scan, const uint8_t *at) {
  if (!LEVEL(reach)(scan, at)) return NULL;
  uint64_t in_string = 0, kinds = 0, wanted = UINT64_MAX << (size_t)(at - scan->base) % BLOCK;
  size_t index = (size_t)(at - scan->base) / BLOCK, depth = 0;
  for (;; index++, wanted = UINT64_MAX) {
    if (index == scan->blocks) {
      if (!LEVEL(advance)(scan)) return NULL;
      index = 0;
    }
    uint64_t quotes = scan->quotes[index] & wanted;
    if (quotes == 0 && in_string != 0) {
      /* On to the block that the string may end in. */
      uint64_t quoted = scan->quoted & behind(index);
      index = (quoted != 0 ? (size_t)__builtin_ctzll(quoted) : scan->blocks) - 1;
      continue;
    }
    uint64_t inside = between(quotes) ^ in_string;
    in_string = (uint64_t)((int64_t)inside >> 63);
    const uint8_t *here = scan->base + index * BLOCK;
    for (uint64_t found = scan->brackets[index] & wanted & ~inside; found; found &= found - 1) {
      const uint8_t *bracket = here + __builtin_ctzll(found);
      if ((*bracket | 0x20) == '|') return NULL;
      /* Without a branch for what cannot be foreseen: { is 7b, } 7d, [ 5b, ] 5d. */
      uint64_t kind = *bracket >> 5 & 1, opens = *bracket >> 1 & 1;
      bool differs = opens == 0 && (kinds & 1) != kind;
      kinds = opens ? kinds << 1 | kind : kinds >> 1;
      depth += opens * 2 - 1;
      if (depth - 1 >= 64 || differs) return depth == 0 && !differs ? bracket + 1 : NULL;
    }
  }
}

/* Whether there is no backslash in a key; false of a long one, whatever is in it. */
TARGET static inline bool LEVEL(is_bare)(struct clibc_scan *scan, const uint8_t *key,
                                         size_t count) {
  if (count >= BLOCK) return false;
  return (seen(view(key, scan->begin, scan->end), '\\') & below((uint64_t)1 << count)) == 0;
}

TARGET static int LEVEL(members)(struct clibc_scan *scan, const uint8_t **place, bool *first,
                                 const struct clibc_names *names, struct clibc_value *values) {
  const uint8_t *end = scan->end;
  for (;; *first = false) {
    const uint8_t *at = past_white(*place, end);
    if (!*first) {
      if (at == end || *at != ',') return leave(place, first, at, end);
      at = past_white(at + 1, end);
      if (at == end || *at != '"') return CLIBC_SCAN_STOP;
    } else if (at == end || *at != '"') {
      return leave(place, first, at, end);
    }
    const uint8_t *key = at + 1;
    size_t offset = (size_t)(key - scan->base);
    uint64_t near = offset < scan->blocks * BLOCK ? peek(scan->quotes, offset) : 0;
    at = near != 0 ? key + __builtin_ctzll(near) : LEVEL(far_quote)(scan, key);
    if (at == NULL) return CLIBC_SCAN_STOP;
    near &= near - 1;
    size_t count = (size_t)(at - key);
    unsigned name = number(names, key, count);
    if (name == CLIBC_NAMES && !LEVEL(is_bare)(scan, key, count)) return CLIBC_SCAN_STOP;
    at = past_white(at + 1, end);
    if (at == end || *at != ':') return CLIBC_SCAN_STOP;
    at = past_white(at + 1, end);
    if (at == end) return CLIBC_SCAN_STOP;
    const uint8_t *value = at;
    if (*value == '"') {
      /* Of what was seen with the key, the first is the opening quote. */
      near &= near - 1;
      at = near != 0 ? key + __builtin_ctzll(near) : LEVEL(quote)(scan, value + 1);
      if (at == NULL) return CLIBC_SCAN_STOP;
      at++;
    } else if ((*value | 0x20) != '{') {
      at = word_end(value, scan->begin, end);
    } else if ((names->walked >> name & 1) != 0) {
      *place = value;
      *first = false;
      return (int)name;
    } else {
      at = LEVEL(container)(scan, value);
    }
    if (at == NULL) return CLIBC_SCAN_STOP;
    values[name] = (struct clibc_value){value, (size_t)(at - value)};
    *place = at;
  }
}
