#!/bin/sh
# A dashboard with ids whose database was replaced: its ids begin anew, and may be as large
# as before when sse-tail is back. Nothing is taken for what was printed before.
. "${0%/*}/../lib.sh"
needs sse-tail agent-serve action-filter jq curl

say() { # FROM TO
  seq "$1" "$2" | sed 's/.*/{"kind":"voice_info","content":"n&"}/' |
    curl -sf --data-binary @- "$url/api/actions" >/dev/null
}
came() { wait_until 30 has "$tmp/$1.out" "\"content\":\"n$2\""; }
numbers() {
  action-filter -u "$tmp/$1.out" 2>/dev/null | grep -o '"content":"n[0-9]*"' | tr -dc '0-9\n' |
    sort -n | tr '\n' ' '
}
serve() { start_server agent agent-serve --listen "127.0.0.1:${1:-0}" --database "$tmp/agent.sqlite"; }

for count in 3 11 30; do
  rm -f "$tmp"/agent.sqlite*
  serve
  agent=$pid
  AGENT_URL=$url
  export AGENT_URL
  tails=
  for stream in activity voice; do
    start "$stream" sse-tail --retry-wait 0.5 --state "$tmp/$stream.state.$count" "$stream"
    tails="$tails $pid"
    wait_until 30 test -s "$tmp/$stream.out"
  done
  say 1 10
  came activity 10
  came voice 10
  stop "$agent"
  rm -f "$tmp"/agent.sqlite*
  # The new one is filled before anybody is back.
  serve
  other=$pid
  say 11 $((10 + count))
  stop "$other"
  serve "${AGENT_URL##*:}"
  agent=$pid
  for stream in activity voice; do
    ok "$stream: a new database with $count actions is followed" came "$stream" $((10 + count))
    is "$(numbers "$stream")" "$(seq 1 $((10 + count)) | tr '\n' ' ')" \
      "$stream: each action is there, once"
    is "$(grep -c 'the ids of the actions began again: [0-9]* comes behind 10' "$tmp/$stream.err")" 1 \
      "$stream: new ids are told once"
  done
  for tail in $tails; do stop "$tail"; done
  for stream in activity voice; do mv "$tmp/$stream.out" "$tmp/$stream.first"; done

  # The same from run to run.
  stop "$agent"
  rm -f "$tmp"/agent.sqlite*
  serve "${AGENT_URL##*:}"
  agent=$pid
  say 101 $((101 + count))
  for stream in activity voice; do
    start "$stream" sse-tail --state "$tmp/$stream.state.$count" "$stream"
    ok "$stream: a new database is followed from run to run" came "$stream" $((101 + count))
    stop "$pid"
    is "$(numbers "$stream")" "$(seq 101 $((101 + count)) | tr '\n' ' ')" \
      "$stream: each action is there in the next run"
  done
  stop "$agent"
done
done_testing
