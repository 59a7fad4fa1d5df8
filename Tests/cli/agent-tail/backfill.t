#!/bin/sh
# Two dashboards, which number no events: what one of them missed is fetched for it
# alone, while the other goes on.
. "${0%/*}/../lib.sh"
needs agent-tail action-filter curl jq python3

for name in a b; do
  start_server "$name" python3 "$cli/servers/dashboard.py"
  printf '[profile %s]\nurl = %s\n' "$name" "$url" >>"$XDG_CONFIG_HOME/agentutils/config"
  echo "$url" >"$tmp/$name.url"
done
a=$(cat "$tmp/a.url") b=$(cat "$tmp/b.url")
# post URL FROM TO: the same actions at both, to the byte.
post() {
  seq "$2" "$3" | awk '{
    printf "{\"kind\":\"llm_call\",\"content\":\"n%d\",\"createdAt\":\"2026-01-01T00:00:%02d.%03dZ\"}\n",
      $1, $1 / 1000, $1 % 1000 }' | curl -sf --data-binary @- "$1/control/actions" >/dev/null
}
came() { wait_until 30 has "$tmp/tail.out" "\"profile\":\"$1\".*\"n$2\""; }

post "$a" 1 10
post "$b" 1 10
start tail agent-tail -L --retry-wait 0.3 -p a,b
came a 10
came b 10
curl -sf -d '' "$a/control/drop?how=between&away=1" >/dev/null
post "$a" 11 400
post "$b" 11 400
came b 400
ok "the other dashboard goes on while one is lost" has "$tmp/tail.out" '"profile":"b".*"n400"'
curl -sf -d '' "$a/control/back" >/dev/null
came a 400
post "$a" 401 401
came a 401
ok "what one dashboard missed is fetched" \
  has "$tmp/tail.out" '"event":"actions_backfill","id":"","profile":"a"'
not_ok "what one dashboard missed is fetched for that one alone" \
  has "$tmp/tail.out" '"event":"actions_backfill","id":"","profile":"b"'
not_ok "no gap is reported" has "$tmp/tail.out" '"type":"gap"'
for name in a b; do
  action-filter -u --profile "$name" "$tmp/tail.out" | grep -o '"n[0-9]*"' | tr -dc '0-9\n' |
    sort -n >"$tmp/numbers"
  seq "$([ "$name" = a ] && echo 401 || echo 400)" >"$tmp/wanted"
  ok "$name: each action comes once" cmp "$tmp/numbers" "$tmp/wanted"
done
is "$(action-filter -u "$tmp/tail.out" | wc -l | tr -d ' ')" 801 \
  "equal actions of two profiles are two"
done_testing
