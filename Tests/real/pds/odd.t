#!/bin/sh
# pds-record beside the reference server: records that it cannot give, and that are brought back.
. "${0%/*}/lib.sh"
needs pds-record jq python3 curl

did=$(pds-record login | jq -r .did)
token=$(curl -s http://127.0.0.1:2590/xrpc/com.atproto.server.createSession \
  -H 'Content-Type: application/json' \
  -d "{\"identifier\":\"$did\",\"password\":\"ada-main-password\"}" | jq -r .accessJwt)
call() { # KEY: the record on standard input, as it is
  { printf '{"repo":"%s","collection":"%s","rkey":"%s","record":' "$did" "$c" "$1"; cat; printf '}'; } |
    curl -s -X POST http://127.0.0.1:2590/xrpc/com.atproto.repo.putRecord --data-binary @- \
      -H "Authorization: Bearer $token" -H 'Content-Type: application/json'
}

# --- one that the server fails at for ever

# How deep it must be depends on how much the server has done so far.
deep() {
  python3 -c 'import sys; n = int(sys.argv[1]); print("{\"v\":" + "[" * n + "]" * n + "}")' "$1" | call m
}
kept=
for depth in $(seq 60 | sed 's/.*/900/') 3000 3200 3400 2800 2600 2400 3600 4000; do
  deep "$depth" >"$tmp/other"
  [ "$depth" != 900 ] || continue
  curl -s "http://127.0.0.1:2590/xrpc/com.atproto.repo.getRecord?repo=$did&collection=$c&rkey=m" |
    grep -q InternalServerError && { kept=yes; break; }
done
[ -n "$kept" ] || skip_all "this server takes no record that it cannot give"
for key in a b y z; do echo "{\"n\":1}" | pds-record put "$c" $key; done >"$tmp/other"
t 2 "a record that is nested too deep" pds-record list "$c"
is "$(jq -r '.uri | split("/")[-1]' "$out" | xargs)" "z y b a" "keeps no other from being listed"
err_like "at://$did/$c/m: 500 .*; passed over" "and is named"
t 2 "the other way round" pds-record list --reverse "$c"
is "$(jq -r '.uri | split("/")[-1]' "$out" | xargs)" "a b y z" "too"
printf '%s\n' a m z >"$tmp/lines"
t 2 "of several" sh -c "pds-record get $c <$tmp/lines"
is "$(jq -r '.uri | split("/")[-1]' "$out" | xargs)" "a z" "the others are read"
err_like 'input:2: 500' "and it is named"
t 2 "a watch" pds-record watch --from 0 -n 5 "$c"
err_like "$c/m: a record could not be fetched: 500" "passes it over, too"
t 0 "it can be deleted" pds-record delete "$c" m

# --- what can be read can be put back

n=0
for value in '{"$bytes":"AQI="}' '{"$bytes":"AQI"}' '{"$bytes":""}' '{"$bytes":"a!"}' \
  '{"$bytes":"AQI=="}' '{"$bytes":"A"}' '{"$bytes":"A Q I="}' '{"$bytes":"===="}' '{"$bytes":5}' \
  '{"$bytes":"AQI=","x":1}' '{"$link":"x"}' '{"$link":"bafy"}' '{"$link":""}' \
  '{"$link":"bafyreighusodssr3fxenpbozzqmenwm3lqbmygrtjwm4k65jnmwfk2pwk4"}'; do
  n=$((n + 1))
  printf '{"v":%s}' "$value" | call "o$n" >"$tmp/other"
done
python3 -c 'print("{\"t\":\"" + "x" * 996500 + "\"}")' | call large >"$tmp/other"
pds-record list "$c" >"$tmp/rows"
for each in $(jq -r '.uri | split("/")[-1]' "$tmp/rows"); do echo "$each"; done |
  pds-record delete "$c" >"$tmp/other"
t 1 "all is deleted" pds-record list "$c"
t 0 "and brought back" sh -c "pds-record put <$tmp/rows"
err_empty "without a word"
is "$(pds-record list "$c" | jq -cS '[.uri, .cid]' | cksum)" "$(jq -cS '[.uri, .cid]' "$tmp/rows" | cksum)" \
  "it is the same"

done_testing
