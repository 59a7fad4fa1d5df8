#!/bin/sh
# ws-tail goes on: what is a loss, what it tells, when a silent link is given up.
. "${0%/*}/../lib.sh"
needs ws-tail jq python3

serve </dev/null
ws=ws${url#http}
follow() { run ws-tail --retry-wait 0.01 "$@" "$ws/s"; }
data() { jq -r '.data // empty' "$out" | tr '\n' ' '; }
requested() { requests .n | wc -l | tr -d ' '; }

# --- every way to lose a connection
script <<'S'
switch
frame 81 1
frame 88 \x03\xe8
listen
---
switch
frame 81 2
reset
---
switch
frame 81 3
---
switch
frame 81 4
send \x81\x05cut
---
switch
frame 81 5
frame 01 "never ends
---
send HTTP/1.1 101 Switching\r\nUpgr
---
reset
---
pause 0
---
status 503 text/html <html>Bad gateway</html>
---
switch
frame 81 6
stall
S
follow -n 6
status_is 0 "the messages of all connections are counted"
is "$(data)" "1 2 3 4 5 6 " \
  "ws-tail goes on after a close, a reset, a cut frame, half a message, no head, 503"
err_empty "nothing is said of a loss where there is no terminal"

# --- what is told
script <<'S'
switch
frame 81 {"a":1}
frame 88 \x03\xe9restart
listen
---
switch
frame 82 xyz
stall
S
follow -L -T -n 2
is "$(jq -c 'del(.time, .received_at, .retry_in, .down)' "$out")" \
  "{\"type\":\"open\",\"url\":\"$ws/s\"}
{\"data\":{\"a\":1}}
{\"type\":\"lost\",\"reason\":\"the server closed the connection: 1001, restart\"}
{\"type\":\"resumed\",\"url\":\"$ws/s\"}
{\"binary\":\"eHl6\"}
{\"type\":\"end\",\"reason\":\"count\"}" "the records of a link are printed"
is "$(jq -r 'select(.data or .binary) | keys_unsorted | join(" ")' "$out" | tr '\n' ,)" \
  "received_at data,received_at binary," "the time of receipt stands in front"
like "$(jq -r '.received_at // empty' "$out" | head -n 1)" '^20[0-9-]*T[0-9:.]*Z$' \
  "the time of receipt is a time"
script <<'S'
switch
frame 81 1
---
switch
frame 81 2
stall
S
follow -v -n 2
err_like '^ws-tail: stream is down: the connection ended without a close frame; next try in 0.[01] s$' \
  "-v tells that the link is down"
err_like '^ws-tail: stream is back after 0.[0-9] s$' "-v tells that the link is back"

# --- until when
script <<'S'
forever
switch
frame 88 \x03\xe8
listen
S
follow --max-retries 2
is "$status $(requested)" "75 3" "--max-retries gives up"
err_like "gave up after 2 retries: the server closed the connection: 1000" \
  "the message tells the retries and the last loss"
script <<'S'
switch
stall
S
follow --max-time 0.3
status_is 0 "--max-time has status 0 while the link is open"
script <<'S'
forever
status 500
S
follow --max-time 0.3 -q
status_is 75 "--max-time has status 75 while the link is down"
script <<'S'
switch
frame 81 1
stall
S
start tail ws-tail "$ws/s"
ok "a message is there at once" wait_until 5 test -s "$tmp/tail.out"
stop "$pid" INT
is "$status" 130 "a signal ends ws-tail by that signal"

# --- a link that is only half open
script <<'S'
switch
frame 81 1
stall
---
switch
frame 81 2
stall
S
follow -L --idle-timeout 0.3 -n 2
is "$(data)" "1 2 " "silence is noticed"
is "$(jq -r 'select(.type == "lost") | .reason' "$out")" "nothing came for 0.3 s" \
  "the record tells that silence was the reason"
script <<'S'
switch
frame 81 1
await never
---
switch
frame 81 2
await never
S
follow -L --ping 0.2 -n 2
is "$(data)" "1 2 " "a ping without an answer is noticed"
is "$(jq -r 'select(.type == "lost") | .reason' "$out")" "no answer to a ping within 0.2 s" \
  "the record tells that a ping without an answer was the reason"
script <<'S'
switch
receive 1
send \x8a\x00
receive 1
send \x8a\x00
receive 1
send \x8a\x00
receive 1
frame 81 1
stall
S
follow --ping 0.2 -n 1
is "$(requests .n | wc -l) $(jq -r 'select(.what == "frame") | .first' "$log" | tr '\n' ' ')" \
  "1 89 89 89 89 " "pings that are answered keep the link"

# --- a limit
script <<'S'
switch
frame 81 "01234567"
frame 81 "012345678"
frame 01 "0123
frame 89 x
frame 80 45678"
bytes 100000 x
frame 81 "last"
stall
S
follow --max-message-bytes 10 -n 2
is "$(data)" "01234567 last " "--max-message-bytes drops what is larger"
status_is 2 "a message that is too large has status 2 at the end"
is "$(lines "$err")" 3 "each message that is too large is told"
err_like '^ws-tail: message of 100000 bytes or more dropped: over --max-message-bytes$' \
  "a message that is too large is told in one line"

done_testing
