#!/bin/sh
# The programs that are several commands each: a link's name says which, or the first word.
. "${0%/*}/../lib.sh"
needs make readlink
unset MAKEFLAGS MAKELEVEL MFLAGS

programs=$(for command in $(make -s -C "$root" commands); do readlink -f "$root/bin/$command"; done |
  grep '/agentutils-[^/]*$' | sort -u)
for program in $programs; do
  name=${program##*/}
  t 2 "$name alone is refused" "$program"
  listed=$(sed -n 's/.*(one of \(.*\))$/\1/p' "$err" | tr -d ,)
  is "$(cat "$err")" "$name: which command? (one of $(echo "$listed" | sed 's/ /, /g'))" \
    "$name asks for a command in one line"
  linked=$(for command in $(make -s -C "$root" commands); do
    [ "$(readlink -f "$root/bin/$command")" != "$program" ] || echo "$command"
  done)
  is "$(echo "$listed" | tr ' ' '\n')" "$linked" "$name has the commands that make links to it"

  for option in -h --help; do
    run "$program" $option
    out_is "$linked" "$name $option lists the commands"
  done
  for option in -V --version; do
    run "$program" $option
    out_is "$name $(action-filter --version | sed 's/.* //')" "$name $option prints the version"
  done

  if command -v readelf >/dev/null; then
    run readelf -d "$program"
    out_unlike 'RPATH|RUNPATH' "$name loads nothing that only lies beside it"
  else
    skip 1 "no readelf"
  fi

  first=${listed%% *}
  version=$("$first" --version)
  run "$program" "$first" --version
  out_is "$version" "$name $first is the command"
  t 2 "$name $first --nonsense is refused" "$program" "$first" --nonsense
  err_like "^$first: .*nonsense" "$first --nonsense is told as the command's own mistake"
  t 2 "$name nothing is refused" "$program" nothing
  err_like "^$name: nothing: not a command of this program \(one of $first, .*\)$" \
    "the message names the commands"
  ln -s "$program" "$tmp/$first"
  run "$tmp/$first" --version
  out_is "$version" "a link to $name elsewhere works"
  ln -s "$program" "$tmp/of-my-own"
  run "$tmp/of-my-own" "$first" --version
  out_is "$version" "a link of another name works with the command's word"
  rm "$tmp/$first" "$tmp/of-my-own"
done

# Links of one's own, and the names that others give.
ln -s "$(readlink -f "$root/bin")/turn-fold" "$tmp/first"
ln -s first "$tmp/second"
run "$tmp/second" -V
out_like "^turn-fold [0-9]" "links of other names that lead to a command are the command"
run perl -e 'exec { shift } "x", @ARGV' "$root/bin/turn-fold" -V
out_like "^turn-fold [0-9]" "a path under another name is the command"
run perl -e 'exec { shift } "-turn-fold", @ARGV' "$(readlink -f "$root/bin/turn-fold")" -V
out_like "^turn-fold [0-9]" "the name of a login shell works"

# A parent may call its child whatever it likes.
run perl -e 'exec { shift } "x", @ARGV' "$(readlink -f "$root/bin/turn-fold")" turn-fold -V
out_like "^turn-fold [0-9]" "the first word says which command when the name does not"
run perl -e 'exec { shift } "-/some/where/turn-fold", @ARGV' \
  "$(readlink -f "$root/bin/turn-fold")" -V
out_like "^turn-fold [0-9]" "the last part of a name that is a path counts"

done_testing
