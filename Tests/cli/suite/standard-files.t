#!/bin/sh
# What every command owes its standard files: closed ones, full ones, and a
# reader that went away.
. "${0%/*}/../lib.sh"

for command in sse-tail action-filter action-format; do
  [ -x "$root/bin/$command" ] || continue
  if [ -c /dev/full ]; then
    # shellcheck disable=SC2016  # for sh to expand
    t 2 "$command: a full disk is an error" sh -c '"$0" --help >/dev/full' "$command"
    err_is "$command: standard output: no space left on device" "$command: and says so"
  else
    skip 2 "no /dev/full"
  fi
  # shellcheck disable=SC2016
  t 2 "$command: a closed standard output is an error" sh -c '"$0" --help >&-' "$command"
  err_like "^$command: standard output: bad file descriptor" "$command: and says so"
  # shellcheck disable=SC2016
  t 0 "$command: works without standard error" sh -c '"$0" --help 2>&- >"$1"' "$command" "$tmp/help"
  like "$(head -n 1 "$tmp/help")" "^usage: $command" "$command: and writes the same"
  # shellcheck disable=SC2016
  t 2 "$command: a diagnostic that nobody hears is no other fault" \
    sh -c '"$0" --nonsense 2>&-' "$command"
  # A pipe whose reader is gone before the command starts.
  # shellcheck disable=SC2016
  run perl -e 'pipe(my $r, my $w); close $r; open(STDOUT, ">&", $w); close $w;
    $SIG{PIPE} = "DEFAULT"; exec @ARGV' "$command" --help
  status_is 141 "$command: a closed pipe ends it by SIGPIPE"
  err_empty "$command says nothing"
  # shellcheck disable=SC2016
  run perl -e 'pipe(my $r, my $w); close $r; open(STDOUT, ">&", $w); close $w;
    $SIG{PIPE} = "IGNORE"; exec @ARGV' "$command" --help
  status_is 141 "$command: even when its parent ignores the signal"
  err_empty "$command says nothing then, either"
done

done_testing
