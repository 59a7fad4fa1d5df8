#!/bin/sh
# agent-setup and a Pincer server: a pairing code becomes a token, which is kept.
. "${0%/*}/../lib.sh"
. "${0%/*}/../pincer.sh"
needs agent-call curl jq python3

umask 022
TMPDIR=$tmp/tmp
mkdir "$TMPDIR"
export TMPDIR
config=$XDG_CONFIG_HOME/agentutils/config
folder=$XDG_CONFIG_HOME/agentutils
start_pincer pin
rm "$config"
# pass and secret-tool are not for tests.
mkdir "$tmp/tools"
PATH=$tmp/tools:$PATH
talk() { run python3 "$cli/talk.py" agent-setup "$@"; }
code() { ask pin AuthService/CreatePairingCode '{}' | jq -r .code; }

# --- a code, and a wrong one before
first=$(code)
talk -k pincer -p box <<END
URL of the agent|$url
Pairing code or token|00000000
Where to keep the token|file
Another URL|t
Pairing code or token|$first
END
status_is 0 "a pairing code makes a token"
out_like 'the pairing code is wrong, used, or older than 10 minutes' "a wrong pairing code is told"
out_like 'The server has made this machine one of its devices' "a right pairing code is told"
out_like 'agent-call -p box threads: ok' "the profile of a Pincer server works"
is "$(cat "$config")" "[profile box]
kind = pincer
url = $url
token-file = box.token" "the profile of a Pincer server is written"
is "$(find "$folder/box.token" -perm 600)" "$folder/box.token" "the token is for its owner alone"
like "$(cat "$folder/box.token")" '^pnr_' "the token of the profile is the server's"
out_unlike 'pnr_' "the terminal never shows the token"
out_unlike "$first" "the terminal never shows the code"
ok "nothing is left in TMPDIR" test -z "$(ls -A "$TMPDIR")"
is "$(calls pin AuthService/BindPairingCode | jq -r '[has("code"), has("publicKey"), .deviceName] | @csv' | sort -u | cut -c 1-23)" \
  'true,true,"agentutils o' "the device has a name"
is "$(jq -r 'select(.method == "AuthService/BindPairingCode") | .headers.authorization // "none"' \
  "$tmp/pin.log" | sort -u)" none "no token goes along with a code"

# --- a used code, and none at all, while there are devices
talk -k pincer -p two <<END
URL of the agent|$url
Pairing code or token|$first
Where to keep the token|file
Another URL|t
Pairing code or token|
Another URL|q
END
status_is 77 "a code that was used has status 77"
out_like 'wrong, used, or older' "the person is told that a code was used"
out_like 'A device is paired already: make a code on it, with agent-call pairing-code' \
  "the server gives no code by itself any more"
unlike "$(cat "$config")" 'profile two' "nothing is written without a pairing"

# --- a token of one server, and then another server
fourth=$(ask pin AuthService/CreatePairingCode '{}' "$(cat "$folder/box.token")" | jq -r .code)
pin=$url
serve <<'END'
forever
status 200 application/json {"items":[]}
END
tell pin refuse ThreadsService/ListThreads unavailable later
talk -k pincer -p moved <<END
URL of the agent|$pin
Pairing code or token|$fourth
Where to keep the token|file
Another URL|u
URL of the agent|$url
Pairing code or token|pnr_mine
END
status_is 0 "another server can follow a pairing"
unlike "$(grep -v pnr_mine "$log")" 'pnr_' "another server never gets the token of the first"
like "$(cat "$log")" 'pnr_mine' "another server gets its own token"
devices() { ask pin DevicesService/ListDevices '{}' | jq -r '.items[] | .revokedAt // "active"' | tail -n 1; }
isnt "$(devices)" active "The first one is told to forget this machine, whose token is not kept."
url=$pin

# --- first what can fail, and then the code
fifth=$(code)
talk -k pincer -p left <<END
URL of the agent|$url
Pairing code or token|$fifth
Where to keep the token|^C
END
status_is 130 "Who leaves before the code is used may leave."
tell pin refuse ThreadsService/ListThreads unavailable later
talk -k pincer -p left <<END
URL of the agent|$url
Pairing code or token|$fifth
Where to keep the token|file
Another URL|q
END
status_is 75 "A code that was not used serves later."
out_like 'The server has forgotten this machine again' "Who quits behind a pairing gives it back."
isnt "$(devices)" active "The device is revoked."
unlike "$(cat "$config")" 'profile left' "Nothing is written."
sixth=$(code)
mkdir "$folder/full.token"
talk -p full <<END
URL of the agent|$url
Pairing code or token|$sixth
Where to keep the token|file
END
status_is 2 "A token that cannot be kept is told."
out_like 'This is a Pincer server' "A Pincer server is recognised without -k."
out_like 'The server has forgotten this machine again' \
  "The device is revoked when its token cannot be kept."
isnt "$(devices)" active "The server knows that the device is revoked."
# --- a token that there is already
talk -k pincer -p old <<END
URL of the agent|$url
Pairing code or token|$pincer_token
Where to keep the token|file
END
status_is 0 "a token is taken as it is"
is "$(cat "$folder/old.token")" "$pincer_token" "the token that is taken is kept"

# --- the operations behind it
rm -f "$folder/new.token"
printf '[profile new]\nkind = pincer\nurl = %s\n' "$url" >>"$config"
t 0 "a paired device makes a code" agent-call -p box -o tsv pairing-code
second=$(code)
t 0 "agent-call pair succeeds with a code" \
  sh -c 'echo "$1" | agent-call -p new pair "$2"' - "$second" "$folder/new.token"
is "$(jq -c 'keys' "$out")" '["deviceId","expiresAt","renewAfter"]' \
  "agent-call pair prints all but the token"
is "$(find "$folder/new.token" -perm 600)" "$folder/new.token" \
  "the token of agent-call pair is for its owner alone"
second=$(code)
t 2 "a file that cannot be written is an error" \
  sh -c 'echo "$1" | agent-call -p new pair "$2/none/token"' - "$second" "$tmp"
t 0 "a file that cannot be written costs no code" \
  sh -c 'echo "$1" | agent-call -p new pair "$2"' - "$second" "$folder/new.token"
t 2 "what is not a code is not sent" \
  sh -c 'echo "12 ab" | agent-call -p new pair "$1"' - "$folder/new.token"
printf '[profile far]\nkind = pincer\nurl = http://pincer.invalid\n' >>"$config"
t 2 "a code goes to no other machine in clear text" \
  sh -c 'echo 12345678 | agent-call -p far pair "$1"' - "$folder/far.token"
err_like 'clear text; see --allow-plaintext' "the message says how a code would go in clear text"

# --- words of the command line
t 2 "a kind that is not known is an error" agent-setup -k dashboard
err_like "^agent-setup: option --kind: not clanky, openclaw, pincer, joelclaw or pds: dashboard$" \
  "a kind that is not known is named"
done_testing
