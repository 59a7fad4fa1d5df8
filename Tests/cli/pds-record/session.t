#!/bin/sh
# pds-record: tokens that expire, several processes, passwords, and where secrets go.
. "${0%/*}/../lib.sh"
needs pds-record jq curl
needs_peers
. "${0%/*}/../pds.sh"
start_pds me --lifetime 0.6
tokens=$XDG_STATE_HOME/agentutils/pds
sed 's/profile me/profile by-did/;s/= alice.test/= did:web:alice.test/' \
  "$XDG_CONFIG_HOME/agentutils/config" >"$tmp/by-did"
fill() { seq "$1" | jq -c '{n: .}'; }

mkfifo "$tmp/slow.fifo"

# --- tokens expire while records are written

for number in 1 2 3 4; do
  echo "{\"n\":$number}"
  sleep 0.4
done >"$tmp/slow.fifo" &
t 0 "records are written though tokens expire on the way" pds-record create $task <"$tmp/slow.fifo"
is "$(lines "$out")" 4 "every record is written though tokens expire"
is "$(stored me | wc -l | tr -d ' ')" 4 "each record is written once though tokens expire"
is "$(asked me createSession)" 1 "one password is enough"
ok "new tokens are had on the way" [ "$(asked me refreshSession)" -ge 1 ]
is "$(stat -c %a "$tokens"/*.json)" 600 "nobody else can read the tokens"
unlike "$(cat "$tokens"/*.json "$out")" app-pass-word \
  "the password is in none of the files of tokens"

# --- worn out twice over

start worn sh -c "exec pds-record create $task <$tmp/slow.fifo"
worn=$pid
exec 5>"$tmp/slow.fifo"
echo '{"worn":1}' >&5
wait_until 20 at_least "$tmp/worn.out" 1
sleep 0.7
# Another process renews the tokens, and those wear out, too.
given '{"worn":2}' pds-record create $task
sleep 0.7
echo '{"worn":3}' >&5
exec 5>&-
finished "$worn"
is "$status:$(lines "$tmp/worn.out")" 0:2 \
  "tokens of another process that expired meanwhile are renewed"
cat "$tmp/by-did" >>"$XDG_CONFIG_HOME/agentutils/config"
for line in alice.test did:web:alice.test; do
  given "at://$line/$task/none" env AGENT_PROFILE=by-did pds-record delete
  status_is 0 "$line is one's own name"
done
rm "$tokens"/*did-web*
start_over=$(grep -n by-did "$XDG_CONFIG_HOME/agentutils/config" | cut -d : -f 1)
sed -i "$start_over,\$d" "$XDG_CONFIG_HOME/agentutils/config"

# --- several at once

: >"$tmp/me.log"
sleep 0.7
for number in 1 2 3 4 5 6; do
  echo "{\"p\":$number}" | pds-record create $task >"$tmp/p.$number" 2>&1 &
  eval "p$number=$!"
done
codes=
for number in 1 2 3 4 5 6; do
  eval "wait \$p$number" && codes=$codes+ || codes=$codes-
done
is "$codes" "++++++" "six processes at once all succeed"
ok "the tokens of six processes are renewed by one of them" [ "$(asked me refreshSession)" -lt 4 ]
is "$(asked me createSession)" 0 "none of six processes logs in"
is "$(stored me | jq -c 'select(.p)' | wc -l | tr -d ' ')" 6 \
  "every record of six processes is there"

# --- a new pair whose answer is lost is used up

sleep 0.7
: >"$tmp/me.log"
fault me '{"method":"refreshSession","lose":true}'
given '{}' pds-record create $task
status_is 0 "a record is written though a new pair of tokens is lost"
is "$(asked me refreshSession) $(asked me createSession)" "2 1" \
  "a lost pair of tokens is had for the password"
: >"$tmp/me.log"

# --- tokens that are good for nothing

sed -i 's/"refreshJwt":"[^"]*"/"refreshJwt":"nonsense"/;s/"accessJwt":"[^"]*"/"accessJwt":"bad"/' "$tokens"/*.json
given '{}' pds-record create $task
status_is 0 "a record is written where the server does not know the tokens"
is "$(asked me createSession)" 1 "tokens that the server does not know are had for the password"
echo nonsense >"$(echo "$tokens"/*.json)"
given '{}' pds-record create $task
status_is 0 "a broken file of tokens is no obstacle"
chmod 644 "$tokens"/*.json
given '{}' pds-record create $task
status_is 77 "tokens that others can read are refused"
err_like 'chmod 600' "the message says what to do"
rm -r "$tokens"

# --- passwords

echo wrong >"$tmp/pds.password"
given '{}' pds-record create $task
status_is 77 "a wrong password is refused"
err_one_line pds-record "a wrong password is refused in one line"
err_like "AuthenticationRequired.*the password from $tmp/pds.password was refused" \
  "the source of a wrong password is told"
err_unlike wrong.$ "a wrong password is not shown"
is "$(asked me createSession)" 3 "a wrong password is tried once"

# An account with two factors: the server mails a code each time that somebody logs in.
two='{"method":"createSession","status":401,"text":"{\"error\":\"AuthFactorTokenRequired\",\"message\":\"A sign in code has been sent to your email address\"}"}'
before=$(asked me createSession)
for _ in 1 2 3 4; do
  fault me "$two"
  given '{}' pds-record create $task
  status_is 77 "the password of an account with two factors is refused"
  err_one_line pds-record "an account with two factors is refused in one line"
  err_like 'give an app password' "the message asks for an app password"
done
is "$(($(asked me createSession) - before))" 1 "several tries have one code mailed"
t 77 "login has status 77 for an account with two factors" pds-record login
is "$(($(asked me createSession) - before))" 2 "login asks for one code more"
unlike "$(cat "$tokens"/*.code)" wrong "the password is not kept"
echo other >"$tmp/pds.password"
given '{}' pds-record create $task
is "$(($(asked me createSession) - before))" 3 "another password is tried"
: >"$tmp/me.faults"
echo wrong >"$tmp/pds.password"
given '{}' env AGENT_TOKEN_FILE="$tmp/none" pds-record create $task
status_is 77 "a missing password has status 77"
t 0 "a missing password does not keep one from reading" pds-record list $task
sed -i '/token-file/d' "$XDG_CONFIG_HOME/agentutils/config"
given '{}' pds-record create $task
status_is 77 "a password needs a source"
err_like 'no app password' "the message says that there is no app password"
printf '[profile far]\nkind = pds\nurl = http://example.invalid\nidentifier = a.test\ntoken-command = echo x\n' \
  >>"$XDG_CONFIG_HOME/agentutils/config"
given '{}' pds-record -p far create $task
status_is 77 "a password does not go over plain http"
err_like 'plain http; see --allow-plaintext' "the message says why no password was sent"
t 75 "--allow-plaintext lets a password go over plain http" \
  timeout 3 pds-record -p far --allow-plaintext --timeout 1 delete $task x
printf '[profile claw]\nkind = joelclaw\nurl = ws://127.0.0.1:9\npds = me\n' \
  >>"$XDG_CONFIG_HOME/agentutils/config"
t 0 "an agent's profile names its server" pds-record -p claw list -n 1 $task
t 0 "an address without a profile is enough to read" \
  env AGENT_URL="$url" XDG_CONFIG_HOME="$tmp/none" pds-record --repo did:web:alice.test list -n 1 $task
printf '[profile bad]\nkind = pds\nurl = %s\nidentifier = not a name\n' "$url" \
  >>"$XDG_CONFIG_HOME/agentutils/config"
t 2 "an identifier that is not a name is an error" pds-record -p bad describe

# --- TLS

start_tls '' '{"handle":"alice.test"}' ''
printf '[profile tls]\nkind = pds\nurl = %s\nidentifier = a.test\n' "$url" \
  >>"$XDG_CONFIG_HOME/agentutils/config"
t 75 "an authority that nobody knows has status 75" pds-record -p tls --timeout 2 describe
t 0 "an authority is known when it is named" pds-record -p tls --cacert "$tmp/authority" describe

# --- redirects

serve <<'END'
forever
redirect 307 @OTHER@/xrpc/com.atproto.server.createSession
END
printf '[profile raw]\nkind = pds\nurl = %s\nidentifier = a.test\ntoken-command = echo secret-word\n' "$url" \
  >>"$XDG_CONFIG_HOME/agentutils/config"
given '{}' pds-record -p raw create $task
status_is 2 "a redirect to another server is an error"
err_like 'to another server' "the message says that a redirect leads to another server"
is "$(requests .n | wc -l | tr -d ' ')" 1 "no password goes to another server"

# --- a command that does not come to an end
printf '[profile hung]\nkind = pds\nurl = %s\nidentifier = alice.test\ntoken-command = exec sleep 1000\n' \
  "$(sed -n '/profile me/,$s/^url = //p' "$XDG_CONFIG_HOME/agentutils/config" | head -n 1)" \
  >>"$XDG_CONFIG_HOME/agentutils/config"
bound=20
given '{}' pds-record -p hung --timeout 0.5 create $task
status_is 75 "a password that does not come has status 75"
err_one_line pds-record "one line says that a password did not come"
t 75 "login waits no longer for a password" pds-record -p hung --timeout 0.5 login
given '{}' pds-record -p hung --queue --timeout 0.5 create $task
status_is 75 "a change has status 75 while the password does not come"
is "$(outbox list -p hung | jq -r .state)" queued \
  "a change is queued while the password does not come"
t 75 "the outbox is not sent without the password" outbox flush -p hung --max-time 0.5
is "$(outbox list -p hung | jq -r .state)" queued \
  "a change stays in the outbox without the password"

done_testing
