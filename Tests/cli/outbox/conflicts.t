#!/bin/sh
# outbox: what becomes of changes when somebody else writes the same records, servers lose
# answers, refuse, or do not know swaps; and of two that send at once.
. "${0%/*}/../lib.sh"
needs outbox pds-record jq curl
needs_peers
. "${0%/*}/../pds.sh"
start_pds me
AGENT_PROFILE=me
export AGENT_PROFILE
pds() { run pds-record --queue --timeout 5 "$@"; }
# The other writer has no outbox.
other() { printf '%s\n' "$2" | pds-record put $task "$1" >"$tmp/other" || bail "the other writer"; }
edit() {
  printf '%s\n' "$2" | pds-record --queue put $task "$1" >"$tmp/edit" 2>&1
  [ $? -eq 75 ] || bail "$1 was not kept: $(cat "$tmp/edit")"
}
value() { pds-record get $task "$1" | jq -cS '.value | del(."$type")'; }

# --- the same record, changed on both sides

early='"updatedAt":"2026-01-01T00:00:00.000Z"' late='"updatedAt":"2026-02-02T00:00:00.000Z"'
for key in apart texts labels gone kept changed again; do
  printf '{"title":"a","status":"open","n":1,"labels":["x","y"],"deep":{"n":10,"m":2}}' >"$tmp/base"
  pds-record put $task $key <"$tmp/base" >"$tmp/other"
done
pds list $task
down me
edit apart '{"title":"a","status":"done","n":1,"labels":["x","y"],"deep":{"n":10,"m":2}}'
edit texts "{\"title\":\"ours\",\"status\":\"open\",\"n\":1,\"notes\":\"\\u001b[2J\",$late}"
edit labels '{"title":"a","status":"open","n":1,"labels":["y","z"]}'
edit gone '{"title":"a","status":"open","n":2,"labels":["x","y"],"deep":{"n":10,"m":2}}'
edit kept '{"title":"b","status":"open","n":1,"labels":["x","y"],"deep":{"n":10,"m":2}}'
pds delete $task changed
up me
other apart '{"title":"a","status":"open","n":7,"labels":["x","y"],"deep":{"m":2,"n":10},"new":1}'
other texts "{\"title\":\"theirs\",\"status\":\"open\",\"n\":1,\"labels\":[],$early}"
other labels '{"title":"a","status":"open","n":1,"labels":["x","y","w"]}'
for key in gone kept; do pds-record delete $task $key >"$tmp/other"; done
other changed '{"title":"a","n":9}'
t 1 "changes of which some conflict have status 1" outbox flush
is "$(jq -r '.rkey + " " + .state + " " + (.reason // "")' "$out" | sort)" "apart merged 
changed dropped changed
gone dropped deleted
kept done 
labels merged 
texts merged " "each change is merged by its rules"
is "$(value apart)" '{"deep":{"m":2,"n":10},"labels":["x","y"],"n":7,"new":1,"status":"done","title":"a"}' \
  "what each side changed is there"
is "$(value texts)" "{\"labels\":[],\"n\":1,\"notes\":\"\\u001b[2J\",\"status\":\"open\",\"title\":\"ours\",$late}" \
  "the newer title is there"
is "$(jq -c 'select(.rkey == "texts").conflicts' "$out")" \
  '[{"member":"title","of":"theirs","value":"theirs"}]' "the title that lost is told"
is "$(value labels | jq -c '.labels | sort')" '["w","y","z"]' "labels are added and removed"
is "$(value kept)" "$(jq -cS '.title = "b"' "$tmp/base")" "a new title brings a record back"
is "$(value changed)" '{"n":9,"title":"a"}' "what was changed is not deleted"
t 1 "nothing waits after the merge" outbox list
run outbox list --all
is "$(jq -r .rkey "$out" | xargs)" "texts gone changed" "what lost something stays in the list"
pds get $task texts
cp "$out" "$tmp/texts"
is "$(jq -c '.conflicts[].value' "$out")" '"theirs"' "a record tells the value that lost"
pds list $task
is "$(jq -r 'select(.conflicts).uri' "$out")" "$(jq -r .uri "$tmp/texts")" \
  "a list tells which record lost something"
run outbox list --all
run python3 "$cli/terminal.py" 24x100 outbox list --all
out_unlike "$(printf '\033')\[2J" "no control character of a value reaches a terminal"
id=$(outbox list --all | jq -r 'select(.rkey == "texts").id')
t 1 "an id that does not exist has status 1" outbox drop "$id" 2222222222222
is "$(jq -r '.rkey + " " + .state' "$out")" "texts dropped" "a change that was seen is dropped"
run outbox drop --all
is "$(lines "$out")" 2 "drop --all drops all changes"
run outbox list --all
out_empty "nothing is left after drop --all"

# --- an edit of an edit

pds get $task again
down me
edit again '{"title":"first","n":1}'
fault me '{"method":"putRecord","lose":true}'
up me
t 75 "an edit whose answer is lost has status 75" outbox flush --max-time 0.5
down me
edit again '{"title":"a","n":2}'
up me
run outbox flush
is "$(jq -r .state "$out")" "done" "an edit whose answer was lost is no conflict with the next"
is "$(value again)" '{"n":2,"title":"a"}' "the next edit may take back what the first said"
down me
given '{"title":"new"}' pds-record --queue create $task
key=$(jq -r .rkey "$out")
up me
fault me '{"method":"putRecord","lose":true}'
t 75 "a new record that is perhaps there has status 75" outbox flush --max-time 0.5
down me
pds delete $task "$key"
up me
run outbox flush
is "$(jq -r '.op + " " + .state' "$out")" "delete done" \
  "an edit that is followed by a deletion is a deletion"
is "$(value "$key")" "" "the deleted record is gone"

# --- servers that are busy, refuse, are slow

edit_up() { printf '%s\n' "$2" | pds-record --queue put $task "$1" >"$out" 2>"$err"; status=$?; }
fault me '{"method":"putRecord","status":429,"headers":{"Retry-After":"1"}}'
edit_up busy '{"n":1}'
status_is 75 "a busy server is not waited for"
is "$(jq -r .state "$out")" queued "what a busy server is to get is kept"
fault me '{"method":"putRecord","status":500}'
t 0 "flush sends what a busy server is to get" outbox flush
fault me '{"method":"putRecord","status":413,"text":"too large"}'
edit_up large '{"n":1}'
status_is 1 "an edit that a server refuses has status 1"
is "$(jq -r '.state + " " + .reason' "$out")" "dropped 413 Fault: too large" \
  "an edit that a server refuses is dropped with the reason"
outbox list --all | jq -c 'select(.state == "dropped")' >"$tmp/dropped"
outbox drop --all >"$tmp/other"
t 0 "a dropped edit can be added again" sh -c "outbox add <$tmp/dropped"
run outbox flush
is "$(value large)" '{"n":1}' "the next try succeeds"
pds get $task kept
jq -c --arg task $task '{op: "put", collection: $task, rkey: "kept", record: (.value.status = "done").value}' \
  "$out" | outbox add >"$tmp/other"
other kept '{"title":"b","status":"open","n":5,"labels":["x","y"],"deep":{"n":10,"m":2}}'
fault me '{"method":"putRecord","status":400,"text":"Record was at another CID"}'
run outbox flush
is "$(value kept | jq -c '[.status, .n]')" '["done",5]' "a conflict in plain text is merged, too"
pds get $task kept
for round in 1 2 3 4 5 6; do
  fault me '{"method":"putRecord","status":400,"text":"{\"error\":\"InvalidSwap\"}"}'
done
jq -c '.value.title = "never"' "$out" | outbox add >"$tmp/other"
t 1 "what others change again and again has status 1" outbox flush
is "$(jq -r '.state + ": " + .reason' "$out")" "conflict: changed by others 6 times" \
  "what others change again and again stays as a conflict"
is "$round $(value kept | jq -r .title)" "6 b" "a conflict leaves the record as it is"
run outbox list --all
is "$(jq -r '[.record.title, .theirs.title] | join(" ")' "$out")" "never b" \
  "a conflict keeps both records"
outbox drop --all >"$tmp/other"
fault me '{"method":"putRecord","status":403}'
edit_up denied '{"n":1}'
status_is 1 "a record that a server forbids is told"
is "$(jq -r '.state + " " + .reason' "$out")" "dropped 403 Fault" \
  "a record that a server forbids is dropped"
outbox drop --all >"$tmp/other"
fault me '{"method":"putRecord","status":401,"text":"{\"error\":\"InvalidToken\"}"}'
fault me '{"method":"createSession","status":401,"text":"{\"error\":\"AuthenticationRequired\"}"}'
edit_up denied '{"n":1}'
status_is 77 "a refused log-in has status 77"
is "$(outbox list | jq -r .rkey)" denied "a refused log-in loses no edit"

# --- what no server of records would say

outbox drop --all >"$tmp/other"
other proxy '{"n":1}'
pds list $task
for method in putRecord getRecord; do
  fault me "{\"method\":\"$method\",\"status\":404,\"text\":\"404 page not found\"}"
done
edit_up proxy '{"n":2}'
is "$(jq -r .state "$out")" queued "a page before a server is not taken for its word"
: >"$tmp/me.faults"
run outbox flush
is "$? $(jq -r .state "$out") $(value proxy)" '0 done {"n":2}' \
  "nothing is lost by a page before a server"
fault me '{"method":"deleteRecord","status":404,"text":"404 page not found"}'
fault me '{"method":"getRecord","status":404,"text":"404 page not found"}'
pds delete $task proxy
: >"$tmp/me.faults"
run outbox flush
is "$(value proxy)" "" "a deletion that a page answered is done by flush"
for answer in '"method":"getRecord","status":400,"text":"{\"error\":\"InvalidRequest\"}"' \
  '"method":"putRecord","status":403,"text":"no"' \
  '"method":"putRecord","status":302,"headers":{"Location":"/x"}' \
  '"method":"putRecord","status":200,"text":"<html>log in"'; do
  outbox drop --all >"$tmp/other"
  printf '{"op":"put","collection":"%s","rkey":"%s","record":{"n":1}%s}\n' \
    $task "odd$round" '' $task "good$round" ',"base":null' | outbox add >"$tmp/other"
  fault me "{$answer}"
  run outbox flush
  is "$(value "good$round")" '{"n":1}' "one odd answer keeps no other edit from being sent: $answer"
  round=$((round + 1))
done
outbox drop --all >"$tmp/other"

# --- two at once, and somebody who goes on adding

seq 12 | jq -c --arg task $task '{op: "put", collection: $task, rkey: "p\(.)", base: null, record: {n: .}}' |
  outbox add >"$tmp/other"
: >"$tmp/me.log"
outbox flush >"$tmp/one" 2>&1 &
one=$!
outbox flush >"$tmp/two" 2>&1 &
two=$!
seq 3 | jq -c --arg task $task '{op: "put", collection: $task, rkey: "q\(.)", record: {n: .}}' |
  outbox add >"$tmp/other"
wait $one || fail "one"
wait $two || fail "two"
run outbox flush
is "$(asked me putRecord)" 15 "two that send at once send each thing once"
is "$(cat "$tmp/one" "$tmp/two" "$out" | jq -r .state | sort | uniq -c | xargs)" "15 done" \
  "two that send at once tell each thing once"

# --- a server that does not know swaps

start_pds deaf --deaf
AGENT_PROFILE=deaf
fault deaf '{"method":"putRecord","lose":true}'
fault deaf '{"method":"putRecord","status":503}'
given '{"n":1}' pds-record --queue create $task
status_is 75 "a new record whose answer is lost has status 75"
uri=at://alice.test/$task/$(jq -r .rkey "$out")
echo '{"n":2,"mine":false}' >"$tmp/given"
pds-record put $task "${uri##*/}" <"$tmp/given" >"$tmp/other"
run outbox flush
is "$(pds-record get "$uri" | jq -c '.value | [.n, .mine]')" '[2,false]' \
  "what came behind a lost answer is not overwritten"
is "$(stored deaf | wc -l | tr -d ' ')" 1 "a new record whose answer was lost is there once"

done_testing
