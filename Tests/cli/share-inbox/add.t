#!/bin/sh
# share-inbox on this machine alone: what goes into the inbox, what is in it, and what
# is none of its own.
. "${0%/*}/../lib.sh"
needs jq perl mkfifo

folder=$XDG_STATE_HOME/agentutils/inbox
inbox() { run share-inbox "$@"; }
left() { find "$folder" -type f -name '[0-9]*' | wc -l | tr -d ' '; }
hidden() { find "$folder" -name '.*' ! -name . | wc -l | tr -d ' '; }
clear_inbox() { find "$folder" -mindepth 1 -delete; }
name='[0-9]+-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}'
field() { jq -r ".$1" "$out"; }

# --- the words of the command line

inbox
status_is 2 "a command is needed"
err_like '^share-inbox: a command is needed: add' "the message says which commands there are"
inbox fetch
status_is 2 "an unknown word is refused"
inbox add
status_is 2 "add needs a file"
inbox list more
status_is 2 "list takes no word"
inbox drain a b
status_is 2 "drain takes one host"
inbox retry
status_is 2 "retry needs an id"
inbox drain host --local
status_is 2 "a host and --local exclude each other"
inbox drain --local --exec cat
status_is 2 "--local and --exec exclude each other"
inbox drain --format 'look here'
status_is 2 "--format needs {path}"
inbox drain --format "{path}$(printf %1024s x)"
status_is 2 "--format that is too long"
inbox drain --format "$(printf '{path}\033')"
status_is 2 "--format refuses a control character"
inbox add -x ../x "$0"
status_is 2 "--extension is letters and digits"
for size in 0x10 5T -1 '' 1.5M; do
  inbox drain --max-size "$size"
  status_is 2 "--max-size '$size' is refused"
done
inbox purge -a tomorrow
status_is 2 "--age is a time"
inbox list --inbox ''
status_is 2 "--inbox is a folder"
inbox drain -s a:b host
status_is 2 "--session is a name"
for words in "list -m" "list --max-size 1G" "list -a 1h" "list -s main" "list --local" \
  "add -r $0" "add -a 1h $0" "add --port 22 $0" "add --exec cat $0" "purge -x txt" \
  "purge --format {path}" "purge --max-size 1" "purge --agent" "retry -m 1" "retry --local 1" \
  "remove -i $0 1" "remove -s main 1" "drain -m" "drain -x txt host" "watch --move host"; do
  # shellcheck disable=SC2086  # words
  inbox $words
  option=$(printf '%s\n' $words | sed -n '/^-/{p;q;}')
  status_is 2 "$option is not for ${words%% *}"
  err_like "^share-inbox: --[a-z-]* is not for ${words%% *}\$" \
    "the message says that $option is not for ${words%% *}"
done
not_ok "no inbox is made for words that are refused" test -e "$folder"

# --- add

inbox list
status_is 1 "an empty inbox has status 1"
is "$(stat -c %a "$folder" 2>/dev/null || stat -f %Lp "$folder")" 700 \
  "the folder of the inbox is the user's alone"

# Names are bytes; not every disk has these.
odd=$tmp/$(printf 'a\377.png')
other=$tmp/$(printf 'a\376.jpg')
if echo 1 2>/dev/null >"$odd" && echo two >"$other"; then
  inbox add -m "$odd" "$other"
  is "$status $(jq -r '"\(.path[-4:]) \(.size)"' "$out" | tr '\n' ' ')" "0 .png 2 .jpg 4 " \
    "names that are not UTF-8 are taken"
  not_ok "files whose names are not UTF-8 are moved" test -e "$odd"
  clear_inbox
else
  skip 2 "names are UTF-8 here"
fi

printf 'a note\n' >"$tmp/a note.TXT"
inbox add "$tmp/a note.TXT"
status_is 0 "a file is added"
is "$(jq -r '[.type, .state, .size] | join(" ")' "$out")" "inbox_item queued 7" \
  "a record tells the added file"
like "$(field id)" "^$name\$" "the id of an item is a time and a UUID"
is "$(field path)" "$folder/$(field id)-a-note.txt" "the path of an item has the file's own name"
like "$(field time)" '^2[0-9]{3}-.*Z$' "the time of an item is there"
ok "an item is a copy of the file" cmp "$tmp/a note.TXT" "$(field path)"
is "$(stat -c %a "$(field path)" 2>/dev/null || stat -f %Lp "$(field path)")" 600 \
  "the copy is the user's alone"

inbox add -m "$tmp/a note.TXT"
status_is 0 "a file is moved"
not_ok "a moved file has left its place" test -e "$tmp/a note.TXT"
is "$(cat "$(field path)")" 'a note' "a moved file is in the inbox"

inbox add -x md - <"$0"
status_is 0 "standard input is added"
ok "standard input is added, byte for byte" cmp "$0" "$(field path)"
like "$(field path)" '\.md$' "an item has the suffix that was asked for"

printf 'x' >"$tmp/plain"
printf '\211PNG\r\n\032\n....' >"$tmp/shot"
printf '\377\330\377\340' >"$tmp/.photo"
printf 'RIFF....WEBPVP8 ' >"$tmp/pic.not-a-suffix"
printf '\000\000\000\030ftypqt  ' >"$tmp/film"
printf '\001\002' >"$tmp/data"
: >"$tmp/empty"
inbox add "$tmp/plain" "$tmp/shot" "$tmp/.photo" "$tmp/pic.not-a-suffix" "$tmp/film" \
  "$tmp/data" "$tmp/empty"
status_is 0 "files without a suffix are added"
is "$(field path | sed 's/.*\.//' | tr '\n' ' ')" "txt png jpg webp mov bin txt " \
  "the type of a file without a suffix is that of its first bytes"
inbox add - <"$tmp/film"
like "$(field path)" '\.mov$' "standard input gets its type from its first bytes, too"

clear_inbox
mkdir "$tmp/folder"
inbox add "$tmp/plain" "$tmp/nowhere" "$tmp/folder" "$tmp/data"
status_is 2 "what cannot be added is an error"
is "$(cat "$err")" "share-inbox: $tmp/nowhere: no such file or directory
share-inbox: $tmp/folder: is a directory" "each file that cannot be added is named"
is "$(lines "$out") $(left) $(hidden)" "2 2 0" "the files beside bad ones are added"
inbox add "$(printf 'no\033[31m\nwhere')"
is "$(lines "$err")" 1 "a hostile name is one line"
not_ok "no escape of a hostile name is printed" grep -q "$(printf '\033')" "$err"
inbox add -q "$tmp/plain"
out_empty "--quiet prints no record"
clear_inbox
if [ -e /dev/full ]; then
  share-inbox add "$tmp/plain" "$tmp/data" >/dev/full 2>"$err"
  is "$? $(left)" "2 2" "records that cannot be written are an error, and the files are there"
  clear_inbox
fi
# What may have no end, or nobody at its other end.
mkfifo "$tmp/pipe"
inbox add /dev/zero "$tmp/pipe" "$tmp/plain"
is "$status $(left) $(hidden)" "2 1 0" "a device and a FIFO are not added, a file is"
is "$(cat "$err")" "share-inbox: /dev/zero: a device, not a regular file; - reads standard input
share-inbox: $tmp/pipe: a FIFO, not a regular file; - reads standard input" \
  "a device and a FIFO are named"
ln -s "$tmp/plain" "$tmp/link"
inbox add "$tmp/link"
is "$status $(field size)" "0 1" "a link to a file is that file"
truncate -s 209715201 "$tmp/sparse"
inbox add "$tmp/sparse" "$tmp/plain"
is "$status $(lines "$out") $(hidden)" "2 1 0" "a file that is too large is not added, the next is"
err_is "share-inbox: $tmp/sparse: too large (201 MB > 200 MB); --max-size allows more" \
  "the message says what allows a larger file"
inbox add -m --max-size 201M "$tmp/sparse"
is "$status $(field size)" "0 209715201" "--max-size allows a larger file"
inbox add --max-size 5000 - </dev/zero
is "$status $(hidden)" "2 0" "standard input that does not end is an error"
err_is "share-inbox: standard input: too large (more than 5000 B); --max-size allows more" \
  "standard input that does not end is named"
head -c 5000 /dev/zero >"$tmp/exact"
for limit in 5000 5001; do
  inbox add --max-size $limit - <"$tmp/exact"
  is "$status $(field size)" "0 5000" "5000 bytes are not more than $limit"
done
printf 'ab\ncd\n' >"$tmp/six"
# shellcheck disable=SC2016
run sh -c '{ dd bs=3 count=1 && share-inbox add --max-size 3 -; } <"$1" 2>/dev/null' - "$tmp/six"
is "$status $(tail -n 1 "$out" | jq -r .size)" "0 3" \
  "the rest of standard input that has been read in part is measured"
if [ -r /proc/cpuinfo ]; then
  # Its size is said to be 0, as that of a file that grows while it is copied.
  inbox add --max-size 99 /proc/cpuinfo
  is "$status $(hidden)" "2 0" "a file of more bytes than were measured leaves nothing"
  err_is "share-inbox: /proc/cpuinfo: too large (more than 99 B); --max-size allows more" \
    "a file of more bytes than were measured is named"
else
  skip 2 "needs /proc"
fi
cat "$tmp/exact" >"$tmp/pipe" &
inbox add --max-size 4999 - <"$tmp/pipe"
status_is 2 "more than 4999 bytes are refused in a pipe, too"
clear_inbox

half() { find "$folder" -name '.add-*' -size 4c | grep -q .; }
{ printf 'slow' && wait_until 30 half && printf 'ly'; } >"$tmp/pipe" &
inbox add - <"$tmp/pipe"
is "$(field size)" 6 "a slow writer is waited for"
clear_inbox
i=0
while [ "$i" -lt 8 ]; do
  share-inbox add -q "$tmp/plain" "$tmp/shot" "$tmp/data" &
  i=$((i + 1))
done
wait
is "$(left) $(hidden)" "24 0" "files of eight adds at once are all added"
inbox list
is "$(field id | sort -c && field id | sort -u | wc -l | tr -d ' ')" 24 \
  "each item has an id of its own, and the oldest comes first"
clear_inbox

# A disk of its own, for it is to be full.
small=$tmp/small
mkdir "$small"
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=1m none "$small" 2>/dev/null; then
  leave() { umount "$small"; }
  at_end="$at_end leave"
  head -c 3000000 /dev/urandom >"$tmp/large.png"
  inbox --inbox "$small/inbox" add "$tmp/large.png" "$tmp/plain"
  status_is 2 "a disk that is full is an error"
  err_is "share-inbox: $small/inbox: no space left on device" "a full disk is told in one line"
  is "$(find "$small/inbox" -type f | wc -l | tr -d ' ') $(lines "$out")" "1 1" \
    "nothing half-written is left on a full disk, and the small file fits"
  inbox --inbox "$small/inbox" add -m "$tmp/large.png"
  ok "a file that cannot be moved stays" test -s "$tmp/large.png"
  inbox --inbox "$small/inbox" add - <"$tmp/large.png"
  status_is 2 "standard input on a full disk is an error, too"
  is "$(find "$small/inbox" -type f | wc -l | tr -d ' ')" 1 \
    "nothing of standard input is left on a full disk"
  head -c 300000 "$tmp/large.png" >"$tmp/fits.png"
  inbox --inbox "$small/inbox" add -m "$tmp/fits.png"
  is "$status $(field size)" "0 300000" "a file is moved from another disk"
  not_ok "a file moved from another disk has left its place" test -e "$tmp/fits.png"
else
  skip 8 "needs root and a tmpfs"
fi

# What is put in while its place is taken by another file, or it grows, stays there.
mkdir "$tmp/fake"
cat >"$tmp/fake/bus-put" <<END
#!/bin/sh
cat >"$tmp/published"
. "$tmp/meanwhile"
END
chmod +x "$tmp/fake/bus-put"
# moves TITLE STATUS COMMAND
moves() {
  echo first >"$tmp/notes.txt"
  printf '%s\n' "$3" >"$tmp/meanwhile"
  PATH=$tmp/fake:$PATH run share-inbox add --bus --move "$tmp/notes.txt"
  status_is "$2" "$1"
}
moves "a file is moved to a bus" 0 true
not_ok "a file that was moved to a bus has left its place" test -e "$tmp/notes.txt"
ok "a file that was moved to a bus has been published" test -s "$tmp/published"
moves "a file in whose place another is put is an error" \
  2 "echo second >'$tmp/new'; mv '$tmp/new' '$tmp/notes.txt'"
err_is "share-inbox: $tmp/notes.txt: copied, but changed since: kept" \
  "the message says that it was kept"
is "$(cat "$tmp/notes.txt")" second "the other file is kept"
moves "a file to which something is added is an error" 2 "echo second >>'$tmp/notes.txt'"
is "$(cat "$tmp/notes.txt" | tr '\n' ' ')" "first second " \
  "a file to which something was added is kept"
echo first >"$tmp/target.txt"
ln -sf target.txt "$tmp/link.txt"
echo true >"$tmp/meanwhile"
PATH=$tmp/fake:$PATH run share-inbox add --bus --move "$tmp/link.txt"
is "$status $(cat "$tmp/target.txt")" "0 first" "the file of a symbolic link that is moved stays"
not_ok "a symbolic link that is moved has left its place" test -L "$tmp/link.txt"

# A signal leaves nothing half-written.
mkfifo "$tmp/slow"
start slow sh -c 'exec share-inbox add - <"$1"' sh "$tmp/slow"
slow=$pid
exec 7>"$tmp/slow"
echo text >&7
half_written() { find "$folder" -name '.add-*' -size +0 | grep -q .; }
ok "standard input is copied as it comes" wait_until 30 half_written
stop "$slow"
is "$status $(find "$folder" -name '.add-*' | wc -l | tr -d ' ')" "143 0" \
  "a signal leaves nothing of standard input"
exec 7>&-

# --- list, retry, remove

inbox add "$tmp/plain" "$tmp/shot" "$tmp/data"
cp "$out" "$tmp/added"
inbox list
status_is 0 "the items are listed"
is "$(jq -c 'del(.time)' "$out")" "$(jq -c 'del(.time)' "$tmp/added")" \
  "the items are listed as they were added"
inbox list -o table
out_like '^NAME +STATE +SIZE +TIME +ID$' "a table is printed, its ids last"
out_like "^[a-z]+\.[a-z]+ +queued +[0-9]+ B .* $name\$" "each item has a line"
inbox list -o table --color always
ok "--color always prints a table in colour" grep -q "$(printf '\033')\\[" "$out"
inbox list -o tsv
is "$(cut -f 2,3,9 "$out" | tr '\t\n' '  ')" \
  "queued 1 plain.txt queued 12 shot.png queued 2 data.bin " "TSV is printed"
inbox list -o tsv --header
is "$(cut -f 2,3,9 "$out" | head -n 2 | tr '\t\n' '  ')" "state size name queued 1 plain.txt " \
  "--header names the fields"
first=$(head -n 1 "$tmp/added" | jq -r .id)
inbox remove "$first" nothing
status_is 1 "an id that does not exist has status 1"
err_is 'share-inbox: nothing: no such item' "an id that does not exist is named"
is "$(field id) $(left)" "$first 2" "the item beside it is removed, and said to be"
second=$(sed -n 2p "$tmp/added" | jq -r .id)
inbox drain --exec 'exit 3'
status_is 75 "an item that a command does not take stays"
is "$(left)" 2 "all items that a command does not take stay"
inbox list
is "$(jq -r '.state + " " + .reason' "$out" | sort -u)" "queued ended with status 3" \
  "the reason why an item stays is known"
inbox drain --exec cat --max-size 10
status_is 2 "a file that is too large is an error"
err_is "share-inbox: $folder/$second-shot.png: too large (12 B > 10 B)" "the file is named"
like "$(tr '\n' ' ' <"$out")" '"state":"failed".*"state":"delivered"' \
  "the items beside one that is too large are taken"
inbox drain --exec cat
is "$status $(left)" "0 1" "an item that failed is not tried again"
inbox list
is "$(jq -r '[.state, .reason] | join(": ")' "$out")" "failed: too large (12 B > 10 B)" \
  "the list says why an item failed"
inbox retry "${second#*-}"
is "$status $(field state)" "0 queued" "retry queues an item by its UUID alone"
inbox drain --exec "cat >'$tmp/taken'"
is "$status $(left) $(hidden)" "0 0 0" \
  "an item that is tried again is taken, and nothing of it is left"
ok "an item that is tried again is taken byte for byte" cmp "$tmp/shot" "$tmp/taken"

# --- what is none of its own

inbox add -m "$tmp/plain"
uuid=11111111-2222-3333-4444-555555555555
echo secret >"$tmp/secret"
ln -s "$tmp/secret" "$folder/1-$uuid.txt"
mkfifo "$folder/2-$uuid.txt"
mkdir "$folder/3-$uuid.txt"
touch "$folder/notes.txt" "$folder/4-$uuid" "$folder/04-$uuid.txt" "$folder/.hidden" \
  "$folder/$(printf 'a\033]0;b\007\nc.txt')"
echo ours >"$tmp/two names"
ln "$tmp/two names" "$folder/7-$uuid.txt"
others=9
if [ "$(id -u)" -eq 0 ]; then
  mknod "$folder/5-$uuid.txt" c 1 5 && touch "$folder/6-$uuid.txt" &&
    chown 1 "$folder/6-$uuid.txt" && others=11
fi
for word in list 'drain --exec cat'; do
  # shellcheck disable=SC2086  # two words
  inbox $word
  is "$status $(lines "$err")" "2 $((others - 1))" "$word: each other thing has a line"
  not_ok "$word: no escape is in it" grep -q "$(printf '\033')" "$err"
  err_like "/1-$uuid.txt: a symbolic link, left alone" "$word: a link is left alone"
  err_like "/2-$uuid.txt: a FIFO, left alone" "$word: a FIFO is left alone"
  err_like "/3-$uuid.txt: a folder, left alone" "$word: a folder is left alone"
  err_like "/7-$uuid.txt: a file with several names, left alone" \
    "$word: a file with two names is left alone"
  err_like "/notes.txt: not an item's name, left alone" "$word: another name is left alone"
  if [ "$others" -eq 11 ]; then
    err_like "/5-$uuid.txt: a device, left alone" "$word: a device is left alone"
    err_like "/6-$uuid.txt: not our own file, left alone" \
      "$word: the file of somebody else is left alone"
  fi
done
out_like '^x\{' "a drain hands over the item alone"
inbox purge -a 0
is "$(field id 2>/dev/null) $(find "$folder" -mindepth 1 -maxdepth 1 -exec echo . \; | wc -l | tr -d ' ')" \
  " $others" "purge leaves other things alone, too"
inbox remove "1-$uuid" "3-$uuid" "7-$uuid"
is "$status $(cat "$tmp/secret")" "1 secret" "other things cannot be removed by an id"
find "$folder" -mindepth 1 -delete
touch "$folder/notes.txt"
inbox add -q "$tmp/shot"
inbox drain --exec 'cat >/dev/null'
is "$status $(left)" "0 0" "a name that is not an item's is no failure"
clear_inbox

# What somebody else put beside an item leads nowhere.
echo mine >"$tmp/victim"
for kind in link FIFO; do
  inbox add "$tmp/shot"
  id=$(field id)
  if [ $kind = link ]; then
    ln -s "$tmp/victim" "$folder/.note-$id.json"
  else
    mkfifo "$folder/.note-$id.json"
  fi
  inbox drain --exec 'exit 3'
  is "$status $(cat "$tmp/victim")" "75 mine" "nothing is written through a $kind"
  inbox list
  is "$(field reason)" "ended with status 3" "a note is a file of our own in spite of a $kind"
  clear_inbox
done

# --- purge

epoch=$(date +%s)
item() {
  echo "$3" >"$folder/$1-$uuid.$2"
  touch -d "@$4" "$folder/$1-$uuid.$2"
}
# The time in the name counts: what was dropped just now may be a picture of last year.
item $((epoch - 90000)) old "young content" "$epoch"
item $((epoch - 80000)) new "old content" $((epoch - 900000))
# A name of tomorrow says nothing: then it is the time of the content.
item $((epoch + 90000)) lost "of tomorrow" $((epoch - 900000))
item $((epoch + 90001)) future "of tomorrow" "$epoch"
touch -d "@$((epoch - 90000))" "$folder/.add-left" "$folder/.note-1-$uuid.json"
touch "$folder/.add-now"
inbox purge
is "$(jq -r '.path + " " + .reason' "$out")" "$folder/$((epoch - 90000))-$uuid.old purged
$folder/$((epoch + 90000))-$uuid.lost purged" "what is older than a day is purged"
is "$(left) $(hidden)" "2 1" "purge removes what a killed add left, and nothing else"
inbox purge -a 22h
is "$(jq -r .path "$out")" "$folder/$((epoch - 80000))-$uuid.new" \
  "purge --age says how old an item may be"
item $((epoch - 90000)) old old "$epoch"
item $((epoch - 80000)) new "old content" $((epoch - 900000))
inbox drain --exec false
is "$(left)" 3 "a drain purges nothing unasked"
err_unlike purged "a drain says nothing of purging"
inbox drain -a 24h --exec false
is "$(left)" 2 "drain --age purges the old items"
err_like "$((epoch - 90000))-$uuid.old: purged: it could not be delivered in time" \
  "the message says that an item was purged"
inbox drain -a 22h --exec false
is "$(left)" 1 "drain --age goes by the age of the name"
clear_inbox

# --- the folder

mkdir -m 777 "$tmp/open"
chmod 777 "$tmp/open"
inbox list --inbox "$tmp/open"
status_is 2 "a folder that everyone can write to is refused"
err_one_line share-inbox "a folder that everyone can write to is told in one line"
cd "$tmp" || exit
printf 'x' >"$tmp/plain"
inbox add --inbox here plain
is "$status $(field path | sed 's,/[^/]*$,,')" "0 $tmp/here" "--inbox may be relative"
touch "$tmp/file"
inbox list --inbox "$tmp/file"
status_is 2 "a file is refused as an inbox"
done_testing
