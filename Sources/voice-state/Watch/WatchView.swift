import Core

/// What there is to see at one moment.
struct WatchMoment {
  /// The sessions, with what events told.
  let sessions: [VoiceSession]
  /// Whether it is known which sessions there are: a state came, or events did.
  let isKnown: Bool
  /// The sessions' own bytes.
  let raw: [RawSession]
  /// The time that ages are told by.
  let now: Timestamp
  /// `Clock.monotonic`.
  let clock: Double
  let link: BackendLink
  /// Whether something came since the last moment.
  let isChanged: Bool
  /// Whether that was a state, not only an event.
  let isState: Bool
  /// Why sessions ended.
  let reason: (String) -> String?
  /// What stands beside the link's words; empty as a rule.
  var note = ""
}

/// Where a watch shows what comes.
protocol WatchView: AnyObject {
  /// Shows a moment; called when something came and when the view asked for it.
  ///
  /// - Parameter most: no more things than these are to be shown.
  /// - Returns: how many things were shown, as `--count` counts them.
  /// - Throws: `WriteFailure`.
  func show(_ moment: WatchMoment, most: Int) throws(WriteFailure) -> Int

  /// When it wants to be shown again though nothing came, `Clock.monotonic`.
  func nextLook(after moment: WatchMoment) -> Double

  /// A window of another size, or a screen that was used by someone else.
  func redraw()

  /// Leaves the terminal as it was.
  func close()
}

extension WatchView {
  func redraw() {}
  func close() {}
}
