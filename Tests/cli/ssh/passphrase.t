#!/bin/sh
# A key's passphrase is asked for at the terminal and never shown; the
# terminal is as it was found afterwards, in whatever mode that was.
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"

start_sshd
ssh-keygen -q -t ed25519 -N 'open wide' -f "$tmp/locked"
cat "$tmp/locked.pub" >"$ssh_dir/box/authorized_keys"
check="tmux-attach --transport libssh2 -i $tmp/locked --check $remote_user@127.0.0.1:$port"

# shellcheck disable=SC2086
{
  # --- answered
  sit one $check
  ok "the passphrase is asked for, by the key's name" at one expect "Passphrase of $tmp/locked"
  at one send 'open wide\r'
  ok "the right passphrase lets us in" at one expect "accepted"
  is "$(at one end | jq -c '[.status, .termios, .modes]')" '[0,true,[]]' \
    "the terminal is as it was after a passphrase"
  not_ok "the passphrase was never shown" grep -q wide "$tmp/one.screen"

  sit wrong $check
  at wrong expect "Passphrase of"
  at wrong send 'wrong\r'
  ok "a wrong passphrase is asked for again" at wrong expect "Passphrase of"
  at wrong send 'wrong again\r'
  at wrong expect "Passphrase of"
  at wrong send '\x04'
  is "$(at wrong end | jq -c '[.status, .termios]')" '[77,true]' \
    "^D gives up the question for a passphrase"

  # --- standard input and output are other files
  printf '%s </dev/null | cat\n' "$check" >"$tmp/piped"
  sit piped sh "$tmp/piped"
  at piped expect "Passphrase of"
  at piped send 'open wide\r'
  ok "the terminal is asked though standard input is a file" at piped expect "accepted"
  at piped end >"$tmp/said"

  # --- a terminal in raw mode
  printf 'stty raw -echo; stty -g; %s; echo "status $?"; stty -g; cat\n' "$check" >"$tmp/raw"
  sit raw sh "$tmp/raw"
  at raw expect "Passphrase of"
  at raw send 'open wide\r'
  ok "a raw terminal takes Return" at raw expect "status 0"
  at raw quiet 0.1
  at raw kill KILL
  at raw end >"$tmp/said"
  grep -aE '^[0-9a-f]+(:[0-9a-f]+)+' "$tmp/raw.screen" | tr -d ' \r' | sort -u >"$tmp/modes"
  is "$(lines "$tmp/modes")" 1 "a raw terminal is raw again afterwards"

  # --- signals
  for signal in INT:130 TERM:143 HUP:129; do
    sit "by$signal" $check
    at "by$signal" expect "Passphrase of"
    at "by$signal" send 'half'
    at "by$signal" kill "${signal%:*}"
    is "$(at "by$signal" end | jq -c '[.status, .termios]')" "[${signal#*:},true]" \
      "${signal%:*} ends the question and the process, with the terminal as it was"
  done
  sit break $check
  at break expect "Passphrase of"
  at break send '\x03'
  is "$(at break end | jq -c '[.status, .termios]')" "[130,true]" \
    "^C gives up the question for a passphrase, too"

  # --- asked by OpenSSH
  ssh_check="tmux-attach --transport ssh -i $tmp/locked -l $remote_user@127.0.0.1:$port"
  for signal in INT:130 TERM:143 HUP:129; do
    sit "ssh$signal" $ssh_check
    at "ssh$signal" within 10 expect "passphrase for key"
    at "ssh$signal" kill "${signal%:*}"
    is "$(at "ssh$signal" end | jq -c '[.status, .termios]')" "[${signal#*:},true]" \
      "${signal%:*} ends ssh's question, too, with the terminal as it was"
  done
  sit sshbreak $ssh_check
  at sshbreak within 10 expect "passphrase for key"
  at sshbreak send '\x03'
  is "$(at sshbreak end | jq -c '[.status, .termios]')" "[130,true]" \
    "^C gives up ssh's question, too"
}

# --- nobody to ask
# shellcheck disable=SC2086
t 77 "without a terminal the key is not used" perl -MPOSIX -e 'POSIX::setsid(); exec @ARGV' $check
like "$(cat "$out" "$err")" 'passphrase' "the message says that the key has a passphrase"

done_testing
