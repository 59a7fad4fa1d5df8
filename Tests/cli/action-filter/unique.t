#!/bin/sh
# action-filter -u: each action once, across rows, live events and both streams.
. "${0%/*}/../lib.sh"
needs python3 jq
cd "$tmp" || exit 1

# unique: what -u passes of standard input, as its number in the input.
unique() { action-filter -u 2>"$tmp/told" | sed 's/.*"n":\([0-9]*\).*/\1/' | tr '\n' ' '; }
row='"created_at":"2026-03-01T12:00:00.000Z","guild_id":"1","channel_id":null,"message_id":null,"user_id":"2","kind":"voice_info","content":"x \"y\"","metadata":null,"usd_cost":0'
live='"kind":"voice_info","guildId":"1","userId":"2","content":"x \u0022y\"","createdAt":"2026-03-01T12:00:00.000Z"'
event() { echo "{\"event\":\"$1\",\"id\":\"\",\"data\":{$live,\"n\":$2}}"; }

is "$(unique <<END
{"id":1,$row,"n":1}
{"id":1,$row,"n":2}
{"id":"1",$row,"n":3}
{"id":2,$row,"n":4}
END
)" "1 4 " "rows are told apart by their id, and equal rows are several"
is "$({ event action_event 1; event voice_event 2; echo "{\"id\":1,$row,\"n\":3}"; } | unique)" "1 " \
  "an event, its copy on the voice stream and its row are one"
is "$({ echo "{\"id\":1,$row,\"n\":1}"; event action_event 2; event voice_event 3; } | unique)" "1 " \
  "a row and its events are one"
is "$({ event action_event 1; event action_event 2; event voice_event 3; event voice_event 4
  echo "{\"actions\":[{\"id\":2,$row,\"n\":6},{\"id\":1,$row,\"n\":5}]}"; } | unique)" "1 2 " \
  "two equal actions are two, and their rows belong to them"
is "$({ event action_event 1; echo "{\"actions\":[{\"id\":2,$row,\"n\":3},{\"id\":1,$row,\"n\":2}]}"; } | unique)" \
  "1 3 " "a row that no event showed is new"
is "$({ echo "{$live,\"n\":1}"; echo "{$live,\"n\":2}"; event action_event 3; } | unique)" "1 2 " \
  "bare events count among themselves"
is "$({ event action_event 1; event action_event 2 | sed 's/12:00:00/12:00:01/'
  event action_event 3 | sed 's/"2"/"3"/'; } | unique)" "1 2 3 " "another time or user is another action"

# A row keeps 2000 UTF-16 units of the content, and half a pair as U+FFFD.
python3 - >./cut <<'END'
import json
text = "ä" * 1999 + "😀 and more"
live = {"kind": "sent_reply", "content": text, "createdAt": "2026-03-01T12:00:00.000Z", "n": 1}
row = {"id": 5, "created_at": live["createdAt"], "guild_id": None, "channel_id": None, "message_id": None,
       "user_id": None, "kind": "sent_reply", "content": "ä" * 1999 + "\ufffd", "metadata": None, "usd_cost": 0, "n": 2}
print(json.dumps({"event": "action_event", "id": "", "data": live}, separators=(",", ":")))
print(json.dumps(row, ensure_ascii=False, separators=(",", ":")))
END
is "$(unique <./cut)" "1 " "a long content and its cut row are one action"

# What a dashboard's store makes of a live value: null of what JavaScript takes
# for false, else its String.
# Each event is followed by its row, and no two have one time.
pairs=0
while read -r value text; do
  for name in content guild channel message user; do
    pairs=$((pairs + 1))
    event=${name}Id
    key=${name}_id
    [ "$name" = content ] && event=content key=content
    echo "{\"event\":\"action_event\",\"id\":\"\",\"data\":{\"kind\":\"k\",\"$event\":$value,\"createdAt\":\"t$pairs\",\"n\":1}}"
    echo "{\"actions\":[{\"id\":$pairs,\"created_at\":\"t$pairs\",\"kind\":\"k\",\"$key\":$text,\"n\":2}]}"
  done
done >told <<'END'
"" null
0 null
-0.0 null
false null
true "true"
[] ""
{} "[object Object]"
[1,[2,null],{},"x",false] "1,2,,[object Object],x,false"
1.50 "1.5"
123456789012345678 "123456789012345680"
1e21 "1e+21"
4e-7 "4e-7"
END
action-filter -u told >got
is "$(grep -c '"n":1' got) $(grep -v '"n":1' got)" "60 " "a value that is no text is known by what its row has"

# What the options leave out is no duplicate of what they select.
is "$({ echo "{\"id\":1,$row,\"n\":1}"; echo "{$live,\"level\":\"error\",\"n\":2}"; } |
  action-filter -u -d error -N)" 1 "only selected actions are counted"
is "$(for count in 1 2 3 4; do event action_event $count | sed "s/12:00:00/12:00:0$((count / 3))/"; event \
  voice_event 9; done | action-filter -u -n 3 -N)" 3 "-n counts what -u passes"

# Drops: three snapshots and the events between them.
python3 - >drops 2>all <<'END'
import json, random, sys
rng = random.Random(11)
rows, seen = [], 0
for number in range(3000):
    content = rng.choice(["same", "x%d" % number])
    time = "2026-03-01T12:00:%02d.%03dZ" % (number // 500, number // 3 % 1000)
    rows.append({"id": number, "created_at": time, "guild_id": "1", "channel_id": None, "message_id": None,
                 "user_id": "2", "kind": "llm_call", "content": content, "metadata": None, "usd_cost": 0})
    print(time, content, file=sys.stderr)
    if number < 100 or number % 150 == 0:  # connected anew: the newest 220, newest first
        print(json.dumps({"event": "activity_snapshot", "id": "", "data": {"actions": rows[-220:][::-1]}}))
    elif number % 150 > 30:  # connected
        live = {"kind": "llm_call", "guildId": "1", "userId": "2", "content": content,
                "createdAt": time}
        print(json.dumps({"event": "action_event", "id": "", "data": live}))
print(json.dumps({"event": "actions_backfill", "id": "", "data": {"actions": rows[-220:][::-1]}}))
END
action-filter -u -o canonical drops | jq -r '"\(.created_at) \(.content)"' | sort >got
sort all >want
ok "every action comes once across drops" cmp got want

# Memory, with more actions than are remembered.
python3 - >many <<'END'
for number in range(300000):
    print('{"id":%d,"kind":"k","created_at":"2026-03-01T00:00:00Z","user_id":"%d"}' % (number, number))
END
ok "any number of actions takes at most 16 MB" \
  python3 "$cli/resident.py" 16384 action-filter -j 1 -u -N many
ok "another thread takes at most 10 MB more" \
  python3 "$cli/resident.py" 26624 action-filter -j 2 -u -N many
# Of 131,072 it is known that they were there.
head -n 131073 many >beyond
is "$(cat beyond beyond | action-filter -u -N)" 262146 "what is far back is passed again"
is "$({ tail -n 30000 many; tail -n 30000 many; } | action-filter -u -N)" 30000 \
  "what is near is not passed again"

# --- of several profiles
of() { sed "s/,\"data\":/,\"profile\":\"$1\"&/"; }
is "$({ event action_event 1 | of a; event action_event 2 | of b; event action_event 3
  event voice_event 4 | of b; event voice_event 5 | of '\\u0061'; event voice_event 6; } | unique)" \
  "1 2 3 " "equal actions of two profiles are two"
is "$(unique <<END
{"id":1,$row,"n":1,"profile":"a"}
{"id":1,$row,"n":2,"profile":"b"}
{"id":1,$row,"n":3}
{"event":"x","id":"","profile":"b","data":{"actions":[{"id":1,$row,"n":4},{"id":2,$row,"n":5}]}}
{"id":2,$row,"n":6,"profile":"b"}
END
)" "1 2 3 5 " "equal ids of two profiles are two actions"

# --- a database that was replaced
other=$(echo "$row" | sed 's/12:00:00/12:30:00/')
is "$(unique <<END
{"id":1,$row,"n":1}
{"id":2,$row,"n":2}
{"event":"activity_snapshot","id":"","data":{"actions":[{"id":2,$other,"n":4},{"id":1,$other,"n":3}]}}
{"event":"activity_snapshot","id":"","data":{"actions":[{"id":2,$other,"n":6},{"id":1,$other,"n":5}]}}
{"id":3,$other,"n":7}
END
)" "1 2 3 4 7 " "ids that begin anew are of other actions, and each is told once"
printf '%s\n' "{\"id\":1,$row}" "{\"id\":2,$row}" "{\"id\":1,$other}" "{\"id\":2,$other}" >replaced
t 0 "ids that begin anew are not a fault" action-filter -u replaced
is "$(lines "$out")" 4 "all actions of ids that begin anew are there"
err_is "action-filter: ids begin anew: these actions are of another database" \
  "ids that begin anew are told once"
sed 's/}$/,"profile":"box"}/' replaced >named
run action-filter -u named replaced
is "$(lines "$out")" 8 "ids that begin anew are seen in each profile"
err_is "action-filter: box: ids begin anew: these actions are of another database
action-filter: ids begin anew: these actions are of another database" \
  "the profile whose ids begin anew is named"

# The same from real servers, over a reconnect.
serve_agent first
first=$pid
say() { printf '{"kind":"voice_info","content":"%s"}\n' "$@" | curl -sf --data-binary @- "$url/api/actions"; }
say a b c >/dev/null
start follow sh -c 'sse-tail --retry-wait 0.2 "$1/api/activity/events" | action-filter -u' - "$url"
wait_until 30 has "$tmp/follow.out" '"content":"c"'
stop "$first"
rm -f "$tmp"/first.sqlite*
start_server first agent-serve --listen "127.0.0.1:$port" --database "$tmp/first.sqlite"
say d e >/dev/null
ok "a new database behind the same address is followed" \
  wait_until 30 has "$tmp/follow.out" '"content":"e"'
is "$(jq -r '.content // .data.content // empty' "$tmp/follow.out" | sort | tr -d '\n')" \
  abcde "each action is there, once"

done_testing
