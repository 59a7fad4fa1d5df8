#!/bin/sh
# Streams are asked for as they are. What comes encoded all the same is read, or refused by
# name: the same question would only bring the same answer.
. "${0%/*}/../lib.sh"
needs sse-tail agent-call jq python3

serve </dev/null
follow() { run sse-tail --retry-wait 0.01 "$@" "$url/s"; }
asked() { requests .n | wc -l | tr -d ' '; }
python3 - "$tmp" <<'E'
import gzip, os, sys, zlib
os.chdir(sys.argv[1])
events = [b"id: %d\ndata: %d\n\n" % (n, n) for n in range(1, 4)]
whole = b"".join(events)
raw = zlib.compressobj(wbits=-15)
for name, data in {
    "gzip": gzip.compress(whole), "members": b"".join(map(gzip.compress, events)),
    "deflate": zlib.compress(whole), "raw": raw.compress(whole) + raw.flush(),
    "damaged": gzip.compress(whole)[:10] + b"\xff" * 40,
}.items():
    open(name, "wb").write(data)
E

script <<'S'
stream
send data: 1\n\n
S
follow
is "$(requests '.headers["accept-encoding"]' | sort -u)" identity "no encoding is asked for"

# encoded ENCODING FILE: a stream for ever, in an encoding.
encoded() { printf '%s\n' forever stream "+ Content-Encoding: $1" "file $2" | script; }
for each in gzip:gzip x-gzip:gzip deflate:deflate deflate:raw; do
  encoded "${each%:*}" "${each#*:}"
  follow -n 3
  is "$status $(jq -r .data "$out" | tr '\n' ' ')" "0 1 2 3 " "${each%:*} is read (${each#*:})"
done
for each in compress:gzip utf-8:gzip gzip:members gzip:damaged 'gzip, nonsense:gzip'; do
  encoded "${each%:*}" "${each#*:}"
  follow --max-retries 2
  is "$status $(asked)" "2 1" "$each is refused for good"
  is "$(cat "$err")" "sse-tail: $url/s: the encoding of the answer cannot be read (${each%:*})" \
    "$each is named"
done
encoded gzip members
follow --max-retries 2 -H 'Accept-Encoding: gzip'
status_is 2 "an encoding that was asked for is refused, too"

# --- errors, and single answers
printf '%s\n' 'status 401 text/plain no' '+ Content-Encoding: compress' | script
follow
is "$status $(asked)" "77 1" "a refusal is final, however it is encoded"
printf '%s\n' 'status 503 text/plain no' '+ Content-Encoding: compress' | script
follow
is "$status $(asked)" "0 2" "a failure that passes is asked again"
AGENT_URL=$url
export AGENT_URL
printf '%s\n' forever 'status 200 application/json {}' '+ Content-Encoding: compress' | script
t 2 "an answer that cannot be read is an error" agent-call health
err_like 'the encoding of the answer cannot be read \(compress\)$' "the encoding is named"
done_testing
