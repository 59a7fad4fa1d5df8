# Sourced by the tests of the two streams.

# head_is_the_dashboards FILE: the head of a stream in FILE, as curl -i wrote it.
head_is_the_dashboards() {
  tr -d '\r' <"$1" | sed '/^$/q;s/^\(Date: \).* GMT$/\1now/' | sort >"$tmp/head"
  is "$(cat "$tmp/head")" "
Cache-Control: no-cache
Connection: keep-alive
Content-Type: text/event-stream
Date: now
HTTP/1.1 200 OK
Transfer-Encoding: chunked
X-Accel-Buffering: no" "the head of the stream is the dashboard's"
}

# post TEXT: actions.
post() { curl -s -d "$1" "$url/api/actions" >/dev/null; }

# field NAME FILE: the values of a field of the events in FILE.
field() { sed -n "s/^$1: //p" "$2"; }
