#!/bin/sh
# agent-approve and agent-chat with a gateway as of autumn 2026: what a device sees, who was first, how
# what nobody answered ends, and scopes that a person has to grant.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs agent-approve agent-chat jq python3
bound=60

start_gateway claw --approvals late
approve() { run agent-approve -p claw --retry-wait 0.1 "$@"; }
unseen='agent-approve: only what runs of this device ask is seen: --all shows what the TUI, the clock'
unseen="$unseen and other devices ask, for which the gateway grants operator.admin"

# --- what is seen

tell claw ask mine '{"command":"make","runId":"r1","toolCallId":"t1","sessionKey":"agent:heron:main"}'
tell claw foreign theirs '{"command":"uname -s"}'
approve -l
is "$status $(jq -r .id "$out")" "0 mine" "what runs of this device ask is listed"
err_is "$unseen" "-l says that there may be more to see"
is "$(jq -r '[.thread, .turn, .tool_call] | join(" ")' "$out")" "agent:heron:main r1 t1" \
  "an approval says its thread, its turn and its call"
approve -l --all
is "$status $(jq -r .id "$out" | tr '\n' ' ')" "0 mine theirs " "--all lists what others ask"
err_empty "nothing is said when --all sees everything"
approve -l
is "$status $(jq -r .id "$out" | tr '\n' ' ')" "0 mine theirs " \
  "what the gateway has granted once is used again"
err_empty "nothing is said when a granted scope is used again"
approve --approve theirs
status_is 0 "what others ask is answered, too"

# --- who was first

tell claw resolve mine deny
approve --approve mine -o json
is "$status $(jq -r '.result' "$out")" "1 late" "a second answer is late"
like "$(jq -r .reason "$out")" '^it was answered: deny( .by device dddddddddddd.)?$' \
  "a late answer hears what the first was"
tell claw ask a2 '{"command":"make"}'
tell claw settle a2 allow-once
approve --deny a2 -o json
is "$(jq -r .reason "$out")" 'it was answered: allow-once (by device dddddddddddd)' \
  "a late answer hears who gave the first"

# --- how it ends

start watch agent-approve -p claw -w
watch=$pid
for id in e1 e2 e3; do tell claw ask "$id" '{"command":"make"}'; done
wait_until 20 has "$tmp/watch.out" '"id":"e3"'
tell claw lapse e1
tell claw over e2
tell claw resolve e3 deny
wait_until 20 has "$tmp/watch.out" '"state":"rejected"'
stop "$watch"
is "$(jq -r 'select(.state != "pending") | [.id, .state, .decision // "-", .reason // "-"] | join(" ")' "$tmp/watch.out")" \
  'e1 expired - deny
e2 cancelled - its run was ended
e3 rejected deny -' "a deny by nobody is an end by time, and the end of a run has its own word"

# --- scopes

start_gateway poor --grant operator.read,operator.write
run agent-chat -p poor hello
is "$status $(cat "$out")" "0 You said: hello" "a turn begins without the right to ask for approval"
err_is "agent-chat: the gateway does not grant operator.approvals; what needs approval fails in the turns that are begun here" \
  "what fails without that right is told once"
start_gateway half --approved operator.read,operator.write
run agent-chat -p half hello
is "$status $(cat "$out")" "0 You said: hello" \
  "a turn begins where a person would have to grant the right first"
err_like 'operator.approvals: this device wants more than it was approved for: run on the gateway: openclaw devices approve pr-11;' \
  "the person who would grant the right is told how"
run agent-approve -p half -l
is "$status" 77 "approvals cannot be seen without operator.approvals"
start_gateway most --approvals late --approved operator.read,operator.write,operator.approvals
run agent-approve -p most -l --all
is "$status" 77 "approvals of others cannot be seen without the administrator's right"
err_like 'openclaw devices approve pr-11$' "how to grant the administrator's right is told"
# In a pipe.
start_gateway shy --pair --approvals late
start shy agent-approve -p shy -w --retry-wait 0.1
ok "a device that waits to be let in is told so in a pipe, too" \
  wait_until 20 has "$tmp/shy.err" 'openclaw devices approve pr-9; waiting until somebody has done that'
tell shy pair
wait_until 20 came_frames shy exec.approval.list 1
is "$(grep -c 'openclaw devices approve' "$tmp/shy.err")" 1 \
  "a device that waits to be let in is told so once"
stop "$pid"
done_testing
