#!/bin/sh
# Large messages and many: time that grows with them and no faster, memory that is bounded.
. "${0%/*}/../lib.sh"
needs ws-tail jq python3

serve </dev/null
ws=ws${url#http}
# --- 16 MB whole, in fragments, in small pieces
script <<'S'
switch
bytes 16777216 abcdefgh
frame 88 \x03\xe8
listen
S
run ws-tail --max-retries 0 "$ws/"
is "$(jq -r .binary "$out" | base64 -d | sha1sum)" \
  "$(python3 -c "import sys; sys.stdout.write('abcdefgh' * (1 << 21))" | sha1sum)" "16 MB come in one message"
python3 - "$tmp/fragments" <<'END'
import struct, sys
with open(sys.argv[1], "wb") as file:
    text = ("π" * 200_000).encode()
    whole = b'"' + text * 40 + b'"'
    parts = [whole[at:at + 999] for at in range(0, len(whole), 999)]
    for n, part in enumerate(parts):
        first = (1 if n == 0 else 0) | (0x80 if n == len(parts) - 1 else 0)
        file.write(struct.pack("!BBH", first, 126, len(part)) if len(part) > 125
                   else bytes([first, len(part)]))
        file.write(part)
        if n % 100 == 0: file.write(b"\x89\x00")
END
script <<'S'
switch
file fragments 60000
frame 88 \x03\xe8
listen
S
start_clock=$(date +%s)
run ws-tail -d --max-retries 0 "$ws/"
is "$(jq -r length "$out")" 8000000 "16 MB of text come in 16,000 fragments that cut characters"
ok "16 MB of text in fragments do not take long" test $(($(date +%s) - start_clock)) -lt 15

# --- memory
# holds KIB TITLE OPTION...: never more than that, by the script on standard input.
holds() {
  script
  most=$1
  title=$2
  shift 2
  ok "$title" python3 "$cli/resident.py" "$most" sh -c '"$@"; exit 0' sh \
    ws-tail --max-retries 0 "$@" "$ws/"
}
holds 65536 "100 MB that are dropped take little memory" --max-message-bytes 1000 <<'S'
switch
bytes 100000000 x
frame 81 1
frame 88 \x03\xe8
listen
S
holds 65536 "100,000 messages take little memory" <<'S'
switch
repeat 100000 \x81\x7e\x01\x00"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
frame 88 \x03\xe8
listen
S
holds 65536 "a flood of pings whose answers are not read takes little memory" <<'S'
switch
repeat 3000000 \x89\x08pingping
frame 88 \x03\xe8
S
holds 65536 "a length that is claimed and never comes takes little memory" <<'S'
switch
send \x82\x7f\x00\x00\x00\x00\x3f\xff\xff\xffx
S

# --- every message of many, in order, cut anywhere
python3 -c "
import sys
sys.path.insert(0, '$cli/servers')
import frames
with open('$tmp/many', 'wb') as file:
    for n in range(20000):
        file.write(frames.frame(0x81, (b'{\"n\":%d,\"fill\":\"%s\"}' % (n, b'\xcf\x80' * (n * 7919 % 300)))))
"
script <<'S'
switch
file many 9000
frame 88 \x03\xe8
listen
S
run ws-tail -d --max-retries 0 "$ws/"
is "$(jq -r .n "$out" | md5sum)" "$(seq 0 19999 | md5sum)" \
  "20,000 messages come in pieces of any size"

done_testing
