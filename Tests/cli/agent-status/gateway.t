#!/bin/sh
# agent-status of an OpenClaw gateway: what is at work, who waits, what is wrong.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs agent-call agent-chat jq python3

start_gateway claw
sed -n 3p "$root/Tests/fixtures/recorded/openclaw-lists.ndjson" |
  jq -c '.payload | .agents[0].agentId = "heron"' >"$tmp/health"
tell claw answers health "$tmp/health"
show() { run agent-status -p claw "$@"; }

show
status_is 0 "a gateway that is well has status 0"
out_is "● healthy" "a gateway that is well is told in a line"
err_empty "nothing is said of a gateway that is well"
show -o large
out_like '^gateway +healthy, version 2026.9.6, up [0-9]+s$' \
  "-o large tells the version and the time since the start"
out_like '^heron +healthy, 5 conversations, idle$' "-o large has a line for an agent"
out_like '^stoat +healthy, 1 conversation, idle$' "-o large has a line for the other agent"

talk() {
  _talk=$1
  shift
  start "$_talk" agent-chat -p claw "$@"
}
talk one -t notes forever
one=$pid
talk two -t tides forever
two=$pid
at_work() { agent-status -p claw -o large | grep -q "^heron .*, at work: $1\$"; }
ok "what is at work is named" wait_until 20 at_work "notes tides"
tell claw ask ap-1 '{"command":"make","sessionKey":"agent:heron:tides"}'
show -o large
out_like '^heron +healthy, 5 conversations, waiting for a person: tides, at work: notes$' "what waits for a person is named"
talk three -t a forever
three=$pid
talk four -t b forever
four=$pid
talk five -t c forever
five=$pid
ok "no more than three conversations at work are named" wait_until 20 at_work "a b c and 1 more"
for each in $one $two $three $four $five; do stop "$each" INT; done
ok "an agent that has ended is idle" wait_until 20 sh -c 'agent-status -p claw -o large | grep -q "^heron .* idle\$"'

jq -c '.channels = {"telegram":{"configured":true,"probe":{"ok":false,"error":"401\u001b[31m"}}}' \
  "$tmp/health" >"$tmp/ill"
tell claw answers health "$tmp/ill"
show
status_is 1 "a channel that does not answer gives status 1"
out_is '◐ degraded: telegram
telegram degraded, 401\e[31m' \
  "a channel that does not answer is told, and nothing reaches the terminal"
show -o waybar
is "$(jq -c '[.alt, .class]' "$out")" '["degraded",["degraded"]]' "-o waybar has the state"
show -o tmux
out_is '#[fg=#d97706]◐#[default] claw telegram' "-o tmux names the channel"
tell claw door '{"error":{"type":"down"}}'
t 75 "a gateway that is away gives status 75" agent-status -p claw -o small
out_like '^○ down' "a gateway that is away is down"
start_gateway shy --pair
t 77 "a device that is not let in gives status 77" agent-status -p shy -o small
out_is '○ refused' "a device that is not let in is refused"
done_testing
