#!/bin/sh
# make demo: shows the pipe, ends by itself, leaves nothing behind.
. "${0%/*}/../lib.sh"
[ -x "$root/bin/agent-serve" ] || skip_all "needs agent-serve"

TMPDIR=$tmp/tmp
mkdir "$TMPDIR"
export TMPDIR
nothing_left() { [ -z "$(ls -A "$TMPDIR")" ]; }
no_server() { ! ps -e -o args= | grep "^agent-serve .*$TMPDIR" | grep -q .; }

# A setting of the user must not matter.
AGENT_URL=http://127.0.0.1:9 run "$root/Tests/demo" 4
status_is 0 "the demo ends by itself"
err_empty "nothing is said on standard error"
out_like "answers at http://127\.0\.0\.1:[0-9]+ for 4 seconds" "the demo says where it answers"
out_like "memory_fact" "the demo shows what was stored before"
out_like "voice_session_start" "the demo shows what happens while it runs"
out_like "voice_turn_in" "the demo goes on"
ok "no byte of the demo controls a terminal" \
  perl -0777 -ne 'exit(/[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]/ ? 1 : 0)' "$out"
ok "the demo's server is gone afterwards" wait_until 30 no_server
ok "the demo's folder is gone afterwards" nothing_left

# What is played is not faster than one reads, and never silent for long.
"$root/Tests/fixtures/as-of-now" "$root/Tests/fixtures/sample-day.ndjson" >"$tmp/day"
"$root/Tests/fixtures/as-of-now" --silence 2 "$root/Tests/fixtures/sample-day.ndjson" >"$tmp/brisk"
ok "silences are shortened to two seconds, and all else takes as long as it did" python3 - "$tmp/day" "$tmp/brisk" <<'END'
import datetime, json, sys
def times(name):
    records = map(json.loads, open(name, encoding="utf-8"))
    return [datetime.datetime.fromisoformat(record["received_at"][:-1]) for record in records if "received_at" in record]
def gaps(times):
    return [round((later - earlier).total_seconds(), 3) for earlier, later in zip(times, times[1:])]
day, brisk = (times(name) for name in sys.argv[1:])
assert gaps(brisk) == [min(gap, 2) for gap in gaps(day)]
assert max(gaps(day)) > 60 and abs((brisk[-1] - day[-1]).total_seconds()) < 60
END
AGENT_URL=http://127.0.0.1:9 start pace "$root/Tests/demo" 30
wait_until 30 has "$tmp/pace.out" voice_session_start
before=$(lines "$tmp/pace.out")
sleep 4 # of the demonstration
passed=$(($(lines "$tmp/pace.out") - before))
ok "in four seconds no more rows appear than one can read: $passed" test "$passed" -le 30
ok "some rows appear in four seconds" test "$passed" -ge 3
stop "$pid"

# A small Debian has perl-base alone.
for module in Time/HiRes Time/Local; do
  mkdir -p "$tmp/perl/${module%/*}"
  echo "die 'not of perl-base'" >"$tmp/perl/$module.pm"
done
t 0 "the demo needs no more of Perl than perl-base" env PERL5LIB="$tmp/perl" "$root/Tests/demo" 3
err_empty "nothing is missing with perl-base alone"
out_like "memory_fact" "the demo shows the day with perl-base alone"
mkdir "$tmp/demo"
cp "$root/Tests/demo" "$tmp/demo"
gzip -c "$root/Tests/fixtures/sample-day.ndjson" >"$tmp/demo/sample-day.ndjson.gz"
printf '#!/bin/sh\nexit 9\n' >"$tmp/demo/as-of-now"
chmod +x "$tmp/demo/as-of-now"
t 2 "a day that cannot be moved to now ends it" "$tmp/demo/demo" 3
out_empty "nothing is shown of a day that cannot be moved to now"
ok "the folder of a demo that failed is gone" nothing_left

t 0 "the demo runs on a terminal, too" \
  python3 "$root/Tests/cli/terminal.py" 24x80 "$root/Tests/demo" 3
out_like "memory_fact" "the demo shows the feed on a terminal"
# The last screen of what was stored, and what happened while it ran.
first=$(tr -d '\r' <"$out" | grep -n 'voice_session_start.*openai' | sed 's/:.*//;q')
tr -d '\r' <"$out" | sed 's/'"$(printf '\033')"'\[[0-9;]*[mK]//g' | sed -n "$((first - 20)),$((first + 3))p" >"$tmp/first"
is "$(grep -cE '^ *([0-9]+[smh]|now)  ' "$tmp/first")" 24 "a screen of rows is shown"
is "$(grep -E '^ *[0-9]+h' "$tmp/first")" "" "all rows on the screen are of the last hour"
ok "the server is gone after a demo on a terminal" wait_until 30 no_server
ok "the folder is gone after a demo on a terminal" nothing_left

for signal in TERM INT; do
  start demo "$root/Tests/demo" 40
  ok "the demo runs" wait_until 30 has "$tmp/demo.out" voice_session_start
  stop "$pid" "$signal"
  is "$status" $((128 + $(kill -l "$signal" 2>/dev/null || /bin/kill -l "$signal"))) \
    "$signal ends the demo"
  ok "the server is gone after $signal" wait_until 30 no_server
  ok "the folder is gone after $signal" nothing_left
done

done_testing
