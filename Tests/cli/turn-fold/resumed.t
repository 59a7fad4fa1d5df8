#!/bin/sh
# turn-fold and its neighbours: transcripts of sessions that were resumed, and lines that are torn
# or nested too deep.
. "${0%/*}/../lib.sh"
needs turn-fold turn-format reply-narrate jq python3
cd "$tmp" || exit 1
session=$root/Tests/fixtures/transcript.ndjson
turn-fold -f "$session" >records
turns() { jq -r 'select(.type == "turn") | "\(.id) \(.state) \(.usage.output_tokens)"' "$1" | sort; }
messages() { jq -r 'select(.type == "message") | .id' "$1" | sort; }

# --- resumed
old=$(jq -r 'select(.sessionId).sessionId' "$session" | head -n 1)
sed "s/$old/resumed/" "$session" >copy
cat >new <<'END'
{"type":"user","sessionId":"resumed","uuid":"new-prompt-000001","timestamp":"2026-07-01T00:00:00Z","message":{"role":"user","content":"go on"}}
{"type":"assistant","sessionId":"resumed","uuid":"new-answer-000001","timestamp":"2026-07-01T00:00:01Z","message":{"id":"msg_000000000001","role":"assistant","content":[{"type":"text","text":"gone on"}],"stop_reason":"end_turn","usage":{"input_tokens":5,"output_tokens":7}}}
END
cat copy new >resumed
t 0 "a session that was resumed has status 0" turn-fold -f "$session" resumed
is "$(turns "$out")" "$({ turns records; echo "new-prompt-000001 completed 7"; } | sort)" \
  "each turn of a resumed session is told once with its cost"
is "$(messages "$out")" "$({ messages records; echo new-answer-000001; echo new-prompt-000001; } |
  sort)" "each message is told once"
is "$(jq -r 'select(.id == "new-prompt-000001").thread' "$out" | sort -u)" resumed \
  "what is new is in the new session"
run sh -c 'turn-fold "$1" resumed | jq -r "select(.type == \"turn\" and .id[-2:] == \"03\").state" |
  tail -n 1' - "$session"
out_is completed "a turn that ended stays ended"
run turn-fold -o state "$session" resumed
is "$(jq -s '[.. | .usage? // empty | .output_tokens // 0] | add' "$out")" \
  "$(turn-fold -o state "$session" new | jq -s '[.. | .usage? // empty | .output_tokens // 0] | add')" \
  "the tokens of a resumed session count once"
jq -c 'if .type == "assistant" then .uuid = "other-\(.uuid)" | .message.id += "-0123456789" else . end' \
  "$session" >long
jq -c '.sessionId = "forked" | .uuid = "forked-\(.uuid)"' long >forked
run turn-fold -f long forked
is "$(jq -s '[.[] | select(.type == "turn").usage.output_tokens // 0] | add' "$out")" \
  "$(jq -s '[.[] | select(.type == "turn").usage.output_tokens // 0] | add' records)" \
  "an answer counts once, also where lines have new ids"

# A turn that never ended goes on elsewhere: by a copy of its lines, or by the line behind it alone,
# as transcript-tail prints it.
line() { # SESSION TYPE ID PARENT
  printf '{"type":"%s","sessionId":"%s","uuid":"%s","parentUuid":"%s","timestamp":"2026-07-01T00:00:00Z","message":{"id":"answer-%s","role":"%s","content":[{"type":"text","text":"%s"}]}}\n' \
    "$2" "$1" "$3" "$4" "$3" "$2" "$3"
}
{ line one user prompt-1 x && line one assistant said-1 prompt-1; } >left
states() {
  turn-fold "$@" |
    jq -rs 'map(select(.type == "turn")) | group_by(.id)[] | last | "\(.id) \(.state)"' | xargs
}
is "$(states left)" "prompt-1 running" "a turn that was left runs"
{ sed 's/"one"/"two"/' left && line two user prompt-2 y; } >copied
line two user prompt-2 said-1 >behind
for each in copied behind; do
  is "$(states left "$each")" "prompt-1 completed prompt-2 running" \
    "a turn that was left has ended where its session goes on ($each)"
done
line two user prompt-2 prompt-1 >fork
is "$(states left fork)" "prompt-1 running prompt-2 running" \
  "a session that goes on from the middle does not end the turn that was left"
line one assistant said-2 said-1 >added
is "$(states left added behind)" "prompt-1 running prompt-2 running" \
  "a turn does not end by a session left before more came"

# --- torn
python3 - "$session" <<'PY'
import sys
lines = open(sys.argv[1], "rb").read().splitlines()
torn = open("torn", "wb")
for number, line in enumerate(lines):
    torn.write(line)
    torn.write([b"\n", b"", b"\0" * 100, b"\n\0\0\n", b'\n{"type":"user","sessionId":"s","message":{"te'][number % 5])
torn.write(b"\n")
PY
t 2 "a transcript with holes and torn lines has status 2" turn-fold -f torn
is "$(cat "$out")" "$(cat records)" "torn lines cost no whole record"
run sh -c 'turn-fold "$1" | turn-format' - "$session"
cp "$out" want
turn-fold "$session" | python3 -c 'import sys
text = sys.stdin.buffer.read().replace(b"\n", b"\0\0", 3)
sys.stdout.buffer.write(text)' >joined
run turn-format joined
is "$status $(cat "$out")" "2 $(cat want)" "turn-format shows joined lines as whole ones"
reply-narrate -o text "$session" >want 2>/dev/null
run reply-narrate -o text torn
is "$(cat "$out")" "$(cat want)" "reply-narrate says the same of torn lines"

# --- nested too deep
python3 - <<'PY'
deep = '{"type":"assistant","sessionId":"s","uuid":"u","message":{"id":"m","content":[%s]}}'
print("", file=open("deep", "w"), end="")
with open("deep", "a") as file:
    print('{"type":"user","sessionId":"s","uuid":"p","message":{"content":"hello"}}', file=file)
    print(deep % ("[" * 3000 + "]" * 3000), file=file)
    print('{"type":"notification","urgency":"high","x":%s}' % ("[" * 3000 + "]" * 3000), file=file)
PY
for command in turn-fold reply-narrate action-format 'agent-notify --route'; do
  # shellcheck disable=SC2086  # words
  t 2 "$command refuses a line nested 3000 deep" $command deep
  err_like "deep:[23]: nested too deep" "$command names the line"
done

# --- what is no UTF-8
for command in turn-fold turn-format reply-narrate 'agent-notify --route' action-format mail-triage; do
  python3 -c 'import sys
sys.stdout.buffer.write(open(sys.argv[1]).read().encode("utf-16"))' "$session" >foreign
  # shellcheck disable=SC2086  # words
  run $command foreign
  is "$status $(cat "$err")" "2 ${command%% *}: foreign: it is UTF-16 text" "$command tells UTF-16 once"
  { printf '\357\273\277'; cat "$session"; } >mark
  run sh -c "$command mark 2>mark.err >mark.out; cp mark.err /dev/stderr; cp mark.out /dev/stdout"
  # shellcheck disable=SC2086
  $command "$session" >plain.out 2>plain.err
  is "$(cat mark.out)" "$(cat plain.out)" "$command passes over a byte order mark"
done

done_testing
