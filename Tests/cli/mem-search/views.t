#!/bin/sh
# mem-search against the dashboard's recorded answers: reflections, profiles,
# snapshots, markdown, and odd ones.
. "${0%/*}/../lib.sh"
needs mem-search python3 jq

serve <<'S'
on /api/guilds
forever
status 200 application/json [{"id":"1","name":"The Workshop"}]
---
on /api/memory/reflections
forever
status 200 application/json {"guildId":"1","runs":[{"runId":"run-2","dateKey":"2026-01-03","guildId":"1","status":"error","startedAt":"2026-11-21T05:03:16.546Z","durationMs":10001,"model":"sample-mini","usdCost":0,"factsExtracted":0,"factsSaved":0,"extractedFacts":[],"savedFacts":[],"skippedFacts":[],"errorContent":"model timed out"},{"runId":"run-1","dateKey":"2026-01-02","guildId":"1","status":"completed","startedAt":"2026-11-20T21:43:16.544Z","durationMs":20001,"model":"sample-mini","usdCost":0.0021,"factsExtracted":3,"factsSaved":1,"extractedFacts":[{"subject":"301","fact":"Ada grows ferns.","type":"profile","confidence":0.8,"evidence":"my \\u001b[31mferns"}],"savedFacts":[{"subject":"301","fact":"Ada grows ferns.","saveReason":"added_new"}],"skippedFacts":[{"subject":"__lore__","fact":"Nothing new.","reason":"duplicate"},7],"rawResponseText":"{}","usage":{"inputTokens":5100},"reflectionPasses":[],"completionContent":"done, and a long sentence that is set by itself below the members"}]}
---
on /api/memory/fact-profile
status 200 application/json {"guildId":"1","userId":"302","channelId":"9","queryText":"fern show","durableProfile":{"userFacts":[{"id":3,"scope":"user","userId":"302","subject":"302","factType":"profile","fact":"Ben is allergic to peanuts.","confidence":1,"metadata":{"updatedAt":"2026-11-21T06:03:16.564Z","guildId":null,"evidenceText":"no peanuts please","isLegacy":false}}],"selfFacts":[],"loreFacts":[{"id":4,"scope":"guild","subject":"__lore__","factType":"other","fact":"A fern show every May.","confidence":0.81,"metadata":{}}],"guidanceFacts":[]},"promptContext":{"recentConversationHistory":[{"anchorMessageId":"4","createdAt":"2026-05-09T16:30:00.000Z","score":0.61,"messages":[{"author":"ben","content":"the labels are \\u0007 in the shed"}]}],"recentVoiceSessionContext":[{"sessionId":"v","endedAt":"2026-05-09T18:00:00.000Z","summaryText":"Talked about moss."}]},"activeVoiceSession":null}
---
on /api/memory/fact-profile
status 200 application/json {"guildId":"1","userId":"302","channelId":"9","queryText":"fern show","durableProfile":{"userFacts":[{"id":3,"scope":"user","userId":"302","subject":"302","factType":"profile","fact":"Ben is allergic to peanuts.","confidence":1,"metadata":{"updatedAt":"2026-11-21T06:03:16.564Z","guildId":null,"evidenceText":"no peanuts please","isLegacy":false}}],"selfFacts":[],"loreFacts":[{"id":4,"scope":"guild","subject":"__lore__","factType":"other","fact":"A fern show every May.","confidence":0.81,"metadata":{}}],"guidanceFacts":[]},"promptContext":{"recentConversationHistory":[{"anchorMessageId":"4","createdAt":"2026-05-09T16:30:00.000Z","score":0.61,"messages":[{"author":"ben","content":"the labels are \\u0007 in the shed"}]}],"recentVoiceSessionContext":[{"sessionId":"v","endedAt":"2026-05-09T18:00:00.000Z","summaryText":"Talked about moss."}]},"activeVoiceSession":null}
---
on /api/memory/fact-profile
status 200 application/json {"guildId":"1","userId":"302","channelId":"9","queryText":"fern show","durableProfile":{"userFacts":[{"id":3,"scope":"user","userId":"302","subject":"302","factType":"profile","fact":"Ben is allergic to peanuts.","confidence":1,"metadata":{"updatedAt":"2026-11-21T06:03:16.564Z","guildId":null,"evidenceText":"no peanuts please","isLegacy":false}}],"selfFacts":[],"loreFacts":[{"id":4,"scope":"guild","subject":"__lore__","factType":"other","fact":"A fern show every May.","confidence":0.81,"metadata":{}}],"guidanceFacts":[]},"promptContext":{"recentConversationHistory":[{"anchorMessageId":"4","createdAt":"2026-05-09T16:30:00.000Z","score":0.61,"messages":[{"author":"ben","content":"the labels are \\u0007 in the shed"}]}],"recentVoiceSessionContext":[{"sessionId":"v","endedAt":"2026-05-09T18:00:00.000Z","summaryText":"Talked about moss."}]},"activeVoiceSession":null}
---
on /api/memory/fact-profile
forever
status 200 application/json {"guildId":"1","userId":"1","channelId":null,"queryText":"","durableProfile":{"userFacts":[],"selfFacts":[],"loreFacts":[],"guidanceFacts":[]},"promptContext":{"recentConversationHistory":[]},"activeVoiceSession":null}
---
on /api/memory/runtime-snapshot
forever
status 200 application/json {"guildId":"1","queryText":"fern","mode":"voice","participants":[{"userId":"301","displayName":"ada","source":"primary_user"}],"counts":{"userFactCount":1},"slice":{"participantProfiles":[{"userId":"301","displayName":"ada","isPrimary":true,"facts":[{"id":1,"fact":"Ada grows ferns.","factType":"preference","confidence":0.92,"metadata":{}}]}],"userFacts":[],"relevantFacts":[{"id":4,"fact":"A fern show every May.","metadata":{}}]},"promptContext":{},"activeVoiceSession":{"sessionId":"v-1","participants":[{"userId":"301","displayName":"ada"}]}}
---
on /api/memory
forever
status 200 application/json {"guildId":"1","markdown":"# Durable Memory\\n\\n## People\\n- [user] 302: Ben \\u001b[2J plays\\n"}
---
on /api/memory/facts
status 200 application/json {"guildId":"7","facts":[7,null,{"id":1},{"id":2,"fact":"good"},"text"]}
---
on /api/memory/facts
status 200 application/json {"guildId":"7","facts":[7,null,{"id":1},{"id":2,"fact":"good"},"text"]}
---
on /api/memory/facts
status 200 text/html <html>hello</html>
---
on /api/memory/facts
forever
status 200 application/json {"guildId":"9"}
---
on /api/memory/subjects
forever
status 401 application/json {"error":"Unauthorized. Provide x-dashboard-token."}
S
AGENT_URL=$url
export AGENT_URL

t 0 "-R lists reflections" mem-search -R
is "$(jq -r .runId "$out" | tr '\n' ' ')" "run-2 run-1 " "-R lists the runs"
run mem-search -R -o table -W 0
out_like '^2026-01-03  run-2  error .* 10s ' "a person can read the list"
run mem-search --reflections -o tsv -n 1
is "$(lines "$out")" 1 "-n limits the list"
t 0 "one run is shown whole" mem-search -R run-1 -o table -W 60
out_like '^extracted facts \(1\)$' "the facts of a run are shown"
out_like '^ *“my .e\[31mferns”$|“my .e\[31mferns”' "control characters in a run are made visible"
out_like '\(duplicate\)' "the reason why a fact was left out is shown"
out_like '^completionContent$' "the texts of a run are shown"
run mem-search -R 2026-01-02
is "$(jq -r .runId "$out")" run-1 "a run is found by its date"
t 1 "a run that does not exist has status 1" mem-search -R none

t 0 "--fact-profile shows a profile" mem-search --fact-profile 302 -c 9 fern show
is "$(jq -r '.durableProfile.loreFacts[0].id' "$out")" 4 "the backend's record is printed"
is "$(requests 'select(.path == "/api/memory/fact-profile") | .target')" \
  "/api/memory/fact-profile?guildId=1&userId=302&channelId=9&queryText=fern%20show" \
    "--fact-profile asks for channel and words"
run mem-search --fact-profile 302 -c 9 -o table -W 70 fern show
out_like '^user facts \(1\)$' "a person gets the lists of a profile"
out_like 'no peanuts please' "the evidence is shown"
out_like 'ben: the labels are .x07 in the shed' "past talk is shown"
out_like 'Talked about moss\.' "past sessions are shown"
run mem-search --fact-profile 302 -c 9 -o tsv fern show
is "$(cut -f 1,2,6 "$out" | tail -n 1)" "lore facts	4	A fern show every May." \
  "a script gets rows of fields"
t 1 "a profile without facts has status 1" mem-search --fact-profile 1

t 0 "--snapshot succeeds" mem-search --snapshot -c 5 -u 301 --mode voice fern
is "$(requests 'select(.path == "/api/memory/runtime-snapshot") | .body')" \
  '{"guildId":"1","channelId":"5","userId":"301","queryText":"fern","mode":"voice"}' \
    "--snapshot asks for what its options say"
run mem-search --snapshot -o table -W 70
out_like '^participant ada \(1\)$' "the snapshot is shown"
out_like 'ada \(301\), primary user' "the snapshot says who is there"

run mem-search -M
out_is "$(printf '# Durable Memory\n\n## People\n- [user] 302: Ben \033[2J plays\n')" \
  "-M prints the text as it is"
run mem-search --markdown -o json
is "$(jq -r .guildId "$out")" 1 "-o json prints the record"
run python3 "$cli/terminal.py" mem-search -M
out_like 'Ben .e\[2J plays' "-M on a terminal makes controls visible"

t 0 "records that are not facts are listed" mem-search -f -g 1
is "$(lines "$out")" 5 "records that are not facts are printed"
t 0 "records that are not facts are shown in a table" mem-search -f -g 1 -o table
out_like good "facts beside such records are shown"
t 2 "a page in place of facts is an error" mem-search -f -g 1
err_like 'a web page, not JSON' "the message says that the answer is a web page"
t 2 "an answer without facts is an error" mem-search -f -g 1
t 77 "a refused token has status 77" mem-search --subjects -g 1
err_like 'no token was sent' "the message says that no token was sent"

# --- the token goes where it belongs

(umask 077 && echo memory-token-0816 >"$tmp/token")
: >"$log"
run mem-search --token-file "$tmp/token" -M
is "$(requests '.headers["x-dashboard-token"] // "none"' | sort -u)" memory-token-0816 \
  "--token-file sends the token"
unlike "$(cat "$out" "$err")" memory-token-0816 "the token is never shown"
AGENT_URL=http://memory.invalid run mem-search --token-file "$tmp/token" -M
status_is 2 "a token does not go to anybody in clear text"
err_like 'the token would travel over plain http' \
  "the message says that the token would travel over plain http"
AGENT_URL=http://memory.invalid run mem-search --max-time 5 --allow-plaintext \
  --token-file "$tmp/token" -M
status_is 75 "--allow-plaintext lets a token travel over plain http"
t 2 "a file of authorities that is not there is an error" mem-search --cacert "$tmp/none" -M
err_is "mem-search: $tmp/none: no such file or directory" "the missing file is named"

done_testing
