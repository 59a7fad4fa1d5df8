#!/bin/sh
# The protocol itself (RFC 6455): what comes whole is printed, every breach of it fails
# the connection with the right code and prints nothing of what broke it. Each stream of
# bytes is sent at once, and then byte by byte.
. "${0%/*}/../lib.sh"
needs ws-tail jq python3

serve </dev/null
# taken SENDING BYTES: what a connection that carries these bytes comes to.
taken() {
  script <<S
switch
$1 $2
listen
S
  run ws-tail -d --max-retries 0 "$url/s"
  wait_until 5 grep -q '"end"' "$log"
}
answered() { jq -r 'select(.what == "frame" and .first == "88") | .code' "$log" | tr '\n' ' '; }
printed() { tr '\n' ' ' <"$out"; }

a125=$(printf 'a%.0s' $(seq 125))
pi='\xcf\x80'

# What is right: BYTES; WHAT IS PRINTED; CODE OF OUR CLOSE; TITLE. All end with a close.
while IFS=';' read -r bytes want code title; do
  for sending in send 'pieces 1'; do
    taken "$sending" "$bytes\\x88\\x02\\x03\\xe8"
    is "$(printed)" "$want" "ws-tail takes $title ($sending)"
    is "$(answered)" "$code " "a close behind $title is answered ($sending)"
  done
done <<S
\x81\x05hello;"hello" ;1000;a text
\x81\x00\x01\x00\x80\x00;"" "" ;1000;empty texts
\x81\x07{"a":1};{"a":1} ;1000;JSON as it came
\x81\x02$pi;"π" ;1000;two bytes of UTF-8
\x01\x01\xcf\x80\x01\x80;"π" ;1000;a character cut by a frame
\x82\x03\x00\xff\n;"AP8K" ;1000;binary
\x01\x02he\x89\x01p\x00\x01l\x8a\x01q\x80\x02lo;"hello" ;1000;control frames among fragments
\x02\x01a\x00\x00\x80\x01b;"YWI=" ;1000;binary fragments
\x81\x7d$a125;"$a125" ;1000;125 bytes, the longest short length
\x81\x7e\x00\x7eb$a125;"b$a125" ;1000;126 bytes, the shortest long one
\x8a\x00\x8a\x01x;;1000;pongs that nobody asked for
S

# What is wrong.
while IFS=';' read -r bytes want code title; do
  for sending in send 'pieces 1'; do
    # Whatever follows is not looked at.
    taken "$sending" "$bytes\\x81\\x04late"
    is "$(printed)" "$want" "ws-tail prints what came before $title ($sending)"
    is "$(answered)" "$code " "$title fails with $code ($sending)"
    is "$status" 75 "$title costs the connection ($sending)"
    err_like "^ws-tail: ws://[^ ]*/s: the server broke the protocol: .*; closed with $code$" \
      "the message tells the breach by $title ($sending)"
  done
done <<S
\xc1\x01x;;1002;RSV1
\xa1\x01x;;1002;RSV2
\x91\x01x;;1002;RSV3
\x81\x01a\xc9\x00;"a" ;1002;RSV1 in a ping
\x83\x01x;;1002;opcode 3
\x87\x00;;1002;opcode 7
\x8b\x00;;1002;opcode 11
\x8f\x01x;;1002;opcode 15
\x81\x81\x01\x02\x03\x04\x60;;1002;a masked frame
\x80\x01x;;1002;a continuation of nothing
\x81\x01a\x00\x01x;"a" ;1002;a continuation behind a message
\x01\x01a\x81\x01x;;1002;a text within a text
\x01\x01a\x02\x01x;;1002;binary within a text
\x09\x01x;;1002;half a ping
\x08\x02\x03\xe8;;1002;half a close
\x89\x7e\x00\x7eb$a125;;1002;a ping of 126 bytes
\x81\x7e\x00\x7d$a125;;1002;125 bytes with a long length
\x81\x7f\x00\x00\x00\x00\x00\x00\x00\x7eb$a125;;1002;126 bytes with the longest
\x82\x7f\x80\x00\x00\x00\x00\x00\x00\x00a;;1002;a length with the highest bit
\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xffa;;1009;the longest length
\x02\x01a\x80\x7f\x00\x00\x00\x00\x40\x00\x00\x00a;;1009;fragments of more than is taken
\x81\x01\xff;;1007;a byte that UTF-8 has not
\x81\x01a\x81\x02\xc0\xaf;"a" ;1007;an overlong character
\x81\x03\xed\xa0\x80;;1007;a surrogate
\x81\x04\xf4\x90\x80\x80;;1007;a character beyond Unicode
\x81\x01\xcf;;1007;half a character
\x01\x01\xcf\x80\x01a;;1007;half a character, and a letter in the next frame
\x01\x01\xcf\x80\x00;;1007;half a character, and the end in the next frame
\x01\x02\xed\xa0;;1007;a surrogate seen before the end of the message
\x88\x01x;;1002;half a close code
\x88\x02\x00\x00;;1002;code 0
\x88\x02\x03\xe7;;1002;code 999
\x88\x02\x03\xed;;1002;code 1005
\x88\x02\x03\xee;;1002;code 1006
\x88\x02\x03\xf7;;1002;code 1015
\x88\x02\x0b\xb7;;1002;code 2999
\x88\x02\x13\x88;;1002;code 5000
\x88\x04\x03\xe8\xcf(;;1007;a close reason that is not UTF-8
S

# --- pings are answered, with what they carry
script <<'S'
switch
frame 89 first
receive 1
frame 01 {"a":
frame 89
receive 1
frame 80 1}
frame 88
listen
S
run ws-tail -d --max-retries 0 "$url/"
out_is '{"a":1}' "a message around a ping comes"
is "$(jq -r 'select(.first == "8a") | .text' "$log" | tr '\n' ,)" "first,," "each ping is answered"
is "$(jq -r 'select(.what == "frame") | "\(.first) \(.size)"' "$log" | tr '\n' ,)" \
  "8a 5,8a 0,88 0," "a close without a code is answered by one"
is "$(jq -r 'select(.what == "frame" and .mask == null) | .n' "$log")" "" "all that we send is masked"

# A burst needs one answer, the newest.
script <<'S'
switch
send \x89\x011\x89\x012\x89\x013\x81\x02{}
frame 88 \x03\xe8
listen
S
run ws-tail -d --max-retries 0 "$url/"
is "$(jq -r 'select(.first == "8a") | .text' "$log" | tail -n 1)" 3 "the newest ping is answered"

# --- nothing counts behind a close
script <<'S'
switch
send \x81\x01a\x88\x06\x0f\xa0gone\x81\x01b\xff\xff
listen
S
run ws-tail -dv --max-retries 0 "$url/"
out_is '"a"' "what follows a close is not printed"
is "$(answered)" "4000 " "the close is echoed with its code"
err_like "the server closed the connection: 4000, gone$" \
  "the code and the reason of a close are told"

# --- every breach is told, and counts at the end
script <<'S'
switch
frame 81 1
frame 83 x
listen
---
switch
frame 81 2
stall
S
t 2 "a breach is an error at the end" ws-tail -d --retry-wait 0.01 -n 2 "$url/"
is "$(printed)" "1 2 " "the next connection after a breach goes on"
err_one_line ws-tail "a breach is told once"

done_testing
