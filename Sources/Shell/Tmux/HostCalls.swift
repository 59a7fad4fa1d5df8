import Core

/// Calls of a host, one after the other over one link: the loop for commands that
/// have nothing else to do meanwhile.
public final class HostCalls {
  /// The link; the owner may make another one after this has ended.
  public let link: any Link
  /// Seconds that one answer may take.
  public let maxTime: Double
  private let wake: Int32
  private let signal: () -> Int32?
  private var set = PollSet()

  /// - Parameters:
  ///   - link: it need not be ready yet.
  ///   - maxTime: seconds that one answer may take.
  ///   - wake: a descriptor that is readable when a signal came; -1 for none.
  ///   - signal: the signal that came, if it is one that ends the command.
  public init(
    _ link: any Link, maxTime: Double, wake: Int32 = -1, signal: @escaping () -> Int32? = { nil }
  ) {
    self.link = link
    self.maxTime = maxTime
    self.wake = wake
    self.signal = signal
  }

  /// Waits until the link is ready.
  ///
  /// - Throws: why the link ended.
  public func connect() throws(HostFailure) {
    while true {
      switch link.state {
      case .ready: return
      case .ended(let failure): throw failure
      case .opening: try turn(until: nil)
      }
    }
  }

  /// Calls the host and waits for the answer.
  ///
  /// - Parameters:
  ///   - more: seconds that the script itself may wait.
  ///   - progress: told how many bytes of the input have gone out.
  public func call(
    _ request: ControlRequest, more: Double = 0, progress: ((Int) -> Void)? = nil
  ) throws(HostFailure) -> ControlAnswer {
    try connect()
    let call = ControlCall(
      request, over: link, nonce: Self.nonce(), maxTime: maxTime + more, now: Clock.monotonic)
    var told = 0
    while true {
      switch call.state {
      case .answered(let answer): return answer
      case .failed(let failure): throw failure
      case .running: break
      }
      do throws(HostFailure) {
        try turn(until: call.deadline)
      } catch {
        call.cancel()
        throw error
      }
      call.advance(now: Clock.monotonic)
      if call.sent != told {
        told = call.sent
        progress?(told)
      }
    }
  }

  /// Keeps the link alive for a time.
  ///
  /// - Parameters:
  ///   - until: an instant of `Clock.monotonic`.
  ///   - descriptors: the first that is readable ends the wait; -1 is none.
  /// - Throws: `HostFailure` when the link ends first.
  public func idle(until end: Double, also descriptors: [Int32] = []) throws(HostFailure) {
    while Clock.monotonic < end {
      if case .ended(let failure) = link.state { throw failure }
      try turn(until: end, also: descriptors)
      if descriptors.contains(where: { $0 >= 0 && set.isReadable($0) }) { return }
    }
  }

  /// One turn of the loop.
  private func turn(until end: Double?, also descriptors: [Int32] = []) throws(HostFailure) {
    set.removeAll()
    link.wants(&set)
    set.add(wake)
    for descriptor in descriptors { set.add(descriptor) }
    let first = [end, link.deadline].compactMap { $0 }.min()
    set.wait(seconds: first.map { $0 - Clock.monotonic })
    if let number = signal() { throw .interrupted(signal: number) }
    link.advance(set, now: Clock.monotonic)
  }

  /// 96 bits that nobody can guess.
  static func nonce() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<6).map { _ in
      let digits = String(generator.next(upperBound: UInt32(1 << 16)), radix: 16)
      return String(repeating: "0", count: 4 - digits.count) + digits
    }.joined()
  }
}
