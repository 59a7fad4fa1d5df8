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
status_is 1 "an empty list has status 1"
out_empty "nothing is printed of an empty list"
pds get $task nothing
status_is 1 "a record that is not there has status 1"
pds describe
is "$(jq -r .handle "$out")" alice.test "the repository is described"
pds --repo bob.test describe
status_is 1 "somebody else's repository is not there"

# --- create

cat >"$tmp/lines" <<'END'
{"title":"buy \u006dilk",  "n":9007199254740991}
{"title":"half","weight":1.5}
not JSON
{"title":"twice","title":"x"}
{"$type":"com.example.other"}
{"title":"last","createdAt":"2026-01-01T00:00:00.000Z"}
END
t 2 "lines that cannot be a record are an error" sh -c "pds-record create $task <$tmp/lines"
is "$(sed 's/^pds-record: standard input://' "$err")" "2: no floats in records: 1.5
3: a word without quotes at byte 0
4: two members of one name: title
5: its \$type is not $task" "each line that cannot be a record is named"
is "$(lines "$out")" 2 "the good records beside bad lines are written"
is "$(asked me putRecord)" 2 "nothing but the good records is sent"
first=$(jq -r .uri "$out" | head -n 1)
is "$(stored me | tail -n 1 | jq -c '[.title, ."$type", .n]')" \
  "[\"buy milk\",\"$task\",9007199254740991]" "a new record has its type"
like "$(stored me | tail -n 1 | jq -r .createdAt)" '^2[0-9-]+T[0-9:]+\.[0-9]{3}Z$' \
  "a new record has its time"
is "$(stored me | head -n 1 | jq -r .createdAt)" 2026-01-01T00:00:00.000Z \
  "a new record keeps the time that it had"
pds get "$first"
is "$(jq -r .value.title "$out")" "buy milk" "an AT URI leads to a record"
key=${first##*/}
pds get $task "$key"
is "$(jq -r .uri "$out")" "$first" "collection and key lead to a record"
t 1 "one of several records that is not there has status 1" \
  sh -c "printf '%s\n%s\nnone\n' $first $key | pds-record get $task"
is "$(lines "$out")" 2 "several records are read in order"
err_is "pds-record: standard input:3: no such record" "the record that is not there is named"

# --- put

given '{"title":"fixed"}' pds-record put $task self
status_is 0 "a record is put under a key"
is "$(jq -r .cid "$out")" bafyreighusodssr3fxenpbozzqmenwm3lqbmygrtjwm4k65jnmwfk2pwk4 \
  "a record has the CID that others compute"
given '{"title":"other"}' pds-record put --swap none $task self
status_is 1 "--swap none refuses a record that is there"
err_one_line pds-record "a refused swap is told in one line"
err_like 'nothing was written: 400 .*InvalidSwap' "the server's word is told"
given '{"title":"fixed"}' pds-record put --swap none $task self
status_is 0 "--swap none takes a record that is there as it is sent"
given '{"title":"other"}' pds-record put $task self \
  --swap bafyreiaijfngjzon52shdyo3yvmgtfl6uwsb2iwtq563asehjvyyjgfazq
status_is 1 "--swap refuses another record than the one named"
pds get $task self
is "$(jq -r .value.title "$out")" fixed "nothing was overwritten by refused swaps"
cid=$(jq -r .cid "$out")
given '{
 "title": "new"
}' pds-record put --swap "$cid" $task self
status_is 0 "--swap takes the record that is there"
pds get $task self
is "$(jq -c '.value | keys_unsorted | sort' "$out")" '["$type","title"]' \
  "a put record has no time added"

# --- a terminal

bidi=$(printf '\342\200\256')
given "{\"title\":\"a${bidi}b\"}" pds-record put $task odd
run pds-record get $task odd
ok "in a pipe a text is as it is" grep -q "a${bidi}b" "$out"
run python3 "$cli/terminal.py" pds-record get $task odd
not_ok "a terminal is not shown what it would obey" grep -q "$bidi" "$out"
ok "a text for a terminal is escaped" grep -qF 'a\u202eb' "$out"
pds delete $task odd

# --- rows

pds list $task
cp "$out" "$tmp/rows"
jq -c '.value.done = true' "$tmp/rows" >"$tmp/changed"
given '{"title":"meanwhile"}' pds-record put $task self
t 1 "rows that changed meanwhile have status 1" sh -c "pds-record put --swap row <$tmp/changed"
is "$(lines "$out"):$(lines "$err")" 2:1 "the changed rows are left alone"
is "$(stored me | jq -r 'select(.done).title' | sort | xargs -d '\n' | tr ' ' _)" buy_milk_last \
  "the rows that did not change meanwhile are written"
t 0 "a copy of the rows is brought back" sh -c "pds-record put <$tmp/rows"
pds list $task
is "$(cat "$out")" "$(cat "$tmp/rows")" "rows that are brought back are as they were, byte for byte"
printf '%s\n' '{"uri":"at://bob.test/com.example.a/x","value":{}}' '{"rkey":"a/b","value":{}}' \
  '{"rkey":"x"}' '{"value":{}}' 'a b' >"$tmp/bad"
t 2 "rows that are not records are an error" sh -c "pds-record put $task <$tmp/bad"
is "$(sed 's/^pds-record: standard input://' "$err")" "1: a record of com.example.a
2: neither an AT URI nor a record key: a/b
3: no value to put
4: an object without uri and rkey
5: neither an AT URI nor a record key" "each row that is not a record is named"
t 2 "somebody else's record is refused" \
  sh -c "sed 's/dev.joelclaw.task.item/com.example.a/;1q' $tmp/bad | pds-record put"
err_like "somebody else's record" "the message says that a record is somebody else's"

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
  "another client reads the same records"

# --- delete

pds delete $task self
status_is 0 "a record is deleted"
is "$(jq -r .uri "$out")" "at://did:web:alice.test/$task/self" "a deleted record is named"
pds delete $task self
status_is 0 "a record that is deleted already has status 0"
t 0 "all records that are listed are deleted" \
  sh -c "pds-record list $task | pds-record delete --swap row"
is "$(lines "$out")" 2 "each deleted record has its line"
pds list $task
status_is 1 "nothing is left after the deletions"

done_testing
