#!/bin/sh
# The parts of a joelclaw system that are odd, hostile or badly configured.
. "${0%/*}/../lib.sh"
. "${0%/*}/../joelgate.sh"
needs agent-call jq python3 redis-server redis-cli

config=$XDG_CONFIG_HOME/agentutils/config
call() { run agent-call -p joel "$@"; }
fault() { printf '%s\n' "$*" >"$tmp/parts.words"; }
# profile LINE...: a profile whose gateway is not there.
profile() {
  printf '[profile joel]\nkind = joelclaw\nurl = ws://127.0.0.1:1\n' >"$config"
  printf '%s\n' "$@" >>"$config"
}
row() { awk -F '\t' -v part="$1" '$1 == part { print $2 "|" $4 }' "$out"; }

start_server parts python3 "$cli/servers/joelparts.py" --log "$tmp/queries" \
  --control "$tmp/parts.words"
parts=$url
redis=$(free_ports)
printf 'port %s\nbind 127.0.0.1\nsave ""\ndir %s\n' "$redis" "$tmp" >"$tmp/redis.conf"
start redis redis-server "$tmp/redis.conf"
redis_says() { redis-cli -p "$redis" "$@" >/dev/null; }
wait_until 20 redis_says PING || bail "no Redis"
mkdir "$tmp/bin"
PATH=$tmp/bin:$PATH
# stand_in NAME: a program of that name in front of all others, from standard input.
stand_in() {
  { echo '#!/bin/sh' && cat; } >"$tmp/bin/$1"
  chmod +x "$tmp/bin/$1"
}
none_left() { ! ps -eo args | grep -q "[s]leep $1"; }

# --- what is secret

profile 'redis-url = redis://u:hush@127.0.0.1:1' 'inngest-url = http://u:hush@127.0.0.1:1' \
  'worker-url = http://u:hush@127.0.0.1:1' 'qdrant-url = http://127.0.0.1:1/?api_key=hush'
: >"$tmp/said"
for words in health runs workers loops; do
  call -v "$words"
  cat "$out" "$err" >>"$tmp/said"
done
not_ok "a password in a URL is not shown" grep -q hush "$tmp/said"
ok "a user in a URL is refused" \
  has "$tmp/said" 'worker-url: names a user: no part but the gateway gets a cred'
profile "redis-url = redis://joel@127.0.0.1:$redis"
call loops
err_is "agent-call: redis-url: names a user: only the usual one can log in" \
  "a user of Redis is refused, too"
printf 'hush\n' >"$tmp/password"
chmod 600 "$tmp/password"
stand_in redis-cli <<END
cat >"$tmp/got"
END
profile 'redis-url = redis://192.0.2.1' "redis-password-file = $tmp/password"
call loops
status_is 2 "a password of Redis does not go in clear text to another machine"
err_is "agent-call: redis://192.0.2.1:6379: the password would travel in clear text; use rediss" \
  "the message says that the password would travel in clear text"
call health
status_is 2 "health has status 2 where trying again would not help"
not_ok "the password of Redis is not sent in clear text" test -e "$tmp/got"
profile 'redis-url = rediss://192.0.2.1' "redis-password-file = $tmp/password"
call loops
like "$(cat "$tmp/got")" '^AUTH "hush"' "the password of Redis is sent over TLS"

# --- programs

stand_in redis-cli <<'END'
exit 127
END
profile "redis-url = redis://127.0.0.1:$redis" "worker-url = $parts"
codes=
for _ in 1 2 3 4 5 6; do
  call loops
  codes="$codes $status"
done
is "$codes" " 75 75 75 75 75 75" "a program that does not read what it is given has status 75"
call -o tsv health
is "$(row worker)" "healthy|2 functions" \
  "a program that does not read keeps no other part from being asked"
stand_in kubectl <<'END'
exec >&- 2>&-
exec sleep 20.125
END
profile 'kubectl-context = c'
start=$(date +%s)
call -o tsv --max-time 1 health
is "$(row kubernetes)" "timeout|no answer in 1 s" \
  "a program that prints no more and stays is timed out"
ok "a program that prints no more does not hold up the command" test $(($(date +%s) - start)) -lt 8
ok "a program that prints no more is ended" wait_until 20 none_left 20.125
stand_in kubectl <<'END'
sleep 20.25
END
call --max-time 0.5 health
ok "what a program started is ended with it" wait_until 20 none_left 20.25
stand_in kubectl <<'END'
sleep 20.375
END
start interrupted agent-call -p joel health
wait_until 20 sh -c 'ps -eo args | grep -q "[s]leep 20.375"'
kill -INT "$pid"
finished "$pid"
is "$status" 130 "^C ends the command"
ok "the programs end with the command" wait_until 20 none_left 20.375
stand_in kubectl <<'END'
echo '{"items":7}'
END
call -o tsv health
is "$(row kubernetes)" "down|kubectl printed no pods" "what lists no pods is down"
stand_in redis-cli <<'END'
cat >/dev/null
echo '["5",["agent-loop:prd:a"]]'
END
profile "redis-url = redis://127.0.0.1:$redis"
call loops
status_is 75 "a list of keys without an end has status 75"
err_like 'the list of keys did not end in time' \
  "a list of keys without an end is cut, which is told"
rm "$tmp/bin/redis-cli"

# --- Redis

redis_says SET agent-loop:prd:A '{"title":"zero","stories":[]}'
redis_says -n 2 SET agent-loop:prd:B '{"title":"two","stories":[]}'
said=
for path in '' / /0 /2 /two /-1 '?db=2' /2/x /99; do
  profile "redis-url = redis://127.0.0.1:$redis$path"
  call -o tsv loops
  said="$said $status:$(cut -f 2 "$out")"
done
is "$said" " 0:zero 0:zero 0:zero 0:two 2: 2: 2: 2: 2:" \
  "a database is named by its number, and by nothing else"
err_like 'DB index is out of range' "a database that is not there is told"
profile "redis-url = redis://127.0.0.1:80"
call loops
err_like '127.0.0.1:80: Conn' "port 80 is port 80"
profile "redis-url = redis://127.0.0.1:$redis"
redis_says SET joelclaw:gateway:messages text
call -o tsv health
like "$(row redis)" '^degraded.WRONGTYPE' "a command of Redis that fails is told"
printf '{"title":"caf\351","stories":[]}' | redis-cli -p "$redis" -x SET agent-loop:prd:Z >/dev/null
redis_says SET "$(printf 'agent-loop:prd:k\351')" '{"title":"q","stories":[]}'
redis_says HSET agent-loop:prd:H a b
call -o tsv loops
status_is 0 "keys and values that are odd have status 0"
is "$(cut -f 1,2 "$out" | tr '\t' ' ')" "A zero
Z caf$(printf '\357\277\275')" "odd keys and values leave the others as they are"
is "$(sed 's/: .*//' "$err" | uniq -c | tr -s ' ')" " 2 agent-call" "both odd keys are named"
err_like 'agent-loop:prd:H: no text stands there' "a key that holds no text is told as such"
python3 - <<'END' | redis-cli -p "$redis" --pipe >/dev/null
for number in range(60):
    key = "agent-loop:prd:%03d%s" % (number, "k" * 2500)
    text = '{"title":"long","stories":[]}'
    print("*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%d\r\n%s\r" % (len(key), key, len(text), text))
END
call -o tsv loops
is "$(cut -f 2 "$out" | grep -c long)" 60 "many long keys are all read"

# --- answers

profile "inngest-url = $parts" "worker-url = $parts" "qdrant-url = $parts"
for word in page empty stopped refuse; do
  fault "$word"
  call -o tsv health
  is "$status $(row inngest), $(row worker), $(row qdrant)" "$(
    case $word in
    page) echo "75 down|the answer is not Inngest's, down|the answer is no object, down|the answer is not Qdrant's" ;;
    empty) echo "1 healthy|, degraded|it says no status, down|the answer is not Qdrant's" ;;
    stopped) echo "1 healthy|, degraded|stopped, 2 functions, healthy|1 collection" ;;
    refuse) echo "77 down|401 Unauthorized, down|401 Unauthorized, down|401 Unauthorized" ;;
    esac
  )" "a health of parts whose answer is $word is told"
done
call workers
status_is 77 "a worker that wants a token has status 77"
err_like '401 Unauthorized: worker gets no token$' \
  "a worker that wants a token is told that it gets none"
for words in bare words; do
  fault "$words"
  for list in runs functions logs; do
    call "$list"
    printf '%s %s\n' "$status" "$(sed "s|$parts||; s/.*: //" "$err")"
  done
done >"$tmp/said"
is "$(cat "$tmp/said")" '2 the answer has no runs
2 the answer has no functions
2 the answer has no logs
2 boom
2 boom
2 boom' "an answer without the list, or with errors of any form, has status 2"
fault many
call -n 120 runs
is "$(jq -r .state "$out" | sort | uniq -c | tr -s ' ' | tr '\n' ,)" " 119 done, 1 running," \
  "any number of runs is looked up"
err_is "agent-call: 1 of the runs that the list shows at work could not be looked up: no such run" \
  "a run that cannot be looked up is told"
fault endless
call -n 1200 runs
is "$(lines "$out")" 1000 "no more than a thousand rows come"
err_like 'there may be more than these 1000' "the message says that there may be more"

start_joelgate guarded --token right
printf 'token-command = echo wrong\nworker-url = %s\n' "$parts" >>"$config"
fault
t 77 "a gateway whose guard refuses the token has status 77" agent-call -p guarded health
done_testing
