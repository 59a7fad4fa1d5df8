# shellcheck shell=sh
# lib.sh: sourced by the tests beside the reference server. Profiles are those of the box, the state
# is the test's own, and so is a collection, $c. Words of the box: account, link, pds.
#
#   worn        makes the tokens that were kept useless
#   calls NAME  how many calls of a method came through the link since `forget`

box_home=$HOME
. "${0%/*}/../../cli/lib.sh"
: "${PDS_BOX:?make real runs this}"
XDG_CONFIG_HOME=$box_home/.config
# shellcheck disable=SC2034  # read by the tests
c=dev.example.t$$x$(date +%s)
account activate >/dev/null
link ok
seen=0
forget() { seen=$(wc -l <"$PDS_BOX/log/link.ndjson"); }
calls() { tail -n "+$((seen + 1))" "$PDS_BOX/log/link.ndjson" | grep -c "$1"; }
worn() {
  sed -i 's/"refreshJwt":"[^"]*"/"refreshJwt":"none"/;s/"accessJwt":"[^"]*"/"accessJwt":"none"/' \
    "$XDG_STATE_HOME"/agentutils/pds/*.json
}
