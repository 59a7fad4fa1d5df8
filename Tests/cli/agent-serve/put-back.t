#!/bin/sh
# agent-serve: a database that was put back or made anew gives ids once more. Who says when its
# newest action was is told all that is newer, however much that is.
. "${0%/*}/../lib.sh"
needs agent-serve curl jq

serve_agent agent
# at HOUR KIND...: actions of 2026-01-01, an hour's.
at() {
  hour=$1
  shift
  for kind; do
    printf '{"kind":"%s","created_at":"2026-01-01T%s:00:00.000Z"}\n' "$kind" "$hour"
  done | curl -sf --data-binary @- "$url/api/actions" >/dev/null
}
follow() { # STREAM ID TIME
  curl -sN -m 2 -H "Last-Event-ID: $2" -H "X-Last-Event-Time: 2026-01-01T$3:00:00.000Z" \
    "$url/api/$1/events" | grep ^id: | tr -dc '0-9\n' | tr '\n' ' '
}
at 01 a1 a2 a3
at 10 voice_b4 voice_b5 voice_b6
is "$(follow activity 6 05)" "4 5 6 " \
  "what is newer comes when the newest id is the last one of before"
is "$(follow voice 6 05)" "4 5 6 " "what is newer comes on the voice stream, too"
is "$(follow activity 5 05)" "4 5 6 " "what is newer comes behind an id in the middle, too"
is "$(follow activity 6 10)" "" "nothing comes when nothing is newer"
is "$(follow activity 4 10)" "5 6 " "what is newer comes behind an id that is its own"
is "$(follow activity 6 00)" "1 2 3 4 5 6 " "all actions come when all are newer"
# Rows of earlier come in later.
at 02 a7
is "$(follow activity 6 05)" "4 5 6 7 " "nothing newer is passed over for a row that came in late"
done_testing
