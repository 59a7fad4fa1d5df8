#!/bin/sh
# pds-record: busy servers, lost answers, a run that is cut off and run again.
. "${0%/*}/../lib.sh"
needs pds-record jq curl
needs_peers
. "${0%/*}/../pds.sh"
start_pds me

# --- busy

fault me '{"method":"putRecord","status":429,"headers":{"Retry-After":"1"}}'
start_time=$(date +%s%N)
given '{"n":1}' pds-record create $task
status_is 0 "a server that is busy is asked again"
ok "a busy server is asked again after the time it names" \
  [ $(($(date +%s%N) - start_time)) -ge 1000000000 ]
fault me "{\"method\":\"listRecords\",\"status\":429,\"headers\":{\"RateLimit-Reset\":\"$(($(date +%s) + 1000))\"}}"
t 75 "a server that wants too long a rest is left" pds-record list $task
err_like '429 .*again in (99[0-9]|1000) s, too late for --timeout' \
  "the message tells how long a server wants to rest"
fault me '{"method":"putRecord","status":429,"headers":{"RateLimit-Reset":"nan"}}'
given '{"n":1}' pds-record put $task 1odd
status_is 0 "a header that makes no sense is ignored"
fault me '{"method":"getRecord","status":503,"text":"down"}'
fault me '{"method":"getRecord","status":502,"text":"down"}'
t 75 "a server that is down for too long has status 75" pds-record --max-retries 1 get $task x
err_like 'gave up after 1 retries: 502 Fault: down' "the message tells that a server is down"
fault me '{"method":"getRecord","wait":5}'
t 75 "a server that is too slow has status 75" pds-record --timeout 1 get $task x
t 75 "a server that is not there has status 75" \
  env AGENT_URL=http://127.0.0.1:9 pds-record --timeout 1 --repo a.test describe

# --- lost answers

# The second finds its own record in the way.
start_pds strict --awkward
for server in me strict; do
  AGENT_PROFILE=$server
  export AGENT_PROFILE
  fault $server '{"method":"putRecord","lose":true}'
  given '{"n":2}' pds-record create $task
  status_is 0 "$server: a record whose answer is lost is created"
  is "$(pds-record list $task | jq -r 'select(.value.n == 2).uri')" "$(jq -r .uri "$out")" \
    "$server: the record is there once, and told"
  cid=$(echo '{"n":3}' | pds-record put $task self | jq -r .cid)
  fault $server '{"method":"putRecord","lose":true}'
  given '{"n":4}' pds-record put --swap "$cid" $task self
  status_is 0 "$server: a swap whose answer is lost is no conflict"
  given '{"n":5}' pds-record put --swap "$cid" $task self
  status_is 1 "$server: a swap behind a lost answer is a conflict"
  fault $server '{"method":"deleteRecord","lose":true}'
  t 0 "$server: a deletion whose answer is lost is done" pds-record delete $task self
done
AGENT_PROFILE=me

# --- cut off, and again

seq 40 | jq -c '{job: (. % 20)}' >"$tmp/jobs"
mkfifo "$tmp/feed"
start cut sh -c "exec pds-record create --state $tmp/keys $task <$tmp/feed"
creating=$pid
exec 5>"$tmp/feed"
head -n 15 "$tmp/jobs" >&5
wait_until 20 at_least "$tmp/cut.out" 15
# The next is on its way when the end comes.
fault me '{"method":"putRecord","wait":1}'
before=$(asked me putRecord)
sed -n 16p "$tmp/jobs" >&5
came() { [ "$(asked me putRecord)" -gt "$before" ]; }
wait_until 20 came
t 75 "two that create with one file of keys exclude each other" \
  sh -c "pds-record create --state $tmp/keys $task <$tmp/jobs"
stop "$creating" KILL
exec 5>&-
ok "each line of what was done is whole" jq -e . "$tmp/cut.out"
t 0 "the same input is run once more" sh -c "pds-record create --state $tmp/keys $task <$tmp/jobs"
is "$(lines "$out")" 40 "each line of the same input has a result"
settled me
is "$(stored me | jq -c 'select(.job != null)' | wc -l | tr -d ' ')" 40 \
  "each line of the same input is there once"
run sh -c "pds-record create --state $tmp/keys $task <$tmp/jobs"
is "$(stored me | jq -c 'select(.job != null)' | wc -l | tr -d ' ')" 40 \
  "each line is there once after another run"
is "$(stat -c %a "$tmp/keys")" 600 "the file of keys is for its owner alone"
t 2 "a file of keys is not taken for a resume point" \
  pds-record watch --from 0 -n 1 --state "$tmp/keys"
pds-record watch --from 0 -n 1 --state "$tmp/seq" >"$tmp/watched"
cp "$tmp/seq" "$tmp/seq.before"
t 2 "a resume point is not taken for a file of keys" \
  sh -c "pds-record create --state $tmp/seq $task <$tmp/jobs"
ok "a refused resume point stays whole" cmp "$tmp/seq" "$tmp/seq.before"

# --- pages of somebody on the way

page='"text":"<html>log in first</html>"'
given '{"n":6}' pds-record put $task kept
for code in 200 404 401; do
  fault me "{\"method\":\"deleteRecord\",\"status\":$code,$page}"
  t 75 "a page of $code does not say that a record is deleted" pds-record delete $task kept
  err_like "$code Fault: a page, not a server's answer" \
    "the message says that a page of $code was sent"
  fault me "{\"method\":\"getRecord\",\"status\":$code,$page}"
  t 75 "a page of $code does not say that there is no record" pds-record get $task kept
  fault me "{\"method\":\"listRecords\",\"status\":$code,$page}"
  t 75 "a page of $code does not say that a list is empty" pds-record list $task
  fault me "{\"method\":\"describeRepo\",\"status\":$code,$page}"
  t 75 "a page of $code does not say that a repository is missing" pds-record describe
done
t 0 "the record is there after the pages" pds-record get $task kept
t 1 "a deletion of another version of a missing record has status 1" \
  pds-record delete --swap bafyreighusodssr3fxenpbozzqmenwm3lqbmygrtjwm4k65jnmwfk2pwk4 $task none
fault me '{"method":"putRecord","status":503}'
given "$(printf 'bad\n{"n":7}')" pds-record create --max-retries 0 $task
status_is 2 "a bad line counts where the server is away behind it"
err_like 'gave up after 0 retries' "the message says that the server is away, too"

done_testing
