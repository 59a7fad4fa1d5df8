#!/bin/sh
# action-filter: lines that a crash or a second writer left, files that are no text of UTF-8, and
# JSON over several lines.
. "${0%/*}/../lib.sh"
needs action-filter jq python3 gzip
cd "$tmp" || exit 1
kinds() { jq -r .kind "$out" | xargs; }

# --- several records on a line, or parts of some
printf '{"kind":"a"}\n\0\0\0{"kind":"b"}\n\0\0\0\0\n{"kind":"c"}\n\0\0' >whole
run action-filter whole
is "$status $(kinds)" "0 a b c" "NUL bytes in front of records are passed over, and lines of them"
err_empty "nothing is said about NUL bytes in front of records"
printf '{"kind":"a"}{"kind":"b"}\n{"kind":"c"}\0\0\n{"kind":"d"}\0{"kind":"e"}\n' >whole
run action-filter whole
is "$status $(kinds)" "2 a b c d e" \
  "two records on a line are read, and NUL bytes behind records passed over"
is "$(cat "$err")" "action-filter: whole:1: text after the value
action-filter: whole:2: text after the value
action-filter: whole:3: text after the value" \
  "lines with two records or with NUL bytes behind them are told"
try() {
  printf "$1\n" >torn
  run action-filter torn
  is "$status $(kinds)" "2 $2" "only whole records are read: $3"
  is "$(lines "$err")" 1 "one fault is told: $3"
}
try '{"kind":"x","n {"kind":"c"}' c "cut in a name"
try '{"kind":"x","n":"open {"kind":"c"}' c "cut in a text"
try '{"kind":"x","n":"open { "kind": "c" }' c "cut in a text, with blanks"
try '{"kind":"x","n":12{"kind":"c"}' c "cut in a number"
try '{"kind":"x","n":tr{"kind":"c"}' c "cut in a word"
try '{"kind":"x",{"kind":"c"}{"kind":"d"}' "c d" "cut behind a comma by two records"
try '{"kind":"x","n":"a\\\\\\\\{"kind":"c"}' c "cut behind a backslash"
try '{"kind":"a"}{"kind":"x","n":"op{"kind":"c"}' "a c" "cut in the second record"
try '{"kind":"x","n":"op{"kind":"y","m {"kind":"c"}' c "cut twice"
try '{"kind":"a"}{"kind":"x","n' a "cut at the end"
try '{"kind":"x","n":"op\0\0\0{"kind":"c"}' c "a hole instead of the rest"
try '{"kind":"x","m":{"kind":"inner"}' "" "what may be a part of a record"
try '{"kind":"x","m":bad,"n":{"kind":"inner"}}' "" "what is surely a part of a record"
try '{"kind":"x","n":"text {} and {"kind":"c"}' c "braces in a text"
run action-filter --strict whole
out_is "" "--strict takes nothing of lines with two records"
printf '{"kind":"a"}{"kind":"b"}\n' >packed
action-filter --pack packed >packed.zst
run action-filter -k b packed.zst
is "$status $(kinds)" "2 b" "two records on a line are read in an archive, too"

# --- a hole
printf '{"kind":"a"}\n' >hole
python3 - <<'PY'
with open("hole", "r+b") as file:
    file.seek(2 << 30)
    file.write(b'{"kind":"b"}\n{"kind":"c","n":"')
    file.seek(4 << 30)
    file.write(b'{"kind":"d"}\n')
PY
run sh -c 'ulimit -v 2000000; exec action-filter hole'
is "$(kinds)" "a b d" "what is behind holes of 2 GB is read, in little memory"
run sh -c 'dd if=hole bs=1M count=300 2>/dev/null | { cat; echo; echo "{\"kind\":\"b\"}"; } |
    { ulimit -v 200000; exec action-filter; }'
  is "$status $(kinds)" "0 a b" "a hole is passed over in a pipe, too"

# --- what is no UTF-8
printf '\357\273\277{"kind":"a"}\n' >mark
run action-filter mark
is "$status $(kinds)" "0 a" "a byte order mark is no fault"
for form in utf-16 utf-16-le utf-16-be utf-32; do
  python3 -c 'import sys
sys.stdout.buffer.write("{\"kind\":\"a\"}\n{\"kind\":\"b\"}\n".encode(sys.argv[1]))' "$form" >foreign
  case $form in *32) name=UTF-32 ;; *) name=UTF-16 ;; esac
  run action-filter foreign mark
  is "$status $(kinds) $(cat "$err")" "2 a action-filter: foreign: it is $name text" \
    "a file of $form is told once"
  run sh -c 'cat foreign | action-filter'
  is "$status $(cat "$err")" "2 action-filter: standard input: it is $name text" \
    "$form is told of a pipe, too"
done
for form in xz:lzma bzip2:bz2 zip:zipfile; do
  python3 - "$form" <<'PY'
import bz2, io, lzma, sys, zipfile
text = b'{"kind":"a"}\n' * 1000
out = io.BytesIO()
with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file: file.writestr("a", text)
made = {"xz": lzma.compress(text), "bzip2": bz2.compress(text), "zip": out.getvalue()}
open("foreign", "wb").write(made[sys.argv[1].split(":")[0]])
PY
  for read in 'action-filter foreign' 'cat foreign | action-filter'; do
    run sh -c "$read"
    is "$status $(sed 's/.*: //' "$err")" "2 it is compressed by ${form%:*}" \
      "$read says that it is ${form%:*}"
  done
done
run sh -c 'gzip <mark | cat | action-filter'
is "$status $(cat "$err")" "2 action-filter: standard input: it is compressed by gzip" \
  "gzip is told of a pipe"

# --- JSON over several lines, as printers of it make it
rows='[{"kind":"a","id":2,"content":"x  y"},{"kind":"b","id":1,"metadata":{"l":[1,{"m":2}]}}]'
echo "$rows" >rows
run action-filter rows
cp "$out" want
for filter in . '{actions: .}' '{event: "actions_backfill", data: {actions: .}}'; do
  jq "$filter" rows >pretty
  run action-filter pretty
  is "$status $(jq -c . "$out")" "0 $(jq -c . want)" "what jq '$filter' prints is read"
  is "$(lines "$out")" 2 "what jq '$filter' prints makes two lines"
  run sh -c 'cat pretty | action-filter -k a'
  is "$status $(kinds)" "0 a" "what jq '$filter' prints is read from a pipe, too"
done
printf '[{"kind":"a","id":2},\n {"kind":"b","id":1}]\n{"kind":"c"}\n' >pretty
run action-filter pretty
is "$status $(kinds)" "0 b a c" "rows are read from lines of their own"
printf '[\n{"kind":"a","id":2},\n{"kind":"b","id":1}\n]\n' >pretty
run action-filter pretty
is "$status $(kinds)" "0 b a" "rows in the first column are read, too"
jq '.[]' rows >pretty
run action-filter pretty
is "$status $(kinds)" "0 a b" "one object may follow the other"
run action-filter -k b pretty
is "$status $(kinds)" "0 b" "a filter selects among objects over several lines"
printf '{"kind":"a"} and more\n{"kind":"b"}\n' >torn
run action-filter torn
is "$status $(kinds)" "2 b" "what has other text behind it is no record"
printf '{"kind":"a"}{"kind":"b"}\n' >torn
run action-filter -R bad torn
is "$status $(cat bad)" "2 $(cat torn)" "with -R, bad lines are kept whole"
out_is "" "nothing of a bad line is printed with -R"
printf '{\n{"kind":"a"}\n' >pretty
run action-filter pretty
is "$status $(kinds) $(cat "$err")" "2 a action-filter: pretty:1: unbalanced brackets" \
  "a stray bracket hides nothing"
python3 - <<'PY'
import json
rows = [{"kind": "a" if i % 2 else "b", "id": i, "content": "x" * 50} for i in range(40000)]
json.dump(rows, open("pretty", "w"), indent=2)
PY
run action-filter -k a -N pretty
is "$status $(cat "$out")" "0 20000" "a long list over several lines is read, too"
run action-format pretty
is "$status $(lines "$out")" "0 40000" "action-format reads a long list over several lines"

done_testing
