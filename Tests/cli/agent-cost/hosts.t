#!/bin/sh
# agent-cost of Claude Code at the terminals of this machine and of hosts.
# shellcheck disable=SC2154  # of ssh.sh
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
. "${0%/*}/../claude.sh"
needs agent-serve agent-call action-filter action-format transcript-tail script-options
cd "$tmp" || exit
unset AGENT_URL AGENT_PROFILE
config=$XDG_CONFIG_HOME/agentutils/config
tab=$(printf '\t')
now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
one=aaaaaaaa-0000-4000-8000-000000000001

# answer FOLDER FILE ID [MORE]: a line of a transcript, 100 tokens in and 10 out: $0.00045.
answer() {
  mkdir -p "$(dirname "$1/$2")"
  jq -nc --arg id "$3" --arg now "$now" --arg session "$one" '{type: "assistant", uuid: $id,
    timestamp: $now, sessionId: $session, cwd: "/home/ada/tide", isSidechain: false,
    message: {id: $id, role: "assistant", model: "claude-sonnet-4-5", content: [],
      usage: {input_tokens: 100, output_tokens: 10}}} | '"${4:-.}" >>"$1/$2"
}
# sums [OPTION...]: the status, then count and dollars of all.
sums() {
  run agent-cost -o json "$@"
  printf '%s ' "$status"
  tail -n 1 "$out" | jq -c '[.count, .usd_cost]'
}
# counted [OPTION...]: of these the count alone.
counted() { sums "$@" | sed 's/.*\[\(.*\),.*/\1/'; }

# --- this machine
t 2 "an agent is missing where nothing is configured and nothing runs" agent-cost
err_like 'agent-setup' "the message says what configures an agent"
projects=$HOME/.claude/projects
answer "$projects" "-home-ada-tide/$one.jsonl" msg_of_the_first_answer
answer "$projects" "-home-ada-tide/$one.jsonl" msg_of_the_second_answer
answer "$projects" "-home-ada-tide/$one/subagents/agent-a1.jsonl" msg_of_a_subagent \
  '.isSidechain = true | .agentId = "a1"'
printf '{\n  "agentType": "Explore",\n  "toolUseId": "toolu_1"\n}\n' \
  >"$projects/-home-ada-tide/$one/subagents/agent-a1.meta.json"
answer "$projects" "-home-ada-tide/$one.jsonl" msg_of_another_day '.timestamp = "2026-01-02T03:04:05Z"'
is "$(sums)" "0 [3,0.00135]" "this machine is the default where nothing is configured, and today"
is "$(sums -p .)" "0 [3,0.00135]" "this machine can be named"
is "$(sums -p .:)" "0 [3,0.00135]" "this machine can be named with a colon, too"
is "$(sums -p . -S 2026-01-01)" "0 [4,0.0018]" "this machine is counted for another time than today"
is "$(sums -p . --last 1)" "0 [3,0.00135]" "this machine is counted for the last days"
is "$(CLAUDE_CONFIG_DIR=$tmp/none sums -p .)" "2 " "a folder that is not there is an error"
mv "$HOME/.claude" "$HOME/elsewhere"
is "$(CLAUDE_CONFIG_DIR=$HOME/elsewhere sums)" "0 [3,0.00135]" "the folder of Claude Code may be another"
mv "$HOME/elsewhere" "$HOME/.claude"
AGENT_PROFILE=. sums >sum
is "$(cat sum)" "0 [3,0.00135]" "the environment may name this machine"
printf '[profile desk]\nkind = claude\nhost = .\n' >"$config"
is "$(sums)" "0 [3,0.00135]" "the only profile may name this machine"
is "$(sums -p desk)" "0 [3,0.00135]" "the profile of this machine has a name"

# --- a session
tmux-attach -N -s riff . >/dev/null
wait_until 20 stands riff '["idle",null,null]'
agent-chat -p . hello >/dev/null
is "$(counted -p .:riff)" 1 "a session is counted alone"
is "$(counted -p .)" 4 "a session is among those of this machine"
t 2 "a session that is not there is an error" agent-cost -p .:none
err_is "agent-cost: .: no session none" "the session that is not there is named"

# --- a host
start_sshd
cat >"$config" <<END
[host box]
hostname = 127.0.0.1
port = $port
user = $remote_user
identity = $id
[profile far]
kind = claude
host = box
[host away]
hostname = 127.0.0.1
port = 9
END
cp -R "$HOME/.claude" "$remote_home/.claude"
far=$remote_home/.claude/projects
answer "$far" "-home-ada-ship/bbbbbbbb-0000-4000-8000-000000000002.jsonl" msg_of_the_host
rm -r "$projects"
answer "$projects" "-home-ada-tide/$one.jsonl" msg_of_the_first_answer
answer "$projects" "-home-ada-tide/$one.jsonl" msg_of_this_machine
mv "$remote_home/.claude" "$remote_home/kept"
is "$(sums -p box:)" "2 " "a host without transcripts is an error"
mv "$remote_home/kept" "$remote_home/.claude"
for by in model session project subagent hour day,project; do
  agent-cost -o json -S 2026-01-01 --by "$by" "$far" >"$tmp/want"
  run agent-cost -o json -S 2026-01-01 --by "$by" -p box:
  ok "by $by, the rows of a host are those of its files" cmp "$out" "$tmp/want"
done
err_empty "nothing is said beside the costs of a host"
out_like '"count":6' "all answers of a host are counted"
is "$(counted -p far -S 2026-01-01)" 6 "a profile may name the host"
printf '{"type":"assistant","timest\ngarbage\n' >>"$far/-home-ada-tide/$one.jsonl"
is "$(sums -p box: -S 2026-01-01 | cut -c 1-4)$(cat "$err")" "0 [6" \
  "lines that are cut are passed over on a host, too"
run agent-cost --by profile -p .,box:
is "$(sed 1d "$out" | cut -f 1,2 | sort)" ".${tab}2
box:${tab}4" "each row says whose it is, and a copy of an answer counts once"
run agent-cost --by profile -p box:,.
is "$(sed 1d "$out" | cut -f 1,2 | sort)" ".${tab}1
box:${tab}5" "a copy of an answer counts for the one that was named first"
touch -t 202601010000 "$far"/*/*.jsonl "$far"/*/*/*/*.jsonl
is "$(counted -p box:)" 0 "files of a host that were not written to since then are not read"
touch "$far"/*/*.jsonl "$far"/*/*/*/*.jsonl
printf 'date 2030-01-02\nmodel claude-sonnet-4-5 1000000 0 0 0 0\n' >list
is "$(sums -p box: --prices list)" "0 [5,400]" "another list of prices holds for a host, too"

# --- what cannot be reached
t 75 "a host that cannot be reached has status 75" agent-cost -p away:
out_empty "nothing is said to have been spent on a host out of reach"
err_one_line agent-cost "a host out of reach is told in one line"
t 75 "a host out of reach beside another has status 75" agent-cost -p away:,box: -o line
out_like '^\$0\.00.*  5 calls' "the host beside one out of reach is counted"
ssh-keygen -q -t ed25519 -N '' -f other
sed "s|^identity = .*|identity = $tmp/other|" "$config" >refused
cp refused "$config"
t 77 "a host that refuses the key has status 77" agent-cost -p box:
out_empty "nothing is counted on a host that refuses the key"
done_testing
