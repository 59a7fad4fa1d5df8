#!/bin/sh
# transcript-tail: lines that a crash left, files that are replaced, and what is no transcript.
. "${0%/*}/../lib.sh"
needs transcript-tail turn-fold jq python3
cd "$tmp" || exit 1
folder=$HOME/t
mkdir "$folder"
line() { printf '{"type":"user","n":%s}\n' "$1"; }
numbers() { jq -r .data.n "${1:-$out}" | xargs; }

# --- torn
{
  printf '\357\273\277'
  line 1
  printf '{"type":"user","n":2}{"type":"user","n":3}\n\0\0\0'
  line 4
  printf '{"type":"user","text":"half a l'
  line 5
  printf '\0\0\0\n'
  line 6
} >"$folder/a.jsonl"
run transcript-tail --once "$folder"
is "$status $(numbers)" "2 1 2 3 4 5 6" "the whole records of torn lines come"
is "$(lines "$err")" 2 "two faults of torn lines are told"
is "$(jq -r .id "$out" | sort -u | wc -l | xargs)" 6 \
  "each record of torn lines has an id of its own"
rm "$folder"/*

# --- a hole
line 1 >"$folder/a.jsonl"
python3 - "$folder/a.jsonl" <<'PY'
import sys
with open(sys.argv[1], "r+b") as file:
    file.seek(1 << 30)
    file.write(b'{"type":"user","n":2}\n')
PY
run sh -c 'ulimit -v 1000000; exec transcript-tail --once "$1"' - "$folder"
is "$status $(numbers)" "0 1 2" "what is behind a hole of 1 GB is read"
rm "$folder"/*

# --- replaced by a synchroniser
replace() {
  cat >"$folder/.new"
  mv "$folder/.new" "$folder/a.jsonl"
}
for place in "$folder" .:t; do
  rm -f "$folder"/* st
  { line 1; line 2; } >"$folder/a.jsonl"
  line 8 >"$folder/b.jsonl"
  touch -d 2020-01-01 "$folder/b.jsonl"
  run transcript-tail --once --state st "$place"
  is "$(numbers)" "1 2" "$place: a transcript comes"
  { line 1; line 2; line 3; } | replace
  run transcript-tail --once --state st "$place"
  is "$status $(numbers) $(cat "$err")" "0 3 " "$place: the new lines of a replaced file are told"
  cat "$folder/a.jsonl" | replace
  run transcript-tail --once --state st "$place"
  is "$status $(numbers) $(cat "$err")" "0  " "$place: a file replaced by itself gives nothing"
  { line 8; line 9; } >"$folder/.new"
  mv "$folder/.new" "$folder/b.jsonl"
  run transcript-tail --once --state st "$place"
  is "$status $(numbers) $(cat "$err")" "0 9 " \
    "$place: the new lines of a replaced session without interest are told"
  { line 6; line 7; line 5; line 4; } | replace
  run transcript-tail --once --state st "$place"
  is "$(jq -r '.data.n // .reason' "$out" | xargs)" "replaced 6 7 5 4" \
    "$place: a file replaced by another is read"
  { line 6; line 7; } | replace
  run transcript-tail --once --state st "$place"
  is "$(jq -r '.data.n // .reason' "$out" | xargs)" "replaced 6 7" \
    "$place: a shorter file is another one"
  start follow transcript-tail --state st "$place"
  line 10 >>"$folder/a.jsonl"
  wait_until 10 has follow.out '"n":10'
  { line 6; line 7; line 10; line 11; } | replace
  wait_until 10 has follow.out '"n":11'
  line 12 >>"$folder/a.jsonl"
  wait_until 10 has follow.out '"n":12'
  stop "$pid"
  is "$(numbers follow.out) $(cat follow.err)" "10 11 12 " "$place: a replaced file is followed"
done
rm -f "$folder"/*

# --- a session that was resumed, and a file that is written anew
said() { printf '{"type":"user","uuid":"%s","sessionId":"%s","message":{"content":"%s"}}\n' "$1" "$2" "$1"; }
{ said u1 a; said u2 a; } >"$folder/a.jsonl"
{ said u1 b; said u2 b; said u3 b; } >"$folder/b.jsonl"
touch -d 2020-01-01 "$folder/a.jsonl"
run transcript-tail --all --once "$folder"
is "$(jq -r .data.uuid "$out" | xargs)" "u1 u2 u3" "what a resumed session begins with is told once"
run transcript-tail --once "$folder"
is "$(jq -r .data.uuid "$out" | xargs)" "u1 u2 u3" \
  "what a resumed session begins with is printed where it is alone"
for place in "$folder" .:t; do
  rm -f "$folder"/* st
  { echo '{"type":"summary"}'; said u1 a; said u2 a; said w a; } >"$folder/a.jsonl"
  said x1 x >"$folder/x.jsonl"
  run transcript-tail --once --all --state st "$place"
  is "$(jq -r .data.uuid "$out" | sort | xargs)" "null u1 u2 w x1" "$place: two sessions come"
  { said u1 b; said u2 b; said u3 b; } >"$folder/b.jsonl"
  said u4 a >>"$folder/a.jsonl"
  run transcript-tail --once --state st "$place"
  is "$(jq -r .data.uuid "$out" | sort | xargs)" "u3 u4" "$place: a copy that a later run finds is not told again"
  { said u1 c; said u2 c; said u3 c; said u5 c; } >"$folder/c.jsonl"
  said x2 x >>"$folder/x.jsonl"
  run transcript-tail --once --state st "$place"
  is "$(jq -r .data.uuid "$out" | sort | xargs)" "u5 x2" \
    "$place: a copy of both gives nothing twice"
  run transcript-tail --once --state st "$place"
  is "$(cat "$out")" "" "$place: a further run finds nothing new"
done
rm -f "$folder"/* st
{ said "$(printf '%0100000d' 0)" a; said v1 a; } >"$folder/a.jsonl"
run transcript-tail --once --all --state st "$folder"
is "$(lines "$out") $(wc -c <st | awk '{ print ($1 < 2000) }')" "2 1" \
  "a state does not keep an id without end"
{ said v1 b; said v2 b; } >"$folder/b.jsonl"
run transcript-tail --once --state st "$folder"
is "$(jq -r .data.uuid "$out")" v2 "the first id that can be kept is found in a copy"
rm -f "$folder"/* st
{ said u1 b; said u2 b; said u3 b; } >"$folder/b.jsonl"
start again transcript-tail "$folder/b.jsonl"
wait_until 10 has again.out u3
{ said u1 b; said u2 b; } >"$folder/b.jsonl"
wait_until 10 has again.err truncated
{ said u3 b; said u4 b; } >>"$folder/b.jsonl"
wait_until 10 has again.out u4
stop "$pid"
is "$(jq -r '.data.uuid // .reason' again.out | xargs)" "u1 u2 u3 truncated u4" \
  "what is written anew is not told again"
rm -f "$folder"/*

# --- what is no transcript
line 1 | python3 -c 'import sys
sys.stdout.buffer.write(sys.stdin.read().encode("utf-16"))' >"$folder/a.jsonl"
line 1 | gzip >"$folder/b.jsonl"
line 2 >"$folder/c.jsonl"
run transcript-tail --all --once "$folder"
is "$status $(numbers)" "2 2" "files that are not text of UTF-8 are an error"
is "$(sed 's/.*\///' "$err" | sort)" "a.jsonl: it is UTF-16 text
b.jsonl: it is compressed by gzip" "each file is named once"

done_testing
