#!/bin/sh
# agent-archive and sse-tail --archive: a file per day, each record once.
. "${0%/*}/../lib.sh"
needs sse-tail action-filter jq python3 gzip

TMPDIR=$tmp/tmp
mkdir "$TMPDIR"
export TMPDIR
archive=$XDG_STATE_HOME/agentutils/archive
today=$(date -u +%Y-%m-%d)
names() { find "$archive" -name '[0-9]*' | sed 's/.*\///' | sort | xargs; }
numbers() { action-filter -o n "$@" | jq .n; }

t 0 "agent-archive --help succeeds" agent-archive --help
out_like "^usage: agent-archive" "agent-archive --help shows the usage"
run agent-archive --version
out_like "^agent-archive [0-9]+\.[0-9]+" "agent-archive --version prints the version"
t 2 "--folder needs an argument" agent-archive --folder
err_like "^agent-archive: option --folder needs an argument" \
  "the message says that --folder needs an argument"
t 2 "without a home the folder must be named" env -u XDG_STATE_HOME -u HOME agent-archive
err_one_line agent-archive "a missing home is told in one line"
t 2 "agent-archive without a configured agent is refused" agent-archive
err_like "^agent-archive: activity: no url" "the message says that there is no url"
t 2 "--archive and --data-only exclude each other" \
  sse-tail --archive "$tmp/a" -d http://127.0.0.1:9/
err_like "^sse-tail: --archive keeps whole records" \
  "the message says why --archive and --data-only exclude each other"
rm -rf "$archive"

# --- a day, stopped and gone on with
start_server numbered python3 "$cli/servers/numbered.py" --rate 100
events=$url/events
t 0 "five events are archived" agent-archive -n 5 "$events"
out_empty "archiving prints nothing"
err_empty "archiving says nothing"
today=$(date -u +%Y-%m-%d)
is "$(names)" "$today.ndjson" "the events are in today's file"
is "$(lines "$archive/$today.ndjson")" 5 "all five events are in the file"
ok "each event has the time of receipt, of that day" jq -es --arg day "$today" \
  'all(.received_at | startswith($day))' "$archive/$today.ndjson"
is "$(stat -c %a "$archive" "$archive/$today.ndjson" | xargs)" "700 600" \
  "the archive is for the user alone"
run agent-archive -n 5 "$events"
first=$(numbers "$archive/$today.ndjson" | head -n 1)
is "$(numbers "$archive/$today.ndjson" | xargs)" "$(seq "$first" $((first + 9)) | xargs)" \
  "a later run goes on where the first ended"
printf '{"event":"action_event","id":"99' >>"$archive/$today.ndjson"
rm "$archive/.state"
run agent-archive -n 5 "$events"
is "$(numbers "$archive/$today.ndjson" | xargs)" "$(seq "$first" $((first + 14)) | xargs)" \
  "half a record is mended, and the next run goes on behind it"

# --- links that others could have made
echo mine >"$tmp/victim"
mkdir "$tmp/shared"
chmod 770 "$tmp/shared"
for name in .lock .state "$today.ndjson"; do
  rm -f "$tmp/shared"/* "$tmp/shared"/.[ls]*
  ln -s "$tmp/victim" "$tmp/shared/$name"
  run sse-tail --archive "$tmp/shared" -n 5 "$events"
  is "$status $(cat "$tmp/victim")" "2 mine" "$name is not written through a link"
  err_one_line sse-tail "$name: one line says that it is a link"
done

# --- two at once
start one agent-archive "$events"
ok "one archiver writes" wait_until 30 at_least "$archive/$today.ndjson" 16
one=$pid
t 2 "a second archiver is refused" agent-archive "$events"
err_is "agent-archive: $archive: another archiver is at work" \
  "the message says that another is at work"
stop "$one"
status_is 143 "TERM ends the archiver by that signal"
t 2 "another stream's archive is refused" agent-archive http://127.0.0.1:9/other
err_like "holds the state of" "the message says whose archive it is"

# --- leftovers of earlier days
for day in 2026-01-01 2026-01-02 2026-01-03; do
  echo "{\"event\":\"e\",\"id\":\"1\",\"received_at\":\"${day}T00:00:00.000Z\",\"data\":{\"kind\":\"x\",\"n\":\"$day\"}}" \
    >"$archive/$day.ndjson"
done
echo garbage >"$archive/.2026-01-01.ndjson.4711"
compressor=gz
if command -v zstd >/dev/null; then
  compressor=zst
  zstd -q "$archive/2026-01-02.ndjson" -o "$archive/2026-01-02.ndjson.zst"
  echo '{"kind":"before","n":0}' | zstd -q >"$archive/2026-01-03.ndjson.zst"
  want="2026-01-01 1 2026-01-02 1 2026-01-03 2"
else
  want="2026-01-01 1 2026-01-02 1 2026-01-03 1"
fi
t 0 "an archive with what a crash left has status 0" agent-archive -n 1 "$events"
all_compressed() { [ -z "$(find "$archive" -name '2026-01-0?.ndjson')" ]; }
ok "the leftovers are compressed" wait_until 30 all_compressed
err_empty "nothing is said of the leftovers"
is "$(for file in "$archive"/2026-01-*; do
  echo "$(basename "$file" .ndjson.$compressor) $(action-filter -N "$file")"
done | xargs)" "$want" "no record of the leftovers is lost or there twice"
is "$(find "$archive" -name '.[0-9]*')" "" "no temporary file is left"
is "$(ls -A "$TMPDIR")" "" "no temporary file is left elsewhere"

# A program that does not compress: the plain file stays, and a later start mends it.
mkdir "$tmp/broken"
for name in zstd gzip; do
  printf '#!/bin/sh\nhead -c 20\nexit 1\n' >"$tmp/broken/$name"
  chmod +x "$tmp/broken/$name"
done
echo '{"kind":"x"}' >"$archive/2026-01-04.ndjson"
PATH=$tmp/broken:$PATH run agent-archive -n 1 "$events"
ok "a compression that fails is told" wait_until 30 has "$err" \
  "^agent-archive: .*2026-01-04.ndjson: not compressed; the next start tries again$"
is "$(cd "$archive" && echo 2026-01-04* .2026*)" "2026-01-04.ndjson .2026*" \
  "a compression that fails leaves the plain file"
PATH=$tmp/broken:$PATH
rm "$tmp"/broken/*
ln -s "$(command -v gzip)" "$tmp/broken/gzip"
# No zstd in sight.
mkdir "$tmp/few"
for name in sh sed mktemp mkfifo rm cat cmp tail wc mv sync sse-tail agent-archive script-options; do
  ln -s "$(command -v "$name")" "$tmp/few/$name"
done
ln -s "$(command -v gzip)" "$tmp/few/gzip"
t 0 "agent-archive works without zstd" env PATH="$tmp/few" agent-archive -n 1 "$events"
ok "agent-archive takes gzip without zstd" wait_until 30 test -s "$archive/2026-01-04.ndjson.gz"
is "$(action-filter -N "$archive/2026-01-04.ndjson.gz")" 1 "the record is in the file of gzip"

# --- no room
(
  ulimit -f 8
  trap '' XFSZ
  bounded 20 agent-archive --folder "$tmp/small" "$events" >"$out" 2>"$err"
  echo "$?" >"$tmp/status"
)
is "$(cat "$tmp/status")" 75 "a file that cannot grow ends it with status 75"
err_like "^agent-archive: $tmp/small/$today.ndjson: [fF]ile too large" \
  "a file that cannot grow is told with its name"
run agent-archive --folder "$tmp/small" -n 3 "$events"
numbers "$tmp/small/$today.ndjson" >"$tmp/got"
is "$(xargs <"$tmp/got")" "$(seq "$(head -n 1 "$tmp/got")" "$(tail -n 1 "$tmp/got")" | xargs)" \
  "with room again nothing is missing or twice"

if command -v zstd >/dev/null; then
  bound=60
  run python3 "$cli/clients/compressor.py" "${ARCHIVE_KILLS:-8}" "${ARCHIVE_SEED:-1}" "$tmp/finished" -- \
    agent-archive --folder "$tmp/finished" "$events"
  status_is 0 "kills lose no record while it compresses: $(cat "$out")"
else
  skip 1 "needs zstd"
fi

# --- midnight and kills, with a clock of our own
if command -v cc >/dev/null && command -v zstd >/dev/null && [ "$(uname -s)" = Linux ] &&
  cc -shared -fPIC -o "$tmp/clock.so" "$cli/servers/clock.c" 2>/dev/null; then
  CLOCK=$tmp/clock
  echo 0 >"$CLOCK"
  export CLOCK
  start live env LD_PRELOAD="$tmp/clock.so" agent-archive --folder "$tmp/live" "$events"
  live=$pid
  ok "a live archive is written" wait_until 30 at_least "$tmp/live/$today.ndjson" 3
  echo 86400 >"$CLOCK"
  ok "at midnight yesterday's file is compressed" wait_until 30 test -s "$tmp/live/$today.ndjson.zst"
  ok "the plain file is removed" wait_until 30 test ! -e "$tmp/live/$today.ndjson"
  tomorrow=$(date -u -d "$today + 1 day" +%Y-%m-%d)
  ok "tomorrow's file is written after midnight" \
    wait_until 30 at_least "$tmp/live/$tomorrow.ndjson" 3
  echo 0 >"$CLOCK"
  before=$(lines "$tmp/live/$tomorrow.ndjson")
  ok "the archive goes on when the clock is set back" \
    wait_until 30 at_least "$tmp/live/$tomorrow.ndjson" $((before + 5))
  ok "a clock that is set back makes no second file of that day" test ! -e "$tmp/live/$today.ndjson"
  stop "$live"
  numbers "$tmp/live/$today.ndjson.zst" "$tmp/live/$tomorrow.ndjson" >"$tmp/got"
  is "$(xargs <"$tmp/got")" "$(seq "$(head -n 1 "$tmp/got")" "$(tail -n 1 "$tmp/got")" | xargs)" \
    "across midnight no record is lost or twice"

  bound=120
  t 0 "an archiver that is killed again and again has status 0" \
    env LD_PRELOAD= python3 "$cli/clients/archiver.py" "${ARCHIVE_KILLS:-15}" "${ARCHIVE_SEED:-1}" \
    "$CLOCK" "$tmp/killed" -- env LD_PRELOAD="$tmp/clock.so" agent-archive --folder "$tmp/killed" "$events"
  out_like "^missing 0, twice 0, in order True$" \
    "an archiver that is killed keeps each record once: $(head -n 1 "$out")"
  out_like "^left over \[\], not compressed 1$" \
    "an archiver that is killed leaves nothing unfinished"
  diag "$(cat "$out" "$err")"
else
  skip 11 "needs cc and zstd on Linux"
fi

none_runs() { ! ps -e -o args= | grep -F "agent-archive --folder $tmp/" | grep -qv grep; }
ok "no process that an archiver started is left" wait_until 30 none_runs

done_testing
