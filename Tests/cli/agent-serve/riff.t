#!/bin/sh
# agent-serve as a voice server: who may ask, and clips.
. "${0%/*}/../lib.sh"
needs agent-serve clip-transcribe curl jq openssl
. "${0%/*}/riff.sh"

mkdir "$tmp/scratch"
# A clip is a command here: what it holds decides what the transcriber does.
cat >"$tmp/hear" <<'END'
printf '%s\n' "$1" >>"$HEARD"
ls -ld "$1" "${1%/*}" | cut -c 1-10 >"$HEARD.modes"
case $(head -c 5 "$1") in
fail\ ) echo half; echo "no such voice" >&2; exit 3 ;;
kill\ ) kill -9 $$ ;;
wait\ ) echo $$ >"$HEARD.waits"; until [ -e "$HEARD.go" ]; do sleep 0.02; done; echo waited ;;
quiet) printf ' \n' ;;
RIFF*) wc -c <"$1" ;;
*) printf ' one\n two \n' ;;
esac
END
HEARD=$tmp/heard
export HEARD
: >"$HEARD"
start_server ears env TMPDIR="$tmp/scratch" agent-serve -l 127.0.0.1:0 -D :memory: \
  --voice-secret-file "$tmp/secret" --transcriber "sh $tmp/hear \"\$1\""
ears=$pid
clip() { printf '%s' "$1" >"$tmp/clip"; }
hear() { post "$tmp/clip" /riff/transcribe-only "$@"; }

# --- who may ask
clip 'first clip'
good=$(sign "$tmp/clip")
plain() { curl -sS -m 20 -o "$out" -w '%{http_code}' "$@" 2>"$err"; }
is "$(plain "$url/riff/health")" 401 "a request needs a signature"
is "$(cat "$out")" '{"error":"unauthorized"}' "nobody gets in without a signature"
is "$(fetch /riff/health)" 200 "the signature of nothing is enough"
is "$(jq -c '[.ok, .transcriber, (.ts | type)]' "$out")" '[true,true,"number"]' \
  "the health says that a transcriber is there"
is "$(plain "$url/riff/transcribe-only" --data-binary "@$tmp/clip")" 401 \
  "a clip needs its signature"
is "$(plain "$url/riff/transcribe-only" -H "X-Riff-Secret: $(sign "$tmp/nothing")" \
  --data-binary "@$tmp/clip")" 401 "the signature of something else is refused"
for wrong in "$(printf %s "$good" | tr 0-9a-f 1-9a-f0)" "$(printf %s "$good" | tr a-f A-F)" \
  "${good%?}" "${good}0" "$good, $good" "" "$(printf '%064d' 0)" "$secret"; do
  is "$(plain "$url/riff/transcribe-only" -H "X-Riff-Secret: $wrong" --data-binary \
    "@$tmp/clip")" 401 "a forged signature is refused: ${wrong:-none}"
done
is "$(plain "$url/riff/transcribe-only" -H "X-Riff-Secret: $good" -H "X-Riff-Secret: $good" \
  --data-binary "@$tmp/clip")" 401 "two signatures are refused"
is "$(plain "$url/riff/nowhere")" 401 "what is not there is not told"
is "$(fetch /riff/nowhere)" 404 "a path that is not there is told to who may ask"
is "$(cat "$out")" '{"error":"Not found."}' \
  "the error of a path that is not there is as all errors are"
is "$(fetch /riff/health -I)" 200 "a HEAD is answered as a GET"
is "$(plain "$url/riff/nowhere" -H "X-Riff-Secret: $(sign "$tmp/nothing")" --data-binary x)" 401 \
  "a path that is not there is not told to who forges a body"
is "$(fetch /riff/transcribe-only)" 404 "a GET of what is posted is not found"
is "$(post "$tmp/clip" /riff/health)" 404 "a POST of what is not posted is not found"
is "$(fetch /riff/health -H 'Host: box.example')" 200 "the voice server answers under any name"
is "$(plain "$url/api/health" -H 'Host: box.example')" 421 \
  "the dashboard does not answer under any name"
is "$(lines "$HEARD")" 0 "nothing was heard of what was refused"

# --- clips
is "$(hear -H 'X-Riff-Audio-Format: m4a')" 200 "a clip is heard"
is "$(cat "$out")" '{"transcript":"one two"}' "the text of a clip is one line"
like "$(tail -n 1 "$HEARD")" '/clip\.[^/]*/clip\.m4a$' \
  "the file of a clip has the name of its format"
is "$(sort -u "$HEARD.modes" | head -n 2 | tr '\n' ' ')" "-rw------- drwx------ " \
  "the file of a clip is for nobody else to read"
is "$(ls "$tmp/scratch")" "" "the clip is gone"
is "$(hear) $(cat "$out") $(lines "$HEARD")" '200 {"transcript":"one two"} 1' \
  "the same clip is not heard again"
for format in '../../x' 'a b' "\$(touch $tmp/made)" wavwavwav ''; do
  clip "named $format"
  hear -H "X-Riff-Audio-Format: $format" >/dev/null
  like "$(tail -n 1 "$HEARD")" '/clip\.[^/]*/clip$' \
    "a format that is not one is left out of the name: $format"
done
clip 'quiet'
is "$(hear) $(cat "$out")" '200 {"transcript":""}' "a clip where nothing is said has an empty text"
clip 'fail now'
is "$(hear)" 502 "a transcriber that fails has the status 502"
is "$(jq -r .error "$out")" "the transcriber failed: exit status 3: no such voice" \
  "the answer says why the transcriber failed"
ok "a transcriber that fails is told by the server, too" \
  has "$tmp/ears.err" '^agent-serve: transcriber: exit status 3: no such voice$'
before=$(lines "$HEARD")
is "$(hear) $(lines "$HEARD")" "502 $((before + 1))" "a transcriber that failed is asked again"
clip 'kill now'
is "$(hear)" 502 "a transcriber that is killed has the status 502"
: >"$tmp/clip"
is "$(hear)" 400 "an empty clip is refused"
is "$(ls "$tmp/scratch")" "" "no clip leaves a file"

# --- large ones
head -c 26214400 /dev/zero | tr '\0' R | sed 's/^RRRR/RIFF/' >"$tmp/clip"
is "$(hear -H 'Expect:') $(jq -r .transcript "$out")" "200 26214400" "a clip of 25 MiB is heard"
printf R >>"$tmp/clip"
before=$(lines "$HEARD")
is "$(hear -H 'Expect:')" 413 "a clip of one byte more is refused"
is "$(jq -r .error "$out")" payload_too_large "the answer says that a clip is too large"
is "$(hear -H 'Expect:' -H 'Transfer-Encoding: chunked')" 413 \
  "a larger clip is refused in chunks, too"
is "$(plain "$url/riff/transcribe-only" -H 'Expect:' -H 'Content-Length: 99999999999' \
  -H "X-Riff-Secret: $good" --data-binary x)" 413 \
  "a clip that is announced as too large need not come"
is "$(lines "$HEARD")" "$before" "nobody hears clips that are too large"
# These clients send all of it before they look for an answer, and take their time.
cat >"$tmp/whole.py" <<'END'
import http.client, sys, time
size = (25 << 20) + 1
links = []
for signature in sys.argv[2:]:
    link = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=30)
    link.request("POST", "/riff/transcribe-only", bytes(1000),
                 {"X-Riff-Secret": signature, "Content-Length": str(size)})
    links.append(link)
time.sleep(2.5)
for link in links:
    link.send(bytes(size - 1000))
    print(link.getresponse().status)
END
run python3 "$tmp/whole.py" "$port" "$good" none
out_is "413
401" "a client that sends all of it first sees why it is refused, too"
cat >"$tmp/raw.py" <<'END'
import socket, struct, sys, time
port, folder, signature, what = sys.argv[1:]
head = ("POST /riff/transcribe-only HTTP/1.1\r\nHost: localhost\r\nX-Riff-Secret: %s\r\n"
        "Content-Length: %d\r\n" % (signature, len("first clip")))
def connect(more):
    link = socket.create_connection(("127.0.0.1", int(port)), timeout=20)
    link.sendall(more.encode())
    return link
if what == "expect":
    link = connect(head + "Expect: 100-continue\r\n\r\n")
    print(link.recv(1000).split(b"\r\n")[0])
    link.sendall(b"first clip")
    print(link.recv(1000).split(b"\r\n")[0])
if what == "short":
    link = connect(head + "\r\nfirst")
    link.shutdown(socket.SHUT_WR)
    print(link.recv(1000))
if what == "hold":
    links = [connect(head + "\r\n") for _ in range(40)]
    open(folder + "/held", "w").close()
    links[0].recv(1)
if what == "reset":
    body = open(folder + "/clip").read()
    link = connect(head.replace(": 10", ": %d" % len(body)) + "\r\n" + body)
    while len(open(folder + "/heard.waits").read()) < 2:
        time.sleep(0.01)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    link.close()
END
raw() { run python3 "$tmp/raw.py" "$port" "$tmp" "$@"; }
raw "$good" expect
out_is "b'HTTP/1.1 100 Continue'
b'HTTP/1.1 200 OK'" "a client that asks first is told to go on"
raw "$good" short
out_like '^b.HTTP/1.1 400' "a body that ends before its end is refused"
start hold python3 "$tmp/raw.py" "$port" "$tmp" "$(printf '%064d' 0)" hold
hold=$pid
ok "many announce a clip and send nothing" wait_until 10 test -e "$tmp/held"
clip 'while they wait'
is "$(hear)" 200 "clips that are announced and not sent keep nobody out"
stop "$hold"
printf 'POST /riff/transcribe-only HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n' \
  >"$tmp/short"
printf 'X-Riff-Secret: %s\r\n\r\nfirst clip and more' "$good" >>"$tmp/short"
bounded 20 python3 - "$port" <"$tmp/short" >"$out" 2>&1 <<END || :
import socket
link = socket.create_connection(("127.0.0.1", $port))
link.sendall(open("$tmp/short", "rb").read())
link.settimeout(10)
print(link.recv(1000).decode())
END
out_like '^HTTP/1.1 401' "a body that is longer than it says is cut"

# --- many at once
# later NAME WORDS: sends a clip of its own and waits elsewhere.
later() {
  printf '%s' "$2" >"$tmp/$1.clip"
  start "$1" curl -sS -w '\n%{http_code} %header{retry-after}\n' \
    -H "X-Riff-Secret: $(sign "$tmp/$1.clip")" --data-binary "@$tmp/$1.clip" \
    "$url/riff/transcribe-only"
}
later one 'wait one'
ok "one clip is being heard" wait_until 10 test -s "$HEARD.waits"
before=$(lines "$HEARD")
later same 'wait one'
for number in 1 2 3 4 5 6 7 8 9 10 11 12; do later "many$number" "wait $number"; done
busy() { [ "$(cat "$tmp"/many*.out | grep -c '^503 [1-9]')" = 3 ]; }
ok "too many clips are refused for a moment" wait_until 20 busy
is "$(lines "$HEARD")" $((before + 1)) "two clips are heard at a time"
: >"$HEARD.go"
ok "the first of two equal clips gets its text" wait_until 20 has "$tmp/one.out" waited
ok "the second of two equal clips gets the same text" wait_until 20 has "$tmp/same.out" waited
rest() { [ "$(cat "$tmp"/many*.out | grep -c ^200)" = 9 ]; }
ok "the other clips have their turn" wait_until 20 rest
is "$(lines "$HEARD")" $((before + 9)) "each clip is heard once"

# --- the client of the suite
printf '[profile ears]\nkind = riff\nurl = %s\nsecret-file = %s\n' "$url" "$tmp/secret" \
  >>"$XDG_CONFIG_HOME/agentutils/config"
printf 'RIFF\044\000\000\000WAVEfmt rest' >"$tmp/one.wav"
t 0 "clip-transcribe is answered" clip-transcribe -p ears "$tmp/one.wav"
out_is 20 "clip-transcribe prints the answer"

# --- the end
rm -f "$HEARD.go" "$HEARD.waits"
later last 'wait for the end'
ok "a clip is being heard" wait_until 10 test -s "$HEARD.waits"
stop "$ears"
is "$status" 0 "the server stops while a clip is heard"
ok "the transcriber stops with the server" wait_until 10 gone "$(cat "$HEARD.waits")"
ok "a client that waits is told of the end" wait_until 10 has "$tmp/last.out" '^503'
is "$(ls "$tmp/scratch")" "" "no file is left at the end"
# hearing NAME: a server that has begun to hear a clip, whose client is gone.
hearing() {
  rm -f "$HEARD.go"
  : >"$HEARD.waits"
  start_server "$1" env TMPDIR="$tmp/scratch" agent-serve -l 127.0.0.1:0 -D :memory: \
    --voice-secret-file "$tmp/secret" --transcriber "sh $tmp/hear \"\$1\""
  ears=$pid
  clip "wait for $1"
  raw "$(sign "$tmp/clip")" reset
}
for signal in TERM HUP; do
  hearing "$signal"
  isnt "$(ls "$tmp/scratch")" "" "a clip is being heard for who is gone"
  stop "$ears" "$signal"
  is "$status" 0 "SIG$signal ends the server"
  ok "the transcriber ends with SIG$signal, too" gone "$(cat "$HEARD.waits")"
  is "$(ls "$tmp/scratch")" "" "the file of the clip is gone after SIG$signal"
done
start_server nohup nohup agent-serve -l 127.0.0.1:0 -D :memory: --voice-secret-file "$tmp/secret"
kill -HUP "$pid"
is "$(fetch /riff/health)" 200 "SIGHUP does not end the server under nohup"
stop "$pid"
is "$status" 0 "the server ends as ever under nohup"

# --- without
start_server deaf agent-serve -l 127.0.0.1:0 -D :memory: --voice-secret-file "$tmp/secret"
clip hello
is "$(hear) $(jq -r .error "$out")" "503 no transcriber" "without a transcriber the status is 503"
stop "$pid"
start_server none agent-serve -l 127.0.0.1:0 -D :memory:
is "$(fetch /riff/health) $(hear)" "404 404" "without a secret there is no voice server"
stop "$pid"
t 2 "a transcriber alone is refused" agent-serve --transcriber cat -l 127.0.0.1:0 -D :memory:
err_like '^agent-serve: --transcriber: it needs --voice-secret-file' \
  "the message says what it needs"
chmod 644 "$tmp/secret"
t 77 "a secret that others can read is refused" \
  agent-serve --voice-secret-file "$tmp/secret" -l 127.0.0.1:0 -D :memory:
err_unlike "$secret" "the secret is not shown"
echo 1234 >"$tmp/short"
chmod 600 "$tmp/short"
t 2 "a secret that cannot be one is an error" \
  agent-serve --voice-secret-file "$tmp/short" -l 127.0.0.1:0 -D :memory:
err_is "agent-serve: $tmp/short: the secret is not 64 hexadecimal digits" \
  "the message says what is wrong with the secret"
done_testing
