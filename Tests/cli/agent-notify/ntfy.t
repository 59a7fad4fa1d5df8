#!/bin/sh
# agent-notify --ntfy: a real HTTP server, which does what servers do.
. "${0%/*}/../lib.sh"
needs jq python3 openssl

ok='{"id":"m1","event":"message"}'
printf '%s\n' '{"urgency":"urgent","category":"x","title":"it <fell>\u001b[31m","text":"why"}' >"$tmp/one"
(umask 077 && echo secret-of-ntfy >"$tmp/token")
serve <<END
on /
forever
status 200 application/json $ok
END
# bodies: what was posted.
bodies() { requests .body | tee "$tmp/bodies"; }

t 0 "a message is posted" agent-notify --ntfy "$url/alerts" <"$tmp/one"
is "$(bodies | jq -c 'del(.sequence_id)')" \
  '{"topic":"alerts","title":"it <fell>\\e[31m","message":"why","priority":4,"tags":["warning"]}' \
  "a message goes to the topic as JSON"
ok "a message has an id for all tries" \
  jq -e '.sequence_id | test("^[-_A-Za-z0-9]{1,64}$")' "$tmp/bodies"
is "$(requests '.method + " " + .path')" "POST /" "a message goes to the server's root"
is "$(requests '.headers | tojson' | grep -ci authorization)" 0 "no token is sent"
for urgency in emergency:5 attention:3; do
  script <<END
forever
status 200 application/json $ok
END
  printf '{"urgency":"%s","category":"x","title":"t"}\n' "${urgency%:*}" | run agent-notify --ntfy "$url/a"
  is "$(bodies | jq -c '[.priority, .message]')" "[${urgency#*:},\"t\"]" \
    "$urgency is the priority of a message"
done

# --- the token
script <<END
forever
status 200 application/json $ok
END
run agent-notify --ntfy "$url/a" --ntfy-token "$tmp/token" <"$tmp/one"
is "$(requests '.headers | tojson' | grep -c 'Bearer secret-of-ntfy')" 1 "the token goes along"
chmod 644 "$tmp/token"
t 77 "a token that others can read is refused" \
  agent-notify --ntfy "$url/a" --ntfy-token "$tmp/token" <"$tmp/one"
chmod 600 "$tmp/token"
t 2 "a token goes over plain http to this machine alone" \
  agent-notify --ntfy "http://ntfy.invalid/a" --ntfy-token "$tmp/token" <"$tmp/one"
err_like "would travel over plain http; see --allow-plaintext" \
  "a token over plain http to another machine is told"
export AGENT_TOKEN_FILE="$tmp/token"
: >"$log"
run agent-notify --ntfy "$url/a" <"$tmp/one"
is "$(requests '.headers | tojson' | grep -ci authorization)" 0 \
  "the agent's own token is never sent to ntfy"
unset AGENT_TOKEN_FILE
http_proxy=$other run agent-notify --ntfy "$url/a" --ntfy-token "$tmp/token" <"$tmp/one"
http_proxy=$other run agent-notify --ntfy "$url/a" --ntfy-token "$tmp/token" \
  --allow-plaintext <"$tmp/one"
is "$(requests .port | xargs)" "main main other" "--allow-plaintext lets a proxy carry the token"

# A redirect to another place does not take it along, and an answer that is no answer of
# ntfy is no delivery.
script <<END
redirect 307 $other/else
---
forever
status 200 application/json $ok
END
t 0 "a redirect is followed" agent-notify --ntfy "$url/a" --ntfy-token "$tmp/token" <"$tmp/one"
is "$(requests '.headers | tojson' | grep -c secret-of-ntfy)" 1 \
  "the token does not go to the place of a redirect"
script <<END
redirect 302 $url/login
---
forever
status 200 text/html <p>sign in</p>
END
t 75 "a page to sign in is not taken for success" agent-notify --ntfy "$url/a" <"$tmp/one"
err_like "not the answer of an ntfy server" "the message says that it is not an ntfy server"

# --- faults that pass
script <<END
status 500 text/plain no
---
status 429 text/plain slower
+ Retry-After: 6
---
status 200 application/json $ok
END
t 0 "a fault of the server is tried again" agent-notify --ntfy "$url/a" <"$tmp/one"
is "$(requests .n | wc -l | tr -d ' ')" 3 "a fault of the server is tried again until it works"
ok "a fault is not tried again before the server asks to" \
  jq -se '[.[] | select(.what == "request").at] | .[2] - .[1] >= 6' "$log"
is "$(grep -c 'tried again' "$err")" 1 "a fault that is tried again is told once"

# --- faults that do not
script <<END
forever
status 403 application/json {"error":"forbidden"}
END
mkfifo "$tmp/live"
start live sh -c "exec agent-notify --settle 0 --ntfy '$url/a' <'$tmp/live'"
exec 3>"$tmp/live"
cat "$tmp/one" >&3
finished "$pid"
exec 3>&-
status_is 77 "a token that is refused ends agent-notify at once"
like "$(cat "$tmp/live.err")" "403.*refused" "the message tells the refusal"
script <<END
forever
status 404 text/plain nothing here
END
t 2 "what is not an ntfy server has status 2" agent-notify --ntfy "$url/a" --to line <"$tmp/one"
out_like fell "another way tells what the server does not take"
for bad in "$url" "$url/" "$url/a%20b" "$url/a?x=1" ftp://x/a; do
  t 2 "--ntfy $bad is refused" agent-notify --ntfy "$bad" <"$tmp/one"
  err_one_line agent-notify "--ntfy $bad is told in one line"
done

# --- a server that does not answer holds up nobody else
script <<END
forever
stall
END
start live sh -c "exec agent-notify --settle 0 --to line --ntfy '$url/a' <'$tmp/live'"
exec 3>"$tmp/live"
cat "$tmp/one" >&3
ok "a line is told while the server does not answer" wait_until 20 has "$tmp/live.out" fell
stop "$pid" TERM
exec 3>&-
status_is 143 "a signal ends agent-notify in the middle of a request"

# --- over TLS
start_tls 'Authorization: Bearer secret-of-ntfy' "$ok" ''
t 0 "--cacert is believed" \
  agent-notify --ntfy "$url/a" --ntfy-token "$tmp/token" --cacert "$tmp/authority" <"$tmp/one"

done_testing
