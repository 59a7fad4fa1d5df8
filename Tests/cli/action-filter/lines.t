#!/bin/sh
# action-filter: lines as they come: bad ones, odd bytes, long and deep ones.
. "${0%/*}/../lib.sh"
cd "$tmp" || exit 1

# A bad line is named and skipped.
cat >bad <<'END'
{"kind":"a"}
word
{"kind":"b","text":"open}
{"kind":"c","list":[1,2}
{"kind":"d"} {"kind":"e"}
x{"kind":"f"}
[{"kind":"g"}] 7
"kind"
{"kind":"h"
{"kind" "i"}
{"kind":"z"}
END
t 2 "bad lines have status 2" action-filter bad
out_is '{"kind":"a"}
{"kind":"d"}
{"kind":"e"}
{"kind":"z"}' "good lines pass, two on a line too"
err_is 'action-filter: bad:2: not a JSON object
action-filter: bad:3: unterminated string
action-filter: bad:4: unbalanced brackets
action-filter: bad:5: text after the value
action-filter: bad:6: not a JSON object
action-filter: bad:7: text after the value
action-filter: bad:8: not a JSON object
action-filter: bad:9: unbalanced brackets
action-filter: bad:10: a colon is missing' "each bad line is named with its reason"
run sh -c 'cat bad bad | action-filter -k z'
is "$(wc -l <"$err")" 11 "only ten bad lines are named"
is "$(tail -n 1 "$err")" "action-filter: 8 more bad lines" "the rest of the bad lines is counted"
is "$(head -n 1 "$err")" "action-filter: standard input:2: not a JSON object" "standard input is named"
t 2 "a bad row has status 2" \
  sh -c 'printf "{\"actions\":[{\"kind\":\"a\"},5,{\"kind\" 1},{\"kind\":\"b\"}]}\n" | action-filter'
out_is '{"kind":"b"}
{"kind":"a"}' "the good rows pass"
err_is 'action-filter: standard input:1: action 1: not a JSON object
action-filter: standard input:1: action 2: a colon is missing' "bad rows are named"

# An array of rows on a line, as the server answers.
t 0 "an array of rows is read" \
  sh -c 'printf "\357\273\277 [{\"kind\":\"b\",\"id\":2}, {\"kind\":\"a\",\"id\":1}] \n[]\n" | action-filter -u'
out_is '{"kind":"a","id":1}
{"kind":"b","id":2}' "the rows of an array come with the oldest first"
err_empty "nothing is said about an array of rows"
t 2 "a bad row, or a list without its end, has status 2" \
  sh -c 'printf "[5,{\"kind\":\"a\"}]\n[{\"kind\":\"b\"}\n" | action-filter'
out_is '{"kind":"a"}' "the good row passes"
err_is 'action-filter: standard input:1: action 0: not a JSON object
action-filter: standard input:2: unbalanced brackets' \
  "the bad row and the list without its end are named"

# Of two lists the one that counts is read, whatever the other is.
two() { echo "$1" | action-filter 2>/dev/null | tr -d '\n'; }
good='[{"kind":"a"},{"kind":"b"}]'
is "$(two "{\"actions\":$good,\"data\":{\"actions\":[1,{\"kind\":\"x\"}]},\"data\":{}}")" \
  '{"kind":"b"}{"kind":"a"}' "a list in front counts when the data has none"
is "$(two "{\"actions\":$good,\"data\":{\"actions\":[{\"kind\":\"x\"}]}}")" '{"kind":"x"}' "the list of the data counts"
is "$(two "{\"actions\":[{\"kind\":\"x\"}],\"actions\":$good}")" '{"kind":"b"}{"kind":"a"}' "the last list counts"
is "$(two "{\"actions\":$good,\"actions\":5,\"type\":\"t\"}")" "" \
  "a list that is replaced by a number is none"
is "$(two "{\"actions\":$good,\"kind\":\"k\"}")" "{\"actions\":$good,\"kind\":\"k\"}" "an action may have a list of actions"
is "$(two "{\"actions\":$good")" "" "a list in a line without its end is not read"

# same TITLE INPUT: everything passes as it is.
same() {
  printf "$2" >in
  action-filter in >got 2>said
  code=$?
  printf "${3:-$2}" >want
  ok "a file with $1 passes" cmp got want
  is "$code $(cat said)" "0 " "nothing is said against a file with $1"
}
same "CRLF" '{"kind":"a"}\r\n \t{"kind":"b"} \r\n'
same "empty lines" '\n\r\n{"kind":"a"}\n  \n' '{"kind":"a"}\n'
same "no line feed at the end" '{"kind":"a"}\n{"kind":"b"}' '{"kind":"a"}\n{"kind":"b"}\n'
same "NUL in a string" '{"kind":"a","content":"x\000y"}\n'
same "U+2028" '{"kind":"a","content":"x\342\200\250y"}\n'
same "invalid UTF-8" '{"kind":"a","content":"x\377\303(\355\240\200"}\n'
same "a byte order mark" '\357\273\277{"kind":"a"}\n' '{"kind":"a"}\n'
same "white space" '{ "kind"\t:\t"a" , "x" : [ ] }\n'
same "numbers of many digits" '{"kind":"a","usd_cost":1.10,"id":123456789012345678901234567890}\n'
same "duplicate members" '{"kind":"b","kind":"a"}\n'
t 2 "NUL behind the value is a fault" sh -c 'printf "{\"kind\":\"a\"}\000\n" | action-filter'
is "$(printf '{"kind":"a","content":"x\000needle"}\n' | action-filter -N -F needle)" 1 \
  "text is found behind a NUL"
is "$(printf '{"kind":"a","content":"\377needle"}\n' | action-filter -N -F needle)" 1 \
  "text is found behind invalid UTF-8"

# What counts is the action's own member, after its escapes, the last of them.
cat >decoys <<'END'
{"kind":"other","metadata":{"kind":"llm_error"},"content":"\"kind\":\"llm_error\""}
{"\u006bind":"llm\u005ferror"}
{"kind":"llm_error","kind":"other"}
{"kind":"other","kind":"llm_error"}
{"event":"action_event","data":{"kind":"other","metadata":{"kind":"llm_error"}}}
{"data":{"\u006bind":"llm_error"},"id":"","event":"action_event"}
{"kind":"llm_error ","content":"\\","x":"\"kind\":\"llm_error\""}
END
is "$(action-filter -k llm_error decoys)" "$(sed -n '2p;4p;6p' decoys)" "decoys do not count"

# Long and deep, in time and memory that follow the length.
needs python3
python3 - <<'END'
deep = 200000
with open("deep", "w") as file:
    file.write('{"kind":"a","x":' + '[{"a":' * deep + "1" + "}]" * deep + "}\n")
    file.write('{"kind":"b","x":' + '[{"a":' * deep + "1" + "}]" * (deep - 1) + "}}\n")
    file.write('{"kind":"c"}\n')
with open("long", "w") as file:
    piece = '\\"kind\\":\\"b\\" \\\\' * 50000
    file.write('{"kind":"a","content":"')
    for _ in range(40): file.write(piece)
    file.write('END"}\n{"kind":"c"}\n')
END
t 2 "brackets 400,000 deep are counted" action-filter -N deep
out_is 2 "the good lines beside deep brackets pass"
err_is "action-filter: deep:2: unbalanced brackets" "the line with a bracket too few is named"
head -n 1 long >want
t 0 "a line of 40 MB passes" sh -c 'cat long | action-filter -k a -iF end | cmp - want'
run action-filter -N long
out_is 2 "the line behind one of 40 MB is read, too"
ok "a line that is only read takes 16 MB and the line itself at most" \
  python3 "$cli/resident.py" $((16 * 1024 + $(wc -c <want) / 1024)) action-filter -k zzz long
for options in "-iF zzz" "-u" "--strict" "--fast -F zzz" "-o content"; do
  # shellcheck disable=SC2086  # options are words
  ok "$options takes 16 MB and twice the line at most" \
    python3 "$cli/resident.py" $((16 * 1024 + 2 * $(wc -c <want) / 1024)) action-filter $options long
done

# Output that cannot be written.
if [ -c /dev/full ]; then
  t 2 "a full disk has status 2" sh -c 'action-filter decoys >/dev/full'
  err_is "action-filter: standard output: no space left on device" "a full disk is told in one line"
fi
run sh -c 'yes "{\"kind\":\"a\"}" | { action-filter; echo $? >status; } | head -n 1'
out_is '{"kind":"a"}' "a reader may leave"
is "$(cat status)" 141 "SIGPIPE ends it when its reader leaves"
err_empty "nothing is said when the reader leaves"

# What is read and written at once would not end.
yes '{"kind":"a"}' | head -n 50000 >loop
cp loop want
for command in action-filter action-format; do
  t 2 "$command >>FILE FILE has status 2" sh -c "cp want loop; $command want loop >>loop"
  err_is "$command: loop: is read and written at once" \
    "$command names the file that is read and written at once"
  is "$(wc -l <loop)" 100000 "$command reads the other file"
done
t 0 "a count of the file may be added to it" sh -c 'cp want loop; action-filter -N loop >>loop'

# Every file is closed again, and every folder.
printf '{"kind":"a"}\n' >short
set --
while [ $# -lt 80 ]; do set -- "$@" short "$HOME"; done
t 0 "twenty descriptors are enough for forty files and forty folders" \
  sh -c 'ulimit -n 20; exec action-filter -N "$@"' sh "$@"
out_is 40 "forty files are all read with twenty descriptors"

# Nothing is held back in a pipe.
mkfifo in.fifo
start live sh -c 'exec action-filter -k a <in.fifo'
exec 3>in.fifo
printf '{"kind":"a","n":1}\n{"kind":"b"}\n{"kind":"a"' >&3
ok "a line comes out before the next is complete" wait_until 30 grep -q '"n":1' live.out
printf ',"n":2}\n' >&3
ok "the next line comes out when it is complete" wait_until 30 grep -q '"n":2' live.out
exec 3>&-
finished "$pid"
status_is 0 "the end of input ends it"

done_testing
