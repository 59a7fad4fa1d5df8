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
ok "after the time it names" [ $(($(date +%s%N) - start_time)) -ge 1000000000 ]
fault me "{\"method\":\"listRecords\",\"status\":429,\"headers\":{\"RateLimit-Reset\":\"$(($(date +%s) + 1000))\"}}"
t 75 "one that wants too long a rest is left" pds-record list $task
err_like '429 .*again in (99[0-9]|1000) s, too late for --timeout' "it is told how long that is"
fault me '{"method":"putRecord","status":429,"headers":{"RateLimit-Reset":"nan"}}'
given '{"n":1}' pds-record put $task 1odd
status_is 0 "a header of no sense is none"
fault me '{"method":"getRecord","status":503,"text":"down"}'
fault me '{"method":"getRecord","status":502,"text":"down"}'
t 75 "one that is down for too long has status 75" pds-record --max-retries 1 get $task x
err_like 'gave up after 1 retries: 502 Fault: down' "it is told as well"
fault me '{"method":"getRecord","wait":5}'
t 75 "one that is too slow has status 75" pds-record --timeout 1 get $task x
t 75 "one that is not there has status 75" \
  env AGENT_URL=http://127.0.0.1:9 pds-record --timeout 1 --repo a.test describe

# --- lost answers

# The second finds its own record in the way.
start_pds strict --awkward
for server in me strict; do
  AGENT_PROFILE=$server
  export AGENT_PROFILE
  fault $server '{"method":"putRecord","lose":true}'
  given '{"n":2}' pds-record create $task
  status_is 0 "$server: an answer that is lost"
  is "$(pds-record list $task | jq -r 'select(.value.n == 2).uri')" "$(jq -r .uri "$out")" \
    "$server: the record is there once, and told"
  cid=$(echo '{"n":3}' | pds-record put $task self | jq -r .cid)
  fault $server '{"method":"putRecord","lose":true}'
  given '{"n":4}' pds-record put --swap "$cid" $task self
  status_is 0 "$server: a swap whose answer is lost is no conflict"
  given '{"n":5}' pds-record put --swap "$cid" $task self
  status_is 1 "$server: but one behind it is"
  fault $server '{"method":"deleteRecord","lose":true}'
  t 0 "$server: nor is a deletion whose answer is lost" pds-record delete $task self
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
t 75 "two at once would create everything twice" \
  sh -c "pds-record create --state $tmp/keys $task <$tmp/jobs"
stop "$creating" KILL
exec 5>&-
ok "each line of what was done is whole" jq -e . "$tmp/cut.out"
t 0 "the same input is run once more" sh -c "pds-record create --state $tmp/keys $task <$tmp/jobs"
is "$(lines "$out")" 40 "has a result for each"
settled me
is "$(stored me | jq -c 'select(.job != null)' | wc -l | tr -d ' ')" 40 "and is there once"
run sh -c "pds-record create --state $tmp/keys $task <$tmp/jobs"
is "$(stored me | jq -c 'select(.job != null)' | wc -l | tr -d ' ')" 40 "whatever happens"
is "$(stat -c %a "$tmp/keys")" 600 "the keys are nobody else's affair"
t 2 "a file of keys is no resume point" pds-record watch --from 0 -n 1 --state "$tmp/keys"
pds-record watch --from 0 -n 1 --state "$tmp/seq" >"$tmp/watched"
cp "$tmp/seq" "$tmp/seq.before"
t 2 "a resume point is no file of keys, either" \
  sh -c "pds-record create --state $tmp/seq $task <$tmp/jobs"
ok "and it stays whole" cmp "$tmp/seq" "$tmp/seq.before"

# --- pages of somebody on the way

page='"text":"<html>log in first</html>"'
given '{"n":6}' pds-record put $task kept
for code in 200 404 401; do
  fault me "{\"method\":\"deleteRecord\",\"status\":$code,$page}"
  t 75 "a page of $code does not say that a record is deleted" pds-record delete $task kept
  err_like "$code Fault: a page, not a server's answer" "and it is said"
  fault me "{\"method\":\"getRecord\",\"status\":$code,$page}"
  t 75 "or that there is none" pds-record get $task kept
  fault me "{\"method\":\"listRecords\",\"status\":$code,$page}"
  t 75 "a list is not said to be empty" pds-record list $task
  fault me "{\"method\":\"describeRepo\",\"status\":$code,$page}"
  t 75 "a repository is not said to be missing" pds-record describe
done
t 0 "it is there" pds-record get $task kept
t 1 "what is not there is not the record that was asked for" \
  pds-record delete --swap bafyreighusodssr3fxenpbozzqmenwm3lqbmygrtjwm4k65jnmwfk2pwk4 $task none
fault me '{"method":"putRecord","status":503}'
given "$(printf 'bad\n{"n":7}')" pds-record create --max-retries 0 $task
status_is 2 "a bad line counts, even where the server is away behind it"
err_like 'gave up after 0 retries' "which is said, too"

done_testing
