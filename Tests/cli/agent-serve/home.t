#!/bin/sh
# agent-serve: guilds, automations and the like: put, selected, refused.
. "${0%/*}/../lib.sh"
needs agent-serve curl jq
start_server serve agent-serve -l 127.0.0.1:0 -D :memory:
get() { curl -s --path-as-is "$url/api/$1"; }
put() { curl -s -o "$tmp/body" -w '%{http_code}' -X PUT -d "$2" "$url/api/$1"; }
rows() { get "$1" | jq -c '.rows | map(.id)'; }

# --- nothing was told
is "$(get guilds)$(get guilds/1/channels)" '[][]' "there is no guild and no channel"
is "$(get public-https) $(get llm/models)" 'null {}' "there is no tunnel and no model"
is "$(get 'automations?guildId=1' | jq -c .)" \
  '{"guildId":"1","channelId":null,"statuses":["active","paused"],"query":"","limit":30,"rows":[]}' \
  "there is no automation"
is "$(get agents/browser-sessions)" '{"guildId":null,"sessions":[]}' "there is no browser session"
join() { curl -s -w ' %{http_code}' -d "$1" -H "Content-Type: ${2-application/json}" "$url/api/voice/join"; }
unavailable='{"ok":false,"reason":"voice_join_unavailable"} 503'
is "$(join '{}')" "$unavailable" "there is nobody to join anything"
is "$(join '{"guildId":"1"}' text/plain)" "$unavailable" "a body of another type is not read"
is "$(join '{"guildId":"1"}' | jq -r .reason 2>/dev/null)" "guild_not_found" \
  "an unknown guild is not found"
is "$(join '{"guildId":')" '{"error":"invalid_json_body"} 400' \
  "a join whose body breaks off is refused"
is "$(join '[1]')" "$unavailable" "an array asks for no join"
is "$(join '')" "$unavailable" "an empty body asks for no join"

# --- the order of channels, that of JavaScript's localeCompare
names='["_x","-x","#q","🎮game","1","10","2","a","ä","Ä","B","e","E","é","ok","Ok","ok 1","ok_3","ok-2","okay","Z","zz","привет","字"]'
put guilds "$(jq -c '[{id: "7", name: "Seven", channels: (to_entries | reverse
  | map({id: "\(.key)", name: .value}))}]' <<END
$names
END
)" >/dev/null
is "$(get guilds/7/channels | jq -c 'map(.name)')" "$names" "channels are sorted by their names"
put guilds "$(jq -c '[{id: "7", name: "Seven", channels: (to_entries | reverse
  | map({id: "\(.key)", name: "x", category: .value}))}]' <<END
$names
END
)" >/dev/null
is "$(get guilds/7/channels | jq -c 'map(.category)')" "$names" \
  "channels are sorted by categories, too"

# --- guilds
is "$(put guilds '[{"id":"1","name":"One","channels":[
  {"id":"13","name":"zz","category":"A"},{"id":"11","name":"b"},{"id":"12","name":"aa","category":"A","type":"voice"},
  {"id":"10","name":"a"}]},{"id":2,"name":"T\u0077o","more":1}]')" 200 "guilds are stored"
is "$(get guilds)" '[{"id":"1","name":"One"},{"id":"2","name":"Two"}]' \
  "guilds have only an id and a name"
is "$(get guilds/1/channels | jq -c 'map([.id, .type, .category])')" \
  '[["10","text",null],["11","text",null],["12","voice","A"],["13","text","A"]]' \
  "channels are sorted by category and name"
is "$(get guilds/2/channels)$(get guilds/%32/channels)$(get guilds/1%2F2/channels)" "[][][]" "a guild may have no channels"
is "$(curl -s -w ' %{http_code}' "$url/api/guilds/%20/channels")" '{"error":"guildId is required"} 400' \
  "a guild of blanks is refused"
is "$(curl -s -w ' %{http_code}' -X DELETE "$url/api/memory/reflections/%20")" \
  '{"ok":false,"error":"runId required"} 400' "a run of blanks is refused"
for path in guilds/ guilds/1 guilds/1/ guilds//channels guilds/1/channels/ guilds/1/2/channels \
  guilds/../health automations/ automations/runs/1; do
  is "$(get "$path")" "Not found." "a path is not found: $path"
done
is "$(join '{}' | cut -d, -f2)" '"reason":"no_voice_members_found"' "nobody is in voice"
is "$(join '{"guildId":2,"requesterUserId":" 5 "}' | cut -d, -f2-)" \
  '"reason":"requester_not_in_voice","guildId":"2","voiceChannelId":null,"textChannelId":null,"requesterUserId":"5"} 200' \
  "who asks is not in voice, either"

# --- automations
put automations '{"rows":[
  {"id":1,"guild_id":"1","title":"Bins","instruction":"say Which","updated_at":"2026-01-01T00:00:00.000Z","channel_id":"10"},
  {"id":2,"guild_id":"1","title":"x","match_text":"tidy up","updated_at":"2026-01-03T00:00:00.000Z","status":"paused","is_running":true},
  {"id":3,"guild_id":"1","status":"deleted","schedule":{"kind":"once","n":1.10}},
  {"id":4,"guild_id":"2","updated_at":"2026-01-03T00:00:00.000Z"},
  {"id":5,"guild_id":"1","updated_at":"2026-01-03T00:00:00.000Z","extra":[1]}]}' >/dev/null
is "$(rows 'automations?guildId=1')" "[5,2,1]" \
  "automations are active and paused ones, the last change first"
is "$(rows 'automations?guildId=1&status=all')" "[5,2,1,3]" "all are selected by status=all"
is "$(rows 'automations?guildId=1&status=PAUSED,%20')" "[2]" "a status selects"
is "$(get 'automations?guildId=1&status=no,%20such' | jq -c '[.statuses, .rows]')" '[["no","such"],[]]' \
  "a status that is not known is echoed and selects nothing"
is "$(rows 'automations?guildId=1&q=bins%20%20SAY')$(rows 'automations?guildId=1&q=Tidy')" "[1][2]" "words select"
is "$(rows 'automations?guildId=1&channelId=10')" "[1]" "a channel selects"
is "$(rows 'automations?guildId=1&limit=0')$(rows 'automations?guildId=1&limit=x')" "[5][5,2,1]" "a limit holds"
is "$(get 'automations?guildId=1&limit=1000' | jq .limit)" 120 \
  "a limit that is too large is clamped"
is "$(get 'automations?guildId=%20')" '{"error":"guildId is required"}' "a guild is needed"
is "$(get 'automations?guildId=1&status=deleted' | jq -c '.rows[0] | [.is_running, .title, .status]')" \
  '[false,null,"deleted"]' "what is missing is null"
like "$(get 'automations?guildId=1&status=deleted')" '"schedule":\{"kind":"once","n":1\.10\}' \
  "numbers keep their bytes"

# --- runs
put automations/runs '[{"id":1,"automation_id":1,"created_at":"2026-01-01T00:00:00.000Z"},
  {"id":2,"automation_id":1,"created_at":"2026-01-02T00:00:00.000Z"},{"id":3,"automation_id":4}]' >/dev/null
is "$(rows 'automations/runs?guildId=1&automationId=1')" "[2,1]" "runs come newest first"
is "$(rows 'automations/runs?guildId=1&automationId=1&limit=1')" "[2]" "a limit holds for runs"
is "$(rows 'automations/runs?guildId=2&automationId=1')" "[]" \
  "runs of another guild's automation are not shown"
for query in '' 'guildId=1' 'automationId=1' 'guildId=1&automationId=x' 'guildId=1&automationId=0' \
  'guildId=1&automationId=1.5' 'guildId=1&automationId=1e400'; do
  is "$(get "automations/runs?$query")" '{"error":"guildId and automationId are required"}' \
    "the runs are refused without both: $query"
done

# --- what is refused, with the reason
bad() {
  is "$(put "$1" "$2") $(jq -r '.error + ": " + .reason' "$tmp/body")" "400 $3" \
    "a put is refused with 400: $1 $2"
}
bad guilds '{}' 'invalid_guilds: not an array'
bad guilds '[1]' 'invalid_guilds: an element is not an object'
bad guilds '[{"id":"1"},{"name":"x"}]' 'invalid_guilds: element 2: no id'
bad guilds '[{"id":"1","channels":{}}]' \
  'invalid_guilds: element 1: channels is not an array of objects with an id'
bad automations '[{"id":"x","guild_id":"1"}]' 'invalid_automations: element 1: no integer id'
bad automations '[{"id":1}]' 'invalid_automations: element 1: no guild_id'
bad automations/runs '[{"id":1}]' 'invalid_automation_runs: element 1: no integer automation_id'
bad public-https '7' 'invalid_public_https: neither an object nor null'
bad llm/models '[]' 'invalid_llm_models: not an object'
bad llm/models '{"a":' 'invalid_json_body: unbalanced brackets'
is "$(get guilds | jq length)" 2 "what was there before a refused put stays"
is "$(put health '{}')$(put guilds/1/channels '[]')$(put actions '[]')" 404404404 "nothing else is put"

# --- browser sessions out of odd rows
curl -s -o "$tmp/body" --data-binary @- "$url/api/actions" <<'END'
{"kind":"browser_tool_step","content":"a","metadata":{"sessionKey":"k","step":"2"}}
{"kind":"browser_tool_step","content":"b","metadata":{"sessionKey":"k","step":1e300,"tool":7}}
{"kind":"browser_agent_session_turn","content":"go","guildId":"9","metadata":{"sessionId":"k","steps":-1e99,"durationMs":"12","turnCostUsd":0.5}}
{"kind":"browser_browse_call","metadata":[1,2],"usdCost":4e-7}
{"kind":"browser_browse_failed","metadata":"text"}
END
is "$(get agents/browser-sessions | jq -c '.sessions | map(.sessionId[0:6]) | sort')" \
  '["browse","browse","k"]' "rows of three sessions make three sessions"
is "$(get agents/browser-sessions |
  jq -c '.sessions[] | select(.sessionId == "k") | [.totalCostUsd, .durationMs, (.toolSteps | map([.tool, .step]))]')" \
  '[0.5,12,[["7",0],["a",2]]]' "a session has what its rows tell"
is "$(get 'agents/browser-sessions?guildId=9' | jq -c '[.guildId, (.sessions | length)]')" '["9",1]' \
  "the sessions of a guild can be asked for"
is "$(get 'agents/browser-sessions?limit=0' | jq '.sessions | length')" 1 \
  "a limit holds for sessions"
is "$(get 'agents/browser-sessions?sinceHours=-1' | jq '.sessions | length')" 3 \
  "a time that makes no sense is the default for sessions"

# --- large bodies
head -c 8388608 /dev/zero | tr '\0' ' ' >"$tmp/large"
for path in guilds automations automations/runs public-https llm/models; do
  is "$(curl -s -X PUT --data-binary @"$tmp/large" "$url/api/$path")" '{"error":"payload_too_large"}' \
    "a body that is too large is refused: $path"
done
is "$(curl -s --data-binary @"$tmp/large" "$url/api/voice/join")" '{"error":"payload_too_large"}' "a body that is too large for joining is refused"
{ printf '{"a":' && head -c 3000000 /dev/zero | tr '\0' '[' && head -c 3000000 /dev/zero | tr '\0' ']' &&
  printf '}'; } >"$tmp/deep"
is "$(curl -s -X PUT --data-binary @"$tmp/deep" "$url/api/llm/models")" '{"ok":true}' "nesting of any depth is taken"
ok "a deep value comes back as it was" sh -c "curl -s '$url/api/llm/models' | cmp - '$tmp/deep'"
done_testing
