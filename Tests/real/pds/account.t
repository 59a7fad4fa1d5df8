#!/bin/sh
# pds-record and outbox beside the reference server: an account that is not active, and one with
# another handle.
. "${0%/*}/lib.sh"
needs pds-record outbox jq

did=$(account list | awk '$2 ~ /^ada/ || NR == 1 { print $1; exit }')
for each in one two three; do echo "{\"title\":\"$each\"}" | pds-record --queue put "$c" $each; done >"$tmp/rows"
pds-record --queue list "$c" >"$tmp/rows"
for state in deactivate takedown; do
  account $state
  echo '{"title":"ONE"}' >"$tmp/line"
  t 77 "$state: a change" sh -c "pds-record --queue put $c one <$tmp/line"
  is "$(jq -r .state "$out")" queued "$state: is kept"
  echo two >"$tmp/lines"
  t 77 "$state: and a deletion" sh -c "pds-record --queue delete $c <$tmp/lines"
  t 77 "$state: the outbox is not sent" outbox flush --max-time 3
  is "$(jq -r .state "$out" | sort | uniq -c | xargs)" "2 queued" "$state: and waits"
  t 77 "$state: a list" pds-record list "$c"
  err_like "(deactivated|takendown|taken down|Takendown)" "$state: says so"
  t 77 "$state: a record" pds-record get "$c" one
  t 77 "$state: a record of somebody else's handle" env XDG_STATE_HOME="$tmp/none" pds-record get "$c" one
  t 77 "$state: the repository" pds-record describe
  account activate
  t 0 "$state: active again" outbox flush
  is "$(pds-record list "$c" | jq -r .value.title | sort | xargs)" "ONE three" "$state: all is sent"
  for each in one two; do echo "{\"title\":\"$each\"}" | pds-record put "$c" $each; done >"$tmp/other"
  pds-record --queue list "$c" >"$tmp/rows"
done

account rename ada "x$$"
t 0 "another handle: reading goes on" pds-record list "$c"
is "$(lines "$out")" 3 "of the same account"
worn
echo '{"title":"four"}' >"$tmp/line"
t 0 "and so does writing, with a log-in by the DID" sh -c "pds-record put $c four <$tmp/line"
pds stop
t 75 "a change without the server" sh -c "pds-record --queue put $c five <$tmp/line"
run pds-record --queue list "$c"
is "$(jq -r 'select(.queued).uri' "$out")" "at://$did/$c/five" "is shown with the DID"
pds start
t 0 "and sent" outbox flush
account rename ada ada

done_testing
