#!/bin/sh
# Connections are cut at random moments of replies, DROPS times in all (40; the whole
# proof is DROPS=200): each reply is exact, what streams is never doubled, and nothing is
# said twice. On both protocols.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs agent-chat jq python3

drops=${DROPS:-40}
seed=${SEED:-7}
# shellcheck disable=SC2034
bound=60

# wild NAME PROTOCOL COUNT: questions until that many drops were made.
wild() {
  start_gateway "$1" --protocol "$2" --drops "$3" --seed "$seed" --pace 4
  bad=0 asked=0 want=
  # A connection more than there are questions is a loss that was noticed; a drop right
  # behind the end of a reply is none.
  losses=$(($3 * 9 / 10))
  until [ "$(($(grep -c '"method": *"connect"' "$tmp/$1.log") - asked))" -ge "$losses" ] ||
    [ "$asked" -ge "$3" ]; do
    asked=$((asked + 1))
    count=$((60 + asked % 7))
    want=$(seq 0 $((count - 1)) | tr '\n' ' ')
    run agent-chat -p "$1" -t "t$asked" --retry-wait 0.05 --max-retries 50 -o json "count $count"
    got=$(jq -r 'select(.type == "message" and .state == "final") | .text' "$out")
    # What was shown on the way is always a beginning of the answer.
    wrong=$(jq -r --arg want "$want" \
      'select(.type == "message") | .text as $text | select($want | startswith($text) | not) | .text' \
      "$out")
    said=$(frames "$1" chat.send | jq -r 'select(.message == "count '"$count"'" and
      .sessionKey == "agent:heron:t'"$asked"'") | .idempotencyKey' | sort -u | wc -l)
    if [ "$status" -ne 0 ] || [ "$got" != "$want" ] || [ -n "$wrong" ] || [ "$said" -ne 1 ]; then
      bad=$((bad + 1))
      diag "question $asked: status $status, keys $said, wrong: $wrong"
      diag "got $got"
      diag "$(cat "$err")"
    fi
  done
  is "$bad" 0 "protocol $2: $asked replies through $3 drops are exact"
  ok "protocol $2: as many drops were made as asked for" test \
    "$(($(grep -c '"method": *"connect"' "$tmp/$1.log") - asked))" -ge "$losses"
  run agent-chat -p "$1" --threads
  is "$(lines "$out")" "$asked" "protocol $2: every question is in the list of threads"
  twice=0
  number=0
  while [ "$number" -lt "$asked" ]; do
    number=$((number + 1))
    run agent-chat -p "$1" -t "t$number" --history
    [ "$(grep -c '^user: ' "$out")" -eq 1 ] || twice=$((twice + 1))
  done
  is "$twice" 0 "protocol $2: each question is said once"
}
wild four 4 "$drops"
wild three 3 $((drops / 4))
done_testing
