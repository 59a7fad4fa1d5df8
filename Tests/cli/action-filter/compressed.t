#!/bin/sh
# Compressed files: the commands read them through the installed programs, and
# action-filter unpacks zstd itself.
. "${0%/*}/../lib.sh"
needs gzip python3
cd "$tmp" || exit 1
seq 20000 | sed 's/.*/{"kind":"tick","id":&,"content":"number &"}/' >plain
gzip -c plain >file.gz
one=file.gz
program=gzip
if command -v zstd >/dev/null; then
  zstd -q plain -o file.zst
  one=file.zst
  program=zstd
fi

for file in "$one" file.gz; do
  t 0 "the file $file is read" action-filter "$file"
  ok "every byte of $file comes" cmp "$out" plain
  err_empty "nothing is said when $file is read"
done
cp file.gz no-name
run action-filter -N plain "$one" no-name
out_is 60000 "several files may be mixed, whatever their names are"
run action-filter -N - <file.gz
out_is 20000 "standard input may be a compressed file"
run action-filter -n 3 "$one"
out_is "$(head -n 3 plain)" "-n ends early in a compressed file"
status_is 0 "an early end has status 0"
err_empty "nothing is said about an early end"
run action-filter --fast -F "number 19999" -o id "$one"
out_is '{"id":19999}' "--fast reads a compressed file, too"
cat "$one" "$one" >twice
run action-filter -N twice
out_is 40000 "a file of two pieces is read whole"

cp "$one" ./-d
cp "$one" ./--version
run action-filter -N -- -d --version
out_is 40000 "names that begin with a dash are read"
cp "$one" '; touch hurt; $(touch hurt)'
run action-filter -N '; touch hurt; $(touch hurt)'
out_is 20000 "names that a shell would read are read as files"
ok "no shell reads the names of files" test ! -e hurt

# --- what is damaged
for file in "$one" file.gz; do
  head -c "$(($(wc -c <"$file") * 2 / 3))" "$file" >"cut"
  t 2 "$file that is cut short has status 2" action-filter cut plain
  err_like "^action-filter: cut: cut short or damaged: (zstd: unexpected end|gzip: status 1)$" \
    "the damage of $file is told"
  err_one_line action-filter "the damage of $file is told in one line"
  got=$(($(lines "$out") - 20000))
  ok "the $got lines before and the next file are read" test "$got" -gt 1000
  head -n "$got" plain >want
  cat plain >>want
  ok "the lines before the cut are those of $file" cmp "$out" want
done
if command -v zstd >/dev/null; then
  # The checksum alone is wrong: nearly all of the lines were unpacked before that is seen.
  seq 4500 | sed 's/.*/{"kind":"tick","id":&,"content":"no two of these are equal: &"}/' |
    zstd -cq >sum.zst
  python3 -c 'import sys
data = bytearray(sys.stdin.buffer.read())
data[-1] ^= 1
sys.stdout.buffer.write(data)' <sum.zst >sum-bad.zst
  for jobs in 1 2; do
    t 2 "a wrong checksum is an error, -j $jobs" action-filter -j "$jobs" -N plain sum-bad.zst
    ok "a wrong checksum loses no more than the last lines, -j $jobs" test "$(cat "$out")" -gt 24000
  done
  # Faults before the damage are of this file and this line, and its first line has its mark.
  { printf '\357\273\277{"kind":"tick"}\n{"bad\n'; cat plain; } | zstd -cq | head -c 20000 >cut.zst
  for jobs in 1 2; do
    run action-filter -j "$jobs" -N "$one" cut.zst
    is "$(sed 's/cut: zstd.*//' "$err" | tr '\n' '|')" \
      "action-filter: cut.zst:2: unterminated string|action-filter: cut.zst: cut short or damaged: zstd: unexpected end|" \
      "faults of a file that is cut in its first piece have their place, -j $jobs"
  done
  # Names, too, are unpacked here.
  { cat plain && echo '{"kind":"tick","id":1,"user_id":"12"}' &&
    echo '{"type":"name","of":"user","id":"12","name":"noor"}'; } | zstd -cq >names.zst
  without_zstd=$tmp/without
  mkdir "$without_zstd"
  run env PATH="$without_zstd" "$(command -v action-filter)" -U noor -N names.zst
  out_is 1 "names in a compressed file are learned without zstd(1)"
else
  skip 7 "no zstd"
fi
{ head -c 3000 file.gz && printf XXXXXXXX && tail -c +3009 file.gz; } >damaged
t 2 "a damaged file has status 2" action-filter -N damaged
err_like "^action-filter: damaged: cut short or damaged: gzip: status 1$" "the damage is told"
head -c 12 file.gz >short
t 2 "a file that is only a head is an error" action-filter short
err_one_line action-filter "a file that is only a head is told in one line"
printf '\037\213' >magic
run action-filter magic
err_one_line action-filter "two bytes are enough to tell a compressed file"
printf '\037' >byte
run action-filter byte
err_like "^action-filter: byte:1: " "one byte is told as a bad line"
: >empty.zst
: >empty.gz
t 2 "empty compressed files have status 2" action-filter -N empty.zst plain empty.gz
err_is "action-filter: empty.zst: cut short or damaged: empty
action-filter: empty.gz: cut short or damaged: empty" "both empty files are named"
out_is 20000 "the file between two empty ones is read"
mkfifo pipe.gz
cat plain >pipe.gz &
run action-filter -N pipe.gz
out_is 20000 "a pipe may be called as it likes"
if [ "$program" = zstd ]; then
  # What pzstd writes: a skippable frame with the size of the next one.
  { printf 'P*M\030\004\000\000\000\001\002\003\004' && cat file.zst; } >skippable
  run action-filter -N skippable
  out_is 20000 "a skippable frame in front is passed over"
  run action-format --color never -n 1 skippable
  out_like "number 1$" "action-format reads a skippable frame, too"
fi
t 2 "-R works on a file that was cut" action-filter -R rejects cut
is "$(wc -c <rejects)" 0 "half a line of a damaged file is no bad line"

# --- no program
t 2 "without a program to decompress the status is 2" \
  env PATH="$tmp/none" "$root/bin/action-filter" -N "$one" plain file.gz
[ "$program" = gzip ] && want=20000 || want=40000
out_is "$want" "the next file is read, and zstd needs no program"
err_like "^action-filter: file.gz: compressed with gzip, which is not installed$" \
  "the missing program is named"
run env PATH="$tmp/none" "$root/bin/action-format" "$one"
err_is "action-format: $one: compressed with $program, which is not installed" \
  "action-format names the missing program, too"
mkdir stub
printf '#!/bin/sh\nkill -9 $$\n' >stub/gzip
chmod +x stub/gzip
PATH=$tmp/stub:$PATH run action-filter file.gz
status_is 2 "a program that is killed is an error"
err_is "action-filter: file.gz: cut short or damaged: gzip: ended by signal 9" "the signal is told"
rm -r stub
run sh -c "action-filter $one | head -n 1"
out_is "$(head -n 1 plain)" "a reader of a compressed file may go away"
err_empty "nothing is said when the reader goes"

# --- the others
t 0 "action-format reads a compressed file" action-format --color never -n 2 "$one"
out_like "number 1$" "action-format prints the lines of a compressed file"
t 2 "action-format has status 2 for a file that was cut short" action-format --color never cut
err_one_line action-format "action-format tells a file that was cut in one line"
gzip -c "$root/Tests/fixtures/sample-day.ndjson" >day.gz
t 0 "voice-state reads a plain file" voice-state -o json "$root/Tests/fixtures/sample-day.ndjson"
cp "$out" want
run voice-state -o json day.gz
ok "voice-state reads the same from a compressed file" cmp "$out" want

# Nothing is started for a file that is not compressed.
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
  run strace -f -o trace action-filter -N plain
  is "$(grep -cE '^([0-9]+ +)?(v?fork|clone3?|execve)[(]' trace)" 1 "a plain file starts no program"
fi
done_testing
