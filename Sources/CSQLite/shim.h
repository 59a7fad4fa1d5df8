#ifndef AGENTUTILS_CSQLITE_H
#define AGENTUTILS_CSQLITE_H

#include <sqlite3.h>

/* The bytes are copied before the call returns; SQLITE_TRANSIENT is a macro that Swift
 * does not import. An empty text or blob may come without an address, and is no NULL. */
static inline int csqlite_bind_text(sqlite3_stmt *statement, int place, const void *bytes,
                                    sqlite3_uint64 count) {
  return sqlite3_bind_text64(statement, place, bytes ? (const char *)bytes : "", count,
                             SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int csqlite_bind_blob(sqlite3_stmt *statement, int place, const void *bytes,
                                    sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, place, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}

#endif
