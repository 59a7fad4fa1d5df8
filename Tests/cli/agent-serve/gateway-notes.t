#!/bin/sh
# agent-serve: a reply command tells on its descriptor 3 which tools it uses and what it
# thinks; clients that want to know are told.
. "${0%/*}/../lib.sh"
. "${0%/*}/gateway.sh"
needs agent-serve jq

cat >"$tmp/reply" <<'END'
read -r word
await() { until rm "$STEPS/$1" 2>/dev/null; do sleep 0.01; done; }
case $word in
work)
  printf 'Looking.\n'
  printf '%s\n' '{"type":"message","role":"thinking","text":"hm"}' >&3
  printf '%s\n' '{"type":"message","role":"thinking","text":"hm, yes"}' >&3
  printf '%s\n' '{"type":"message","role":"thinking","text":"no"}' >&3
  await said
  printf '%s\n' '{"type":"tool_call","id":"1","tool":"date","arguments":{"utc":true,"n":1.10},"state":"running"}' >&3
  await on
  printf '%s\n' '{"type":"tool_call","id":"1","tool":"date","state":"running","stdout":"Mon"}' >&3
  await over
  printf '%s\n' '{"type":"tool_call","id":"1","tool":"date","label":"date -u","state":"succeeded","stdout":"Monday\n","stderr":"no zone","exit_code":0,"duration_ms":12}' >&3
  printf '%s\n' '{"type":"tool_call","id":"2","tool":"rm"}' >&3
  printf '%s\n' '{"type":"tool_call","id":"2","tool":"rm","state":"failed","reason":"no"}' >&3
  printf '%s\n' '{"type":"tool_call","id":"3","tool":"ls","state":"succeeded"}' >&3
  printf '%s\n' '{"type":"tool_call","id":"4","tool":"cat"}' >&3
  printf '%s\n' '{"type":"turn","usage":{"input_tokens":12,"output_tokens":3},"usd_cost":0.0125}' >&3
  echo 'It is Monday.' ;;
noise)
  head -c 100000 /dev/urandom | tr -d '\n' >&3; echo >&3
  printf '%s\n' '' '[]' '{}' '{"type":"tool_call"}' '{"type":"tool_call","id":7,"tool":"x"}' \
    '{"type":"tool_call","id":"","tool":"x"}' '{"type":"tool_call","id":"a","tool":"x","state":"odd"}' \
    '{"type":"message","role":"user","text":"x"}' '{"type":"message","role":"thinking","text":1}' \
    '{"type":"approval","id":"x"}' '{"id":"\u001b[2J' >&3
  head -c 300000 /dev/zero | tr '\0' x >&3; echo >&3
  printf '%s\n' '{"type":"tool_call","id":"g","tool":"good","state":"succeeded"}' \
    '{"type":"tool_call","id":"g","tool":"good","state":"running"}' >&3
  printf '{"type":"turn"' >&3
  echo still said ;;
flood)
  yes "{\"type\":\"tool_call\",\"id\":\"1\",\"tool\":\"yes\",\"stdout\":\"$(printf '%04000d' 0)\"}" |
    head -c 20000000 >&3
  echo 'done' ;;
shut) exec 3>&-; echo closed ;;
calls) seq -f '{"type":"tool_call","id":"%g","tool":"x","state":"succeeded"}' 1 1200 >&3; echo so ;;
behind) sleep 1000 >/dev/null 2>&1 & echo gone on ;;
dies) echo '{"type":"tool_call","id":"1","tool":"x"}' >&3; kill -9 $$ ;;
hangs) echo '{"type":"tool_call","id":"1","tool":"x"}' >&3; sleep 1000 ;;
esac
END
STEPS=$tmp/steps
mkdir "$STEPS"
export STEPS
start_gateway notes -D :memory: --reply-command "sh $tmp/reply"
checks gateway-notes.py told "$gateway" "$STEPS"
is "$(cat "$tmp/notes.err")" "" "nothing is wrong with notes of all kinds"
checks gateway-notes.py odd "$gateway" "$STEPS"
notes=$(cat "$tmp/notes.err")
like "$notes" '^agent-serve: reply command: descriptor 3:1: not JSON: ' "a bad line is named"
like "$notes" 'descriptor 3:5: no id$' "a note without an id is named with what is missing"
like "$notes" 'descriptor 3:9: a message whose role is not thinking$' \
  "a note with a role too many is named"
like "$notes" '^agent-serve: [0-9]+ more bad lines$' \
  "ten bad lines of a reply are named, and the rest is counted"
like "$notes" 'more than 4194304 bytes; the rest is not read$' \
  "notes that are too many bytes are told"
like "$notes" 'more than 1000 calls$' "a reply with too many calls is told"
unlike "$notes" "$(printf '\033')" "nothing of bad lines is shown"
stop "$pid"
is "$status" 0 "agent-serve ends as ever after bad notes"
done_testing
