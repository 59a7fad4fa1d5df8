#!/bin/sh
# action-format: counts of action-filter --by as a table, as TSV, as a line of bars.
. "${0%/*}/../lib.sh"
needs action-filter action-format python3
cd "$tmp" || exit
day=$root/Tests/fixtures/sample-day.ndjson

action-filter -u --usage --total --by model "$day" >models
for width in 40 80 200; do
  t 0 "counts fit $width columns" action-format -W "$width" models
  is "$(lines "$out")" "$(($(lines models) + 1))" \
    "each record has a row below the headings at $width columns"
  ok "no row of counts is wider than $width columns" python3 -c '
import sys
assert max(len(line.rstrip("\n")) for line in open(sys.argv[1])) <= int(sys.argv[2])' "$out" "$width"
  like "$(tail -n 1 "$out")" '^total +170 +405k +50k +\$4\.05$' \
    "the last row is the sum at $width columns"
done
# shellcheck disable=SC2016  # dollars
like "$(sed -n 1,2p "$out" | tr '\n' '|')" \
  '^model +calls +in +out +share +cost\|claude-opus-4-6 +45 +129k +15k +75% +\$3\.05  █{30}\|$' \
  "the bars show the cost"

cat >free <<'END'
{"type":"count","model":"llama","count":3,"usd_cost":0,"input_tokens":10,"output_tokens":2}
{"type":"count","model":"gemma","count":1,"usd_cost":0,"input_tokens":20,"output_tokens":2}
END
run action-format -W 80 free
out_like '^llama +3 +10 +2 +75%  █{30}$' "the bars show the calls where nothing has a cost"

# Times in the zone, as long as they are.
cat >hours <<'END'
{"type":"count","hour":"2026-03-01T09:00:00.000Z","kind":"a","count":2,"usd_cost":0.5}
{"type":"count","hour":"2026-03-01T09:00:00.000Z","kind":"b","count":2,"usd_cost":0}
{"type":"count","hour":"2026-03-01T10:00:00.000Z","kind":null,"count":0,"usd_cost":0}
{"type":"count","hour":"2026-03-01T11:00:00.000Z","kind":"a","count":8,"usd_cost":0}
{"type":"count","hour":null,"kind":"a","count":100,"usd_cost":0}
END
export TZ=Asia/Kathmandu
run action-format -W 80 hours
out_like '^2026-03-01 14:45  a +2 ' "an hour is shown in the local zone"
out_like '^2026-03-01 15:45  \(none\) +0 *$' "an empty hour has no bar"
for key in minute:16 day:10 week:10 month:7; do
  echo "{\"type\":\"count\",\"${key%:*}\":\"2026-02-28T18:15:00.000Z\",\"count\":1,\"usd_cost\":0}" >one
  run action-format one
  is "$(sed -n '2s/  .*//p' "$out")" "$(echo '2026-03-01 00:00' | cut -c "1-${key#*:}")" "a time of --by is cut to a ${key%:*}"
done
run action-format -o spark hours
out_is '▅▁█  2026-03-01 14:45 to 16:45' "bars fit one line"
run action-format -W 28 -o spark hours
out_is '█  2026-03-01 14:45 to 16:45' "bars are added together where there is less room"
run action-format -o spark models
out_is '█▂▂▁▁▁▁▁▁▁▁' "bars are drawn of counts that are by no time"
python3 -c '
for day in range(1, 29):
  for hour in range(24):
    print("{\"type\":\"count\",\"hour\":\"2026-02-%02dT%02d:00:00Z\",\"count\":%d,\"usd_cost\":0}" % (day, hour, day))' >many
run action-format -o spark many
is "$(python3 -c 'import sys; print(len(open(sys.argv[1]).read().split()[0]))' "$out")" 60 \
  "at most 60 bars are drawn"

# TSV keeps every digit.
printf '%s\n' '{"type":"count","user":"a\tb\u001b[2J\n\\","hour":"2026-03-01T09:00:00.000Z","count":3,"usd_cost":0.30000000000000000000000004}' \
  '{"type":"count","user":null,"hour":null,"count":18446744073709551617,"usd_cost":1.10}' \
  '{"type":"count","count":4,"usd_cost":1.40000000000000000000000004}' '{"kind":"sent_reply","content":"no count"}' \
  '{"type":"count","kind":"a","count":4,"usd_cost":1e-25}' >odd
run action-format -o tsv odd
out_is 'user	hour	count	usd_cost
a\tb\e[2J\n\\	2026-03-01T09:00:00.000Z	3	0.30000000000000000000000004
		18446744073709551617	1.10
		4	1.40000000000000000000000004
kind	count	usd_cost
a	4	1e-25' "TSV has the digits of the records, and nothing that a terminal obeys"
run action-format -o tsv -t odd
is "$(sed -n '2s/^[^	]*	\([^	]*\).*/\1/p' "$out")" "2026-03-01 14:45" "-t writes local times"
run action-format -W 80 odd
out_unlike "$(printf '\033')" "the table has nothing that a terminal obeys, either"
for form in tsv spark; do
  echo '{"kind":"sent_reply","content":"no count"}' >none
  t 1 "-o $form of no counts has status 1" action-format -o "$form" none
  out_empty "-o $form of no counts prints nothing"
  err_is "action-format: no counts in the input: pipe it through action-filter --by" \
    "-o $form of no counts says what is missing"
  t 0 "-o $form of no input at all is not a mistake" action-format -o "$form" /dev/null
done
t 2 "an unknown form is refused" action-format -o csv odd
err_like 'action-format: --output csv: not text, tsv or spark' "the message names the form"
done_testing
