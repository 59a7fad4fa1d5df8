#!/bin/sh
# tmux-attach -l and -w beside the real Claude Code: each situation, and how soon it is told.
. "${0%/*}/lib.sh"
bound=400

claude_in "$box_folder"
start watch tmux-attach -w .
# told TITLE STATE: -w tells the state, within half a second of when the program has it.
told() {
  now() {
    tail -n 1 "$tmp/watch.out" | jq -e --arg want "$2" \
      '.state + (if .reason then " " + .reason else "" end) == $want' >/dev/null
  }
  ok "$1" wait_until 30 now "$@"
  is "$(tail -n 1 "$tmp/watch.out" | jq -r '
    def at: (sub("\\..*"; "Z") | fromdate) + (capture("\\.(?<ms>[0-9]+)").ms | tonumber / 1000);
    if .since then (.time | at) - (.since | at) <= 0.5 else true end')" true "within half a second"
}
say() { agent-say -q --return-delay 0.3 . -- "$@" || bail "nothing is typed"; }
ok "at its prompt" wait_until 30 has "$tmp/watch.out" '"state":"idle"'
say slow 4
told "while it answers" working
told "behind the answer" idle
say run 'touch /tmp/elsewhere/x; sleep 3'
told "a permission in its first seconds" "waiting permission prompt"
agent-say --answer . -- yes
told "an approved tool that runs" working
told "and behind it" idle
say run touch /tmp/elsewhere/x
told "another permission" "waiting permission prompt"
keys Escape
told "Escape in the dialog" idle
say run touch /tmp/elsewhere/x
wait_until 30 stands "waiting permission prompt"
agent-say --answer . -- no
told "No in the dialog" idle
say slow 20
told "a long answer" working
keys Escape
told "Escape while it streams" idle
say err400
wait_until 30 stands idle
told "an error of the API" idle
say ask
told "a question" "waiting input needed"
keys Escape
told "its end" idle
say /model
told "a dialog of its own" "waiting dialog open"
keys Escape
told "its end" idle
say slow 3
say slow 2
told "a prompt that is queued is worked at" working
wait_until 30 stands idle
told "to its end" idle

# --- elsewhere
tmux -L mine -f /dev/null new-session -d -s own -c "$box_folder" claude
own() { tmux-attach -l . | jq -e 'select(.name == "own" and .label == "mine" and .state == "idle")' >/dev/null; }
ok "a session of the person's own tmux server" wait_until 60 own
(cd "$box_folder" && claude --bg 'slow 5' >/dev/null 2>&1)
background() { tmux-attach -l . | jq -e 'select(.process and .state == "working")' >/dev/null; }
ok "one in the background" wait_until 60 background
over() { tmux-attach -l . | jq -e 'select(.process and .state == "idle")' >/dev/null; }
ok "to its end" wait_until 60 over
kill -9 "$(tmux -L mine list-panes -a -F '#{pane_pid}')"
gone() { ! own; }
ok "one that was killed" wait_until 5 gone
tmux -L riff kill-session -t riff
mkdir "$tmp/strange"
claude_in "$tmp/strange"
is "$(state)" "waiting trust this folder?" "the question about a folder"
agent-say --answer . -- yes
ok "and behind it" wait_until 60 stands idle
done_testing
