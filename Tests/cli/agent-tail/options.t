#!/bin/sh
# The options of agent-tail that are about one stream: they count for each.
. "${0%/*}/../lib.sh"
needs agent-tail jq python3 openssl

config=$XDG_CONFIG_HOME/agentutils/config
# --- a server that says no more
serve <<'END'
forever
stream
send event: tick\ndata: 1234567890\n\n
stall
END
printf '[profile a]\nurl = %s/a\n[profile b]\nurl = %s/b\n' "$url" "$url" >"$config"
t 0 "--idle-timeout ends silent streams" \
  agent-tail -L --idle-timeout 0.3 --retry-wait 0.05 -n 4 --max-time 15 -p a,b
is "$(jq -r 'select(.type == "lost") | .profile' "$out" | sort -u | tr '\n' ' ')" "a b " \
  "each silent stream is lost for itself"
is "$(jq -r 'select(.type == "lost") | .reason' "$out" | sort -u)" "nothing came for 0.3 s" \
  "each silent stream has the silence as the reason"
t 2 "--max-event-bytes drops events" agent-tail -qT --max-event-bytes 8 --max-time 0.5 -p a,b
is "$(sort "$err")" \
  "agent-tail: a: event of 10 bytes or more dropped: over --max-event-bytes
agent-tail: b: event of 10 bytes or more dropped: over --max-event-bytes" \
  "each event that is dropped is told with its name"

# --- TLS
start_tls '' '{}' 'event: hello
data: {}

'
t 0 "--cacert is believed" \
  env AGENT_URL="$url" agent-tail --cacert "$tmp/authority" -n 1 --max-time 10
ok "the event comes over TLS" has "$out" hello
t 75 "--cacert is needed for a certificate of one's own" \
  env AGENT_URL="$url" agent-tail --max-retries 0 --max-time 10

# --- a token in the open
umask 077
echo right >"$tmp/token"
t 2 "no token goes over plain http" \
  env AGENT_URL=http://192.0.2.1/ agent-tail --token-file "$tmp/token"
err_like "see --allow-plaintext" "the message says how to allow plain http"
t 75 "plain http is tried with --allow-plaintext" \
  env AGENT_URL=http://192.0.2.1/ agent-tail --token-file "$tmp/token" --allow-plaintext --max-time 0.1
done_testing
