# shellcheck shell=sh
# bus.sh: a bus of one's own. Sourced behind lib.sh.
#
#   start_bus NAME [OPTION...]  a nats-server with JetStream on a free port; $bus is its URL,
#                               $bus_pid its process; its store is kept from start to start
#   restart_bus NAME            the same again, on the same port
#   bus_client WORD ARG...      `run` of the independent client (servers/bus_peer.py) at $bus
#   kill_often TIMES LEAST MOST IN OUT CMD...
#                               runs a command so often with these files, the second one added
#                               to, kills it after some time between these, and prints how often
#                               that met it alive
#   rows COUNT [FIRST]          so many actions, numbered, each another one
#   count_of FILE               how many different numbers are in its records

# shellcheck disable=SC2154  # of lib.sh
: "$tmp" "$cli" "${pid-}" "${peers-}"
# Servers are not on everyone's PATH.
PATH=$PATH:/usr/sbin:/sbin
needs nats-server

# shellcheck disable=SC2154
start_bus() {
  _bus=$1
  shift
  mkdir -p "$tmp/$_bus.ports" "$tmp/$_bus.store"
  rm -f "$tmp/$_bus.ports"/*
  start "$_bus" nats-server -js -sd "$tmp/$_bus.store" -a 127.0.0.1 -p "${bus_port:-$(free_ports)}" \
    --ports_file_dir "$tmp/$_bus.ports" "$@"
  # shellcheck disable=SC2034,SC2154  # read by the tests
  bus_pid=$pid
  wait_until 30 bus_is_up "$_bus" || {
    diag "$(tail -n 5 "$tmp/$_bus.err")"
    bail "nats-server does not come up"
  }
  bus=$(sed 's/.*"nats":\["\([^"]*\)".*/\1/' "$tmp/$_bus.ports"/*.ports)
}
bus_is_up() { grep -q nats "$tmp/$1.ports"/*.ports && grep -q 'Server is ready' "$tmp/$1.err"; }

restart_bus() {
  bus_port=${bus##*:}
  start_bus "$@"
  bus_port=
}

# shellcheck disable=SC2154
bus_client() {
  "$peers" "$cli/servers/bus_peer.py" "$bus" "$@"
}

rows() {
  awk -v first="${2:-1}" -v count="$1" 'BEGIN {
    for (i = first; i < first + count; i++)
      printf "{\"created_at\":\"2026-03-14T08:00:00.000Z\",\"kind\":\"llm_call\"," \
        "\"guild_id\":\"118\",\"content\":\"%d\"}\n", i
  }'
}

count_of() { sed -n 's/.*"content":"\([0-9]*\)".*/\1/p' "$1" | sort -un | wc -l | tr -d ' '; }

kill_often() {
  perl -e '
    my ($times, $least, $most, $in, $out) = splice @ARGV, 0, 5;
    my $killed = 0;
    srand 7;
    for (1 .. $times) {
      my $child = fork // die "fork: $!\n";
      if (!$child) {
        open STDIN, "<", $in or die "$in: $!\n";
        open STDOUT, ">>", $out or die "$out: $!\n";
        exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!\n";
      }
      select undef, undef, undef, $least + rand($most - $least);
      kill "KILL", $child;
      waitpid $child, 0;
      $killed++ if ($? & 127) == 9;
    }
    print "$killed\n"' "$@"
}
