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
ok "turn-format colours on a terminal" grep -q "$esc\\[1;33m‖ paused" "$out"
ok "turn-format draws in synchronised updates" grep -q "$esc\\[?2026h" "$out"
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
ok "a turn that goes on is drawn with the call that runs" wait_until 20 shown '▸ web_search'
is "$(grep -c 'running  reef' pane)" 1 "a turn that goes on is drawn once"
rest 9 15
ok "an answer that comes grows on the screen" wait_until 20 shown 'it asks for a fuse'
is "$(grep -c 'High tide is' pane)" 1 "an answer that grows stays in its place"
ok "a call that has ended in a running turn is told" has pane '✓ web_fetch'
like "$(grep '● running' pane)" ' · [0-9]+d([0-9]+h)?$' "the time that it has taken grows"
rest 16 18
ok "a turn that ended is drawn as completed" wait_until 20 shown '^✓ completed  reef'
ok "a turn that ended is not drawn as running" hidden '● running'
like "$(grep '✓ completed' pane)" ' · 4\.4s$' "a turn that ended shows the time that it took"
rest 19 24
ok "the next turn stands below the one that ended" wait_until 20 shown '^‖ paused  reef · site'
rest 25 25
ok "another turn stands beside the paused one" wait_until 20 shown '^· turn  1184'
ok "turns that go on are a stack" \
  sh -c 'awk "/^‖ paused/ { a = NR } /^· turn/ { b = NR } END { exit !(a && b > a) }" pane'
rest 26 29
ok "the second turn ends before the first" wait_until 20 shown '^✓ completed  clank'
ok "a turn that ended goes above the one that goes on" \
  sh -c 'awk "/^‖ paused/ { a = NR } /^✓ completed  clank/ { b = NR } END { exit !(b && a > b) }" pane'
ok "the card says how to allow what is asked" has pane 'agent-approve --approve act_1$'
rest 30 100
ok "all that is left is drawn" wait_until 20 shown '^○ queued'
exec 9>&-
ok "the end of the input ends turn-format" wait_until 20 shown '^ended'
all
for card in '✓ completed  reef' '✓ completed  clank' '✗ failed' '‖ paused  reef · Harbour' '○ queued'; do
  is "$(grep -c "^$card" all)" 1 "the card '$card' is there once"
done
not_ok "no running turn is left after the end" grep -q '^● running' all
# Whole: as in a pipe that is as wide.
turn-format -W 79 "$turns" >wanted
ok "all that stays on the screen is what a pipe would get" \
  sh -c 'sed "/^ended/,\$d" all | diff wanted -'
mux kill-session -t turns

# --- small windows

view 60 8
jq -nc 'def r(t): {type: t, backend: "pincer"};
  r("turn") + {id: "t", thread: "x", state: "running"},
  (range(30) | r("tool_call") + {id: "c\(.)", thread: "x", turn: "t", tool: "tool\(.)", state: "succeeded"}),
  r("turn") + {id: "u", thread: "y", state: "running"}' >&9
ok "a card that does not fit says how much is missing" wait_until 20 shown '… 27 more lines'
ok "the head of a card that does not fit is shown" has pane '^● running  x'
ok "the end of a card that does not fit is shown" has pane 'tool29'
ok "another turn has its place beside a card that does not fit" has pane '^● running  y'
is "$(grep -c . pane)" 7 "the last row of a small window stays free"
jq -nc 'range(12) | {type: "turn", backend: "pincer", id: "v\(.)", thread: "z\(.)", state: "running"}' >&9
ok "of many turns the last ones are seen" wait_until 20 shown '… 8 more turns'
ok "each of many turns has a line" has pane '^● running  z11'
mux resize-window -t turns -x 60 -y 20
ok "a larger window shows more" wait_until 20 hidden 'more turns'
mux resize-window -t turns -x 30 -y 8
ok "a smaller window shows less" wait_until 20 shown '… 8 more turns'
pane
is "$(awk '{ n = length > n ? length : n } END { print n <= 30 }' pane)" 1 \
  "a card is folded to a smaller window"
jq -nc '{type: "turn", backend: "pincer", id: "t", thread: "x", state: "completed"}' >&9
ok "what ends in a small window is shown whole" \
  wait_until 20 sh -c 'tmux -S "$1" capture-pane -p -S -1000 -t turns | grep -q "✓ tool0$"' sh "$tmp/tmux"
close_view

# --- signals

for signal in INT TERM HUP; do
  view 80 24
  rest 19 24
  ok "a turn is drawn before $signal comes" wait_until 20 shown '^‖ paused'
  kill "-$signal" "$(cat pid)"
  ok "$signal ends turn-format" wait_until 20 shown '^ended'
  is "$(grep -c '^‖ paused' pane)" 1 "$signal leaves what went on as it was"
  close_view
done
view 80 24
rest 19 24
ok "a turn is drawn before the stop" wait_until 20 shown '^‖ paused'
kill -STOP "$(cat pid)"
kill -CONT "$(cat pid)"
rest 31 33
ok "turn-format goes on after a stop" wait_until 20 shown '^● running'
echo 'not json' >&9
ok "a message on standard error stands by itself" \
  wait_until 20 shown '^turn-format: standard input:[0-9]*: a word without quotes'
ok "what goes on is drawn below a message" \
  wait_until 20 sh -c 'tmux -S "$1" capture-pane -p -t turns | awk "/^turn-format: / { a = NR } /^● running/ { b = NR } END { exit !(b > a) }"' sh "$tmp/tmux"
close_view

# --- as a tree

view 80 24 --tree
rest 1 8
ok "a tree is drawn in place, too" wait_until 20 shown '▸ web_search'
rest 9 18
ok "a turn of a tree that ended stands below its conversation" wait_until 20 shown '^Harbour plans'
is "$(grep -c '^. completed  reef' pane)" 1 "a turn of a tree that ended is there once"
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
ok "turn-format ends after 2000 changes" wait_until 60 shown '^ended'
mux kill-session -t turns

done_testing
