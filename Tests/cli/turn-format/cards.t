#!/bin/sh
# turn-format in a pipe: each card once and whole, trees and graphs, what is bad input and
# what is not, text that means harm, and memory.
. "${0%/*}/../lib.sh"
needs turn-format python3 perl jq
turns=$root/Tests/fixtures/turns.ndjson
golden=$root/Tests/golden/turns
cd "$tmp" || exit 1

ok "the fixture is what its script makes" \
  sh -c 'python3 "$1/make-turns.py" | cmp - "$2"' sh "$root/Tests/fixtures" "$turns"

# kept NAME OPTION...: the output is that of the golden file.
kept() {
  name=$1
  shift
  t 0 "turn-format gives $name with status 0" turn-format "$@" "$turns"
  [ -z "${AGENTUTILS_UPDATE_GOLDEN-}" ] || cp "$out" "$golden/$name"
  ok "$name is what it was" diff "$golden/$name" "$out"
}
kept cards-40.txt -W 40
kept cards-80.txt -W 80
kept cards-200.txt --width 200
kept tree-80.txt --tree -W 80
kept graph.dot -o dot

cat >wide.py <<'END'
import sys, unicodedata
limit = int(sys.argv[1])
for line in sys.stdin.read().split("\n"):
    # A command to be pasted is never cut.
    if "agent-approve" in line: continue
    cells = sum(
        0 if unicodedata.combining(c) or unicodedata.category(c) in ("Mn", "Cf")
        else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)
    if cells > limit: sys.exit(f"{cells}: {line}")
END
for width in 24 40 80 200; do
  for form in cards tree; do
    run turn-format -o "$form" -W "$width" "$turns"
    ok "no line of a $form is wider than $width" python3 wide.py "$width" <"$out"
  done
done
run turn-format "$turns"
cp "$out" whole
run turn-format --width 0 "$turns"
ok "a pipe folds nothing, as -W 0 does" cmp whole "$out"
run sh -c 'cat "$1" | turn-format' sh "$turns"
ok "standard input is a file like others" cmp whole "$out"
run turn-format - <"$turns"
ok "standard input may have its name, too" cmp whole "$out"
run sh -c 'perl -e "\$| = 1; while (sysread STDIN, my \$piece, 1013) { syswrite STDOUT, \$piece }" <"$1" | turn-format' sh "$turns"
ok "standard input may come in pieces of any size" cmp whole "$out"
run turn-format "$turns" "$turns"
is "$(grep -c 'completed' "$out")" 2 "what is said again of a turn that was shown shows nothing"

# --- what is selected and shown

run turn-format -n 1 "$turns"
is "$(grep -c 'Harbour plans' "$out")" 1 "-n 1 is the first turn"
out_unlike 'clank' "-n 1 shows no other turn"
run turn-format --count 2 -o tree "$turns"
out_like 'clank' "--count 2 shows two turns"
out_unlike 'RATE_LIMIT' "--count 2 shows no third turn"
run turn-format --tail 2 "$turns"
out_like '10 lines above' "--tail 2 leaves two lines of output"
out_unlike 'test 10' "--tail 2 hides the lines before the last ones"
out_like 'test 12' "--tail 2 shows the last line of twelve"
run turn-format --tail 0 "$turns"
out_unlike '│' "--tail 0 leaves no line of output"
run turn-format --expand -W 60 "$turns"
out_like 'test 1 ' "--expand shows all of an output"
out_unlike 'lines above' "--expand leaves nothing out"
like "$(grep -A1 '~ ' "$out" | tail -n 1)" 'the datasheet' "--expand shows thoughts whole"
t 2 "--expand and --tail exclude each other" turn-format --expand --tail 3 "$turns"
err_like '^turn-format: --expand shows all lines: not with --tail$' \
  "the message says that --expand does not go with --tail"
t 2 "--expand without effect is refused" turn-format --tree --expand "$turns"
t 2 "--tail without effect is refused" turn-format -o tree --tail 3 "$turns"
t 2 "another form is refused with status 2" turn-format -o table "$turns"
run turn-format --color always "$turns"
out_like "$(printf '\033\\[1;3[0-9;]*m‖ paused')" "--color always colours"
run turn-format --color never "$turns"
ok "--color never does not colour" cmp whole "$out"

# --- costs and tokens are counted once

turn() { printf '{"type":"turn","backend":"clanky","thread":"c","id":"%s","state":"completed"%s}\n' "$1" "$2"; }
{
  turn child ',"parent":"top","usd_cost":0.5,"usage":{"input_tokens":10,"output_tokens":1}'
  turn inner ',"parent":"child","usd_cost":0.25,"usage":{"input_tokens":5}'
  turn other ',"parent":"top","usd_cost":1,"usage":{"input_tokens":100}'
  turn top ''
} >parts
run turn-format parts
like "$(grep ' = ' "$out")" '= 110 in · 1 out · \$1\.50$' "what parts say is added up once"
sed 's/"id":"top"/"id":"top","usd_cost":2/' parts >own
run turn-format own
like "$(grep ' = ' "$out")" '= 110 in · 1 out · \$2\.00$' \
  "what the turn says of its cost counts before its parts"
is "$(grep -c 'completed' "$out")" 1 "the parts have no cards of their own"
{ turn b ',"parent":"a"'; turn a ',"parent":"b"'; turn c ',"parent":"c"'; } >knot
t 0 "parts of each other have status 0" turn-format --tree knot
is "$(grep -c '✓' "$out")" 3 "parts of each other are shown once each"

# --- the order of things, ends, and what has no turn

printf '%s\n' \
  '{"type":"turn","backend":"pincer","id":"t","thread":"x","state":"failed"}' \
  '{"type":"turn","backend":"pincer","id":"t","thread":"x","state":"running"}' >back
run turn-format back
out_like '^✗ failed' "an end never turns back"
printf '%s\n' \
  '{"type":"turn","backend":"pincer","id":"t","thread":"x","state":"completed","message":"m"}' \
  '{"type":"message","backend":"pincer","id":"m","thread":"x","turn":"t","role":"assistant","text":"the answer","state":"final"}' \
  '{"type":"message","backend":"pincer","id":"n","thread":"x","role":"user","text":"another","state":"final"}' \
  '{"type":"message","backend":"pincer","id":"o","thread":"x","turn":"t","role":"assistant","text":"too late","state":"final"}' >late
run turn-format late
is "$(sed -n 2p "$out")" "  the answer" "what is said right behind the end belongs to the card"
out_like '^» user: another$' "a message without a turn stands by itself"
out_like '^« assistant: too late$' "a message that comes later than its turn's end is not lost"
printf '%s\n' \
  '{"type":"approval","backend":"openclaw","profile":"my claw","id":"-x'"'"'$(reboot)","tool":"exec","request":{"command":"ls"},"decisions":[],"state":"pending"}' >ask
run turn-format ask
# shellcheck disable=SC2016  # of the text
is "$(tail -n 1 "$out")" "    agent-approve -p 'my claw' --approve='-x'\\''\$(reboot)'" \
  "a command that is to be pasted is quoted"

# --- what a person is asked while the turn goes on

said() { printf '{"type":"%s","backend":"pincer","profile":"home","thread":"x","id":"%s"%s}\n' "$@"; }
asked() {
  said approval "$1" ',"turn":"t","tool":"bash","summary":"Tidy \u001b[2Jup","request":{"command":"rm -r old"},"decisions":["allow"],"state":"'"$2"'"'
}
for form in cards tree; do
  rm -f answers
  mkfifo answers
  turn-format -o "$form" <answers >shown 2>&1 &
  pid=$!
  exec 7>answers
  { said thread x ',"title":"Harbour plans"'; said turn t ',"state":"running"'; asked a pending; } >&7
  ok "a question is told before the end of its turn: $form" \
    wait_until 20 grep -q "agent-approve -p home --approve a" shown
  is "$(head -n 1 shown)" '? approval bash  Tidy \e[2Jup · pending · home · Harbour plans' \
    "a question's line says whose it is: $form"
  { asked a pending; asked b pending; } >&7
  ok "another question is told, too: $form" wait_until 20 grep -q "approve b" shown
  { asked a approved; asked b rejected; said turn t ',"state":"completed"'; } >&7
  exec 7>&-
  wait "$pid"
  is "$?" 0 "turn-format goes on to the end of the turn: $form"
  is "$(grep -c 'approval bash .*pending' shown)" 2 "each question was asked once: $form"
  like "$(cat shown)" 'completed' "the end of the turn is shown: $form"
done
{ said turn t ',"state":"running"'; asked a pending; asked a approved; said turn t ',"state":"completed"'; } >answered
run sh -c 'cat answered | turn-format'
out_unlike 'pending' "what was answered at once is not asked"

# --- nothing of turns

printf '%s\n' '{"kind":"llm_call","createdAt":"2026-03-14T08:00:00Z"}' '{"type":"open","url":"u"}' >actions
for options in "" "--tree" "-o dot"; do
  # shellcheck disable=SC2086
  t 1 "actions with '$options' are no turns" turn-format $options actions
  is "$(cat "$err")" "turn-format: no turns in the input: pipe it through turn-fold" \
    "the message says that actions with '$options' need turn-fold"
done
printf '{"type":"thread","backend":"pincer","id":"x"}\n' >>actions
t 0 "a conversation without turns has status 0" turn-format actions
run turn-format "$turns" actions
ok "other records among turns are passed over" cmp whole "$out"

# --- bad input, and what is not

printf '%s\n' 'no json' '{"type":"turn","backend":"pincer","thread":"x","state":"queued"}' '' '[1]' \
  '{"event":"turnStarted","id":"1","data":{}}' '{"type":"lost","reason":"x","time":"now"}' \
  '{"type":"turn","backend":"pincer","id":"d","thread":"x","state":"dreaming"}' \
  '{"type":"message","id":"m","role":"user"}' '{"kind":"llm_call","createdAt":"x"}' >mixed
cat mixed "$turns" >both
t 2 "bad lines are status 2" turn-format both no-file
is "$(cat "$err")" "$(printf '%s\n' \
  'turn-format: both:1: a word without quotes' \
  'turn-format: both:2: has no id' \
  'turn-format: both:4: not a JSON object' \
  'turn-format: no-file: no such file or directory')" "each bad line is told and no other is"
ok "all records beside bad lines are shown" cmp whole "$out"
t 2 "a file that is read and written at once is an error" sh -c 'turn-format both >both'
gzip -c "$turns" >turns.gz
run turn-format turns.gz
ok "a compressed file is read" cmp whole "$out"
t 0 "empty input has status 0" turn-format /dev/null
out_empty "empty input shows nothing"
run turn-format -o dot /dev/null
out_is "$(printf 'digraph turns {\n  rankdir=LR;\n  node [shape=box, fontname="sans-serif"];\n}')" \
  "a graph of empty input is an empty graph"

# --- a graph is one that graphviz reads

cat >graph.py <<'END'
"""The part of graphviz's grammar that is used: nodes, edges, quoted strings."""
import re, sys
text = sys.stdin.read()
string = r'"(?:[^"\\\n]|\\.)*"'
value = rf"(?:{string}|[A-Za-z_0-9]+)"
attributes = rf"\[[a-z]+={value}(?:, [a-z]+={value})*\]"
line = rf"  (?:rankdir=LR|node {attributes}|n\d+ {attributes}|n\d+ -> n\d+(?: {attributes})?);\n"
sys.exit(not re.fullmatch(rf"digraph turns {{\n(?:{line})*}}\n", text))
END
run turn-format -o dot "$turns"
ok "a graph follows the grammar of graphviz" python3 graph.py <"$out"
if command -v dot >/dev/null 2>&1; then
  ok "dot draws a graph of turn-format" dot -T svg -o graph.svg "$out"
else
  skip 1 "no dot"
fi
not_ok "a graph with a quote too many does not follow the grammar" \
  sh -c 'sed "s/reef/re\"ef/" "$1" | python3 graph.py' sh "$out"

# --- text that means harm

python3 - >hostile <<'END'
import json
bad = ["\x1b[2J\x1b[31mred", "\x1b]0;title\x07", "\x9b31m\x90q\x9c", "\x7f\x00\x08\r\n\x0b", "\u202egpj.exe\u2066x\u2069",
       "\u2028\u2029\u061c\u200e\ufeff", "\ud800 half", "a\rb\\n\\\"];}", "</title><script>"]
tools = ["bash", "web_search", "web_fetch", "read_file", "other"]
for index, text in enumerate(bad):
    base = {"backend": "pincer", "profile": text}
    def say(kind, **members): print(json.dumps({"type": kind, **base, **members}))
    thread, turn = f"{text}{index}", f"t{text}{index}"
    say("thread", id=thread, title=text, agent=text)
    for state in ("running", "failed"):
        if state == "failed":
            for number, tool in enumerate(tools + [text]):
                for output in (text, json.dumps({"results": [{"title": text, "url": text}], "status": text, "content": text}), json.dumps([text]), "<title>" + text):
                    say("tool_call", id=f"c{text}{index}{number}{output}", thread=thread, turn=turn, tool=tool, label=text, state="failed",
                        arguments={text: text, "query": text, "url": text, "path": text, "command": text}, reason=text, stdout=output, stderr=text)
            for role in ("user", "assistant", "system", "tool", "thinking"):
                for state2 in ("partial", "final", "failed"):
                    say("message", id=f"m{text}{index}{role}{state2}", thread=thread, turn=turn, role=role, author=text, text=text, state=state2, reason=text,
                        attachments=[{"name": text, "media_type": text, "url": text}])
            for state2 in ("pending", "approved"):
                say("approval", id=f"{state2}{text}{index}", thread=thread, turn=turn, tool=text, risk=text, summary=text, request={text: text}, decisions=[text], state=state2, by=text, reason=text)
            say("turn", id=f"p{text}{index}", thread=thread, parent=turn, agent=text, state="failed", reason=text)
        say("turn", id=turn, thread=thread, agent=text, state=state, reason=text)
    say("message", id=f"l{text}{index}", thread=thread, role="user", author=text, text=text, state="sent", reason=text)
END
printf '{"type":"turn","backend":"pincer","id":"raw","thread":"raw \233 \377 \303( \355\240\200 bytes","state":"failed"}\n' >>hostile
cat >harmless.pl <<'END'
undef $/;
my $text = <STDIN>;
$text =~ s/\x1b\[[0-9;]*m//g;
exit($text =~ /[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]|\xd8\x9c|\xef\xbb\xbf/ ? 1 : 0);
END
for options in "" "--expand" "-W 40" "--tree" "-o dot" "--expand --color always"; do
  # shellcheck disable=SC2086  # several words
  t 0 "hostile text is read with '$options'" turn-format $options hostile
  ok "nothing of hostile text is obeyed with '$options'" perl harmless.pl <"$out"
  ok "hostile text is shown as UTF-8 with '$options'" \
    perl -MEncode -e 'undef $/; decode("UTF-8", <STDIN>, Encode::FB_CROAK)' <"$out"
done
run turn-format -o dot hostile
ok "a graph of hostile text follows the grammar" python3 graph.py <"$out"

# --- much

python3 - >deep <<'END'
for index in range(20000):
    print('{"type":"turn","backend":"clanky","thread":"c","id":"%d","parent":"%d","state":"completed"}' % (index + 1, index))
print('{"type":"turn","backend":"clanky","thread":"c","id":"0","state":"completed"}')
END
for options in "" "--tree" "-o dot"; do
  # shellcheck disable=SC2086
  t 0 "turns in turns, 20000 deep, are shown with '$options'" turn-format -W 80 $options deep
done
cat >much.py <<'END'
import json, sys
text = "all work and no play " * 500
def say(kind, **members): print(json.dumps({"type": kind, "backend": "pincer", "thread": "x", **members}))
for index in range(int(sys.argv[1])):
    turn = f"t{index}"
    say("turn", id=turn, state="running")
    say("message", id=f"m{index}", turn=turn, role="assistant", text=text, state="final")
    say("tool_call", id=f"c{index}", turn=turn, tool="bash", state="succeeded", stdout=text)
    say("turn", id=turn, state="completed")
END
python3 much.py 500 >much
ok "10 MB of turns that end take no memory" sh -c 'wc -c <much; python3 "$1/resident.py" 32000 turn-format much' sh "$cli"
python3 -c '
import json
print(json.dumps({"type": "message", "backend": "pincer", "thread": "x", "id": "m", "role": "assistant", "text": "word " * 500000, "state": "final"}))' >long
t 0 "one message of 2.5 MB is shown" turn-format -W 80 long
is "$(tr -d '\n' <"$out" | tr ' ' '\n' | grep -c word)" 500000 \
  "all words of a message of 2.5 MB are there"

done_testing
