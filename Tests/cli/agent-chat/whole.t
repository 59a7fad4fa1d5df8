#!/bin/sh
# agent-chat with a gateway that cuts texts, that answers elsewhere, and that dies in an answer: what
# is printed is the whole answer, or the status says that it is not.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs agent-chat jq python3
bound=60

start_gateway claw
chat() { run agent-chat -p claw --retry-wait 0.1 --max-time 30 "$@"; }

# --- the history is cut at 8000 characters, a live text at 500,000

tell claw cut chat.send
chat wide 30000
status_is 0 "an answer that is looked up behind a loss has status 0"
is "$(tr -d '\n' <"$out" | wc -c | tr -d ' ')" 30000 \
  "an answer that is looked up behind a loss is whole"
chat --history -n 1 -o json
is "$(jq -r '.text | length' "$out")" 30000 "an answer of 30,000 characters is whole in the history"
is "$(jq -r '.id' "$out")" "row-agent:heron:main-1" "an answer has its own id in the history"
chat wide 700000
status_is 0 "an answer that is too long for the stream has status 0"
is "$(tr -d '\n' <"$out" | wc -c | tr -d ' ')" 700000 \
  "an answer that is too long for the stream is whole"
chat wide 1500000
status_is 0 "an answer that is left out of the history has status 0"
is "$(tr -d '\n' <"$out" | wc -c | tr -d ' ')" 1500000 \
  "an answer that is left out of the history is whole"
chat --history -n 1 -o json
status_is 0 "an answer that is left out of the history is shown in the history"
is "$(jq -r '.text | length' "$out")" 1500000 \
  "an answer that is left out of the history is whole there, too"
chat wide 500000
is "$status $(tr -d '\n' <"$out" | wc -c | tr -d ' ')" "0 500000" \
  "an answer that just fits is fetched, too"

# --- a gateway that gives no text whole says so

tell claw short
tell claw cut chat.send
chat wide 30000
status_is 75 "an answer that is not given whole has status 75"
err_like 'the answer is cut: the gateway does not give it whole' "the message says that it is cut"
chat --history -n 1
status_is 2 "a history that is not given whole has status 2"
err_is "agent-chat: 1 text is cut: the gateway gives no more of it" \
  "a history that is not given whole is told"
start_gateway old --old
run agent-chat -p old --retry-wait 0.1 tide
out_is "You said: tide" "an older gateway is not asked for lengths"
tell old cut chat.send
run agent-chat -p old --retry-wait 0.1 --max-time 30 again
is "$status $(cat "$out")" "0 You said: again" \
  "the history of an older gateway is asked, by the words alone"
tell old cut chat.send
run agent-chat -p old --retry-wait 0.1 --max-time 30 wide 30000
is "$status" 75 "an answer that an older gateway cuts without a word has status 75"
run agent-chat -p old --history -n 1
is "$status" 2 "a history that an older gateway cuts has status 2"

# --- a busy conversation

for queue in steer followup; do
  start_gateway "$queue" --queue "$queue"
  start first agent-chat -p "$queue" "slow 6 0.2"
  first=$pid
  wait_until 20 has "$tmp/$queue.log" '"slow 6 0.2"'
  run agent-chat -p "$queue" --max-time 30 and high water
  is "$status" 0 "$queue: what is said into a busy conversation has an answer"
  is "$(cat "$out")" "Also: and high water" "$queue: the answer is found behind the words"
  finished "$first"
  case $queue in
  steer) is "$(tr '\n' / <"$tmp/first.out")" "0 1 2 3 4 5 //Also: and high water/" \
    "$queue: the first question has both answers, as the gateway has them" ;;
  *) is "$(cat "$tmp/first.out")" "0 1 2 3 4 5 " "$queue: the first has its own answer alone" ;;
  esac
done

# --- the gateway dies in an answer

start_gateway mortal
start long agent-chat -p mortal --retry-wait 0.1 --max-time 40 --key k-1 -o json "slow 8 0.1"
long=$pid
wait_until 20 has "$tmp/long.out" '0 1 2'
tell mortal kill
finished "$long"
is "$status" 0 "the run that takes up a cut turn is waited for"
is "$(jq -r 'select(.type == "message" and .state == "final").text' "$tmp/long.out")" \
  "0 1 2 3 4 5 6 7 " "the answer of the run that takes up a cut turn is ours"
is "$(frames mortal chat.send | wc -l | tr -d ' ')" 1 "the question of a cut turn is not sent again"
run agent-chat -p mortal --retry-wait 0.1 --max-time 30 --key k-1 "slow 8 0.1"
is "$status $(cat "$out")" "0 0 1 2 3 4 5 6 7 " \
  "the key of a cut turn, used again, finds the answer"
is "$(frames mortal chat.send | wc -l | tr -d ' ')" 1 "nothing is sent for a key that is used again"
start late agent-chat -p mortal --retry-wait 0.1 --max-time 40 -t late "slow 8 0.1"
late=$pid
wait_until 20 came_frames mortal chat.send 2
tell mortal kill 8
finished "$late"
is "$status $(cat "$tmp/late.out")" "0 0 1 2 3 4 5 6 7 " \
  "a gateway that has much to do behind its start is waited for"
run agent-chat -p mortal --history
is "$(cut -d : -f 1 "$out" | tr '\n' ' ')" "user system assistant " \
  "what the gateway says to the agent by itself is not said by somebody else"
tell mortal forget
run agent-chat -p mortal --retry-wait 0.1 --max-time 30 --key k-1 "slow 8 0.1"
is "$status $(cat "$out")" "0 0 1 2 3 4 5 6 7 " \
  "the key finds the answer when the gateway has forgotten the run"
run agent-chat -p mortal --key k-2 hello
is "$status $(cat "$out")" "0 You said: hello" "a key that was never used is sent"
done_testing
