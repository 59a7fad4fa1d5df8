#!/bin/sh
# agent-call against agent-serve: every command on the sample day, and all of
# the actions of a store that no single answer holds.
. "${0%/*}/../lib.sh"
needs agent-call agent-serve jq python3

umask 077
echo sample-token >"$tmp/token"
AGENT_TOKEN_FILE=$tmp/token
export AGENT_TOKEN_FILE AGENT_URL

"$root/Tests/fixtures/as-of-now" "$root/Tests/fixtures/sample-day.ndjson" >"$tmp/day"
start_server day agent-serve -l 127.0.0.1:0 -D :memory: --token-file "$tmp/token" \
  --ingest "$tmp/day"
AGENT_URL=$url

# --- every command
run agent-call health
is "$status $(jq -r .type "$out")" "0 health" "health is answered"
guild=$(agent-call guilds | jq -r .id | head -n 1)
for command in stats guilds "channels $guild" "automations -g $guild" "runs -g $guild" \
  browser-sessions mcp asr-sessions tool-events tunnel actions; do
  # shellcheck disable=SC2086
  t 0 "agent-call $command succeeds" agent-call $command
  err_empty "agent-call $command says nothing else"
  ok "each line of $command is a record" python3 -c '
import json, sys
for line in open(sys.argv[1], newline="\n"):
    assert isinstance(json.loads(line), dict)' "$out"
  for form in table tsv; do
    # shellcheck disable=SC2086
    run agent-call $command -o $form
    is "$status $(cat "$err")" "0 " "$command is printed as $form"
    ok "$command as $form has rows" test -s "$out"
    not_ok "$command as $form has no bare control character" \
      grep -q "$(printf '[\001-\010\013-\037]')" "$out"
  done
done
t 2 "agent-call automations asks for a guild where there are two" agent-call automations
err_one_line agent-call "the question for the guild is one line"
is "$(agent-call get "/api/guilds/$guild/channels")" "$(agent-call channels -g "$guild")" \
  "get prints the same as the command for a path"
t 2 "settings, which this backend does not have, are an error" agent-call settings
first=$(agent-call runs -g "$guild" -n 1 | jq -r .automation_id)
is "$(agent-call runs "$first" -g "$guild" | jq -r .automation_id | sort -u)" "$first" \
  "runs of one automation are printed"
run agent-call automations -g "$guild" --status no_such_state
is "$status $(cat "$out" "$err")" "1 " "an empty list has status 1"
t 2 "an unknown path is an error" agent-call get /api/nothing
run env AGENT_TOKEN_FILE="$tmp/day" agent-call health
isnt "$status" 0 "a file that is not a token is refused"
printf 'wrong\n' >"$tmp/wrong"
t 77 "a wrong token is refused" agent-call --token-file "$tmp/wrong" health
err_like "the token from $tmp/wrong was refused" "a wrong token is told by its file"

# --- telling it something
run agent-call join
cat "$out" >"$tmp/join"
ok "join without a guild has an outcome" jq -e 'has("ok")' "$tmp/join"
t 1 "an unknown guild cannot be joined" agent-call join 999
err_is "agent-call: join: the agent is in no such guild (guild_not_found)" \
  "the message says that there is no such guild"
run sh -c 'echo "{\"kind\":\"llm_call\",\"content\":\"by hand\"}" | agent-call post /api/actions'
is "$status $(jq -c .ok "$out")" "0 true" "post sends an action"
is "$(agent-call actions -n 1 | jq -r .content)" "by hand" \
  "the action that was posted is the newest"
run agent-call put /api/voice/state -d '{"activeCount":0,"sessions":[]}'
is "$status $(cat "$out")" '0 {"ok":true}' "put is accepted"
run agent-call mcp
is "$status" 1 "mcp has status 1 without a session"
t 2 "an action that the backend does not understand is an error" \
  agent-call post /api/actions -d '{"kind":7}'
err_one_line agent-call "an action that the backend does not understand is told in a line"
stop "$pid"

# --- more actions than an answer holds: 4600, many in one millisecond
python3 - >"$tmp/many" <<'END'
import json, random
random.seed(7)
kinds = ["llm_call"] * 8 + ["voice_runtime"] * 8 + ["sent_reply"] * 3 + ["dashboard", "asr_call"]
for n in range(4600):
    at = n * 40 + random.randrange(400) if n % 900 > 300 else n // 900 * 36000
    print(json.dumps({"kind": random.choice(kinds), "content": f"action {n}",
                      "guildId": random.choice(["1", "2"]), "usdCost": 1.10,
                      "createdAt": "2026-01-%02dT%02d:%02d:%02d.%03dZ" % (
                          1 + at // 86400000, at // 3600000 % 24, at // 60000 % 60,
                          at // 1000 % 60, at % 1000)}))
END
printf '%s\n' '{"event":"guilds","data":[{"id":"1","name":"One","channels":[]},{"id":"2","name":"Two","channels":[]}]}' \
  >>"$tmp/many"
start_server many agent-serve -l 127.0.0.1:0 -D :memory: --token-file "$tmp/token" \
  --ingest "$tmp/many"
AGENT_URL=$url

t 0 "all actions are fetched" agent-call actions
err_empty "nothing is said when all actions are fetched"
is "$(lines "$out")" 4600 "all of 4600 actions are printed"
is "$(jq .id "$out" | sort -n | uniq | wc -l)" 4600 "each of 4600 actions is printed once"
ok "the actions come newest first" jq -es '[.[].created_at] | . == (sort | reverse)' "$out"
is "$(jq -r .content "$out" | sort | uniq | wc -l)" 4600 "each of 4600 actions is printed whole"
cp "$out" "$tmp/all"
run agent-call actions -n 2345
is "$status $(lines "$out") $(cat "$err")" "0 2345 " "-n takes more actions than an answer holds"
sed 2345q "$tmp/all" | jq -c .id | sort >"$tmp/newest"
jq -c .id "$out" | sort >"$tmp/got"
ok "the actions of -n are the newest ones" \
  test "$(comm -13 "$tmp/newest" "$tmp/got" | wc -l)" -lt 400
is "$(jq -r .created_at "$out" | tail -n 1)" "$(sed -n 2345p "$tmp/all" | jq -r .created_at)" \
  "the actions of -n go back as far as the newest ones"
run agent-call actions -k llm_call -g 2
is "$(jq -r '.kind + .guild_id' "$out" | sort | uniq -c | tr -s ' ')" \
  "$(jq -r 'select(.kind == "llm_call" and .guild_id == "2") | .kind + .guild_id' "$tmp/all" |
    sort | uniq -c | tr -s ' ')" "actions of one kind and one guild are fetched"
run agent-call actions -k llm_call
is "$(lines "$out")" "$(jq -r 'select(.kind == "llm_call").id' "$tmp/all" | wc -l | tr -d ' ')" \
  "a kind that no answer holds is fetched guild by guild"
since=$(sed -n 3000p "$tmp/all" | jq -r .created_at)
run agent-call actions -S "$since" -o tsv
is "$(lines "$out")" \
  "$(jq -r .created_at "$tmp/all" | awk -v since="$since" '$0 >= since' | wc -l | tr -d ' ')" \
  "-S fetches the actions since a time"
run sh -c 'agent-call actions | head -n 1 | jq .id'
is "$(cat "$out")" "$(head -n 1 "$tmp/all" | jq .id)" \
  "a reader that has enough gets the newest action"
run agent-call actions -q
is "$status $(cat "$out")" "0 " "-q has status 0 when there are actions"
run agent-call actions -k no_such_kind
is "$status $(cat "$out" "$err")" "1 " "a kind without actions has status 1"
stop "$pid"

# --- kinds that are not known, older than the first answer
python3 - >"$tmp/odd" <<'END'
import json
for n in range(1500):
    kind = "invented_kind" if n in (20, 21, 22) else ["llm_call", "asr_call"][n % 2]
    print(json.dumps({"kind": kind, "content": str(n),
                      "createdAt": "2026-01-01T00:00:%02d.%03dZ" % (n // 1000, n % 1000)}))
END
start_server odd agent-serve -l 127.0.0.1:0 -D :memory: --token-file "$tmp/token" \
  --ingest "$tmp/odd"
AGENT_URL=$url
run agent-call actions
is "$status $(lines "$out")" "2 1497" "actions of an unknown kind cannot be asked for"
err_is "agent-call: actions: 3 before 2026-01-01T00:00:00.500Z may be missing: of unknown kinds, or removed" \
  "actions that may be missing are told"
run agent-call actions -n 1400
is "$status $(lines "$out") $(cat "$err")" "0 1400 " "nothing is said where no action is missing"
run agent-call actions -k invented_kind
is "$status $(lines "$out")" "0 3" "actions of an unknown kind are found by name"
stop "$pid"

# --- what cannot be reached is said
python3 - >"$tmp/flood" <<'END'
import json
for n in range(1300):
    print(json.dumps({"kind": "llm_call", "guildId": "1", "content": str(n),
                      "createdAt": "2026-01-01T00:00:%02d.%03dZ" % (n // 1000, n % 1000)}))
END
tail -n 1 "$tmp/many" >>"$tmp/flood"
start_server flood agent-serve -l 127.0.0.1:0 -D :memory: --token-file "$tmp/token" \
  --ingest "$tmp/flood"
AGENT_URL=$url
t 2 "more of a kind in a guild than an answer holds has status 2" agent-call actions
is "$(lines "$out") $(jq .id "$out" | sort -u | wc -l)" "1000 1000" \
  "the actions that can be reached come once"
err_like '^agent-call: actions: llm_call of guild 1 before 2026-01-01T00:00:00.300Z cannot be reached: ' \
  "the actions that cannot be reached are named"
run agent-call actions -n 1000
is "$status $(lines "$out") $(cat "$err")" "0 1000 " \
  "nothing is said when as many as can be are wanted"
run agent-call actions -n 1100
is "$status $(lines "$out") $(wc -l <"$err")" "2 1000 1" \
  "status 2 says that not as many actions came as were wanted"

stop "$pid"

# --- what agent-serve counts is all there
python3 - >"$tmp/runs" <<'END'
import json
def put(n, kind, **more):
    print(json.dumps({"kind": kind, "content": str(n), "guildId": str(n // 2 % 4 + 1),
                      "createdAt": "2026-01-01T00:00:%02d.%03dZ" % (n // 1000, n % 1000), **more}))
for n in range(3000):
    if n in (40, 41, 2900, 2901):
        kind = "memory_reflection_" + ["start", "complete"][n % 2]
        put(n, kind, metadata={"runId": "late" if n > 2000 else "early"})
    else:
        put(n, "llm_call")
END
tail -n 1 "$tmp/many" >>"$tmp/runs"
start_server runs agent-serve -l 127.0.0.1:0 -D :memory: --token-file "$tmp/token" --ingest "$tmp/runs"
AGENT_URL=$url
delete() {
  curl -sf -H "x-dashboard-token: $(cat "$tmp/token")" -X DELETE "$url/api/memory/reflections/$1"
}
run agent-call actions
is "$status $(lines "$out") $(cat "$err")" "0 3000 " \
  "all actions are there before reflections are deleted"
is "$(delete late) $(delete early)" '{"ok":true,"deleted":2} {"ok":true,"deleted":2}' \
  "two reflections are deleted"
run agent-call actions
is "$status $(lines "$out") $(cat "$err")" "0 2996 " "what was deleted is not missing"
run agent-call actions -S 2026-01-01T00:00:00.020Z
is "$status $(lines "$out") $(cat "$err")" "0 2976 " \
  "what was deleted is not missing since a time, either"
run agent-call actions -S 400d
is "$status $(lines "$out") $(cat "$err")" "0 2996 " \
  "what was deleted is not missing in a window, either"
run agent-cost -S 2026-01-01
is "$status $(cat "$err")" "0 " "agent-cost does not miss what was deleted"
run agent-call actions -g 2
is "$status $(lines "$out") $(cat "$err")" "0 750 " \
  "what was deleted is not missing in a guild, either"
stop "$pid"

# --- of no guild, and older than all others
python3 - >"$tmp/guildless" <<'END'
import json
for n in range(1505):
    print(json.dumps({"kind": "llm_call", "content": str(n), **({"guildId": str(n % 2 + 1)} if n > 4 else {}),
                      "createdAt": "2026-01-01T00:00:%02d.%03dZ" % (n // 1000, n % 1000)}))
END
tail -n 1 "$tmp/many" >>"$tmp/guildless"
start_server guildless agent-serve -l 127.0.0.1:0 -D :memory: --token-file "$tmp/token" \
  --ingest "$tmp/guildless"
AGENT_URL=$url
for words in "" "-k llm_call" "-S 2026-01-01" "-k llm_call -S 400d"; do
  # shellcheck disable=SC2086  # words
  run agent-call actions $words
  is "$status $(lines "$out")" "2 1500" "the oldest of no guild cannot be had: $words"
  err_like '^agent-call: actions: .*cannot be reached' \
    "the oldest of no guild are told as out of reach: $words"
done
run agent-call actions -S 2026-01-01T00:00:00.005Z
is "$status $(lines "$out") $(cat "$err")" "0 1500 " \
  "the oldest of no guild are not missing from a later time"
run agent-call actions -n 1500
is "$status $(lines "$out") $(cat "$err")" "0 1500 " \
  "the oldest of no guild are not missing where they are not wanted"

done_testing
