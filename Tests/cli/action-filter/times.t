#!/bin/sh
# Times as people type them: in the user's zone, with what action-format -t prints
# among them.
. "${0%/*}/../lib.sh"
needs python3
cd "$tmp" || exit 1

# at TIME: an action of this time.
at() { printf '{"id":1,"created_at":"%s","kind":"reacted","usd_cost":0}\n' "$1"; }

# What words mean in a zone, to the second: `ZONE|WORDS|TIME`.
python3 - >meant <<'END'
import datetime as d, os, time

def utc(zone, days, hour):
    """When it was this time so many days ago, by the calendar of Python."""
    day = d.date.today() - d.timedelta(days=days)
    shown = time.strptime(f"{day} {hour}", "%Y-%m-%d %H:%M")
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.mktime(shown)))

for zone in "Europe/Berlin", "America/New_York", "Asia/Kathmandu":
    os.environ["TZ"] = zone
    time.tzset()
    name = lambda days, form: (d.date.today() - d.timedelta(days=days)).strftime(form)
    print(zone, "today", utc(zone, 0, "00:00"), sep="|")
    print(zone, "Yesterday 14:30", utc(zone, 1, "14:30"), sep="|")
    print(zone, name(2, "%A"), utc(zone, 2, "00:00"), sep="|")
    for days in 0, 1, 3, 6:
        print(zone, name(days, "%a") + " 0:00", utc(zone, days, "00:00"), sep="|")
END
# Then hours that are passed over, and that come twice.
cat >>meant <<'END'
UTC|2026-03-01|2026-03-01T00:00:00Z
Europe/Berlin|2026-03-01|2026-02-28T23:00:00Z
Europe/Berlin|2026-07-01 05:00|2026-07-01T03:00:00Z
Europe/Berlin|2026-07-01T05:00:07|2026-07-01T03:00:07Z
Europe/Berlin|2026-07-01T05:00:07Z|2026-07-01T05:00:07Z
America/New_York|2026-11-22 05:00:00|2026-11-22T10:00:00Z
Asia/Kathmandu|2026-11-22 05:00|2026-11-21T23:15:00Z
Europe/Berlin|2026-03-29 02:30|2026-03-29T01:30:00Z
Europe/Berlin|2026-10-25 02:30|2026-10-25T00:30:00Z
America/New_York|2026-03-08 02:30|2026-03-08T07:30:00Z
America/New_York|2026-11-01 01:30|2026-11-01T05:30:00Z
EST5EDT4,M3.2.0,M11.1.0|2026-07-01 00:00|2026-07-01T04:00:00Z
END
# Of the last millisecond before it, of the second's first and its last.
python3 - <<'END'
import datetime as d
for line in open("meant"):
    time = line.strip().split("|")[2]
    before = d.datetime.fromisoformat(time.replace("Z", "+00:00")) - d.timedelta(milliseconds=1)
    early = before.strftime("%Y-%m-%dT%H:%M:%S.%f")[:23] + "Z"
    with open(time, "w") as file:
        for at in early, time, time.replace("Z", ".999Z"):
            print('{"id":1,"created_at":"%s","kind":"reacted","usd_cost":0}' % at, file=file)
END
while IFS='|' read -r zone words time; do
  is "$(TZ=$zone action-filter -S "$words" -N "$time"):$(TZ=$zone action-filter -B "$words" -N "$time")" \
    "2:1" "$words in $zone is $time"
done <meant
at "$(date -u +%FT%TZ)" >here
is "$(action-filter -B now -N here):$(action-filter -S 1h -B now -N here)" 1:1 "now is a time"

# What -t prints is understood, and finds the row it was printed of.
for time in 2026-02-15T02:30:00Z 2026-03-08T06:59:59.9Z 2026-03-08T07:00:00Z 2026-03-22T02:30:00Z \
  2026-03-29T00:59:59Z 2026-03-29T01:00:00Z 2026-04-04T14:45:00Z 2026-04-04T15:15:00Z \
  2026-10-03T15:30:00Z 2026-10-25T00:30:00Z 2026-10-25T01:30:00Z 2026-11-01T05:30:00Z \
  2026-11-01T06:30:00.001Z 2026-11-22T23:59:59Z; do
  at "$time" >>rows
done
for zone in Europe/Berlin America/New_York Asia/Kathmandu Australia/Lord_Howe Africa/Casablanca; do
  lost=
  TZ=$zone action-format -tW 0 rows | cut -c 1-19 >shown
  exec 3<rows
  while read -r shown <&4 && read -r row <&3; do
    [ "$(echo "$row" | TZ=$zone action-filter -S "$shown" -N)" = 1 ] || lost="$lost $row ($shown)"
  done 4<shown
  is "$(lines shown)$lost" 14 "what -t prints in $zone finds its row"
done

for word in soon '' 25:00 2026-02-30 '2026-11-22 5' tomorrow "$(printf 'to\033[31mday')"; do
  run action-filter -S "$word" here
  status_is 2 "-S refuses what is not a time: $(printf %s "$word" | tr -d '\033')"
done
err_is "action-filter: --since to\\e[31mday: not a time: 15m, 2h, 3d, today, yesterday, tue, 14:30, 2026-11-22 14:30, RFC 3339
usage: action-filter [options] [FILE ...]" \
  "the message says what times are understood, and obeys nothing"
done_testing
