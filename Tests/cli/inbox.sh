# shellcheck shell=sh
# inbox.sh: an inbox and a box that its files go to. Sourced behind lib.sh and ssh.sh.
#
#   start_box [SESSION...]  a box whose agents run in these sessions (riff)
#   inbox_args              sets $inbox_args: how the box is reached by $transport
#   inbox WORD ARG...       `run` of share-inbox with them; $port may be a proxy's
#   left                    how many items are in the inbox
#   parts                   how many parts of files are on the host
#   came_once TITLE FILE... each file's bytes are on the host, in a file whose path was
#                           typed once; nothing else was typed since forget_typed
#   forget_typed            what was typed before counts for nothing

# shellcheck disable=SC2154  # of lib.sh and ssh.sh
: "$tmp" "$ssh_dir" "$remote_user"
# shellcheck disable=SC2034  # read by the tests
there=$remote_user@127.0.0.1
folder=$XDG_STATE_HOME/agentutils/inbox

start_box() {
  start_sshd
  [ $# -gt 0 ] || set -- riff
  for _session; do start_agent "$_session"; done
  remote_inbox=$remote_home/.riff/inbox
}
# shellcheck disable=SC2154
start_agent() {
  rtmux new-session -d -s "$1" "PATH=$remote_home/bin:\$PATH STUB_LOGS=$agents exec claude"
  wait_until 30 agent_is_up "$1" || bail "the agent of $1 does not come up"
}
agent_is_up() { agent_log "$1" >/dev/null && [ -s "$(agent_log "$1")" ]; }

# shellcheck disable=SC2034
inbox_args() {
  inbox_args="--transport $transport -i $id --pins $tmp/pins -P $port $remote_user@127.0.0.1"
}
inbox() {
  _word=$1
  shift
  inbox_args
  # shellcheck disable=SC2086
  bound=${inbox_bound:-60} run share-inbox "$_word" "$@" $inbox_args
}
left() { find "$folder" -type f -name '[0-9]*' | wc -l | tr -d ' '; }
parts() { find "$remote_inbox" -name '.part-*' | wc -l | tr -d ' '; }
sums() { sha256sum "$@" | cut -d ' ' -f 1; }

typed_before=0
forget_typed() { typed_before=$(agent_typed | wc -c); }
typed_now() { agent_typed | tail -c +$((typed_before + 1)); }
# Paths have no blanks here; typed_enough waits for the last of them.
typed_paths() { typed_now | tr ' ' '\n' | sort; }
typed_enough() { [ "$(typed_paths | wc -l)" -ge "$1" ]; }

came_once() {
  _title=$1
  shift
  wait_until 30 typed_enough $#
  typed_paths >"$tmp/typed-paths"
  is "$(wc -l <"$tmp/typed-paths" | tr -d ' ') $(uniq -d "$tmp/typed-paths")" "$# " \
    "$_title: $# paths are typed, none twice"
  # shellcheck disable=SC2046  # no blanks in them
  is "$(sums $(cat "$tmp/typed-paths") | sort | sha256sum)" "$(sums "$@" | sort | sha256sum)" \
    "$_title: the files are there, byte for byte"
}
