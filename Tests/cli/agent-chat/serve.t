#!/bin/sh
# agent-chat with nothing else installed: agent-serve as the gateway, a shell command as
# the agent.
. "${0%/*}/../lib.sh"
[ -x "$root/bin/agent-serve" ] || skip_all "needs agent-serve"
agent-serve --help | grep -q -e --reply-command || skip_all "needs a gateway in agent-serve"
needs agent-chat jq

# serve NAME [OPTION...]: a gateway and a profile of that name.
serve() {
  _name=$1
  shift
  serve_agent "$_name" --gateway 0 "$@"
  _gateway=$(jq -r 'select(.type == "gateway") | .url' "$tmp/$_name.out")
  printf '[profile %s]\nkind = openclaw\nurl = %s\n' "$_name" "$_gateway" \
    >>"$XDG_CONFIG_HOME/agentutils/config"
}
serve loud --reply-command 'tr a-z A-Z'
chat() { run agent-chat -p loud --retry-wait 0.1 "$@"; }

chat hello there
status_is 0 "a question is answered"
out_is "HELLO THERE" "answered by the command"
err_empty "nothing else is said"
run sh -c 'printf "two\nlines" | agent-chat -p loud -o json'
is "$(jq -r 'select(.type == "message" and .state == "final") | .text' "$out")" 'TWO
LINES' "standard input is asked, and records come"
is "$(tail -n 1 "$out" | jq -c '[.type, .state]')" '["turn","completed"]' "to the end"
chat --key once-1 only once
out_is "ONLY ONCE" "a key is taken"
chat --key once-1 only once
out_is "ONLY ONCE" "there is one answer"
chat --history -o json
is "$(jq -r 'select(.role == "user") | .text' "$out" | grep -c 'only once')" 1 "and is said once"
chat --history -n 2
out_is 'user: only once
assistant: ONLY ONCE' "the history is shown"
chat --agents
out_like '^main	' "the agents are listed"
chat -t side hello
chat --threads
out_like '^agent:main:side	hello	' "the threads are listed with what was said first"
is "$(agent-call -p loud rpc config.get)" '{"exists":false,"valid":true,"config":{},"issues":[]}' \
  "there is no configuration to read"
t 0 "agent-call tells how it is" agent-call -p loud -o tsv health
is "$(cut -f 2,4 "$out" | sed 's/, up .*//')" "$(printf 'healthy\tversion %s\nhealthy\t2 conversations, idle' \
  "$(agent-serve --version | cut -d ' ' -f 2)")" "the server and its agent are well"
t 2 "it counts no costs" agent-call -p loud actions
err_is "agent-call: sessions.usage: unknown method: sessions.usage (INVALID_REQUEST)" \
  "the method is said to be unknown"
chat --abort
status_is 1 "nothing to end"

serve slow --reply-command 'echo begun; sleep 600'
start ask agent-chat -p slow -o json hello
ask=$pid
ok "a reply streams" wait_until 20 has "$tmp/ask.out" '"text":"begun'
t 0 "--abort ends it" agent-chat -p slow --abort
finished "$ask"
is "$status" 1 "and who asked is told"
start ask agent-chat -p slow hello
ask=$pid
wait_until 20 sh -c "agent-chat -p slow --history | grep -c '^user: ' | grep -q 2"
stop "$ask" INT
is "$status" 130 "^C does, too"
is "$(cat "$tmp/ask.out")" "" "and prints no part of it"

# What the command says of its work: the example of the manual.
sed -n '/^note() {/,/^\.Ed/p' "$root/man/agent-serve.8" | sed '/^\.Ed/d; s/\\e/\\/g' >"$tmp/reply"
ok "agent-serve(8) has an example" has "$tmp/reply" 'It is \$now'
serve busy --reply-command "sh $tmp/reply"
t 0 "a reply uses a tool" \
  python3 "$cli/terminal.py" agent-chat -p busy --color never what time is it
is "$(tr -d '\r' <"$out" | sed 's/is .*/is now/')" '· shell date -u
· shell date -u: ok
It is now' "is shown with a line when the tool begins and ends"
run agent-chat -p busy -o json and now
is "$(jq -r 'select(.type == "tool_call") | "\(.state) \(.tool) \(.label // "") \(.stdout // "" | length > 5)"' "$out")" \
  'running shell  false
succeeded shell date -u true' "as records, with what it printed"
is "$(jq -r 'select(.role == "thinking").text' "$out")" "They ask for the time." \
  "thoughts are records, too"
is "$(tail -n 1 "$out" | jq -c '[.usage, .usd_cost]')" \
  '[{"input_tokens":9,"output_tokens":4},0.001]' "and what it took"
not_ok "words alone show nothing of it" sh -c 'agent-chat -p busy hello | grep -v "^It is"'

serve broken --reply-command 'echo half; exit 3'
t 1 "a command that fails has status 1" agent-chat -p broken hello
out_empty "nothing is printed"
err_one_line agent-chat "one line says why"
serve mute
t 75 "a reply needs a command" agent-chat -p mute hello
err_one_line agent-chat "is no agent yet"

done_testing
