#!/bin/sh
# ground.sh: a box as in ssh.sh, with a link to it, until standard input ends. Says
# what it is as one JSON object. For the bench, and to try things by hand.
. "${0%/*}/../lib.sh"
. "$cli/ssh.sh"

start_sshd box
direct=$port
start_proxy
jq -cn --arg tmp "$tmp" --arg id "$id" --arg home "$remote_home" --arg tm "$remote_tmp" \
  --arg agents "$agents" --arg user "$remote_user" --arg link "$tmp/link-$link.orders" \
  --arg log "$tmp/link-$link.log" --argjson port "$direct" --argjson proxy "$port" \
  '{$tmp, $id, $home, $tm, $agents, $user, $link, $log, $port, $proxy}'
cat >/dev/null
