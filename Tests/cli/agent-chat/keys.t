#!/bin/sh
# The conversations of an OpenClaw gateway, however somebody writes their keys.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs agent-chat agent-tail agent-serve jq python3

heard() { wait_until 20 has "$tmp/$1.out" "\"text\":\"$2\""; }

start_gateway claw
start tail agent-tail -p claw '  WORK'
ok "a conversation is followed" wait_until 20 came_frames claw sessions.messages.subscribe 1
for thread in Work WORK agent:Heron:work ' Agent:HERON:Work '; do
  t 0 "a message to '$thread' is answered" agent-chat -p claw -t "$thread" "say from $thread"
done
is "$(frames claw chat.send | jq -r .sessionKey | sort -u)" agent:heron:work \
  "one thread is meant by all spellings of its key"
is "$(agent-chat -p claw --threads | cut -f 1)" agent:heron:work \
  "one thread is listed for all spellings of its key"
all_heard() { [ "$(grep -c '"state":"final"' "$tmp/tail.out")" -eq 4 ]; }
ok "the messages of all spellings come to who follows the thread" wait_until 20 all_heard
run agent-chat -p claw -t MAIN hello
run agent-chat -p claw -a Heron hello
is "$(frames claw chat.send | tail -n 2 | jq -r .sessionKey | sort -u)" agent:heron:main \
  "MAIN is the main conversation of the agent"
run agent-chat -p claw -a 'Sea Stoat!' -t x hello
is "$(frames claw chat.send | tail -n 1 | jq -r .sessionKey)" agent:sea-stoat:x "an agent's name is an id"
t 0 "an agent's own conversation is taken with its agent" \
  agent-chat -p claw -a heron -t Agent:Heron:y hello
run agent-chat -p claw -a stoat -t Agent:Heron:y hello
not_ok "another agent's conversation is not taken" test "$status" -eq 0
run agent-chat -p claw -t 'signal:group:AbC=' hello
is "$(frames claw chat.send | tail -n 1 | jq -r .sessionKey)" 'agent:heron:signal:group:AbC=' \
  "the ids of groups stay as they are in a key"
stop "$pid" 2>/dev/null

start_gateway global --scope global --main-key harbour
start all agent-tail -p global Harbour
wait_until 20 came_frames global sessions.messages.subscribe 1
t 0 "a message to the one main conversation of all agents is answered" \
  agent-chat -p global -t main "say for all"
is "$(frames global chat.send | jq -r .sessionKey)" global \
  "the one main conversation of all agents is meant by main"
ok "the one main conversation of all agents is followed, too" \
  wait_until 20 has "$tmp/all.out" '"state":"final"'
start_gateway named --main-key harbour
start named agent-tail -p named main
wait_until 20 came_frames named sessions.messages.subscribe 1
run agent-chat -p named -t HARBOUR hello
is "$(frames named chat.send | jq -r .sessionKey)" agent:heron:harbour \
  "a main conversation may have a name of its own"
ok "a main conversation with a name is followed by main" \
  wait_until 20 has "$tmp/named.out" '"state":"final"'
done_testing
