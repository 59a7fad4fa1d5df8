public import CLibc
import CNats
public import Core

/// The link to a bus: dials one server after the other until one answers, and again when that
/// one is lost. It is driven by the command's loop, and never waits but in `wait`.
///
/// Each connection is a new one: what was published on a lost one is sent again by whoever
/// published it, and by nobody else.
public final class BusLink {
  /// What became of the link in a turn.
  public enum Change {
    /// Connected.
    case up
    /// A connection is lost.
    case lost(reason: String)
    /// No server could be reached; in `wait` seconds all are asked again.
    case unreachable(Failure, wait: Double)
  }

  private enum State {
    case waiting(until: Double)
    case dialing(BusDial)
    case up(BusConnection)
  }

  private var door: BusAuth
  private var hasRenewed = false
  private let name: String
  private let pulling: Bool
  private var state = State.waiting(until: 0)
  private var backoff = Backoff(base: 0.1, factor: 2, cap: 2, jitter: 0.3)
  private var told: [BusServer] = []
  /// The next of `candidates` to dial.
  private var next = 0
  private var wake: (reads: Int32, writes: Int32) = (-1, -1)
  private var isReadable = false
  /// When something was heard last.
  public private(set) var heardAt = 0.0
  /// The server that is or was connected, else the first one.
  public private(set) var server: BusServer

  /// How long a server may be silent that owes us an answer, seconds.
  private static let patience = 10.0

  /// - Parameter pulling: whether records will be pulled.
  public init(_ door: BusAuth, name: String, pulling: Bool) {
    (self.door, self.name, self.pulling) = (door, name, pulling)
    server = door.servers[0]
    var ends: [Int32] = [-1, -1]
    guard cnats_open() == NATS_OK, cnats_pipe(&ends) == 0 else { Diagnostics.outOfMemory() }
    wake = (ends[0], ends[1])
  }

  private var candidates: [BusServer] { door.servers + told }

  /// The connection, if there is one.
  public var connection: BusConnection? {
    if case .up(let connection) = state { connection } else { nil }
  }

  /// Does what can be done without waiting.
  ///
  /// - Parameters:
  ///   - now: seconds of a clock that never steps.
  ///   - owed: since when the server owes an answer; nil for none.
  /// - Throws: `Failure` for what another try will not mend.
  public func turn(now: Double, owed: Double?) throws(Failure) -> Change? {
    switch state {
    case .waiting(let until):
      if now >= until { try dial() }
      return nil
    case .dialing(let dial):
      guard let outcome = dial.outcome() else { return nil }
      return try took(outcome, dial, now: now)
    case .up(let connection):
      if isReadable {
        isReadable = false
        heardAt = now
        connection.read()
      }
      connection.flush()
      if connection.isClosed {
        hear(connection)
        return lost(connection.reason, now: now)
      }
      if let owed, now > max(owed, heardAt) + Self.patience {
        hear(connection)
        return lost("no answer for \(Int(Self.patience)) s", now: now)
      }
      return nil
    }
  }

  private func dial() throws(Failure) {
    let all = candidates
    state = .dialing(try BusDial(to: all[next % all.count], door, name: name, wake: wake.writes))
  }

  private func took(
    _ outcome: BusDial.Outcome, _ dial: BusDial, now: Double
  ) throws(Failure) -> Change? {
    switch outcome {
    case .connected(let raw):
      let connection = BusConnection(raw, dial, pulling: pulling)
      server = dial.server
      hear(connection)
      state = .up(connection)
      hasRenewed = false
      (heardAt, isReadable) = (now, true)
      return .up
    case .failed(let failure, let isFinal):
      cnats_loop_free(dial.loop)
      if failure.status == .denied, !hasRenewed {
        hasRenewed = true
        if door.renew() {
          try self.dial()
          return nil
        }
      }
      // One that the cluster told us of need not be for us.
      if isFinal, door.servers.contains(dial.server) { throw failure }
      next += 1
      if next % candidates.count != 0 {
        try self.dial()
        return nil
      }
      let wait = backoff.next(random: Double.random(in: 0..<1))
      state = .waiting(until: now + wait)
      return .unreachable(failure, wait: wait)
    }
  }

  /// Notes which other servers there are: more may have come since the connection was made.
  private func hear(_ connection: BusConnection) {
    let others = connection.told
    if !others.isEmpty { told = door.usable(others) }
  }

  private func lost(_ reason: String, now: Double) -> Change {
    // Whoever is next may answer at once; the same one needs a moment.
    next = candidates.firstIndex(of: server).map { $0 + 1 } ?? 0
    next %= candidates.count
    state = .waiting(until: now + backoff.next(random: Double.random(in: 0..<1)))
    return .lost(reason: reason)
  }

  /// Says that the connection is good for something: the next loss is the first again.
  public func isGood() {
    backoff.reset()
    next = candidates.firstIndex(of: server) ?? 0
  }

  /// Waits until there is something to do.
  ///
  /// - Parameters:
  ///   - others: what else is waited for; its `revents` are set.
  ///   - until: at the latest then, seconds of the clock of `turn`.
  public func wait(for others: inout [pollfd], until: Double) {
    var until = until
    var entries = others
    entries.append(pollfd(fd: wake.reads, events: Int16(POLLIN), revents: 0))
    switch state {
    case .waiting(let end): until = min(until, end)
    case .dialing(let dial):
      entries.append(pollfd(fd: dial.descriptor, events: Int16(POLLIN), revents: 0))
    case .up(let connection):
      if isReadable { until = 0 }
      entries.append(connection.entry)
    }
    let seconds = min(max(until - Clock.monotonic, 0), 60)
    _ = poll(&entries, nfds_t(entries.count), Int32((seconds * 1000).rounded(.up)))
    if entries[others.count].revents != 0 {
      var bytes = [UInt8](repeating: 0, count: 64)
      while read(wake.reads, &bytes, bytes.count) == bytes.count {}
    }
    if connection != nil, entries[others.count + 1].revents & ~Int16(POLLOUT) != 0 {
      isReadable = true
    }
    for place in others.indices { others[place].revents = entries[place].revents }
  }
}
