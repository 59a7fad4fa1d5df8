import CEvent
import CLibc
import Core

struct Inbox {
  private var bytes: [UInt8] = []
  private var start = 0

  var isEmpty: Bool { start == bytes.count }

  mutating func append(_ more: UnsafeRawBufferPointer) {
    if start > 0 {
      bytes.removeFirst(start)
      start = 0
    }
    bytes += more
  }

  /// `body` says how many it is done with; an empty inbox takes no memory.
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
final class Socket: Alarm {
  enum Failure: Error, Equatable {
    case late
    case broken(code: Int32)
    case aborted
    case system(code: Int32)
  }

  private final class Side {
    /// Whether a call may succeed: readiness is told once, and kept until a call finds none.
    var isReady = true
    var waiter: UnsafeContinuation<Void, Never>?
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
  /// Whether a read that gives less than there is room for is taken for all that there is: it
  /// saves a call, and a reset behind it is seen by the next one or when the time is over.
  var trustsShortReads = false
  private(set) var isInputOver = false
  /// Since when the other side has kept us waiting; nil while it is our turn.
  var waitsSince: ContinuousClock.Instant?
  /// Called when the other side has ended its half, or all, while nobody reads.
  var whenLeft: (@Poller () -> Void)? {
    didSet { if whenLeft != nil { lookIfLeft() } }
  }
  /// When every wait is over, whatever its own deadline.
  var limit: ContinuousClock.Instant? {
    didSet { if let limit, !comes(by: limit) { set(limit) } }
  }

  private let descriptor: Int32
  private let input = Side()
  private let output = Side()
  private var event: OpaquePointer?
  private var isAborted = false
  private var isReset = false
  private var isClosed = false
  private var calls = 0
  private var isEndTold = !Poller.tellsEnds

  init(_ descriptor: Int32, address: String = "") throws(Failure) {
    (self.descriptor, self.address) = (descriptor, address)
    super.init()
    event = Poller.watch(descriptor, Unmanaged.passUnretained(self).toOpaque()) { _, what, socket in
      guard let socket else { return }
      Poller.onThread { Unmanaged<Socket>.fromOpaque(socket).takeUnretainedValue().note(what) }
    }
    if event == nil {
      let code = systemError
      _ = CLibc.close(descriptor)
      throw .system(code: code)
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
    set(nil)
    whenLeft = nil
    input.wake()
    output.wake()
  }

  /// Breaks it off: whoever waits, now or later, is told so.
  func abort(forgets: Bool = false) {
    isAborted = true
    isReset = isReset || forgets
    input.wake()
    output.wake()
  }

  // MARK: - What it does

  func accept() async throws(Failure) -> Socket {
    var address = [CChar](repeating: 0, count: 64)
    while true {
      if isAborted { throw .aborted }
      guard input.isReady && hasTurn else {
        try await wait(input, until: nil)
        continue
      }
      calls += 1
      let client = clibc_tcp_accept(descriptor, &address, address.count)
      if client >= 0 {
        let text = address.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        return try Socket(client, address: String(decoding: text, as: UTF8.self))
      }
      let code = systemError
      switch code {
      case EAGAIN, EWOULDBLOCK: input.isReady = false
      // Of a client that gave up before it was taken.
      case EINTR, ECONNABORTED: continue
      default: throw .system(code: code)
      }
    }
  }

  /// Reads what there is, and adds it to `received`. Returns false when the other side sends
  /// nothing more.
  func fill(until deadline: ContinuousClock.Instant?) async throws(Failure) -> Bool {
    while true {
      if let hasMore = try receive(deadline) { return hasMore }
      try await wait(input, until: deadline)
    }
  }

  /// Reads once; nil when nothing is there, or others have their turn first.
  @inline(never)
  private func receive(_ deadline: ContinuousClock.Instant?) throws(Failure) -> Bool? {
    if isInputOver { return false }
    guard input.isReady, hasTurn else { return nil }
    if isAborted { throw .aborted }
    // Who sends a little now and then is late, too.
    if let due = earlier(deadline, limit), due <= .now { throw .late }
    let count = clibc_receive(descriptor, Poller.scratch.baseAddress, Poller.scratch.count)
    if count > 0 {
      calls += 1 + count / 4096
      // More of it, or the end, would be told anew; only a reset is missed.
      if count < Poller.scratch.count && !isEndTold && trustsShortReads { input.isReady = false }
      received.append(UnsafeRawBufferPointer(rebasing: Poller.scratch[..<count]))
      return true
    }
    if count == 0 {
      isInputOver = true
      return false
    }
    try check(input)
    return nil
  }

  /// Writes all of some bytes, or a part of them.
  func write(
    _ bytes: [UInt8], _ range: Range<Int>? = nil, pause: Duration?
  ) async throws(Failure) {
    var rest = range ?? bytes.indices
    try transmit(bytes, &rest)
    if !rest.isEmpty { try await finish(bytes, rest, pause: pause) }
  }

  /// Writes what the kernel takes now, while its task waits for something to write.
  func writeNow(_ bytes: [UInt8], _ range: Range<Int>) -> Range<Int> {
    calls = 0
    var rest = range
    try? transmit(bytes, &rest)
    return rest
  }

  @inline(never)
  private func transmit(_ bytes: [UInt8], _ rest: inout Range<Int>) throws(Failure) {
    if isAborted { throw .aborted }
    while !rest.isEmpty, output.isReady, hasTurn {
      let count = bytes.withUnsafeBytes {
        clibc_send(descriptor, $0.baseAddress.map { $0 + rest.lowerBound }, rest.count)
      }
      calls += 1
      if count >= 0 {
        rest = rest.lowerBound + count..<rest.upperBound
      } else {
        try check(output)
      }
    }
  }

  @inline(never)
  private func finish(
    _ bytes: [UInt8], _ unsent: Range<Int>, pause: Duration?
  ) async throws(Failure) {
    var rest = unsent
    var mark = rest.lowerBound
    var deadline = pause.map { ContinuousClock.now + $0 }
    while !rest.isEmpty {
      try await wait(output, until: deadline)
      try transmit(bytes, &rest)
      if let pause, rest.lowerBound - mark >= Self.pieceSize {
        deadline = .now + pause
        mark = rest.lowerBound
      }
    }
  }

  /// Says that nothing more is sent, and reads what still comes, until the other side is done
  /// too: to close over unread bytes would reset the connection, and take away what is on its
  /// way there.
  func linger() async throws(Failure) {
    clibc_tcp_end_output(descriptor)
    waitsSince = .now
    var (mark, markTime) = (clibc_tcp_unsent(descriptor), ContinuousClock.now)
    // Who reads slowly has a minute for each piece, as before, and then two seconds.
    while true {
      let end = ContinuousClock.now + .seconds(2)
      do throws(Failure) {
        while try await fill(until: end) { received = Inbox() }
        return
      } catch {
        guard error == .late else { throw error }
      }
      let left = clibc_tcp_unsent(descriptor)
      if mark - left >= Self.pieceSize { (mark, markTime) = (left, .now) }
      if left == 0 || ContinuousClock.now - markTime >= .seconds(60) { return }
    }
  }

  /// Prepares it for what lasts: the kernel keeps little for a client that does not read, and
  /// ends the connection when the other machine has been silent for a minute.
  func prepareForStream() {
    clibc_tcp_send_buffer(descriptor, 256 * 1024)
    clibc_tcp_watch(descriptor, 60)
  }

  // MARK: - Waiting

  private var hasTurn: Bool { calls < Self.share }

  private func earlier(
    _ a: ContinuousClock.Instant?, _ b: ContinuousClock.Instant?
  ) -> ContinuousClock.Instant? {
    guard let a else { return b }
    guard let b else { return a }
    return min(a, b)
  }

  @inline(never)
  private func wait(
    _ side: Side, until deadline: ContinuousClock.Instant?
  ) async throws(Failure) {
    if isAborted { throw .aborted }
    calls = 0
    if side.isReady {
      await Task.yield()
    } else {
      // Others may have their turn until here.
      await withUnsafeContinuation { waiter in
        if side.isReady || isAborted { return waiter.resume() }
        side.waiter = waiter
        prepare(side, deadline)
      }
      side.deadline = nil
      if !isAborted && !side.isReady { throw .late }
    }
    if isAborted { throw .aborted }
  }

  @inline(never)
  private func prepare(_ side: Side, _ deadline: ContinuousClock.Instant?) {
    side.deadline = deadline
    if let first = earlier(deadline, limit), !comes(by: first) { set(first) }
  }

  private func check(_ side: Side) throws(Failure) {
    switch systemError {
    case EAGAIN, EWOULDBLOCK: side.isReady = false
    case EINTR: break
    default: throw .broken(code: systemError)
    }
  }

  /// Notes what the poller says. A reset comes as both, and the next call tells of it.
  private func note(_ what: Int16) {
    if what & Int16(EV_CLOSED) != 0 { isEndTold = true }
    if what & Int16(EV_READ | EV_CLOSED) != 0 {
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

  /// May be called early: the alarm is not set anew for each wait.
  override func ring() {
    let now = ContinuousClock.now
    var next: ContinuousClock.Instant?
    for side in [input, output] where side.waiter != nil {
      guard let due = earlier(side.deadline, limit) else { continue }
      if due <= now { side.wake() } else { next = next.map { min($0, due) } ?? due }
    }
    set(next)
  }
}
