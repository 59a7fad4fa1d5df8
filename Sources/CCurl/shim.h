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
static inline curl_off_t ccurl_get_offset(CURL *h, CURLINFO i) {
  curl_off_t v = 0;
  (curl_easy_getinfo)(h, i, &v);
  return v;
}
static inline long ccurl_get_long(CURL *h, CURLINFO i) {
  long v = 0;
  (curl_easy_getinfo)(h, i, &v);
  return v;
}

/* HTTP alone, whatever else this libcurl was built with. */
static inline CURLcode ccurl_set_http_only(CURL *h) {
#if LIBCURL_VERSION_NUM >= 0x075500
  return (curl_easy_setopt)(h, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  return (curl_easy_setopt)(h, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

/* The result of a finished transfer, which CURLMsg keeps in a union. */
static inline CURLcode ccurl_message_result(const CURLMsg *message) {
  return message->data.result;
}

#endif
