#!/bin/sh
# sse-tail over TLS: whom it believes.
. "${0%/*}/../lib.sh"
needs openssl python3

start_tls '' '{}' 'event: hello
data: {}

'

t 0 "an authority that is named is believed" sse-tail --cacert "$tmp/authority" -n 1 "$url/"
out_is '{"event":"hello","id":"","data":{}}' "and the event arrives"

t 75 "a certificate that nobody vouches for is refused" sse-tail -v --max-retries 0 "$url/"
out_empty "nothing is printed"
err_like "certificate" "and the reason is said"

t 75 "the certificate is for another name" \
  sse-tail --cacert "$tmp/authority" --max-retries 0 "https://127.0.0.1:$port/"
out_empty "nothing is printed"

run sse-tail --cacert "$tmp/missing" --max-retries 0 "$url/"
isnt "$status" 0 "a file that is not there"
out_empty "it believes nobody"
err_like "^sse-tail: " "the message says so"

done_testing
