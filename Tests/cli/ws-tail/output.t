#!/bin/sh
# How messages are printed: as records, alone, on a terminal.
. "${0%/*}/../lib.sh"
needs ws-tail jq python3

serve </dev/null
ws=ws${url#http}
while IFS=';' read -r text want title; do
  printf '%s\n' forever switch "frame 81 $text" listen | script
  run ws-tail -n 1 "$ws/"
  out_is "{\"data\":$want}" "$title is printed in a record"
  run ws-tail -d -n 1 "$ws/"
  out_is "$want" "$title is printed alone with -d"
done <<'S'
{"a":1.10,"b":[ 1, 2 ]};{"a":1.10,"b":[ 1, 2 ]};JSON with all its bytes
12345678901234567890123;12345678901234567890123;a number with all its digits
"x";"x";a JSON string
null;null;null
;"";an empty text
hello world;"hello world";a text that is not JSON
{"a":1} x;"{\"a\":1} x";JSON and more
{"a":\n1};{"a": 1};JSON over lines
a\nb\t\e[0m;"a\nb\t\u001b[0m";a text with controls
π "quoted" \\;"π \"quoted\" \\";a text with quotes and backslashes
S
for size in 0 1 2 3 4 12288 12289 100000; do
  printf '%s\n' switch "bytes $size \\0\\xffa\\n" listen | script
  run ws-tail -n 1 "$ws/"
  is "$(jq -r .binary "$out" | base64 -d | wc -c)" "$size" "$size bytes are printed in base64"
done
printf '%s\n' switch 'frame 82 a"\xff' listen | script
run ws-tail -d -n 1 "$ws/"
out_is '"YSL/"' "a binary message alone is a string"

# On a terminal the value is the same, and nothing in it is obeyed.
printf '%s\n' switch 'frame 81 "a\xe2\x80\xaeb\xc2\x9bc"' listen | script
run python3 "$cli/terminal.py" ws-tail -d -n 1 "$ws/"
like "$(tr -d '\r' <"$out")" '^"a\\u202eb\\u009bc"$' "controls of a terminal are escaped in JSON"

# A full disk, a closed pipe, a count of none.
printf '%s\n' forever switch 'repeat 20000 \x81\x05"abc"' listen | script
if [ -w /dev/full ]; then
  t 2 "a full disk is an error" sh -c "ws-tail $ws/ >/dev/full"
  err_one_line ws-tail "a full disk is told in one line"
fi
run sh -c "ws-tail $ws/ | head -n 1"
out_is '{"data":"abc"}' "a closed pipe ends ws-tail"
err_empty "nothing is said of a closed pipe"
t 0 "-n 0 has status 0" ws-tail -n 0 "$ws/"
out_empty "-n 0 prints nothing"

t 2 "-d and -T exclude each other" ws-tail -d -T "$ws/"
err_like '^ws-tail: --data-only leaves no room' "the message says why -d and -T exclude each other"
done_testing
