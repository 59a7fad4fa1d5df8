#!/bin/sh
# A word that is almost one that is known: the error says which, on its one line.
. "${0%/*}/../lib.sh"
needs tmux-attach jq

config=$XDG_CONFIG_HOME/agentutils/config
cat >"$config" <<'END'
[profile home]
url = http://127.0.0.1:9
[profile holm]
url = http://127.0.0.1:9
[host workstation]
hostname = 127.0.0.1
[host $(touch evil)]
hostname = 127.0.0.1
END
while IFS='|' read -r words want; do
  # shellcheck disable=SC2086  # words
  run $words </dev/null
  is "$(head -n 1 "$err")" "${words%% *}: $want" "$words says what is meant"
  isnt "$status" 0 "$words is refused"
done <<END
sse-tail --verison|unknown option --verison: did you mean --version?
sse-tail --verison=x|unknown option --verison: did you mean --version?
sse-tail --max-evnt-bytes 1|unknown option --max-evnt-bytes: did you mean --max-event-bytes?
sse-tail --nothing-of-it|unknown option --nothing-of-it
sse-tail activty|activty: not activity, voice or a url: did you mean activity?
agent-call acions|unknown command acions: did you mean actions?
agent-call -o tabel health|--output tabel: not json, table or tsv: did you mean table?
agent-call -p hone health|profile hone: not in $config: did you mean home?
agent-call -p holme health|profile holme: not in $config: did you mean holm or home?
agent-call -p work health|profile work: not in $config; 'agent-setup -p work' writes it
voice-state histroy|histroy: no such file or directory: did you mean history?
voice-state repaly x|repaly: no such file or directory: did you mean replay?
voice-state nothing|nothing: no such file or directory
transcript-tail worksation|worksation: no such file or directory: did you mean workstation:?
share-inbox lits|lits: not add, list, drain, watch, purge, retry or remove: did you mean list?
END
run action-filter -d voise </dev/null
err_like '^action-filter: --domain voise: .*: did you mean voice\?$' "a domain is meant"
run voice-state --panel tolos
err_like '^voice-state: --panel tolos: .*: did you mean tools\?$' "a panel is meant"
run tmux-attach --transport libssh2 -l elsewhere.invalid
err_unlike 'did you mean' "a name that is far from every host is told alone"
run tmux-attach --transport libssh2 -l worksation
err_like '^tmux-attach: worksation: .*: did you mean workstation\?$' "a host is meant"

# --- scripts: their own options, those of the commands that they run, and words
found=0
while IFS='|' read -r words want; do
  # shellcheck disable=SC2086  # words
  run $words </dev/null
  is "$(head -n 1 "$err")" "${words%% *}: $want" "$words says what is meant"
  status_is 2 "$words has status 2"
  is "$(sed 1d "$err" | cut -d ' ' -f 1,2)" "usage: ${words%% *}" "$words shows the usage"
done <<'END'
agent-archive --foldr x|unknown option --foldr: did you mean --folder?
agent-archive --max-evnt-bytes 1|unknown option --max-evnt-bytes: did you mean --max-event-bytes?
agent-archive --bus --sttae x|unknown option --sttae: did you mean --state?
agent-browse --pritn|unknown option --pritn: did you mean --print?
agent-browse --sinse 1h|unknown option --sinse: did you mean --since?
agent-cost --limti 3|unknown option --limti: did you mean --limit?
agent-cost --limti=3|unknown option --limti: did you mean --limit?
agent-cost -o tabel|--output tabel: not table, tsv, json or line: did you mean table?
agent-plot --pgn x|unknown option --pgn: did you mean --png?
agent-plot --value tokesn --svg x|--value tokesn: not count, cost or tokens: did you mean tokens?
agent-pulse --recrods|unknown option --recrods: did you mean --records?
agent-pulse --doman llm|unknown option --doman: did you mean --domain?
agent-say --sesion x -- y|unknown option --sesion: did you mean --session?
agent-say --verison|unknown option --verison: did you mean --version?
agent-setup --profle x|unknown option --profle: did you mean --profile?
agent-setup -k openclw|option --kind: not clanky, openclaw, pincer, joelclaw or pds: openclw: did you mean openclaw?
agent-state --hok|unknown option --hok: did you mean --hook?
agent-state workng|state workng: not one of working, waiting, idle, unknown: did you mean working?
agent-status --ouput small|unknown option --ouput: did you mean --output?
agent-status -o midium|--output midium: not one of small medium large waybar tmux i3: did you mean medium?
agent-talk --recoder x|unknown option --recoder: did you mean --recorder?
agent-talk --sesion x|unknown option --sesion: did you mean --session?
bus-up --prot 1|unknown option --prot: did you mean --port?
mail-draft --subjcet x|unknown option --subjcet: did you mean --subject?
mem-search --pick --flter x|unknown option --flter: did you mean --filter?
riff-up --lable x|unknown option --lable: did you mean --label?
riff-worktree-remove --froce x|unknown option --froce: did you mean --force?
task add --qeue x|unknown option --qeue: did you mean --queue?
task list --dnoe|unknown option --dnoe: did you mean --done?
task list -o tabel|--output tabel: not table, tsv, json, text or line: did you mean table?
voice-token --nmae x room|unknown option --nmae: did you mean --name?
agent-pulse --errors|unknown option --errors: did you mean --domain error?
agent-browse --errors|unknown option --errors: did you mean --domain error?
action-filter --errors|unknown option --errors: did you mean --domain error?
action-filter --today|unknown option --today: did you mean --since today?
agent-call --json health|unknown option --json: did you mean --output json?
END
# All but riff-claude, whose arguments are claude's.
for file in "$root"/bin/*; do
  [ "$(head -c 9 "$file")" != '#!/bin/sh' ] || [ "${file##*/}" = riff-claude ] || {
    found=$((found + 1))
    run "${file##*/}" --complteions bash </dev/null
    is "$(head -n 1 "$err")" "${file##*/}: unknown option --complteions: did you mean --completions?" \
      "${file##*/} knows an option that all have"
  }
done
is "$found" 11 "every script was tried"

# What is missing is named, and where it belongs.
nothing=$tmp/nothing/agentutils/config
while IFS='|' read -r words want; do
  # shellcheck disable=SC2086  # words
  run env -u AGENT_URL -u AGENT_PROFILE XDG_CONFIG_HOME="$tmp/nothing" $words </dev/null
  is "$(head -n 1 "$err")" "${words%% *}: $want" "$words says what to do when nothing is configured"
done <<END
sse-tail activity|activity: no url: run agent-setup, or set AGENT_URL; see agentutils.conf(5)
clip-transcribe|no voice server: name its profile with -p, or give --command; see agentutils.conf(5)
tmux-attach|a HOST is needed, or a line 'host = NAME' in $nothing
outbox|a command is needed: add, list, flush, drop
END
run env XDG_CONFIG_HOME="$tmp/nothing" tmux-attach </dev/null
is "$(tail -n 1 "$err")" "tmux-attach: '.' as HOST is this machine" \
  "the message says what this machine is called"
for command in 'sse-tail activity' 'agent-call health' agent-status; do
  # shellcheck disable=SC2086  # words
  run env AGENT_URL=localhost:8787 $command </dev/null
  is "$(cat "$err")" "${command%% *}: AGENT_URL: not an http or https url" \
    "$command says which address cannot be used"
done

# What is far is told as it was, and what is hostile is shown.
printf '[profile a\033[31mb]\nurl = http://127.0.0.1:9\n' >>"$config"
run agent-call -p "$(printf 'a\033[31mc')" health
ok "nothing reaches a terminal as it is" sh -c '! grep -q "$(printf "\033")" "$1"' - "$err"
run sse-tail "--$(printf '%070000d' 1)"
is "$status" 2 "a long word is refused"
err_unlike 'did you mean' "a long word is compared with nothing"
done_testing
