#!/bin/sh
# What agentutils-scale(7) and Tests/bench/bus/simulate.py say a bus costs, held against a real
# server: bytes, subjects and live memory, which are the same however busy the machine is.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
needs python3 curl jq
model=$root/Tests/bench/bus
start_bus bus -m -1 -profile -1
monitor=$(jq -r '.monitoring[0]' "$tmp/bus.ports"/*.ports)
profile=$(jq -r '.profile[0]' "$tmp/bus.ports"/*.ports)

# predicted EXPRESSION: of simulate.py, a whole number.
predicted() {
  python3 -c 'import sys
sys.path.insert(0, sys.argv[1])
from simulate import *
print(round(eval(sys.argv[2])))' "$model" "$1"
}
# state STREAM MEMBER
state() {
  curl -s "$monitor/jsz?streams=1&accounts=1" | jq --arg name "$1" --arg member "$2" \
    '.account_details[].stream_detail[] | select(.name == $name) | .state[$member]'
}
# live: memory in use behind a collection, bytes.
live() {
  curl -s "$profile/debug/pprof/heap?gc=1&debug=1" |
    awk '/^# HeapAlloc = / || /^# Stack = / { sum += $4 } END { print sum + 0 }'
}
# near GOT WANT PERCENT TITLE
near() {
  if awk -v got="$1" -v want="$2" -v part="$3" 'BEGIN {
    away = got > want ? got - want : want - got
    exit !(want > 0 && away <= want * part / 100)
  }'; then
    pass "$4"
  else
    fail "$4"
    diag "got $1, want $2 within $3 in a hundred"
  fi
}
# sized COUNT BYTES: so many actions of so many bytes, each another one.
sized() {
  awk -v count="$1" -v size="$2" 'BEGIN {
    for (i = 0; i < size; i++) fill = fill "x"
    for (i = 1; i <= count; i++) {
      line = "{\"created_at\":\"2026-03-14T08:00:00.000Z\",\"kind\":\"llm_call\"," \
        "\"guild_id\":\"1184019000000000513\",\"content\":\"" i " "
      print line substr(fill, 1, size - length(line) - 2) "\"}"
    }
  }'
}

# --- bytes and subjects
sized 500 2000 >"$tmp/in"
for agent in agent1001 agent1002 agent1003; do
  t 0 "$agent has its records stored" bus-put -s "$bus" --create --prefix "$agent" <"$tmp/in"
done
is "$(state agents messages)" 1500 "all records of three agents are there"
is "$(state agents num_subjects)" 3 "each agent has a subject of its own"
each=$(($(state agents bytes) / 1500))
near "$each" "$(predicted 'stored(2000)')" 1 "a record takes $each bytes, as predicted"
sized 500 300 >"$tmp/in"
run bus-put -s "$bus" -t small --create -u small --id none <"$tmp/in"
each=$(($(state small bytes) / 500))
near "$each" "$(predicted 'stored(300, 5, 0)')" 1 \
  "a small record without an id takes $each bytes, as predicted"
disk=$(find "$tmp/bus.store" -type f -exec cat {} + | wc -c)
near "$disk" "$(predicted '1500 * stored(2000) + 500 * stored(300, 5, 0)')" 3 \
  "the files of the store hold little else"

# --- ids
sized 60000 120 >"$tmp/in"
before=$(live)
run bus-put -s "$bus" -t none --create -u none --id none <"$tmp/in"
none=$(($(live) - before))
before=$(live)
t 0 "sixty thousand ids are stored" bus-put -s "$bus" -t ids --create -u ids <"$tmp/in"
each=$((($(live) - before - none) / 60000))
near "$each" "$(predicted LIVE_ID)" 30 "an id takes $each bytes of memory, as predicted"

# --- readers who are away
before=$(live)
for one in 1 2 3 4 5 6 7 8 9 10 11 12; do
  bus-get -q -s "$bus" -t small -d "away$one" -e small 2>"$tmp/said"
done
is "$(state small consumer_count)" 12 "there are twelve durable readers"
each=$((($(live) - before) / 12))
near "$each" "$(predicted LIVE_DURABLE)" 60 \
  "a durable reader takes $each bytes of memory, as predicted"

# --- the page says what the model says
python3 - "$model" "$root/man/agentutils-scale.7" >"$tmp/page" <<'END'
import re
import sys

sys.path.insert(0, sys.argv[1])
from simulate import breaks

busy, quiet = ({what: agents for agents, what in breaks(rate=rate, size=size)}
               for rate, size in ((50, 2000), (1, 600)))
for line in open(sys.argv[2]):
    row = re.fullmatch(r"\.It ([0-9,]+) Ta ([0-9,]+) Ta (.*)\n", line)
    if row:
        for told, case in ((row[1], busy), (row[2], quiet)):
            print(told.replace(",", ""), case.get(row[3], 0), row[3])
END
is "$(lines "$tmp/page")" 14 "the manual has a table of what runs out"
while read -r told predicted what; do
  near "$told" "$predicted" 5 "the manual says that this happens at $told agents: $what"
done <"$tmp/page"
done_testing
