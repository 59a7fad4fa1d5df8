# shellcheck shell=sh
# gateway.sh: a gateway with faults and a profile for it. Sourced behind lib.sh.
#
#   start_gateway NAME [OPTION...]  a servers/gateway.py, and a profile of its name; $url
#   tell NAME ORDER...              an order to it (orders.sh), see there
#   frames NAME METHOD              the params of what came of a method, a line each
#   came_frames NAME METHOD COUNT   whether so many came

# shellcheck disable=SC2154  # of lib.sh
: "$tmp" "$cli"
# shellcheck source=orders.sh
. "$cli/orders.sh"

start_gateway() {
  _gateway=$1
  shift
  mkfifo "$tmp/$_gateway.fifo"
  start_server "$_gateway" python3 "$cli/servers/gateway.py" --log "$tmp/$_gateway.log" \
    --control "$tmp/$_gateway.fifo" "$@"
  printf '[profile %s]\nkind = openclaw\nurl = %s\n' "$_gateway" "$url" \
    >>"$XDG_CONFIG_HOME/agentutils/config"
}
frames() { jq -c --arg method "$2" '.frame | select(.method == $method) | .params' "$tmp/$1.log"; }
came_frames() { [ "$(frames "$1" "$2" | wc -l)" -ge "$3" ]; }
