#!/bin/sh
# What is kept of how far each transcript was printed, when something goes wrong: here and on
# a host.
. "${0%/*}/../lib.sh"
needs transcript-tail jq perl
cd "$tmp" || exit 1
folder=$HOME/t
mkdir "$folder"
line() { printf '{"type":"user","n":%s}\n' "$1"; }
numbers() { jq -r .data.n "$out" | xargs; }

# --- a host that does not answer

mark() { printf '{"path":"/P/%s","file":"%s","offset":7}' "$1" "$1"; }
state_of() {
  printf '{"type":"transcript_state","source":"%s","files":[%s,%s]}\n' "$1" "$(mark 1)" "$(mark 2)"
}
state_of 127.0.0.1:/P >st
t 75 "a host that cannot be reached has status 75" \
  transcript-tail --all --once --state st -P 1 127.0.0.1:/P
is "$(cat st)" "$(state_of 127.0.0.1:/P)" "a host that cannot be reached loses no mark"
state_of .:/P >st
echo "touch $tmp/reached; exec sleep 5" >"$HOME/.profile"
start follow transcript-tail --all --state st .:/P
wait_until 10 test -e reached
stop "$pid"
is "$status" 143 "a signal before the first look ends transcript-tail"
is "$(cat st)" "$(state_of .:/P)" "a signal before the first look loses no mark"
rm "$HOME/.profile"

# --- files that come and go

for place in "$folder" .:t; do
  rm -f st "$folder"/*
  line 1 >"$folder/p1.jsonl"
  line 2 >"$folder/p2.jsonl"
  run transcript-tail --all --once --state st "$place"
  is "$(numbers)" "1 2" "$place: two transcripts come"
  mv "$folder/p2.jsonl" away
  line 3 >>"$folder/p1.jsonl"
  run transcript-tail --all --once --state st "$place"
  is "$(numbers)" 3 "$place: a transcript that is away does no harm"
  mv away "$folder/p2.jsonl"
  line 4 >>"$folder/p2.jsonl"
  run transcript-tail --all --once --state st "$place"
  is "$status $(numbers)" "0 4" "$place: a transcript that is back goes on"

  # Names that look alike.
  line 5 >"$folder/$(printf 'caf\303\251').jsonl"
  line 6 >"$folder/$(printf 'cafe\314\201').jsonl"
  start follow transcript-tail --all "$place"
  wait_until 10 at_least follow.out 6
  line 7 >>"$folder/p1.jsonl"
  ok "$place: names that are equal in Unicode are followed" wait_until 10 has follow.out '"n":7}'
  stop "$pid"
  is "$(lines follow.out) $(cat follow.err)" "7 " \
    "$place: names that are equal in Unicode are two files"

  # Half a line is there at the beginning.
  rm -f "$folder"/*
  { line 1; printf '{"type":"user",'; } >"$folder/old.jsonl"
  touch -d 2020-01-01 "$folder/old.jsonl"
  line 2 >"$folder/new.jsonl"
  rm -f st
  run transcript-tail --once --state st "$place"
  is "$(numbers)" 2 "$place: the newest session comes"
  printf '"n":3}\n' >>"$folder/old.jsonl"
  run transcript-tail --once --state st "$place"
  is "$status $(numbers)" "0 3" "$place: half a line of another is printed when it is whole"
done

# --- a file that has another's number

line 1 >"$folder/new.jsonl"
number() { stat -c '%i %W' "$1" 2>/dev/null || stat -f '%i %B' "$1"; }
before=$(number "$folder/new.jsonl")
rm -f st
run transcript-tail --all --once --state st "$folder"
tries=0
while [ "$tries" -lt 30 ]; do
  rm "$folder/new.jsonl"
  sleep 0.05
  { line 8; line 9; } >"$folder/new.jsonl"
  after=$(number "$folder/new.jsonl")
  [ "${after% *}" != "${before% *}" ] || break
  tries=$((tries + 1))
done
if [ "${after% *}" = "${before% *}" ] && [ "${after#* }" -gt 0 ] 2>/dev/null; then
  run transcript-tail --all --once --state st "$folder"
  is "$(jq -r '.data.n // .reason' "$out" | xargs)" "replaced 8 9" \
    "another file with its number is read from the beginning"
else
  skip 1 "the number is not given again, or the file system does not know when a file was made"
fi

# --- in the middle of much

rm -f "$folder"/*
perl -e 'print "{\"type\":\"user\",\"n\":$_,\"x\":\"", "y" x 1000, "\"}\n" for 1 .. 20000' \
  >"$folder/big.jsonl"
for place in "$folder" .:t; do
  rm -f st
  run sh -c 'transcript-tail --all --state st "$1" | head -n 10000 >printed' - "$place"
  is "$(lines printed)" 10000 "$place: a reader leaves in the middle"
  ok "$place: the place of a reader that left is remembered" \
    test "$(jq '.files[0].offset' st)" -gt 0
  run sh -c 'transcript-tail --once --all --state st "$1" | head -n 1 | jq .data.n' - "$place"
  ok "$place: nothing is left out behind a reader that left" test "$(cat "$out")" -le 10200
done
done_testing
