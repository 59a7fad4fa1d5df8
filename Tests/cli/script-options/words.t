#!/bin/sh
# What script-options makes of a script's words and its help.
. "${0%/*}/../lib.sh"

cat >"$tmp/try" <<'END'
#!/bin/sh
set -u
{ words=$(script-options try "$@") || exit; } <<'HELP'
usage: try [-aqhV] [-k KIND,...] [-o FORM] [-p NAME] [FILE ...]
Try what script-options does ("it's $HOME").

  -a, --all-of-it          everything
  -k, --kind KIND,...      of these kinds
  -n, --names NAME,...     these names
  -o, --output FORM        table, tsv or json (default: $FORM)
  -p, --profile NAME       use this profile
  -q, --quiet              print nothing
      --state FILE         kept there
  -h, --help               print this help
  -V, --version            print the version
      --completions SHELL  completions for bash, zsh or fish, or the option list
HELP
eval "$words"
printf '%s|' "$all_of_it" "$kind" "$names" "$output" "$profile" "$quiet" "$state" "$@"
END
cat >"$tmp/more" <<'END'
#!/bin/sh
set -u
{ words=$(script-options --ask action-filter more "$@") || exit; } <<'HELP'
usage: more [-hV] [-p NAME,...] [OPTION ...] [-- FORMAT-OPTION ...]
Try what script-options does with the options of a command.

  -p, --profile NAME,...   use these profiles
      --state FILE         kept there
  -h, --help               print this help
  -V, --version            print the version
      --completions SHELL  completions for bash, zsh or fish, or the option list

Other options are those of action-filter without --output, --count;
after -- those of action-format.
HELP
eval "$words"
printf '%s|' "$profile" "$state" "$@"
END
chmod +x "$tmp/try" "$tmp/more"
PATH=$tmp:$PATH

# --- words
while IFS='@' read -r words want; do
  eval "run $words"
  is "$status $(cat "$out" "$err")" "0 $want" "these words are taken: $words"
done <<'END'
try@|||||||
try -qa@1|||||1||
try -qojson a b@|||json||1||a|b|
try a --out tsv b --all@1|||tsv||||a|b|
try -k a -k b,c --kind=d@|a,b,c,d||||||
try -n ' a , b' -n b,c,c@||a,b,c|||||
try -o json -o tsv -p x -p x@|||tsv|x|||
try -- -q --no@|||||||-q|--no|
try "it's" 'a b' '$(id)' '`id`' '\' ''@|||||||it's|a b|$(id)|`id`|\||
try --state "'; echo x; '"@||||||'; echo x; '|
try -@|||||||-|
more -p a,b -p b --max-count 3 -ua -- --color never -x@a,b||-n|3|-u|-a|--|--color|never|-x|
more --since=1h -v -- @||-S|1h|-v|--|
END

run try --state "a
b

c"
is "$(cat "$out")" "||||||a
b

c|" "lines stay lines"
run try "$(printf '\351.txt')"
is "$(od -An -tx1 "$out" | tr -d ' \n')" 7c7c7c7c7c7c7ce92e7478747c "a name is its bytes, whatever these are"

# --- mistakes: the problem in the script's name, and its usage
while IFS='@' read -r words want; do
  eval "run $words"
  is "$status $(head -n 1 "$err")" "2 ${words%% *}: $want" "these words are refused: $words"
  out_empty "nothing is printed: $words"
  is "$(sed 1d "$err" | cut -d ' ' -f 1,2)" "usage: ${words%% *}" "the usage is shown: $words"
done <<'END'
try -Z@unknown option -Z
try --quite@unknown option --quite: did you mean --quiet?
try --json@unknown option --json: did you mean --output json?
try -o@option -o needs an argument: FORM
try --kind@option --kind needs an argument: KIND,...
try --quiet=1@option --quiet takes no argument
try -o tabel@--output tabel: not table, tsv or json: did you mean table?
try -p ''@option --profile: nothing is named
try -n a,,b@--names a,,b: an empty name
try -p a -p b@one profile at a time: b
try --completions tcsh@--completions tcsh: not bash, zsh, fish or list
more x -- y@x: one word too many
more -- y@y: one word too many
more --errors@unknown option --errors: did you mean --domain error?
more --sinse 1h@unknown option --sinse: did you mean --since?
more --count@unknown option --count
more -k@option -k needs an argument: KIND,...
more -- --colro x@unknown option --colro: did you mean --color?
END
run sh -c 'echo "those of no-such-command" | script-options --ask no-such-command x'
is "$status $(cat "$err")" "2 x: no-such-command is not in PATH" "a command that is not there is named"
run env PATH=/nonexistent /bin/sh "$tmp/try"
isnt "$status" 0 "a missing script-options ends the script"
err_like 'script-options' "a missing script-options is named"
run script-options
is "$status $(head -n 1 "$err")" "2 script-options: which script?" "a name is needed"

# --- answers
run try --help
sed -n '/^usage/,/^HELP/p' "$tmp/try" | sed '$d' >"$tmp/want"
ok "the help is as it stands there" cmp "$out" "$tmp/want"
run try -qVh
like "$(cat "$out")" '^try [0-9.]*$' "the first of both is answered"
run try --completions list
is "$(sed -n '1p;$p' "$out" | paste -s -d '|' -)" "-a --all-of-it -|- --state FILE" "the option list has all options"
is "$(more --completions list | wc -l | tr -d ' ')" 5 "the list leaves out those of another command"
is "$(try --completions words -o js | cut -f 1 | xargs)" "table tsv json" "an argument completes to its words"
is "$(try --completions words --state x)" ":file" "a FILE completes to files"
like "$(more --completions words -k '' | xargs)" 'llm_call' "an option completes as that of the command that is asked"
like "$(more --completions words x -- --col | cut -f 1 | xargs)" ' --color ' "words behind -- complete as those of the other command"
printf '[profile home]\nurl = http://127.0.0.1:9\n' >"$XDG_CONFIG_HOME/agentutils/config"
is "$(try --completions words -p '')" home "a profile completes to those that are configured"

# --- what the functions do
cat >"$tmp/does" <<'END'
#!/bin/sh
set -u
{ words=$(script-options does "$@") || exit; } <<'HELP'
usage: does WHAT [WORD ...]
Do it.
HELP
eval "$words"
case $1 in
name) echo "$AGENTUTILS_PROGRAM" && exec action-filter --no-such ;;
sleep)
  scratch
  echo "$dir"
  sleep 5 &
  wait
  ;;
esac
what=$1
shift
"$what" "$@"
END
chmod +x "$tmp/does"
odd=$(printf 'a\033[31m\n\302\233\342\200\256\303\274\377')
run does tell "$odd"
err_is "does: a?[31m???ü?" "a message is one line, and harmless"
run does tell_person no
err_empty "what is for a person is not said in a pipe"
run python3 "$cli/terminal.py" "$tmp/does" tell_person no
is "$(tr -d '\r' <"$out")" "does: no" "what is for a person is told at a terminal"
run does fail no 77
is "$status $(cat "$err")" "77 does: no" "a failure has a status"
run does misused no
is "$status $(cat "$err")" "2 does: no
usage: does WHAT [WORD ...]" "a misuse shows the usage"
run does name
is "$(cat "$out") $(cat "$err")" "does does: unknown option --no-such" "the commands speak in its name"
run env AGENTUTILS_PROGRAM=outer does tell no
err_is "outer: no" "a script that another runs speaks in that one's name"
if [ -c /dev/full ]; then
  run sh -c 'echo x | does give >/dev/full'
  is "$status $(cat "$err")" "2 does: standard output: no space left on device" "a full disk is told"
fi
run sh -c 'echo x | does give'
is "$status $(cat "$out")" "0 x" "what is given is printed"
run sh -c 'printf "%s\n" "$1" | script-options --visible' sh "$odd"
is "$(cat "$out")" "a?[31m
??ü?" "text is made visible line by line"
TMPDIR=$tmp/scratch
export TMPDIR
mkdir "$TMPDIR"
run does scratch
is "$status $(ls -A "$TMPDIR")" "0 " "the folder goes with the script"
for signal in HUP INT QUIT TERM; do
  start does does sleep
  wait_until 20 test -s "$tmp/does.out"
  stop "$pid" "$signal"
  is "$(kill -l "$status") $(ls -A "$TMPDIR")" "$signal " "the folder goes with $signal, which ends the script"
done
cat >"$tmp/goes" <<'END'
#!/bin/sh
set -u
{ words=$(script-options goes "$@") || exit; } <<'HELP'
usage: goes [-p NAME,...] [WORD ...]
Go on.

  -p, --profile NAME,...   these
HELP
eval "$words"
names=
row() { echo '{"id":1}' | named; }
told() { echo "it reads $(cat "$names")" >&2; }
case $1 in
interrupt)
  scratch
  interrupted() { echo interrupted; }
  (known self sleep 20) &
  echo begun
  wait "$!"
  kill "$(cat "$dir/self")"
  wait "$!"
  ;;
steady)
  (
    steady
    sh -c 'kill -INT $PPID; kill -HUP $PPID'
    echo steady
  )
  ;;
folder_in) folder_in "$2" "$3" ;;
plain_fzf)
  plain_fzf
  echo "$FZF_DEFAULT_OPTS${FZF_DEFAULT_COMMAND-}"
  ;;
rows) each_profile row ;;
names)
  scratch
  ask_names told
  echo "goes on"
  ;;
esac
END
chmod +x "$tmp/goes"
start goes goes interrupt
wait_until 20 has "$tmp/goes.out" begun
wait_until 20 sh -c "test -s '$TMPDIR'/goes.*/self"
stop "$pid" INT
is "$status $(xargs <"$tmp/goes.out")" "143 begun interrupted" \
  "a script with interrupted goes on after an interrupt, and ends whom it knows"
is "$(ls -A "$TMPDIR")" "" "the folder of an interrupted script goes as well"
run goes steady
out_is steady "what is steady ignores an interrupt and a hangup"
is "$(goes folder_in /a .b) $(goes folder_in a .b)" "/a/agentutils $HOME/.b/agentutils" \
  "a folder is in a place that is absolute, or else in the home"
run env -u HOME goes folder_in a .b
is "$status$(cat "$out")" 1 "without a home there is no folder"
run env FZF_DEFAULT_OPTS='--exact --color=fg:1 --color=$(id)' FZF_DEFAULT_COMMAND=x goes plain_fzf
out_is "--color=fg:1 " "of the settings for fzf only colors are kept"
run goes rows
out_is '{"id":1}' "a row is as it was where no profile is named"
run goes -p 'a,b"\&/' rows
is "$(cat "$out")" '{"id":1,"profile":"a"}
{"id":1,"profile":"b\"\\&/"}' \
  "rows of several profiles have the name of theirs"
printf '#!/bin/sh\necho "{\\"to\\":\\"${2-}\\"}"\n' >"$tmp/agent-call"
chmod +x "$tmp/agent-call"
run env PATH="$tmp:$PATH" goes -p a,b names
is "$status $(cat "$err" "$out")" '2 it reads {"to":"a","profile":"a"}
{"to":"b","profile":"b"}' "the names of all profiles are asked for, and what is said of them is told"
printf '#!/bin/sh\nexit 1\n' >"$tmp/agent-call"
run env PATH="$tmp:$PATH" goes -p a names
is "$status $(cat "$err" "$out")" "0 goes on" "agents that tell no names do not stop a script"
run env TMPDIR="$tmp/none" does scratch
is "$status $(cat "$err")" "2 does: $tmp/none: no folder can be made" "a folder that cannot be made is told"
run sh -c 'script-options --give -- "a  b" >&-'
is "$status $(cat "$err")" "2 script-options: standard output: bad file descriptor" "a closed output is told"
run sh -c 'script-options --tell "$1"' sh "$(printf 'x\033y')"
err_is "script-options: x?y" "a message needs no script"
done_testing
