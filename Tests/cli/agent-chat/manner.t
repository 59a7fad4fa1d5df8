#!/bin/sh
# How a gateway is to answer: what becomes of words that come while it is at work, its model, how much
# it thinks, and in which conversation.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs agent-chat jq python3
bound=60

start_gateway claw
chat() { run agent-chat -p claw --retry-wait 0.1 "$@"; }
patched() { frames claw sessions.patch | tail -n 1; }
said() { frames claw chat.send | tail -n 1; }
count() { frames claw chat.send | wc -l | tr -d ' '; }

chat hello
is "$(frames claw sessions.patch)" "" "no conversation is changed unasked"
is "$(said | jq 'has("queueMode")')" false "no queue mode is said unasked"

# --- the model, and how much it thinks

chat --model tides/tide-1 hello
is "$status $(cat "$out")" "0 You said: hello" "a model that is asked for answers"
is "$(patched)" '{"key":"agent:heron:main","model":"tides/tide-1"}' "the conversation is told the model first"
chat -t side --thinking high --model tides/tide-2 hello
is "$status $(patched)" '0 {"key":"agent:heron:side","model":"tides/tide-2","thinkingLevel":"high"}' \
  "model and level are said in one request"
before=$(count)
chat --thinking enormous hello
is "$status $(count)" "2 $before" "a level that is none is an error, and nothing is sent"
err_like 'invalid thinkingLevel .use off\|minimal\|low\|medium\|high.' "the level is refused in the gateway's words"
chat --model nope/x hello
is "$status $(count)" "2 $before" "a model that is none is an error, and nothing is sent"
err_like 'Unknown provider "nope"' "the model is refused in the gateway's words"
tell claw cut sessions.patch
chat --model tides/tide-1 again and again
is "$status $(cat "$out")" "0 You said: again and again" "a connection that is lost meanwhile is taken up"
is "$(count)" "$((before + 1))" "the words are sent once behind a lost connection"
start_gateway old --old
run agent-chat -p old --model tides/tide-1 hello
is "$status $(frames old chat.send)" "2 " "an old gateway has no choice of models"
err_like 'too old for --model and --thinking$' "that a gateway is too old is said"

# --- words that come while it is at work

for mode in steer followup collect; do
  start first agent-chat -p claw -t "$mode" "slow 6 0.2"
  first=$pid
  began() { frames claw chat.send | grep -q "agent:heron:$mode"; }
  wait_until 20 began
  chat -t "$mode" --busy "$mode" and high water
  is "$status $(cat "$out")" "0 Also: and high water" \
    "$mode: the answer is found in a busy conversation"
  is "$(said | jq -r .queueMode)" "$mode" "$mode: the gateway is told what to do with the words"
  wait "$first"
done
start first agent-chat -p claw -t cut "slow 500 0.2"
first=$pid
began() { frames claw chat.send | grep -q agent:heron:cut; }
wait_until 20 began
chat -t cut --busy interrupt and high water
is "$status $(cat "$out")" "0 You said: and high water" \
  "interrupt: the words that interrupt are answered"
status=0
wait "$first" || status=$?
is "$status" 1 "interrupt: what was at work is ended"
before=$(count)
chat --busy never hello
is "$status $(count)" "2 $before" "another mode is wrong usage"

# --- a new conversation

chat --new -v --key k1 hello
is "$status $(said | jq -r .sessionKey)" "0 agent:heron:chat-k1" "a new conversation is begun"
err_like '^agent-chat: a new conversation: agent:heron:chat-k1$' "the name of a new conversation is told"
chat --new -o json hello
name=$(jq -r 'select(.type == "thread").id' "$out")
is "$name" "$(said | jq -r .sessionKey)" "the name is told as a record as well"
like "$name" '^agent:heron:chat-[0-9a-f-]{36}$' "no other conversation has that name"
chat -t "$name" and on
is "$(said | jq -r .sessionKey)" "$name" "one goes on with a conversation by its name"
chat --new -a stoat hello
like "$(said | jq -r .sessionKey)" '^agent:stoat:chat-' "an agent that is named has the new conversation"
TERM=xterm
export TERM
run python3 "$cli/talk.py" agent-chat -p claw -i --new --color never <<'END'
> |one
You said: one|-
> |two
You said: two|-
> |^D
END
is "$(frames claw chat.send | tail -n 2 | jq -r .sessionKey | uniq | wc -l | tr -d ' ')" 1 "-i stays in the conversation that it has begun"
like "$(frames claw chat.send | tail -n 1 | jq -r .sessionKey)" '^agent:heron:chat-' "-i begins a conversation of its own"
chat --new -t side hello
err_like 'agent-chat: --new and --thread exclude each other' "a conversation that is there is not new"

. "${0%/*}/../pincer.sh"
start_pincer pin
run agent-chat -p pin --new -v hello
is "$status $(cat "$out")" "0 You said: hello" "a Pincer server makes a new conversation anyway"
err_like '^agent-chat: a new conversation: ' "the name of a Pincer server's conversation is told"

# --- who cannot be told

start_server claudio python3 "$cli/servers/claudio.py"
printf '[profile claudio]\nkind = openclaw\nurl = %s\n' "$url" >>"$XDG_CONFIG_HOME/agentutils/config"
for words in "--busy steer" "--model x" "--thinking high" --new; do
  # shellcheck disable=SC2086  # an option and its argument
  run agent-chat -p claudio $words hello
  is "$status $(wc -l <"$err" | tr -d ' ')" "2 1" "${words%% *} is nothing for another server"
  err_is "agent-chat: ${words%% *}: ${url}/ cannot be told that" "${words%% *} is named in the reason"
  # shellcheck disable=SC2086
  run agent-chat -p claw $words --history
  err_like "${words%% *} is for a message, not for --history" "${words%% *} is for a message"
  # shellcheck disable=SC2086
  run agent-chat -p claw $words --queue hello
  err_like "${words%% *} and --queue exclude each other" "${words%% *} is not kept"
done
done_testing
