#!/bin/sh
# What the real Claude Code asks, answered from another machine: a real sshd on loopback. The times are
# said, and bounded loosely: a machine may be busy. ROUNDS=50 for medians.
. "${0%/*}/lib.sh"
bound=600
cli=${0%/*}/../../cli
. "$cli/ssh.sh"
TMUX_TMPDIR=$tmp/sessions
rounds=${ROUNDS:-20}
start_sshd
cat >>"$remote_home/.profile" <<END
PATH=$PATH
HOME=$box_home
TMUX_TMPDIR=$TMUX_TMPDIR
export PATH HOME TMUX_TMPDIR
END
XDG_CONFIG_HOME=$tmp/config XDG_STATE_HOME=$tmp/state
export XDG_CONFIG_HOME XDG_STATE_HOME
mkdir -p "$tmp/config/agentutils"
cat >"$tmp/config/agentutils/config" <<END
[host box]
hostname = 127.0.0.1
port = $port
user = $remote_user
identity = $id
END
chmod 600 "$tmp/config/agentutils/config"
ssh-keyscan -p "$port" 127.0.0.1 >"$tmp/scan" 2>/dev/null
mkdir -p "$tmp/elsewhere"
asks=$box_home/.local/state/agentutils/asks
rm -rf "$asks"

# The hook notes when it was called.
cat >"$tmp/hook" <<END
#!/bin/sh
date +%s.%N >>"$tmp/called"
exec agent-ask
END
chmod +x "$tmp/hook"
settings="{\"hooks\":{\"PermissionRequest\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"$tmp/hook\",\"timeout\":3600}]}]}}"
tmux -L riff -f /dev/null new-session -d -s riff -c "$box_folder" -x 100 -y 40 "claude --settings '$settings'"
known() { [ "$(state)" != unknown ]; }
wait_until 60 known || bail "Claude Code does not start"
wait_until 60 stands idle

run tmux-attach -l box
is "$status" 0 "the box is reached"
# Each line behind the time at which it came.
stamp='use Time::HiRes "time"; $| = 1; while (<STDIN>) { printf "%.3f %s", time, $_ }'
start watch sh -c "agent-approve -p box: -w -o json | perl -e '$stamp'"
mkfifo "$tmp/answers"
start answer sh -c "agent-approve -p box: -o json <$tmp/answers | perl -e '$stamp'"
exec 9>"$tmp/answers"
pending() { [ "$(grep -c '"state":"pending"' "$tmp/watch.out")" -ge "$1" ]; }
gone() { [ "$(grep -c '"state":"cancelled"' "$tmp/watch.out")" -ge "$1" ]; }
clean() { [ -z "$(ls -A "$asks")" ]; }
median() { sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }
: >"$tmp/ran"
count=0
while [ "$count" -lt "$rounds" ]; do
  count=$((count + 1))
  agent-say -q --when-idle . -- "run date +%s.%N >>$tmp/ran"
  wait_until 20 pending "$count" || break
  sed -n '/"state":"pending"/p' "$tmp/watch.out" | sed -n "${count}p" >"$tmp/line"
  id=$(cut -d' ' -f2- "$tmp/line" | jq -r .id)
  echo "$(tail -n 1 "$tmp/called") $(cut -d' ' -f1 "$tmp/line")" >>"$tmp/shown"
  # As a person: the dialog has been there for a moment.
  sleep 0.3
  date +%s.%N >>"$tmp/answered"
  echo "{\"id\":\"$id\",\"decision\":\"allow\"}" >&9
  ran() { [ "$(wc -l <"$tmp/ran")" -ge "$count" ]; }
  wait_until 20 ran || break
  wait_until 20 stands idle
done
is "$(wc -l <"$tmp/ran" | tr -d ' ')" "$rounds" "each of $rounds was allowed from the other machine, and ran once"
shown=$(awk '{ print $2 - $1 }' "$tmp/shown" | median)
ran=$(paste "$tmp/answered" "$tmp/ran" | awk '{ print $2 - $1 }' | median)
diag "from the hook to the record $shown s, from the answer to the tool $ran s (medians of $rounds)"
ok "the record comes soon" test "$(echo "$shown < 1.5" | bc)" = 1
ok "so does the answer" test "$(echo "$ran < 1.5" | bc)" = 1
is "$(cut -d' ' -f2- "$tmp/answer.out" | jq -r .result | sort -u)" accepted "each answer was accepted"

# --- at the desk
local_rounds=10
before=$(grep -c '"state":"cancelled"' "$tmp/watch.out")
while [ "$local_rounds" -gt 0 ]; do
  local_rounds=$((local_rounds - 1))
  count=$((count + 1))
  agent-say -q --when-idle . -- "run date +%s.%N >>$tmp/ran"
  wait_until 20 pending "$count" || break
  sleep 0.7
  date +%s.%N >"$tmp/pressed"
  keys Enter
  before=$((before + 1))
  wait_until 20 gone "$before" || break
  echo "$(cat "$tmp/pressed") $(sed -n '/"state":"cancelled"/p' "$tmp/watch.out" | tail -n 1 | cut -d' ' -f1)" >>"$tmp/withdrawn"
  wait_until 20 stands idle
done
withdrawn=$(awk '{ print $2 - $1 }' "$tmp/withdrawn" | sort -n | tail -n 1)
is "$(wc -l <"$tmp/withdrawn" | tr -d ' ')" 10 "a Yes at the desk withdraws it"
diag "the longest of ten took $withdrawn s"
ok "within two seconds" test "$(echo "$withdrawn < 2" | bc)" = 1
ok "nothing is left" wait_until 5 clean
exec 9>&-

done_testing
