#!/bin/sh
# agent-setup and an OpenClaw gateway: its kind, its token, and being let in.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs agent-call python3 jq

umask 022
TMPDIR=$tmp/tmp
mkdir "$TMPDIR"
export TMPDIR
config=$XDG_CONFIG_HOME/agentutils/config
start_gateway claw --token gw-secret
rm "$config"
# pass and secret-tool are not for tests.
mkdir "$tmp/tools"
PATH=$tmp/tools:$PATH
talk() { run python3 "$cli/talk.py" agent-setup "$@"; }

talk -p claw <<END
URL of the agent|$url
Token, not shown|wrong
another token|t
Token, not shown|gw-secret
Where to keep the token|file
END
status_is 0 "a gateway gets a profile"
out_like "does not accept this token" "a wrong token is told"
out_like "The agent answers" "a right token lets in"
out_like "agent-call -p claw agents: ok" "the profile of the gateway works"
like "$(tr -d '\r' <"$out")" '^Asking ws://' "a line begins behind the unseen token"
is "$(cat "$config")" "[profile claw]
kind = openclaw
url = $url
token-file = claw.token" "the profile of the gateway is written"
is "$(frames claw connect | head -n 1 | jq -c .scopes)" \
  '["operator.read","operator.write","operator.approvals","operator.questions"]' \
  "the scopes for all commands are asked for together"
out_like 'agent-approve sees what runs of this device ask.*operator.admin' \
  "what agent-approve does not see is said"
out_unlike 'gw-secret' "the terminal never shows the token"
ok "nothing is left in TMPDIR" test -z "$(ls -A "$TMPDIR")"

# Its token was changed, and the device is known.
talk -p known <<END
URL of the agent|http://${url#ws://}
Token, not shown|stale
END
status_is 0 "a token that the device's own covers has status 0"
out_like 'This is an OpenClaw gateway' "the address of its dashboard is recognised"
out_like 'does not accept this token. It knows this device' \
  "a wrong token of a known device is told"
is "$(sed '1,/known/d' "$config")" "kind = openclaw
url = $url" "a wrong token of a known device is not kept"

# One that is to let this device in first.
start_gateway shy --pair
printf '[profile shy]\nkind = clanky\nurl = http://old\n# kept\n' >"$config"
talk -p shy <<END
Replace its URL and token|y
URL of the agent|$url
Token, not shown|
Waiting until somebody has done that|!echo pair >"$tmp/shy.fifo"
END
status_is 0 "agent-setup waits until the device is let in"
out_like 'run on the gateway: openclaw devices approve pr-9' \
  "agent-setup says what to run to let the device in"
out_like 'The gateway lets this device in' "the person is told that the device is let in"
is "$(cat "$config")" "[profile shy]
kind = openclaw
url = $url
# kept" "the kind is replaced with the URL"
ok "agent-setup did not ask the gateway often" test "$(frames shy connect | wc -l)" -le 4

# What else answers.
serve <<'END'
forever
status 200 text/plain hello
END
talk -p other <<END
URL of the agent|ws://${url#http://}
Token, not shown|
another token|q
END
isnt "$status" 0 "what is not a gateway gets no profile"
out_like 'Something answers there, but it is not a gateway|did not answer properly' \
  "the person is told that it is not a gateway"
talk -p far <<END
URL of the agent|ws://gateway.invalid:1
Token, not shown|
another token|q
END
out_like 'Over plain ws everybody on the way could listen' "clear text to another machine is told"
done_testing
