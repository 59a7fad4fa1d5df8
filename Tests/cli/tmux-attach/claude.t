#!/bin/sh
# tmux-attach and agent-say where Claude Code runs: what its own file tells of it, from any server of
# tmux and from none, and that nothing is typed into what it asks.
# shellcheck disable=SC2154  # of ssh.sh
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
. "${0%/*}/../claude.sh"

told() { [ "$(jq -rs 'last | "\(.pasted) \(.said)"' "$tmp/told")" = "$1" ]; }
say() { run agent-say --return-delay 0.1 "$@"; }
keys() { tmux -L riff send-keys -t =riff: "$@"; }

# --- what it tells
t 0 "a session is made" tmux-attach -N -s riff .
ok "Claude Code at its prompt is idle" wait_until 20 stands riff '["idle",null,null]'
start watch tmux-attach -w .
say --when-idle . -- slow 1
status_is 0 "a text is typed where it is idle by its own word alone"
ok "Claude Code is at work at once when a text is typed" stands riff '["working",null,null]'
ok "Claude Code is idle when the turn has ended" wait_until 20 stands riff '["idle",null,null]'
say . -- blink
status_is 0 "a turn that is over before its file tells of it has begun"
say . -- run make
ok "a permission that it asks for is waited for" wait_until 20 stands riff '["waiting","permission prompt",null]'
last() { [ "$(jq -r .state "$tmp/watch.out" | tail -n 1)" = "$1" ]; }
ok "tmux-attach -w tells of it" wait_until 20 last waiting
keys Escape
ok "Escape, of which no hook tells, is seen" wait_until 20 stands riff '["idle",null,null]'
say . -- ask
ok "a question of Claude Code is seen" wait_until 20 stands riff '["waiting","input needed",null]'
ok "tmux-attach -w tells of a question" wait_until 20 last waiting
keys Escape
ok "tmux-attach -w tells the end of a question" wait_until 20 last idle
late() { jq -s 'map(select(.since) | ((.time | sub("\\..*"; "Z") | fromdate) - (.since | sub("\\..*"; "Z") | fromdate))) | .[1:] | max' "$tmp/watch.out"; }
is "$(late | jq '. <= 1')" true "tmux-attach -w tells a state within a second"
stop "$pid"

# --- its hooks say more of the same, and nothing of another
its() {
  AGENT_PANE=$(tmux -L riff list-panes -t =riff: -F '#{pane_id}')@$(tmux -L riff display-message -p '#{socket_path}') \
    agent-state "$@"
}
its working
ok "what a hook said of another state is not believed" stands riff '["idle",null,null]'
its idle 'done: all is well'
ok "what a hook said of this state is the reason" stands riff '["idle","done: all is well",null]'
say . -- run make
wait_until 20 stands riff '["waiting","permission prompt",null]'
its waiting 'asks for permission: Bash: make'
ok "what a hook says of a permission is the reason" \
  wait_until 20 stands riff '["waiting","asks for permission: Bash: make",null]'

# --- into what it asks nothing is typed
lines=$(wc -l <"$tmp/told")
say . -- "Yes, do it"
status_is 75 "a text that would be an answer is not typed"
err_is "agent-say: .: session riff: its agent asks something, and nothing was typed (agent-say --answer answers)" \
  "the message says how to answer a question"
say --when-idle --max-wait 0.5 . -- more
status_is 75 "a text is not typed into a question with --when-idle"
echo picture >"$tmp/a.txt"
t 0 "a file is queued" share-inbox -q add "$tmp/a.txt"
run share-inbox -q drain .
status_is 75 "a file's path is not typed into a question"
is "$(share-inbox list | wc -l)" 1 "a file stays in the inbox while the agent asks"
is "$(wc -l <"$tmp/told")" "$lines" "the agent was told nothing while it asked"
ok "the question still stands" stands riff '["waiting","asks for permission: Bash: make",null]'

# --- answers, by their labels
say --answer . -- perhaps
status_is 1 "an answer that is not offered has status 1"
err_is "agent-say: .: session riff: its agent offers no perhaps: Yes; Yes, and don't ask again for make; No" \
  "the message tells which answers are offered"
say --answer . -- no
status_is 0 "an answer is chosen by its label"
ok "the answer chosen by its label was the right one" wait_until 20 stands riff '["idle",null,null]'
is "$(grep -c user-rejected "$HOME"/.claude/projects/*/*.jsonl)" 2 "the agent took it for a no, as it did Escape"
say --answer . -- yes
status_is 1 "nothing is answered where nothing is asked"
err_is "agent-say: .: session riff: its agent asks nothing" \
  "the message says that the agent asks nothing"
say . -- run make
wait_until 20 stands riff '["waiting","permission prompt",null]'
say --answer . -- 2
ok "an answer is chosen by its number, too" wait_until 20 stands riff '["idle",null,null]'
ok "the allowed tool has run" grep -q 'did make' "$HOME"/.claude/projects/*/*.jsonl
say . -- ask
wait_until 20 stands riff '["waiting","input needed",null]'
say --answer . -- OUTER
ok "an answer is chosen in capitals, too" wait_until 20 stands riff '["idle",null,null]'
ok "the other interpretation was chosen" \
  grep -q 'You mean the outer' "$HOME"/.claude/projects/*/*.jsonl
run share-inbox -q drain -r .
status_is 0 "the file goes when the agent asks nothing more"
wait_until 20 stands riff '["idle",null,null]'

printf '\211PNG\r\n\032\n' >"$tmp/shot one.png"
t 0 "a picture is queued" share-inbox -q add "$tmp/shot one.png"
run share-inbox -q drain .
say . -- what is on it
ok "the agent sees the picture, not its path" wait_until 20 told "false [Image #1] what is on it"
wait_until 20 stands riff '["idle",null,null]'

# --- long texts arrive as what the person says
typed() {
  say --when-idle . <"$tmp/text"
  status_is 0 "$1 is typed"
  ok "$1 arrives as it was" wait_until 20 told "false $(cat "$tmp/text")"
}
awk 'BEGIN { for (i = 0; i < 600; i++) printf "%s word", i }' >"$tmp/text"
typed "a line of 5 KB"
awk 'BEGIN { for (i = 0; i < 300; i++) print "line " i " ü" }' >"$tmp/text"
typed "a text of 300 lines"
printf 'äöü %.0s' $(seq 300) | sed 's/ $//' >"$tmp/text"
typed "a text of 900 letters beyond ASCII"
printf 'a\nb\nc\nd' >"$tmp/text"
typed "a text of four lines"
is "$(tmux -L riff list-buffers | wc -l)" 0 "no buffer is left behind"

# --- what would run in a shell
say . -- "!touch '$tmp/ran'"
status_is 2 "a line with ! in front is refused"
err_like 'would run a line that begins with ! in a shell' \
  "the message says why a line with ! is refused"
printf 'look:\n  !rm -r .' >"$tmp/text"
say --when-idle . <"$tmp/text"
status_is 2 "a later line with ! in front is refused, too"
not_ok "nothing has run in a shell" test -e "$tmp/ran"
say --command . -- "!touch '$tmp/ran'"
status_is 0 "--command lets a line with ! be typed"
ok "a line with ! runs by --command" wait_until 20 test -e "$tmp/ran"
lines=$(wc -l <"$tmp/told")
share-inbox -q add "$tmp/a.txt"
share-inbox -q add "$tmp/a.txt"
t 2 "a file whose --format has a ! in front is refused" \
  share-inbox -q drain -r --format "!touch '$tmp/read'; cat {path}" .
err_like 'would run a line that begins with ! in a shell \(--command lets it\)' \
  "the message says what lets a line with ! be typed"
run share-inbox -q drain --format " !cat {path}" .
is "$status$(share-inbox list | wc -l)" 22 \
  "a --format with ! is refused without Return, behind a blank, and for several files"
is "$(wc -l <"$tmp/told")" "$lines" "the agent was told nothing of refused files"
t 0 "--command lets a --format with ! be typed" \
  share-inbox -q drain -r --command --format "!touch '$tmp/read'; cat {path}" .
ok "a --format with ! runs by --command" wait_until 20 test -e "$tmp/read"
is "$(share-inbox list | wc -l)" 0 "the files are handed over by --command"
wait_until 20 stands riff '["idle",null,null]'

# --- elsewhere: other servers, other folders, no tmux
mkdir "$tmp/other folder"
tmux -L mine -f /dev/null new-session -d -s work -c "$tmp" "$HOME/bin/claude"
CLAUDE_CONFIG_DIR="$tmp/other folder" tmux -L third -f /dev/null new-session -d -s deep -c "$tmp" "$HOME/bin/claude"
ok "a session in another server is listed" wait_until 20 stands work '["idle",null,"mine"]'
ok "a session with a configuration folder of its own is listed" \
  wait_until 20 stands deep '["idle",null,"third"]'
start outside python3 -c 'import os, pty, sys, time
child, fd = pty.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
print(child, flush=True)
while os.read(fd, 65536):
    pass' "$HOME/bin/claude"
outside=$pid
named() { tmux-attach -l . 2>/dev/null | jq -c 'select(.process) | [.name, .process, .state, .windows]'; }
seen() { [ "$(named)" = "[\"site-3f\",$(cat "$tmp/outside.out"),\"idle\",0]" ]; }
ok "a Claude Code outside tmux is listed with its process" wait_until 20 seen
t 1 "nothing can be typed to a Claude Code outside tmux" \
  sh -c 'echo x | tmux-attach -s site-3f -t .'
run tmux-attach -l -o line .
out_is "4 idle" "Claude Code of all servers and of none counts"
tmux -L riff kill-server
run tmux-attach -l .
is "$status$(jq -r .name "$out" | sort | xargs)" "0deep site-3f work" \
  "sessions are listed without a server of one's own"
kill -9 "$(cat "$tmp/outside.out")"
gone() { [ -z "$(named)" ]; }
ok "a Claude Code that was killed is gone, though its file is there" wait_until 20 gone
stop "$outside"
t 0 "tmux-attach -l lists another server" tmux-attach -l --label mine .
is "$(jq -r 'select(.name == "work") | "\(.state) \(.label)"' "$out")" "idle null" \
  "a session of another server is its own there"
# A number that another process has got.
tmux -L mine kill-server
set -- "$tmp/other folder"/sessions/*.json
cp "$1" "$HOME/.claude/sessions/$$.json"
alone() { [ "$(tmux-attach -l . | jq -r .name)" = deep ]; }
ok "a process that has the number of another is not taken for it" wait_until 20 alone
for text in '' '{' '[]' '{"sessionId":1,"status":2}' '{"sessionId":"x","status":"idle","name":"\u001b[31m\n|"}'; do
  printf '%s' "$text" >"$HOME/.claude/sessions/$$.json"
  run tmux-attach -l -o table .
  is "$status$(grep -c "$(printf '\033')" "$out")" 00 "a file that is damaged or hostile does no harm: $text"
done
rm "$HOME"/.claude/sessions/*

# --- whether it may work in the folder
mkdir "$tmp/strange"
tmux -L riff -f /dev/null new-session -d -s riff -c "$tmp/strange" "CLAUDE_ASKS_TRUST=1 '$HOME/bin/claude'"
ok "a question of trust is known without a file" \
  wait_until 20 stands riff '["waiting","trust this folder?",null]'
say . -- hello
status_is 75 "nothing is typed into a question of trust"
say --answer . -- yes
status_is 0 "the answer to a question of trust is chosen"
ok "Claude Code begins when it is trusted" wait_until 20 stands riff '["idle",null,null]'

# --- an older one, which keeps no file of its own
tmux-attach -q --close riff .
tmux -L riff -f /dev/null new-session -d -s riff "exec env CLAUDE_STUB_OLD=1 $HOME/bin/claude"
ok "the title of an older Claude Code says that it is at rest" \
  wait_until 20 stands riff '["idle",null,null]'
say . -- slow 3
ok "the title of an older Claude Code says that it is at work" \
  wait_until 20 stands riff '["working",null,null]'
ok "the title of an older Claude Code says that it is at rest again" \
  wait_until 20 stands riff '["idle",null,null]'
say --when-idle --max-wait 2 . -- hello
status_is 1 "the title of an older Claude Code is not enough to type by"
done_testing
