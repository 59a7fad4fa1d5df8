import Core

/// The runs: each makes a reply, piece by piece (Agent/OpenClaw/CONTRACT.md 7).
extension Gateway {
  /// How many replies are made at a time.
  private static let activeLimit = 8
  /// The most that an ended run is kept, and how many of them.
  private static let keptSeconds = 300
  private static let keptRuns = 1000
  /// How often text is sent of a reply.
  private static let flushInterval = Duration.milliseconds(150)

  /// Begins the runs whose turn it is: one of each conversation.
  func startRuns() {
    while activeRuns.count < Self.activeLimit,
      let next = waitingRuns.first(where: { run in
        !activeRuns.contains { $0.session == run.session }
      })
    {
      waitingRuns.removeAll { $0 === next }
      activeRuns.append(next)
      Task { await perform(next) }
    }
  }

  /// Calls a function when a run has ended, at once when it has.
  ///
  /// - Parameters:
  ///   - run: the run.
  ///   - peer: the number of the connection that waits; nil for the gateway itself.
  ///   - body: called once, unless the connection leaves before.
  /// - Returns: what the function is known by among the run's waiters.
  @discardableResult
  func atEnd(of run: Run, _ peer: Int?, _ body: @escaping (Run) -> Void) -> Int {
    lastWaiter += 1
    if run.outcome == nil {
      run.waiters[lastWaiter] = .init(peer: peer, call: body)
    } else {
      body(run)
    }
    return lastWaiter
  }

  /// Forgets runs that ended long ago.
  func forgetEndedRuns() {
    let old = Timestamp.now().adding(.seconds(-Self.keptSeconds))
    while let id = endedRuns.first,
      endedRuns.count > Self.keptRuns || (runs[id]?.ended).map({ $0 < old }) ?? true
    {
      endedRuns.removeFirst()
      runs[id] = nil
    }
  }

  /// Ends a run because somebody wants it.
  func abort(_ run: Run, reason: String) async {
    run.process?.stop()
    if let id = run.approval { cancelApproval(id) }
    waitingRuns.removeAll { $0 === run }
    await end(run, .aborted, reason: reason)
  }

  private func perform(_ run: Run) async {
    defer {
      activeRuns.removeAll { $0 === run }
      startRuns()
    }
    guard run.outcome == nil, let command = settings.command else { return }
    let now = Timestamp.now()
    run.started = now
    emit(run, "lifecycle", ["phase": "start", "startedAt": .time(now)])
    if settings.asksForReplies {
      // Before anybody is asked: who talks sees what the reply waits for.
      emitCall(run, "start", ["name": "exec", "args": ["command": .text(command)]])
      let refusal = await askForReply(run, command)
      guard run.outcome == nil else { return }
      if let refusal {
        emitCall(run, "result", ["isError": true, "meta": .text(refusal)])
        return await end(run, .failed(refusal, kind: "refusal"), reason: nil)
      }
    }
    emitChat(run, version: 4, ["state": "status", "phase": "starting_model"])
    let process = CommandProcess(
      command,
      environment: [
        "REPLY_RUN": run.id, "REPLY_SESSION": run.session.text, "REPLY_AGENT": SessionKey.agent,
      ], input: Array(run.message.utf8), seconds: run.seconds,
      limit: CommandProcess.replyLimit, takesNotes: true)
    run.process = process
    for await event in process.events {
      switch event {
      case .output(let bytes):
        if run.outcome != nil { continue }
        run.text.add(bytes)
        flushSoon(run)
      case .notes(let lines): if run.outcome == nil { take(lines, of: run) }
      case .ended(let ending):
        if let reason = ending.complaint { diagnostics.errorRarely("reply command", reason) }
        if settings.asksForReplies {
          emitCall(
            run, "result",
            ["isError": .bool(ending.outcome != .reply), "meta": .text(ending.complaint)])
        }
        await end(run, ending.outcome, reason: nil)
      }
    }
    run.process = nil
  }

  /// Ends a run, once: first its text is kept, then all are told.
  private func end(_ run: Run, _ outcome: Run.Outcome, reason: String?) async {
    guard run.outcome == nil else { return }
    run.text.finish()
    flush(run)
    endNotes(of: run)
    run.outcome = outcome
    run.ended = .now()
    // The store has it; a run is known for a while.
    run.message = ""
    let text = run.text.text
    if !text.isEmpty && (outcome == .reply || outcome == .aborted) {
      do { run.kept = try await keep("assistant", text, run.session) } catch {
        diagnostics.errorRarely("the store", ErrorText.of(error))
      }
    }
    let ended = JSONNode.number(run.ended?.milliseconds)
    let message: JSONNode = text.isEmpty ? .absent : Self.message(text)
    switch outcome {
    case .reply:
      emit(run, "lifecycle", ["phase": "end", "endedAt": ended])
      emitChat(
        run,
        [
          "state": "final", "message": message, "stopReason": "stop", "usage": run.notes.usage,
        ])
    case .aborted:
      emit(run, "lifecycle", ["phase": "end", "endedAt": ended, "aborted": true])
      emitChat(run, version: 3, ["state": "aborted", "stopReason": .text(reason)])
      emitChat(
        run, version: 4, ["state": "aborted", "message": message, "stopReason": .text(reason)])
    case .failed(let reason, let kind):
      emit(run, "lifecycle", ["phase": "error", "error": .text(reason), "endedAt": ended])
      emitChat(run, version: 3, ["state": "error", "errorMessage": .text(reason)])
      emitChat(
        run, version: 4,
        ["state": "error", "errorMessage": .text(reason), "errorKind": .text(kind)])
    }
    endedRuns.append(run.id)
    let waiters = run.waiters.sorted { $0.key < $1.key }.map(\.value)
    run.waiters = [:]
    for reader in run.readers {
      reader.yield(.ended(outcome, text))
      reader.finish()
    }
    run.readers = []
    for timer in run.timers.values { timer.cancel() }
    run.timers = [:]
    for waiter in waiters { waiter.call(run) }
    forgetEndedRuns()
  }

  // MARK: - Text

  private func flushSoon(_ run: Run) {
    // Who gets all of the text each time gets a long one less often.
    let interval = max(Self.flushInterval, .microseconds(run.text.bytes.count))
    let wait = interval - (.now - run.lastFlush)
    if wait <= .zero { return flush(run) }
    guard !run.isFlushPlanned else { return }
    run.isFlushPlanned = true
    Task {
      try? await Poller.sleep(for: wait)
      run.isFlushPlanned = false
      if run.outcome == nil { flush(run) }
    }
  }

  /// Sends what is new: to those who speak protocol 3 all of the text so far; to the
  /// others what is to be appended, and all of it the first time.
  func flush(_ run: Run) {
    guard run.text.hasNews else { return }
    run.lastFlush = .now
    let (delta, replaces) = run.text.take()
    let text = run.text.text
    for reader in run.readers { reader.yield(.text(delta, replaces: replaces)) }
    let change: JSONNode = ["delta": .text(delta), "replace": replaces ? true : .absent]
    run.sequence += 1
    lazy var said = agentEvent(run, "assistant", change.adding(["text": .text(text)])).bytes
    lazy var added = agentEvent(run, "assistant", change).bytes
    broadcast("agent", scope: .read) { $0.version < 4 ? said : added }
    run.sequence += 1
    let base = chatBase(run)
    lazy var whole = base.adding(["state": "delta", "message": Self.message(text)]).bytes
    let next = base.adding([
      "state": "delta", "deltaText": .text(delta), "replace": replaces ? true : .absent,
    ])
    lazy var first = next.adding(["message": Self.message(text)]).bytes
    lazy var later = next.bytes
    broadcast("chat", scope: .read) { client in
      if client.version < 4 { return whole }
      return run.seenBy.insert(client.peer.number).inserted ? first : later
    }
  }

  private static func message(_ text: String) -> JSONNode {
    ChatMessage(role: "assistant", text: text, time: Timestamp.now().milliseconds).node
  }

  // MARK: - Events

  private func chatBase(_ run: Run) -> JSONNode {
    [
      "runId": .text(run.id), "sessionKey": .text(run.session.text), "seq": .number(run.sequence),
      "agentId": .text(SessionKey.agent),
    ]
  }

  /// Sends a chat event; to clients of one protocol alone where one is named.
  private func emitChat(_ run: Run, version: Int? = nil, _ more: JSONNode) {
    run.sequence += 1
    let bytes = chatBase(run).adding(more).bytes
    broadcast("chat", scope: .read) { client in
      version.map { $0 == client.version } ?? true ? bytes : nil
    }
  }

  private func agentEvent(_ run: Run, _ stream: String, _ data: JSONNode) -> JSONNode {
    [
      "runId": .text(run.id), "seq": .number(run.sequence), "stream": .text(stream),
      "ts": .time(.now()), "sessionKey": .text(run.session.text), "data": data,
    ]
  }

  /// Sends an event of the one tool of a reply that somebody has to approve.
  private func emitCall(_ run: Run, _ phase: String, _ more: JSONNode) {
    let base: JSONNode = ["phase": .text(phase), "toolCallId": .text("call-\(run.id)")]
    emit(run, "tool", base.adding(more))
  }

  /// Sends an event of what the agent does.
  func emit(_ run: Run, _ stream: String, _ data: JSONNode) {
    run.sequence += 1
    let payload = agentEvent(run, stream, data)
    guard stream == "tool" else { return broadcast("agent", scope: .read, payload) }
    // The tools concern only those who take part and have asked to be told, and those who
    // follow all conversations.
    tell("agent", payload) {
      run.members.contains($0.peer.number) && $0.connect.caps.contains("tool-events")
    }
    tell("session.tool", payload) { $0.followsSessions }
  }
}

extension CommandProcess.Ending {
  /// What it means for the run.
  fileprivate var outcome: Run.Outcome {
    switch self {
    case .exited(0, _): .reply
    case .stopped: .aborted
    case .late: .failed("the reply command took too long", kind: "timeout")
    default: .failed("reply command: \(complaint ?? "failed")", kind: "unknown")
    }
  }
}
