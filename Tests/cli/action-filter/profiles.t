#!/bin/sh
# action-filter and the profile that a record names.
. "${0%/*}/../lib.sh"
cd "$tmp" || exit 1

cat >mixed <<'END'
{"event":"activity_snapshot","id":"","profile":"a","data":{"actions":[{"id":2,"created_at":"2026-03-01T12:00:02.000Z","kind":"two"},{"id":1,"created_at":"2026-03-01T12:00:01.000Z","kind":"one"},{}]}}
{"event":"action_event","id":"","profile":"b","data":{"kind":"three","createdAt":"2026-03-01T12:00:03.000Z","profile":"mine"}}
{"event":"action_event","id":"","data":{"kind":"four","createdAt":"2026-03-01T12:00:04.000Z","profile":"mine"}}
{"kind":"five","profile":"\u0061","created_at":"2026-03-01T12:00:05.000Z"}
{"kind":"six","profile":7,"created_at":"2026-03-01T12:00:06.000Z"}
{"type":"lost","profile":"b","reason":"x","time":"2026-03-01T12:00:06.000Z"}
{"event":"stats_update","id":"","profile":"a","data":{"stats":{},"runtime":{}}}
{"type":"end","reason":"x","time":"2026-03-01T12:00:06.000Z"}
END
kinds() { sed -n 's/.*"kind":"\([a-z]*\)".*/\1/p' "$out" | tr '\n' ' '; }

run action-filter mixed
is "$(head -n 3 "$out")" '{"profile":"a"}
{"id":1,"created_at":"2026-03-01T12:00:01.000Z","kind":"one","profile":"a"}
{"id":2,"created_at":"2026-03-01T12:00:02.000Z","kind":"two","profile":"a"}' \
  "the rows of a list keep the name of their record, behind their bytes"
run action-filter --profile a mixed
is "$(kinds)" "one two five " "--profile selects the records of a profile"
run action-filter --profile b,c mixed
is "$(kinds)" "three " "--profile takes a list of profiles"
run action-filter --profile b --profile a -k 't*' mixed
is "$(kinds)" "two three " "--profile may be repeated, and stand with other options"
run action-filter -v --profile a mixed
is "$(kinds)" "three four six " "-v selects all others"
run action-filter -v -k three --profile b mixed
is "$(kinds)" "one two four five six " "-v inverts both options together"
run action-filter -v -k one --profile a mixed
is "$(kinds)" "two three four five six " "-v inverts a part of a list, too"
t 1 "a member of the agent's own is no name" action-filter --profile mine mixed
run action-filter -a --profile b mixed
is "$(lines "$out")" 2 "-a keeps other records of these profiles"
run action-filter -a mixed
is "$(lines "$out")" 10 "-a keeps all without --profile"

run action-filter -o canonical -k three,one,four mixed
is "$(cat "$out")" '{"id":1,"created_at":"2026-03-01T12:00:01.000Z","guild_id":null,"channel_id":null,"message_id":null,"user_id":null,"kind":"one","content":null,"metadata":null,"usd_cost":0,"profile":"a"}
{"id":null,"created_at":"2026-03-01T12:00:03.000Z","guild_id":null,"channel_id":null,"message_id":null,"user_id":null,"kind":"three","content":null,"metadata":null,"usd_cost":0,"profile":"b"}
{"id":null,"created_at":"2026-03-01T12:00:04.000Z","guild_id":null,"channel_id":null,"message_id":null,"user_id":null,"kind":"four","content":null,"metadata":null,"usd_cost":0,"profile":"mine"}' \
  "canonical rows keep the profile, as their last member"
cp "$out" canonical
run action-filter -o canonical canonical
ok "canonical rows stay as they are the second time" cmp "$out" canonical
run action-filter -o profile,kind -k three,four,one mixed
is "$(cat "$out")" '{"profile":"a","kind":"one"}
{"profile":"b","kind":"three"}
{"profile":"mine","kind":"four"}' "-o profile prints the profile"
run action-filter --by profile mixed
is "$(cat "$out")" '{"type":"count","profile":"a","count":4,"usd_cost":0}
{"type":"count","profile":null,"count":2,"usd_cost":0}
{"type":"count","profile":"b","count":1,"usd_cost":0}' "--by profile counts by the profiles"
action-format --color never "$out" >table
ok "action-format shows counts by profile as a table" grep -q '^profile' table

# A list with a fault in it.
echo '{"profile":"b","actions":[{"kind":"good"},7,{"kind":"better"}]}' >faulty
run action-filter --profile a faulty
is "$status $(lines "$err") $(kinds)" "2 1 " "a fault in another's list is told"
run action-filter -v --profile a faulty
is "$status $(lines "$err") $(kinds)" "2 1 better good " \
  "the good rows of a list with a fault are selected by -v"
t 2 "an empty name is refused" action-filter --profile '' mixed
done_testing
