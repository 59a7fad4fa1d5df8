#!/bin/sh
# action-filter --by: several keys, times in their order, tokens, the sum of all.
. "${0%/*}/../lib.sh"
needs python3
cd "$tmp" || exit
by=$cli/action-filter/by-oracle.py

ok "counts, buckets and sums are those of an oracle" python3 "$by" 8 60

cat >day <<'END'
{"created_at":"2026-03-01T10:00:00.000Z","kind":"llm_call","metadata":{"model":"m","usage":{"inputTokens":5,"outputTokens":2}},"usd_cost":0.1}
{"created_at":"2026-03-01T10:59:59.999Z","kind":"llm_call","metadata":{"model":"m","usage":{"inputTokens":6,"outputTokens":3}},"usd_cost":0.2}
{"created_at":"2026-03-01T13:00:00.000Z","kind":"voice_runtime","metadata":{"responseModel":"rt","responseUsage":{"input_tokens":7,"output_tokens":1}},"usd_cost":0}
{"created_at":"2026-03-01T13:00:01.000Z","kind":"sent_reply","metadata":{"llm":{"model":"m","usage":{"inputTokens":5,"outputTokens":2}}},"usd_cost":0}
{"created_at":"soon","kind":"note","usd_cost":0}
END
run action-filter --by hour day
out_is '{"type":"count","hour":"2026-03-01T10:00:00.000Z","count":2,"usd_cost":0.3}
{"type":"count","hour":"2026-03-01T11:00:00.000Z","count":0,"usd_cost":0}
{"type":"count","hour":"2026-03-01T12:00:00.000Z","count":0,"usd_cost":0}
{"type":"count","hour":"2026-03-01T13:00:00.000Z","count":2,"usd_cost":0}
{"type":"count","hour":null,"count":1,"usd_cost":0}' \
  "--by hour has hours in order, empty ones too, and what has no time"
run action-filter --by kind,hour -B 2026-03-02 day
out_is '{"type":"count","kind":"llm_call","hour":"2026-03-01T10:00:00.000Z","count":2,"usd_cost":0.3}
{"type":"count","kind":null,"hour":"2026-03-01T11:00:00.000Z","count":0,"usd_cost":0}
{"type":"count","kind":null,"hour":"2026-03-01T12:00:00.000Z","count":0,"usd_cost":0}
{"type":"count","kind":"sent_reply","hour":"2026-03-01T13:00:00.000Z","count":1,"usd_cost":0}
{"type":"count","kind":"voice_runtime","hour":"2026-03-01T13:00:00.000Z","count":1,"usd_cost":0}' "several keys make a row for each combination"
run action-filter --by model --usage --total day
out_is '{"type":"count","model":"m","count":2,"usd_cost":0.3,"input_tokens":11,"output_tokens":5}
{"type":"count","model":"rt","count":1,"usd_cost":0,"input_tokens":7,"output_tokens":1}
{"type":"count","count":3,"usd_cost":0.3,"input_tokens":18,"output_tokens":6}' \
  "--usage adds tokens, and a reply does not count those of its call again"
run action-filter --usage -N day
out_is 3 "--usage selects what has tokens"
run action-filter --usage -v -o kind day
out_is '{"kind":"sent_reply"}
{"kind":"note"}' "--usage -v selects the others"
run action-filter --total day
out_is '{"type":"count","count":5,"usd_cost":0.3}' "--total works alone"
t 1 "a count of nothing has status 1" action-filter --total --by kind -k none day
out_is '{"type":"count","count":0,"usd_cost":0}' "the sum of nothing is printed"
is "$(TZ=Asia/Kathmandu action-filter --by day -n 1 day)" \
  '{"type":"count","day":"2026-02-28T18:15:00.000Z","count":1,"usd_cost":0.1}' "a day is one of the local zone"
is "$(TZ=Europe/Berlin action-filter --by hour -n 1 day)" \
  '{"type":"count","hour":"2026-03-01T10:00:00.000Z","count":1,"usd_cost":0.1}' "an hour is an instant"

# One wrong clock writes no million rows.
{ cat day; echo '{"created_at":"0001-01-01T00:00:00Z","kind":"old"}'; } >old
t 0 "a time of long ago is taken" action-filter --by minute old
err_is 'action-filter: --by minute: a gap has too many empty minutes to print' "the gap is told"
is "$(lines "$out")" 183 "a gap that is too long is left open, and others are filled"
python3 -c '
for day in range(1, 29):
  for month in range(1, 13):
    print("{\"kind\":\"a\",\"created_at\":\"2026-%02d-%02dT00:00:00Z\"}" % (month, day))' >year
run action-filter --by minute year
ok "many gaps do not need more lines than one" test "$(lines "$out")" -le 100336
err_one_line action-filter "a gap left open is told once for many of them"
run action-filter --by hour year
is "$(lines "$out") $(cat "$err")" "$((361 * 24 + 1)) " "a year of hours is filled"

# Names of two keys do not run into one.
printf '%s\n' '{"kind":"ab","guild_id":"c"}' '{"kind":"a","guild_id":"bc"}' '{"kind":"a","guild_id":null}' \
  '{"kind":"a\u0000","guild_id":"\"\\\n\u001b[2J"}' '{"kind":"a","guild_id":12345678901234567890123}' >names
is "$(action-filter --by kind,guild names | wc -l | tr -d ' ')" 5 "five pairs are five groups"
is "$(action-filter --by guild,kind names | grep -c '"guild":"\\"\\\\\\n\\u001b\[2J","kind":"a\\u0000"')" 1 \
  "hostile names are quoted"

# Many groups do not take much memory, whatever is summed of them.
python3 -c '
for n in range(300000):
    print("{\"kind\":\"kind_%06d\",\"user_id\":\"%d\",\"created_at\":\"2026-01-01T00:%02d:00Z\",\"metadata\":{\"usage\":{\"inputTokens\":3}},\"usd_cost\":0.%d}" % (n, n % 1000, n % 60, n + 1))' >many
for by in kind "kind,user --total" minute,kind "kind --usage"; do
  for jobs in 1 4; do
    # shellcheck disable=SC2086  # several words
    ok "300,000 groups fit into 120 MiB: --by $by -j $jobs" \
      python3 "$cli/resident.py" $((120 * 1024)) action-filter -j $jobs --by $by many
  done
done
is "$(action-filter --by minute,kind many | sed -n '1p;300000p' | tr -d '\n')" \
  '{"type":"count","minute":"2026-01-01T00:00:00.000Z","kind":"kind_000000","count":1,"usd_cost":0.1}{"type":"count","minute":"2026-01-01T00:59:00.000Z","kind":"kind_299999","count":1,"usd_cost":0.3}' \
  "300,000 groups are in their order"

for keys in '' ',' hour,,kind 'kind,' ,kind 'kind,,,' day,hour kind,kind hours Kind; do
  t 2 "--by '$keys' is refused" action-filter --by "$keys" day
  out_empty "nothing is written when --by '$keys' is refused"
  err_like "^action-filter: --by.*: " "the reason is told when --by '$keys' is refused"
done
done_testing
