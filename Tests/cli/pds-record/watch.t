#!/bin/sh
# pds-record watch: what changes, with the records, across lost connections and restarts.
. "${0%/*}/../lib.sh"
needs pds-record agent-tail jq curl
needs_peers
. "${0%/*}/../pds.sh"
start_pds me
write() { echo "{\"n\":$1}" | pds-record put $task "k$1" >"$tmp/written"; }
write 1

# --- live

start watch pds-record watch -L
wait_until 20 has "$tmp/watch.out" '"type":"open"' || bail "not open"
write 2
write 3
pds-record delete $task k2 >"$tmp/written"
wait_until 20 has "$tmp/watch.out" delete
stop "$pid" INT
status_is 130 "a signal ends the watch"
is "$(jq -r 'select(.event == "#commit").data.ops[] | [.action, .path, .value.n] | join(" ")' \
  "$tmp/watch.out")" "create $task/k2 2
create $task/k3 3
delete $task/k2 " "a watch tells what happens, and no more"
is "$(jq -r 'select(.event).id' "$tmp/watch.out" | xargs)" \
  "$(jq -r 'select(.event).data.seq' "$tmp/watch.out" | xargs)" "each event has its number"
not_ok "the blocks are left out" grep -q blocks "$tmp/watch.out"
is "$(jq -r 'select(.event).data | [.op, .t, .repo] | join(" ")' "$tmp/watch.out" | sort -u)" \
  "1 #commit did:web:alice.test" "an event has its header and its body"

# --- from a number, in a state

last=$(jq -r 'select(.event).id' "$tmp/watch.out" | tail -n 1)
run pds-record watch --from 0 -n 4 --max-time 1
is "$(jq -r .event "$out" | sort -u | xargs)" "#account #commit #identity #sync" \
  "what else happens to an account is told"
run pds-record watch --from 0 -n 3 com.example.none --max-time 1
out_empty "a collection without changes has nothing to tell"
run pds-record watch --from "$((last - 1))" --state "$tmp/state" -n 1
is "$(jq -r '.data.ops[0] | .action + " " + .path' "$out")" "delete $task/k2" \
  "--from begins behind a number"
write 4
write 5
run pds-record watch --from 0 --state "$tmp/state" -n 2 $task
is "$(jq -r '.data.ops[0].value.n' "$out" | xargs)" "4 5" "a state goes on behind what was printed"
t 2 "a state of another repository is refused" \
  pds-record watch --state "$tmp/state" --repo did:web:bob.test
echo '{"n":44}' | pds-record put $task k4 >"$tmp/written"
run pds-record watch --from "$last" -n 3 $task
is "$(jq -c '.data.ops[0].value.n' "$out" | xargs)" "4 5 44" \
  "a record that changed since is told as it was"
is "$(asked me getRecord)" 0 "no record is asked for that came with its commit"
t 2 "a number that is not there yet is an error" pds-record watch --from 99999 --max-time 10
err_like 'FutureCursor' "the message says that the number is in the future"
err_one_line pds-record "a number that is not there yet is told in one line"
run agent-tail --from "$last" -n 1 $task
is "$(jq -r '.data.ops[0].path' "$out")" "$task/k4" "agent-tail follows it, too"

run pds-record watch -T --from "$last" -n 1 --max-event-bytes 100000 --idle-timeout 20
like "$(jq -r .received_at "$out")" '^2.*Z$' "the time of receipt is added"
t 2 "events that are too large are an error" \
  pds-record watch --from "$last" -n 1 --max-event-bytes 10 --max-time 1
err_like 'event of [0-9]+ bytes or more dropped: over --max-event-bytes' \
  "the message says that large events are dropped"
run pds-record watch --idle-timeout 0.3 --retry-wait 0.1 -v --max-time 1 -q
err_like 'nothing came for 0.3 s' "silence is taken for a loss after --idle-timeout"
# shellcheck disable=SC2016  # for the terminal's shell
run python3 "$cli/terminal.py" pds-record watch -q --from "$last" -n 1
unlike "$(cat "$out")" 'stream is' "with -q a person is told nothing of the link"

# --- a server that says anything

profile() {
  printf '[profile raw]\nkind = pds\nurl = %s\nidentifier = did:web:a.test\n' "$url" \
    >"$XDG_CONFIG_HOME/agentutils/config"
}
# Header and body: {"op":1,"t":"#account"}, {"did":"did:web:a.test","seq":N}.
event() { printf '\\xa2\\x62op\\x01\\x61t\\x68#account\\xa2\\x63did\\x6edid:web:a.test\\x63seq\\x%02x' "$1"; }
serve <<END
on /xrpc/com.atproto.sync.subscribeRepos
switch
frame 82 $(event 3)
frame 82 \\x9b\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff
frame 82 \\x81\\x81\\x81\\x81\\x81\\x81\\x81\\x81
frame 81 {"event":"text"}
frame 82 $(event 3)
frame 82 $(event 2)
frame 82 $(event 4)
frame 82 \\xa1\\x62op\\x20\\xa2\\x65error\\x66Slow\\e[\\x67message\\x63bye
listen
---
on /xrpc/com.atproto.sync.subscribeRepos
switch
frame 82 \\xa2\\x62op\\x01\\x61t\\x65#info\\xa1\\x64name\\x6eOutdatedCursor
frame 82 $(event 9)
listen
END
profile
t 2 "frames that are not events are an error" pds-record watch -L --retry-wait 0.1 -n 4
is "$(jq -c 'select(.event) | [.event, .id]' "$out" | xargs)" \
  "[#account,3] [#account,4] [#info,4] [#account,9]" "frames that are not events are dropped"
is "$(jq -c 'select(.type == "gap") | [.from, .to]' "$out")" "[5,8]" "a gap in the numbers is told"
is "$(requests .target | tail -n 1)" "/xrpc/com.atproto.sync.subscribeRepos?cursor=4" \
  "the next connection begins behind the last"
is "$(grep -c 'an event is dropped\|a text is no event' "$err")" 3 \
  "each frame that is not an event is named"
script <<END
forever
status 503 text/plain away
END
t 75 "a server that is away has status 75" pds-record watch --retry-wait 0.1 --max-retries 1

done_testing
