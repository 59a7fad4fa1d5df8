#!/bin/sh
# agent-notify -p: what happens in all threads of a Pincer server.
. "${0%/*}/../lib.sh"
. "${0%/*}/../pincer.sh"
needs agent-notify agent-tail agent-approve curl jq python3

start_pincer pin
thread=$(new_thread pin)
say() { ask pin TurnsService/SendTurn "{\"threadId\":\"$thread\",\"userText\":\"$1\"}" >"$tmp/said"; }
say "fail before"
start told agent-notify -p pin --settle 0.2 --exec cat
wait_until 20 watched pin 1
wait_until 20 came_calls pin ApprovalsService/ListApprovals 1
say "ask 1"
ok "An approval that waits is told, whatever its thread." wait_until 20 has "$tmp/told.out" approval
thread=$(new_thread pin)
say "fail LATER"
ok "A turn that fails in a thread that is made meanwhile is told, too." \
  wait_until 20 has "$tmp/told.out" 'LATER'
not_ok "What was there before is no news." has "$tmp/told.out" 'before'
stop "$pid"
done_testing
