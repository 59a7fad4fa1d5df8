# shellcheck shell=sh
# lib.sh: sourced by the tests beside the real gateway. Profiles are those of the box: claw goes to
# the gateway, taped by a link that can be cut. Words of the box: gateway, link, raw.
#
#   stored THREAD       what the agent said in a conversation, as the gateway keeps it
#   restart             kill -9, a start, and the wait until it lets somebody in

box_home=$HOME
. "${0%/*}/../../cli/lib.sh"
: "${OPENCLAW_BOX:?make real runs this}"
XDG_CONFIG_HOME=$box_home/.config
# shellcheck disable=SC2034  # read by the tests
run=t$$
as_box() { HOME=$box_home raw "$@"; }
rows() {
  as_box -q -t 0 chat.history "{\"sessionKey\":\"agent:main:$1\",\"limit\":1000,\"maxChars\":500000}" |
    jq -c 'select(.m.type == "res" and .m.payload.messages) | .m.payload.messages[]'
}
stored() {
  rows "$1" | jq -rs 'map(select(.role == "assistant") | .content | map(.text // "") | join(""))
    | map(select(. != "")) | join("\n\n")'
}
restart() {
  gateway kill
  gateway start
}
link go
