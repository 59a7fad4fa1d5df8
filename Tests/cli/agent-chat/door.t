#!/bin/sh
# The way into a gateway and out of it: challenges, tokens that are not taken any more,
# ticks that fail, what a run is known to have come to.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs agent-chat agent-approve agent-call agent-tail jq python3

config=$XDG_CONFIG_HOME/agentutils/config
auths() { frames "$1" connect | tail -n "$2" | jq -c '.auth // {} | keys' | tr '\n' ' '; }

# A token of the profile that the gateway does not take, beside one of the device that it does.
start_gateway claw --token gw-secret
printf 'token-command = printf gw-secret\n' >>"$config"
run agent-chat -p claw hello
is "$status $(cat "$out")" "0 You said: hello" "the profile's token lets it in"
sed -i.old 's/printf gw-secret/printf gw-old/' "$config"
run agent-chat -p claw hello
is "$status $(cat "$out")" "0 You said: hello" \
  "the device's own token lets it in beside an old one of the profile"
is "$(auths claw 2)" '["deviceToken","token"] ["deviceToken","token"] ' \
  "the device's own token is shown alone, then"
is "$(frames claw connect | tail -n 1 | jq '.auth.token == .auth.deviceToken')" true \
  "the token that is shown is the token that is signed"
t 0 "one question has its answer in the same run" agent-call -p claw agents

# One that is good, but not for what is wanted.
sed -i.old '/printf gw-/d' "$config"
t 77 "more than the device's token allows has status 77" agent-approve -p claw -l
err_like 'AUTH_SCOPE_MISMATCH' "more than the device's token allows is told so"
t 0 "the device's token is kept for who wants less" agent-call -p claw agents
printf 'token-command = printf gw-old\n' >>"$config"

# And one of the device that is not taken any more.
tokens=$(find "$XDG_STATE_HOME/agentutils/openclaw" -name 'tokens-*')
sed -i.old 's/"dt-[^"]*"/"dt-gone"/g' "$tokens"
t 77 "two tokens that are not good have status 77" agent-call -p claw agents
err_like 'AUTH_TOKEN_MISMATCH' "the message says that no token is good"
sed -i.old '/gw-old/d' "$config"
t 77 "the device's token alone is not good, either" agent-call -p claw agents
err_like 'AUTH_TOKEN_MISSING' "the device's token is not shown again"
unlike "$(cat "$tokens")" 'dt-gone' "the token is forgotten"
printf 'token-command = printf gw-secret\n' >>"$config"
t 0 "the profile's token is enough" agent-call -p claw agents

# Only the first challenge counts.
start_gateway thrice --thrice
run agent-chat -p thrice hello
is "$status $(cat "$out")" "0 You said: hello" "a challenge that is repeated does no harm"
is "$(frames thrice connect | wc -l | tr -d ' ')" 1 "challenges that are repeated are answered once"

# What fails ticks is left with the code for it.
start_gateway quiet --tick 200
start silent agent-tail -p quiet -L --retry-wait 0.1
wait_until 20 has "$tmp/silent.out" '"type":"open"'
tell quiet hush
wait_until 20 has "$tmp/silent.out" 'nothing came for 0.4 s'
ok "silence is told with the code 4000" wait_until 5 has "$tmp/quiet.log.closed" 4000
stop "$pid"
is "$(sort -u "$tmp/thrice.log.closed")" 1000 "a connection that ends well is closed with 1000"

# An end without words takes none back, and a run that failed is known by its key.
run agent-chat -p thrice blank
is "$status $(cat "$out")" "0 Said before" "an empty end keeps the text"
run agent-chat -p thrice --key k-1 fail
is "$status" 1 "a run that fails has status 1"
run agent-chat -p thrice --key k-1 fail
is "$status" 1 "a run that failed has status 1 when it is asked for again"
err_is "agent-chat: the agent failed: rate_limit: it had failed" \
  "a run that failed has the reason that was kept"

done_testing
