#!/bin/sh
# Every option is the same in the table, --help, the completions and the manual, is
# used in some test of the command, and has the letter that it has everywhere.
. "${0%/*}/../lib.sh"

cd "$root" || bail "no $root"

# uses COMMAND: of the test read from standard input, what stands behind the name of the
# command, or of a function of the test that runs it, up to the next pipe.
uses() {
  awk '/\\$/ { printf "%s", substr($0, 1, length($0) - 1); next } { print }' >"$tmp/whole"
  names=$1
  known=
  while [ "$names" != "$known" ]; do
    known=$names
    names="$1$(awk -v names="$known" '
      /^[a-z_0-9]+\(\) *[{(]/ { name = $0; sub(/\(.*/, "", name); inside = 1 }
      inside && $0 ~ ("(^|[^a-zA-Z_-])(" names ")([^a-zA-Z_-]|$)") && !seen[name]++ {
        printf "|%s", name
      }
      /^[})]/ || /\(\) *[{(].*}$/ { inside = 0 }' "$tmp/whole")"
  done
  awk -v name="(^|[^a-zA-Z_-])($names)([^a-zA-Z_-]|$)" '{
    while (match($0, name)) {
      $0 = substr($0, RSTART + RLENGTH - 1)
      words = $0
      sub(/\|.*/, "", words)
      print words
    }
  }' "$tmp/whole"
}

for command in $(make -s -C "$root" commands); do
  [ -x "bin/$command" ] || continue
  ok "options of $command agree everywhere" sh Tests/lint/options "$command"
  "$command" --completions list >"$tmp/list"
  sed "s/^/$command /" "$tmp/list" >>"$tmp/letters"

  # The tests of a command are the files that name it, and what they share; the demo is
  # run by one. Those that go over every page and table prove nothing of an option.
  # Every test has the name of the suite, in paths.
  case $command in agentutils) set -- Tests/cli/agentutils/*.t ;; *) set -- Tests/cli/*/*.t Tests/cli/*.sh Tests/demo ;; esac
  grep -l -e "$command" "$@" |
    grep -vE '/suite/(behaviour|completions|examples|options|readme)\.t$' >"$tmp/files"
  xargs cat <"$tmp/files" | uses "$command" >"$tmp/tests"
  untested=
  while read -r short long _; do
    case $long in
    --help | --version | --completions) continue ;;
    esac
    pattern="$long([ =\"')]|\$)"
    [ "$short" = - ] || pattern="$pattern| -[A-Za-z]*${short#-}[A-Za-z]*([ \"'=)]|\$)"
    grep -qE -e "$pattern" "$tmp/tests" || untested="$untested $long"
  done <"$tmp/list"
  is "$untested" "" "every option of $command is used in a test"

  t 0 "$command --version succeeds" "$command" --version
  out_like "^$command [0-9]+\.[0-9]+\.[0-9]+$" "$command --version names the command"
  t 0 "$command --help succeeds" "$command" --help
  out_like "^usage: $command" "$command --help begins with the usage"
  is "$(awk 'length > 100' "$out")" "" "$command --help fits a terminal"
  t 2 "$command --no-such-option is refused" "$command" --no-such-option
  out_empty "$command writes no usage error to standard output"
  err_like "^$command: unknown option --no-such-option$" "$command says that an option is unknown"
  err_like "^usage: $command" "the usage is shown: $command"
  is "$(lines "$err")" 2 "$command says a usage error in two lines"
done

# --- a letter means the same in every command that has it, see agentutils(7)
meanings='
c --channel
g --guild
h --help
i --identity
k --kind
L --lifecycle
l --list
n --count
o --output
P --port
p --profile
q --quiet
r --return
S --since
s --session
T --received-at
u --user
V --version
v --verbose
W --width
w --watch
'
exceptions='
action-filter -i --ignore-case  as in grep
action-filter -n --max-count    counts the same; --count is what it prints, as in grep
action-filter -u --unique       as in sort
action-filter -v --invert       as in grep
agent-approve -i --interactive  as in rm: it asks
agent-chat -i --interactive     as in sh: it talks
agent-serve -l --listen         as in nc
agent-chat -w --wait            until a gateway lets this device in
agent-tail -w --wait            the same
bus-get -s --server             as in the tools of NATS
bus-put -s --server             the same
bus-put -u --subject            what it is published under
mail-draft -n --print           it prints, and sends nothing
mail-draft -s --subject         of a mail
voice-token -k --key            the API key
voice-token -s --secret-file    its secret
'
printf '%s' "$meanings" | sed '/^$/d' >"$tmp/meanings"
printf '%s' "$exceptions" | sed '/^$/d; s/  .*//' | sort >"$tmp/exceptions"
awk '
  NR == FNR { meaning["-" $1] = $2; next }
  ($2 in meaning) && meaning[$2] != $3 { print $1, $2, $3 }' "$tmp/meanings" "$tmp/letters" |
  sort >"$tmp/others"
is "$(comm -13 "$tmp/exceptions" "$tmp/others")" "" "a letter means the same everywhere"
is "$(comm -23 "$tmp/exceptions" "$tmp/others")" "" "only the known exceptions mean something else"
# With an argument and without one, a name is two things. ws-tail is meant to have the
# letters of sse-tail, and bus-get those of bus-put.
awk '$1 != "ws-tail" && $1 != "bus-get" && $2 != "-" { print $2, $3, $4 == "-" }' "$tmp/letters" | sort | uniq -d |
  sed 's/^-//; s/ [01]$//' >"$tmp/shared"
sed 's/.* -\([A-Za-z] \)/\1/' "$tmp/exceptions" | sort -u "$tmp/meanings" - >"$tmp/known"
is "$(comm -13 "$tmp/known" "$tmp/shared")" "" \
  "a letter that several commands have is among the known ones"

awk '$2 != "-" && $1 == "sse-tail" { theirs[$2] = $3 }
  $1 == "ws-tail" && ($2 in theirs) && theirs[$2] != $3' "$tmp/letters" >"$tmp/others"
is "$(cat "$tmp/others")" "" "ws-tail has the letters of sse-tail"

# The page names the same letters, before its exceptions and in them.
sed -n '/^These options mean the same/,/^The exceptions are/s/^\.Fl \([A-Za-z]\).*/\1/p' \
  man/agentutils.7 | sort >"$tmp/page"
is "$(cat "$tmp/page")" "$(cut -d ' ' -f 1 "$tmp/meanings" | sort)" \
  "agentutils(7) lists the letters"

# Letters of earlier versions.
while read -r command words; do
  # shellcheck disable=SC2086
  t 0 "$command $words is taken as before" "$command" $words --help
done <<'END'
action-filter -w /provider=x
action-format -s
mem-pick -s x
mem-search -S
mem-search -P x
mem-search -sx -k5 -f
tmux-attach -c
tmux-attach -k x
END

done_testing
