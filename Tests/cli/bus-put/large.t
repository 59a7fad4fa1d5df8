#!/bin/sh
# A server that takes 64 MB keeps no more than 32 MB: the largest records, in by bus-put, out by
# bus-get to a pipe and to a file with a place, between small ones; and one that is larger.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
bound=60

echo 'max_payload: 64MB' >"$tmp/conf"
start_bus a -c "$tmp/conf"
# What is larger the server would acknowledge, and lose.
most=$((32 * 1024 * 1024 - 4096))
# large BYTES N: a record of that length, with its line feed.
large() {
  printf '{"n":%d,"more":"' "$2"
  head -c $(($1 - 16 - ${#2})) /dev/zero | tr '\0' x
  echo '"}'
}
{
  rows 3
  large "$most" 1
  rows 3 11
  large 20000000 2
  rows 3 21
} >"$tmp/in"
t 0 "records of 32 and 20 MB are stored" bus-put -s "$bus" --create --max-wait 40 <"$tmp/in"
err_empty "nothing is said"
# What is in hand is bounded, and the next one is larger than that.
bus-get -s "$bus" -d work --all -e >"$tmp/got"
ok "large records come out of a shared consumer as they went in" cmp -s "$tmp/in" "$tmp/got"
bus-get -s "$bus" --all -e | cat >"$tmp/got"
ok "large records come through a pipe, too" cmp -s "$tmp/in" "$tmp/got"

: >"$tmp/file"
killed=$(kill_often 8 0.05 0.4 /dev/null "$tmp/file" bus-get -q -s "$bus" --all --state "$tmp/state")
ok "bus-get is killed in the middle of large records" test "$killed" -ge 4
run sh -c "bus-get -s '$bus' --all -e --state '$tmp/state' >>'$tmp/file'"
ok "large records are in a file, each once" cmp -s "$tmp/in" "$tmp/file"

{ large $((most + 1)) 3 && large 60000000 4 && rows 1 31; } >"$tmp/larger"
t 2 "a record that is a byte larger is refused" bus-put -s "$bus" <"$tmp/larger"
err_is "bus-put: standard input:1: a record of $((most + 1)) bytes is larger than the server takes ($most)
bus-put: standard input:2: a record of 60000000 bytes is larger than the server takes ($most)" \
  "the lines are named"
bus-get -s "$bus" --all -e | tail -n 1 >"$tmp/last"
is "$(cat "$tmp/last")" "$(rows 1 31)" "the record behind the large ones is stored"
done_testing
