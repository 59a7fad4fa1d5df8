#!/bin/sh
# A screen that has nothing to show yet says at a terminal what stands there and what makes
# something; in a pipe nothing is said.
. "${0%/*}/../lib.sh"
# shellcheck source=../pincer.sh
. "${0%/*}/../pincer.sh"
needs python3 jq
[ -x "$root/bin/agent-serve" ] || skip_all "needs agent-serve"

# empty STATUS WORDS COMMAND...: what the command says of having nothing.
empty() {
  _wanted=$1
  _said=$2
  shift 2
  run python3 "$cli/terminal.py" 24x120 "$@"
  is "$status $(tr -d '\r' <"$out" | tail -n 1)" "$_wanted $1: $_said" \
    "at a terminal, '$*' says what makes something"
  run "$@"
  is "$status $(head -c 400 "$err")" "$_wanted " "in a pipe, '$*' says nothing more"
}

empty 1 'no file waits in the inbox: share-inbox add FILE puts one there' share-inbox list
empty 0 'no turns: turn-fold makes them of what agent-tail prints' turn-format /dev/null
printf '{"kind":"llm_call","createdAt":"2026-01-01T00:00:00Z"}\n' >"$tmp/day"
empty 0 'here stands what calls of models cost; -S 7d looks at the last week' \
  agent-cost -o table "$tmp/day"
for words in --week '-S 1h' '--last 1' '--until 2025-01-01'; do
  # shellcheck disable=SC2086  # words
  empty 0 'here stands what calls of models cost; there was none at the time that was asked for' \
    agent-cost -o table $words "$tmp/day"
done

serve_agent serve
AGENT_URL=$url
export AGENT_URL
empty 1 'no automations: the agent makes one when it is asked to do something later' \
  agent-call -g 1 automations
empty 1 'no actions: there is one for each thing that the agent does' agent-call actions
empty 1 'no facts yet: the agent keeps what it learns when people talk to it' mem-search -g 1 -f
empty 1 'no facts' mem-search -g 1 -f ferns
voice='there is one while the agent is in a voice channel: agent-call join lets it come to yours'
empty 0 "$voice" voice-state
empty 0 "$voice" voice-state history
run agent-call -q actions
is "$status $(cat "$out" "$err")" "1 " "With --quiet nothing is said."

start pulse python3 "$cli/terminal.py" agent-pulse
ok "agent-pulse says at a terminal that it waits for something." wait_until 30 \
  has "$tmp/pulse.out" '^agent-pulse: nothing so far: what the agent does appears here as it happens'
# One more at each look: what is posted before it listens is history.
shown() {
  curl -sS --data-binary '{"kind":"llm_call","content":"first words"}' "$url/api/actions" >/dev/null
  has "$tmp/pulse.out" 'llm_call.*first words'
}
ok "What happens then has its row." wait_until 30 shown
stop "$pid"

unset AGENT_URL
start_pincer pin
empty 1 'nothing waits for an answer: -w shows what the agent asks for' \
  agent-approve -p pin --max-time 20 -l
empty 0 'no conversations yet: agent-chat MESSAGE begins one' agent-chat -p pin --threads
empty 1 'no jobs: the agent begins one for work that takes longer' agent-call -p pin jobs
empty 1 'nothing waits to be sent: --queue of agent-chat and task add keeps it here when offline' \
  outbox -p pin list
done_testing
