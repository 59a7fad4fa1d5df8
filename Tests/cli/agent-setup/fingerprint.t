#!/bin/sh
# agent-setup and a server whose certificate nobody has signed: it is shown, and trusted after a yes.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
. "${0%/*}/../pincer.sh"
. "${0%/*}/../certificates.sh"
[ -x "$root/bin/agent-serve" ] || skip_all "needs agent-serve"
needs agent-setup agent-call

umask 022
TMPDIR=$tmp/tmp
mkdir "$TMPDIR"
export TMPDIR
config=$XDG_CONFIG_HOME/agentutils/config
start_gateway claw --token gw-secret
front claw
gateway=$host
(umask 077 && echo gw-secret >"$tmp/token")
start_server serve agent-serve -l 127.0.0.1:0 -D "$tmp/serve.sqlite" --token-file "$tmp/token"
front serve
dashboard=$host
start_pincer pin
pairing=$(ask pin AuthService/CreatePairingCode '{}' | jq -r .code)
front pin
pincer=$host
rm "$config"
# pass and secret-tool are not for tests.
mkdir "$tmp/tools"
PATH=$tmp/tools:$PATH
talk() { run python3 "$cli/talk.py" agent-setup "$@"; }
line="tls-fingerprint = sha256:$(digits first)"
changed="tls-fingerprint = sha256:$(digits second)"

# --- yes
# trusting PROFILE URL: a person says yes to the certificate.
trusting() {
  talk -p "$1" <<END
URL of the agent|$2
Token, not shown|gw-secret
Trust it? (yes/no)|yes
Where to keep the token|file
END
}
trusting claw "wss://$gateway"
status_is 0 "a gateway that made its own certificate gets a profile"
out_like "^The certificate of $gateway is not signed by anyone this machine trusts\. Its SHA-256 fingerprint is sha256:$(digits first)\.$" \
  "a certificate is shown with its fingerprint"
out_like 'agent-call -p claw agents: ok' "the profile with a fingerprint works"
is "$(cat "$config")" "[profile claw]
kind = openclaw
url = wss://$gateway
$line
token-file = claw.token" "a gateway with a fingerprint is written"
out_unlike 'gw-secret' "the terminal never shows the token"
ok "nothing is left in TMPDIR" test -z "$(ls -A "$TMPDIR")"

# --- known, and changed
talk -p claw <<END
Replace its URL and token|y
URL of the agent|wss://$gateway
Token, not shown|gw-secret
Where to keep the token|file
END
status_is 0 "the same server gets a profile once more"
out_unlike 'Trust it' "the same server is not asked about again"
is "$(grep -c "^$line$" "$config")" 1 "the fingerprint of the same server stays"
shows second
: >"$tmp/claw.tls"
talk -p claw <<END
Replace its URL and token|y
URL of the agent|https://$gateway
Token, not shown|gw-secret
another token|q
END
status_is 77 "a server with another certificate is refused"
out_unlike 'Trust it' "a server with another certificate is not asked about"
out_like "certificate has changed.* sha256:$(digits second), .*$line" \
  "a certificate that has changed is told"
is "$(heard claw)" "" "a server with another certificate is told nothing"
is "$(grep -c "^$line$" "$config")" 1 "the fingerprint of before stays"
talk -p claw <<END
Replace its URL and token|y
URL of the agent|https://$dashboard
Token, not shown|gw-secret
Trust it? (yes/no)|yes
Where to keep the token|file
END
status_is 0 "another server gets a profile"
is "$(cat "$config")" "[profile claw]
url = https://$dashboard
$changed
token-file = claw.token" "another server has a fingerprint of its own"
shows first

# --- no
rm "$config"
for answer in no y '' YES.; do
  : >"$tmp/claw.tls"
  talk -p claw <<END
URL of the agent|wss://$gateway
Token, not shown|gw-secret
Trust it? (yes/no) [no]|$answer
Another URL, another token, write the profile nonetheless, or quit (u/t/w/q) [u]|q
END
  status_is 75 "the answer \"$answer\" is not a yes"
  is "$(heard claw)" "" "the server is told nothing after the answer \"$answer\""
  ok "nothing is written after the answer \"$answer\"" test ! -e "$config"
done

# --- without a terminal
: >"$tmp/claw.tls"
printf '%s\n' "wss://$gateway" gw-secret q | run agent-setup -p claw
status_is 75 "agent-setup trusts no server without a terminal"
err_unlike 'Trust it' "nobody is asked without a terminal"
err_like "the profile may say $line$" "the line for the profile is told without a terminal"
is "$(heard claw)" "" "the server is told nothing without a terminal"

# --- every kind
trusting dash "https://$gateway"
status_is 0 "the address of a gateway's dashboard gets a profile"
out_like 'This is an OpenClaw gateway' "a gateway is recognised once it is trusted"
is "$(cat "$config")" "[profile dash]
kind = openclaw
url = wss://$gateway
$line
token-file = dash.token" "a gateway by its dashboard's address is written"
rm "$config"
talk -p pin <<END
URL of the agent|https://$pincer
Token, not shown|$pairing
Trust it? (yes/no)|yes
Where to keep the|file
END
status_is 0 "a Pincer server with its own certificate gets a profile"
out_like 'This is a Pincer server' "a Pincer server is recognised once it is trusted"
out_like 'The server has made this machine one of its devices' \
  "a Pincer server pairs once it is trusted"
is "$(sed '$d' "$config")" "[profile pin]
kind = pincer
url = https://$pincer
$line" "a Pincer server with a fingerprint is written"
talk -k pds -p records <<END
URL of the server|https://$dashboard
Handle of the account|ada.example.org
App password|
Trust it? (yes/no)|yes
Another URL|q
END
isnt "$status" 0 "what is not a personal data server gets no profile"
like "$(heard serve)" '^GET /xrpc/' "a personal data server is asked once it is trusted"
done_testing
