# shellcheck shell=sh
# pds.sh: personal data servers and a profile for each. Sourced behind lib.sh.
#
#   start_pds NAME [OPTION...]   a servers/arroba_pds.py behind needs_peers, and a profile of its
#                                name for alice.test with the right password; $url
#   fault NAME JSON              what it is to do wrong, once; see there
#   down NAME, up NAME           nobody gets an answer any more; again
#   asked NAME METHOD            how many requests came
#   stored NAME                  the records of the test's collection, as the server has them
#   settled NAME                 what clients asked is done, also those that were killed
#   given TEXT CMD ARG...        a run with a line of input
#   $task                        a collection

# shellcheck disable=SC2154  # of lib.sh
: "$tmp" "$cli" "$peers"
task=dev.joelclaw.task.item

start_pds() {
  _pds=$1
  shift
  : >"$tmp/$_pds.faults"
  : >"$tmp/$_pds.log"
  start_server "$_pds" "$peers" "$cli/servers/arroba_pds.py" --log "$tmp/$_pds.log" \
    --faults "$tmp/$_pds.faults" "$@"
  echo "$url" >"$tmp/$_pds.url"
  echo app-pass-word-1234 >"$tmp/pds.password"
  chmod 600 "$tmp/pds.password"
  printf '[profile %s]\nkind = pds\nurl = %s\nidentifier = alice.test\ntoken-file = %s\n' \
    "$_pds" "$url" "$tmp/pds.password" >>"$XDG_CONFIG_HOME/agentutils/config"
}
given() {
  printf '%s\n' "$1" >"$tmp/given"
  shift
  run "$@" <"$tmp/given"
}
fault() { printf '%s\n' "$2" >>"$tmp/$1.faults"; }
down() { : >"$tmp/$1.faults.down"; }
up() { rm -f "$tmp/$1.faults.down"; }
asked() { jq -r --arg method "$2" 'select(.method == $method).method' "$tmp/$1.log" | wc -l; }
# Connections are accepted in their order: behind ours no earlier one is unknown.
settled() {
  curl -s -o /dev/null "$(cat "$tmp/$1.url")/xrpc/com.atproto.repo.listRecords?repo=alice.test&collection=$task"
  wait_until 20 grep -qx 0 "$tmp/$1.log.open"
}
stored() {
  curl -s "$(cat "$tmp/$1.url")/xrpc/com.atproto.repo.listRecords?repo=alice.test&collection=$task" |
    jq -c '.records[].value'
}
