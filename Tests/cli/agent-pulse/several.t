#!/bin/sh
# agent-pulse -p a,b: one feed of several agents, history and all.
. "${0%/*}/../lib.sh"
[ -x "$root/bin/agent-serve" ] || skip_all "needs agent-serve"
needs curl

TMPDIR=$tmp/tmp
mkdir "$TMPDIR"
export TMPDIR
nothing_left() { [ -z "$(ls -A "$TMPDIR")" ]; }
odd='a&b\1"/'
for name in a b; do
  serve_agent "$name"
  echo "$url" >"$tmp/$name.url"
done
a=$(cat "$tmp/a.url") b=$(cat "$tmp/b.url")
printf '[profile a]\nurl = %s\n[profile b]\nurl = %s\n[profile %s]\nurl = %s\n' "$a" "$b" "$odd" "$b" \
  >"$XDG_CONFIG_HOME/agentutils/config"
# post URL FROM TO OFFSET: an action a second, numbered.
post() {
  seq "$2" "$3" | awk -v offset="$4" '{
    printf "{\"kind\":\"llm_error\",\"content\":\"n%d\",\"createdAt\":\"2026-01-01T00:%02d:%02d.%d00Z\"}\n",
      $1, $1 / 60, $1 % 60, offset }' | curl -sf --data-binary @- "$1/api/actions" >/dev/null
}
rows() { sed -n 's/^\([^ ]*\)  .*\(n[0-9]*\)$/\1 \2/p' "$1" | paste -s -d ' ' -; }
post "$a" 1 5 0
post "$b" 1 5 5

t 0 "-n works for several agents" agent-pulse -p a,b -n 4 -- --color never -n 4
is "$(rows "$out")" "a n4 b n4 a n5 b n5" "the newest of all come oldest first, each with its name"
err_empty "nothing is said beside the rows of several agents"
run agent-pulse -p a --profile b -n 4 -- --color never -n 4
is "$(rows "$out")" "a n4 b n4 a n5 b n5" "an option for each agent does the same"
t 2 "what is behind -- is the format's" agent-pulse -n 2 --profile=a -p b -- --color never -p -n 2
run agent-pulse --profile a -n 4 -pb -- --color never -n 4
is "$(rows "$out")" "a n4 b n4 a n5 b n5" "options of profiles may stand anywhere"
run sh -c 'agent-pulse -n 2 --records -p b | head -n 2 | jq -r .content | paste -s -d " " -'
out_is "n4 n5" "--records may stand anywhere, too"
run agent-pulse -p "a,$odd" --profile "$odd" -n 4 -- --color never -n 4
is "$(rows "$out")" "a n4 $odd n4 a n5 $odd n5" "a name of a profile may have anything in it"
run agent-pulse -p a,a -p a -n 2 -- --color never -n 2
is "$(sed 's/.* \(n[0-9]*\)$/\1/' "$out" | paste -s -d ' ' -)" "n4 n5" \
  "a profile that is named twice is one"
out_unlike '^a ' "the rows of the only profile have no name"
ok "nothing is left of several agents" nothing_left

# As it happens: more than the history has.
start pulse agent-pulse -p b,a -d error -- --color never
pulse=$pid
wait_until 30 has "$tmp/pulse.out" '^b .*n5'
wait_until 30 has "$tmp/pulse.out" '^a .*n5'
post "$a" 6 6 0
wait_until 30 has "$tmp/pulse.out" '^a .*n6'
post "$b" 6 6 5
wait_until 30 has "$tmp/pulse.out" '^b .*n6'
stop "$pulse"
is "$(rows "$tmp/pulse.out")" "a n1 b n1 a n2 b n2 a n3 b n3 a n4 b n4 a n5 b n5 a n6 b n6" \
  "the feed has history and life, and nothing twice"
is "$(cat "$tmp/pulse.err")" "" "nothing is said beside history and life"
ok "nothing is left after history and life" nothing_left
done_testing
