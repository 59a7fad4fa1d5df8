#!/bin/sh
# Names in place of ids, wherever a dashboard can be asked: agent-call, mem-search,
# voice-state, agent-pulse, and what the shell offers.
. "${0%/*}/../lib.sh"
needs agent-call mem-search voice-state action-filter action-format sse-tail jq curl python3
[ -x "$root/bin/agent-serve" ] || skip_all "needs agent-serve"
cd "$tmp" || exit 1

cat >day <<'END'
{"event":"guilds","id":"","data":[{"id":"10","name":"Repair Café 🔧","channels":[{"id":"100","name":"bench","type":"text"}]},{"id":"20","name":"Twins"},{"id":"21","name":"twins!"},{"id":"30","name":"\u001b[31mred\n$(touch evil)"}]}
{"kind":"sent_reply","guildId":"10","userId":"7","content":"one","createdAt":"2026-03-01T10:00:00.000Z"}
{"kind":"reacted","guildId":"20","userId":"8","content":"two","createdAt":"2026-03-01T10:00:01.000Z"}
{"kind":"voice_runtime","guildId":"10","userId":"7","content":"openai_realtime_asr_final_segment","metadata":{"speakerName":"Noor \u001b]0;x\u0007","sessionId":"s"},"createdAt":"2026-03-01T10:00:02.000Z"}
{"kind":"voice_runtime","guildId":"10","userId":"8","content":"openai_realtime_asr_final_segment","metadata":{"speakerName":"Bo","sessionId":"s"},"createdAt":"2026-03-01T10:00:03.000Z"}
{"kind":"voice_runtime","guildId":"10","userId":"9","content":"openai_realtime_asr_final_segment","metadata":{"speakerName":"bo","sessionId":"s"},"createdAt":"2026-03-01T10:00:04.000Z"}
{"event":"fact","id":"","data":{"id":1,"guild_id":"10","scope":"guild","subject":"__lore__","fact":"The key hangs by the door","fact_type":"other","confidence":0.5,"created_at":"2026-03-01T10:00:00.000Z","updated_at":"2026-03-01T10:00:00.000Z"}}
{"event":"fact","id":"","data":{"id":2,"guild_id":null,"user_id":"7","scope":"user","subject":"7","fact":"Noor has a sailing boat","fact_type":"other","confidence":0.5,"created_at":"2026-03-01T10:00:00.000Z","updated_at":"2026-03-01T10:00:00.000Z"}}
END
serve_agent serve --ingest day
AGENT_URL=$url
export AGENT_URL

t 0 "the names are listed" agent-call names
is "$(jq -r '[.type, .of, .id] | join(" ")' "$out" | tr '\n' ';')" \
  "name guild 10;name guild 20;name guild 21;name guild 30;name user 9;name user 8;name user 7;" \
  "guilds come first, then people"
is "$(jq -r 'select(.id == "7").name' "$out")" "$(printf 'Noor \033]0;x\007')" \
  "names are printed as they were told"
ok "names are printed without a byte that a terminal obeys" \
  sh -c '! LC_ALL=C grep -q "[[:cntrl:]]" out'
run agent-call names -o table
ok "a table of names has no such byte, either" sh -c '! LC_ALL=C grep -q "[[:cntrl:]]" out'
is "$(agent-call names -n 2 -o tsv | cut -f 1,2 | tr '\t\n' ' ;')" "guild 10;guild 20;" \
  "-n limits the names"

run agent-call -g 'repair café' actions -k sent_reply
is "$(jq -r .content "$out")" one "-g takes a name"
run agent-call -g 20 actions
is "$(jq -r .content "$out")" two "-g takes an id"
run agent-call -g Twins actions
is "$(jq -r .content "$out")" two "the very name is meant before one like it"
run agent-call channels REPAIR-CAFÉ
is "$(jq -r .name "$out")" bench "a guild behind the word may be a name"
known='10 (Repair Café 🔧), 20 (Twins), 21 (twins!), 30 (\e[31mred\n$(touch evil))'
for words in "-g nonsense actions" "-g 999 stats" "-g 999 actions" "channels nonsense" \
  "-g nonsense automations" "-g 999 runs" "-g nonsense browser-sessions" "join nonsense"; do
  # shellcheck disable=SC2086  # words
  t 2 "agent-call $words is refused" agent-call $words
  out_empty "nothing is printed by agent-call $words"
  err_like "^agent-call: guild (nonsense|999): no such guild; there are 10 " \
    "agent-call $words names the guilds there are"
done
err_is "agent-call: guild nonsense: no such guild; there are $known" \
  "an unknown guild is told with all there are, made visible"
t 2 "a name that two guilds have is an error" agent-call -g tWINS actions
err_is 'agent-call: guild tWINS: several have this name, give an id: 20 (Twins), 21 (twins!)' \
  "a name that two guilds have is told with both"

run agent-call join 10 -u noor-0x
is "$(jq -r .requesterUserId "$out")" 7 "-u takes a name"
t 2 "a name that two people have is an error" agent-call join 10 -u BO
err_is 'agent-call: user BO: several have this name, give an id: 9 (bo), 8 (Bo)' \
  "the message asks for an id"
t 2 "a name that nobody has is an error" agent-call join 10 -u nobody
err_is 'agent-call: user nobody: nobody of this name is known, an id will do; there are 9 (bo), 8 (Bo), 7 (Noor \e]0;x\x07)' \
  "a name that nobody has is told with all there are"

# --- the memory
run mem-search -g repair-café key
is "$(jq -r .id "$out")" 1 "mem-search -g takes a name"
run mem-search sailing boat
is "$(jq -c '[.id, .guild_name]' "$out")" '[2,null]' "facts of persons are found, too, without -g"
err_is "mem-search: search: no hit among the facts of a guild; of all facts, these have the words in them" \
  "mem-search tells that it looked at all facts"
run mem-search -o table -f
out_like '^ *1 +Repair Café 🔧 +__lore__' "each fact says where it was found"
out_like '^ *2 +[(]person[)] +7 ' "facts of a person say whose they are"
for words in "key" "-f" "-f -t other" "--subjects" "-R" "-M" "--mirror" "--edit 1 --fact x" "-y --delete 1"; do
  # shellcheck disable=SC2086  # words
  t 2 "mem-search -g nonsense $words is refused" mem-search -g nonsense $words
  err_is "mem-search: guild nonsense: no such guild; there are $known" \
    "mem-search -g nonsense $words names the guilds there are"
done
t 0 "--edit finds the guild" mem-search --edit 1 --confidence 0.75
is "$(mem-search -g 10 -f the key | jq .confidence)" 0.75 \
  "--edit changes the fact of the guild it found"
run mem-search --fact-profile noor-0x -g repair-café -o table
out_like '^user id +7$' "--fact-profile takes a name"
mem-search --mirror >/dev/null
run mem-search --offline -g REPAIR-CAFÉ -f the key
is "$(jq .id "$out")" 1 "--offline knows the names"
t 2 "--offline refuses an unknown guild" mem-search --offline -g nonsense -f
if command -v fzf >/dev/null 2>&1; then
  run mem-search --pick -g repair-café --filter 'key hangs'
  like "$(cat "$out")" "^1	" "--pick -g takes a name"
  t 2 "--pick -g nonsense is refused" mem-search --pick -g nonsense --filter key
else
  skip 2 "no fzf"
fi

# --- voice
for words in "" "history" "-o json" "-w -n 1"; do
  # shellcheck disable=SC2086  # words
  t 2 "voice-state -g nonsense $words is refused" voice-state -g nonsense $words
  out_empty "voice-state -g nonsense $words prints nothing"
  err_is "voice-state: guild nonsense: no such guild; there are $known" \
    "voice-state -g nonsense $words names the guilds there are"
done
t 0 "voice-state -g takes a name" voice-state -g repair-café
t 1 "-q says by the status that nobody is there" voice-state -q -g repair-café
cat >records <<'END'
{"event":"voice_state","id":"","data":{"activeCount":2,"sessions":[{"sessionId":"a","guildId":"10","participants":[]},{"sessionId":"b","guildId":"20","participants":[]}]}}
{"type":"name","of":"guild","id":"20","name":"Twins"}
END
run voice-state -g twins -o json records
is "$(jq -r .sessionId "$out")" b "voice-state -g takes a name that the records of a file tell"
run sh -c 'voice-state -g twins -o json - <records'
is "$(jq -r .sessionId "$out")" b "the name is found on standard input"
t 2 "voice-state -g refuses a name that no record of a file tells" voice-state -g nonsense records
err_is "voice-state: guild nonsense: no such id, and no record of a file tells the name" "the message says that nothing tells the name"

# --- the feed
t 0 "agent-pulse -U takes a name" agent-pulse -U noor-0x -n 2 -- -n 2 -W 0
is "$(lines "$out")" 2 "agent-pulse -U has the history, too"
out_like 'one' "agent-pulse -U has what was before the name was told"
err_empty "nothing is said by agent-pulse -U"
run agent-pulse -g REPAIR-CAFÉ -k sent_reply -n 1 -- -n 1
is "$(lines "$out")" 1 "agent-pulse -g takes a name"
for name in nobody Bo; do
  t 2 "agent-pulse -U $name is refused" agent-pulse -U "$name" -n 1
  out_empty "agent-pulse -U $name prints nothing"
  err_like "^agent-pulse: user $name: (nobody tells this name; agent-call names|several have this name: 9, 8$)" \
    "agent-pulse -U $name says why it is refused"
done
is "$({ agent-call names; agent-call actions; } | action-filter -U noor-0x -o content | jq -r .content | tail -n 1)" \
  one "names in front of a pipe are known behind it"

# --- what the shell offers
is "$(agent-call --completions words -g '' | tr '\n' ' ')" "Repair-Café 20 21 31mred-touch-evil " \
  "agent-call completes guilds by their names where these tell them apart"
is "$(voice-state --completions words -g '' | tr '\n' ' ')" "Repair-Café 20 21 31mred-touch-evil " "voice-state completes guilds"
for command in action-filter agent-pulse agent-browse agent-cost; do
  is "$($command --completions words -g '' | tr '\n' ' ')" "Repair-Café 20 21 31mred-touch-evil " "$command completes guilds"
done
is "$(action-filter --completions words -U '' | tr '\n' ' ')" "9 8 Noor-0-x " "action-filter completes people"
is "$(mem-search --completions words -u '' | tr '\n' ' ')" "9 8 Noor-0-x " \
  "mem-search completes people"
t 1 "a guild's name that is offered is understood" agent-call -g 31mred-touch-evil actions
no_file() { [ ! -e evil ]; }
ok "nothing is run by a name that is offered" no_file
# Nothing answers, or a token is waited for.
printf '[profile slow]\nurl = %s\ntoken-command = sleep 30\n' "$url" >"$XDG_CONFIG_HOME/agentutils/config"
start silent python3 -c 'import socket, time
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
time.sleep(600)'
wait_until 5 test -s "$tmp/silent.out" || bail "no server"
for way in "AGENT_URL= AGENT_PROFILE=slow" "AGENT_URL=http://127.0.0.1:$(cat "$tmp/silent.out")" \
  "AGENT_URL=http://127.0.0.1:9" "AGENT_URL= AGENT_PROFILE=none" "AGENT_URL=ws://127.0.0.1:9"; do
  begin=$(date +%s)
  # shellcheck disable=SC2086  # words
  run env $way agent-call --completions words -g ''
  is "$status$(cat "$out" "$err")$(($(date +%s) - begin < 20))" "01" \
    "nothing is completed, and soon: $way"
done
done_testing
