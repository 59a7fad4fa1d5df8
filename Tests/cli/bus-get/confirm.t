#!/bin/sh
# bus-get --confirm: whoever reads says line by line what becomes of each record, and what nobody
# judged comes again.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
needs jq perl
needs_peers
bound=30
start_bus a
bus_client stream agents
rows 300 | bus_client put actions.118.llm_call
consumer() { bus_client consumer agents "$1" | jq -c .; }
settled() { [ "$(consumer "$1")" = "$2" ]; }
contents() { jq -r .content "$1" | xargs; }

# reader NAME COUNT STATUS... -- OPTION...: a reader that reads COUNT records and answers some.
reader() {
  _reader=$1
  shift
  run perl -e '
    use IPC::Open2;
    my ($file, $count) = splice @ARGV, 0, 2;
    my @status;
    push @status, shift @ARGV while $ARGV[0] ne "--";
    shift @ARGV;
    my $child = open2(my $from, my $to, @ARGV);
    open my $out, ">", $file or die;
    for (1 .. $count) { my $line = <$from> // last; print $out $line }
    print $to "$_\n" for @status;
    close $to;
    print $out $_ while <$from>;
    waitpid $child, 0;
    exit $? >> 8' "$tmp/$_reader" "$@"
}

reader one 4 0 75 3 -- bus-get -s "$bus" -d work --all --ack-wait 1 --confirm
status_is 2 "a record that was refused is an error"
is "$(contents "$tmp/one" | cut -d ' ' -f 1-4)" "1 2 3 4" "records come before anything is said of them"
err_is "bus-get: agents seq 3: refused with status 3" "the refused record is named"
ok "no more are printed unjudged than a batch has" test "$(lines "$tmp/one")" -le 131
cat >"$tmp/judge" <<'END'
use IPC::Open2;
my ($file, @words) = @ARGV;
my $child = open2(my $from, my $to, @words);
open my $out, ">>", $file or die;
$to->autoflush(1);
$SIG{PIPE} = "IGNORE";
while (my $line = <$from>) {
  syswrite $out, $line;
  kill 9, $child if $ENV{AFTER} && $. == $ENV{AFTER};
  print $to "0\n";
}
waitpid $child, 0;
exit $? >> 8;
END
t 0 "a count ends it when all are judged" \
  perl "$tmp/judge" "$tmp/two" bus-get -s "$bus" -d work --confirm -n 298
is "$(jq -r .content "$tmp/two" | sort -n | xargs)" "2 $(seq 4 300 | xargs)" \
  "what was not judged comes again at once, and what was given back, later"
is "$(consumer work)" '{"pending":0,"unacknowledged":0}' "nothing waits any more"

# Nobody answers while the ack wait passes.
mkfifo "$tmp/verdicts"
start slow sh -c "exec bus-get -s '$bus' -d slow --all --ack-wait 1 --confirm -n 2 <'$tmp/verdicts'"
slow=$pid
exec 5>"$tmp/verdicts"
wait_until 20 at_least "$tmp/slow.out" 2
run bus-get -s "$bus" -d slow -n 298 --idle 3
is "$(contents "$out" | cut -d ' ' -f 1,298)" "3 300" \
  "what waits for its verdict is kept from others, however long"
printf '0\n0\n' >&5
finished "$slow"
status_is 0 "a record without a verdict is waited for until it is judged"
is "$(consumer slow)" '{"pending":0,"unacknowledged":0}' \
  "the server knows that the late verdicts came"
exec 5>&-

# What is no verdict, and one too many.
for line in x 256 -1 '' 0000 ' 0'; do
  reader wrong 1 "$line" -- bus-get -s "$bus" -d wrong --all --confirm
  status_is 2 "'$line' is no status"
done
err_is 'bus-get: standard input: line 1: not a status from 0 to 255' "the line is named"
echo 0 >"$tmp/early"
t 2 "a status for nothing is refused" sh -c "bus-get -s '$bus' -d wrong --confirm <'$tmp/early'"
# What is given back comes in any order.
reader wrong 128 -- bus-get -s "$bus" -d wrong --all --confirm
ok "all was given back" grep -q '"content":"1"' "$tmp/wrong"
t 1 "half a line says nothing" sh -c "printf 0 | bus-get -s '$bus' -d wrong --confirm"

# Killed at any moment, the reader or bus-get: each is judged, or comes again.
rows 9000 301 | bus_client put actions.118.llm_call
: >"$tmp/killed"
for after in 1 7 30 64 99 100 128 129 200 300; do
  AFTER=$after run perl "$tmp/judge" "$tmp/killed" \
    bus-get -s "$bus" -d kills --all --ack-wait 1 --confirm --idle 2
done
kill_often 10 0.05 0.15 /dev/null /dev/null perl "$tmp/judge" "$tmp/killed" \
  bus-get -s "$bus" -d kills --confirm >"$tmp/times"
is "$(cat "$tmp/times")" 10 "readers are killed at work"
run perl "$tmp/judge" "$tmp/killed" bus-get -s "$bus" -d kills --confirm --idle 4
is "$(count_of "$tmp/killed")" 9300 "after 10 kills of each none is lost"
diag "$(($(lines "$tmp/killed") - 9300)) came twice"

t 2 "--confirm is for --durable" bus-get -s "$bus" --confirm
t 2 "--confirm and --exec exclude each other" bus-get -s "$bus" -d work --confirm -x true
done_testing
