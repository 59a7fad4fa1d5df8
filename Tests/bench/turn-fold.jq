# turn-fold.jq: `turn-fold -f` for the events of Pincer threads whose turns go well, in jq: the
# same records in the same order. Event ids and numbers are not looked at; jq would copy what
# it has seen each time.
#     jq -nc -f turn-fold.jq FILE
def message($turn; $id; $role; $text; $time):
  {type: "message", backend: "pincer", id: $id, thread: $turn.thread, turn: $turn.id,
    role: $role, text: $text, state: "final", time: $time};

foreach inputs as $e ({open: {}, calls: {}};
  .done = []
  | $e.turnId as $id
  | $e.occurredAt as $time
  | if $e.assistantTextDelta then
      .open[$id].text += $e.assistantTextDelta.delta
    elif $e.toolExecutionOutputDelta then
      $e.toolExecutionOutputDelta as $o
      | .calls[$o.executionId] as $call
      | .open[$id].calls[$call].stdout += ($o.chunk | @base64d)
    elif $e.assistantThinkingDelta then
      .open[$id].thinking += $e.assistantThinkingDelta.delta
    elif $e.turnStarted then
      .open[$id] = {id: $id, thread: $e.threadId, started: $time, text: "", thinking: "",
        calls: {}}
    elif $e.toolCallPlanned then
      $e.toolCallPlanned as $p
      | .open[$id].calls[$p.toolCallId] =
          {tool: $p.toolName, label: $p.toolName, arguments: $p.args, stdout: ""}
    elif $e.toolExecutionStarted then
      $e.toolExecutionStarted as $s
      | .calls[$s.executionId] = $s.toolCallId
      | .open[$id].calls[$s.toolCallId] += {label: $s.displayCommand, started: $time}
    elif $e.toolExecutionFinished then
      $e.toolExecutionFinished as $f
      | .calls[$f.executionId] as $key
      | .open[$id].calls[$key] as $call
      | ($f.exitCode // 0) as $code
      | .done = [{type: "tool_call", backend: "pincer", id: $key, thread: .open[$id].thread,
          turn: $id, tool: $call.tool, label: $call.label, arguments: $call.arguments,
          state: (if $code == 0 then "succeeded" else "failed" end), stdout: $call.stdout,
          exit_code: $code, duration_ms: ($f.durationMs // "0" | tonumber),
          started: $call.started, ended: $time, time: $time}
          | if .stdout == "" then del(.stdout) else . end]
      | del(.calls[$f.executionId])
    elif $e.assistantMessageCommitted then
      $e.assistantMessageCommitted as $m
      | .open[$id].message = $m.messageId
      | .done = [message(.open[$id]; $m.messageId; "assistant"; $m.fullText // .open[$id].text;
          $time)]
    elif $e.turnCompleted then
      .open[$id] as $turn
      | .done =
          (if $turn.thinking == "" then []
            else [message($turn; "stream_thinking_" + $id; "thinking"; $turn.thinking; $time)]
            end)
          + [{type: "turn", backend: "pincer", id: $id, thread: $turn.thread,
            state: "completed", message: ($e.turnCompleted.assistantMessageId // $turn.message),
            started: $turn.started, ended: $time, time: $time}]
      | del(.open[$id])
    else . end;
  .done[])
