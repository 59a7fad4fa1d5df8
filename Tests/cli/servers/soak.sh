# shellcheck shell=sh
# soak.sh: what the soaks share; read after lib.sh. A soak posts actions and breaks the
# stream at random bytes meanwhile, a hundred actions to a break: 30 times, in a few
# seconds, as a part of all tests, where each run tries other bytes; 200 times N with
# SOAK=N, before a release. SOAK_SEED repeats a choice of moments.
# shellcheck disable=SC2154  # variables of lib.sh

breaks=$((${SOAK:-0} ? 200 * ${SOAK:-0} : 30))
seed=${SOAK_SEED:-$$}
seen=$tmp/seen
# Many times what it takes.
# shellcheck disable=SC2034  # read by lib.sh
bound=$((200 + 2 * breaks))

# soaked TITLE URL PATH OPTION...: posts to URL/PATH while the pipe follows the
# stream through breaks. Then $tmp/want has what was posted and $tmp/got what
# came out, sorted; of each action the first 40 characters.
soaked() {
  soak_title=$1
  soak_to=$2
  soak_path=$3
  shift 3
  : >"$seen"
  start_server soak python3 "$cli/servers/soak.py" --to "$soak_to" --post "$soak_path" \
    --seen "$seen" --wanted "$tmp/wanted" --seed "$seed" "$@"
  soak_driver=$pid
  rm -f "$tmp/soak.fifo"
  mkfifo "$tmp/soak.fifo"
  start filter sh -c "exec action-filter -u <'$tmp/soak.fifo' >'$seen'"
  soak_filter=$pid
  start tail sh -c "AGENT_URL='$url' exec sse-tail --retry-wait 0.01 activity >'$tmp/soak.fifo'"
  soak_tail=$pid
  finished "$soak_driver"
  is "$status" 0 "$soak_title: what was posted last came out (seed $seed)"
  [ "$status" -eq 0 ] || diag "$(cat "$tmp/soak.err")"
  stop "$soak_tail"
  finished "$soak_filter"
  diag "$soak_title: $(tail -n 1 "$tmp/soak.out")"
  jq -r '.data // . | .content' "$seen" | cut -c 1-40 | sort >"$tmp/got"
  cut -c 1-40 "$tmp/wanted" | sort >"$tmp/want"
}

# exactly_once TITLE: what came is what was posted.
exactly_once() {
  ok "$1 ($(lines "$tmp/want") actions)" cmp "$tmp/got" "$tmp/want"
  diff "$tmp/got" "$tmp/want" | head -n 5 | sed 's/^/# /' >&2
}
