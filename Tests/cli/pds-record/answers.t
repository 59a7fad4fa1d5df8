#!/bin/sh
# pds-record: lists that break off, and answers that are not what was asked for.
. "${0%/*}/../lib.sh"
needs pds-record jq
start_server faulty python3 "$cli/servers/faulty_pds.py" "$tmp/log"
for name in numbers gaps twice badrow idle oddcursor norev other bigcid conflicts refused unread \
  plain stranger; do
  printf '[profile %s]\nkind = pds\nurl = %s/%s\nidentifier = did:web:a.test\n' \
    $name "$url" $name
  echo 'token-command = echo password'
done >"$XDG_CONFIG_HOME/agentutils/config"
given() {
  printf '%s\n' "$1" >"$tmp/given"
  shift
  run "$@" <"$tmp/given"
}
asked() { grep -c "^$1 $2 " "$tmp/log"; }
keys() { jq -r '.uri | split("/")[-1]' "$out" | tr -d k | xargs; }

# --- lists

run pds-record list -p numbers com.example.a
is "$status:$(keys)" "0:9 8 7 6 5 4 3 2 1" "a cursor may be a number"
run pds-record list -p gaps com.example.a
is "$status:$(keys)" "0:9 7 5 3 1" "an empty page is not the end"
run pds-record list -p twice com.example.a
is "$status:$(keys)" "0:9 8 7 6 4 3 2 1" "a cursor that came before is not the end"
run pds-record list -p badrow com.example.a
is "$status:$(keys)" "2:9 8 7 6 4 3 2 1" "a page whose only row is bad is not the end"
run pds-record list -p idle com.example.a
is "$status:$(asked idle listRecords)" "2:10" "ten pages in a row without a new record are the end"
err_like '10 pages in a row without a new record; no more are read' \
  "the message says that no more pages are read"
run pds-record list -p oddcursor com.example.a
is "$status:$(keys)" "2:9" "a cursor that is neither text nor number is an error"
err_like 'neither a text nor a number' "the message says that the cursor is neither"
run pds-record list -p norev --timeout 3 --reverse com.example.a
is "$status:$(keys)" "0:1 2 3 4 5 6 7 8 9" "a list is turned where reverse is not implemented"

# --- records

t 2 "another record than was asked for is an error" pds-record get -p other com.example.a x
out_empty "another record than was asked for is not printed"
given "$(printf 'b\na\n  {"rkey":"c"}  \r')" pds-record get -p refused com.example.a
status_is 2 "a record that the server refuses is an error"
is "$(keys)" "b c" "a refused record does not end the others"
err_is "pds-record: standard input:2: 400 Bad Request: RepoTakendown: no" "the bad line is named"
seq 12 | jq -c '{rkey: "x\(.)", value: {n: 2}}' >"$tmp/rows"
echo '{"rkey":"a","value":{}}' >>"$tmp/rows"
t 2 "a conflict that cannot be looked into is an error" \
  pds-record put -p conflicts com.example.a <"$tmp/rows"
is "$(grep -c 'nothing was written' "$err")" 12 "each conflict is named"
err_like '^pds-record: standard input:13: .*InvalidSwap.*, and what is there is not told: .*RepoTakendown' \
  "a conflict that cannot be looked into tells what is known"
given '{"n":1}' pds-record put -p bigcid com.example.a x
status_is 2 "an answer with a bad CID is an error"
ok "the message about a bad CID is cut" [ "$(wc -c <"$err")" -lt 700 ]
err_unlike SECRET "the secrets in a bad answer are not shown"
given '{"n":1}' pds-record -p plain delete --swap none com.example.a x
status_is 2 "a deletion with --swap none is refused"
for odd in '{"$bytes":"a!"}' '{"$bytes":"AQI=="}' '{"$bytes":"AQI=","n":1}' '{"$link":"none"}' \
  '{"$link":"bafyreighusodssr3","n":1}'; do
  given "{\"n\":$odd}" pds-record -p conflicts put com.example.a x
  err_like InvalidSwap "what a server keeps as it is may be brought back: $odd"
done
given '{"n":{"$bytes":"-_8"}}' pds-record -p plain put com.example.a x
err_like 'bytes that are not base64' "bytes in letters that servers refuse are not sent"

# --- sessions

# They are kept for all that is at one origin.
rm -r "$XDG_STATE_HOME/agentutils/pds"
given '{"n":1}' pds-record -p unread --max-retries 0 put com.example.a x
is "$status:$(asked unread createSession)" 75:1 "a server that fails with a new token is away"
given '{"n":1}' pds-record -p unread --max-retries 9223372036854775807 put com.example.a x
is "$status:$(asked unread createSession)" 0:2 "a new token is tried where an old one fails"
rm -r "$XDG_STATE_HOME/agentutils/pds"
given '{"n":1}' pds-record -p stranger put com.example.a x
status_is 77 "a session of somebody else is refused"
err_like 'a session of did:web:b.test, not of did:web:a.test' \
  "the message names both accounts of a session"

done_testing
