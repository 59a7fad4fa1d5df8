#!/bin/sh
# turn-fold: the records that it writes, and when.
. "${0%/*}/../lib.sh"
needs jq python3
cd "$tmp" || exit 1

# event NUMBER PAYLOAD [TURN] [THREAD]: an event of a Pincer thread.
event() {
  printf '{"eventId":"e%s","threadId":"%s","turnId":"%s","sequence":"%s","occurredAt":"2026-01-01T00:00:00Z",%s}\n' \
    "$1" "${4-t}" "${3-u}" "$1" "$2"
}
{
  event 1 '"turnStarted":{}'
  event 2 '"toolCallPlanned":{"toolCallId":"c","toolName":"bash","args":{"x":1.10}}'
  event 3 '"toolExecutionStarted":{"executionId":"x","toolCallId":"c","displayCommand":"ls"}'
  event 4 '"toolExecutionOutputDelta":{"executionId":"x","chunk":"YQo=","utf8":true}'
  event 5 '"toolExecutionFinished":{"executionId":"x","durationMs":"7"}'
  event 6 '"assistantTextDelta":{"delta":"Hel"}'
  event 7 '"assistantMessageCommitted":{"messageId":"m","fullText":"Hello\n"}'
  event 8 '"turnCompleted":{"assistantMessageId":"m"}'
} >turn
t 0 "a turn has status 0" turn-fold turn
out_is '{"type":"turn","backend":"pincer","id":"u","thread":"t","state":"running","started":"2026-01-01T00:00:00.000Z","time":"2026-01-01T00:00:00.000Z"}
{"type":"tool_call","backend":"pincer","id":"c","thread":"t","turn":"u","tool":"bash","label":"bash","arguments":{"x":1.10},"state":"planned","time":"2026-01-01T00:00:00.000Z"}
{"type":"tool_call","backend":"pincer","id":"c","thread":"t","turn":"u","tool":"bash","label":"ls","arguments":{"x":1.10},"state":"running","started":"2026-01-01T00:00:00.000Z","time":"2026-01-01T00:00:00.000Z"}
{"type":"tool_call","backend":"pincer","id":"c","thread":"t","turn":"u","tool":"bash","label":"ls","arguments":{"x":1.10},"state":"running","stdout":"a\n","started":"2026-01-01T00:00:00.000Z","time":"2026-01-01T00:00:00.000Z"}
{"type":"tool_call","backend":"pincer","id":"c","thread":"t","turn":"u","tool":"bash","label":"ls","arguments":{"x":1.10},"state":"succeeded","stdout":"a\n","exit_code":0,"duration_ms":7,"started":"2026-01-01T00:00:00.000Z","ended":"2026-01-01T00:00:00.000Z","time":"2026-01-01T00:00:00.000Z"}
{"type":"message","backend":"pincer","id":"stream_assistant_u","thread":"t","turn":"u","role":"assistant","text":"Hel","state":"partial","time":"2026-01-01T00:00:00.000Z"}
{"type":"message","backend":"pincer","id":"stream_assistant_u","thread":"t","turn":"u","role":"assistant","text":"Hel","state":"aborted","reason":"replaced by m","time":"2026-01-01T00:00:00.000Z"}
{"type":"message","backend":"pincer","id":"m","thread":"t","turn":"u","role":"assistant","text":"Hello\n","state":"final","time":"2026-01-01T00:00:00.000Z"}
{"type":"turn","backend":"pincer","id":"u","thread":"t","state":"running","message":"m","started":"2026-01-01T00:00:00.000Z","time":"2026-01-01T00:00:00.000Z"}
{"type":"turn","backend":"pincer","id":"u","thread":"t","state":"completed","message":"m","started":"2026-01-01T00:00:00.000Z","ended":"2026-01-01T00:00:00.000Z","time":"2026-01-01T00:00:00.000Z"}' \
  "each record is printed whole when it changes"
cp "$out" records
run turn-fold --final turn
is "$(jq -r '"\(.type) \(.state)"' "$out" | xargs)" "tool_call succeeded message final turn completed" \
  "--final prints what is over, once"
sed 's/^/{"event":"x","id":"","profile":"p","data":/; s/$/}/' turn >wrapped
run turn-fold wrapped
is "$(jq -r .profile "$out" | sort -u)" p "the profile of an event is that of its records"
is "$(jq -c 'del(.profile)' "$out")" "$(jq -c . records)" \
  "the records of an event are else those of a plain line"

# --- records of ours pass, as they are
sed 's/"backend"/"new_member":1.10,"backend"/' records >own
run turn-fold own
ok "turn-fold's own records pass byte for byte" cmp -s "$out" own
run sh -c 'cat own own | turn-fold'
ok "the same records a second time change nothing" cmp -s "$out" own
run sh -c 'tac own | turn-fold | jq -r "\"\(.id) \(.state)\"" | xargs'
out_is "u completed m final stream_assistant_u aborted c succeeded" "an end never turns back"
run sh -c 'turn-fold -f own | jq -r .state | xargs'
out_is "succeeded aborted final completed" "-f prints the ends of turn-fold's own records"
printf '{"type":"turn","backend":"pincer","id":"n","thread":"t","state":"pondering"}\n' >news
run turn-fold news
ok "a state that is not known passes" cmp -s "$out" news
run turn-fold -f news
out_empty "-f prints no record with a state that is not known"

# --- one conversation, one turn
{
  cat turn
  event 21 '"turnStarted":{}' v
  event 22 '"turnStarted":{}' w other
} >two
ids() { jq -r .id "$out" | sort -u | xargs; }
run turn-fold --thread other two
is "$(ids)" w "--thread selects a conversation"
run turn-fold --turn v --turn w two
is "$(ids)" "v w" "--turn may be given twice"
run turn-fold --thread t --turn u two
is "$(ids)" "c m stream_assistant_u u" "--thread and --turn give a turn with all that belongs to it"
t 1 "a conversation that is not there has status 1" turn-fold --thread none two
run turn-fold -o state two
is "$(jq -r .thread "$out" | xargs)" "t other" "each conversation has a state, in order"
run turn-fold -o state --thread t two
is "$(jq -r '.thread, (.turns | length)' "$out" | xargs)" "t 2" \
  "-o state with --thread prints the one conversation"
printf '{"sequence":1,"turnId":"u","turnStarted":{}}\n' >nameless
run turn-fold nameless
out_empty "an event that names no conversation gives no record"
run turn-fold --thread mine nameless
is "$(jq -r .thread "$out")" mine \
  "--thread gives an event its conversation where the event names none"

# --- what is nothing, and what is bad
cat >odd <<'END'
{"type":"open","url":"http://127.0.0.1/","time":"2026-01-01T00:00:00.000Z"}
{"type":"lost","reason":"r"}
{"event":"stats_update","id":"1","data":{"stats":{}}}
{"event":"tick","id":"","data":{"ts":1}}

{"type":"message","backend":"pincer","id":"m"}
word
7
END
t 2 "bad lines have status 2" turn-fold odd turn
err_is 'turn-fold: odd:6: has no thread
turn-fold: odd:7: not a JSON object
turn-fold: odd:8: not a JSON object' "each bad line is named"
ok "the lines beside bad ones are folded" cmp -s "$out" records
t 2 "a file that is not there has status 2" turn-fold missing turn
ok "the other file is read where one is missing" cmp -s "$out" records
t 2 "--final of a state is refused" turn-fold -f -o state turn
t 2 "--turn of a state is refused" turn-fold --turn u --output state turn

LC_ALL=C tr '#' '\377' <<'END' >latin
{"type":"turn","backend":"pincer","id":"#","thread":"t","state":"running"}
END
t 2 "own records that are not UTF-8 have status 2" turn-fold latin
err_is 'turn-fold: latin:1: not UTF-8' "a line that is not UTF-8 is named"
event 2 '"toolCallPlanned":{"toolCallId":"c","toolName":"bash","args":{"x":word}}' >args
run sh -c "turn-fold args | jq -r .type | xargs"
out_is "turn tool_call" "arguments that are not JSON do not break a record"

# --- texts that grow
python3 - >long <<'END'
for n in range(20000):
    print('{"threadId":"t","turnId":"u","assistantTextDelta":{"delta":"%08d"}}' % n)
END
run turn-fold long
is "$(tail -n 1 "$out" | jq -r '.text | length')" 160000 "the last record of a text is whole"
size=$(wc -c <"$out")
ok "a long text is written in linear size" test "$size" -lt 4000000
head -n 511 "$out" >small
is "$(jq -s 'map(.text | length) | . == [range(8; 4096; 8)]' small)" true \
  "a short text is written with each piece"
cp "$out" once
run turn-fold long
ok "a file gives the same each time" cmp -s "$out" once

# Live, what was held back comes when nothing more is there to be read.
mkfifo pipe
start live sh -c 'turn-fold <pipe'
exec 7>pipe
head -n 1000 long >&7
whole() { [ "$(tail -n 1 live.out | jq -r '.text | length' 2>/dev/null)" = "$1" ]; }
ok "a piece of a long text has no delay in a live pipe" wait_until 20 whole 8000
sed -n 1001p long >&7
ok "the smallest piece of a long text comes at once" wait_until 20 whole 8008
exec 7>&-

# What is over does not take memory for ever.
python3 - >many <<'END'
for n in range(8000):
    head = '{"threadId":"t%d","turnId":"u%d",' % (n % 700, n)
    print(head + '"turnStarted":{}}')
    print(head + '"assistantMessageCommitted":{"messageId":"m%d","fullText":"%s"}}' % (n, "x" * 4000))
    print(head + '"turnCompleted":{}}')
END
ok "memory is bounded by what is open" python3 "$cli/resident.py" $((28 * 1024)) turn-fold -f many
run sh -c 'turn-fold -f many | jq -r .state | sort | uniq -c | xargs'
out_is "8000 completed 8000 final" "each of 8000 turns is told where memory is bounded"

# What an event came in may be cut anywhere; what an agent says cannot break a record.
printf '{"threadId":"t","turnId":"u","assistantTextDelta":{"delta":"%s"}}\n' \
  'a\u001b[31m\"\\text\\\":\\\"\\\",\n' '\ud83e' 'b","text":"' | sed 's/b","/b\\",\\"/; s/":"$/":"/' >hostile
run sh -c 'turn-fold hostile | tail -n 1 | jq -r .text | od -An -c | head -n 1'
out_like '033   \[   3   1   m' "hostile text stays text"

done_testing
