#!/bin/sh
# outbox: commands that are killed at any moment, against a live server, compared with what must
# be there: all that was told, nothing twice, and nothing of which nobody knows.
. "${0%/*}/../lib.sh"
needs outbox pds-record jq curl timeout
needs_peers
. "${0%/*}/../pds.sh"
start_pds me
mkdir "$tmp/may"
random() { od -An -N2 -tu2 /dev/urandom | tr -d ' '; }
# killed CMD...: ends it somewhere between its start and its end.
killed() {
  timeout -s KILL "0.$(printf %03d $(($(random) % 250 + 10)))" "$@" <"$tmp/given" >"$out" 2>"$err"
  # What it asked may be done later than what the next one asks.
  settled me
}
# became KEY VALUE: what may be there from now on; what was told must be there.
became() {
  if [ -s "$out" ]; then
    echo "$2" >"$tmp/may/$1"
    told=$((told + 1))
  else
    echo "$2" >>"$tmp/may/$1"
  fi
}

rounds=36
told=0
: >"$tmp/created"
number=0
while [ $number -lt $rounds ]; do
  number=$((number + 1))
  key=k$(($(random) % 3))
  [ $((number % 4)) -ne 0 ] || fault me '{"method":"putRecord","lose":true}'
  # Titles that come back: an edit may undo an earlier one.
  title=t$(($(random) % 2)).
  value="{\"title\":\"$title\",\"n\":$number}"
  echo "$value" >"$tmp/given"
  case $(($(random) % 8)) in
  0 | 1 | 2)
    killed pds-record --queue --timeout 5 put $task $key
    became $key "$title$number"
    ;;
  3)
    printf '{"op":"put","collection":"%s","rkey":"%s","record":%s}\n' $task $key "$value" \
      >"$tmp/given"
    killed outbox add
    became $key "$title$number"
    ;;
  4)
    killed pds-record --queue --timeout 5 delete $task $key
    became $key none
    ;;
  5)
    echo "{\"n\":$number}" >"$tmp/given"
    killed pds-record --queue --timeout 5 create $task
    [ ! -s "$out" ] || echo $number >>"$tmp/created"
    ;;
  *) killed outbox flush ;;
  esac
done
diag "$told changes and $(lines "$tmp/created") new records of $rounds rounds were told"
: >"$tmp/me.faults"
t 0 "what is left after the kills is sent" outbox flush
t 1 "nothing waits after the kills, and nothing was taken for another's" outbox list --all
curl -s "$(cat "$tmp/me.url")/xrpc/com.atproto.repo.listRecords?repo=alice.test&collection=$task&limit=100" \
  >"$tmp/there"
for may in "$tmp/may/"*; do
  key=${may##*/}
  value=$(jq -r --arg key "/$key" \
    '.records[] | select(.uri | endswith($key)).value | "\(.title)\(.n)"' "$tmp/there")
  ok "$key is what it may be" grep -qxF -- "${value:-none}" "$may"
done
jq -r '.records[].value | select(.title == null).n' "$tmp/there" | sort >"$tmp/new"
is "$(uniq -d "$tmp/new")" "" "no new record is there twice"
is "$(sort "$tmp/created" | comm -23 - "$tmp/new" | xargs)" "" "no new record is missing"
is "$(find "$XDG_STATE_HOME/agentutils/outbox" -name '*.ndjson.*' | wc -l | tr -d ' ')" 0 \
  "no half file is left after the kills" || ls -la "$XDG_STATE_HOME/agentutils/outbox"

done_testing
