#!/bin/sh
# turn-fold: the sample turns of Pincer's contract, cut anywhere and doubled.
. "${0%/*}/../lib.sh"
needs python3

t 0 "the states are those of the contract" \
  python3 "${0%/*}/vectors.py" "$root/Tests/fixtures/pincer-turns.ndjson"
diag "$(cat "$out" "$err")"
at_least() { [ "$(sed -n 's/ folds$//p' "$out")" -ge "$1" ]; }
ok "the sample turns fold the same in every chunking and with every event twice" at_least 400

done_testing
