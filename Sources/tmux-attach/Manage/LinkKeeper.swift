import Core
import Shell

/// Goes on asking the host over one link, and over a new one when that is lost.
struct LinkKeeper {
  private let visit: HostVisit
  private var backoff = Backoff(base: 1, factor: 2, cap: 15, jitter: 0)
  private var hasAnswered = false
  private var tmux: RemoteTmux
  private var downSince: Double?

  init(_ visit: HostVisit) {
    self.visit = visit
    tmux = visit.open()
  }

  /// Asks until the host answers.
  ///
  /// - Throws: `TmuxError` of an answer, or when the link cannot be kept.
  mutating func ask<Result>(
    _ question: (RemoteTmux) throws(TmuxError) -> Result
  ) throws(TmuxError) -> Result {
    while true {
      do throws(TmuxError) {
        let result = try question(tmux)
        back()
        return result
      } catch .call(let failure) {
        try wait(failure)
      }
    }
  }

  /// Keeps the link for a time; a loss is left to the next question.
  mutating func idle(seconds: Double) throws(TmuxError) {
    let end = Clock.monotonic + seconds
    do throws(ControlFailure) {
      try visit.calls?.idle(until: end)
    } catch .interrupted(let signal) {
      throw .call(.interrupted(signal: signal))
    } catch {
      try wait(error)
    }
  }

  private mutating func back() {
    hasAnswered = true
    backoff.reset()
    guard let since = downSince else { return }
    downSince = nil
    say("link is back after \(Int((Clock.monotonic - since).rounded())) s")
  }

  private mutating func wait(_ failure: ControlFailure) throws(TmuxError) {
    guard failure.isWorthRetry(afterSuccess: hasAnswered),
      visit.options.maxRetries.map({ backoff.count < $0 }) ?? true
    else { throw .call(failure) }
    let seconds = backoff.next(random: 0)
    let until = Clock.monotonic + seconds
    if downSince == nil { downSince = Clock.monotonic }
    say("link is down: \(failure.words); next try in \(Int(seconds)) s")
    visit.close()
    var set = PollSet()
    while Clock.monotonic < until {
      set.removeAll()
      set.add(EndSignals.descriptor)
      set.wait(seconds: until - Clock.monotonic)
      if let signal = EndSignals.next() { throw .call(.interrupted(signal: signal)) }
    }
    tmux = visit.open()
  }

  private func say(_ words: String) {
    if !visit.options.quiet { visit.diagnostics.error(visit.request.destination.name, words) }
  }
}
