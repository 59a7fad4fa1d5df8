#!/bin/sh
# 300 questions of an agent on a phone, with double taps, two phones, replays, forged, late and delayed
# codes, answers at the desk, and restarts of everything: none is answered wrongly. Runs beside an
# ntfy server, with `server` and `phone` in PATH, and NTFY_NOTICES, NTFY_ANSWERS and NTFY_TOKENS set.
. "${0%/*}/../../cli/lib.sh"
[ -n "${NTFY_ANSWERS-}" ] || skip_all "runs beside an ntfy server"
cli=$root/Tests/cli
. "$cli/gateway.sh"
needs jq python3 curl server phone agent-approve
bound=1800
rounds=${ROUNDS:-300}

NTFY_SERVE='--visitor-request-limit-burst 100000'
export NTFY_SERVE
server stop
server start
start_gateway claw
phone list >"$tmp/before"
kept=$NTFY_BOX/phone/notices.ndjson
resolved() { frames claw exec.approval.resolve | jq -r '"\(.id) \(.decision)"'; }
listen() {
  start notify agent-notify -p claw --settle 0 --state "$tmp/state" --ntfy "$NTFY_NOTICES" \
    --ntfy-token "$NTFY_TOKENS/host" --answers "$NTFY_ANSWERS" --buttons-token "$NTFY_TOKENS/buttons"
  notify=$pid
}
# notice ROUND: the id of the newest notice that asks for it.
notice() {
  phone list >"$tmp/list" 2>&1
  jq -r --arg text "round $1." 'select(.actions and .message == $text).id' "$kept" | tail -n 1
}
came() { [ -n "$(notice "$1")" ]; }
tap() { # tap ROUND LABEL [OPTION...]
  _round=$1
  _button=$2
  shift 2
  phone press "$_button" --notice "$(notice "$_round")" "$@" >"$tmp/tap" 2>&1
}
code() { # code ROUND LABEL
  notice "$1" >"$tmp/id"
  jq -r --arg id "$(cat "$tmp/id")" --arg name "$2" \
    'select(.id == $id).actions[] | select(.label == $name).body' "$kept"
}
post() { # post CODE [HEADER]
  curl -s -o /dev/null -H "Authorization: Bearer $(cat "$NTFY_TOKENS/buttons")" -H "${2:-X-None: 1}" \
    -d "$1" "$NTFY_ANSWERS"
}
listen
: >"$tmp/want"
all() { [ "$(resolved | wc -l)" -ge "$(lines "$tmp/want")" ]; }
want() { echo "r$1 $2" >>"$tmp/want"; }
answered() { resolved | grep -q "^r$1 "; }
missing=0
round=0
while [ "$round" -lt "$rounds" ]; do
  round=$((round + 1))
  tell claw ask "r$round" "{\"command\":\"round $round.\"}"
  if ! wait_until 40 came "$round"; then
    missing=$((missing + 1))
    diag "round $round is not asked"
    continue
  fi
  kind=$((round % 12))
  case $kind in
  0) tap "$round" Yes; want "$round" allow-once ;;
  1) tap "$round" No; want "$round" deny ;;
  2) tap "$round" Always; want "$round" allow-always ;;
  3) tap "$round" Yes --times 3; want "$round" allow-once ;;
  4)
    no=$(code "$round" No)
    tap "$round" Yes
    post "$no"
    want "$round" allow-once
    ;;
  5)
    tap $((round - 1)) No
    tap $((round - 2)) Yes
    post "$(code $((round - 3)) Always)"
    tap "$round" No
    want "$round" deny
    ;;
  6)
    post "$(openssl rand -base64 16 | tr '+/' '-_' | cut -c 1-22)"
    post "$(code "$round" Yes | tr 'a-zA-Z' 'A-Za-z')"
    post "$(code "$round" Yes)x"
    post "r$round"
    tap "$round" Always
    want "$round" allow-always
    ;;
  7)
    tell claw resolve "r$round" deny
    tap "$round" Yes
    ;;
  8)
    tell claw expire "r$round"
    tap "$round" Yes
    ;;
  9)
    post "$(code "$round" Yes)" 'In: 10s'
    tell claw resolve "r$round" deny
    ;;
  10)
    server kill
    server start
    tap "$round" Yes
    want "$round" allow-once
    ;;
  11)
    old=$(notice "$round")
    yes=$(code "$round" Yes)
    # What it was about to give is asked again, and nobody would answer that.
    wait_until 60 all
    kill -9 "$notify"
    finished "$notify"
    post "$yes"
    listen
    renewed() { [ "$(notice "$round")" != "$old" ]; }
    wait_until 40 renewed || diag "round $round is not asked again"
    post "$yes"
    tap "$round" No
    want "$round" deny
    ;;
  esac
  # The next one may come while this one is under way, but for those who look at the one before.
  [ $((round % 3)) -ne 0 ] || ! has "$tmp/want" "r$round " || wait_until 40 answered "$round" ||
    diag "round $round is not answered"
done
ok "all that was tapped in time is answered" wait_until 60 all
sleep 15 # what was delayed comes by then
is "$missing" 0 "$rounds are asked"
sort "$tmp/want" >"$tmp/want.sorted"
resolved | sort >"$tmp/got.sorted"
is "$(diff "$tmp/want.sorted" "$tmp/got.sorted" | wc -l | tr -d ' ')" 0 "of $rounds none is answered wrongly, or twice"
diag "$(diff "$tmp/want.sorted" "$tmp/got.sorted" | head -n 20)"
phone list >"$tmp/list"
diag "told: $(jq -r 'select(.priority == 2).title' "$kept" | sort | uniq -c | xargs)"
jq -r '.actions[]?.body' "$kept" >"$tmp/codes"
not_ok "no code is on a disk here" grep -qFf "$tmp/codes" "$tmp/state"
stop "$notify"
diag "$(sort "$tmp/notify.err" | uniq -c | head)"

done_testing
