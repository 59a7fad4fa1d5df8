#!/bin/sh
# voice-state -w on a terminal: what stands there after any number of frames, and
# that the terminal is given back whatever ends it.
. "${0%/*}/../lib.sh"
needs python3 tmux

voice=$root/Tests/fixtures/voice
cd "$tmp" || exit 1
# Twelve states a second of their own clock: what ages, moves.
python3 - "$voice/full.json" "$voice/troubled.json" "$voice/spec.json" <<'END'
import copy, json, sys
files = [json.load(open(name)) for name in sys.argv[1:]]
def wrap(state, second):
    return json.dumps({"event": "voice_state", "id": "", "data": state,
                       "received_at": f"2026-06-15T21:{second // 60:02}:{second % 60:02}.000Z"}, ensure_ascii=False)
out = open("states", "w", encoding="utf-8")
for number in range(300):
    state = copy.deepcopy(files[number // 2 % 3 if number % 2 else 0])
    for session in state["sessions"]:
        session["botTurnOpen"] = number % 3 == 0
        session["recentTurns"] = (session.get("recentTurns") or [])[: 2 + number % 7] + [
            {"role": "user", "speakerName": "Kei", "text": f"frame {number} \u6f22\u5b57 {'word ' * (number % 30)}", "at": "2026-06-15T21:00:00.000Z"}]
    out.write(wrap(state, number) + "\n")
END
mux() { tmux -L "au$$" -f /dev/null "$@"; }
pane() { mux capture-pane -p -t "$1" | sed 's/ *$//'; }
mkfifo feed

# screen NAME COMMAND: a window of 100 by 30 that runs a shell's command.
# ^C goes to the command: the shell stays.
screen() {
  rm -f "$1".*
  mux new-session -d -x 100 -y 30 -s "$1" \
    "stty -a >$1.before; trap : INT; sh -c 'echo \$\$ >$1.pid; exec $2' 2>$1.err; echo \$? >$1.status; stty -a >$1.after; cat"
  wait_until 30 test -s "$1.pid"
}
shows() { pane "$1" | grep -Eq -e "$2"; }
closed() { wait_until 30 test -s "$1.after"; }
# The first session keeps the server, which would end with its last one.
mux new-session -d -s keep cat
mux set-option -g default-terminal screen-256color

# 300 frames with changes of size between them. After each change the screen is
# what the state alone looks like at that width.
screen frames "voice-state -w - <feed"
exec 9<>feed
escape=$(printf '\033')
same() {
  pane frames | sed '$d' >shown
  sed -n "$1p" states | voice-state --color always -W "$2" - | head -n $(($3 - 1)) |
    sed "s/$escape\\[[0-9;]*m//g; s/ *\$//" >want
  pad=$(($3 - 1 - $(lines want)))
  while [ "$pad" -gt 0 ]; do
    echo >>want
    pad=$((pad - 1))
  done
  cmp -s shown want
}
# Where a slow machine made the ages grow, the same state tells the time anew.
is_shown() {
  same "$@" && return
  sed -n "$1p" states >&9
  false
}
sent=0
for size in 100x30 40x20 200x50 132x24 61x77 80x10 160x40 45x30 119x33 100x30; do
  mux resize-window -t frames -x "${size%x*}" -y "${size#*x}"
  sed -n "$((sent + 1)),$((sent + 29))p" states >&9
  sent=$((sent + 30))
  # The last of them once the size has settled: it tells the time anew.
  sed -n "${sent}p" states >&9
  mux resize-window -t frames -x "$((${size%x*} + 1))" -y "${size#*x}"
  mux resize-window -t frames -x "${size%x*}" -y "${size#*x}"
  ok "$size: frame $sent is on the screen" wait_until 30 is_shown "$sent" "${size%x*}" "${size#*x}"
  cmp -s shown want || diag "$(diff want shown)"
done
is_live() {
  pane frames | tail -n 1 | grep -Eq '^live, state [0-9]+ s old .*q quit' && return
  sed -n "${sent}p" states >&9
  false
}
ok "the last line tells the state of the link" wait_until 30 is_live

# Scrolling.
mux send-keys -t frames End
ok "End goes to the end" wait_until 30 shows frames ' [0-9]+-([0-9]+)/\1 '
mux send-keys -t frames Home
ok "Home goes to the beginning" wait_until 30 shows frames ' 1-29/'
mux send-keys -t frames Down j Down
ok "the arrow and j go down by a line" wait_until 30 shows frames ' 4-32/'
mux send-keys -t frames Up k
ok "the arrow and k go back by a line" wait_until 30 shows frames ' 2-30/'
mux send-keys -t frames NPage
ok "PgDn goes on by a window" wait_until 30 shows frames ' 30-58/'
mux send-keys -t frames PPage
ok "PgUp goes back by a window" wait_until 30 shows frames ' 2-30/'

# Panels.
mux send-keys -t frames p
ok "p lists the panels" wait_until 30 shows frames '^> \[x\] '
mux send-keys -t frames a
ok "a chooses no panel" wait_until 30 shows frames '^> \[ \] '
mux send-keys -t frames Down Down Space Enter
ok "space chooses the panel at the mark" wait_until 30 shows frames '^── '
ok "the panels that were not chosen are hidden" test "$(pane frames | grep -c '^── ')" -le 2
mux send-keys -t frames p a Escape
ok "Escape leaves the list with all panels shown" wait_until 30 shows frames ' 1-29/|-[0-9]*/'

# q
mux send-keys -t frames q
ok "q ends voice-state" closed frames
is "$(cat frames.status)" 0 "q ends voice-state with status 0"
ok "the modes of the terminal are as they were after q" cmp frames.before frames.after
unlike "$(pane frames)" 'q quit' "the screen is as it was after q"
is "$(cat frames.err)" "" "nothing is said on standard error after q"
mux kill-session -t frames
exec 9>&-

# Every other end.
for end in C-c TERM HUP QUIT ABRT SEGV eof; do
  screen other "voice-state -w --max-time 60 - <feed"
  exec 9<>feed
  head -n 1 states >&9
  ok "$end: the screen of voice-state is there" wait_until 30 shows other 'q quit'
  is "$(mux display-message -p -t other '#{alternate_on} #{cursor_flag}')" "1 0" "$end: the screen is an alternate one, without a cursor"
  case $end in
  C-c) mux send-keys -t other C-c ;;
  eof)
    exec 9>&-
    ok "the end of the input is told on the screen" wait_until 30 shows other '^end of the records'
    mux send-keys -t other q
    ;;
  *) kill "-$end" "$(cat other.pid)" ;;
  esac
  ok "$end ends voice-state" closed other
  case $end in C-c) want=130 ;; TERM) want=143 ;; HUP) want=129 ;; QUIT) want=131 ;; ABRT) want=134 ;; SEGV) want=139 ;; *) want=0 ;; esac
  is "$(cat other.status)" "$want" "$end: the status is $want"
  ok "$end: the modes of the terminal are as they were" cmp other.before other.after
  is "$(mux display-message -p -t other '#{alternate_on} #{cursor_flag}')" "0 1" "$end: screen and cursor are as they were, too"
  mux kill-session -t other
  exec 9>&-
done

# ^Z and fg, in a shell with jobs.
if command -v bash >/dev/null 2>&1; then
  mux new-session -d -x 100 -y 30 -s jobs "PS1='prompt> ' bash --norc -i"
  wait_until 30 shows jobs '^prompt> '
  exec 9<>feed
  mux send-keys -t jobs "stty -a >jobs.before; voice-state -w - <feed; stty -a >jobs.after" Enter
  head -n 1 states >&9
  ok "voice-state runs in a shell with jobs" wait_until 30 shows jobs 'q quit'
  mux send-keys -t jobs C-z
  ok "^Z stops voice-state" wait_until 30 shows jobs 'Stopped'
  is "$(mux display-message -p -t jobs '#{alternate_on} #{cursor_flag}')" "0 1" \
    "the screen is as it was after ^Z"
  mux send-keys -t jobs "fg" Enter
  ok "fg brings voice-state back" wait_until 30 shows jobs 'q quit'
  head -n 1 states | sed 's/"Kei"/"Keiko"/g' >&9
  ok "voice-state takes states after fg" wait_until 30 shows jobs 'Keiko'
  # Stopped unseen.
  command_pid=$(ps -o pid=,args= -t "$(mux display-message -p -t jobs '#{pane_tty}')" | awk '/voice-state -w/ {print $1; exit}')
  kill -STOP "$command_pid"
  wait_until 30 shows jobs 'Stopped'
  mux send-keys -t jobs "stty sane; echo scribble" Enter
  wait_until 30 shows jobs '^scribble'
  mux send-keys -t jobs "fg" Enter
  ok "voice-state comes back from a stop that it cannot see" wait_until 30 shows jobs 'q quit'
  mux send-keys -t jobs q
  ok "q ends voice-state in a shell with jobs" wait_until 30 test -s jobs.after
  exec 9>&-
  mux kill-session -t jobs
else
  skip 7 "no bash"
fi

# Once on a terminal: its width.
mux new-session -d -x 57 -y 60 -s once "head -n 2 states | voice-state --panel session -; cat"
ok "one look is as wide as the terminal" wait_until 30 shows once '━$'
is "$(pane once | head -n 1 | python3 -c 'import sys; print(len(sys.stdin.readline().rstrip()))')" 57 \
  "one look has 57 columns"
mux kill-session -t once

# A terminal that cannot place the cursor has lines.
TERM=dumb run python3 "$cli/terminal.py" sh -c 'head -n 1 states | voice-state -w -'
like "$(tr -d '\r' <"$out")" '^20.* now: ' "a dumb terminal gets lines"

mux kill-server
done_testing
