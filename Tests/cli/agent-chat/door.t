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
is "$status $(cat "$out")" "0 You said: hello" "with an old one the device's own does"
is "$(auths claw 2)" '["deviceToken","token"] ["deviceToken","token"] ' "which is shown alone, then"
is "$(frames claw connect | tail -n 1 | jq '.auth.token == .auth.deviceToken')" true \
  "as the token that is signed"
t 0 "one question has its answer in the same run" agent-call -p claw agents

# One that is good, but not for what is wanted.
sed -i.old '/printf gw-/d' "$config"
t 77 "more than the device's token allows" agent-approve -p claw -l
err_like 'AUTH_SCOPE_MISMATCH' "is said so, whatever is said of doing without"
t 0 "and it is kept for who wants less" agent-call -p claw agents
printf 'token-command = printf gw-old\n' >>"$config"

# And one of the device that is not taken any more.
tokens=$(find "$XDG_STATE_HOME/agentutils/openclaw" -name 'tokens-*')
sed -i.old 's/"dt-[^"]*"/"dt-gone"/g' "$tokens"
t 77 "no token is good" agent-call -p claw agents
err_like 'AUTH_TOKEN_MISMATCH' "the message says so"
sed -i.old '/gw-old/d' "$config"
t 77 "nor is the device's alone" agent-call -p claw agents
err_like 'AUTH_TOKEN_MISSING' "which is not shown again"
unlike "$(cat "$tokens")" 'dt-gone' "the token is forgotten"
printf 'token-command = printf gw-secret\n' >>"$config"
t 0 "the profile's is enough" agent-call -p claw agents

# Only the first challenge counts.
start_gateway thrice --thrice
run agent-chat -p thrice hello
is "$status $(cat "$out")" "0 You said: hello" "challenges that are repeated"
is "$(frames thrice connect | wc -l | tr -d ' ')" 1 "they are answered once"

# What fails ticks is left with the code for it.
start_gateway quiet --tick 200
start silent agent-tail -p quiet -L --retry-wait 0.1
wait_until 20 has "$tmp/silent.out" '"type":"open"'
tell quiet hush
wait_until 20 has "$tmp/silent.out" 'nothing came for 0.4 s'
ok "silence is told with the code 4000" wait_until 5 has "$tmp/quiet.log.closed" 4000
stop "$pid"
is "$(sort -u "$tmp/thrice.log.closed")" 1000 "all is well with 1000"

# An end without words takes none back, and a run that failed is known by its key.
run agent-chat -p thrice blank
is "$status $(cat "$out")" "0 Said before" "an empty end keeps the text"
run agent-chat -p thrice --key k-1 fail
is "$status" 1 "a run fails"
run agent-chat -p thrice --key k-1 fail
is "$status" 1 "and has failed, when it is asked for again"
err_is "agent-chat: the agent failed: rate_limit: it had failed" "for the reason that was kept"

done_testing
