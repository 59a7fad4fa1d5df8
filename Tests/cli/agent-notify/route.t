#!/bin/sh
# agent-notify --route decides as the samples say, and finds what is to be told in any record.
. "${0%/*}/../lib.sh"
needs jq python3

routes=$root/Tests/fixtures/joelclaw-routes.json
defaults='{error, value, state, urgency, action, rule, sound: (.sound // false),
  critical: (.critical // false), haptic: (.haptic // "none"), flush, mods: (.mods // [])}'
jq -c '.vectors[].in' "$routes" >"$tmp/in"
t 0 "the samples are decided" agent-notify --route "$tmp/in"
is "$(jq -c "$defaults" "$out")" "$(jq -c ".vectors[].out | $defaults" "$routes")" \
  "the samples are decided as they should be, one line each, in their order"
run agent-notify --route <"$tmp/in"
is "$(lines "$out")" 9 "standard input is read, too"

# route OPTION...; said MEMBERS: of what it wrote.
route() { run agent-notify --route "$@"; }
said() { jq -r "$1" "$out"; }

# --- what the command line says
echo '{"urgency":"urgent","category":"task","title":"due","id":"n1"}' >"$tmp/one"
route <"$tmp/one"
is "$(said '[.notification, .state, .action, .sound, .title, .rule] | @csv')" \
  '"n1","desk-idle","push",true,"due","desk-idle/urgent"' \
  "somebody is idle at the desk where nothing is said"
now=$(date -u +%Y-%m-%dT%H:%M:)
like "$(said .time)" "^${now%??}" "the time is the clock's"
route --mute health,task <"$tmp/one"
is "$(said '.action + " " + .rule')" "archive mute" "--mute archives these categories"
route --mute health --mute task <"$tmp/one"
is "$(said .action)" archive "--mute may be given twice"
route --override task=noise <"$tmp/one"
is "$(said '.action + " " + .mods[0]')" "archive override" "--override sets the urgency"
route --override "task=$(jq -r .urgency "$tmp/one")" <"$tmp/one"
is "$(said '.mods | index("override")')" null "an --override that changes nothing is not noted"
TZ=UTC0 route --quiet-hours 00:00-23:59 <"$tmp/one"
is "$(said '.state + " " + .flush')" "sleeping wake" "--quiet-hours go by the local clock"
# An hour that is two behind, as python counts.
before=$(python3 -c 'import time; h = (time.gmtime().tm_hour + 22) % 24; print(f"{h:02}:00-{h:02}:30")')
route --quiet-hours "$before" <"$tmp/one"
is "$(said .state)" desk-idle "nobody sleeps outside of the quiet hours"
jq -c '. + {prefs: {muted: ["task"]}}' "$tmp/one" | route --override task=info
is "$(said '.rule + .urgency')" muteurgent "what a notification says itself counts alone"

# --- the file of what the devices report
context() { printf '{"reportedAt":"%s",%s}\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$1" >"$tmp/context"; }
context '"focus":"driving"'
route --context "$tmp/context" <"$tmp/one"
is "$(said '.state + " " + .action')" "driving speak" "--context tells what the person does"
context "\"lastInteractionAt\":\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\""
route --context "$tmp/context" <"$tmp/one"
is "$(said .state)" desk "a person who touched something is at the desk"
mkfifo "$tmp/live"
start live sh -c "exec agent-notify --route --context '$tmp/context' <'$tmp/live'"
exec 3>"$tmp/live"
cat "$tmp/one" >&3
ok "a decision is written at once" wait_until 20 at_least "$tmp/live.out" 1
context '"focus":"driving"'
cat "$tmp/one" >&3
ok "the next decision is written at once, too" wait_until 20 at_least "$tmp/live.out" 2
exec 3>&-
finished "$pid"
is "$(jq -r .state "$tmp/live.out" | xargs)" "desk driving" \
  "the file of --context is read anew for each record"
echo '{"focus":' >"$tmp/context"
cat "$tmp/one" "$tmp/one" >"$tmp/two"
route --context "$tmp/context" <"$tmp/two"
status_is 0 "a file that makes no sense does not keep anything from being told"
err_one_line agent-notify "a file that makes no sense is named once"
is "$(said .state | xargs)" "desk-idle desk-idle" "all is decided beside a file that makes no sense"
route --context "$tmp/none" <"$tmp/one"
err_empty "a file that is not there yet is no fault"

# --- what is found in other records
cat >"$tmp/records" <<'END'
{"event":"action_event","id":"","data":{"kind":"bot_error","createdAt":"2026-03-01T10:00:00.000Z","content":"it fell"}}
{"event":"action_event","id":"","data":{"kind":"bot_warning","createdAt":"2026-03-01T10:00:01.000Z","content":"it may fall"}}
{"id":7,"kind":"llm_error","created_at":"2026-03-01T10:00:02.000Z","content":"429"}
{"event":"action_event","id":"","data":{"kind":"llm_error","createdAt":"2026-03-01T10:00:02.000Z","content":"429"}}
{"kind":"sent_reply","createdAt":"2026-03-01T10:00:03.000Z","content":"hello"}
{"type":"approval","backend":"openclaw","id":"a1","tool":"exec","summary":"make","request":{},"decisions":[],"state":"pending"}
{"type":"approval","backend":"openclaw","id":"a1","tool":"exec","request":{},"decisions":[],"state":"approved"}
{"type":"turn","backend":"pincer","id":"t1","thread":"x","state":"failed","reason":"QUOTA: none left"}
{"type":"turn","backend":"pincer","id":"t2","thread":"x","state":"completed"}
{"type":"turn","backend":"claude","id":"t3","thread":"y","state":"paused","reason":"a question","time":"2026-03-01T10:00:04Z"}
{"type":"turn","backend":"claude","id":"t3","thread":"y","state":"paused","reason":"a question","time":"2026-03-01T10:00:05Z"}
{"type":"turn","backend":"claude","id":"t3","thread":"y","state":"running","time":"2026-03-01T10:00:06Z"}
{"type":"turn","backend":"claude","id":"t3","thread":"y","state":"paused","reason":"a plan to approve","time":"2026-03-01T10:00:07Z"}
{"type":"turn","backend":"pincer","id":"t4","thread":"x","state":"paused"}
{"type":"session","name":"riff-2","state":"waiting","reason":"may I run make?","since":"2026-03-01T10:00:00Z"}
{"type":"session","name":"riff-3","state":"working"}
{"type":"gap","from":3,"to":9}
{"type":"health","ok":false}
{"type":"task","backend":"joelclaw","id":"j","title":"index","state":"failed","kind":"job"}
{"type":"open","url":"http://127.0.0.1"}
{"stats":{"last24h":{}}}

END
route <"$tmp/records"
status_is 0 "records of all kinds are read"
is "$(said '"\(.urgency) \(.category) \(.title): \(.text)"')" \
  'urgent system bot_error: it fell
attention system bot_warning: it may fall
attention system llm_error: 429
attention system llm_error: 429
urgent approval exec waits: make
attention turn turn failed: QUOTA: none left
urgent approval turn waits for a person: a question
urgent approval turn waits for a person: a plan to approve
attention session riff-2 waits: may I run make?
attention system events were lost: null
urgent system the agent is not well: null
attention task failed: index: null' "records of all kinds tell what a person may want to know"
is "$(said 'select(.title == "llm_error").notification' | sort -u | wc -l | tr -d ' ')" 1 \
  "an action and its row have one id"
is "$(said 'select(.title | startswith("turn w")) | "\(.notification) \(.about.type)"')" \
  'turn/y/t3/2026-03-01T10:00:04.000Z turn
turn/y/t3/2026-03-01T10:00:07.000Z turn' "a turn that waits is told of once each time"
is "$(said 'select(.past).about.id')" 7 "a row says that it may be old"
cp "$out" "$tmp/decided"
route --mute system <"$tmp/decided"
ok "what was decided stays so, to the byte" cmp "$out" "$tmp/decided"
route --as info <"$tmp/records"
is "$(said 'select(.title == "sent_reply") | "\(.urgency) \(.category)"')" "info text" \
  "--as sets the urgency"
printf '{"event":"activity_snapshot","id":"","data":{"actions":[%s,%s]}}\n' \
  '{"id":2,"kind":"llm_error","created_at":"2026-03-01T10:00:02.000Z","content":"b"}' \
  '{"id":1,"kind":"asr_error","created_at":"2026-03-01T10:00:01.000Z","content":"a"}' | route
is "$(said '"\(.title) \(.past)"' | xargs)" "asr_error true llm_error true" \
  "a list is told oldest first"

# A gateway's own event, as agent-tail writes it.
echo '{"event":"exec.approval.requested","id":"","profile":"claw","data":{"id":"a9","request":{"command":"make"},"createdAtMs":1772359200000,"expiresAtMs":1772359800000}}' | route
is "$(said '"\(.notification) \(.profile) \(.backend)"')" "approval/a9 claw openclaw" \
  "a gateway's question is found"
is "$(said '[.title, .text, .place] | tojson')" '["exec waits","make",null]' \
  "a gateway's question is told with what it asks"
echo '{"type":"approval","backend":"claude","id":"a1","tool":"Bash","summary":"tidy up","request":{"tool_input":{"command":"rm -r build"},"cwd":"/home/ada/site/"},"decisions":[],"state":"pending"}' | route
is "$(said '[.title, .text, .place] | tojson')" '["Bash waits","rm -r build","site"]' \
  "a request has the command's words and not the model's, and where it runs"
echo '{"type":"session","name":"riff-2","state":"waiting","directory":"/home/ada/src/site"}' | route
is "$(said '[.title, .place] | tojson')" '["riff-2 waits","site"]' \
  "a session that waits says where, too"

# --- what is bad
printf '%s\n' '{"urgency":"loud","category":"x"}' '{"category":"x"}' '{"urgency":"urgent"' \
  '[1]' '{"urgency":"urgent","now":"noon"}' '{"type":"turn","backend":"pincer","id":3}' >"$tmp/bad"
route <"$tmp/bad"
status_is 2 "bad lines are status 2"
is "$(said '"\(.error) \(.value)"')" 'bad-urgency loud
bad-urgency null' "an unknown urgency is an answer, and not a delivery"
printf '%s\n' '{"urgency":5}' '{"urgency":{"a":["b"]}}' '{"urgency":"5"}' '{"urgency":null}' | route
is "$(said '.value | tojson')" '5
{"a":["b"]}
"5"
null' "an unknown urgency stays what it was"
route <"$tmp/bad"
is "$(grep -c '^agent-notify: standard input:[3456]: ' "$err")" 4 "each bad line is named"
for words in '--as loud' '--quiet-hours 23:00' '--quiet-hours 24:00-07:00' '--override x' \
  '--override x=loud' '--override =info' '--mute ,'; do
  # shellcheck disable=SC2086
  t 2 "agent-notify --route $words is refused" agent-notify --route $words
  err_like "^agent-notify: ${words%% *} " "agent-notify --route $words says what is wrong"
done

# --- texts of strangers
python3 - >"$tmp/hostile" <<'END'
import json, sys
title = "\x1b]0;owned\x07 $(touch x) `x` #{pane} \u202e\u200b\n-e ' \" <b>"
sys.stdout.write(json.dumps({"urgency": "urgent", "category": title, "title": title, "id": title}) + "\n")
sys.stdout.flush()
sys.stdout.buffer.write(b'{"urgency":"urgent","category":"x","title":"\xff\xfe"}\n')
sys.stdout.write(json.dumps({"urgency": "urgent", "category": "x", "title": "x" * 50_000_000}) + "\n")
END
route <"$tmp/hostile"
status_is 0 "hostile texts are data"
ok "hostile texts come out as JSON in UTF-8" python3 -c '
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
sent = json.loads(open(sys.argv[2], "rb").readline())
assert rows[0]["title"] == sent["title"] == rows[0]["notification"] == rows[0]["category"]
assert rows[1]["title"] == "\ufffd\ufffd"
assert len(rows[2]["title"]) == 50_000_000' "$out" "$tmp/hostile"

done_testing
