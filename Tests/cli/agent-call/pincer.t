#!/bin/sh
# The lists of a Pincer server, page by page; and pairing.
. "${0%/*}/../lib.sh"
. "${0%/*}/../pincer.sh"
needs agent-call curl jq python3

start_pincer pin
call() { run agent-call -p pin "$@"; }

call threads
status_is 1 "the status is 1 without threads"
out_empty "nothing is printed without threads"
tell pin thread thr_a "Tides $(printf '\033')[31mred"
ask pin TurnsService/SendTurn '{"threadId":"thr_a","userText":"ask"}' >"$tmp/said"
call threads
is "$(jq -c '[.threadId, .messageCount]' "$out")" '["thr_a",2]' "the threads are listed"
out_unlike "$(printf '\033')" "a title is made visible"
tell pin threads 230
call threads
is "$(jq -r .threadId "$out" | sort -u | wc -l)" 231 \
  "231 threads are listed, of which a page has 100"
is "$(calls pin ThreadsService/ListThreads | tail -n 3 | jq -c '[.pageSize, .pageToken]' | xargs)" \
  "[100,null] [100,100] [100,200]" "three pages of threads are asked for"
call -n 150 threads
is "$(lines "$out")" 150 "-n limits the threads"
is "$(calls pin ThreadsService/ListThreads | tail -n 1 | jq -c '[.pageSize, .pageToken]')" \
  '[50,"100"]' "no more threads are asked for than -n"
call -o tsv -n 1 threads
is "$(cut -f 1 "$out")" thr_00000000000000e6 "-o tsv lists them as fields"
run python3 "$cli/terminal.py" agent-call -p pin -n 231 threads
out_like 'thr_a +Tides .e\[31mred' "a terminal gets a table"

call jobs
status_is 1 "the status is 1 without jobs"
for goal in one two; do ask pin JobsService/CreateJob "{\"goal\":\"$goal\",\"maxWallTimeMs\":\"60000\"}" >"$tmp/said"; done
ask pin JobsService/CancelJob '{"jobId":"job_0000000000000001"}' >"$tmp/said"
call jobs
is "$(jq -c '[.jobId[-1:], .goal, .status, .maxWallTimeMs]' "$out" | xargs)" \
  "[2,two,JOB_RUNNING,60000] [1,one,JOB_CANCELLED,60000]" "the newest job comes first"
ask pin SchedulesService/CreateSchedule \
  '{"name":"tides","triggerKind":"SCHEDULE_TRIGGER_CRON","triggerSpec":"0 6 * * *"}' >"$tmp/said"
ask pin SchedulesService/UpdateSchedule \
  '{"scheduleId":"sch_0000000000000001","patch":{"enabled":false}}' >"$tmp/said"
call schedules
is "$(jq -c '[.name, .triggerSpec, .enabled]' "$out")" '["tides","0 6 * * *",null]' \
  "the schedules are listed"
call -o tsv schedules
out_like '0 6 \* \* \*' "the schedules are printed as lines of fields, too"
call devices
is "$(jq -c '[.name, .isCurrent]' "$out")" '["of the tests",true]' "the devices are listed"
call audit
is "$(jq -r .eventType "$out" | head -n 1)" action_proposed "the audit is listed"
is "$(jq -r 'select(.eventType == "job_created") | .jobId' "$out" | wc -l)" 2 \
  "the audit says what it is about"
is "$(jq -r 'select(.method == "JobsService/ListJobs") | .headers | [.["content-type"],
  .["connect-protocol-version"]] | join(" ")' "$tmp/pin.log" | sort -u)" "application/json 1" "requests are those of Connect"

# --- answers that are none

call rpc x
status_is 2 "methods cannot be called by name there"
for answer in '200 application/json [1]' '200 application/json {"items":' '200 text/html <html>' \
  '200 application/json' '204 text/plain' '404 text/plain 404 page not found' \
  '415 text/plain'; do
  tell pin answer JobsService/ListJobs "$answer"
  call jobs
  is "$status: $(lines "$err")" "2: 1" \
    "what is not an answer of a Pincer server has status 2: $answer"
done
tell pin answer JobsService/ListJobs 200 application/json '{}'
call jobs
status_is 1 "an empty list has no items"
tell pin answer JobsService/ListJobs 200 application/json '{}'
call -o tsv --header jobs
is "$status $(cut -f 1,2 "$out")" "1 jobId	status" "an empty list has a header when it is asked for"
tell pin answer JobsService/ListJobs 200 application/json \
  '{"items":[{"job_id":"job_9","max_wall_time_ms":5,"status":3,"later":1.10}]}'
call jobs
out_is '{"job_id":"job_9","max_wall_time_ms":5,"status":3,"later":1.10}' "another spelling passes as it is"
tell pin answer JobsService/ListJobs 200 application/json \
  '{"items":[{"job_id":"job_9","max_wall_time_ms":5,"status":3,"later":1.10}]}'
run python3 "$cli/terminal.py" agent-call -p pin jobs
out_like 'job_9 +JOB_COMPLETED' "a job in another spelling has its row in the table"
tell pin answer JobsService/ListJobs 200 application/json \
  '{"items":[{"job_id":"job_9","thread_id":"thr_a","status":3,"last_error":"x"}]}'
call -o tsv --header jobs
is "$(cut -f 1,2,4,7 "$out")" "jobId	status	threadId	lastError
job_9	3	thr_a	x" "the failed job is printed as fields, too"
tell pin answer ThreadsService/ListThreads 200 application/json '{"items":[{"threadId":"a"}],"nextPageToken":"x"}'
call -n 300 threads
is "$(calls pin ThreadsService/ListThreads | tail -n 1 | jq -r .pageToken)" x "pages go on where the server says"
for refusal in "unauthenticated 77" "permission_denied 77" "unavailable 75" "resource_exhausted 75" \
  "internal 75" "deadline_exceeded 75" "invalid_argument 2" "unimplemented 2" "not_found 1" \
  "failed_precondition 1" "brand_new 75"; do
  tell pin refuse JobsService/ListJobs "${refusal% *}" "so $(printf '\033')[31mit is"
  call jobs
  is "$status" "${refusal#* }" "the refusal ${refusal% *} has the status for it"
  err_like 'so \\e\[31mit is|token' "the refusal ${refusal% *} is told, made visible"
done
tell pin answer JobsService/ListJobs 401 application/json '{"error":"unauthorized"}'
call jobs
status_is 77 "a 401 of another shape is a refusal, too"
tell pin answer JobsService/ListJobs 400 application/json '{"code":"unauthenticated"}'
call jobs
status_is 77 "the code counts, whatever the status"
tell pin close JobsService/ListJobs
call jobs
status_is 75 "a connection that is closed has status 75"

# --- pairing

start_pincer new --token ""
at() { run sh -c 'printf "%s" "$1" | agent-call -p new pair "$2"' - "$@"; }
code() { ask new AuthService/CreatePairingCode '{}' | jq -r .code; }
at 00000000 "$tmp/bound"
status_is 77 "a wrong code is refused"
err_like 'invalid pairing code' "the message says that the code is wrong"
not_ok "a wrong code leaves no file" test -e "$tmp/bound"
for word in abc "12 x" "$(printf '1%.0s' $(seq 65))"; do
  at "$word" "$tmp/bound"
  status_is 2 "what is not a code is refused: $word"
done
is "$(calls new AuthService/BindPairingCode | wc -l)" 1 "what is not a code is not sent"
at 12345678 "$tmp/none/bound"
status_is 2 "a place that is not there for the token is an error"
is "$(calls new AuthService/BindPairingCode | wc -l)" 1 \
  "a place that is not there is noticed before the code is used"
code=$(code)
at "$code
" "$tmp/bound"
status_is 0 "a good code pairs"
is "$(stat -c %a "$tmp/bound")" 600 "the token of a pairing is for its owner alone"
like "$(cat "$tmp/bound")" '^pnr_[A-Za-z0-9_-]{12}\.[A-Za-z0-9_-]{43}$' \
  "the token of a pairing is whole"
not_ok "neither the token nor the code is printed" grep -q "pnr_\|$code" "$out" "$err"
is "$(jq -r 'keys_unsorted | join(" ")' "$out")" "deviceId expiresAt renewAfter" \
  "the rest of the pairing is printed"
is "$(jq -r 'select(.method == "AuthService/BindPairingCode") | .headers.authorization' \
  "$tmp/new.log" | sort -u)" null "no token goes along with a pairing"
is "$(calls new AuthService/BindPairingCode | tail -n 1 | jq -c '[.code, (.deviceName | length > 0),
  (.publicKey | length > 0)]')" "[\"$code\",true,true]" \
  "a pairing sends what the server wants to know"
run agent-call -p new --token-file "$tmp/bound" devices
is "$(jq -r .isCurrent "$out")" true "the token of a pairing lets in"
at "$code" "$tmp/again"
status_is 77 "a code serves once"
at "" "$tmp/again"
status_is 77 "no code is given while there is a device"
run agent-call -p new --token-file "$tmp/bound" pairing-code
like "$(jq -r .code "$out")" '^[0-9]{8}$' "a device gets a code"
at "$(jq -r .code "$out")" "$tmp/again"
status_is 0 "another device is paired with that code"
start_pincer bare --token ""
t 0 "a server without a device gives a code to anyone" \
  sh -c 'agent-call -p bare pair "$1" </dev/null' - "$tmp/first"
ok "a token is given for the code of a server without a device" test -s "$tmp/first"

# A profile whose token is what is to be fetched.
start_pincer fresh --token ""
mine=$tmp/mine
printf '[profile own]\nkind = pincer\nurl = %s\ntoken-file = %s\n[profile said]\nkind = pincer\nurl = %s\ntoken-command = cat %s\n' \
  "$url" "$mine" "$url" "$mine" >>"$XDG_CONFIG_HOME/agentutils/config"
t 77 "nothing else is asked without a token" agent-call -p own devices
t 0 "a token is fetched into the file that the profile names" \
  sh -c 'agent-call -p own pair "$1" </dev/null' - "$mine"
run agent-call -p own devices
is "$(jq -r .isCurrent "$out")" true "the token in the file of the profile lets in"
code=$(agent-call -p own pairing-code | jq -r .code)
mv "$mine" "$mine.old"
t 0 "a token is fetched that a command would print" \
  sh -c 'echo "$2" | agent-call -p said pair "$1"' - "$mine" "$code"
rm "$mine"
t 77 "a --token-file that is not there is an error" \
  sh -c 'echo "$2" | agent-call -p own --token-file "$1" pair "$1"' - "$mine" 12345678
done_testing
