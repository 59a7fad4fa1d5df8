import Core

/// A command over another process's connection; when that does not take it, over one of
/// our own.
final class SharedChannel: Channel {
  private let command: String
  private let patience: Double
  private var shared: MuxChannel?
  private var own: (any Channel)?
  private var isFinishing = false
  private var result: Ending?

  /// Goes to a control socket.
  ///
  /// - Parameter patience: seconds in which the host must answer.
  init(_ command: String, _ path: String, patience: Double, now: Double) {
    self.command = command
    self.patience = patience
    let call = MuxChannel(command)
    if call.start(path, patience: patience, now: now) { shared = call }
  }

  /// Whether it has reached nobody, and is to go over a connection of our own.
  var needsConnection: Bool { shared == nil && own == nil && result == nil }

  var ending: Ending? { result ?? shared?.ending ?? own?.ending }
  var isStarted: Bool { active?.isStarted ?? false }
  var isDrained: Bool { active?.isDrained ?? true }
  var room: Int { active?.room ?? 0 }
  var deadline: Double? { result == nil ? shared?.deadline : nil }

  func wants(_ set: inout PollSet) {
    if result == nil { shared?.wants(&set) }
  }

  func advance(_ set: PollSet, now: Double) {
    guard result == nil, let shared else { return }
    let need = shared.advance(set, now: now)
    if shared.isRefused {
      self.shared = nil
    } else if need != .nothing {
      // It may have reached the host all the same: nobody does it twice.
      end(
        now >= shared.limit
          ? .silent(seconds: patience) : .linkLost(why: "the process that had it is gone"))
    } else if shared.isCut {
      end(.linkLost(why: "the shared connection is gone"))
    }
  }

  /// Goes over a connection of our own, once that is there.
  func advance(over link: any Link) {
    guard needsConnection else { return }
    switch link.state {
    case .opening: break
    case .ended(let ending): result = ending
    case .ready:
      own = link.run(command)
      if isFinishing { own?.finishWriting() }
    }
  }

  func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int { active?.read(buffer) ?? 0 }

  func readError(_ buffer: UnsafeMutableRawBufferPointer) -> Int { active?.readError(buffer) ?? 0 }

  /// Before the host runs it nothing is taken: it may have to go another way.
  func write(_ bytes: UnsafeRawBufferPointer) -> Int { active?.write(bytes) ?? 0 }

  func finishWriting() {
    isFinishing = true
    shared?.finishWriting()
    own?.finishWriting()
  }

  func resize(_ size: WindowSize) {}

  func close() {
    shared?.close()
    own?.close()
    result = ending ?? .closed
  }

  private var active: (any Channel)? {
    if let own { return own }
    guard let shared, shared.isStarted else { return nil }
    return shared
  }

  private func end(_ ending: Ending) {
    shared?.close()
    result = ending
  }
}
