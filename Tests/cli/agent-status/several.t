#!/bin/sh
# agent-status -p a,b: each agent with its name, and the worst status.
. "${0%/*}/../lib.sh"
[ -x "$root/bin/agent-serve" ] || skip_all "needs agent-serve"

TMPDIR=$tmp/tmp
mkdir "$TMPDIR"
export TMPDIR
serve_four
t 0 "-o small takes several" agent-status -o small -p b,a
# shellcheck disable=SC2016  # a dollar
out_is 'b         ● connected  $0.00 today
a         ● connected  $0.00 today' "each agent has a line, in their order"
t 0 "what the environment says of one is not said of all" \
  env AGENT_URL=http://127.0.0.1:9 AGENT_TOKEN_FILE="$tmp/wrong" agent-status -o small -p a,b
t 77 "the worst status of three agents counts" agent-status -o small -p wrong,a,down
out_like '^wrong     ○ refused: ' "an agent that refuses is told"
out_like '^a         ● connected' "an agent that is there is told beside others"
out_like '^down      ○ unreachable: ' "an agent that is not there is told"
t 75 "the worst status of two agents counts" agent-status -o small --max-time 5 -p down,a
t 2 "an unknown profile is an error" agent-status -o small -p nobody,a
err_like '^agent-status: nobody: profile nobody: not in ' "the unknown profile is named"
out_like '^a         ● connected' "the agent beside an unknown profile is shown"
printf '[profile mac]\nkind = riff\nurl = http://127.0.0.1:9\n' >>"$XDG_CONFIG_HOME/agentutils/config"
run agent-status -p mac,a
err_is "agent-status: mac: this version of agent-status does not speak to a riff voice server" \
  "another kind of agent is named once"
run agent-status -p a,b
is "$(grep '^[ab]$\|^$' "$out" | tr '\n' ' ')" "a  b " \
  "-o medium has a block for each, below the name"
run agent-status -o tmux -p a,b
is "$(lines "$out") $(grep -o '#\[default\] [ab] ' "$out" | xargs)" "1 #[default] a #[default] b" \
  "-o tmux has one line"
for words in "-o waybar -p a,b" "-o i3 -p a,b" "-p a,b --token-file x" "-p a,,b"; do
  # shellcheck disable=SC2086
  t 2 "agent-status $words is refused" agent-status $words
  out_empty "nothing is printed: $words"
done
# A name is text from outside: nothing of it is for the terminal to obey.
odd=$(printf 'a\302\233b\342\200\256c\377')
for form in small medium large tmux waybar i3; do
  run agent-status -o "$form" -p "$odd"
  unlike "$(LC_ALL=C od -An -v -tx1 "$out" "$err" | tr -d ' \n')" 'c29b|e280ae|63ff' \
    "$form: an odd name alone is harmless"
  case $form in waybar | i3) continue ;; esac
  run agent-status -o "$form" -p "$odd,a"
  unlike "$(LC_ALL=C od -An -v -tx1 "$out" "$err" | tr -d ' \n')" 'c29b|e280ae|63ff' \
    "$form: an odd name beside another is harmless"
done
mkdir "$tmp/relative"
run sh -c 'cd "$1" && XDG_STATE_HOME=here agent-status -p a' - "$tmp/relative"
is "$status $(ls -A "$tmp/relative")" "0 " "a relative XDG_STATE_HOME counts for nothing"
is "$(ls -A "$TMPDIR")" "" "nothing is left in TMPDIR"
done_testing
