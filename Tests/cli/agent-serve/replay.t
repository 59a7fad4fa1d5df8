#!/bin/sh
# agent-serve: recordings, played as if they happened now.
. "${0%/*}/../lib.sh"
needs agent-serve curl jq python3
client() { bounded 60 python3 "$cli/clients/serve.py" "$@"; }
replayed() { has "$tmp/$1.out" '"type":"replayed"'; }

# --- a whole day, as fast as possible
day=$cli/../fixtures/sample-day.ndjson
events=$(grep -c '^{"event":"action_event"' "$day")
start_server fast agent-serve -l 127.0.0.1:0 -D :memory: --replay "$day" --speed 0
ok "a day is played" wait_until 30 replayed fast
is "$(jq -c 'select(.type == "replayed") | .actions' "$tmp/fast.out")" "$events" "all $events actions of it are played"
client events "$url" "$events" 0 >"$tmp/got"
python3 - "$day" "$tmp/got" >"$tmp/said" <<'END'
import datetime, json, sys
told = [json.loads(line) for line in open(sys.argv[1])]
want = [r["data"] for r in told if r.get("event") == "action_event"]
got = [json.loads(line) for line in open(sys.argv[2])]
repair = lambda text: text and text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
same = lambda action: (action["kind"], repair(action.get("content")), action.get("metadata"))
print([same(a) for a in want] == [same(a) for a in got])
now = datetime.datetime.now(datetime.timezone.utc)
ages = [(now - datetime.datetime.fromisoformat(a["createdAt"].replace("Z", "+00:00"))).total_seconds()
        for a in got]
print(-1 < min(ages) <= max(ages) < 60, sorted(ages, reverse=True) == ages)
END
is "$(head -n 1 "$tmp/said")" True "the actions are played in their order, with what they said"
is "$(tail -n 1 "$tmp/said")" "True True" "the time of the actions is the present"
stop "$pid"

# --- the pauses
recorded() { printf '{"event":"action_event","id":"","data":{"kind":"k%s","createdAt":"2026-03-01T12:00:00.000Z"},"received_at":"2026-03-01T12:00:%s.000Z"}\n' "$1" "$2"; }
{ recorded 0 00 && recorded 1 04 && echo nonsense && recorded 2 06; } >"$tmp/pauses"
paces() {
  start_server "$1" agent-serve -l 127.0.0.1:0 -D :memory: --replay "$tmp/pauses" --speed "$2"
  wait_until 30 replayed "$1"
  curl -s "$url/api/actions" | jq -c 'sort_by(.id) | map(.created_at | sub("\\.[0-9]+Z"; "Z") | fromdate)
    as $whole | map(.created_at[20:23] | tonumber / 1000) as $part
    | [range(length)] | map($whole[.] + $part[.]) | [.[1] - .[0], .[2] - .[1]]'
}
# Not in a command substitution: the server would be forgotten there.
paces four 4 >"$tmp/paced"
stop "$pid"
is "$(jq '.[0] > 0.99 and .[0] < 2.5 and add > 1.49 and add < 3' "$tmp/paced")" true \
  "a speed of four makes a quarter of the pauses"
like "$(cat "$tmp/four.err")" "^agent-serve: $tmp/pauses:3: [a-z ]*$" \
  "a bad line is named and passed over"
start_server slow agent-serve -l 127.0.0.1:0 -D :memory: --replay "$tmp/pauses" --speed 0.001
wait_until 30 client events "$url" 1 0 >/dev/null
stop "$pid"
is "$status" 0 "SIGTERM ends it in the middle of a pause"

# --- who listens meanwhile gets them live
start_server live agent-serve -l 127.0.0.1:0 -D :memory: --replay "$tmp/pauses" --speed 2
is "$(client events "$url" 3 0 | jq -r .kind | xargs)" "k0 k1 k2" "a subscriber gets them as they happen"
ok "the server goes on behind a recording" curl -s -f -o "$tmp/health" "$url/api/health"
done_testing
