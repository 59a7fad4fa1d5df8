# shellcheck shell=sh
# pincer.sh: Pincer servers and profiles for them. Sourced behind lib.sh.
#
#   start_pincer NAME [OPTION...]   a servers/pincer.py, and a profile of its name; $url;
#                                   with --token "" one that has no device
#   start_connect NAME [OPTION...]  a servers/pincer_connect.py, behind needs_peers
#   tell NAME ORDER...              an order to it (orders.sh), see there
#   ask NAME METHOD JSON            a call by curl; its answer on one line
#   new_thread NAME                 an empty thread; prints its id
#   calls NAME METHOD               the requests that came of a method, a line each
#   came_calls NAME METHOD COUNT    whether so many came
#   watched NAME COUNT              whether so many came of WatchThread

# shellcheck disable=SC2154  # of lib.sh
: "$tmp" "$cli" "$root"
# shellcheck source=orders.sh
. "$cli/orders.sh"

pincer_token=pnr_0123456789ab.0123456789012345678901234567890123456789012

start_pincer() {
  _pincer=$1
  shift
  pincer_at "$_pincer" python3 "$cli/servers/pincer.py" --token "$pincer_token" "$@"
}
start_connect() {
  _pincer=$1
  shift
  pincer_at "$_pincer" "$peers" "$cli/servers/pincer_connect.py" --wire "$root/.build/peers" \
    --token "$pincer_token" "$@"
}
pincer_at() {
  _pincer=$1
  shift
  mkfifo "$tmp/$_pincer.fifo"
  start_server "$_pincer" "$@" --log "$tmp/$_pincer.log" --control "$tmp/$_pincer.fifo"
  echo "$url" >"$tmp/$_pincer.url"
  printf '%s\n' "$pincer_token" >"$tmp/pincer.token"
  chmod 600 "$tmp/pincer.token"
  printf '[profile %s]\nkind = pincer\nurl = %s\ntoken-file = %s\n' "$_pincer" "$url" \
    "$tmp/pincer.token" >>"$XDG_CONFIG_HOME/agentutils/config"
}
ask() {
  curl -s --max-time 20 -H 'Content-Type: application/json' -H 'Connect-Protocol-Version: 1' \
    -H "Authorization: Bearer $pincer_token" -H 'User-Agent: ask' -d "$3" \
    "$(cat "$tmp/$1.url")/pincer.protocol.v1.$2" | jq -c .
}
new_thread() { ask "$1" ThreadsService/CreateThread '{}' | jq -r .threadId; }
calls() {
  jq -c --arg method "$2" 'select(.method == $method and .headers["user-agent"] != "ask")
    | .request' "$tmp/$1.log"
}
came_calls() { [ "$(calls "$1" "$2" | wc -l)" -ge "$3" ]; }
watched() { came_calls "$1" EventsService/WatchThread "$2"; }
