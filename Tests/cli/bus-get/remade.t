#!/bin/sh
# A stream that is lost, deleted or emptied while bus-get reads it. What it read is no place in
# another stream of that name: it would wait there for as many records as it had, and print none.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
needs_peers
bound=60
start_bus a
rows 20 | bus-put -s "$bus" --create
archive=$tmp/archive
today=$(date -u +%Y-%m-%d)
lost='it ends at [0-5], and what was read at'

# begin NAME COUNT: a reader and an archiver, which have so many.
begin() {
  start "read$1" bus-get -s "$bus" --all
  reader=$pid
  start "file$1" bus-get -s "$bus" --archive "$archive$1"
  archiver=$pid
  ok "$1: all is read" wait_until 20 at_least "$tmp/read$1.out" "$2"
  ok "$1: and archived" wait_until 20 at_least "$archive$1/$today.ndjson" "$2"
}
# is_told NAME COUNT: both have ended at that place.
is_told() {
  finished "$reader"
  is "$status" 2 "$1: a reader ends"
  like "$(grep -v link "$tmp/read$1.err")" "^bus-get: stream agents: $lost $2\$" "$1: and tells why"
  finished "$archiver"
  is "$status" 2 "$1: an archiver ends"
  like "$(grep -v link "$tmp/file$1.err")" "^bus-get: stream agents: $lost $2\$" "$1: and tells why"
  like "$(cat "$archive$1/.state")" "\"seq\":$2," "$1: its place is saved"
}

begin deleted 20
bus_client delete agents
rows 5 101 | bus-put -s "$bus" --create
is_told deleted 20

# Whoever empties a stream takes no number back: they go on.
rows 15 201 | bus-put -s "$bus"
begin lost 20
bus_client purge agents
rows 5 301 | bus-put -s "$bus"
ok "an emptied stream is read on" wait_until 20 at_least "$tmp/readlost.out" 25
ok "and archived" wait_until 20 at_least "${archive}lost/$today.ndjson" 25

kill -9 "$bus_pid"
wait_until 20 gone "$bus_pid"
rm -r "$tmp/a.store"
restart_bus a
rows 5 401 | bus-put -s "$bus" --create
is_told lost 25
done_testing
