# turn-fold.jq: what `turn-fold -f` makes of the events of a Pincer thread, as far as jq can be
# asked for it: a turn gathers its text, its thoughts and its calls with what they print, and is
# printed when it is over. Event ids are not looked at: jq would copy what it has seen each time.
#     jq -nc -f turn-fold.jq FILE
foreach inputs as $e ({};
  .done = null
  | $e.turnId as $turn
  | if $e.assistantTextDelta then
      .open[$turn].text += $e.assistantTextDelta.delta
    elif $e.toolExecutionOutputDelta then
      $e.toolExecutionOutputDelta as $o
      | .calls[$o.executionId] as $call
      | .open[$turn].calls[$call].stdout += ($o.chunk | @base64d)
    elif $e.assistantThinkingDelta then
      .open[$turn].thinking += $e.assistantThinkingDelta.delta
    elif $e.turnStarted then
      .open[$turn] = {id: $turn, thread: $e.threadId, started: $e.occurredAt, text: "",
        thinking: "", calls: {}}
    elif $e.toolCallPlanned then
      $e.toolCallPlanned as $p
      | .open[$turn].calls[$p.toolCallId] = {tool: $p.toolName, state: "planned", stdout: ""}
    elif $e.toolExecutionStarted then
      $e.toolExecutionStarted as $s
      | .calls[$s.executionId] = $s.toolCallId
      | .open[$turn].calls[$s.toolCallId].state = "running"
    elif $e.toolExecutionFinished then
      $e.toolExecutionFinished as $f
      | .calls[$f.executionId] as $call
      | .open[$turn].calls[$call].state =
          (if ($f.exitCode // 0) == 0 then "succeeded" else "failed" end)
      | del(.calls[$f.executionId])
    elif $e.assistantMessageCommitted then
      .open[$turn].text = $e.assistantMessageCommitted.fullText
    elif $e.turnCompleted then
      .done = .open[$turn] + {ended: $e.occurredAt} | del(.open[$turn])
    else . end;
  .done // empty)
