#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "CLibc.h"

#include <setjmp.h>

static _Thread_local jmp_buf *way_out;

bool clibc_attempt(void (*body)(void *), void *context) {
  jmp_buf here;
  jmp_buf *const outer = way_out;
  way_out = &here;
  const bool is_whole = _setjmp(here) == 0;
  if (is_whole) body(context);
  way_out = outer;
  return is_whole;
}

#ifdef __GLIBC__
/* What assert(3) calls, instead of the C library's own. */
__attribute__((visibility("default"), noreturn)) void __assert_fail(const char *assertion,
                                                                    const char *file,
                                                                    unsigned int line,
                                                                    const char *function) {
  if (way_out != NULL) _longjmp(*way_out, 1);
  fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, assertion);
  abort();
}
#endif
