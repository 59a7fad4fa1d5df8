#!/bin/sh
# clip-transcribe --command: a recogniser on this machine.
. "${0%/*}/../lib.sh"
needs clip-transcribe jq

wav="$tmp/-a \$(touch made) clip.wav"
printf 'RIFF\044\000\000\000WAVEfmt rest' >"$wav"
# shellcheck disable=SC2016  # for its own shell
hear() { run clip-transcribe --command "$@"; }

hear 'wc -c <"$1"; echo bytes' "$wav"
status_is 0 "a recogniser gets the file"
out_is "20 bytes" "a recogniser's words are one line"
cd "$tmp" || bail "no folder"
hear 'cat "$1"; echo "$1"' -- "-a \$(touch made) clip.wav"
out_like './-a \$\(touch made\) clip.wav$' "a file's name is not taken for an option"
[ ! -e made ]
is "$?" 0 "no command is made of a file's name"
run sh -c 'clip-transcribe --command "wc -c <\"\$1\"; ls -ld \"\${1%/*}\" | cut -c 1-10; echo \"\$1\"" <"$1"' - "$wav"
out_like '^20 drwx------ .*/clip\.[^/]*/clip\.wav$' "a clip of a pipe gets a name, for us alone"
[ ! -e "$(cut -d' ' -f3- "$out")" ]
is "$?" 0 "a clip of a pipe is gone afterwards"
hear 'printf " \n "' "$wav"
status_is 1 "words that are blank have status 1"
hear 'printf "red \033[31m"' "$wav"
out_is 'red \e[31m' "what a terminal would obey is made visible"
hear 'echo half; exit 3' "$wav"
status_is 2 "a recogniser that fails is an error"
out_empty "no words of a recogniser that fails are printed"
err_is "clip-transcribe: --command: ended with status 3" \
  "the message tells the status of a recogniser that fails"
hear 'kill -9 $$' "$wav"
err_is "clip-transcribe: --command: ended by signal 9" \
  "the message tells the signal that ended a recogniser"
hear 'yes' "$wav"
status_is 2 "a recogniser that says too much is an error"
hear 'sleep 1000' --timeout 0.3 "$wav"
status_is 75 "a recogniser that says nothing has status 75"
hear 'no-such-program' "$wav"
status_is 2 "a command that does not exist is an error"
t 2 "--command and a server exclude each other" clip-transcribe --command 'cat "$1"' -p ears "$wav"
run clip-transcribe --command 'echo hello' -o json "$wav"
is "$(jq -r '[.type, .text, .format, .bytes] | join(" ")' "$out")" "transcript hello wav 20" "a record can be printed"
start ears clip-transcribe --command 'echo $$ >pid; sleep 1000' "$wav"
wait_until 10 test -s pid
is "$?" 0 "the recogniser is at work"
stop "$pid"
is "$status" 143 "a signal ends clip-transcribe"
wait_until 10 gone "$(cat pid)"
is "$?" 0 "the recogniser ends with clip-transcribe"

hear 'exec >&-; sleep 1000' --timeout 0.3 "$wav"
status_is 75 "a recogniser that goes on without an output has status 75"
hear 'sleep 30 & echo $! >left; echo hello' --timeout 10 "$wav"
status_is 0 "a recogniser that leaves something running has status 0"
out_is hello "the words of a recogniser that leaves something running are printed"
kill "$(cat left)"
mkfifo pipe
cat "$wav" >pipe &
hear 'wc -c <"$1"' --timeout 10 pipe
out_is 20 "a named pipe is read once"
mkdir scratch
mkfifo live
start live env TMPDIR="$tmp/scratch" clip-transcribe --command 'echo >heard; sleep 1000' live
cat "$wav" >live
wait_until 10 test -s heard
isnt "$(ls scratch)" "" "a clip that comes by a pipe has a file meanwhile"
stop "$pid"
is "$status $(ls scratch)" "143 " "a signal takes the file of a clip away, too"

done_testing
