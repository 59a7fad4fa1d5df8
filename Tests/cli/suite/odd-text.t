#!/bin/sh
# Text from outside that smears, hides or takes for ever: heaps of marks, letters
# that nobody sees, and what it costs to lay out very much of it, in every command
# that shows text.
. "${0%/*}/../lib.sh"
needs mem-search python3 jq
bound=900
cd "$tmp" || exit 1

# One text with everything in it, as the inside of a JSON string.
odd='e\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309\u030a\u030b pay\u200bpal \ud83d\udc68\u200d\ud83d\udc69 a\u200db\u00ad \u0646\u200c\u0627 \u2764\ufe0f x\ufe0f \udb40\udc41\u3164\ufff9\u180e\u2060\u200f\u115f'
cat >legible.py <<'END'
"""Whether standard input shows the odd text as it should: few marks, nothing hidden."""
import re, sys, unicodedata
text = sys.stdin.buffer.read().decode()
joined = ("\U0001f468\u200d\U0001f469", "\u0646\u200c\u0627", "\u2764\ufe0f")
faults = [f"{part!a} is missing" for part in joined if part not in text]
for part in joined: text = text.replace(part, "")
for wanted in ("200b", "200d", "ad", "3164", "fff9", "180e", "2060", "200f", "115f", "fe0f", "030b", "e0041"):
    pair = r"|\\udb40\\udc41" if wanted == "e0041" else ""
    if not re.search(r"\\u(\{0*" + wanted + r"\}|" + wanted.zfill(4) + ")" + pair, text): faults.append(f"{wanted} is not shown")
for letter in text:
    if unicodedata.category(letter) == "Cf" or letter in "\u3164\u115f\ufe0f":
        faults.append(f"{letter!a} is hidden")
if re.search("[\u0300-\u036f]{9}", text): faults.append("a heap of marks")
if not re.search("[\u0300-\u036f]{8}", text): faults.append("too few marks")
for fault in faults: print("#", fault, file=sys.stderr)
sys.exit(1 if faults else 0)
END
legible() {
  ok "$2 shows an odd text legibly" sh -c 'python3 "$1/legible.py" <"$2"' sh "$tmp" "$1"
}

printf '{"kind":"sent_reply","content":"%s"}\n' "$odd" >action
run action-format action
legible "$out" "action-format"
run action-format -x -W 300 action
legible "$out" "action-format -x"
run env TERM=xterm python3 "$cli/terminal.py" sh -c 'COLUMNS=500 action-format -W 500 action'
legible "$out" "action-format on a terminal"

printf '{"type":"message","backend":"clanky","id":"m","thread":"t","role":"user","text":"%s","state":"final"}\n' \
  "$odd" >message
run turn-format message
legible "$out" "turn-format of a message"
run turn-format --tree -W 600 message
legible "$out" "turn-format --tree"

fact='{"guildId":"1","facts":[{"id":1,"subject":"1","fact_type":"other","fact":"@","confidence":1}]}'
printf '%s' "$fact" | python3 -c 'import sys; sys.stdout.write(sys.stdin.read().replace("@", sys.argv[1]))' "$odd" | jq -c . >facts
# The words of a failure, too.
serve <<END
on /api/memory/facts
forever
status 200 application/json $(sed 's/\\/\\\\/g' facts)
---
on /api/stats
forever
status 400 application/json {"error":"$(printf %s "$odd" | sed 's/\\/\\\\/g')"}
END
AGENT_URL=$url
export AGENT_URL
run mem-search -g 1 -f -o table -W 600
legible "$out" "mem-search -o table"
run mem-search -g 1 -f -o tsv
legible "$out" "mem-search -o tsv"
run env TERM=xterm python3 "$cli/terminal.py" mem-search -g 1 -f -o json
legible "$out" "mem-search -o json on a terminal"
t 2 "a failure is told" agent-call stats
legible "$err" "a failure of agent-call"
t 2 "an option that nobody can read is an error" sse-tail "--$(printf '"%s"' "$odd" | jq -r .)"
legible "$err" "the message about an option"

jq --arg text "$(printf '"%s"' "$odd" | jq .)" \
  '($text | fromjson) as $t | .sessions[0].recentTurns[-1].text = $t | .sessions[0].focusedSpeaker.displayName = $t' \
  "$root/Tests/fixtures/voice/full.json" >voice
run voice-state --panel transcript -W 300 voice
legible "$out" "a panel of voice-state"

# What it costs: four times the text, about four times the time.
cpu() {
  title=$1
  shift
  run python3 "$cli/cpu.py" "$@"
  is "$status:$(cat "$out")" "0:" "$title: the time grows as the text does"
}
printf '%s\n' '{"kind":"sent_reply","content":"@"}' \
  '{"kind":"llm_call","metadata":{"a":{"b":"@"},"systemPrompt":"@"}}' >template
cpu "action-format -x" 30000 template action-format -x -W 80
printf '%s' "$fact" | jq -c '.facts += [.facts[0] | .subject = "@"]' >template
cpu "mem-search" 15000 template mem-search -g 1 -f -o table -W 80
jq -c 'walk(if type == "string" and test(" ") then "@" else . end)' \
  "$root/Tests/fixtures/voice/full.json" >template
cpu "voice-state" 2000 template voice-state -W 120 -
cpu "voice-state --prompt" 2000 template voice-state --prompt generation -

done_testing
