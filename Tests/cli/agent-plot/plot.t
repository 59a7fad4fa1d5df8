#!/bin/sh
# agent-plot: counts as bars on the terminal, and as pictures that gnuplot makes.
. "${0%/*}/../lib.sh"
needs action-filter action-format gnuplot python3
cd "$tmp" || exit
day=$root/Tests/fixtures/sample-day.ndjson
TMPDIR=$tmp/tmp
mkdir "$TMPDIR"
export TMPDIR

action-filter -u --usage --total --by hour,model "$day" >counts
action-filter -u --by kind "$day" >kinds

# --- the terminal
action-format counts >want
t 0 "agent-plot without a file to write has status 0" agent-plot counts
ok "agent-plot without a file to write prints the table of action-format" cmp "$out" want
run sh -c 'agent-plot <counts'
ok "agent-plot draws standard input, too" cmp "$out" want
head -n 3 "$day" >rows
for how in 'agent-plot rows' 'agent-plot <rows' 'agent-plot - <rows' 'agent-plot </dev/null' \
  'agent-plot --svg none.svg rows'; do
  t 1 "an input without counts has status 1: $how" sh -c "$how"
  out_empty "nothing is printed for an input without counts: $how"
  err_is "agent-plot: no counts in the input: pipe it through action-filter --by" \
    "the message says why nothing is drawn: $how"
done
t 2 "a file that is not there fails" agent-plot missing
err_is "agent-plot: missing: no such file or directory" "the missing file is named"

# --- pictures
# texts FILE: the words of a drawing, a line each.
texts() {
  python3 -c '
import sys, xml.dom.minidom
for node in xml.dom.minidom.parse(sys.argv[1]).getElementsByTagName("text"):
    print("".join(part.data for part in node.childNodes).strip())' "$1"
}
t 0 "a drawing is made" agent-plot --svg a.svg counts
out_empty "nothing is printed when a drawing is made"
err_empty "nothing is said when a drawing is made"
texts a.svg >words
for word in 'US dollars' 2026-03-14 06:00 20:00 claude-opus-4-6 '3 others'; do
  ok "the drawing has $word" grep -qxF -e "$word" words
done
run agent-plot --svg b.svg kinds
texts b.svg >words
is "$(grep -c -x -e actions -e llm_call words)" 2 \
  "kinds are drawn as actions, without colours to explain"
ok "a drawing has room for thirty bars" grep -qx '[0-9]* others' words
run agent-plot --png - kinds
is "$status $(head -c 4 ./- | tail -c 3)" "0 PNG" "a picture is written, whatever the name of its file"
run agent-plot --png c.png --size 600x300 --value tokens counts
is "$status $(python3 -c '
import struct
print(struct.unpack(">II", open("c.png", "rb").read()[16:24]))')" "0 (600, 300)" \
  "a picture is as large as is asked for"
is "$(agent-plot --svg d.svg --value count counts; texts d.svg | grep -c -x actions)" 1 "another value can be drawn"

# What is drawn is what was counted: the heights of bars are as the counts.
printf '{"type":"count","kind":"%s","count":%s,"usd_cost":0}\n' a 4 b 2 c 1 >few
agent-plot --svg few.svg few
ok "bars are as high as counts" python3 -c '
import re
heights = []
for points in re.findall(r"<polygon[^>]*points = .([^\x27\"]*)", open("few.svg").read()):
    ys = [float(point.split(",")[1]) for point in points.split()]
    heights.append(max(ys) - min(ys))
heights = [height / heights[-1] for height in heights[-3:]]
assert all(abs(a - b) < 0.05 for a, b in zip(heights, [4, 2, 1])), heights'

# --- hostile names
python3 - >evil <<'END'
import json
names = ['"; system("touch owned") #', "'\n!touch owned\n'", "`touch owned`", "$(touch owned)", "{/Bold x}_2^3 @y",
         "<script>alert(1)</script>&amp;", "\x1b]0;owned\x07\u202e", "a\tb\\n", "?", "#", "NaN", "", "|touch owned",
         "x" * 5000, "\u6f6e\u6c50" * 30, "%s%n", 'quoted "name"']
for number, name in enumerate(names):
    print(json.dumps({"type": "count", "user": name, "count": 20 - number, "usd_cost": 0}))
END
t 0 "hostile names are drawn" agent-plot --svg evil.svg evil
err_empty "nothing is said about hostile names"
texts evil.svg >words
for word in '”; system(”touch owned”) #' "'\\n!touch owned\\n'" '$(touch owned)' '{/Bold x}_2^3 @y' \
  '<script>alert(1)</script>&amp;' '\e]0;owned\x07\u{202e}' 'a\tb\\n' '?' '#' 'NaN' '(none)' '|touch owned' '%s%n'; do
  ok "a hostile name is a label: $word" grep -qxF -e "$word" words
done
ok "long names are cut" grep -qx 'x\{48\}…' words
ok "long names are cut between letters" grep -qx '潮汐\(潮汐\)*.*…' words
sed 's/"user"/"hour":"2026-03-01T00:00:00Z","user"/' evil >series
t 0 "hostile names are drawn as groups of a time" agent-plot --svg series.svg series
ok "hostile names are names in groups of a time, too" sh -c 'python3 -c "
import sys, xml.dom.minidom
print(xml.dom.minidom.parse(sys.argv[1]).toxml())" series.svg | grep -qF "{/Bold x}_2^3 @y"'
for name in "');!touch owned;('" "2026');!touch o" "'.system('touch owned').'"; do
  python3 -c '
import json, sys
for end in "ab":
    print(json.dumps({"type": "count", "hour": sys.argv[1] + end, "count": 1, "usd_cost": 0}))' "$name" >hours
  t 0 "a time that is not one has status 0: $name" agent-plot --svg hours.svg hours
done
for name in '|touch owned' "a'b.svg" '$(touch owned)' '-x.svg'; do
  run agent-plot --svg "$name" kinds
  is "$status" 0 "a drawing in a file called $name succeeds"
  ok "the file called $name is there" test -s "./$name"
  rm -f "./$name"
done
is "$(find . -name owned -o -name o)" "" "nothing of hostile names was run"


# What is no XML: the end of another kind of text, and two characters.
python3 - >evil <<'END'
import json
for number, name in enumerate(["a]]>b", "]]>]]]>", "]]&gt;", "\uffff\ufffe", "\ufffd", "\U0001ffff"]):
    print(json.dumps({"type": "count", "hour": "2026-03-01T00:00:00Z", "user": name, "count": 20 - number, "usd_cost": 0}))
END
sed 's/"hour":[^,]*,//; s/"hour": [^,]*, //' evil >names
for input in evil names; do
  t 0 "labels that XML does not have are drawn: $input" agent-plot --svg evil.svg "$input"
  python3 -c '
import sys, xml.dom.minidom
print("\n".join("".join(part.data for part in node.childNodes).strip()
    for kind in ("text", "title") for node in xml.dom.minidom.parse(sys.argv[1]).getElementsByTagName(kind)))' \
    evil.svg >words
  for word in 'a]]>b' ']]>]]]>' ']]&gt;' '\u{ffff}\u{fffe}' '�'; do
    ok "a text that XML does not have is a label: $word" grep -qxF -e "$word" words
  done
done

# --- what cannot be drawn
rm -f none.svg
for input in '' '{"kind":"sent_reply"}' '{"type":"count","count":3,"usd_cost":0}'; do
  t 1 "counts that cannot be drawn have status 1: $input" \
    sh -c 'printf "%s\n" "$1" | agent-plot --svg none.svg' - "$input"
  err_is "agent-plot: no counts in the input: pipe it through action-filter --by" \
    "the message says what to do: $input"
done
run agent-plot --svg none.svg kinds counts
is "$status $(cat "$err")" "2 agent-plot: the counts are not all by the same keys" "two kinds of counts are refused"
run agent-plot --svg none.svg --value tokens kinds
is "$status $(cat "$err")" "2 agent-plot: no tokens are counted: action-filter --usage counts them" "tokens that nobody counted are refused"
run agent-plot --svg none.svg missing
is "$status $(cat "$err")" "2 agent-plot: missing: no such file or directory" "a file that is not there is told"
echo not json >bad
run agent-plot --svg none.svg bad
is "$status $(lines "$err")" "2 1" "a line that is no record is told once"
err_like '^agent-plot: ' "a line that is not a record is told in our name"
not_ok "no drawing is made of what cannot be drawn" test -e none.svg
echo kept >kept.svg
run agent-plot --svg kept.svg bad
is "$(cat kept.svg)" kept "an older drawing is kept"
run agent-plot --svg no/such/x.svg kinds
is "$status $(cat "$err")" "2 agent-plot: no/such/x.svg: cannot be written" "a folder that is not there is told"
mkdir path
for name in script-options action-format cat dirname grep mktemp sed sh tr awk; do ln -s "$(command -v $name)" path/; done
t 2 "agent-plot --svg fails without gnuplot" \
  env PATH="$tmp/path" "$root/bin/agent-plot" --svg none.svg kinds
err_is "agent-plot: gnuplot: not found" "the message names gnuplot"
for words in "--svg" "--svg ''" "--svg a --png b" "--size 1 --svg a" "--size 1x2x3 --svg a" "--size '10x10;!x' --svg a" \
  "--value x --svg a" "--value cost counts" "--size 100 --svg a" "--size x --svg a" "--size 100x --svg a"; do
  t 2 "agent-plot $words is refused" sh -c "agent-plot $words </dev/null"
  is "$(head -n 1 "$err" | grep -c '^agent-plot: ')$(sed -n 2p "$err" | grep -c '^usage: agent-plot')" 11 \
    "the reason and the usage are told: $words"
done
# A line end begins another command of gnuplot.
line='
'
for size in "100x100$line!touch owned" "!touch owned${line}100x100" "100x100$line" "${line}100x100" \
  "100${line}x100" "100x100$line;system('touch owned')" "100x100,$line" "1000x500;set output 'owned'"; do
  for form in svg png; do
    t 2 "a size of several lines, or with more in it, is refused" \
      agent-plot "--$form" none.svg --size "$size" kinds
    like "$(head -n 1 "$err")" '^agent-plot: --size .*: not WIDTHxHEIGHT' \
      "the message says that it is not a size"
  done
done
not_ok "a size runs nothing" test -e owned
mkdir 'tmp\n\t"x'
run env TMPDIR="$PWD/tmp\\n\\t\"x" agent-plot --svg odd.svg kinds
is "$status $(cat "$err")" "0 " "a folder with backslashes in its name is that folder"
run agent-plot missing
is "$status $(cat "$err")" "2 agent-plot: missing: no such file or directory" \
  "agent-plot speaks in its own name for bars, too"
{
  cat kinds
  printf '\000\377\n'
} >noise
run agent-plot --svg none.svg noise
is "$status $(cut -d : -f 1 "$err")" "2 agent-plot" "bytes that are no record are told"
mkfifo pipe.svg
cat pipe.svg >piped &
t 0 "a drawing can be written to a pipe" agent-plot --svg pipe.svg kinds
ok "a pipe that gets a drawing stays one" test -p pipe.svg
wait "$!"
ok "a pipe gets the drawing" grep -q '<svg' piped
mkdir folder
run agent-plot --svg folder kinds
is "$status $(cat "$err") $(ls folder)" "2 agent-plot: folder: cannot be written " \
  "a folder in place of the file is refused"
run env TMPDIR="$tmp/none" agent-plot --svg none.svg kinds
is "$status $(cat "$err")" "2 agent-plot: $tmp/none: no folder can be made" \
  "a TMPDIR that is not there is told"
mkdir slow
printf '#!/bin/sh\nsleep 5\n' >slow/gnuplot
chmod +x slow/gnuplot
for signal in INT TERM; do
  start plot env PATH="$tmp/slow:$PATH" agent-plot --svg none.svg kinds
  wait_until 10 sh -c 'test -e "$TMPDIR"/agent-plot.*/picture'
  stop "$pid" "$signal"
  is "$(kill -l "$status")" "$signal" "$signal ends agent-plot while gnuplot draws"
done
is "$(ls -A "$TMPDIR")" "" "nothing is left behind by any run"
done_testing
