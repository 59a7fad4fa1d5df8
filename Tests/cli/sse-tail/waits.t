#!/bin/sh
# How long sse-tail waits between two tries: backoff, retry:, Retry-After.
. "${0%/*}/../lib.sh"
needs sse-tail jq python3

serve </dev/null
follow() { run sse-tail --retry-wait 0.01 "$@" "$url/s"; }
# waited N: the milliseconds between the end of answer N and the next request.
waited() {
  jq -s "(map(select(.what == \"end\" and .n == $1))[0].at) as \$from
    | (map(select(.what == \"request\" and .n == $1 + 1))[0].at - \$from) * 1000 | floor" "$log"
}
# waits N MIN MAX TITLE. The server's clock is read after the client's, on a busy machine a while.
waits() {
  took=$(waited "$1")
  if [ "$took" -ge $(($2 - 60)) ] && [ "$took" -lt "$3" ]; then
    pass "$4"
  else
    fail "$4"
    diag "waited $took ms, want $2 .. $3"
  fi
}

script <<'S'
status 500
---
status 500
---
stream
send : only a comment\n\n
---
stream
send data: a\n\n
---
status 500
---
status 500
S
follow --retry-wait 0.2
waits 1 200 1500 "the first wait is the base"
waits 2 400 2000 "the second wait is twice the base"
waits 3 800 5000 "a connection without an event does not reset it"
waits 4 200 1550 "an event resets the wait"
waits 5 200 2000 "the wait grows after the reset"
ok "the last wait is as long again" test "$(waited 6)" -ge 390

script <<'S'
stream
send data: a\n\nretry: 300\n
---
stream
send retry: 6000ms\nretry: +6000\nretry:  6000\nretry: -1\nretry: ６０００\nretry: 0x9999\nretry:\nretry\ndata: b\n\n
---
stream
send data: c\n\n
S
follow
waits 1 300 3000 "retry: sets the wait, without an event or a blank line"
waits 2 300 3000 "a retry: that is not a number is ignored, and the last one is kept"
waits 3 300 3000 "a retry: is kept for later waits, too"

script <<'S'
forever
stream
send retry: 0\ndata: a\n\n
S
follow --max-time 1
ok "retry: 0 makes no busy loop ($(requests .n | wc -l) requests in a second)" \
  test "$(requests .n | wc -l)" -le 40
script <<'S'
stream
send retry: 99999999999999999999999999\ndata: a\n\n
S
follow --max-time 0.5 -L
is "$(jq -r 'select(.event) | .data' "$out")" a "a huge retry: does no harm"
is "$(jq 'select(.type == "lost") | .retry_in | . > 3 and . < 1e12' "$out")" true \
  "the wait of a huge retry: is bounded"

script <<'S'
forever
stream
send data: a\n\n
S
follow --retry-wait 0.2 --max-time 3
jq -s '[.[] | select(.what == "request") | .at] as $asked
  | [.[] | select(.what == "end") | .at] as $ended
  | range(1; $asked | length) | $asked[.] - $ended[. - 1]' "$log" >"$tmp/waits"
ok "there are enough waits to judge" at_least "$tmp/waits" 5
is "$(jq -s 'min >= 0.195' "$tmp/waits")" true "jitter never undercuts the wait"
is "$(jq -s 'sort | .[length / 2 | floor] < 0.4' "$tmp/waits")" true "jitter adds little"
is "$(jq -s 'max - min > 0.005' "$tmp/waits")" true "jitter adds something"

script <<'S'
status 503 text/plain x
+ Retry-After: 1
---
status 500
---
status 429
+ Retry-After: @DATE+3@
---
status 503
+ Retry-After: soon
---
stream
send data: a\n\n
S
follow
waits 1 1000 8000 "Retry-After in seconds is waited for"
waits 2 10 950 "Retry-After counts once"
waits 3 1800 9000 "Retry-After as a date is waited for"
waits 4 10 1000 "a Retry-After of nonsense does not count"

# A redirect is followed at once, as curl and browsers do; what it asks to wait is of no later answer.
for wait in 7 @DATE+7@ 0; do
  script <<S
status 307
+ Retry-After: $wait
+ Location: /other
---
status 503
---
status 302
+ Retry-After: $wait
+ Location: /other
---
stream
send data: a\\n\\n
S
  follow --max-time 5
  is "$status" 0 "Retry-After: $wait of a redirect that is followed is not waited for"
done

# A date is one of the server's clock, whatever ours says.
script <<'S'
status 503
+ Date: @DATE+3600@
+ Retry-After: @DATE+3602@
---
status 429
+ Date: Sun, 06 Nov 1994 08:49:37 GMT
+ Retry-After: Sunday, 06-Nov-94 08:49:39 GMT
---
status 503
+ Date: Sunday, 06-Nov-94 08:49:37 GMT
+ Retry-After: Sun Nov  6 08:49:38 1994
---
status 503
+ Date: Sun, 06 Nov 1994 08:49:37 GMT
+ Retry-After: Sun, 06 Nov 1994 08:00:00 GMT
---
status 503
+ Date: yesterday
+ Retry-After: @DATE+3@
---
stream
send data: a\n\n
---
status 503
+ Retry-After: -20301128
---
status 503
+ Retry-After: -5
S
follow --max-time 30
is "$status" 0 "no date is waited for by our own clock"
waits 1 2000 3500 "a date of a server whose clock is an hour ahead is waited for"
waits 2 2000 3500 "a date of RFC 850 is waited for"
waits 3 1000 2500 "a date of asctime is waited for"
waits 4 10 950 "a date that is past is not waited for"
waits 5 1800 9000 "our clock counts where the date of the answer is damaged"
waits 7 10 950 "a number with a sign is not waited for"
waits 8 10 950 "a small number with a sign is not waited for"
done_testing
