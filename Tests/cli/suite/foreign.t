#!/bin/sh
# All that commands read of text: a byte order mark in front is passed over, and what is no UTF-8
# is named as what it is, once.
. "${0%/*}/../lib.sh"
needs mail-triage agent-call agent-notify task voice-state bus-put python3 jq
cd "$tmp" || exit 1
marked() { { printf '\357\273\277'; cat; } >"$1"; }
sixteen() { python3 -c 'import sys; sys.stdout.buffer.write(sys.stdin.read().encode("utf-16"))' >"$1"; }
squeezed() { python3 -c 'import lzma, sys; sys.stdout.buffer.write(lzma.compress(sys.stdin.buffer.read()))' >"$1"; }

# forms NAME CONTENT COMMAND: what a command says of ./file, in all forms.
forms() {
  printf '%s\n' "$2" >file
  chmod 600 file
  run sh -c "$3"
  cp "$out" plain
  plain="$status $(cat plain)"
  printf '%s\n' "$2" | marked file
  run sh -c "$3"
  is "$status $(cat "$out")" "$plain" "$1: a byte order mark is passed over"
  printf '%s\n' "$2" | sixteen file
  run sh -c "$3"
  like "$(cat "$err")" "^[a-z-]+: [^:]*: it is UTF-16 text$" "$1: UTF-16 is told"
  is "$(lines "$err")" 1 "$1: UTF-16 is one error"
  printf '%s\n' "$2" | squeezed file
  run sh -c "$3"
  like "$(cat "$err")" "^[a-z-]+: [^:]*: it is compressed by xz$" "$1: xz is told"
}
notice='{"type":"notification","urgency":"high","category":"x","title":"hello"}'
printf 'From: a@x.example\nSubject: hello\n\nhi\n' >mail
forms "rules of mail-triage" "urgent subject hello" 'mail-triage --rules file mail | jq -r .urgency'
forms mail-triage '{"type":"message","backend":"claw","thread":"t","id":"1","role":"user","text":"x"}' \
  'mail-triage file'
forms "a mail" "$(cat mail)" 'mail-triage file | jq -c "del(.time)"'
forms "agent-notify --route" "$notice" 'agent-notify --route file | jq -c .title'
forms "agent-notify --route, standard input" "$notice" 'cat file | agent-notify --route | jq -c .title'
forms agent-notify "$notice" 'rm -f told; cat file | agent-notify --exec "jq -r .title >>told" &&
  cat told'
forms "quick tasks" 'buy milk' 'task format --quick file | jq -r .title'
forms voice-state '{"sessions":[],"activeCount":0}' 'voice-state file'
mkdir -p "$XDG_CONFIG_HOME/agentutils"
forms settings '[profile box]
url = http://127.0.0.1:1' 'cp -p file "$XDG_CONFIG_HOME/agentutils/config"
  agent-tail -p nobody 2>&1 | sed -n "/it is/p" >&2'
rm "$XDG_CONFIG_HOME/agentutils/config"
mkdir t
echo '{"type":"user"}' >t/a.jsonl
transcript-tail --once --state st t >/dev/null
forms "a state" "$(cat st)" 'cp file st; transcript-tail --once --state st t'
serve_agent box
profile box "$url"
forms "the body of a request" '{"text":"x"}' 'agent-call -p box -d @file post /none 2>&1 |
  sed -n "/it is/p" >&2; :'

done_testing
