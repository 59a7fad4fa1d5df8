#!/bin/sh
# Each way of agent-notify tells what it is given and obeys none of it.
. "${0%/*}/../lib.sh"
needs jq python3 tmux

# A text that every way would trip over, if it could.
# What runs, runs here.
cd "$tmp" || bail "no $tmp"
python3 - >"$tmp/one" <<'END'
import json
title = "-e \x1b]0;owned\x07 $(touch evil) `touch evil` #(touch evil) #{pane_id} #[fg=red] %H \u202e\u200b <b>&amp;</b> ' \" \\033[31m;"
print(json.dumps({"urgency": "urgent", "category": "x", "title": title, "text": title + "\nsecond\\;"}))
END
shown="-e \\e]0;owned\\x07 \$(touch evil) \`touch evil\` #(touch evil) #{pane_id} #[fg=red] %H \\u{202e}\\u{200b} <b>&amp;</b> ' \" \\033[31m;"
echo '{"urgency":"emergency","category":"x","title":"fire"}' >"$tmp/fire"

# --- programs of the desktop: what they are given
mkdir "$tmp/bin"
stub() {
  cat >"$tmp/bin/$1" <<END
#!/bin/sh
for word; do printf '%s\0' "\$word"; done >"$tmp/argv"
cat >"$tmp/stdin"
END
  chmod +x "$tmp/bin/$1"
}
stub notify-send
stub osascript
PATH=$tmp/bin:$PATH
# word NUMBER: from 1, or from the end.
word() { python3 -c 'import sys; print(open(sys.argv[1]).read().split("\0")[:-1][int(sys.argv[2])])' "$tmp/argv" "$1"; }

t 0 "notify-send is run" agent-notify --to notify-send <"$tmp/one"
is "$(word -3)" "--" "the options of notify-send end before the texts"
is "$(word -2)" "$shown" "the title for notify-send is text"
is "$(word -1)" "$(printf '%s' "$shown" | sed 's/\\/\\\\/g; s/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g')
second\\\\;" "the body for notify-send is not markup, and has no escapes"
is "$(word 3)" normal "urgent is normal for notify-send"
run agent-notify --to notify-send <"$tmp/fire"
is "$(word 3)" critical "an emergency is critical for notify-send"
run env DISPLAY=:9 agent-notify <"$tmp/fire"
is "$(word -2)" fire "notify-send is the way where there is a display"
run agent-notify --to osascript <"$tmp/one"
is "$(word 0)" "-" "osascript reads its script"
is "$(word 1)" "$shown" "the title is an argument of osascript"
is "$(word 2)" "$shown
second\\;" "the text is an argument of osascript"
cp "$tmp/stdin" "$tmp/script"
run agent-notify --to osascript <"$tmp/fire"
ok "the script of osascript is the same for all" cmp "$tmp/script" "$tmp/stdin"
printf '#!/bin/sh\necho "no \033[31mdaemon" >&2\nexit 3\n' >"$tmp/bin/notify-send"
t 75 "a program that fails has status 75" agent-notify --to notify-send,line <"$tmp/fire"
err_is 'agent-notify: notify-send: no \e[31mdaemon' \
  "a program that fails is told, with what it says"
out_like fire "no other way suffers from a program that fails"
rm "$tmp/bin/notify-send"
# What a way could not tell waits for the next one that tells; untold.t has it.
afresh() { rm -f "$XDG_STATE_HOME/agentutils/notify"*; }
run env PATH="$tmp/bin:$root/bin" agent-notify --to notify-send <"$tmp/fire"
err_like '^agent-notify: notify-send: no such file or directory$' \
  "a program that is not there is told"
afresh
rm -f "$tmp/bin"/*

# --- a real bus and the real program
desktop=$root/.build/peers/bin/python
if command -v notify-send >/dev/null 2>&1 && command -v dbus-run-session >/dev/null 2>&1 &&
  "$desktop" -c 'import jeepney' 2>/dev/null; then
  cat >"$tmp/session" <<END
"$desktop" "$cli/servers/desktop.py" >"$tmp/heard" &
service=\$!
until grep -q listening "$tmp/heard"; do kill -0 \$service || exit; sleep 0.05; done
DISPLAY=:9 agent-notify <"$tmp/one"
kill \$service
END
  run dbus-run-session -- sh "$tmp/session"
  said() { jq -r "select(.title).$1" "$tmp/heard"; }
  is "$(said title)" "$shown" "the desktop is told the title"
  is "$(said body)" "$(printf '%s' "$shown" | sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g')
second\\;" "the desktop is told the body as text"
  is "$(said urgency)" 1 "the desktop is told the urgency"
else
  skip 3 "no notify-send, dbus-run-session and jeepney"
fi

# --- a line, and the bell
run agent-notify --to line <"$tmp/one"
is "$(cut -c 10- "$out")" "urgent  $shown: $shown ↵ second\\;" "a line is one line"
run python3 "$cli/terminal.py" sh -c "agent-notify <'$tmp/fire'"
out_like 'emergency  fire' "a terminal gets a line"
ok "the bell rings at an emergency" grep -q "$(printf '\007')" "$out"
run python3 "$cli/terminal.py" sh -c "agent-notify --to bell <'$tmp/one'"
is "$(cat "$out")" "$(printf '\007')" "--to bell rings the bell alone"
t 75 "without a terminal there is no bell" \
  perl -MPOSIX=setsid -e 'if (my $child = fork) { waitpid $child, 0; exit $? >> 8 } setsid; exec @ARGV' \
  agent-notify --to bell <"$tmp/fire"
err_is "agent-notify: bell: no terminal" "the message says that there is no terminal"
afresh

# --- more than a way can keep up with
many() {
  seq 150 | while read -r number; do
    printf '{"urgency":"%s","category":"x","title":"%s%s"}\n' "$1" "$2" "$number"
  done
}
{ many attention a && many emergency e && many urgent u; } >"$tmp/many"
t 0 "150 of each are told at once" agent-notify --rate 1000 --exec cat <"$tmp/many"
is "$(jq -r .title "$out" | sed -n '1p;150p;151p;300p;301p;316p;317p;318p' | xargs)" \
  "e1 e150 u1 u150 a1 a16 134 notifications" \
  "what is pressing is told first and each, of the others 16, and the rest in one"
is "$(jq -c 'select(.category == "summary") | [.count, .urgency]' "$out")" '[134,"attention"]' \
  "the sum of the others has their count"
like "$(jq -r 'select(.category == "summary").text' "$out" | tail -n 1)" '^and 74 more$' \
  "the sum says what some of the others are"
err_is "agent-notify: cat: too slow: 134 notifications are told in one" \
  "the sum is told in one line"

# --- tmux
unset TMUX TMUX_PANE
TMUX_TMPDIR=$tmp
export TMUX_TMPDIR
# shellcheck disable=SC2317
end_tmux() { tmux kill-server 2>/dev/null; }
at_end=end_tmux
tmux -f /dev/null new-session -d -x 300 -y 10 -s told "exec sleep 1000" || bail "no tmux"
start seat env TERM=xterm python3 "$cli/terminal.py" 10x300 tmux attach -t told
attached() { [ "$(tmux list-clients | wc -l)" -eq 1 ]; }
wait_until 20 attached || bail "nobody is at the terminal"
t 0 "tmux is the way in tmux" \
  env TMUX="$(tmux display-message -p '#{socket_path},#{pid},0')" agent-notify <"$tmp/one"
err_empty "nothing is said in tmux"
ok "the text is shown in tmux" wait_until 20 grep -qF -e "$shown" "$tmp/seat.out"
ok "tmux shows all lines of a text" grep -qF -e '↵ second\;' "$tmp/seat.out"
run agent-notify --told
out_like 'fg=red' "what tmux showed can be read with --told"

# Nobody is at a terminal.
export TMUX
TMUX="$(tmux display-message -p '#{socket_path},#{pid},0')"
tmux detach-client -s told
detached() { ! attached; }
ok "a terminal is left" wait_until 20 detached
echo '{"urgency":"urgent","category":"x","title":"alone one","id":"t1"}' >"$tmp/alone"
t 75 "agent-notify has status 75 when nobody is attached" agent-notify <"$tmp/alone"
err_is "agent-notify: tmux: nobody is attached: what there is to tell waits for the next run" "the message says that it waits"
run agent-notify --told
out_unlike alone "what nobody saw is not in --told"
t 0 "another way tells what tmux could not" \
  agent-notify --to tmux,line --state "$tmp/other" <"$tmp/fire"
out_like fire "the line tells what tmux could not"
mkfifo "$tmp/control"
start control sh -c "exec tmux -C attach -t told <'$tmp/control'"
exec 4>"$tmp/control"
ok "a program speaks with tmux" wait_until 20 attached
mkfifo "$tmp/waiting"
start waiting sh -c "exec agent-notify --settle 0 <'$tmp/waiting'"
waiting=$pid
exec 3>"$tmp/waiting"
cat "$tmp/alone" >&3
echo '{"urgency":"urgent","category":"x","title":"alone two","id":"t2"}' >&3
ok "what waits is on disk" wait_until 20 has "$XDG_STATE_HOME/agentutils/notify" 'alone two'
is "$(jq -c '[.waiting[].title]' "$XDG_STATE_HOME/agentutils/notify")" '["alone one","alone two"]' \
  "what an earlier run could not tell waits, too, each once"
stop "$waiting" KILL
exec 3>&- 4>&-
start seat env -u TMUX TERM=xterm python3 "$cli/terminal.py" 10x300 tmux attach -t told
seated() { tmux list-clients -F '#{client_control_mode}' | grep -q 0; }
wait_until 20 seated || bail "nobody is at the terminal"
t 0 "agent-notify has status 0 when somebody is attached" agent-notify </dev/null
ok "whoever is attached is told" wait_until 20 grep -qF 'alone two' "$tmp/seat.out"
run agent-notify --told
is "$(grep -c alone "$out")" 2 "--told has all that waited for a terminal"
run agent-notify <"$tmp/alone"
is "$(agent-notify --told | grep -c alone)" 2 "what waited for a terminal is told once"
unset TMUX
end_tmux
TMUX=$tmp/no-such,1,0 run agent-notify <"$tmp/alone"
t 75 "a notification waits without a server of tmux" \
  agent-notify --to tmux --state "$tmp/none" <"$tmp/fire"
err_like '^agent-notify: tmux: .*: what there is to tell waits for the next run$' \
  "the message says that it waits without a server of tmux"

not_ok "nothing of a text ran anywhere" test -e "$tmp/evil"

# --- a command of the user's own
run agent-notify --exec 'cat >'"$tmp"'/got; echo "$#"' <"$tmp/one"
out_is 0 "no text is an argument of --exec"
is "$(jq -r .title "$tmp/got")" "$(jq -r .title "$tmp/one")" \
  "the record is the whole input of --exec"
is "$(jq -r '.type + .urgency' "$tmp/got")" notificationurgent \
  "the record for --exec is a notification"
t 75 "a command that fails has status 75" \
  agent-notify --exec 'exit 4' --exec 'echo ran' <"$tmp/fire"
err_is "agent-notify: exit 4: status 4" "the command that fails is named"
out_is ran "the command behind one that fails runs"
afresh
t 0 "a command that reads nothing has status 0" \
  agent-notify --exec 'exec <&-; echo deaf' <"$tmp/one"
out_is deaf "the output of a command that reads nothing comes all the same"
python3 -c 'print("{\"urgency\":\"urgent\",\"category\":\"x\",\"title\":\"" + "x" * 50000000 + "\"}")' >"$tmp/long"
t 0 "a title of 50 MB is told" agent-notify --exec cat --to line <"$tmp/long"
ok "a title of 50 MB is cut" test "$(wc -c <"$out")" -lt 2000
printf '{"urgency":"urgent","category":"x","title":"\377\376"}\n' | run agent-notify --to line
out_like '^[0-9:]{8} urgent  ��$' "bytes that are not text are shown as that"

# A slow one holds up neither the others nor the reading.
mkfifo "$tmp/live"
start live sh -c "exec agent-notify --settle 0 --rate 1000 --to line --exec 'echo start; read -r line <$tmp/go; echo end' <'$tmp/live'"
mkfifo "$tmp/go"
exec 3>"$tmp/live"
for number in 1 2 3; do
  echo '{"urgency":"urgent","category":"x","title":"n'$number'"}' >&3
  ok "n$number is a line though the command takes its time" wait_until 20 has "$tmp/live.out" "n$number"
done
is "$(grep -c start "$tmp/live.out")" 1 "the slow command runs once at a time"
for number in 1 2 3; do
  wait_until 20 sh -c "[ \"\$(grep -c start '$tmp/live.out')\" -eq $number ]"
  echo >"$tmp/go"
done
exec 3>&-
finished "$pid"
is "$(grep -c end "$tmp/live.out")" 3 "each of three has a command of its own"

# A signal gives it five seconds.
mkfifo "$tmp/held"
start held sh -c "exec agent-notify --settle 0 --exec 'echo \$\$ >$tmp/held.child; exec sleep 1000' <'$tmp/held'"
exec 3>"$tmp/held"
echo '{"urgency":"urgent","category":"x","title":"x"}' >&3
wait_until 20 test -s "$tmp/held.child"
stop "$pid"
exec 3>&-
is "$status" 143 "a signal ends agent-notify"
ok "a signal ends the command that runs" wait_until 5 gone "$(cat "$tmp/held.child")"

# --- --check
mkdir -p "$tmp/bin"
stub notify-send
PATH=$tmp/bin:$PATH
t 0 "--check sends one notice in each way" agent-notify --check --to line,notify-send --exec "cat >$tmp/record"
like "$(head -n 1 "$out")" '^[0-9:]* attention  agent-notify --check: One notice' \
  "--check is told in a line"
is "$(sed 1d "$out")" "line: one notice was sent
notify-send: one notice was sent
cat >$tmp/record: one notice was sent" "--check says that each way works"
is "$(word -2)" "agent-notify --check" "--check gives the desktop a title"
is "$(jq -r '.type + " " + .category' "$tmp/record")" "notification check" \
  "--check gives a command a record"
t 75 "--check has status 75 for a way that fails" agent-notify --check --exec 'exit 3' --to line
err_is 'agent-notify: exit 3: status 3' "--check tells the reason of a way that fails"
out_like '^line: one notice was sent' "--check tries the others beside a way that fails"
t 75 "--check has status 75 for tmux without anybody" \
  env TMUX_TMPDIR="$tmp/none" agent-notify --check --to tmux
err_like '^agent-notify: tmux: ' "--check names tmux without anybody"
run agent-notify --told
out_unlike 'check' "a check is not remembered"

done_testing
