#!/bin/sh
# agent-serve: what differed when it was run beside a real dashboard.
. "${0%/*}/../lib.sh"
needs agent-serve curl jq
start_server serve agent-serve -l 127.0.0.1:0 -D :memory:
get() { curl -s --path-as-is "$url/api/$1"; }
put() { curl -s -o "$tmp/body" -w '%{http_code}' -X PUT -d "$2" "$url/api/$1"; }
post() { curl -s -H "Content-Type: ${3-application/json}" -d "$2" "$url/api/$1"; }

# --- joining
is "$(put guilds '[{"id":"1","name":"One","channels":[{"id":"10","name":"b","type":"text"},
  {"id":"11","name":"a","type":"text"},{"id":"20","name":"v","type":"voice"}]},{"id":"2","name":"Two"}]')" \
  200 "guilds are stored"
is "$(put voice/state '{"activeCount":1,"sessions":[{"sessionId":"s","guildId":"1","voiceChannelId":"20",
  "textChannelId":"10","participants":[{"userId":"5","displayName":"ada"},{"userId":"6","displayName":"ben"}]}]}')" \
  200 "a voice session is stored"
joins() { get 'actions?kinds=voice_runtime' | jq -c 'map(select(.content == "dashboard_voice_join"))'; }
for refused in '{"guildId":"999"}' '{"guildId":"2"}' '{"guildId":"1","requesterUserId":"7"}'; do
  is "$(post voice/join "$refused" | jq .ok)" false "a join is refused: $refused"
done
is "$(joins)" "[]" "what is refused is not an action"
is "$(post voice/join '{}' | jq -c '[.ok, .textChannelId, .requesterUserId]')" '[true,"10","5"]' "the agent joins"
is "$(joins | jq -c '.[0] | [.guild_id, .channel_id, .user_id, .metadata]')" \
  '["1","10","5",{"source":"dashboard_voice_tab","reason":"already_in_channel","requestedGuildId":null,"requestedRequesterUserId":null,"requestedTextChannelId":null,"voiceChannelId":"20","handled":true,"joinedTargetChannel":true}]' \
  "a join is an action with what was asked and what became of it"
channel() { post voice/join "{\"guildId\":\"1\",\"textChannelId\":\"$1\"}" | jq -r '"\(.ok) \(.textChannelId)"'; }
is "$(channel 11)" "true 11" "a text channel of the guild is taken"
is "$(channel 404)" "true 10" "another text channel is taken for one that is not there"
is "$(joins | jq -c '.[0] | [.channel_id, .metadata.requestedTextChannelId]')" '["10","404"]' \
  "the action of a join tells what was asked for"
is "$(channel 20)" "true 10" "another text channel is taken for a voice channel"
is "$(post voice/join 'guildId=2' application/x-www-form-urlencoded | jq -r .reason)" no_voice_members_found \
  "a join by a form is read, too"

# --- who a turn is about
people() {
  post memory/runtime-snapshot "$1" | jq -c '[.counts.participantCount, (.participants | map([.userId, .displayName, .source]))]'
}
is "$(people '{"guildId":"1","userId":"5","mode":"text"}')" '[1,[["5","5","primary_user"]]]' \
  "a text turn has who asks alone, by the id"
is "$(people '{"guildId":"1","userId":"5"}')" '[1,[["5","5","primary_user"]]]' \
  "a turn without a mode is text"
is "$(people '{"guildId":"1","userId":"5","recentMessages":[{"authorId":"5","authorName":"Ada","content":"x"}]}')" \
  '[1,[["5","Ada","primary_user"]]]' "a turn has a name that the request tells"
is "$(people '{"guildId":"1","userId":"5","mode":"voice"}')" \
  '[2,[["5","ada","primary_user"],["6","ben","active_voice_session"]]]' \
    "a voice turn has everybody in the session, by name"
is "$(post memory/runtime-snapshot '{"guildId":"1"}' | jq -r .activeVoiceSession.sessionId)" s \
  "a text turn tells the session, too"

# --- durations
{
  echo '{"kind":"memory_reflection_start","createdAt":"2026-03-01T12:00:00.000Z","metadata":{"runId":"r","durationMs":1}}'
  echo '{"kind":"memory_reflection_complete","createdAt":"2026-03-01T12:00:01.500Z","metadata":{"runId":"r","durationMs":99}}'
  echo '{"kind":"memory_reflection_error","createdAt":"2026-03-01T12:00:01.500Z","metadata":{"runId":"e","durationMs":99}}'
} | curl -s -o "$tmp/body" --data-binary @- "$url/api/actions"
is "$(get memory/reflections | jq -c '.runs | map([.runId, .durationMs])')" '[["e",null],["r",1500]]' \
  "a reflection lasts from its start to its end"
phase() { get stats | jq -c ".stats.performance$1 | [.count, .minMs, .maxMs]"; }
post actions '{"kind":"sent_reply","metadata":{"performance":{"totalMs":40,"queueMs":null,"sendMs":" 7 ","llm1Ms":"x"}}}' >"$tmp/body"
post actions '{"kind":"sent_reply","metadata":{"performance":{"totalMs":60,"queueMs":20,"ingestMs":-1}}}' >"$tmp/body"
is "$(phase .totalMs)$(phase .phases.queueMs)" '[2,40,60][2,0,20]' "a phase that is null counts as 0"
is "$(phase .phases.sendMs)$(phase .phases.llm1Ms)$(phase .phases.ingestMs)$(phase .phases.typingDelayMs)" \
  '[1,7,7][0,null,null][0,null,null][0,null,null]' \
  "a phase that is absent or no number does not count"

# --- numbers as JavaScript reads them
seq 30 | sed 's/.*/{"kind":"n","content":"&"}/' | curl -s -o "$tmp/body" --data-binary @- "$url/api/actions"
while read -r limit count; do
  is "$(get "actions?kinds=n&limit=$limit" | jq length)" "$count" "limit=$limit gives $count rows"
done <<'END'
0x10 16
0X1f 30
0b11 3
0o17 15
1e1 10
+5 5
%205%20 5
%C2%A05%EF%BB%BF 5
.5e1 5
5. 5
2.9 2
-0 1
-3 1
%20 1
Infinity 30
-Infinity 30
0x 30
0x1g 30
-0x10 30
1_0 30
5n 30
5,0 30
NaN 30
END
is "$(get 'memory/search?guildId=1&q=a&limit=0x10' | jq .limit)" 16 \
  "a limit of a search is read as JavaScript does"
is "$(get 'memory/search?guildId=1&q=a&limit=Infinity' | jq .limit)" null \
  "a limit of a search may be infinite"

# --- paths
for path in %68ealth h%65alth %68%65%61%6C%74%68; do
  is "$(curl -s -w ' %{http_code}' "$url/api/$path")" '{"ok":true} 200' "/api/$path is answered"
done
is "$(curl -s "$url/%61pi/he%61lth")" '{"ok":true}' "/%61pi/he%61lth is answered"
is "$(get guild%73/1/channels | jq length)" 3 "a segment further on may be encoded"
is "$(get guilds/%31/channels | jq length)" 3 "an id may be encoded"
for path in %2Fhealth health%2F h%ealth health%00 health%3F health%23 %2568ealth %C3health he%61lth/; do
  is "$(curl -s -w ' %{http_code}' "$url/api/$path")" 'Not found. 404' "/api/$path is not found"
done
printf 'sample-token\n' >"$tmp/token"
chmod 600 "$tmp/token"
open=$url
start_server guarded agent-serve -l 127.0.0.1:0 -D :memory: --token-file "$tmp/token"
for path in api/%68ealth %61pi/health %61pi %61%70%69/health; do
  is "$(curl -s -o "$tmp/body" -w '%{http_code}' "$url/$path")" 401 "the token is asked for at /$path"
done
url=$open

# --- heads
run curl -s -i -H 'Content-Type: application/json' -d '{"guildId":' "$url/api/memory/runtime-snapshot"
out_like '^Content-Type: application/json;charset=utf-8' "what is not JSON is told with a charset"
run curl -s -i -H 'Content-Type: application/json' -d '{"guildId":' "$url/api/voice/join"
out_like '^Content-Type: application/json;charset=utf-8' \
  "what is not JSON for a join is told with a charset, too"
date='^Date: (Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT'
for path in api/health api/none; do
  run curl -s -i "$url/$path"
  out_like "$date" "$path is dated"
done
start stream curl -siN "$url/api/voice/events"
ok "a stream is dated, too" wait_until 30 has "$tmp/stream.out" "$date"
said=$(sed -n 's/^Date: //p' "$tmp/stream.out" | tr -d '\r')
late=$(jq -n --arg said "$said" 'now - ($said | strptime("%a, %d %b %Y %H:%M:%S GMT") | mktime) | floor')
ok "the date of a stream is the present time ($late s ago)" test "$late" -ge 0 -a "$late" -le 30
done_testing
