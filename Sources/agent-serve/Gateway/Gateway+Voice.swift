import Core

/// A reply as a whole.
struct SaidReply: Sendable {
  let outcome: Run.Outcome
  let text: String
  /// What the store knows it by; nil for a reply that is empty.
  var id: Int64?
  /// When it was whole.
  var time = Timestamp.now()
}

extension Gateway {
  /// Makes a reply, and waits for its end.
  ///
  /// - Parameter seconds: how long it may take, with the time that it waits for its turn.
  /// - Throws: `GatewayFault`; what SQLite says.
  func wholeReply(
    to message: String, _ session: SessionKey, id: String, seconds: Double
  ) async throws -> SaidReply {
    let run = try await begin(id, session, message, seconds: seconds, nil)
    var isLate = false
    let timer = Task {
      try await Poller.sleep(for: .seconds(seconds))
      isLate = run.outcome == nil
      if isLate { await abort(run, reason: "timeout") }
    }
    startRuns()
    let ended = await withCheckedContinuation { wait in
      atEnd(of: run, nil) { run in
        wait.resume(
          returning: SaidReply(
            outcome: run.outcome ?? .aborted, text: run.text.text, id: run.kept,
            time: run.ended ?? .now()))
      }
    }
    timer.cancel()
    guard isLate else { return ended }
    return SaidReply(outcome: .failed("no reply in time", kind: "timeout"), text: "")
  }
}
