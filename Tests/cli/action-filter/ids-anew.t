#!/bin/sh
# action-filter -u: ids that a database gave anew are several actions, each told once, however
# often and in whatever order the records are read.
. "${0%/*}/../lib.sh"
needs action-filter jq

row() { printf '{"id":%s,"created_at":"2026-01-0%sT00:00:00.000Z","kind":"k","content":"%s"}\n' "$@"; }
for id in 1 2 3 4 5 6; do row "$id" 1 "old$id"; done >"$tmp/old"
for id in 1 2 3; do row "$id" 1 "old$id"; done >"$tmp/restored"
for id in 4 5 6; do row "$id" 2 "new$id"; done >>"$tmp/restored"
for id in 5 6; do row "$id" 3 "again$id"; done >"$tmp/third"
told() { jq -r .content "$out" | sort | tr '\n' ' '; }

run action-filter -u "$tmp/old" "$tmp/restored"
is "$(told)" "new4 new5 new6 old1 old2 old3 old4 old5 old6 " \
  "each action of an id that was given anew is there"
is "$(lines "$err")" 1 "ids that begin anew are told in one line"
run action-filter -u "$tmp/old" "$tmp/restored" "$tmp/old" "$tmp/restored" "$tmp/old"
is "$(told)" "new4 new5 new6 old1 old2 old3 old4 old5 old6 " "copies of actions are told once"
is "$(lines "$err")" 1 "ids that begin anew are told in one line, however often they are read"
run action-filter -u "$tmp/third" "$tmp/old" "$tmp/restored" "$tmp/third" "$tmp/restored"
is "$(told)" "again5 again6 new4 new5 new6 old1 old2 old3 old4 old5 old6 " \
  "three actions of one id are told apart"
done_testing
