#!/bin/sh
# Times as people type them: in the user's zone, with what action-format -t prints
# among them.
. "${0%/*}/../lib.sh"
needs python3
cd "$tmp" || exit 1

# at TIME: an action of this time.
at() { printf '{"id":1,"created_at":"%s","kind":"reacted","usd_cost":0}\n' "$1"; }

# means ZONE WORDS TIME: what the words mean in a zone, to the second.
means() {
  at "$3" >first
  at "$(printf %s "$3" | sed 's/Z$/.999Z/')" >last
  before=$(python3 -c 'import sys, datetime as d
t = d.datetime.fromisoformat(sys.argv[1].replace("Z", "+00:00")) - d.timedelta(milliseconds=1)
print(t.strftime("%Y-%m-%dT%H:%M:%S.%f")[:23] + "Z")' "$3")
  at "$before" >early
  is "$(TZ=$1 action-filter -S "$2" -N early first last):$(TZ=$1 action-filter -B "$2" -N early first last)" \
    "2:1" "$2 in $1 is $3"
}
means UTC 2026-03-01 2026-03-01T00:00:00Z
means Europe/Berlin 2026-03-01 2026-02-28T23:00:00Z
means Europe/Berlin '2026-07-01 05:00' 2026-07-01T03:00:00Z
means Europe/Berlin 2026-07-01T05:00:07 2026-07-01T03:00:07Z
means Europe/Berlin 2026-07-01T05:00:07Z 2026-07-01T05:00:07Z
means America/New_York '2026-11-22 05:00:00' 2026-11-22T10:00:00Z
means Asia/Kathmandu '2026-11-22 05:00' 2026-11-21T23:15:00Z
# Hours that are passed over, and that come twice.
means Europe/Berlin '2026-03-29 02:30' 2026-03-29T01:30:00Z
means Europe/Berlin '2026-10-25 02:30' 2026-10-25T00:30:00Z
means America/New_York '2026-03-08 02:30' 2026-03-08T07:30:00Z
means America/New_York '2026-11-01 01:30' 2026-11-01T05:30:00Z
means EST5EDT4,M3.2.0,M11.1.0 '2026-07-01 00:00' 2026-07-01T04:00:00Z

# day ZONE FORMAT DAYS: a day by the calendar of python, so many days ago.
day() {
  TZ=$1 python3 -c 'import sys, datetime as d
print((d.date.today() - d.timedelta(days=int(sys.argv[2]))).strftime(sys.argv[1]))' "$2" "$3"
}
# utc ZONE DAYS TIME: when it was this time so many days ago.
utc() {
  TZ=$1 python3 -c 'import sys, time
shown = time.strptime(sys.argv[1], "%Y-%m-%d %H:%M")
print(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.mktime(shown))))' "$(day "$1" %F "$2") $3"
}
for zone in Europe/Berlin America/New_York Asia/Kathmandu; do
  means "$zone" today "$(utc $zone 0 00:00)"
  means "$zone" 'Yesterday 14:30' "$(utc $zone 1 14:30)"
  means "$zone" "$(day $zone %A 2)" "$(utc $zone 2 00:00)"
  for days in 0 1 3 6; do means "$zone" "$(day $zone %a $days) 0:00" "$(utc $zone $days 00:00)"; done
done
at "$(date -u +%FT%TZ)" >here
is "$(action-filter -B now -N here):$(action-filter -S 1h -B now -N here)" 1:1 "now"

# What -t prints is understood, and finds the row it was printed of.
for zone in Europe/Berlin America/New_York Asia/Kathmandu Australia/Lord_Howe Africa/Casablanca; do
  lost=
  for time in 2026-03-29T00:59:59Z 2026-03-29T01:00:00Z 2026-10-25T00:30:00Z 2026-10-25T01:30:00Z \
    2026-03-08T06:59:59.9Z 2026-03-08T07:00:00Z 2026-11-01T05:30:00Z 2026-11-01T06:30:00.001Z \
    2026-04-04T14:45:00Z 2026-04-04T15:15:00Z 2026-10-03T15:30:00Z 2026-11-22T23:59:59Z \
    2026-02-15T02:30:00Z 2026-03-22T02:30:00Z; do
    at "$time" >row
    shown=$(TZ=$zone action-format -tW 0 row | cut -c 1-19)
    [ "$(TZ=$zone action-filter -S "$shown" -N row)" = 1 ] || lost="$lost $time ($shown)"
  done
  is "$lost" "" "what -t prints in $zone finds its row"
done

for word in soon '' 25:00 2026-02-30 '2026-11-22 5' tomorrow "$(printf 'to\033[31mday')"; do
  run action-filter -S "$word" here
  status_is 2 "no time: $(printf %s "$word" | tr -d '\033')"
done
err_is "action-filter: --since to\\e[31mday: not a time: 15m, 2h, 3d, today, yesterday, tue, 14:30, 2026-11-22 14:30, RFC 3339
usage: action-filter [options] [FILE ...]" "what is understood is said, and nothing is obeyed"
done_testing
