#!/bin/sh
# An agent at work, watched live: agent-serve answers with a command that uses a tool, and
# agent-tail | turn-fold | turn-format shows it while it happens.
. "${0%/*}/../lib.sh"
needs agent-serve agent-tail agent-chat turn-fold turn-format jq python3
TERM=xterm
export TERM

# The example of the manual, which waits before the tool ends.
sed -n '/^note() {/,/^\.Ed/p' "$root/man/agent-serve.8" | sed '/^\.Ed/d; s/\\e/\\/g' >"$tmp/example"
ok "agent-serve(8) has an example" has "$tmp/example" 'It is \$now'
{
  echo 'read -r words'
  sed 's/^now=.*/printf "Looking.\\n\\n"; until rm "$STEPS\/tool" 2>\/dev\/null; do sleep 0.01; done; &/' "$tmp/example"
  echo 'case $words in fail*) exit 3 ;; esac'
} >"$tmp/reply"
STEPS=$tmp/steps
mkdir "$STEPS"
export STEPS
serve_agent serve --gateway 0 --reply-command "sh $tmp/reply"
printf '[profile claw]\nkind = openclaw\nurl = %s\n' \
  "$(jq -r 'select(.type == "gateway") | .url' "$tmp/serve.out")" \
  >"$XDG_CONFIG_HOME/agentutils/config"

start pipe python3 "$cli/terminal.py" 24x100 sh -c '
  { agent-tail -p claw -L & echo $! >"$1/tail"; wait; } | tee "$1/events" |
    turn-fold | tee "$1/records" | turn-format --color never' - "$tmp"
pipe=$pid
ok "the link is open" wait_until 30 has "$tmp/events" '"type":"open"'
start ask agent-chat -p claw what time is it
ask=$pid
ok "a turn is shown that runs" wait_until 20 has "$tmp/pipe.out" ' running '
ok "a thought is shown while the agent works" wait_until 20 has "$tmp/pipe.out" 'They ask for the time'
ok "a tool that the agent has begun is shown" wait_until 20 has "$tmp/pipe.out" '▸ shell'
ok "a text is folded before it ends" \
  wait_until 20 has "$tmp/records" '"role":"assistant","text":"Looking\."'
not_ok "nothing has ended yet" has "$tmp/records" '"state":"(completed|succeeded|final)"'
touch "$STEPS/tool"
finished "$ask"
is "$status" 0 "the question is answered"
ok "the end is shown" wait_until 20 has "$tmp/pipe.out" '1 call'
ok "the tool is shown" has "$tmp/pipe.out" '✓ shell'
ok "the answer is shown" has "$tmp/pipe.out" 'It is .* UTC'
# last TYPE: the last record of it.
last() { jq -c --arg type "$1" 'select(.type == $type)' "$tmp/records" | tail -n 1; }
is "$(last turn | jq -c '[.state, .thread, .usage, .usd_cost]')" \
  '["completed","agent:main:main",{"input_tokens":9,"output_tokens":4},0.001]' \
    "the turn is completed with its usage and cost"
is "$(last tool_call | jq -c '[.state, .tool, .label, .arguments.command, (.stdout | length > 10)]')" \
  '["succeeded","shell","date -u","date -u",true]' "the call has succeeded with its output"
is "$(last message | jq -r '[.state, .text] | join(" ")')" \
  "final $(cat "$tmp/ask.out")" "what is folded is what was answered"
is "$(jq -r 'select(.type == "tool_call").id' "$tmp/records" | sort -u | wc -l | tr -d ' ')" 1 \
  "one call of a tool has one id in all records"

# A reply that fails.
touch "$STEPS/tool"
t 1 "a reply that fails has status 1" agent-chat -p claw -t side fail now
ok "a turn that fails is shown as failed" wait_until 20 has "$tmp/pipe.out" '✗ failed'
kill "$(cat "$tmp/tail")"
finished "$pipe"
is "$status" 0 "the pipe ends with its source"
# What was told live is what a file says.
turn-fold "$tmp/events" >"$tmp/again"
is "$(jq -c '[.type, .id]' "$tmp/again" | sort -u | cksum)" \
  "$(jq -c '[.type, .id]' "$tmp/records" | sort -u | cksum)" "a recording tells the same records"
turn-fold "$tmp/events" | turn-format >"$tmp/shown"
ok "the tool is shown again" has "$tmp/shown" '✓ shell'
done_testing
