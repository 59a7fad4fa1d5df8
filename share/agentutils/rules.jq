# What Claude Code may do without a person: what only looks. What leaves the session's folder is
# denied, and all else is left to whoever is asked. Change it to your taste.
#
#   agent-approve -p box: -w | jq -c --unbuffered -f rules.jq | agent-approve -p box:
#
# A command is compared as a whole: a pattern is met by a command that does more.
select(.state == "pending") | .request as $asked | $asked.tool_input as $input
| ["git status", "git diff", "git log --oneline -n 20", "ls"] as $looks
| ($input.file_path // $input.notebook_path // $input.path // null) as $path
| if .tool == "Bash" and ($looks | index([$input.command])) then .decision = "allow"
  elif ($path | type) == "string" and
    (($path | startswith($asked.cwd + "/") | not) or ($path | test("(^|/)[.][.](/|$)")))
  then .decision = "deny" | .reason = "\($path) is outside \($asked.cwd)"
  else empty end
