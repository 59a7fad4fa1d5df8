#!/bin/sh
# agent-notify with Claude Code at a terminal: what it asks is told once, and answered from a phone.
# shellcheck disable=SC2154  # of the files below
. "${0%/*}/../lib.sh"
. "${0%/*}/../ntfy.sh"
. "${0%/*}/../ssh.sh"
. "${0%/*}/../claude.sh"
needs jq python3 curl agent-approve openssl

cp "$root/bin/agent-ask" "$HOME/bin"
mkdir -p "$HOME/.claude/projects"
told() { grep -qF -- "$1" "$tmp/$2.out"; }
idle() { wait_until 20 stands riff '["idle",null,null]'; }
said() { got "select(.priority == 2 and .title == \"$1\").message" | jq -r . | grep -qF -- "$2"; }
asked_for() { got 'select(.actions) | .message' | jq -r . | grep -qF -- "$1"; }

tmux-attach -N -s riff . >/dev/null
idle
start plain agent-notify -p . --settle 0 --state "$tmp/plain.state" --to line
agent-say -q --when-idle . -- run make plain
ok "a session that waits is told where its host holds nothing" \
  wait_until 20 told 'riff waits: permission prompt' plain
agent-say --answer . -- yes
idle

cat >"$HOME/.claude/settings.json" <<'END'
{"hooks":{"PermissionRequest":[{"hooks":[{"type":"command","command":"agent-ask","timeout":86400}]}]}}
END
tmux-attach -q --close riff .
tmux-attach -N -s riff . >/dev/null
idle
start_ntfy --later
start phone agent-notify -p . --settle 0 --ntfy "$notices" --ntfy-token "$tmp/host" \
  --answers "$answers" --buttons-token "$tmp/buttons"
agent-say -q --when-idle . -- run make held
ok "what a session asks is told by its command" wait_until 20 told 'make held' plain
ok "what a session asks is asked on the phone" wait_until 20 asked_for 'make held'
is "$(got 'select(.actions) | .message' | jq -r . | tail -n 1)" "Always: allow Bash(make held), in this session" \
  "the phone is told what Always would allow"
press Yes 'make held'
ok "a tap allows the command" wait_until 20 said allowed 'make held'
idle
is "$(grep -c 'riff waits' "$tmp/plain.out")" 1 \
  "a session that waits is not told beside what it asks"
agent-say -q --when-idle . -- ask
ok "a question has its choices as buttons" wait_until 20 asked_for 'Which harbour do you mean?'
press 2 'Which harbour'
ok "a tap chooses one of the choices" wait_until 20 said 'answered with 2' 'Which harbour'
idle
agent-say -q --when-idle . -- run make desk
wait_until 20 asked_for 'make desk'
agent-say --answer . -- yes
ok "an answer at the desk is told to the phone" wait_until 20 said withdrawn 'make desk'
press Yes 'make desk'
idle
ok "nothing is held any more" test -z "$(ls -A "$HOME/.local/state/agentutils/asks")"
done_testing
