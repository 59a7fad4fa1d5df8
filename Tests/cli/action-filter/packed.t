#!/bin/sh
# Packed files: --pack, what is read of them and what not, --contents.
. "${0%/*}/../lib.sh"
needs zstd python3 jq
bound=300
here=$(cd "${0%/*}" && pwd)
cd "$tmp" || exit 1
day=$root/Tests/fixtures/sample-day.ndjson

t 0 "--pack succeeds" action-filter --pack "$day"
cp "$out" day.zst
err_empty "nothing is said by --pack"
ok "zstd reads the file" sh -c "zstd -dcq <day.zst | cmp - '$day'"
ok "zstd has nothing to say against the packed file" zstd -tq day.zst
t 0 "what is compressed is packed anew to the same bytes" \
  sh -c "gzip -c '$day' | cat >day.gz; action-filter --pack day.gz | cmp - day.zst"
t 0 "standard input is packed to the same bytes" \
  sh -c "action-filter --pack <'$day' | cmp - day.zst"
run sh -c "ZSTD_CLEVEL=19 action-filter --pack '$day' | wc -c"
ok "ZSTD_CLEVEL makes it smaller" test "$(cat "$out")" -lt "$(wc -c <day.zst)"
for text in '' '\n' '{"kind":"a"}' 'not json\n\n{"kind":"a"}\r\n'; do
  # shellcheck disable=SC2059
  printf "$text" >odd
  run sh -c 'action-filter --pack odd >odd.zst; zstd -dcq odd.zst | cmp - odd'
  status_is 0 "$(printf '%s' "$text" | wc -c) bytes come back from a packed file"
  t 0 "a packed file reads as the plain one does" \
    sh -c 'action-filter odd | sed s/odd:/odd.zst:/ >want; action-filter odd.zst | cmp - want'
done
run action-filter --pack no-such-file
err_is "action-filter: no-such-file: no such file or directory" \
  "--pack tells a file that is missing"
t 2 "an option that selects is an error" action-filter --pack -k llm_call "$day"
err_like "^action-filter: --kind is not for --pack" "the message names the option"
run action-filter --pack odd odd.zst
err_like "^action-filter: --pack takes one file" "--pack takes one file only"
run action-filter --pack --contents odd
err_like "^action-filter: --pack and --contents exclude each other" "two tasks exclude each other"
if [ -w /dev/full ]; then
  t 2 "a full disk is an error" sh -c "action-filter --pack '$day' >/dev/full"
  err_like "^action-filter: standard output: no space left" "the message says that the disk is full"
fi

t 0 "--contents succeeds" action-filter --contents day.zst
ok "--contents says what is in the file" jq -e --argjson lines "$(lines "$day")" \
  '.type == "archive_index" and .name == "day.zst" and .lines == $lines
   and .length > 1000 and .frames == 1 and .oldest < .newest and .kinds.llm_call > 1' "$out"
run action-filter -N "$day"
is "$(action-filter --contents day.zst | jq .actions)" "$(cat "$out")" \
  "--contents tells how many actions there are"
t 1 "files without an index have status 1" action-filter --contents "$day" odd day.gz
out_empty "--contents prints nothing of files without an index"
t 2 "a file that is not there is an error" action-filter --contents no-such-file day.zst
is "$(lines "$out")" 1 "a missing file does not hide another one"

mkdir oracle damage
run python3 "$here/packed-oracle.py" oracle
status_is 0 "a packed file answers as the plain one: $(tail -n 1 "$out")"
[ "$status" -eq 0 ] || diag "$(cat "$out" "$err")"
run python3 "$here/packed-damage.py" damage
status_is 0 "damage is told, and loses nothing else: $(tail -n 1 "$out")"
[ "$status" -eq 0 ] || diag "$(cat "$out" "$err")"
done_testing
