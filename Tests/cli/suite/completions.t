#!/bin/sh
# The completions of each command and script are accepted by the shell they are for, and
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

# complete_zsh COMMAND LINE: what a Tab at the end of the line makes of it, on a terminal of
# its own; of several candidates the list is printed.
complete_zsh() {
  mkdir -p "$tmp/functions"
  cp "$tmp/$1.zsh" "$tmp/functions/_$1"
  cat >"$tmp/try.zsh" <<'END'
zmodload zsh/zpty
zpty sub "TERM=dumb PATH=$PATH zsh -f -i"
# A prompt without a line end waits for the next line, so that nothing comes too early.
zpty -w sub "fpath=($1 \$fpath) PS1= PROMPT_EOL_MARK= LISTMAX=10000 HISTFILE="
zpty -w sub "autoload -Uz compinit; compinit -u -D; unsetopt beep; setopt autolist"
zpty -w sub "show() { print -r -- said:\$BUFFER:; BUFFER= }; zle -N show; bindkey '^G' show"
zpty -w sub "print ready"
while zpty -r sub line; do [[ $line != *$'ready\r'* || $line == *print* ]] || break; done
zpty -w -n sub "$2"$'\t\a'
while zpty -r sub line; do
  print -r -- "$line"
  [[ $line != *said:* ]] || break
done
zpty -d sub
END
  perl -e 'alarm 20; exec @ARGV' zsh -f "$tmp/try.zsh" "$tmp/functions" "$2" | tr -d '\r' |
    sed -n 's/.*said:\(.*\):$/\1/p'
}

for command in $(make -s -C "$root" commands recipes); do
  [ -x "$root/bin/$command" ] || continue
  for shell in bash zsh fish; do
    "$command" --completions "$shell" >"$tmp/$command.$shell"
    ok "$command --completions $shell prints completions" test -s "$tmp/$command.$shell"
    if ! command -v "$shell" >/dev/null 2>&1; then
      skip 1 "no $shell"
    elif [ "$shell" = fish ]; then
      ok "fish accepts the completions of $command" fish --no-execute "$tmp/$command.fish"
    else
      ok "$shell accepts the completions of $command" "$shell" -n "$tmp/$command.$shell"
    fi
  done

  t 2 "$command --completions tcsh is refused" "$command" --completions tcsh
  err_like "^$command: --completions tcsh: not bash" \
    "$command says which shells it has completions for"

  if command -v bash >/dev/null 2>&1; then
    is "$(complete_bash "$command" --vers)" "--version" "bash completes $command --vers"
    like "$(complete_bash "$command" --completions f | tr '\n' ' ')" "^fish $" \
      "bash completes the words of an argument of $command"
    # A script may have those of a command, too.
    "$command" --completions list | awk '{ print $2 }' | sort >"$tmp/long"
    complete_bash "$command" -- | sort >"$tmp/offered"
    is "$(comm -23 "$tmp/long" "$tmp/offered")" "" "bash offers every long option of $command"
  else
    skip 3 "no bash"
  fi
  if command -v fish >/dev/null 2>&1; then
    is "$(complete_fish "$command" "$command --vers")" "--version" "fish completes $command --vers"
    is "$(complete_fish "$command" "$command --completions f")" "fish" \
      "fish completes the words of an argument of $command"
  else
    skip 2 "no fish"
  fi
done

# What is in the user's own files; a name that a shell would run is not offered.
cat >"$XDG_CONFIG_HOME/agentutils/config" <<'END'
[profile clanky]
url = http://127.0.0.1:1
[profile $(touch evil)]
url = http://127.0.0.1:1
[host box]
hostname = 127.0.0.1
[bus home]
END
mkdir -p "$HOME/.ssh" "$XDG_STATE_HOME/agentutils"
printf 'Host cellar *.attic\nHost=shed\n' >"$HOME/.ssh/config"
echo '{"type":"sessions","last":null,"known":["riff-2","`evil`"]}' \
  >"$XDG_STATE_HOME/agentutils/sessions-box+riff"
touch "$tmp/day.ndjson"
share-inbox -q add "$tmp/day.ndjson"
id=$(share-inbox list -o tsv | cut -f 1)

if command -v bash >/dev/null 2>&1; then
  while IFS='|' read -r words want; do
    # shellcheck disable=SC2086  # words; a last one that is empty is written ''
    eval "set -- $words"
    is "$(cd "$tmp" && complete_bash "$@" | paste -s -d ' ' -)" "$want" "bash completes: $words"
  done <<END
action-filter --domain v|voice
action-filter -d voice,te|voice,text
action-filter -k llm_call,voice_e|llm_call,voice_error
action-filter -o kind,guild_|kind,guild_id
action-filter --kind llm_call day.nd|day.ndjson
action-filter --rejects = day.nd|day.ndjson
sse-tail act|activity
sse-tail -p ''|clanky
sse-tail --profile = ''|clanky
agent-tail -p ''|clanky
agent-call -p home browser|browser-sessions
agent-call browser-sessions ''|
voice-state --panel tools,scr|tools,screen
voice-state hi|history
voice-state day|day.ndjson
tmux-attach ''|. box cellar shed
agent-cost -o ''|table tsv json line
task ''|list add done format
task list -o ''|table tsv json text line
task list -p ''|clanky
task format day|day.ndjson
transcript-tail ce|cellar:
transcript-tail --state st d|day.ndjson
tmux-attach -s ri|riff-2
share-inbox re|retry remove
share-inbox retry ''|$id
share-inbox -q add d|day.ndjson
share-inbox watch c|cellar
agent-pulse -p ''|clanky
agent-pulse -k llm_call,voice_e|llm_call,voice_error
agent-pulse -k voice_error -- --exp|--expand
agent-pulse -k voice_error -- -W 80 --col|--color
agent-status -o w|waybar
agent-status -p cl|clanky
agent-setup -k o|openclaw
agent-say -s ri|riff-2
agent-say c|cellar
agent-say -s riff-2 box -- c|
agent-talk -p ''|clanky
agent-talk --profile = cl|clanky
agent-talk -p clanky c|cellar
agent-talk --sec|--seconds
agent-archive act|activity
agent-archive --folder d|day.ndjson
agent-archive --bus -b ''|home
mail-triage --rules d|day.ndjson
mail-draft --sen|--sendmail
mem-search --pick --type pre|preference
riff-up --session ri|riff-2
riff-worktree-remove --fo|--force
bus-get -b ''|home
bus-put --cr|--create
bus-up --po|--port
agent-state ''|working waiting idle unknown
agent-state w|working waiting
agent-state -v un|unknown
agent-state waiting for|
agent-state --hoo|--hook
agent-pulse --cou|
agent-pulse --by|
agent-pulse --rec|--records
agent-pulse --to|
agent-browse --ou|
agent-browse --qu|
agent-browse --be|--before
END
else
  skip 63 "no bash"
fi
if command -v fish >/dev/null 2>&1; then
  is "$(complete_fish tmux-attach 'tmux-attach -s ri')" "riff-2" "fish completes a session"
  is "$(complete_fish tmux-attach 'tmux-attach ce')" "cellar" "fish completes a host"
  is "$(complete_fish action-filter 'action-filter -k llm_call,voice_e')" "llm_call,voice_error" \
    "fish completes a word of a list"
  is "$(complete_fish sse-tail 'sse-tail --profile=cl')" "--profile=clanky" \
    "fish completes an argument behind a sign"
  is "$(cd "$tmp" && complete_fish action-filter 'action-filter day.nd')" "day.ndjson" \
    "fish completes a file"
  is "$(cd "$tmp" && complete_fish action-filter 'action-filter --rejects=day.nd')" \
    "--rejects=day.ndjson" "fish completes a file behind a sign"
  is "$(complete_fish agent-say 'agent-say -s ri')" "riff-2" "fish completes for a script"
else
  skip 7 "no fish"
fi
if command -v zsh >/dev/null 2>&1; then
  is "$(complete_zsh action-filter 'action-filter --vers')" "action-filter --version " \
    "zsh completes an option"
  is "$(complete_zsh tmux-attach 'tmux-attach -s ri')" "tmux-attach -s riff-2 " \
    "zsh completes a session"
  is "$(complete_zsh action-filter 'action-filter -k llm_call,voice_e')" \
    "action-filter -k llm_call,voice_error " "zsh completes a word of a list"
  is "$(complete_zsh sse-tail 'sse-tail --profile=cl')" "sse-tail --profile=clanky " \
    "zsh completes an argument behind a sign"
  is "$(cd "$tmp" && complete_zsh action-filter 'action-filter --rejects=day.nd')" \
    "action-filter --rejects=day.ndjson " "zsh completes a file behind a sign"
  is "$(complete_zsh agent-say 'agent-say -s ri')" "agent-say -s riff-2 " \
    "zsh completes for a script"
else
  skip 6 "no zsh"
fi

done_testing
