#!/bin/sh
# A copy of the stream that is behind: a consumer that is made there begins before what was read,
# and yet it is the same stream.
. "${0%/*}/../lib.sh"
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

start_server fake python3 "$cli/servers/fake_copies.py" 99 closed
run bus-get -s "$url" --all -n 3
is "$status" 2 "a stream that never has what was read is another one: status 2"
like "$(cat "$err")" 'bus-get: stream agents: it ends at 0, and what was read at 2$' \
  "the message says where the other stream ends and what was read"
done_testing
