#!/bin/sh
# sse-tail never loses a stream: what is a loss, where it resumes, when it gives
# up, and what it tells.
. "${0%/*}/../lib.sh"
needs sse-tail jq python3

serve </dev/null

# follow [OPTION...]: to the end of the script, whose last answer is 204.
follow() { run sse-tail --retry-wait 0.01 "$@" "$url/s"; }
data() { jq -r 'select(.event) | .data' "$out" | tr '\n' ' '; }
ids() { requests '.headers["last-event-id"] // "-"' | tr '\n' ' '; }
# --- every way to lose a connection
script <<'S'
stream
send data: 1\n\n
---
stream
send data: 2\n\n
reset
---
stream
- Connection
+ Transfer-Encoding: chunked
chunk data: 3\n\n
send ff\r\ndata: x
---
stream
- Connection
+ Content-Length: 1000
send data: 4\n\ndata: x\n
---
send HTTP/1.1 200 OK\r\nContent-Ty
---
reset
---
pause 0
---
send nonsense\r\n\r\n
---
status 503 text/html <html>Bad gateway</html>
---
stream
send data: 5\n\n
S
follow
status_is 0 "204 ends sse-tail well"
is "$(data)" "1 2 3 4 5 " "sse-tail survives every way to lose a connection"
err_empty "nothing is said where standard error is not a terminal"
is "$(requests .path | sort -u)" /s "the same path is asked for each time"

for code in 408 425 429 500 502 503 504 530 599; do
  script <<S
status $code text/html <html><h1>Sorry</h1></html>
---
stream
send data: back\n\n
S
  follow
  is "$status $(data)" "0 back " "$code is retried"
done

free=$(python3 -c 'import socket; s=socket.socket(); s.bind(("127.0.0.1",0)); print(s.getsockname()[1])')
start late sse-tail -v --retry-wait 0.05 -n 1 "http://127.0.0.1:$free/"
cat >"$tmp/late.script" <<'S'
stream
send data: at last\n\n
stall
S
ok "a refused connection is a loss" wait_until 30 has "$tmp/late.err" 'refused|connect'
later=$pid
start late_server python3 -c 'import sys; sys.path.insert(0, sys.argv[1])
import socket, raw
server = raw.Server(sys.argv[2], "/dev/null")
server.sockets[0].close()
server.sockets[0] = socket.create_server(("127.0.0.1", int(sys.argv[3])))
server.run()' "$cli/servers" "$tmp/late.script" "$free"
finished "$later"
is "$status $(jq -r .data "$tmp/late.out")" "0 at last" "sse-tail waits until the server is there"

# --- where it resumes
script <<'S'
stream
send id: 1\ndata: a\n\n
---
stream
send id: 2\ndata: b\n\nid: 3\ndata: cut
---
status 500
---
reset
---
stream
send data: c\n\n
---
stream
send id: ü→\ndata: d\n\n
---
stream
send id: 5\n\n
---
stream
send id: bad\0\ndata: e\n\nid: 6\n
---
stream
send id\ndata: f\n\n
S
follow
is "$(ids)" "- 1 2 2 2 2 ü→ 5 5 - " "Last-Event-ID is the last id of whole events, across failures"
is "$(jq -r .id "$out" | tr '\n' ' ')" "1 2 2 ü→ 5  " "each event shows the last id"
is "$(requests .headers.accept | sort -u)" text/event-stream "Accept is sent each time"
is "$(requests '.headers["cache-control"]' | sort -u)" no-cache "Cache-Control is sent each time"
is "$(requests .method | sort -u)" GET "each request is a GET"

script <<'S'
stream
send data: a\n\n
S
follow --last-event-id 'from here'
is "$(ids)" "from here from here " "--last-event-id is where the stream starts"

state=$tmp/state
script <<'S'
stream
send id: 7\ndata: a\n\nid: 8\ndata: b\n\n
stall
---
stream
send id: 9\ndata: c\n\n
stall
---
stream
send id: 10\n\n
S
run sse-tail --state "$state" -n 1 "$url/s"
run sse-tail --state "$state" -n 1 "$url/s"
follow --state "$state"
follow --state "$state"
is "$(ids)" "- 7 9 10 10 " "--state resumes behind the last event that came out"
is "$(cd "$tmp" && echo state*)" state "--state leaves nothing beside its file"

script <<'S'
stream
send id: 11\ndata: a\n\n
stall
S
start killed sse-tail --state "$state" "$url/s"
wait_until 30 has "$tmp/killed.out" '"a"'
stop "$pid"
script </dev/null
follow --state "$state"
is "$(ids)" "11 " "a signal does not lose the state"
follow --state "$state" --last-event-id 3
is "$(ids)" "11 3 " "--last-event-id wins over the state"
t 2 "a state file that cannot be one is an error" sse-tail --state "$tmp/home" "$url/s"
err_one_line sse-tail "a bad state file is named in a line"

# --- silence
script <<'S'
stream
send data: a\n\n
stall
---
stall
---
send HTTP/1.1 200 OK\r\nContent-Type: text/ev
stall
---
stream
send data: b\n\n
pause 0.25
send :\n
pause 0.25
send :
pause 0.25
send x
pause 0.25
send \ndata: c\n\n
S
follow --idle-timeout 0.6
is "$(data)" "a b c " "--idle-timeout ends silence in the body, the head and half a head"
is "$(requests .n | wc -l | tr -d ' ')" 5 "any byte counts as life for --idle-timeout"

# --- when it gives up
script <<'S'
forever
status 500 text/html <h1>no</h1>
S
follow --max-retries 2
status_is 75 "--max-retries gives up"
is "$(requests .n | wc -l | tr -d ' ')" 3 "--max-retries gives up after so many further tries"
err_one_line sse-tail "a line tells that it gives up"
err_like '500' "the line tells the last status"
follow --max-retries 0
is "$status $(requests .n | wc -l | tr -d ' ')" "75 4" "--max-retries 0 does not try again"
script <<'S'
stream
send data: a\n\n
---
stream
send data: b\n\n
---
stream
send data: c\n\n
S
follow --max-retries 1
is "$status $(data)" "0 a b c " "an event starts the count of tries over"
script <<'S'
stream
send data: a\n\n
stall
S
began=$(date +%s)
follow --max-time 1
status_is 0 "--max-time ends a stream"
ok "--max-time ends a stream in time" test $(($(date +%s) - began)) -le 10
script <<'S'
forever
status 500
S
began=$(date +%s)
follow --retry-wait 60 --max-time 1
ok "--max-time ends a wait, too" test $(($(date +%s) - began)) -le 10

# --- what is told
script <<'S'
stream
send data: a\n\n
---
status 502
---
stream
send data: b\n\n
S
follow -L --retry-wait 0.1
is "$(jq -r '.type // .data' "$out" | tr '\n' ' ')" "open a lost lost resumed b lost end " \
  "-L tells open, lost, resumed and end"
is "$(jq -c 'select(.type == "lost") | (.reason | length > 3) and (.retry_in > 0)' "$out" | sort -u)" \
  true "a lost link's record has a reason and the wait"
like "$(jq -r 'select(.type == "lost") | .reason' "$out" | sed -n 2p)" 502 \
  "the reason of a lost link is the status"
err_empty "-L says nothing on stderr"
script <<'S'
stream
send data: a\n\n
---
status 502
---
stream
send data: b\n\n
S
follow -v
err_like '502' "-v tells of a lost link on stderr"
is "$(grep -cv '^sse-tail: ' "$err")" 0 "each message has a line of its own"
script <<'S'
stream
send data: a\n\n
---
stream
send data: b\n\n
S
run python3 "$cli/terminal.py" sse-tail --retry-wait 0.1 "$url/s"
like "$(grep '^sse-tail: ' "$out" | head -n 1)" '0\.[0-9]|second|[0-9] ?s' \
  "a person at a terminal is told that it is down, and for how long"
ok "a person at a terminal is told when the link is back" \
  test "$(grep -c '^sse-tail: ' "$out")" -ge 2
script <<'S'
stream
send data: a\n\n
---
stream
send data: b\n\n
S
run python3 "$cli/terminal.py" sse-tail -q --retry-wait 0.1 "$url/s"
is "$(grep -c '^sse-tail: ' "$out")" 0 "-q does not tell of a lost link"

if command -v ss >/dev/null 2>&1; then
  script <<'S'
stream
send data: a\n\n
stall
S
  start kept sse-tail "$url/s"
  wait_until 30 has "$tmp/kept.out" '"a"'
  like "$(ss -tno "dport = :$port")" 'timer:\(keepalive' "TCP keepalive is on"
  stop "$pid"
else
  skip 1 "no ss to see TCP keepalive"
fi
done_testing
