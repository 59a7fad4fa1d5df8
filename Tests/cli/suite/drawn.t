#!/bin/sh
# What is drawn for a terminal of a size is what a terminal of that size shows: no row is wrapped,
# and none is cut too early, with characters that are wide, combine, or have no width.
. "${0%/*}/../lib.sh"
needs tmux jq action-format agent-cost

mkdir -m 700 "$tmp/sessions"
TMUX_TMPDIR=$tmp/sessions LC_ALL=C.UTF-8 TZ=UTC
export TMUX_TMPDIR LC_ALL TZ
at_end="$at_end end_tmux_here"
end_tmux_here() { tmux -L drawn kill-server 2>/dev/null; }
# A server that stays while sessions come and go.
tmux -L drawn -f /dev/null new-session -d -s base cat

number=0
while IFS= read -r words; do
  number=$((number + 1))
  jq -nc --arg words "$words" --argjson id "$number" \
    '{id: $id, created_at: "2026-03-14T08:00:00Z", kind: "sent_reply", content: $words, user_id: $words, usd_cost: 0.5}'
done >"$tmp/rows" <<'END'
plain words that go on until they are cut somewhere near the end of the row
日本語のテキストは幅が広いので切る場所が難しい日本語のテキスト日本語の文字
한국어 텍스트는 넓은 글자로 되어 있어서 자르는 곳이 어렵다 한국어 텍스트
emoji 😀😃😄🚀🎉 are wide, one after another 😀😃😄🚀🎉 until the row ends
e\u0301 combining ä̈ö̃ü̂ marks and Z͇̿a̷l͓͒go that goes on and on until it is cut
half ﾊﾝｶｸ and full ｆｕｌｌｗｉｄｔｈ letters that go on until the row ends
mixed עברית and العربية words that are long enough to be cut at the end
END

# draws COLUMNS COMMAND WORD...: on a terminal of that width, and as text of that width.
draws() {
  columns=$1
  shift
  printf '%s' "$*" >"$tmp/run"
  echo " --color never -W $columns >'$tmp/want'; stty -echo; $* --color never; touch '$tmp/done'; exec cat" >>"$tmp/run"
  rm -f "$tmp/done"
  tmux -L drawn new-session -d -x "$columns" -y 200 -s drawn "cd '$tmp' && . '$tmp/run'"
  ok "$columns columns: $* is drawn" wait_until 30 test -e "$tmp/done"
  sed 's/ *$//' "$tmp/want" | grep . >"$tmp/text"
  shows() { tmux -L drawn capture-pane -p -t =drawn: | sed 's/ *$//' | grep . >"$tmp/shown" && cmp -s "$tmp/text" "$tmp/shown"; }
  ok "$columns columns: $* is shown as it was meant" wait_until 30 shows
  is "$(wc -l <"$tmp/text")" "$(wc -l <"$tmp/shown")" "$columns columns: $* has no row more"
  tmux -L drawn kill-session -t =drawn
}
for columns in 41 42 60 61 80; do
  draws "$columns" action-format -t "$tmp/rows"
  draws "$columns" agent-cost -o table --by user "$tmp/rows"
done
done_testing
