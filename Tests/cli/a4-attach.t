#!/bin/sh
# Sitting at a session: what is typed and shown, sizes, the ways to leave, and the
# terminal afterwards. Over both transports.
. "${0%/*}/lib.sh"
. "$cli/ssh.sh"

start_sshd box
for transport in ${TRANSPORTS:-libssh2 ssh}; do
  attach_args
  # shellcheck disable=SC2086
  sit me 30x100 tmux-attach $attach_args
  ok "$transport: the agent's prompt comes" at me expect 'claude> '
  at me send 'inc\r'
  ok "$transport: and the agent obeys" at me expect 'count 1'
  at me send 'exit 0\r'
  ok "$transport: ends" at me end 5
  is "$(seat_says me '[.status, .termios, .modes]')" '[0,true,[]]' "$transport: all as before"
done
done_testing
