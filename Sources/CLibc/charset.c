/* charset.c: see clibc_charset.h. */
#include "clibc_charset.h"

#include <errno.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>

int clibc_charset_is_known(const char *name) {
  iconv_t way = iconv_open("UTF-8", name);
  if (way == (iconv_t)-1) return 0;
  iconv_close(way);
  return 1;
}

char *clibc_charset_utf8(const char *name, const char *bytes, size_t size, size_t *length) {
  static const char unknown[] = "\xef\xbf\xbd";
  iconv_t way = iconv_open("UTF-8", name);
  /* No charset has a character of more than one byte for which UTF-8 needs more than four. */
  size_t room = 4 * size + 16;
  char *text = way == (iconv_t)-1 ? NULL : malloc(room);
  if (text == NULL) {
    if (way != (iconv_t)-1) iconv_close(way);
    return NULL;
  }
  char *from = (char *)bytes, *to = text;
  size_t left = size, free_bytes = room;
  while (left > 0) {
    if (iconv(way, &from, &left, &to, &free_bytes) != (size_t)-1) break;
    if (errno == E2BIG || free_bytes < sizeof unknown) break;
    memcpy(to, unknown, sizeof unknown - 1);
    to += sizeof unknown - 1;
    free_bytes -= sizeof unknown - 1;
    /* A character that is cut at the end is one, whatever it has. */
    if (errno == EINVAL) break;
    from++;
    left--;
  }
  iconv(way, NULL, NULL, &to, &free_bytes);
  iconv_close(way);
  *length = (size_t)(to - text);
  return text;
}
