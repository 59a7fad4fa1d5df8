#!/bin/sh
# agent-archive: the indexes of compressed files, and --index, which adds them.
. "${0%/*}/../lib.sh"
needs zstd gzip jq python3
cd "$tmp" || exit 1
# records DAY COUNT
records() {
  seq "$2" | sed "s/.*/{\"id\":\"$1-&\",\"kind\":\"tick\",\"created_at\":\"$1T10:00:00Z\"}/"
}
has_index() { action-filter --contents "$1" >/dev/null; }
left() { find kept -name '.2*' -o -name '.index.*'; }

run agent-archive --folder kept --index
err_is "agent-archive: $tmp/kept: no such folder" "a missing folder is named"
status_is 2 "a missing folder is an error"
mkdir kept
run agent-archive --folder kept --index -n 1
err_like "^agent-archive: --index takes no other options" \
  "--index refuses an option for another task"
t 0 "an empty folder is no error" agent-archive --folder kept --index

XDG_STATE_HOME=here run agent-archive --index
err_is "agent-archive: $HOME/.local/state/agentutils/archive: no such folder" \
  "a relative XDG_STATE_HOME counts for nothing"

for day in 2025-01-01 2025-01-02 2025-01-03; do
  records "$day" 100 | tee -a all | zstd -q >"kept/$day.ndjson.zst"
done
records 2025-01-04 100 | tee -a all | action-filter --pack >kept/2025-01-04.ndjson.zst
records 2025-01-05 100 | tee -a all | gzip >kept/2025-01-05.ndjson.gz
records 2025-01-06 100 >>all
# Two pieces, one behind the other, as they were once written.
{ records 2025-01-06 60 | zstd -q && records 2025-01-06 100 | tail -n +61 | zstd -q; } \
  >kept/2025-01-06.ndjson.zst
records 2025-01-07 100 | tee -a all >kept/2025-01-07.ndjson
cp kept/2025-01-04.ndjson.zst packed
ls -i kept/2025-01-04.ndjson.zst >inode
t 0 "--index succeeds" agent-archive --folder kept --index
out_empty "--index prints nothing"
err_empty "--index says nothing"
for day in 1 2 3 4 6; do
  ok "day $day has an index" has_index "kept/2025-01-0$day.ndjson.zst"
done
ok "a file that had an index is left alone" \
  test "$(ls -i kept/2025-01-04.ndjson.zst)" = "$(cat inode)"
not_ok "a file that is compressed with gzip has no index" has_index kept/2025-01-05.ndjson.gz
run action-filter kept
ok "every record is there after --index" cmp "$out" all
is "$(jq -r .name kept/.index | xargs)" \
  "$(for day in 1 2 3 4 6; do printf '2025-01-0%s.ndjson.zst ' "$day"; done | sed 's/ $//')" \
  "the folder's index names the files that have one"
is "$(stat -c %a kept/.index kept/2025-01-01.ndjson.zst | xargs)" "600 600" \
  "the indexes are for the user alone"
is "$(left)" "" "nothing else is left by --index"

# --- what cannot be read
head -c 300 packed >kept/2025-02-01.ndjson.zst
ln -s "$tmp/packed" kept/2025-02-02.ndjson.zst
records 2025-02-03 10 | zstd -q >victim
ln -s "$tmp/victim" kept/2025-02-03.ndjson.zst
cp victim before
t 2 "a damaged file is an error" agent-archive --folder kept --index
err_is "agent-archive: $tmp/kept/2025-02-01.ndjson.zst: no index was added" \
  "the damaged file is named"
is "$(wc -c <kept/2025-02-01.ndjson.zst | tr -d ' ')" 300 "the damaged file stays"
ok "a link to a packed file is not followed" cmp victim before
rm kept/2025-02-0*
ln -sf "$tmp/victim" kept/.index
run agent-archive --folder kept --index
ok "a link instead of the folder's index is not followed" cmp victim before
rm kept/.index

# --- killed at any moment
records 2025-03-01 60000 >many
cp -r kept fresh
zstd -q many -o fresh/2025-03-01.ndjson.zst
zstd -q many -o fresh/2025-03-02.ndjson.zst
cat all many many | sort >want
killed=0
for turn in 0 1 2 3 4 5 6 7 8 9; do
  rm -rf kept
  cp -r fresh kept
  start "index$turn" python3 -c 'import os, sys
os.setsid()
os.execvp(sys.argv[1], sys.argv[1:])' agent-archive --folder kept --index
  wait_until 20 kill -0 "-$pid"
  sleep "0.$turn"
  kill -9 "-$pid" 2>/dev/null && killed=$((killed + 1))
  wait "$pid" 2>/dev/null
  action-filter kept | sort | cmp -s - want || break
done
is "$turn" 9 "every record is there each time --index is killed, $killed times"
ok "--index was killed at work" test "$killed" -gt 0
t 0 "the next --index ends what was begun" agent-archive --folder kept --index
ok "the file that was being packed then has an index" has_index kept/2025-03-02.ndjson.zst
action-filter kept | sort >got
ok "every record is still there after the next --index" cmp got want
is "$(left)" "" "nothing else is left by the next --index"

start_server numbered python3 "$cli/servers/numbered.py" --rate 100
# --- compressing, killed at any moment
cat many many | sort >want
leads() { kill -0 "-$1" 2>/dev/null; }
rest=
for pause in 0 0.03 0.07 0.12 0.18 0.25 0.35 0.5; do
  rm -rf kept
  mkdir kept
  cp many kept/2025-03-02.ndjson
  head -n 30000 many | action-filter --pack >kept/2025-03-01.ndjson.zst
  tail -n +30001 many >kept/2025-03-01.ndjson
  start "pack$pause" python3 -c 'import os, sys
os.setsid()
os.execvp(sys.argv[1], sys.argv[1:])' agent-archive --folder kept "$url/events"
  wait_until 20 leads "$pid"
  sleep "$pause"
  kill -9 "-$pid"
  wait "$pid" 2>/dev/null
  start "after$pause" agent-archive --folder kept "$url/events"
  wait_until 20 test ! -e kept/2025-03-01.ndjson -a ! -e kept/2025-03-02.ndjson || break
  stop "$pid"
  zstd -dcq kept/2025-03-01.ndjson.zst kept/2025-03-02.ndjson.zst | sort | cmp -s - want || break
  [ -z "$(find kept -name '.2*')" ] || break
  rest=$pause
done
is "$rest" 0.5 "every record is there once, after an archiver was killed eight times"

# --- beside an archiver, and what that one writes
rm -rf kept
mkdir kept
records 2025-01-01 100 | zstd -q >kept/2025-01-01.ndjson.zst
records 2025-01-02 100 | action-filter --pack >kept/2025-01-02.ndjson.zst
records 2025-01-02 50 | sed s/tick/more/ >kept/2025-01-02.ndjson
records 2025-01-03 100 >kept/2025-01-03.ndjson
start live agent-archive --folder kept "$url/events"
live=$pid
ok "an archiver compresses the files" wait_until 20 test ! -e kept/2025-01-03.ndjson -a ! -e kept/2025-01-02.ndjson
t 0 "--index works beside an archiver" agent-archive --folder kept --index
for day in 1 2 3; do ok "day $day has an index" has_index "kept/2025-01-0$day.ndjson.zst"; done
is "$(zstd -dcq kept/2025-01-02.ndjson.zst | jq -r .kind | uniq -c | xargs)" "100 tick 50 more" \
  "more of a day is behind what there was"
is "$(action-filter -N -k more kept/2025-01-02.ndjson.zst)" 50 "more of a day is found by the index"
noted() { [ "$(wc -l <kept/.index)" -eq 3 ]; }
ok "the folder's index has all files" wait_until 20 noted
is "$(jq -s 'map(.lines) | add' kept/.index)" 350 "the folder's index has the files as they are now"
stop "$live"

# Without the one that packs, zstd compresses.
mkdir bin
for tool in sh cat cmp cksum cut env find flock ls mktemp mkfifo mv rm sed sync tail tr wc awk head zstd sse-tail script-options; do
  place=$(command -v "$tool") && ln -s "$place" "bin/$tool"
done
records 2025-01-04 10 >kept/2025-01-04.ndjson
t 0 "the archive works without action-filter" \
  env PATH="$tmp/bin" "$(command -v agent-archive)" --folder kept -n 1 "$url/events"
done_4() { [ ! -e kept/2025-01-04.ndjson ]; }
ok "days are compressed without action-filter" wait_until 20 done_4
is "$(zstd -dcq kept/2025-01-04.ndjson.zst | wc -l | tr -d ' ')" 10 \
  "all records are there as before without action-filter"
not_ok "a file that zstd compressed has no index" has_index kept/2025-01-04.ndjson.zst
# --- what cannot be brought to the disk stays as it is
mkdir broken stub
records 2025-01-01 10 >broken/2025-01-01.ndjson
cat >stub/sync <<'END'
#!/bin/sh
case ${1:-/} in
/) exit 0 ;;
esac
echo "sync: error syncing '$1': Input/output error" >&2
exit 1
END
chmod +x stub/sync
run env PATH="$tmp/stub:$PATH" agent-archive --folder broken --max-time 1 http://127.0.0.1:9/
is "$(cd broken && echo 2025*)" 2025-01-01.ndjson "the plain file stays when the disk fails"
err_like "broken/2025-01-01.ndjson: not compressed; the next start tries again" \
  "a day that was not compressed is told"
done_testing
