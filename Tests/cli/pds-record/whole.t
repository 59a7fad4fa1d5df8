#!/bin/sh
# pds-record export and blob: a whole repository, and files.
. "${0%/*}/../lib.sh"
needs pds-record jq curl python3
needs_peers
. "${0%/*}/../pds.sh"
start_pds me
seq 300 | jq -c '{rkey: "k\(.)", value: {n: ., list: [{x: "é"}], b: {"$bytes": "AQI"}}}' >"$tmp/rows"
pds-record put $task <"$tmp/rows" >"$tmp/made"
echo '{"m":1}' | pds-record put com.example.other self >"$tmp/other"

t 0 "all records are exported" pds-record export
is "$(lines "$out")" 301 "301 records are printed"
is "$(jq -r .uri "$out" | LC_ALL=C sort -c && echo sorted)" sorted \
  "exported records are sorted by collection and key"
jq -cS 'select(.uri | contains("task.item")) | [.uri, .cid, .value]' "$out" | sort >"$tmp/ours"
pds-record list $task | jq -cS '[.uri, .cid, .value]' | sort >"$tmp/theirs"
ok "exported records are as lists have them" cmp "$tmp/ours" "$tmp/theirs"
cp "$out" "$tmp/all"
pds-record list $task | pds-record delete >"$tmp/other"
t 0 "exported records are brought back" sh -c "pds-record put <$tmp/all"
is "$(pds-record list $task | jq -r .cid | sort | cksum)" \
  "$(jq -r 'select(.uri | contains("task.item")).cid' "$tmp/all" | sort | cksum)" \
    "records that are brought back are as they were"
t 0 "the file itself is exported" pds-record export --car
is "$(jq -Rrs 'contains("roots")' "$out" 2>/dev/null):$(head -c 7 "$out" | tail -c 5)" "true:eroot" \
  "--car prints the file that the server has" || head -c 20 "$out" | od -c
t 1 "a repository that is not there has status 1" pds-record --repo did:web:nobody.test export
fault me '{"method":"getRepo","status":200,"headers":{"Content-Type":"text/html"},"text":"<html>"}'
t 75 "a page is not taken for a repository" pds-record export
fault me '{"method":"getRepo","status":200,"headers":{"Content-Type":"application/vnd.ipld.car"},"text":"none"}'
t 2 "a file that cannot be read is an error" pds-record export

# --- blobs

start_server faulty python3 "$cli/servers/faulty_pds.py" "$tmp/log"
printf '[profile blobs]\nkind = pds\nurl = %s/blobs\nidentifier = did:web:a.test\ntoken-command = echo password\n[profile portal]\nkind = pds\nurl = %s/portal\nidentifier = did:web:a.test\n' \
  "$url" "$url" >>"$XDG_CONFIG_HOME/agentutils/config"
AGENT_PROFILE=blobs
export AGENT_PROFILE
printf '<html>\000\377' >"$tmp/blob"
t 0 "a file is sent" sh -c "pds-record blob put image/x-odd <$tmp/blob"
is "$(jq -c '[."$type", .mimeType, .size]' "$out")" '["blob","image/x-odd",8]' \
  "a file that was sent is kept"
cid=$(jq -r '.ref."$link"' "$out")
t 0 "a file is fetched by its CID" pds-record blob get "$cid"
ok "a fetched file is the same, byte for byte" cmp "$out" "$tmp/blob"
t 1 "a file that is not there has status 1" \
  pds-record blob get bafkreihlg4lgb2gzy6ptcqzm4bavz2cbnmqjzrydmuneyufgbp754cefci
t 75 "a page is not taken for a file" pds-record -p portal blob get "$cid"
out_empty "nothing is printed of a page"
t 2 "a file that the server does not want is an error" \
  sh -c "pds-record blob put text/none <$tmp/blob"
err_like 'InvalidMimeType' "the type is named"

done_testing
