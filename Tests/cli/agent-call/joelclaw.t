#!/bin/sh
# The parts of a joelclaw system: Inngest, the worker, Redis, Qdrant, Kubernetes, the gateway.
. "${0%/*}/../lib.sh"
. "${0%/*}/../joelgate.sh"
needs agent-call jq python3 redis-server redis-cli

config=$XDG_CONFIG_HOME/agentutils/config
call() { run agent-call -p joel "$@"; }
fault() { printf '%s\n' "$*" >"$tmp/parts.words"; }

# A real Redis, with a password.
redis=$(free_ports)
printf 'r3dis "pass" word\n' >"$tmp/redis.password"
chmod 600 "$tmp/redis.password"
{
  printf 'port %s\nbind 127.0.0.1\nsave ""\ndir %s\n' "$redis" "$tmp"
  printf 'requirepass "r3dis \\"pass\\" word"\n'
} >"$tmp/redis.conf"
start redis redis-server "$tmp/redis.conf"
redis_says() { REDISCLI_AUTH='r3dis "pass" word' redis-cli -p "$redis" "$@"; }
wait_until 20 redis_says PING || bail "no Redis"
redis_says XADD joelclaw:gateway:messages '*' text one >/dev/null
redis_says SET agent-loop:prd:L1 '{"title":"Tide\u001b[31m gauge","stories":[{"id":"a","title":"read","passes":true},
{"id":"b","title":"plot","skipped":true},{"id":"c","title":"send"}]}' >/dev/null
redis_says SET agent-loop:prd:L2 '{"title":"Done","stories":[{"id":"a","passes":true}]}' >/dev/null
redis_says SET 'agent-loop:prd:odd "key"' 'rubbish' >/dev/null

start_server parts python3 "$cli/servers/joelparts.py" --log "$tmp/queries" \
  --control "$tmp/parts.words"
parts=$url
mkdir "$tmp/bin"
cat >"$tmp/bin/kubectl" <<'END'
#!/bin/sh
# Stands for kubectl: two pods, of which one is not ready.
[ "$*" = '--context=harbour get pods -A -o json' ] || { echo "bad words: $*" >&2; exit 1; }
echo '{"items":[{"metadata":{"name":"a"},"status":{"phase":"Running","containerStatuses":[{"ready":true}]}},
{"metadata":{"name":"b"},"status":{"phase":"Pending"}},{"metadata":{"name":"c"},"status":{"phase":"Succeeded"}}]}'
END
chmod +x "$tmp/bin/kubectl"
PATH=$tmp/bin:$PATH
start_joelgate joel
cat >>"$config" <<END
inngest-url = $parts
worker-url = $parts/
redis-url = redis://127.0.0.1:$redis/0
redis-password-file = $tmp/redis.password
qdrant-url = $parts
END

# --- health

call -o tsv health
status_is 0 "a system that is well has status 0"
is "$(cut -f 1,2,4 "$out" | tr '\t' '|')" 'gateway|healthy|
inngest|healthy|
worker|healthy|2 functions
redis|healthy|1 prompt, 0 events
qdrant|healthy|1 collection' "each part has a line of health"
call health
is "$(jq -r '.type + " " + (.latency_ms | type)' "$out" | sort -u)" "health number" \
  "the parts are records"
redis_says SET joelclaw:mode redis_degraded >/dev/null
redis_says SET system:sleep 1 >/dev/null
fault twice
tell joel health 503 '{"ok":false,"available":true,"healthy":false,"mode":"normal","components":{"session":"stuck for 90 s"},"reason":"no turn_end"}'
printf 'kubectl-context = harbour\n' >>"$config"
call -o tsv health
status_is 1 "a system that is not well has status 1"
is "$(cut -f 1,2,4 "$out" | tr '\t' '|')" 'gateway|degraded|session stuck for 90 s, no turn_end
inngest|healthy|
worker|degraded|2 functions, 1 registered twice
redis|degraded|1 prompt, 0 events, mode redis_degraded, asleep
qdrant|healthy|1 collection
kubernetes|degraded|3 pods, 1 not ready: b' "the pod that is not ready is named"
fault slow
call -o tsv --max-time 1 health
status_is 1 "parts that do not answer make health end with status 1"
is "$(cut -f 1,2,4 "$out" | grep -c 'timeout	no answer in ')" 3 \
  "parts that do not answer are told apart from those that are not there"
like "$(cat "$out")" '^redis	degraded' "parts that do not answer keep no other from being asked"
fault

# --- lists

call -o tsv runs
status_is 0 "the runs are listed"
is "$(cut -f 1-3,6 "$out" | tr '\t' '|')" '01A|Tide table|running|
01B|Mail|done|
01C|Tide table|done|
01D|Mail|failed|no such mailbox
01E|f-9|waiting|
01F|Tide table|cancelled|' "runs have the names of their functions, and what has ended is done"
call runs -n 2 -S 2h
is "$(jq -r '.type + " " + .kind + " " + .backend' "$out" | uniq -c | tr -s ' ')" ' 2 task job joelclaw' \
  "-n limits the runs, which are tasks"
like "$(grep runs "$tmp/queries" | tail -n 1)" 'first:2' "no more runs are asked for than -n"
call functions
is "$(jq -r '.slug' "$out" | xargs)" "sys-tides sys-mail" "the functions are listed"
fault odd
run python3 "$cli/terminal.py" agent-call -p joel functions
out_unlike "$(printf '\033')\[31m" "the name of a function is made visible"
fault
call logs -n 3
is "$(jq -r '.id' "$out" | xargs)" "e0 e1 e2" "the logs are listed"
call workers
is "$(jq -c '[.service, .worker.role]' "$out")" '["worker","host"]' \
  "the worker's own words are printed"
out_like '"n": 1\.1' "the worker's words are printed as they came"
call -o tsv loops
status_is 0 "the loops are listed"
is "$(cut -f 1-3,6 "$out" | tr '\t' '|')" 'L1|Tide\e[31m gauge|running|2 of 3, 1 skipped, next: send
L2|Done|done|1 of 1' "each loop says how far it is"
err_like 'agent-loop:prd:odd "key": not the state of a loop' \
  "a key that is not the state of a loop is named"

# --- faults

fault fault
call runs
status_is 2 "an error in GraphQL has status 2, whatever its status"
err_like '^agent-call: http://127.0.0.1:[0-9]+: the query is bad' "the fault of the query is told"
err_unlike "$(printf '\033')" "the fault of the query is made visible"
fault plain
call runs
status_is 75 "a page in place of an answer has status 75"
fault
chmod 644 "$tmp/redis.password"
call loops
status_is 77 "a password that others can read is refused"
chmod 600 "$tmp/redis.password"
printf 'wrong\n' >"$tmp/redis.password"
call loops
status_is 77 "a wrong password has status 77"
err_like 'WRONGPASS' "a wrong password is told as such"
err_unlike 'wrong ' "a wrong password is not shown"
call -o tsv health
like "$(cat "$out")" '^redis	down	.*WRONGPASS' "health tells a wrong password, too"
sed 's/^redis-url.*/redis-url = redis:\/\/u:hush@127.0.0.1:1/' "$config" >"$tmp/other" &&
  cat "$tmp/other" >"$config"
call loops
status_is 2 "a password in the url is refused"
err_unlike hush "a password in the url is not shown"
sed '/^redis/d; s/^worker-url.*/worker-url = http:\/\/127.0.0.1:1/' "$config" >"$tmp/other" &&
  cat "$tmp/other" >"$config"
call loops
status_is 2 "without a url of Redis there are no loops"
err_is "agent-call: joel: no redis-url is set; see agentutils.conf(5)" \
  "the message names what is missing"
call workers
status_is 75 "a worker that is not there has status 75"
stop "$(cat "$tmp/joel.pid")"
call -o tsv health
like "$(cat "$out")" '^gateway	down	' "the other parts are asked without the gateway"
printf '[profile none]\nkind = joelclaw\nurl = ws://127.0.0.1:1\n' >>"$config"
t 75 "a system of which nobody answers has status 75" agent-call -p none health
t 2 "a word that is not known for joelclaw is refused" agent-call -p joel stats
done_testing
