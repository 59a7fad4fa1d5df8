#!/bin/sh
# outbox and pds-record --queue: work while the server is away, and what comes of it afterwards.
. "${0%/*}/../lib.sh"
needs outbox pds-record jq curl
needs_peers
. "${0%/*}/../pds.sh"
start_pds me
box=$XDG_STATE_HOME/agentutils/outbox
copies=$XDG_STATE_HOME/agentutils/pds/copies
pds() { run pds-record --queue --timeout 5 "$@"; }
titles() { jq -r .value.title "$out" | xargs; }

# --- while it is there

given '{"title":"zero"}' pds-record --queue create $task
status_is 0 "a record is created"
is "$(jq -r 'has("uri") and has("cid") and has("commit")' "$out")" true \
  "the server's row of a new record is told"
zero=$(jq -r .uri "$out")
given '{"title":"one","n":1.0e0}' pds-record --queue put $task one
status_is 2 "what cannot be a record is refused"
given '{"title":"one","n":10}' pds-record --queue put $task one
given '{"title":"two"}' pds-record --queue put $task two
pds list $task
is "$(titles)" "two one zero" "the list is the server's"
is "$(asked me createSession)" 1 "one log-in is enough"
t 1 "nothing waits while the server is there" outbox list
is "$(stat -c %a "$box" "$box/me.ndjson" "$copies/me" "$copies/me/$task.ndjson" | xargs)" \
  "700 600 700 600" "outbox and copies are for their owner alone"

# --- away

down me
pds list $task
status_is 0 "a list can be had without the server"
is "$(titles)" "two one zero" "a list without the server is the copy"
err_like "^pds-record: http.*: this is what was there at 20[0-9-]+T" \
  "a list of copies says from when it is"
err_one_line pds-record "a list of copies says so once"
pds get $task one
is "$(jq -c .value.n "$out")" 10 "records can be had without the server, byte for byte"
pds list dev.joelclaw.none
status_is 75 "what was never read is not there"
run pds-record --queue get "$zero"
is "$(titles)" zero "an address of one's own leads to the copy"
: >"$tmp/me.log"
printf '%s\n' '{"title":"three"}' 'no' '{"title":"four"}' '{"title":"five"}' >"$tmp/lines"
t 2 "writing without the server has a bad line" \
  sh -c "pds-record --queue create $task <$tmp/lines"
is "$(jq -r '.type + " " + .state + " " + .record.title' "$out" | xargs)" \
  "outbox_item queued three outbox_item queued four outbox_item queued five" \
  "the good lines beside a bad one are kept"
is "$(grep -c http "$err")" 1 "the reason why records wait is told once"
is "$(asked me putRecord)" 1 "the server that is away is asked once"
key=$(jq -r 'select(.record.title == "four").rkey' "$out")
given '{"title":"won"}' pds-record --queue put $task one
status_is 75 "an edit is kept"
is "$(jq -r '.base | length' "$out")" 59 "an edit is kept with what it was made from"
pds delete $task two
status_is 75 "a deletion is kept"
given '{"title":"FOUR"}' pds-record --queue put $task "$key"
pds list $task
is "$(titles)" "won five FOUR three zero" "what waits is laid over the list" || cat "$out"
is "$(jq -r 'select(.queued).value.title' "$out" | xargs)" "won five FOUR three" \
  "what waits is marked in the list"
pds list -n 2 --reverse $task
is "$(titles)" "zero three" "what waits is laid over a list of any order and end"
pds get $task two
status_is 1 "what is to be deleted is not there"
pds get $task "$key"
is "$(titles)" FOUR "an edited record that waits is there"
pds get "at://bob.test/$task/one"
status_is 75 "a record of somebody else is not in the copies"
t 0 "outbox list lists what waits" outbox list
is "$(jq -r '.op + " " + (.record.title // .rkey)' "$out" | xargs)" \
  "put three put FOUR put five put won delete two" "each record has one item"
t 75 "flush goes on waiting for a server that is away" outbox flush --max-time 1
err_one_line outbox "one reason is told"
is "$(jq -r .state "$out" | sort | uniq -c | xargs)" "5 queued" \
  "all goes on waiting for a server that is away"

# --- back

up me
pds list $task
is "$(titles)" "won five FOUR three zero" "with the server what waits is laid over the list, too"
: >"$tmp/me.log"
t 0 "flush sends all that waits" outbox flush
is "$(jq -r '.op + " " + .state' "$out" | xargs)" \
  "put done put done put done put done delete done" "what waits is sent in order"
is "$(asked me putRecord) $(asked me deleteRecord)" "4 1" "each thing is sent once"
is "$(stored me | jq -r .title | xargs)" "won five FOUR three zero" \
  "all that waited is at the server"
is "$(stored me | jq -r 'select(.createdAt).title' | xargs)" "five three zero" \
  "records are at the server as they were made"
t 0 "once more there is nothing to send" outbox flush
out_empty "an empty outbox prints nothing"
is "$(cat "$box/me.ndjson")" "" "nothing is left in the file of the outbox"

# --- cut off and run again

seq 3 | jq -c '{title: "c\(.)"}' >"$tmp/lines"
run sh -c "head -n 2 $tmp/lines | pds-record --queue create --state $tmp/keys $task"
cp "$out" "$tmp/first"
down me
uri=$(head -n 1 "$out" | jq -r .uri)
given '{"title":"edited"}' pds-record --queue put $task "${uri##*/}"
t 75 "the same input is taken without the server" \
  sh -c "pds-record --queue create --state $tmp/keys $task <$tmp/lines"
up me
t 0 "the same input is taken with the server, too" \
  sh -c "pds-record --queue create --state $tmp/keys $task <$tmp/lines"
is "$(head -n 2 "$out" | jq -r .uri)" "$(jq -r .uri "$tmp/first")" \
  "the same input gives the same records"
is "$(stored me | jq -r .title | grep -c '^c')" 2 "each record of the same input is there once"
is "$(stored me | jq -r .title | grep -c edited)" 1 "no edit is turned back by the same input"

# --- words

for words in add list flush drop; do
  run env -u AGENT_PROFILE XDG_CONFIG_HOME="$tmp/none" AGENT_URL="$url" outbox $words </dev/null
  [ $words = drop ] || err_like '^outbox: no profile: an outbox belongs to one: name it with --profile' \
    "outbox $words without a profile is refused"
  status_is 2 "outbox $words without a profile has status 2"
done
given '{}' env XDG_CONFIG_HOME="$tmp/none" AGENT_URL="$url" pds-record --queue create $task
err_like 'no profile: an outbox belongs to one' "pds-record needs a profile as well"
printf '[profile a/b]\nkind = pds\nurl = %s\nidentifier = alice.test\n' "$url" \
  >>"$XDG_CONFIG_HOME/agentutils/config"
run outbox -p a/b list
err_like 'not a name that the file of an outbox can have' \
  "a profile whose name leads elsewhere has no outbox"
while IFS='|' read -r words want; do
  # shellcheck disable=SC2086  # words
  run outbox $words </dev/null
  is "$(head -n 1 "$err")" "outbox: $want" "outbox $words is refused"
  status_is 2 "outbox $words has status 2"
done <<'END'
|a command is needed: add, list, flush, drop
lst|unknown command lst: did you mean list?
list x|too many words: x
drop|drop which ID, or --all?
drop x|x: not an id of list
drop --all 3n2ylal4w2nhd|drop: --all or an ID
add --all|--all is not for add
list --max-time 1|--max-time is not for list
flush --all -p me|--profile and --all: one of them says whose
flush --max-time 0|--max-time: above 0
END
run pds-record watch --queue
err_like '--queue is not for watch' "pds-record watch --queue is refused"
run pds-record list --queue --repo bob.test $task
err_like '--repo and --queue' "--repo and --queue exclude each other"

done_testing
