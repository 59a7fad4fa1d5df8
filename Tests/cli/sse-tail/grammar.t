#!/bin/sh
# The event stream grammar (WHATWG HTML 9.2.5 and 9.2.6), on bytes.
. "${0%/*}/../lib.sh"
needs sse-tail jq python3

serve </dev/null
number=0

# stream_is TITLE LINES WANT: what a stream of the script's LINES gives. WANT is
# a line per event, `type|id|data`, each as JSON text without the quotes; the
# message type is written as nothing.
stream_is() {
  number=$((number + 1))
  printf -- '---\non /%s\nstream\n%s\n' "$number" "$2" >>"$tmp/script"
  run sse-tail --max-retries 0 "$url/$number"
  got=$(jq -r 'def inner: tojson | .[1:-1];
    "\(.event | if . == "message" then "" else inner end)|\(.id | inner)|\(.data | inner)"' "$out")
  is "$got" "$3" "$1"
  [ "$status" -eq 75 ] || diag "status $status, stderr: $(cat "$err")"
}

# --- line ends
stream_is "LF ends a line" 'send data: a\n\n' '||a'
stream_is "CRLF ends a line" 'send data: a\r\n\r\ndata: b\r\n\r\n' '||a
||b'
stream_is "CR ends a line" 'send data: a\r\rdata: b\r\r' '||a
||b'
stream_is "any mix of line ends is read" \
  'send data: a\ndata: b\rdata: c\r\ndata: d\n\rdata: e\r\n\ndata: f\r\r\n' \
  '||a\nb\nc\nd
||e
||f'
stream_is "CRLF cut between two reads is one end" 'send data: a\r
pause 0.05
send \ndata: b\r
pause 0.05
send \n\r
pause 0.05
send \ndata: c\n\n' '||a\nb
||c'
stream_is "of CR, LF and LF the second LF is a blank line" 'send data: a\r
pause 0.05
send \n\n' '||a'
stream_is "CRLF that comes one byte at a time ends a line" \
  'pieces 1 data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n' '||a\nb
||c'

printf -- '---\non /cr\nstream\nsend data: now\\r\\r\nawait seen\n' >>"$tmp/script"
start cr sse-tail --max-retries 0 "$url/cr"
ok "a lone CR acts at once, before the next byte comes" wait_until 30 has "$tmp/cr.out" now
touch "$tmp/seen"
finished "$pid"
printf -- '---\non /crlf\nstream\nsend data: now\\r\\n\\r\nawait seen2\nsend \\ndata: b\\n\\n\n' \
  >>"$tmp/script"
start crlf sse-tail --max-retries 0 "$url/crlf"
ok "the CR of a blank line acts before its LF comes" wait_until 30 has "$tmp/crlf.out" now
touch "$tmp/seen2"
finished "$pid"
is "$(jq -r .data "$tmp/crlf.out" | tr '\n' ' ')" "now b " \
  "the LF after the CR of a blank line is swallowed"

stream_is "U+2028 U+2029 U+0085 VT FF are data" \
  'send data: a\xe2\x80\xa8b\xe2\x80\xa9c\xc2\x85d\x0be\x0cf\n\n' \
  "$(printf '||a\342\200\250b\342\200\251c\302\205d\\u000be\\ff')"
stream_is "NUL is data" 'send data: a\0b\n\n' '||a\u0000b'

# --- UTF-8
stream_is "characters that are cut between reads stay whole" \
  'pieces 1 data: é€🌿 ünï\n\n' '||é€🌿 ünï'
stream_is "characters that are cut in twos stay whole" 'pieces 2 data: é€🌿 ünï\n\n' '||é€🌿 ünï'
stream_is "a bad byte becomes U+FFFD" 'send data: a\xffb\n\ndata: on\n\n' '||a�b
||on'
stream_is "a cut sequence becomes one U+FFFD" 'send data: a\xe2\x82b\n\ndata: \xf0\x9f\x8c\n\n' \
  '||a�b
||�'
stream_is "a surrogate becomes three U+FFFD" 'send data: \xed\xa0\x80\n\n' '||���'
stream_is "an overlong form becomes two U+FFFD" 'send data: \xc0\xaf\n\n' '||��'
stream_is "five-byte forms become five U+FFFD" 'send data: \xf8\x88\x80\x80\x80\n\n' '||�����'
stream_is "bad bytes in a type become U+FFFD" 'send event: \xff\ndata: a\n\n' '�||a'
stream_is "bad bytes in an id become U+FFFD" 'send id: \xff\ndata: a\n\n' '|�|a'
stream_is "a combining mark after the space is data" 'send data: \xcc\x81x\n\n' '||́x'
stream_is "a combining mark after the colon is data" 'send data:\xcc\x81x\n\n' '||́x'
stream_is "a combining mark before the colon makes another field" \
  'send data\xcc\x81: x\ndata: a\n\n' '||a'
stream_is "nothing is normalised" 'send data: e\xcc\x81 \xc3\xa9\n\n' \
  "$(printf '||e\314\201 \303\251')"

# --- the byte order mark
stream_is "a leading BOM is dropped" 'send \xef\xbb\xbfdata: a\n\n' '||a'
stream_is "a BOM in pieces is dropped" 'pieces 1 \xef\xbb\xbfdata: a\n\n' '||a'
stream_is "only one BOM is dropped" 'send \xef\xbb\xbf\xef\xbb\xbfdata: a\n\ndata: b\n\n' '||b'
stream_is "a later BOM is data" 'send data: a\n\n\xef\xbb\xbfdata: b\n\ndata: \xef\xbb\xbfc\n\n' \
  '||a
||'"$(printf '\357\273\277')c"
stream_is "half a BOM is not taken for one" 'pieces 1 \xef\xbbdata: a\n\ndata: b\n\n' '||b'
stream_is "half a BOM at the end gives nothing" 'send \xef\xbb' ''
stream_is "a BOM before a blank line is dropped" 'pieces 1 \xef\xbb\xbf\n\ndata: a\n\n' '||a'

# --- fields
stream_is "one space after the colon is dropped" \
  'send data:a\n\ndata: b\n\ndata:  c\n\ndata:\td\n\ndata: e \n\n' '||a
||b
|| c
||\td
||e '
stream_is "colons in the value are data" 'send data:a:b\n\ndata:: c\n\n' '||a:b
||: c'
stream_is "names of fields are exact" \
  'send Data: x\n data: x\ndata : x\ndatax: x\ndat: x\nDATA: x\n"data": x\ndata: a\n\n' '||a'
stream_is "unknown fields and lines without a colon are ignored" \
  'send what: x\nwhatever\n:\n::\ndata: a\n\n' '||a'
stream_is "data without a value is empty" 'send data\n\ndata:\n\ndata: \n\n' '||
||
||'
stream_is "data lines are joined by LF" 'send data\ndata\n\ndata: a\ndata\ndata: b\n\n' '||\n
||a\n\nb'
stream_is "a type without data gives no event and is forgotten" 'send event: x\n\ndata: a\n\n' '||a'
stream_is "blank lines alone give nothing" 'send \n\n\r\n\r\r\n\ndata: a\n\n\n\n' '||a'
stream_is "comments are ignored" 'send : hi\n:\n:data: x\ndata: a\n: data: b\n\n' '||a'
stream_is "a type holds for its event alone" 'send event: x\ndata: a\n\ndata: b\n\n' 'x||a
||b'
stream_is "the last type wins, an empty one is the default" \
  'send event: x\nevent: y\ndata: a\n\nevent: x\nevent\ndata: b\n\nevent:\ndata: c\n\n' 'y||a
||b
||c'
stream_is "an id persists over later events" 'send id: 1\ndata: a\n\ndata: b\n\nid: 2\ndata: c\n\n' \
  '|1|a
|1|b
|2|c'
stream_is "the last id of an event wins" 'send id: 1\ndata: a\nid: 2\n\n' '|2|a'
stream_is "an empty id clears the last one" \
  'send id: 1\ndata: a\n\nid\ndata: b\n\nid: 3\ndata: c\n\nid:\ndata: d\n\n' \
  '|1|a
||b
|3|c
||d'
stream_is "an id that holds NUL is ignored" 'send id: 1\ndata: a\n\nid: 2\0\ndata: b\n\nid: \0\ndata: c\n\n' \
  '|1|a
|1|b
|1|c'
stream_is "an id may have blanks and other text" 'send id:  a b: c \ndata: x\n\n' '| a b: c |x'
stream_is "an id alone counts for the next event" 'send id: 5\n\ndata: a\n\n' '|5|a'
stream_is "a retry field makes no event" 'send retry: 1000\n\nretry: x\n\ndata: a\n\n' '||a'

# --- the end
stream_is "an unfinished event is dropped" 'send data: a\n\ndata: b\n' '||a'
stream_is "an unfinished line is dropped" 'send data: a\n\ndata: b' '||a'
stream_is "one line end does not finish an event" 'send data: a\r\n' ''
stream_is "an empty stream gives nothing" 'send ' ''

# --- noise
head -c 200000 /dev/urandom >"$tmp/noise"
printf -- '---\non /noise\nstream\nfile noise\nsend \\n\\n\\ndata: after\\n\\n\n' >>"$tmp/script"
run sse-tail --max-retries 0 "$url/noise"
is "$status $(tail -n 1 "$out" | jq -r .data)" "75 after" "random bytes do no harm"

seed=${SEED:-$$}
for turn in 1 2 3 4 5 6 7 8 9 10; do
  python3 "$cli/servers/grammar.py" make "$((seed * 10 + turn))" "$tmp/random$turn"
  printf -- '---\non /random%d\nstream\nfile random%d 40\n' "$turn" "$turn" >>"$tmp/script"
  run sse-tail --max-retries 0 "$url/random$turn"
  ok "a random stream gives what the standard's steps give ($((seed * 10 + turn)))" \
    python3 "$cli/servers/grammar.py" check "$tmp/random$turn" "$out"
done

# --- every piece size
rich='\xef\xbb\xbf: rich\r\nid: é1\revent: tür\ndata: a: "€"\r\ndata\r\r\nid\ndata: 🌿\xff\xe2\x82\rdata: x\n\n'
for size in 1 2 3 7; do
  stream_is "the stream is the same in pieces of $size" "pieces $size $rich" 'tür|é1|a: \"€\"\n
||🌿��\nx'
done
done_testing
