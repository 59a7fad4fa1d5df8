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
out_is "HELLO THERE" "a question is answered by the command"
err_empty "nothing else is said beside an answer"
run sh -c 'printf "two\nlines" | agent-chat -p loud -o json'
is "$(jq -r 'select(.type == "message" and .state == "final") | .text' "$out")" 'TWO
LINES' "standard input is asked, and records come"
is "$(tail -n 1 "$out" | jq -c '[.type, .state]')" '["turn","completed"]' \
  "the records go on to the end of the turn"
chat --key once-1 only once
out_is "ONLY ONCE" "a key is taken"
chat --key once-1 only once
out_is "ONLY ONCE" "a key that is used again has the same answer"
chat --history -o json
is "$(jq -r 'select(.role == "user") | .text' "$out" | grep -c 'only once')" 1 \
  "a question with the same key is said once"
chat --history -n 2
out_is 'user: only once
assistant: ONLY ONCE' "the history is shown"
chat --agents
out_like '^main	' "the agents are listed"
chat -t side hello
chat --threads
out_like '^agent:main:side	hello	' "the threads are listed with what was said first"
is "$(agent-call -p loud rpc config.get)" '{"exists":false,"valid":true,"config":{},"issues":[]}' \
  "an empty configuration is read"
t 0 "agent-call tells how it is" agent-call -p loud -o tsv health
is "$(cut -f 2,4 "$out" | sed 's/, up .*//')" "$(printf 'healthy\tversion %s\nhealthy\t2 conversations, idle' \
  "$(agent-serve --version | cut -d ' ' -f 2)")" "the server and its agent are well"
t 2 "agent-call actions is an error, as no costs are counted" agent-call -p loud actions
err_is "agent-call: sessions.usage: unknown method: sessions.usage (INVALID_REQUEST)" \
  "the method is said to be unknown"
chat --abort
status_is 1 "--abort has status 1 when there is nothing to end"

serve slow --reply-command 'echo begun; sleep 600'
start ask agent-chat -p slow -o json hello
ask=$pid
ok "a reply streams" wait_until 20 has "$tmp/ask.out" '"text":"begun'
t 0 "--abort ends a reply" agent-chat -p slow --abort
finished "$ask"
is "$status" 1 "the one who asked is told of --abort"
start ask agent-chat -p slow hello
ask=$pid
wait_until 20 sh -c "agent-chat -p slow --history | grep -c '^user: ' | grep -q 2"
stop "$ask" INT
is "$status" 130 "^C ends the question by that signal"
is "$(cat "$tmp/ask.out")" "" "no part of a reply is printed after ^C"

# What the command says of its work: the example of the manual.
sed -n '/^note() {/,/^\.Ed/p' "$root/man/agent-serve.8" | sed '/^\.Ed/d; s/\\e/\\/g' >"$tmp/reply"
ok "agent-serve(8) has an example" has "$tmp/reply" 'It is \$now'
serve busy --reply-command "sh $tmp/reply"
t 0 "a reply that uses a tool has status 0" \
  python3 "$cli/terminal.py" agent-chat -p busy --color never what time is it
is "$(tr -d '\r' <"$out" | sed 's/is .*/is now/')" '· shell date -u
· shell date -u: ok
It is now' "a tool is shown with a line when it begins and ends"
run agent-chat -p busy -o json and now
is "$(jq -r 'select(.type == "tool_call") | "\(.state) \(.tool) \(.label // "") \(.stdout // "" | length > 5)"' "$out")" \
  'running shell  false
succeeded shell date -u true' "the records of a tool have what it printed"
is "$(jq -r 'select(.role == "thinking").text' "$out")" "They ask for the time." \
  "the thoughts of a reply are records, too"
is "$(tail -n 1 "$out" | jq -c '[.usage, .usd_cost]')" \
  '[{"input_tokens":9,"output_tokens":4},0.001]' "the last record has what the reply took"
not_ok "a reply without records shows nothing of a tool" \
  sh -c 'agent-chat -p busy hello | grep -v "^It is"'

serve broken --reply-command 'echo half; exit 3'
t 1 "a command that fails has status 1" agent-chat -p broken hello
out_empty "nothing is printed of a command that fails"
err_one_line agent-chat "a command that fails is told in one line"
serve mute
t 75 "a reply needs a command" agent-chat -p mute hello
err_one_line agent-chat "a server without a command says so in one line"

done_testing
