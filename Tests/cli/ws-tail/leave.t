#!/bin/sh
# How ws-tail goes: the server is told by a close frame, whatever the reason, and nobody
# waits for its answer (RFC 6455, section 7.1).
. "${0%/*}/../lib.sh"
needs ws-tail jq python3

serve </dev/null
left() { wait_until 5 grep -q '"end"' "$log"; }
said() { jq -r 'select(.first == "88") | .code' "$log" | tr '\n' ' '; }
# quits CODE TITLE [OPTION...]: what a server hears that sends a message and stays.
quits() {
  want=$1 title=$2
  shift 2
  printf '%s\n' switch 'frame 81 1' listen | script
  run ws-tail -d "$@" "$url/"
  left
  is "$(cat "$out") $(said)" "1 $want " "$title"
}
quits 1000 "-n sends a close frame when the count is reached" -n 1
quits 1000 "--max-time sends a close frame when the time is up" --max-time 0.3
quits 1001 "a server that is too slow is sent a close frame" --idle-timeout 0.3 --max-retries 0

for signal in INT TERM HUP; do
  printf '%s\n' switch 'frame 81 1' listen | script
  start tail ws-tail -d "$url/"
  wait_until 5 has "$tmp/tail.out" 1
  stop "$pid" "$signal"
  left
  is "$(said)" "1000 " "SIG$signal sends a close frame"
done

# One that sends more than is read is told, too.
printf '%s\n' switch 'repeat 200000 \x81\x05"abc"' listen | script
run ws-tail -d -n 1 "$url/"
is "$status $(cat "$out")" '0 "abc"' "-n ends ws-tail in the middle of a flood"

# Each ping is answered, also of a burst.
printf '%s\n' switch 'send \x89\x011\x89\x012\x81\x01a\x89\x013\x88\x02\x03\xe8' listen | script
run ws-tail -d --max-retries 0 "$url/"
left
is "$(jq -r 'select(.first == "8a") | .text' "$log" | tr '\n' ' ')" "1 2 3 " \
  "a burst of pings is answered"

done_testing
