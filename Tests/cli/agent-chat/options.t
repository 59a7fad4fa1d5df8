#!/bin/sh
# The command line of agent-chat: what does not go together.
. "${0%/*}/../lib.sh"
needs agent-chat python3

bad() { # TITLE ARG...
  _why=$1
  shift
  t 2 "agent-chat refuses $_why" agent-chat "$@" </dev/null
  is "$(sed -n 2p "$err" | cut -c 1-17)" "usage: agent-chat" "agent-chat shows its usage for $_why"
}
bad "two things at once" --agents --threads
bad "a list and a message" --agents hello
bad "a list and -i" --history -i
bad "a count without a history" -n 3 hello
bad "a count of 0" --history -n 0
bad "a count above 1000" --history -n 1001
bad "a key without a message" --agents --key k
bad "a file without a message" --history --attach f
bad "audio without a message" --threads --speak f
bad "an unknown form" -o xml hello
bad "an empty agent" -a '' hello
bad "an empty thread" -t '' hello
bad "a thread of two lines" -t "$(printf 'a\nb')" hello
bad "a thread that a terminal obeys" -t "$(printf 'a\033[2J')" hello
unlike "$(cat "$err")" "$(printf '\033')" "the thread that a terminal obeys is not shown to it"
bad "a thread without end" -t "$(printf 'x%.0s' $(seq 513))" hello
bad "an agent that rings" -a "$(printf '\007')" hello
bad "an agent of all agents" --agents -a heron
bad "a thread of all threads" --threads -t main
bad "an empty message" ''
bad "-i without a terminal" -i
bad "-i with records" -i -o json
bad "-i with a time" -i --max-time 1
bad "-i with standard input" -i -
bad "one standard input for two things" --token-file - -
t 2 "a terminal as standard input is not read" python3 "$cli/terminal.py" agent-chat
out_like 'nothing to say: give words, or -i to talk' \
  "a terminal as standard input is told what to do"

t 2 "an agent must be named" agent-chat hello
err_is "agent-chat: no url: run agent-setup, or set AGENT_URL; see agentutils.conf(5)" \
  "the message says that no agent is named"

# The link.
printf '[profile far]\nkind = openclaw\nurl = ws://gateway.invalid:1\n' \
  >"$XDG_CONFIG_HOME/agentutils/config"
t 2 "nothing is said in clear text to another machine" agent-chat -p far hello
err_like 'clear text; see --allow-plaintext$' "the message says how to send in clear text"
t 75 "--allow-plaintext lets words go to another machine" \
  agent-chat --allow-plaintext --quiet --max-retries 0 -p far hello
is "$(lines "$err")" 1 "--quiet says nothing but why it failed"
t 2 "the thread of another agent is refused" \
  agent-chat --allow-plaintext -p far -a stoat -t agent:heron:main hello
err_is "agent-chat: ws://gateway.invalid:1/: the thread agent:heron:main is of the agent heron, not of stoat" \
  "the message names both agents"
t 2 "the history of another agent's thread is refused, too" \
  agent-chat --allow-plaintext -p far -a stoat -t agent:heron:main --history
t 2 "--cacert refuses a file that is not there" agent-chat --cacert "$tmp/none" -p far hello
err_is "agent-chat: $tmp/none: no such file or directory" "the missing file is named"

# --- a token that does not come
bound=20
printf '[profile hung]\nkind = openclaw\nurl = ws://127.0.0.1:1\ntoken-command = exec sleep 1000\n' \
  >"$XDG_CONFIG_HOME/agentutils/config"
t 75 "a token is waited for as long as --max-time" agent-chat -p hung --max-time 0.5 hello
err_one_line agent-chat "a token that does not come is told in one line"
done_testing
