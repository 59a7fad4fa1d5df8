#!/bin/sh
# sse-tail over TLS: whom it believes.
. "${0%/*}/../lib.sh"
needs openssl python3

start_tls '' '{}' 'event: hello
data: {}

'

t 0 "an authority that is named is believed" sse-tail --cacert "$tmp/authority" -n 1 "$url/"
out_is '{"event":"hello","id":"","data":{}}' "an event arrives over TLS"

t 75 "a certificate that nobody vouches for is refused" sse-tail -v --max-retries 0 "$url/"
out_empty "nothing is printed of a certificate that nobody vouches for"
err_like "certificate" "the message tells of the certificate"

t 75 "a certificate for another name is refused" \
  sse-tail --cacert "$tmp/authority" --max-retries 0 "https://127.0.0.1:$port/"
out_empty "nothing is printed of a certificate for another name"

run sse-tail --cacert "$tmp/missing" --max-retries 0 "$url/"
isnt "$status" 0 "an authority's file that is not there is an error"
out_empty "nothing is printed without the authority's file"
err_like "^sse-tail: " "the message speaks of the missing file"

done_testing
