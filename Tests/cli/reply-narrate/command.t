#!/bin/sh
# reply-narrate: what is said of which turns, once, in order, and by whom.
. "${0%/*}/../lib.sh"
needs reply-narrate turn-fold jq

# turn ID TEXT [SECOND]: the last line of a turn of Claude Code.
turn() {
  jq -nc --arg id "$1" --arg text "$2" --arg second "${3:-00}" '{type:"assistant",isSidechain:false,
    sessionId:"s1",uuid:$id,timestamp:"2026-03-14T09:10:\($second).000Z",
    message:{id:"m",role:"assistant",stop_reason:"end_turn",content:[{type:"text",text:$text}]}}'
}
transcript=$root/Tests/fixtures/transcript.ndjson
said='It does: 730 rows, two tides for each day of.
tides-26.csv red'

# --- which turns

t 0 "a transcript is read" reply-narrate "$transcript"
out_is "$said" "the finished turns of a transcript are said, without code and paths"
err_empty "nothing but the turns is said"
turn-fold "$transcript" >"$tmp/records"
run reply-narrate "$tmp/records"
out_is "$said" "the records of turn-fold give the same"
run sh -c "cat '$transcript' '$tmp/records' '$transcript' | reply-narrate"
out_is "$said" "a turn is said once, in whatever form it comes again"
jq -c '{event:"assistant",id:"s1/1",data:.}' "$transcript" | sed 's/7d0c9a52/another/' >"$tmp/wrapped"
run reply-narrate "$tmp/wrapped" "$transcript"
out_is "$said" "a turn is said once, wrapped or from another file"
jq -c 'if .type == "turn" then .parent = "t0" else . end' "$tmp/records" >"$tmp/parts"
run reply-narrate "$tmp/parts"
out_empty "a part of a turn is not said"
tac "$tmp/records" | jq -c 'select(.type == "turn" and .state == "completed" or .type == "message")' \
  >"$tmp/late"
run reply-narrate "$tmp/late"
is "$(sort "$out")" "$(printf '%s\n' "$said" | sort)" "an answer may follow its turn"
for change in '.isSidechain = true' '.message.stop_reason = "tool_use"' '.message.content = []' \
  '.isApiErrorMessage = true' '.type = "user"' '.message.content[0].type = "thinking"' \
  '.message.content[0].text = "`only code`"'; do
  turn t1 hello | jq -c "$change" >"$tmp/one"
  run reply-narrate "$tmp/one"
  is "$status$(cat "$out" "$err")" 0 "a line is not said with $change"
done
turn t1 "$(printf 'a\033]0;x\007b \342\200\256c\nd')" >"$tmp/one"
run reply-narrate "$tmp/one"
out_is "a 0;x b c d" "a turn is one line, in which nothing hides"
run reply-narrate -o json "$tmp/records"
is "$(jq -r '[.type, .backend, .id[-2:], .thread[:4], .turn[-2:], .chars, .time] | join(" ")' "$out" |
  head -n 1)" "narration claude 14 7d0c 03 45 2026-03-14T09:10:18.900Z" "a record is printed"
is "$(jq -r .text "$out")" "$said" "records have the same text"
run reply-narrate --output json "$tmp/one"
is "$(jq -c 'has("turn")' "$out")" false "a line alone says no turn"

# --- of which time

{ turn t1 One. 01 && turn t3 Three. 03 && turn t2 Two. 02; } >"$tmp/three"
run reply-narrate --latest "$tmp/three"
out_is Three. "--latest is the newest"
run reply-narrate --after 2026-03-14T09:10:01Z "$tmp/three"
out_is "Three.
Two." "--after selects what ended after a time"
run reply-narrate --after 1773479402.5 "$tmp/three"
out_is Three. "--after takes an epoch"
seq 0 999 | while read -r number; do
  printf '{"type":"assistant","isSidechain":false,"sessionId":"s1","uuid":"m%s","timestamp":"2026-03-14T09:10:01.%03dZ","message":{"id":"m","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"%s"}]}}\n' \
    "$number" "$number" "$number"
done >"$tmp/thousand"
for number in $(seq 0 7 998); do
  reply-narrate --after "1773479401.$(printf %03d "$number")" "$tmp/thousand" | head -n 1
done >"$tmp/firsts"
is "$(xargs <"$tmp/firsts")" "$(seq 1 7 999 | xargs)" "--after takes decimals, to the millisecond"
run reply-narrate --after 1773479401.998999999 "$tmp/thousand"
out_is 999 "--after takes parts of a second that are smaller, too"
for epoch in . 1.2.3 1e9 -5.0; do
  t 2 "the time $epoch is refused" reply-narrate --after="$epoch" "$tmp/three"
done
run reply-narrate --after 0 "$tmp/three"
is "$(lines "$out")" 3 "--after 0 selects all turns"
t 1 "the status is 1 without a newest turn" reply-narrate --after today --latest "$tmp/three"
run reply-narrate --after 2h "$tmp/three"
is "$status$(cat "$out")" 0 "nothing is said without a newest turn"
t 2 "a time that makes no sense is an error" reply-narrate --after soon "$tmp/three"

# --- bad input

{ echo '{"type":"assistant"' && turn t1 One. && echo '[]' && echo && echo '{"type":"turn","backend":"claude"}'; } \
  >"$tmp/bad"
t 2 "bad lines are an error" reply-narrate "$tmp/bad" "$tmp/nowhere" "$tmp/three"
out_is "One.
Three.
Two." "bad lines keep nothing from being said"
is "$(grep -c "^reply-narrate: $tmp/bad:[135]: " "$err") $(lines "$err")" "3 4" \
  "each bad line is named"
head -c 300000 /dev/zero | tr '\0' '[' >"$tmp/deep"
turn t1 "$(head -c 100000 "$tmp/deep")" >"$tmp/one"
t 2 "a line that nests too deep is an error" reply-narrate "$tmp/one" "$tmp/deep"
turn t1 "$(printf 'word %.0s' $(seq 2000)). End." >"$tmp/one"
run reply-narrate "$tmp/one"
is "$(wc -m <"$out")" 1200 "at most 1200 characters and the line feed are printed"

# --- by a command

t 0 "a command reads the turns" reply-narrate --exec 'cat; echo -' "$tmp/three"
out_is "One.
-
Three.
-
Two.
-" "a command says each turn, in the order in which they ended"
run reply-narrate -o json --exec 'jq -r .text' "$tmp/three"
is "$(lines "$out")" 3 "a command is given records with -o json"
t 2 "a command that fails is an error" \
  reply-narrate --exec 'read -r line; [ "$line" = One. ] || exit 3; echo "$line"' "$tmp/three"
out_is One. "a command that fails is run again"
is "$(cat "$err")" "reply-narrate: --exec: status 3
reply-narrate: --exec: status 3" "a command that fails is named each time"
run reply-narrate --exec 'kill -9 $$' --latest "$tmp/three"
err_is "reply-narrate: --exec: ended by signal 9" "the signal that ended a command is told"
run reply-narrate --exec 'exec 0<&-; echo "$0"' "$tmp/one"
is "$status$(cat "$out" "$err")" 0sh "a command that does not read a turn is not told of"
t 2 "a command that takes too long is an error" \
  reply-narrate --timeout 0.2 --exec 'sleep 100' --latest "$tmp/three"
err_is "reply-narrate: --exec: took longer than 1 s; see --timeout" \
  "the message says that the command took too long"
t 2 "--timeout 0 is refused" reply-narrate --timeout 0 "$tmp/three"
run reply-narrate --slug x "$tmp/three"
err_like 'slug is for a voice server; see --profile' "--slug without a voice server is refused"
t 2 "--all and --latest exclude each other" reply-narrate --all --latest "$tmp/three"

done_testing
