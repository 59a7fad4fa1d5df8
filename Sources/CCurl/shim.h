/* curl_easy_setopt and curl_easy_getinfo are variadic macros, which Swift
 * cannot import: one typed wrapper for each kind of argument. */
#ifndef AGENTUTILS_CCURL_H
#define AGENTUTILS_CCURL_H

#include <curl/curl.h>

typedef size_t (*ccurl_data_callback)(char *, size_t, size_t, void *);

static inline CURLcode ccurl_set_long(CURL *h, CURLoption o, long v) {
  return (curl_easy_setopt)(h, o, v);
}
static inline CURLcode ccurl_set_string(CURL *h, CURLoption o, const char *v) {
  return (curl_easy_setopt)(h, o, v);
}
static inline CURLcode ccurl_set_pointer(CURL *h, CURLoption o, void *v) {
  return (curl_easy_setopt)(h, o, v);
}
static inline CURLcode ccurl_set_list(CURL *h, CURLoption o, struct curl_slist *v) {
  return (curl_easy_setopt)(h, o, v);
}
static inline CURLcode ccurl_set_offset(CURL *h, CURLoption o, curl_off_t v) {
  return (curl_easy_setopt)(h, o, v);
}
static inline CURLcode ccurl_set_callback(CURL *h, CURLoption o, ccurl_data_callback v) {
  return (curl_easy_setopt)(h, o, v);
}
static inline CURLcode ccurl_get_long(CURL *h, CURLINFO i, long *v) {
  return (curl_easy_getinfo)(h, i, v);
}
static inline CURLcode ccurl_get_string(CURL *h, CURLINFO i, char **v) {
  return (curl_easy_getinfo)(h, i, v);
}

#endif
