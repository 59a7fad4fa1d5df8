#!/bin/sh
# agent-serve as a voice server: a coding agent's turns, read aloud.
. "${0%/*}/../lib.sh"
needs agent-serve curl jq openssl
. "${0%/*}/riff.sh"

all=$tmp/transcripts
site=$all/-srv-site
mkdir -p "$site" "$all/-srv-other" "$tmp/-elsewhere"
# turn SECOND TEXT [FILTER]: a line that ends a turn, at a second of a minute.
turn() {
  jq -nc --arg time "2026-03-14T09:10:$1.250Z" --arg text "$2" '{type: "assistant",
    uuid: $time, timestamp: $time, isSidechain: false, message: {role: "assistant",
    stop_reason: "end_turn", content: [{type: "text", text: $text}]}}'" | ${3:-.}"
}
base=$(jq -n '"2026-03-14T09:10:00Z" | fromdate')
cat >"$tmp/speak" <<'END'
cat >"$SPOKEN.text"
echo "$(cat "$SPOKEN.text")" >>"$SPOKEN"
case $(cat "$SPOKEN.text") in
fail*) echo half; echo "no voice" >&2; exit 3 ;;
silence*) exit 0 ;;
wait*) echo $$ >"$SPOKEN.waits"; until [ -e "$SPOKEN.go" ]; do sleep 0.02; done ;;
esac
printf 'sound\000of '
cat "$SPOKEN.text"
END
SPOKEN=$tmp/spoken
export SPOKEN
: >"$SPOKEN"
start_server voice agent-serve -l 127.0.0.1:0 -D :memory: --voice-secret-file "$tmp/secret" \
  --speaker "sh $tmp/speak" --transcripts "$all"
voice=$pid
# poll AFTER [SLUG]: seconds behind the base
poll() { fetch "/riff/narrate-poll?after=$((base + $1))${2+&cwd_slug=$2}"; }
said() { jq -r .audio_b64 "$out" | base64 -d | tr '\0' ' '; }

# --- what ends a turn
{
  turn 01 'An old one.'
  turn 02 'Now **it** works, see `code` and https://example.org.
```
secret
```'
  turn 03 '```
only code
```'
  turn 04 'A part.' '.message.stop_reason = "tool_use"'
  turn 05 'A helper.' '.isSidechain = true'
  turn 06 'A person.' '.type = "user"'
  turn 07 'No time.' 'del(.timestamp)'
  turn 08 'No credit.' '.isApiErrorMessage = true'
  echo '{"type":"assistant","message":{"stop_reason":"end_turn","content":7},"timestamp":7}'
  echo '"end_turn"'
  printf '\377\376"end_turn"\n\n'
} >"$site/one.jsonl"
is "$(poll 0)" 200 "a turn is given"
is "$(said)" "sound of Now it works, see and." "a turn is read aloud without its code"
is "$(jq "[.ts == $base + 2.25, .chars]" "$out" | jq -c .)" '[true,22]' "a turn has its time"
is "$(poll 1) $(lines "$SPOKEN")" "200 1" \
  "a turn that is asked for again is heard again, and made once"
is "$(fetch '/riff/narrate-poll')" 200 "any turn is newer than none"
is "$(poll 0 -srv-site)" 200 "a turn is found by the folder, too"
turn 09 'Elsewhere.' >"$all/-srv-other/two.jsonl"
is "$(poll 0) $(said)" "200 sound of Elsewhere." "the last turn of all is given"
is "$(poll 0 -srv-site) $(jq .chars "$out")" "200 22" "the last turn of the folder is given"

# --- what is no question
for slug in .. . '../x' 'a/b' '%2e%2e' '..%2f-elsewhere' '-srv-site%2f..' 'a%00b' 'a%0ab' 'a+b' '*' \
  "$(printf '%0256d' 0)"; do
  is "$(poll 0 "$slug")" 400 "a folder is refused: $slug"
done
for after in x 1e99 -1e99 NaN; do
  is "$(fetch "/riff/narrate-poll?after=$after")" 400 "a time is refused: $after"
done
is "$(curl -s -o "$out" -w '%{http_code}' "$url/riff/narrate-poll?after=0")" 401 \
  "nobody gets a turn without a signature"

# --- who waits and goes
cat >"$tmp/crowd.py" <<'END'
import socket, struct, sys, time
port, folder, signature, after = sys.argv[1:]
links = []
for _ in range(32):
    link = socket.create_connection(("127.0.0.1", int(port)), timeout=20)
    link.sendall(("GET /riff/narrate-poll?after=%s HTTP/1.1\r\nHost: localhost\r\n"
                  "X-Riff-Secret: %s\r\n\r\n" % (after, signature)).encode())
    links.append(link)
open(folder + "/crowd", "w").close()
sys.stdin.readline()
for number, link in enumerate(links):
    if number % 2:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    link.close()
print("gone", flush=True)
time.sleep(20)
END
mkfifo "$tmp/word"
start crowd sh -c 'exec python3 "$@" <"$0"' "$tmp/word" "$tmp/crowd.py" "$port" "$tmp" \
  "$(sign "$tmp/nothing")" "$((base + 50))"
crowd=$pid
exec 9>"$tmp/word"
ok "many clients wait for a turn" wait_until 10 test -e "$tmp/crowd"
polled() { [ "$(fetch "/riff/narrate-poll?after=$((base + 8))" -D "$tmp/head")" = "$1" ]; }
ok "no more than so many may wait" wait_until 10 polled 503
ok "a client too many is told to wait for a moment" has "$tmp/head" '^[Rr]etry-[Aa]fter: [1-9]'
echo go >&9
ok "the many clients go" wait_until 10 has "$tmp/crowd.out" gone
ok "other clients get the places of those who left" wait_until 5 polled 200
stop "$crowd"
exec 9>&-

# --- who waits
# wait_for NAME AFTER [SLUG]
wait_for() {
  start "$1" curl -s -m 40 -w '\n%{http_code}\n' -H "X-Riff-Secret: $(sign "$tmp/nothing")" \
    "$url/riff/narrate-poll?after=$((base + $2))${3+&cwd_slug=$3}"
}
turn 30 'Not to be followed.' >"$tmp/-elsewhere/three.jsonl"
ln -s "$tmp/-elsewhere" "$all/-linked"
ln -s "$tmp/-elsewhere/three.jsonl" "$site/link.jsonl"
mkfifo "$site/pipe.jsonl"
mkdir "$site/folder.jsonl"
touch "$all/file"
before=$(lines "$SPOKEN")
wait_for one 10
wait_for two 10
wait_for linked 10 -linked
# More than two looks at what is there.
turn 20 'A new one.' >"$tmp/line"
head -c 40 "$tmp/line" >>"$site/one.jsonl"
sleep 1
is "$(cat "$tmp/one.out" "$tmp/two.out")" "" "nothing new is found by links or in half of a line"
tail -c +41 "$tmp/line" >>"$site/one.jsonl"
ok "one client hears a turn when it ends" wait_until 10 has "$tmp/one.out" '^200$'
ok "another client hears it, too" wait_until 10 has "$tmp/two.out" '^200$'
is "$(head -n 1 "$tmp/two.out" | jq -r .audio_b64 | base64 -d | tr '\0' ' ')" "sound of A new one." \
  "the turn that both hear is the new one"
is "$(lines "$SPOKEN")" $((before + 1)) "the turn that both hear was made once"
ts=$(head -n 1 "$tmp/one.out" | jq .ts)
start last curl -s -m 40 -w '%{http_code}\n' -H "X-Riff-Secret: $(sign "$tmp/nothing")" \
  "$url/riff/narrate-poll?after=$ts"

# --- a command that fails
turn 40 'fail now' >>"$site/one.jsonl"
is "$(poll 30)" 502 "a speaker that fails has the status 502"
is "$(jq -r .error "$out")" "the speaker failed: exit status 3: no voice" \
  "the answer says why the speaker failed"
ok "a speaker that fails is told by the server, too" \
  has "$tmp/voice.err" '^agent-serve: speaker: exit status 3: no voice$'
ok "a client that waits is told of the speaker" wait_until 10 has "$tmp/last.out" '502$'
turn 41 'silence now' >>"$site/one.jsonl"
is "$(poll 40) $(jq -r .error "$out")" "502 the speaker failed: no sound" \
  "a speaker without a sound has the status 502"

# --- a clock that is wrong
late=$all/-srv-late
mkdir "$late"
turn 59 'From afar.' '.timestamp = "2099-01-01T00:00:00Z"' >"$late/one.jsonl"
touch -d 2026-03-14T09:10:30Z "$late/one.jsonl"
is "$(poll 0 -srv-late) $(said)" "200 sound of From afar." "a turn of the future is read"
is "$(jq ".ts == $base + 30" "$out")" true "a turn of the future is as old as its file"
turn 31 'Of today.' >"$late/two.jsonl"
is "$(poll 30 -srv-late) $(said)" "200 sound of Of today." \
  "a turn of the future does not hide what follows"
rm -r "$late"

# --- large ones
{
  turn 42 'Before all that.'
  yes '{"type":"user","message":{"role":"user","content":"end_turn, said somebody"}}' |
    head -c 100000000
  echo
  turn 43 'Behind all that.'
} >"$site/large.jsonl"
is "$(poll 41 -srv-site) $(said)" "200 sound of Behind all that." "a transcript of 100 MB is read"
counted() { sed -n 's/^rchar: //p' "/proc/$voice/io" 2>/dev/null || echo 0; }
before=$(counted)
for _number in 1 2 3; do poll 41 -srv-site >/dev/null; done
ok "a transcript of 100 MB is not read again" [ "$(($(counted) - before))" -lt 1000000 ]
turn 44 'And one more.' >>"$site/large.jsonl"
is "$(poll 43 -srv-site) $(said)" "200 sound of And one more." \
  "what comes in a large transcript is read"
ok "a large transcript is read from where it ended" [ "$(($(counted) - before))" -lt 1000000 ]
turn 45 'Written anew.' >"$site/large.jsonl"
is "$(poll 44 -srv-site) $(said)" "200 sound of Written anew." \
  "a file that shrinks is taken for another"
rm "$site/large.jsonl"
is "$(poll 40 -srv-site)" 502 "a file that is gone says nothing more"

# --- the end
wait_for end 50
turn 48 'wait for the end' >>"$site/one.jsonl"
wait_for speaking 47
ok "a turn is being spoken" wait_until 10 test -s "$SPOKEN.waits"
stop "$voice"
is "$status" 0 "the server stops while a turn is spoken"
ok "the speaker stops with the server" wait_until 10 gone "$(cat "$SPOKEN.waits")"
ok "a client that waits gets nothing at the end" wait_until 10 has "$tmp/end.out" '^204$'
ok "a client that listens is told of the end" wait_until 10 has "$tmp/speaking.out" '^503$'
ok "a client that waits for a link gets nothing at the end" \
  wait_until 10 has "$tmp/linked.out" '^204$'

# --- without
start_server mute env HOME="$tmp/home" agent-serve -l 127.0.0.1:0 -D :memory: \
  --voice-secret-file "$tmp/secret"
is "$(poll 0) $(jq -r .error "$out")" "503 no speaker" "without a speaker the status is 503"
stop "$pid"
mkdir -p "$tmp/home/.claude/projects/-srv-other"
cp "$all/-srv-other/two.jsonl" "$tmp/home/.claude/projects/-srv-other/"
start_server home env HOME="$tmp/home" agent-serve -l 127.0.0.1:0 -D :memory: \
  --voice-secret-file "$tmp/secret" --speaker cat
is "$(poll 0)" 200 "the usual folder of transcripts is read"
stop "$pid"
t 2 "transcripts need a speaker" \
  agent-serve --transcripts "$all" --voice-secret-file "$tmp/secret"
t 2 "a speaker alone is refused" agent-serve --speaker cat
done_testing
