#!/bin/sh
# pds-record watch beside the reference server: what was missed is told, and no call is spent on it.
. "${0%/*}/lib.sh"
needs pds-record jq curl python3

# --- a replay, from the blocks of the commits

seq 300 | jq -c '{n: ., link: {"$link": "bafyreighusodssr3fxenpbozzqmenwm3lqbmygrtjwm4k65jnmwfk2pwk4"}, bytes: {"$bytes": "AQI"}}' |
  pds-record create "$c" >"$tmp/made"
sleep 1
forget
t 0 "300 commits" pds-record watch --from 0 -n 300 "$c"
is "$(jq -r '.data.ops[0].value.n' "$out" | xargs)" "$(seq 300 | xargs)" "are told in their order"
is "$(calls getRecord)" 0 "without a call for each"
is "$(head -n 1 "$out" | jq -cS '.data.ops[0].value')" \
  "$(pds-record get "$c" "$(head -n 1 "$tmp/made" | jq -r '.uri | split("/")[-1]')" | jq -cS .value)" \
  "each record as the server gives it"
is "$(jq -r .event "$out" | sort -u)" "#commit" "and nothing else with a collection"

# --- a line that breaks before its first event

start watch pds-record watch -L --retry-wait 0.2 "$c"
watching=$pid
wait_until 20 has "$tmp/watch.out" '"type":"open"' || bail "not open"
link cut
wait_until 20 has "$tmp/watch.out" '"type":"lost"'
for n in 1 2 3; do echo "{\"m\":$n}" | pds-record -p ada-direct put "$c" "m$n"; done >"$tmp/other"
link ok
wait_until 20 has "$tmp/watch.out" '"m":3'
echo '{"m":4}' | pds-record put "$c" m4 >"$tmp/other"
wait_until 20 has "$tmp/watch.out" '"m":4'
stop "$watching" INT
is "$(jq -r 'select(.event).data.ops[].value.m' "$tmp/watch.out" | xargs)" "1 2 3 4" \
  "loses nothing, and repeats nothing"

# --- a proxy that hands no upgrade on

python3 - "$tmp/proxy" <<'END' &
import http.server, sys, urllib.error, urllib.request
class Proxy(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self):
        try:
            answer = urllib.request.urlopen('http://127.0.0.1:2590' + self.path)
        except urllib.error.HTTPError as error:
            answer = error
        text = answer.read()
        self.send_response(answer.status)
        self.send_header('Content-Type', answer.headers['Content-Type'])
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Proxy)
print(server.server_port, file=open(sys.argv[1], 'w'), flush=True)
server.serve_forever()
END
proxy=$!
started="$started $proxy"
wait_until 20 test -s "$tmp/proxy"
start watch env AGENT_URL="http://127.0.0.1:$(cat "$tmp/proxy")" XDG_CONFIG_HOME="$tmp/none" \
  pds-record watch -L --retry-wait 0.2 --repo ada.test "$c"
watching=$pid
wait_until 20 has "$tmp/watch.out" '"type":"open"' || diag "$(cat "$tmp/watch.err")"
echo '{"m":5}' | pds-record put "$c" m5 >"$tmp/other"
wait_until 20 has "$tmp/watch.out" '"m":5'
ok "behind a proxy without upgrades it polls" has "$tmp/watch.out" '"by":"poll"'
stop "$watching" INT

done_testing
