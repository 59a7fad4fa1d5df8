import Agent
import Core

struct WatchMoment {
  let sessions: [VoiceSession]
  /// Whether it is known which sessions there are: a state came, or events did.
  let isKnown: Bool
  let raw: [RawSession]
  let now: Timestamp
  /// `Clock.monotonic`.
  let clock: Double
  let link: BackendLink
  let isChanged: Bool
  let isState: Bool
  let reason: (String) -> String?
  /// What stands beside the link's words; empty as a rule.
  var note = ""
}

protocol WatchView: AnyObject {
  /// Shows a moment; called when something came and when the view asked for it.
  func show(_ moment: WatchMoment, most: Int) throws(WriteFailure) -> Int

  /// When it wants to be shown again though nothing came, `Clock.monotonic`.
  func nextLook(after moment: WatchMoment) -> Double

  func failed(_ status: ExitStatus, _ reason: String) throws(WriteFailure)

  /// A window of another size, or a screen that was used by someone else.
  func redraw()

  func close()
}

extension WatchView {
  func failed(_ status: ExitStatus, _ reason: String) {}
  func redraw() {}
  func close() {}
}

struct BackendLink: Equatable {
  enum Phase: Equatable {
    case connecting
    case open
    /// Lost; the next try comes at a time of `Clock.monotonic`, nil when unknown.
    case down(reason: String, since: Double, retryAt: Double?)
    case ended(String)
  }

  enum Mood: Equatable { case good, odd, bad }

  /// A state that is older is stale, seconds: three of them were missed.
  static let staleAfter = 10.0

  var phase = Phase.connecting
  /// When the last state came, `Clock.monotonic`.
  var stateAt: Double?

  func isStale(at now: Double) -> Bool {
    if case .ended = phase { return false }
    guard let stateAt else { return false }
    return now - stateAt >= Self.staleAfter
  }

  /// One word for machines: `live`, `connecting`, `stale`, `down`, `ended`.
  func word(at now: Double) -> String {
    switch phase {
    case .connecting: return "connecting"
    case .open: return isStale(at: now) ? "stale" : "live"
    case .down: return isStale(at: now) ? "stale" : "down"
    case .ended: return "ended"
    }
  }

  func words(at now: Double) -> (text: String, mood: Mood) {
    let age = stateAt.map { Self.seconds(now - $0) }
    let stale = isStale(at: now) ? "stale: " : ""
    switch phase {
    case .connecting: return ("connecting", .odd)
    case .open:
      guard let age else { return ("live, no state yet", .odd) }
      return stale.isEmpty ? ("live, state \(age) old", .good) : ("stale: state \(age) old", .bad)
    case .down(let reason, let since, let retryAt):
      var text = "\(stale)down for \(Self.seconds(now - since))"
      if let retryAt {
        let wait = retryAt - now
        text += wait > 0 ? ", next try in \(Self.seconds(wait.rounded(.up)))" : ", trying"
      }
      if let age { text += ", state \(age) old" }
      return ("\(text): \(reason)", .bad)
    case .ended(let reason): return (reason, .odd)
    }
  }

  /// Whole seconds, minutes above two of them: `7 s`, `3 min`.
  private static func seconds(_ value: Double) -> String {
    let seconds = Int64(min(max(value, 0), 1e9))
    return seconds < 120 ? "\(seconds) s" : "\(seconds / 60) min"
  }
}
