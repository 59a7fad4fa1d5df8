#!/bin/sh
# pds-record list: every record once, in both orders, whatever a server does with cursors.
. "${0%/*}/../lib.sh"
needs pds-record jq curl
needs_peers
. "${0%/*}/../pds.sh"
start_pds good --page 10
start_pds awkward --awkward --page 10
seq 25 | jq -c '{n: .}' >"$tmp/many"
for server in good awkward; do
  t 0 "$server: many records are written" sh -c "pds-record -p $server create $task <$tmp/many"
  # A neighbour whose name begins alike.
  given '{}' pds-record -p $server put "${task}x" self
  run pds-record -p $server list $task
  is "$(jq .value.n "$out" | xargs)" "$(seq 25 -1 1 | xargs)" "$server: the newest comes first"
  run pds-record -p $server list --reverse $task
  is "$(jq .value.n "$out" | xargs)" "$(seq 25 | xargs)" "$server: --reverse begins with the oldest"
  for count in 1 2 11 30; do
    run pds-record -p $server list -n $count $task
    is "$(jq .value.n "$out" | xargs)" "$(seq 25 -1 1 | head -n $count | xargs)" \
      "$server: -n $count takes as many of the newest"
    run pds-record -p $server list -n $count --reverse $task
    is "$(jq .value.n "$out" | xargs)" "$(seq 25 | head -n $count | xargs)" \
      "$server: -n takes $count of the oldest"
  done
  t 0 "$server: -n 0 has status 0" pds-record -p $server list -n 0 $task
  run pds-record -p $server list at://alice.test/$task
  is "$(lines "$out")" 25 "$server: a list is named by an AT URI"
done
is "$(jq -r 'select(.authorized and .method == "listRecords").method' "$tmp/good.log" "$tmp/awkward.log")" \
  "" "nobody logs in to read"

# --- servers that mean no good

profile() {
  printf '[profile raw]\nkind = pds\nurl = %s\nidentifier = alice.test\n' "$url" \
    >"$XDG_CONFIG_HOME/agentutils/config"
}
row() { printf '{"uri":"at://alice.test/%s/%s","cid":"x","value":{}}' "$task" "$1"; }
serve <<END
forever
status 200 application/json {"cursor":"again","records":[$(row b),$(row a)]}
END
profile
t 0 "a cursor that never ends has status 0" pds-record list $task
is "$(lines "$out"):$(requests .n | wc -l | tr -d ' ')" 2:2 \
  "a cursor that never ends is followed while it brings anything"
serve_page() { printf 'forever\nstatus %s\n' "$1" | script; }
serve_page "200 application/json {\"records\":[$(row b),{\"uri\":\"nonsense\"},$(row a)]}"
t 2 "a bad row in a list is an error" pds-record list $task
is "$(lines "$out")" 2 "a bad row does not hide the others"
err_one_line pds-record "one line tells of a bad row"
serve_page '200 text/html <html>'
t 75 "a page of something else has status 75" pds-record list $task
err_like "200 OK: a page, not a server's answer" "the message says that it is a page"
serve_page "200 application/json {\"records\":[{\"uri\":\"at://alice.test/$task/a\",\"v\":\"\\x1b]0;x\\x07\"}]}"
t 2 "raw control characters in JSON are an error" pds-record list $task
serve_page '401 text/plain no\x1b[2J such record'
t 1 "plain words that there is no record have status 1" pds-record get $task x
serve_page '403 text/plain no\x1b[2J way'
t 77 "plain words that nobody may have status 77" pds-record get $task x
err_like '403.*no\\e\[2J way' "control characters in plain words are shown, not obeyed"
escape=$(printf '\033')
err_unlike "$escape" "no escape of plain words is shown"

done_testing
