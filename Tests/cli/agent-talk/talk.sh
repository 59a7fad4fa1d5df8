# shellcheck shell=sh disable=SC2154
# talk.sh: for the tests of agent-talk: a session here, a microphone. After lib.sh and ssh.sh.
#
#   talk NAME WORD...      somebody at a terminal with agent-talk; orders: see clients/seat.py
#   says WORDS             what the recogniser of $hears hears in any clip
#   typed_text TEXT        the session shows it behind its prompt
#   nothing_left           neither a clip nor a note that somebody records
#   $speaks                a recorder that hears $tmp/loud.wav, two seconds of a tone
needs agent-talk clip-transcribe tmux-attach tmux python3 jq

mkdir -m 700 "$tmp/sessions" "$tmp/scratch"
# shellcheck disable=SC2034  # of ssh.sh
remote_tmp=$tmp/sessions remote_home=$HOME
TMUX_TMPDIR=$remote_tmp SHELL=/bin/sh PS1='prompt> '
export TMUX_TMPDIR SHELL PS1
at_end="$at_end end_here"
end_here() { end_tmux "$remote_tmp"; }
rtmux new-session -d -x 200 -y 50 -s riff 'exec sh'
session_shows() { rtmux capture-pane -p -t =riff: | grep -Fq -e "$1"; }
wait_until 20 session_shows 'prompt>' || bail "no prompt"

python3 - "$tmp/loud.wav" <<'END'
import math, struct, sys, wave
with wave.open(sys.argv[1], "wb") as clip:
    clip.setparams((1, 2, 16000, 0, "NONE", ""))
    clip.writeframes(b"".join(struct.pack("<h", int(32767 * math.sin(i / 5))) for i in range(32000)))
END
# shellcheck disable=SC2034  # read by the tests
speaks="exec python3 '$cli/clients/microphone.py' '$tmp/loud.wav'"
# shellcheck disable=SC2034
hears="cat '$tmp/says'"
says() { printf '%s\n' "$1" >"$tmp/says"; }
typed_text() { session_shows "prompt> $1"; }
talk() {
  _talker=$1
  shift
  TMPDIR=$tmp/scratch sit "$_talker" 24x80 agent-talk "$@"
}
# shellcheck disable=SC2034
recording=$XDG_STATE_HOME/agentutils/recording
nothing_left() { [ -z "$(ls -A "$tmp/scratch")" ] && [ ! -e "$recording" ]; }
clear_prompt() {
  rtmux send-keys -t =riff: C-u
  rtmux send-keys -t =riff: -l clear
  rtmux send-keys -t =riff: Enter
  wait_until 20 session_empty
}
session_empty() { [ "$(rtmux capture-pane -p -t =riff: | grep .)" = "prompt>" ]; }
