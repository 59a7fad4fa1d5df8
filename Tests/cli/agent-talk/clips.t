#!/bin/sh
# agent-talk: recorders and what they leave, voice servers, the text in a pipe, mistakes.
# shellcheck disable=SC2154  # of ssh.sh and talk.sh
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
. "${0%/*}/talk.sh"
terminal="python3 $cli/terminal.py"

# --- a clip of which the recorder did not know the end
copy="cp \"\$1\" '$tmp/heard.wav'; echo ok"
# recorded COMMAND: what is heard of it.
recorded() {
  rm -f "$tmp/heard.wav"
  # shellcheck disable=SC2086,SC2016  # words; for its own shell
  run $terminal sh -c 'agent-talk --command "$1" --recorder "$2" >"$3"' - "$copy" "$1" "$tmp/printed"
}
# sizes: frames, and whether the first size is that of the file.
sizes() {
  python3 - "$tmp/heard.wav" <<'END'
import os, struct, sys, wave
with open(sys.argv[1], "rb") as file:
    riff = struct.unpack("<4sI", file.read(8))[1]
print(wave.open(sys.argv[1]).getnframes(), riff + 8 == os.path.getsize(sys.argv[1]))
END
}
python3 - "$tmp" <<'END'
import struct, sys
loud = open(f"{sys.argv[1]}/loud.wav", "rb").read()
listed = loud[:36] + b"LIST" + struct.pack("<I", 5) + b"odd__\0" + loud[36:]
def clip(name, head, size, rest=b""):
    data = head.index(b"data") + 4
    with open(f"{sys.argv[1]}/{name}.wav", "wb") as file:
        file.write(head[:4] + struct.pack("<I", size) + head[8:data] + struct.pack("<I", size)
                   + head[data + 4:] + rest)
clip("unknown", loud, 0)
clip("largest", loud, 0xffffffff)
clip("listed", listed, 0x7fffffff)
clip("short", loud[:len(loud) // 2], len(loud) - 44)
clip("more", loud, len(loud) - 44, b"LIST\4\0\0\0abcd")
END
for clip in unknown largest listed; do
  recorded "cat '$tmp/$clip.wav'"
  is "$(sizes)" "32000 True" "$clip: the sizes in the clip are mended"
done
recorded "cat '$tmp/short.wav'"
is "$(sizes)" "15989 True" "a clip that was cut off has the sizes of what there is"
for clip in loud more; do
  recorded "cat '$tmp/$clip.wav'"
  ok "$clip: sizes that are true stay" cmp "$tmp/heard.wav" "$tmp/$clip.wav"
done
{ printf 'OggS\000\002' && head -c 100 /dev/zero; } >"$tmp/clip.ogg"
recorded "cat '$tmp/clip.ogg' >\"\$1\""
ok "another format is left alone, and \$1 is the clip" cmp "$tmp/heard.wav" "$tmp/clip.ogg"

# --- the recorders that are looked for
mkdir "$tmp/tools"
for tool in sh awk cat cp cut date dd grep head kill mkdir mktemp od ps python3 rm sed \
  sleep stty tail tr wc clip-transcribe tmux-attach agent-talk script-options; do
  ln -s "$(command -v "$tool")" "$tmp/tools/$tool"
done
cat >"$tmp/tools/rec" <<END
#!/bin/sh
echo "\${0##*/} \$*" >'$tmp/called'
for last; do :; done
case \${0##*/} in
pw-record) exec cat '$tmp/loud.wav' >"\$last" ;;
*) exec cat '$tmp/loud.wav' ;;
esac
END
chmod +x "$tmp/tools/rec"
found() {
  # shellcheck disable=SC2086  # words
  run $terminal env PATH="$tmp/tools" agent-talk --command "$copy" .
}
while read -r name want; do
  [ "$name" = rec ] || cp "$tmp/tools/rec" "$tmp/tools/$name"
  found
  is "$status $(sed "s,$tmp/tools/,,; s,/[^ ]*/clip.wav,CLIP," "$tmp/called")" "0 $want" "$name is found"
  ok "$name is heard" cmp "$tmp/heard.wav" "$tmp/loud.wav"
done <<'END'
rec rec -q -t wav -r 16000 -c 1 -b 16 -
pw-record pw-record --rate 16000 --channels 1 --format s16 CLIP
arecord arecord -q -t wav -f S16_LE -r 16000 -c 1
END
rm "$tmp/tools/rec" "$tmp/tools/pw-record" "$tmp/tools/arecord"
found
status_is 2 "a missing recorder is an error"
out_like 'agent-talk: no arecord, pw-record or rec \(sox\) in PATH; or name another with --recorder' "the message names the recorders"

# --- a voice server, a pipe
clear_prompt
printf '%064d\n' 1 >"$tmp/secret"
chmod 600 "$tmp/secret"
echo '{"body":"{\"transcript\":\"hello there\"}"}' >"$tmp/answers"
start_server ears python3 "$cli/servers/riff.py" --secret "$tmp/secret" --log "$tmp/log" \
  --answers "$tmp/answers"
printf '[profile ears]\nkind = riff\nurl = %s\nsecret-file = %s\n' "$url" "$tmp/secret" \
  >>"$XDG_CONFIG_HOME/agentutils/config"
for words in '-p ears' -pears '--profile ears' --profile=ears; do
  # shellcheck disable=SC2086  # words
  run $terminal sh -c "agent-talk $words --recorder 'cat \"$tmp/loud.wav\"' >'$tmp/printed'"
  is "$status $(cat "$tmp/printed")" "0 hello there" "the text is printed into a file with $words"
done
t 2 "a full disk is an error" \
  $terminal sh -c "agent-talk -p ears --recorder 'cat \"$tmp/loud.wav\"' >/dev/full"
out_like 'agent-talk: not printed: hello there' "a full disk does not lose the words"
is "$(jq -s 'map(select(.signed and .bytes == 64044)) | length' "$tmp/log")" 5 \
  "each clip was sent whole"
ok "none of the texts was typed" session_empty
echo '{"status":401,"body":"{}"}' >"$tmp/answers"
# shellcheck disable=SC2086
TMPDIR=$tmp/scratch run $terminal sh -c "agent-talk -p ears --recorder 'cat \"$tmp/loud.wav\"' | cat; :"
out_like "agent-talk: kept $tmp/scratch/.*/clip.wav, to try again" "a refusal does not lose the clip"
echo '{"body":"{\"transcript\":\"after all\"}"}' >"$tmp/answers"
run clip-transcribe -p ears "$tmp"/scratch/*/clip.wav
out_is "after all" "clip-transcribe hears the clip that was kept"
# shellcheck disable=SC2086
run $terminal env -u HOME -u XDG_STATE_HOME agent-talk --command 'echo homeless' \
  --recorder "cat '$tmp/loud.wav'" -- .
like "$(cat "$out")" homeless "agent-talk works without a home"

mkdir "$tmp/relative"
# shellcheck disable=SC2086
run $terminal sh -c 'cd "$1" && XDG_STATE_HOME=here agent-talk --command "echo relative" --recorder "cat \"$2\"" -- .' \
  - "$tmp/relative" "$tmp/loud.wav"
is "$(grep -c relative "$out") $(ls -A "$tmp/relative")" "1 " "a relative XDG_STATE_HOME counts for nothing"

# --- mistakes are told first
while IFS='|' read -r words want; do
  # shellcheck disable=SC2086  # words
  t 2 "agent-talk $words is refused" agent-talk $words --recorder "touch '$tmp/begun'"
  is "$(head -n 1 "$err")" "agent-talk: $want" "the message says why: $words"
done <<'END'
-p x --command y|--profile and --command: one of them hears the clip
--seconds 0|--seconds 0: not a whole number from 1 to 600
--seconds 601|--seconds 601: not a whole number from 1 to 600
--seconds 1.5|--seconds 1.5: not a whole number from 1 to 600
--profile=|option --profile: nothing is named
--sesion x box|unknown option --sesion: did you mean --session?
END
printf '[profile open]\nkind = riff\nurl = %s\nsecret-file = %s\n' "$url" "$tmp/none" \
  >>"$XDG_CONFIG_HOME/agentutils/config"
for words in '-p nosuch' '-p nosuch .'; do
  # shellcheck disable=SC2086  # words
  t 2 "agent-talk $words is refused at a terminal" \
    $terminal agent-talk $words --recorder "touch '$tmp/begun'"
  out_like '^agent-talk: profile nosuch: not in ' "the message names the profile: $words"
done
t 77 "a profile without its secret is refused" \
  $terminal agent-talk -p open --recorder "touch '$tmp/begun'"
out_like "^agent-talk: .*$tmp/none" "the message names the secret"
run agent-talk --recorder
err_like '^agent-talk: option --recorder needs an argument: COMMAND$' "an option without its argument is refused"
t 2 "agent-talk needs a terminal" \
  perl -MPOSIX -e 'POSIX::setsid(); exec @ARGV' agent-talk --command : --recorder "touch '$tmp/begun'" .
err_is "agent-talk: no terminal: a key ends the recording" "the message asks for a terminal"
not_ok "nothing was recorded of what was refused" test -e "$tmp/begun"
done_testing
