#!/bin/sh
# shellcheck disable=SC2016  # scripts of inner shells stand in single quotes
# How sse-tail ends: closed pipes, full disks, signals, wrong usage.
. "${0%/*}/../lib.sh"
needs sse-tail jq python3

serve </dev/null

# took CMD: whole seconds of a run.
timed() {
  began=$(date +%s)
  run "$@"
  took=$(($(date +%s) - began))
}

# --- a closed pipe
script <<'S'
stream
send data: 1\n\n
pause 0.1
repeat 1000 data: 2\n\n
stall
S
timed sh -c 'sse-tail "$1" | head -n 1' sh "$url/s"
out_like '^\{' "| head -1 gets its line"
err_empty "nothing is said of a closed pipe"
ok "sse-tail ends at once when its pipe closes" test "$took" -le 10
script <<'S'
stream
send data: 1\n\n
stall
S
timed sh -c 'sse-tail "$1" | head -n 1' sh "$url/s"
ok "a silent stream ends when its pipe closes ($took s)" test "$took" -le 10
script <<'S'
stream
send data: 1\n\n
stall
S
mkfifo "$tmp/pipe"
start closed sh -c 'exec sse-tail "$1" >"$2"' sh "$url/s" "$tmp/pipe"
head -n 1 <"$tmp/pipe" >/dev/null
finished "$pid"
is "$status" 141 "sse-tail ends by SIGPIPE"
script <<'S'
stream
send data: 1\n\n
S
mkfifo "$tmp/pipe2"
start closed sh -c 'exec sse-tail --retry-wait 30 "$1" >"$2"' sh "$url/s" "$tmp/pipe2"
head -n 1 <"$tmp/pipe2" >/dev/null
finished "$pid"
is "$status" 141 "sse-tail ends by SIGPIPE in the wait between two tries, too"

# --- a full disk
if [ -c /dev/full ]; then
  script <<'S'
stream
send data: 1\n\n
stall
S
  t 2 "a full disk is an error" sh -c 'exec sse-tail "$1" >/dev/full' sh "$url/s"
  err_one_line sse-tail "a full disk is told in a line"
  err_like 'space' "the line says that there is no space"
else
  skip 3 "no /dev/full"
fi
script <<'S'
stream
send data: 1\n\n
stall
S
t 2 "a closed standard output is an error" sh -c 'exec sse-tail "$1" >&-' sh "$url/s"

# --- signals
for signal in TERM INT HUP; do
  case $signal in HUP) want=129 ;; INT) want=130 ;; TERM) want=143 ;; esac
  script <<'S'
stream
send data: 1\n\n
stall
S
  start signalled sse-tail "$url/s"
  wait_until 30 has "$tmp/signalled.out" 1
  stop "$pid" "$signal"
  is "$status" "$want" "SIG$signal ends sse-tail by itself"
  is "$(cat "$tmp/signalled.err")" "" "SIG$signal: nothing is said"
done
printf 'status 500\n' | script
start signalled sse-tail -v --retry-wait 30 "$url/s"
wait_until 30 has "$tmp/signalled.err" 500
stop "$pid"
is "$status" 143 "TERM ends sse-tail in the wait between two tries"
printf 'stall\n' | script
start signalled sse-tail "$url/s"
wait_until 30 has "$log" request
stop "$pid"
is "$status" 143 "TERM ends sse-tail while it waits for an answer"
script <<'S'
stream
send data: 1\n\n
repeat 5000000 data: 2\n\n
S
mkfifo "$tmp/slow"
start signalled sh -c 'exec sse-tail "$1" >"$2"' sh "$url/s" "$tmp/slow"
exec 4<"$tmp/slow"
dd bs=1 count=10 <&4 >/dev/null 2>&1
stop "$pid"
is "$status" 143 "TERM ends sse-tail while nobody reads its output"
exec 4<&-

# --- wrong usage: the problem, a usage line, and 2
wrong() {
  run sse-tail "$@"
  title="wrong: $(printf %s "$*" | tr '\n' ' ')"
  is "$status $(head -n 1 "$err" | cut -c 1-10)" "2 sse-tail: " "$title"
  ok "$title: at most two lines are said" test "$(lines "$err")" -le 2
  out_empty "$title: nothing is on stdout"
}
wrong
wrong activity voice
wrong --no-such "$url"
wrong -n
wrong -n x "$url"
wrong -n -1 "$url"
wrong -n 1x "$url"
wrong -n 99999999999999999999999 "$url"
wrong --retry-wait x "$url"
wrong --retry-wait -1 "$url"
wrong --max-time "" "$url"
wrong --idle-timeout 1y "$url"
wrong --max-retries 1.5 "$url"
wrong --max-event-bytes abc "$url"
wrong -X 'GET /' "$url"
wrong -H 'no colon' "$url"
wrong -H "a: b
c: d" "$url"
wrong -H ': x' "$url"
wrong -H 'a b: x' "$url"
wrong -H "@$tmp/none" "$url"
wrong --data "@$tmp/none" "$url"
wrong --last-event-id "a
b" "$url"
for address in '' nonsense 'ftp://127.0.0.1/' 'file:///etc/passwd' 'http://' \
  'http://[::1' 'http://127.0.0.1:99999/' 'http://127.0.0.1:x/' 'http://a b/' \
  "http://127.0.0.1/
x" 'javascript:1' 'http//x'; do
  wrong "$address"
done
t 2 "a broken URL with secrets is refused" sse-tail 'http://joe:s3cret@[bad/?key=s3cret'
err_unlike s3cret "a broken URL does not show its secrets"
run sse-tail "$(printf 'http://\033[2J/')"
unlike "$(LC_ALL=C cat -v "$err")" '\^\[' "an escape sequence does not reach the terminal"

t 0 "--help succeeds" sse-tail --help
out_like '^usage: sse-tail \[options\] URL' "--help shows the usage"
run sse-tail --version
out_like '^sse-tail [0-9]' "--version prints the version"
run sse-tail --completions words --last
out_like '^--last-event-id' "--completions words offers options"
done_testing
