#!/bin/sh
# What all commands that are shell scripts have in common: help and version anywhere,
# and mistakes that are told under the script's own name.
. "${0%/*}/../lib.sh"

suite=$(sse-tail -V | sed 's/.* //')
bare() { run env -u HOME -u XDG_STATE_HOME -u XDG_CONFIG_HOME -u XDG_DATA_HOME "$@"; }
found=0
for file in "$root"/bin/*; do
  [ "$(head -c 9 "$file")" = '#!/bin/sh' ] || continue
  found=$((found + 1))
  name=${file##*/}
  for option in -h --help; do
    bare "$name" "$option"
    status_is 0 "$name $option works without a home"
    like "$(head -n 1 "$out")" "^usage: $name( |\$)" "$name $option shows the usage"
    err_empty "$name $option says nothing else"
  done
  for option in -V --version; do
    bare "$name" "$option"
    is "$status $(cat "$out" "$err")" "0 $name $suite" \
      "$name $option prints the version without a home"
  done
  for words in -h -V; do
    if [ -c /dev/full ]; then
      # shellcheck disable=SC2016  # for sh to expand
      t 2 "$name $words: a full disk is an error" sh -c '"$0" "$1" >/dev/full' "$name" "$words"
      like "$(cat "$err")" "^$name: standard output: (no space left on device|I/O error)\$" "$name $words: the message says that the disk is full"
    fi
    # A pipe whose reader is gone before it starts.
    # shellcheck disable=SC2016
    run perl -e 'pipe(my $r, my $w); close $r; open(STDOUT, ">&", $w); close $w;
      $SIG{PIPE} = "DEFAULT"; exec @ARGV' "$name" "$words"
    is "$status$(cat "$err")" 141 "$name $words: a closed pipe ends it by SIGPIPE"
  done
  # These are claude's.
  [ "$name" != riff-claude ] || continue
  for words in -hV -Vh; do
    bare "$name" "${words%?}"
    cp "$out" "$tmp/alone"
    run "$name" "$words"
    ok "$name $words: letters stand together" cmp -s "$out" "$tmp/alone"
  done
  for option in -Z --no-such; do
    t 2 "$name $option is refused" "$name" "$option"
    like "$(head -n 1 "$err")" "^$name: unknown option $option\$" \
      "$name names the unknown option $option"
    is "$(sed -n '2,$p' "$err" | cut -d ' ' -f 1,2)" "usage: $name" \
      "$name shows its usage behind an unknown option"
  done
done
is "$found" "$(make -s -C "$root" recipes | wc -w | tr -d ' ')" "all scripts were tried"

# Letters in front of one with an argument, and what is no letter.
while IFS='|' read -r words want; do
  # shellcheck disable=SC2086  # words
  t 2 "$words is refused" $words
  is "$(head -n 1 "$err")" "${words%% *}: $want" "${words%% *} tells what is wrong with $words"
done <<END
agent-cost -qS|option -S needs an argument: TIME
agent-state -vvZ|unknown option -Z
END

# No operands behind -- are as good as none at all, and an option there is a word.
for name in agent-setup agent-status riff-up riff-worktree-remove; do
  run "$name" -- </dev/null
  unlike "$(cat "$err")" 'unknown option' "$name -- has no unknown option"
  t 2 "$name -- -Z takes an operand" "$name" -- -Z --no-such end
  unlike "$(cat "$err")" 'unknown option' "$name -- -Z names no unknown option"
done

# Words are shown as they are, whatever a shell's echo makes of them, and on one line.
for name in agent-cost agent-talk bus-up riff-up; do
  run "$name" "--$(printf 'a\\057b\033[31m\n\302\233c\342\200\256\342\200\213\342\201\246\303\274\233\330\234\357\273\277\355\240\200\357\277\271\363\240\201\201\341\240\216')"
  is "$(head -n 1 "$err")" "$name: unknown option --a\\057b?[31m??c???ü?????????" "$name shows a hostile option harmless"
done
# What goes wrong inside is told under the script's name, too.
cat >"$XDG_CONFIG_HOME/agentutils/config" <<'END'
[profile home]
url = http://127.0.0.1:9
[profile work]
url = http://127.0.0.1:9
[host box]
hostname = 127.0.0.1
END
while IFS='|' read -r words want; do
  # shellcheck disable=SC2086  # words
  t 2 "$words is refused" $words </dev/null
  is "$(head -n 1 "$err")" "${words%% *}: $want" "${words%% *} tells what is wrong: $words"
  is "$(sed 1d "$err" | grep -v "^usage: ${words%% *} ")" "" \
    "${words%% *} shows at most its own usage: $words"
done <<END
agent-say -s a.b box -- x|session a.b: no name for a session: . in it
agent-say --sesion x box -- x|unknown option --sesion: did you mean --session?
agent-talk --sesion x box|unknown option --sesion: did you mean --session?
agent-talk --seconds x box|--seconds x: not a whole number from 1 to 600
agent-pulse -p hmoe|profile hmoe: not in $XDG_CONFIG_HOME/agentutils/config: did you mean home?
agent-pulse -n x|--max-count x: not a whole number
agent-pulse -- --colro always|unknown option --colro: did you mean --color?
agent-archive -p wrok|profile wrok: not in $XDG_CONFIG_HOME/agentutils/config: did you mean work?
agent-archive -p home -n x|--count x: not a whole number
agent-status -p wrok|profile wrok: not in $XDG_CONFIG_HOME/agentutils/config: did you mean work?
agent-status -p home --max-time x|--max-time x: not a time: seconds, or 90s 15m 2h 3d
END
run agent-status -p home -p work -o small
is "$(cut -d ' ' -f 1 "$out" | tr '\n' ' ')" "home work " "agent-status -p may be repeated"
run agent-call -p home -p work health
err_like '^agent-call: one profile at a time: work; agent-tail follows several$' \
  "agent-call -p may not be repeated"
run agent-talk -p home --profile=work
is "$status $(head -n 1 "$err")" "2 agent-talk: one profile at a time: work" "agent-talk takes one profile"
run task list -p home --profile=work
is "$status $(head -n 1 "$err")" "2 task: one profile at a time: work; tasks are on one server" \
  "task list takes one profile, too"
rm "$XDG_CONFIG_HOME/agentutils/config"
for command in agent-pulse agent-status agent-archive 'agent-call health' 'sse-tail activity' agent-tail; do
  # shellcheck disable=SC2086  # words
  run $command </dev/null
  like "$(cat "$err")" "^${command%% *}: (activity: )?no url: run agent-setup, or set AGENT_URL" \
    "$command without a profile names agent-setup"
done

run riff-up -s 'a\057.b'
err_is 'riff-up: session a\057.b: no name for a session' "a hostile session is refused"
bare riff-up -L example
is "$status $(cat "$err")" "2 riff-up: no home: name a directory with -d" \
  "riff-up needs a home to start in"
t 2 "an option without its argument is refused" riff-up -L
like "$(head -n 1 "$err")" '^riff-up: option -L needs an argument$' "the message names the option"
done_testing
