#!/bin/sh
# action-filter --strict and -R: the whole grammar, and what becomes of bad lines.
. "${0%/*}/../lib.sh"
cd "$tmp" || exit 1

# Only --strict sees what is wrong inside the values.
printf '%s\n' '{"kind":"a","x":[1,,2]}' '{"kind":"b","x":{"y" 1}}' '{"kind":"c","content":"\x"}' \
  '{"kind":"d","content":"\u12g4"}' '{"kind":"e","x":[01]}' '{"kind":"f","x":{y:1}}' '{"kind":"g"}' \
  >loose
printf '{"kind":"h","content":"tab\there"}\n{"kind":"i","content":"\303("}\n{"kind":"\303\244"}\n' >>loose
t 0 "without --strict values are not looked into" action-filter -N loose
out_is 10 "lines with bad values pass without --strict"
t 2 "--strict has status 2" action-filter --strict loose
out_is '{"kind":"g"}
{"kind":"ä"}' "--strict passes what is right"
err_is 'action-filter: loose:1: a value is missing at byte 20
action-filter: loose:2: a colon is missing at byte 22
action-filter: loose:3: unknown escape in a string at byte 24
action-filter: loose:4: unknown escape in a string at byte 24
action-filter: loose:5: not a number at byte 18
action-filter: loose:6: a key is missing at byte 18
action-filter: loose:8: control character in a string at byte 27
action-filter: loose:9: invalid UTF-8 at byte 24' "--strict says why and where"
where() {
  printf "$1" | action-filter --strict 2>&1 >/dev/null | sed 's/^action-filter: standard input://'
}
is "$(where '{"a":1} x\n')" "1: text after the value at byte 9" "text behind the value is a fault"
is "$(where '{"a":"b}\n')" "1: unterminated string at byte 6" \
  "a string without its end is told where it begins"
is "$(where '{"a":[1}\n')" "1: unbalanced brackets at byte 8" "the wrong bracket is a fault"
is "$(where '{"a":[1\n')" "1: unbalanced brackets at byte 8" "a missing bracket is a fault"
is "$(where '\357\273\277{"a":nul}\n')" "1: a word without quotes at byte 9" "bytes are counted behind a byte order mark"
is "$(where '{"a":"\000"}\n')" "1: control character in a string at byte 7" \
  "NUL in a string is a fault"
is "$(where '[{"a":1}]\n')" "" "an array of rows is no fault"
is "$(where '7\n')" "1: not a JSON object" "JSON that is no object is a fault"
is "$(where '\n \r\n{"a":1}\r\n{"\\ud800":1e-999}')" "" \
  "empty lines, CRLF and half a pair are no fault"
for bytes in '\300\200' '\355\240\200' '\364\220\200\200' '\360\237\230' '\377'; do
  is "$(where "{\"a\":\"$bytes\"}\\n")" "1: invalid UTF-8 at byte 7" \
    "invalid UTF-8 is a fault: $bytes"
done
is "$(where '{"\357\277\277":"\364\217\277\277\302\200"}\n')" "" \
  "the last character of Unicode is no fault"

# What is rejected is kept byte for byte.
printf '\357\273\277bad\r\n{"kind":"a"}\nx\000y\n\n{"kind":"b"}\r\n{"kind":"c"\n\377\n{"kind":"d"} \015no end' >in
printf '\357\273\277bad\r\nx\000y\n{"kind":"c"\n\377\n{"kind":"d"} \015no end' >want
echo "from an earlier run, longer than what is written now, so it must be cut off" >rejects
t 2 "-R has status 2" action-filter -R rejects in
ok "-R keeps the bad lines as they were" cmp rejects want
out_is "$(printf '{"kind":"a"}\n{"kind":"b"}\r')" "the good lines pass beside -R"
is "$(wc -l <"$err")" 5 "each bad line is still reported with -R"
run action-filter -k none --rejects=rejects rejects-none in
is "$(cmp rejects want && echo same)" same "lines that are good but not selected are no rejects"
printf '{"kind":"a"}\n' | action-filter -q --rejects rejects
is "$? $(wc -c <rejects)" "0 0" "without a bad line the file is empty"
action-filter --strict -R rejects loose >good 2>/dev/null
sort loose >all
cat good rejects | sort | cmp -s - all
is "$?" 0 "--strict passes or rejects every line"
printf '{"actions":[{"kind":"a"},5,{"kind" 1}]}\n' >list
action-filter -R rejects list >good 2>/dev/null
is "$(cat good rejects)" '{"kind":"a"}
{"actions":[{"kind":"a"},5,{"kind" 1}]}' "a list with bad rows is rejected once, its good rows pass"
: >twice
for _ in 1 2 3; do cat in; echo; done >twice
action-filter -R rejects twice in >/dev/null 2>&1
is "$(action-filter -N rejects 2>/dev/null)" 0 "what is rejected once is rejected again"
action-filter -R again rejects 2>/dev/null
ok "what is rejected again is the same, byte for byte" cmp again rejects

# Faults of that file.
cp in kept
t 2 "-R on the input has status 2" action-filter -R in in
err_is "action-filter: in: is read and written at once" "the message names the file"
ok "the input is as it was after -R on the input" cmp in kept
run sh -c 'action-filter -R in <in'
err_is "action-filter: in: is read and written at once" \
  "-R on the file at standard input is told, too"
ok "the file at standard input is as it was" cmp in kept
t 2 "-R on the output has status 2" sh -c 'action-filter -R both in >both'
is "$(cat both)" "" "the output stays empty"
err_is "action-filter: both: is the standard output, too" "the message names the file"
t 2 "-R on what cannot be opened has status 2" action-filter -R no/such/folder in
err_is "action-filter: no/such/folder: no such file or directory" \
  "the message names the missing folder"
out_empty "nothing is written when -R cannot be opened"
if [ -c /dev/full ]; then
  t 2 "-R on a full disk has status 2" action-filter -R /dev/full in
  err_like "^action-filter: /dev/full: no space left on device$" \
    "the message says that the disk is full"
  is "$(grep -c . "$out")" 2 "the good lines pass when the disk of -R is full"
fi
mkfifo bad.fifo
start reader cat bad.fifo
reader=$pid
run action-filter -R bad.fifo in
finished "$reader"
ok "-R writes into a pipe" cmp reader.out want
mkfifo live.fifo
start live sh -c 'exec action-filter -R live.bad <live.fifo'
exec 3>live.fifo
printf 'bad\n' >&3
ok "bad lines are written before a read may wait" wait_until 30 test -s live.bad
exec 3>&-
finished "$pid"

done_testing
