#!/bin/sh
# The turns of a Clanky agent: they begin when the message was taken up, and they are the
# same in whatever order its actions are read.
. "${0%/*}/../lib.sh"
needs action-filter turn-fold jq python3
day=$root/Tests/fixtures/sample-day.ndjson
cd "$tmp" || exit 1

# turns: the last record of each turn and call, without the time.
turns() {
  jq -S -c 'select(.type == "turn" or .type == "tool_call") | del(.time)' |
    jq -S -c -s 'group_by([.type, .profile, .thread, .id])[] | last'
}
# finals: what --final writes of them, in any order.
finals() { jq -S -c 'select(.type != "message") | del(.time)' | sort; }

# --- when a turn began
row='"guild_id":"g","channel_id":"c","user_id":"bot"'
cat >one <<END
{"id":1,"created_at":"2026-03-01T10:00:06.339Z","kind":"llm_call","content":"p:m",$row,"metadata":{"source":"message_event","messageId":"t"},"usd_cost":0.25}
{"id":2,"created_at":"2026-03-01T10:00:06.400Z","kind":"sent_reply","content":"hi",$row,"message_id":"m","metadata":{"triggerMessageId":"t","performance":{"totalMs":6400},"llm":{"costUsd":9}},"usd_cost":0}
END
for file in one "$(sed '1!G;h;$!d' one >eno && echo eno)"; do
  is "$(turn-fold -f "$file" | jq -c 'select(.type == "turn" and .id == "t") | [.started, .usd_cost]')" \
    '["2026-03-01T10:00:00.000Z",0.25]' "a turn begins before its first call has ended ($file)"
done
sed 's/"performance":{[^}]*},//' one >silent
is "$(turn-fold silent | turns | jq -r 'select(.id == "t").started')" 2026-03-01T10:00:06.339Z \
  "a turn whose length nobody tells begins with the first that is known of it"
sed 's/"messageId":"t"/&,"durationMs":5000/' silent >took
is "$(turn-fold took | turns | jq -r .started | xargs)" \
  "2026-03-01T10:00:01.339Z 2026-03-01T10:00:01.339Z" "a call with a duration began before it"
printf '%s\n' '{"id":3,"created_at":"2026-03-01T10:00:09.000Z","kind":"voice_session_start","content":"x",'"$row"',"metadata":{"sessionId":"s"}}' \
  '{"id":4,"created_at":"2026-03-01T10:00:10.000Z","kind":"llm_call","content":"p:m",'"$row"',"metadata":{"source":"voice_reply","sessionId":"s","durationMs":700}}' \
  '{"id":5,"created_at":"2026-03-01T10:00:11.000Z","kind":"voice_runtime","content":"voice_brain_tool_call",'"$row"',"metadata":{"sessionId":"s","callId":"k","durationMs":800}}' >voice
is "$(turn-fold voice | turns | jq -r '"\(.id) \(.started)"' | sort | xargs)" \
  "4 2026-03-01T10:00:09.300Z 4/turn 2026-03-01T10:00:09.300Z k 2026-03-01T10:00:10.200Z" \
  "a call in a voice session began before it, too"

# --- the order of the input
cat >make.py <<'END'
# rows FORM SEED: an afternoon of two agents in three channels.
import json, random, sys
form, choose = sys.argv[1], random.Random(int(sys.argv[2]))
def at(ms): return "2026-03-01T%02d:%02d:%02d.%03dZ" % (ms // 3600000, ms // 60000 % 60, ms // 1000 % 60, ms % 1000)
rows, now = [], 36000000
def act(ms, kind, channel, content, metadata, cost=0, message=None, user="bot"):
    rows.append((ms, kind, channel, content, metadata, cost, message, user))
for turn in range(60):
    channel, begin = choose.choice("abc"), now
    named, person = choose.random() < 0.6, choose.choice(["bot", "noor", "ida"])
    for call in range(choose.randrange(1, 5)):
        now += choose.randrange(50, 3000)
        more = {"messageId": "t%d" % turn} if named else {}
        act(now, "llm_call", channel, "p:m", {"source": "message_event", "usage": {"inputTokens": 10, "outputTokens": call}, "systemPrompt": "p" * 3000, **more}, choose.randrange(1, 99) / 1000, user=person)
        now += choose.randrange(50, 3000)
        if choose.random() < 0.4:
            act(now, "search_call", channel, "q", {"source": "reply_tool", "query": "q", "latencyMs": 40}, 0.005, user=person)
        elif choose.random() < 0.4:
            step = {"sessionKey": "k%d" % turn, "step": call, "tool": "open"}
            act(now, "browser_tool_step", channel, "open", {**step, "input": {"u": 1}})
            now += choose.randrange(50, 900)
            act(now, "browser_tool_result", channel, "page", {**step, "isError": False})
    now += choose.randrange(1, 900)
    if choose.random() < 0.85:
        act(now, choose.choice(["sent_reply", "reply_skipped"]), channel, "text", {"triggerMessageId": "t%d" % turn, "source": "message_event", "performance": {"totalMs": now - begin}, "llm": {"costUsd": 5}}, message="m%d" % turn)
    now += choose.randrange(3000, 400000)
for number, (ms, kind, channel, content, metadata, cost, message, user) in enumerate(rows):
    if form == "row":
        print(json.dumps({"id": number + 1, "created_at": at(ms), "guild_id": "g", "channel_id": channel, "message_id": message, "user_id": user, "kind": kind, "content": content, "metadata": metadata, "usd_cost": cost}))
    else:
        live = {"kind": kind, "createdAt": at(ms), "guildId": "g", "channelId": channel, "userId": user, "content": content, "metadata": metadata, "usdCost": cost}
        if message: live["messageId"] = message
        print(json.dumps(live if form == "live" else {"event": "action_event", "id": "", "profile": choose.choice("pq"), "data": live}))
END
cat >slow.py <<'END'
# Writes a file in small blocks, each when the reader has read the one before.
import array, fcntl, os, sys, termios, time
with open(sys.argv[1], "rb") as file:
    while block := file.read(16000):
        left = array.array("i", [1])
        while left[0]:
            fcntl.ioctl(1, termios.FIONREAD, left)
            time.sleep(0.0002)
        os.write(1, block)
END
mix() { python3 -c 'import random, sys; rows = sys.stdin.readlines(); random.Random(7).shuffle(rows); sys.stdout.writelines(rows)'; }
same() {
  turn-fold "$2" | turns >turns.is
  turn-fold -f "$2" | finals >finals.is
  cmp turns.is turns.want && cmp finals.is finals.want
}
for form in row live wrapped; do
  for seed in 1 2 3; do
    python3 make.py "$form" "$seed" >forwards
    turn-fold forwards | turns >turns.want
    turn-fold -f forwards | finals >finals.want
    ok "$form $seed: the rows make turns" [ "$(grep -c '"message":"m' turns.want)" -gt 10 ]
    is "$(jq -s 'map(select(.type == "turn" and .state != "running" and (.parent | not)).usd_cost // 0) | add * 1000 | round' turns.want)" \
      "$(jq -s 'map(select(.type == "turn" and .state != "running" and (.parent | not)).usd_cost // 0) | add * 1000 | round' finals.want)" \
      "$form $seed: what is over costs the same with and without -f"
    sed '1!G;h;$!d' forwards >backwards
    ok "$form $seed: rows in reverse order give the same" same a backwards
    mix <forwards >mixed
    ok "$form $seed: rows in mixed order give the same" same a mixed
    # A pipe may be empty at any line.
    python3 slow.py backwards | turn-fold | turns >piped
    ok "$form $seed: a pipe gives the same" cmp piped turns.want
  done
done
action-filter -u "$day" >once
turn-fold once | turns >turns.want
turn-fold -f once | finals >finals.want
sed '1!G;h;$!d' once >backwards
# Events without an id that are of one millisecond have no order but the one they came in.
ok "a day with voice may have the newest first" same a backwards

# --- more than is kept in order: memory is bounded, and nothing is lost
python3 - >many <<'END'
for n in range(30000):
    ms = 30000 * 1000 - n * 1000
    print('{"id":%d,"created_at":"2026-03-01T%02d:%02d:%02d.000Z","channel_id":"c","user_id":"bot","kind":"llm_call","content":"p:m","metadata":{"messageId":"t%d","toolNames":"%s"},"usd_cost":0.5}'
        % (30000 - n, ms // 3600000, ms // 60000 % 60, ms // 1000 % 60, n, "x" * 3000))
END
ok "memory is bounded where the newest comes first" \
  python3 "$cli/resident.py" $((140 * 1024)) turn-fold -f many
is "$(turn-fold many | jq -r 'select(.type == "turn" and .parent).id' | sort -u | wc -l | tr -d " ")" 30000 \
  "each of 30000 turns is told where the newest comes first"

# --- live, nothing waits for what may never come
mkfifo pipe
start live sh -c 'turn-fold <pipe'
exec 7>pipe
sed -n 1p one >&7
ok "a live pipe has no delay" wait_until 20 has live.out '"state":"running"'
sed -n 2p one >&7
ok "the end of a turn has no delay in a live pipe" \
  wait_until 20 has live.out '"id":"t".*"state":"completed"'
exec 7>&-
done_testing
