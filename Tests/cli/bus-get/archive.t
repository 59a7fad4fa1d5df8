#!/bin/sh
# bus-get --archive: a file per day, each record once, whoever is killed and whatever the clock does.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
needs jq
needs_peers
bound=30
start_bus a
rows 300 >"$tmp/in"
bus-put -s "$bus" --create <"$tmp/in" || bail "no records"
archive=$tmp/archive
today=$(date -u +%Y-%m-%d)
day=$archive/$today.ndjson
state() { jq -c . "$archive/.state"; }

for words in "-d x" "--state $tmp/x"; do
  # shellcheck disable=SC2086
  t 2 "--archive and $words exclude each other" bus-get --archive "$archive" $words
  err_like "^bus-get: --archive keeps a place of its own: not with --" \
    "the message says why --archive and $words exclude each other"
done
t 2 "--archive needs a folder" bus-get --archive ""
err_like "^bus-get: --archive: no folder is named" "the message says that --archive names no folder"

t 0 "a few records are archived" bus-get -s "$bus" --archive "$archive" -n 100
out_empty "archiving prints nothing"
is "$(state | jq -c 'del(.created)')" "{\"type\":\"bus_state\",\"stream\":\"agents\",\"seq\":100,\"file\":\"$today.ndjson\",\"offset\":$(wc -c <"$day")}" \
  "the state of an archive says which file it is at"
is "$(stat -c %a "$archive" "$day" 2>/dev/null || stat -f %Lp "$archive" "$day")" "700
600" "the archive is readable for the user alone"
printf '{"content":"behind"}\n{"half' >>"$day"
run bus-get -s "$bus" --archive "$archive" -e
ok "archiving goes on from its place, and cuts off what the place does not tell of" \
  cmp -s "$day" "$tmp/in"

# What others did.
: >"$day"
t 2 "a file that is too short is refused" bus-get -s "$bus" --archive "$archive" -e
err_like "^bus-get: $day: ends at byte 0, and at $(wc -c <"$tmp/in") in the state" \
  "a file that is too short is named"
cp "$tmp/in" "$day"
t 2 "another stream's archive is refused" bus-get -s "$bus" --archive "$archive" -t other -e
mv "$archive/.state" "$tmp/state"
t 2 "days without a place are refused" bus-get -s "$bus" --archive "$archive" -e
err_like "^bus-get: $archive/.state: not there, and nothing else says" \
  "the message about days without a place tells the reason"
echo '{"type":"sse_state","source":""}' >"$archive/.state"
t 2 "the archive of another command is refused" bus-get -s "$bus" --archive "$archive" -e
mv "$tmp/state" "$archive/.state"

# Two at once, and what is left of earlier days.
for name in 2026-01-01.ndjson 2026-01-02.ndjson 2026-01-02.ndjson.gz; do
  echo x >"$archive/$name"
done
start one bus-get -s "$bus" --archive "$archive"
one=$pid
ok "files of earlier days are told of" wait_until 20 at_least "$tmp/one.out" 2
is "$(xargs <"$tmp/one.out")" "2026-01-01.ndjson 2026-01-02.ndjson" \
  "the oldest of the earlier days is told of first"
t 2 "a second archiver on one archive is refused" bus-get -s "$bus" --archive "$archive"
err_is "bus-get: $archive: another archiver is at work" "the message says that another is at work"
rows 1 301 | bus-put -s "$bus"
ok "a record that comes is written to the day's file" wait_until 20 at_least "$day" 301
stop "$one"
status_is 143 "TERM ends the archiver by that signal"
is "$(jq .seq "$archive/.state")" 301 "the place is saved when TERM ends the archiver"

# No room.
(
  ulimit -f 8
  trap '' XFSZ
  bounded 20 bus-get -s "$bus" --archive "$tmp/small" >"$out" 2>"$err"
  echo "$?" >"$tmp/status"
)
is "$(cat "$tmp/status")" 75 "a file that cannot grow ends it with status 75"
err_like "^bus-get: $tmp/small/$today.ndjson: [fF]ile too large" \
  "a file that cannot grow is told with its name"
run bus-get -s "$bus" --archive "$tmp/small" -n 301
run bus-get -s "$bus" --archive "$tmp/small" -e
ok "with room again nothing is missing or twice" cmp -s "$tmp/small/$today.ndjson" "$day"

# A clock of our own; killed at midnight, and the clock set back.
if command -v cc >/dev/null && [ "$(uname -s)" = Linux ] &&
  cc -shared -fPIC -o "$tmp/clock.so" "$cli/servers/clock.c" 2>/dev/null; then
  CLOCK=$tmp/clock
  export CLOCK
  echo 0 >"$CLOCK"
  live=$tmp/live
  tomorrow=$(date -u -d "$today + 1 day" +%Y-%m-%d)
  start live env LD_PRELOAD="$tmp/clock.so" bus-get -s "$bus" --archive "$live"
  ok "a live archive gets what is on the bus" wait_until 20 at_least "$live/$today.ndjson" 301
  echo 86400 >"$CLOCK"
  rows 1 302 | bus-put -s "$bus"
  ok "at midnight the day is told of" wait_until 20 at_least "$tmp/live.out" 1
  out_of() { is "$(cat "$tmp/live.out")" "$1" "$2"; }
  out_of "$today.ndjson" "the day that is told of at midnight is told by its name"
  is "$(jq -r .file "$live/.state")" "$tomorrow.ndjson" "the place is in the next day's file before that"
  ok "what comes after midnight is written into the next day's file" \
    wait_until 20 at_least "$live/$tomorrow.ndjson" 1
  stop "$pid" KILL
  # As agent-archive does.
  gzip "$live/$today.ndjson"
  echo '{"half' >>"$live/$tomorrow.ndjson"
  echo 0 >"$CLOCK"
  rows 1 303 | bus-put -s "$bus"
  run env LD_PRELOAD="$tmp/clock.so" bus-get -s "$bus" --archive "$live" -e
  ok "a clock that is set back makes no second file of that day" test ! -e "$live/$today.ndjson"
  { gzip -dc "$live/$today.ndjson.gz"; cat "$live/$tomorrow.ndjson"; } >"$tmp/got"
  rows 303 >"$tmp/want"
  ok "each record is there once after the clock was set back" cmp -s "$tmp/got" "$tmp/want"

  # Killed again and again, a night before each run and one in it.
  rows 40000 >"$tmp/many"
  head -n 1000 "$tmp/many" | bus-put -s "$bus" -t many --create -u many
  run env LD_PRELOAD="$tmp/clock.so" bus-get -s "$bus" -t many --archive "$tmp/killed" -e
  tail -n +1001 "$tmp/many" | bus-put -s "$bus" -t many -u many
  cat >"$tmp/nightly" <<'END'
#!/bin/sh
night() {
  echo "$(($(cat "$CLOCK") + 86400))" >"$CLOCK.$1"
  mv "$CLOCK.$1" "$CLOCK"
}
night "$$"
{ sleep 0.04; night "$$.2"; } >/dev/null &
exec env LD_PRELOAD="$1" bus-get -q -s "$2" -t many --archive "$3"
END
  chmod +x "$tmp/nightly"
  killed=$(kill_often 12 0.05 0.5 /dev/null "$tmp/told" \
    "$tmp/nightly" "$tmp/clock.so" "$bus" "$tmp/killed")
  ok "the archiver is killed in the middle" test "$killed" -ge 8
  run env LD_PRELOAD="$tmp/clock.so" bus-get -s "$bus" -t many --archive "$tmp/killed" -e
  cat "$tmp/killed"/2*.ndjson >"$tmp/got"
  ok "each record is in a day once, in order" cmp -s "$tmp/got" "$tmp/many"
  ok "the records are of several days" \
    test "$(find "$tmp/killed" -name '2*' -size +0 | wc -l)" -ge 2
  ok "all days but the last were told of" test \
    "$(sort -u "$tmp/told" "$out")" = "$(cd "$tmp/killed" && printf '%s\n' 2*.ndjson | sed '$d')"
else
  skip 11 "needs cc on Linux"
fi
done_testing
