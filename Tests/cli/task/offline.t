#!/bin/sh
# task list and task add --queue while the server is away: the copy, what waits over it, and what
# comes of it when the server is back.
. "${0%/*}/../lib.sh"
needs task pds-record outbox jq curl python3
needs_peers
. "${0%/*}/../pds.sh"
start_pds me
server=$pid
TZ=UTC
export TZ
titles() { jq -r '[.title, .state] | join(" ")' "$out" | sort | xargs; }
task add -q -p me 'water the plants !2'
t 0 "a list that is kept has status 0" task list -p me --queue

stop "$server"
t 75 "a task that cannot be written now has status 75" \
  task add -p me --queue 'feed the cat tomorrow'
is "$(titles)" "feed the cat open" "a task that cannot be written now is told all the same"
id=$(jq -r .id "$out")
t 0 "the list is shown without a server" task list -p me --queue
is "$(titles)" "feed the cat open water the plants open" \
  "the list without a server has what was read and what waits"
err_like '^task: .*this is what was there at' "the message says that the list is a copy"
t 75 "a task done while the server is away has status 75" task list -p me --queue --done "${id##*/}"
is "$(titles)" "feed the cat done" "the task is done in the copy"
run task list -p me --queue
is "$(titles)" "water the plants open" "a task that is done in the copy is not to be done any more"
is "$(outbox -p me list | jq -r .op | xargs)" "put" "both changes of a task are one"
status_is 0 "the list is shown again"

done_testing
