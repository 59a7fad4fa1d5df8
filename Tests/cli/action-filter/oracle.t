#!/bin/sh
# action-filter against answers that were computed from the values: actions and
# options at random, the same in every run.
. "${0%/*}/../lib.sh"
needs python3

for seed in 1 2 3; do
  mkdir "$tmp/cases"
  python3 "$cli/filter-oracle.py" "$seed" "$tmp/cases" || bail "no cases"
  selected=0
  wrong=0
  for want in "$tmp"/cases/*.want; do
    options=${want%.want}.options
    xargs -0 -a "$options" sh -c 'exec action-filter "$@" "$0" 2>/dev/null' "$tmp/cases/in" \
      >"$tmp/got"
    selected=$((selected + $(wc -l <"$tmp/got")))
    if ! cmp -s "$tmp/got" "$want"; then
      wrong=$((wrong + 1))
      diag "differs, seed $seed: $(tr '\0' ' ' <"$options")"
      diag "$(diff "$want" "$tmp/got" | head -n 3)"
    fi
  done
  is "$wrong" 0 "seed $seed: 60 sets of options select what an oracle does"
  ok "seed $seed: the sets of options select something" test "$selected" -gt 500
  action-filter -u "$tmp/cases/events" >"$tmp/got"
  ok "seed $seed: an action is known by its row, whatever its members are" cmp "$tmp/got" "$tmp/cases/unique"
  rm -r "$tmp/cases"
done

done_testing
