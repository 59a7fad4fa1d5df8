#!/bin/sh
# What is no decision on standard input: noise, lines without end. Ten are named, the others
# counted, in bounded memory, and what is a decision among them counts.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs agent-approve jq python3

start_gateway claw
listed() { agent-approve -p claw -l 2>/dev/null | grep -q "\"id\":\"$1\""; }
ask() {
  tell claw ask "$1" '{"command":"make"}'
  wait_until 20 listed "$1" || bail "$1 is not asked"
}

ask a1
python3 - >"$tmp/noise" <<'PYTHON'
import random, sys
chance = random.Random(5)
out = sys.stdout.buffer
noise = bytes(chance.randrange(256) for _ in range(100_000))
out.write(noise + b"\n")
for number in range(4000):
    out.write(b'{"id":"a1","decision":["\x1b]0;owned\x07"]}\n' if number % 2 else b"\x1b[2J\xff}\n")
out.write(b'{"id":"a1","decision":"deny"}\n')
PYTHON
t 2 "200 KB of noise are bad input" sh -c 'agent-approve -p claw <"$1"' - "$tmp/noise"
is "$(lines "$err")" 11 "ten lines of the noise are named"
like "$(tail -n 1 "$err")" '^agent-approve: 4[0-9]{3} more bad lines$' \
  "the other lines of the noise are counted"
not_ok "nothing of the noise is shown" grep -q "$(printf '[\033\007\377]')" "$err"
is "$(jq -r '"\(.id) \(.decision) \(.result)"' "$out")" "a1 deny accepted" \
  "the decision behind the noise counts"

ask a2
{
  head -c 16777216 /dev/zero | tr '\0' x
  printf '\n{"id":"a2","decision":"deny","why":"'
  head -c 16777216 /dev/zero | tr '\0' y
  printf '"}\n'
} >"$tmp/long"
# A line is held whole, and parsed.
t 0 "lines of 16 MB take some times their length" \
  python3 "$cli/resident.py" $((110 * 1024)) sh -c \
  'agent-approve -p claw <"$1" >"$2" 2>"$3"; [ $? -eq 2 ]' - "$tmp/long" "$tmp/said" "$tmp/noted"
diag "$(cat "$out")"
like "$(cat "$tmp/noted")" '^agent-approve: standard input:1: not JSON: ' \
  "a line of 16 MB that is not a decision is named"
ok "a line of 16 MB is named in one short line" test "$(wc -c <"$tmp/noted")" -lt 200
is "$(jq -r '"\(.id) \(.decision) \(.result)"' "$tmp/said")" "a2 deny accepted" \
  "a line of 16 MB that decides does so"

# What an approval or a decision is called is escaped where a person sees it.
id=$(printf 'b\033[2J\n\342\200\256')
jq -cn --arg id "$id" '{id: $id, decision: "deny"}' >"$tmp/odd"
t 1 "an id that a terminal would obey has status 1" sh -c 'agent-approve -p claw <"$1"' - "$tmp/odd"
is "$(jq -r .id "$out")" "$id" "an id that a terminal would obey is kept in the record"
run python3 "$cli/terminal.py" sh -c 'agent-approve -p claw - <"$1"' - "$tmp/odd"
unlike "$(sed 's/\x1b\[[0-9;]*m//g' "$out")" "$(printf '[\033]|\342\200\256')" \
  "an id that a terminal would obey is made visible to a person"
run python3 "$cli/terminal.py" agent-approve -p claw --color never --deny "$id"
unlike "$(cat "$out")" "$(printf '[\033]|\342\200\256')" \
  "an id of the command line is made visible, too"
done_testing
