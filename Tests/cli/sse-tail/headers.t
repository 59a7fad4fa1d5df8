#!/bin/sh
# What -H may say: not what each connection says anew, and once what stays the same.
. "${0%/*}/../lib.sh"
needs sse-tail jq python3

serve </dev/null
follow() { run sse-tail --retry-wait 0.01 "$@" "$url/s"; }

# --- what only we can say
printf '%s\n' 'X-One: 1' 'LAST-EVENT-ID:5' >"$tmp/headers"
for header in 'Last-Event-ID: 5' 'last-event-id:5' 'LAST-EVENT-ID:' "@$tmp/headers"; do
  script </dev/null
  follow -H "$header"
  is "$status $(requests .n | wc -l | tr -d ' ')" "2 0" "-H $header is refused"
  err_like 'header [A-Za-z-]*: changes with each event: use --last-event-id$' \
    "$header: the message says what to do"
done
for name in Content-Length Transfer-Encoding; do
  follow -H "$name: 5"
  is "$status $(cat "$err")" "2 sse-tail: header $name: follows from --data" "$name is refused"
done
AGENT_URL=$url
export AGENT_URL
t 2 "the time of the last event is not for a dashboard" \
  sse-tail -H 'X-Last-Event-Time: 2026-01-01T00:00:00Z' activity
unset AGENT_URL
follow -H 'Accept;'
status_is 2 "a header without a value as in curl is refused"
script </dev/null
follow -H 'X-Last-Event-Time: 1'
is "$status $(requests '.headers["x-last-event-time"]')" "0 1" \
  "the time of the last event is a header as any other elsewhere"

# --- what the user says instead, on every connection
script <<'S'
stream
send id: 1\ndata: a\n\n
---
stream
send id: 2\ndata: b\n\n
S
follow -H 'accept: text/x' -H 'CACHE-CONTROL: max-age=0' -H 'Accept-Encoding: gzip' \
  -H 'User-Agent: me' -H 'Host: box' -H 'Authorization: Bearer abc' -H 'Connection: close' -H 'X-Empty:'
status_is 0 "headers that sse-tail sets may be given"
is "$(requests '.headers | [.accept, .["cache-control"], .["accept-encoding"], .["user-agent"],
  .host, .authorization, .connection, .["x-empty"]] | join("; ")' | sort -u)" \
  "text/x; max-age=0; gzip; me; box; Bearer abc; close; " \
    "each given header is sent once, as the user says"
is "$(requests '.headers["last-event-id"] // "-"' | tr '\n' ' ')" "- 1 2 " \
  "the last id is sent beside given headers"
done_testing
