#!/bin/sh
# A server that is believed by the fingerprint of its certificate, which nobody has signed.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
. "${0%/*}/../certificates.sh"
needs outbox agent-call agent-tail agent-chat sse-tail ws-tail pds-record openssl python3 jq

pairs=$(printed first)
hex=$(digits first)
changed=$(digits second)
base64=$(openssl x509 -outform DER -in "$tmp/first.pem" | openssl dgst -sha256 -binary | base64)
config=$XDG_CONFIG_HOME/agentutils/config
section() { # NAME URL LINE...
  printf '[profile %s]\n' "$1"
  shift
  printf 'url = %s\n' "$1"
  shift
  printf '%s\n' "$@"
} >>"$config"

umask 077
echo gw-secret >"$tmp/token"
umask 022
start_gateway claw --token gw-secret
front claw
gateway=$host
start_server serve agent-serve -l 127.0.0.1:0 -D "$tmp/serve.sqlite" --token-file "$tmp/token"
front serve
dashboard=$host
rm "$config"

# --- the forms
for form in "sha256:$hex" "$hex" "$pairs" "SHA256:$(printf '%s' "$base64" | tr -d =)" \
  "SHA256:$base64" "$(printf '%s' "$hex" | tr a-f A-F)" "sha256:$pairs" \
  "$(printf '%s' "$pairs" | tr A-F a-f)"; do
  rm -f "$config"
  section home "https://$dashboard" "token-file = $tmp/token" "tls-fingerprint = $form"
  t 0 "a certificate that is named $form is believed" agent-call health
done
for form in sha256: "sha256:${hex#?}" "${hex}0" "${hex#??}zz" "md5:$hex" "$(printf '%s' "$pairs" | tr : -)" \
  "SHA256:$(printf '%s' "$base64" | tr -d = | cut -c 2-)" "SHA256:${base64%??}==" "sha1:$hex"; do
  rm -f "$config"
  section home "https://$dashboard" "token-file = $tmp/token" "tls-fingerprint = $form"
  : >"$tmp/serve.tls"
  t 2 "what is no fingerprint is refused: $form" agent-call health
  err_is "agent-call: profile home: line 4 of $config is at fault: tls-fingerprint is not sha256: and 64 hexadecimal digits" \
    "the message names the line with the fingerprint $form"
  ok "nobody is asked with the fingerprint $form" test ! -s "$tmp/serve.tls"
done
rm -f "$config"
section home "http://$dashboard" "tls-fingerprint = $hex"
t 2 "a fingerprint without TLS has status 2" agent-call health
err_is "agent-call: profile home: tls-fingerprint is for a url with https or wss" \
  "the message says that a fingerprint is for https or wss"

# --- right, wrong and missing
rm -f "$config"
right="tls-fingerprint = sha256:$hex"
wrong="tls-fingerprint = sha256:$changed"
section home "https://$dashboard" "token-file = $tmp/token" "$right"
section bad "https://$dashboard" "token-file = $tmp/token" "$wrong"
section none "https://$dashboard" "token-file = $tmp/token"
section claw "wss://$gateway" "kind = openclaw" "token-file = $tmp/token" "$right"
section badclaw "wss://$gateway" "kind = openclaw" "token-file = $tmp/token" "$wrong"
section noclaw "wss://$gateway" "kind = openclaw" "token-file = $tmp/token"
section chat "https://$dashboard/v1" "kind = openclaw" "token-file = $tmp/token" "$wrong"
section pds "https://$dashboard" "kind = pds" "identifier = ada.test" "token-file = $tmp/token" "$wrong"
section pincer "https://$dashboard" "kind = pincer" "token-file = $tmp/token" "$wrong"
section joel "wss://$gateway" "kind = joelclaw" "token-file = $tmp/token" "$wrong"
section nopds "https://$dashboard" "kind = pds" "identifier = ada.test" "token-file = $tmp/token"
section nojoel "wss://$gateway" "kind = joelclaw" "token-file = $tmp/token"

says() { # FOUND: what is told of a certificate that is another one
  err_like "certificate has changed.* sha256:$1, .* tls-fingerprint = sha256:$2; nothing was sent" "both fingerprints are told"
}
t 0 "agent-call with the right fingerprint has status 0 on a gateway" agent-call -p claw agents
like "$(heard claw)" "^GET / HTTP/1.1" "a gateway with the right fingerprint is asked"
t 0 "agent-chat with the right fingerprint has status 0 on a gateway" agent-chat -p claw hello
t 0 "a URL at the origin of the default profile is believed by its fingerprint" \
  env AGENT_PROFILE=home sse-tail -n 0 --max-time 1 "https://$dashboard/api/activity/events"
for name in serve claw; do : >"$tmp/$name.tls"; done
refused() { # TITLE COMMAND...
  : >"$tmp/serve.tls"
  : >"$tmp/claw.tls"
  bound=20
  _what=$1
  shift
  t 77 "$_what does not speak to another certificate" "$@"
  err_one_line "$1" "$_what tells the refusal in one line"
  says "$hex" "$changed"
  is "$(connections serve) $(connections claw)" "${seen:-1 0}" \
    "$_what makes one connection to another certificate"
  is "$(heard serve)$(heard claw)" "" "$_what says nothing to another certificate"
}
refused "agent-call" agent-call -p bad health
refused "a stream" agent-tail -p bad --retry-wait 0.01
refused "agent-chat" agent-chat -p chat --retry-wait 0.01 hello
refused "mem-search" mem-search -p bad boat
refused "sse-tail" sse-tail -p bad --retry-wait 0.01 activity
refused "sse-tail with a URL" sse-tail -p bad --retry-wait 0.01 "https://$dashboard/"
refused "ws-tail with a URL" ws-tail -p bad --retry-wait 0.01 "wss://$dashboard/"
refused "voice-state" voice-state -p bad
refused "voice-state -w" voice-state -p bad -w --retry-wait 0.01
refused "a personal data server" pds-record -p pds login
refused "a stream of a personal data server" pds-record -p pds watch --retry-wait 0.01
refused "a Pincer server" agent-call -p pincer threads
refused "a stream of a Pincer server" agent-tail -p pincer --retry-wait 0.01
seen="0 1"
refused "agent-call on a gateway" agent-call -p badclaw agents
refused "agent-tail on a gateway" agent-tail -p badclaw --retry-wait 0.01
refused "agent-chat on a gateway" agent-chat -p badclaw --retry-wait 0.01 hello
refused "agent-approve on a gateway" agent-approve -p badclaw --retry-wait 0.01 -w
refused "agent-tail on joelclaw" agent-tail -p joel --retry-wait 0.01
: >"$tmp/claw.tls"
run agent-chat -p badclaw --queue "keep me"
err_like 'certificate has changed.*; it is kept$' \
  "a queued message is kept where the certificate has changed"
t 77 "outbox flush has status 77 where the certificate has changed" \
  outbox -p badclaw --max-time 5 flush
is "$(jq -r '.text + " " + .state' "$out")" "keep me queued" \
  "the queued message stays queued after outbox flush"
is "$(heard claw)" "" "nothing of the queued message was said"
bound=60
command=$(sed -n "s/.*'\(openssl .*\)' shows.*/\1/p" "$err")
is "$(sh -c "$command" 2>/dev/null | sed 's/.*=//')" "$pairs" \
  "the command in the message shows the right fingerprint"

untrusted() { # COMMAND...
  : >"$tmp/serve.tls"
  : >"$tmp/claw.tls"
  t 75 "$1 on $3: a certificate that nobody vouches for is no more believed than before" "$@"
  err_like "certificate.*; .*the profile may say tls-fingerprint = sha256:$hex$" \
    "$1 on $3 tells the line for the profile"
  is "$(heard serve)$(heard claw)" "" "$1 on $3 says nothing to the server"
}
untrusted agent-call -p none health
untrusted agent-call -p noclaw agents
untrusted agent-tail -p none --max-retries 0
untrusted agent-tail -p noclaw --max-retries 0
untrusted agent-tail -p nojoel --max-retries 0
untrusted pds-record -p nopds --max-retries 0 describe
t 75 "a server at another address than the profile's has status 75" \
  env AGENT_URL="https://localhost:${dashboard#*:}" agent-call -p home health
err_like 'certificate' "a fingerprint does not cover another address than the profile's"

# --- a connection that is used again, and a proxy
: >"$tmp/serve.tls"
t 1 "several requests that bring nothing have status 1" agent-call -p home names
ok "several requests are asked over fewer connections" \
  test "$(heard serve | grep -c '^GET ')" -gt "$(connections serve)"
t 77 "several requests with a wrong fingerprint have status 77" agent-call -p bad names
says "$hex" "$changed"

config_before=$(cat "$config")
: >"$tmp/h2"
start_server h2 python3 "$cli/servers/mute_h2.py" "$tmp/first.pem" "$tmp/first.key" "$tmp/h2" 0 0 \
  application/json '{"rev":"3l","cid":"b","collections":[],"records":[]}'
rm "$config"
section h2 "$url" "kind = pds" "identifier = did:web:a.test" "$right"
t 0 "a poll over HTTP/2 has status 0" \
  pds-record watch -p h2 --retry-wait 0.05 --idle-timeout 0.2 -L -q --max-time 2
ok "a poll over HTTP/2 makes several requests" at_least "$tmp/h2" 3
is "$(sort -u "$tmp/h2")" 1 "several requests go over one connection of HTTP/2"
printf '%s\n' "$config_before" >"$config"

# --- a redirect
: >"$tmp/log"
serve </dev/null
front raw
section raw "https://$host" "token-file = $tmp/token" "$right"
script <<END
redirect 302 /there
---
stream
send data: 1\n\n
END
t 0 "a redirect at the server itself has status 0" sse-tail -p raw -n 1 "https://$host/s"
is "$(requests '.path' | xargs)" "/s /there" "a redirect at the server itself is followed"
script <<END
forever
redirect 302 https://$dashboard/there
END
: >"$tmp/serve.tls"
t 75 "a redirect to another server with this certificate has status 75" \
  sse-tail -p raw --max-retries 0 -v "https://$host/s"
err_like 'certificate' "a redirect to another server is not covered by the fingerprint"
err_unlike 'tls-fingerprint' "the message on another server does not name tls-fingerprint"
is "$(heard serve)" "" "another server with this certificate is told nothing"
printf 'forever\nredirect 302 https://%s/there\n' "$dashboard" | script
t 75 "a redirect of a WebSocket to another server has status 75" \
  ws-tail -p raw --max-retries 0 -v "wss://$host/s"
err_like 'certificate' "a redirect of a WebSocket is not covered by the fingerprint"

# --- the certificate changes while a stream is followed
: >"$tmp/claw.tls"
start tail agent-tail -p claw --retry-wait 0.01 -v
wait_until 20 has "$tmp/tail.err" "stream is open" || bail "no stream"
shows second
tell claw drop
finished "$pid"
is "$status" 77 "a gateway that comes back with another certificate is not followed"
cp "$tmp/tail.err" "$err"
says "$changed" "$hex"
is "$(connections claw)" 2 "a gateway with another certificate is not tried again"
shows first
script <<'END'
stream
send data: 1\n\n
await go
END
start tail sse-tail -p raw --retry-wait 0.01 "https://$host/s"
wait_until 20 has "$tmp/tail.out" '"data":1' || bail "no event"
shows second
touch "$tmp/go"
finished "$pid"
is "$status" 77 "an event stream that comes back with another certificate is not followed"
cp "$tmp/tail.err" "$err"
says "$changed" "$hex"
is "$(requests .path | xargs)" "/s" "an event stream with another certificate is asked once"
shows first

# --- notices
printf 'forever\nstatus 200 application/json {"id":"m1","event":"message"}\n' | script
echo '{"urgency":"urgent","category":"x","title":"t"}' >"$tmp/one"
t 0 "the server of a profile may be told notices" \
  agent-notify --ntfy "https://$host/alerts" --ntfy-token "$tmp/token" <"$tmp/one"
is "$(requests .path | xargs)" "/" "notices arrive at the server of a profile"
sed -i.old "s/^\(tls-fingerprint\).*/$wrong/" "$config"
: >"$tmp/raw.tls"
t 77 "a notice to another certificate has status 77" \
  agent-notify --ntfy "https://$host/alerts" --ntfy-token "$tmp/token" <"$tmp/one"
says "$hex" "$changed"
is "$(heard raw)" "" "a server with another certificate is told no notice"
t 77 "agent-notify --check refuses another certificate" \
  agent-notify --check --ntfy "https://$host/alerts"
sed -i.old /tls-fingerprint/d "$config"
t 2 "a server of notices without a fingerprint has status 2" \
  agent-notify --ntfy "https://$host/alerts" --ntfy-token "$tmp/token" <"$tmp/one"
err_like "may say tls-fingerprint = sha256:$hex" \
  "the message on a server of notices tells the line for the profile"
done_testing
