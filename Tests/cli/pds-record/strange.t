#!/bin/sh
# pds-record watch: servers that refuse records, tell too much or nothing, and are away at first.
. "${0%/*}/../lib.sh"
needs pds-record agent-tail jq
start_server faulty python3 "$cli/servers/faulty_pds.py" "$tmp/log"
for name in toobig numberless strange large many wordy future away page private gone refused \
  anew equal breaks slow quiet outdated norevs blocks others proxy proxypage proxywords; do
  printf '[profile %s]\nkind = pds\nurl = %s/%s\nidentifier = did:web:a.test\n' \
    $name "$url" $name
done >"$XDG_CONFIG_HOME/agentutils/config"
printf '[profile named]\nkind = pds\nurl = %s/named\nidentifier = a.test\n[profile dead]\nkind = pds\nurl = http://127.0.0.1:9\nidentifier = a.test\n' \
  "$url" >>"$XDG_CONFIG_HOME/agentutils/config"
# watch PROFILE [OPTION...]
watch() {
  _profile=$1
  shift
  run pds-record watch -p "$_profile" --retry-wait 0.1 --max-time 10 "$@"
}
ops() { jq -r 'select(.event == "#commit").data.ops | map(.path + " \(.value.n)") | join(" ")' "$out"; }
streams() { grep "^$1 subscribeRepos" "$tmp/log" | cut -d ' ' -f 3 | paste -sd,; }

# --- what changed, and cannot be told

watch away -n 2 -v
is "$(ops | xargs)" "com.example.a/a 1 com.example.a/b 1" "the first event is not lost with its record"
is "$(streams away)" ",cursor=0" "the next connection begins before the event without its record"
err_like 'a record could not be fetched: 503 .*; next try in 1.0 s' \
  "a record is fetched again after the time the server names"
watch refused -n 2
status_is 2 "a record that is refused for good is an error"
is "$(ops | xargs)" "com.example.a/a null com.example.a/b 1" \
  "a refused record does not hold up the others"
err_is "pds-record: $url/refused: com.example.a/a: a record could not be fetched: 400 Bad Request: RepoTakendown: no" \
  "the refused record is named"
watch gone -n 2
status_is 0 "a record that is gone has status 0"
is "$(ops | xargs)" "com.example.a/a null com.example.a/b 1" \
  "a record that is gone is told without a value"
watch page -n 1 --max-retries 2
status_is 75 "a page is not taken for a record that is gone"
err_like "gave up after 2 retries: .*404 Not Found: a page, not a server's answer" \
  "a record that a page answered is asked for again"
out_empty "nothing is printed of a record that a page answered"
watch private -n 1
status_is 77 "records for those who logged in are refused"
err_like 'no app password' "the message about private records asks for a password"

# --- records that the commit brings along

: >"$tmp/log"
watch blocks -n 8 com.example.a
is "$(jq -c '.data.ops[0].value' "$out" | sed -n 2p)" \
  '{"n":7,"link":{"$link":"bafyreiho3bjsw2bz4qvep3cj2qeeqd4fuxgr7qv6zllshbyahcsm5bvujq"},"list":[null,true],"$type":"com.example.a","bytes":{"$bytes":"AQI"}}' \
  "links and bytes are written as in any record"
is "$(ops | sed 's,com.example.a/,,g; s/\[*\]*//g' | xargs)" "a 1 b 7 c 1 d 1 e 1 f null g 1 bad null" \
  "each record of a commit is told"
is "$(grep getRecord "$tmp/log" | sed 's/.*rkey=//' | xargs)" "c d e f g bad" \
  "a record is asked for where its commit has it not, or damaged"
err_is "pds-record: $url/blocks: com.example.a/bad: a record could not be fetched: 500 Internal Server Error: InternalServerError: no" \
  "a record at which the server fails for ever is named"
not_ok "the blocks are not printed" grep -q '"blocks"' "$out"
watch others -n 2 --from 0
is "$(jq -r .event "$out" | xargs)" "#identity #account" "without a collection everything counts"
watch others -n 1 --from 0 com.example.a
is "$(jq -r .id "$out" | xargs)" 5 "with a collection only its commits are told"

# --- a line that breaks before its first event

for each in breaks slow; do
  watch $each -L -n 3 com.example.a
  is "$(jq -r '.id // .type' "$out" | xargs)" "open lost resumed 6 7 end" \
    "$each: what was missed is replayed, and no more" || cat "$out" "$err"
  is "$(streams $each)" ",cursor=0" "$each: the next connection begins at the beginning"
done
watch quiet -L -n 1
is "$(jq -r '.id // .type' "$out" | xargs):$(streams quiet)" "open lost resumed 8 end:," \
  "nothing is replayed where nothing was missed"
watch outdated -L -n 1
is "$(jq -r '.id // .type' "$out" | xargs)" "open lost resumed gap 7 end" \
  "what the server does not keep is a gap"
err_like 'possible gap: commits between 2026-11-29T00:00:05.000Z and 2026-11-29T00:00:07.000Z' \
  "a gap is told to people"
watch norevs -L -n 1
is "$(jq -r '.id // .type' "$out" | xargs)" "open lost resumed gap 8 end" \
  "what nobody can tell is a gap, too"

# --- a proxy that hands no upgrade on

for each in proxy proxypage proxywords; do
  run pds-record watch -p $each -L --max-time 3
  is "$(jq -r .type "$out" | xargs)" "open end" "$each: the server is polled"
  err_like 'no stream of events: 400 Bad Request.*; it is polled' \
    "$each: the message says that the server is polled"
done

# --- strange events

watch toobig -n 3
is "$(jq -c '[.id, .data.tooBig]' "$out" | xargs)" "[1,true] [2,null] [3,null]" \
  "commits that tell no changes are printed"
watch toobig -n 2 com.example.a
is "$(jq -r .id "$out" | xargs)" "1 3" "a collection gets the commits that keep changes back"
watch numberless -n 1
is "$(jq -r .id "$out")" 3 "an event may have no number"
is "$(grep -c '#commit without a number is dropped' "$err")" 2 \
  "each event without a number is named"
watch strange -n 2
is "$(jq -c 'select(.id == "1").data | has("\u0301key\"")' "$out")" true "a strange name stays whole"
is "$(grep -o '"value"' "$out" | wc -l):$(ops | xargs)" "1:com.example.a/a 1" \
  "a value that a server puts into an event is not shown"
watch large -n 1
err_like 'an event of more than 8388608 bytes dropped; see --max-event-bytes' \
  "an event of more than 8 MiB is dropped"
is "$(ops)" "com.example.a/b 1" "the event behind a dropped one is told"
watch large -n 1 --max-event-bytes 20000000
is "$(ops):$(cat "$err")" "com.example.a/a 1:" "--max-event-bytes allows larger events"
watch many -n 1
err_like 'an event is dropped: more than 100000 values' "an event with too many parts is dropped"
watch wordy -v --max-retries 0
ok "a long message of a server is cut" [ "$(wc -c <"$err")" -lt 1500 ]
watch future --state "$tmp/state"
err_is "pds-record: $url/future: FutureCursor" "an event number is not made up for an empty state"
printf '{"type":"sse_state","source":"repository did:web:a.test of %s/future","last_event_id":"9"}\n' \
  "$url" >"$tmp/state"
watch future --state "$tmp/state"
status_is 2 "a state of the future is refused"
err_like "FutureCursor \(event 9\): remove $tmp/state to begin" \
  "the message says how to begin with a state of the future"

# --- numbers that begin again, of which the server says nothing

for each in 'anew:n1 n2 n3 n4 n5 n6' 'equal:n2 n3 n4 n5 n6'; do
  name=${each%%:*}
  watch "$name" --state "$tmp/$name" -n $((2 + $(echo "${each#*:}" | wc -w)))
  is "$status $(ops | sed 's,com.example.a/,,g; s, 1,,g' | xargs)" "0 o5 o6 ${each#*:}" \
    "$name: each event is told, and none twice"
  is "$(streams "$name")" ",cursor=6,cursor=0" "$name: the events that came before are asked for"
  is "$(grep -c "the server's events are numbered anew: . comes behind 6" "$err")" 1 \
    "$name: the new numbers are told once"
done
is "$(jq -r .newest "$tmp/anew")" 2026-11-01T00:16:00.000Z \
  "the state says when the newest event was"
printf '{"type":"sse_state","source":"repository did:web:a.test of %s/anew","last_event_id":"9","newest":"2026-11-01T00:09:00.000Z"}\n' \
  "$url" >"$tmp/anew"
watch anew --state "$tmp/anew" -n 6
is "$status $(jq -r .id "$out" | xargs)" "0 1 2 3 4 5 6" \
  "new numbers are followed at the next start, too"
err_like 'numbered anew: 1 comes behind 9' "the message tells both numbers"

# --- a server that is away, and an account known by its handle

watch named -n 1
is "$(ops)" "com.example.a/a 1" "an account is looked up by its handle"
watch named -n 1 --state "$tmp/named"
is "$(jq -r .source "$tmp/named")" "repository did:web:a.test of $url/named" \
  "an account is kept as a DID in the state"
sed -i 's/did:web:a/did:web:b/' "$tmp/named"
watch named --state "$tmp/named"
status_is 2 "a state of somebody else is refused"
err_like 'a.test is did:web:a.test now, and the state that of repository did:web:b.test' \
  "the message names both accounts"
run agent-tail -p named,dead --retry-wait 0.1 --max-retries 1 --max-time 3
is "$(jq -r 'select(.event).profile' "$out" | sort | uniq -c | xargs)" "2 named" \
  "a server that is away keeps no other from being followed"
err_like 'gave up after 1 retries' "the message says that a server that is away was tried again"
unlike "$(cat "$err")" '--timeout' "the message does not advise an option that watch lacks"

done_testing
