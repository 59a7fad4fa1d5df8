#!/bin/sh
# voice-state: whose token goes where, for a question and for the stream, over
# plain http and TLS, and that it is shown nowhere.
. "${0%/*}/../lib.sh"
needs voice-state jq python3

serve </dev/null
umask 077
token=sesame-0815
echo $token >"$tmp/token"
state='{"activeCount":1,"sessions":[{"sessionId":"s1","guildId":"7"}]}'
asked() { requests '[.path, .headers["x-dashboard-token"] // "-", .port] | join(" ")'; }
# Every request is answered as its path asks.
well() {
  script <<END
on /api/voice/state
forever
status 200 application/json $state
---
on /api/voice/events
forever
stream
send event: voice_state\\ndata: $state\\n\\n
stall
---
on /api/voice/history/sessions
forever
status 200 application/json []
END
}
well
AGENT_URL=$url
export AGENT_URL

for words in -q '-w -n 1' history; do
  well
  # shellcheck disable=SC2086
  t 0 "$words takes --token-file" voice-state --token-file "$tmp/token" -v $words
  is "$(asked | cut -d ' ' -f 2- | uniq)" "$token main" "$words sends the token"
  is "$(cat "$out" "$err" | grep -c $token)" 0 "$words does not show the token"
done
t 0 "a token comes from standard input" voice-state --token-file - -q <"$tmp/token"
is "$(asked | tail -n 1)" "/api/voice/state $token main" "a token from standard input is sent"
chmod 644 "$tmp/token"
t 77 "a token that others can read is refused" voice-state --token-file "$tmp/token" -q
chmod 600 "$tmp/token"
t 77 "a token that is not there is refused" voice-state --token-file "$tmp/none" -w
err_one_line voice-state "a token that is not there is told in one line"

# Refused: the source is named, the token is not.
for words in -q '' '-w' history 'replay s1'; do
  printf 'forever\nstatus 401 application/json {"error":"no %s"}\n' $token | script
  # shellcheck disable=SC2086
  t 77 "a token that the backend refuses has status 77: $words" \
    voice-state --token-file "$tmp/token" -v $words
  err_like "401.*the token from $tmp/token was refused \(no profile\)$" \
    "the message names the file of the refused token: $words"
  is "$(cat "$out" "$err" | grep -c $token)" 0 "the refused token is not shown: $words"
done

# Another origin.
printf 'redirect 302 @OTHER@/elsewhere\n---\non /elsewhere\nstatus 200 application/json %s\n' "$state" |
  script
t 0 "a redirect is followed" voice-state --token-file "$tmp/token" -q
is "$(asked)" "/api/voice/state $token main
/elsewhere - other" "the token does not go to another origin"
for words in -q -w history; do
  t 2 "no token goes over plain http: $words" \
    env AGENT_URL=http://example.invalid voice-state --token-file "$tmp/token" $words
  err_like 'would travel over plain http; see --allow-plaintext$' \
    "the message on plain http names --allow-plaintext: $words"
done
t 75 "--allow-plaintext lets a question be tried" \
  env AGENT_URL=http://example.invalid voice-state --allow-plaintext --token-file "$tmp/token" -q
t 75 "--allow-plaintext lets a stream be tried" \
  env AGENT_URL=http://example.invalid voice-state --allow-plaintext --token-file "$tmp/token" \
  -w --max-retries 0

# --- over TLS
if command -v openssl >/dev/null 2>&1; then
  start_tls 'x-dashboard-token: sesame-0815' "$state" "event: voice_state
data: $state

"
  AGENT_URL=$url
  t 0 "a named authority is believed, and the token goes" \
    voice-state --cacert "$tmp/authority" --token-file "$tmp/token" -q
  run voice-state --cacert "$tmp/authority" --token-file "$tmp/token" -w -n 1
  is "$status $(lines "$out")" "0 1" "a named authority is believed for the stream"
  t 75 "a certificate that nobody vouches for is refused" voice-state --token-file "$tmp/token" -q
  err_like certificate "the message on an unknown authority names the certificate"
  t 2 "an authority that is not there is an error" voice-state --cacert "$tmp/none" -q
  err_one_line voice-state "an authority that is not there is told in one line"
else
  skip 6 "no openssl"
fi

done_testing
