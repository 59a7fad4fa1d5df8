#!/bin/sh
# What the real Claude Code asks, with something going wrong in each round: nothing is left behind, no
# dialog stays, and nothing runs but what was allowed, once. ROUNDS=300 for a night's work.
. "${0%/*}/lib.sh"
bound=900
rounds=${ROUNDS:-30}
asks=$HOME/.local/state/agentutils/asks
rm -rf "$asks"
settings='{"hooks":{"PermissionRequest":[{"hooks":[{"type":"command","command":"agent-ask","timeout":3600}]}]}}'
start_claude() { tmux -L riff -f /dev/null new-session -d -s riff -c "$box_folder" -x 100 -y 40 "claude --settings '$settings'"; }
start_claude
known() { [ "$(state)" != unknown ]; }
wait_until 60 known || bail "Claude Code does not start"
wait_until 60 stands idle

: >"$tmp/ran"
id=
held() { id=$(ls "$asks" 2>/dev/null); [ "${#id}" -eq 32 ]; }
hook() { sed -n 1p "$asks/$id/about"; }
give() { agent-approve -p . "$@" -o json >>"$tmp/given" 2>/dev/null; }
round=0 wrong=0 before=00000000000000000000000000000000
while [ "$round" -lt "$rounds" ]; do
  round=$((round + 1))
  agent-say -q --when-idle . -- "run echo $round >>$tmp/ran"
  wait_until 30 held || { diag "round $round: nothing was held"; wrong=$((wrong + 1)); }
  # Pressed keys are for a dialog that is drawn.
  wait_until 30 stands "waiting permission prompt"
  sleep 1
  may=yes
  case $((round % 10)) in
  0) give --approve "$id" ;;
  1) keys Enter ;;
  2) keys Escape && may=no ;;
  3) kill -9 "$(hook)" && keys Enter ;;
  4) give --deny "$id" not now && may=no ;;
  5)
    # Two people and the one at the desk.
    give --approve "$id" &
    one=$!
    give --deny "$id" &
    keys Enter
    wait "$one" $!
    may=either
    ;;
  6)
    printf '{"hookSpecificOutput":{"hookEvent' >"$asks/$id/answer"
    sleep 0.5
    give --approve "$id"
    ;;
  7)
    agent-approve -p . --approve "$id" >/dev/null 2>&1 &
    one=$!
    sleep 0.1
    kill -9 "$one"
    wait "$one" 2>/dev/null
    ! stands "waiting permission prompt" || give --approve "$id"
    ;;
  8)
    give --approve "$before"
    give --approve ffffffffffffffffffffffffffffffff
    stands "waiting permission prompt" || wrong=$((wrong + 1))
    give --approve "$id"
    ;;
  9)
    # The hook is stopped while an answer comes, and the person answers.
    kill -STOP "$(hook)"
    process=$(hook)
    give --approve "$id" --max-time 3
    keys Escape
    kill -CONT "$process" 2>/dev/null
    may=either
    ;;
  esac
  before=$id
  wait_until 30 stands idle || { diag "round $round: $(state)"; wrong=$((wrong + 1)); keys Escape; }
  count=$(grep -cx "$round" "$tmp/ran")
  case $may:$count in
  yes:1 | no:0 | either:[01]) ;;
  *)
    diag "round $round: $may, and it ran $count times"
    wrong=$((wrong + 1))
    ;;
  esac
  none() { [ -z "$(ls -A "$asks")" ] || agent-approve -p . -lq || [ -z "$(ls -A "$asks")" ]; }
  wait_until 5 none || { diag "round $round: $(ls -A "$asks")"; wrong=$((wrong + 1)); }
done
is "$wrong" 0 "$rounds rounds, none wrong"
is "$(ls -A "$asks")" "" "nothing is left behind"
hooks() { pgrep -f "$(command -v agent-ask)" >/dev/null; }
not_ok "no hook lives on" hooks
ok "no dialog is open" stands idle
done_testing
