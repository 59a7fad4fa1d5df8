#!/bin/sh
# Names of files and folders that are not UTF-8: they are bytes, and no other file is
# meant by them, in every command that takes one.
. "${0%/*}/../lib.sh"
needs sse-tail mem-search python3 jq perl
[ -x "$root/bin/agent-serve" ] || skip_all "needs agent-serve"
umask 077
cd "$tmp" || exit 1
# Latin-1, what a repaired name would be, and bytes that look like the beginning of more.
odd=$(printf 'caf\351 \360\237')
decoy=$(printf 'caf\357\277\275 \357\277\275')
: 2>/dev/null >"$odd"
set -- caf*
[ "$1" = "$odd" ] || skip_all "this file system takes only UTF-8"
rm "$odd"
shown='caf\xe9 \xf0\x9f'

printf '{"kind":"a","content":"right"}\n' >"$odd"
printf '{"kind":"a","content":"wrong"}\n' >"$decoy"
for command in action-filter action-format; do
  t 0 "$command opens the file of odd bytes" "$command" "$odd"
  out_like right "$command opens no other file"
done
run action-filter -- -"$odd"
err_is "action-filter: -$shown: no such file or directory" "a message shows the bytes of a name"
printf 'bad\n{"kind":"b","content":"b"}\n' >rows
run action-filter -R "rejects $odd" rows
ok "action-filter -R writes to the file of odd bytes" test "$(cat "rejects $odd")" = bad
set -- rejects*
is "$#" 1 "action-filter -R writes to no other file"
jq -c '.sessions[0].sessionId = "right"' "$root/Tests/fixtures/voice/full.json" >"voice $odd"
t 0 "voice-state FILE reads the file of odd bytes" voice-state -o line "voice $odd"
out_like ' right ' "voice-state FILE reads no other file"

# Options whose argument is a file.
serve <<'S'
on /api/activity/events
forever
stream
send id: 7\ndata: x\n\n
---
on /api/memory/facts
forever
status 200 application/json {"guildId":"1","facts":[]}
---
on /api/health
forever
status 200 application/json {"ok":true}
S
AGENT_URL=$url
export AGENT_URL
echo right >"token $odd"
echo wrong >"token $decoy"
sent() { requests '.headers["x-dashboard-token"] // ""' | tail -n 1; }
for command in "sse-tail -n 1 activity" "mem-search -g 1 -f" "agent-call health"; do
  # shellcheck disable=SC2086  # words
  run $command --token-file "token $odd"
  is "$(sent)" right "$command takes an odd name for --token-file"
done
AGENT_TOKEN_FILE="token $odd" run agent-call health
is "$(sent)" right "AGENT_TOKEN_FILE takes an odd name"
run sse-tail -n 1 --state "state $odd" activity
ok "sse-tail --state takes an odd name" test -s "state $odd"
t 0 "sse-tail --archive takes an odd name" sse-tail -n 1 --archive "archive $odd" activity
ok "sse-tail --archive makes the folder of odd bytes" test -d "archive $odd"
run sse-tail -n 1 --archive "archive $odd" activity
is "$(requests '.headers["last-event-id"] // ""' | tail -n 1)" 7 \
  "an archive of an odd name is found again"
is "$(LC_ALL=C ls "archive $odd"/*.ndjson | wc -l | tr -d ' ')" 1 \
  "an archive of an odd name has what was in it"
printf '{"right":1}' >"data $odd"
run sse-tail -n 1 --data "@data $odd" "$url/api/activity/events"
is "$(requests .body | tail -n 1)" '{"right":1}' "sse-tail --data @FILE takes an odd name"
run agent-call health --cacert "none $odd"
err_is "agent-call: none $shown: no such file or directory" \
  "a missing file of --cacert is told by its bytes"

# A home and folders of such names.
home="$tmp/home $odd"
mkdir -p "$home/.config/agentutils"
printf '[profile p]\nurl = %s\ntoken-file = tok\n' "$url" >"$home/.config/agentutils/config"
echo home >"$home/.config/agentutils/tok"
run env -u AGENT_URL -u XDG_CONFIG_HOME -u XDG_STATE_HOME HOME="$home" agent-call health
is "$(sent)" home "HOME of an odd name has its configuration, and what that names"
chmod 664 "$home/.config/agentutils/config"
run env -u AGENT_URL -u XDG_CONFIG_HOME HOME="$home" agent-call health
err_is "agent-call: $tmp/home $shown/.config/agentutils/config: refused: others can write to it (chmod go-w)" \
  "HOME is shown in a message"
mkdir -p "config $odd/agentutils"
printf '[profile q]\nurl = %s\n' "$url" >"config $odd/agentutils/config"
t 0 "XDG_CONFIG_HOME takes an odd name" \
  env -u AGENT_URL XDG_CONFIG_HOME="$tmp/config $odd" agent-call -p q health
t 0 "XDG_STATE_HOME takes an odd name" \
  env XDG_STATE_HOME="$tmp/state-home $odd" mem-search -g 1 --mirror
ok "XDG_STATE_HOME is the folder of odd bytes" test -d "state-home $odd/agentutils"
is "$(jq -r .path "$out" | sed 's,/agentutils/[^/]*$,,')" "$tmp/state-home $shown" \
  "a record shows the bytes of the folder"
t 1 "a copy in XDG_STATE_HOME of an odd name is found again" \
  env XDG_STATE_HOME="$tmp/state-home $odd" mem-search -g 1 --offline -f

# The inbox.
t 0 "share-inbox add takes an odd name" share-inbox --inbox "inbox $odd" add "$odd" "$decoy"
is "$(cat "inbox $odd"/* | jq -r .content | tr '\n' ' ')" "right wrong " \
  "share-inbox add takes the files that were meant"
is "$(jq -r .path "$out" | sed 's,/[^/]*$,,' | sort -u)" "$tmp/inbox $shown" \
  "a record shows the bytes of the inbox"
touch "inbox $odd/$odd" "inbox $odd/.add-$odd" "inbox $odd/.add-$decoy"
touch -t 202001010000 "inbox $odd/.add-$odd"
run share-inbox --inbox "inbox $odd" list
is "$(lines "$out")" 2 "the items of an inbox of an odd name are listed"
err_is "share-inbox: $tmp/inbox $shown/$shown: not an item's name, left alone" \
  "a name in the inbox that is not an item's is told by its bytes"
t 0 "share-inbox drain takes an odd name" \
  share-inbox --inbox "inbox $odd" --exec "cat >>'got $odd'" drain
is "$(jq -r .content "got $odd" | tr '\n' ' ')" "right wrong " \
  "drained files go to a command with an odd name"
run share-inbox --inbox "inbox $odd" purge
ok "purge removes what an add left" test ! -e "inbox $odd/.add-$odd"
ok "purge removes nothing else" test -e "inbox $odd/.add-$decoy"

# The store of agent-serve, and what it reads.
unset AGENT_URL
start_server serve agent-serve -l 127.0.0.1:0 -D "store $odd" --ingest "$odd"
ok "agent-serve --database and --ingest take an odd name" wait_until 30 sh -c \
  "agent-call -o json actions -n 5 2>/dev/null | grep -q right || AGENT_URL='$url' agent-call actions -n 5 | grep -q right"
kill "$pid"
finished "$pid"
set -- store*
is "$#" 2 "the files of a store of an odd name are there, and no other"
ok "the files of a store have odd names" test -s "store $odd" -a -e "store $odd.lock"
start_server again agent-serve -l 127.0.0.1:0 -D "store $odd"
run env AGENT_URL="$url" agent-call actions -n 5
out_like right "agent-serve finds a store of an odd name again"

done_testing
