#!/bin/sh
# voice-state: what the command prints is what is kept as golden frames, and
# nothing in it is obeyed by a terminal, whoever counts.
. "${0%/*}/../lib.sh"
needs python3

fixtures=$root/Tests/fixtures/voice
golden=$root/Tests/golden/voice
check=$cli/frame-check.py
cd "$tmp" || exit 1

# A record that says when it came is shown as at that time.
wrapped() {
  printf '{"event":"voice_state","id":"","received_at":"2026-06-14T21:07:30.000Z","data":%s}\n' \
    "$(tr -d '\n' <"$fixtures/$1.json")"
}
visible() { sed "s/$(printf '\033')/\\\\e/g"; }

for sample in full scripts troubled minimal; do
  wrapped "$sample" >record
  for width in 40 80 132 200; do
    run voice-state -W "$width" record
    ok "$sample at $width is the golden frame" \
      diff "$golden/cockpit-$sample-$width.txt" "$out"
    run env TERM=xterm-256color voice-state -W "$width" --color always record
    visible <"$out" >colours
    ok "$sample at $width columns is the same in colours" \
      diff "$golden/cockpit-$sample-$width.colour.txt" colours
  done
done

for sample in full spec minimal null wrong scripts hostile troubled; do
  wrapped "$sample" >record
  for width in 20 40 61 80 100 132 160 200; do
    voice-state -W "$width" --color always record || echo "status $?"
  done >frames
  ok "$sample holds nothing but text and colours" python3 "$check" frames 200
  for width in 20 41 80; do
    voice-state -W "$width" --color always record >frames
    ok "$sample fits $width cells" python3 "$check" frames "$width"
  done
done

# Megabytes in every text that is not a time.
python3 - "$fixtures/full.json" <<'END' >record
import json, sys
texts = 0
def grow(value, name=""):
    global texts
    if isinstance(value, dict):
        return {key: grow(each, key) for key, each in value.items()}
    if isinstance(value, list):
        return [grow(each, name) for each in value]
    if isinstance(value, str) and not value.startswith("2026-"):
        texts += 1
        if texts % 7 == 0:
            unit = ("word ", "\u6f22", "e\u0301", "\x1b[31m", "\u202e", "\n", "x")[texts // 7 % 7]
            return value + unit * (400_000 // len(unit.encode()))
    return value
print(json.dumps(grow(json.load(open(sys.argv[1]))), ensure_ascii=False))
END
bound=600
ok "the record of long texts is large" test "$(wc -c <record)" -gt 8000000
t 0 "a record of megabytes is shown" voice-state -W 80 --color always record
ok "a record of megabytes fits 80 cells" python3 "$check" "$out" 80
ok "a record of megabytes takes few lines" test "$(wc -l <"$out")" -lt 400

done_testing
