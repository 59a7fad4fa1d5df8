/* Jansson's reference counting is made of inline functions and macros that
 * Swift cannot see; these wrappers give them names. */
#ifndef AGENTUTILS_CJANSSON_H
#define AGENTUTILS_CJANSSON_H

#include <jansson.h>

static inline json_t *cjansson_incref(json_t *value) { return json_incref(value); }
static inline void cjansson_decref(json_t *value) { json_decref(value); }
static inline int cjansson_typeof(const json_t *value) { return (int)json_typeof(value); }

#endif
