#!/bin/sh
# turn-format on a terminal: what goes on is drawn in place, what has ended stays above it,
# each once; windows that are small or change, signals, and terminals that can do less.
. "${0%/*}/../lib.sh"
needs turn-format python3 jq
turns=$root/Tests/fixtures/turns.ndjson
terminal="python3 $cli/terminal.py"
cd "$tmp" || exit 1
esc=$(printf '\033')

TERM=dumb run $terminal 24x80 turn-format "$turns"
not_ok "a dumb terminal is sent no escape sequence" grep -q "$esc" "$out"
TERM=xterm NO_COLOR=1 run $terminal 24x80 turn-format "$turns"
not_ok "NO_COLOR is heeded" grep -q "$esc\\[[0-9;]*m" "$out"
TERM=xterm run $terminal 24x80 turn-format "$turns"
ok "else there is colour" grep -q "$esc\\[1;33m‖ paused" "$out"
ok "all in synchronised updates" grep -q "$esc\\[?2026h" "$out"
TERM=xterm run $terminal 24x80 turn-format -o dot "$turns"
not_ok "a graph has no escape sequence" grep -q "$esc" "$out"

command -v tmux >/dev/null 2>&1 || {
  skip 40 "no tmux"
  done_testing
}
mux() { tmux -S "$tmp/tmux" -f /dev/null "$@"; }
# The screen, and the same with all that has scrolled away.
pane() { mux capture-pane -p -t turns >"$tmp/pane" 2>/dev/null; }
shown() { pane && has "$tmp/pane" "$1"; }
hidden() { pane && ! has "$tmp/pane" "$1"; }
all() { mux capture-pane -p -S -1000 -t turns >"$tmp/all"; }
# The first session keeps the server, which would end with its last one.
mux new-session -d -s keep cat
end_mux() { mux kill-server 2>/dev/null; }
at_end="$at_end end_mux"

# view COLUMNS ROWS [OPTION...]: turn-format on a terminal of that size, fed by what is
# written to descriptor 9.
view() {
  columns=$1
  rows=$2
  shift 2
  rm -f feed pid
  mkfifo feed
  mux new-session -d -x "$columns" -y "$rows" -s turns \
    "sh -c 'echo \$\$ >pid; exec turn-format $* <feed'; echo ended; cat"
  exec 9<>feed
}
close_view() {
  exec 9>&-
  mux kill-session -t turns 2>/dev/null
}
# rest FROM TO: lines of the fixture.
rest() { sed -n "$1,$2p" "$turns" >&9; }

# --- in place, and above

view 80 24
rest 1 8
ok "a turn that goes on is drawn" wait_until 20 shown '^● running'
ok "with the call that runs" wait_until 20 shown '▸ web_search'
is "$(grep -c 'running  reef' pane)" 1 "it is drawn once"
rest 9 15
ok "its answer grows" wait_until 20 shown 'it asks for a fuse'
is "$(grep -c 'High tide is' pane)" 1 "it stays in its place"
ok "and what has ended in it is told" has pane '✓ web_fetch'
like "$(grep '● running' pane)" ' · [0-9]+d([0-9]+h)?$' "the time that it has taken grows"
rest 16 18
ok "it ends" wait_until 20 shown '^✓ completed  reef'
ok "and is a card of the past" hidden '● running'
like "$(grep '✓ completed' pane)" ' · 4\.4s$' "with the time that it took"
rest 19 24
ok "the next stands below it" wait_until 20 shown '^‖ paused  reef · site'
rest 25 25
ok "another stands beside it" wait_until 20 shown '^· turn  1184'
ok "they are a stack" sh -c 'awk "/^‖ paused/ { a = NR } /^· turn/ { b = NR } END { exit !(a && b > a) }" pane'
rest 26 29
ok "which ends before it" wait_until 20 shown '^✓ completed  clank'
ok "and goes above it" sh -c 'awk "/^‖ paused/ { a = NR } /^✓ completed  clank/ { b = NR } END { exit !(b && a > b) }" pane'
ok "the card says how to allow what is asked" has pane 'agent-approve --approve act_1$'
rest 30 100
ok "all that is left is drawn" wait_until 20 shown '^○ queued'
exec 9>&-
ok "the end of the input ends it" wait_until 20 shown '^ended'
all
for card in '✓ completed  reef' '✓ completed  clank' '✗ failed' '‖ paused  reef · Harbour' '○ queued'; do
  is "$(grep -c "^$card" all)" 1 "'$card' is there once"
done
not_ok "nothing is left of what went on" grep -q '^● running' all
# Whole: as in a pipe that is as wide.
turn-format -W 79 "$turns" >wanted
ok "all of it is what a pipe would get" sh -c 'sed "/^ended/,\$d" all | diff wanted -'
mux kill-session -t turns

# --- small windows

view 60 8
jq -nc 'def r(t): {type: t, backend: "pincer"};
  r("turn") + {id: "t", thread: "x", state: "running"},
  (range(30) | r("tool_call") + {id: "c\(.)", thread: "x", turn: "t", tool: "tool\(.)", state: "succeeded"}),
  r("turn") + {id: "u", thread: "y", state: "running"}' >&9
ok "a card that does not fit says how much is missing" wait_until 20 shown '… 27 more lines'
ok "its head is shown" has pane '^● running  x'
ok "its end is shown, too" has pane 'tool29'
ok "another has its place" has pane '^● running  y'
is "$(grep -c . pane)" 7 "and the last row stays free"
jq -nc 'range(12) | {type: "turn", backend: "pincer", id: "v\(.)", thread: "z\(.)", state: "running"}' >&9
ok "of many turns the last ones are seen" wait_until 20 shown '… 8 more turns'
ok "each has a line" has pane '^● running  z11'
mux resize-window -t turns -x 60 -y 20
ok "a larger window shows more" wait_until 20 hidden 'more turns'
mux resize-window -t turns -x 30 -y 8
ok "a smaller one shows less" wait_until 20 shown '… 8 more turns'
pane
is "$(awk '{ n = length > n ? length : n } END { print n <= 30 }' pane)" 1 "it is folded to it"
jq -nc '{type: "turn", backend: "pincer", id: "t", thread: "x", state: "completed"}' >&9
ok "what ends is whole" wait_until 20 sh -c 'tmux -S "$1" capture-pane -p -S -1000 -t turns | grep -q "✓ tool0$"' sh "$tmp/tmux"
close_view

# --- signals

for signal in INT TERM HUP; do
  view 80 24
  rest 19 24
  ok "a turn is drawn" wait_until 20 shown '^‖ paused'
  kill "-$signal" "$(cat pid)"
  ok "$signal ends it" wait_until 20 shown '^ended'
  is "$(grep -c '^‖ paused' pane)" 1 "with what went on left as it was"
  close_view
done
view 80 24
rest 19 24
ok "a turn is drawn" wait_until 20 shown '^‖ paused'
kill -STOP "$(cat pid)"
kill -CONT "$(cat pid)"
rest 31 33
ok "after a stop it goes on" wait_until 20 shown '^● running'
echo 'not json' >&9
ok "a message stands by itself" wait_until 20 shown '^turn-format: standard input:[0-9]*: a word without quotes'
ok "and what goes on below it" wait_until 20 sh -c 'tmux -S "$1" capture-pane -p -t turns | awk "/^turn-format: / { a = NR } /^● running/ { b = NR } END { exit !(b > a) }"' sh "$tmp/tmux"
close_view

# --- as a tree

view 80 24 --tree
rest 1 8
ok "a tree is drawn in place, too" wait_until 20 shown '▸ web_search'
rest 9 18
ok "and ends below its conversation" wait_until 20 shown '^Harbour plans'
is "$(grep -c '^. completed  reef' pane)" 1 "it is there once"
close_view

# --- as long as it takes

cat >grow.py <<'END'
import json, sys
text = ""
print(json.dumps({"type": "turn", "backend": "pincer", "id": "t", "thread": "x", "state": "running"}))
for number in range(2000):
    text += "word " * 20
    print(json.dumps({"type": "message", "backend": "pincer", "id": "m", "thread": "x", "turn": "t",
                      "role": "assistant", "text": text, "state": "partial"}), flush=True)
print(json.dumps({"type": "turn", "backend": "pincer", "id": "t", "thread": "x", "state": "completed"}))
END
view 80 24
python3 grow.py >&9
ok "2000 changes of a text that grows to 200 KB are drawn" wait_until 60 shown '^✓ completed|^  word'
exec 9>&-
ok "to the end" wait_until 60 shown '^ended'
mux kill-session -t turns

done_testing
