# shellcheck shell=sh
# certificates.sh: two certificates that nobody has signed, first and second, and servers that show
# one of them. Sourced behind lib.sh.
#
#   front NAME         TLS before the server at $port (servers/tls_front.py); $host
#   shows first        which certificate they have from now on; at first it is the first
#   digits first       its fingerprint      printed first   the same as openssl prints it
#   heard NAME         what was said to a server
#   connections NAME   how many of its connections were made

# shellcheck disable=SC2154  # of lib.sh
: "$tmp" "$cli"
needs openssl python3 jq
# As a gateway makes its own: no other name than this one.
for _name in first second; do
  openssl req -x509 -newkey rsa:2048 -sha256 -days 3650 -nodes -keyout "$tmp/$_name.key" \
    -out "$tmp/$_name.pem" -subj /CN=openclaw-gateway 2>/dev/null ||
    bail "openssl makes no certificate"
done
printed() { openssl x509 -noout -fingerprint -sha256 -in "$tmp/$1.pem" | sed 's/.*=//'; }
digits() { printed "$1" | tr -d : | tr A-F a-f; }
# A connection that is made meanwhile finds a key and its certificate.
shows() {
  cat "$tmp/$1.key" "$tmp/$1.pem" >"$tmp/shown.next"
  mv "$tmp/shown.next" "$tmp/shown"
}
shows first
front() {
  : >"$tmp/$1.tls"
  start_server "$1.front" python3 "$cli/servers/tls_front.py" "127.0.0.1:$port" "$tmp/shown" \
    "$tmp/$1.tls"
  # shellcheck disable=SC2034  # read by the tests
  host=127.0.0.1:$port
}
# What a client said may come behind its end.
is_settled() {
  jq -es '(map(select(.what == "begin").connection) - map(select(.what == "end").connection)) == []' \
    "$tmp/$1.tls"
}
heard() {
  wait_until 10 is_settled "$1" || diag "$1: a connection goes on"
  jq -r 'select(.what == "bytes") | .text' "$tmp/$1.tls"
}
connections() { jq -r 'select(.what == "begin") | .connection' "$tmp/$1.tls" | wc -l | tr -d ' '; }
