#!/bin/sh
# The figures that README states are those that the bench noted: lint says so when one is
# changed by hand, and a new run takes the place of the old figures, but for what it could not
# measure.
. "${0%/*}/../lib.sh"
needs python3 perl jq

# A tree with what they are made from.
tree=$tmp/tree
mkdir -p "$tree/Tests/bench" "$tree/Tests/lint"
cp -r "$root/README.md" "$root/man" "$tree"
cp -r "$root/Tests/bench/record.py" "$root/Tests/bench/figures" "$tree/Tests/bench"
cp "$root/Tests/lint/figures" "$tree/Tests/lint"
check() { run sh "$tree/Tests/lint/figures"; }
again() { python3 "$tree/Tests/bench/figures/write.py" || bail "write.py"; }
figures=$tree/Tests/bench/figures/figures.ndjson

check
status_is 0 "README states what was noted"
out_empty "the check of figures says nothing"

# --- by hand
perl -pi -e 's/(\| jq )(\d+)×/$1 . ($2 + 1) . "×"/e' "$tree/README.md"
check
status_is 1 "a figure in the table that was changed has status 1"
out_like '^README\.md: not what figures\.ndjson says' "the message names the file"
again
check
status_is 0 "a changed figure is written as it was"
perl -pi -e 's/(<!-- figures: jq -->)\d+/${1}99/' "$tree/README.md"
check
status_is 1 "a wrong figure in the text is found"
again
perl -pi -e 's/<!-- figures: jq -->//' "$tree/README.md"
check
status_is 1 "a place that is gone has status 1"
err_like 'README\.md: no place for figures: jq' "the message names the place"
cp "$root/README.md" "$tree"
perl -pi -e 's/"by": "curl", (.*?)"value": [0-9.]+/"by": "curl", $1"value": 777/ if /"delay"/' "$figures"
check
status_is 1 "a figure that was noted, and is not written yet, has status 1"
out_like '^README\.md: not' "the check says that README lacks the figure"
out_like '^Tests/bench/figures/figures\.md: not' \
  "the check says that the table of all lacks the figure"
again
check
status_is 0 "the noted figure is written"
ok "README has the noted figure" has "$tree/README.md" '777 µs'

# --- what a bench notes
cat >"$tmp/noting.py" <<'END'
import sys
sys.path.append(sys.argv[1])
import record
with record.part("ssh", "attach"):
    record.ratio("way", "tmux-attach", "a-peer", [1.0, 3.0, 2.0], [2.0, 2.0, 2.0], must=1.2)
try:
    with record.part("ssh", "echo"):
        record.figure("key", "tmux-attach", "ms", 5.0)
        raise OSError
except OSError:
    pass
END
t 0 "a bench notes its figures" \
  env BENCH_FIGURES="$tmp/noted" BENCH_WHEN=2026-01-02T03:04:05Z \
  python3 "$tmp/noting.py" "$tree/Tests/bench"
is "$(jq -c '[.group, .part, .name, .against, .value, .min, .max, .runs, .unit, .must, .when]' \
  "$tmp/noted" | head -n 1)" \
  '["ssh","attach","way","a-peer",1,0.5,1.5,3,"x",1.2,"2026-01-02T03:04:05Z"]' \
    "each figure has one record"
is "$(jq -c 'select(.done) | [.group, .part]' "$tmp/noted")" '["ssh","attach"]' \
  "a part of a bench that came to its end is noted"
t 0 "a bench without a file for figures notes nothing" python3 "$tmp/noting.py" "$tree/Tests/bench"

# --- old and new
old() {
  printf '{"group": "ssh", "part": "%s", "name": "%s", "by": "tmux-attach", "value": 7%s}\n' "$@"
}
{
  old attach way ', "against": "a-peer"'
  old attach former ''
  old attach gone ', "against": "no-such-peer"'
  old echo key ''
} >"$tmp/old"
cat >"$tmp/merging.py" <<'END'
import json, sys
sys.path.append(sys.argv[1])
import book
for record in book.merge(book.load(sys.argv[2]), book.load(sys.argv[3]),
                         lambda name: name != "no-such-peer"):
    print(record["part"], record["name"], record["value"])
END
run python3 "$tmp/merging.py" "$tree/Tests/bench/figures" "$tmp/old" "$tmp/noted"
out_is "attach way 1.0
attach gone 7
echo key 7" "a merge keeps new figures, missing peers and broken parts"

done_testing
