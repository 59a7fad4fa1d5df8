#!/bin/sh
# The real gateway with a certificate of its own making: believed by its fingerprint, and by no other.
. "${0%/*}/lib.sh"
needs agent-call agent-tail agent-chat agent-approve agent-setup turn-fold openssl jq python3
bound=120

place=127.0.0.1:18789
settings=$box_home/.openclaw/openclaw.json
folder=$box_home/.openclaw/gateway/tls
cp "$settings" "$tmp/settings"
# The box's own word waits for an answer without TLS.
is_ready() { curl -fsk "https://$place/readyz" >"$tmp/ready"; }
begin() {
  (
    HOME=$box_home
    unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_RUNTIME_DIR
    export HOME
    exec setsid openclaw gateway run --port 18789 </dev/null >>"$OPENCLAW_BOX/log/gateway.log" 2>&1
  ) &
  wait_until 120 is_ready || bail "the gateway does not answer"
}
restore() {
  gateway stop
  cp "$tmp/settings" "$settings"
  rm -rf "$folder"
  gateway start
}
at_end=restore
gateway stop
rm -rf "$folder"
jq '.gateway.tls = {"enabled": true, "autoGenerate": true}' "$tmp/settings" >"$settings"
begin
printed() { openssl x509 -noout -fingerprint -sha256 -in "$folder/gateway-cert.pem" | sed 's/.*=//'; }
digits() { printed | tr -d : | tr A-F a-f; }
first=$(digits)
cp "$XDG_CONFIG_HOME/agentutils/claw.token" "$tmp/token"
chmod 600 "$tmp/token"
secret=$(cat "$tmp/token")
XDG_CONFIG_HOME=$tmp/home/.config
export XDG_CONFIG_HOME
config=$XDG_CONFIG_HOME/agentutils/config
section() { # LINE...
  printf '[profile own]\nkind = openclaw\nurl = wss://%s\ntoken-file = %s\n' "$place" "$tmp/token" >"$config"
  [ $# -eq 0 ] || printf '%s\n' "$@" >>"$config"
}

section
t 75 "its certificate is not trusted" agent-call agents
err_like "may say tls-fingerprint = sha256:$first$" "and its fingerprint is told"
section "tls-fingerprint = $(printed)"
t 0 "agent-call speaks to the gateway" agent-call agents
out_like '"id":"main"' "which answers"
t 0 "agent-chat does" agent-chat -t "$run" "say by the fingerprint"
out_is "by the fingerprint" "and is answered"
printf '[profile own]\nkind = openclaw\nurl = https://%s/v1\ntoken-file = %s\ntls-fingerprint = %s\n' \
  "$place" "$tmp/token" "$first" >"$config"
t 0 "by HTTP, too" agent-chat -a main -t "${run}h" "say by HTTP"
out_is "by HTTP" "and is answered"
section "tls-fingerprint = $first"
start tail agent-tail -L
tail=$pid
wait_until 30 has "$tmp/tail.out" '"type":"open"' || bail "not open"
run agent-chat -t "$run" "say followed"
ok "agent-tail follows it" wait_until 30 has "$tmp/tail.out" followed

# --- setup
talk() { run python3 "$root/Tests/cli/talk.py" agent-setup -p set; }
talk <<END
URL of the agent|https://$place
Token, not shown|$secret
Trust it? (yes/no)|yes
Where to keep the token|file
END
status_is 0 "agent-setup writes a profile"
out_like "The certificate of $place is not signed by anyone.* sha256:$first\." "after a yes"
out_like 'This is an OpenClaw gateway' "and knows what it is"
is "$(sed '1,/profile set/d' "$config" | head -n 3)" "kind = openclaw
url = wss://$place
tls-fingerprint = sha256:$first" "which has its fingerprint"

# --- another certificate
gateway kill
rm -rf "$folder"
begin
isnt "$(digits)" "$first" "the gateway has made another certificate"
finished "$tail"
is "$status" 77 "agent-tail does not follow it any more"
like "$(cat "$tmp/tail.err")" "certificate has changed.* sha256:$(digits), .* tls-fingerprint = sha256:$first;" \
  "and tells both fingerprints"
for words in "agent-call agents" "agent-chat -t $run hello" "agent-approve -w"; do
  # shellcheck disable=SC2086  # words
  t 77 "nor does ${words%% *} speak to it" env AGENT_PROFILE=own $words
done
command=$(sed -n "s/.*'\(openssl .*\)' shows.*/\1/p" "$err")
is "$(sh -c "$command" 2>"$tmp/noise" | sed 's/.*=//')" "$(printed)" "the command that is named shows its fingerprint"
section "tls-fingerprint = $(printed)"
t 0 "with the new one it is believed again" agent-call agents
done_testing
