#!/bin/sh
# pds-record and outbox: an account that is not active, one with another handle, and a network
# where one logs in first.
. "${0%/*}/../lib.sh"
needs outbox pds-record jq curl
needs_peers
. "${0%/*}/../pds.sh"
start_pds me
box=$XDG_STATE_HOME/agentutils/outbox
tokens=$XDG_STATE_HOME/agentutils/pds
did=did:web:alice.test
told() { printf '%s\n' "$2" >"$tmp/me.faults.$1"; }
untold() { rm "$tmp/me.faults.$1"; }
titles() { jq -r .value.title "$out" | xargs; }
for each in one two three; do echo "{\"title\":\"$each\"}" | pds-record --queue put $task $each; done >"$tmp/rows"
pds-record --queue list $task >"$tmp/rows"

# --- an account that is not active

for state in deactivated takendown; do
  told state $state
  given '{"title":"new"}' pds-record put $task four
  status_is 77 "$state: nobody writes"
  err_like "401 Fault: Account(Deactivated|Takedown)" "$state: the message says why nobody writes"
  given '{"title":"ONE"}' pds-record --queue put $task one
  status_is 77 "$state: a change has status 77"
  is "$(jq -r .state "$out")" queued "$state: a change is queued"
  echo "{\"uri\":\"at://$did/$task/two\"}" >"$tmp/lines"
  t 77 "$state: a deletion is kept, too" pds-record --queue delete <"$tmp/lines"
  printf '%s\n' "{\"op\":\"put\",\"collection\":\"$task\",\"rkey\":\"new\",\"record\":{\"title\":\"new\"}}" |
    outbox add >"$tmp/other"
  t 77 "$state: the outbox is not sent" outbox flush --max-time 1
  is "$(jq -r .state "$out" | sort | uniq -c | xargs)" "3 queued" \
    "$state: all that was queued waits"
  err_one_line outbox "$state: one reason is told"
  t 77 "$state: its records cannot be read" pds-record list $task
  err_like "the account $did is $state" "$state: records are not said to be gone"
  t 77 "$state: a record cannot be read by its key" pds-record get $task one
  err_like "the account $did is $state" "$state: a record is not said to be gone by its key"
  t 77 "$state: a record cannot be read by a line" sh -c "echo one | pds-record get $task"
  t 77 "$state: records cannot be read by who does not know the account" \
    env XDG_STATE_HOME="$tmp/none" pds-record --repo alice.test list $task
  err_like "Repo has been $state" "$state: the server's word is told, too"
  t 77 "$state: the repository cannot be described" pds-record describe
  t 77 "$state: a deletion is not taken for done" pds-record delete $task three
  t 77 "$state: the account cannot be watched by polling" env AGENT_PROFILE=me sh -c \
    "echo '{\"method\":\"subscribeRepos\",\"status\":404}' >>$tmp/me.faults; pds-record watch --max-time 5"
  untold state
  t 0 "$state: the outbox is sent when the account is active again" outbox flush
  is "$(stored me | jq -r .title | sort | xargs)" "ONE new three" "$state: all of it is sent"
  for each in one two; do echo "{\"title\":\"$each\"}" | pds-record put $task $each; done >"$tmp/other"
  pds-record delete $task new >"$tmp/other"
  pds-record --queue list $task >"$tmp/rows"
done
t 1 "a record that is not there has status 1" pds-record get $task none
fault me '{"method":"putRecord","status":403,"headers":{"Content-Type":"application/json"},"text":"{\"error\":\"AccountNotFound\",\"message\":\"Account not found\"}"}'
given '{"title":"ONE"}' pds-record --queue put $task one
is "$status $(jq -r .state "$out")" "77 queued" "a change is not dropped where the account is gone"
outbox flush >"$tmp/other"
told state takendown
rm -r "$tokens"/*.json
given '{"title":"ONE"}' pds-record put $task one
status_is 77 "a log-in to an account that was taken down is refused"
err_like 'AccountTakedown' "the message says why a log-in is refused"
err_unlike 'password' "the message does not blame the password"
untold state

# --- a network where one logs in first

serve <<'END'
forever
status 200 text/html <html>log in to the network
END
elsewhere=$url/log-in
for status in 200 302 401 403 404 451 500 511 "302 $elsewhere" "303 $elsewhere"; do
  told portal "$status"
  run pds-record --queue list $task
  is "$status $(titles)" "0 two three ONE" "a page of $status: the copies are shown"
  err_like 'this is what was there at' "a page of $status: the message says that copies are shown"
  t 75 "a page of $status: a list without them cannot be had" pds-record list --max-retries 0 $task
  given '{"title":"THREE"}' pds-record --queue put $task three
  is "$status $(jq -r .state "$out")" "75 queued" "a page of $status: a change is kept"
  t 75 "a page of $status: the outbox is kept" outbox flush --max-time 1
  is "$(jq -r .state "$out" | xargs)" queued "a page of $status: all of it waits"
  t 75 "a page of $status: nothing can be watched" \
    pds-record watch --max-retries 1 --retry-wait 0.1
  t 75 "a page of $status: a log-in has status 75" pds-record login --max-retries 0
  untold portal
  t 0 "a page of $status: all is sent when the page is gone" outbox flush
  is "$(stored me | jq -r .title | sort | xargs)" "ONE THREE two" \
    "a page of $status: all is at the server"
  echo '{"title":"three"}' | pds-record put $task three >"$tmp/other"
  pds-record --queue list $task >"$tmp/rows"
done
is "$(ls "$box")" me.ndjson "nothing was put aside for the pages"

# --- another handle

pds-record login >"$tmp/other"
told handle anna.test
t 0 "behind a change of the handle the records are read" pds-record list $task
is "$(titles)" "two three ONE" "records behind a change of the handle are as before"
given '{"title":"FOUR"}' pds-record put $task four
status_is 0 "a record is written behind a change of the handle"
sed -i 's/"refreshJwt":"[^"]*"/"refreshJwt":"nonsense"/;s/"accessJwt":"[^"]*"/"accessJwt":"bad"/' "$tokens"/*.json
: >"$tmp/me.log"
given '{"title":"FIVE"}' pds-record put $task five
status_is 0 "a log-in is by what the DID is called now"
is "$(asked me createSession) $(grep -c 'repo=did.*alice.test' "$tmp/me.log")" "1 1" \
  "the handle of the DID is asked for before a log-in"
: >"$tmp/me.faults.down"
given '{"title":"SIX"}' pds-record --queue put $task six
run pds-record --queue list $task
is "$(jq -r 'select(.queued).uri' "$out")" "at://$did/$task/six" "rows that wait name the DID"
rm "$tmp/me.faults.down"
t 0 "rows that wait are sent behind a change of the handle" outbox flush
rm "$tokens"/*.json
given '{"title":"x"}' pds-record put $task x
status_is 77 "a handle that nobody has is refused without an earlier log-in"
start_pds other --awkward
AGENT_PROFILE=other
export AGENT_PROFILE
pds-record login >"$tmp/other"
sed -i 's/"refreshJwt":"[^"]*"/"refreshJwt":"nonsense"/;s/"accessJwt":"[^"]*"/"accessJwt":"bad"/' "$tokens"/*.json
given '{"title":"x"}' pds-record put $task x
status_is 0 "a server that takes no DID gets the handle"
fault other '{"method":"describeRepo","status":501}'
sed -i 's/"refreshJwt":"[^"]*"/"refreshJwt":"nonsense"/;s/"accessJwt":"[^"]*"/"accessJwt":"bad"/' "$tokens"/*.json
given '{"title":"x"}' pds-record put $task x
status_is 0 "a server that takes no DID gets the handle where it does not tell one"

done_testing
