#!/bin/sh
# action-filter --fast: the same answer, without a look at lines that cannot match.
. "${0%/*}/../lib.sh"
needs python3
cd "$tmp" || exit 1

cat >day <<'END'
{"kind":"other","content":"x"}
{"kind":"llm_error","content":"Rate limit","userId":"123456789012345678"}
bad
{"\u006bind":"llm\u005Ferror","content":"r\u0041te LIM\u0069t"}
{"kind":"other","metadata":{"kind":"llm_error"},"content":"\"kind\":\"llm_error\""}
{"event":"action_event","data":{"kind":"llm_error","userId":1.23456789012345678e17}}
{"event":"activity_snapshot","data":{"actions":[{"kind":"b"},{"kind":"llm_error","content":"a\/b"}]}}
{"kind":"llm_error" "content":1}
{"kind":"other","content":"a/b"}
{"kind":"other","content":"\u212Aelvin","user_id":12345678901234567800e-2}
END
cat >>day <<'END'
{"id":"77","kind":"other","metadata":{"sessionId":123456789012345678}}
{"id":90071992547409.93e2,"kind":"other","metadata":{"session\u0049d":"v\u0073-1"}}
END
printf '{"kind":"llm_error","content":"no end"}' >>day
for options in "-k llm_error" "-k llm_*" "-k *error" "-k ll?_error" "-k [l]lm_error" "-k llm_error,b" \
  "-F Rate" "-iF RATE" "-iF kelvin" "-F a/b" "-F \\" "-U 123456789012345678" "-U 1234567890123456.78e2" \
  "-k llm_error -U 123456789012345678" "-k llm_error -v" "-k llm_error -a" "-d error" "-x 0" "-M 1" \
  "--id 9007199254740993,77" "--thread 123456789012345678" "--thread vs-1" "-k llm_error -u" "-k llm_error -n 2" "-k llm_error -N" "-k llm_error --by user" "-k llm_error -o kind"; do
  set -f
  # shellcheck disable=SC2086  # options are words
  action-filter $options day >want 2>/dev/null
  # shellcheck disable=SC2086
  action-filter --fast $options day >got 2>/dev/null
  set +f
  ok "--fast $options selects the same" cmp got want
done

# Faults are those of the lines that may match, and their numbers are right.
t 2 "--fast has status 2 for a bad line that may match" action-filter --fast -N -k llm_error day
err_is "action-filter: day:8: a comma is missing" \
  "the bad line that may match is named by its number"
sed 8d day >without
t 0 "a bad line that cannot match is not looked at" action-filter --fast -N -k llm_error without
out_is 5 "the lines beside a bad one are found"
err_empty "nothing is said of a bad line that cannot match"
for option in --strict -v -a "-R rejects"; do
  # shellcheck disable=SC2086
  run action-filter --fast -N $option -k none without
  is "$(grep -c without:3 "$err")" 1 "$option looks at every line all the same"
done
run action-filter --fast -N -d error without
err_is "action-filter: without:3: not a JSON object" \
  "an option that names no text looks at every line, too"

# Lines around the borders of what is read at once, and lines far longer.
python3 - >long <<'END'
for number in range(3000):
    kind = "llm_error" if number % 7 == 0 else "llm\\u005ferror" if number % 11 == 0 else "llm_errors"
    print('{"kind":"%s","content":"%s","n":%d}' % (kind, "x" * (number * 37 % 1500), number), end="\r\n")
    if number % 500 == 0:
        print('{"kind":"other","content":"%s"}' % ("y" * 700000))
END
action-filter -k llm_error long >want
action-filter --fast -k llm_error long >got
ok "borders of the buffer hide nothing" cmp got want
action-filter --fast -k llm_error <long >got
ok "standard input is read as the file is" cmp got want
# shellcheck disable=SC2002  # a pipe is meant
cat long | action-filter --fast -k llm_error >got
ok "a pipe is read as the file is" cmp got want
is "$(lines got)" 663 "all lines that match are there"
(cat long && echo '{"kind":"llm_error"') >bad
run action-filter --fast -k none,llm_error -N bad
err_is "action-filter: bad:$(lines bad): unbalanced brackets" \
  "lines that were passed over are counted"

# At random, all options, held against Python's json; `make fuzz` goes on for longer.
FUZZ_SECONDS=4 python3 "$root/Tests/fuzz/filter.py" >said 2>&1
is "$?" 0 "random lines and options give the same"
diag "$(cat said)"

done_testing
