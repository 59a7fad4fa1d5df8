#!/bin/sh
# pds-record against arroba: records are written, read, changed and deleted, and another client
# reads them back.
. "${0%/*}/../lib.sh"
needs pds-record jq curl
needs_peers
. "${0%/*}/../pds.sh"
start_pds me
pds() { run pds-record "$@"; }
task=dev.joelclaw.task.item

# --- nothing yet

pds list $task
status_is 1 "an empty list is no list"
out_empty "nothing is printed"
pds get $task nothing
status_is 1 "a record that is not there has status 1"
pds describe
is "$(jq -r .handle "$out")" alice.test "the repository is described"
pds --repo bob.test describe
status_is 1 "somebody else's is not there"

# --- create

cat >"$tmp/lines" <<'END'
{"title":"buy \u006dilk",  "n":9007199254740991}
{"title":"half","weight":1.5}
not JSON
{"title":"twice","title":"x"}
{"$type":"com.example.other"}
{"title":"last","createdAt":"2026-01-01T00:00:00.000Z"}
END
t 2 "what cannot be a record" sh -c "pds-record create $task <$tmp/lines"
is "$(sed 's/^pds-record: standard input://' "$err")" "2: no floats in records: 1.5
3: a word without quotes at byte 0
4: two members of one name: title
5: its \$type is not $task" "is named by its line"
is "$(lines "$out")" 2 "and the others are written"
is "$(asked me putRecord)" 2 "nothing else is sent"
first=$(jq -r .uri "$out" | head -n 1)
is "$(stored me | tail -n 1 | jq -c '[.title, ."$type", .n]')" \
  "[\"buy milk\",\"$task\",9007199254740991]" "it has its type"
like "$(stored me | tail -n 1 | jq -r .createdAt)" '^2[0-9-]+T[0-9:]+\.[0-9]{3}Z$' "it has its time"
is "$(stored me | head -n 1 | jq -r .createdAt)" 2026-01-01T00:00:00.000Z "unless it had one"
pds get "$first"
is "$(jq -r .value.title "$out")" "buy milk" "an AT URI leads to it"
key=${first##*/}
pds get $task "$key"
is "$(jq -r .uri "$out")" "$first" "and so do its names"
t 1 "several, of which one is not there" \
  sh -c "printf '%s\n%s\nnone\n' $first $key | pds-record get $task"
is "$(lines "$out")" 2 "are read in order"
err_is "pds-record: standard input:3: no such record" "and it is named"

# --- put

given '{"title":"fixed"}' pds-record put $task self
status_is 0 "a record is put under a key"
is "$(jq -r .cid "$out")" bafyreighusodssr3fxenpbozzqmenwm3lqbmygrtjwm4k65jnmwfk2pwk4 \
  "is what others call it"
given '{"title":"other"}' pds-record put --swap none $task self
status_is 1 "none may be there"
err_one_line pds-record "said in one line"
err_like 'nothing was written: 400 .*InvalidSwap' "the server's word is told"
given '{"title":"fixed"}' pds-record put --swap none $task self
status_is 0 "unless it is what is sent"
given '{"title":"other"}' pds-record put $task self \
  --swap bafyreiaijfngjzon52shdyo3yvmgtfl6uwsb2iwtq563asehjvyyjgfazq
status_is 1 "another than this may not be there"
pds get $task self
is "$(jq -r .value.title "$out")" fixed "and nothing was overwritten"
cid=$(jq -r .cid "$out")
given '{
 "title": "new"
}' pds-record put --swap "$cid" $task self
status_is 0 "the right one may"
pds get $task self
is "$(jq -c '.value | keys_unsorted | sort' "$out")" '["$type","title"]' "and has no time added"

# --- a terminal

bidi=$(printf '\342\200\256')
given "{\"title\":\"a${bidi}b\"}" pds-record put $task odd
run pds-record get $task odd
ok "in a pipe a text is as it is" grep -q "a${bidi}b" "$out"
run python3 "$cli/terminal.py" pds-record get $task odd
not_ok "a terminal is shown" grep -q "$bidi" "$out"
ok "what it must not obey" grep -qF 'a\u202eb' "$out"
pds delete $task odd

# --- rows

pds list $task
cp "$out" "$tmp/rows"
jq -c '.value.done = true' "$tmp/rows" >"$tmp/changed"
given '{"title":"meanwhile"}' pds-record put $task self
t 1 "rows that changed meanwhile" sh -c "pds-record put --swap row <$tmp/changed"
is "$(lines "$out"):$(lines "$err")" 2:1 "the changed rows are left alone"
is "$(stored me | jq -r 'select(.done).title' | sort | xargs -d '\n' | tr ' ' _)" buy_milk_last \
  "the others are changed"
t 0 "a copy is brought back" sh -c "pds-record put <$tmp/rows"
pds list $task
is "$(cat "$out")" "$(cat "$tmp/rows")" "to what it was, byte for byte"
printf '%s\n' '{"uri":"at://bob.test/com.example.a/x","value":{}}' '{"rkey":"a/b","value":{}}' \
  '{"rkey":"x"}' '{"value":{}}' 'a b' >"$tmp/bad"
t 2 "rows that are none" sh -c "pds-record put $task <$tmp/bad"
is "$(sed 's/^pds-record: standard input://' "$err")" "1: a record of com.example.a
2: neither an AT URI nor a record key: a/b
3: no value to put
4: an object without uri and rkey
5: neither an AT URI nor a record key" "each line is named"
t 2 "somebody else's record is refused" \
  sh -c "sed 's/dev.joelclaw.task.item/com.example.a/;1q' $tmp/bad | pds-record put"
err_like "somebody else's record" "the message says so"

# --- another client

cat >"$tmp/client.py" <<'END'
import sys
from atproto import Client
client = Client(base_url=sys.argv[1] + '/xrpc')
client.com.atproto.server.create_session(
  {'identifier': 'alice.test', 'password': 'app-pass-word-1234'})
rows = client.com.atproto.repo.list_records({'repo': 'alice.test', 'collection': sys.argv[2]}).records
print(len(rows), sorted(row.cid for row in rows))
END
ours=$(jq -s -r '[.[].cid] | sort | "\(length) [\(map("\u0027" + . + "\u0027") | join(", "))]"' "$tmp/rows")
is "$("$peers" "$tmp/client.py" "$url" $task 2>&1 | tail -n 1)" "$ours" \
  "the SDK of others reads the same"

# --- delete

pds delete $task self
status_is 0 "a record is deleted"
is "$(jq -r .uri "$out")" "at://did:web:alice.test/$task/self" "the record is named"
pds delete $task self
status_is 0 "once more is done already"
t 0 "and all that are listed" sh -c "pds-record list $task | pds-record delete --swap row"
is "$(lines "$out")" 2 "each has its line"
pds list $task
status_is 1 "nothing is left"

done_testing
