/* curl_easy_setopt and curl_easy_getinfo are variadic macros, which Swift
 * cannot import: one typed wrapper for each kind of argument. */
#ifndef AGENTUTILS_CCURL_H
#define AGENTUTILS_CCURL_H

#include <curl/curl.h>
#include <string.h>
#include <sys/select.h>

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

/* Asked when the connection is there and nothing of the request is on it yet; 0 lets it go.
 * A libcurl before 7.80 does not know that. */
typedef int (*ccurl_send_callback)(void *, char *, char *, int, int);

static inline CURLcode ccurl_set_send_callback(CURL *h, ccurl_send_callback v, void *context) {
#if LIBCURL_VERSION_NUM >= 0x075000
  CURLcode code = (curl_easy_setopt)(h, CURLOPT_PREREQFUNCTION, v);
  return code != CURLE_OK ? code : (curl_easy_setopt)(h, CURLOPT_PREREQDATA, context);
#else
  (void)h, (void)v, (void)context;
  return CURLE_UNKNOWN_OPTION;
#endif
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

static inline curl_socket_t ccurl_get_socket(CURL *h) {
  curl_socket_t v = CURL_SOCKET_BAD;
  if ((curl_easy_getinfo)(h, CURLINFO_ACTIVESOCKET, &v) != CURLE_OK) return CURL_SOCKET_BAD;
  return v;
}

/* The certificate of the server as PEM, between other words; NULL where the handle has made no
 * connection, or was not told to keep what it sees (CURLOPT_CERTINFO). */
static inline const char *ccurl_get_certificate(CURL *h) {
  struct curl_certinfo *chain = NULL;
  if ((curl_easy_getinfo)(h, CURLINFO_CERTINFO, &chain) != CURLE_OK || !chain) return NULL;
  if (chain->num_of_certs < 1) return NULL;
  for (struct curl_slist *each = chain->certinfo[0]; each; each = each->next)
    if (strncmp(each->data, "Cert:", 5) == 0) return each->data;
  return NULL;
}

/* What a set of transfers waits for, at most so many; the number of files found.
 * curl_multi_waitfds does it from 8.8 on. */
static inline int ccurl_descriptors(CURLM *m, struct curl_waitfd *found, int most) {
  fd_set reading, writing, failing;
  int last = -1, count = 0;
  FD_ZERO(&reading);
  FD_ZERO(&writing);
  FD_ZERO(&failing);
  if (curl_multi_fdset(m, &reading, &writing, &failing, &last) != CURLM_OK) return 0;
  for (int fd = 0; fd <= last && count < most; fd++) {
    short events = 0;
    if (FD_ISSET(fd, &reading)) events |= CURL_WAIT_POLLIN;
    if (FD_ISSET(fd, &writing)) events |= CURL_WAIT_POLLOUT;
    if (events == 0) continue;
    found[count].fd = fd;
    found[count].events = events;
    found[count++].revents = 0;
  }
  return count;
}

/* HTTP alone, whatever else this libcurl was built with. */
static inline CURLcode ccurl_set_http_only(CURL *h) {
#if LIBCURL_VERSION_NUM >= 0x075500
  return (curl_easy_setopt)(h, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  return (curl_easy_setopt)(h, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

static inline CURLMcode ccurl_multi_set_long(CURLM *m, CURLMoption o, long v) {
  return (curl_multi_setopt)(m, o, v);
}

/* No connection is used again that is older, seconds. A libcurl before 7.80 does not know that. */
static inline void ccurl_set_oldest(CURL *h, long seconds) {
#if LIBCURL_VERSION_NUM >= 0x075000
  (curl_easy_setopt)(h, CURLOPT_MAXLIFETIME_CONN, seconds);
#else
  (void)h, (void)seconds;
#endif
}

/* The result of a finished transfer, which CURLMsg keeps in a union. */
static inline CURLcode ccurl_message_result(const CURLMsg *message) {
  return message->data.result;
}

#endif
