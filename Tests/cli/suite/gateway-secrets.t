#!/bin/sh
# What lets in to a gateway: the profile's token, the token that the gateway gave this device,
# the key of the device. None of them is in an argument, in an environment, in what is
# printed or noted, in any file but its own, or in what another server gets.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs agent-tail agent-chat agent-approve agent-call jq python3

token=gw-T0ken-4711
start_gateway claw --token "$token"
printf '%s\n' "$token" >"$tmp/token"
chmod 600 "$tmp/token"
# What a command of the user sees when it is asked for the token.
printf 'token-command = env >>%s; cat %s\n' "$tmp/child.env" "$tmp/token" \
  >>"$XDG_CONFIG_HOME/agentutils/config"
t 0 "the token lets in" agent-call -p claw models
state=$XDG_STATE_HOME/agentutils/openclaw
device=$(jq -r '.tokens[].token' "$state"/tokens-*.json | head -n 1)
like "$device" '^dt-' "a token for this device is kept"
# The key as it is on disk, and its 32 bytes in hex and both base 64.
key=$(sed -n 2p "$state/device.pem")
like "$key" '^[A-Za-z0-9+/=]{60,}$' "the key of the device is kept"
python3 - "$token" "$device" "$key" >"$tmp/secrets" <<'PYTHON'
import base64, sys
token, device, key = sys.argv[1:]
raw = base64.b64decode(key)[-32:]
for secret in (token, device):
    print(secret)
    print(base64.b64encode(secret.encode()).decode().rstrip("="))
print(key, raw.hex(), base64.b64encode(raw).decode().rstrip("="),
      base64.urlsafe_b64encode(raw).decode().rstrip("="), sep="\n")
PYTHON

# clean TITLE FILE...: no secret is in them.
clean() {
  _title=$1
  shift
  not_ok "$_title" grep -alFf "$tmp/secrets" "$@"
  [ ! -s "$tmp/ok.said" ] || diag "$(cat "$tmp/ok.said")"
}
# seen FILE: arguments and environments of all that runs from here.
seen() {
  for _entry in /proc/[0-9]*; do
    [ -r "$_entry/environ" ] || continue
    grep -aqs "$tmp" "$_entry/environ" || continue
    # The gateway itself was told its token so.
    grep -aq servers/gateway.py "$_entry/cmdline" && continue
    tr '\0' ' ' <"$_entry/cmdline"
    tr '\0' '\n' <"$_entry/environ"
  done >"$1" 2>/dev/null
  ps -axww -o args | grep -v servers/gateway.py >>"$1"
}

# --- while they run, with all notes

start tail agent-tail -v -v -p claw -L
start watch agent-approve -v -v -p claw -w
start chat agent-chat -v -v -p claw --retry-wait 0.1 -o json forever
wait_until 20 has "$tmp/tail.out" '"type":"open"'
wait_until 20 has "$tmp/watch.err" 'link is open'
wait_until 20 has "$tmp/chat.out" 'and on and on'
seen "$tmp/seen"
ok "the commands are among what is looked at" has "$tmp/seen" 'agent-approve -v -v -p claw -w'
clean "no secret is an argument or in an environment" "$tmp/seen"
tell claw drop
wait_until 20 has "$tmp/chat.err" 'link is back'
tell claw ask a1 '{"command":"make"}'
wait_until 20 has "$tmp/watch.out" '"a1"'
tell claw close 1012 "restart for $token"
wait_until 20 has "$tmp/tail.out" '"type":"resumed"'
agent-call -v -v -p claw devices >"$tmp/call.out" 2>"$tmp/call.err"
echo '{"id":"a1","decision":"deny"}' | agent-approve -v -v -p claw >"$tmp/answer.out" 2>"$tmp/answer.err"
run agent-chat -v -v -p claw --abort
# What a gateway says of a token is not repeated: to a request, of a failed run, in an answer
# without a WebSocket.
start again agent-tail -v -v -p claw --retry-wait 0.1 --max-retries 2
again=$pid
wait_until 20 has "$tmp/again.err" 'stream is open'
tell claw door "$(jq -cn --arg token "$token" '{error: "bad token \($token)"}')"
tell claw drop
wait_until 20 gone "$again"
like "$(cat "$tmp/again.err")" 'gave up after 2 retries: 503' \
  "an answer that is not a WebSocket is told"
tell claw door
tell claw refuse "$(jq -cn --arg token "$token" --arg device "$device" \
  '{code: "INVALID_REQUEST", message: "no: \($token), \($device)", details: {code: "AUTH_TOKEN_MISMATCH"}}')"
agent-call -v -v -p claw models >"$tmp/refused.out" 2>"$tmp/refused.err"
agent-chat -v -v -p claw hello >"$tmp/refused.chat" 2>&1
agent-approve -v -v -p claw -l >"$tmp/refused.approve" 2>&1
tell claw refuse
for each in $started; do kill "$each" 2>/dev/null; done
like "$(cat "$tmp/refused.err")" 'AUTH_TOKEN_MISMATCH|no: ' "a refusal is told"
clean "no secret is printed or noted" \
  "$tmp"/again.* "$tmp"/tail.* "$tmp"/watch.* "$tmp"/chat.* "$tmp"/call.* \
  "$tmp"/answer.* "$tmp"/refused.* "$out" "$err"
clean "no secret is in the environment of the command that fetches the token" "$tmp/child.env"
ok "the command that fetches the token was asked" test -s "$tmp/child.env"

# --- on disk

find "$HOME" -type f ! -path "$state/tokens-*.json" ! -path "$state/device.pem" \
  -exec cat {} + >"$tmp/files"
ok "there are other files than those of secrets" test -s "$tmp/files"
clean "no secret is in another file" "$tmp/files"
is "$(find "$state" -type f ! -perm 600 | wc -l | tr -d ' ')" 0 \
  "the files of secrets are for their owner"
is "$(grep -lFf "$tmp/secrets" "$state"/* | wc -l | tr -d ' ')" 2 "two files have secrets"

# --- another server

start_gateway there --token "$token"
there=http://127.0.0.1:$port
# The reason of a failed run may quote it.
run env AGENT_URL="ws${there#http}" AGENT_TOKEN_FILE="$tmp/token" agent-chat -v -v "fail of $token"
err_like 'the agent failed: .*\(secret\)' "a failure of the agent is told"
clean "the token is not in the failure that is told" "$err"
: >"$tmp/there.log"
serve <<SCRIPT
forever
redirect 307 $there/
SCRIPT
printf '[profile moved]\nkind = openclaw\nurl = ws%s\ntoken-file = %s\n' "${url#http}" "$tmp/token" \
  >>"$XDG_CONFIG_HOME/agentutils/config"
for words in "agent-chat -p moved hello" "agent-approve -p moved -l" "agent-call -p moved models" \
  "agent-tail -p moved --max-time 5"; do
  # shellcheck disable=SC2086
  t 2 "$words: a redirect to another server is not followed" $words
  err_like 'leads to another server$' \
    "the message says that a redirect leads to another server: $words"
done
not_ok "nothing is said to the other server" test -s "$tmp/there.log"
ok "the redirect was met" has "$log" '"what": *"request"'
clean "no secret is in the request for a WebSocket" "$log"
done_testing
