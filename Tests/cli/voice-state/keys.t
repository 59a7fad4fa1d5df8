#!/bin/sh
# The keys of voice-state -w on a terminal: search, help, times by the clock.
. "${0%/*}/../lib.sh"
needs python3 tmux

cd "$tmp" || exit 1
# What people are called and say may be anything.
python3 - "$root/Tests/fixtures/voice/full.json" >states <<'END'
import copy, json, sys
state = json.load(open(sys.argv[1]))
session = state["sessions"][0]
bad = "\x1b[2J\x1b]0;owned\x07 \u202e#{pane_id} #(touch owned) $(touch owned) \"'\\ needle"
session["recentTurns"] = [
    {"role": "user", "speakerName": "Kei", "text": text, "at": f"2026-06-14T21:0{number}:05.000Z"}
    for number, text in enumerate(["the Needle in the hay", bad, "漢字 needle 漢字", "no pin"])]
print(json.dumps({"event": "voice_state", "id": "", "data": state,
                  "received_at": "2026-06-14T21:07:30.000Z"}))
END
mux() { tmux -L "au$$" -f /dev/null "$@"; }
pane() { mux capture-pane "$@" -p -t keys | sed 's/ *$//'; }
shows() { pane | grep -Eq -e "$1"; }
lacks() { ! shows "$1"; }
last() { pane | tail -n 1 | grep -Eq -e "$1"; }
press() { mux send-keys -t keys "$@"; }
mkfifo feed
mux new-session -d -s keep cat
mux set-option -g default-terminal screen-256color
export TZ=UTC
mux set-environment -g TZ UTC
mux new-session -d -x 100 -y 20 -s keys \
  "stty -g >before; trap : INT; sh -c 'exec voice-state -w - <feed' 2>err; echo \$? >status; stty -g >after; cat"
exec 9<>feed
cat states >&9
ok "the last line names the keys" wait_until 30 last 'q quit  p panels  / search  \? help$'

# --- help

press '?'
ok "? lists the keys" wait_until 30 shows '^  PgUp, PgDn +move by a window$'
ok "the help says how to go back" wait_until 30 last 'any key goes back$'
cat states >&9
press x
ok "any key leaves the help" wait_until 30 shows 'Transcript'

# --- times

ok "times are shown as ages" wait_until 30 shows '2m the|[0-9]m Kei +the Needle'
press t
ok "t tells them by the clock" wait_until 30 shows '^21:00:05 Kei +the Needle'
press t
ok "t again tells them as ages" wait_until 30 lacks '21:00:05'

# --- search

reversed() { pane -e | grep -Fq "$(printf '\033[7m')$1"; }
not_found() { ! pane -e | grep -Fq "$(printf '\033[7m')"; }
press / n e e d l
ok "/ asks for what to look for" wait_until 30 last '^/needl_ '
ok "a match is marked while it is typed, in either case" wait_until 30 reversed Needl
press e BSpace e Enter
ok "Enter goes to the first match" wait_until 30 last '^/needle  1 of 3 lines '
press n
ok "n goes to the next match" wait_until 30 last '^/needle  2 of 3 lines '
press n n
ok "n goes from the last match to the first" wait_until 30 last '^/needle  1 of 3 lines '
press N
ok "N goes back from the first match to the last" wait_until 30 last '^/needle  3 of 3 lines '
ok "a match beside wide signs is marked" wait_until 30 reversed needle
press Escape
ok "Escape ends the search" wait_until 30 last ' q quit '
ok "Escape removes all marks" not_found
press / p r o m p t s Enter
ok "a match below the window is found" wait_until 30 last '^/prompts  1 of '
ok "a match below the window comes into it" shows 'Prompts'
press n N g
ok "other keys move the text during a search" wait_until 30 last ' 1-19/'
press /
ok "/ asks anew during a search" wait_until 30 last '^/_'
press Escape
ok "Escape ends a search while it is typed" wait_until 30 last ' q quit '
press / z z z Enter
ok "a text that is not there is told as not found" wait_until 30 last '^/zzz  not found'
press /
ok "/ begins another search after one that found nothing" wait_until 30 last '^/_'
press Enter
ok "Enter without a text ends the search" wait_until 30 last ' q quit '
# A paste of what means harm.
press /
mux set-buffer "$(printf '#{pane_id}#(touch owned)\342\200\256\302\233x')"
mux paste-buffer -t keys
ok "a hostile paste is shown as it is" wait_until 30 last '#\{pane_id\}#\(touch owned\)\\u\{?202e'
press C-u n o Space p i n Enter
ok "^U removes what was typed" wait_until 30 last '^/no pin  1 of 1 line '
press Escape
wait_until 30 last ' q quit '
press / '#' '{' p a n e _ i d Enter
ok "hostile text is found as it stands there" wait_until 30 last '^/#\{pane_id  1 of 1 line '
press / '\' u '{' 2 0 2 e Enter
ok "hostile text is found in its visible form" wait_until 30 last '^/\\u\{202e  1 of 1 line '
not_ok "nothing of hostile text was obeyed" test -e owned
mux resize-window -t keys -x 30 -y 10
ok "a narrow window keeps the search" wait_until 30 last '^/\\u'
mux resize-window -t keys -x 100 -y 20

# --- the end

press C-c
ok "^C ends voice-state" wait_until 30 test -s after
is "$(cat status)" 130 "voice-state ends by the signal of ^C"
is "$(pane | tr -d '\n')" "" "voice-state leaves no line behind on the screen"
ok "the modes of the terminal are as they were before voice-state" cmp before after
exec 9>&-

mux kill-server
done_testing
