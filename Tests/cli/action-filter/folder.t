#!/bin/sh
# Folders: the files in them, their order, and which of them a time leaves closed.
. "${0%/*}/../lib.sh"
needs zstd gzip jq
cd "$tmp" || exit 1
# record DAY KIND
record() { printf '{"id":"%s","kind":"%s","created_at":"%sT12:00:00.5Z"}\n' "$2" "$2" "$1"; }
kinds() { action-filter -o kind "$@" | jq -r .kind | xargs; }

mkdir a empty
for day in 01 02 03 04; do
  record "2026-03-$day" "d$day" | action-filter --pack >"a/2026-03-$day.ndjson.zst"
done
record 2026-03-05 d05 | gzip >a/2026-03-05.ndjson.gz
record 2026-03-05 more >a/2026-03-05.ndjson
record 2026-03-06 d06 >a/2026-03-06.ndjson
record 2026-03-02 b >a/b.ndjson
record 2026-03-02 c | zstd -q >a/c.ndjson.zst
echo hidden >a/.hidden.ndjson
echo other >a/readme.txt
mkdir a/2026-03-07.ndjson
mkfifo a/2026-03-08.ndjson
t 0 "a folder is read" action-filter -o kind a
err_empty "nothing is said of files that hold no records"
is "$(jq -r .kind "$out" | xargs)" "d01 d02 d03 d04 d05 more d06 b c" \
  "days come first, then other files"
is "$(kinds a/ a/b.ndjson)" "d01 d02 d03 d04 d05 more d06 b c b" \
  "a folder may stand between other files"
is "$(kinds -n 3 a)" "d01 d02 d03" "-n works in a folder"
is "$(action-filter -u -N a a)" 9 "-u works in a folder"
is "$(action-filter --by kind a | lines /dev/stdin)" 9 "--by works in a folder"
t 1 "an empty folder is no fault" action-filter empty
err_empty "nothing is said about an empty folder"
chmod 0 empty
if [ "$(id -u)" -ne 0 ]; then
  run action-filter empty
  err_is "action-filter: empty: permission denied" "a folder that cannot be read is told"
fi
chmod 700 empty
echo bad >a/2026-03-09.ndjson
t 2 "a bad line in a folder is an error" action-filter a
err_is "action-filter: a/2026-03-09.ndjson:1: not a JSON object" \
  "a bad line is told with its folder and file"
run action-filter -R bad a
is "$(cat bad)" bad "-R gets the bad line"
rm a/2026-03-09.ndjson
t 0 "the bad lines may go into the folder, where they are new" action-filter -R a/rejects.ndjson a
run action-filter -R a/rejects.ndjson a
err_is "action-filter: a/rejects.ndjson: is read and written at once" \
  "-R does not write into a file that is read"
rm a/rejects.ndjson
t 2 "an output in the folder is not read" sh -c 'action-filter a >a/out.ndjson'
err_is "action-filter: a/out.ndjson: is read and written at once" "the file is named"
rm a/out.ndjson

# --- a plain file beside a compressed one counts once if that ends with it: an archiver
# compressed it, and is about to remove it, or was killed before that
mkdir day
{ record 2026-04-01 one; record 2026-04-01 two; record 2026-04-01 three; } >day/2026-04-01.ndjson
for tool in "action-filter --pack" "zstd -cq" "gzip -c"; do
  rm -f day/*.ndjson.*
  end=.zst
  [ "${tool#gzip}" = "$tool" ] || end=.gz
  $tool <day/2026-04-01.ndjson >"day/2026-04-01.ndjson$end"
  is "$(kinds day)" "one two three" "$tool: all of a plain file and its packed copy is read"
  is "$(action-filter --by day day | jq .count)" 3 \
    "$tool: a plain file and its packed copy are counted once"
  sed 1d day/2026-04-01.ndjson >day/part
  mv day/part day/2026-04-01.ndjson
  is "$(kinds day)" "one two three" \
    "$tool: a plain file that is the end of the packed one is counted once"
  record 2026-04-01 four >>day/2026-04-01.ndjson
  is "$(kinds day)" "one two three two three four" "$tool: one line more is read, too"
  record 2026-04-01 four >day/2026-04-01.ndjson
  is "$(kinds day)" "one two three four" "$tool: another line is read, too"
  { record 2026-04-01 one; record 2026-04-01 two; record 2026-04-01 other; } >day/2026-04-01.ndjson
  is "$(kinds day)" "one two three one two other" "$tool: a file as long but different is read"
  printf '%s' "$(record 2026-04-01 three)" >day/2026-04-01.ndjson
  is "$(kinds day)" "one two three three" "$tool: a line without its line feed is read"
  { record 2026-04-01 one; record 2026-04-01 two; record 2026-04-01 three; } >day/2026-04-01.ndjson
done
# It may be removed while files before it are read.
mkfifo slow
for step in removed changed; do
  gzip -c <day/2026-04-01.ndjson >day/2026-04-01.ndjson.gz
  action-filter -o kind slow day >found 2>said &
  reader=$!
  exec 7>slow
  record 2026-03-31 first >&7
  wait_until 10 has found first
  rm day/2026-04-01.ndjson
  # More of a day that was compressed: the compressed file has all of it then.
  [ "$step" = removed ] ||
    { { gzip -dc day/2026-04-01.ndjson.gz && record 2026-04-01 four; } | gzip -c >new &&
      mv new day/2026-04-01.ndjson.gz; }
  exec 7>&-
  wait "$reader"
  status=$?
  more=
  [ "$step" = removed ] || more=" four"
  is "$status $(jq -r .kind found | xargs)" "0 first one two three$more" \
    "no record is lost when the file is $step meanwhile"
  is "$(cat said)" "" "nothing is said when the file is $step meanwhile"
  { record 2026-04-01 one; record 2026-04-01 two; record 2026-04-01 three; } >day/2026-04-01.ndjson
done
for step in removed kept; do
  # Both compressed files are asked.
  cp day/2026-04-01.ndjson plain
  gzip -c <plain >day/2026-04-01.ndjson.gz
  record 2026-04-01 zero | zstd -cq >day/2026-04-01.ndjson.zst
  [ "$step" = kept ] || rm day/2026-04-01.ndjson
  is "$(kinds day)" "zero one two three" "no record is lost beside two compressed files: $step"
  cp plain day/2026-04-01.ndjson
done
rm day/2026-04-01.ndjson.*

# --- what an archiver does to a day while its packed file is read: nothing is lost or doubled
mkdir busy
mkfifo narrow
day=busy/2026-04-02.ndjson
record 2026-04-02 old | awk '{ for (i = 0; i < 40000; i++) print }' >old
record 2026-04-02 late >late.ndjson
record 2026-04-02 again >again.ndjson
for tool in "action-filter --pack" "zstd -cq" "gzip -c"; do
  packed=$day.zst
  [ "${tool#gzip}" = "$tool" ] || packed=$day.gz
  for step in merged renamed removed repacked goes-on; do
    rm -f busy/*
    cp late.ndjson "$day"
    case $step in
    removed | repacked) cat old late.ndjson ;;
    *) cat old ;;
    esac | $tool >"$packed"
    action-filter busy >narrow 2>said &
    reader=$!
    exec 8<narrow
    # Its output is not taken, so the packed file is open and being read.
    dd bs=1 count=1 <&8 >found 2>/dev/null
    cat old late.ndjson | $tool >new
    case $step in
    merged) mv new "$packed" && rm "$day" ;;
    renamed) mv new "$packed" ;;
    removed) rm "$day" ;;
    repacked) rm "$day" && mv new "$packed" ;;
    goes-on) mv new "$packed" && rm "$day" && cp again.ndjson "$day" ;;
    esac
    cat <&8 >>found
    exec 8<&-
    wait "$reader"
    status=$?
    is "$status $(cat said)$(cat old late.ndjson | cmp - found 2>&1)" "0 " \
      "$tool, $step: each record comes once"
  done
done
# The plain file alone was there when the folder was listed.
for step in packed goes-on; do
  rm -f busy/*
  cp late.ndjson "$day"
  action-filter -o kind slow busy >found 2>said &
  reader=$!
  exec 7>slow
  record 2026-03-31 first >&7
  wait_until 10 has found first
  zstd -q --rm "$day"
  more=
  if [ "$step" = goes-on ]; then
    cp again.ndjson "$day"
    more=" again"
  fi
  exec 7>&-
  wait "$reader"
  status=$?
  is "$status $(jq -r .kind found | xargs)$(cat said)" "0 first late$more" \
    "a file that was listed before is read: $step"
done
: >"$day.zst"
run action-filter busy
err_is "action-filter: $day.zst: cut short or damaged: empty" "an empty packed file is told"

# --- what was told late is in the file of today, and in those of days that a clock made up
mkdir late
today=$(date -u +%Y-%m-%d)
for day in 2026-03-01 "$today" 2999-12-31; do record 2026-02-01 "in$day" >"late/$day.ndjson"; done
record 2026-02-01 packed | action-filter --pack >late/2999-12-30.ndjson.zst
is "$(kinds -S 2026-02-01T00:00:00Z -B 2026-02-02T00:00:00Z late)" "in$today in2999-12-31" \
  "files that are still written are read whatever the time"

# --- names: what cannot be looked at, and what only looks the same
mkdir odd
ln -s nowhere odd/2026-03-01.ndjson
t 2 "a link to nothing is an error" action-filter odd
err_is "action-filter: odd/2026-03-01.ndjson: no such file or directory" "the missing file is named"
rm odd/2026-03-01.ndjson
one=$(printf 'e\314\201') two=$(printf '\303\251')
record 2025-03-01 one | action-filter --pack >"odd/$one.ndjson.zst"
record 2026-03-01 two | action-filter --pack >"odd/$two.ndjson.zst"
if [ "$(find odd -name '*.zst' | wc -l)" -eq 2 ]; then
  action-filter --contents odd >odd/.index
  is "$(kinds -S 2025-03-01T00:00:00Z -B 2025-03-02T00:00:00Z odd)" one \
    "the first of two names that look the same is found"
  is "$(kinds -S 2026-03-01T00:00:00Z -B 2026-03-02T00:00:00Z odd)" two \
    "the second of two names that look the same is found"
else
  skip 2 "a file system that knows but one of them"
fi
chmod 755 "$tmp"
cp -L "$(command -v action-filter)" action-filter
nobody() { setpriv --reuid=65534 --clear-groups "$@"; }
if [ "$(id -u)" -eq 0 ] && nobody "$tmp/action-filter" --version >/dev/null 2>&1; then
  chmod 744 odd
  t 2 "a folder that lets nobody in is an error" \
    setpriv --reuid=65534 --clear-groups "$tmp/action-filter" odd
  err_like "odd/$one.ndjson.zst: permission denied" \
    "a folder that lets nobody in is not taken for an empty one"
  chmod 755 odd
  chmod 600 odd/*
  t 2 "--contents of files that cannot be read has status 2" \
    setpriv --reuid=65534 --clear-groups "$tmp/action-filter" --contents odd
  err_like "odd/$two.ndjson.zst: permission denied" "the forbidden file is named"
else
  skip 4 "not root, who can be another"
fi

# --- times. Garbage tells by a fault that it was opened.
for day in 2025-12-31 2026-02-28 2026-03-03 2026-03-20; do echo garbage >"a/$day.ndjson"; done
rm a/2026-03-03.ndjson.zst
t 2 "up to an hour before the time, the day before is opened" \
  action-filter -S 2026-03-04T00:59:00Z -B 2026-03-05T00:00:00Z a
err_like "a/2026-03-03.ndjson:1" "the bad line of the day before is told"
t 0 "from that hour on it is not opened" \
  action-filter -o kind -S 2026-03-04T01:00:00Z -B 2026-03-05T00:00:00Z a
is "$(jq -r .kind "$out" | xargs)" "d04" "the day itself is read"
err_empty "no other day is read"
run action-filter -S 2026-02-28T23:00:00Z -B 2026-03-01T00:00:00Z a
err_like "a/2026-02-28.ndjson:1" "the day itself is opened"
unlike "$(cat "$err")" "2026-03-03|12-31|03-20" "days outside the time are not opened"
run action-filter -B 2026-03-02T00:00:00Z a
err_like "a/2026-03-03.ndjson:1" "a day after -B is opened, for what is told late"
unlike "$(cat "$err")" "03-20" "no day more is opened"
run env TZ=Europe/Amsterdam action-filter -S 2026-03-04 -B 2026-03-05 a
err_like "a/2026-03-03.ndjson:1" "midnight is that of the local time zone"
for option in -v -a; do
  run action-filter $option -S 2026-03-04T12:00:00Z a
  is "$(lines "$err")" 4 "$option reads all, for it passes what has no time"
done

# --- what the folder's index knows is exact
rm a/2026-03-03.ndjson a/2025-12-31.ndjson
record 2026-01-01 late | action-filter --pack >a/2026-03-03.ndjson.zst
action-filter --contents a >index.new
mv index.new a/.index
run action-filter -o kind -S 2026-01-01T00:00:00Z -B 2026-01-02T00:00:00Z a
is "$(jq -r .kind "$out")" late "an action that was told months later is found"
status_is 0 "files that the index rules out are not opened"
# As long as before, and not what the index was made of.
printf '%*s' "$(wc -c <a/2026-03-04.ndjson.zst)" garbage >a/2026-03-04.ndjson.zst
t 1 "a time between two actions selects none" \
  action-filter -o kind -S 2026-03-03T12:00:00Z -B 2026-03-04T12:00:00Z a
err_empty "neither file is opened for a time between two actions"
echo more >>a/2026-03-04.ndjson.zst
run action-filter -S 2026-03-03T12:00:00Z -B 2026-03-04T12:00:00Z a
err_like "a/2026-03-04.ndjson.zst:1" "a file of another size goes by its name"
for line in 'not json' '{"name":"2026-03-04.ndjson.zst"}' '{"name":"2026-03-04.ndjson.zst","size":5}'; do
  echo "$line" >a/.index
  run action-filter -S 2026-03-04T01:00:00Z -B 2026-03-05T00:00:00Z a
  err_like "^action-filter: a/2026-03-04.ndjson.zst:1: [^:]*$" \
    "an index is not believed when it has: $line"
done
done_testing
