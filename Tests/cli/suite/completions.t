#!/bin/sh
# The completions of each command are accepted by the shell they are for, and
# complete.
. "${0%/*}/../lib.sh"

# complete_bash COMMAND WORD...: what bash offers for the last word.
complete_bash() {
  # shellcheck disable=SC2016  # for bash to expand
  bash --norc -c '
    . "$1"; shift
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
    "_${1//-/_}" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
    printf "%s\n" "${COMPREPLY[@]}"' - "$tmp/$1.bash" "$@"
}

# complete_fish COMMAND LINE: what fish offers, without the descriptions.
complete_fish() {
  # shellcheck disable=SC2016  # for fish to expand
  fish --no-config -c 'source $argv[1]; complete --do-complete $argv[2]' "$tmp/$1.fish" "$2" |
    cut -f 1
}

for command in $(make -s -C "$root" commands); do
  [ -x "$root/bin/$command" ] || continue
  for shell in bash zsh fish; do
    "$command" --completions "$shell" >"$tmp/$command.$shell"
    ok "$command --completions $shell" test -s "$tmp/$command.$shell"
    if ! command -v "$shell" >/dev/null 2>&1; then
      skip 1 "no $shell"
    elif [ "$shell" = fish ]; then
      ok "fish accepts it" fish --no-execute "$tmp/$command.fish"
    else
      ok "$shell accepts it" "$shell" -n "$tmp/$command.$shell"
    fi
  done

  run "$command" --completions tcsh
  status_is 2 "$command --completions tcsh"
  err_like "^$command: --completions tcsh: not bash" "says which shells there are"

  if command -v bash >/dev/null 2>&1; then
    is "$(complete_bash "$command" --vers)" "--version" "bash completes $command --vers"
    like "$(complete_bash "$command" --completions f | tr '\n' ' ')" "^fish $" \
      "bash completes the words of an argument"
    "$command" --completions list | awk '{ print $2 }' | sort >"$tmp/long"
    complete_bash "$command" -- | sort >"$tmp/offered"
    ok "bash offers every long option of $command" cmp "$tmp/long" "$tmp/offered"
  else
    skip 3 "no bash"
  fi
  if command -v fish >/dev/null 2>&1; then
    is "$(complete_fish "$command" "$command --vers")" "--version" "fish completes $command --vers"
    is "$(complete_fish "$command" "$command --completions f")" "fish" \
      "fish completes the words of an argument"
  else
    skip 2 "no fish"
  fi
done

if command -v bash >/dev/null 2>&1; then
  is "$(complete_bash action-filter --domain v)" "voice" "bash completes a domain"
  touch "$tmp/day.ndjson"
  is "$(cd "$tmp" && complete_bash action-filter --kind llm_call day.nd)" "day.ndjson" \
    "bash completes a file"
  is "$(complete_bash sse-tail act)" "activity" "bash completes a stream"
  is "$(complete_bash agent-call -p home browser)" "browser-sessions" "bash completes a command"

  # What is in the user's own files; a name that a shell would run is not offered.
  cat >"$XDG_CONFIG_HOME/agentutils/config" <<'END'
[profile clanky]
url = http://127.0.0.1:1
[profile $(touch evil)]
url = http://127.0.0.1:1
[host box]
hostname = 127.0.0.1
END
  mkdir -p "$HOME/.ssh" "$XDG_STATE_HOME/agentutils"
  printf 'Host cellar *.attic\nHost=shed\n' >"$HOME/.ssh/config"
  echo '{"type":"sessions","last":null,"known":["riff-2","`evil`"]}' \
    >"$XDG_STATE_HOME/agentutils/sessions-box+riff"
  is "$(complete_bash sse-tail -p '')" "clanky" "bash completes a profile"
  is "$(complete_bash agent-tail -p '')" "clanky" "of several, too"
  is "$(complete_bash tmux-attach '' | tr '\n' ' ')" "box cellar shed " "bash completes a host"
  is "$(complete_bash tmux-attach -s ri)" "riff-2" "bash completes a session"
else
  skip 8 "no bash"
fi
if command -v fish >/dev/null 2>&1; then
  is "$(complete_fish tmux-attach 'tmux-attach -s ri')" "riff-2" "fish completes a session"
  is "$(complete_fish tmux-attach 'tmux-attach ce')" "cellar" "fish completes a host"
else
  skip 2 "no fish"
fi

done_testing
