import Core
import Records
import Web

/// The events of all threads and jobs from now on. There is no stream of them all: each thread
/// has its own, and is found in the lists (Agent/Pincer/CONTRACT.md 4.2). The list is the link, which
/// `StreamLoop` makes again; a stream that ends is taken up behind the next list, without a wait of
/// its own.
final class PincerWatchAll {
  /// How often it is looked which threads there are, seconds.
  private static let interval = 2.0
  /// How many are watched beside each other: those in which something happened last.
  private static let most = 64
  /// How often in a row events are asked for again that did not come.
  private static let mostTries = 3

  private struct Watched {
    var last: Int64
    var tries = 0
    /// When something happened there, as the lists say, and whether an event has come since.
    var updated: Timestamp?
    var hasNews = true
    var reply: ConnectReply?
  }

  private let loop: StreamLoop
  private let calls: PincerCalls
  private var threads: [String: Watched] = [:]
  /// Whether all that was there at the beginning is known.
  private var hasBegun: Bool

  /// `isWhole`: whether what is stored is wanted, too.
  init(_ loop: StreamLoop, _ server: AgentServer, isWhole: Bool) {
    (self.loop, hasBegun) = (loop, isWhole)
    calls = PincerCalls(loop.client, server)
  }

  func run(_ tell: (PincerEvent, [UInt8]) throws(LinkEnd) -> Void) throws(LinkEnd) -> Never {
    for thread in Array(threads.keys) { threads[thread]?.reply = nil }
    try list()
    loop.opened(loop.place)
    var listAt = Clock.monotonic + Self.interval
    while true {
      for thread in Array(threads.keys) { try receive(thread, tell) }
      if Clock.monotonic >= listAt {
        try list()
        listAt = Clock.monotonic + Self.interval
        continue
      }
      try loop.wait(until: listAt)
    }
  }

  // MARK: - Which there are

  private func list() throws(LinkEnd) {
    let names = try PincerThreads.list(calls, loop).sorted {
      ($0.updated?.seconds ?? 0) > ($1.updated?.seconds ?? 0)
    }
    let there = Set(names.map(\.thread))
    for thread in Array(threads.keys) where !there.contains(thread) { threads[thread] = nil }
    for name in names where threads[name.thread] == nil {
      // One that was made since begins with its first event.
      let last = hasBegun ? 0 : try calls.lastSequence(of: name.thread, loop) ?? 0
      threads[name.thread] = Watched(last: last, updated: name.updated)
    }
    hasBegun = true
    for (index, name) in names.enumerated() {
      if index >= Self.most {
        threads[name.thread]?.reply = nil
      } else {
        try watch(name)
      }
    }
  }

  private func watch(_ name: PincerThreads.Name) throws(LinkEnd) {
    guard var watched = threads[name.thread] else { return }
    // Something happened there, and no event told it: its stream may be dead.
    if watched.updated != name.updated {
      if !watched.hasNews { watched.reply = nil }
      (watched.updated, watched.hasNews) = (name.updated, false)
    }
    if watched.reply == nil {
      watched.reply = try calls.watch(
        name.thread, behind: watched.last, loop, limit: loop.policy.maxEventBytes)
    }
    threads[name.thread] = watched
  }

  // MARK: - What comes

  private func receive(
    _ thread: String, _ tell: (PincerEvent, [UInt8]) throws(LinkEnd) -> Void
  ) throws(LinkEnd) {
    while let reply = threads[thread]?.reply, reply.isReady {
      let item: ConnectReply.Item?
      do throws(LinkEnd) { item = try reply.receive(until: 0) } catch {
        if case .over = error { throw error }
        // The next list tells whether the server is there.
        threads[thread]?.reply = nil
        return
      }
      switch item {
      case .message(let message): try receive(message, thread, tell)
      case .oversize(let bytes):
        threads[thread]?.last += 1
        loop.oversize(bytes: bytes)
      case .end(let error?, let head):
        threads[thread]?.reply = nil
        let problem = calls.server.problem(of: error, head)
        if problem.status == .denied { throw .failed(problem) }
      case .end(nil, _): threads[thread]?.reply = nil
      case nil: return
      }
    }
  }

  private func receive(
    _ message: [UInt8], _ thread: String,
    _ tell: (PincerEvent, [UInt8]) throws(LinkEnd) -> Void
  ) throws(LinkEnd) {
    let event: PincerEvent
    do throws(Failure) { event = try PincerEvent(message) } catch {
      return loop.fault("\(loop.place): a message that is no event: \(error.reason)", at: nil)
    }
    guard var watched = threads[thread] else { return }
    if event.sequence != 0 {
      if event.sequence <= watched.last { return }
      // What is missing was lost on the way: another connection brings it.
      if event.sequence > watched.last + 1, watched.tries < Self.mostTries {
        watched.tries += 1
        watched.reply = nil
        threads[thread] = watched
        return
      }
      (watched.last, watched.tries) = (event.sequence, 0)
    }
    watched.hasNews = true
    threads[thread] = watched
    try tell(event, message)
  }
}
