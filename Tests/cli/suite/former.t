#!/bin/sh
# Names of earlier versions do what they did, and each says its new name once.
. "${0%/*}/../lib.sh"

state=$XDG_STATE_HOME/agentutils
notice='{"urgency":"urgent","category":"backup","title":"the disk is full"}'
echo 'call Ada tomorrow !1' >"$tmp/words"
echo '{"uri":"at://a.test/dev.joelclaw.task.item/3k","value":{"title":"call Ada"}}' >"$tmp/rows"
echo "$notice" >"$tmp/notice"

while IFS='|' read -r old new words; do
  # shellcheck disable=SC2086  # words
  run $new $words
  cp "$out" "$tmp/want"
  cp "$err" "$tmp/want-err"
  want=$status
  # shellcheck disable=SC2086
  run $old $words
  is "$status" "$want" "$old $words has the status of $new"
  ok "$old prints the same as $new" cmp -s "$out" "$tmp/want"
  is "$(head -n 1 "$err")" "$old: this is now '$new'; the old name goes on working" \
    "$old says what it is called now"
  is "$(sed 1d "$err")" "$(cat "$tmp/want-err")" "$old says nothing else that $new does not say"
  # shellcheck disable=SC2086
  run $old $words
  is "$status $(cat "$err")" "$want $(cat "$tmp/want-err")" "$old says its new name once"
  ok "$old prints the same again" cmp -s "$out" "$tmp/want"
done <<END
mem-pick|mem-search --pick|--no-such
notify-route|agent-notify --route|$tmp/notice -x
task-add|task add|-C dev.joelclaw.family.item milk
task-format|task format|-o text $tmp/rows
task-list|task list|--done
END
is "$(find "$state" -name 'former-name-*' | wc -l | tr -d ' ')" 5 \
  "a file remembers each old name that was told"

# --- in a pipe, by another way, and where a line would disturb
fresh() { rm -f "$state"/former-name-*; }
fresh
run sh -c 'task-format --quick <"$1" | jq -r .title; task-format --quick <"$1" | jq -r .priority' - "$tmp/words"
is "$(cat "$out")" "call Ada
1" "task-format is a filter"
is "$(grep -c '' "$err")" 1 "two old names in a pipe are told in one line"
fresh
run agentutils task-format -o text "$tmp/rows"
out_is "call Ada" "agentutils runs a command by its old name"
err_one_line task-format "agentutils tells an old name in one line"
fresh
ln -s "$root/bin/task-format" "$tmp/tasks"
run "$tmp/tasks" -o text "$tmp/rows"
out_is "call Ada" "a link of one's own to an old name works"
fresh
run task-list --completions words -o t
out_like '^table' "an old name completes as the new one"
err_empty "completions of an old name are printed without a word"
not_ok "completions of an old name do not remember that it was told" \
  test -e "$state/former-name-task-list"

# --- mem-pick has a letter that mem-search has for something else
start_server memory python3 "$cli/servers/memory.py" "$cli/servers/harbour-facts.ndjson"
AGENT_URL=$url
export AGENT_URL
if command -v fzf >/dev/null 2>&1; then
  mem-search --pick --filter sailing -t profile >"$tmp/want"
  for words in '-f sailing -t profile' '-fsailing -t profile' '--filter=sailing --type profile'; do
    # shellcheck disable=SC2086  # words
    run mem-pick $words
    ok "mem-pick $words prints what fits" cmp -s "$out" "$tmp/want"
  done
  run mem-pick -f x -- -f
  is "$status $(cat "$out")" "1 " "mem-pick takes what stands behind -- as a text"
else
  skip 4 "no fzf"
fi

# --- nothing can be remembered
echo >"$tmp/file"
for _ in 1 2; do
  XDG_STATE_HOME=$tmp/file run task-format -o text "$tmp/rows"
  is "$status $(cat "$out" "$err")" "0 call Ada" "without a state folder a script is told nothing"
done
run env XDG_STATE_HOME="$tmp/file" python3 "$cli/terminal.py" sh -c \
  'task-format -o text "$1" >/dev/null' - "$tmp/rows"
is "$(tr -d '\r' <"$out")" "task-format: this is now 'task format'; the old name goes on working" \
  "a terminal is told the new name without a state folder"

done_testing
