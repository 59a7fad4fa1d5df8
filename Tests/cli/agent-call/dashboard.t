#!/bin/sh
# `agent-call actions` at a dashboard that has more than one answer holds: of
# guilds that the agent has left, of no guild, of kinds that no table knows.
. "${0%/*}/../lib.sh"
needs agent-call jq curl python3

# post COUNT EXPRESSIONS...: so many actions, a millisecond apart; the
# expressions of awk set kind and guild from n.
first=0
post() {
  # shellcheck disable=SC2016  # awk's, not the shell's
  awk -v first="$first" -v count="$1" '
    BEGIN {
      for (n = first; n < first + count; n++) {
        guild = 1
        '"$2"'
        printf "{\"kind\":\"%s\",\"guildId\":%s,\"content\":\"n%d\",", kind, guild ? "\"" guild "\"" : "null", n
        printf "\"createdAt\":\"2026-01-01T00:00:%02d.%03dZ\"}\n", n / 1000, n % 1000
      }
    }' | curl -sf --data-binary @- "$url/control/actions" >/dev/null
  first=$((first + $1))
}
fresh() {
  start_server dashboard python3 "$cli/servers/dashboard.py" "$@"
  AGENT_URL=$url
  export AGENT_URL
  first=0
}
# all COUNT TITLE: that many rows, each once, newest first, and not a word.
all() {
  is "$status $(cat "$err")" "0 " "$2"
  seq "$(($1 - 1))" -1 0 | sed 's/^/n/' >"$tmp/wanted"
  jq -r .content "$out" >"$tmp/got"
  ok "$2: each row is there once, newest first" cmp "$tmp/got" "$tmp/wanted"
}
requests() { curl -sf "$url/control/state" | jq '.requests | length'; }

# --- guilds that stand in rows but not in /api/guilds
fresh --guilds 1,7
post 2400 'kind = "voice_runtime"; guild = n % 3 + 1'
run agent-call actions
all 2400 "actions of one kind are fetched in three guilds, of which two are left"
run agent-call actions -k voice_runtime
all 2400 "actions of one kind are fetched by name"
stop "$pid"

# A guild that comes to light when the others were asked for already.
fresh --guilds 1
post 300 'kind = "llm_call"; guild = 9'
post 600 'kind = "asr_call"; guild = n < 600 ? 9 : 1'
post 1400 'kind = "llm_call"; guild = n % 2 ? 1 : 2'
run agent-call actions
sort "$out" >"$tmp/rows"
is "$status $(lines "$tmp/rows") $(uniq "$tmp/rows" | wc -l)" "0 2300 2300" \
  "a guild that only older rows name is asked for, too"
stop "$pid"

# --- kinds that no table knows, but a row of them was seen
fresh
post 1200 'kind = n % 3 ? "llm_call" : "invented_kind"'
run agent-call actions
all 1200 "actions of a kind that was seen are fetched"
stop "$pid"

# --- actions of no guild cannot be asked for by guild
fresh --guilds 1
post 1500 'kind = "bot_runtime"; guild = n % 5 ? 0 : 1'
post 100 'kind = "llm_call"'
run agent-call actions
is "$status $(jq .id "$out" | sort -n | uniq | wc -l)" "2 1200" "what cannot be reached ends with 2"
err_like '^agent-call: actions: bot_runtime of no guild before 2026-01-01T00:00:00.500Z cannot be reached: ' \
  "the kind of no guild that cannot be reached is named"
is "$(lines "$err")" 1 "the kind that cannot be reached is named once"
run agent-call actions -k bot_runtime
is "$status $(lines "$err")" "2 1" \
  "the kind that cannot be reached is named where it is asked for, too"
run agent-call actions -k llm_call
is "$status $(lines "$out") $(cat "$err")" "0 100 " "nothing is said of a kind that can be reached"
run agent-call actions -n 700
is "$status $(lines "$out") $(cat "$err")" "0 700 " "nothing is said where there are enough actions"
stop "$pid"

# --- one kind by name: the ids of the others are no holes
fresh --guilds 1,2
post 3000 'kind = n % 2 ? "llm_call" : "asr_call"; guild = n % 4 < 2 ? 1 : 2'
run agent-call actions -k llm_call
is "$status $(lines "$out") $(cat "$err")" "0 1500 " "rows of other kinds are not missing"
run agent-call actions
all 3000 "actions of two kinds in two guilds are all fetched"
ok "few requests are made" test "$(requests)" -lt 30
stop "$pid"

# --- a flood and others beside it
fresh --guilds 1
post 449 'kind = "llm_call"'
post 1000 'kind = "llm_call"'
post 100 'kind = "asr_call"; guild = 0'
run agent-call actions
is "$status $(lines "$out")" "2 1100" \
  "more of a kind in a guild than an answer holds ends with status 2"
err_is "agent-call: actions: llm_call of guild 1 before 2026-01-01T00:00:00.449Z cannot be reached: the backend gives the newest 1000" \
  "more of a kind in a guild than an answer holds is told once"
stop "$pid"

# --- the oldest are of no guild
fresh --guilds 1,2
post 5 'kind = "llm_call"; guild = 0'
post 1500 'kind = "llm_call"; guild = n % 2 + 1'
for words in "" "-k llm_call"; do
  # shellcheck disable=SC2086  # words
  run agent-call actions $words
  is "$status $(lines "$out") $(lines "$err")" "2 1500 1" "ids that nothing accounts for are told: $words"
  err_like '^agent-call: actions: llm_call of no guild before .* cannot be reached' \
    "ids that nothing accounts for are told by their kind: $words"
done
stop "$pid"

# --- no list of guilds
fresh
post 1500 'kind = "llm_call"; guild = n % 2 + 1'
run agent-call actions
all 1500 "actions are fetched by guilds that were seen, where the list is empty"

done_testing
