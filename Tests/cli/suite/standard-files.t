#!/bin/sh
# What every command owes its standard files: closed ones, full ones, and a
# reader that went away.
. "${0%/*}/../lib.sh"

for command in sse-tail action-filter action-format; do
  [ -x "$root/bin/$command" ] || continue
  if [ -c /dev/full ]; then
    # shellcheck disable=SC2016  # for sh to expand
    t 2 "$command: a full disk is an error" sh -c '"$0" --help >/dev/full' "$command"
    err_is "$command: standard output: no space left on device" "$command: a full disk is told"
  else
    skip 2 "no /dev/full"
  fi
  # shellcheck disable=SC2016
  t 2 "$command: a closed standard output is an error" sh -c '"$0" --help >&-' "$command"
  err_like "^$command: standard output: bad file descriptor" \
    "$command: a closed standard output is told"
  # shellcheck disable=SC2016
  t 0 "$command: --help works without standard error" \
    sh -c '"$0" --help 2>&- >"$1"' "$command" "$tmp/help"
  like "$(head -n 1 "$tmp/help")" "^usage: $command" \
    "$command: --help writes the same without standard error"
  # shellcheck disable=SC2016
  t 2 "$command: a diagnostic that nobody hears changes no status" \
    sh -c '"$0" --nonsense 2>&-' "$command"
  # A pipe whose reader is gone before the command starts.
  # shellcheck disable=SC2016
  run perl -e 'pipe(my $r, my $w); close $r; open(STDOUT, ">&", $w); close $w;
    $SIG{PIPE} = "DEFAULT"; exec @ARGV' "$command" --help
  status_is 141 "$command: a closed pipe ends it by SIGPIPE"
  err_empty "$command says nothing of a closed pipe"
  # shellcheck disable=SC2016
  run perl -e 'pipe(my $r, my $w); close $r; open(STDOUT, ">&", $w); close $w;
    $SIG{PIPE} = "IGNORE"; exec @ARGV' "$command" --help
  status_is 141 "$command: a closed pipe ends it even when its parent ignores the signal"
  err_empty "$command says nothing of a closed pipe with the signal ignored"
done

done_testing
