#!/bin/sh
# pds-record put of many: in commits of several, each record exactly once.
. "${0%/*}/../lib.sh"
needs pds-record jq curl
needs_peers
. "${0%/*}/../pds.sh"
start_pds me
rows() { seq "$1" "$2" | jq -c "{rkey: \"k\\(.)\", value: {n: ., v: $3}}"; }
put() { run sh -c "pds-record put $* $task <$tmp/rows"; }
there() { pds-record list $task | jq -r '.value | "\(.n) \(.v)"' | sort -n | xargs -n 2 | cksum; }
want() { jq -r '.value | "\(.n) \(.v)"' "$tmp/rows" | sort -n | xargs -n 2 | cksum; }

rows 1 450 1 >"$tmp/rows"
put
is "$status $(lines "$out")" "0 450" "450 rows are written"
is "$(asked me applyWrites) $(asked me putRecord)" "3 0" "450 rows are written in three commits"
is "$(jq -r '.uri | split("/")[-1]' "$out" | xargs)" "$(jq -r .rkey "$tmp/rows" | xargs)" \
  "written rows are told in the order of the input"
is "$(jq -r 'select(.cid and .commit.rev).uri' "$out" | lines /dev/stdin)" 450 \
  "each written row has its CID and its commit"
is "$(there)" "$(want)" "450 written rows are there"
pds-record list $task | jq -c '.value.v = 2' >"$tmp/rows"
: >"$tmp/me.log"
put
is "$status $(asked me putRecord) $(there)" "0 0 $(want)" "rows are written over in the same way"

# --- lost answers

rows 1 450 3 >"$tmp/rows"
fault me '{"method":"applyWrites","lose":true}'
put
is "$status $(lines "$out") $(there)" "0 450 $(want)" "a commit whose answer is lost is no harm"
rows 501 600 1 >"$tmp/rows"
fault me '{"method":"applyWrites","lose":true}'
put --swap none
is "$status $(lines "$out")" "0 100" "a lost answer is no harm for records that must not be there"
put --swap none
is "$status $(lines "$out") $(asked me putRecord)" "0 100 200" \
  "records that must not be there are done where they are the same"
jq -c '.value.v = 9' "$tmp/rows" >"$tmp/others"
mv "$tmp/others" "$tmp/rows"
put --swap none
is "$status $(lines "$out") $(grep -c 'nothing was written' "$err")" "1 0 100" \
  "records that others changed are each a conflict"

# --- some of each

{ rows 590 600 4; rows 601 610 4; echo '{"rkey":"a/b","value":{}}'; rows 590 590 5; } >"$tmp/rows"
put
is "$status $(lines "$out")" "2 22" "the good rows of old, new and bad ones are written"
err_is "pds-record: standard input:22: neither an AT URI nor a record key: a/b" \
  "the bad row is named"
is "$(pds-record get $task k590 | jq .value.v)" 5 "the last of two rows of one key counts"
fault me '{"method":"applyWrites","status":400,"text":"{\"error\":\"InvalidRequest\"}"}'
fault me '{"method":"applyWrites","status":400,"text":"{\"error\":\"InvalidRequest\"}"}'
fault me '{"method":"putRecord","status":400,"text":"{\"error\":\"InvalidRequest\",\"message\":\"bad\"}"}'
rows 1 20 6 >"$tmp/rows"
put
is "$status $(lines "$out")" "2 19" \
  "a row that the server refuses keeps no other from being written"
err_like '^pds-record: standard input:1: .*InvalidRequest: bad' "the unwanted line is named"
: >"$tmp/me.log"
printf '%s\n' "{\"rkey\":\"big1\",\"value\":{\"t\":\"$(printf '%0600000d' 0)\"}}" \
  "{\"rkey\":\"big2\",\"value\":{\"t\":\"$(printf '%0600000d' 0)\"}}" >"$tmp/rows"
put
is "$status $(asked me putRecord)" "0 2" "no commit is larger than a request"

# --- lines that come one by one

mkfifo "$tmp/feed"
start slow sh -c "exec pds-record put $task <$tmp/feed"
exec 5>"$tmp/feed"
for number in 1 2 3; do
  rows $number $number 7 >&5
  wait_until 20 at_least "$tmp/slow.out" $number
done
exec 5>&-
finished "$pid"
is "$status $(lines "$tmp/slow.out")" "0 3" "lines that come one by one are written at once"

# --- an account that is not active

rows 1 20 8 >"$tmp/rows"
echo deactivated >"$tmp/me.faults.state"
put
status_is 77 "rows of an account that may not write have status 77"
err_one_line pds-record "one line says that an account may not write"

done_testing
