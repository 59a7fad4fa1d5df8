#!/bin/sh
# agent-approve of several profiles at once: what a gateway asks, and what Claude Code asks.
# shellcheck disable=SC2154  # of ssh.sh
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
. "${0%/*}/../ssh.sh"
. "${0%/*}/../claude.sh"
needs agent-approve jq python3
TERM=xterm
export TERM

start_gateway claw
cp "$root/bin/agent-ask" "$HOME/bin"
mkdir -p "$HOME/.claude/projects"
cat >"$HOME/.claude/settings.json" <<'END'
{"hooks":{"PermissionRequest":[{"hooks":[{"type":"command","command":"agent-ask","timeout":86400}]}]}}
END
tmux-attach -N -s riff . >/dev/null
idle() { wait_until 20 stands riff '["idle",null,null]'; }
idle
resolved() { frames claw exec.approval.resolve | jq -r '"\(.id) \(.decision)"'; }
lists() { [ "$(agent-approve -p .,claw -l -o json 2>/dev/null | jq -r .profile | sort | xargs)" = "$1" ]; }

t 1 "nothing is listed where neither profile asks anything" agent-approve -p .,claw -l
tell claw ask a1 '{"command":"make gateway","cwd":"/srv/site"}'
agent-say -q . -- run make terminal
ok "what both profiles ask is listed, each by its profile" wait_until 20 lists ". claw"
id=$(agent-approve -p . -l -o json | jq -r .id)
start watch agent-approve -p .,claw -w -o json
ok "what both profiles ask is followed" wait_until 20 grep -q a1 "$tmp/watch.out"
t 0 "answers go to the profiles they are for" \
  sh -c "agent-approve -p .,claw -l -o json | jq -c '.decision = \"approve\"' | agent-approve -p .,claw -o json"
is "$(jq -r '[.profile, .decision, .result] | join(" ")' "$out" | sort | xargs)" ". allow accepted claw allow-once accepted" \
  "each result names its own profile"
is "$(resolved)" "a1 allow-once" "the gateway has its answer"
idle
over() { [ "$(jq -r 'select(.state != "pending").profile' "$tmp/watch.out" | sort -u | xargs)" = ". claw" ]; }
ok "the ends of both approvals are told" wait_until 20 over
t 1 "an answer to what neither profile asks has status 1" \
  agent-approve -p .,claw --approve "$id" -o json
is "$(jq -r .result "$out")" not_found "an answer to what neither profile asks finds nothing"
tell claw ask a2 '{"command":"make gateway"}'
wait_until 20 lists claw
t 1 "an answer for another profile than asked has status 1" agent-approve -p .,claw <<END
{"id":"a2","decision":"approve","profile":"."}
END
is "$(resolved | wc -l | tr -d ' ')" 1 "an answer for another profile than asked is given to nobody"
run python3 "$cli/talk.py" agent-approve -p .,claw -i --once --color never <<'END'
approval a2|-
allow it once? y, n or later [n] |y
a2 allow-once: accepted|-
END
status_is 0 "a person is asked what any of the profiles asks"
t 2 "a profile that does not exist is refused" agent-approve -p .,none -l
err_like '^agent-approve: profile none' "the profile that does not exist is named"
t 2 "--token-file is refused for several profiles" agent-approve -p .,claw --token-file /nowhere -l
stop_gateway claw 2>/dev/null || tell claw die 2>/dev/null || :
done_testing
