import Core
import Web

/// One stream that is followed: prints what it tells, keeps its resume point, and
/// knows why it ended. A `FollowLoop` drives it.
final class Follower {
  /// Why nothing more comes.
  struct End {
    var status: ExitStatus
    var reason: String
  }

  private unowned let loop: FollowLoop
  private let diagnostics: Diagnostics
  private let notes: LinkNotes
  private let place: String
  private let profile: [UInt8]?
  private let continuity: (any Continuity)?
  private var resume: ResumePoint?
  private var stream: (any StreamLink)?

  /// The id of the last event printed, or passed over; before it, the start's.
  private var printedID: [UInt8]
  /// When that was, where the stream knows it.
  private var printedTime: Timestamp?
  private var hadFault = false
  /// Why the stream is not open; nil when that is not known.
  private var lastLoss: String?
  /// Why it ended; nil while it goes on.
  private(set) var end: End?
  /// Whether its end was told and its state saved.
  private(set) var isClosed = false

  init(_ followed: FollowedStream, loop: FollowLoop, diagnostics: Diagnostics) {
    let options = loop.options
    self.loop = loop
    self.diagnostics = followed.profile.map { diagnostics.about($0) } ?? diagnostics
    notes = LinkNotes(
      diagnostics: self.diagnostics, profile: followed.profile, speaks: loop.speaks,
      recordsWanted: options.lifecycle)
    place = followed.place
    profile = followed.profile.map { Array(JSONQuote.string($0).utf8) }
    continuity = followed.continuity
    resume = followed.resume
    printedID = Array(followed.lastEventID.utf8)
    continuity?.handler = self
    stream = followed.open(
      loop.client,
      options.policy(usualSilence: followed.usualSilence, lastEventID: printedID), self)
  }

  /// Whether it is to go on.
  private var isLive: Bool { end == nil && loop.end == nil }

  /// Does what the time asks for.
  ///
  /// - Parameter now: seconds of `Clock.monotonic`.
  /// - Returns: the time at which to be called again at the latest.
  func tick(now: Double) -> Double {
    let next = stream?.tick(now: now) ?? .infinity
    return min(next, continuity?.tick(now: now) ?? .infinity)
  }

  /// Time that ends while the stream is up was used well; while it is down it was not enough.
  func timeIsUp() {
    let isOpen = stream?.isOpen == true
    if !isOpen {
      let reason = lastLoss.map { ": \($0)" } ?? ""
      diagnostics.error(place, "time is up and the stream is not open\(reason)")
    }
    end = End(status: isOpen ? .success : .temporary, reason: "time is up")
  }

  // MARK: - The end

  /// Tells the end as a record, if such are wanted.
  func tellEnd(_ reason: String) {
    let reason = end?.reason ?? reason
    if !reason.isEmpty { lifecycle(notes.ended(reason)) }
  }

  /// Leaves things in order while others go on.
  func close() {
    tellEnd("")
    loop.output.flush()
    _ = saveState(now: Clock.monotonic, force: true)
    isClosed = true
    _ = continuity?.connectionLost()
    stop()
  }

  /// Ends the connection.
  func stop() {
    stream?.stop()
    stream = nil
  }

  /// How it ended.
  func status(usual: ExitStatus) -> ExitStatus {
    let status = end?.status ?? usual
    return status == .success && hadFault ? .failure : status
  }

  /// Saves the resume point, if it is time.
  func saveState(now: Double, force: Bool = false) -> Double {
    guard resume != nil else { return .infinity }
    // While events are held, and after -n, the parser is ahead of what was printed.
    let isAhead = continuity?.isHolding == true || loop.hasCounted
    let id = isAhead ? printedID : stream?.lastEventID ?? printedID
    let time = isAhead ? printedTime : stream?.newest
    do throws(SettingsError) {
      return try resume!.save(
        lastEventID: String(decoding: id, as: UTF8.self),
        newest: continuity?.newest ?? time?.rfc3339,
        now: now,
        force: force, sync: loop.output.sync)
    } catch {
      diagnostics.say(error.message)
      resume = nil
      hadFault = true
      if end == nil { end = End(status: .failure, reason: "state") }
      return .infinity
    }
  }

  private func print(_ event: StreamEventView) { print(event, loop) }

  private func print(_ event: StreamEventView, _ loop: FollowLoop) {
    guard end == nil && loop.end == nil else { return }
    if !printedID.elementsEqual(event.id) {
      printedID = Array(event.id)
      printedTime = stream?.newest
    }
    loop.count(loop.output.write(event, profile: profile))
  }

  private func lifecycle(_ record: String) {
    if notes.recordsWanted { loop.output.write(record: record) }
  }
}

// MARK: - What the stream tells

extension Follower: StreamHandler {
  func streamOpened(_ place: String, isFirst: Bool, down: Double?) {
    lastLoss = nil
    lifecycle(notes.opened(place, isFirst: isFirst, down: down))
  }

  func streamItem(_ item: StreamItem) {
    // One look at what drives it for each item: thousands may come at once.
    let loop = loop
    guard end == nil && loop.end == nil else { return }
    switch item {
    case .event(let event):
      if let continuity, !continuity.take(event) {
        stream?.hold()
      } else {
        print(event, loop)
      }
    case .comment(let text):
      loop.output.write(comment: text)
    case .oversize(let bytes):
      hadFault = true
      let thing = loop.options.thing
      diagnostics.say("\(thing) of \(bytes) bytes or more dropped: over --max-\(thing)-bytes")
    case .message(let message):
      loop.count(loop.output.write(message, profile: profile))
    case .fault(let reason):
      hadFault = true
      diagnostics.error(place, reason)
    case .retry: break
    }
  }

  func streamMissed(_ numbers: ClosedRange<Int64>) {
    guard isLive else { return }
    var gap = StreamGap()
    gap.numbers = numbers
    report(gap)
  }

  func streamNoted(_ words: String) { say(words) }

  func streamFaulted(_ reason: String) {
    hadFault = true
    diagnostics.say(reason)
  }

  func streamLost(_ reason: String, wait: Double) {
    // What was held was never printed: a server with ids must send it again.
    if continuity?.connectionLost() == true { stream?.rewind(to: printedID) }
    lastLoss = reason
    lifecycle(notes.lost(reason, wait: wait))
  }

  func streamEnded(_ outcome: StreamEnd, at place: String) {
    guard isLive else { return }
    switch outcome {
    case .noContent: end = End(status: .success, reason: "204 no content")
    case .failed(let problem):
      diagnostics.error(place, problem.line)
      end = End(status: problem.status, reason: problem.line)
    case .gaveUp(let reason):
      let tries = loop.options.reconnect.maxRetries ?? 0
      diagnostics.error(place, "gave up after \(tries) retries: \(reason)")
      end = End(status: .temporary, reason: reason)
    }
  }
}

extension Follower: ContinuityHandler {
  func printExtra(_ event: HeldEvent) {
    guard isLive else { return }
    event.withView { loop.count(loop.output.write($0, profile: profile)) }
  }

  func printHeld(_ event: HeldEvent) -> Bool {
    guard isLive else { return false }
    event.withView(print)
    return true
  }

  func say(_ words: String) { diagnostics.error(place, words) }

  func report(_ gap: StreamGap) { lifecycle(notes.gap(gap)) }

  func dropStream(_ reason: String) { stream?.drop(reason) }

  func releaseStream() { stream?.release(now: Clock.monotonic) }
}
