#!/bin/sh
# The lists of the real gateway: what was spent, how it is, what it noted, and titles; and what its
# own command says of ours.
. "${0%/*}/lib.sh"
needs agent-call agent-chat agent-cost agent-status jq
bound=600
# Process numbers of a box come again, and its conversations stay.
run=$run-$(date +%s)

say() { agent-chat -p claw --max-time 120 "$@" >/dev/null; }
ok "one conversation is answered" say -t "$run-a" "say one"
ok "another one, of another agent, is answered" say -a stoat -t "$run-b" "say two"

spent() { agent-call -p claw -S today actions 2>"$tmp/usage.err" >"$tmp/usage"; }
counted() { spent && [ "$(grep -c "$run" "$tmp/usage")" -eq 2 ]; }
# What it counted is kept for half a minute.
ok "what they cost is counted" wait_until 120 counted
of() { jq -c "select(.metadata.sessionId == \"$1\") | $2" "$tmp/usage"; }
is "$(of "agent:main:$run-a" '[.kind,.metadata.agent,.metadata.model,.metadata.usage.outputTokens]')" \
  '["usage","main","tide-1",40]' "a row tells conversation, agent and model"
raw_total() {
  as_box -q sessions.usage "{\"agentScope\":\"all\",\"startDate\":\"$1\",\"endDate\":\"$1\",\"limit\":1000}" |
    jq 'select(.m.type == "res" and .m.payload.totals) | .m.payload.totals.totalCost'
}
t 0 "agent-cost counts it" agent-cost -p claw -S "$(date -u +%Y-%m-%dT00:00:00Z)" -o json --by thread,agent
is "$(tail -n 1 "$out" | jq '.usd_cost * 1e7 | round')" \
  "$(raw_total "$(date -u +%Y-%m-%d)" | jq '. * 1e7 | round')" "it counts as much as the gateway"
is "$(jq -c "select(.thread == \"agent:stoat:$run-b\") | [.agent, .count, .output_tokens]" "$out")" \
  '["stoat",1,40]' "it tells where"

t 0 "agent-status has status 0" agent-status -p claw -o large
out_like '^gateway +healthy, version 20[0-9.]*, up [0-9]+[smhd]' "the version and the time since the start are told"
out_like '^main +healthy, [0-9]+ conversations?, idle$' "each agent has a line"
say -t "$run-c" "slow 15" &
busy() { agent-status -p claw -o large | grep -q "^main .*at work:.* $run-c"; }
ok "a conversation at work is named" wait_until 30 busy
wait

t 0 "audit lists the notes" agent-call -p claw -n 1000 audit
is "$(jq -r "select(.sessionKey == \"agent:main:$run-a\") | .action + \" \" + .status" "$out" | xargs)" \
  "agent.run.finished succeeded agent.run.started started" "the newest comes first"
is "$(jq -r .sequence "$out" | sort -rnu | xargs)" "$(jq -r .sequence "$out" | xargs)" "each is there once"
t 0 "two notes may be asked for" agent-call -p claw -n 2 audit
is "$(lines "$out")" 2 "-n prints so many"

as_box -q sessions.create "{\"key\":\"agent:main:$run-d\",\"label\":\"Harbour $run\"}" >/dev/null
t 0 "the conversations are listed" agent-chat -p claw --threads
is "$(grep "^agent:main:$run-d" "$out" | cut -f 2)" "Harbour $run" "they have their titles"
set --
for n in $(seq 110); do set -- "$@" sessions.create "{\"key\":\"agent:main:$run-many$n\"}"; done
as_box -q "$@" >/dev/null
is "$(agent-chat -p claw --threads | grep -c "^agent:main:$run-many")" 110 "more than a hundred are all there"
t 0 "agent-status counts so many" agent-status -p claw -o large
out_like '^stoat +healthy, [1-9][0-9]* conversations?, idle$' "it counts those of all agents"

start_server door agent-serve -D :memory: -l 127.0.0.1:0 --gateway 0 --reply-command cat
door=$(jq -r 'select(.type == "gateway") | .url' "$tmp/door.out")
run openclaw gateway probe --url "$door" --token none --json
is "$(jq -c '.targets[] | select(.id == "explicit") | [.connect.rpcOk, .connect.error, .config.valid]' "$out")" \
  '[true,null,true]' "openclaw gateway probe reads all that it wants of agent-serve"
is "$(jq -c '.warnings[] | select(.targetIds == ["explicit"])' "$out")" "" "the probe warns of nothing"
done_testing
