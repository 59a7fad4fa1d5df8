#!/bin/sh
# tmux-attach: whether agents wait, work or are idle, over SSH: in records, rows and bars,
# within a second of each change, and typing that waits for it.
# shellcheck disable=SC2154,SC2086  # of ssh.sh; words
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"

start_sshd
cp "$root/bin/agent-state" "$root/bin/riff-claude" "$remote_home/bin"
attach_args
attach() { run tmux-attach $attach_args "$@"; }
# in_pane SESSION ARG...: agent-state there.
in_pane() {
  _pane=$(rtmux list-panes -t "=$1:" -F '#{?pane_active,#{pane_id},}' | tr -d '\n')
  shift
  AGENT_PANE=$_pane@$(rtmux display-message -p '#{socket_path}') agent-state "$@"
}
# shown SESSION: its state and reason.
shown() { jq -r --arg name "$1" 'select(.name == $name) | .state + "|" + (.reason // "-")' "$out"; }
listed() { tmux-attach $attach_args -l | jq -e --arg name "$1" "select(.name == \$name) | $2" >/dev/null; }

# --- records
rtmux -f /dev/null new-session -d -s one cat
rtmux new-session -d -s two cat
attach -l
is "$(jq -c '[.state, .since, .reason]' "$out" | tr '\n' ' ')" \
  '["unknown",null,null] ["unknown",null,null] ' \
    "a session of which nobody has said anything is unknown"
in_pane one waiting "needs you"
attach -l
is "$(shown one) $(shown two)" "waiting|needs you unknown|-" \
  "a session of which something was said waits"
like "$(jq -r 'select(.name == "one").since' "$out")" '^20[0-9-]+T[0-9:]+\.000Z$' \
  "a state has its time"
in_pane one working
attach -l -o tsv
is "$(cut -f 1,8,10 "$out")" "$(printf 'one\tworking\t\ntwo\tunknown\t')" \
  "-o tsv has the states at the end"
attach -l -o table
out_like '^NAME +STATE +SINCE ' "-o table has the states at the beginning"

# --- of several panes, the most urgent
rtmux split-window -t =one: cat
in_pane one idle
attach -l
is "$(shown one)" "working|-" "a session with one agent at work and one idle works"
rtmux new-window -t =one: cat
in_pane one waiting here
rtmux select-window -t =one:0
attach -l
is "$(shown one)" "waiting|here" "a session with an agent that waits in another window waits"
rtmux kill-window -t =one:1
attach -l
is "$(shown one)" "working|-" "a session works again when the agent that waits is gone"

# --- an agent that has gone is nobody's state
rtmux new-session -d -s gone "sh -c 'cat; exec sh'"
rtmux new-session -d -s dead "exec cat"
rtmux set-option -w -t =dead: remain-on-exit on
rtmux new-session -d -s prompt sh
in_pane prompt working
rtmux send-keys -t =dead: C-c
for name in gone dead; do in_pane "$name" working; done
attach -l
# A shell that waits for its agent is told from one that is back only if it was not there.
is "$(shown gone)$(shown prompt)" "working|-working|-" "a shell's own state stays"
rtmux new-session -d -s back "exec sh -i"
rtmux send-keys -t =back: cat Enter
runs() { [ "$(rtmux display-message -p -t "=$1:" '#{pane_current_command}')" = "$2" ]; }
wait_until 20 runs back cat
in_pane back working
attach -l
is "$(shown back)" "working|-" "an agent under a shell is seen"
rtmux send-keys -t =back: C-d
wait_until 20 runs back sh
attach -l
is "$(shown back)" "unknown|-" "a shell that is back has no state"
in_pane two working
rtmux set-option -w -t =two: remain-on-exit on
rtmux send-keys -t =two: C-d
died() { [ "$(rtmux display-message -p -t "=$1:" '#{pane_dead}')" = 1 ]; }
wait_until 20 died two
attach -l
is "$(shown two)" "unknown|-" "a pane that is dead has no state"
no_server

# --- text of others
odd=$(printf 'we "ird\047 <b>&;|')
rtmux -f /dev/null new-session -d -s "$odd" cat
pane=$(rtmux list-panes -a -F '#{pane_id}')
# Anybody with the socket may set them to anything.
reason=$(printf 'a|b\nS|$9|x|. \\ #(touch PWNED) #{pane_id} #[fg=red] <b>&amp; \033[31m \302\233x %%H "q" \047')
rtmux set-option -p -t "$pane" @agent_state waiting \; set-option -p -t "$pane" @agent_reason "$reason" \; \
  set-option -p -t "$pane" @agent_since 'P|0|x|'
attach -l
is "$(jq -s length "$out") $(jq -r .state "$out") $(jq -r .since "$out")" "1 waiting null" "hostile options are one record"
is "$(jq -r .reason "$out")" "$reason" "a hostile reason is printed as it is"
for form in table tsv line waybar tmux i3; do
  attach -l -o "$form"
  status_is 0 "hostile options do no harm as $form"
  is "$(LC_ALL=C tr -d '\n\t' <"$out" | LC_ALL=C grep -c '[[:cntrl:]]')" 0 \
    "no control character is printed as $form"
done
attach -l -o waybar
is "$(jq -r .text "$out") $(jq -c .class "$out") $(jq -r .alt "$out")" '1 waiting ["waiting"] waiting' "waybar gets the count and a class"
like "$(jq -r .tooltip "$out")" '^we "ird. &lt;b&gt;&amp;;\|: waiting: a\|b .* &lt;b&gt;&amp;amp; ' "pango is escaped"
is "$(jq -r .tooltip "$out" | wc -l)" 1 "waybar's tooltip has one line for each session"
rtmux set-option -p -t "$pane" @agent_reason "$(head -c 12000 /dev/zero | tr '\0' x)"
attach -l
is "$(jq '.reason | length' "$out")" 500 "a reason of 12 KB is cut"
rtmux set-option -p -t "$pane" @agent_state 'work|ing'
attach -l
is "$(jq -r .state "$out")" unknown "an unknown state is told as unknown"
is "$(find "$tmp" -name PWNED)" "" "nothing of hostile options was run"

# --- the forms of bars
no_server
attach -l -o tmux
is "$status$(cat "$out")" 0 "a block of tmux is empty without a session"
attach -l -o waybar
is "$status$(jq -r '.text + .alt' "$out")" 0none "a block of waybar is hidden without a session"
attach -l -o line
is "$status$(cat "$out")" "1no session" "-o line says that there is no session"
for name in a b c d e f; do rtmux -f /dev/null new-session -d -s "$name" cat; done
for name in a b; do in_pane "$name" waiting; done
in_pane c working
for name in d e f; do in_pane "$name" idle; done
attach -l -o line
out_is "2 waiting · 1 working · 3 idle" "-o line counts the states"
attach -l -o tmux
out_is "#[fg=#d97706]●#[default] 2 waiting · 1 working · 3 idle" \
  "tmux gets the counts with a colour"
attach -l -o i3
is "$(jq -r '.full_text + .short_text + .color' "$out")" "2 waiting · 1 working · 3 idlewaiting#d97706" "i3 gets the counts with a colour"
attach -o line
status_is 2 "a summary is refused where no list is asked for"
attach --capture -o waybar
err_like 'output waybar is not for --capture' "the message says that a summary is not for --capture"
run tmux-attach $attach_args -P 1 -l -o waybar
is "$status$(jq -r '.text + .alt' "$out")" "0○ unreachableunreachable" \
  "a bar shows a host that is down"
for job in -l -w; do
  for form in waybar tmux i3; do
    run tmux-attach $attach_args "$job" -o "$form" -i "$tmp/no-such-key"
    like "$(cat "$out")" '○.*unknown' "a mistake in the settings is shown ($job -o $form)"
    [ "$job" = -w ] || status_is 0 "a mistake in the settings is a block ($job -o $form)"
  done
done
run tmux-attach $attach_args -P 1 -l -o line
is "$status$(sed 's/:.*//' "$out")" "75○ unreachable" "-o line shows a host that is down, too"

# --- told within a second
no_server
start bar tmux-attach $attach_args -w -o line
bar=$pid
last() { [ "$(tail -n 1 "$tmp/bar.out")" = "$1" ]; }
ok "watch shows that there is no session yet" wait_until 20 last "no session"
rtmux -f /dev/null new-session -d -s one cat
ok "watch shows a session that appears" wait_until 20 last "1 unknown"
AGENT_PANE=$(rtmux list-panes -a -F '#{pane_id}')@$(rtmux display-message -p '#{socket_path}')
export AGENT_PANE
perl -MTime::HiRes=time,sleep -e '
  my ($file, @took) = shift;
  for my $n (1 .. 15) {
    my $state = (qw(waiting working idle))[$n % 3];
    sleep 0.15 + 0.13 * ($n % 7);
    my $begin = time;
    system("agent-state", $state) == 0 or die;
    while (1) {
      open my $in, "<", $file or die;
      my @lines = <$in>;
      last if $lines[-1] eq "1 $state\n";
      die "never told: $state\n" if time - $begin > 10;
      sleep 0.005;
    }
    push @took, time - $begin;
  }
  @took = sort { $a <=> $b } @took;
  printf "%.0f %.0f\n", 1000 * $took[@took / 2], 1000 * $took[-1]' "$tmp/bar.out" >"$tmp/took"
read -r median most <"$tmp/took"
diag "a state is told after $median ms (median), $most ms (the longest)"
# Far less where nothing else runs: the figures are for people, on a machine of their own.
ok "each state is told soon" test "${most:-9999}" -lt 8000
is "$(grep -c . "$tmp/bar.out")" 17 "each state has one line, and there is no other"
rtmux kill-session -t =one
ok "watch shows that the session has gone" wait_until 20 last "no session"
stop "$bar"
unset AGENT_PANE
rtmux -f /dev/null new-session -d -s one cat
start changes tmux-attach $attach_args -w
changes=$pid
told() { jq -e "select(.change == \"changed\" and .state == \"idle\" and .reason == \"so\")" "$tmp/changes.out"; }
wait_until 20 test -s "$tmp/changes.out"
in_pane one idle so
ok "records of changes have state and reason" wait_until 20 told
stop "$changes"

# --- claude's own hooks, by riff-claude
# Its server begins behind a login, and knows where the agent's log is.
no_server
attach -N -H riff-claude -s riff
at() { listed riff "select(.state == \"$1\" and (.reason // \"\") == \"$2\")"; }
ok "riff-claude: a session begins idle" wait_until 20 at idle ""
is "$(agent_says riff 'select(.what == "start").env.TMUX')" null \
  "riff-claude hides tmux from the agent"
is "$(agent_says riff 'select(.what == "start").arguments[1]' | jq -c '[.[] | keys[]]')" \
  '["Notification","PermissionRequest","PostToolUse","PreToolUse","SessionEnd","SessionStart","Stop","StopFailure","UserPromptSubmit"]' \
    "riff-claude sets these hooks"
say() { run agent-say $attach_args "$@"; }
say -- work hard
ok "a prompt begins work" wait_until 20 at working ""
say -- ask 'Claude needs \x23(touch PWNED) \x1b[31m\n to use Bash'
ok "a permission is waited for" wait_until 20 at waiting "Claude needs #(touch PWNED) [31m to use Bash"
say -- allow
ok "the permission is granted" wait_until 20 at working ""
say -- "done"
ok "a turn that ends is idle with its reason" wait_until 20 at idle "done"
is "$(agent_says riff 'select(.what == "hook") | [.status, .said]' | sort -u)" '[0,""]' \
  "no hook failed or said a word"
is "$(find "$tmp" -name PWNED)" "" "nothing of what the agent asked was run"

# --- typing waits
say -- work again
wait_until 20 at working ""
begin=$(date +%s)
say --when-idle --max-wait 1 -- too early
status_is 75 "--when-idle does not type while the agent works"
ok "--when-idle waits no longer than it may" test "$(($(date +%s) - begin))" -lt 6
err_like 'session riff: still working' "the message says that the agent still works"
say -- ask may I
wait_until 20 at waiting "may I"
say --when-idle --max-wait 1 -- too early
status_is 75 "--when-idle does not type while the agent waits for an answer"
start patient agent-say $attach_args --when-idle -- at last
patient=$pid
say -- "done"
ok "--when-idle types when the agent is idle" wait_until 20 gone "$patient"
arrived() { agent_typed riff | tr '\r' '\n' | grep -qx 'at last '; }
ok "the text of --when-idle is typed" wait_until 20 arrived
not_ok "a text that came too early is not typed" sh -c "$(cat <<END
grep -q 'too early' '$(agent_log riff)'
END
)"
rtmux -f /dev/null new-session -d -s mute cat
say -s mute --when-idle -- hello
status_is 1 "--when-idle has status 1 where nobody tells a state"
err_like 'session mute: nothing says whether its agent is idle; see agent-state\(1\)' \
  "the message says that nothing tells the state"
say -s none --when-idle -- hello
status_is 1 "--when-idle needs a session"
attach -l --when-idle
status_is 2 "--when-idle is refused where nothing is typed"

# --- without hooks
say -- exit 0
rtmux new-session -d -s plain "exec env RIFF_HOOKS=0 PATH=$remote_home/bin:\$PATH STUB_LOGS=$agents riff-claude --model x"
# Terminals are used again, and so is the name of their log.
begun() {
  _agent=$(rtmux display-message -p -t "=$1:" '#{pane_pid}')
  grep -q "\"start\", \"pid\": $_agent," "$(agent_log "$1")"
}
wait_until 20 begun plain
is "$(agent_says plain 'select(.what == "start").arguments | join(" ")')" "--model x" \
  "RIFF_HOOKS=0 leaves the hooks out"
rtmux new-session -d -s own "exec env PATH=$remote_home/bin:\$PATH STUB_LOGS=$agents riff-claude --settings '{}'"
wait_until 20 begun own
is "$(agent_says own 'select(.what == "start").arguments | join(" ")')" "--settings {}" \
  "settings of the caller's leave the hooks out"
rm "$remote_home/bin/agent-state"
rtmux new-session -d -s bare "exec env PATH=$remote_home/bin:/usr/bin:/bin STUB_LOGS=$agents riff-claude"
wait_until 20 begun bare
is "$(agent_says bare 'select(.what == "start").arguments | join(" ")')" "" \
  "a host without agent-state has no hooks"
done_testing
