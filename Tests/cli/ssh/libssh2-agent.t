#!/bin/sh
# libssh2: keys of ssh-agent sign in without their files, whatever the agent
# takes its time for, and never more of them than needed.
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
needs ssh-agent ssh-add

start_sshd
rtmux new-session -d -s riff cat
other=$tmp/other
ssh-keygen -q -t ed25519 -N '' -C 'o
ther' -f "$other"
ssh-keygen -q -t rsa -b 2048 -N '' -f "$tmp/rsa"
start agent ssh-agent -D -a "$tmp/agent"
agent_pid=$pid
SSH_AUTH_SOCK=$tmp/agent
export SSH_AUTH_SOCK
wait_until 30 test -S "$SSH_AUTH_SOCK"
list() {
  run tmux-attach --transport libssh2 --pins "$tmp/pins" -P "$port" "$@" \
    "$remote_user@127.0.0.1" -l
}

list --agent
status_is 77 "an agent without keys is refused"
err_like 'ssh-agent: no keys' "the message says that the agent has no keys"

ssh-add -q "$tmp/rsa" "$other" 2>/dev/null
list --agent
status_is 77 "keys that the host does not know are refused"
err_one_line tmux-attach "refused keys are told in one line, whatever a key is called"
err_like 'ED25519 SHA256:' "the message names the keys that were tried"

ssh-add -q "$id" 2>/dev/null
list --agent
status_is 0 "the agent's key is taken"
mv "$id" "$id.away"
list --agent
status_is 0 "the agent's key is taken without its file"
mv "$id.away" "$id"
: >"$sshd_log"
list --agent -i "$id"
status_is 0 "the agent's key is taken with -i, too"
is "$(grep -c 'Failed publickey' "$sshd_log")" 0 "the named key comes first"
list --agent -i "$id.pub"
is "$status $(grep -c 'Failed publickey' "$sshd_log")" '0 0' \
  "the named key comes first when its public half is named"

# A key with a passphrase needs none when the agent has it.
cp "$id" "$tmp/locked"
ssh-keygen -q -p -P '' -N 'long secret' -f "$tmp/locked" >"$out"
list -i "$tmp/locked" </dev/null
status_is 77 "a key with a passphrase is no use to a script"
list --agent -i "$tmp/locked"
status_is 0 "a key with a passphrase is taken where the agent has it"

# --- agents that ask their owner first, or do not want to, or hang
start slow "$python" "$cli/servers/slow_agent.py" "$tmp/slow" "$tmp/agent" 0.4
wait_until 30 test -S "$tmp/slow"
SSH_AUTH_SOCK=$tmp/slow list --agent -i "$id"
status_is 0 "an agent may take its time to sign"
start sulky "$python" "$cli/servers/slow_agent.py" "$tmp/sulky" "$tmp/agent" 0.1 refuse
wait_until 30 test -S "$tmp/sulky"
SSH_AUTH_SOCK=$tmp/sulky list --agent -i "$id"
status_is 77 "an agent that does not sign has status 77"
SSH_AUTH_SOCK=$tmp/nobody list --agent
status_is 77 "a missing agent has status 77"
err_like 'ssh-agent: none there' "a missing agent is told in words"
kill -STOP "$agent_pid"
list --agent
status_is 77 "an agent that hangs has status 77"
err_like 'ssh-agent: no answer' "the message says that it does not answer"
kill -CONT "$agent_pid"

# --- a host that has had enough of keys
stop_sshd
start_sshd box 'MaxAuthTries 1'
list --agent
status_is 77 "a host that has seen too many keys has refused them"
err_like 'Too many authentication failures' "the host's own words are told"
done_testing
