#!/bin/sh
# agent-tail --resume FILE | bus-put --state FILE: whichever of the two is killed, what an agent did
# is in the stream once.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
. "${0%/*}/../pincer.sh"
needs agent-serve jq curl python3
needs_peers
bound=30
start_bus a
bus-put -s "$bus" --create </dev/null || bail "no stream"
serve_agent one
profile one "$url"
one=$url
printf '[profile gate]\nkind = openclaw\nurl = ws://127.0.0.1:9\n' \
  >>"$XDG_CONFIG_HOME/agentutils/config"

# --- who may say it
t 2 "--resume and several profiles exclude each other" agent-tail -p one,gate --resume "$tmp/place"
err_like "^agent-tail: --resume is not for several profiles" \
  "the message says that --resume is for one profile"
t 2 "--resume and --state exclude each other" \
  agent-tail -p one --resume "$tmp/place" --state "$tmp/place"
err_like "^agent-tail: --resume is not for --state" \
  "the message says that --resume is not for --state"
t 2 "a gateway cannot be resumed" agent-tail -p gate --resume "$tmp/place"
err_is "agent-tail: --resume: an OpenClaw gateway repeats no events: there is nothing to resume" \
  "a gateway without events to resume is named"

# start_pipe WORD...: agent-tail with these words, $teller, to bus-put, $putter.
mkfifo "$tmp/wire"
start_pipe() {
  start put sh -c "exec bus-put -q -s '$bus' --state '$tmp/place' <'$tmp/wire'"
  putter=$pid
  start tail sh -c 'wire=$1; shift; exec agent-tail --retry-wait 0.02 "$@" >"$wire"' - \
    "$tmp/wire" --resume "$tmp/place" "$@"
  teller=$pid
}
# Either is killed, in turn; the other one ends by itself.
kill_pipes() { # TIMES WORD...
  _times=$1
  shift
  _round=0
  while [ "$_round" -lt "$_times" ]; do
    _round=$((_round + 1))
    start_pipe "$@"
    sleep "$(awk -v round="$_round" 'BEGIN { print 0.2 + (round * 7 % 5) * 0.15 }')"
    if [ $((_round % 2)) -eq 0 ]; then
      # What bus-put holds is not stored, though agent-tail printed it a second ago.
      kill -STOP "$bus_pid"
      sleep 1.2
      stop "$putter" KILL
      finished "$teller"
      kill -CONT "$bus_pid"
    else
      stop "$teller" KILL
    fi
    finished "$putter"
    finished "$teller"
  done
}

# --- an agent whose events have ids
# post FROM TO: actions with these numbers as content.
post() {
  seq "$1" "$2" | sed 's/.*/{"kind":"llm_call","content":"&"}/' |
    curl -sf --data-binary @- "$one/api/actions" >/dev/null
}
is_stored() { bus-get -s "$bus" --all -e 'actions.>' | grep -q "\"$1\""; }
start_pipe -p one
ok "an agent is followed" wait_until 20 test -s "$tmp/place"
post 1 1
ok "what an agent does is stored" wait_until 20 is_stored 1
{
  number=2
  while [ ! -e "$tmp/enough" ]; do
    post "$number" "$((number + 19))"
    number=$((number + 20))
    sleep 0.02 # a pace, for what follows to meet it at work
  done
  echo "$((number - 1))" >"$tmp/last"
} &
posting=$!
stop "$putter" KILL
finished "$teller"
kill_pipes 4 -p one
: >"$tmp/enough"
wait "$posting"
last=$(cat "$tmp/last")
start_pipe -p one
ok "the last of $last actions is stored, after five kills" wait_until 20 is_stored "$last"
stop "$teller"
finished "$putter"
is "$status" 0 "all actions are acknowledged"
bus-get -s "$bus" --all -e 'actions.>' | jq -r .data.content >"$tmp/got"
seq "$last" >"$tmp/want"
ok "each action is there once, in order" cmp -s "$tmp/got" "$tmp/want"

# --- a thread whose events have numbers
start_pincer pin --pace 0.004
thread=$(new_thread pin)
rm "$tmp/place"
ask pin TurnsService/SendTurn "{\"threadId\":\"$thread\",\"userText\":\"slow 600\"}" >"$tmp/said" &
turn=$!
kill_pipes 3 -p pin "$thread"
wait "$turn"
last=$(ask pin ThreadsService/GetThreadSnapshot "{\"threadId\":\"$thread\"}" | jq -r .lastSequence)
start_pipe -p pin "$thread"
is_told() { [ "$(jq -r .last_event_id "$tmp/place")" = "$last" ]; }
ok "the last event of a thread is stored" wait_until 20 is_told
stop "$teller"
finished "$putter"
bus-get -s "$bus" --all -e 'events.>' | jq -r 'select(.data.threadId) | .id' >"$tmp/got"
is "$(xargs <"$tmp/got")" "$(seq -s ' ' 1 "$last")" "each event of a thread is there once, in order"
done_testing
