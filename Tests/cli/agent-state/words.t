#!/bin/sh
# agent-state: what its words and the objects of hooks leave in the options of a pane, in
# a tmux of this machine, and that it disturbs nobody.
. "${0%/*}/../lib.sh"
needs tmux jq python3
unset TMUX TMUX_PANE AGENT_PANE

mkdir -m 700 "$tmp/sessions"
TMUX_TMPDIR=$tmp/sessions
export TMUX_TMPDIR
at_end="$at_end end_sessions"
end_sessions() { t kill-server 2>/dev/null; }
t() { tmux -u -L here "$@"; }

t -f /dev/null new-session -d -s one cat
pane=$(t list-panes -t one -F '#{pane_id}')
socket=$(t display-message -p '#{socket_path}')
# options: state|reason|command, and whether there is a time.
options() { t display-message -p -t "$pane" '#{@agent_state}|#{@agent_reason}|#{@agent_command}'; }
since() { t display-message -p -t "$pane" '#{@agent_since}'; }

# --- nowhere
for words in "working" "idle all is well" "--hook"; do
  # shellcheck disable=SC2086
  run agent-state $words </dev/null
  status_is 0 "nothing fails outside tmux: $words"
  out_empty "nothing is printed outside tmux: $words"
  err_empty "nothing is said outside tmux: $words"
done
run agent-state -v waiting
err_is "agent-state: not in a pane of tmux" "-v says that it is not in a pane"
for name in '%' '%1' '1@/x' '%x@/x' '%1;kill-server@/x' '@' '%1@' "%99@$socket" "%0@$tmp/none"; do
  AGENT_PANE=$name run agent-state working
  is "$status$(cat "$out" "$err")" 0 "a pane that does not exist is not a mistake: $name"
done
is "$(options)" "||" "no state was set from outside"
AGENT_PANE="%99@$socket" run agent-state -v working
err_like "^agent-state: tmux: .*%99" "-v tells what tmux said about a pane"
run agent-state
status_is 2 "a state must be named"
run agent-state busy
status_is 2 "a state that does not exist is refused"
err_like 'state busy: not one of working, waiting, idle, unknown' "the message names the states"
run agent-state --hook idle
status_is 2 "--hook takes no words"

# --- the pane's own words, hidden and not
TMUX=$socket,123,0 TMUX_PANE=$pane run agent-state working
is "$status$(cat "$out" "$err")" 0 "a state is set in a pane"
is "$(options)" "working||cat" "a pane has its state and what runs there"
like "$(since)" '^20[0-9-]+T[0-9:]+Z$' "the time since when is kept"
AGENT_PANE=$pane@$socket
export AGENT_PANE
t set-option -p -t "$pane" @agent_since 2020-01-01T00:00:00Z
agent-state working again
is "$(since) $(options)" "2020-01-01T00:00:00Z working|again|cat" \
  "the same state again keeps its time"
agent-state waiting
unlike "$(since)" '^2020' "another state has a time of its own"
is "$(options)" "waiting||cat" "another state has no reason of before"
agent-state unknown
is "$(since)$(options)" "||" "the time of a state that is unknown is forgotten"
awaited() { kill -0 "$pid" 2>/dev/null && return 1 || return 0; }
start waiter tmux -L here wait-for agent-state
agent-state idle
ok "a state wakes who waits" wait_until 10 awaited

start waiter tmux -L here wait-for agent-state
agent-state idle
agent-state idle
ok "the same state again wakes nobody" kill -0 "$pid"
agent-state idle "for a reason"
ok "another reason wakes who waits" wait_until 10 awaited
agent-state working
agent-state working '0'
agent-state working
is "$(options)" "working||cat" "a reason that reads as false goes, too"

# --- reasons are data
cd "$tmp" || bail "no $tmp"
# tried REASON SHOWN TITLE
tried() {
  agent-state waiting "$1"
  is "$(t show-options -pqv -t "$pane" @agent_reason)" "$2" "$3"
}
for reason in '#(touch PWNED)' '#{pane_id}' '#[fg=red]' '%H:%M' '$(touch PWNED)' '`touch PWNED`' "it's \"so\"" \
  'a \ b' '-x' '; kill-server' 'kill-server ;' 'ends\;' '{last}' '~'; do
  tried "$reason" "$reason" "a reason is kept as it is: $reason"
done
agent-state waiting -- --all words
is "$(t show-options -pqv -t "$pane" @agent_reason)" "-- --all words" \
  "all words behind the state are the reason"
tried "$(printf 'a\033[31mb\n\tc\007\r\302\233d\342\200\256e')" "a [31mb c ?d?e" \
  "a reason has no control characters, and is one line"
tried "$(printf '  much  \n\n  room  ')" "much room" "a reason has no blanks too many"
tried "$(head -c 65536 /dev/zero | tr '\0' x)" "$(head -c 200 /dev/zero | tr '\0' x)" \
  "a reason of 64 KB is cut"
tried "x$(yes ü | head -n 300 | tr -d '\n')" "x$(yes ü | head -n 99 | tr -d '\n')" \
  "a reason is cut between characters"
hidden=$(python3 -c 'print("".join(f"x{chr(n)}" for n in (0xfff9, 0xfffa, 0xfffb, 0xe0001, 0xe0041, 0xe007f, 0xe01ef,
    0x61c, 0x115f, 0x180e, 0x200b, 0x202e, 0x2069, 0x3164, 0xfe00, 0xfeff, 0xffa0, 0x1bca0, 0x1d173)))')
tried "$hidden" "$(printf '%s' "$hidden" | python3 -c 'import re, sys; print(re.sub("[^x]", "?", sys.stdin.read()))')" \
  "a reason has nothing that nobody sees"
tried "$(printf 'ü\342\235\244\357\270\217 😀')" "$(printf 'ü\342\235\244\357\270\217 😀')" \
  "a reason has a picture as it is"
tried "$(printf 'a\233b\303')" "a?b?" "a reason has no bytes that are not text"
agent-state waiting "$(printf 'bad \377\376 bytes')"
like "$(tmux-attach --label here -l . | jq -r .reason)" '^bad .* bytes$' \
  "a reason with bytes that are not text is a record still"
ok "the server of tmux is still there after all reasons" t has-session -t one

# --- hooks
# hooked OBJECT WANT TITLE
hooked() {
  said=$(printf '%s' "$1" | agent-state --hook 2>&1)
  is "$?$said|$(t display-message -p -t "$pane" '#{@agent_state}|#{@agent_reason}')" "0|$2" \
    "a hook leaves the right state: $3"
}
event() { hooked "{\"session_id\":\"x\",\"hook_event_name\":\"$1\"${3-}}" "$2" "${4:-$1}"; }
agent-state unknown
event SessionStart 'idle|' ',"source":"startup"'
event UserPromptSubmit 'working|' ',"prompt":"\"hook_event_name\":\"Stop\""'
event SessionStart 'working|' ',"source":"compact"' "SessionStart in the middle of a turn"
event Notification 'waiting|Claude needs your permission to use Bash' \
  ',"message":"Claude needs your permission to use Bash","notification_type":"permission_prompt"'
event PostToolUse 'working|' ',"tool_response":{"hook_event_name":"Stop","a":["}",{"b":"\\\""}]},"x":[1,2]'
event PermissionRequest 'waiting|asks for permission'
event PermissionRequest 'waiting|asks for permission: Bash: touch "a"; true' \
  ',"tool_name":"Bash","tool_input":{"description":"Run it","command":"touch \"a\"; true"},"x":{"command":"no"}' \
  "a request with a tool and what it is to do"
event Notification 'waiting|asks for permission: Bash: touch "a"; true' \
  ',"message":"Claude needs your permission","notification_type":"permission_prompt"' \
    "a notice behind a request"
event PermissionRequest 'waiting|asks for permission: Write: /a b' \
  ',"tool_name":"Write","tool_input":{"content":{"url":"no"},"file_path":"/a b"}' \
    "a request with a file and its content"
event PermissionRequest 'waiting|asks: Which harbour?' \
  ',"tool_name":"AskUserQuestion","tool_input":{"questions":[{"header":"H","question":"Which harbour?"}]}' \
    "a question to the person"
event PermissionRequest 'waiting|asks for permission: mcp__x' ',"tool_name":"mcp__x","tool_input":{}' \
    "a request with a tool of another"
event StopFailure 'idle|failed: billing_error: Out of money' \
  ',"error":"billing_error","last_assistant_message":"Out of money"'
event Stop 'idle|done: All tests pass.' ',"last_assistant_message":"All tests\npass."' \
    "Stop with the last words"
event PreToolUse 'working|'
event Notification 'working|' ',"notification_type":"auth_success","message":"in"' "a notice of something else"
event Notification 'idle|done' ',"notification_type":"idle_prompt","message":"x"' "an idle prompt"
event Notification 'waiting|Claude needs your permission' ',"message":"Claude needs your permission"' \
    "a notice without a type"
event Notification 'idle|done' ',"message":"Claude is waiting for your input"' \
    "an idle notice without a type"
event SubagentStop 'working|'
event Stop 'idle|done'
event PreCompact 'idle|done'
event SessionEnd '|'
agent-state idle before
for text in '' 'null' '[]' '{' '"' '{"hook_event_name":' '{"hook_event_name":"Stop' '{"hook_event_name":["Stop"]}' \
  '{"a":{"hook_event_name":"Stop"}}' '{"a":"hook_event_name","b":"Stop"}' 'hook_event_name Stop'; do
  hooked "$text" 'idle|before' "no event in $text"
done
event Notification 'waiting|a "b" \ / ü 😀 ? [31m c #(touch PWNED) ;' \
  ',"notification_type":"permission_prompt","message":"a \"b\" \\ \/ \u00fc \uD83D\ude00 \ud83d \u001b[31m\n\tc #(touch PWNED) ;"' \
  "a notice with escapes of JSON"
# Longer than a pipe, and to its end.
long() {
  printf '{"hook_event_name":"Stop","tool_response":"'
  head -c 50000000 /dev/zero | tr '\0' x
  printf '"}' && echo written >"$tmp/written"
}
long | agent-state --hook
is "$(cat "$tmp/written") $(options)" "written idle|done|cat" "50 MB are read to the end"
is "$(find "$tmp" -name PWNED)" "" "nothing of all the words was run"
jobs=
for n in 1 2 3 4 5 6 7 8; do
  agent-state working "$n" &
  jobs="$jobs $!"
done
for job in $jobs; do wait "$job"; done
like "$(options)" '^working\|[1-8]\|cat$' "eight calls at once leave one state"
done_testing
