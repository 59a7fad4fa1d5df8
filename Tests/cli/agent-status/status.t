#!/bin/sh
# agent-status: every size and every bar, of an agent in every state.
. "${0%/*}/../lib.sh"
[ -x "$root/bin/agent-serve" ] || skip_all "needs agent-serve"
needs python3 jq perl

t 0 "--help succeeds" agent-status --help
out_like "^usage: agent-status" "--help says how agent-status is called"
run agent-status --version
out_is "agent-status $(agent-call -V | sed 's/.* //')" "--version is that of the suite"
for words in --nonsense operand -o "-o huge" "-p" "--token-file" "--max-time=x"; do
  # shellcheck disable=SC2086  # options are words
  t 2 "agent-status $words is refused" env AGENT_URL=http://127.0.0.1:9 agent-status $words
  out_empty "nothing is printed: $words"
  err_like "^agent-status: .*" "agent-status $words is told as a mistake"
done
t 2 "agent-status without an agent is an error" agent-status
err_one_line agent-status "agent-status without an agent is told in one line"

# The sample day, as if it were today.
umask 077
echo right-token >"$tmp/right"
echo wrong-token >"$tmp/wrong"
perl "$root/Tests/fixtures/as-of-now" "$root/Tests/fixtures/sample-day.ndjson" >"$tmp/day"
start_server serve agent-serve -l 127.0.0.1:0 -D "$tmp/serve.sqlite" --token-file "$tmp/right" \
  --ingest "$tmp/day"
AGENT_URL=$url
AGENT_TOKEN_FILE=$tmp/right
export AGENT_URL AGENT_TOKEN_FILE
agent-call -o json stats >"$tmp/stats"
actions=$(agent-call -S 24h -o tsv actions | wc -l | tr -d ' ')
sessions=$(jq '.stats.last24h.voice_session_start' "$tmp/stats")
# Today is the day of UTC; the cost is what the server says of it.
cost=$(printf '$%.2f' "$(jq --arg day "$(date -u +%Y-%m-%d)" \
  '[.stats.dailyCost[] | select(.day == $day).usd] + [0] | .[0]' "$tmp/stats")")
t 0 "-o small has status 0 for an agent that is connected" agent-status -o small
out_is "● connected  $cost today" "-o small is one line"
t 0 "medium is the default" agent-status
is "$(lines "$out")" 4 "-o medium has four lines"
out_like "^24 h: $actions actions, $sessions voice sessions$" "-o medium tells what was done"
out_like "^● connected, up [0-9]*s$" "-o medium tells since when the agent is up"
t 0 "-o large succeeds" agent-status --output=large
out_like "^24 h  *$actions actions, $sessions voice sessions$" "-o large tells what was done"
out_like "^tunnel  *ready https://" "-o large tells the tunnel's address"
out_like "^message  *[0-9]+[smh]" "-o large tells the last message"
is "$(grep -vcE '^[0-9a-z ]{9} [^ ]' "$out")" 0 \
  "-o large has names in one column, and values in the next"

t 0 "a token of its own is used" \
  env -u AGENT_TOKEN_FILE agent-status -o small --allow-plaintext --token-file "$tmp/right"
run agent-status -o small --cacert "$tmp/none"
err_like "^agent-status: $tmp/none: " "--cacert refuses a file that is not there"

# What a bar takes.
run agent-status -o waybar
out_is "$(jq -c . "$out")" "waybar gets an object in one line"
is "$(jq -r '[.text, .alt, .class[0], (.tooltip | split("\n")[0] | sub("[0-9]+s"; "Ns"))] | join("|")' "$out")" \
  "● $cost ♪1|connected|connected|● connected, up Ns" \
  "the object of waybar has text, state, tooltip and class"
run agent-status -oi3
is "$(jq -c '[.full_text, .short_text, .color, .markup]' "$out")" \
  "[\"● $cost ♪1\",\"●\",\"#16a34a\",\"none\"]" "i3 gets a block"
run agent-status -o tmux
out_is "#[fg=#16a34a]●#[default] $cost ♪1" "tmux gets a line with its styles"

# How long: since it was first seen ready.
mark=$(echo "$XDG_STATE_HOME"/agentutils/agent-status/*)
echo $(($(date +%s) - 93784)) >"$mark"
run agent-status -o large
out_like "^up  *1d 2h$" "a day and two hours are told"
echo rubbish >"$mark"
run agent-status -o large
out_like "^up  *0s$" "a mark that cannot be read begins anew"
echo mine >"$tmp/victim"
rm -f "$mark"
ln -s "$tmp/victim" "$mark"
run agent-status -o large
is "$status $(cat "$tmp/victim") $(cat "$mark" | tr -d 0-9)" "0 mine " \
  "a link in the place of the mark is not written through, but replaced"
rm -f "$mark"
mkfifo "$mark"
run agent-status -o large
is "$status $(cat "$mark" | tr -d 0-9)" "0 " "a FIFO instead of the mark is not waited for"
t 0 "agent-status works without a home" env -u HOME -u XDG_STATE_HOME agent-status -o small
not_ok "agent-status without a home leaves nothing in the root" \
  test -e "/.local/state/agentutils/agent-status/$(printf %s "$AGENT_URL" | cksum | tr ' ' -)"
t 0 "agent-status works without a place to remember" \
  env XDG_STATE_HOME=/dev/null agent-status -o small
err_empty "nothing is said without a place to remember"

# Not reached: said where it was asked for, and shown by a bar.
t 77 "a wrong token is refused" env AGENT_TOKEN_FILE="$tmp/wrong" agent-status
out_like "^○ refused: http.* 401 Unauthorized" "the refusal is shown"
t 75 "an agent that does not answer has status 75" \
  env AGENT_URL=http://127.0.0.1:9 agent-status -o large
out_like "^agent  *unreachable$" "an agent that does not answer is unreachable"
out_like "^reason  *http://127.0.0.1:9" "the reason why an agent is unreachable is told"
err_empty "an agent that is unreachable is told once"
t 0 "a bar has status 0 for an agent that is unreachable" \
  env AGENT_URL=http://127.0.0.1:9 agent-status -o waybar
is "$(jq -r '.class[0] + .text' "$out")" "unreachable○ unreachable" \
  "a bar shows that an agent is unreachable"
t 0 "a bar has status 0 for an unknown profile" agent-status -o tmux -p no-such
out_is "#[fg=#dc2626]○#[default] no-such unknown" "a bar says that it does not know the profile"
printf '[profile my#(agent)<1>]\nurl = %s\ntoken-file = %s\n' "$url" "$tmp/right" \
  >"$XDG_CONFIG_HOME/agentutils/config"
run agent-status -o tmux -p 'my#(agent)<1>'
out_is "#[fg=#16a34a]●#[default] my##(agent)<1> $cost ♪1" \
  "the name of a profile is not taken for a format of tmux"
run agent-status -o waybar -p 'my#(agent)<1>'
is "$(jq -r .text "$out")" "● my#(agent)&lt;1&gt; $cost ♪1" \
  "the name of a profile is not taken for mark-up by waybar"
run agent-status -o i3 -p 'my#(agent)<1>'
is "$(jq -r .full_text "$out")" "● my#(agent)<1> $cost ♪1" \
  "the name of a profile is not taken for mark-up by i3"

# Any other state, and texts from outside that are up to no good.
cat >"$tmp/server.py" <<'END'
import http.server, json, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        name = "stats" if "stats" in self.path else "actions"
        body = open(sys.argv[1] + "/" + name, "rb").read()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(json.dumps({"type": "listening", "url": "http://127.0.0.1:%d" % server.server_port},
                 separators=(",", ":")), flush=True)
server.serve_forever()
END
mkdir "$tmp/answers"
echo '[]' >"$tmp/answers/actions"
cp "$tmp/stats" "$tmp/answers/stats"
start_server fake python3 "$tmp/server.py" "$tmp/answers"
AGENT_URL=$url
# answer FILTER: the stats of the day, changed.
answer() { jq -c "$1" "$tmp/stats" >"$tmp/answers/stats"; }
agent-status -o small >/dev/null
answer '.runtime.isReady = false'
t 1 "status 1 says that the agent is not connected" agent-status -o small
out_like '^○ disconnected  \$' "an agent that is not connected is told as disconnected"
is "$(find "$XDG_STATE_HOME/agentutils/agent-status" -type f | wc -l | tr -d ' ')" 1 \
  "nothing but the mark is remembered"
answer '.runtime.gateway.reconnectInFlight = true | .runtime.gateway.reconnectAttempts = 3'
t 1 "an agent on its way back has status 1" agent-status -o medium
out_like '^◐ reconnecting, try 3' "an agent on its way back is told as reconnecting"
out_like '^24 h: 0 actions' "an agent without actions has 0 actions"
run agent-status -o i3
is "$(jq -r .color "$out")" "#d97706" "i3 gets the colour of an agent on its way back"
answer '.stats.last24h = {} | .stats.dailyCost = null | .runtime = {isReady: true}'
t 0 "members that are missing count as nothing" agent-status -o large
out_like '^cost  *\$0\.00 today' "an agent without costs has cost 0"
answer '.runtime.userTag = "a#[fg=red]<b>&\"\\\u001b]0;x\u0007\u202e\nz" | .runtime.publicHttps.lastError = "#S\te"'
for form in small medium large tmux waybar i3; do
  t 0 "$form: hostile text does no harm" agent-status -o $form
  not_ok "$form: hostile text has nothing that a terminal obeys" \
    grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80\xae' "$out"
done
run agent-status -o waybar
is "$(jq -r '.tooltip | split("\n") | length' "$out")" 4 "the tooltip has no line of a hostile text"
out_like '&lt;b&gt;&amp;' "the tooltip has no mark-up of a hostile text"
out_unlike '<b>' "no mark-up of a hostile text is left"
run agent-status -o medium
out_like '^● connected as a#\[fg=red\]<b>&"' "a terminal shows a hostile text as it is"
answer '[range(1001)] | map({id: ., kind: "x", created_at: (now - . | todateiso8601)})'
mv "$tmp/answers/stats" "$tmp/answers/actions"
answer .
run agent-status
out_like '^24 h: 1000\+ actions' "more actions than the server tells are told with a plus"
echo '{"hello":1}' >"$tmp/answers/stats"
t 2 "another server is an error" agent-status
out_like '^○ unknown: the answer is not that of a dashboard' "another server is told as unknown"
echo '<html>' >"$tmp/answers/stats"
run agent-status -o i3
is "$(jq -r .full_text "$out")" "○ unknown" "a page is told as unknown, too"

done_testing
