#!/bin/sh
# The lists of an OpenClaw gateway, and any method of it.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs agent-call jq python3

start_gateway claw --token gw-secret
printf 'token-command = printf gw-secret\n' >>"$XDG_CONFIG_HOME/agentutils/config"
scopes() { frames claw connect | tail -n 1 | jq -c .scopes; }
terminal="python3 $cli/terminal.py"

t 0 "the agents are listed" agent-call -p claw agents
is "$(jq -r .id "$out" | xargs)" "heron stoat" "there is a row for each agent"
out_like '"identity":\{"name":"Grey Heron","emoji":"🪿"\}' \
  "the agents are printed as the gateway wrote them"
is "$(scopes)" '["operator.read"]' "reading is enough"
is "$(frames claw agents.list)" '{}' "the agents are asked for without a member too many"
run agent-call -p claw -o tsv -n 1 agents
is "$(cut -f 1 "$out")" heron "-n and -o tsv work for the agents, too"
# shellcheck disable=SC2086  # two words
run $terminal agent-call -p claw agents
like "$(tr -d '\r' <"$out")" '^heron +Grey Heron +🪿' "a terminal gets a table"
like "$(tr -d '\r' <"$out")" '^stoat +stoat' "an agent without a name has its id"

t 1 "the status is 1 without threads" agent-call -p claw threads
run agent-call -p claw models
is "$(jq -c . "$out")" '{"id":"small","provider":"here"}' "the models are listed"
run agent-call -p claw devices
is "$(jq -r .displayName "$out")" box "the devices are listed"
is "$(scopes)" '["operator.pairing"]' "the scope for devices is asked for, and no other"
run agent-call -p claw cron
is "$(jq -r .name "$out")" tides "what runs by the clock is listed"

t 0 "any method can be called" agent-call -p claw rpc health
out_is '{"ok":true}' "the answer of a method is printed"
run agent-call -p claw rpc chat.history -d '{"sessionKey":"agent:heron:main", "limit":5}'
is "$(jq -c .messages "$out")" '[]' "a method gets its parameters"
is "$(frames claw chat.history)" '{"sessionKey":"agent:heron:main","limit":5}' \
  "the parameters of a method are sent as they were given"
is "$(scopes)" '["operator.read"]' "a history is read"
t 0 "a method that needs more than its name suggests has status 0" \
  agent-call -p claw rpc sessions.delete -d '{"key":"agent:heron:gone"}'
is "$(jq -c . "$out")" '{"ok":true,"key":"agent:heron:gone","deleted":false}' \
  "a method that needs more than its name suggests is answered"
is "$(scopes)" '["operator.read","operator.write","operator.admin"]' \
  "a method that is refused is called again with the scope of the refusal"
t 2 "a method that there is not is an error" agent-call -p claw rpc no.such
err_is "agent-call: no.such: unknown method: no.such (INVALID_REQUEST)" \
  "the gateway's words are told"
is "$(scopes)" '["operator.read","operator.write"]' \
  "an unknown method is called with the scope for writing"
t 2 "parameters are an object" agent-call -p claw rpc health -d '[1]'
err_one_line agent-call "parameters that are not an object are told in one line"
t 2 "a method is needed" agent-call -p claw rpc
t 2 "a gateway has no guilds" agent-call -p claw guilds
err_like 'an OpenClaw gateway has no guilds; it has agents, threads, models, devices, cron, health, actions, audit, scopes, rpc' \
  "the message says what lists a gateway has"

tell claw mute models.list
t 75 "a gateway that does not answer in time has status 75" agent-call -p claw --max-time 0.5 models
err_like 'no whole answer in 0.5 s; see --max-time' "the message tells the time"
tell claw lose cron.list
lost() { run agent-call -p claw cron && false || [ "$status" -eq 75 ]; }
ok "a connection that goes before the answer may be tried again" wait_until 10 lost
t 0 "a connection that went before is made again" agent-call -p claw -v cron
err_like '^agent-call: cron.list at ' "-v tells what is asked"
tell claw door '{"error":{"type":"proxy_attribution_required","message":"no"}}'
t 2 "a proxy that the gateway does not trust has status 2" agent-call -p claw agents
err_like 'does not trust the proxy in front of it.*gateway.trustedProxies' \
  "a proxy that the gateway does not trust is told, and the remedy"
tell claw door
start_gateway poor --grant operator.write
t 77 "without the scope there is no list" agent-call -p poor agents
start_gateway shy --pair
t 77 "a device that is not paired gets no list" agent-call -p shy agents
err_like 'run on the gateway: openclaw devices approve pr-9' \
  "the message says how to pair the device"
not_ok "no secret is said" grep -q 'gw-secret' "$out" "$err"
done_testing
