#!/bin/sh
# turn-format: the time that large turns take grows as they do.
. "${0%/*}/../lib.sh"
needs turn-format python3
cd "$tmp" || exit 1

cat >make.py <<'END'
# make.py SHAPE COUNT: a turn with so many calls, or a chain of turns.
import json, sys
shape, count = sys.argv[1], int(sys.argv[2])
def turn(number, **more):
    print(json.dumps({"type": "turn", "backend": "clanky", "id": "u%d" % number, "thread": "t", "state": "completed", "time": "2026-01-01T00:00:09.000Z", **more}))
def call(number, turn):
    print(json.dumps({"type": "tool_call", "backend": "clanky", "id": "c%d" % number, "thread": "t", "turn": turn, "tool": "bash", "label": "ls", "state": "succeeded", "time": "2026-01-01T00:00:0%d.000Z" % (number % 9)}))
numbers = range(1, count)
if shape == "calls":
    turn(0, state="running")
    for number in numbers: call(number, "u0")
    turn(0)
elif shape == "down":
    turn(0, state="running")
    for number in numbers: turn(number, parent="u%d" % (number - 1))
    turn(0)
else:
    # From its end, with something in each turn before it is known whose it is.
    for number in reversed(numbers):
        if shape == "mixed": call(number, "u%d" % (number - 1))
        turn(number, parent="u%d" % (number - 1))
    turn(0)
END
for shape in calls down up mixed; do
  python3 make.py "$shape" 20000 >records
  all=$(python3 make.py "$shape" 20000 | grep -c '"id": "[cu][1-9]')
  for form in --tree "-o dot" "-o cards"; do
    # Under ten seconds however busy the machine is; they took minutes.
    bound=30
    # shellcheck disable=SC2086  # two words
    t 0 "20,000 turns or calls ($shape) are shown with $form" turn-format $form records
  done
  run turn-format --tree -W 0 records
  is "$(lines "$out")" "$((all + 2))" "each turn or call has its line in a tree: $shape"
  run turn-format -o dot records
  is "$(grep -c -- '->' "$out")" "$((all + 1))" "each turn or call has its edge in a graph: $shape"
done
# The order and the depth are those of a chain that is told from its beginning.
for shape in down up; do python3 make.py "$shape" 300 | turn-format --tree -W 0 >"$shape.tree"; done
ok "a chain is the same from both ends" cmp down.tree up.tree
done_testing
