#!/bin/sh
# agent-chat with a gateway that means ill: 16 MiB at once, tiny pieces by the thousand, tools and
# outputs without end, names that a terminal would obey. The memory has a bound, the text is
# exact, the time is that of its length, and nothing raw reaches a terminal.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs agent-chat jq python3
TERM=xterm
export TERM
# shellcheck disable=SC2034
bound=240

start_gateway claw --pace 0
# held TITLE MIB MESSAGE [OPTION...]: asks in so much memory; what is printed goes to $out.
held() {
  _title=$1 _most=$(($2 * 1024)) _words=$3
  shift 3
  t 0 "the memory is bounded: $_title" \
    python3 "$cli/resident.py" "$_most" sh -c 'out=$1; shift; "$@" >"$out"' sh "$tmp/said" \
    agent-chat -p claw --max-retries 1 "$@" "$_words"
  diag "$(cat "$out")"
}
sum() { cksum <"$1"; }
numbers() { seq 0 $(($1 - 1)) | tr '\n' ' '; }

python3 -c 'import sys; sys.stdout.write("0123456789abcde\n" * (16 << 16))' >"$tmp/huge"
held "a piece of 16 MiB" 100 "huge 16"
is "$(sum "$tmp/said")" "$(sum "$tmp/huge")" "a piece of 16 MiB is printed to the byte"
held "a piece of 16 MiB as records" 150 "huge 16" -o json
is "$(jq -rj 'select(.type == "message" and .state == "final").text' "$tmp/said" | cksum)" \
  "$(sum "$tmp/huge")" "a piece of 16 MiB is in the final record"

# Each comes in a frame of 600 bytes: all of these would be twice what may be held.
count=${DELTAS:-60000}
numbers "$count" >"$tmp/tiny"
echo >>"$tmp/tiny"
held "tiny pieces, $count of them" 45 "tiny $count"
is "$(sum "$tmp/said")" "$(sum "$tmp/tiny")" "tiny pieces are one text, to the byte"
held "tiny pieces as records" 45 "tiny $count" -o json
is "$(jq -r 'select(.type == "message" and .state == "final").text' "$tmp/said" | cksum)" \
  "$(sum "$tmp/tiny")" "the last record of tiny pieces has all of the text"
ok "the records of tiny pieces are a few times their length together" \
  test "$(wc -c <"$tmp/said")" -lt \
  $((60 * $(wc -c <"$tmp/tiny")))
is "$(jq -rs '[.[] | select(.type == "message").text | length] == ([.[] | select(.type == "message").text | length] | sort)' "$tmp/said")" \
  true "the messages of tiny pieces only grow"
held "thoughts without end" 45 "thoughts $count" -o json
ok "thoughts without end are bounded, too" test "$(wc -c <"$tmp/said")" -lt 40000000
held "a tool that prints without end" 45 "outputs 100" -o json
is "$(jq -r 'select(.type == "tool_call").stdout // "" | length' "$tmp/said" | sort -rn | head -n 1)" \
  262144 "the end of what a tool prints without end is kept"
held "tools without end" 45 "calls 30000" -o json
is "$(jq -r 'select(.type == "tool_call").id' "$tmp/said" | wc -l)" 30000 \
  "each of many tools is told"
held "ids of 2 MiB" 80 "ids"
is "$(cat "$tmp/said")" "done" "ids of 2 MiB are passed over"

# --- at a terminal

# raw FILE: what a terminal was told beside text, line ends and dim notes.
raw() {
  python3 - "$1" <<'PYTHON'
import re, sys
text = open(sys.argv[1], "rb").read()
text = text.replace(b"\x1b[2m", b"").replace(b"\x1b[1m", b"").replace(b"\x1b[0m", b"").decode()
print("".join(sorted({repr(c) for c in text
                      if (ord(c) < 32 and c not in "\r\n\t") or 127 <= ord(c) < 160
                      or c in "\u202e\u2028"})))
PYTHON
}
chat() { run python3 "$cli/terminal.py" 24x60 agent-chat -p "$@"; }
chat claw odd
status_is 1 "names that a terminal obeys have status 1"
is "$(raw "$out")" "" "the names are not obeyed"
out_like '^said n.e\[2J.e\]0;owned.x07' "the names are shown"
is "$(tr -d '\r' <"$out" | grep -c '^.\[2m· ')" 3 "a line with such names is one line"
chat claw -o json odd
is "$(raw "$out")" "" "names in records are not obeyed, either"
run agent-chat -p claw odd
is "$(raw "$err")" "" "names in a message are not obeyed, either"
err_one_line agent-chat "a message with such names is one line"
start_gateway odd --odd
for words in --agents --threads "--agents -o json" "--threads -o json" "-v hello"; do
  # shellcheck disable=SC2086
  chat odd $words
  status_is 0 "agent-chat $words succeeds"
  is "$(raw "$out")" "" "agent-chat $words shows no name as it is"
done
chat claw "tiny 5000"
is "$(tr -d '\r\n' <"$out" | cksum)" "$(numbers 5000 | cksum)" "what streams quickly is shown once"

done_testing
