# shellcheck shell=sh
# joelgate.sh: a joelclaw gateway with faults and a profile for it. Sourced behind lib.sh.
#
#   start_joelgate NAME [OPTION...]  a servers/joelgate.py, and a profile of its name; $url
#   tell NAME ORDER...               an order to it (orders.sh), see there
#   frames NAME TYPE                 the frames of a type that came, a line each
#   came_frames NAME TYPE COUNT      whether so many came

# shellcheck disable=SC2154  # of lib.sh
: "$tmp" "$cli"
# shellcheck source=orders.sh
. "$cli/orders.sh"

start_joelgate() {
  _gateway=$1
  shift
  mkfifo "$tmp/$_gateway.fifo"
  start_server "$_gateway" python3 "$cli/servers/joelgate.py" --log "$tmp/$_gateway.log" \
    --control "$tmp/$_gateway.fifo" "$@"
  printf '[profile %s]\nkind = joelclaw\nurl = %s\n' "$_gateway" "$url" \
    >>"$XDG_CONFIG_HOME/agentutils/config"
}
frames() { jq -c --arg type "$2" '.frame | select(.type == $type)' "$tmp/$1.log"; }
came_frames() { [ "$(frames "$1" "$2" | wc -l)" -ge "$3" ]; }
