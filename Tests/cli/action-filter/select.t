#!/bin/sh
# action-filter: what each option selects, what is written, and the status.
. "${0%/*}/../lib.sh"
needs python3
cd "$tmp" || exit 1

cat >day <<'END'
{"id":1,"created_at":"2026-03-01T10:00:00.000Z","guild_id":"1","channel_id":"10","message_id":null,"user_id":"7","kind":"llm_call","content":"openai:gpt","metadata":{"provider":"openai","usage":{"inputTokens":5}},"usd_cost":0.1}
{"event":"action_event","id":"","data":{"kind":"asr_error","guildId":"2","channelId":"20","content":"Rate\u0020Limit","createdAt":"2026-03-01T11:00:00.000Z"}}

{"event":"stats_update","id":"","data":{"stats":{},"runtime":{}}}
{"type":"lost","reason":"reset","time":"2026-03-01T11:30:00.000Z"}
{"kind":"browser_tool_step","userId":"7","messageId":"70","usdCost":0.2,"createdAt":"2026-03-01T12:00:00.500Z","level":"info"}
{"event":"activity_snapshot","id":"","data":{"actions":[{"id":4,"kind":"reacted","created_at":"2026-03-01T09:00:01.000Z","usd_cost":0},{"id":3,"kind":"sent_message","created_at":"2026-03-01T09:00:00.000Z","usd_cost":0} ],"stats":{}}}
END

# kinds OPTIONS...: the kinds that are selected.
kinds() { action-filter "$@" day | sed 's/.*"kind":"\([a-z_]*\)".*/\1/' | tr '\n' ' '; }
selects() {
  want=$1
  shift
  is "$(kinds "$@")" "$want" "$* selects: $want"
}
selects "llm_call asr_error browser_tool_step sent_message reacted "
selects "llm_call " -k llm_call
selects "llm_call sent_message " -k 'llm_*,sent_?essage'
selects "llm_call reacted " -k llm_call --kind=reacted
selects "asr_error browser_tool_step " -d asr -d tool
selects "asr_error " -d error
selects "sent_message reacted " -d text
selects "" -d other
selects "llm_call " -g 1
selects "llm_call asr_error " -g 1 -g 2
selects "asr_error " -c 20
selects "llm_call browser_tool_step " -U 7
selects "browser_tool_step " -M 70
selects "browser_tool_step " -S 2026-03-01T12:00:00Z
selects "sent_message " -B 2026-03-01T10:00:01+01:00
selects "llm_call browser_tool_step " -x 0.1
selects "browser_tool_step " -x 0.10000001
selects "asr_error sent_message reacted " --max-cost 0.0999
selects "asr_error " -F 'Rate Limit'
selects "" -F 'rate limit'
selects "asr_error " -iF 'rate limit'
selects "llm_call " -E '^openai:'
selects "asr_error " -iE 'LIMIT$'
selects "llm_call " --where /usage/inputTokens=5.0
selects "llm_call " -U 7 -g 1
selects "asr_error browser_tool_step sent_message reacted " -v -g 1
selects "llm_call asr_error " -n 2
selects "llm_call asr_error browser_tool_step sent_message " -n 4

# Ids and conversations, in both spellings.
cat >ids <<'END'
{"id":9007199254740993,"created_at":"2026-03-01T10:00:00.000Z","channel_id":"10","kind":"llm_call","metadata":null,"usd_cost":0}
{"id":"9007199254740992","created_at":"2026-03-01T10:00:01.000Z","channel_id":10,"kind":"sent_reply","metadata":{"triggerMessageId":"5"},"usd_cost":0}
{"event":"voice_event","id":"","data":{"kind":"voice_runtime","channelId":"10","metadata":{"a":{"sessionId":"no"},"sessionId":"vs-\u0031"},"createdAt":"2026-03-01T10:00:02.000Z"}}
{"event":"activity_snapshot","id":"","data":{"actions":[{"id":4,"kind":"asr_call","created_at":"2026-03-01T09:00:01.000Z","channel_id":"11","metadata":{"sessionId":"vs-1"},"usd_cost":0},{"id":3,"kind":"tts_call","created_at":"2026-03-01T09:00:00.000Z","channel_id":null,"metadata":{"sessionId":7},"usd_cost":0}],"stats":{}}}
{"kind":"bot_warning","createdAt":"2026-03-01T10:00:03.000Z","id":4.0e0,"sessionId":"vs-1","metadata":"vs-1"}
END
identified() {
  want=$1
  shift
  is "$(action-filter "$@" ids | sed 's/.*"kind":"\([a-z_]*\)".*/\1/' | tr '\n' ' ')" "$want" \
    "$* selects: $want"
}
identified "llm_call " --id 9007199254740993
identified "sent_reply " --id 9007199254740992
identified "llm_call asr_call bot_warning " --id 9007199254740993,4
identified "sent_reply tts_call " --id 9007199254740992 --id=3
identified "" --id 5
identified "llm_call sent_reply voice_runtime " --thread 10
identified "voice_runtime asr_call " --thread vs-1
identified "tts_call asr_call " --thread 7 --thread 11
identified "" --thread no
identified "voice_runtime " --thread 10 --thread vs-1 -k 'voice_*'
identified "tts_call bot_warning " -v --thread 10 --thread vs-1

sed -n 1,2p day >want
action-filter -n 2 day >got
ok "lines pass byte for byte, and wrapped ones stay wrapped" cmp got want
action-filter -d text,other day >got
cat >want <<'END'
{"id":3,"kind":"sent_message","created_at":"2026-03-01T09:00:00.000Z","usd_cost":0}
{"id":4,"kind":"reacted","created_at":"2026-03-01T09:00:01.000Z","usd_cost":0}
END
ok "rows of a list pass byte for byte, and the oldest is first" cmp got want
action-filter -a -k none day >got
sed -n 4,5p day >want
ok "-a passes the other records" cmp got want

action-filter -o canonical -k asr_error,browser_tool_step,reacted day >got
cat >want <<'END'
{"id":null,"created_at":"2026-03-01T11:00:00.000Z","guild_id":"2","channel_id":"20","message_id":null,"user_id":null,"kind":"asr_error","content":"Rate\u0020Limit","metadata":null,"usd_cost":0}
{"id":null,"created_at":"2026-03-01T12:00:00.500Z","guild_id":null,"channel_id":null,"message_id":"70","user_id":"7","kind":"browser_tool_step","content":null,"metadata":null,"usd_cost":0.2,"level":"info"}
{"id":4,"created_at":"2026-03-01T09:00:01.000Z","guild_id":null,"channel_id":null,"message_id":null,"user_id":null,"kind":"reacted","content":null,"metadata":null,"usd_cost":0}
END
ok "-o canonical writes rows" cmp got want
is "$(action-filter -o canonical got | cmp - got)" "" "-o canonical keeps rows"

run action-filter -N day
out_is 5 "-N counts what is selected"
run action-filter -N -k none day
out_is 0 "-N counts nothing"
status_is 1 "-N has status 1 when it counts nothing"
run action-filter --by domain day
out_is '{"type":"count","domain":"text","count":2,"usd_cost":0}
{"type":"count","domain":"asr","count":1,"usd_cost":0}
{"type":"count","domain":"browser","count":1,"usd_cost":0.2}
{"type":"count","domain":"llm","count":1,"usd_cost":0.1}' "--by domain counts domains"
run action-filter --by user day
out_is '{"type":"count","user":null,"count":3,"usd_cost":0}
{"type":"count","user":"7","count":2,"usd_cost":0.3}' "--by user has no dust in its sums"
# sum COST...: what actions of these costs cost together.
sum() { printf '{"kind":"k","usd_cost":%s}\n' "$@" | action-filter --by kind | sed 's/.*"usd_cost":\(.*\)}$/\1/'; }
is "$(sum 0.1 0.2) $(sum 1e-30 1) $(sum 4e-7) $(sum 0.30000000000000004)" \
  "0.3 1.000000000000000000000000000001 0.0000004 0.30000000000000004" "sums are exact"
is "$(sum 1e17 0.25 -1e17) $(sum -0 -0.0) $(sum 1e300 -1e300 -1e-300) $(sum 9007199254740993)" \
  "0.25 0 -1e-300 9007199254740993" "sums are exact for all sizes and signs"
is "$(sum '"5"' null true '[1]' 0.5)" 0.5 "what is no number adds nothing"
is "$(sum 1e999999999 -1e-999999999 1E309 0.5)" 0.5 "a cost that does not fit a double adds nothing"
{ for digit in 1 2 3 4 5 6 7 8 9; do printf '{"kind":"k","usd_cost":%s' $digit; head -c 900000 /dev/zero | tr '\0' $digit
  echo '}'; done; echo '{"kind":"k","usd_cost":0.125}'; } >digits
ok "digits without end take no memory" python3 "$cli/resident.py" 32768 action-filter --by kind digits
is "$(action-filter --by kind digits)" '{"type":"count","kind":"k","count":10,"usd_cost":0.125}' "such digits add nothing"
action-filter --by kind day >kinds
run action-filter kinds
out_empty "a count is no action, though it names a kind"
err_empty "a count is not a fault, either"
is "$(action-filter -a kinds)" "$(cat kinds)" "-a passes counts"
run action-filter --by hour -g 1 day
out_is '{"type":"count","hour":"2026-03-01T10:00:00.000Z","count":1,"usd_cost":0.1}' \
  "--by hour counts hours"

# Status.
t 0 "status 0 says that something was selected" action-filter -k llm_call day
t 1 "status 1 says that nothing was selected" action-filter -k none day
out_empty "nothing is written when nothing is selected"
t 1 "-n 0 selects nothing" action-filter -n 0 day
t 0 "-q has status 0 when something is selected" action-filter -q -k llm_call day
out_empty "-q writes nothing"
t 1 "-q has status 1 when nothing is selected" action-filter -q -k none day
t 0 "-q has status 0 even after a bad line" \
  sh -c 'printf "bad\n{\"kind\":\"a\"}\n" | action-filter -q'

t 2 "status 2 says that a file is missing" action-filter -k llm_call day none day
err_is "action-filter: none: no such file or directory" "the missing file is named"
is "$(wc -l <"$out")" 2 "the files beside a missing one are read"
t 1 "a folder without records selects nothing" action-filter .
err_is "" "nothing is said about a folder without records"
run sh -c 'action-filter -N - day <day'
out_is 10 "- is standard input"

for options in "-k ," "-d chat" "-g ''" "-S tomorrow" "-B 1x" "-x much" "--max-cost ''" "-E '('" \
  "--where a=b" "--where /a" "--where /~=1" "-n -1" "-n x" "-o ''" "-o id,,kind" "-o id,kind,id" "-o /~2" "--by days" "--nonsense"; do
  t 2 "action-filter $options is refused" sh -c "action-filter $options day"
  out_empty "nothing is written: $options"
  is "$(head -n 1 "$err" | grep -c '^action-filter: ')$(sed -n 2p "$err" | grep -c '^usage: ')$(wc -l <"$err")" \
    112 "one line and the usage are said: $options"
done

done_testing
