#!/bin/sh
# What people type and write is understood, or its error says what is meant; and what can never
# do is not tried for ever.
. "${0%/*}/../lib.sh"
needs jq curl python3
needs_peers
. "${0%/*}/../pds.sh"
config=$XDG_CONFIG_HOME/agentutils/config

# --- lists with blanks
printf '[profile one]\nurl = http://127.0.0.1:1\n[profile two]\nurl = http://127.0.0.1:2\n' >"$config"
for names in 'one, two' ' one ,two ' 'one	,	two'; do
  for command in "agent-tail --max-retries 0" "agent-notify --max-time 1 --to line" "agent-pulse --max-retries 0" agent-cost; do
    # shellcheck disable=SC2086
    run $command -p "$names"
    err_unlike 'profile|--profile|empty name' "$command -p '$names' is understood"
  done
done
for command in agent-tail agent-notify agent-pulse agent-cost; do
  t 2 "$command: an empty name between others is refused" $command -p 'one, ,two'
  err_like 'an empty name' "$command: the message says that a name is empty"
done
t 75 "bus-get -s takes blanks between servers" \
  bus-get -s 'nats://127.0.0.1:1 , nats://127.0.0.1:2' --max-wait 0
t 75 "bus-get -s takes an empty server at the end" bus-get -s 'nats://127.0.0.1:1, ,' --max-wait 0
day=$root/Tests/fixtures/sample-day.ndjson
for by in 'kind, day' ' kind , day '; do
  t 0 "--by '$by' is understood" action-filter -u --by "$by" "$day"
done
ok "--by with blanks groups as without" sh -c "action-filter -u --by kind,day '$day' | cmp - '$out'"
run action-filter -u -k 'llm_call, sent_reply' "$day"
ok "blanks between kinds are understood" \
  sh -c "action-filter -u -k llm_call,sent_reply '$day' | cmp - '$out'"
echo '{"urgency":"urgent","category":"x","title":"t"}' >"$tmp/notice"
t 0 "blanks between ways are understood" \
  agent-notify --to 'line, line' --state "$tmp/state" <"$tmp/notice"

# --- hours
for hours in 22:00-24:00 00:00-24:00; do
  t 0 "--quiet-hours $hours are understood" \
    agent-notify --to line --quiet-hours "$hours" --state "$tmp/state" <"$tmp/notice"
done
zone() { date -u +%H | awk -v want="$1" '{ offset = $1 - want; if (offset > 12) offset -= 24; if (offset < -12) offset += 24; printf "XXX%+d", offset }'; }
for hour in 22 23; do
  run env TZ="$(zone $hour)" agent-notify --route --quiet-hours 22:00-24:00 <"$tmp/notice"
  is "$(jq -r .action "$out")" brief "nothing is told at $hour hours"
done
for hour in 0 21; do
  run env TZ="$(zone $hour)" agent-notify --route --quiet-hours 22:00-24:00 <"$tmp/notice"
  not_ok "a notice is told at $hour hours" grep -q '"action":"brief"' "$out"
done
for hours in 24:00-07:00 22:00-24:01 22:00-25:00; do
  t 2 "--quiet-hours $hours are refused" \
    agent-notify --to line --quiet-hours "$hours" <"$tmp/notice"
done

# --- a comment behind a value
while IFS= read -r line; do
  printf '[profile p]\n%b\n' "$line" >"$config"
  t 2 "a comment behind a value is refused: $line" agent-call -p p health
  err_like "^agent-call: .*: a comment behind the value of [a-z-]*: comments stand on lines of their own" \
    "the message says where comments stand: $line"
done <<'END'
url = http://127.0.0.1:1\t# mine
url = http://127.0.0.1:1 # mine
url = http://127.0.0.1:1\ntoken-file = /nowhere\t#
url = http://127.0.0.1:1\nguild = 1 \t# the first
END
printf '[profile p]\nurl = http://127.0.0.1:1/#a;b\ntoken-command = echo x # not this\n' >"$config"
run agent-call -p p health
err_unlike 'comment' "a sign inside of a word begins no comment, and the shell has its own"

# --- a proxy that lets nobody through
cat >"$tmp/proxy.py" <<'END'
import socket
listener = socket.create_server(("127.0.0.1", 0))
print("http://127.0.0.1:%d" % listener.getsockname()[1], flush=True)
while True:
    link = listener.accept()[0]
    head = b""
    while b"\r\n\r\n" not in head:
        head += link.recv(65536) or b"\r\n\r\n"
    link.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=x\r\n"
                 b"Content-Length: 0\r\nConnection: close\r\n\r\n")
    link.close()
END
start proxy python3 "$tmp/proxy.py"
wait_until 20 test -s "$tmp/proxy.out"
proxy=$(cat "$tmp/proxy.out")
bound=10
refused() {
  err_like '407' "$1: the refusal of the proxy is told"
  status_is 2 "$1: the refusal of the proxy is final"
}
run env https_proxy="$proxy" sse-tail https://example.invalid/s
refused "sse-tail over TLS"
run env http_proxy="$proxy" sse-tail http://example.invalid/s
refused "sse-tail"
run env https_proxy="$proxy" ws-tail wss://example.invalid/s
refused "ws-tail over TLS"
run env http_proxy="$proxy" ws-tail ws://example.invalid/s
refused "ws-tail"
printf '[profile far]\nurl = https://example.invalid\n[profile claw]\nkind = openclaw\nurl = wss://example.invalid\n' >"$config"
run env https_proxy="$proxy" agent-call -p far health
refused agent-call
run env https_proxy="$proxy" agent-tail -p claw
refused "agent-tail of a gateway"
run env https_proxy="$proxy" agent-chat -p claw hello
refused "agent-chat"

# --- a pipe that nobody writes to
bound=30
mkfifo "$tmp/pipe"
printf '[profile claw]\nkind = openclaw\nurl = ws://127.0.0.1:1\n' >"$config"
t 2 "--attach of a pipe without a writer ends" agent-chat -p claw --attach "$tmp/pipe" hello
err_is "agent-chat: $tmp/pipe: nothing comes through the pipe" "the message says why"

# --- the address of a personal data server
: >"$config"
start_pds me
for end in /xrpc /xrpc/ /; do
  sed "s,^url = .*,url = $url$end," "$config" >"$config.new" && mv "$config.new" "$config"
  given '{"n":1}' pds-record create $task
  status_is 0 "an address that ends in $end has status 0"
done
done_testing
