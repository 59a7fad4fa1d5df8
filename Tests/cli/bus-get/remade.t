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
  ok "$1: all is archived" wait_until 20 at_least "$archive$1/$today.ndjson" "$2"
}
# is_told NAME COUNT: both have ended at that place.
is_told() {
  finished "$reader"
  is "$status" 2 "$1: a reader ends"
  like "$(grep -v link "$tmp/read$1.err")" "^bus-get: stream agents: $lost $2\$" \
    "$1: the reader tells why it ends"
  finished "$archiver"
  is "$status" 2 "$1: an archiver ends"
  like "$(grep -v link "$tmp/file$1.err")" "^bus-get: stream agents: $lost $2\$" \
    "$1: the archiver tells why it ends"
  like "$(cat "$archive$1/.state")" "\"seq\":$2," "$1: the archiver's place is saved"
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
ok "an emptied stream is archived on, too" wait_until 20 at_least "${archive}lost/$today.ndjson" 25

kill -9 "$bus_pid"
wait_until 20 gone "$bus_pid"
rm -r "$tmp/a.store"
restart_bus a
rows 5 401 | bus-put -s "$bus" --create
is_told lost 25

# One that has grown past the old place by the time anybody looks: when it was made tells.
other='it was made anew, and'
remake() { # COUNT FIRST
  bus_client delete agents
  rows "$1" "$2" | bus-put -s "$bus" --create
}
remake 20 501
run sh -c "bus-get -s '$bus' --state '$tmp/place' --all -e >'$tmp/placed'"
is "$(lines "$tmp/placed")" 20 "--state keeps a place at the end of the stream"
run bus-get -s "$bus" --archive "$tmp/kept" -e
start worker bus-get -s "$bus" -d work --all
worker=$pid
wait_until 20 at_least "$tmp/worker.out" 20
start reader bus-get -s "$bus" --all
reader=$pid
wait_until 20 at_least "$tmp/reader.out" 20
# The same stream, which more was put into, which was changed, and whose server starts again.
rows 3 701 | bus-put -s "$bus"
kill "$bus_pid"
wait_until 20 gone "$bus_pid"
restart_bus a
wait_until 20 at_least "$tmp/reader.out" 23
run bus-get -s "$bus" --archive "$tmp/kept" -e
is "$status $(lines "$tmp/kept/$today.ndjson")" "0 23" "the same stream is read on"
ok "a durable reads on, too" wait_until 20 at_least "$tmp/worker.out" 23
stop "$worker"
stop "$reader"
remake 40 801
run sh -c "bus-get -s '$bus' --state '$tmp/place' -e >>'$tmp/placed'"
is "$status $(cat "$err")" "2 bus-get: stream agents: $other the state at 20 is of the one before" \
  "a place in a stream that was made anew and is longer is refused"
run bus-get -s "$bus" --archive "$tmp/kept" -e
is "$status $(cat "$err")" "2 bus-get: stream agents: $other the state at 23 is of the one before" \
  "an archive of another one is refused"
run agent-archive --folder "$tmp/kept" --bus -s "$bus" -e
is "$status $(cat "$err")" \
  "2 agent-archive: stream agents: $other the state at 23 is of the one before" \
  "agent-archive refuses an archive of another stream, too"
run bus-get -s "$bus" -d work --all -n 40
is "$(count_of "$out")" 40 "a durable went with its stream, and begins anew"

# While somebody reads: the new one is longer before anybody looks.
begin grown 40
start worker bus-get -s "$bus" -d labour --all
worker=$pid
ok "a durable reads the longer stream, too" wait_until 20 at_least "$tmp/worker.out" 40
kill -STOP "$reader" "$archiver" "$worker"
remake 90 901
kill -CONT "$reader" "$archiver" "$worker"
for each in "$reader" "$archiver" "$worker"; do
  finished "$each"
  is "$status" 2 "a reader ends when its stream was made anew and is longer"
done
for each in readgrown filegrown worker; do
  like "$(grep -v link "$tmp/$each.err")" \
    "^bus-get: stream agents: $other what was read at 40 is of the one before\$" \
      "$each tells why it ended"
done
done_testing
