#!/bin/sh
# The records that sse-tail writes, and the options that shape them.
. "${0%/*}/../lib.sh"
needs sse-tail jq python3

serve </dev/null
number=0

# streams LINES [OPTION...]: runs sse-tail on a stream of the script's LINES.
streams() {
  number=$((number + 1))
  printf -- '---\non /%s\nstream\n%s\n' "$number" "$1" >>"$tmp/script"
  shift
  run sse-tail --max-retries 0 "$@" "$url/$number"
}
# data_is TITLE TEXT WANT: the bytes of `data` in the record of an event.
data_is() {
  streams "send data: $2\n\n"
  out_is "{\"event\":\"message\",\"id\":\"\",\"data\":$3}" "$1"
}

# --- the record
streams 'send event: x\nid: 17\ndata: {"a":1}\n\n'
out_is '{"event":"x","id":"17","data":{"a":1}}' "a record has event, id and data, in this order"
streams 'send data: hello\n\n'
out_is '{"event":"message","id":"","data":"hello"}' \
  "text is a string, and a missing id is an empty one"
streams 'send event: a"b\\\x01\nid: c"d\\\x02\ndata: e"f\\\x03\n\n'
is "$(jq -c '[.event,.id,.data]' "$out")" '["a\"b\\\u0001","c\"d\\\u0002","e\"f\\\u0003"]' \
  "hostile names are escaped"
unlike "$(LC_ALL=C cat -v "$out")" '\^' "no control byte comes out"

# --- JSON passes with its bytes
data_is "numbers keep their digits" \
  '{"a":1.10,"b":12345678901234567890123,"c":1E+2,"d":-0.0,"e":4e-7}' \
  '{"a":1.10,"b":12345678901234567890123,"c":1E+2,"d":-0.0,"e":4e-7}'
data_is "blanks, order, repeated keys and escapes stay" \
  '{ "b" : [1, 2 ],"a":"\\u00e9\\/","a":"\\ud83c\\udf3f" }' \
  '{ "b" : [1, 2 ],"a":"\u00e9\/","a":"\ud83c\udf3f" }'
data_is "a bare number stays as it is" '1.10' '1.10'
data_is "a bare string stays as it is" '"x"' '"x"'
data_is "true stays as it is" true true
data_is "null stays as it is" null null
data_is "an array stays as it is" '[]' '[]'
data_is "U+2028 stays inside" "$(printf '{"a":"\342\200\250"}')" "$(printf '{"a":"\342\200\250"}')"

# --- everything else is a string
data_is "two values are text" '1 2' '"1 2"'
data_is "a leading zero is text" '01' '"01"'
data_is "a plus is text" '+1' '"+1"'
data_is "a bare dot is text" '1.' '"1."'
data_is "NaN is text" 'NaN' '"NaN"'
data_is "True is text" 'True' '"True"'
data_is "a comma at the end is text" '[1,]' '"[1,]"'
data_is "single quotes are text" "{'a':1}" "\"{'a':1}\""
data_is "an open bracket is text" '{"a":[1}' '"{\"a\":[1}"'
data_is "a wrong escape is text" '"\\q"' '"\"\\q\""'
data_is "a key without quotes is text" '{a:1}' '"{a:1}"'
data_is "trailing words are text" '{} x' '"{} x"'
data_is "nothing is an empty string" '' '""'
streams 'send data: {"a":"\x01"}\n\n'
is "$(jq -c .data "$out")" '"{\"a\":\"\u0001\"}"' "a control character in a string makes it text"
streams 'send data: {"a":"\xff"}\n\n'
out_is '{"event":"message","id":"","data":{"a":"�"}}' "a bad byte inside JSON becomes U+FFFD"

# --- JSON over several data lines
streams 'send data: {\ndata:  "a": [1.10,\ndata: 2],\ndata: "b": "x y"\ndata: }\n\n'
is "$(lines "$out")" 1 "JSON of several lines is one record"
is "$(jq -c .data "$out")" '{"a":[1.1,2],"b":"x y"}' "JSON of several lines has the same value"
out_like '1\.10' "JSON of several lines keeps its digits"
streams 'send data: {"a":"x\ndata: y"}\n\n'
is "$(jq -c .data "$out")" '"{\"a\":\"x\ny\"}"' "a newline inside a string of JSON makes it text"
streams 'send data: a\ndata: b\n\n'
out_is '{"event":"message","id":"","data":"a\nb"}' "text of several lines is kept"

deep=$(head -c 20000 /dev/zero | tr '\0' '[')
streams "send data: $deep\n\ndata: after\n\n"
is "$(lines "$out")" 2 "20,000 open brackets do no harm"
is "$(tail -n 1 "$out")" '{"event":"message","id":"","data":"after"}' \
  "the event behind 20,000 open brackets is there"

# --- options
three='send event: a\ndata: 1\n\nevent: b\ndata: {"x":1.10}\n\nevent: ab\nid: 3\ndata: 3\n\n'
streams "$three" -d
out_is '1
{"x":1.10}
3' "-d gives the data alone"
streams "$three" -e b
out_is '{"event":"b","id":"","data":{"x":1.10}}' "-e selects by type"
streams "$three" -e b -e a
is "$(jq -r .event "$out" | tr '\n' ' ')" "a b " "-e again is an alternative"
streams "$three" -e 'a*'
is "$(jq -r .event "$out" | tr '\n' ' ')" "a ab " "-e takes globs"
streams "$three" -e '?b'
is "$(jq -r .event "$out" | tr '\n' ' ')" "ab " "-e takes a question mark"
streams "$three" -e '[ab]'
is "$(jq -r .event "$out" | tr '\n' ' ')" "a b " "-e takes brackets"
streams 'send data: 1\n\nevent: x\ndata: 2\n\n' -e message
is "$(jq -c .data "$out")" 1 "-e message is the default type"

started_at=$(date +%s)
streams "$three
stall" -n 2
status_is 0 "-n ends the stream"
is "$(lines "$out")" 2 "-n prints so many events"
streams "$three
stall" -n 1 -e 'ab'
is "$(jq -r .event "$out")" ab "-n counts what is selected"
streams "send : c\n\n: d\n\n
$three
stall" -n 1 -C
is "$(jq -r 'select(.event) | .event' "$out")" a "-n does not count comments"
ok "-n does not wait for the stream's end" test $(($(date +%s) - started_at)) -lt 19

streams "$three" -T -n 1
is "$(jq -r 'keys_unsorted | sort | join(",")' "$out")" "data,event,id,received_at" \
  "-T adds received_at"
like "$(jq -r .received_at "$out")" '^20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-9:]{8}(\.[0-9]+)?Z$' \
  "received_at is RFC 3339 in UTC"
ok "received_at is now" \
  test "$(jq '(.received_at | sub("\\.[0-9]+"; "") | fromdate) - now | fabs < 60' \
  "$out")" = true

comments='send : hi\n:there\n:\ndata: a\n\n: {"x":1}\n\n'
streams "$comments"
is "$(jq -c .data "$out")" '"a"' "comments are not printed"
streams "$comments" -C
is "$(jq -c 'select(.type) | [.type, (.text | ltrimstr(" "))]' "$out" | tr '\n' ' ')" \
  '["comment","hi"] ["comment","there"] ["comment",""] ["comment","{\"x\":1}"] ' \
  "-C prints comments as records"
like "$(sed -n 1p "$out")" '^\{"type":"comment",' "the type of a comment comes first"

streams 'send data: a\n\nevent: x\ndata: b\ndata: c' --flush-partial
is "$(jq -r .data "$out" | tr '\n' ' ')" "a b c " "--flush-partial gives an unfinished event"
is "$(jq -r .event "$out" | tr '\n' ' ')" "message x " "an unfinished event has its type"
isnt "$(jq -c 'keys' "$out" | sort -u | wc -l | tr -d ' ')" 1 "an unfinished event is marked"
streams 'send data: a\n\n' --flush-partial
is "$(lines "$out")" 1 "nothing more comes where nothing is unfinished"

streams "$three
await never" -L --max-time 0.5
is "$(jq -r 'select(.type) | .type' "$out" | tr '\n' ' ')" "open end " \
  "-L tells of the connection and the end"
is "$(jq -c 'select(.type) | keys_unsorted[0]' "$out" | sort -u)" '"type"' \
  "the type of a link's record comes first"
is "$(jq -r 'select(.type) | .time | test("^20.*Z$")' "$out" | sort -u)" true \
  "a link's record has the time"
is "$(jq -r 'select(.type == "open") | .url' "$out")" "$url/$number" \
  "the record of an open link names the URL"
streams "$three" -L -d -n 3
is "$(jq -c 'select(type == "number" or (.x // false))' "$out" | tr '\n' ' ')" '1 {"x":1.1} 3 ' \
  "-L and -d go together"

# --- at once
number=$((number + 1))
cat >>"$tmp/script" <<S
---
on /$number
stream
send data: one\n\n
await go1
send data: two\n\ndata: th
await go2
send ree\n\n
S
start flow sse-tail --max-retries 0 "$url/$number"
ok "an event is out before the next comes" wait_until 30 has "$tmp/flow.out" one
touch "$tmp/go1"
ok "the next event is out while a third is on its way" wait_until 30 has "$tmp/flow.out" two
touch "$tmp/go2"
finished "$pid"
is "$(lines "$tmp/flow.out")" 3 "the rest of the events comes, too"

# --- encodings
number=$((number + 1))
cat >>"$tmp/script" <<S
---
on /$number
stream
+ Content-Encoding: gzip
gzip data: packed\n\n
await go3
gzip data: more\n\n
S
start flow sse-tail --max-retries 0 "$url/$number"
ok "gzip is decoded as it flows" wait_until 30 has "$tmp/flow.out" packed
touch "$tmp/go3"
finished "$pid"
is "$(jq -r .data "$tmp/flow.out" | tr '\n' ' ')" "packed more " "gzip is decoded to the end"
is "$(requests '.headers["accept-encoding"]' | tail -n 1)" identity "gzip was not asked for"

streams '- Connection
+ Transfer-Encoding: chunked
chunk data: a\n
chunk \ndata: b
chunk \n\n
send 0\r\nX-Trailer: 1\r\nX-Other: 2\r\n\r\n'
is "$(jq -r .data "$out" | tr '\n' ' ')" "a b " "chunks with trailers are read"
printf -- '---\non /hints\nsend HTTP/1.1 103 Early Hints\\r\\nLink: </x>\\r\\n\\r\\n\nstream\nsend data: a\\n\\n\n' \
  >>"$tmp/script"
run sse-tail --max-retries 0 "$url/hints"
is "$(jq -r .data "$out")" a "an early hint before the answer is passed over"
printf -- '---\non /old\nsend HTTP/1.0 200 OK\\r\\nContent-Type: text/event-stream\\r\\n\\r\\ndata: a\\n\\n\n' \
  >>"$tmp/script"
run sse-tail --max-retries 0 "$url/old"
is "$(jq -r .data "$out")" a "HTTP/1.0 is read"
t 2 "-d and -T exclude each other" sse-tail -d -T "$url/"
err_like '^sse-tail: --data-only leaves no room' "the message says why -d and -T exclude each other"
done_testing
