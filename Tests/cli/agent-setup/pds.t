#!/bin/sh
# agent-setup and a personal data server: who logs in, with which password, and whose records an
# agent keeps there.
. "${0%/*}/../lib.sh"
needs agent-call pds-record python3 jq
needs_peers
. "${0%/*}/../pds.sh"
. "${0%/*}/../joelgate.sh"

config=$XDG_CONFIG_HOME/agentutils/config
start_pds me
pds=$url
rm "$config"
password=app-pass-word-1234
TMPDIR=$tmp/tmp
mkdir "$TMPDIR" "$tmp/tools"
export TMPDIR
PATH=$tmp/tools:$PATH
cat >"$tmp/tools/pds-record" <<'END'
#!/bin/sh
{ printf '%s\n' "$0" "$@"; env; } >>"$SEEN"
exec "$REAL/pds-record" "$@"
END
chmod +x "$tmp/tools/pds-record"
SEEN=$tmp/seen
REAL=$root/bin
export SEEN REAL
talk() { run python3 "$cli/talk.py" agent-setup "$@"; }

talk -k pds -p records <<END
URL of the server|ws://127.0.0.1:1
by https|-
URL of the server|$pds
Handle of the account|alice
neither a handle|-
Handle of the account|@alice.test
App password, not shown|wrong-password
quit (u/h/p/w/q) [p]|
App password, not shown|$password
Where to keep the app password|file
END
status_is 0 "a profile for records is made"
out_like "does not let alice.test in with this password" "a wrong password is told"
out_like "pds-record -p records login: ok" "the profile for records is tried"
is "$(cat "$config")" "[profile records]
kind = pds
url = $pds
identifier = alice.test
token-file = records.token" "the profile for records is written"
is "$(cat "$XDG_CONFIG_HOME/agentutils/records.token")" "$password" "the password is kept"
is "$(stat -c %a "$XDG_CONFIG_HOME/agentutils/records.token")" 600 \
  "the app password is for its owner alone"
not_ok "the terminal never shows the app password" has "$out" "$password"
not_ok "the app password is given to no command" grep -q "$password" "$SEEN"
is "$(ls -A "$TMPDIR")" "" "nothing is left in TMPDIR"
run pds-record -p records login
out_is '{"did":"did:web:alice.test","handle":"alice.test"}' "the login tells whose records they are"
: >"$tmp/me.log"
echo '{}' | pds-record -p records create $task >"$tmp/written"
is "$(asked me createSession)" 0 "no login is needed a second time"

talk -k pds -p by-did <<END
URL of the server|$pds
Handle of the account|did:web:bob.test
App password, not shown|
has no account of this name|-
quit (u/h/p/w/q) [h]|
Handle of the account|did:web:alice.test
END
status_is 0 "an account by its DID gets a profile without a password"
out_like "did:web:alice.test is alice.test" "the handle of an account by its DID is shown"
is "$(tail -n 4 "$config")" "[profile by-did]
kind = pds
url = $pds
identifier = alice.test" "the handle is written"
talk -k pds -p records <<END
Replace its URL and app password|y
URL of the server|$pds
Handle of the account|did:web:alice.test
App password, not shown|$password
Where to keep|file
END
status_is 0 "an account by its DID gets a profile with a password"
is "$(sed -n 4p "$config")" "identifier = alice.test" \
  "the handle is written for an account by its DID"

# What a server says of a handle is a claim, and a line of the configuration is not endless.
long=$(printf '%0200d' 0 | tr 0 a).test
for answer in '"handle": "mallory.test", "handleIsCorrect": false' '"handle":"mallory.test"' \
  "\"handle\":\"$long\",\"handleIsCorrect\":true" '"handle" : "ada.test", "handleIsCorrect" : true'; do
  case $answer in *ada*) want=ada.test ;; *) want=did:web:alice.test ;; esac
  jq -cn --arg text "{\"did\":\"did:web:alice.test\",$answer}" \
    '{method: "describeRepo", status: 200, text: $text}' >>"$tmp/me.faults"
  sed -i '/^\[profile claimed\]/,$d' "$config"
  talk -k pds -p claimed <<END
URL of the server|$pds
Handle of the account|did:web:alice.test
App password, not shown|
END
  is "$(sed -n '/^\[profile claimed\]/,$s/^identifier = //p' "$config")" "$want" \
    "a handle is written only if it is right: $(printf %.40s "$answer")"
done
sed -i '/^\[profile claimed\]/,$d' "$config"

# --- an agent that keeps its records there

start_joelgate joel
gate=$url
sed -i '/^\[profile joel\]/,$d' "$config"
talk -k joelclaw -p joel <<END
URL of the agent|$gate
Token, not shown|
Profile of the server that keeps its records: records, by-did, none [none]|nowhere
choose one|records
END
status_is 0 "an agent gets a profile"
is "$(tail -n 4 "$config")" "[profile joel]
kind = joelclaw
url = $gate
pds = records" "the profile of an agent names the server of its records"
t 0 "the records of an agent are found by its profile" pds-record -p joel get $task
talk -k joelclaw -p joel <<END
Replace|y
URL of the agent|$gate
Token, not shown|
none [records]|none
END
is "$(tail -n 3 "$config")" "[profile joel]
kind = joelclaw
url = $gate" "an agent may have no server of records any more"

# --- what is no such server

serve <<'END'
forever
status 200 text/html <html>hello</html>
END
talk -k pds -p other <<END
URL of the server|$url
Handle of the account|alice.test
App password, not shown|$password
quit (u/h/p/w/q) [u]|q
END
status_is 75 "something else is no such server"
out_like "not a personal data server" "the person is told that it is not a personal data server"
not_ok "what is not a personal data server gets no password" grep -rq "$password" "$log"
talk -k pds -p away <<END
URL of the server|127.0.0.1:9
Handle of the account|alice.test
App password, not shown|$password
quit (u/h/p/w/q) [u]|q
END
status_is 75 "a server that cannot be reached has status 75"
out_like "Nothing answers at this address" "the person is told at once that nothing answers"

done_testing
