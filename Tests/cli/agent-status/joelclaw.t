#!/bin/sh
# agent-status of a joelclaw system: the parts, in every size and every bar.
. "${0%/*}/../lib.sh"
. "${0%/*}/../joelgate.sh"
needs agent-call jq python3

start_joelgate joel
start_server parts python3 "$cli/servers/joelparts.py" --control "$tmp/parts.words"
cat >>"$XDG_CONFIG_HOME/agentutils/config" <<END
inngest-url = $url
worker-url = $url
END
show() { run agent-status -p joel "$@"; }

show
status_is 0 "a system that is well has status 0"
out_is "● healthy" "a system that is well is told in a line"
show -o large
out_is 'gateway     healthy
inngest     healthy
worker      healthy, 2 functions' "each part has a line"
echo twice >"$tmp/parts.words"
show
status_is 1 "a system that is not well has status 1"
out_is '◐ degraded: worker
worker degraded, 2 functions, 1 registered twice' \
  "a system that is not well is told with where and why"
show -o small
out_is '◐ degraded: worker' "-o small names the part"
show -o tmux
status_is 0 "a bar's block has no status"
out_is '#[fg=#d97706]◐#[default] joel worker' "-o tmux names the part"
show -o waybar
is "$(jq -c '[.alt, .class]' "$out")" '["degraded",["degraded"]]' \
  "-o waybar has the state as the class"
show -o i3
is "$(jq -r .full_text "$out")" '◐ joel worker' "-o i3 names the part"
tell joel health 503 "{\"available\":false,\"mode\":\"red\\u001b[31m\"}"
show -o large
out_like '^gateway     down, red' "a gateway that is down is told"
out_unlike "$(printf '\033')" "what a gateway that is down says is made visible"
printf '[profile none]\nkind = joelclaw\nurl = ws://127.0.0.1:1\n' >>"$XDG_CONFIG_HOME/agentutils/config"
t 75 "an unreachable gateway has status 75" agent-status -p none -o small
out_is "○ down: gateway" "the gateway is said to be down"
t 75 "the worst of several agents counts" agent-status -p joel,none -o small
out_like '^joel +◐ degraded: gateway, worker$' "each of several agents has a line"
done_testing
