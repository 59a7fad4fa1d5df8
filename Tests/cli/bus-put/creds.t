#!/bin/sh
# Credentials as nsc writes them, for a server with an operator: a user's JWT and seed in a file.
. "${0%/*}/../lib.sh"
. "${0%/*}/../bus.sh"
needs_peers
bound=30
umask 077

"$peers" "$cli/servers/nats_jwt.py" "$tmp" || bail "no credentials"
start_bus a -c "$tmp/operator.conf"
cp "$tmp/good.creds" "$tmp/open.creds"
chmod 640 "$tmp/open.creds"
sed '/SEED/,$d' "$tmp/good.creds" >"$tmp/half.creds"
sed -n '/SEED/,$p' "$tmp/good.creds" >"$tmp/seed.creds"
for name in good late foreign open half seed none; do
  printf '[bus %s]\nservers = %s\ncreds-file = %s\n' "$name" "$bus" "$tmp/$name.creds"
done >"$XDG_CONFIG_HOME/agentutils/config"

rows 100 >"$tmp/in"
t 0 "a user's credentials are taken" bus-put -b good --create <"$tmp/in"
run bus-get -b good --all -e
ok "what the user puts, the user gets" cmp -s "$tmp/in" "$out"
t 77 "bus-put without credentials is refused" bus-put -s "$bus" </dev/null
for name in late foreign; do
  t 77 "$name credentials are refused" bus-put -b "$name" </dev/null
  err_one_line bus-put "$name credentials are refused in one line"
done
t 77 "a file that others can read is refused" bus-get -b open -e
t 77 "a credentials file that is missing is refused" bus-get -b none -e
for name in half seed; do
  t 2 "credentials with only the $name are refused" bus-put -b "$name" </dev/null
  err_like "$name.creds: not a user's credentials, as nsc writes them" \
    "the file with only the $name is named"
done
for file in "$tmp"/*.creds; do
  sed -n '/^[A-Za-z0-9]/p' "$file"
done >"$tmp/secrets"
ok "nothing of the credentials is told" sh -c "! grep -qF -f '$tmp/secrets' '$err'"
done_testing
