#!/bin/sh
# action-filter -U NAME and -g NAME: who is meant, the records tell.
. "${0%/*}/../lib.sh"
needs python3
cd "$tmp" || exit 1

cat >day <<'END'
{"id":1,"created_at":"2026-03-01T10:00:00.000Z","guild_id":"10","user_id":"7","kind":"sent_reply","usd_cost":0}
{"id":2,"created_at":"2026-03-01T10:00:01.000Z","guild_id":"20","user_id":"8","kind":"reacted","usd_cost":0}
{"event":"guilds","id":"","data":[{"id":"10","name":"Repair Café 🔧"},{"id":20,"name":"Valve \u202eradio \u001b[31mclub\n$(touch evil)"}]}
{"event":"voice_event","id":"","data":{"kind":"voice_runtime","userId":"7","metadata":{"speakerName":"Nóor \u001b]0;x\u0007"},"createdAt":"2026-03-01T10:00:02.000Z"}}
{"event":"voice_state","id":"","data":{"activeCount":1,"sessions":[{"participants":[{"userId":"8","displayName":"Tomas \"T\" #{pane_id}"},{"userId":9,"displayName":"Straße"}]}]}}
{"event":"voice_event","id":"","data":{"kind":"voice_runtime","userId":"1","metadata":{"memberUserId":"11","eventType":"join","displayName":"Ines"},"createdAt":"2026-03-01T10:00:03.000Z"}}
{"event":"voice_event","id":"","data":{"kind":"voice_runtime","userId":"1","metadata":{"speakerName":"Fig","transcriptSource":"output"},"createdAt":"2026-03-01T10:00:03.500Z"}}
{"event":"activity_snapshot","id":"","data":{"actions":[{"id":4,"kind":"tts_call","created_at":"2026-03-01T09:00:01.000Z","user_id":"9","usd_cost":0},{"id":3,"kind":"asr_call","created_at":"2026-03-01T09:00:00.000Z","user_id":"11","usd_cost":0}],"stats":{"runtime":{"voice":{"sessions":[{"participants":[{"userId":"12","displayName":"Bo"}]}]}}}}}
{"kind":"music_player","userId":"12","createdAt":"2026-03-01T10:00:04.000Z"}
{"type":"name","of":"user","id":"12","name":"Robert"}
{"type":"name","of":"channel","id":"7","name":"Robert"}
END
pack_with_names() {
  # A frame that tells the name, and one of its actions.
  { echo '{"type":"name","of":"user","id":"77","name":"Nobody"}' &&
    head -c 1500000 /dev/zero | tr '\0' '\n' && echo '{"kind":"sent_reply","user_id":"77"}'; } |
    action-filter --pack
}
kinds() { action-filter "$@" day 2>&1 | sed 's/.*"kind":"\([a-z_]*\)".*/\1/' | tr '\n' ' '; }
selects() {
  want=$1
  shift
  is "$(kinds "$@")" "$want" "$* selects: $want"
}
selects "sent_reply voice_runtime " -U 7
selects "sent_reply voice_runtime " -U 'nóor 0X'
selects "reacted " -U 'tomas t PANE ID'
selects "reacted " -U 'Tomas "T" #{pane_id}'
selects "tts_call " -U STRASSE
selects "asr_call " -U ines
selects "music_player " -U bo
selects "music_player " --user=robert
selects "sent_reply voice_runtime music_player " -U bo -U 7
selects "sent_reply " -g repair-café
selects "sent_reply " -g 'Repair Café 🔧'
selects "reacted " -g 'valve radio 31m club touch evil'
selects "sent_reply reacted " -g 20 -g REPAIRCAFÉ
selects "sent_reply " -g repair-café -U 7 -k sent_reply
selects "reacted voice_runtime voice_runtime asr_call tts_call music_player " -v -U nóor-0x
selects "reacted " --fast -U 'Tomas "T" #{pane_id}'
is "$(action-filter -U bo -N <day):$(gzip -c day >day.gz; action-filter -U bo -N day.gz)" 1:1 \
  "a name is known from standard input, and from a compressed file"
is "$({ sed -n 1p day; cat day; } | (read -r _; action-filter -U tomas-t-pane-id -N - 2>/dev/null))" 0 \
  "a name that a pipe tells late does not select what was before"
is "$( (read -r _; action-filter -U nóor-0x -N) <day)" 1 "standard input is read from its place on"

# What there is to say.
run action-filter -U 'no
body' day
status_is 1 "a name that nothing tells has status 1"
err_is 'action-filter: user no\nbody: no such id, and no record tells the name' "the name is told"
t 1 "-q selects nothing, either" action-filter -qU nobody day
err_empty "-q does not say that a name is unknown"
t 1 "the agent's own words name nobody" action-filter -U Fig day
run sh -c 'cat day | action-filter -U tomas-t-pane-id'
err_is "action-filter: user tomas-t-pane-id: is 8, which was told late; earlier actions of it were passed over" \
  "a pipe that tells a name late is told"
run sh -c 'cat day | action-filter -U bo'
err_empty "nothing is said when nothing was passed over"
run sh -c 'tail -n 2 day | cat - day | action-filter -U robert -N'
err_empty "nothing is said when a name is told in front"
out_is 1 "a name that is told in front is known from there on"
printf '{"type":"name","of":"user","id":"%s","name":"noor"}\n' 7 8 '9\u001b[31m' >twins
run action-filter -U Noor twins day
is "$(lines "$out")" 3 "a name that several have selects all of them"
err_is 'action-filter: user Noor: several have this name: 7, 8
action-filter: user Noor: several have this name: 7, 8, 9\e[31m' "all who have it are named"
run action-filter -a -k reacted twins
is "$(cmp "$out" twins && echo same)" same "records of names pass with -a"

# What is broken, deep or long tells nothing and hurts nothing.
python3 - >odd <<'END'
import json
print('{"type":"name","of":"user","id":"1","name":"a')
print('{"type":"name","of":"user","id":["1"],"name":"a"}')
print('{"type":"name","of":"user","id":"1","name":7}')
print('{"type":"name","of":"user","id":"","name":"a"}')
print('{"event":"guilds","data":[1,null,{"id":"5"},{"name":"a"},{"id":{},"name":"a"}]}')
print('{"event":"voice_state","data":{"sessions":[[],{"participants":{"userId":"1"}}]}}')
print('{"type":"name","of":"user","id":"1","name":"%s"}' % ("x" * 5000000))
print('{"type":"name","of":"user","id":"2","name":"b\\ud800"}')
print('{"kind":"k","userId":"1"}')
END
t 2 "bad records are an error" action-filter -U a odd
out_empty "bad records tell no name"
err_like '^action-filter: odd:1: ' "bad records are told"
is "$(grep -c 'odd:1:' "$err")" 1 "each bad record is told once"
printf '{"type":"name","of":"user","id":"1","name":"a\377"}\n' >>odd
run action-filter -U a odd
out_is '{"kind":"k","userId":"1"}' "a byte that is not UTF-8 is no letter"

# The same bytes as with the id.
cp "$root/Tests/fixtures/sample-day.ndjson" sample
for options in "" "-u" "-o canonical" "-a" "--by kind"; do
  # shellcheck disable=SC2086  # words
  is "$(action-filter $options -U noor sample | cksum)" \
    "$(action-filter $options -U 1184020077513293911 sample | cksum)" \
      "the name selects what the id does: $options"
done
ok "the format learns names, and shows no row of them" \
  test "$(printf '%s\n' '{"type":"name","of":"user","id":"77","name":"Noor"}' \
    '{"kind":"voice_turn_in","userId":"77","content":"x","createdAt":"2026-03-01T10:00:00Z"}' |
    action-format -W 0 | grep -c Noor)" = 1
# --- a frame that tells a name and cannot be read is told, however little is in it
pack_with_names >packed
run action-filter -U Nobody -N packed
out_is 1 "a name that a frame of a packed file tells is known"
python3 -c 'import sys
data = bytearray(sys.stdin.buffer.read())
data[12] ^= 0x40
sys.stdout.buffer.write(data)' <packed >damaged
t 2 "a damaged frame that tells a name has status 2" action-filter -U Nobody -N damaged
err_like '^action-filter: damaged: frame 1, bytes 0 to [0-9]*, not read: ' \
  "the damaged frame is named"
done_testing
