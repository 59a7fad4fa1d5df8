#!/bin/sh
# Transcripts that somebody made on purpose, or a crash: names, lines, sizes; and a
# follower that is killed at any moment.
. "${0%/*}/../lib.sh"
needs transcript-tail jq perl python3
cd "$tmp" || exit 1
escape=$(printf '\033')
folder=$HOME/.claude/projects/x
mkdir -p "$folder"

# --- lines

{
  printf '{"type":"user","n":1}\r\n\n  \n'
  printf 'not json\n'
  printf '{"type":"user","n":\n'
  printf '["type","user"]\n'
  printf '{"type":"\\u001b]0;x\\u0007\\n","n":2}\n'
  printf '{"type":{"a":1},"n":3}\n'
  printf '{"type":"user","text":"caf\351","n":4}\n'
  printf '{"type":"user","text":"\302\233 \342\200\256","n":5}\n'
  printf '{"type":"user","zeros":"\000\000"}\n'
  printf '{"type":"user",\r\t"blanks":1}\n'
} >lines.jsonl
t 2 "bad lines are told" transcript-tail --once lines.jsonl
is "$(jq -r .data.n "$out" | xargs)" "1 2 3 4 5 null" "the good lines among bad ones are printed"
is "$(sed 's/.*jsonl: byte \([0-9]*\): .*/\1/' "$err" | xargs)" "27 36 56 205" \
  "each bad line has its place"
is "$(jq -r .event "$out" | sed -n 2p)" "$escape]0;x$(printf '\007')" "a type may be anything"
ok "a hostile type is escaped" sh -c '! grep -q "$1" "$2"' - "$escape" "$out"
is "$(jq -r .event "$out" | sed -n 4p)" message "a type may be nothing, too"
is "$(jq -r 'select(.data.n == 4).data.text' "$out")" "caf�" "what is not UTF-8 is replaced"
run python3 "$cli/terminal.py" transcript-tail --once lines.jsonl
out_like '\\u009b \\u202e' "a terminal obeys nothing of a transcript"
out_like '"type":"user",  "blanks":1' "blanks between tokens stay"
yes bad | head -n 30 >bad.jsonl
run transcript-tail --once bad.jsonl
is "$(lines "$err") $(tail -n 1 "$err")" "11 transcript-tail: 20 more bad lines" \
  "ten bad lines are named, and the others are counted"

# --- names

odd=$(printf 'a\nb%s]0;x\a..' "$escape")
echo '{"type":"user","n":1}' >"$folder/$odd.jsonl"
echo '{"type":"user","n":2}' >"$folder/...jsonl"
echo '{"type":"user","n":3}' >"$folder/$(printf 'caf\351').jsonl"
echo bad >>"$folder/$odd.jsonl"
ln -s /etc/passwd "$folder/passwd"
ln -s nowhere "$folder/nothing.jsonl"
mkdir "$folder/folder.jsonl" "$folder/deep"
echo '{"type":"user","n":4}' >"$folder/deep/x.jsonl"
perl -MPOSIX -e 'mkfifo "$ARGV[0]/fifo.jsonl", 0600' "$folder"
run transcript-tail --once --all --state state
is "$(jq -r .data.n "$out" | sort | xargs)" "1 2 3" "files are found by their names"
is "$(jq -r .id "$out" | sort | head -n 1)" "../22" "a session may be called anything"
is "$(jq -r 'select(.data.n == 3).id' "$out")" 'caf\xe9/22' \
  "a name that is not UTF-8 is shown by its bytes"
ok "no control character of a name is printed" \
  sh -c '! grep -q "$1" "$2" "$3"' - "$escape" "$out" "$err"
err_one_line transcript-tail "one bad line is told in one line"
echo '{"type":"user","n":5}' >>"$folder/$odd.jsonl"
run transcript-tail --once --all --state state
is "$(jq -r .data.n "$out" | xargs)" 5 "all files of odd names are known again"
t 2 "a pipe is not taken for a transcript" transcript-tail --once "$folder/fifo.jsonl"
err_one_line transcript-tail "a pipe is not waited for"
if [ "$(id -u)" -ne 0 ]; then
  chmod 0 "$folder/...jsonl"
  t 2 "a file that may not be read is an error" transcript-tail --once --all
  err_like '\.\.\.jsonl: permission denied$' "the file is named"
else
  skip 2 "root may read all"
fi

echo '{"type":"user","n":6}' >own.jsonl
t 2 "a file that is the output is not read" sh -c 'transcript-tail --once own.jsonl >>own.jsonl'
err_is "transcript-tail: $tmp/own.jsonl: is the output: not read" \
  "the message says that the file is the output"

# --- long lines

perl -e 'print "{\"type\":\"user\",\"x\":\"", "y" x 100_000_000, "\"}\n{\"type\":\"user\",\"n\":1}\n"' >big.jsonl
began=$(date +%s)
ok "a line of 100 MB passes, and is in memory once" \
  python3 "$cli/resident.py" 150000 transcript-tail --once big.jsonl
run sh -c 'transcript-tail --once big.jsonl | wc -c | tr -d " "'
out_is "$(($(wc -c <big.jsonl) + 90))" "a line of 100 MB comes whole"
ok "a line of 100 MB comes in time" test $(($(date +%s) - began)) -lt 20
ok "a line that is too long is never in memory" \
  python3 "$cli/resident.py" 40000 sh -c 'transcript-tail --once --max-line 1000000 big.jsonl; true'
run transcript-tail --once --max-line 1000000 big.jsonl
is "$status $(jq -c .data "$out")" '2 {"type":"user","n":1}' "a line that is too long is skipped"
err_is "transcript-tail: $tmp/big.jsonl: byte 0: the line is too long" "the line is named"

# A long line that comes in pieces is read once, not again with each.
start pieces transcript-tail --new big.jsonl
pieces=$pid
sleep 0.3
perl -e 'open my $file, ">>", "big.jsonl" or die; $file->autoflush; print $file "{\"type\":\"user\",\"z\":\"";
  for (1 .. 300) { print $file "z" x 100_000; select undef, undef, undef, 0.002 }
  print $file "\"}\n"'
ok "a line that comes in pieces is printed" wait_until 20 has pieces.out 'z"}'
is "$(lines pieces.out)" 1 "a line that comes in pieces is one event"
stop "$pieces"

# --- killed at any moment

rm -rf "$folder" state
mkdir "$folder"
: >"$folder/s.jsonl"
start writer perl -e '
  open my $file, ">>", $ARGV[0] or die;
  $file->autoflush;
  for my $n (1 .. 2000) {
    my $line = "{\"type\":\"user\",\"n\":$n,\"x\":\"" . "x" x ($n % 97 * 11) . "\"}\n";
    my $cut = $n % 5 ? length $line : 7;
    print $file substr $line, 0, $cut;
    select undef, undef, undef, 0.001 if $n % 5 == 0;
    print $file substr $line, $cut;
    select undef, undef, undef, 0.003 if $n % 3 == 0;
  }' "$folder/s.jsonl"
writer=$pid
: >all
while ! gone "$writer"; do
  transcript-tail --state state >>all &
  follower=$!
  perl -e 'select undef, undef, undef, rand 0.2'
  kill -9 "$follower"
  wait "$follower" 2>/dev/null
done
run transcript-tail --once --state state
cat "$out" >>all
status_is 0 "a follower that is killed again and again has status 0"
jq -r '.data.n' all >numbers
seq 2000 >want
uniq numbers | sort -n -u >got
ok "a follower that is killed loses nothing" cmp got want
# Between the output and the note of it, what was printed comes again: all of a piece.
ok "a follower that is killed takes no line apart" \
  sh -c 'jq -r .id all | sort | uniq | wc -l | grep -qx 2000'

start quiet transcript-tail --state state
quiet=$pid
for number in 1 2 3; do
  printf '{"type":"user","n":%s}\n' "$number" >>"$folder/s.jsonl"
  ok "line $number comes" wait_until 10 at_least quiet.out "$number"
  ok "line $number is noted" \
    wait_until 10 has state "\"offset\":$(wc -c <"$folder/s.jsonl" | tr -d ' ')}"
done
stop "$quiet" KILL
printf '{"type":"user","n":4}\n' >>"$folder/s.jsonl"
run transcript-tail --once --state state
is "$(jq -r .data.n "$out" | xargs)" 4 "nothing comes twice when a quiet follower is killed"

done_testing
