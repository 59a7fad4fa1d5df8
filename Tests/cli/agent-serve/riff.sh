# shellcheck shell=sh
# riff.sh: what the tests of the voice server share, behind lib.sh.
#
#   sign FILE                 the signature of a file's bytes
#   post FILE PATH [ARG...]   sends it signed, as $out; the status is printed
#   fetch PATH [ARG...]       the same for a GET

secret=00112233445566778899aabbccddeeffFFEEDDCCBBAA99887766554433221100
# shellcheck disable=SC2154  # of lib.sh
printf '%s\n' "$secret" >"$tmp/secret"
chmod 600 "$tmp/secret"
: >"$tmp/nothing"

sign() { openssl dgst -sha256 -mac HMAC -macopt "hexkey:$secret" -r "$1" | cut -c 1-64; }
# shellcheck disable=SC2154
post() {
  _file=$1
  _path=$2
  shift 2
  curl -sS -m 40 -o "$out" -w '%{http_code}' -H "X-Riff-Secret: $(sign "$_file")" \
    --data-binary "@$_file" "$@" "$url$_path" 2>"$err"
}
# shellcheck disable=SC2154
fetch() {
  _path=$1
  shift
  curl -sS -m 40 -o "$out" -w '%{http_code}' -H "X-Riff-Secret: $(sign "$tmp/nothing")" "$@" \
    "$url$_path" 2>"$err"
}
