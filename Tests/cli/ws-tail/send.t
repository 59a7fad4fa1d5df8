#!/bin/sh
# What ws-tail says: --data on each connection, --send the lines of standard input.
. "${0%/*}/../lib.sh"
needs ws-tail jq python3

serve </dev/null
ws=ws${url#http}
said() { jq -r 'select(.what == "frame" and .first == "81") | .text' "$log"; }
spoken() { test "$(said | wc -l)" -ge "$1"; }

# --- --data
script <<'S'
switch
receive 1
frame 81 1
---
switch
receive 1
frame 81 2
listen
S
run ws-tail -d --retry-wait 0.01 --data '{"subscribe":"π"}' -n 2 "$ws/"
is "$(said)" '{"subscribe":"π"}
{"subscribe":"π"}' "--data is sent on each connection"
printf 'from a file\n' >"$tmp/hello"
script <<'S'
switch
receive 1
frame 81 1
listen
S
run ws-tail -d --data "@$tmp/hello" -n 1 "$ws/"
is "$(jq -r 'select(.what == "frame") | .size' "$log" | head -n 1)" 12 "@FILE is sent byte for byte"
t 2 "a file that is not there is an error" ws-tail --data "@$tmp/missing" "$ws/"
printf 'a\377' >"$tmp/hello"
t 2 "data that is not UTF-8 has status 2" ws-tail --data "@$tmp/hello" "$ws/"
err_like '^ws-tail: --data: not UTF-8$' "the message says that the data is not UTF-8"

# --- --send
script <<'S'
switch
receive 3
frame 81 "thanks"
listen
S
run sh -c "printf 'one\n\ntwo π' | ws-tail -d --send -n 1 $ws/"
is "$status $(cat "$out")" '0 "thanks"' "lines that are sent get an answer"
is "$(said)" 'one

two π' "lines are sent as texts, also an empty one and one without an end"
is "$(jq -r 'select(.first == "81") | .mask' "$log" | sort -u | wc -l)" 3 \
  "each line has a mask of its own"

# Its end is not the end: the stream is followed on.
mkfifo "$tmp/lines"
script <<'S'
switch
receive 1
frame 81 1
await more
frame 81 2
listen
S
start tail sh -c "exec ws-tail -d --send -n 2 $ws/ <$tmp/lines"
echo hello >"$tmp/lines"
ok "a line is answered" wait_until 5 test -s "$tmp/tail.out"
touch "$tmp/more"
finished "$pid"
is "$status $(tr '\n' ' ' <"$tmp/tail.out")" "0 1 2 " \
  "the stream goes on after the end of standard input"
rm "$tmp/more"

# Lines wait while the link is down.
script <<'S'
status 503
---
switch
receive 2
frame 81 1
listen
S
run sh -c "printf 'a\nb\n' | ws-tail -d --retry-wait 0.1 --send -n 1 $ws/"
is "$status $(said | tr '\n' ' ')" "0 a b " "lines wait for a connection"

# Whoever writes many waits, too.
script <<'S'
forever
status 503
S
run sh -c "yes | head -c 50000000 2>/dev/null | ws-tail --send --retry-wait 1 --max-time 1 -q $ws/ &
  ps -o pid= --ppid \$\$ >/dev/null; wait \$!; echo \$?"
out_is 75 "more lines than may wait are not read"

# A terminal's reader is not kept from its answers by what it says.
script <<'S'
switch
send \x81\x01{
S
printf 'ok\n\377bad\nfine\n' >"$tmp/input"
script <<'S'
switch
receive 2
frame 81 1
listen
S
run sh -c "ws-tail -d --send -n 1 $ws/ <$tmp/input"
is "$status $(said | tr '\n' ' ')" "2 ok fine " "a line that is not UTF-8 is passed over"
err_is 'ws-tail: standard input:2: not UTF-8' "a line that is not UTF-8 is told with its number"

# --- input that never pauses
mkfifo "$tmp/endless"
yes "$(printf '\377')" >"$tmp/endless" 2>/dev/null &
for case in "0 /dev/zero" "2 $tmp/endless"; do
  source=${case#* }
  script <<'S'
switch
listen
S
  run sh -c "timeout -s KILL 20 ws-tail --send --max-time 1 $ws/ <$source"
  status_is "${case%% *}" "--max-time ends a ws-tail that reads $source"
  ok "little is said of the lines of $source" test "$(lines "$err")" -le 10
done
printf '\377\n%.0s' $(seq 13) >"$tmp/input"
script <<'S'
switch
listen
S
run sh -c "ws-tail --send --max-time 1 $ws/ <$tmp/input"
is "$(lines "$err") $(tail -n 1 "$err")" "11 ws-tail: 3 more bad lines" "ten bad lines are named"

# --- large ones, while the server sends
script <<'S'
switch
receive 1
bytes 100000 x
receive 1
bytes 3000000 y
receive 1
listen
S
python3 -c "
import sys
for size in (16 << 20, 5000000, 70000): print('x' * size)" >"$tmp/large"
t 0 "lines of 16 MB are sent" sh -c "ws-tail --send -n 2 $ws/ <$tmp/large"
is "$(jq -r 'select(.first == "81") | .size' "$log" | tr '\n' ' ')" "16777216 5000000 70000 " \
  "lines of 16 MB arrive whole"
is "$(jq -r 'select(.first == "81") | .sha1' "$log" | head -n 1)" \
  "$(head -c 16777216 "$tmp/large" | sha1sum | cut -d ' ' -f 1)" \
    "a line of 16 MB arrives the same, byte for byte"

for words in '--data @-' '-H @-'; do
  # shellcheck disable=SC2086  # words
  t 2 "--send and $words want the same input" ws-tail --send $words "$ws/"
done

done_testing
