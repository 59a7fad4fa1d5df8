#!/bin/sh
# agent-chat beside the real gateway: twenty conversations over twenty cuts and five kills.
. "${0%/*}/lib.sh"
needs agent-chat jq
bound=600

for n in $(seq 20); do
  case $((n % 4)) in
  0) words="say number $n" ;; 1) words="slow 4" ;; 2) words="big 30" ;; *) words="lines 40" ;;
  esac
  (sleep "$((n * 2))" # they begin at different times
  agent-chat -p taped --retry-wait 0.2 --max-retries 1000 --max-time 500 -t "$run$n" "$words" \
    >"$tmp/out.$n" 2>"$tmp/err.$n"
  echo $? >"$tmp/status.$n") &
done
for n in $(seq 20); do
  sleep 2 # what is cut is at work
  link deny
  sleep "0.$((n % 6))"
  link go
  [ "$((n % 4))" -ne 0 ] || restart
done
wait
answered=0
for n in $(seq 20); do
  stored "$run$n" >"$tmp/stored"
  if [ "$(tr -d '\n' <"$tmp/stored" | wc -c)" -eq 0 ]; then
    # What waits for its turn when the gateway is killed is kept, and never taken up.
    is "$(cat "$tmp/status.$n")" 75 "conversation $n has no answer, which is no success"
    continue
  fi
  answered=$((answered + 1))
  is "$(cat "$tmp/status.$n")" 0 "conversation $n has its answer"
  [ "$(cat "$tmp/status.$n")" = 0 ] || diag "$(cat "$tmp/err.$n")"
  ok "which is what the gateway keeps" cmp "$tmp/stored" "$tmp/out.$n"
done
ok "some are answered" test "$answered" -ge 1
done_testing
