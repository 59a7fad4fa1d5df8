#!/bin/sh
# agent-archive --bus: the archive of all agents, a compressed file per day.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
needs jq cc gzip
[ "$(uname -s)" = Linux ] || skip_all "needs a clock of our own"
bound=30
start_bus a
rows 200 >"$tmp/in"
bus-put -s "$bus" --create <"$tmp/in" || bail "no records"
cc -shared -fPIC -o "$tmp/clock.so" "$cli/servers/clock.c" || bail "no clock"
CLOCK=$tmp/clock
export CLOCK
echo 0 >"$CLOCK"
today=$(date -u +%Y-%m-%d)
archive=$tmp/archive
# content FOLDER: what its records hold, in order. compressed FOLDER DAY
content() { action-filter -o content "$1"/2* | jq -r .content; }
compressed() { [ -n "$(find "$1" -name "$2.ndjson.*")" ] && [ ! -e "$1/$2.ndjson" ]; }

t 2 "an option that bus-get does not know has status 2" agent-archive --bus --no-such-option
err_like "^agent-archive: unknown option --no-such-option" \
  "an option that bus-get does not know is told by our name"
t 2 "a wrong subject has status 2" agent-archive --folder "$archive" --bus 'a..b'
t 2 "--index behind another option is not understood" agent-archive -s "$bus" --bus --index
t 2 "--archive has status 2 beside --bus" agent-archive -d x --folder "$archive" --bus
err_like "^agent-archive: --archive keeps a place of its own" \
  "the message says why --archive is refused beside --bus"

start live env LD_PRELOAD="$tmp/clock.so" agent-archive --folder "$archive" --bus -s "$bus" 'actions.>'
live=$pid
ok "what the stream holds is written" wait_until 20 at_least "$archive/$today.ndjson" 200
t 2 "a second archiver is refused" agent-archive --folder "$archive" --bus -s "$bus"
err_is "agent-archive: $archive: another archiver is at work" \
  "a second archiver is refused by our name"
t 2 "a second archiver, of a stream, is refused" \
  agent-archive --folder "$archive" http://127.0.0.1:9/
echo 86400 >"$CLOCK"
rows 50 201 | bus-put -s "$bus"
ok "at midnight the day is compressed" wait_until 20 compressed "$archive" "$today"
stop "$live"
status_is 143 "TERM ends it by that signal"
is "$(content "$archive" | xargs)" "$(seq 250 | xargs)" "each record is there once"
t 2 "the archive of a stream is another one" agent-archive --folder "$archive" http://127.0.0.1:9/
err_like "^agent-archive: .*: not a resume point" "the message says that the place is not its own"

# Killed, with a night before each run and one in it.
rows 20000 >"$tmp/many"
bus-put -s "$bus" -t many --create -u many <"$tmp/many"
killed=0
for turn in 1 2 3 4 5 6 7 8; do
  start "k$turn" env LD_PRELOAD="$tmp/clock.so" agent-archive --folder "$tmp/killed" --bus \
    -q -s "$bus" -t many
  echo "$((turn * 2 * 86400))" >"$CLOCK.new"
  mv "$CLOCK.new" "$CLOCK"
  sleep "0.$turn"
  echo "$((turn * 2 * 86400 + 86400))" >"$CLOCK.new"
  mv "$CLOCK.new" "$CLOCK"
  sleep 0.1
  stop "$pid" KILL
  [ "$status" -ne 137 ] || killed=$((killed + 1))
done
is "$killed" 8 "the archiver is killed eight times"
run env LD_PRELOAD="$tmp/clock.so" agent-archive --folder "$tmp/killed" --bus -s "$bus" -t many -e
one_left() { [ "$(find "$tmp/killed" -name '*.ndjson' | wc -l)" -eq 1 ]; }
ok "all days but the last are compressed" wait_until 20 one_left
seq 20000 >"$tmp/want"
content "$tmp/killed" >"$tmp/got"
ok "each record is in a day once, in order" cmp -s "$tmp/got" "$tmp/want"
is "$(find "$tmp/killed" -name '.2*')" "" "no temporary file is left"
done_testing
