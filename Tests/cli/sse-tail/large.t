#!/bin/sh
# Size: no limit by default, linear time, memory for one event and no more.
. "${0%/*}/../lib.sh"
needs sse-tail jq python3

serve </dev/null
bound=180
# measured FILE CMD...: standard output to FILE; $rss in KB, $took in seconds of the
# processor: a busy machine changes nothing.
measured() {
  file=$1
  shift
  bounded "$bound" python3 -c 'import resource, subprocess, sys
status = subprocess.call(sys.argv[2:], stdout=open(sys.argv[1], "wb"))
used = resource.getrusage(resource.RUSAGE_CHILDREN)
peak = used.ru_maxrss
print(status, peak // 1024 if sys.platform == "darwin" else peak, int(used.ru_utime + used.ru_stime))
' "$file" "$@" >"$tmp/measured" 2>"$err"
  read -r status rss took <"$tmp/measured" || status=142
}
size() { wc -c <"$1" | tr -d ' '; }
overhead=$((24 * 1024))

script <<'S'
stream
send data: "
fill 33554432 x
send "\n\ndata: after\n\n
S
measured "$tmp/big" sse-tail --max-retries 0 "$url/s"
is "$(size "$tmp/big")" $((33554432 + 2 + 36 + 43)) "32 MB in one line are read in pieces of 1 KB"
ok "an event of 32 MB takes linear time ($took s)" test "$took" -le 15
ok "an event of 32 MB takes little more memory than itself ($rss KB)" \
  test "$rss" -le $((32768 + overhead))
rm -f "$tmp/big"

script <<'S'
stream
send data: 1\n\n:
fill 33554432 x
send \ndata: after\n\n
S
measured "$out" sse-tail --max-retries 0 "$url/s"
is "$(jq -r .data "$out" | tr '\n' ' ')" "1 after " "a comment of 32 MB is passed over"
ok "a comment of 32 MB takes bounded memory ($rss KB)" test "$rss" -le "$overhead"
script <<'S'
stream
send data: 1\n\nwhat: 
fill 16777216 x
send \nfill
fill 16777216 y
send \ndata: after\n\n
S
measured "$out" sse-tail --max-retries 0 "$url/s"
is "$(jq -r .data "$out" | tr '\n' ' ')" "1 after " "fields that nobody knows are passed over"
ok "fields that nobody knows take bounded memory ($rss KB)" test "$rss" -le "$overhead"
script <<'S'
stream
send event: x\nid: 1\ndata: 1\n\n
fill 33554432 : c\n\nevent: y\n
send \ndata: after\n\n
S
measured "$out" sse-tail --max-retries 0 "$url/s"
is "$(jq -r .data "$out" | tr '\n' ' ')" "1 after " "millions of comments are passed over"
ok "millions of comments take bounded memory ($rss KB)" test "$rss" -le "$overhead"

script <<'S'
stream
repeat 50000 data: {"a":1}\n\n
S
measured "$out" sse-tail --max-retries 0 "$url/s"
is "$(lines "$out") $(sort -u "$out")" '50000 {"event":"message","id":"","data":{"a":1}}' \
  "50,000 events come"
script <<'S'
stream
repeat 100000 data: x\n
send \n
S
measured "$out" sse-tail --max-retries 0 "$url/s"
is "$(jq '.data | length' "$out")" 199999 "100,000 data lines are one event"
ok "100,000 data lines take linear time ($took s)" test "$took" -le 5

# --- --max-event-bytes
script <<'S'
stream
send data: small\n\ndata: 
fill 1000000 x
send \n\nid: 5\ndata: after\n\n
S
run sse-tail --max-retries 0 --max-event-bytes 1000 "$url/s"
is "$(jq -r .data "$out" | tr '\n' ' ')" "small after " "--max-event-bytes drops larger events"
err_like '1000' "the message tells the limit"
script <<'S'
stream
repeat 1000 data: xxxxxxxxx\n
send \ndata: after\n\n
S
run sse-tail --max-retries 0 --max-event-bytes 1000 "$url/s"
is "$(jq -r .data "$out" | tr '\n' ' ')" "after " "an event of many lines is dropped, too"
script <<'S'
stream
send data: 12345678\n\n
S
run sse-tail --max-retries 0 --max-event-bytes 8 "$url/s"
is "$(jq -r .data "$out")" 12345678 "the limit itself is allowed"
script <<'S'
stream
send data: 
fill 33554432 x
send \n\ndata: after\n\n
S
measured "$out" sse-tail --max-retries 0 --max-event-bytes 1000 "$url/s"
is "$(jq -r .data "$out" | tr '\n' ' ')" "after " "32 MB are not kept"
ok "a dropped event of 32 MB takes bounded memory ($rss KB)" test "$rss" -le "$overhead"

# --- a slow reader
script <<'S'
stream
repeat 3000000 data: 0123456789012345678901234567890123456789\n\n
S
mkfifo "$tmp/pipe"
measured "$tmp/pipe" sse-tail --max-retries 0 "$url/s" &
exec 4<"$tmp/pipe"
dd bs=1 count=10 <&4 >/dev/null 2>&1
# The second is real time: a client that reads on would have much of the 126 MB in
# memory by then. On a busy machine it has less, which hides a fault but makes up none.
sleep 1
exec 4<&-
wait "$!"
read -r status rss took <"$tmp/measured"
ok "a slow reader fills no memory ($rss KB)" test "$rss" -le "$overhead"
done_testing
