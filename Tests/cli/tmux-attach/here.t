#!/bin/sh
# tmux-attach, agent-say and share-inbox at `.`: the tmux of this machine, without SSH.
# shellcheck disable=SC2154,SC2088  # of ssh.sh; the ~ of the command
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"

mkdir -m 700 "$tmp/sessions"
mkdir -p "$HOME/bin" "$tmp/agents"
{ echo "#!$python -E" && cat "$cli/servers/stub_agent.py"; } >"$HOME/bin/claude"
chmod +x "$HOME/bin/claude"
# shellcheck disable=SC2016
echo 'PATH=$HOME/bin:$PATH' >"$HOME/.profile"
agents=$tmp/agents
remote_home=$HOME
remote_tmp=$tmp/sessions
TMUX_TMPDIR=$remote_tmp STUB_LOGS=$agents
# Nothing of SSH is needed, nor asked.
AGENTUTILS_SSH=$tmp/no-ssh SHELL=/bin/sh
export TMUX_TMPDIR STUB_LOGS AGENTUTILS_SSH SHELL
at_end="$at_end end_here"
end_here() { end_tmux "$remote_tmp"; }
shows() { tmux-attach --capture . | grep -q "$1"; }

t 1 "tmux-attach -l without a session has status 1" tmux-attach -l .
t 0 "--check works on this machine" tmux-attach --check .
is "$(cut -c 1-16 "$out" | tr -d ' ' | tr '\n' ,)" "oktmux,okharness," "tmux and the harness are checked, and no more"
for option in --fingerprint --forget; do
  t 2 "$option is refused on this machine" tmux-attach "$option" .
  err_like 'this machine has no key' "the message says that this machine has no key: $option"
done

# --- sessions
run tmux-attach -N -s riff .
is "$status$(jq -r '.name + .command' "$out")" 0riffpython3 "a new session is made"
run tmux-attach -N -H 'cat -u' -d "$tmp" .
is "$(jq -r '.name + .command + .directory' "$out")" "riff-2cat$tmp" \
  "another new session gets the next name"
t 2 "the same name is not made twice" tmux-attach -N -s riff .
run tmux-attach -l .
is "$(jq -r .name "$out" | tr '\n' ' ')" "riff riff-2 " "the sessions are listed"
run tmux-attach --reconcile .
is "$(jq -r .change "$out" | tr '\n' ' ')" "kept kept " "--reconcile knows both sessions"
ok "the screen is captured" wait_until 20 shows 'claude>'
t 0 "agent-say works on this machine" agent-say . -- inc
ok "agent-say types on this machine" wait_until 20 shows 'count 1'
start watch tmux-attach -w .
watch=$pid
changed() { [ "$(jq -r '.change + " " + .name' "$tmp/watch.out" | tr '\n' ,)" = "$1" ]; }
ok "changes are watched" wait_until 20 changed "added riff,added riff-2,"
t 0 "a session is closed" tmux-attach --close riff-2 .
ok "the end is seen" wait_until 20 changed "added riff,added riff-2,dropped riff-2,"
stop "$watch"
is "$status" 143 "a signal ends the watch"
# its STATE [REASON]
its() {
  AGENT_PANE=$(tmux -L riff list-panes -a -F '#{pane_id}')@$(tmux -L riff display-message -p '#{socket_path}') \
    agent-state "$@"
}
echo text >"$tmp/note.txt"
run share-inbox -q add "$tmp/note.txt"
t 75 "share-inbox --when-idle does not type in a state that nobody knows" \
  share-inbox drain --when-idle .
err_like '^share-inbox: \.: session riff: nothing says whether .*; 1 file stays queued$' \
  "the message says that nothing tells the state"
its waiting
t 75 "share-inbox --when-idle does not type into a question" \
  share-inbox drain --when-idle --max-wait 1 .
err_like 'session riff: still waiting; 1 file stays queued' \
  "the message says that the agent still waits"
not_ok "nothing was typed while the agent waits" shows riff/inbox
start inbox share-inbox watch --when-idle --max-wait 1 .
inbox=$pid
ok "share-inbox watch says once that the agent waits" \
  wait_until 20 grep -q 'still waiting' "$tmp/inbox.err"
its idle here
ok "share-inbox watch delivers when the agent is idle" \
  wait_until 20 grep -q delivered "$tmp/inbox.out"
stop "$inbox"
ok "the path of a delivered file is typed" shows riff/inbox
t 2 "--when-idle and --exec exclude each other" share-inbox drain --when-idle --exec cat

# --- the state changes between the look and the typing
# moment NUMBER STATE: at the NUMBERth command that types, a shell of tmux's has just said STATE.
real=$(command -v tmux)
cat >"$HOME/bin/tmux" <<EOF
#!/bin/sh
case " \$* " in
*' if-shell -F 1 '*)
  echo >>"$tmp/typed"
  if [ "\$(wc -l <"$tmp/typed")" -eq "\$(cut -d ' ' -f 1 "$tmp/moment")" ]; then
    "$real" -L riff set-option -p -t =riff: @agent_state "\$(cut -d ' ' -f 2 "$tmp/moment")"
  fi
  ;;
esac
exec "$real" "\$@"
EOF
chmod +x "$HOME/bin/tmux"
moment() {
  : >"$tmp/typed"
  echo "$1 $2" >"$tmp/moment"
}
stands() { [ "$(tmux -L riff show-options -pv -t =riff: @agent_state)" = "$1" ]; }
its idle
moment 1 working
start say agent-say --when-idle . -- not yet
say=$pid
ok "agent-say: the agent has begun to work in the moment of typing" wait_until 20 stands working
moment 9 none
not_ok "nothing is typed when the agent works in the moment of typing" shows 'not yet'
its idle
ok "agent-say waits again for an agent that has begun to work" wait_until 20 gone "$say"
ok "agent-say types when the agent is idle" shows 'not yet'
moment 2 waiting
t 2 "agent-say: it asks something before Return" agent-say --when-idle . -- yes
err_like 'typed, but .*asks something now: Return was not pressed' \
  "the message says that Return was not pressed"
its idle
echo more >"$tmp/more.txt"
run share-inbox -q add "$tmp/more.txt"
moment 1 waiting
t 75 "share-inbox: it asks something in the moment of typing" \
  share-inbox drain --when-idle --max-wait 1 .
err_like 'session riff: still waiting; 1 file stays queued' \
  "the file stays queued for a question in the moment of typing"
its idle
run share-inbox -q add "$tmp/note.txt"
moment 2 working
t 75 "share-inbox: the second file waits when the agent works after the first" \
  share-inbox drain --when-idle --max-wait 1 .
its idle
t 0 "share-inbox types the second file when the agent is idle" share-inbox drain --when-idle .
is "$(tmux-attach --capture . | tr -d '\n ' | grep -o 'more[^/]*txt\|note[^/]*txt' |
  sort | uniq -c | tr -s ' \n' ' ')" " 1 more.txt 2 note.txt " "each file is typed once"
rm "$HOME/bin/tmux"
its idle here
run tmux-attach -l .
is "$(jq -r '.state + .reason' "$out")" idlehere "the states are listed"
t 1 "another label is another server" tmux-attach --label other -l .
printf 'host = here\n[host here]\nhostname = .\nsession = riff\n' >"$XDG_CONFIG_HOME/agentutils/config"
run tmux-attach -l -o line
is "$status$(cat "$out")" "01 idle" "a section may mean this machine"

# --- closed from inside of its own terminal
run tmux-attach -N -s inner -H "sh -c 'setsid nohup sleep 4321 >$tmp/nohup 2>&1 & exec sh'" .
sleeps() { pgrep -f '^sleep 4321'; }
wait_until 20 sleeps >"$tmp/found"
tmux -L riff send-keys -t =inner: "$(command -v tmux-attach) --close inner ." Enter
ok "a session closed from its own terminal ends" wait_until 20 sh -c \
  '! tmux -L riff has-session -t =inner 2>"$1"' - "$tmp/found"
none_sleeps() { ! sleeps >"$tmp/found"; }
ok "what setsid left in a closed session ends, too" wait_until 20 none_sleeps

# --- attach
t 2 "an attach needs a terminal" tmux-attach .
err_like 'standard input and output must be a terminal' \
  "the message says that an attach needs a terminal"
sit here 24x80 tmux-attach .
ok "the terminal is attached" at here expect 'claude> '
at here send '\rtoken\r'
ok "what is typed goes to the agent" at here expect "$(agent_says riff 'select(.what == "start") | "token " + .token' | tail -n 1 | tr -d '"')"
at here send '\x02d'
ok "the terminal is detached" at here end 20
is "$(seat_says here '[.status, .termios]')" '[0,true]' "the terminal is as it was before"
sit new 24x80 tmux-attach -s fresh .
ok "an attach makes a session" at new expect 'claude> '
at new send '\x02d'
at new end 20 >"$tmp/ended"
for hook in client-attached client-session-changed session-created after-new-session; do
  tmux -L riff set-hook -g $hook 'split-window cat'
done
sit hooked 24x80 tmux-attach -s hooked .
ok "a terminal is attached where hooks make panes" at hooked expect 'claude> '
at hooked send '\rtoken\r'
ok "keys go to the agent where hooks make panes" at hooked expect \
  "$(agent_says hooked 'select(.what == "start") | "token " + .token' | tail -n 1 | tr -d '"')"
at hooked send '\x02d'
at hooked end 20 >"$tmp/ended"
tmux -L riff kill-session -t =hooked
for hook in client-attached client-session-changed session-created after-new-session; do
  tmux -L riff set-hook -gu $hook
done
run tmux-attach -l .
is "$(jq -r .name "$out" | tr '\n' ' ')" "fresh riff " "a session that an attach made has its name"
# tmux takes a semicolon at an argument's end for the end of a command.
tmux -L riff new-session -d -s x "stty raw -echo; exec cat >$tmp/other"
run tmux-attach -N -s 'x;' .
sit semicolon 24x80 tmux-attach -s 'x;' .
ok "a session whose name ends in a semicolon is attached" at semicolon expect 'claude> '
is "$(tmux -L riff list-clients -F '#{session_name}')" 'x;' \
  "the terminal is at the session with the semicolon"
at semicolon send '\x02d'
at semicolon end 20 >"$tmp/ended"
is "$(cat "$tmp/other")" "" "nothing is typed into the session without the semicolon"
tmux -L riff kill-session -t =x
run tmux-attach --close 'x;' .
sit folder 24x80 tmux-attach -s none -d '~/nowhere' .
at folder end 20 >"$tmp/ended"
is "$(seat_says folder .status)" 2 "a folder that is not there is an error"
TMUX=$tmp/x,1,0 sit nested 24x80 tmux-attach -s other .
at nested end 20 >"$tmp/ended"
is "$(seat_says nested .status)" 2 "an attach inside tmux is an error"
ok "the screen says that the terminal is tmux's already" \
  grep -q "this terminal is tmux's already" "$tmp/nested.screen"
run tmux-attach -l .
is "$(jq -r .name "$out" | tr '\n' ' ')" "fresh riff " "an attach that fails makes no session"

# --- the label of the configuration
mkdir -p "$XDG_CONFIG_HOME/agentutils"
config=$XDG_CONFIG_HOME/agentutils/config
printf '[host .]\nlabel = other\nkind = claude\n[host bad]\nhostname = .\nlabel = a/b\n' >"$config"
t 1 "another label has other sessions" tmux-attach -l .
run tmux-attach -N -s mine -H cat .
is "$(tmux -L other list-sessions -F '#{session_name}')" mine \
  "a session is made in the server of the configured label"
run tmux-attach --label riff -l .
is "$(jq -r .name "$out" | tr '\n' ' ')" "fresh riff " "--label overrides the configuration"
echo file >"$tmp/file"
share-inbox add "$tmp/file" >"$tmp/added"
t 0 "a file goes into the session of that server" share-inbox drain -s mine .
run agentutils doctor
out_like '^ok +host +\.: claude$' "doctor shows which agent is in that server"
tmux -L other kill-server
t 2 "a label that cannot be one is refused" tmux-attach -l bad
err_like 'host bad: label a/b: not a label of tmux' "the error names the label"
done_testing
