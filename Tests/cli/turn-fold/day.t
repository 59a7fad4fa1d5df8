#!/bin/sh
# A day of an agent as conversations: what belongs together stands together, and what it
# cost is counted once.
. "${0%/*}/../lib.sh"
needs action-filter turn-fold turn-format jq
day=$root/Tests/fixtures/sample-day.ndjson
golden=$root/Tests/golden/turns
cd "$tmp" || exit 1

action-filter -u "$day" >once
t 0 "the day is folded" turn-fold once
cp "$out" records
t 0 "a folded day is shown as trees" turn-format --tree -W 100 records
[ -z "${AGENTUTILS_UPDATE_GOLDEN-}" ] || cp "$out" "$golden/day-tree.txt"
ok "the trees of a day are what they were" diff "$golden/day-tree.txt" "$out"

# The last record of each turn.
jq -s 'map(select(.type == "turn")) | group_by(.id) | map(last)' records >turns
is "$(jq 'map(select(.parent | not).usd_cost // 0) | add * 1e7 | round' turns)" \
  "$(action-filter --by kind once | jq -s 'map(select(.kind | IN("llm_call", "llm_tool_call",
    "voice_runtime")).usd_cost) | add * 1e7 | round')" \
  "what the models cost is in the turns once each"
is "$(jq 'map(select(.parent)) | all(.inferred == true)' turns)" true \
  "a call without a message id is said to be placed by channel, user and time"
is "$(jq -r '[.[].id] as $ids | map(select(.parent and (.parent | IN($ids[]) | not))) | length' \
  turns)" 0 "the turn that a placed call names as its parent is there"
is "$(jq -r 'select(.type == "message" and .role == "assistant" and .state == "final").id' \
  records | sort | uniq -d | wc -l | tr -d ' ')" 0 "nothing is said twice"
run turn-fold "$day"
ok "without -u, doubles change nothing" cmp "$out" records
# A history is told newest first.
cat >steps.jq <<'END'
select(.type == "tool_call" and (.id | startswith("br-"))) | del(.time)
END
last_steps() { jq -c -f steps.jq | jq -S -c -s 'group_by(.id)[] | last'; }
last_steps <records >forwards
sed '1!G;h;$!d' once | turn-fold | last_steps >backwards
is "$(jq -r '[.state, (.arguments | type), (.stdout | type)] | join(" ")' forwards |
  sort | uniq -c | tr -s ' ')" " 3 succeeded object string" \
  "a browser's steps are whole calls"
ok "a browser's steps are the same when the newest comes first" cmp forwards backwards
# A channel alone is the same as among the others. Calls for a voice session do not name it.
thread=$(jq -r 'select(.type == "turn" and .parent).thread' records | grep '^[0-9]*$' | sed -n 1p)
action-filter --thread "$thread" once | turn-fold -f | jq -S -c 'del(.time)' | sort >alone
turn-fold -f --thread "$thread" once | jq -S -c 'del(.time)' | sort >among
ok "one conversation has turns" [ -s alone ]
ok "action-filter --thread selects all that they are made of" cmp alone among
done_testing
