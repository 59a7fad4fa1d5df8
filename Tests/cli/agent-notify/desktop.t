#!/bin/sh
# agent-notify on a desktop whose notices have buttons: a press answers what an agent asks.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs jq python3 agent-approve
bound=60

mkdir "$tmp/bin" "$tmp/shown"
# A notify-send of libnotify 0.8, which waits where it has actions, and prints what was pressed.
cat >"$tmp/bin/notify-send" <<END
#!/bin/sh
if [ "\$1" = --help ]; then
  echo '  -A, --action=[NAME=]Text...       Specifies the actions to display to the user.'
  exit
fi
me=$tmp/shown/\$\$
for word; do printf '%s\n' "\$word"; done >"\$me.new"
case " \$* " in
*' -A '*) ;;
*)
  mv "\$me.new" "\$me.plain"
  exit
  ;;
esac
trap 'mv "\$me.asks" "\$me.gone"; exit 1' INT
mv "\$me.new" "\$me.asks"
until [ -e "\$me.press" ]; do sleep 0.05; done
cat "\$me.press"
mv "\$me.asks" "\$me.pressed"
END
chmod +x "$tmp/bin/notify-send"
PATH=$tmp/bin:$PATH
start_gateway claw
resolved() { frames claw exec.approval.resolve | jq -r '"\(.id) \(.decision)"'; }
# shown STATE TEXT: the notice that has it.
shown() { grep -lxF -- "$2" "$tmp/shown"/*."$1" 2>/dev/null | tail -n 1; }
is_shown() { [ -n "$(shown "$1" "$2")" ]; }
labels() { grep -A 1 '^-A$' "$1" | grep '=' | xargs; }
press() { # press TEXT WORD
  _notice=$(shown asks "$1")
  echo "$2" >"${_notice%.asks}.typed"
  mv "${_notice%.asks}.typed" "${_notice%.asks}.press"
}
answered() { resolved | grep -qx "$1"; }
listen() {
  start notify agent-notify -p "$@" --settle 0 --to notify-send
  notify=$pid
}
listen claw
tell claw ask a1 '{"command":"make one","cwd":"/srv/site"}'
ok "what an agent asks is shown with buttons" wait_until 20 is_shown asks 'make one'
is "$(labels "$(shown asks 'make one')")" "0=Yes 1=Always 2=No" "the buttons of a notice are ours"
tell claw ask a2 '{"command":"make two","allowedDecisions":["allow-once","deny"]}'
ok "another request is shown beside the first" wait_until 20 is_shown asks 'make two'
press 'make two' 1
ok "a press answers the other request" wait_until 20 answered 'a2 deny'
press 'make one' 0
ok "another press answers the first request" wait_until 20 answered 'a1 allow-once'
tell claw ask a3 '{"command":"at another place"}'
wait_until 20 is_shown asks 'at another place'
tell claw resolve a3 deny
ok "what is answered elsewhere goes from the screen" wait_until 20 is_shown gone 'at another place'
tell claw ask a4 "{\"command\":\"$(printf '%2000s' x | tr ' ' a)\"}"
long() { grep -l '^aaaa' "$tmp/shown"/*.asks 2>/dev/null; }
ok "a long request is shown" wait_until 20 long
is "$(labels "$(long)")" "0=No" "a long request that is cut can only be denied"
tell claw ask a5 '{"command":"<b>&amp;</b> \\033[31m\u001b[31m","cwd":"/srv/-A"}'
safely() { grep -qF '&lt;b&gt;&amp;amp;&lt;/b&gt; \\033[31m\\e[31m' "$tmp/shown"/*.asks; }
ok "a stranger's text is text" wait_until 20 safely
tell claw ask a6 '{"command":"closed"}'
wait_until 20 is_shown asks closed
press closed ''
ok "a notice is closed" wait_until 20 is_shown pressed closed
tell claw ask a7 '{"command":"odd"}'
wait_until 20 is_shown asks odd
press odd 99
tell claw ask a8 '{"command":"last"}'
wait_until 20 is_shown asks last
press last 2
ok "another request is answered beside odd answers" wait_until 20 answered 'a8 deny'
is "$(resolved | sort | xargs)" "a1 allow-once a2 deny a8 deny" \
  "a closed notice answers nothing, nor does an odd answer"
seq 12 | while read -r number; do tell claw ask "m$number" "{\"command\":\"many $number\"}"; done
plain() { [ "$(grep -l '^many' "$tmp/shown"/*.plain 2>/dev/null | wc -l)" -ge 4 ]; }
ok "the rest of very many requests is told without buttons" wait_until 20 plain
stop "$notify"
none() { [ -z "$(find "$tmp/shown" -name '*.asks')" ]; }
ok "what was shown goes away when agent-notify ends" wait_until 20 none
is "$(cat "$tmp/notify.err")" "" "nothing is said on standard error"

rm -f "$tmp/shown"/*
start_gateway other
resolved() { frames other exec.approval.resolve | jq -r '"\(.id) \(.decision)"'; }
listen other --answers deny
tell other ask d1 '{"command":"only no"}'
ok "a request is shown with --answers deny" wait_until 20 is_shown asks 'only no'
is "$(labels "$(shown asks 'only no')")" "0=No" "--answers deny offers No alone"
press 'only no' 0
ok "No with --answers deny denies" wait_until 20 answered 'd1 deny'
stop "$notify"

# --- one that does not know actions
sed "s/echo '  -A.*/exit/" "$tmp/bin/notify-send" >"$tmp/old"
chmod +x "$tmp/old"
mv "$tmp/old" "$tmp/bin/notify-send"
rm -f "$tmp/shown"/*
listen other
tell other ask o1 '{"command":"an old one"}'
ok "an old notify-send is given no buttons" wait_until 20 is_shown plain 'an old one'
stop "$notify"
done_testing
