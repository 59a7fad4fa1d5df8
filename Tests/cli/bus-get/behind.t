#!/bin/sh
# A copy of the stream that is behind: a consumer that is made there begins before what was read,
# and yet it is the same stream.
. "${0%/*}/../lib.sh"
needs jq
bound=40

# reads TITLE ARG...: bus-get, on a server with such copies, reads all three records, each once.
reads() {
  title=$1
  shift
  start_server fake python3 "$cli/servers/fake_copies.py" "$@"
  run bus-get -s "$url" --all -n 3
  is "$status" 0 "$title"
  is "$(tr '\n' ' ' <"$out")" '{"n":1} {"n":2} {"n":3} ' "$title, and each record is told once"
}
reads "where one may look at the stream, a copy behind ends nothing" 1
reads "where one may not, another consumer is made" 2 closed
reads "a server that made the stream later, but before its records, has the same stream" \
  0 2026-03-14T07:59:59Z

# Between two runs, too.
start_server fake python3 "$cli/servers/fake_copies.py" 0 2026-03-14T07:59:59Z
bus-get -s "$url" --all --state "$tmp/state" -n 2 >>"$tmp/all"
is "$(jq -r .stored "$tmp/state")" 2026-03-14T08:00:00.000Z "a state says when its record was stored"
bus-get -s "$url" --all --state "$tmp/state" -n 1 >>"$tmp/all"
is "$(tr '\n' ' ' <"$tmp/all")" '{"n":1} {"n":2} {"n":3} ' \
  "another server of the same cluster goes on behind a state"

start_server fake python3 "$cli/servers/fake_copies.py" 0 2026-03-14T08:00:01Z
run bus-get -s "$url" --all -n 3
is "$status" 2 "a stream of a cluster that was made after what was read is another one: status 2"
like "$(cat "$err")" 'it was made anew, and what was read at 2 is of the one before$' \
  "the message says that the stream was made anew"

start_server fake python3 "$cli/servers/fake_copies.py" 99 closed
run bus-get -s "$url" --all -n 3
is "$status" 2 "a stream that never has what was read is another one: status 2"
like "$(cat "$err")" 'bus-get: stream agents: it ends at 0, and what was read at 2$' \
  "the message says where the other stream ends and what was read"
done_testing
