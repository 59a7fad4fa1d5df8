#!/bin/sh
# agent-say and agent-chat beside the real Claude Code: texts of all kinds, each once, as it was typed.
. "${0%/*}/lib.sh"
bound=600

claude_in "$box_folder"
# got TEXT: the last prompt that reached the model, and that as what the person said.
got() { [ "$(tail -n 1 "$requests" | jq -r .prompt)" = "$1" ]; }
pasted() { tail -n 1 "$requests" | jq -r '.user | tostring' | grep -q '<pasted_content'; }
text() {
  agent-say -q --when-idle --max-wait 30 . <"$tmp/text"
  is "$?" 0 "typed: $1"
  ok "it arrives as it was" wait_until 30 got "$(expand -t 1 "$tmp/text")"
  not_ok "as what the person said" pasted
  wait_until 30 stands idle
}
while IFS= read -r words; do
  printf '%s' "$words" >"$tmp/text"
  text "$words"
done <<'END'
say hello
say "double", 'single', \back and `tick`
say $HOME $(id) ${x} %s %d
say a; b && c | d > e
say #{pane_id} #[fg=red] #(date)
say äöü ß € 😀 👩‍👩‍👧 日本語 עברית
say -x --version
say {"json": [1, 2, "three"]}
say ~ and ~/x and *
END
for count in 700 900 3000; do
  awk -v count="$count" 'BEGIN { printf "say"; for (i = 0; length(text) < count; i++) text = text " word" i; print text }' |
    tr -d '\n' >"$tmp/text"
  text "$count letters"
done
for count in 2 3 4 30 400; do
  awk -v count="$count" 'BEGIN { printf "say 1"; for (i = 2; i <= count; i++) printf "\nline %d", i }' >"$tmp/text"
  text "$count lines"
done
before=$(lines "$requests")
t 2 "a line with ! is refused" agent-say . -- '!touch ran'
agent-say -q . -- run touch /tmp/elsewhere/y
wait_until 30 stands "waiting permission prompt"
for words in Yes 1 'go on' ''; do
  printf '%s\n' "$words" >"$tmp/text"
  agent-say -q . <"$tmp/text" 2>/dev/null
done
ok "what is said into a dialog leaves it open" stands "waiting permission prompt"
t 75 "agent-chat says that it waits" agent-chat -p . hello
agent-say --answer . -- no
wait_until 30 stands idle
is "$(($(lines "$requests") - before))" 1 "none of it reached the model"

# --- conversations
for words in 'say first' 'slow 2' 'md' 'unicode' 'read README' 'todo'; do
  t 0 "agent-chat: $words" agent-chat -p . "$words"
  isnt "$(cat "$out")" "" "has an answer"
done
t 1 "an error of the API" agent-chat -p . err400
err_like 'the agent failed: API Error' "is told"
t 75 "a permission" agent-chat -p . run touch /tmp/elsewhere/z
agent-say --answer . -- no
t 0 "what was said" agent-chat -p . --history -n 1000
out_like '^user: say first' "is there"
done_testing
