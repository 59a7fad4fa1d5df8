#!/bin/sh
# voice-state: records of files and pipes, good and bad.
. "${0%/*}/../lib.sh"
needs python3 jq perl

voice=$root/Tests/fixtures/voice
cd "$tmp" || exit 1
python3 - "$voice/full.json" <<'END'
import json, sys
state = json.load(open(sys.argv[1]))
session = state["sessions"][0]
def dump(name, *records):
    with open(name, "w") as file:
        for record in records: file.write(json.dumps(record) + "\n")
when = "2026-06-15T21:00:05.000Z"
wrap = lambda event, data, **more: {"event": event, "id": "", **more, "data": data}
dump("wrapped", wrap("voice_state", state, received_at=when))
dump("bare", state)
dump("session", session)
dump("stats", wrap("stats_update", {"stats": {"last24h": {}}, "runtime": {"voice": state}}))
dump("snapshot", wrap("activity_snapshot", {"actions": [], "stats": {"stats": {}, "runtime": {"voice": state}}}))
dump("list", [state])
dump("others", {"type": "open", "url": "x", "time": when}, wrap("stats_update", {"stats": {}}), {"kind": "llm_call", "content": "x"},
     {"event": "x", "id": "", "data": "text"}, {"sessions": []}, {"anything": 1})
dump("empty", state, {"activeCount": 0, "sessions": []})
two = json.loads(json.dumps(session)); two["sessionId"] = "second-session"; two["guildId"] = "2"
dump("two", {"activeCount": 2, "sessions": [session, two]})
sid = session["sessionId"]
def event(kind, content, second, user=None, **meta):
    return wrap("voice_event", {"kind": kind, "content": content, "guildId": session["guildId"], "userId": user,
                "createdAt": f"2026-06-15T21:00:{second:02}.000Z", "metadata": {"sessionId": sid, **meta}})
state2 = json.loads(json.dumps(state)); state2["sessions"][0]["toolCalls"].append(
    {"callId": "c1", "toolName": "moon_phase", "startedAt": "2026-06-15T21:00:06.000Z", "completedAt": "2026-06-15T21:00:09.000Z", "runtimeMs": 3000, "success": True})
dump("events", wrap("voice_state", state, received_at=when),
     event("voice_runtime", "realtime_tool_call_started", 6, callId="c1", toolName="moon_phase", arguments={"a": 1}),
     event("voice_runtime", "voice_membership_changed", 7, eventType="join", memberUserId="77", displayName="Zoe"),
     event("voice_runtime", "openai_realtime_asr_final_segment", 8, user="77", speakerName="Zoe", transcript="good evening",
           eventType="completed"),
     event("voice_runtime", "realtime_tool_call_completed", 9, callId="c1", toolName="moon_phase", runtimeMs=3000, outputSummary="found"),
     wrap("voice_state", state2, received_at="2026-06-15T21:00:10.000Z"),
     event("voice_session_end", "inactivity_timeout", 12))
dump("running", wrap("voice_state", state, received_at=when),
     event("voice_runtime", "realtime_tool_call_started", 6, callId="c2", toolName="star_chart"))
END
id=$(jq -r .sessionId session)

for shape in wrapped bare session stats snapshot list two "$voice/full.json"; do
  t 0 "${shape##*/} is read" voice-state -o line "$shape"
  out_like "Z $(printf %s "$id" | cut -c1-8) processing · Kei talks" \
    "a session of ${shape##*/} is shown"
  cat "$shape" | voice-state -o line - >"$tmp/piped"
  is "$(cut -d' ' -f2- "$tmp/piped")" "$(cut -d' ' -f2- "$out")" \
    "${shape##*/} is read from a pipe, too"
done
is "$(lines "$out")" 1 "a record over several lines is one record"
run voice-state -o line two
is "$(lines "$out")" 2 "two sessions are read"
run voice-state -o line -g 2 two
is "$(lines "$out")" 1 "-g selects one of two sessions"
printf '{"activeCount":2,"sessions":[{"sessionId":"vs-10"},{"sessionId":"vs-1"}]}\n' >tens
run voice-state -o json -s vs tens
is "$(lines "$out")" 2 "the beginning of two ids selects both"
run voice-state -o json -s vs-1 tens
out_is '{"sessionId":"vs-1"}' "a whole id selects one session"
run voice-state -o json session
ok "-o json keeps the bytes of a bare session" cmp "$out" session
run voice-state -o json two
jq -s '{activeCount: 2, sessions: .}' "$out" >again
run voice-state -o line again
is "$(lines "$out")" 2 "what json prints can be read again"
voice-state -o json two | voice-state -o json - >again
run voice-state -o json two
ok "json that was read again stays as it is" cmp again "$out"
t 0 "records without voice are passed over" voice-state others
out_is "No voice session." "records without voice show no session"
run voice-state empty
out_is "No voice session." "the last state counts"
t 0 "-q reads records" voice-state -q wrapped
t 1 "-q has status 1 without a session" voice-state -q empty
t 2 "a missing file is an error" voice-state nowhere
err_is "voice-state: nowhere: no such file or directory" "the missing file is named"
mkdir folder
t 2 "a folder is an error" voice-state folder
err_one_line voice-state "a folder is told in one line"

# The time is the records'.
run voice-state -o line wrapped
out_like '^2026-06-15T21:00:05.000Z' "received_at tells the time"
run voice-state -o line bare
out_like '^2026-0[0-9-]*T' "the state tells the time where received_at is missing"

# Events between states.
t 0 "-w tells what happens line by line" voice-state -w events
cut -d' ' -f3- "$out" >words
like "$(head -n 1 words)" '^now: processing · Kei talks' "-w begins with the state now"
is "$(sed -n '2,$p' words)" 'tool moon_phase runs
Zoe is there
Zoe: good evening
tool moon_phase done in 3.0s: found
Zoe has left
ends: inactivity_timeout' "-w tells each change once"
is "$(sed -n 2p "$out" | cut -d' ' -f1)" 2026-06-15T21:00:06.000Z "a change is told at its time"
run voice-state -w -n 3 events
is "$(lines "$out")" 3 "-n 3 ends -w after three lines"
for form in line json; do
  run voice-state -w -n 1 -o "$form" two
  is "$(lines "$out")" 1 "-n 1 ends -w amid what one record brings: $form"
done
run voice-state -w -o json events
is "$(lines "$out")" 2 "-w -o json prints every state"
run voice-state -W 100 --panel tools running
out_like 'star_chart' "a tool that runs is shown, though no state holds it"
run voice-state -w -o waybar running
is "$(tail -n 1 "$out" | jq -c .class)" '["processing","tool"]' \
  "a bar shows a tool that runs, though no state holds it"

# Only events: sessions are rebuilt.
jq -c 'select(.event == "voice_event")' events | sed '$d' >only
t 0 "events alone are enough" voice-state -W 100 only
out_like 'Zoe' "events alone tell who is there"
run voice-state -w only
out_like 'begins|now: ' "a session begins with its first event"
jq -c .data only >rows
run voice-state -w rows
out_like 'Zoe: good evening' "bare actions are read by -w"
jq -s 'map(.data) | reverse' only >list
t 0 "a list of actions is read by -w" voice-state -w list

{ cat only; tail -n 1 events; head -n 1 only; } >late
run voice-state -w late
is "$(grep -c ' begins: \| now: ' "$out") $(tail -n 1 "$out" | cut -d' ' -f3-)" "1 ends: inactivity_timeout" \
  "an event that comes late begins nothing anew"

# A sound is told once, by its event or the state after it, whichever is first.
for second in 06.000 06.004 09.000; do
  printf '{"activeCount":1,"sessions":[{"sessionId":"s","soundboard":{"lastPlayedAt":"2026-06-15T21:00:%sZ"}}]}\n' $second
done | sed '1s/"soundboard.*/"soundboard":null}]}/' >sounds
sed -i '1a\
{"kind":"voice_soundboard_play","content":"x","createdAt":"2026-06-15T21:00:06.000Z","metadata":{"sessionId":"s"}}' sounds
run voice-state -w sounds
is "$(cut -d' ' -f3- "$out" | sed 1d)" "plays a sound
plays a sound" "a sound is told once"

# A recording with its pace.
start_at=$(date +%s%N)
run voice-state -w --speed 10 events
took=$((($(date +%s%N) - start_at) / 1000000))
ok "--speed waits as long as it was: $took ms" test "$took" -ge 450 -a "$took" -lt 5000

# Bad lines are told and passed over.
{ echo '{"cut":'; cat wrapped; echo 'no json'; echo '17'; echo '"text"'; echo '{"event":"voice_state","id":"","data":{"sessions":17}}'; printf '\n  \n'; } >bad
yes junk | head -n 23 >junk
for watch in "" -w; do
  # shellcheck disable=SC2086  # an option or none
  run voice-state $watch -o line junk
  is "$(lines "$err")" 11 "of many bad lines ten are named: $watch"
  is "$(tail -n 1 "$err")" "voice-state: 13 more bad lines" \
    "bad lines after the tenth are counted: $watch"
done
t 2 "bad lines have status 2" voice-state -o line bad
out_like 'processing · Kei talks' "the good record beside bad lines is shown"
err_like '^voice-state: bad:1: ' "the message on a bad line has its number"
err_like '^voice-state: bad:3: ' "a later bad line is told with its number"
is "$(lines "$err")" 4 "each of four bad lines is told once and nothing else is"
# A word that is none, deep in a session: nothing of it is passed on.
sed 's/"guildId": "[0-9]*"/"guildId": nope/' wrapped >word
run voice-state -o json word
is "$status $(lines "$out")" "2 0" "what is not JSON is not passed on"
err_is "voice-state: word:1: a word without quotes" \
  "a record that is not JSON is told as a bad line"
head -c 3000 wrapped >half
t 2 "a record that is cut off is an error" voice-state half
err_one_line voice-state "a record that is cut off is told in one line"

# Text that means harm reaches no terminal, in no form.
cat >harmless.pl <<'END'
undef $/;
my $text = <STDIN>;
$text =~ s/\x1b\[[0-9;]*m//g;
exit($text =~ /[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]|\xd8\x9c|\xef\xbb\xbf/ ? 1 : 0);
END
python3 - "$voice/full.json" >hostile <<'END'
import json, sys
bad = ["\x1b[2J\x1b]0;x\x07", "\x9b31m\x90q\x9c", "\x7f\x00\x08\r\n\x0b", "\u202egpj\u2066x\u2069", "\u2028\u061c\u200e\ufeff", "\ud800", "<b>&#\"'"]
def spoil(value, text):
    if isinstance(value, dict):
        return {key: value[key] if key in ("sessionId",) else spoil(value[key], text) for key in value}
    if isinstance(value, list): return [spoil(item, text) for item in value]
    return text if isinstance(value, str) and not value[:4].isdigit() else value
for text in bad:
    print(json.dumps(spoil(json.load(open(sys.argv[1])), text)))
    print(json.dumps({"kind": "voice_runtime", "content": "openai_realtime_transcript", "createdAt": "2026-06-15T21:00:06.000Z", "userId": text,
      "metadata": {"sessionId": text, "transcript": text, "speakerName": text, "eventType": text}}))
    print(json.dumps({"kind": "voice_session_start", "content": text, "createdAt": text, "guildId": text, "metadata": {"sessionId": text, "mode": text}}))
    print(json.dumps({"kind": "voice_runtime", "content": "realtime_tool_call_failed", "metadata": {"sessionId": text, "callId": text, "toolName": text, "error": text}}))
    print(json.dumps({"type": "lost", "reason": text, "retry_in": 1}))
END
for options in "-o text" "-o text --color always -W 40" "-w" "-w -o waybar" "-w -o tmux" "-w -o i3" "-o line"; do
  # shellcheck disable=SC2086  # several words
  t 0 "hostile text does no harm with '$options'" voice-state $options hostile
  ok "nothing of hostile text is obeyed with '$options'" perl harmless.pl <"$out"
done
run voice-state -w -o waybar hostile
is "$(jq -r 'select(.text == null or .class == null) | "bad"' "$out")" "" \
  "what is printed of hostile text for waybar is JSON"
unlike "$(jq -r '.text, .tooltip' "$out")" '<b>' "markup in hostile text is left out for waybar"
run python3 "$cli/terminal.py" voice-state -o json hostile
ok "json on a terminal shows no control, either" perl -e 'undef $/; $_ = <STDIN>; exit(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]/ ? 1 : 0)' <"$out"

# A full disk, and a reader that goes away.
if [ -w /dev/full ]; then
  t 2 "a full disk is an error" sh -c 'voice-state two >/dev/full'
  err_one_line voice-state "a full disk is told in one line"
else
  skip 2 "no /dev/full"
fi
# The input stays open: what ends it is the reader.
mkfifo held
start reader sh -c '{ voice-state -w - <held; echo $? >status; } | head -n 1'
exec 9>held
cat events >&9
ok "a reader that goes away ends voice-state at once" wait_until 30 grep -qx 141 status
exec 9>&-

done_testing
