# What Claude Code may do without a person: what only looks. What leaves the session's folder is
# denied, and all else is left to whoever is asked. Change it to your taste.
#
#   agent-approve -p box: -w | jq -c --unbuffered -f rules.jq | agent-approve -p box:
#
# A command is compared as a whole: a pattern is met by a command that does more.
select(.state == "pending" and (.request.tool_input | type) == "object") | (.request.cwd | tostring) as $here
| .request.tool_input as $input | ["git status", "git diff", "git log --oneline -n 20", "ls"] as $looks
| ($input.file_path // $input.notebook_path // $input.path // null) as $path
| if .tool == "Bash" and ($looks | index([$input.command])) and ($input | keys - ["command", "description"]) == []
  then .decision = "allow"
  elif ($path | type) == "string" and $path != $here and ($path | test("(^|/)[.][.](/|$)") or
    startswith("/") and (startswith($here + "/") | not))
  then .decision = "deny" | .reason = "\($path) is outside \($here)"
  else empty end
