#!/bin/sh
# The command line of agent-chat: what does not go together.
. "${0%/*}/../lib.sh"
needs agent-chat python3

bad() { # TITLE ARG...
  _why=$1
  shift
  t 2 "$_why" agent-chat "$@" </dev/null
  is "$(sed -n 2p "$err" | cut -c 1-17)" "usage: agent-chat" "$_why: the usage is shown"
}
bad "two things at once" --agents --threads
bad "a list and a message" --agents hello
bad "a list and -i" --history -i
bad "a count of nothing" -n 3 hello
bad "no count at all" --history -n 0
bad "more than a gateway tells" --history -n 1001
bad "a key without a message" --agents --key k
bad "a file without a message" --history --attach f
bad "audio without a message" --threads --speak f
bad "no form of that name" -o xml hello
bad "no agent" -a '' hello
bad "no thread" -t '' hello
bad "a thread of two lines" -t "$(printf 'a\nb')" hello
bad "a thread that a terminal obeys" -t "$(printf 'a\033[2J')" hello
unlike "$(cat "$err")" "$(printf '\033')" "which is not shown to it"
bad "a thread without end" -t "$(printf 'x%.0s' $(seq 513))" hello
bad "an agent that rings" -a "$(printf '\007')" hello
bad "an agent of all agents" --agents -a heron
bad "a thread of all threads" --threads -t main
bad "an empty message" ''
bad "-i without a terminal" -i
bad "-i with records" -i -o json
bad "-i with a time" -i --max-time 1
bad "-i with standard input" -i -
bad "one standard input for two" --token-file - -
t 2 "a terminal as standard input is not read" python3 "$cli/terminal.py" agent-chat
out_like 'nothing to say: give words, or -i to talk' "is not waited for"

t 2 "an agent must be named" agent-chat hello
err_is "agent-chat: no url: run agent-setup, or set AGENT_URL; see agentutils.conf(5)" "is what is missing"

# The link.
printf '[profile far]\nkind = openclaw\nurl = ws://gateway.invalid:1\n' \
  >"$XDG_CONFIG_HOME/agentutils/config"
t 2 "nothing is said in clear text to another machine" agent-chat -p far hello
err_like 'clear text; see --allow-plaintext$' "unless one wants that"
t 75 "--allow-plaintext: one wants that" \
  agent-chat --allow-plaintext --quiet --max-retries 0 -p far hello
is "$(lines "$err")" 1 "--quiet: without a word but why it failed"
t 2 "the thread of another agent is refused" \
  agent-chat --allow-plaintext -p far -a stoat -t agent:heron:main hello
err_is "agent-chat: ws://gateway.invalid:1/: the thread agent:heron:main is of the agent heron, not of stoat" \
  "the message names both agents"
t 2 "its history is not read, either" \
  agent-chat --allow-plaintext -p far -a stoat -t agent:heron:main --history
t 2 "authorities that are not there" agent-chat --cacert "$tmp/none" -p far hello
err_is "agent-chat: $tmp/none: no such file or directory" "the missing file is named"

# --- a token that does not come
bound=20
printf '[profile hung]\nkind = openclaw\nurl = ws://127.0.0.1:1\ntoken-command = exec sleep 1000\n' \
  >"$XDG_CONFIG_HOME/agentutils/config"
t 75 "is waited for as long as one wants" agent-chat -p hung --max-time 0.5 hello
err_one_line agent-chat "and that is told"
done_testing
