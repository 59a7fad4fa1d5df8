#!/bin/sh
# share-inbox keeps the names of files: what of them needs no quoting anywhere, in the
# list, on the host and in what is typed. The id before them remains what counts.
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
. "${0%/*}/../inbox.sh"
needs perl

uuid=11111111-2222-3333-4444-555555555555
clear_inbox() { find "$folder" -mindepth 1 -delete; }
field() { jq -r ".$1 // \"-\"" "$out"; }
mkdir "$tmp/made"

# --- what is kept
count=0
# keeps NAME OWN: the file's name, and what is kept of it; - for nothing.
keeps() {
  count=$((count + 1))
  mkdir "$tmp/made/$count"
  if ! echo "$count" 2>/dev/null >"$tmp/made/$count/$1"; then
    skip 1 "no file of such a name here"
    return
  fi
  run share-inbox add "$tmp/made/$count/$1"
  path=$(field path)
  rest=${path#"$folder/$(field id)"}
  [ "$2" = - ] && want=.txt || want=-$2
  is "$status $(field name) $rest $(cat "$path")" "0 $2 $want $count" "$2 is kept"
}
keeps 'shot one.png' shot-one.png
keeps 'IMG_0042.JPG' IMG_0042.jpg
keeps -rf rf.txt
keeps --help.md help.md
# shellcheck disable=SC2016
keeps '$(touch x).md' touch-x.md
# shellcheck disable=SC2016
keeps '`id`;"it'"'"'s" & |*?.log' id-it-s.log
keeps '#{pane_id}#(id).txt' pane_id-id.txt
keeps "$(printf 'two\nlines\n.txt')" two-lines.txt
keeps "$(printf '\033[31mred\033]0;a\007.log')" 31mred-0-a.log
keeps "$(printf 'caf\351\377.txt')" caf.txt
keeps 'Réunion du 3.pdf' R-union-du-3.pdf
keeps '潮汐表.txt' -
keeps '. .txt' -
keeps .profile profile.txt
keeps ...hidden...x.txt hidden...x.txt
keeps archive.tar.gz archive.tar.gz
keeps 'no.such suffix' no.such-suffix.txt
keeps '~' -
keeps 'a\b.txt' a-b.txt
longest=$(printf '%251s' '' | tr ' ' n)
keeps "$longest.txt" "$(printf '%38s' '' | tr ' ' n).txt"
run share-inbox add "$tmp/made/1/../1/shot one.png"
is "$(field name)" shot-one.png "the last part of a path is the name"
run share-inbox add -x MD "$tmp/made/1/shot one.png" </dev/null
is "$(field name)" shot-one.MD "--extension replaces the file's own"
run share-inbox add -x md - </dev/null
is "$(field name) $(basename "$(field path)")" "- $(field id).md" "standard input has no name"
run share-inbox add ''
is "$status $(cat "$err")" "2 share-inbox: : no such file or directory" \
  "an empty name is not a file"
run share-inbox list
is "$status $(lines "$out") $(lines "$err") $(jq -r .id "$out" | sort -u | wc -l | tr -d ' ')" \
  "0 $(left) 0 $(left)" "all items are listed, each by an id"
not_ok "no name needs quoting" sh -c \
  'find "$1" -type f -name "[0-9]*" | sed "s,.*/,," | LC_ALL=C grep "[^0-9A-Za-z._-]"' - "$folder"
clear_inbox

# --- which one is meant
: >"$folder/1-$uuid.png"
: >"$folder/2-$uuid-a.png"
share-inbox add -q "$tmp/made/1/shot one.png" "$tmp/made/1/shot one.png"
run share-inbox list
is "$(jq -r '.name // "-"' "$out" | tr '\n' ' ')" "- a.png shot-one.png shot-one.png " \
  "items of an older version have no name, and the oldest comes first"
run share-inbox list -o table
like "$(sed -n 2p "$out")" "^ +queued .* 1-$uuid\$" "the table leaves a missing name empty"
like "$(sed -n 3p "$out")" "^a\\.png +queued .* 2-$uuid\$" "the table shows the other names"
run python3 "$cli/terminal.py" 24x80 share-inbox list
like "$(sed -n 4p "$out")" "^shot-one\\.png  queued  " "in 80 columns the name comes whole"
run share-inbox remove shot-one.png
is "$status $(left)" "1 4" "a name that two have removes neither"
err_is "share-inbox: shot-one.png: more than one item: $(share-inbox list | jq -r .id |
  tail -n 2 | paste -sd , - | sed 's/,/, /')" "the message tells both ids"
run share-inbox remove a.png
is "$status $(field id) $(left)" "0 2-$uuid 3" "a name that one item has is enough to remove it"
run share-inbox remove "1-$uuid"
is "$status $(left)" "0 2" "an item of an older version goes by its id"
first=$(share-inbox list | head -n 1 | jq -r '.path | split("/") | last')
run share-inbox retry "$first"
is "$status $(field path)" "0 $folder/$first" "an item is found by the whole name of its file"
run share-inbox remove a..b.png ../x -- -x.png
is "$status $(left)" "1 2" "names that no item has remove nothing"
for other in "3-$uuid-.png" "3-$uuid-a b.png" "3-$uuid-ü.png" "3-$uuid-a" \
  "3-$uuid-$(printf '%39s' '' | tr ' ' n).png"; do
  : >"$folder/$other"
  run share-inbox list
  err_like 'not an item.s name, left alone$' "another's name is left alone: ${other#3-"$uuid"-}"
  rm "$folder/$other"
done
share-inbox add -q "$tmp/made/3/-rf"
# shellcheck disable=SC2016
run share-inbox drain --exec 'echo "$INBOX_ID $INBOX_NAME" >>'"'$tmp/env'"
is "$(sed -n '3s/ .*-/ -/p' "$tmp/env")" "$(jq -r .id "$out" | tail -n 1) -rf.txt" \
  "a command is told the name of an item"
clear_inbox

# --- on the host
start_box
# shellcheck disable=SC2154  # of inbox.sh
for transport in $transports; do
  forget_typed
  echo old >"$folder/$(date +%s)-$uuid.txt"
  set -- "$tmp/made/1/shot one.png" "$tmp/made/3/-rf" "$tmp"/made/"$count"/nnn*
  # A new name for what is the same text in each run.
  for file; do echo "$transport" >>"$file"; done
  share-inbox add -q "$@"
  # More than goes in a call for many, so that it goes alone.
  head -c 70000 /dev/urandom >"$tmp/the one, alone.bin"
  share-inbox add -q "$tmp/the one, alone.bin"
  rm -rf "$tmp/kept"
  cp -r "$folder" "$tmp/kept"
  inbox drain
  is "$status $(left) $(jq -r '.name // "-"' "$out" | cut -c 1-20 | sort | tr '\n' ' ')" \
    "0 0 - nnnnnnnnnnnnnnnnnnnn rf.txt shot-one.png the-one-alone.bin " \
      "$transport: all named files are delivered"
  is "$(jq -r '.remote_path | split("/") | last' "$out" | sort)" \
    "$(jq -r '.path | split("/") | last' "$out" | sort)" \
      "$transport: delivered files have their names on the host"
  unlike "$(typed_now)" '\\' "$transport: what is typed needs no quoting"
  came_once "$transport" "$tmp/kept"/[0-9]*
  # Killed before they left: the mark is by all of the name.
  cp "$tmp/kept"/[0-9]* "$folder"
  forget_typed
  inbox drain
  is "$status $(left) $(typed_now)" "0 0 " "$transport: no path is typed twice"
  find "$remote_inbox" -type f -name "*-$uuid.txt" -delete
done
is "$(parts)" 0 "no part of a file is left on the host"
done_testing
