#!/bin/sh
# agent-serve: what a real dashboard answered is answered to the byte, from the
# same actions and the same state.
. "${0%/*}/../lib.sh"
needs agent-serve curl jq
recorded=$cli/servers/recorded

start_server serve agent-serve -l 127.0.0.1:0 -D :memory:

# body NAME: the body of a recorded answer; status NAME: its status.
body() { sed '1,/^.\{0,1\}$/d' "$recorded/$1.http"; }
same() {
  body "$1" >"$tmp/want"
  code=$(curl -s -o "$tmp/got" -w '%{http_code} %{content_type}' "$url$2")
  is "$code" "200 application/json" "$1: status and type are those of the dashboard"
  ok "$1: the body is that of the dashboard" cmp "$tmp/want" "$tmp/got"
}
put() {
  is "$(curl -s -w ' %{http_code}' -X PUT --data-binary @"$2" "$url$1")" '{"ok":true} 200' \
    "a PUT of $1 is accepted"
}

# --- from actions: the 26 rows of the snapshot, oldest first, as they were logged
sed -n '/^event: activity_snapshot/{n;s/^data: //p;}' "$recorded/activity.sse" >"$tmp/snapshot"
jq -c '.actions | sort_by(.id)[]' "$tmp/snapshot" | curl -s --data-binary @- "$url/api/actions" \
  >"$tmp/answer"
is "$(jq -c '[.ok, .stored]' "$tmp/answer")" '[true,26]' \
  "the actions of a recorded snapshot are stored"
same voice-history-sessions "/api/voice/history/sessions?limit=10"
same voice-history-events "/api/voice/history/sessions/vs-sample-0002/events"
same agents-browser-sessions "/api/agents/browser-sessions?sinceHours=1000000"
day='.[0].startedAt | sub("\\.[0-9]+Z"; "Z") | (now - fromdate) / 3600'
hours=$(body voice-history-sessions-since | jq "$day")
is "$(curl -s "$url/api/voice/history/sessions?sinceHours=$(jq -n "$hours + 1")")" \
  "$(body voice-history-sessions-since)" "a session that began before the window is left out"
is "$(curl -s "$url/api/voice/history/sessions?guildId=100000000000000002" | jq -c 'map(.sessionId)')" \
  '["vs-sample-0002"]' "the sessions of a guild are given"

# --- from the voice state
body voice-state >"$tmp/state"
put /api/voice/state "$tmp/state"
same voice-state /api/voice/state
same voice-tool-events /api/voice/tool-events
same mcp-status /api/mcp/status
# The end of an idle timer counts from the clock.
timers() { jq -c '.sessions |= map(.idleTimerEndsAt |= (. | type))'; }
is "$(curl -s "$url/api/voice/asr-sessions" | timers)" "$(body voice-asr-sessions | timers)" \
  "voice-asr-sessions are the same but for the timers"
curl -s "$url/api/voice/asr-sessions" | jq -r '.sessions[] | .idleTimerEndsAt' >"$tmp/ends"
late=$(jq -R 'sub("\\.[0-9]+Z"; "Z") | fromdate - now | floor' "$tmp/ends" | tail -n 1)
ok "a timer that never began ends in a minute ($late s)" test "$late" -ge 50 -a "$late" -le 60

# --- from what is put beside it
{ body guilds && body guild-channels; } | jq -sc '.[1] as $channels | .[0] | .[0].channels = $channels' \
  >"$tmp/guilds"
put /api/guilds "$tmp/guilds"
same guilds /api/guilds
same guild-channels /api/guilds/100000000000000001/channels
body automations >"$tmp/put" && put /api/automations "$tmp/put"
same automations "/api/automations?guildId=100000000000000001"
body automations-runs >"$tmp/put" && put /api/automations/runs "$tmp/put"
same automations-runs "/api/automations/runs?guildId=100000000000000001&automationId=1"
body public-https >"$tmp/put" && put /api/public-https "$tmp/put"
same public-https /api/public-https
is "$(curl -s "$url/api/stats" | jq -c '.runtime.publicHttps')" "$(body public-https)" \
  "the tunnel is in the stats"
is "$(curl -s "$url/api/stats" | jq -c '.runtime.voice')" "$(cat "$tmp/state")" \
  "the whole voice state is in the stats, too"
is "$(curl -s "$url/api/stats" | jq -c '.runtime | keys_unsorted')" \
  "$(jq -c '.stats.runtime | keys_unsorted' "$tmp/snapshot")" \
  "the runtime of the stats has the members of the recording"

# --- joining
join() {
  curl -s -H 'Content-Type: application/json' -d "$1" "$url/api/voice/join"
}
is "$(join '{}')" "$(body voice-join-already)" "a session that is there already is told"
is "$(join '{"guildId":"999"}')" "$(body voice-join-unknown-guild)" "an unknown guild is told"
is "$(join '{"guildId": "100000000000000001", "requesterUserId": "300000000000000055"}')" \
  "$(body voice-join-requester-absent)" "a person who is not there is told"
done_testing
