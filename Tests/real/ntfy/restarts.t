#!/bin/sh
# 200 notices of all kinds while an ntfy server is started again five times: nothing pressing is
# lost, and nothing is told twice. Runs beside a server, with `server` and `phone` in PATH,
# and NTFY_NOTICES and NTFY_TOKENS set.
. "${0%/*}/../../cli/lib.sh"
[ -n "${NTFY_NOTICES-}" ] || skip_all "runs beside an ntfy server"
needs jq server phone
bound=300

# notices FIRST LAST: one of each kind in turn; five approvals have one title.
notices() {
  seq "$1" "$2" | while read -r number; do
    case $((number % 5)) in
    0) kind='"urgency":"emergency","category":"fire","title":"fire n'$number'."' ;;
    1) kind='"urgency":"urgent","category":"job","title":"failed","text":"job n'$number'."' ;;
    2) kind='"urgency":"urgent","category":"approval","title":"exec waits","text":"rm n'$number'."' ;;
    3) kind='"urgency":"attention","category":"turn","title":"turn n'$number'."' ;;
    *) kind='"urgency":"info","category":"tea","title":"tea n'$number'."' ;;
    esac
    printf '{"type":"notification","id":"n%s",%s}\n' "$number" "$kind"
  done
}

NTFY_SERVE='--visitor-request-limit-burst 1000'
export NTFY_SERVE
server stop
server start
phone list --json >"$tmp/before"
mkfifo "$tmp/live"
start notify sh -c "exec agent-notify --settle 0.2 --ntfy '$NTFY_NOTICES' \
  --ntfy-token '$NTFY_TOKENS/host' <'$tmp/live'"
notify=$pid
exec 3>"$tmp/live"
for round in 0 1 2 3 4; do
  notices $((round * 40 + 1)) $((round * 40 + 20)) >&3
  # TERM and KILL in turn, in the middle of it.
  if [ $((round % 2)) -eq 0 ]; then server stop; else server kill; fi
  notices $((round * 40 + 21)) $((round * 40 + 40)) >&3
  sleep $((round + 1))
  server start 3>&-
done
exec 3>&-
finished "$notify"
status_is 0 "all is told in the end"
diag "$(cat "$tmp/notify.err")"
phone list --all --json | tail -n "+$(($(lines "$tmp/before") + 1))" >"$tmp/got"
# Numbers in titles and texts, each as often as it came.
jq -r '.title // "", .message' "$tmp/got" | grep -oE 'n[0-9]+\.' | sort >"$tmp/numbers"
pressing() { seq 200 | awk '$1 % 5 < 3 { print "n" $1 "." }' | sort; }
is "$(pressing | comm -23 - "$tmp/numbers" | xargs)" "" "nothing pressing is lost"
is "$(uniq -d "$tmp/numbers" | xargs)" "" "nothing is told twice"
is "$(jq -r 'select(.tags == ["question"]) | .message' "$tmp/got" | grep -c '^rm n')" 40 \
  "each approval is a notice of its own"
is "$(jq -r 'select(.title == "exec waits") | .message' "$tmp/got" | sort -u | wc -l | tr -d ' ')" 40 \
  "with what it asks"
told=$(jq -r '.title // .message' "$tmp/got" | awk '
  match($0, /^[0-9]+ notifications/) { sum += $1; next }
  match($0, /×[0-9]+$/) { sum += substr($0, RSTART + length("×")); next }
  { sum++ }
  END { print sum }')
is "$told" 200 "and the sums count the rest"

done_testing
