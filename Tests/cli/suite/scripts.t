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
    status_is 0 "$name $option without a home"
    like "$(head -n 1 "$out")" "^usage: $name( |\$)" "says how it is called"
    err_empty "and nothing else"
  done
  for option in -V --version; do
    bare "$name" "$option"
    is "$status $(cat "$out" "$err")" "0 $name $suite" "$name $option without a home"
  done
  # These are claude's.
  [ "$name" != riff-claude ] || continue
  for option in -Z --no-such; do
    run "$name" "$option"
    status_is 2 "$name $option"
    like "$(head -n 1 "$err")" "^$name: unknown option $option\$" "is named by $name"
    is "$(sed -n '2,$p' "$err" | cut -d ' ' -f 1,2)" "usage: $name" "and its usage follows"
  done
done
is "$found" 9 "that were all scripts"

# No operands behind -- are as good as none at all, and an option there is a word.
for name in agent-setup agent-status riff-up riff-worktree-remove; do
  run "$name" -- </dev/null
  unlike "$(cat "$err")" 'unknown option' "$name --"
  run "$name" -- -Z --no-such end
  status_is 2 "$name -- -Z"
  unlike "$(cat "$err")" 'unknown option' "that is an operand"
done

# Words are shown as they are, whatever a shell's echo makes of them, and on one line.
for name in agent-setup agent-status mem-pick riff-up; do
  run "$name" "--$(printf 'a\\057b\033[31m\n\302\233c\342\200\256\342\200\213\342\201\246\303\274')"
  is "$(head -n 1 "$err")" "$name: unknown option --a\\057b?[31m??c???ü" "$name: a hostile option"
done
run riff-up -s 'a\057.b'
err_is 'riff-up: session a\057.b: no name for a session' "a hostile session"
bare riff-up -L example
is "$status $(cat "$err")" "2 riff-up: no home: name a directory with -d" "no home to start in"
run riff-up -L
status_is 2 "an option without its argument"
like "$(head -n 1 "$err")" '^riff-up: option -L needs an argument$' "is told"
done_testing
