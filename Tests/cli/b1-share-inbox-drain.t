#!/bin/sh
# share-inbox hands files over to a session of a real box: whole, once, in order.
. "${0%/*}/lib.sh"
. "${0%/*}/ssh.sh"

start_sshd
rtmux new-session -d -s riff "PATH=$remote_home/bin:\$PATH STUB_LOGS=$agents exec claude"
agent_is_up() { agent_log "${1:-riff}" >/dev/null && [ -s "$(agent_log "${1:-riff}")" ]; }
wait_until 10 agent_is_up || bail "the agent does not come up"

# shellcheck disable=SC2154  # of ssh.sh
inbox() {
  bound=60 run share-inbox --transport "$transport" -i "$id" --pins "$tmp/pins" -P "$port" "$@"
}
# shellcheck disable=SC2034
there=$remote_user@127.0.0.1
folder=$XDG_STATE_HOME/agentutils/inbox
left() { find "$folder" -type f -name '[0-9]*' | wc -l; }
sums() { sha256sum "$@" | cut -d ' ' -f 1; }

for transport in ${TRANSPORTS:-libssh2 ssh}; do
  printf 'one' >"$tmp/a.txt"
  head -c 300000 /dev/urandom >"$tmp/b.png"
  : >"$tmp/c.txt"
  before=$(agent_typed)
  run share-inbox add "$tmp/a.txt" "$tmp/b.png" "$tmp/c.txt"
  status_is 0 "$transport: three files are added"
  inbox drain "$there"
  status_is 0 "$transport: and drained"
  is "$(jq -r '[.type, .state, .session] | join(" ")' "$out" | sort | uniq -c | tr -s ' ')" \
    " 3 inbox_item delivered riff" "$transport: a record for each"
  is "$(left)" 0 "$transport: the inbox is empty"
  # shellcheck disable=SC2046
  is "$(sums $(jq -r .remote_path "$out"))" "$(sums "$tmp/a.txt" "$tmp/b.png" "$tmp/c.txt")" \
    "$transport: byte for byte, in the order they came"
  want=$before$(jq -j '.remote_path + " "' "$out")
  wait_until 5 typed riff "$want"
  is "$(agent_typed)" "$want" "$transport: their paths are typed, each with a blank, without Return"
done
done_testing
