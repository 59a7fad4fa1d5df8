#!/bin/sh
# agent-archive of a dashboard whose database was replaced between two runs: the archive goes on
# with all that is newer, however far the new numbers are.
. "${0%/*}/../lib.sh"
needs agent-archive agent-serve action-filter jq curl

say() { # FROM TO
  seq "$1" "$2" | sed 's/.*/{"kind":"voice_info","content":"n&"}/' |
    curl -sf --data-binary @- "$url/api/actions" >/dev/null
}
serve() { start_server agent agent-serve --listen "127.0.0.1:${1:-0}" --database "$tmp/agent.sqlite"; }
held() { action-filter "$1"/2* 2>/dev/null | grep -o '"content":"n[0-9]*"' | tr -dc '0-9\n' | sort -n | uniq; }
holds() { held "$1" | grep -qx "$2"; }
# keep FOLDER LAST: archives until that is there.
keep() {
  start keeper agent-archive --folder "$1" activity
  ok "n$2 is archived" wait_until 30 holds "$1" "$2"
  stop "$pid"
}
# begin NAME: archives the first ten actions of a new database in $archive; its server is $agent.
begin() {
  rm -f "$tmp"/agent.sqlite*
  serve
  agent=$pid
  AGENT_URL=$url
  export AGENT_URL
  archive=$tmp/$1
  start keeper agent-archive --folder "$archive" activity
  keeper=$pid
  ok "$1: the file of today is open" wait_until 20 test -s "$archive/$(date -u +%Y-%m-%d).ndjson"
  say 1 10
  ok "$1: the first database is archived" wait_until 30 holds "$archive" 10
  stop "$keeper"
}
for count in 3 10 40; do
  begin "archive$count"
  cp -R "$archive" "$archive.damaged"
  printf 'x' >"$archive.damaged/.state"
  stop "$agent"
  rm -f "$tmp"/agent.sqlite*
  serve "${AGENT_URL##*:}"
  agent=$pid
  say 11 $((10 + count))
  for each in "$archive" "$archive.damaged"; do
    keep "$each" $((10 + count))
    is "$(held "$each" | xargs)" "$(seq -s ' ' 1 $((10 + count)))" \
      "$count: ${each##*/}: the actions before are there, too"
    like "$(cat "$tmp/keeper.err")" 'the ids of the actions began again' \
      "$count: the message says that the ids began again"
  done
  stop "$agent"
done

# Killed before the state was saved again: the archive knows more, and has each action once.
begin killed
jq -c '.newest = "2020-01-01T00:00:00.000Z" | .last_event_id = "1"' "$archive/.state" >"$tmp/state"
cp "$tmp/state" "$archive/.state"
say 11 20
keep "$archive" 20
is "$(grep -c '"event":"action_event"' "$archive"/2*)" 20 \
  "each action is there once after a state that is behind"
done_testing
