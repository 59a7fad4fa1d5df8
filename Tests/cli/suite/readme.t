#!/bin/sh
# The README's console blocks are what the commands print, to the letter; only
# `make` is left out. TZ is UTC.
. "${0%/*}/../lib.sh"

awk -v dir="$tmp" '
  /^```console$/ { inside = 1; next }
  /^```$/ { inside = 0; next }
  inside && /^\$ / { n++; print substr($0, 3) >(dir "/" n ".command"); next }
  inside { print >(dir "/" n ".want") }
' "$root/README.md"

cd "$root" || bail "no $root"
number=1
while [ -f "$tmp/$number.command" ]; do
  command=$(cat "$tmp/$number.command")
  : >>"$tmp/$number.want"
  case $command in
  cd\ *) eval "$command" || bail "$command" ;;
  *)
    t 0 "the command of the README works: $command" sh -c "$command"
    is "$(cat "$out")" "$(cat "$tmp/$number.want")" \
      "the command prints what the README says: $command"
    ;;
  esac
  number=$((number + 1))
done
ok "the README has console blocks" test "$number" -gt 3

done_testing
