# shellcheck shell=sh
# orders.sh: orders to a server of the tests that reads them from the FIFO $tmp/NAME.fifo
# and writes into NAME.fifo.done what it obeyed. Sourced behind lib.sh.
#
#   tell NAME ORDER...   an order; done when this returns

# shellcheck disable=SC2154  # of lib.sh
: "$tmp"

tell() {
  _server=$1
  shift
  _told=$(orders_done "$_server")
  printf '%s\n' "$*" >"$tmp/$_server.fifo"
  wait_until 30 obeyed "$_server" "$_told" || bail "$_server does not obey: $*"
  case $(tail -n 1 "$tmp/$_server.fifo.done") in
  failed:*) bail "$_server cannot obey: $(tail -n 1 "$tmp/$_server.fifo.done")" ;;
  esac
}
orders_done() { cat "$tmp/$1.fifo.done" 2>/dev/null | wc -l; }
obeyed() { [ "$(orders_done "$1")" -gt "$2" ]; }
