#!/bin/sh
# The ground that the SSH tests stand on: proved with plain ssh.
. "${0%/*}/../lib.sh"
. "$cli/ssh.sh"

start_sshd box
like "$(remote 'echo "$HOME"; command -v claude || echo none')" "^$remote_home\$" 'the box has its own home'
like "$(remote 'command -v claude || echo none')" '^none$' 'the agent is not on the plain PATH'
like "$(remote 'exec "$SHELL" -lc "command -v claude"')" "^$remote_home/bin/claude\$" \
  'the agent is on the login PATH'

start_proxy
ssh_args
line="exec \"\$SHELL\" -lc 'exec tmux -u -L riff new-session -A -s riff env -u TMUX claude'"
# shellcheck disable=SC2086
sit me 30x100 ssh -tt $ssh_args "$line"
ok 'the prompt comes' at me expect 'claude> '
at me send 'inc\r'
ok 'the agent obeys keys' at me expect 'count 1'
ok 'every byte was logged' wait_until 30 typed riff "$(printf 'inc\r')"
is "$(agent_says riff 'select(.what == "start").env.HOME')" "$remote_home" \
  'the agent has the home of the box'
at me resize 40x90
agent_sized() { agent_says riff 'select(.what == "size").columns' | grep -qx "$1"; }
ok 'the agent hears of a new size' wait_until 30 agent_sized 90
at me send 'mouse on\r'
ok 'modes of the terminal are seen' wait_until 30 sh -c "grep -q 1000h '$tmp/me.screen'"
is "$(tries)" 1 "there is one connection"

link rst
ok 'a reset ends ssh' at me end 30
is "$(seat_says me '.status')" 255 "a reset ends ssh with status 255"
is "$(seat_says me '.termios')" true 'a reset leaves the terminal as it was'
like "$(seat_says me '.modes')" '1049' 'a reset leaves the modes on'
ok 'the session stays' rtmux has-session -t =riff

link cut 40
run_remote true
status_is 255 'a connection is cut after 40 bytes'
link pass
link flip 1500
run_remote true
status_is 255 'a byte is changed on the way'
link pass
link refuse
run_remote true
status_is 255 'a connection is refused'
link pass
link delay 100
run_remote echo late
out_is late 'a slow link carries all'
link pass
link rate 20000
run_remote 'head -c 10000 /dev/zero'
is "$(wc -c <"$out" | tr -d ' ')" 10000 'a narrow link carries all'

stop_sshd
run_remote true
status_is 255 "a box that is down has status 255"
link to "$(cat "$ssh_dir/box/port")"
start_sshd box
run_remote echo back
out_is back "the host is up again"
done_testing
