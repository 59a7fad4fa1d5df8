# shellcheck shell=sh
# gateway.sh: what the tests of the gateway share, behind lib.sh.
#
#   start_gateway NAME ARG...  an agent-serve with a gateway; $pid, $gateway (ws://...)
#   checks FILE TEST ARG...    runs a test of a Python client; each of its lines is a result

# shellcheck disable=SC2154  # of lib.sh
peers=$root/.build/peers/bin/python
[ -x "$peers" ] || skip_all "needs .build/peers, a Python with websockets and cryptography"
here=${0%/*}
# shellcheck disable=SC2154
PYTHONPATH=$cli/clients
export PYTHONPATH

# shellcheck disable=SC2034,SC2154  # gateway is read by the tests
start_gateway() {
  _server=$1
  shift
  start_server "$_server" agent-serve --listen 127.0.0.1:0 --gateway 0 "$@"
  gateway=$(sed -n 's/.*"type":"gateway","url":"\([^"]*\)".*/\1/p' "$tmp/$_server.out" | head -n 1)
}

checks() {
  _file=$1
  shift
  "$peers" "$here/$_file" "$@" >"$tmp/checks" 2>"$tmp/checks.err"
  [ -s "$tmp/checks" ] || fail "$_file $1 says nothing"
  while read -r _verdict _title; do
    if [ "$_verdict" = ok ]; then
      pass "$_title"
    else
      fail "${_title%% ## *}"
      diag "${_title#* ## }"
      diag "$(tail -n 20 "$tmp/checks.err")"
    fi
  done <"$tmp/checks"
}
