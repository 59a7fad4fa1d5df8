#!/bin/sh
# agent-serve: a subscriber that does not read, and many at once.
. "${0%/*}/../lib.sh"
needs agent-serve curl jq python3
client() { bounded 60 python3 "$cli/clients/serve.py" "$@"; }

start_server serve agent-serve -l 127.0.0.1:0 -D :memory: --max-backlog 1000000
ok "a client that does not read is cut off, and others get all at once" client slow "$url" 8000000
stop "$pid"
is "$status" 0 "the server ends as ever after slow clients"

start_server many agent-serve -l 127.0.0.1:0 -D :memory:
is "$(client many "$url" 200 500)" "each 500" "200 subscribers get 500 actions each, in order"
descriptors() { [ ! -d "/proc/$pid/fd" ] || [ "$(ls "/proc/$pid/fd" | wc -l)" -lt 100 ]; }
ok "subscribers that left are forgotten" wait_until 30 descriptors

# --- long beginnings that nobody reads
start_server long agent-serve -l 127.0.0.1:0 -D "$tmp/long.sqlite"
for number in $(seq 22); do
  python3 -c 'for _ in range(10): print("{\"kind\":\"llm_call\",\"metadata\":{\"x\":\"" + "x" * 200000 + "\"}}")' |
    curl -sf -o /dev/null --data-binary @- "$url/api/actions" || bail "post $number"
done
if [ -r "/proc/$pid/statm" ]; then
  bound=60
  run python3 "$cli/clients/serve.py" unread "$url" 20 "$pid"
  read -r actions megabytes <"$out"
  is "$actions" 220 "a client behind twenty that do not read gets all of 44 MB"
  ok "the server has a long beginning once ($megabytes MB)" test "$megabytes" -lt 400
else
  skip 2 "nobody tells how much memory it has"
fi
stop "$pid"

# --- more connections than descriptors
start_server few sh -c 'ulimit -n 64; exec agent-serve "$@"' sh -l 127.0.0.1:0 -D :memory:
start crowd python3 "$cli/clients/serve.py" crowd "$url" 100
crowd=$pid
ok "too many connections are told" wait_until 30 has "$tmp/few.err" "too many open files"
ok "all connections have come" wait_until 60 has "$tmp/crowd.out" crowded
stop "$crowd"
answers() { [ "$(curl -s -m 2 "$url/api/health")" = '{"ok":true}' ]; }
ok "the server goes on behind too many connections" wait_until 30 answers
done_testing
