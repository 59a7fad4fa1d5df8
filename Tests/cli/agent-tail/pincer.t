#!/bin/sh
# The events of a thread of a Pincer server: whole, once each and in order, whatever the
# wire does.
. "${0%/*}/../lib.sh"
. "${0%/*}/../pincer.sh"
needs agent-tail curl jq python3

start_pincer pin
thread=$(new_thread pin)
tail_it() { run agent-tail -p pin --retry-wait 0.05 "$@"; }
ids() { jq -r 'select(.event) | .id' "$1" | xargs; }
say() { ask pin TurnsService/SendTurn "{\"threadId\":\"$thread\",\"userText\":\"$1\"}" >"$tmp/said"; }
follow() {
  start tail agent-tail -p pin -L --retry-wait 0.05 "$@"
  wait_until 20 has "$tmp/tail.out" '"type":"open"' || bail "agent-tail does not open"
}
came() { wait_until 20 has "$tmp/tail.out" "$1"; }
event() { tell pin event "$thread" "$1"; }
losses() { grep -c '"type":"resumed"' "$tmp/tail.out"; }
mended() { [ "$(losses)" -gt "$1" ]; }
# whole: the events so far, from 1, and none twice.
whole() { [ "$(ids "$tmp/tail.out")" = "$(seq -s ' ' 1 "$1")" ]; }

# --- the events

say "read x"
tail_it -n 8 "$thread"
status_is 0 "the events of a thread come"
err_empty "nothing is said beside the events"
is "$(jq -r '.event + " " + .id' "$out" | xargs)" "turnStarted 1 toolCallPlanned 2 \
toolExecutionStarted 3 toolExecutionOutputDelta 4 toolExecutionFinished 5 assistantTextDelta 6 \
assistantMessageCommitted 7 turnCompleted 8" "the events have names and numbers"
is "$(jq -c 'select(.id == "2") | .data | [.threadId, .sequence, .toolCallPlanned.args]' "$out")" \
  "[\"$thread\",\"2\",{\"path\":\"x\"}]" "the events have the server's own object"
is "$(calls pin EventsService/WatchThread)" "{\"threadId\":\"$thread\",\"fromSequence\":\"0\"}" \
  "nothing more is asked for than the events"
is "$(jq -r 'select(.method == "EventsService/WatchThread") | .headers
  | [.["content-type"], .["connect-protocol-version"], .["connect-accept-encoding"] // "none"] | join(" ")' \
  "$tmp/pin.log")" "application/connect+json 1 none" "Connect is spoken, not compressed"
tail_it --from 6 -n 2 "$thread"
is "$(ids "$out")" "7 8" "--from begins behind a number"
tail_it --from 0 -n 2
status_is 0 "all threads are followed without a thread"
is "$(ids "$out")" "1 2" "all threads are followed from their first events with --from 0"
tail_it -n 1 thr_none
err_like 'agent-tail: .*not_found: thread not found$' "a thread that does not exist is told"
isnt "$status" 0 "a thread that does not exist is an error"
tail_it -n 1 --from -1 "$thread"
status_is 2 "a number below the first is refused"

tail_it --state "$tmp/state" -n 3 "$thread"
tail_it --state "$tmp/state" -n 2 "$thread"
is "$(ids "$out")" "4 5" "--state goes on where it ended"
sed -i 's/"last_event_id":"5"/"last_event_id":"99"/' "$tmp/state"
tail_it --state "$tmp/state" -n 8 "$thread"
is "$(ids "$out")" "1 2 3 4 5 6 7 8" "--state begins anew when the numbers of a server began again"
err_like 'the numbers of the events began again: the last one is 8, and was 99' \
  "the message says that they began again"

# --- what a wire may do

tell pin split 1
tail_it -n 8 "$thread"
is "$(ids "$out")" "1 2 3 4 5 6 7 8" "an answer in single bytes is read"
tell pin split 7
tail_it -n 8 "$thread"
is "$(jq -c .data "$out" | md5sum)" "$(tell pin split 0 && tail_it -n 8 "$thread" &&
  jq -c .data "$out" | md5sum)" "the events are the same in pieces"

follow "$thread"
number=8
for how in clean bare short half reset "error unavailable going away" "error internal odd"; do
  tell pin cut "$how"
  event '{"heartbeat":{"latestSequence":"1"}}'
  number=$((number + 1))
  wait_until 20 whole "$number"
done
ok "nothing is lost, doubled or out of order over seven cuts" whole 15
is "$(jq -r 'select(.type == "lost") | .type' "$tmp/tail.out" | wc -l)" 7 \
  "each of seven cuts is told"
ok "a clean end of the stream is told as one" \
  has "$tmp/tail.out" '"lost".*the server ended the stream'
ok "an end without a last envelope is told as a loss" has "$tmp/tail.out" '"lost".*without an end'
ok "a refusal is told with its words" has "$tmp/tail.out" '"lost".*unavailable: going away'
tell pin skip 2
event '{"heartbeat":{}}'
event '{"heartbeat":{}}'
event '{"heartbeat":{}}'
ok "a hole is asked for again" wait_until 20 whole 18
tell pin swap
event '{"heartbeat":{}}'
event '{"heartbeat":{}}'
ok "events in another order are asked for again" wait_until 20 whole 20
before=$(losses)
tell pin back 5
tell pin cut bare
wait_until 20 mended "$before"
event '{"heartbeat":{}}'
ok "what comes again is not told again" wait_until 20 whole 21
not_ok "no gap is told, for there is none" has "$tmp/tail.out" '"type":"gap"'
tell pin limit 3
tell pin cut short
tell pin fill "$thread" 10
ok "a backlog that is cut is fetched piece by piece" wait_until 20 whole 31
tell pin limit 2000
tell pin lack 33
for number in 32 33 34; do event "{\"heartbeat\":{\"latestSequence\":\"$number\"}}"; done
came '"id":"34"'
ok "what the server does not have is told" has "$tmp/tail.out" '"type":"gap","from":33,"to":33'
is "$(jq -r 'select(.event) | .id' "$tmp/tail.out" | tail -n 2 | xargs)" "32 34" \
  "the missing event is passed over"

# What is no event, or not one of today.
tell pin envelope 0 '{"eventId":'
tell pin bytes 000000000422ff2222
tell pin envelope 0 '[1]'
event '{"futureThing":{"n":1.10,"text":"\u001b[2Jπ"}}'
came '"event":"futureThing","id":"35"'
ok "an event of tomorrow passes" true
is "$(grep -c 'a message that is no event' "$tmp/tail.err")" 3 \
  "what is not an event is named, and all goes on"
event '{"noticed":{"text":"'"$(head -c 300000 /dev/zero | tr '\0' x)"'"}}'
came '"id":"36"'
is "$(jq -r 'select(.id == "36") | .data.noticed.text | length' "$tmp/tail.out")" 300000 \
  "a large event comes, too"
stop "$pid"
status_is 143 "TERM ends agent-tail by that signal"
tail_it --from 34 --max-event-bytes 1000 -n 1 "$thread"
is "$(ids "$out")" 35 "an event that is small enough comes"
tail_it --from 34 --max-event-bytes 1000 --max-time 1 "$thread"
err_like 'bytes' "an event that is too large is passed over, with a word"

# Other spellings of the same.
follow --from 36 "$thread"
tell pin envelope 0 '{"event_id":"e","thread_id":"'"$thread"'","sequence":37,"turn_started":{}}'
came '"event":"(turnStarted|turn_started)","id":"37"'
ok "another spelling is read" true
stop "$pid"

# --- silence

thread=$(new_thread pin)
follow --idle-timeout 2 "$thread"
ok "a thread in which nothing has happened is open, though the server says nothing" true
event '{"heartbeat":{}}'
came '"id":"1"'
tell pin deaf
event '{"heartbeat":{}}'
event '{"heartbeat":{}}'
ok "a stream that died without a word is noticed, before any event" wait_until 6 whole 3
tell pin hush 1
tell pin cut short
event '{"heartbeat":{}}'
ok "a stream that says nothing of what is stored is noticed" wait_until 8 whole 4
stop "$pid"
asked=$(calls pin ThreadsService/ListThreadMessages | wc -l)
before=$(calls pin EventsService/WatchThread | wc -l)
follow --idle-timeout 0.5 --from 4 "$thread"
wait_until 20 came_calls pin ThreadsService/ListThreadMessages $((asked + 5))
is "$(calls pin EventsService/WatchThread | wc -l)" $((before + 1)) \
  "a thread in which nothing happens is not watched anew, when the server says so"
stop "$pid"

# --- refusals

tell pin answer EventsService/WatchThread 401 application/json '{"error":"unauthorized"}'
tail_it -n 1 "$thread"
status_is 77 "a missing token is told in the server's own shape"
tell pin refuse EventsService/WatchThread unauthenticated unauthorized
tail_it -n 1 "$thread"
status_is 77 "a missing token is told in the shape of Connect, too"
err_one_line agent-tail "a missing token is told in one line"
tell pin refuse EventsService/WatchThread unavailable later
tail_it -n 1 --max-retries 0 "$thread"
status_is 75 "a refusal that may pass has status 75"
tell pin refuse EventsService/WatchThread unimplemented "no $(printf '\033')[31msuch"
tail_it -n 1 "$thread"
status_is 2 "a refusal that will not pass has status 2"
err_like 'no \\e\[31msuch' "the words of a refusal are made visible"
tell pin answer EventsService/WatchThread 503 text/plain busy
tail_it -n 1 "$thread"
status_is 0 "a server that was not ready has status 0"
tell pin answer EventsService/WatchThread 200 application/json '{}'
tail_it -n 1 "$thread"
status_is 2 "an answer that is not a stream has status 2"
tell pin answer EventsService/WatchThread 404 text/plain '404 page not found'
tail_it -n 1 "$thread"
status_is 2 "another server is an error"
for bytes in 01000000027b7d 80000000027b7d 02000000033d3d3d 03000000027b7d; do
  follow --from 4 "$thread"
  tell pin bytes "$bytes"
  finished "$pid"
  is "$status" 2 "an envelope that cannot be read has status 2: $bytes"
done
follow --from 4 "$thread"
tell pin bytes 00ffffffff7b
tell pin cut short
event '{"heartbeat":{}}'
ok "a length of 4 GB takes no room, and the next connection goes on" came '"id":"5"'
is "$(awk '/VmHWM/ { print ($2 < 100000) }' "/proc/$pid/status" 2>/dev/null || echo 1)" 1 \
  "a length of 4 GB takes no room in memory"
tell pin revoke
tell pin cut short
finished "$pid"
is "$status" 77 "a token that was revoked meanwhile has status 77"
not_ok "no token is in records and messages" grep -rq "${pincer_token#*.}" "$tmp/tail.out" "$tmp/tail.err" "$out" "$err"
done_testing
