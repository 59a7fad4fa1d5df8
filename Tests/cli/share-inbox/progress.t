#!/bin/sh
# share-inbox shows how far a file is: on a terminal, in one line of any width, and
# nowhere else.
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
. "${0%/*}/../inbox.sh"

start_box
start_proxy
link rate 3000000
long='a-rather-long-name-of-a-recording'
head -c 3000000 /dev/urandom >"$tmp/$long.bin"
all_gone() { [ "$(left)" -eq 0 ]; }
# shown NAME: what the line said, one after the other, without the bytes that clear it.
shown() { tr '\r' '\n' <"$tmp/$1.screen" | sed "s/^$(printf '\033')\\[K//" | grep .; }
# fits NAME COLUMNS: the last column stays free.
fits() { shown "$1" | awk -v most=$(($2 - 1)) '{ gsub(/…/, "."); if (length > most) exit 1 }'; }

share-inbox add -q "$tmp/$long.bin"
inbox drain
is "$status $(grep -vc 'new host' "$err")" "0 0" \
  "no progress is shown where standard error is not a terminal"

size='[0-9.]+ .?B of 2\.86 MB'
rate='[0-9.]+ .?B/s'
left='0:0[0-9] left'
# shows COLUMNS ERE: what there is room for.
shows() {
  share-inbox add -q "$tmp/$long.bin"
  inbox_args
  # shellcheck disable=SC2086,SC2016  # words; for the other shell
  sit "wide-$1" "24x$1" sh -c 'exec share-inbox drain "$@" >/dev/null' - $inbox_args
  ok "$1 columns: the files are delivered" wait_until 30 all_gone
  at "wide-$1" end 30 >"$tmp/end"
  like "$(shown "wide-$1" | tail -n 1)" "^$2\$" "$1 columns: the line shows what there is room for"
  ok "$1 columns: it takes no more than one line" fits "wide-$1" "$1"
}
shows 200 "$long\\.bin  [0-9]+%  $size  $rate  $left"
shows 80 "a-rather-[a-z-]+…[a-z-]+\\.bin  [0-9]+%  $size  $rate  $left"
shows 40 "a-rat[a-z-]*…[a-z.]+bin  [0-9]+%  $rate  $left"
shows 20 "[0-9]+% $rate ${left% left}"
shows 8 "[0-9]+%( ${left% left})?"
ok "the line of progress is taken away" \
  test "$(tail -c 4 "$tmp/wide-40.screen" | tr '\r' '.')" = "$(printf '.\033[K')"

share-inbox add -q "$tmp/$long.bin"
inbox_args
# shellcheck disable=SC2086
sit quiet 24x100 share-inbox drain -q $inbox_args
wait_until 30 all_gone
not_ok "--quiet shows nothing" grep -q % "$tmp/quiet.screen"

# --- add: of what has no size, how much there is so far
mkfifo "$tmp/pipe"
# shellcheck disable=SC2016
sit add 24x60 sh -c 'exec share-inbox add - <"$1" >/dev/null' - "$tmp/pipe"
exec 9>"$tmp/pipe"
more() {
  printf 'more of it' >&9
  grep -q 'standard input' "$tmp/add.screen"
}
ok "add shows progress" wait_until 30 more
exec 9>&-
at add end 30 >"$tmp/end"
like "$(shown add)" "^standard input  [0-9]+ B  [0-9]+ B/s\$" "standard input shows bytes and rate"
# A file that is copied fast enough has no line.
truncate -s 100M "$tmp/large.bin"
# shellcheck disable=SC2016
sit copy 24x80 sh -c 'exec share-inbox add "$1" >/dev/null' - "$tmp/large.bin"
at copy end 60 >"$tmp/end"
diag "$(shown copy | tail -n 1)"
is "$(shown copy | grep -Evc "^large\\.bin  [0-9]+%  ([0-9.]+ .B of 100\\.00 MB  )?$rate  $left\$")" 0 \
  "the progress of a file shows all that is known"
done_testing
