#!/bin/sh
# Every option is the same in the table, --help, the completions and the manual,
# and is used in some test of the command.
. "${0%/*}/../lib.sh"

cd "$root" || bail "no $root"
for command in $(make -s -C "$root" commands); do
  [ -x "bin/$command" ] || continue
  ok "options of $command agree everywhere" sh Tests/lint/options "$command"

  # The tests of a command are the files that name it, and what they share; the demo is
  # run by one. Those that go over every page and table prove nothing of an option.
  grep -l -e "$command" Tests/cli/*/*.t Tests/cli/*.sh Tests/demo |
    grep -vE '/suite/(behaviour|completions|examples|options|readme)\.t$' >"$tmp/files"
  xargs cat <"$tmp/files" >"$tmp/tests"
  untested=
  while read -r short long _; do
    case $long in
    --help | --version | --completions) continue ;;
    esac
    pattern="$long([ =\"')]|\$)"
    [ "$short" = - ] || pattern="$pattern| -[A-Za-z]*${short#-}[A-Za-z]*([ \"'=)]|\$)"
    grep -qE -e "$pattern" "$tmp/tests" || untested="$untested $long"
  done <<END
$("$command" --completions list)
END
  is "$untested" "" "every option of $command is used in a test"

  run "$command" --version
  status_is 0 "$command --version"
  out_like "^$command [0-9]+\.[0-9]+\.[0-9]+$" "$command --version names the command"
  run "$command" --help
  status_is 0 "$command --help"
  out_like "^usage: $command" "$command --help begins with the usage"
  is "$(awk 'length > 100' "$out")" "" "$command --help fits a terminal"
  run "$command" --no-such-option
  status_is 2 "$command --no-such-option"
  out_empty "a usage error leaves standard output alone"
  err_like "^$command: unknown option --no-such-option$" "it says what is wrong"
  err_like "^usage: $command" "and the usage"
  is "$(lines "$err")" 2 "in two lines"
done

done_testing
