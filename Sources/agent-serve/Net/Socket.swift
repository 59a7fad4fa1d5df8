import CEvent
import CLibc
import Core

/// An error of a system call, by its number.
struct SystemError: Error, Equatable {
  let code: Int32

  /// The error of the last call.
  init() { code = clibc_errno() }

  init(_ code: Int32) { self.code = code }
}

/// The bytes that came and were not looked at.
struct Inbox {
  private var bytes: [UInt8] = []
  private var start = 0

  /// Whether there are none.
  var isEmpty: Bool { start == bytes.count }

  /// Adds some.
  mutating func append(_ more: UnsafeRawBufferPointer) {
    if start > 0 {
      bytes.removeFirst(start)
      start = 0
    }
    bytes += more
  }

  /// Gives all of them to `body`, which says how many it is done with. One that is empty takes
  /// no memory.
  mutating func read<Result>(
    _ body: (_ bytes: UnsafeRawBufferPointer, _ used: inout Int) throws -> Result
  ) rethrows -> Result {
    var used = 0
    defer {
      start += used
      if start == bytes.count { self = Inbox() }
    }
    return try bytes.withUnsafeBytes {
      try body(UnsafeRawBufferPointer(rebasing: $0[start...]), &used)
    }
  }
}

/// A connection, or what takes connections: straight code that waits in one place.
///
/// It belongs to one task, or to one that reads and one that writes; those alone close it.
/// Others may break it off.
@Poller
final class Socket {
  /// Why nothing more can be read or written.
  enum Failure: Error, Equatable {
    /// The time was over.
    case late
    /// The connection is broken, by the other side or on the way.
    case broken(SystemError)
    /// It was broken off here.
    case aborted
    /// A system call failed; nothing changed.
    case system(SystemError)
  }

  /// One direction.
  private final class Side {
    /// Whether a call may succeed: readiness is told once, and kept until a call finds none.
    var isReady = true
    var waiter: UnsafeContinuation<Void, Never>?
    /// When its waiter's time is over.
    var deadline: ContinuousClock.Instant?

    func wake() {
      waiter?.resume()
      waiter = nil
    }
  }

  /// After so many calls in a row that need not wait, others have their turn.
  private static let share = 64
  /// What is sent at a time; the other side has a while for each piece.
  private static let pieceSize = 64 * 1024

  /// The other side's numeric address; empty for a socket that listens.
  let address: String
  /// The bytes that came and were not taken.
  var received = Inbox()
  /// Whether the other side sends nothing more.
  private(set) var isInputOver = false
  /// Since when the other side has kept us waiting; nil while it is our turn.
  var waitsSince: ContinuousClock.Instant?
  /// Called when the other side has ended its half, or all, while nobody reads.
  var whenLeft: (@Poller () -> Void)? {
    didSet { if whenLeft != nil { lookIfLeft() } }
  }
  /// When every wait is over, whatever its own deadline.
  var limit: ContinuousClock.Instant? {
    didSet { if let limit, !alarm.comes(by: limit) { alarm.set(limit) } }
  }

  private let descriptor: Int32
  private let input = Side()
  private let output = Side()
  private var event: OpaquePointer?
  private var isAborted = false
  private var isReset = false
  private var isClosed = false
  private var calls = 0
  private lazy var alarm = Alarm { [unowned self] in ring() }

  /// - Parameters:
  ///   - descriptor: it does not block; closed by `close`, or now when this fails.
  ///   - address: the other side's.
  /// - Throws: `Failure.system` when the system watches no more.
  init(_ descriptor: Int32, address: String = "") throws(Failure) {
    self.descriptor = descriptor
    self.address = address
    event = Poller.watch(descriptor, Unmanaged.passUnretained(self).toOpaque()) { _, what, socket in
      guard let socket else { return }
      Poller.onThread {
        Unmanaged<Socket>.fromOpaque(socket).takeUnretainedValue().note(what)
      }
    }
    if event == nil {
      let error = SystemError()
      _ = CLibc.close(descriptor)
      throw .system(error)
    }
  }

  /// Closes it. Its task does so, and nobody else.
  func close() {
    if isClosed { return }
    isClosed = true
    isAborted = true
    // In this order: a number that is used again would never be told of.
    if let event { event_free(event) }
    if isReset { clibc_tcp_reset(descriptor) }
    _ = CLibc.close(descriptor)
    alarm.set(nil)
    whenLeft = nil
    input.wake()
    output.wake()
  }

  /// Breaks it off: whoever waits, now or later, is told so.
  ///
  /// - Parameter forgets: whether what is on its way to the other side is taken back.
  func abort(forgets: Bool = false) {
    isAborted = true
    isReset = isReset || forgets
    input.wake()
    output.wake()
  }

  // MARK: - What it does

  /// Takes the next client.
  ///
  /// - Throws: `Failure.system` also when no descriptor is left, or no memory.
  func accept() async throws(Failure) -> Socket {
    var address = [CChar](repeating: 0, count: 64)
    while true {
      try await wait(input, until: nil)
      let client = clibc_tcp_accept(descriptor, &address, address.count)
      if client >= 0 {
        let text = address.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        return try Socket(client, address: String(decoding: text, as: UTF8.self))
      }
      let error = SystemError()
      switch error.code {
      case EAGAIN, EWOULDBLOCK: input.isReady = false
      // Of a client that gave up before it was taken.
      case EINTR, ECONNABORTED: continue
      default: throw .system(error)
      }
    }
  }

  /// Reads what there is, and adds it to `received`.
  ///
  /// - Returns: false when the other side sends nothing more.
  func fill(until deadline: ContinuousClock.Instant?) async throws(Failure) -> Bool {
    while !isInputOver {
      try await wait(input, until: deadline)
      let count = clibc_receive(descriptor, Poller.scratch.baseAddress, Poller.scratch.count)
      if count > 0 {
        received.append(UnsafeRawBufferPointer(rebasing: Poller.scratch[..<count]))
        return true
      }
      if count == 0 {
        isInputOver = true
        break
      }
      try check(input)
    }
    return false
  }

  /// Writes all of some bytes, or a part of them.
  ///
  /// - Parameters:
  ///   - bytes: what is sent.
  ///   - range: the part.
  ///   - pause: how long the other side may take for each 64 KB; nil for ever.
  func write(
    _ bytes: [UInt8], _ range: Range<Int>? = nil, pause: Duration?
  ) async throws(Failure) {
    let range = range ?? bytes.indices
    var at = range.lowerBound
    var mark = at
    var deadline: ContinuousClock.Instant?
    while at < range.upperBound {
      if !output.isReady, let pause, deadline == nil || at - mark >= Self.pieceSize {
        deadline = .now + pause
        mark = at
      }
      try await wait(output, until: deadline)
      let count = bytes.withUnsafeBytes {
        clibc_send(descriptor, $0.baseAddress.map { $0 + at }, range.upperBound - at)
      }
      if count >= 0 { at += count } else { try check(output) }
    }
  }

  /// Says that nothing more is sent, and reads what still comes, until the other side is done
  /// too: to close over unread bytes would reset the connection, and take away what is on its
  /// way there.
  func linger() async throws(Failure) {
    clibc_tcp_end_output(descriptor)
    waitsSince = .now
    var unsent = clibc_tcp_unsent(descriptor)
    var stuck = 0
    // Who reads slowly has all the time that it needs, and then two seconds.
    while true {
      let end = ContinuousClock.now + .seconds(2)
      do throws(Failure) {
        while try await fill(until: end) { received = Inbox() }
        return
      } catch {
        guard error == .late else { throw error }
      }
      let left = clibc_tcp_unsent(descriptor)
      stuck = left < unsent ? 0 : stuck + 1
      if left == 0 || stuck >= 30 { return }
      unsent = left
    }
  }

  /// Prepares it for what lasts: the kernel keeps little for a client that does not read, and
  /// ends the connection when the other machine has been silent for a minute.
  func prepareForStream() {
    clibc_tcp_send_buffer(descriptor, 256 * 1024)
    clibc_tcp_watch(descriptor, 60)
  }

  // MARK: - Waiting

  private func wait(
    _ side: Side, until deadline: ContinuousClock.Instant?
  ) async throws(Failure) {
    if isAborted { throw .aborted }
    if side.isReady {
      // Who sends a little now and then is late, too.
      if let first = [deadline, limit].compactMap(\.self).min(), first <= .now { throw .late }
      calls += 1
      if calls % Self.share == 0 {
        await Task.yield()
        if isAborted { throw .aborted }
      }
      return
    }
    calls = 0
    side.deadline = deadline
    if let first = [deadline, limit].compactMap(\.self).min(), !alarm.comes(by: first) {
      alarm.set(first)
    }
    await withUnsafeContinuation { side.waiter = $0 }
    side.deadline = nil
    if isAborted { throw .aborted }
    if !side.isReady { throw .late }
  }

  /// Looks at why a call gave nothing.
  private func check(_ side: Side) throws(Failure) {
    switch clibc_errno() {
    case EAGAIN, EWOULDBLOCK: side.isReady = false
    case EINTR: break
    default: throw .broken(SystemError())
    }
  }

  /// Notes what the poller says. A reset comes as both, and the next call tells of it.
  private func note(_ what: Int16) {
    if what & Int16(EV_READ) != 0 {
      input.isReady = true
      input.wake()
      lookIfLeft()
    }
    if what & Int16(EV_WRITE) != 0 {
      output.isReady = true
      output.wake()
    }
  }

  private func lookIfLeft() {
    guard let left = whenLeft, clibc_tcp_has_left(descriptor) else { return }
    whenLeft = nil
    left()
  }

  /// Wakes who has waited for too long. It may be called early: the alarm is not set anew for
  /// each wait, of which most are over long before.
  private func ring() {
    let now = ContinuousClock.now
    var next: ContinuousClock.Instant?
    for side in [input, output] where side.waiter != nil {
      guard let due = [side.deadline, limit].compactMap(\.self).min() else { continue }
      if due <= now { side.wake() } else { next = next.map { min($0, due) } ?? due }
    }
    alarm.set(next)
  }
}
